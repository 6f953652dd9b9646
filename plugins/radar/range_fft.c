/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_fft.c - radar/range_fft: window and transform each chirp.  One message
 * out for each in, same lineage; a message of another length fails the graph.
 */
#include <errno.h>

#include "radar.h"

struct range_params {
	int32_t window;
};

struct range {
	struct hk_range_fft *fft;
	uint64_t in_bytes, out_bytes;
	uint32_t is_i16;
	uint32_t reserved;
};

static const struct hop_port ports[] = {
	{ "in", "chirps, i16x2[samples] or c64[samples]", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
	{ "out", "range spectra, c64[samples]; bin 0 first, unnormalised", HOP_OUT, 0, HOP_MEM_HOST,
	  1, 0, 0, HK_ALIGN, 0 },
};

static const struct hop_param params[] = {
	RADAR_PARAM(CHOICE, struct range_params, window, NULL, "hann", NULL, NULL, radar_windows,
		    "along the samples: none, or symmetric Hann"),
};

static int
range_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct hop_format *in = shape->in[0];
	char found[RADAR_FORMAT_TEXT];

	if (!radar_is(in, RADAR_I16X2, 1) && !radar_is(in, RADAR_C64, 1))
		return HOP_FAIL(ctx, EINVAL,
				"in: wanted one chirp, i16x2[samples] or c64[samples]; found %s",
				radar_text(in, found));
	if (in->dim[0] < RADAR_MIN_SAMPLES || in->dim[0] > RADAR_MAX_SAMPLES)
		return HOP_FAIL(ctx, EINVAL, "in: wanted %d to %d samples; found %s",
				RADAR_MIN_SAMPLES, RADAR_MAX_SAMPLES, radar_text(in, found));
	radar_set(shape->out[0], RADAR_C64, 1, in->dim[0], 0);
	shape->out[0]->rate_hz = in->rate_hz;
	shape->gives[0] = 1;
	return 0;
}

static int
range_open(void *state, const struct hop_ctx *ctx)
{
	const struct range_params *p = ctx->params;
	const struct hop_shape *shape = radar_shape(ctx);
	struct range *r = state;
	size_t samples;

	if (!shape)
		return -ENOTSUP;
	samples = shape->in[0]->dim[0];
	r->is_i16 = radar_is(shape->in[0], RADAR_I16X2, 1) != 0;
	r->in_bytes = samples * (r->is_i16 ? 2 * sizeof(int16_t) : sizeof(struct hk_c32));
	r->out_bytes = samples * sizeof(struct hk_c32);
	r->fft = radar_alloc(ctx, hk_range_fft_bytes(samples), "the range FFT");
	if (!r->fft)
		return -ENOMEM;
	if (hk_range_fft_init(r->fft, samples, (enum hk_window)p->window)) {
		ctx->host->free(ctx, r->fft);
		return HOP_FAIL(ctx, ENOMEM, "FFTW made no plan for %zu samples", samples);
	}
	return 0;
}

static hop_status
range_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct range *r = state;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];

	while (in->taken < in->count && out->filled < out->count) {
		const struct hop_rx *rx = &in->msg[in->taken];
		const struct hop_tx *tx = &out->msg[out->filled];

		if (rx->bytes != r->in_bytes)
			return HOP_FAIL(
				ctx, EBADMSG, "frame %llu chirp %u: wanted %llu bytes, found %llu",
				(unsigned long long)rx->head->frame, rx->head->index,
				(unsigned long long)r->in_bytes, (unsigned long long)rx->bytes);
		if (r->is_i16)
			hk_range_fft_i16(r->fft, rx->data, tx->data);
		else
			hk_range_fft_c32(r->fft, rx->data, tx->data);
		hop_derive(tx, rx);
		tx->head->bytes = r->out_bytes;
		in->taken++;
		out->filled++;
	}
	return HOP_OK;
}

static void
range_close(void *state, const struct hop_ctx *ctx)
{
	struct range *r = state;

	hk_range_fft_fini(r->fft);
	ctx->host->free(ctx, r->fft);
}

const struct hop_op radar_range_fft = {
	.size = sizeof radar_range_fft,
	.flags = HOP_F_STATELESS | HOP_F_MAPS,
	.name = "radar/range_fft",
	.doc = "Window each chirp and transform it along its samples.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_NONE,
	.params_size = sizeof(struct range_params),
	.state_size = sizeof(struct range),
	.shape = range_shape,
	.open = range_open,
	.process = range_process,
	.close = range_close,
};
