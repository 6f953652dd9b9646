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
		if (o->fate == HMQ_FATE_OPEN && hmq_load_acquire_u8(&o->held[slot]) != 0)
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

void
hmq_pool_collect(struct hmq_writer *w)
{
	for (uint32_t i = 0; i < w->n_readers; i++) {
		struct hmq_out *o = &w->out[i];

		if (o->fate != HMQ_FATE_OPEN)
			continue;
		/* A3: sees the hints and the cleared bytes; pairs with R3 in give_back */
		uint64_t tail = hmq_load_acquire_u64(&o->row->free_tail);

		if (tail - o->free_head > (uint64_t)w->free_mask + 1) {
			o->free_head = tail;
			hmq_pool_scan(w);
			continue;
		}
		for (; o->free_head != tail; o->free_head++) {
			/* relaxed: ordered by A3, and checked before use */
			uint32_t slot =
				hmq_load_relaxed_u32(&o->free_ring[o->free_head & w->free_mask]);

			if (slot < w->slots)
				hmq_pool_take_back(w, slot);
		}
	}
}
