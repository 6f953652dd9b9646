/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - holomq/import: what another program publishes becomes a source.
 *
 * Finding an exporter and its answer takes as long as the other program likes, so
 * the op blocks and has a thread of its own.  Messages are copied once; the head
 * keeps its lineage, and what a stranger wrote into it is checked before anybody
 * relies on it.  A gap in the sequence is counted and marked.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include <hk/net.h>

#include "endpoints.h"

enum { BATCH = 32 };

static const int64_t future_ns = 1000000000; /* a birth later than that is nonsense */

static const char *const policies[] = {
	"any", "block", "drop_newest", "fail", "drop_oldest", NULL
};

static const struct hop_port ports[] = {
	{ "out", "messages of the other program", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

#define P(type, member, def, min, max, choices, doc)                                               \
	ENDPOINT_PARAM(type, struct import_params, member, def, min, max, choices, doc)

static const struct hop_param params[] = {
	P(TEXT, name, NULL, NULL, NULL, NULL, "name of the endpoint"),
	P(PATH, dir, NULL, NULL, NULL, NULL, "folder in which it is found"),
	P(TEXT, kind, "", NULL, NULL, NULL, "what the messages are; empty: anything"),
	P(INT, layout, "0", "0", NULL, NULL, "digest of a payload that is a C structure; 0: any"),
	P(TEXT, format, "", NULL, NULL, NULL,
	  "of a message, as TYPE[DIMENSIONS]: i16x2[1024], f32[64,64]; empty: plain bytes"),
	P(SIZE, max_bytes, "0", "0", "1GiB", NULL, "of one message; 0: as the format says"),
	P(INT, depth, "0", "0", "16777216", NULL,
	  "messages the queue holds; 0: as the other side says, with serve 16"),
	P(CHOICE, when_full, "any", NULL, NULL, policies,
	  "what the queue does when it is full; any: as the other side says, with serve block"),
	P(INT, required, "1", "0", "1", NULL,
	  "1: fail when nobody writes in time or the writer dies; 0: wait for another"),
	P(TIME, attach_timeout, "10s", "0", NULL, NULL, "how long a required writer may take"),
	P(BOOL, serve, "false", NULL, NULL, NULL, "this side has the name, and a writer attaches"),
	P(BOOL, lossy_end, "false", NULL, NULL, NULL,
	  "the death of the writer is an end like another"),
	P(BOOL, any_user, "false", NULL, NULL, NULL, "with serve: let a writer of another user in"),
};

static const struct hop_counter counters[] = {
	[IMPORT_ATTACHED] = { "attached", "writers that were found or let in", HOP_LOG_INFO, 0 },
	[IMPORT_REFUSED] = { "refused", "with serve: programs that were turned away", HOP_LOG_WARN,
			     0 },
	[IMPORT_DIED] = { "died", "writers that died instead of ending", HOP_LOG_WARN, 0 },
	[IMPORT_LOST] = { "lost", "messages missing in the sequence", HOP_LOG_WARN,
			  HOP_COUNTER_LOSS },
};

static int
read_format(const struct hop_ctx *ctx, struct hop_format *out)
{
	const struct import_params *p = ctx->params;
	struct hk_net_error err;
	struct hk_net_format f;

	if (hk_net_format_parse(p->format, &f, &err))
		return HOP_FAIL(ctx, EINVAL, "format: %s, found '%.*s' at character %u of '%s'",
				err.what, (int)err.len, p->format + err.at, err.at + 1, p->format);
	out->dtype = (struct hop_dtype){ f.code, f.bits, f.lanes };
	out->rank = f.rank;
	memcpy(out->dim, f.dim, sizeof out->dim);
	out->max_bytes = p->max_bytes ? p->max_bytes : f.bytes;
	if (out->max_bytes == 0)
		return HOP_FAIL(ctx, EINVAL,
				"max_bytes: plain bytes need a size; give format or max_bytes");
	if (out->max_bytes < f.bytes)
		return HOP_FAIL(ctx, EINVAL, "max_bytes: %llu, but %s takes %llu bytes",
				(unsigned long long)out->max_bytes, p->format,
				(unsigned long long)f.bytes);
	return 0;
}

int
import_contract(const struct hop_ctx *ctx, struct hmq_contract *c, struct hop_format *out)
{
	const struct import_params *p = ctx->params;
	int rc = read_format(ctx, out);

	*c = (struct hmq_contract){
		.layout = (uint64_t)p->layout,
		.depth = (uint32_t)p->depth,
		.policy = p->when_full ? (uint32_t)p->when_full - 1 : HMQ_ANY,
		.wake = HMQ_WAKE_SLEEP,
	};
	if (!rc)
		rc = holomq_contract_kind(ctx, c, p->kind);
	if (!rc)
		holomq_contract_format(c, out);
	if (p->serve) {
		c->depth = c->depth ? c->depth : 16;
		c->policy = c->policy == HMQ_ANY ? HMQ_BLOCK : c->policy;
	}
	return rc;
}

static int
import_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct import_params *p = ctx->params;
	struct hmq_export cfg = {
		.size = sizeof cfg, .role = HMQ_ROLE_READER, .dir = p->dir, .name = p->name
	};
	int rc = import_contract(ctx, &cfg.contract, shape->out[0]);

	if (rc)
		return rc;
	if (p->any_user && !p->serve)
		return HOP_FAIL(ctx, EINVAL, "any_user: goes with serve: the exporter lets in");
	if (!p->serve) {
		cfg.contract.depth = 1;
		cfg.contract.policy = HMQ_BLOCK;
	}
	return holomq_check(ctx, &cfg);
}

static int
import_start(void *state, const struct hop_ctx *ctx)
{
	const struct import_params *p = ctx->params;
	struct hop_format out = { 0 };
	struct import *s = state;
	int rc;

	*s = (struct import){ 0 };
	rc = import_contract(ctx, &s->want, &out);
	return !rc && p->serve ? import_serve(s, ctx) : rc;
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Fewer items than the format says are the writer's right; others are not believed. */
static void
adopt_dims(struct hop_head *to, const struct hmq_head *from, uint64_t bytes)
{
	uint64_t want = (uint64_t)to->dtype.bits * to->dtype.lanes;
	uint32_t dim[HOP_MAX_RANK];

	memcpy(dim, from->dim, sizeof dim); /* once: it is another program's memory */
	for (uint32_t i = 0; i < to->rank && i < HOP_MAX_RANK; i++) {
		if (dim[i] > to->dim[i])
			return;
		want *= dim[i];
	}
	if (want / 8 == bytes)
		memcpy(to->dim, dim, sizeof to->dim);
}

static void
note_seq(struct import *s, const struct hop_ctx *ctx, uint64_t seq, struct hop_head *to)
{
	if (s->has_seq && seq > s->next_seq) {
		hop_count(ctx, IMPORT_LOST, seq - s->next_seq);
		to->flags |= HOP_MSG_GAP;
	}
	s->has_seq = true;
	s->next_seq = seq + 1;
}

static void
place(struct import *s, const struct hop_ctx *ctx, const struct hop_tx *tx, const struct hmq_rx *rx,
      int64_t now_ns)
{
	const struct hmq_head *from = rx->head;
	struct hop_head *to = tx->head;

	to->frame = from->frame;
	to->index = from->index;
	to->stream = from->stream;
	to->flags = from->flags;
	to->stamp_ns = from->stamp_ns;
	to->born_ns = from->born_ns;
	to->last_ns = from->last_ns;
	if (to->born_ns <= 0 || to->born_ns > now_ns + future_ns)
		to->born_ns = now_ns;
	if (to->last_ns < to->born_ns || to->last_ns > now_ns + future_ns)
		to->last_ns = to->born_ns;
	memcpy(to->user, from->user, sizeof to->user);
	to->bytes = rx->bytes;
	memcpy(tx->data, rx->data, rx->bytes);
	adopt_dims(to, from, rx->bytes);
	note_seq(s, ctx, from->seq, to);
}

/* The clock once more: after a sleep the pass's is an old one. */
static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Everything that is there and fits: how many, or a failure. */
static int
receive(struct import *s, const struct hop_ctx *ctx, struct hop_out *out)
{
	struct hmq_rx rx[BATCH];
	int64_t now_ns = 0;

	while (out->filled < out->count) {
		uint32_t left = out->count - out->filled;
		int32_t n = hmq_peek(s->reader, 0, rx, left < s->claim ? left : s->claim);

		if (n < 0)
			return HOP_FAIL(ctx, -n, "the writer put nonsense into its memory");
		if (n == 0)
			break;
		now_ns = now_ns ? now_ns : now();
		for (uint32_t i = 0; i < (uint32_t)n; i++) {
			const struct hop_tx *tx = &out->msg[out->filled];

			if (rx[i].bytes > tx->capacity)
				return HOP_FAIL(ctx, EMSGSIZE,
						"a message of %llu bytes, a slot has %llu",
						(unsigned long long)rx[i].bytes,
						(unsigned long long)tx->capacity);
			place(s, ctx, tx, &rx[i], now_ns);
			out->filled++;
		}
		hmq_take(s->reader, rx, (uint32_t)n);
	}
	return (int)out->filled;
}

/* Sleep until there may be something, but no longer than the host allows. */
static void
await(const struct import *s, const struct hop_io *io)
{
	struct pollfd p = { .fd = hmq_endpoint_fd(s->ep), .events = POLLIN };
	int64_t left;

	if (hmq_endpoint_arm(s->ep))
		return;
	left = io->deadline_ns - now();
	if (left > 0) {
		struct timespec t = { left / 1000000000, left % 1000000000 };

		(void)ppoll(&p, 1, &t, NULL);
	}
}

/* Nothing is queued: is it over? */
static hop_status
look_at_end(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct import_params *p = ctx->params;

	switch (hmq_reader_state(s->reader)) {
	case HMQ_ENDED:
		return HOP_DONE;
	case HMQ_LOST:
		return import_lost(s, ctx, io);
	case HMQ_BROKEN:
		return HOP_FAIL(ctx, EBADMSG,
				"endpoint %s: the writer put nonsense into its memory", p->name);
	default:
		return io->stopping ? HOP_DONE : HOP_OK;
	}
}

static hop_status
import_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct import *s = state;
	struct hop_out *out = &io->out[0];
	hop_status rc;

	if (out->ended)
		return HOP_DONE;
	if (!s->ep) {
		rc = import_attach(s, ctx, io);
		if (rc != HOP_OK)
			return rc;
	}
	for (int tries = 0; tries < 2; tries++) {
		rc = import_look(s, ctx, io);
		if (!rc)
			rc = receive(s, ctx, out);
		if (rc)
			return rc < 0 ? rc : HOP_OK;
		rc = look_at_end(s, ctx, io);
		if (rc != HOP_OK)
			return rc;
		if (tries == 0)
			await(s, io);
	}
	return HOP_IDLE;
}

static void
import_stop(void *state, const struct hop_ctx *ctx)
{
	(void)ctx;
	import_close(state);
}

const struct hop_op holomq_import = {
	.size = sizeof holomq_import,
	.flags = HOP_F_LIVE | HOP_F_BLOCKS,
	.name = "holomq/import",
	.doc = "Take the messages that a program outside the graph publishes.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct import_params),
	.state_size = sizeof(struct import),
	.shape = import_shape,
	.start = import_start,
	.process = import_process,
	.stop = import_stop,
};
