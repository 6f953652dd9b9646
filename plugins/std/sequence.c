/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.c - std/sequence: a source of numbered messages.
 *
 * With a rate, message n is due at t0 + n / rate, t0 being the first call;
 * born_ns is that due time, so a source held up by a full edge shows its own
 * waiting.  Without one, messages are made as fast as there is room and are
 * born at the call.  It ends by itself after `count`; an endless one ends when
 * the host asks.  The payload is described in pattern.h.
 */
#include <errno.h>

#include "pattern.h"
#include "std.h"

struct sequence_params {
	uint64_t size;
	double rate;
	int64_t count;
	int64_t frame_every;
	uint8_t fill;
};

struct sequence {
	uint64_t next;
	uint64_t frame;
	uint32_t index;
	uint32_t started;
	int64_t t0_ns;
};

static const struct hop_port ports[] = {
	{ "out", "numbered messages, plain bytes", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	STD_PARAM(SIZE, struct sequence_params, size, NULL, "64B", "8B", "1GiB",
		  "payload of each message"),
	STD_PARAM(RATE, struct sequence_params, rate, NULL, "0", "0", "100MHz",
		  "messages per second; 0: as fast as there is room"),
	STD_PARAM(INT, struct sequence_params, count, "messages", "0", "0", NULL,
		  "messages to make, then end; 0: endless"),
	STD_PARAM(INT, struct sequence_params, frame_every, "messages", "1", "1", "4294967295",
		  "messages of one frame: head.frame = n / frame_every, index = the rest"),
	STD_PARAM(BOOL, struct sequence_params, fill, NULL, "false", NULL, NULL,
		  "write the whole payload, not only its first and last word"),
};

static int
sequence_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct sequence_params *p = ctx->params;
	struct hop_format *out = shape->out[0];

	out->dtype = (struct hop_dtype){ 1, 8, 1 };
	out->rank = 0;
	out->max_bytes = p->size;
	out->rate_hz = p->rate;
	return 0;
}

static int
sequence_start(void *state, const struct hop_ctx *ctx)
{
	(void)ctx;
	memset(state, 0, sizeof(struct sequence));
	return 0;
}

static void
sequence_make(struct sequence *s, const struct sequence_params *p, const struct hop_tx *tx,
	      int64_t born_ns)
{
	struct hop_head *head = tx->head;

	head->frame = s->frame;
	head->index = s->index;
	head->born_ns = born_ns;
	head->last_ns = born_ns;
	head->stamp_ns = 0;
	head->stream = 0;
	head->flags = 0;
	head->bytes = p->size;
	pattern_write(tx->data, p->size, s->next, p->fill);
	s->next++;
	if (++s->index == p->frame_every) {
		s->index = 0;
		s->frame++;
	}
}

static hop_status
sequence_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct sequence_params *p = ctx->params;
	struct sequence *s = state;
	struct hop_out *out = &io->out[0];
	uint64_t left = p->count ? (uint64_t)p->count - s->next : UINT64_MAX;
	uint32_t room = out->count < left ? out->count : (uint32_t)left;
	double period_ns = p->rate > 0 ? 1e9 / p->rate : 0;
	uint32_t n = 0;

	if (io->stopping || out->ended || left == 0)
		return HOP_DONE;
	if (!s->started) {
		s->started = 1;
		s->t0_ns = io->now_ns;
	}
	for (; n < room; n++) {
		int64_t born_ns = io->now_ns;

		if (period_ns > 0) {
			born_ns = std_due(s->t0_ns, (double)s->next * period_ns);
			if (born_ns > io->now_ns) {
				ctx->host->wake_at(ctx, born_ns);
				break;
			}
		}
		sequence_make(s, p, &out->msg[n], born_ns);
	}
	out->filled = n;
	if (n == left)
		return HOP_DONE;
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op std_sequence = {
	.size = sizeof std_sequence,
	.name = "std/sequence",
	.doc = "Make numbered messages, at a rate or as fast as there is room.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct sequence_params),
	.state_size = sizeof(struct sequence),
	.shape = sequence_shape,
	.start = sequence_start,
	.process = sequence_process,
};
