/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_oldest.c - drop_oldest: writer and reader claim at one cursor.
 *
 * What must hold: what was shown is never overwritten, each message is taken or
 * dropped and counted once, the newest arrives, dropped messages hold no slot; also
 * when either end is killed at any step.
 */
#include "kit.h"
#include "scenarios.h"

enum { LOOKS = 2 };

static uint64_t next_at_least; /* the least number the reader may still be shown */
static uint32_t heard;

static void
begin(void)
{
	kit_begin();
	next_at_least = 0;
	heard = HMQ_OPEN;
}

static void
setup_one(void)
{
	static const struct hmq_reader_config one = { 1, HMQ_DROP_OLDEST };

	kit_open(2, &one, 1, 0);
}

static void
setup_two(void)
{
	static const struct hmq_reader_config two = { 2, HMQ_DROP_OLDEST };

	kit_open(4, &two, 1, 0);
}

static void
setup_writer_dies(void)
{
	static const struct hmq_reader_config one = { 1, HMQ_DROP_OLDEST };

	kit_open(3, &one, 1, KIT_WRITER_DIES);
}

static void
setup_reader_dies(void)
{
	static const struct hmq_reader_config one = { 1, HMQ_DROP_OLDEST };

	kit_open(3, &one, 1, KIT_READER_DIES);
}

/* n messages of which none waits for room; slots may be missing for a while. */
static void
send_all(int n)
{
	struct hmq_tx tx;

	for (int i = 0; i < n; i++) {
		xp_assume(kit_fill(&tx, 1));
		kit_publish(&tx, 1);
	}
}

static void
writer_two(void)
{
	send_all(2);
}

static void
writer_three(void)
{
	send_all(3);
}

static void
writer_batches(void)
{
	struct hmq_tx tx[2];

	for (int i = 0; i < 2; i++) {
		xp_assume(kit_fill(tx, 2));
		kit_publish(tx, 2);
	}
}

/* One look; what is there is read twice, with time in between, and given back. */
static void
look_once(uint32_t n)
{
	struct hmq_rx rx[2];
	int32_t there = hmq_peek(kit.r[0], 0, rx, n);

	xp_check(there >= 0, "an honest writer is taken for a broken one");
	for (int32_t i = 0; i < there; i++) {
		xp_check(kit_number(&rx[i]) >= next_at_least, "a message twice, or an older one");
		next_at_least = kit_number(&rx[i]) + 1;
		hmq_take(kit.r[0], &rx[i], 1);
		kit.taken[0]++;
	}
}

static void
reader(void)
{
	for (int i = 0; i < LOOKS; i++)
		look_once(1);
}

static void
reader_of_batches(void)
{
	look_once(2);
	look_once(2);
}

static void
check_counts(void)
{
	struct hmq_edge_stat stat;

	xp_check(hmq_chan_stat(&kit.seg, 0, &stat) == 0, "no numbers");
	xp_check(stat.received == kit.taken[0], "received is not what was taken");
	xp_check(stat.received + stat.lost + stat.queued + stat.left + stat.abandoned == stat.sent,
		 "the counts do not add up");
}

/* What is still queued is there to be taken, the newest last; then every slot is back. */
static void
finish(void)
{
	check_counts();
	kit_check_account(0);
	for (int i = 0; i < 3; i++)
		look_once(1);
	xp_check(next_at_least == kit.sent, "the newest did not arrive");
	check_counts();
	kit_check_idle();
}

const struct xp_scenario scenario_oldest = { "oldest", "depth 1, 2 slots, 3 messages", setup_one,
					     begin,    { writer_three, reader },       2,
					     finish };

const struct xp_scenario scenario_oldest_batch = {
	"oldest-batch", "depth 2, 4 slots, two batches of 2",  setup_two,
	begin,          { writer_batches, reader_of_batches }, 2,
	finish
};

/* ---- deaths ----------------------------------------------------------------------------- */

static void
reader_to_the_end(void)
{
	look_once(1);
	while (true) {
		heard = hmq_reader_state(kit.r[0]);
		if (heard == HMQ_LOST)
			return;
		xp_assume(heard == HMQ_OPEN && hmq_queued(kit.r[0]) > 0);
		look_once(1);
	}
}

static void
finish_writer_died(void)
{
	struct hmq_edge_stat stat;

	check_counts();
	hmq_chan_stat(&kit.seg, 0, &stat);
	xp_check(stat.queued == 0, "lost was told before the last message");
}

const struct xp_scenario scenario_oldest_writer_dies = {
	"oldest-writer-dies",
	"the writer is killed at every step of 2 messages",
	setup_writer_dies,
	begin,
	{ writer_two, reader_to_the_end },
	2,
	finish_writer_died
};

static void
mortal_reader(void)
{
	look_once(1);
}

static void
finish_reader_died(void)
{
	struct hmq_edge_stat stat;

	if (!xp_is_dead(1))
		return;
	xp_check(hmq_writer_readers(kit.w) == 0, "a dead reader is not gone");
	kit_check_idle();
	kit_check_account(0);
	hmq_chan_stat(&kit.seg, 0, &stat);
	xp_check(stat.received >= kit.taken[0], "what was taken is not received");
}

const struct xp_scenario scenario_oldest_reader_dies = {
	"oldest-reader-dies",
	"the reader is killed at every step of one look",
	setup_reader_dies,
	begin,
	{ writer_three, mortal_reader },
	2,
	finish_reader_died
};

/* ---- close ------------------------------------------------------------------------------ */

static void
reader_closes(void)
{
	struct hmq_rx rx;

	hmq_peek(kit.r[0], 0, &rx, 1); /* claimed, and given back by the close */
	hmq_reader_end(kit.r[0]);
}

static void
finish_closed(void)
{
	xp_check(hmq_writer_readers(kit.w) == 0, "a reader that closed is not gone");
	kit_check_idle();
	kit_check_account(0);
	check_counts();
}

const struct xp_scenario scenario_oldest_close = {
	"oldest-close",
	"a reader claims one and closes without taking it",
	setup_one,
	begin,
	{ writer_three, reader_closes },
	2,
	finish_closed
};
