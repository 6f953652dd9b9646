/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_flow.c - messages from one writer to one or two readers, no ends, no sleep.
 *
 * What must hold: each reader sees its messages whole, in order, once; a slot is
 * reused only after every reader has let go of it; at the end every slot is back.
 */
#include "kit.h"
#include "scenarios.h"

static void
finish_idle(void)
{
	kit_check_idle();
	for (uint32_t i = 0; i < kit.n_readers; i++)
		kit_check_account(i);
}

static void
writer_three(void)
{
	for (int i = 0; i < 3; i++)
		kit_send(1);
}

static void
writer_five(void)
{
	for (int i = 0; i < 5; i++)
		kit_send(1);
}

static void
reader_five(void)
{
	kit_take(0, 5);
}

/* ---- one reader ------------------------------------------------------------------------- */

static const struct hmq_reader_config depth_one = { 1, HMQ_BLOCK };
static const struct hmq_reader_config depth_two = { 2, HMQ_BLOCK };

static void
setup_spsc(void)
{
	kit_open(2, &depth_two, 1, 0);
}

static void
setup_cells(void)
{
	kit_open(3, &depth_one, 1, 0);
}

static void
setup_slots(void)
{
	kit_open(1, &depth_two, 1, 0);
}

const struct xp_scenario scenario_spsc = {
	"spsc",     "capacity 2, 2 slots, 5 messages", setup_spsc,
	kit_begin,  { writer_five, reader_five },      2,
	finish_idle
};

const struct xp_scenario scenario_cells = { "cells",
					    "1 cell, 3 slots, 5 messages: cells are reused first",
					    setup_cells,
					    kit_begin,
					    { writer_five, reader_five },
					    2,
					    finish_idle };

const struct xp_scenario scenario_slots = { "slots",
					    "2 cells, 1 slot, 5 messages: the slot is reused first",
					    setup_slots,
					    kit_begin,
					    { writer_five, reader_five },
					    2,
					    finish_idle };

/* ---- batches ---------------------------------------------------------------------------- */

static void
setup_batch(void)
{
	static const struct hmq_reader_config depth_three = { 3, HMQ_BLOCK };

	kit_open(3, &depth_three, 1, 0);
}

static void
writer_batches(void)
{
	kit_send(2);
	kit_send(1);
	kit_send(1);
}

static void
reader_batches(void)
{
	struct hmq_rx rx[4];
	uint32_t n;

	while (kit.taken[0] < 4) {
		n = kit_look(0, rx, 3);
		xp_assume(n > 0);
		hmq_advance(kit.r[0], n);
		kit.taken[0] += n;
		hmq_release(kit.r[0], rx, n);
	}
}

const struct xp_scenario scenario_batch = {
	"batch",
	"batches of 2, 1 and 1, 3 slots; advance and release apart",
	setup_batch,
	kit_begin,
	{ writer_batches, reader_batches },
	2,
	finish_idle
};

/* ---- release out of order, messages kept ------------------------------------------------- */

static void
reader_any_order(void)
{
	struct hmq_rx rx[3];

	xp_assume(kit_look(0, rx, 2) == 2);
	hmq_advance(kit.r[0], 2);
	kit.taken[0] = 2;
	hmq_release(kit.r[0], &rx[1], 1);
	xp_assume(kit_look(0, &rx[2], 1) == 1);
	xp_check(kit_number(&rx[0]) == 0, "a message that was kept has changed");
	hmq_release(kit.r[0], &rx[0], 1);
	hmq_take(kit.r[0], &rx[2], 1);
	kit.taken[0] = 3;
}

const struct xp_scenario scenario_any_order = {
	"any-order",
	"two taken, the second given back first, the first kept",
	setup_spsc,
	kit_begin,
	{ writer_three, reader_any_order },
	2,
	finish_idle
};

/* ---- two readers ------------------------------------------------------------------------ */

static void
setup_fanout(void)
{
	static const struct hmq_reader_config readers[] = { { 1, HMQ_BLOCK }, { 2, HMQ_BLOCK } };

	kit_open(2, readers, 2, 0);
}

