/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twin.c - a plugin of one copying op whose name, device, port and versions
 * the build sets: twins of an op, plugins of a foreign ABI.  A plugin that is
 * refused must not have run its callbacks, so this shape() crashes if the
 * versions are wrong.
 */
#include "testops.h"

#ifndef TWIN_DEVICE
#define TWIN_DEVICE HOP_ON_CPU
#endif
#ifndef TWIN_OUT
#define TWIN_OUT "out"
#endif
#ifndef TWIN_MAJOR
#define TWIN_MAJOR HOP_ABI_MAJOR
#endif
#ifndef TWIN_DRAFT
#define TWIN_DRAFT HOP_ABI_DRAFT
#endif

static const struct hop_port ports[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_OUT, TWIN_OUT, 0),
};

static int
twin_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	if (TWIN_MAJOR != HOP_ABI_MAJOR || TWIN_DRAFT != HOP_ABI_DRAFT)
		__builtin_trap();
	return to_same_shape(ctx, shape);
}

static hop_status
twin_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	uint32_t n = to_min(io->in[0].count, io->out[0].count);

	(void)state;
	(void)ctx;
	for (uint32_t i = 0; i < n; i++)
		to_copy(&io->out[0].msg[i], &io->in[0].msg[i]);
	io->in[0].taken = n;
	io->out[0].filled = n;
	return n ? HOP_OK : HOP_IDLE;
}

static const struct hop_op op = {
	.size = sizeof op,
	.name = TWIN_OP,
	.doc = "Hand each message on.",
	.ports = HOP_TABLE(ports),
	.device = TWIN_DEVICE,
	.shape = twin_shape,
	.process = twin_process,
};
static const struct hop_op *const ops[] = { &op };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = TWIN_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = TWIN_PLUGIN,
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = 1,
	.abi_draft = TWIN_DRAFT,
};
