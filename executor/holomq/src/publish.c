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

/* Too few are free, or slots that came back are better: how many of n there are after a look. */
static __attribute__((noinline)) uint32_t
look_for_slots(struct hmq_writer *w, uint32_t n)
{
	hmq_pool_collect(w);
	if (w->n_free < n)
		check_gone(w);
	return w->n_free < n ? w->n_free : n;
}

uint32_t
hmq_loan(struct hmq_writer *w, struct hmq_tx *tx, uint32_t n)
{
	if (w->n_free < n || w->is_eager)
		n = look_for_slots(w, n);
	/* Locals throughout the loops per message: a store to a byte may alias any field. */
	const uint32_t *top = w->free + w->n_free;
	uint8_t *const first = w->first, *const state = w->state;
	const uint64_t stride = w->stride, capacity = w->capacity;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = *--top;
		uint8_t *data = first + slot * stride;

		state[slot] = HMQ_SLOT_LOANED;
		tx[i].head = (struct hmq_head *)(void *)(data - sizeof(struct hmq_head));
		tx[i].data = data;
		tx[i].capacity = capacity;
		tx[i].slot = slot;
	}
	w->n_free -= n;
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

/* It may be gone or full.  How many of n it takes is left in o->accept. */
static __attribute__((noinline)) int
admit_slowly(struct hmq_writer *w, struct hmq_out *o, uint32_t n)
{
	uint32_t room;

	o->accept = 0;
	/* relaxed: as in admit_one */
	if ((o->fate != HMQ_FATE_OPEN || hmq_load_relaxed_u32(&o->row->ticket) != o->ticket) &&
	    !is_there(w, o, n))
		return 0;
	if (hmq_out_refresh(w, o))
		return 0;
	room = o->depth - (uint32_t)(o->tail - o->head);
	if (n > room && hmq_out_is_gone(w, o))
		return 0;
	if (n > room && o->policy == HMQ_DROP_OLDEST)
		room = o->depth; /* put_to_all drops for it */
	else if (n > room && o->policy != HMQ_DROP_NEWEST)
		return o->policy == HMQ_BLOCK ? -EAGAIN : -ENOBUFS;
	o->accept = n < room ? n : room;
	return 0;
}

/* How many of n the reader takes, 0 when it is gone; -EAGAIN, -ENOBUFS by its policy. */
static inline int
admit_one(struct hmq_writer *w, struct hmq_out *o, uint32_t n)
{
	/* relaxed: only a look whether is_there, which has A6, is worth its while */
	if (o->fate != HMQ_FATE_OPEN || hmq_load_relaxed_u32(&o->row->ticket) != o->ticket ||
	    n > o->depth - (uint32_t)(o->tail - o->head))
		return admit_slowly(w, o, n);
	o->accept = n;
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

/*
 * The reader of the message that was in it last has the lines of the slot that is loaned next:
 * fetch them while nobody waits for it.  A hint to the CPU, which may ignore it.
 */
static inline void
make_ready(struct hmq_writer *w)
{
	if (w->is_eager_after)
		hmq_pool_collect(w);
	if (w->n_free > 0) {
		const uint8_t *data = hmq_slot_data(w, w->free[w->n_free - 1]);

		hmq_prefetch_write(data - sizeof(struct hmq_head));
		hmq_prefetch_write(data - sizeof(struct hmq_head) / 2);
		hmq_prefetch_write(data);
	}
}

/* ---- into the queue of the only reader --------------------------------------------------- */

static __attribute__((noinline)) int32_t
refuse_rest(struct hmq_writer *w, const struct hmq_out *o, const struct hmq_tx *tx, uint32_t i)
{
	int32_t rc = is_loaned(w, tx[i].slot) ? -EMSGSIZE : -EINVAL;

	w->culprit = i;
	for (uint32_t k = 0; k < i; k++) {
		w->state[tx[k].slot] = HMQ_SLOT_LOANED;
		if (o) /* relaxed: the index was not published */
			hmq_store_relaxed_u8(hmq_held_of(o->held, tx[k].slot), 0);
	}
	return rc;
}

/* The usual case, in one loop: all of the batch fits.  Marking as we go finds a slot given twice.
 */
static int32_t
put_to_one(struct hmq_writer *w, struct hmq_out *o, const struct hmq_tx *tx, uint32_t n)
{
	uint8_t *const first = w->first, *const state = w->state;
	const struct hmq_held held = o->held;
	const uint64_t stride = w->stride, capacity = w->capacity, seq = w->seq, tail = o->tail;
	const uint32_t slots = w->slots, mask = o->mask;
	uint32_t *const cell = o->row->cell;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t slot = tx[i].slot;
		struct hmq_head *head;

		if (slot >= slots || state[slot] != HMQ_SLOT_LOANED)
			return refuse_rest(w, o, tx, i);
		head = (struct hmq_head *)(void *)(first + slot * stride - sizeof(*head));
		if (head->bytes > capacity)
			return refuse_rest(w, o, tx, i);
		head->seq = seq + i;
		state[slot] = HMQ_SLOT_OUT;
		/* relaxed: ordered by R1 below; the byte must be there before the index */
		hmq_store_relaxed_u8(hmq_held_of(held, slot), 1);
		hmq_store_relaxed_u32(&cell[(tail + i) & mask], (uint32_t)slot);
	}
	w->seq = seq + n;
	w->n_out += n;
	o->tail = tail + n;
	/* relaxed: kept for a later handle of the same writer and for tools */
	hmq_store_relaxed_u64(&w->shared->seq, seq + n);
	if (n > 0) /* relaxed: seen with tail or not, it says of which message it is */
		hmq_store_relaxed_u64(&o->row->newest, hmq_newest(tail + n - 1, tx[n - 1].slot));
	/* R1: publishes payload, head, held byte, cell; pairs with A1 in look */
	hmq_store_release_u64(&o->row->tail, tail + n);
	hmq_wake_if_any(&o->peer);
	make_ready(w);
	return (int32_t)n;
}

