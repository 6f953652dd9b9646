/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range and Doppler FFT against tones whose answer is known and against a
 * straight DFT in double, over sizes with and without small factors.
 */
#include <math.h>

#include "radar_maps.h"

static const double two_pi = 6.28318530717958647693;

static void
hann_is_symmetric_zero_at_the_ends_and_one_in_the_middle(void **state)
{
	float w[9], even[4], single;

	(void)state;
	hk_window_fill(HK_WINDOW_HANN, w, 9);
	assert_close(w[0], 0.0, 0.0);
	assert_close(w[4], 1.0, 0.0);
	for (int i = 0; i < 9; i++)
		assert_close(w[i], w[8 - i], 1e-7);
	hk_window_fill(HK_WINDOW_HANN, even, 4);
	assert_close(even[1], 0.75, 1e-7);
	hk_window_fill(HK_WINDOW_HANN, &single, 1);
	assert_close(single, 1.0, 0.0);
}

static void
a_tone_lands_in_its_bin_at_full_gain(void **state)
{
	enum { N = 64, BIN = 61 };
	struct hk_range_fft *fft = room(hk_range_fft_bytes(N));
	struct hk_c32 *in = room(N * sizeof *in), *out = room(N * sizeof *out);

	(void)state;
	assert_int_equal(hk_range_fft_init(fft, N, HK_WINDOW_NONE), 0);
	for (int n = 0; n < N; n++) {
		in[n].re = (float)cos(two_pi * BIN * n / N);
		in[n].im = (float)sin(two_pi * BIN * n / N);
	}
	hk_range_fft_c32(fft, in, out);
	for (int k = 0; k < N; k++) {
		assert_close(out[k].re, k == BIN ? N : 0.0, 1e-4);
		assert_close(out[k].im, 0.0, 1e-4);
	}
	hk_range_fft_fini(fft);
	free(fft);
	free(in);
	free(out);
}

static void
naive_dft(const double *re, const double *im, size_t n, size_t k, double *x, double *y)
{
	*x = *y = 0.0;
	for (size_t i = 0; i < n; i++) {
		double c = cos(two_pi * (double)(i * k % n) / (double)n);
		double s = -sin(two_pi * (double)(i * k % n) / (double)n);

		*x += re[i] * c - im[i] * s;
		*y += re[i] * s + im[i] * c;
	}
}

static void
check_range(size_t n)
{
	struct hk_range_fft *fft = room(hk_range_fft_bytes(n));
	struct hk_c32 *out = room(n * sizeof *out), *again = room(n * sizeof *again);
	struct hk_c32 *in = room(n * sizeof *in);
	int16_t *iq = room(n * 4);
	double *re = room(n * sizeof *re), *im = room(n * sizeof *im), x, y;
	uint64_t seed = 7 + n;

	for (size_t i = 0; i < n; i++) {
		double w = n > 1 ? 0.5 * (1.0 - cos(two_pi * (double)i / (double)(n - 1))) : 1.0;

		iq[2 * i] = (int16_t)(uniform(&seed) * 65535.0 - 32768.0);
		iq[2 * i + 1] = (int16_t)(uniform(&seed) * 65535.0 - 32768.0);
		in[i] = (struct hk_c32){ iq[2 * i], iq[2 * i + 1] };
		re[i] = w * iq[2 * i];
		im[i] = w * iq[2 * i + 1];
	}
	assert_int_equal(hk_range_fft_init(fft, n, HK_WINDOW_HANN), 0);
	hk_range_fft_i16(fft, iq, out);
	hk_range_fft_c32(fft, in, again);
	assert_memory_equal(out, again, n * sizeof *out);
	for (size_t k = 0; k < n; k++) {
		double limit = 32768.0 * sqrt((double)n) * 2e-6;

		naive_dft(re, im, n, k, &x, &y);
		assert_close(out[k].re, x, limit);
		assert_close(out[k].im, y, limit);
	}
	hk_range_fft_fini(fft);
	free(fft), free(out), free(again), free(in), free(iq), free(re), free(im);
}

