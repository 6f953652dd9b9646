/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c - drop_oldest: both ends claim messages from the head of the queue.
 *
 * The reader claims what it is going to read, the writer what it needs gone; each
 * moves the one cursor by compare-and-swap, once per batch, and whoever wins owns
 * those messages: the reader until it releases them, the writer to clear their held
 * bytes and use the slots again.  A payload is looked at only after its claim.
 *
 * Progress: the writer is wait-free, for an attempt fails only when the reader has
 * claimed some of at most `depth` messages.  The reader gives up after a fixed number
 * of attempts, each lost to a batch published meanwhile, and finds more next time.
 */
#include <errno.h>

#include "reader.h"
#include "writer.h"

#define CLAIM_TRIES 64

/* ---- the reader ------------------------------------------------------------------------- */

/* What is queued now: 0 and the cursors; -EAGAIN: the writer is just dropping; -EBADMSG. */
static int
see_queue(struct hmq_reader *r, uint64_t *head, uint64_t *queued)
{
	/* A1: sees cells, heads and payloads before tail, and the claim that made room for them;
	 * pairs with R1 in put_to_one and put */
	uint64_t tail = hmq_load_acquire_u64(&r->row->tail);

	/* relaxed: after A1 it is not older than the claim before tail; the swap decides */
	*head = hmq_load_relaxed_u64(&r->row->head);
	*queued = tail - *head;
	if ((int64_t)*queued < 0)
		return -EAGAIN;
	if (*queued > r->depth)
		return hmq_reader_break(r);
	hmq_reader_note(r, *queued);
	return 0;
}

/* Note the slots of n messages from head on behind those that are ours; 0 or -EBADMSG. */
static int
note_slots(struct hmq_reader *r, uint64_t head, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		/* relaxed: ordered by A1 and R9; one copy, checked before use */
		uint32_t slot = hmq_load_relaxed_u32(&r->row->cell[(head + i) & r->mask]);

		if (slot >= r->slots)
			return hmq_reader_break(r);
		r->mine[(r->mine_head + r->n_mine + i) & r->mask] = slot;
	}
	return 0;
}

int
hmq_reader_claim(struct hmq_reader *r, uint32_t want)
{
	uint64_t head, queued;

	if (want > r->depth - r->n_mine)
		want = r->depth - r->n_mine;
	for (int tries = 0; want > 0 && tries < CLAIM_TRIES; tries++) {
		int rc = see_queue(r, &head, &queued);
		uint32_t n = queued < want ? (uint32_t)queued : want;

		if (rc == -EAGAIN)
			continue;
		if (rc)
			return rc;
		if (n == 0)
			return 0;
		rc = note_slots(r, head, n);
		if (rc)
			return rc;
		/* R9: the cells have been read, they may be written again; pairs with A9 in
		 * hmq_out_claim and A2 in hmq_out_refresh */
		if (!hmq_cas_release_u64(&r->row->head, &head, head + n))
			continue;
		r->n_mine += n;
		r->claimed += n;
		/* relaxed: a number for tools, only the reader writes it */
		hmq_store_relaxed_u64(&r->row->claimed, r->claimed);
		return 0;
	}
	return 0;
}

uint32_t
hmq_reader_unclaimed(struct hmq_reader *r)
{
	uint64_t head, queued;

	for (int tries = 0; tries < CLAIM_TRIES; tries++) {
		int rc = see_queue(r, &head, &queued);

		if (rc != -EAGAIN)
			return rc ? 0 : (uint32_t)queued;
	}
	return 0;
}

/* ---- the writer ------------------------------------------------------------------------- */

/* Messages from..to are ours: this reader never sees them. */
static void
drop(struct hmq_writer *w, struct hmq_out *o, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at != to; at++) {
		/* relaxed: the writer wrote it; a reader that scribbled is caught by the check */
		uint32_t slot = hmq_load_relaxed_u32(&o->row->cell[at & o->mask]);

		if (slot >= w->slots)
			continue;
		/* relaxed: the reader never looked at it, nobody else does */
		hmq_store_relaxed_u8(hmq_held_of(o->held, slot), 0);
		hmq_pool_take_back(w, slot);
	}
	o->lost += to - from;
	o->skipped += to - from;
	/* relaxed: numbers for tools */
	hmq_store_relaxed_u64(&o->row->lost, o->lost);
	hmq_store_relaxed_u64(&o->row->skipped, o->skipped);
}

int
hmq_out_claim(struct hmq_writer *w, struct hmq_out *o, uint32_t n)
{
	uint64_t goal = o->tail + n - o->depth; /* where the cursor has to be at least */

	while ((int64_t)(goal - o->head) > 0) {
		uint64_t seen = o->head;

		/* A9: when the reader was faster, its cells have been read; pairs with R9 in
		 * hmq_reader_claim */
		if (hmq_cas_acquire_u64(&o->row->head, &seen, goal)) {
			uint64_t from = o->head;

			o->head = goal;
			drop(w, o, from, goal);
			return 0;
		}
		if (seen == o->head || seen - o->head > o->tail - o->head) {
			hmq_out_break(w, o);
			return -EPIPE;
		}
		o->head = seen;
	}
	return 0;
}
