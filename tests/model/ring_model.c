/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_model.c - one writer, one reader: the index ring, the held byte and the hints.
 *
 * Follows publish.c, reader.c and pool.c access by access.  Cells and hints are
 * relaxed atomics there (a hostile peer may race); here they are plain memory, so
 * that an order that is missing shows as a race.  The word of the newest message may be
 * seen at any age; its turn says of which message it is.  Three shapes: few cells and more
 * slots, so that cells are what is reused; the other way round; and with that word, which
 * stands in for the cell where a reader asks for one message.
 */
#include "mc.h"

enum { MAX = 3 }; /* of each of the three numbers below */

static uint64_t n_slots, depth, n_messages;

static struct mc_atomic tail, newest, head, free_tail, held[MAX];
static struct mc_plain cell[MAX], payload[MAX], hint[MAX];
static uint64_t got[MAX], n_got;
static uint64_t pool[2 * MAX], n_pool, free_head;

static int r1 = MC_RELEASE, a1 = MC_ACQUIRE;
static int r2 = MC_RELEASE, a2 = MC_ACQUIRE;
static int r3 = MC_RELEASE, a3 = MC_ACQUIRE;
static int looks_at_newest; /* else at more than one message, which it finds in their cells */
static int extra_room, late_held, early_hint, early_head, any_turn;

enum { TURN = 16 }; /* newest: turn * TURN + slot; 0 is of no message, turns count from 1 */

static void
setup(void)
{
	mc_atomic_init(&tail, 0);
	mc_atomic_init(&newest, 0);
	mc_atomic_init(&head, 0);
	mc_atomic_init(&free_tail, 0);
	for (uint64_t i = 0; i < MAX; i++) {
		mc_atomic_init(&held[i], 0);
		mc_plain_init(&payload[i]);
		mc_plain_init(&cell[i]);
		mc_plain_init(&hint[i]);
		pool[i] = i;
	}
	n_pool = n_slots;
	n_got = free_head = 0;
}

static void
collect(void)
{
	uint64_t to = mc_load(&free_tail, (enum mc_order)a3);

	for (; free_head < to; free_head++) {
		uint64_t slot = mc_read(&hint[free_head]);

		if (mc_load(&held[slot], MC_ACQUIRE) == 0)
			pool[n_pool++] = slot;
	}
}

static void
writer(void)
{
	for (uint64_t t = 0; t < n_messages; t++) {
		mc_assume(t - mc_load(&head, (enum mc_order)a2) < depth + (uint64_t)extra_room);
		if (n_pool == 0)
			collect();
		mc_assume(n_pool > 0);
		uint64_t slot = pool[--n_pool];

		mc_write(&payload[slot], 100 + t);
		if (!late_held)
			mc_store(&held[slot], 1, MC_RELAXED);
		mc_write(&cell[t % depth], slot);
		if (looks_at_newest)
			mc_store(&newest, (t + 1) * TURN + slot, MC_RELAXED);
		mc_store(&tail, t + 1, (enum mc_order)r1);
		if (late_held)
			mc_store(&held[slot], 1, MC_RELAXED);
	}
	collect(); /* an early look must not lose a slot */
}

static void
give_hint(uint64_t h, uint64_t slot)
{
	mc_write(&hint[h], slot);
	mc_store(&free_tail, h + 1, (enum mc_order)r3);
}

/* Of message h, which is there. */
static uint64_t
find_slot(uint64_t h)
{
	uint64_t word = looks_at_newest ? mc_load(&newest, MC_RELAXED) : 0;

	return any_turn || word / TURN == h + 1 ? word % TURN : mc_read(&cell[h % depth]);
}

/* hmq_advance before hmq_release: the cell is given back first, the slot later. */
static void
reader(void)
{
	for (uint64_t h = 0; h < n_messages; h++) {
		mc_assume(mc_load(&tail, (enum mc_order)a1) > h);
		if (early_head)
			mc_store(&head, h + 1, (enum mc_order)r2);
		uint64_t slot = find_slot(h);

		if (!early_head)
			mc_store(&head, h + 1, (enum mc_order)r2);
		got[n_got++] = mc_read(&payload[slot]);
		if (early_hint)
			give_hint(h, slot);
		mc_store(&held[slot], 0, MC_RELEASE);
		if (!early_hint)
			give_hint(h, slot);
	}
}

static void
finish(void)
{
	for (uint64_t i = 0; i < n_messages; i++)
		mc_check(got[i] == 100 + i, "wrong order or lost");
	collect();
	mc_check(n_pool == n_slots, "a slot never came back");
}

#define N_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

int
main(void)
{
	static const struct mc_model model = { setup, { writer, reader }, 2, finish, 1000 };
	static const struct mc_mutation cell_mutations[] = {
		{ "R1 relaxed: publish", &r1, MC_RELAXED },
		{ "A1 relaxed: reader sees tail", &a1, MC_RELAXED },
		{ "R2 relaxed: reader moves head", &r2, MC_RELAXED },
		{ "A2 relaxed: writer sees head", &a2, MC_RELAXED },
		{ "room of one too many", &extra_room, 1 },
		{ "head moved before the cell is read", &early_head, 1 },
	};
	static const struct mc_mutation slot_mutations[] = {
		{ "R1 relaxed: publish", &r1, MC_RELAXED },
		{ "A1 relaxed: reader sees tail", &a1, MC_RELAXED },
		{ "R3 relaxed: reader gives hints", &r3, MC_RELAXED },
		{ "A3 relaxed: writer sees hints", &a3, MC_RELAXED },
		{ "held byte set after the index is published", &late_held, 1 },
		{ "hint given before the held byte is cleared", &early_hint, 1 },
	};
	static const struct mc_mutation newest_mutations[] = {
		{ "R1 relaxed: publish", &r1, MC_RELAXED },
		{ "A1 relaxed: reader sees tail", &a1, MC_RELAXED },
		{ "newest taken for another message", &any_turn, 1 },
	};
	int n_bad;

	n_slots = 3, depth = 1, n_messages = 2;
	n_bad = mc_prove("ring: one cell, three slots", &model, cell_mutations,
			 N_OF(cell_mutations));
	n_slots = 1, depth = 2, n_messages = 2;
	n_bad +=
		mc_prove("ring: two cells, one slot", &model, slot_mutations, N_OF(slot_mutations));
	looks_at_newest = 1;
	n_slots = 2, depth = 2, n_messages = 2;
	n_bad += mc_prove("ring: newest, two cells, two slots", &model, newest_mutations,
			  N_OF(newest_mutations));
	return n_bad > 0;
}
