/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_ring.h - the shortest queue there is: one writer, one reader, 64 B copied
 * in and out, head and tail in blocks of their own, the peer's index cached.
 *
 * The floor of a message between spinning ends: no pool, no head, no loan, no
 * fan-out, no sleep, no death, no trust.
 */
#ifndef HB_RAW_RING_H
#define HB_RAW_RING_H

#include "micro.h"

enum { HB_RAW_DEPTH = 64 };

struct hb_ring {                          /* indices run free */
	_Alignas(HB_BLOCK) uint32_t head; /* reader writes */
	_Alignas(HB_BLOCK) uint32_t tail; /* writer writes */
	_Alignas(HB_BLOCK) struct hb_msg slot[HB_RAW_DEPTH];
};

struct hb_end {
	struct hb_ring *ring;
	uint32_t mine, theirs; /* own index; the peer's as last seen */
};

static inline bool
hb_push(struct hb_end *e, const struct hb_msg *m)
{
	if (e->mine - e->theirs == HB_RAW_DEPTH) {
		e->theirs = hr_load32_acquire(&e->ring->head);
		if (e->mine - e->theirs == HB_RAW_DEPTH)
			return false;
	}
	memcpy(&e->ring->slot[e->mine % HB_RAW_DEPTH], m, sizeof *m);
	hr_store32_release(&e->ring->tail, ++e->mine);
	return true;
}

static inline bool
hb_pop(struct hb_end *e, struct hb_msg *m)
{
	if (e->mine == e->theirs) {
		e->theirs = hr_load32_acquire(&e->ring->tail);
		if (e->mine == e->theirs)
			return false;
	}
	memcpy(m, &e->ring->slot[e->mine % HB_RAW_DEPTH], sizeof *m);
	hr_store32_release(&e->ring->head, ++e->mine);
	return true;
}

#endif
