/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doppler_fft.c - radar/doppler_fft: corner turn, window, transform along the
 * chirps and power, for a frame that a gather has put together.
 */
#include <errno.h>

#include "radar.h"

struct doppler_params {
	int32_t window;
};

struct doppler {
	struct hk_doppler *fft;
	size_t samples, chirps;
};

static const struct hop_port ports[] = {
	{ "in", "frames of range spectra, c64[chirps][samples]", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0,
	  0, 0 },
	{ "out", "power maps, f32[range][doppler]: samples x chirps, |X|^2", HOP_OUT, 0,
	  HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	RADAR_PARAM(CHOICE, struct doppler_params, window, NULL, "hann", NULL, NULL, radar_windows,
		    "along the chirps: none, or symmetric Hann"),
};

static int
doppler_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct hop_format *in = shape->in[0];
	char found[RADAR_FORMAT_TEXT];

	if (radar_is(in, RADAR_C64, 1))
		return HOP_FAIL(ctx, EINVAL,
				"in: wanted whole frames, c64[chirps][samples]; found %s, one "
				"chirp: give this input a gather with the number of chirps",
				radar_text(in, found));
	if (!radar_is(in, RADAR_C64, 2))
		return HOP_FAIL(ctx, EINVAL, "in: wanted c64[chirps][samples]; found %s",
				radar_text(in, found));
	if (!in->dim[0] || in->dim[0] > RADAR_MAX_CHIRPS || !in->dim[1] ||
	    in->dim[1] > RADAR_MAX_SAMPLES)
		return HOP_FAIL(ctx, EINVAL, "in: wanted at most %d chirps of %d samples; found %s",
				RADAR_MAX_CHIRPS, RADAR_MAX_SAMPLES, radar_text(in, found));
	radar_set(shape->out[0], RADAR_F32, 2, in->dim[1], in->dim[0]);
	shape->out[0]->rate_hz = in->rate_hz;
	shape->gives[0] = 1;
	return 0;
}

static int
doppler_open(void *state, const struct hop_ctx *ctx)
{
	const struct doppler_params *p = ctx->params;
	const struct hop_shape *shape = radar_shape(ctx);
	struct doppler *d = state;

	if (!shape)
		return -ENOTSUP;
	d->chirps = shape->in[0]->dim[0];
	d->samples = shape->in[0]->dim[1];
	d->fft = radar_alloc(ctx, hk_doppler_bytes(d->samples, d->chirps), "the Doppler FFT");
	if (!d->fft)
		return -ENOMEM;
	if (hk_doppler_init(d->fft, d->samples, d->chirps, (enum hk_window)p->window)) {
		ctx->host->free(ctx, d->fft);
		return HOP_FAIL(ctx, ENOMEM, "FFTW made no plan for %zu chirps", d->chirps);
	}
	return 0;
}

static hop_status
doppler_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct doppler *d = state;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];
	uint64_t cells = (uint64_t)d->samples * d->chirps;

	while (in->taken < in->count && out->filled < out->count) {
		const struct hop_rx *rx = &in->msg[in->taken];
		const struct hop_tx *tx = &out->msg[out->filled];

		if (rx->bytes != cells * sizeof(struct hk_c32))
			return HOP_FAIL(ctx, EBADMSG, "frame %llu: wanted %llu bytes, found %llu",
					(unsigned long long)rx->head->frame,
					(unsigned long long)(cells * sizeof(struct hk_c32)),
					(unsigned long long)rx->bytes);
		hk_doppler_power(d->fft, rx->data, tx->data, 0, d->samples);
		hop_derive(tx, rx);
		tx->head->bytes = cells * sizeof(float);
		in->taken++;
		out->filled++;
	}
	return HOP_OK;
}

static void
doppler_close(void *state, const struct hop_ctx *ctx)
{
	struct doppler *d = state;

	hk_doppler_fini(d->fft);
	ctx->host->free(ctx, d->fft);
}

const struct hop_op radar_doppler_fft = {
	.size = sizeof radar_doppler_fft,
	.flags = HOP_F_STATELESS,
	.name = "radar/doppler_fft",
	.doc = "Transform whole frames along their chirps and square.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_NONE,
	.params_size = sizeof(struct doppler_params),
	.state_size = sizeof(struct doppler),
	.shape = doppler_shape,
	.open = doppler_open,
	.process = doppler_process,
	.close = doppler_close,
};
