/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_fake.c - test/copy for CUDA without CUDA: a correct twin of the one in
 * libtestops.so for choosing devices on machines that have none.  It can be
 * planned; opening it says what is missing.
 */
#include <errno.h>

#include "testops.h"

static const struct hop_port ports[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_OUT, "out", 0),
};

static int
fake_open(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	return HOP_FAIL(ctx, ENODEV, "no CUDA driver: libcuda.so.1 is not here");
}

static hop_status
fake_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	(void)io;
	__builtin_trap(); /* open() has failed */
}

static const struct hop_op copy = {
	.size = sizeof copy,
	.name = "test/copy",
	.doc = "Hand each message on.",
	.ports = HOP_TABLE(ports),
	.device = HOP_ON_CUDA,
	.shape = to_same_shape,
	.open = fake_open,
	.process = fake_process,
};
static const struct hop_op *const ops[] = { &copy };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "cuda_fake",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = 1,
	.abi_draft = HOP_ABI_DRAFT,
};
