/* SPDX-License-Identifier: Apache-2.0 */
/* needs_driver.c - test/copy for CUDA in a plugin that is linked to its driver. */
#include <holorun/op.h>

int holo_driver(void);

static const struct hop_port ports[] = {
	{ "in", "messages", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
	{ "out", "the same", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static hop_status
process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state, (void)ctx, (void)io;
	return holo_driver() ? HOP_DONE : HOP_IDLE;
}

static const struct hop_op copy = {
	.size = sizeof copy,
	.name = "test/copy",
	.doc = "Hand each message on.",
	.ports = HOP_TABLE(ports),
	.device = HOP_ON_CUDA,
	.process = process,
};
static const struct hop_op *const ops[] = { &copy };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "needs_driver",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = 1,
	.abi_draft = HOP_ABI_DRAFT,
};
