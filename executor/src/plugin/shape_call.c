/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_call.c - one call of shape(), with a host that only takes texts.
 *
 * shape() is pure: of the host's functions fail and log work, the others say
 * that there is nothing yet to allocate, watch or hold.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "plugin/shaping.h"
#include "plugin/stage.h"

struct shaper { /* ctx first: callbacks come back with its address */
	struct hop_ctx ctx;
	struct hr_shape_call *call;
};

static struct hr_shape_call *
call_of(const struct hop_ctx *ctx)
{
	return ((const struct shaper *)(const void *)ctx)->call;
}

static void shape_log(const struct hop_ctx *ctx, int32_t level, const char *file, int32_t line,
		      const char *fmt, ...) HOP_PRINTF(5, 6);
static int shape_fail(const struct hop_ctx *ctx, int32_t err, const char *file, int32_t line,
		      const char *fmt, ...) HOP_PRINTF(5, 6);

static void
shape_log(const struct hop_ctx *ctx, int32_t level, const char *file, int32_t line, const char *fmt,
	  ...)
{
	struct hr_shape_call *c = call_of(ctx);
	va_list args;

	(void)file, (void)line;
	if (level > HOP_LOG_WARN)
		return;
	va_start(args, fmt);
	(void)vsnprintf(c->warning, sizeof c->warning, fmt, args);
	va_end(args);
}

static int
shape_fail(const struct hop_ctx *ctx, int32_t err, const char *file, int32_t line, const char *fmt,
	   ...)
{
	struct hr_shape_call *c = call_of(ctx);
	va_list args;

	(void)file, (void)line;
	va_start(args, fmt);
	(void)vsnprintf(c->text, sizeof c->text, fmt, args);
	va_end(args);
	return err > 0 ? -err : -EINVAL;
}

static void *
no_alloc(const struct hop_ctx *ctx, uint64_t bytes, uint64_t align, hop_mem mem)
{
	(void)ctx, (void)bytes, (void)align, (void)mem;
	return NULL;
}

static void
no_free(const struct hop_ctx *ctx, void *p)
{
	(void)ctx, (void)p;
}

static int
no_region(const struct hop_ctx *ctx, uint32_t dir, uint32_t index, struct hop_region *out)
{
	(void)ctx, (void)dir, (void)index, (void)out;
	return -ENOTSUP;
}

static int
no_keep(const struct hop_ctx *ctx, const struct hop_rx *msg)
{
	(void)ctx, (void)msg;
	return -ENOTSUP;
}

static void
no_drop(const struct hop_ctx *ctx, const struct hop_rx *msg)
{
	(void)ctx, (void)msg;
}

static int
no_watch(const struct hop_ctx *ctx, int32_t fd, int32_t events)
{
	(void)ctx, (void)fd, (void)events;
	return -ENOTSUP;
}

static void
no_wake(const struct hop_ctx *ctx, int64_t when_ns)
{
	(void)ctx, (void)when_ns;
}

static const void *
no_query(const struct hop_ctx *ctx, const char *id)
{
	(void)ctx, (void)id;
	return NULL;
}

static const struct hop_host shape_host = {
	.size = sizeof shape_host,
	.log = shape_log,
	.fail = shape_fail,
	.alloc = no_alloc,
	.free = no_free,
	.region = no_region,
	.keep = no_keep,
	.drop = no_drop,
	.watch = no_watch,
	.wake_at = no_wake,
	.query = no_query,
};

static int
default_shape(const struct hop_shape *s)
{
	for (uint32_t i = 0; i < s->n_in; i++) {
		if (!s->in[i])
			continue;
		for (uint32_t k = 0; k < s->n_out; k++)
			*s->out[k] = *s->in[i];
		break;
	}
	return 0;
}

struct hop_shape
hr_shape_new(struct hr_arena *a, const struct hop_port *const *in_port, uint32_t n_in,
	     uint32_t n_out)
{
	struct hop_format *formats = HR_ARRAY(a, n_out + 1, struct hop_format);
	struct hop_format **out = HR_ARRAY(a, n_out + 1, struct hop_format *);
	struct hop_shape s = {
		.size = sizeof s,
		.n_in = n_in,
		.n_out = n_out,
		.in = HR_ARRAY(a, n_in + 1, const struct hop_format *),
		.out = out,
		.need = HR_ARRAY(a, n_in + 1, uint32_t),
		.gives = HR_ARRAY(a, n_out + 1, uint32_t),
		.keeps = HR_ARRAY(a, n_in + 1, uint32_t),
	};

	for (uint32_t i = 0; i < n_in; i++) {
		s.need[i] = in_port[i]->min_batch ? in_port[i]->min_batch : 1;
		s.keeps[i] = in_port[i]->keeps;
	}
	for (uint32_t i = 0; i < n_out; i++) {
		formats[i].size = sizeof formats[i];
		out[i] = &formats[i];
	}
	return s;
}

int
hr_shape_call(struct hr_shape_call *c)
{
	uint64_t counters[64] = { 0 }; /* of no interest here, but not to be NULL */
	const struct shaper s = {
		.ctx = { .size = sizeof s.ctx,
			 .log_level = HOP_LOG_WARN,
			 .name = c->node,
			 .params = c->params,
			 .counters = counters,
			 .host = &shape_host,
			 .cpu = -1,
			 .cuda_device = -1 },
		.call = c,
	};
	int rc;

	c->text[0] = c->warning[0] = 0;
	if (!c->op->shape)
		return default_shape(&c->shape);
	hr_stage_enter("shape()", c->plugin, c->op->name, c->node);
	rc = c->op->shape(&s.ctx, &c->shape);
	hr_stage_leave();
	return rc;
}
