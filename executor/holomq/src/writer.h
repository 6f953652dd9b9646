/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - the writer's handle: what it keeps in memory of its own.
 *
 * One thread at a time owns it, so its fields are plain.  Cursors the writer alone
 * moves are kept here and only stored to shared memory; a peer that scribbles on
 * them confuses itself.
 */
#ifndef HMQ_WRITER_H
#define HMQ_WRITER_H

#include "atomic.h"
#include "layout.h"

enum hmq_slot_state {
	HMQ_SLOT_FREE = 0,
	HMQ_SLOT_LOANED = 1,
	HMQ_SLOT_OUT = 2,     /* published: some reader may hold it */
	HMQ_SLOT_CLAIMED = 3, /* on loan, in the batch being published: no scan takes it back */
};

struct hmq_out { /* one reader, seen from the writer */
	struct hmq_row *row;
	struct hmq_held held;      /* 1: this reader holds the slot */
	const uint32_t *free_ring; /* hints: slots this reader gave back */
	uint64_t tail;
	uint64_t head;      /* as last seen: the reader may be further */
	uint64_t free_head; /* next hint to look at */
	uint64_t lost;
	uint64_t left;
	uint64_t abandoned;
	uint64_t skipped;
	uint32_t mask;
	uint32_t depth;
	uint32_t policy;
	uint32_t fate;       /* enum hmq_fate */
	uint32_t accept;     /* of the batch being published */
	uint32_t wake_group; /* first reader with the same waiter: one wake serves all */
	uint32_t max_queued;
	uint32_t ticket; /* of the reader that was let in last */
	struct hmq_peer peer;
};

struct hmq_writer {
	uint8_t *first; /* payload of slot 0 */
	uint64_t stride;
	uint64_t capacity;
	uint64_t seq;
	uint32_t slots;
	uint32_t n_readers;
	uint32_t n_free;
	uint32_t n_out;
	uint32_t free_mask;
	uint32_t is_eager; /* large slots: prefer those just given back, they are in cache */
	uint32_t culprit;
	uint32_t is_eager_after; /* the same, where the look would cost a loan cache misses */
	uint32_t *free;          /* stack of n_free slot numbers */
	uint8_t *state;          /* [slots] enum hmq_slot_state */
	struct hmq_shared_writer *shared;
	struct hmq_out out[];
};

static inline uint8_t *
hmq_slot_data(const struct hmq_writer *w, uint32_t slot)
{
	return w->first + slot * w->stride;
}

static inline struct hmq_head *
hmq_slot_head(const struct hmq_writer *w, uint32_t slot)
{
	return (struct hmq_head *)(void *)(hmq_slot_data(w, slot) - sizeof(struct hmq_head));
}

static inline void
hmq_pool_push(struct hmq_writer *w, uint32_t slot)
{
	w->state[slot] = HMQ_SLOT_FREE;
	w->free[w->n_free++] = slot;
}

/* pool.c: this slot may have become free: see. */
void hmq_pool_take_back(struct hmq_writer *w, uint32_t slot);
/* pool.c: look for slots that came back. */
void hmq_pool_collect(struct hmq_writer *w);
/* pool.c: the truth, slow: every published slot whose column of held bytes is zero is free. */
void hmq_pool_scan(struct hmq_writer *w);

/* writer.c: look how far the reader is; 0, or -EPIPE when it is found gone. */
int hmq_out_refresh(struct hmq_writer *w, struct hmq_out *o);
/* claim.c: drop the oldest until n <= depth messages fit; 0, or -EPIPE when it writes nonsense. */
int hmq_out_claim(struct hmq_writer *w, struct hmq_out *o, uint32_t n);
/* writer.c: it wrote nonsense: settle its account. */
void hmq_out_break(struct hmq_writer *w, struct hmq_out *o);
/* writer.c: is it closed, dead or replaced?  Then settle its account and take its slots back. */
int hmq_out_is_gone(struct hmq_writer *w, struct hmq_out *o);
/* writer.c: one that was found gone: does another reader ask for its place?  Let it in; 1 if so. */
int hmq_out_let_in(struct hmq_out *o, uint32_t slots);

#endif /* HMQ_WRITER_H */
