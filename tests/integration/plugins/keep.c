/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.c - inject/keep: a sink that keeps the last messages, and looks at each
 * once more before it gives it back: what is kept must not change.
 */
#include "inject.h"

enum { KEPT = 6 };

struct kept {
	struct hop_rx msg;
	uint64_t first;
};

struct keep {
	struct kept kept[KEPT];
	uint64_t n;
};

enum { C_RECEIVED, C_BAD };

static const struct hop_counter counters[] = {
	[C_RECEIVED] = { "received", "messages taken", HOP_LOG_INFO, 0 },
	[C_BAD] = { "bad", "kept messages that changed", HOP_LOG_ERROR, 0 },
};

static const struct hop_port ports[] = {
	{ "in", "any message", HOP_IN, 0, HOP_MEM_HOST, 1, 0, KEPT, 0, 0 },
};

static uint64_t
first_word(const struct hop_rx *rx)
{
	uint64_t word = 0;

	memcpy(&word, rx->data, rx->bytes < sizeof word ? rx->bytes : sizeof word);
	return word;
}

static void
give_back(struct kept *k, const struct hop_ctx *ctx)
{
	if (first_word(&k->msg) != k->first)
		hop_count(ctx, C_BAD, 1);
	ctx->host->drop(ctx, &k->msg);
}

static hop_status
keep_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct keep *s = state;
	struct hop_in *in = &io->in[0];

	for (; in->taken < in->count; in->taken++) {
		struct kept *k = &s->kept[s->n % KEPT];
		int rc;

		if (s->n >= KEPT)
			give_back(k, ctx);
		rc = ctx->host->keep(ctx, &in->msg[in->taken]);
		if (rc)
			return HOP_FAIL(ctx, -rc, "cannot keep a message");
		k->msg = in->msg[in->taken];
		k->first = first_word(&k->msg);
		s->n++;
		hop_count(ctx, C_RECEIVED, 1);
	}
	return in->taken ? HOP_OK : HOP_IDLE;
}

static void
keep_stop(void *state, const struct hop_ctx *ctx)
{
	struct keep *s = state;

	for (uint64_t i = 0; i < KEPT && i < s->n; i++)
		give_back(&s->kept[i], ctx);
	s->n = 0;
}

const struct hop_op inject_keep = {
	.size = sizeof inject_keep,
	.name = "inject/keep",
	.doc = "Keep the last messages.",
	.ports = HOP_TABLE(ports),
	.counters = HOP_TABLE(counters),
	.state_size = sizeof(struct keep),
	.process = keep_process,
	.stop = keep_stop,
};
