/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null.c - std/null: take every message and forget it.  The payload is not
 * touched; what arrived is counted.
 */
#include "std.h"

enum { C_RECEIVED, C_BYTES };

static const struct hop_port ports[] = {
	{ "in", "any message", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_counter counters[] = {
	[C_RECEIVED] = { "received", "messages taken", HOP_LOG_INFO, 0 },
	[C_BYTES] = { "bytes", "payload bytes taken", HOP_LOG_INFO, 0 },
};

static hop_status
null_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hop_in *in = &io->in[0];
	uint64_t bytes = 0;

	(void)state;
	for (uint32_t i = 0; i < in->count; i++)
		bytes += in->msg[i].bytes;
	in->taken = in->count;
	hop_count(ctx, C_RECEIVED, in->count);
	hop_count(ctx, C_BYTES, bytes);
	return in->count ? HOP_OK : HOP_IDLE;
}

const struct hop_op std_null = {
	.size = sizeof std_null,
	.flags = HOP_F_STATELESS,
	.name = "std/null",
	.doc = "Take every message and forget it.",
	.ports = HOP_TABLE(ports),
	.counters = HOP_TABLE(counters),
	.process = null_process,
};
