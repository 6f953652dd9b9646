/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range FFT: window a chirp into an aligned buffer, transform it into the
 * caller's.  FFTW_ESTIMATE, because measured plans differ from run to run in
 * the last bits.  No scaling.
 */
#include <errno.h>
#include <fftw3.h>

#include <hk/radar.h>

struct hk_range_fft {
	size_t samples;
	float *window;
	struct hk_c32 *windowed;
	fftwf_plan plan;
};

static size_t
padded(size_t bytes)
{
	return (bytes + HK_ALIGN - 1) / HK_ALIGN * HK_ALIGN;
}

size_t
hk_range_fft_bytes(size_t samples)
{
	/* A second buffer stands for the caller's while planning. */
	return padded(sizeof(struct hk_range_fft)) + padded(samples * sizeof(float)) +
	       2 * padded(samples * sizeof(struct hk_c32));
}

int
hk_range_fft_init(struct hk_range_fft *fft, size_t samples, enum hk_window window)
{
	char *at = (char *)fft + padded(sizeof *fft);
	void *in, *out;

	fft->samples = samples;
	fft->window = (void *)at;
	at += padded(samples * sizeof(float));
	fft->windowed = in = at;
	out = at + padded(samples * sizeof(struct hk_c32));
	hk_window_fill(window, fft->window, samples);
	fft->plan = fftwf_plan_dft_1d((int)samples, in, out, FFTW_FORWARD,
				      FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
	return fft->plan ? 0 : -ENOMEM;
}

void
hk_range_fft_fini(struct hk_range_fft *fft)
{
	fftwf_destroy_plan(fft->plan);
}

static void
transform(struct hk_range_fft *fft, struct hk_c32 *out)
{
	fftwf_execute_dft(fft->plan, (fftwf_complex *)fft->windowed, (fftwf_complex *)out);
}

void
hk_range_fft_i16(struct hk_range_fft *fft, const int16_t *restrict iq, struct hk_c32 *out)
{
	struct hk_c32 *restrict dst = fft->windowed;
	const float *restrict w = fft->window;

	for (size_t i = 0; i < fft->samples; i++) {
		dst[i].re = w[i] * (float)iq[2 * i];
		dst[i].im = w[i] * (float)iq[2 * i + 1];
	}
	transform(fft, out);
}

void
hk_range_fft_c32(struct hk_range_fft *fft, const struct hk_c32 *restrict in, struct hk_c32 *out)
{
	struct hk_c32 *restrict dst = fft->windowed;
	const float *restrict w = fft->window;

	for (size_t i = 0; i < fft->samples; i++) {
		dst[i].re = w[i] * in[i].re;
		dst[i].im = w[i] * in[i].im;
	}
	transform(fft, out);
}
