/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_end.c - how channels end: end of stream, close, and death at every step.
 *
 * A mortal thread may be killed before each of its steps; then the kernel marks its
 * life.  What must hold: a reader gets all that was published before it hears of the
 * end, and nothing else; a writer takes back every slot of a reader that is gone,
 * counts what was queued, and never touches what a living reader still reads.
 */
#include "kit.h"
#include "scenarios.h"

static uint32_t heard; /* what the reader was told in the end */

static void
begin(void)
{
	kit_begin();
	heard = HMQ_OPEN;
}

static const struct hmq_reader_config depth_one = { 1, HMQ_BLOCK };
static const struct hmq_reader_config depth_two = { 2, HMQ_BLOCK };

static void
writer_three(void)
{
	for (int i = 0; i < 3; i++)
		kit_send(1);
}

static void
writer_two(void)
{
	kit_send(1);
	kit_send(1);
}

static void
writer_two_ends(void)
{
	kit_send(1);
	kit_send(1);
	hmq_writer_end(kit.w);
}

static void
reader_to_the_end(void)
{
	struct hmq_rx rx;

	while (true) {
		if (kit_look(0, &rx, 1) == 1) {
			hmq_take(kit.r[0], &rx, 1);
			kit.taken[0]++;
			continue;
		}
		heard = hmq_reader_state(kit.r[0]);
		if (heard == HMQ_OPEN && hmq_queued(kit.r[0]) > 0)
			continue;
		xp_assume(heard != HMQ_OPEN);
		return;
	}
}

static void
finish_all_taken(void)
{
	struct hmq_edge_stat stat;

	xp_check(hmq_chan_stat(&kit.seg, 0, &stat) == 0, "no numbers");
	xp_check(stat.queued == 0, "the end was told before the last message");
	xp_check(stat.received == kit.taken[0], "received is not what was taken");
	xp_check(heard == hmq_reader_state(kit.r[0]), "ended is told as lost, or lost as ended");
}

/* ---- the writer goes -------------------------------------------------------------------- */

static void
setup_plain(void)
{
	kit_open(2, &depth_two, 1, 0);
}

static void
setup_writer_dies(void)
{
	kit_open(2, &depth_two, 1, KIT_WRITER_DIES);
}

const struct xp_scenario scenario_end = {
	"end",           "2 messages, then the end of stream",   setup_plain,
	begin,           { writer_two_ends, reader_to_the_end }, 2,
	finish_all_taken
};

const struct xp_scenario scenario_writer_dies = {
	"writer-dies",
	"the writer is killed at every step of 2 messages and the end",
	setup_writer_dies,
	begin,
	{ writer_two_ends, reader_to_the_end },
	2,
	finish_all_taken
};

const struct xp_scenario scenario_writer_dies_open = {
	"writer-dies-open",
	"the writer is killed at every step of 2 messages, without an end",
	setup_writer_dies,
	begin,
	{ writer_two, reader_to_the_end },
	2,
	finish_all_taken
};

/* ---- the reader closes ------------------------------------------------------------------ */

static void
setup_close(void)
{
	kit_open(1, &depth_two, 1, 0);
}

static void
reader_takes_one_and_closes(void)
{
	kit_take(0, 1);
	hmq_reader_end(kit.r[0]);
}

static void
finish_gone(void)
{
	xp_check(hmq_writer_readers(kit.w) == kit.n_readers - 1, "a reader that went is not gone");
	kit_check_idle();
	for (uint32_t i = 0; i < kit.n_readers; i++)
		kit_check_account(i);
}

const struct xp_scenario scenario_close = {
	"close",    "a reader takes one of 3 and closes",          setup_close,
	begin,      { writer_three, reader_takes_one_and_closes }, 2,
	finish_gone
};

static void
setup_close_fanout(void)
{
	static const struct hmq_reader_config readers[] = { { 1, HMQ_BLOCK }, { 2, HMQ_BLOCK } };

	kit_open(2, readers, 2, 0);
}

static void
reader_closes(void)
{
	hmq_reader_end(kit.r[0]);
}

static void
other_reader_two(void)
{
	kit_take(1, 2);
}

const struct xp_scenario scenario_close_fanout = {
	"close-fan-out", "one of two readers closes, the other gets everything", setup_close_fanout,
	begin,           { writer_two, reader_closes, other_reader_two },        3,
	finish_gone
};

/* ---- the reader dies -------------------------------------------------------------------- */

static void
setup_reader_dies(void)
{
	kit_open(1, &depth_one, 1, KIT_READER_DIES);
}

static void
setup_reader_dies_two(void)
{
	kit_open(2, &depth_two, 1, KIT_READER_DIES);
}

static void
mortal_reader(void)
{
	kit_take(0, 2);
}

static void
mortal_reader_one_by_one(void)
{
	struct hmq_rx rx;

	xp_assume(kit_look(0, &rx, 1) == 1);
	hmq_advance(kit.r[0], 1);
	xp_check(kit_number(&rx) == 0, "a message that was taken has changed");
	hmq_release(kit.r[0], &rx, 1);
}

static void
finish_reader_died(void)
{
	if (!xp_is_dead(1))
		return;
	finish_gone();
	xp_check(kit.n_readers == 1 || kit.taken[1] == kit.sent,
		 "the other reader did not get everything");
}

const struct xp_scenario scenario_reader_dies = { "reader-dies",
						  "the reader is killed at every step, one slot",
						  setup_reader_dies,
						  begin,
						  { writer_three, mortal_reader },
						  2,
						  finish_reader_died };

const struct xp_scenario scenario_reader_dies_late = {
	"reader-dies-late",
	"killed between advance and release, 2 slots",
	setup_reader_dies_two,
	begin,
	{ writer_three, mortal_reader_one_by_one },
	2,
	finish_reader_died
};

static void
setup_reader_dies_fanout(void)
{
	static const struct hmq_reader_config readers[] = { { 1, HMQ_BLOCK }, { 2, HMQ_BLOCK } };

	kit_open(2, readers, 2, KIT_READER_DIES);
}

const struct xp_scenario scenario_reader_dies_fanout = {
	"reader-dies-fan-out",
	"one of two readers is killed, the other gets everything",
	setup_reader_dies_fanout,
	begin,
	{ writer_two, mortal_reader_one_by_one, other_reader_two },
	3,
	finish_reader_died
};
