/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - the reader's end: look, take, give back, and how a stream ends.
 *
 * Wait-free, and nothing the writer stores is trusted: cursor, slot number and
 * length are copied once, checked, then used.  Nonsense makes the reader broken for
 * good; it never reads outside the pool and never loops on a foreign number.
 */
#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader.h"
#include "wait.h"

/* See how far the writer is; 0 or -EBADMSG. */
static int
look(struct hmq_reader *r)
{
	/* A1: sees cells, heads and payloads before tail; pairs with R1 in put_to_one and put */
	uint64_t tail = hmq_load_acquire_u64(&r->row->tail);
	uint64_t queued = tail - r->head;

	/* Neither more than fit nor fewer than were there before: that would be a lie. */
	if (queued > r->depth || (!r->mine && queued < r->tail - r->head))
		return hmq_reader_break(r);
	r->tail = tail;
	/* relaxed: the word before tail or a later one, it says which */
	r->newest = hmq_load_relaxed_u64(&r->row->newest);
	hmq_reader_note(r, queued);
	return 0;
}

/* What turns a slot's number into a message; in locals, for a store to rx may alias any field. */
struct pool {
	const uint8_t *first;
	uint64_t stride;
	uint64_t capacity;
	uint32_t slots;
};

static inline struct pool
pool_of(const struct hmq_reader *r)
{
	return (struct pool){ r->first, r->stride, r->capacity, r->slots };
}

/* Fill rx for a slot of which only the number is known; 0 or -EBADMSG. */
static inline int
show(const struct pool *p, uint32_t slot, struct hmq_rx *rx)
{
	const uint8_t *data;
	const struct hmq_head *head;
	uint64_t bytes;

	if (slot >= p->slots)
		return -EBADMSG;
	data = p->first + slot * p->stride;
	head = (const struct hmq_head *)(const void *)(data - sizeof(*head));
	/* relaxed: ordered by A1; one copy, checked before use */
	bytes = hmq_load_relaxed_u64(&head->bytes);
	rx->head = head;
	rx->data = data;
	rx->bytes = bytes;
	rx->slot = slot;
	return bytes <= p->capacity ? 0 : -EBADMSG;
}

/* Go on from what the row says: it is this reader's own from here on. */
static void
adopt_row(struct hmq_reader *r)
{
	/* relaxed: an earlier handle of this reader stored it, or the writer before R10 */
	r->head = hmq_load_relaxed_u64(&r->row->head);
	r->free_tail = hmq_load_relaxed_u64(&r->row->free_tail);
	r->claimed = hmq_load_relaxed_u64(&r->row->claimed);
	r->max_queued = hmq_load_relaxed_u32(&r->row->max_queued_seen);
	r->tail = r->head;
}

/* A stopped reader: was it only waiting to be let in, and has been? */
static __attribute__((noinline)) int
was_let_in(struct hmq_reader *r)
{
	if (r->stop != HMQ_STOP_OUTSIDE)
		return 0;
	/* A10: the former reader's account is settled, the row starts anew; pairs with R10 in
	 * hmq_out_let_in */
	if (hmq_load_acquire_u32(&r->row->accepted) != r->ticket)
		return 0;
	r->stop = 0;
	adopt_row(r);
	return 1;
}

/* drop_oldest: what is shown is ours first. */
static __attribute__((noinline)) int32_t
peek_claimed(struct hmq_reader *r, uint32_t skip, struct hmq_rx *rx, uint32_t n)
{
	const struct pool pool = pool_of(r);
	uint64_t want = (uint64_t)skip + n;

	if (want > r->n_mine &&
	    hmq_reader_claim(r, (uint32_t)(want < r->depth ? want : r->depth) - r->n_mine))
		return -EBADMSG;
	if (r->n_mine <= skip)
		return 0;
	if (r->n_mine - skip < n)
		n = r->n_mine - skip;
	for (uint32_t i = 0; i < n; i++)
		if (show(&pool, r->mine[(r->mine_head + skip + i) & r->mask], &rx[i]))
			return hmq_reader_break(r);
	return (int32_t)n;
}

int32_t
hmq_peek(struct hmq_reader *r, uint32_t skip, struct hmq_rx *rx, uint32_t n)
{
	uint64_t at, there;

	if (r->stop && !was_let_in(r))
		return r->stop < 0 ? r->stop : 0;
	if (r->mine)
		return peek_claimed(r, skip, rx, n);
	at = r->head + skip;
	there = r->tail - r->head;
	if (there < (uint64_t)skip + n) {
		if (look(r))
			return -EBADMSG;
		there = r->tail - r->head;
		if (there <= skip)
			return 0;
		if (there - skip < n)
			n = (uint32_t)(there - skip);
	}
	const struct pool pool = pool_of(r);
	const uint32_t *const cell = r->row->cell;
	const uint32_t mask = r->mask;
	const uint32_t newest = (uint32_t)r->newest & HMQ_SLOT_MASK;

	/* The only one there is, as a rule: no need to fetch the line of its cell. */
	if (n == 1 && r->newest == hmq_newest(at, newest))
		return show(&pool, newest, rx) ? hmq_reader_break(r) : 1;
	for (uint32_t i = 0; i < n; i++)
		/* relaxed: ordered by A1; one copy, checked before use */
		if (show(&pool, hmq_load_relaxed_u32(&cell[(at + i) & mask]), &rx[i]))
			return hmq_reader_break(r);
	return (int32_t)n;
}

