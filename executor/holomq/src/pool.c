/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - how slots come back to the writer.
 *
 * The truth is held[reader][slot]: the writer sets the byte before the slot enters
 * the reader's ring, the reader clears it on release.  A slot is free when its
 * column is zero; no count and no list is shared, so a kill between any two steps
 * leaves nothing inconsistent.  The free ring of each reader is a hint where to
 * look.  A wrong, stale or repeated hint costs a look and changes nothing.
 *
 * The rings never overflow between honest peers: between two looks of the writer at
 * a ring a slot is hinted at most twice, once for a release that a scan found before
 * its hint was visible and once for the next use; hence 2 * slots cells.  Should a
 * peer run past that, the ring is skipped and the rows are scanned.
 */
#include "writer.h"

/* A reader found gone does not count: its row is never looked at again. */
static int
is_unheld(const struct hmq_writer *w, uint32_t slot)
{
	for (uint32_t i = 0; i < w->n_readers; i++) {
		const struct hmq_out *o = &w->out[i];

		/* A4: the reader is done reading the payload; pairs with R4 in give_back */
		if (o->fate == HMQ_FATE_OPEN &&
		    hmq_load_acquire_u8(hmq_held_of(o->held, slot)) != 0)
			return 0;
	}
	return 1;
}

void
hmq_pool_take_back(struct hmq_writer *w, uint32_t slot)
{
	if (w->state[slot] != HMQ_SLOT_OUT || !is_unheld(w, slot))
		return;
	w->n_out--;
	hmq_pool_push(w, slot);
}

void
hmq_pool_scan(struct hmq_writer *w)
{
	for (uint32_t slot = 0; slot < w->slots; slot++)
		hmq_pool_take_back(w, slot);
}

/* Look at the hints from..to of one ring. */
static void
follow_hints(struct hmq_writer *w, const struct hmq_out *o, uint64_t from, uint64_t to)
{
	const uint32_t *const ring = o->free_ring;
	const uint32_t mask = w->free_mask, slots = w->slots;

	for (; from != to; from++) {
		/* relaxed: ordered by A3, and checked before use */
		uint32_t slot = hmq_load_relaxed_u32(&ring[from & mask]);

		if (slot < slots)
			hmq_pool_take_back(w, slot);
	}
}

/* The same with one reader, whose byte is the whole column: the usual case in one loop. */
static void
follow_hints_of_one(struct hmq_writer *w, const struct hmq_out *o, uint64_t from, uint64_t to)
{
	const uint32_t *const ring = o->free_ring;
	const uint32_t mask = w->free_mask, slots = w->slots, before = w->n_free;
	const struct hmq_held held = o->held;
	uint8_t *const state = w->state;
	uint32_t *top = w->free + before;

	for (; from != to; from++) {
		/* relaxed: ordered by A3, and checked before use */
		uint32_t slot = hmq_load_relaxed_u32(&ring[from & mask]);

		/* A4: as in is_unheld */
		if (slot >= slots || state[slot] != HMQ_SLOT_OUT ||
		    hmq_load_acquire_u8(hmq_held_of(held, slot)) != 0)
			continue;
		state[slot] = HMQ_SLOT_FREE;
		*top++ = slot;
	}
	w->n_free = (uint32_t)(top - w->free);
	w->n_out -= w->n_free - before;
}

void
hmq_pool_collect(struct hmq_writer *w)
{
	for (uint32_t i = 0; i < w->n_readers; i++) {
		struct hmq_out *o = &w->out[i];

		if (o->fate != HMQ_FATE_OPEN)
			continue;
		/* A3: sees the hints and the cleared bytes; pairs with R3 in give_back */
		uint64_t from = o->free_head, tail = hmq_load_acquire_u64(&o->row->free_tail);

		o->free_head = tail;
		if (tail - from > (uint64_t)w->free_mask + 1)
			hmq_pool_scan(w);
		else if (w->n_readers == 1)
			follow_hints_of_one(w, o, from, tail);
		else
			follow_hints(w, o, from, tail);
	}
}
