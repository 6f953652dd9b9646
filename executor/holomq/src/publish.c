/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.c - loan, cancel, publish, prime: the writer's path per message.
 *
 * Wait-free: loops are bounded by the batch, the readers or the slots.  Nothing is
 * allocated, nothing read from shared memory is followed.  A batch is refused whole
 * or published whole; its only ordering is one release store per reader.
 */
#include <errno.h>
#include <string.h>

#include "wait.h"
#include "writer.h"

static void
check_gone(struct hmq_writer *w)
{
	for (uint32_t i = 0; i < w->n_readers; i++)
		hmq_out_is_gone(w, &w->out[i]);
}

uint32_t
hmq_loan(struct hmq_writer *w, struct hmq_tx *tx, uint32_t n)
{
	if (w->n_free < n || w->is_eager) {
		hmq_pool_collect(w);
		if (w->n_free < n)
			check_gone(w);
		if (w->n_free < n)
			n = w->n_free;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = w->free[--w->n_free];

		w->state[slot] = HMQ_SLOT_LOANED;
		tx[i].head = hmq_slot_head(w, slot);
		tx[i].data = hmq_slot_data(w, slot);
		tx[i].capacity = w->capacity;
		tx[i].slot = slot;
	}
	return n;
}

static int
is_loaned(const struct hmq_writer *w, uint64_t slot)
{
	return slot < w->slots && w->state[slot] == HMQ_SLOT_LOANED;
}

/* A slot that is not on loan stays as it is: cancelling twice is harmless. */
void
hmq_cancel(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_loaned(w, tx[i].slot))
			hmq_pool_push(w, (uint32_t)tx[i].slot);
}

static void
unclaim(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		w->state[tx[i].slot] = HMQ_SLOT_LOANED;
}

/* Check the batch; marking as we go finds a slot given twice. */
static int
claim(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int rc = 0;

		if (!is_loaned(w, tx[i].slot))
			rc = -EINVAL;
		else if (hmq_slot_head(w, (uint32_t)tx[i].slot)->bytes > w->capacity)
			rc = -EMSGSIZE;
		if (rc) {
			w->culprit = i;
			unclaim(w, tx, i);
			return rc;
		}
		w->state[tx[i].slot] = HMQ_SLOT_CLAIMED;
	}
	return 0;
}

/*
 * The reader is gone, or its ticket says that something has changed: is there one now?  Whoever
 * waits for the place is let in, unless it would refuse this very batch.
 */
static int
is_there(struct hmq_writer *w, struct hmq_out *o, uint32_t n)
{
	if (!hmq_out_is_gone(w, o))
		return 1;
	if (n > o->depth && (o->policy == HMQ_BLOCK || o->policy == HMQ_FAIL))
		return 0;
	return hmq_out_let_in(o, w->slots);
}

/* How many of n the reader takes, 0 when it is gone; -EAGAIN, -ENOBUFS by its policy. */
static int
admit_one(struct hmq_writer *w, struct hmq_out *o, uint32_t n)
{
	o->accept = 0;
	/* relaxed: only a look whether is_there, which has A6, is worth its while */
	if ((o->fate != HMQ_FATE_OPEN || hmq_load_relaxed_u32(&o->row->ticket) != o->ticket) &&
	    !is_there(w, o, n))
		return 0;
	o->accept = n;
	if (n <= o->depth - (uint32_t)(o->tail - o->head))
		return 0;
	o->accept = 0;
	if (hmq_out_refresh(w, o))
		return 0;
	uint32_t room = o->depth - (uint32_t)(o->tail - o->head);

	if (n > room && hmq_out_is_gone(w, o))
		return 0;
	if (n > room && o->policy == HMQ_DROP_OLDEST)
		room = o->depth; /* put_all drops for it */
	else if (n > room && o->policy != HMQ_DROP_NEWEST)
		return o->policy == HMQ_BLOCK ? -EAGAIN : -ENOBUFS;
	o->accept = n < room ? n : room;
	return 0;
}

static int
admit(struct hmq_writer *w, uint32_t n)
{
	for (uint32_t i = 0; i < w->n_readers; i++) {
		int rc = admit_one(w, &w->out[i], n);

		if (rc) {
			w->culprit = i;
			return rc;
		}
	}
	return 0;
}

/* Put o->accept messages into one reader's queue; room was made. */
static void
put(struct hmq_out *o, const struct hmq_tx *tx)
{
	for (uint32_t k = 0; k < o->accept; k++) {
		uint32_t slot = (uint32_t)tx[k].slot;

		/* relaxed: ordered by R1 below; the byte must be there before the index */
		hmq_store_relaxed_u8(&o->held[slot], 1);
		hmq_store_relaxed_u32(&o->row->cell[(o->tail + k) & o->mask], slot);
	}
	o->tail += o->accept;
	/* R1: publishes payload, head, held byte, cell; pairs with A1 in look */
	hmq_store_release_u64(&o->row->tail, o->tail);
}

