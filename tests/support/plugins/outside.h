/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - a copying plugin that calls a function of another library; the
 * file that includes it says which: OUTSIDE_CALL and PLUGIN.
 */
#include "testops.h"

int OUTSIDE_CALL(void);

static const struct hop_port ports[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_OUT, "out", 0),
};

static hop_status
outside_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	(void)io;
	return OUTSIDE_CALL();
}

static const struct hop_op op = {
	.size = sizeof op,
	.name = "test/" PLUGIN,
	.doc = "Call a function of another library.",
	.ports = HOP_TABLE(ports),
	.shape = to_same_shape,
	.process = outside_process,
};
static const struct hop_op *const ops[] = { &op };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = PLUGIN,
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = 1,
	.abi_draft = HOP_ABI_DRAFT,
};
