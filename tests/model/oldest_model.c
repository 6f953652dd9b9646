/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oldest_model.c - drop_oldest: reader and writer claim at one cursor.
 *
 * Follows claim.c and publish.c.  One cell, so that a new message needs the place of
 * the old one; the cell is plain memory here, so that an order that is missing shows as
 * a race, except that a reader may glance at a cell that is being written: its swap
 * fails then.  A message that was claimed is never overwritten, each is taken or
 * dropped, the newest arrives, and either end may die before any step.
 */
#include "mc.h"

enum { SLOTS = 3, MESSAGES = 3, TRIES = 2, LOOKS = 2 };

static struct mc_atomic tail, head, held[SLOTS], dead;
static struct mc_plain payload[SLOTS], cell;
static uint64_t n_taken, n_dropped, n_sent, last_got, pool[SLOTS], n_pool;
static uint64_t w_tail, w_head, out_of[SLOTS], n_abandoned;
static bool is_settled;

static int r1 = MC_RELEASE, a1 = MC_ACQUIRE;
static int r9 = MC_RELEASE, a9 = MC_ACQUIRE, a2 = MC_ACQUIRE;
static int early_look, plain_claim, keep_byte, drop_newest, drop_unseen, head_first;

static void
setup(void)
{
	mc_atomic_init(&tail, 0);
	mc_atomic_init(&head, 0);
	mc_atomic_init(&dead, 0);
	mc_plain_init(&cell);
	for (uint64_t i = 0; i < SLOTS; i++) {
		mc_atomic_init(&held[i], 0);
		mc_plain_init(&payload[i]);
		pool[i] = i;
		out_of[i] = 0;
	}
	n_pool = SLOTS;
	n_taken = n_dropped = n_sent = last_got = 0;
	w_tail = w_head = n_abandoned = 0;
	is_settled = false;
}

/* ---- the writer ------------------------------------------------------------------------- */

static void
drop(void)
{
	uint64_t slot = mc_read(&cell);

	if (!keep_byte)
		mc_store(&held[slot], 0, MC_RELAXED);
	n_dropped++;
}

/* Room for one in a queue of one; false: this message is not accepted. */
static bool
make_room(void)
{
	uint64_t seen;

	if (w_tail == w_head)
		return true;
	w_head = mc_load(&head, (enum mc_order)a2);
	if (w_tail == w_head)
		return true;
	if (drop_newest)
		return false;
	seen = w_head;
	if (mc_cas(&head, &seen, w_tail, (enum mc_order)a9, (enum mc_order)a9)) {
		drop();
	} else if (drop_unseen) {
		drop();
	}
	w_head = w_tail;
	return true;
}

static void
scan(void)
{
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		if (out_of[slot] && mc_load(&held[slot], MC_ACQUIRE) == 0) {
			out_of[slot] = 0;
			pool[n_pool++] = slot;
		}
}

static void
writer(void)
{
	for (uint64_t t = 1; t <= MESSAGES; t++) {
		uint64_t slot;

		if (n_pool == 0)
			scan();
		mc_assume(n_pool > 0);
		slot = pool[--n_pool];
		mc_write(&payload[slot], t);
		n_sent++;
		if (!make_room())
			continue;
		mc_store(&held[slot], 1, MC_RELAXED);
		mc_write(&cell, slot);
		out_of[slot] = 1;
		w_tail++;
		mc_store(&tail, w_tail, (enum mc_order)r1);
	}
}

/* ---- the reader ------------------------------------------------------------------------- */

/* One message, or SLOTS: none now. */
static uint64_t
claim(void)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t at = head_first ? mc_load(&head, MC_RELAXED) : 0;
		uint64_t to = mc_load(&tail, (enum mc_order)a1);
		uint64_t slot, expected;
		int when;

		if (!head_first)
			at = mc_load(&head, MC_RELAXED);
		if ((int64_t)(to - at) < 0)
			continue;
		mc_check(to - at <= 1, "more is queued than fits");
		if (to == at)
			return SLOTS;
		slot = mc_glance(&cell, &when);
		expected = at;
		if (early_look)
			mc_read(&payload[slot]);
		if (plain_claim) {
			mc_store(&head, at + 1, (enum mc_order)r9);
		} else if (!mc_cas(&head, &expected, at + 1, (enum mc_order)r9, MC_RELAXED)) {
			continue;
		}
		mc_confirm(&cell, when);
		return slot;
	}
	return SLOTS;
}

