/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - std/copy: hand each message on, copied, with its lineage and shape.
 * It stands for "an op that does next to nothing" in tests and measurements.
 */
#include <errno.h>

#include "std.h"

static const struct hop_port ports[] = {
	{ "in", "any message", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
	{ "out", "the same", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static int
copy_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	*shape->out[0] = *shape->in[0];
	shape->gives[0] = 1;
	return 0;
}

static hop_status
copy_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];
	uint32_t n = in->count < out->count ? in->count : out->count;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		if (in->msg[i].bytes > out->msg[i].capacity)
			return HOP_FAIL(ctx, EMSGSIZE, "in: %llu bytes do not fit a slot of %llu",
					(unsigned long long)in->msg[i].bytes,
					(unsigned long long)out->msg[i].capacity);
		std_copy_message(&out->msg[i], &in->msg[i]);
	}
	in->taken = n;
	out->filled = n;
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op std_copy = {
	.size = sizeof std_copy,
	.flags = HOP_F_STATELESS | HOP_F_PARALLEL | HOP_F_MAPS,
	.name = "std/copy",
	.doc = "Hand each message on, copied.",
	.ports = HOP_TABLE(ports),
	.shape = copy_shape,
	.process = copy_process,
};
