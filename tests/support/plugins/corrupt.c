/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corrupt.c - a plugin with one wrong word in its tables, chosen by the build;
 * built as it stands it is a correct one.  Its callbacks trap: a loader that
 * refuses the table never calls them.
 */
#include "testops.h"

#ifndef CORRUPT_PARAM_OFFSET
#define CORRUPT_PARAM_OFFSET 8
#endif
#ifndef CORRUPT_PARAM_WIDTH
#define CORRUPT_PARAM_WIDTH 8
#endif
#ifndef CORRUPT_PARAM_TYPE
#define CORRUPT_PARAM_TYPE HOP_P_INT
#endif
#ifndef CORRUPT_PARAM_FLAGS
#define CORRUPT_PARAM_FLAGS 0
#endif
#ifndef CORRUPT_PARAM_NAME
#define CORRUPT_PARAM_NAME "second"
#endif
#ifndef CORRUPT_PARAM_DEF
#define CORRUPT_PARAM_DEF "5"
#endif
#ifndef CORRUPT_PARAM_STRIDE
#define CORRUPT_PARAM_STRIDE sizeof(struct hop_param)
#endif
#ifndef CORRUPT_PORT_NAME
#define CORRUPT_PORT_NAME "in"
#endif
#ifndef CORRUPT_PORT_FLAGS
#define CORRUPT_PORT_FLAGS 0
#endif
#ifndef CORRUPT_PORT_DIR
#define CORRUPT_PORT_DIR HOP_IN
#endif
#ifndef CORRUPT_PORT_MEM
#define CORRUPT_PORT_MEM HOP_MEM_HOST
#endif
#ifndef CORRUPT_PORTS_AT
#define CORRUPT_PORTS_AT ports
#endif
#ifndef CORRUPT_OP_FLAGS
#define CORRUPT_OP_FLAGS 0
#endif
#ifndef CORRUPT_OP_NAME
#define CORRUPT_OP_NAME "test/corrupt"
#endif
#ifndef CORRUPT_OP_SIZE
#define CORRUPT_OP_SIZE sizeof(struct hop_op)
#endif
#ifndef CORRUPT_OP_PROCESS
#define CORRUPT_OP_PROCESS trap_process
#endif
#ifndef CORRUPT_OP_DEVICE
#define CORRUPT_OP_DEVICE HOP_ON_CPU
#endif
#ifndef CORRUPT_OP_ALIGN
#define CORRUPT_OP_ALIGN 64
#endif
#ifndef CORRUPT_PLUGIN_OPS
#define CORRUPT_PLUGIN_OPS ops
#endif
#ifndef CORRUPT_PLUGIN_OP
#define CORRUPT_PLUGIN_OP &op
#endif
#ifndef CORRUPT_PLUGIN_NAME
#define CORRUPT_PLUGIN_NAME "corrupt"
#endif

struct corrupt_params {
	int64_t first;
	int64_t second;
};

__attribute__((unused)) static const struct hop_port ports[] = {
	{ CORRUPT_PORT_NAME, "test messages", CORRUPT_PORT_DIR, CORRUPT_PORT_FLAGS,
	  CORRUPT_PORT_MEM, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	TO_PARAM(INT, struct corrupt_params, first, "1", "0", "10", "the first"),
	{ CORRUPT_PARAM_NAME, "the second", CORRUPT_PARAM_TYPE, CORRUPT_PARAM_FLAGS,
	  CORRUPT_PARAM_OFFSET, CORRUPT_PARAM_WIDTH, NULL, CORRUPT_PARAM_DEF, "0", "10", NULL },
};

static int
trap_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	(void)shape;
	__builtin_trap();
}

__attribute__((unused)) static hop_status
trap_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	(void)io;
	__builtin_trap();
}

__attribute__((unused)) static const struct hop_op op = {
	.size = (uint32_t)(CORRUPT_OP_SIZE),
	.flags = CORRUPT_OP_FLAGS,
	.name = CORRUPT_OP_NAME,
	.doc = "An op with a wrong table.",
	.ports = { CORRUPT_PORTS_AT, 1, sizeof(struct hop_port) },
	.params = { params, 2, (uint32_t)(CORRUPT_PARAM_STRIDE) },
	.device = CORRUPT_OP_DEVICE,
	.params_size = sizeof(struct corrupt_params),
	.state_size = 64,
	.state_align = CORRUPT_OP_ALIGN,
	.shape = trap_shape,
	.process = CORRUPT_OP_PROCESS,
};
__attribute__((unused)) static const struct hop_op *const ops[] = { CORRUPT_PLUGIN_OP };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = CORRUPT_PLUGIN_NAME,
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = CORRUPT_PLUGIN_OPS,
	.n_ops = 1,
	.abi_draft = HOP_ABI_DRAFT,
};
