/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_wait.c - ends that sleep: no wake-up is lost.
 *
 * The sleeper tries, announces, looks again, sleeps without a deadline.  When all who
 * are left sleep, a wake-up was lost; the explorer reports that by itself.
 */
#include "kit.h"
#include "scenarios.h"

static void
finish_idle(void)
{
	kit_check_idle();
	kit_check_account(0);
}

/* Sleep until is_there() says so. */
static void
wait_until(bool (*is_there)(void), struct hmq_waiter *w)
{
	while (!is_there()) {
		uint32_t value = hmq_waiter_prepare(w);

		if (is_there()) {
			hmq_waiter_cancel(w);
			return;
		}
		hmq_waiter_wait(w, value, INT64_MAX);
	}
}

static bool
has_message(void)
{
	return hmq_queued(kit.r[0]) > 0;
}

static bool
has_room(void)
{
	struct hmq_tx tx;

	if (hmq_room(kit.w) == 0 || hmq_loan(kit.w, &tx, 1) == 0)
		return false;
	hmq_cancel(kit.w, &tx, 1);
	return true;
}

static void
sleeping_writer(void)
{
	struct hmq_tx tx;

	for (int i = 0; i < 2; i++) {
		wait_until(has_room, kit.writer_waiter);
		xp_check(kit_fill(&tx, 1), "a slot that was there is not");
		kit_publish(&tx, 1);
	}
}

static void
sleeping_reader(void)
{
	for (int i = 0; i < 2; i++) {
		wait_until(has_message, kit.reader_waiter[0]);
		kit_take(0, 1);
	}
}

static void
spinning_writer(void)
{
	kit_send(1);
	kit_send(1);
}

/* It takes one and goes: whoever sleeps then sleeps for ever. */
static void
reader_of_one(void)
{
	kit_take(0, 1);
}

static void
finish_all_sent(void)
{
	xp_check(kit.sent == 2, "the writer did not get on");
	kit_check_account(0);
}

static const struct hmq_reader_config depth_one = { 1, HMQ_BLOCK };
static const struct hmq_reader_config depth_two = { 2, HMQ_BLOCK };

static void
setup_reader_sleeps(void)
{
	kit_open(2, &depth_two, 1, KIT_READERS_SLEEP);
}

static void
setup_writer_sleeps(void)
{
	kit_open(1, &depth_one, 1, KIT_WRITER_SLEEPS);
}

static void
setup_both_sleep(void)
{
	kit_open(1, &depth_one, 1, KIT_READERS_SLEEP | KIT_WRITER_SLEEPS);
}

const struct xp_scenario scenario_sleep = {
	"sleep",    "the reader sleeps, 2 messages",      setup_reader_sleeps,
	kit_begin,  { spinning_writer, sleeping_reader }, 2,
	finish_idle
};

const struct xp_scenario scenario_sleep_writer = {
	"sleep-writer",
	"the writer sleeps for room and for the only slot",
	setup_writer_sleeps,
	kit_begin,
	{ sleeping_writer, reader_of_one },
	2,
	finish_all_sent
};

const struct xp_scenario scenario_sleep_both = {
	"sleep-both", "both ends sleep, depth 1, one slot", setup_both_sleep,
	kit_begin,    { sleeping_writer, sleeping_reader }, 2,
	finish_idle
};

/* ---- an eventfd in place of a futex ----------------------------------------------------- */

static void
setup_event_fd(void)
{
	kit_open(2, &depth_two, 1, KIT_READERS_SLEEP | KIT_EVENT_FD);
}

static void
reader_on_event_fd(void)
{
	for (int i = 0; i < 2; i++) {
		while (!has_message()) {
			hmq_waiter_prepare(kit.reader_waiter[0]);
			if (!has_message())
				xp_event_wait(KIT_FD);
			hmq_waiter_cancel(kit.reader_waiter[0]);
		}
		kit_take(0, 1);
	}
}

const struct xp_scenario scenario_event_fd = {
	"event-fd", "the reader sleeps in its epoll set",    setup_event_fd,
	kit_begin,  { spinning_writer, reader_on_event_fd }, 2,
	finish_idle
};

/* ---- ends wake -------------------------------------------------------------------------- */

static void
writer_ends(void)
{
	kit_send(1);
	hmq_writer_end(kit.w);
}

static bool
has_message_or_end(void)
{
	return hmq_reader_state(kit.r[0]) != HMQ_OPEN || has_message();
}

static void
reader_sleeps_to_the_end(void)
{
	while (true) {
		wait_until(has_message_or_end, kit.reader_waiter[0]);
		if (hmq_reader_state(kit.r[0]) == HMQ_ENDED)
			break;
		kit_take(0, 1);
	}
	xp_check(kit.taken[0] == 1, "ended before the last message");
}

const struct xp_scenario scenario_sleep_end = {
	"sleep-end", "the end of stream wakes a sleeping reader", setup_reader_sleeps,
	kit_begin,   { writer_ends, reader_sleeps_to_the_end },   2,
	finish_idle
};

static void
reader_closes(void)
{
	hmq_reader_end(kit.r[0]);
}

const struct xp_scenario scenario_sleep_close = {
	"sleep-close",
	"a reader that closes wakes the writer that waits for room",
	setup_writer_sleeps,
	kit_begin,
	{ sleeping_writer, reader_closes },
	2,
	finish_idle
};

/* ---- two readers of one worker ---------------------------------------------------------- */

static void
setup_two_readers(void)
{
	static const struct hmq_reader_config readers[] = { { 1, HMQ_BLOCK }, { 1, HMQ_BLOCK } };

	kit_open(2, readers, 2, KIT_READERS_SLEEP);
}

static void
writer_one(void)
{
	kit_send(1);
}

static bool
has_message_1(void)
{
	return hmq_queued(kit.r[1]) > 0;
}

static void
sleeping_reader_0(void)
{
	wait_until(has_message, kit.reader_waiter[0]);
	kit_take(0, 1);
}

static void
sleeping_reader_1(void)
{
	wait_until(has_message_1, kit.reader_waiter[1]);
	kit_take(1, 1);
}

const struct xp_scenario scenario_sleep_fanout = { "sleep-fan-out",
						   "one message wakes two readers",
						   setup_two_readers,
						   kit_begin,
						   { writer_one, sleeping_reader_0,
						     sleeping_reader_1 },
						   3,
						   finish_idle };