static void
reader(void)
{
	for (int look = 0; look < LOOKS; look++) {
		uint64_t slot = claim(), got;

		if (slot == SLOTS)
			continue;
		n_taken++;
		got = mc_read(&payload[slot]);
		mc_check(got > last_got, "a message twice, or an older one");
		mc_check(mc_read(&payload[slot]) == got, "overwritten while it was read");
		last_got = got;
		mc_store(&held[slot], 0, MC_RELEASE);
	}
}

static void
finish(void)
{
	uint64_t queued = mc_load(&tail, MC_RELAXED) - mc_load(&head, MC_RELAXED);
	uint64_t n_held = 0;

	mc_check(n_sent == n_taken + n_dropped + queued, "the counts do not add up");
	mc_check(queued == 1 || last_got == MESSAGES, "the newest did not arrive");
	for (uint64_t i = 0; i < SLOTS; i++)
		n_held += mc_load(&held[i], MC_RELAXED);
	mc_check(n_held == queued, "a dropped message still holds its slot");
}

/* ---- deaths ----------------------------------------------------------------------------- */

static void
setup_mortal_reader(void)
{
	setup();
	mc_mortal(1, &dead);
}

static void
writer_that_settles(void)
{
	writer();
	if (mc_load(&dead, MC_ACQUIRE) == 0)
		return;
	n_abandoned = w_tail - mc_load(&head, MC_RELAXED);
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		mc_store(&held[slot], 0, MC_RELAXED);
	scan();
	is_settled = true;
}

static void
finish_mortal_reader(void)
{
	if (!is_settled)
		return;
	mc_check(n_sent == n_taken + n_dropped + n_abandoned, "the counts do not add up");
	mc_check(n_pool == SLOTS, "a dead reader holds a slot");
}

static void
setup_mortal_writer(void)
{
	setup();
	mc_mortal(0, &dead);
}

/* What is left is claimed by the reader alone: all of it is whole. */
static void
reader_to_the_end(void)
{
	reader();
	if (mc_load(&dead, MC_ACQUIRE) == 0)
		return;
	reader();
	is_settled = true;
}

static void
finish_mortal_writer(void)
{
	uint64_t to = mc_load(&tail, MC_RELAXED), at = mc_load(&head, MC_RELAXED);

	mc_check(!is_settled || to == at, "something published was left after the death");
	/* As stat.c counts: what was moved and not claimed was dropped, counted or not. */
	mc_check(n_dropped <= at - n_taken, "more was dropped than is missing");
}

#define N_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

int
main(void)
{
	static const struct mc_model model = { setup, { writer, reader }, 2, finish, 4 };
	static const struct mc_mutation mutations[] = {
		{ "R1 relaxed: publish", &r1, MC_RELAXED },
		{ "A1 relaxed: reader sees tail", &a1, MC_RELAXED },
		{ "R9 relaxed: reader claims", &r9, MC_RELAXED },
		{ "A9 relaxed: writer claims", &a9, MC_RELAXED },
		{ "A2 relaxed: writer sees head", &a2, MC_RELAXED },
		{ "payload read before the claim", &early_look, 1 },
		{ "reader claims by load and store", &plain_claim, 1 },
		{ "held byte of a dropped message kept", &keep_byte, 1 },
		{ "the newest is dropped", &drop_newest, 1 },
		{ "dropped though the reader was faster", &drop_unseen, 1 },
		{ "head read before tail", &head_first, 1 },
	};
	static const struct mc_model reader_dies = {
		setup_mortal_reader, { writer_that_settles, reader }, 2, finish_mortal_reader, 3
	};
	static const struct mc_mutation reader_mutations[] = {
		{ "dropped though the reader was faster", &drop_unseen, 1 },
		{ "reader claims by load and store", &plain_claim, 1 },
	};
	static const struct mc_model writer_dies = {
		setup_mortal_writer, { writer, reader_to_the_end }, 2, finish_mortal_writer, 3
	};
	static const struct mc_mutation writer_mutations[] = {
		{ "A1 relaxed: reader sees tail", &a1, MC_RELAXED },
		{ "R9 relaxed: reader claims", &r9, MC_RELAXED },
	};
	int n_bad = mc_prove("drop_oldest, one cell", &model, mutations, N_OF(mutations));

	n_bad += mc_prove("drop_oldest, the reader dies", &reader_dies, reader_mutations,
			  N_OF(reader_mutations));
	n_bad += mc_prove("drop_oldest, the writer dies", &writer_dies, writer_mutations,
			  N_OF(writer_mutations));
	return n_bad > 0;
}
