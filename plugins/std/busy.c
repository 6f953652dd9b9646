/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.c - std/busy: keep the CPU occupied for `work` per message, then hand
 * the message on, copied.  The time is wall time by the monotonic clock.  With
 * work above 0 one message is taken per call, so that a long stage publishes
 * each result when it is ready.
 */
#include <errno.h>

#include "std.h"

struct busy_params {
	int64_t work;
};

static const struct hop_port ports[] = {
	{ "in", "any message", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
	{ "out", "the same, later", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	STD_PARAM(TIME, struct busy_params, work, NULL, "10us", "0", "60s",
		  "busy time per message"),
};

static int
busy_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	*shape->out[0] = *shape->in[0];
	shape->gives[0] = 1;
	return 0;
}

static hop_status
busy_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct busy_params *p = ctx->params;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];
	uint32_t n = in->count < out->count ? in->count : out->count;

	(void)state;
	if (p->work > 0 && n > 1)
		n = 1;
	for (uint32_t i = 0; i < n; i++) {
		if (in->msg[i].bytes > out->msg[i].capacity)
			return HOP_FAIL(ctx, EMSGSIZE, "in: %llu bytes do not fit a slot of %llu",
					(unsigned long long)in->msg[i].bytes,
					(unsigned long long)out->msg[i].capacity);
		if (p->work > 0)
			std_busy_for(p->work);
		std_copy_message(&out->msg[i], &in->msg[i]);
	}
	in->taken = n;
	out->filled = n;
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op std_busy = {
	.size = sizeof std_busy,
	.flags = HOP_F_STATELESS | HOP_F_PARALLEL | HOP_F_MAPS,
	.name = "std/busy",
	.doc = "Occupy the CPU for a time per message, then hand it on.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct busy_params),
	.shape = busy_shape,
	.process = busy_process,
};
