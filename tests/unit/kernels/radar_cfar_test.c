/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CFAR: the reference against cells whose answer is known, the fast variants
 * against the reference and each other, at the edges of every size.
 */
#include "radar_maps.h"

enum { CAPACITY = 4096 };

static const enum hk_variant variants[] = { HK_REF, HK_FAST, HK_AVX2, HK_BEST };

static float *
flat(size_t cells)
{
	float *map = room(cells * sizeof *map);

	for (size_t i = 0; i < cells; i++)
		map[i] = 1.0f;
	return map;
}

static void
one_strong_cell_is_found_anywhere_on_the_torus(void **state)
{
	const struct hk_cfar_params p = { 32, 24, 2, 8, 15.0f };
	static const uint32_t at[][2] = { { 16, 12 }, { 0, 0 }, { 31, 23 }, { 0, 23 }, { 31, 5 } };
	float *map = flat(p.rows * p.cols);
	struct hk_detections *out = detections_room(CAPACITY);

	(void)state;
	for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++)
		for (size_t i = 0; hk_variant_runs(variants[v]) && i < 5; i++) {
			map[at[i][0] * p.cols + at[i][1]] = 100.0f;
			out->count = 0;
			assert_int_equal(detect(&p, variants[v], map, 0, p.rows, out, CAPACITY), 0);
			assert_int_equal(out->count, 1);
			assert_int_equal(out->rows, p.rows);
			assert_int_equal(out->cols, p.cols);
			assert_int_equal(out->at[0].range, at[i][0]);
			assert_int_equal(out->at[0].doppler, at[i][1]);
			assert_close(out->at[0].power, 100.0f, 0.0);
			map[at[i][0] * p.cols + at[i][1]] = 1.0f;
		}
	free(map), free(out);
}

/* The mean of 416 ones is 1: a cell is over when it exceeds the factor, not when it equals it. */
static void
the_threshold_is_factor_times_the_mean_of_the_training_cells(void **state)
{
	const struct hk_cfar_params p = { 21, 24, 2, 8, 13.0f };
	float *map = flat(p.rows * p.cols);
	struct hk_detections *out = detections_room(CAPACITY);

	(void)state;
	for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
		if (!hk_variant_runs(variants[v]))
			continue;
		map[100] = 12.99f;
		out->count = 0;
		detect(&p, variants[v], map, 0, p.rows, out, CAPACITY);
		assert_int_equal(out->count, 0);
		map[100] = 13.01f;
		detect(&p, variants[v], map, 0, p.rows, out, CAPACITY);
		assert_int_equal(out->count, 1);
	}
	free(map), free(out);
}

static void
guard_cells_do_not_count_and_training_cells_do(void **state)
{
	const struct hk_cfar_params p = { 24, 24, 1, 2, 5.0f };
	float *map = flat(p.rows * p.cols);
	struct hk_detections *out = detections_room(CAPACITY);
	size_t cell = 12 * p.cols + 12;

	(void)state;
	for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
		if (!hk_variant_runs(variants[v]))
			continue;
		map[cell] = 6.0f;
		map[cell + 1] = 100.0f; /* a guard cell: 6 still stands out */
		out->count = 0;
		detect(&p, variants[v], map, 12, 13, out, CAPACITY);
		assert_int_equal(out->count, 2);
		map[cell + 1] = 1.0f;
		map[cell + 2] = 100.0f; /* a training cell: 6 is hidden */
		out->count = 0;
		detect(&p, variants[v], map, 12, 13, out, CAPACITY);
		assert_int_equal(out->count, 1);
		assert_int_equal(out->at[0].doppler, 14);
		map[cell + 2] = 1.0f;
	}
	free(map), free(out);
}

/* Exponential-like powers with a few strong cells, over dimensions that are no whole vectors. */
static void
fast_variants_find_what_the_reference_finds(void **state)
{
	static const struct hk_cfar_params sizes[] = {
		{ 21, 21, 2, 8, 8.0f },   { 21, 24, 2, 8, 8.0f },  { 64, 128, 2, 8, 8.0f },
		{ 37, 53, 2, 8, 8.0f },   { 33, 40, 0, 1, 4.0f },  { 40, 33, 0, 3, 5.0f },
		{ 41, 64, 3, 5, 6.0f },   { 48, 47, 7, 1, 6.0f },  { 70, 66, 4, 12, 8.0f },
		{ 130, 35, 2, 15, 8.0f }, { 64, 512, 2, 8, 8.0f }, { 21, 1000, 2, 8, 8.0f },
	};
	uint64_t seed = 20240607;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		const struct hk_cfar_params *p = &sizes[s];
		float *map = room(p->rows * p->cols * sizeof *map);
		struct hk_detections *ref = detections_room(CAPACITY);
		struct hk_detections *fast = detections_room(CAPACITY);
		struct hk_detections *avx2 = detections_room(CAPACITY);

		for (size_t i = 0; i < p->rows * p->cols; i++)
			map[i] = (float)(uniform(&seed) + uniform(&seed) + 0.1);
		for (int i = 0; i < 12; i++)
			map[(size_t)(uniform(&seed) * (double)(p->rows * p->cols))] =
				(float)(10.0 + 90.0 * uniform(&seed));
		detect(p, HK_REF, map, 0, p->rows, ref, CAPACITY);
		detect(p, HK_FAST, map, 0, p->rows, fast, CAPACITY);
		assert_true(ref->count > 0);
		assert_same(fast, ref);
		if (hk_variant_runs(HK_AVX2)) {
			detect(p, HK_AVX2, map, 0, p->rows, avx2, CAPACITY);
			assert_same(avx2, fast);
		}
		free(map), free(ref), free(fast), free(avx2);
	}
}

