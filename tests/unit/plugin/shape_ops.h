/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_ops.h - the ops of test_shape.c: each has a shape() that does one thing.
 */
#ifndef SHAPE_OPS_H
#define SHAPE_OPS_H

#include <errno.h>
#include <string.h>

#include <holorun/op.h>

struct n_params {
	int64_t n;
};

static hop_status
idle(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state, (void)ctx, (void)io;
	return HOP_IDLE;
}

enum { F32, F64, C32 };
static const struct hop_dtype types[] = { { 2, 32, 1 }, { 2, 64, 1 }, { 5, 64, 1 } };

static int
make(struct hop_shape *s, int type, uint32_t n)
{
	for (uint32_t k = 0; k < s->n_out; k++) {
		s->out[k]->dtype = types[type];
		s->out[k]->rank = 1;
		s->out[k]->dim[0] = n;
		s->out[k]->max_bytes = (uint64_t)n * types[type].bits / 8;
	}
	return 0;
}

static int
want(const struct hop_ctx *ctx, const struct hop_shape *s, uint32_t i, int type)
{
	if (!memcmp(&s->in[i]->dtype, &types[type], sizeof types[type]) && s->in[i]->rank)
		return 0;
	return HOP_FAIL(ctx, EINVAL, "'in': want type %d", type);
}

static int
shape_f32(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	return make(s, F32, 16);
}

static int
shape_c32(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	return make(s, C32, 16);
}

static int
shape_to_f64(const struct hop_ctx *ctx, struct hop_shape *s)
{
	return want(ctx, s, 0, C32) ? -EINVAL : make(s, F64, s->in[0]->dim[0]);
}

static int
shape_take_f64(const struct hop_ctx *ctx, struct hop_shape *s)
{
	return want(ctx, s, 0, F64);
}

static int
shape_add(const struct hop_ctx *ctx, struct hop_shape *s)
{
	if (s->in[1] && !s->in[1]->max_bytes)
		return HOP_FAIL(ctx, EINVAL, "'loop': no size");
	if (s->in[1] && memcmp(s->in[1]->dim, s->in[0]->dim, sizeof s->in[0]->dim) != 0)
		return HOP_FAIL(ctx, EINVAL, "'loop': as large as in");
	*s->out[0] = *s->in[0];
	return 0;
}

static int
shape_own(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	return make(s, F32, 8);
}

static int
shape_grow(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	return make(s, F32, s->in[0]->dim[0] + 1);
}

static int
shape_silent(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx, (void)s;
	return -ENOTSUP;
}

static int
shape_lie(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	make(s, F32, 16);
	s->out[0]->max_bytes = 1;
	return 0;
}

static int
shape_need0(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	s->need[0] = 0;
	return 0;
}

static int
shape_huge(const struct hop_ctx *ctx, struct hop_shape *s)
{
	(void)ctx;
	s->out[0]->max_bytes = (1ull << 30) + 1;
	return 0;
}

static int
shape_default_n(const struct hop_ctx *ctx, struct hop_shape *s)
{
	const struct n_params *p = ctx->params;

	(void)s;
	HOP_LOG(ctx, HOP_LOG_WARN, "n of %d is odd", (int)p->n);
	HOP_LOG(ctx, HOP_LOG_INFO, "not shown");
	return HOP_FAIL(ctx, EINVAL, "cannot work with an n of %d", (int)p->n);
}

static int
shape_host(const struct hop_ctx *ctx, struct hop_shape *s)
{
	struct hop_region region;

	if (ctx->host->alloc(ctx, 8, 8, HOP_MEM_HOST) || ctx->host->query(ctx, "shape/1") ||
	    ctx->host->watch(ctx, 0, 0) != -ENOTSUP || ctx->host->keep(ctx, NULL) != -ENOTSUP ||
	    ctx->host->region(ctx, 0, 0, &region) != -ENOTSUP)
		return HOP_FAIL(ctx, EPROTO, "shape() was given more than it may have");
	ctx->host->free(ctx, NULL);
	ctx->host->drop(ctx, NULL);
	ctx->host->wake_at(ctx, 0);
	return make(s, F32, 1);
}

#define IN(name, flags)                                                                            \
	{                                                                                          \
		name, "an input", HOP_IN, flags, HOP_MEM_HOST, 1, 0, 0, 0, 0                       \
	}
#define OUT(name, flags)                                                                           \
	{                                                                                          \
		name, "an output", HOP_OUT, flags, HOP_MEM_HOST, 1, 0, 0, 0, 0                     \
	}
static const struct hop_port p_out[] = { OUT("out", 0) };
static const struct hop_port p_in[] = { IN("in", 0) };
static const struct hop_port p_in_out[] = { IN("in", 0), OUT("out", 0) };
static const struct hop_port p_loop[] = { IN("in", 0), IN("loop", 0), OUT("out", 0) };
static const struct hop_port p_split[] = { IN("in", 0), OUT("out", HOP_PORT_MANY) };
static const struct hop_param p_n[] = {
	HOP_PARAM(INT, 0, struct n_params, n, "3", NULL, NULL, "a number"),
};

#define OP(id, ops_name, ports_, shape_)                                                           \
	static const struct hop_op id = { .size = sizeof id,                                       \
					  .name = ops_name,                                        \
					  .doc = "An op.",                                         \
					  .ports = HOP_TABLE(ports_),                              \
					  .shape = shape_,                                         \
					  .process = idle }
OP(f32, "t/f32", p_out, shape_f32);
OP(c32, "t/c32", p_out, shape_c32);
OP(to_f64, "t/to_f64", p_in_out, shape_to_f64);
OP(take_f64, "t/take_f64", p_in, shape_take_f64);
OP(add, "t/add", p_loop, shape_add);
OP(pass, "t/pass", p_in_out, NULL);
OP(own, "t/own", p_in_out, shape_own);
OP(grow, "t/grow", p_in_out, shape_grow);
OP(silent, "t/silent", p_out, shape_silent);
OP(lie, "t/lie", p_out, shape_lie);
OP(need0, "t/need0", p_in, shape_need0);
OP(huge, "t/huge", p_out, shape_huge);
OP(bare, "t/bare", p_out, NULL);
OP(split, "t/split", p_split, shape_own);
OP(host, "t/host", p_out, shape_host);
OP(sink, "t/sink", p_in, NULL);
static const struct hop_op odd = { .size = sizeof odd,
				   .name = "t/odd",
				   .doc = "An op.",
				   .ports = HOP_TABLE(p_out),
				   .params = HOP_TABLE(p_n),
				   .params_size = sizeof(struct n_params),
				   .shape = shape_default_n,
				   .process = idle };
static const struct hop_axis axes[] = { { "row", "along rows", 0, 0, 0, 0, 0, 0, 0, 0 } };
static const struct hop_op tiled = { .size = sizeof tiled,
				     .name = "t/tiled",
				     .doc = "An op.",
				     .ports = HOP_TABLE(p_out),
				     .axes = HOP_TABLE(axes),
				     .shape = shape_f32,
				     .process = idle };
static const struct hop_port p_device[] = {
	{ "out", "an output", HOP_OUT, 0, HOP_MEM_PINNED, 1, 0, 0, 0, 0 },
};
OP(device, "t/device", p_device, shape_f32);
static const struct hop_op *const ops[] = {
	&f32,   &c32,  &to_f64, &take_f64, &add,  &pass, &own, &grow,  &silent, &lie,
	&need0, &huge, &bare,   &split,    &host, &sink, &odd, &tiled, &device,
};

#endif
