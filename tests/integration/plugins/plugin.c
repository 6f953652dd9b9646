/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - the table of the inject plugin, and the shape its passers share. */
#include "inject.h"

int
inject_shape_same(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	*shape->out[0] = *shape->in[0];
	return 0;
}

static const struct hop_op *const ops[] = {
	&inject_order, &inject_dump,        &inject_take, &inject_sin,
	&inject_late,  &inject_second_life, &inject_keep,
};

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "inject",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = sizeof ops / sizeof ops[0],
	.abi_draft = HOP_ABI_DRAFT,
};