/* Count what this reader did not get.  relaxed: numbers for tools, one writer each. */
static void
count_missed(struct hmq_out *o, uint32_t missed)
{
	if (o->fate != HMQ_FATE_OPEN) {
		o->left += missed;
		hmq_store_relaxed_u64(&o->row->left, o->left);
	} else {
		o->lost += missed;
		hmq_store_relaxed_u64(&o->row->lost, o->lost);
	}
}

/* Which of a batch some reader has: all but from .. to. */
struct unread {
	uint32_t from;
	uint32_t to;
};

static struct unread
put_all(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	struct unread none = { 0, n };

	for (uint32_t i = 0; i < w->n_readers; i++) {
		struct hmq_out *o = &w->out[i];
		uint32_t first = 0;

		if (o->policy == HMQ_DROP_OLDEST && o->accept > 0) {
			if (hmq_out_claim(w, o, o->accept))
				o->accept = 0;
			first = n - o->accept; /* the newest of the batch */
			if (first < none.to)
				none.to = first;
		} else if (o->accept > none.from) {
			none.from = o->accept;
		}
		if (o->accept > 0)
			put(o, tx + first);
		if (o->accept < n)
			count_missed(o, n - o->accept);
	}
	if (none.to < none.from)
		none.to = none.from;
	return none;
}

static void
wake_readers(const struct hmq_writer *w)
{
	uint64_t woken = 0;

	for (uint32_t i = 0; i < w->n_readers; i++) {
		const struct hmq_out *o = &w->out[i];
		uint64_t bit = UINT64_C(1) << o->wake_group;

		if (!o->peer.waiter || o->accept == 0 || (woken & bit))
			continue;
		woken |= bit;
		hmq_wake(&o->peer);
	}
}

int32_t
hmq_publish(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	struct unread none;
	int rc = claim(w, tx, n);

	if (rc)
		return rc;
	rc = admit(w, n);
	if (rc) {
		unclaim(w, tx, n);
		return rc;
	}
	for (uint32_t i = 0; i < n; i++)
		hmq_slot_head(w, (uint32_t)tx[i].slot)->seq = w->seq++;
	/* relaxed: kept for a later handle of the same writer and for tools */
	hmq_store_relaxed_u64(&w->shared->seq, w->seq);
	/* Still HMQ_SLOT_CLAIMED: dropping older messages must not take one of these back. */
	none = put_all(w, tx, n);
	for (uint32_t i = 0; i < n; i++) {
		w->state[tx[i].slot] = HMQ_SLOT_OUT;
		if (i >= none.from && i < none.to)
			hmq_pool_push(w, (uint32_t)tx[i].slot);
	}
	w->n_out += n - (none.to - none.from);
	wake_readers(w);
	return (int32_t)n;
}

uint32_t
hmq_writer_culprit(const struct hmq_writer *w)
{
	return w->culprit;
}

static void
blank(struct hmq_head *head, uint64_t bytes, uint64_t seq)
{
	head->seq = seq;
	head->frame = 0;
	head->born_ns = 0;
	head->stamp_ns = 0;
	head->bytes = bytes;
	head->index = 0;
	head->flags = 0;
	head->stream = 0;
	head->last_ns = 0;
	memset(head->user, 0, sizeof(head->user));
}

int
hmq_prime(struct hmq_writer *w, uint32_t reader, uint32_t n, uint64_t bytes)
{
	struct hmq_tx tx;
	struct hmq_out *o;

	if (reader >= w->n_readers)
		return -EINVAL;
	if (bytes > w->capacity)
		return -EMSGSIZE;
	o = &w->out[reader];
	if (hmq_out_is_gone(w, o) || hmq_out_refresh(w, o))
		return -EPIPE;
	hmq_pool_collect(w);
	if (n > o->depth - (uint32_t)(o->tail - o->head) || n > w->n_free)
		return -ENOBUFS;
	for (uint32_t i = 0; i < n && hmq_loan(w, &tx, 1) == 1; i++) {
		memset(tx.data, 0, bytes);
		blank(tx.head, bytes, w->seq++);
		w->state[tx.slot] = HMQ_SLOT_OUT;
		w->n_out++;
		o->accept = 1;
		put(o, &tx);
	}
	/* relaxed: as in hmq_publish */
	hmq_store_relaxed_u64(&w->shared->seq, w->seq);
	hmq_wake(&o->peer);
	return 0;
}
