/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - std/check: a sink for what std/sequence made.
 *
 * Every message must carry the next number, from 0, and its pattern intact.
 * A gap or a step back fails the run and names the number wanted and found;
 * with `lossy: true`, for edges that may drop, both are counted instead.
 * Broken content always fails.  With `count` the stream must hold exactly that
 * many; with lossy, what is missing at its end counts as a gap.
 */
#include <errno.h>

#include "pattern.h"
#include "std.h"

enum { C_RECEIVED, C_GAPS, C_REORDERED, C_BAD };

struct check_params {
	int64_t work;
	int64_t count;
	uint8_t lossy;
	uint8_t fill;
};

struct check {
	uint64_t next; /* the number wanted */
	uint32_t ended;
	uint32_t reserved;
};

static const struct hop_port ports[] = {
	{ "in", "messages of std/sequence", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	STD_PARAM(TIME, struct check_params, work, NULL, "0", "0", "60s", "busy time per message"),
	STD_PARAM(INT, struct check_params, count, "messages", "0", "0", NULL,
		  "messages the stream must hold; 0: unknown"),
	STD_PARAM(BOOL, struct check_params, lossy, NULL, "false", NULL, NULL,
		  "count missing and reordered messages instead of failing"),
	STD_PARAM(BOOL, struct check_params, fill, NULL, "false", NULL, NULL,
		  "compare the whole payload; the source has fill: true, too"),
};

static const struct hop_counter counters[] = {
	[C_RECEIVED] = { "received", "messages taken", HOP_LOG_INFO, 0 },
	[C_GAPS] = { "gaps", "messages missing", HOP_LOG_WARN, 0 },
	[C_REORDERED] = { "reordered", "messages older than one seen before", HOP_LOG_WARN, 0 },
	[C_BAD] = { "bad", "messages whose content is not what was sent", HOP_LOG_ERROR, 0 },
};

static int
check_start(void *state, const struct hop_ctx *ctx)
{
	(void)ctx;
	memset(state, 0, sizeof(struct check));
	return 0;
}

static int
check_content(const struct hop_ctx *ctx, const struct hop_rx *rx, uint64_t seq, bool fill)
{
	uint64_t at;

	at = pattern_check(rx->data, rx->bytes, seq, fill);
	if (at == rx->bytes)
		return 0;
	hop_count(ctx, C_BAD, 1);
	return HOP_FAIL(ctx, EBADMSG, "message %llu: content differs at byte %llu of %llu",
			(unsigned long long)seq, (unsigned long long)at,
			(unsigned long long)rx->bytes);
}

static int
check_order(struct check *s, const struct check_params *p, const struct hop_ctx *ctx, uint64_t seq)
{
	if (seq == s->next) {
		s->next++;
		return 0;
	}
	if (!p->lossy)
		return HOP_FAIL(ctx, EPROTO, "wanted message %llu, found %llu",
				(unsigned long long)s->next, (unsigned long long)seq);
	if (seq < s->next) {
		hop_count(ctx, C_REORDERED, 1);
		return 0;
	}
	hop_count(ctx, C_GAPS, seq - s->next);
	s->next = seq + 1;
	return 0;
}

static int
check_one(struct check *s, const struct hop_ctx *ctx, const struct hop_rx *rx)
{
	const struct check_params *p = ctx->params;
	uint64_t seq;
	int rc;

	if (rx->bytes < PATTERN_WORD) {
		hop_count(ctx, C_BAD, 1);
		return HOP_FAIL(ctx, EBADMSG, "wanted message %llu, found one of only %llu bytes",
				(unsigned long long)s->next, (unsigned long long)rx->bytes);
	}
	if (p->work > 0)
		std_busy_for(p->work);
	seq = pattern_seq(rx->data);
	rc = check_content(ctx, rx, seq, p->fill);
	if (!rc)
		rc = check_order(s, p, ctx, seq);
	if (!rc && p->count && seq >= (uint64_t)p->count)
		return HOP_FAIL(ctx, EPROTO, "wanted %lld messages in all, found number %llu",
				(long long)p->count, (unsigned long long)seq);
	return rc;
}

/* Once, when nothing will come any more. */
static int
check_end(struct check *s, const struct hop_ctx *ctx)
{
	const struct check_params *p = ctx->params;
	uint64_t wanted = (uint64_t)p->count;

	s->ended = 1;
	if (s->next >= wanted)
		return 0;
	if (!p->lossy)
		return HOP_FAIL(ctx, ENODATA, "the stream ended after %llu messages, wanted %llu",
				(unsigned long long)s->next, (unsigned long long)wanted);
	hop_count(ctx, C_GAPS, wanted - s->next);
	s->next = wanted;
	return 0;
}

static hop_status
check_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct check_params *p = ctx->params;
	struct check *s = state;
	struct hop_in *in = &io->in[0];
	/* A slow reader gives each slot back when it is done with it. */
	uint32_t n = p->work > 0 && in->count > 1 ? 1 : in->count;

	for (uint32_t i = 0; i < n; i++) {
		int rc = check_one(s, ctx, &in->msg[i]);

		in->taken = i + 1;
		hop_count(ctx, C_RECEIVED, 1);
		if (rc)
			return rc;
	}
	if (in->ended && n == in->count && !s->ended) {
		/* Cut short from outside: fewer than all is what was asked for. */
		int rc = io->stopping ? 0 : check_end(s, ctx);

		if (rc)
			return rc;
	}
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op std_check = {
	.size = sizeof std_check,
	.name = "std/check",
	.doc = "Verify the order and content of what std/sequence made.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct check_params),
	.state_size = sizeof(struct check),
	.start = check_start,
	.process = check_process,
};
