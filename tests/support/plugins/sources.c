/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - the sources of libtestops.so: numbered, live, scripted, complex. */
#include <errno.h>
#include <stdlib.h>

#include "testops.h"

struct seq_params {
	uint64_t size;
	double rate;
	int64_t count;
};

struct seq {
	uint64_t next;
	int64_t t0_ns;
};

static const struct hop_port out_port[] = { TO_PORT(HOP_OUT, "out", 0) };

static const struct hop_param seq_table[] = {
	TO_PARAM(INT, struct seq_params, count, "1000", "0", NULL, "messages to make; 0: endless"),
	TO_PARAM(SIZE, struct seq_params, size, "64B", "0", "64MiB", "payload of each message"),
	TO_PARAM(RATE, struct seq_params, rate, "0", "0", "100MHz",
		 "messages per second; 0: as fast as there is room"),
};

static int
seq_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct seq_params *p = ctx->params;

	if (p->size < sizeof(uint64_t))
		return HOP_FAIL(ctx, EINVAL,
				"size: %llu bytes cannot hold a number, wanted 8 or more",
				(unsigned long long)p->size);
	shape->out[0]->dtype = (struct hop_dtype){ 1, 8, 1 };
	shape->out[0]->rank = 0;
	shape->out[0]->max_bytes = p->size;
	shape->out[0]->rate_hz = p->rate;
	return 0;
}

static void
make(const struct hop_tx *tx, uint64_t number, uint64_t bytes, int64_t born_ns)
{
	struct hop_head *h = tx->head;

	h->frame = number;
	h->index = 0;
	h->stream = 0;
	h->flags = 0;
	h->born_ns = born_ns;
	h->last_ns = born_ns;
	h->stamp_ns = 0;
	h->bytes = bytes;
	memcpy(tx->data, &number, sizeof number);
}

static hop_status
seq_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct seq_params *p = ctx->params;
	struct seq *s = state;
	struct hop_out *out = &io->out[0];

	if (io->stopping || out->ended)
		return HOP_DONE;
	if (s->next == 0)
		s->t0_ns = io->now_ns;
	while (out->filled < out->count) {
		int64_t born_ns = io->now_ns;

		if (p->count && s->next == (uint64_t)p->count)
			return HOP_DONE;
		if (p->rate > 0)
			born_ns = s->t0_ns + (int64_t)((double)s->next * (1e9 / p->rate));
		if (born_ns > io->now_ns) {
			ctx->host->wake_at(ctx, born_ns);
			return out->filled ? HOP_OK : HOP_IDLE;
		}
		make(&out->msg[out->filled++], s->next++, p->size, born_ns);
	}
	return HOP_OK;
}

const struct hop_op test_seq_source = {
	.size = sizeof test_seq_source,
	.name = "test/seq_source",
	.doc = "Make numbered messages.",
	.ports = HOP_TABLE(out_port),
	.params = HOP_TABLE(seq_table),
	.params_size = sizeof(struct seq_params),
	.state_size = sizeof(struct seq),
	.shape = seq_shape,
	.process = seq_process,
};

const struct hop_op test_live_source = {
	.size = sizeof test_live_source,
	.flags = HOP_F_LIVE,
	.name = "test/live_source",
	.doc = "Make numbered messages until told to stop.",
	.ports = HOP_TABLE(out_port),
	.params = HOP_TABLE(seq_table),
	.params_size = sizeof(struct seq_params),
	.state_size = sizeof(struct seq),
	.shape = seq_shape,
	.process = seq_process,
};

struct pieces_params {
	const char *script;
	uint64_t size;
};

struct pieces {
	uint64_t at;
};

static const struct hop_param pieces_table[] = {
	TO_PARAM(TEXT, struct pieces_params, script, NULL, NULL, NULL,
		 "FRAME/INDEX or FRAME/INDEX/STREAM, separated by spaces"),
	TO_PARAM(SIZE, struct pieces_params, size, "8B", "8B", "1MiB", "payload of each piece"),
};

