/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fanout_model.c - one slot, two readers: when is the slot free?
 *
 * The writer looks at the column of held bytes when either reader hints.  The hint
 * of the other one may not be visible yet, so it is the byte itself that must order
 * that reader's payload accesses before the reuse (A4, R4).
 */
#include "mc.h"

enum { READERS = 2, MESSAGES = 2, LOOKS = 2 };

static struct mc_atomic tail[READERS], free_tail[READERS], held[READERS];
static struct mc_plain payload;
static uint64_t got[READERS][MESSAGES], free_head[READERS];
static int is_free;

static int r4 = MC_RELEASE, a4 = MC_ACQUIRE;
static int trust_hint, early_hint, late_held, one_row;

static void
setup(void)
{
	for (int i = 0; i < READERS; i++) {
		mc_atomic_init(&tail[i], 0);
		mc_atomic_init(&free_tail[i], 0);
		mc_atomic_init(&held[i], 0);
		free_head[i] = 0;
	}
	mc_plain_init(&payload);
	is_free = 1;
}

static int
is_unheld(void)
{
	for (int i = 0; i < READERS - one_row; i++)
		if (mc_load(&held[i], (enum mc_order)a4) != 0)
			return 0;
	return 1;
}

static void
collect(void)
{
	for (int i = 0; i < READERS; i++) {
		uint64_t to = mc_load(&free_tail[i], MC_ACQUIRE);

		for (; free_head[i] < to; free_head[i]++)
			if (!is_free && (trust_hint || is_unheld()))
				is_free = 1;
	}
}

static void
writer(void)
{
	for (uint64_t t = 0; t < MESSAGES; t++) {
		for (int look = 0; look < LOOKS && !is_free; look++)
			collect();
		mc_assume(is_free);
		is_free = 0;
		mc_write(&payload, 100 + t);
		for (int i = 0; i < READERS; i++) {
			if (!late_held)
				mc_store(&held[i], 1, MC_RELAXED);
			mc_store(&tail[i], t + 1, MC_RELEASE);
			if (late_held)
				mc_store(&held[i], 1, MC_RELAXED);
		}
	}
	collect(); /* an early look must not lose the slot */
}

static void
read_all(int me)
{
	for (uint64_t h = 0; h < MESSAGES; h++) {
		mc_assume(mc_load(&tail[me], MC_ACQUIRE) > h);
		got[me][h] = mc_read(&payload);
		if (early_hint)
			mc_store(&free_tail[me], h + 1, MC_RELEASE);
		mc_store(&held[me], 0, (enum mc_order)r4);
		if (!early_hint)
			mc_store(&free_tail[me], h + 1, MC_RELEASE);
	}
}

static void
first_reader(void)
{
	read_all(0);
}

static void
second_reader(void)
{
	read_all(1);
}

static void
finish(void)
{
	for (int i = 0; i < READERS; i++)
		for (uint64_t h = 0; h < MESSAGES; h++)
			mc_check(got[i][h] == 100 + h, "wrong message");
	collect();
	mc_check(is_free, "the slot never came back");
}

int
main(void)
{
	static const struct mc_model model = {
		setup, { writer, first_reader, second_reader }, 3, finish, 4
	};
	static const struct mc_mutation mutations[] = {
		{ "R4 relaxed: reader clears its byte", &r4, MC_RELAXED },
		{ "A4 relaxed: writer looks at the column", &a4, MC_RELAXED },
		{ "a hint is trusted without a look", &trust_hint, 1 },
		{ "hint given before the byte is cleared", &early_hint, 1 },
		{ "byte set after the index is published", &late_held, 1 },
		{ "only one row is looked at", &one_row, 1 },
	};

	return mc_prove("held rows, two readers", &model, mutations,
			sizeof(mutations) / sizeof(mutations[0])) > 0;
}
