/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - inject/dump: a sink that writes down what it was given.
 *
 * One line a message: seq frame index stream flags bytes bitmap pieces.  The
 * bitmap is the gather's validity bitmap in hex; pieces are the first eight
 * bytes of each `piece` bytes of payload as a number, so that after
 * std/sequence each piece shows which message it came from.  Lines are kept in
 * memory and written in close: process() stays clean.
 */
#include <stdlib.h>

#include "inject.h"

struct dump_params {
	const char *file;
	uint64_t piece;
	int64_t rows;
	uint8_t bitmap;
};

enum { MAX_PIECES = 64 };

struct row {
	struct hop_head head;
	uint64_t bitmap;
	uint64_t piece[MAX_PIECES];
	uint32_t n_pieces;
};

struct dump {
	struct row *row;
	uint64_t n;
};

static const struct hop_port ports[] = {
	INJECT_PORT("in", HOP_IN, HOP_PORT_GAPS, 0),
};

static const struct hop_param params[] = {
	INJECT_PARAM(PATH, struct dump_params, file, NULL, NULL, NULL, "where to write"),
	INJECT_PARAM(SIZE, struct dump_params, piece, "64B", "8B", NULL, "bytes of one piece"),
	INJECT_PARAM(INT, struct dump_params, rows, "4096", "1", "1M", "room for that many"),
	INJECT_PARAM(BOOL, struct dump_params, bitmap, "false", NULL, NULL,
		     "a gather stands before this input, so there is a bitmap"),
};

static int
dump_open(void *state, const struct hop_ctx *ctx)
{
	const struct dump_params *p = ctx->params;
	struct dump *s = state;

	s->row = ctx->host->alloc(ctx, (uint64_t)p->rows * sizeof *s->row, 64, HOP_MEM_HOST);
	return s->row ? 0 : HOP_FAIL(ctx, ENOMEM, "no memory for %lld rows", (long long)p->rows);
}

static void
note(struct row *r, const struct dump_params *p, const struct hop_rx *rx)
{
	const unsigned char *data = rx->data;

	r->head = *rx->head;
	r->bitmap = 0;
	if (p->bitmap)
		memcpy(&r->bitmap, data + (rx->bytes + 7) / 8 * 8, 8);
	r->n_pieces = 0;
	for (uint64_t at = 0; at + 8 <= rx->bytes && r->n_pieces < MAX_PIECES; at += p->piece)
		memcpy(&r->piece[r->n_pieces++], data + at, 8);
}

static hop_status
dump_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct dump_params *p = ctx->params;
	struct dump *s = state;
	struct hop_in *in = &io->in[0];

	for (uint32_t i = 0; i < in->count; i++) {
		if (s->n == (uint64_t)p->rows)
			return HOP_FAIL(ctx, ENOSPC, "more than %lld rows", (long long)p->rows);
		note(&s->row[s->n++], p, &in->msg[i]);
	}
	in->taken = in->count;
	return in->count ? HOP_OK : HOP_IDLE;
}

static void
print_row(FILE *f, const struct row *r)
{
	fprintf(f, "%llu %llu %u %u %u %llu %llx", (unsigned long long)r->head.seq,
		(unsigned long long)r->head.frame, r->head.index, r->head.stream, r->head.flags,
		(unsigned long long)r->head.bytes, (unsigned long long)r->bitmap);
	for (uint32_t i = 0; i < r->n_pieces; i++)
		fprintf(f, " %llu", (unsigned long long)r->piece[i]);
	fputc('\n', f);
}

static void
dump_close(void *state, const struct hop_ctx *ctx)
{
	const struct dump_params *p = ctx->params;
	struct dump *s = state;
	FILE *f = fopen(p->file, "w");

	if (f) {
		for (uint64_t i = 0; i < s->n; i++)
			print_row(f, &s->row[i]);
		fclose(f);
	} else {
		HOP_LOG(ctx, HOP_LOG_ERROR, "cannot write %s", p->file);
	}
	ctx->host->free(ctx, s->row);
}

const struct hop_op inject_dump = {
	.size = sizeof inject_dump,
	.name = "inject/dump",
	.doc = "Write down what arrived, a line a message.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct dump_params),
	.state_size = sizeof(struct dump),
	.open = dump_open,
	.process = dump_process,
	.close = dump_close,
};
