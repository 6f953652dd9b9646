/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfar.c - radar/cfar: cells that stand out of their surroundings.  Detections
 * beyond the capacity are dropped and counted; the first rows win.
 */
#include <errno.h>

#include "radar.h"

enum { C_DETECTIONS, C_OVERFLOW };

struct cfar_params {
	int64_t guard, train, capacity;
	double factor;
};

struct cfar {
	struct hk_cfar *cfar;
	struct hk_cfar_params p;
	uint32_t capacity;
	uint32_t reserved;
};

static const struct hop_port ports[] = {
	{ "in", "power maps, f32[range][doppler]", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
	{ "out",
	  "detections, u32[1 + capacity][3]: count, range and Doppler bins; then range, doppler, "
	  "f32 power",
	  HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	RADAR_PARAM(INT, struct cfar_params, guard, "cells", "2", "0", "64", NULL,
		    "cells on each side that belong to the target"),
	RADAR_PARAM(INT, struct cfar_params, train, "cells", "8", "1", "256", NULL,
		    "cells on each side beyond the guard that make the average"),
	RADAR_PARAM(REAL, struct cfar_params, factor, NULL, "15.0", "1e-3", "1e9", NULL,
		    "how often the average a cell must exceed"),
	RADAR_PARAM(INT, struct cfar_params, capacity, "detections", "4096", "1", "1048576", NULL,
		    "most detections of one frame"),
};

static const struct hop_counter counters[] = {
	[C_DETECTIONS] = { "detections", "cells above their threshold", HOP_LOG_INFO, 0 },
	[C_OVERFLOW] = { "overflow", "detections beyond the capacity, dropped", HOP_LOG_WARN, 0 },
};

static int
cfar_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct cfar_params *p = ctx->params;
	const struct hop_format *in = shape->in[0];
	uint32_t window = (uint32_t)(2 * (p->guard + p->train) + 1);
	char found[RADAR_FORMAT_TEXT];

	if (!radar_is(in, RADAR_F32, 2))
		return HOP_FAIL(ctx, EINVAL,
				"in: wanted a power map, f32[range][doppler]; found %s",
				radar_text(in, found));
	if (in->dim[0] < window || in->dim[1] < window)
		return HOP_FAIL(
			ctx, EINVAL,
			"in: guard %lld and train %lld need %u cells on each axis; found %s",
			(long long)p->guard, (long long)p->train, window, radar_text(in, found));
	radar_set_detections(shape->out[0], (uint32_t)p->capacity);
	shape->out[0]->rate_hz = in->rate_hz;
	shape->gives[0] = 1;
	return 0;
}

static int
cfar_open(void *state, const struct hop_ctx *ctx)
{
	const struct cfar_params *p = ctx->params;
	const struct hop_shape *shape = radar_shape(ctx);
	struct cfar *c = state;

	if (!shape)
		return -ENOTSUP;
	c->capacity = (uint32_t)p->capacity;
	c->p = (struct hk_cfar_params){
		.rows = shape->in[0]->dim[0],
		.cols = shape->in[0]->dim[1],
		.guard = (uint32_t)p->guard,
		.train = (uint32_t)p->train,
		.factor = (float)p->factor,
	};
	c->cfar = radar_alloc(ctx, hk_cfar_bytes(&c->p), "the CFAR");
	if (!c->cfar)
		return -ENOMEM;
	return hk_cfar_init(c->cfar, &c->p, HK_BEST); /* shape() refused what it refuses */
}

static hop_status
cfar_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct cfar *c = state;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];
	uint64_t bytes = (uint64_t)c->p.rows * c->p.cols * sizeof(float);

	while (in->taken < in->count && out->filled < out->count) {
		const struct hop_rx *rx = &in->msg[in->taken];
		const struct hop_tx *tx = &out->msg[out->filled];
		struct hk_detections *found = tx->data;
		uint32_t lost;

		if (rx->bytes != bytes)
			return HOP_FAIL(ctx, EBADMSG, "frame %llu: wanted %llu bytes, found %llu",
					(unsigned long long)rx->head->frame,
					(unsigned long long)bytes, (unsigned long long)rx->bytes);
		found->count = 0;
		lost = hk_cfar_detect(c->cfar, rx->data, 0, c->p.rows, found, c->capacity);
		hop_count(ctx, C_DETECTIONS, (uint64_t)found->count + lost);
		hop_count(ctx, C_OVERFLOW, lost);
		hop_derive(tx, rx);
		radar_fill_detections(tx, found->count);
		in->taken++;
		out->filled++;
	}
	return HOP_OK;
}

static void
cfar_close(void *state, const struct hop_ctx *ctx)
{
	struct cfar *c = state;

	ctx->host->free(ctx, c->cfar);
}

const struct hop_op radar_cfar = {
	.size = sizeof radar_cfar,
	.flags = HOP_F_STATELESS,
	.name = "radar/cfar",
	.doc = "Detect cells above a multiple of the average around them (CA-CFAR, both axes "
	       "wrap).",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct cfar_params),
	.state_size = sizeof(struct cfar),
	.shape = cfar_shape,
	.open = cfar_open,
	.process = cfar_process,
	.close = cfar_close,
};