static void
move_head(struct hmq_reader *r, uint32_t n)
{
	if (r->stop < 0) /* the writer lies: what it showed is void */
		return;
	if (r->mine) { /* the cursor was moved by the claim */
		assert(n <= r->n_mine && "only what peek has shown can be taken");
		r->mine_head += n;
		r->n_mine -= n;
		return;
	}
	assert(n <= r->tail - r->head && "only what peek has shown can be taken");
	r->head += n;
	/* R2: the cells have been read, they may be written again; pairs with A2 in
	 * hmq_out_refresh */
	hmq_store_release_u64(&r->row->head, r->head);
}

static void
give_back(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n)
{
	const struct hmq_held held = r->held;
	uint32_t *const ring = r->free_ring;
	const uint64_t tail = r->free_tail;
	const uint32_t mask = r->free_mask;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = (uint32_t)rx[i].slot;

		assert(rx[i].slot < r->slots && "a slot of this channel");
		/* R4: reading the payload is over; pairs with A4 in is_unheld */
		hmq_store_release_u8(hmq_held_of(held, slot), 0);
		/* relaxed: ordered by R3 */
		hmq_store_relaxed_u32(&ring[(tail + i) & mask], slot);
	}
	r->free_tail = tail + n;
	/* R3: the hints and the cleared bytes; pairs with A3 in hmq_pool_collect */
	hmq_store_release_u64(&r->row->free_tail, r->free_tail);
}

void
hmq_advance(struct hmq_reader *r, uint32_t n)
{
	if (n == 0) /* one outside must not touch the row */
		return;
	move_head(r, n);
	hmq_wake_if_any(&r->peer);
}

void
hmq_release(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n)
{
	if (n == 0) /* one outside must not touch the row */
		return;
	give_back(r, rx, n);
	hmq_wake_if_any(&r->peer);
}

void
hmq_take(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n)
{
	if (n == 0) /* one outside must not touch the row */
		return;
	give_back(r, rx, n);
	move_head(r, n);
	hmq_wake_if_any(&r->peer);
}

uint32_t
hmq_queued(struct hmq_reader *r)
{
	if (r->stop && !was_let_in(r))
		return 0;
	if (r->mine)
		return hmq_reader_unclaimed(r) + r->n_mine;
	return look(r) ? 0 : (uint32_t)(r->tail - r->head);
}

uint32_t
hmq_reader_peer(struct hmq_reader *r)
{
	uint32_t state = HMQ_OPEN;

	if (r->stop < 0)
		return HMQ_BROKEN;
	if (r->stop == HMQ_STOP_ENDED)
		return HMQ_ENDED;
	/* Death is looked at first: a writer that ended and then died has ended. */
	if (r->peer.life && hmq_life_is_dead(r->peer.life))
		state = HMQ_LOST;
	/* A5: after the end nothing more is published; pairs with R5 in hmq_writer_end */
	if (hmq_load_acquire_u32(&r->row->ended) != 0)
		state = HMQ_ENDED;
	return state;
}

uint32_t
hmq_reader_state(struct hmq_reader *r)
{
	uint32_t state = hmq_reader_peer(r);

	if (state == HMQ_BROKEN || r->stop == HMQ_STOP_ENDED)
		return state;
	/* The cursor is read after the reason to stop: A8 or A5 made its last value visible. */
	if (hmq_queued(r) > 0)
		return HMQ_OPEN;
	return r->stop < 0 ? HMQ_BROKEN : state;
}

void
hmq_reader_end(struct hmq_reader *r)
{
	if (r->stop == HMQ_STOP_ENDED)
		return;
	if (r->stop == 0 && r->mine)
		/* relaxed: ordered by R6 */
		hmq_store_relaxed_u64(&r->row->returned, r->n_mine);
	r->stop = HMQ_STOP_ENDED;
	r->tail = r->head;
	r->n_mine = 0;
	/* R6: the cursor is final, nothing is read any more; pairs with A6 in hmq_out_is_gone */
	hmq_store_release_u32(&r->row->ticket, r->ticket | HMQ_TICKET_CLOSED);
	hmq_wake_if_any(&r->peer);
}

/* ---- open ------------------------------------------------------------------------------- */

