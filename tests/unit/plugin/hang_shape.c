/* SPDX-License-Identifier: Apache-2.0 */
/* hang_shape.c - a plugin whose ops misbehave in shape(): hang/shape, exit/shape. */
#include <stdlib.h>
#include <unistd.h>

#include <holorun/op.h>

static const struct hop_port ports[] = {
	{ "out", "nothing", HOP_OUT, HOP_PORT_OPTIONAL, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

_Noreturn static int
hang(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx, (void)shape;
	for (;;)
		pause();
}

_Noreturn static int
leave(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx, (void)shape;
	_exit(3);
}

static hop_status
idle(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state, (void)ctx, (void)io;
	return HOP_IDLE;
}

static const struct hop_op ops_at[] = {
	{ .size = sizeof(struct hop_op),
	  .name = "hang/shape",
	  .doc = "Never returns from shape().",
	  .ports = HOP_TABLE(ports),
	  .shape = hang,
	  .process = idle },
	{ .size = sizeof(struct hop_op),
	  .name = "exit/shape",
	  .doc = "Ends the process in shape().",
	  .ports = HOP_TABLE(ports),
	  .shape = leave,
	  .process = idle },
};
static const struct hop_op *const ops[] = { &ops_at[0], &ops_at[1] };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "hang_shape",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = 2,
	.abi_draft = HOP_ABI_DRAFT,
};