static void
range_fft_equals_the_dft_of_the_windowed_chirp(void **state)
{
	(void)state;
	check_range(8);
	check_range(60);
	check_range(97);
	check_range(512);
	check_range(1000);
}

static void
check_doppler(size_t samples, size_t chirps)
{
	struct hk_doppler *d = room(hk_doppler_bytes(samples, chirps));
	struct hk_c32 *in = room(samples * chirps * sizeof *in);
	float *power = room(samples * chirps * sizeof *power);
	float *parts = room(samples * chirps * sizeof *parts);
	double *re = room(chirps * sizeof *re), *im = room(chirps * sizeof *im), x, y;
	uint64_t seed = 11 + samples;

	for (size_t i = 0; i < samples * chirps; i++)
		in[i] = (struct hk_c32){ (float)uniform(&seed) - 0.5f,
					 (float)uniform(&seed) - 0.5f };
	assert_int_equal(hk_doppler_init(d, samples, chirps, HK_WINDOW_HANN), 0);
	hk_doppler_power(d, in, power, 0, samples);
	for (size_t lo = 0; lo < samples; lo += 2 * HK_DOPPLER_ROWS)
		hk_doppler_power(d, in, parts, lo,
				 lo + 2 * HK_DOPPLER_ROWS < samples ? lo + 2 * HK_DOPPLER_ROWS
								    : samples);
	assert_memory_equal(power, parts, samples * chirps * sizeof *power);
	for (size_t r = 0; r < samples; r++) {
		for (size_t m = 0; m < chirps; m++) {
			double w = 0.5 * (1.0 - cos(two_pi * (double)m / (double)(chirps - 1)));

			re[m] = w * (double)in[m * samples + r].re;
			im[m] = w * (double)in[m * samples + r].im;
		}
		for (size_t k = 0; k < chirps; k++) {
			naive_dft(re, im, chirps, k, &x, &y);
			assert_close(power[r * chirps + k], x * x + y * y, 1e-5 * (double)chirps);
		}
	}
	hk_doppler_fini(d);
	free(d), free(in), free(power), free(parts), free(re), free(im);
}

static void
doppler_power_equals_the_dft_and_row_ranges_equal_the_whole(void **state)
{
	(void)state;
	check_doppler(8, 16);
	check_doppler(20, 12);
	check_doppler(37, 31);
	check_doppler(64, 64);
	check_doppler(3, 5);
}

static void
a_moving_point_lands_in_its_cell(void **state)
{
	enum { N = 32, M = 16, R = 29, D = 13 };
	struct hk_range_fft *range = room(hk_range_fft_bytes(N));
	struct hk_doppler *doppler = room(hk_doppler_bytes(N, M));
	struct hk_c32 *in = room(N * sizeof *in), *cube = room(N * M * sizeof *cube);
	float *power = room(N * M * sizeof *power);

	(void)state;
	assert_int_equal(hk_range_fft_init(range, N, HK_WINDOW_NONE), 0);
	assert_int_equal(hk_doppler_init(doppler, N, M, HK_WINDOW_NONE), 0);
	for (int m = 0; m < M; m++) {
		for (int n = 0; n < N; n++) {
			double turns = (double)R * n / N + (double)D * m / M;

			in[n].re = (float)cos(two_pi * turns);
			in[n].im = (float)sin(two_pi * turns);
		}
		hk_range_fft_c32(range, in, cube + m * N);
	}
	hk_doppler_power(doppler, cube, power, 0, N);
	for (int i = 0; i < N * M; i++)
		assert_close(power[i], i == R * M + D ? (double)(N * M) * N * M : 0.0, 1.0);
	hk_range_fft_fini(range);
	hk_doppler_fini(doppler);
	free(range), free(doppler), free(in), free(cube), free(power);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hann_is_symmetric_zero_at_the_ends_and_one_in_the_middle),
		cmocka_unit_test(a_tone_lands_in_its_bin_at_full_gain),
		cmocka_unit_test(range_fft_equals_the_dft_of_the_windowed_chirp),
		cmocka_unit_test(doppler_power_equals_the_dft_and_row_ranges_equal_the_whole),
		cmocka_unit_test(a_moving_point_lands_in_its_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
