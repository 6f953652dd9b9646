/* SPDX-License-Identifier: Apache-2.0 */
/* passers.c - the ops of libtestops.so that hand messages on: copy, split, join, wait. */
#include "testops.h"

static const struct hop_port in_out[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_OUT, "out", 0),
};

static hop_status
copy_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	uint32_t n = to_min(io->in[0].count, io->out[0].count);

	(void)state;
	(void)ctx;
	for (uint32_t i = 0; i < n; i++)
		to_copy(&io->out[0].msg[i], &io->in[0].msg[i]);
	io->in[0].taken = n;
	io->out[0].filled = n;
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_copy = {
	.size = sizeof test_copy,
	.name = "test/copy",
	.doc = "Hand each message on.",
	.ports = HOP_TABLE(in_out),
	.shape = to_same_shape,
	.process = copy_process,
};

static const struct hop_port two_out_ports[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_OUT, "hit", 0),
	TO_PORT(HOP_OUT, "miss", 0),
};

static hop_status
two_out_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hop_in *in = &io->in[0];

	(void)state;
	(void)ctx;
	for (; in->taken < in->count; in->taken++) {
		const struct hop_rx *rx = &in->msg[in->taken];
		struct hop_out *out = &io->out[to_number(rx) % 2];

		if (out->ended)
			continue;
		if (out->filled == out->count)
			break;
		to_copy(&out->msg[out->filled++], rx);
	}
	return in->taken ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_two_out = {
	.size = sizeof test_two_out,
	.name = "test/two_out",
	.doc = "Even numbers to hit, odd ones to miss.",
	.ports = HOP_TABLE(two_out_ports),
	.shape = to_same_shape,
	.process = two_out_process,
};

enum { C_PAIRS, C_SINGLES };

static const struct hop_port join2_ports[] = {
	TO_PORT(HOP_IN, "a", 0),
	TO_PORT(HOP_IN, "b", 0),
	TO_PORT(HOP_OUT, "out", 0),
};

static const struct hop_counter join2_counters[] = {
	[C_PAIRS] = { "pairs", "messages made of one of each input", HOP_LOG_INFO, 0 },
	[C_SINGLES] = { "singles", "messages of one input after the other ended", HOP_LOG_INFO, 0 },
};

static int
join2_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	*shape->out[0] = *shape->in[0];
	if (shape->in[1]->max_bytes > shape->out[0]->max_bytes)
		*shape->out[0] = *shape->in[1];
	return 0;
}

/* The next message of an input, or NULL; *waits if one may still come. */
static const struct hop_rx *
next(struct hop_in *in, bool *waits)
{
	if (in->taken < in->count)
		return &in->msg[in->taken];
	*waits = *waits || !in->ended;
	return NULL;
}

static hop_status
join2_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hop_in *a = &io->in[0], *b = &io->in[1];
	struct hop_out *out = &io->out[0];

	(void)state;
	while (out->filled < out->count) {
		bool waits = false;
		const struct hop_rx *x = next(a, &waits), *y = next(b, &waits);
		const struct hop_tx *tx = &out->msg[out->filled];

		if (waits || (!x && !y))
			break;
		to_copy(tx, x ? x : y);
		if (x && y)
			hop_join(tx, y);
		a->taken += x != NULL;
		b->taken += y != NULL;
		hop_count(ctx, x && y ? C_PAIRS : C_SINGLES, 1);
		out->filled++;
	}
	return out->filled ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_join2 = {
	.size = sizeof test_join2,
	.name = "test/join2",
	.doc = "Pair the messages of two inputs.",
	.ports = HOP_TABLE(join2_ports),
	.counters = HOP_TABLE(join2_counters),
	.shape = join2_shape,
	.process = join2_process,
};

static const struct hop_port opt_in_ports[] = {
	TO_PORT(HOP_IN, "in", 0),
	TO_PORT(HOP_IN, "side", HOP_PORT_OPTIONAL),
	TO_PORT(HOP_OUT, "out", 0),
};

static const struct hop_counter opt_in_counters[] = {
	{ "side", "messages of the optional input", HOP_LOG_INFO, 0 },
};

static hop_status
opt_in_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hop_in *side = &io->in[1];

	side->taken = side->count;
	hop_count(ctx, 0, side->count);
	return copy_process(state, ctx, io) == HOP_OK || side->taken ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_opt_in = {
	.size = sizeof test_opt_in,
	.name = "test/opt_in",
	.doc = "Hand each message on; a second input may be left open.",
	.ports = HOP_TABLE(opt_in_ports),
	.counters = HOP_TABLE(opt_in_counters),
	.shape = to_same_shape,
	.process = opt_in_process,
};

enum { NEED = 5 };

static int
need5_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	*shape->out[0] = *shape->in[0];
	shape->need[0] = NEED;
	shape->gives[0] = 1;
	return 0;
}

static hop_status
need5_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];

	(void)state;
	(void)ctx;
	while (in->count - in->taken >= NEED && out->filled < out->count) {
		const struct hop_tx *tx = &out->msg[out->filled++];

		to_copy(tx, &in->msg[in->taken]);
		for (uint32_t i = 1; i < NEED; i++)
			hop_join(tx, &in->msg[in->taken + i]);
		in->taken += NEED;
	}
	if (in->ended && in->count - in->taken < NEED)
		in->taken = in->count;
	return in->taken ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_need5 = {
	.size = sizeof test_need5,
	.name = "test/need5",
	.doc = "Make one message of five; fewer at the end are dropped.",
	.ports = HOP_TABLE(in_out),
	.shape = need5_shape,
	.process = need5_process,
};

struct nap_params {
	int64_t work;
};

static const struct hop_param nap_table[] = {
	TO_PARAM(TIME, struct nap_params, work, "1ms", "0", "60s", "time asleep per message"),
};

static hop_status
nap_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct nap_params *p = ctx->params;
	struct timespec t = { p->work / 1000000000, p->work % 1000000000 };

	if (io->in[0].count && io->out[0].count)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	io->in[0].count = to_min(io->in[0].count, 1);
	return copy_process(state, ctx, io);
}

const struct hop_op test_nap = {
	.size = sizeof test_nap,
	.flags = HOP_F_BLOCKS,
	.name = "test/nap",
	.doc = "Sleep, then hand one message on: has a thread of its own.",
	.ports = HOP_TABLE(in_out),
	.params = HOP_TABLE(nap_table),
	.params_size = sizeof(struct nap_params),
	.shape = to_same_shape,
	.process = nap_process,
};
