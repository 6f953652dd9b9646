/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventcount_model.c - both ends sleep, over a queue of one message.
 *
 * Follows hmq_waiter_prepare, _cancel, _wait and hmq_wake.  The explorer's futex
 * puts a thread to sleep; an execution that ends with a sleeper is a lost wake-up.
 * A release add and an acquire or are enough: whichever comes second sees the other.
 */
#include "mc.h"

enum { MESSAGES = 2, SLEEPS = 1, TRIES = 3 };

struct end {
	struct mc_atomic word; /* of its waiter */
	struct mc_atomic cursor;
};

static struct end w, r;
static struct mc_plain payload;
static uint64_t got[MESSAGES];

static int r7 = MC_RELEASE, a7 = MC_ACQUIRE;
static int r1 = MC_RELEASE;
static int plain_look, no_recheck, wake_first, one_wake = 2, no_wake_back;

static void
setup(void)
{
	mc_atomic_init(&w.word, 0);
	mc_atomic_init(&w.cursor, 0);
	mc_atomic_init(&r.word, 0);
	mc_atomic_init(&r.cursor, 0);
	mc_plain_init(&payload);
}

static void
wake(struct mc_atomic *word)
{
	uint64_t before;

	if (plain_look)
		before = mc_load(word, MC_ACQUIRE);
	else
		before = mc_add(word, (uint64_t)one_wake, (enum mc_order)r7);
	if (before & SLEEPS)
		mc_wake(word);
}

/* Until the other end's cursor is at least `least`. */
static void
wait_for(struct mc_atomic *word, struct mc_atomic *cursor, uint64_t least)
{
	for (int i = 0; i < TRIES; i++) {
		if (mc_load(cursor, MC_ACQUIRE) >= least)
			return;
		uint64_t value = mc_or(word, SLEEPS, (enum mc_order)a7) | SLEEPS;

		if (!no_recheck && mc_load(cursor, MC_ACQUIRE) >= least) {
			mc_and(word, ~(uint64_t)SLEEPS, MC_RELAXED);
			return;
		}
		mc_sleep(word, value);
		mc_and(word, ~(uint64_t)SLEEPS, MC_RELAXED);
	}
	mc_assume(false);
}

static void
writer(void)
{
	for (uint64_t t = 0; t < MESSAGES; t++) {
		wait_for(&w.word, &r.cursor, t);
		mc_write(&payload, 100 + t);
		if (wake_first)
			wake(&r.word);
		mc_store(&w.cursor, t + 1, (enum mc_order)r1);
		if (!wake_first)
			wake(&r.word);
	}
}

static void
reader(void)
{
	for (uint64_t h = 0; h < MESSAGES; h++) {
		wait_for(&r.word, &w.cursor, h + 1);
		got[h] = mc_read(&payload);
		mc_store(&r.cursor, h + 1, MC_RELEASE);
		if (!no_wake_back)
			wake(&w.word);
	}
}

static void
finish(void)
{
	for (uint64_t h = 0; h < MESSAGES; h++)
		mc_check(got[h] == 100 + h, "wrong message");
}

int
main(void)
{
	static const struct mc_model model = { setup, { writer, reader }, 2, finish, 4 };
	static const struct mc_mutation mutations[] = {
		{ "R7 relaxed: the waker's add", &r7, MC_RELAXED },
		{ "A7 relaxed: the sleeper's or", &a7, MC_RELAXED },
		{ "R1 relaxed: publish", &r1, MC_RELAXED },
		{ "the waker loads instead of adding", &plain_look, 1 },
		{ "no second look before sleeping", &no_recheck, 1 },
		{ "wake before publishing", &wake_first, 1 },
		{ "a wake does not change the value", &one_wake, 0 },
		{ "release does not wake the writer", &no_wake_back, 1 },
	};

	return mc_prove("event count, both ends sleep", &model, mutations,
			sizeof(mutations) / sizeof(mutations[0])) > 0;
}