static void
one_of_two_readers(void)
{
	kit_take(xp_self() - 1, 3);
}

const struct xp_scenario scenario_fanout = {
	"fan-out",  "two readers of depth 1 and 2, 2 slots, 3 messages",      setup_fanout,
	kit_begin,  { writer_three, one_of_two_readers, one_of_two_readers }, 3,
	finish_idle
};

static void
setup_one_slot(void)
{
	static const struct hmq_reader_config readers[] = { { 2, HMQ_BLOCK }, { 2, HMQ_BLOCK } };

	kit_open(1, readers, 2, 0);
}

const struct xp_scenario scenario_one_slot = {
	"one-slot", "two readers, one slot: whose hint is seen last",         setup_one_slot,
	kit_begin,  { writer_three, one_of_two_readers, one_of_two_readers }, 3,
	finish_idle
};

/* ---- a reader that misses the newest ---------------------------------------------------- */

static void
setup_drop(void)
{
	static const struct hmq_reader_config one = { 1, HMQ_DROP_NEWEST };

	kit_open(2, &one, 1, 0);
}

static void
writer_never_waits(void)
{
	struct hmq_tx tx;

	for (int i = 0; i < 3; i++) {
		xp_assume(kit_fill(&tx, 1));
		kit_publish(&tx, 1);
	}
}

static void
reader_with_gaps(void)
{
	struct hmq_rx rx;
	uint64_t last = 0;

	for (int i = 0; i < 3; i++) {
		int32_t n = hmq_peek(kit.r[0], 0, &rx, 1);

		xp_check(n >= 0, "an honest writer is taken for a broken one");
		if (n == 0)
			return;
		xp_check(kit_number(&rx) >= last, "a message came twice or too late");
		last = kit_number(&rx) + 1;
		hmq_take(kit.r[0], &rx, 1);
		kit.taken[0]++;
	}
}

static void
finish_drop(void)
{
	struct hmq_edge_stat stat;

	kit_check_account(0);
	hmq_chan_stat(&kit.seg, 0, &stat);
	xp_check(stat.received == kit.taken[0], "received is not what was taken");
}

const struct xp_scenario scenario_drop_newest = {
	"drop-newest",
	"depth 1, 3 messages, the reader misses what does not fit",
	setup_drop,
	kit_begin,
	{ writer_never_waits, reader_with_gaps },
	2,
	finish_drop
};

/* ---- a new handle of the same writer ---------------------------------------------------- */

static void
setup_reopen(void)
{
	kit_open(1, &depth_one, 1, 0);
}

static void
setup_reopen_slots(void)
{
	kit_open(5, &depth_two, 1, 0);
}

/* Without a look at hmq_room: the new handle must know by itself what may be overwritten. */
static void
publish_at_once(void)
{
	struct hmq_tx tx;

	xp_assume(kit_fill(&tx, 1));
	xp_assume(hmq_publish(kit.w, &tx, 1) == 1);
	kit.sent++;
}

static void
reopen_after(uint32_t sent)
{
	static const struct hmq_peer no_peer = { .event_fd = -1 };

	kit_send(sent);
	xp_check(hmq_writer_open(&kit.w, &kit.seg, &no_peer, NULL) == 0, "the handle was refused");
	publish_at_once();
	publish_at_once();
}

static void
writer_reopens(void)
{
	reopen_after(1);
}

/* Two, for the reader finds the first of them in its cell only while there is a newer one. */
static void
writer_reopens_later(void)
{
	reopen_after(2);
}

static void
reader_three(void)
{
	kit_take(0, 3);
}

static void
reader_four(void)
{
	kit_take(0, 4);
}

const struct xp_scenario scenario_reopen = {
	"reopen",
	"a new handle for the writer while the reader is at work, one slot",
	setup_reopen,
	kit_begin,
	{ writer_reopens, reader_three },
	2,
	finish_idle
};

const struct xp_scenario scenario_reopen_cells = {
	"reopen-cells",
	"the same with slots to spare: the cell is reused",
	setup_reopen_slots,
	kit_begin,
	{ writer_reopens_later, reader_four },
	2,
	finish_idle
};