/* What a reader must not write it cannot write, unless the writer lives in this process. */
static int
protect_pool(const struct hmq_segment *seg, const struct hmq_layout *lay)
{
	const struct hmq_shared_writer *shared = hmq_shared_writer_of(seg);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = (lay->pool_at + page - 1) / page * page;

	/* relaxed: advice; hmq_writer_open makes the pool writable if it comes later */
	if (hmq_load_relaxed_u32(&shared->pid) == (uint32_t)getpid() || from >= seg->bytes)
		return 0;
	return mprotect(hmq_at(seg, from), seg->bytes - from, PROT_READ) ? -errno : 0;
}

static int
bind_reader(struct hmq_reader *r, const struct hmq_segment *seg, const struct hmq_layout *lay,
	    uint32_t index)
{
	const struct hmq_row_place *place = &lay->reader[index];

	r->row = hmq_at(seg, place->row_at);
	r->held = hmq_held_in(seg, place);
	r->free_ring = hmq_at(seg, place->free_at);
	r->first = hmq_at(seg, lay->first_at);
	r->stride = lay->stride;
	r->capacity = lay->payload_bytes;
	r->slots = lay->slots;
	r->depth = place->depth;
	r->mask = place->cells - 1;
	r->free_mask = lay->free_cells - 1;
	r->stop = HMQ_STOP_OUTSIDE;
	if (place->policy == HMQ_DROP_OLDEST) {
		r->mine = hmq_alloc(place->cells * sizeof(r->mine[0]));
		return r->mine ? 0 : -ENOMEM;
	}
	return 0;
}

/* A handle that is outside; the two ways in follow. */
static int
open_outside(struct hmq_reader **out, const struct hmq_segment *seg, uint32_t index,
	     const struct hmq_peer *peer, struct hmq_error *err)
{
	struct hmq_layout lay;
	struct hmq_reader *r;
	int rc = hmq_layout_of_segment(&lay, seg, err);

	*out = NULL;
	if (rc)
		return rc;
	if (index >= lay.n_readers)
		return hmq_fail(err, EINVAL, "reader %u: this channel has %u", index,
				lay.n_readers);
	rc = hmq_layout_check_epoch(&lay, peer->epoch, err);
	if (rc)
		return rc;
	if ((seg->flags & HMQ_SEG_SHARED) && peer->life) {
		rc = protect_pool(seg, &lay);
		if (rc)
			return hmq_fail(err, -rc, "the pool cannot be made read-only");
	}
	r = hmq_alloc(sizeof(*r));
	if (!r || bind_reader(r, seg, &lay, index)) {
		hmq_reader_free(r);
		return hmq_fail(err, ENOMEM, "no memory for a reader");
	}
	r->peer = *peer;
	*out = r;
	return 0;
}

int
hmq_reader_open(struct hmq_reader **out, const struct hmq_segment *seg, uint32_t index,
		const struct hmq_peer *peer, struct hmq_error *err)
{
	int rc = open_outside(out, seg, index, peer, err);
	struct hmq_reader *r = *out;

	if (rc || !r)
		return rc;
	/* relaxed: this reader's own word, or an earlier handle's */
	r->ticket = hmq_load_relaxed_u32(&r->row->ticket) & ~(uint32_t)HMQ_TICKET_CLOSED;
	hmq_queued(r);
	if (r->stop < 0) {
		hmq_reader_free(r);
		*out = NULL;
		return hmq_fail(err, EBADMSG, "reader %u: the writer's cursor makes no sense",
				index);
	}
	return 0;
}

/* Which number comes next, and did the one that was let in last close? */
static uint32_t
next_ticket(const struct hmq_row *row)
{
	/* relaxed: whoever wrote it is gone, as the caller knows */
	uint32_t last = hmq_load_relaxed_u32(&row->ticket);
	uint32_t number = last & ~(uint32_t)(HMQ_TICKET_CLOSED | HMQ_TICKET_FORMER);
	uint32_t former = last & HMQ_TICKET_FORMER;

	/* Its own end counts only if it had been let in; else that of the one before still does. */
	if (hmq_load_relaxed_u32(&row->accepted) == (last & ~(uint32_t)HMQ_TICKET_CLOSED))
		former = last & HMQ_TICKET_CLOSED ? HMQ_TICKET_FORMER : 0;
	return (number + HMQ_TICKET_STEP) | former;
}

int
hmq_reader_rejoin(struct hmq_reader **out, const struct hmq_segment *seg, uint32_t index,
		  const struct hmq_peer *peer, struct hmq_error *err)
{
	int rc = open_outside(out, seg, index, peer, err);
	struct hmq_reader *r = *out;

	if (rc || !r)
		return rc;
	r->ticket = next_ticket(r->row);
	/* R6: what the former reader did is over; pairs with A6 in hmq_out_is_gone */
	hmq_store_release_u32(&r->row->ticket, r->ticket);
	hmq_wake_if_any(&r->peer);
	return 0;
}

void
hmq_reader_free(struct hmq_reader *r)
{
	if (!r)
		return;
	hmq_dealloc(r->mine);
	hmq_dealloc(r);
}
