/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_rejoin.c - a reader is gone and another one takes its place.
 *
 * What must hold: the account of the former one is settled before the next one is let
 * in; no slot is under two readers; messages come once and in order; every message is
 * taken, left, abandoned or still queued.
 */
#include "kit.h"
#include "scenarios.h"

static struct hmq_reader *fresh; /* the next reader's handle */
static uint64_t next_at_least;

static void
begin(void)
{
	kit_begin();
	fresh = NULL;
	next_at_least = 0;
}

static const struct hmq_reader_config depth_two = { 2, HMQ_DROP_NEWEST };

static void
setup_unseen(void)
{
	kit_open(3, &depth_two, 1, KIT_DIES_UNSEEN);
}

static void
setup_seen(void)
{
	kit_open(3, &depth_two, 1, KIT_READER_DIES);
}

static void
setup_close(void)
{
	kit_open(3, &depth_two, 1, 0);
}

static void
setup_oldest(void)
{
	static const struct hmq_reader_config one = { 1, HMQ_DROP_OLDEST };

	kit_open(3, &one, 1, KIT_DIES_UNSEEN);
}

static void
writer_three(void)
{
	struct hmq_tx tx;

	for (int i = 0; i < 3; i++) {
		xp_assume(kit_fill(&tx, 1));
		kit_publish(&tx, 1);
	}
}

static void
look_once(struct hmq_reader *r)
{
	struct hmq_rx rx;
	int32_t n = hmq_peek(r, 0, &rx, 1);

	xp_check(n >= 0, "an honest writer is taken for a broken one");
	if (n == 0)
		return;
	xp_check(kit_number(&rx) >= next_at_least, "a message twice, or an older one");
	next_at_least = kit_number(&rx) + 1;
	hmq_take(r, &rx, 1);
	kit.taken[0]++;
}

static void
rejoin(void)
{
	static const struct hmq_peer no_peer = { .event_fd = -1 };

	xp_check(hmq_reader_rejoin(&fresh, &kit.seg, 0, &no_peer, NULL) == 0,
		 "the place was refused");
	look_once(fresh);
	look_once(fresh);
}

static void
former_reader(void)
{
	look_once(kit.r[0]);
}

static void
finish(void)
{
	struct hmq_edge_stat stat;

	if (!fresh)
		return;
	hmq_writer_readers(kit.w); /* lets it in, if nobody did yet */
	look_once(fresh);
	look_once(fresh);
	kit_check_idle();
	hmq_reader_end(fresh);
	xp_check(hmq_writer_readers(kit.w) == kit.n_readers - 1,
		 "a reader that closed is not gone");
	kit_check_account(0);
	xp_check(hmq_chan_stat(&kit.seg, 0, &stat) == 0, "no numbers");
	xp_check(stat.received >= kit.taken[0] && stat.received <= kit.taken[0] + 1,
		 "received is not what was taken");
}

/* ---- the former one is killed ----------------------------------------------------------- */

/* Whoever starts the next one saw the former one die. */
static void
next_reader(void)
{
	xp_assume(hmq_life_is_dead(kit.reader_waiter[0]));
	rejoin();
}

static void
next_reader_lives(void)
{
	xp_assume(hmq_life_is_dead(kit.reader_waiter[0]));
	xp_check(hmq_life_begin(kit.reader_waiter[0]) == 0, "no life after a death");
	rejoin();
}

const struct xp_scenario scenario_rejoin = {
	"rejoin",
	"killed at every step, the writer hears of it from the next reader",
	setup_unseen,
	begin,
	{ writer_three, former_reader, next_reader },
	3,
	finish
};

const struct xp_scenario scenario_rejoin_alive = {
	"rejoin-alive",
	"the writer may see the death, the next reader lives in the same place",
	setup_seen,
	begin,
	{ writer_three, former_reader, next_reader_lives },
	3,
	finish
};

const struct xp_scenario scenario_rejoin_oldest = {
	"rejoin-oldest", "the same with drop_oldest: claims of a dead reader", setup_oldest,
	begin,           { writer_three, former_reader, next_reader },         3,
	finish
};

/* ---- beside another reader -------------------------------------------------------------- */

static void
setup_fanout(void)
{
	static const struct hmq_reader_config readers[] = { { 2, HMQ_DROP_NEWEST },
							    { 2, HMQ_BLOCK } };

	kit_open(3, readers, 2, KIT_DIES_UNSEEN);
}

static void
writer_two(void)
{
	kit_send(1);
	kit_send(1);
}

static void
next_reader_and_another(void)
{
	next_reader();
	kit_take(1, 2);
}

const struct xp_scenario scenario_rejoin_fanout = {
	"rejoin-fan-out",
	"the other reader still holds what the former one held",
	setup_fanout,
	begin,
	{ writer_two, former_reader, next_reader_and_another },
	3,
	finish
};

/* ---- the former one closes -------------------------------------------------------------- */

static void
closes_and_rejoins(void)
{
	look_once(kit.r[0]);
	hmq_reader_end(kit.r[0]);
	rejoin();
}

const struct xp_scenario scenario_rejoin_close = {
	"rejoin-close", "a reader closes and joins again at once", setup_close,
	begin,          { writer_three, closes_and_rejoins },      2,
	finish
};
