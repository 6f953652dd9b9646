/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.c - test/param_all: one parameter of each type.  open() writes what
 * it was given to `file`, "name=value" a line, texts as they are, so a test
 * sees exactly what an op gets.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "testops.h"

struct all_params {
	const char *file;
	const char *text;
	const char *path;
	double real;
	double rate;
	int64_t integer;
	int64_t time;
	uint64_t size;
	struct hop_reals reals;
	int32_t choice;
	uint8_t flag;
};

static const char *const colours[] = { "red", "green", "blue", NULL };

static const struct hop_port out_port[] = { TO_PORT(HOP_OUT, "out", 0) };

static const struct hop_param table[] = {
	TO_PARAM(PATH, struct all_params, file, NULL, NULL, NULL, "gets the values"),
	TO_PARAM(TEXT, struct all_params, text, "", NULL, NULL, "a text"),
	TO_PARAM(PATH, struct all_params, path, "some/where", NULL, NULL, "a path"),
	TO_PARAM(REAL, struct all_params, real, "1.5", "-1e6", "1e6", "a number"),
	TO_PARAM(RATE, struct all_params, rate, "2kHz", "0", "1GHz", "a rate"),
	TO_PARAM(INT, struct all_params, integer, "7", "-100", "1M", "a whole number"),
	TO_PARAM(TIME, struct all_params, time, "10ms", "0", "1min", "a duration"),
	TO_PARAM(SIZE, struct all_params, size, "4KiB", "1B", "1GiB", "a size"),
	TO_PARAM(REALS, struct all_params, reals, NULL, NULL, NULL, "numbers"),
	{ "choice", "a word", HOP_P_CHOICE, 0, (uint32_t)offsetof(struct all_params, choice),
	  sizeof(int32_t), NULL, "green", NULL, NULL, colours },
	TO_PARAM(BOOL, struct all_params, flag, "false", NULL, NULL, "true or false"),
};

static int
all_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	shape->out[0]->dtype = (struct hop_dtype){ 1, 8, 1 };
	shape->out[0]->rank = 0;
	shape->out[0]->max_bytes = sizeof(uint64_t);
	return 0;
}

static int
all_open(void *state, const struct hop_ctx *ctx)
{
	const struct all_params *p = ctx->params;
	FILE *f = fopen(p->file, "we");

	(void)state;
	if (!f)
		return HOP_FAIL(ctx, errno, "file: cannot write %s", p->file);
	fprintf(f, "text=%s\npath=%s\nreal=%.17g\nrate=%.17g\n", p->text, p->path, p->real,
		p->rate);
	fprintf(f, "integer=%" PRId64 "\ntime=%" PRId64 "\nsize=%" PRIu64 "\n", p->integer, p->time,
		p->size);
	fprintf(f, "choice=%s\nflag=%s\nreals=", colours[p->choice], p->flag ? "true" : "false");
	for (uint64_t i = 0; i < p->reals.count; i++)
		fprintf(f, "%s%.17g", i ? "," : "", p->reals.at[i]);
	fprintf(f, "\n");
	return fclose(f) ? HOP_FAIL(ctx, EIO, "file: cannot write %s", p->file) : 0;
}

static hop_status
all_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	(void)io;
	return HOP_DONE;
}

const struct hop_op test_param_all = {
	.size = sizeof test_param_all,
	.name = "test/param_all",
	.doc = "Write what its parameters are to a file; make no message.",
	.ports = HOP_TABLE(out_port),
	.params = HOP_TABLE(table),
	.params_size = sizeof(struct all_params),
	.shape = all_shape,
	.open = all_open,
	.process = all_process,
};