/* ---- into any number of queues ----------------------------------------------------------- */

/* Check the batch, number it, keep it from being taken back while older messages are dropped. */
static int32_t
claim(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hmq_head *head;

		if (!is_loaned(w, tx[i].slot))
			return refuse_rest(w, NULL, tx, i);
		head = hmq_slot_head(w, (uint32_t)tx[i].slot);
		if (head->bytes > w->capacity)
			return refuse_rest(w, NULL, tx, i);
		head->seq = w->seq + i;
		w->state[tx[i].slot] = HMQ_SLOT_CLAIMED;
	}
	w->seq += n;
	/* relaxed: kept for a later handle of the same writer and for tools */
	hmq_store_relaxed_u64(&w->shared->seq, w->seq);
	return 0;
}

/* Put o->accept messages into one reader's queue; room was made. */
static void
put(struct hmq_out *o, const struct hmq_tx *tx)
{
	const struct hmq_held held = o->held;
	uint32_t *const cell = o->row->cell;
	const uint64_t tail = o->tail;
	const uint32_t mask = o->mask, n = o->accept;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t slot = (uint32_t)tx[k].slot;

		/* relaxed: as in put_to_one */
		hmq_store_relaxed_u8(hmq_held_of(held, slot), 1);
		hmq_store_relaxed_u32(&cell[(tail + k) & mask], slot);
	}
	o->tail = tail + n;
	/* relaxed: as in put_to_one */
	hmq_store_relaxed_u64(&o->row->newest, hmq_newest(tail + n - 1, tx[n - 1].slot));
	/* R1: as in put_to_one */
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

/* Which of a batch no reader has: from .. to. */
struct unread {
	uint32_t from;
	uint32_t to;
};

static struct unread
put_to_all(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
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

/* What was admitted. */
static __attribute__((noinline)) int32_t
put_and_mark(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	uint8_t *const state = w->state;
	struct unread none;
	int32_t rc = claim(w, tx, n);

	if (rc)
		return rc;
	none = put_to_all(w, tx, n);
	for (uint32_t i = 0; i < n; i++)
		state[tx[i].slot] = HMQ_SLOT_OUT;
	for (uint32_t i = none.from; i < none.to; i++)
		hmq_pool_push(w, (uint32_t)tx[i].slot);
	w->n_out += n - (none.to - none.from);
	wake_readers(w);
	make_ready(w);
	return (int32_t)n;
}

static int32_t
publish_to_all(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	int rc = admit(w, n);

	return rc ? rc : put_and_mark(w, tx, n);
}

int32_t
hmq_publish(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n)
{
	struct hmq_out *o = w->out;
	int rc;

	if (w->n_readers != 1)
		return publish_to_all(w, tx, n);
	rc = admit_one(w, o, n);
	if (rc) {
		w->culprit = 0;
		return rc;
	}
	if (o->accept == n && n <= o->depth - (uint32_t)(o->tail - o->head))
		return put_to_one(w, o, tx, n);
	return put_and_mark(w, tx, n);
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
