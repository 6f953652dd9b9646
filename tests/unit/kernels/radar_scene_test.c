/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scene: the same bytes everywhere, frames that repeat only after
 * `distinct`, noise of the promised strength, targets where the truth says.
 */
#include <math.h>

#include "radar_maps.h"

/* FNV-1a over the little-endian samples of one frame. */
static uint64_t
frame_hash(const struct hk_scene *s, uint64_t frame)
{
	int16_t *iq = room(s->samples * 4);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t m = 0; m < s->chirps; m++) {
		hk_scene_chirp(s, frame, m, iq);
		for (uint32_t i = 0; i < 2 * s->samples; i++) {
			hash = (hash ^ ((uint16_t)iq[i] & 0xff)) * UINT64_C(0x100000001b3);
			hash = (hash ^ ((uint16_t)iq[i] >> 8)) * UINT64_C(0x100000001b3);
		}
	}
	free(iq);
	return hash;
}

static void
the_bytes_are_the_same_on_every_machine(void **state)
{
	const struct hk_scene small = { 512, 64, 20, 1 }, large = { 2048, 16, 20, 1 };

	(void)state;
	assert_true(frame_hash(&small, 0) == UINT64_C(0x82c273f5f8891cd9));
	assert_true(frame_hash(&large, 7) == UINT64_C(0xe0a4fb8e03e705f4));
}

static void
frames_repeat_after_distinct_and_not_before(void **state)
{
	const struct hk_scene s = { 512, 16, 5, 1 }, other = { 512, 16, 5, 2 };
	uint64_t hash[5];

	(void)state;
	for (uint64_t f = 0; f < 5; f++) {
		hash[f] = frame_hash(&s, f);
		for (uint64_t g = 0; g < f; g++)
			assert_true(hash[f] != hash[g]);
		assert_true(frame_hash(&s, f + 5) == hash[f]);
		assert_true(frame_hash(&other, f) != hash[f]);
	}
}

static void
targets_move_eight_bins_a_frame_and_wrap(void **state)
{
	const struct hk_scene s = { 512, 64, 100, 1 };
	struct hk_target a[HK_SCENE_TARGETS], b[HK_SCENE_TARGETS];

	(void)state;
	for (uint64_t f = 0; f + 1 < 100; f++) {
		hk_scene_truth(&s, f, a);
		hk_scene_truth(&s, f + 1, b);
		for (int k = 0; k < HK_SCENE_TARGETS; k++) {
			double moved = b[k].range - a[k].range;

			moved += moved < 0.0 ? 512.0 : 0.0;
			assert_true(a[k].range >= 0.0 && a[k].range < 512.0);
			assert_true(a[k].doppler >= 0.0 && a[k].doppler < 64.0);
			assert_close(moved, 8.0, 0.1);
		}
	}
}

static void
the_truth_is_the_radar_equation(void **state)
{
	const struct hk_scene s = { 1024, 128, 20, 1 }, large = { 2048, 256, 20, 1 };
	struct hk_target t[HK_SCENE_TARGETS];

	(void)state;
	hk_scene_truth(&s, 0, t);
	assert_close(t[0].range, 2 * 307.2e6 * 80 / 299792458.0, 1e-9);
	assert_close(t[1].range, 2 * 307.2e6 * 200 / 299792458.0, 1e-9);
	assert_close(t[0].doppler, 2 * 5 * 77e9 / 299792458.0 * 128 * 50e-6, 1e-9);
	assert_close(t[1].doppler, 128 - 2 * 12 * 77e9 / 299792458.0 * 128 * 50e-6, 1e-9);
	assert_close(t[0].amplitude, 512 * pow(10, -5 / 20.0), 1e-9);
	assert_close(t[1].amplitude, 512 * pow(10, -10 / 20.0), 1e-9);
	hk_scene_truth(&large, 0, t);
	assert_close(t[2].range, 2 * 307.2e6 * 120 / 299792458.0, 1e-9);
	assert_close(t[2].amplitude, 512 * pow(10, 6 / 20.0), 1e-9);
}

/* One chirp against the formula with libm; what is left is the noise. */
static void
a_chirp_is_its_targets_in_noise_of_512_counts(void **state)
{
	const struct hk_scene s = { 1024, 64, 20, 1 };
	const double two_pi = 6.28318530717958647693;
	struct hk_target t[HK_SCENE_TARGETS];
	int16_t *iq = room(1024 * 4);
	double sum = 0.0, power = 0.0;

	(void)state;
	hk_scene_truth(&s, 3, t);
	for (uint32_t m = 0; m < 64; m++) {
		hk_scene_chirp(&s, 3, m, iq);
		for (uint32_t n = 0; n < 1024; n++) {
			double re = iq[2 * n], im = iq[2 * n + 1];

			for (int k = 0; k < HK_SCENE_TARGETS; k++) {
				double a = two_pi * (t[k].phase + t[k].range * n / 1024 +
						     t[k].doppler * m / 64);

				re -= t[k].amplitude * cos(a);
				im -= t[k].amplitude * sin(a);
			}
			sum += re + im;
			power += re * re + im * im;
		}
	}
	assert_close(sum / (2 * 65536.0), 0.0, 5.0);
	assert_close(sqrt(power / 65536.0), 512.0, 5.0);
	free(iq);
}

static void
expected_power_is_that_of_the_strongest_cell_nearby(void **state)
{
	const struct hk_scene s = { 512, 64, 20, 1 };
	struct hk_expect *e = room(hk_expect_bytes(&s));
	struct hk_expected out[HK_SCENE_TARGETS];
	float *map = scene_map(&s, 4);

	(void)state;
	assert_int_equal(hk_expect_init(e, &s, HK_WINDOW_HANN), 0);
	hk_expect_frame(e, 4, 2, out);
	for (int k = 0; k < HK_SCENE_TARGETS; k++) {
		float best = 0.0f;

		for (uint32_t i = 0; i < 512 * 64; i++)
			if (hk_circular(i / 64, out[k].range, 512) <= 2 &&
			    hk_circular(i % 64, out[k].doppler, 64) <= 2 && map[i] > best)
				best = map[i];
		assert_close(out[k].power, best, 0.0);
	}
	hk_expect_fini(e);
	free(e), free(map);
}

static void
circular_distance_goes_the_short_way(void **state)
{
	(void)state;
	assert_int_equal(hk_circular(1, 9, 10), 2);
	assert_int_equal(hk_circular(9, 1, 10), 2);
	assert_int_equal(hk_circular(4, 4, 10), 0);
	assert_int_equal(hk_circular(0, 5, 10), 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_are_the_same_on_every_machine),
		cmocka_unit_test(frames_repeat_after_distinct_and_not_before),
		cmocka_unit_test(targets_move_eight_bins_a_frame_and_wrap),
		cmocka_unit_test(the_truth_is_the_radar_equation),
		cmocka_unit_test(a_chirp_is_its_targets_in_noise_of_512_counts),
		cmocka_unit_test(expected_power_is_that_of_the_strongest_cell_nearby),
		cmocka_unit_test(circular_distance_goes_the_short_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
