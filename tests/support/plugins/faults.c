/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - the ops of libtestops.so that crash, hang or fail where a parameter says. */
#include <errno.h>
#include <unistd.h>

#include "testops.h"

static const struct hop_port in_out[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_OUT, "out", 0),
};

struct passed {
	int64_t n;
};

/* Hands messages on up to number `at` (from 1); true when that one is next. */
static bool
pass_until(struct passed *s, struct hop_io *io, int64_t at)
{
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];

	while (in->taken < in->count && out->filled < out->count) {
		if (s->n + 1 == at)
			return true;
		to_copy(&out->msg[out->filled++], &in->msg[in->taken++]);
		s->n++;
	}
	return false;
}

enum { IN_SHAPE, IN_OPEN, IN_START, IN_PROCESS, IN_STOP, IN_CLOSE };

static const char *const places[] = { "shape", "open", "start", "process", "stop", "close", NULL };

struct crash_params {
	int64_t at;
	int32_t where;
};

static const struct hop_param crash_table[] = {
	TO_PARAM(INT, struct crash_params, at, "500", "1", NULL, "the message, if in process"),
	{ "where", "the callback", HOP_P_CHOICE, 0, (uint32_t)offsetof(struct crash_params, where),
	  sizeof(int32_t), NULL, "process", NULL, NULL, places },
};

/* A real fault, not raise(); the asm keeps the compiler from knowing the address. */
__attribute__((no_sanitize("undefined", "address"))) static void
crash_in(const struct hop_ctx *ctx, int32_t where)
{
	const struct crash_params *p = ctx->params;
	uintptr_t nowhere = 0;

	if (p->where != where)
		return;
	__asm__("" : "+r"(nowhere));
	*(int *)nowhere = where;
}

static int
crash_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	crash_in(ctx, IN_SHAPE);
	return to_same_shape(ctx, shape);
}

static int
crash_open(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	crash_in(ctx, IN_OPEN);
	return 0;
}

static int
crash_start(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	crash_in(ctx, IN_START);
	return 0;
}

static hop_status
crash_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct crash_params *p = ctx->params;

	if (pass_until(state, io, p->where == IN_PROCESS ? p->at : 0))
		crash_in(ctx, IN_PROCESS);
	return io->in[0].taken ? HOP_OK : HOP_IDLE;
}

static void
crash_stop(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	crash_in(ctx, IN_STOP);
}

static void
crash_close(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	crash_in(ctx, IN_CLOSE);
}

const struct hop_op test_crash = {
	.size = sizeof test_crash,
	.name = "test/crash",
	.doc = "Get SIGSEGV where told.",
	.ports = HOP_TABLE(in_out),
	.params = HOP_TABLE(crash_table),
	.params_size = sizeof(struct crash_params),
	.state_size = sizeof(struct passed),
	.shape = crash_shape,
	.open = crash_open,
	.start = crash_start,
	.process = crash_process,
	.stop = crash_stop,
	.close = crash_close,
};

struct hang_params {
	int64_t at;
	uint8_t spin;
};

static const struct hop_param hang_table[] = {
	TO_PARAM(INT, struct hang_params, at, "10", "1", NULL, "the message"),
	TO_PARAM(BOOL, struct hang_params, spin, "false", NULL, NULL, "busy instead of asleep"),
};

/* Ends with the process only. */
static void
hang(bool spin)
{
	for (;;)
		if (!spin)
			pause();
		else
			__asm__("");
}

static hop_status
hang_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct hang_params *p = ctx->params;

	if (pass_until(state, io, p->at))
		hang(p->spin);
	return io->in[0].taken ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_hang = {
	.size = sizeof test_hang,
	.name = "test/hang",
	.doc = "Never return from process().",
	.ports = HOP_TABLE(in_out),
	.params = HOP_TABLE(hang_table),
	.params_size = sizeof(struct hang_params),
	.state_size = sizeof(struct passed),
	.shape = to_same_shape,
	.process = hang_process,
};

static const char *const ends[] = { "stop", "close", NULL };

struct hang_stop_params {
	int32_t where;
};

static const struct hop_param hang_stop_table[] = {
	{ "where", "the callback", HOP_P_CHOICE, 0,
	  (uint32_t)offsetof(struct hang_stop_params, where), sizeof(int32_t), NULL, "stop", NULL,
	  NULL, ends },
};

static hop_status
hang_stop_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)ctx;
	pass_until(state, io, 0);
	return io->in[0].taken ? HOP_OK : HOP_IDLE;
}

static void
hang_stop_stop(void *state, const struct hop_ctx *ctx)
{
	const struct hang_stop_params *p = ctx->params;

	(void)state;
	if (p->where == 0)
		hang(false);
}

static void
hang_stop_close(void *state, const struct hop_ctx *ctx)
{
	const struct hang_stop_params *p = ctx->params;

	(void)state;
	if (p->where == 1)
		hang(false);
}

const struct hop_op test_hang_stop = {
	.size = sizeof test_hang_stop,
	.name = "test/hang_stop",
	.doc = "Never return from stop() or close().",
	.ports = HOP_TABLE(in_out),
	.params = HOP_TABLE(hang_stop_table),
	.params_size = sizeof(struct hang_stop_params),
	.state_size = sizeof(struct passed),
	.shape = to_same_shape,
	.process = hang_stop_process,
	.stop = hang_stop_stop,
	.close = hang_stop_close,
};

struct fail_params {
	int64_t n; /* fail_open: the errno */
	const char *text;
};

static const struct hop_param fail_open_table[] = {
	{ "errno", "the error", HOP_P_INT, 0, (uint32_t)offsetof(struct fail_params, n),
	  sizeof(int64_t), NULL, "5", "1", "4095", NULL },
	TO_PARAM(TEXT, struct fail_params, text, "as told", NULL, NULL, "what it says"),
};

static int
fail_open_open(void *state, const struct hop_ctx *ctx)
{
	const struct fail_params *p = ctx->params;

	(void)state;
	return HOP_FAIL(ctx, (int32_t)p->n, "%s", p->text);
}

const struct hop_op test_fail_open = {
	.size = sizeof test_fail_open,
	.name = "test/fail_open",
	.doc = "Fail in open().",
	.ports = HOP_TABLE(in_out),
	.params = HOP_TABLE(fail_open_table),
	.params_size = sizeof(struct fail_params),
	.state_size = sizeof(struct passed),
	.shape = to_same_shape,
	.open = fail_open_open,
	.process = hang_stop_process,
};

static const struct hop_param fail_at_table[] = {
	TO_PARAM(INT, struct fail_params, n, "10", "1", NULL, "the message"),
	TO_PARAM(TEXT, struct fail_params, text, "as told", NULL, NULL, "what it says"),
};

static hop_status
fail_at_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct fail_params *p = ctx->params;

	if (pass_until(state, io, p->n))
		return HOP_FAIL(ctx, EIO, "%s", p->text);
	return io->in[0].taken ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_fail_at = {
	.size = sizeof test_fail_at,
	.name = "test/fail_at",
	.doc = "Fail in process().",
	.ports = HOP_TABLE(in_out),
	.params = HOP_TABLE(fail_at_table),
	.params_size = sizeof(struct fail_params),
	.state_size = sizeof(struct passed),
	.shape = to_same_shape,
	.process = fail_at_process,
};
