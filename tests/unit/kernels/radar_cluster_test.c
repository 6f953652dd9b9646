/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clustering: what touches is one target, over corners and both wraps; checked
 * by hand-made cases and against a flood fill over random maps.
 */
#include "radar_maps.h"

enum { CAPACITY = 1024 };

static struct hk_cluster *
cluster_of(uint32_t capacity)
{
	struct hk_cluster *c = room(hk_cluster_bytes(capacity));

	hk_cluster_init(c, capacity);
	return c;
}

static void
keep(uint32_t rows, uint32_t cols, const struct hk_detection *at, uint32_t n,
     struct hk_detections *d)
{
	struct hk_cluster *c = cluster_of(CAPACITY);

	d->count = n;
	d->rows = rows;
	d->cols = cols;
	if (n)
		memcpy(d->at, at, n * sizeof *at);
	assert_int_equal(hk_cluster_check(c, d), 0);
	hk_cluster_keep(c, d, d);
	free(c);
}

static void
neighbours_over_corners_become_their_strongest(void **state)
{
	static const struct hk_detection in[] = { { 3, 4, 1 }, { 4, 5, 9 }, { 5, 4, 2 } };
	struct hk_detections *d = detections_room(CAPACITY);

	(void)state;
	keep(10, 10, in, 3, d);
	assert_int_equal(d->count, 1);
	assert_memory_equal(&d->at[0], &in[1], sizeof in[1]);
	free(d);
}

static void
a_gap_of_one_cell_parts_two_targets(void **state)
{
	static const struct hk_detection in[] = { { 3, 4, 1 }, { 3, 6, 9 }, { 5, 5, 2 } };
	struct hk_detections *d = detections_room(CAPACITY);

	(void)state;
	keep(10, 10, in, 3, d);
	assert_int_equal(d->count, 3);
	assert_memory_equal(d->at, in, sizeof in);
	free(d);
}

static void
both_axes_wrap(void **state)
{
	static const struct hk_detection corners[] = {
		{ 0, 0, 1 }, { 0, 9, 2 }, { 7, 0, 3 }, { 7, 9, 4 }
	};
	static const struct hk_detection diagonal[] = { { 0, 0, 5 }, { 7, 9, 4 } };
	static const struct hk_detection other[] = { { 0, 9, 5 }, { 7, 0, 6 } };
	struct hk_detections *d = detections_room(CAPACITY);

	(void)state;
	keep(8, 10, corners, 4, d);
	assert_int_equal(d->count, 1);
	assert_int_equal(d->at[0].range, 7);
	assert_int_equal(d->at[0].doppler, 9);
	keep(8, 10, diagonal, 2, d);
	assert_int_equal(d->count, 1);
	keep(8, 10, other, 2, d);
	assert_int_equal(d->count, 1);
	assert_int_equal(d->at[0].range, 7);
	free(d);
}

static void
of_equals_the_first_is_kept(void **state)
{
	static const struct hk_detection in[] = { { 2, 2, 7 }, { 2, 3, 7 }, { 3, 1, 7 } };
	struct hk_detections *d = detections_room(CAPACITY);

	(void)state;
	keep(10, 10, in, 3, d);
	assert_int_equal(d->count, 1);
	assert_memory_equal(&d->at[0], &in[0], sizeof in[0]);
	free(d);
}

static void
nothing_in_is_nothing_out(void **state)
{
	struct hk_detections *d = detections_room(CAPACITY);

	(void)state;
	keep(10, 10, NULL, 0, d);
	assert_int_equal(d->count, 0);
	free(d);
}

/* Flood fill: label[i] becomes the index of the strongest, earliest detection of its cluster. */
static uint32_t
flood(const float *map, uint32_t rows, uint32_t cols, struct hk_detection *out)
{
	uint8_t *done = room(rows * cols);
	uint32_t *todo = room(rows * cols * sizeof *todo), *best = room(rows * cols * sizeof *best);
	uint32_t n = 0, kept = 0;

	for (uint32_t start = 0; start < rows * cols; start++) {
		uint32_t left = 0, strongest = start;

		if (map[start] <= 0.0f || done[start])
			continue;
		todo[left++] = start;
		done[start] = 1;
		while (left) {
			uint32_t at = todo[--left];

			if (map[at] > map[strongest] ||
			    (map[at] == map[strongest] && at < strongest))
				strongest = at;
			for (uint32_t k = 0; k < 9; k++) {
				uint32_t r = (at / cols + rows + k / 3 - 1) % rows;
				uint32_t c = (at % cols + cols + k % 3 - 1) % cols;

				if (map[r * cols + c] <= 0.0f || done[r * cols + c])
					continue;
				done[r * cols + c] = 1;
				todo[left++] = r * cols + c;
			}
		}
		best[n++] = strongest;
	}
	for (uint32_t cell = 0; cell < rows * cols; cell++)
		for (uint32_t i = 0; i < n; i++)
			if (best[i] == cell)
				out[kept++] = (struct hk_detection){ cell / cols, cell % cols,
								     map[cell] };
	free(done), free(todo), free(best);
	return kept;
}

static void
random_maps_cluster_as_a_flood_fill_does(void **state)
{
	uint64_t seed = 99;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	for (int round = 0; round < 60; round++) {
		uint32_t rows = 1 + (uint32_t)(uniform(&seed) * 24);
		uint32_t cols = 1 + (uint32_t)(uniform(&seed) * 24);
		double density = 0.05 + 0.4 * uniform(&seed);
		float *map = room(rows * cols * sizeof *map);
		struct hk_detection *in = room(rows * cols * sizeof *in);
		struct hk_detection *wanted = room(rows * cols * sizeof *wanted);
		struct hk_detections *d = detections_room(CAPACITY);
		uint32_t n = 0, kept;

		for (uint32_t i = 0; i < rows * cols; i++) {
			if (uniform(&seed) > density)
				continue;
			map[i] = (float)(1 + (int)(uniform(&seed) * 6));
			in[n++] = (struct hk_detection){ i / cols, i % cols, map[i] };
		}
		kept = flood(map, rows, cols, wanted);
		keep(rows, cols, in, n, d);
		assert_int_equal(d->count, kept);
		assert_memory_equal(d->at, wanted, kept * sizeof *wanted);
		free(map), free(in), free(wanted), free(d);
	}
}

static void
what_is_not_in_order_or_in_bounds_is_refused(void **state)
{
	static const struct hk_detection bad[][2] = {
		{ { 3, 4, 1 }, { 3, 4, 1 } },
		{ { 3, 4, 1 }, { 2, 9, 1 } },
		{ { 10, 0, 1 }, { 11, 0, 1 } },
		{ { 1, 10, 1 }, { 2, 0, 1 } },
	};
	struct hk_cluster *c = cluster_of(2);
	struct hk_detections *d = detections_room(4);

	(void)state;
	d->rows = d->cols = 10;
	d->count = 2;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		memcpy(d->at, bad[i], sizeof bad[i]);
		assert_int_not_equal(hk_cluster_check(c, d), 0);
	}
	d->count = 3;
	assert_int_not_equal(hk_cluster_check(c, d), 0);
	free(c), free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_over_corners_become_their_strongest),
		cmocka_unit_test(a_gap_of_one_cell_parts_two_targets),
		cmocka_unit_test(both_axes_wrap),
		cmocka_unit_test(of_equals_the_first_is_kept),
		cmocka_unit_test(nothing_in_is_nothing_out),
		cmocka_unit_test(random_maps_cluster_as_a_flood_fill_does),
		cmocka_unit_test(what_is_not_in_order_or_in_bounds_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