static int
pieces_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct pieces_params *p = ctx->params;

	shape->out[0]->dtype = (struct hop_dtype){ 1, 8, 1 };
	shape->out[0]->rank = 1;
	shape->out[0]->dim[0] = (uint32_t)p->size;
	shape->out[0]->max_bytes = p->size;
	return 0;
}

/* One number of the script, and what stands behind it. */
static uint64_t
number_at(const char *text, uint64_t *at, char behind)
{
	char *end;
	uint64_t n;

	if (behind && text[*at] != behind)
		return 0;
	*at += behind != 0;
	n = strtoull(text + *at, &end, 10);
	*at = (uint64_t)(end - text);
	return n;
}

static hop_status
pieces_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct pieces_params *p = ctx->params;
	struct pieces *s = state;
	struct hop_out *out = &io->out[0];

	if (io->stopping || out->ended)
		return HOP_DONE;
	while (out->filled < out->count) {
		const struct hop_tx *tx = &out->msg[out->filled];
		uint64_t before, frame;

		while (p->script[s->at] == ' ')
			s->at++;
		if (!p->script[s->at])
			return HOP_DONE;
		before = s->at;
		frame = number_at(p->script, &s->at, 0);
		if (s->at == before)
			return HOP_FAIL(ctx, EINVAL, "script: no piece at character %llu",
					(unsigned long long)before + 1);
		memset(tx->data, 0, p->size);
		make(tx, frame, p->size, io->now_ns);
		tx->head->index = (uint32_t)number_at(p->script, &s->at, '/');
		tx->head->stream = (uint32_t)number_at(p->script, &s->at, '/');
		memcpy(tx->data, &(uint64_t){ frame << 32 | tx->head->index }, sizeof frame);
		out->filled++;
	}
	return HOP_OK;
}

const struct hop_op test_pieces = {
	.size = sizeof test_pieces,
	.name = "test/pieces",
	.doc = "Make the messages a script names; each holds frame << 32 | index.",
	.ports = HOP_TABLE(out_port),
	.params = HOP_TABLE(pieces_table),
	.params_size = sizeof(struct pieces_params),
	.state_size = sizeof(struct pieces),
	.shape = pieces_shape,
	.process = pieces_process,
};

struct c32_params {
	int64_t count;
	int64_t n;
};

static const struct hop_param c32_table[] = {
	TO_PARAM(INT, struct c32_params, count, "10", "1", NULL, "messages to make"),
	TO_PARAM(INT, struct c32_params, n, "16", "1", "1M", "samples of each"),
};

static int
c32_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct c32_params *p = ctx->params;

	shape->out[0]->dtype = (struct hop_dtype){ 5, 64, 1 };
	shape->out[0]->rank = 1;
	shape->out[0]->dim[0] = (uint32_t)p->n;
	shape->out[0]->max_bytes = 8u * (uint64_t)p->n;
	return 0;
}

static hop_status
c32_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct c32_params *p = ctx->params;
	struct seq *s = state;
	struct hop_out *out = &io->out[0];

	if (io->stopping || out->ended)
		return HOP_DONE;
	for (; out->filled < out->count; out->filled++) {
		const struct hop_tx *tx = &out->msg[out->filled];
		float value[2] = { (float)s->next, -(float)s->next };

		if (s->next == (uint64_t)p->count)
			return HOP_DONE;
		make(tx, s->next++, 8u * (uint64_t)p->n, io->now_ns);
		for (int64_t i = 0; i < p->n; i++)
			memcpy((char *)tx->data + 8 * i, value, sizeof value);
	}
	return HOP_OK;
}

const struct hop_op test_c32_source = {
	.size = sizeof test_c32_source,
	.name = "test/c32_source",
	.doc = "Make messages of complex float32.",
	.ports = HOP_TABLE(out_port),
	.params = HOP_TABLE(c32_table),
	.params_size = sizeof(struct c32_params),
	.state_size = sizeof(struct seq),
	.shape = c32_shape,
	.process = c32_process,
};
