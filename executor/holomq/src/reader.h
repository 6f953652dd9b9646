/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the reader's handle: what it keeps in memory of its own.
 *
 * One thread at a time owns it, so its fields are plain.  Nothing in it was taken
 * from shared memory without a check.
 */
#ifndef HMQ_READER_H
#define HMQ_READER_H

#include <errno.h>

#include "atomic.h"
#include "layout.h"

enum hmq_stop {
	HMQ_STOP_ENDED = 1,   /* this reader has */
	HMQ_STOP_OUTSIDE = 2, /* the writer has not let it in yet */
};

struct hmq_reader {
	struct hmq_row *row;
	struct hmq_held held;
	uint32_t *free_ring;
	const uint8_t *first; /* payload of slot 0 */
	uint64_t stride;
	uint64_t capacity;
	uint64_t head;
	uint64_t tail;   /* as last seen: head <= tail <= head + depth */
	uint64_t newest; /* as seen with tail */
	uint64_t free_tail;
	uint32_t slots;
	uint32_t depth;
	uint32_t mask;
	uint32_t free_mask;
	uint32_t max_queued;
	int32_t stop; /* 0, -EBADMSG: the writer wrote nonsense, or enum hmq_stop */
	uint32_t ticket;
	/* drop_oldest only: a ring of mask + 1 slots that were claimed and not taken yet. */
	uint32_t *mine; /* NULL: another policy */
	uint32_t mine_head;
	uint32_t n_mine;
	uint64_t claimed;
	struct hmq_peer peer;
};

/* The writer wrote nonsense: nothing of it is believed any more; -EBADMSG. */
static inline int
hmq_reader_break(struct hmq_reader *r)
{
	r->stop = -EBADMSG;
	r->tail = r->head;
	r->n_mine = 0;
	return -EBADMSG;
}

static inline void
hmq_reader_note(struct hmq_reader *r, uint64_t queued)
{
	if (queued <= r->max_queued)
		return;
	r->max_queued = (uint32_t)queued;
	/* relaxed: a number for tools, only the reader writes it */
	hmq_store_relaxed_u32(&r->row->max_queued_seen, r->max_queued);
}

/* claim.c: claim up to `want` more; 0 or -EBADMSG. */
int hmq_reader_claim(struct hmq_reader *r, uint32_t want);
/* claim.c: queued and not claimed. */
uint32_t hmq_reader_unclaimed(struct hmq_reader *r);

#endif /* HMQ_READER_H */