static void
row_ranges_find_what_the_whole_map_finds(void **state)
{
	const struct hk_scene scene = { 512, 64, 20, 3 };
	const struct hk_cfar_params p = { 512, 64, 2, 8, 6.0f };
	float *map = scene_map(&scene, 1);
	struct hk_detections *whole = detections_room(CAPACITY);
	struct hk_detections *parts = detections_room(CAPACITY);

	(void)state;
	for (size_t v = 1; v < sizeof variants / sizeof variants[0]; v++) {
		if (!hk_variant_runs(variants[v]))
			continue;
		whole->count = parts->count = 0;
		detect(&p, variants[v], map, 0, p.rows, whole, CAPACITY);
		for (size_t lo = 0; lo < p.rows; lo += 72)
			detect(&p, variants[v], map, lo, lo + 72 < p.rows ? lo + 72 : p.rows, parts,
			       CAPACITY);
		assert_true(whole->count > 30);
		assert_same(parts, whole);
	}
	free(map), free(whole), free(parts);
}

static void
detections_beyond_the_capacity_are_counted(void **state)
{
	const struct hk_cfar_params p = { 32, 32, 0, 1, 2.0f };
	float *map = flat(p.rows * p.cols);
	struct hk_detections *out = detections_room(3);

	(void)state;
	for (size_t i = 0; i < 10; i++)
		map[i * 3 * p.cols + 5] = 50.0f;
	for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
		if (!hk_variant_runs(variants[v]))
			continue;
		out->count = 0;
		assert_int_equal(detect(&p, variants[v], map, 0, p.rows, out, 3), 7);
		assert_int_equal(out->count, 3);
		assert_int_equal(out->at[2].range, 6);
	}
	free(map), free(out);
}

static void
a_map_smaller_than_the_window_is_refused(void **state)
{
	static const struct hk_cfar_params bad[] = { { 20, 64, 2, 8, 15.0f },
						     { 64, 20, 2, 8, 15.0f },
						     { 64, 64, 2, 0, 15.0f } };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct hk_cfar *cfar = room(hk_cfar_bytes(&bad[i]));

		assert_int_equal(hk_cfar_init(cfar, &bad[i], HK_BEST), -22);
		free(cfar);
	}
}

static void
check_scene(uint32_t samples, uint32_t chirps, int with_reference)
{
	const struct hk_scene scene = { samples, chirps, 20, 1 };
	const struct hk_cfar_params p = { samples, chirps, 2, 8, 15.0f };
	float *map = scene_map(&scene, 19);
	struct hk_detections *fast = detections_room(CAPACITY);
	struct hk_detections *other = detections_room(CAPACITY);
	struct hk_cluster *cluster = room(hk_cluster_bytes(CAPACITY));
	struct hk_target truth[HK_SCENE_TARGETS];

	detect(&p, HK_FAST, map, 0, samples, fast, CAPACITY);
	if (hk_variant_runs(HK_AVX2)) {
		detect(&p, HK_AVX2, map, 0, samples, other, CAPACITY);
		assert_same(other, fast);
	}
	if (with_reference) {
		other->count = 0;
		detect(&p, HK_REF, map, 0, samples, other, CAPACITY);
		assert_same(other, fast);
	}
	hk_cluster_init(cluster, CAPACITY);
	assert_int_equal(hk_cluster_check(cluster, fast), 0);
	hk_cluster_keep(cluster, fast, fast);
	hk_scene_truth(&scene, 19, truth);
	for (int k = 0; k < HK_SCENE_TARGETS; k++) {
		int found = 0;

		for (uint32_t i = 0; i < fast->count; i++)
			found += hk_circular(fast->at[i].range, (uint32_t)(truth[k].range + 0.5),
					     samples) <= 2 &&
				 hk_circular(fast->at[i].doppler,
					     (uint32_t)(truth[k].doppler + 0.5), chirps) <= 2;
		assert_int_equal(found, 1);
	}
	free(map), free(fast), free(other), free(cluster);
}

static void
all_targets_are_found_at_every_size_by_every_variant(void **state)
{
	(void)state;
	check_scene(512, 64, 1);
	check_scene(1024, 128, 0);
	check_scene(2048, 256, 0);
	check_scene(4096, 512, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_strong_cell_is_found_anywhere_on_the_torus),
		cmocka_unit_test(the_threshold_is_factor_times_the_mean_of_the_training_cells),
		cmocka_unit_test(guard_cells_do_not_count_and_training_cells_do),
		cmocka_unit_test(fast_variants_find_what_the_reference_finds),
		cmocka_unit_test(row_ranges_find_what_the_whole_map_finds),
		cmocka_unit_test(detections_beyond_the_capacity_are_counted),
		cmocka_unit_test(a_map_smaller_than_the_window_is_refused),
		cmocka_unit_test(all_targets_are_found_at_every_size_by_every_variant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
