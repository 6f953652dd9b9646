/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - inject/order: what a bad network does, by list.
 *
 * Output k is a copy of input order[k].  An input below the largest number
 * listed that is never named is lost, one named twice is repeated, one named
 * late is late.  Inputs after the list pass unchanged.  `edit` changes heads
 * ("3:index=99" sets the index of output 3), and before output `pause_at`
 * nothing is sent for `pause`.  Inputs that will be named later are held as
 * copies, so nothing upstream is disturbed.
 */
#include <time.h>

#include "inject.h"

enum { MAX_EDITS = 64 };

struct order_params {
	struct hop_reals order;
	const char *edit;
	int64_t pause_at;
	int64_t pause;
};

enum field { F_INDEX, F_FRAME, F_STREAM };

struct edit {
	uint64_t output;
	uint64_t value;
	enum field field;
};

struct order {
	uint64_t n_order;
	uint64_t n_inputs; /* inputs the list speaks of: its largest number + 1 */
	uint64_t seen;     /* inputs taken */
	uint64_t made;     /* outputs made */
	uint64_t slot_bytes;
	struct hop_head *held; /* n_inputs */
	unsigned char *bytes;  /* n_inputs * slot_bytes; made with the first message */
	uint32_t n_edits;
	uint32_t paused;
	struct edit edit[MAX_EDITS];
};

static const struct hop_port ports[] = {
	INJECT_PORT("in", HOP_IN, 0, 0),
	INJECT_PORT("out", HOP_OUT, 0, 1),
};

static const struct hop_param params[] = {
	INJECT_PARAM(REALS, struct order_params, order, "[]", NULL, NULL,
		     "number of the input each output copies"),
	INJECT_PARAM(TEXT, struct order_params, edit, "", NULL, NULL,
		     "heads to change: output:field=value, separated by blanks"),
	INJECT_PARAM(INT, struct order_params, pause_at, "-1", "-1", NULL,
		     "output before which to pause; -1: never"),
	INJECT_PARAM(TIME, struct order_params, pause, "0", "0", "60s", "for how long"),
};

static int
parse_edit(struct order *s, const struct hop_ctx *ctx, const char *text)
{
	static const char *const fields[] = { "index", "frame", "stream" };

	while (*text) {
		unsigned long long output, value;
		char field[16];
		int len, f;

		if (sscanf(text, "%llu:%15[a-z]=%llu%n", &output, field, &value, &len) != 3)
			return HOP_FAIL(ctx, EINVAL, "edit: cannot read '%s'", text);
		for (f = 0; f < 3 && strcmp(fields[f], field); f++)
			;
		if (f == 3 || s->n_edits == MAX_EDITS)
			return HOP_FAIL(ctx, EINVAL, "edit: '%s' is no field, or too many", field);
		s->edit[s->n_edits++] = (struct edit){ output, value, (enum field)f };
		text += len;
		text += strspn(text, " ");
	}
	return 0;
}

static int
order_open(void *state, const struct hop_ctx *ctx)
{
	const struct order_params *p = ctx->params;
	struct order *s = state;
	struct hop_region region;
	int rc = parse_edit(s, ctx, p->edit);

	if (rc)
		return rc;
	s->n_order = p->order.count;
	for (uint64_t k = 0; k < s->n_order; k++)
		if ((uint64_t)p->order.at[k] + 1 > s->n_inputs)
			s->n_inputs = (uint64_t)p->order.at[k] + 1;
	rc = ctx->host->region(ctx, HOP_OUT, 0, &region);
	if (rc)
		return rc;
	s->slot_bytes = region.slot_bytes;
	s->held = ctx->host->alloc(ctx, (s->n_inputs + 1) * sizeof *s->held, 64, HOP_MEM_HOST);
	s->bytes = ctx->host->alloc(ctx, (s->n_inputs + 1) * s->slot_bytes, 64, HOP_MEM_HOST);
	if (!s->held || !s->bytes)
		return HOP_FAIL(ctx, ENOMEM, "cannot hold %llu messages",
				(unsigned long long)s->n_inputs);
	return 0;
}

static void
order_close(void *state, const struct hop_ctx *ctx)
{
	struct order *s = state;

	ctx->host->free(ctx, s->held);
	ctx->host->free(ctx, s->bytes);
}

/* Inputs of the list are held as soon as they come, so that the writer is never stopped. */
static uint32_t
hold(struct order *s, const struct hop_in *in)
{
	uint32_t n = 0;

	for (; n < in->count && s->seen < s->n_inputs; n++, s->seen++) {
		s->held[s->seen] = *in->msg[n].head;
		s->held[s->seen].bytes = in->msg[n].bytes;
		memcpy(s->bytes + s->seen * s->slot_bytes, in->msg[n].data, in->msg[n].bytes);
	}
	return n;
}

static void
apply_edits(const struct order *s, struct hop_head *head)
{
	for (uint32_t e = 0; e < s->n_edits; e++) {
		if (s->edit[e].output != s->made)
			continue;
		if (s->edit[e].field == F_INDEX)
			head->index = (uint32_t)s->edit[e].value;
		else if (s->edit[e].field == F_FRAME)
			head->frame = s->edit[e].value;
		else
			head->stream = (uint32_t)s->edit[e].value;
	}
}

/* In the call, not by wake_at: a node whose input has ended lives only as long as it fills. */
static void
pause_once(struct order *s, const struct order_params *p)
{
	struct timespec t;
	int64_t now_ns, end_ns = 0;

	if (p->pause_at < 0 || s->made != (uint64_t)p->pause_at || s->paused)
		return;
	s->paused = 1;
	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		if (!end_ns)
			end_ns = now_ns + p->pause;
	} while (now_ns < end_ns);
}

static hop_status
order_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct order_params *p = ctx->params;
	struct order *s = state;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];

	in->taken = hold(s, in);
	pause_once(s, p);
	while (out->filled < out->count) {
		struct hop_tx *tx = &out->msg[out->filled];

		if (s->made < s->n_order) {
			uint64_t i = (uint64_t)p->order.at[s->made];
			struct hop_rx rx = { &s->held[i], s->bytes + i * s->slot_bytes,
					     s->held[i].bytes, 0 };

			if (i >= s->seen)
				break;
			inject_copy(tx, &rx);
		} else {
			if (in->taken == in->count)
				break;
			inject_copy(tx, &in->msg[in->taken++]);
		}
		apply_edits(s, tx->head);
		out->filled++;
		if (++s->made == (uint64_t)p->pause_at)
			break; /* what came before the pause must be out */
	}
	return in->taken || out->filled ? HOP_OK : HOP_IDLE;
}

const struct hop_op inject_order = {
	.size = sizeof inject_order,
	.name = "inject/order",
	.doc = "Lose, repeat, exchange and delay messages by list.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct order_params),
	.state_size = sizeof(struct order),
	.shape = inject_shape_same,
	.open = order_open,
	.process = order_process,
	.close = order_close,
};
