/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.c - radar/scene: a source that plays a repeatable scene as chirps.
 *
 * All distinct frames are computed in open(), 4 bytes a sample, so that
 * playing is a copy.  It is not paced: a full output holds it back.
 */
#include <errno.h>
#include <string.h>

#include "radar.h"

enum { C_FRAMES };

struct scene_params {
	int64_t samples, chirps, frames, distinct, seed;
};

struct scene {
	int16_t *chirp; /* [held][chirps][samples][2] */
	uint64_t held;  /* frames in memory */
	uint64_t next;  /* chirp to send, counted from the start */
};

static const struct hop_port ports[] = {
	{ "out", "chirps, i16x2[samples]; head.frame and head.index say which", HOP_OUT, 0,
	  HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	RADAR_PARAM(INT, struct scene_params, samples, "samples", "1024", "8", "65536", NULL,
		    "samples of a chirp at 20.48 MHz; from 2048 on the large-CPI targets"),
	RADAR_PARAM(INT, struct scene_params, chirps, "chirps", "128", "1", "8192", NULL,
		    "chirps of a frame"),
	RADAR_PARAM(INT, struct scene_params, frames, "frames", "500", "0", NULL, NULL,
		    "frames to send; 0: until the graph stops"),
	RADAR_PARAM(INT, struct scene_params, distinct, "frames", "20", "1", "4096", NULL,
		    "frames that differ; frame f shows f mod this, each 8 range bins further"),
	RADAR_PARAM(INT, struct scene_params, seed, NULL, "1", "0", NULL, NULL, "of the noise"),
};

static const struct hop_counter counters[] = {
	[C_FRAMES] = { "frames", "whole frames sent", HOP_LOG_INFO, 0 },
};

static int
scene_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct scene_params *p = ctx->params;

	radar_set(shape->out[0], RADAR_I16X2, 1, (uint32_t)p->samples, 0);
	return 0;
}

static int
scene_open(void *state, const struct hop_ctx *ctx)
{
	const struct scene_params *p = ctx->params;
	struct scene *s = state;
	struct hk_scene scene = {
		.samples = (uint32_t)p->samples,
		.chirps = (uint32_t)p->chirps,
		.distinct = (uint32_t)p->distinct,
		.seed = (uint64_t)p->seed,
	};
	size_t reals = 2 * (size_t)p->samples;

	s->held = (uint64_t)(p->frames && p->frames < p->distinct ? p->frames : p->distinct);
	s->chirp = radar_alloc(ctx, s->held * (size_t)p->chirps * reals * sizeof *s->chirp,
			       "the scene's frames");
	if (!s->chirp)
		return -ENOMEM;
	for (uint64_t i = 0; i < s->held * (uint64_t)p->chirps; i++)
		hk_scene_chirp(&scene, i / (uint64_t)p->chirps, (uint32_t)(i % (uint64_t)p->chirps),
			       s->chirp + i * reals);
	return 0;
}

static hop_status
scene_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct scene_params *p = ctx->params;
	struct scene *s = state;
	struct hop_out *out = &io->out[0];
	uint64_t chirps = (uint64_t)p->chirps, end = (uint64_t)p->frames * chirps;
	size_t bytes = 2 * (size_t)p->samples * sizeof *s->chirp;

	while (out->filled < out->count && !io->stopping && (!end || s->next < end)) {
		const struct hop_tx *tx = &out->msg[out->filled++];
		uint64_t frame = s->next / chirps, chirp = s->next % chirps;
		uint64_t from = frame % s->held * chirps + chirp;

		memcpy(tx->data, (const char *)s->chirp + from * bytes, bytes);
		tx->head->frame = frame;
		tx->head->index = (uint32_t)chirp;
		tx->head->born_ns = tx->head->last_ns = io->now_ns;
		tx->head->stamp_ns = 0;
		tx->head->stream = 0;
		tx->head->flags = 0;
		tx->head->bytes = bytes;
		s->next++;
		if (chirp == chirps - 1)
			hop_count(ctx, C_FRAMES, 1);
	}
	if (io->stopping || (end && s->next == end))
		return HOP_DONE;
	return HOP_OK;
}

static void
scene_close(void *state, const struct hop_ctx *ctx)
{
	struct scene *s = state;

	ctx->host->free(ctx, s->chirp);
}

const struct hop_op radar_scene = {
	.size = sizeof radar_scene,
	.name = "radar/scene",
	.doc = "Play a repeatable scene of three moving targets in noise as chirps.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct scene_params),
	.state_size = sizeof(struct scene),
	.shape = scene_shape,
	.open = scene_open,
	.process = scene_process,
	.close = scene_close,
};
