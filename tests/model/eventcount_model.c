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

/* ---- the writer dies, also between its publish and its wake ------------------------------ */

static struct mc_atomic dead;
static uint64_t n_got;
static int no_supervisor, blind_sleep, wake_without_mark;

static void
setup_mortal(void)
{
	setup();
	mc_atomic_init(&dead, 0);
	mc_mortal(0, &dead);
	n_got = 0;
}

static void
mortal_writer(void)
{
	mc_write(&payload, 100);
	mc_store(&w.cursor, 1, MC_RELEASE);
	wake(&r.word);
}

/* 1: a message, 2: the writer is lost and nothing is there. */
static int
look(void)
{
	uint64_t is_dead = mc_load(&dead, MC_ACQUIRE);

	if (n_got == 0 && mc_load(&w.cursor, MC_ACQUIRE) == 1) {
		mc_check(mc_read(&payload) == 100, "half a message was seen");
		n_got = 1;
		return 1;
	}
	return is_dead ? 2 : 0;
}

/* It wants to know the end: there is no clean one here, so only death ends its wait. */
static void
reader_of_a_mortal_writer(void)
{
	for (int i = 0; i < TRIES; i++) {
		int found = look();

		if (found == 0) {
			uint64_t value = mc_or(&r.word, SLEEPS, (enum mc_order)a7) | SLEEPS;

			found = blind_sleep ? 0 : look();
			if (found == 0)
				mc_sleep(&r.word, value);
			mc_and(&r.word, ~(uint64_t)SLEEPS, MC_RELAXED);
		}
		if (found == 2 || (found == 1 && mc_load(&dead, MC_ACQUIRE) == 0))
			return;
	}
}

/* Told of the death by the pidfd, it wakes those who may wait for the dead. */
static void
supervisor(void)
{
	if (!wake_without_mark)
		mc_assume(mc_load(&dead, MC_ACQUIRE) == 1);
	if (!no_supervisor)
		wake(&r.word);
}

static void
finish_mortal(void)
{
	mc_check(n_got == mc_load(&w.cursor, MC_RELAXED), "something published was not read");
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

	static const struct mc_model death = { setup_mortal,
					       { mortal_writer, reader_of_a_mortal_writer,
						 supervisor },
					       3,
					       finish_mortal,
					       4 };
	static const struct mc_mutation death_mutations[] = {
		{ "nobody wakes for the dead", &no_supervisor, 1 },
		{ "no second look before sleeping", &blind_sleep, 1 },
		{ "woken before the death is a fact", &wake_without_mark, 1 },
		{ "R7 relaxed: the waker's add", &r7, MC_RELAXED },
	};
	int n_bad = mc_prove("event count, both ends sleep", &model, mutations,
			     sizeof(mutations) / sizeof(mutations[0]));

	n_bad += mc_prove("event count, the waker dies", &death, death_mutations,
			  sizeof(death_mutations) / sizeof(death_mutations[0]));
	return n_bad > 0;
}
