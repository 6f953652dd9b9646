/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doppler FFT with corner turn.  A block of eight range rows takes one cache
 * line of every chirp, windows it into eight contiguous rows, transforms them
 * by one batched plan and squares them into the output: each line of the
 * input is touched once, at any chirp stride.  Rows of the block beyond the
 * map are transformed and not written.
 */
#include <errno.h>
#include <fftw3.h>

#include <hk/radar.h>

struct hk_doppler {
	size_t samples, chirps;
	size_t stride; /* of a row of the block: chirps, padded to a cache line */
	float *window;
	struct hk_c32 *turned, *spectrum;
	fftwf_plan plan;
};

static size_t
padded(size_t bytes)
{
	return (bytes + HK_ALIGN - 1) / HK_ALIGN * HK_ALIGN;
}

static size_t
row_stride(size_t chirps)
{
	return padded(chirps * sizeof(struct hk_c32)) / sizeof(struct hk_c32);
}

size_t
hk_doppler_bytes(size_t samples, size_t chirps)
{
	(void)samples;
	return padded(sizeof(struct hk_doppler)) + padded(chirps * sizeof(float)) +
	       2 * HK_DOPPLER_ROWS * row_stride(chirps) * sizeof(struct hk_c32);
}

int
hk_doppler_init(struct hk_doppler *doppler, size_t samples, size_t chirps, enum hk_window window)
{
	char *at = (char *)doppler + padded(sizeof *doppler);
	int n = (int)chirps, stride;

	doppler->samples = samples;
	doppler->chirps = chirps;
	doppler->stride = row_stride(chirps);
	stride = (int)doppler->stride;
	doppler->window = (void *)at;
	at += padded(chirps * sizeof(float));
	doppler->turned = (void *)at;
	doppler->spectrum = doppler->turned + HK_DOPPLER_ROWS * doppler->stride;
	for (size_t i = 0; i < 2 * HK_DOPPLER_ROWS * doppler->stride; i++)
		doppler->turned[i] = (struct hk_c32){ 0 };
	hk_window_fill(window, doppler->window, chirps);
	doppler->plan =
		fftwf_plan_many_dft(1, &n, HK_DOPPLER_ROWS, (fftwf_complex *)doppler->turned, NULL,
				    1, stride, (fftwf_complex *)doppler->spectrum, NULL, 1, stride,
				    FFTW_FORWARD, FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
	return doppler->plan ? 0 : -ENOMEM;
}

void
hk_doppler_fini(struct hk_doppler *doppler)
{
	fftwf_destroy_plan(doppler->plan);
}

/* Columns row..row+8 of the input become rows of the block. */
static void
turn_block(const struct hk_doppler *d, const struct hk_c32 *in, size_t row)
{
	struct hk_c32 *restrict dst = d->turned;
	size_t stride = d->stride;

	for (size_t m = 0; m < d->chirps; m++) {
		const struct hk_c32 *restrict src = in + m * d->samples + row;
		float w = d->window[m];

		for (size_t k = 0; k < HK_DOPPLER_ROWS; k++) {
			dst[k * stride + m].re = w * src[k].re;
			dst[k * stride + m].im = w * src[k].im;
		}
	}
}

static void
turn_rows(const struct hk_doppler *d, const struct hk_c32 *in, size_t row, size_t rows)
{
	for (size_t m = 0; m < d->chirps; m++) {
		const struct hk_c32 *src = in + m * d->samples + row;
		float w = d->window[m];

		for (size_t k = 0; k < rows; k++) {
			d->turned[k * d->stride + m].re = w * src[k].re;
			d->turned[k * d->stride + m].im = w * src[k].im;
		}
	}
}

static void
square(const struct hk_c32 *restrict x, float *restrict power, size_t n)
{
	for (size_t i = 0; i < n; i++)
		power[i] = x[i].re * x[i].re + x[i].im * x[i].im;
}

void
hk_doppler_power(struct hk_doppler *doppler, const struct hk_c32 *in, float *power, size_t lo,
		 size_t hi)
{
	for (size_t row = lo; row < hi; row += HK_DOPPLER_ROWS) {
		size_t rows = hi - row < HK_DOPPLER_ROWS ? hi - row : HK_DOPPLER_ROWS;

		if (rows == HK_DOPPLER_ROWS)
			turn_block(doppler, in, row);
		else
			turn_rows(doppler, in, row, rows);
		fftwf_execute(doppler->plan);
		for (size_t k = 0; k < rows; k++)
			square(doppler->spectrum + k * doppler->stride,
			       power + (row + k) * doppler->chirps, doppler->chirps);
	}
}
