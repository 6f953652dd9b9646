/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.c - the writer's end: open and end, room, and readers that go away.
 *
 * A reader goes by closing (its flag), by dying (the kernel's mark on its life) or
 * by writing nonsense.  The writer alone settles the account: it counts what was
 * queued, zeroes the row and takes the slots back; each step may be repeated.  It
 * looks at the flags whenever it looks for room, so no supervisor is needed.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wait.h"
#include "writer.h"

#define EAGER_STRIDE 4096u
#define LOOK_EVERY_NS 5000000 /* decides nothing: the kernel's mark does */

static void
note_queued(struct hmq_out *o, uint32_t queued)
{
	if (queued > o->max_queued) {
		o->max_queued = queued;
		/* relaxed: a number for tools, only the writer writes it */
		hmq_store_relaxed_u32(&o->row->max_queued, queued);
	}
}

static void
zero_row(struct hmq_out *o, uint32_t slots)
{
	for (uint32_t slot = 0; slot < slots; slot++)
		/* relaxed: the reader is gone, nobody else looks at its row */
		hmq_store_relaxed_u8(hmq_held_of(o->held, slot), 0);
}

/* What it claimed and did not take: it says so when it closes. */
static uint64_t
returned_by(const struct hmq_out *o, enum hmq_fate fate)
{
	uint64_t n;

	if (fate != HMQ_FATE_CLOSED || o->policy != HMQ_DROP_OLDEST)
		return 0;
	/* relaxed: ordered by A6, and cut to size */
	n = hmq_load_relaxed_u64(&o->row->returned);
	return n <= o->depth ? n : 0;
}

/* The reader is gone: whatever it writes from now on is not looked at. */
static void
settle(struct hmq_writer *w, struct hmq_out *o, enum hmq_fate fate)
{
	/* relaxed: A6 or A8 came before, the cursor is final; a hostile one is cut to size */
	uint64_t missed = o->tail - hmq_load_relaxed_u64(&o->row->head);

	if (missed > o->depth)
		missed = o->tail - o->head;
	missed += returned_by(o, fate);
	o->fate = fate;
	o->skipped += missed;
	if (fate == HMQ_FATE_CLOSED)
		o->left += missed;
	else
		o->abandoned += missed;
	/* relaxed: numbers for tools, exact once both ends have stopped; fate comes first, so that
	 * a writer killed in between leaves numbers that add up */
	hmq_store_relaxed_u32(&o->row->fate, fate);
	hmq_store_relaxed_u64(&o->row->left, o->left);
	hmq_store_relaxed_u64(&o->row->abandoned, o->abandoned);
	hmq_store_relaxed_u64(&o->row->skipped, o->skipped);
	zero_row(o, w->slots);
	hmq_pool_scan(w);
}

void
hmq_out_break(struct hmq_writer *w, struct hmq_out *o)
{
	settle(w, o, HMQ_FATE_BROKEN);
}

static int
is_dead(const struct hmq_out *o)
{
	return o->peer.life && hmq_life_is_dead(o->peer.life);
}

int
hmq_out_is_gone(struct hmq_writer *w, struct hmq_out *o)
{
	uint32_t ticket;

	if (o->fate != HMQ_FATE_OPEN)
		return 1;
	/* A6: the cursor of the reader that was let in is final; pairs with R6 in hmq_reader_end
	 * and in hmq_reader_rejoin, whose caller saw the former one end or die */
	ticket = hmq_load_acquire_u32(&o->row->ticket);
	if (ticket == (o->ticket | HMQ_TICKET_CLOSED))
		settle(w, o, HMQ_FATE_CLOSED);
	else if (ticket != o->ticket)
		settle(w, o, ticket & HMQ_TICKET_FORMER ? HMQ_FATE_CLOSED : HMQ_FATE_DEAD);
	else if (is_dead(o))
		settle(w, o, HMQ_FATE_DEAD);
	return o->fate != HMQ_FATE_OPEN;
}

int
hmq_out_let_in(struct hmq_out *o, uint32_t slots)
{
	/* A6: as above, and what the former reader wrote comes before what is written here */
	uint32_t ticket = hmq_load_acquire_u32(&o->row->ticket);

	if (o->fate == HMQ_FATE_OPEN || (ticket & HMQ_TICKET_CLOSED) || ticket == o->ticket)
		return 0;
	/* The mark may still be the former one's: the new one has not begun to live. */
	if (is_dead(o))
		return 0;
	zero_row(o, slots);
	o->head = o->tail;
	o->ticket = ticket;
	o->fate = HMQ_FATE_OPEN;
	/* relaxed: the row is ours, R10 hands it over */
	o->free_head = hmq_load_relaxed_u64(&o->row->free_tail);
	hmq_store_relaxed_u64(&o->row->head, o->tail);
	hmq_store_relaxed_u64(&o->row->claimed, o->tail - o->skipped);
	hmq_store_relaxed_u64(&o->row->returned, 0);
	hmq_store_relaxed_u32(&o->row->fate, HMQ_FATE_OPEN);
	/* R10: the row is ready for its next reader; pairs with A10 in was_let_in */
	hmq_store_release_u32(&o->row->accepted, ticket);
	return 1;
}

int
hmq_out_refresh(struct hmq_writer *w, struct hmq_out *o)
{
	/* A2: the cells before head may be written again; pairs with R2 in move_head */
	uint64_t head = hmq_load_acquire_u64(&o->row->head);

	if (o->tail - head > o->depth) {
		settle(w, o, HMQ_FATE_BROKEN);
		return -EPIPE;
	}
	o->head = head;
	note_queued(o, (uint32_t)(o->tail - head));
	return 0;
}

/* Nobody is there, or its queue is full: after a second look, HMQ_MAX_SLOTS if it limits nothing.
 */
static __attribute__((noinline)) uint32_t
room_if_any(struct hmq_writer *w, struct hmq_out *o)
{
	if (hmq_out_is_gone(w, o))
		hmq_out_let_in(o, w->slots);
	if (o->policy != HMQ_BLOCK || o->fate != HMQ_FATE_OPEN)
		return HMQ_MAX_SLOTS;
	return o->depth - (uint32_t)(o->tail - o->head);
}

uint32_t
hmq_room(struct hmq_writer *w)
{
	uint32_t least = HMQ_MAX_SLOTS;

	for (uint32_t i = 0; i < w->n_readers; i++) {
		struct hmq_out *o = &w->out[i];
		uint32_t room = 0;

		if (o->fate == HMQ_FATE_OPEN) {
			if (o->policy != HMQ_BLOCK)
				continue;
			if (hmq_out_refresh(w, o) == 0)
				room = o->depth - (uint32_t)(o->tail - o->head);
		}
		if (room == 0)
			room = room_if_any(w, o);
		if (room < least)
			least = room;
	}
	return least;
}

uint32_t
hmq_writer_readers(struct hmq_writer *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_readers; i++)
		n += !hmq_out_is_gone(w, &w->out[i]) || hmq_out_let_in(&w->out[i], w->slots);
	return n;
}

int64_t
hmq_writer_next_look(const struct hmq_writer *w, int64_t now_ns)
{
	for (uint32_t i = 0; i < w->n_readers; i++)
		if (w->out[i].fate == HMQ_FATE_OPEN && w->out[i].peer.life)
			return now_ns + LOOK_EVERY_NS;
	return INT64_MAX;
}

int
hmq_writer_is_idle(struct hmq_writer *w)
{
	hmq_writer_readers(w);
	hmq_pool_collect(w);
	return w->n_out == 0;
}

void
hmq_writer_region(const struct hmq_writer *w, void **base, uint64_t *bytes, uint64_t *stride)
{
	*base = w->first;
	*bytes = w->stride * (w->slots - 1) + w->capacity;
	*stride = w->stride;
}

void
hmq_writer_end(struct hmq_writer *w)
{
	/* Who died before the end is settled now: nobody may look later. */
	hmq_writer_readers(w);
	for (uint32_t i = 0; i < w->n_readers; i++)
		/* R5: everything published is in the ring; pairs with A5 in hmq_reader_peer */
		hmq_store_release_u32(&w->out[i].row->ended, 1);
	for (uint32_t i = 0; i < w->n_readers; i++)
		hmq_wake(&w->out[i].peer);
}

/* ---- open ------------------------------------------------------------------------------- */

/* Readers with one waiter are woken once. */
static void
group_wakes(struct hmq_writer *w)
{
	for (uint32_t i = 0; i < w->n_readers; i++) {
		uint32_t first = 0;

		while (w->out[first].peer.waiter != w->out[i].peer.waiter)
			first++;
		w->out[i].wake_group = first;
	}
}

/* Of large slots those just given back are best: they are in cache.  A look for them takes two
 * cache misses where a reader lives elsewhere, so there it comes after a publish, when nobody
 * waits. */
static void
prefer_warm_slots(struct hmq_writer *w)
{
	uint32_t is_large = w->stride >= EAGER_STRIDE, is_far = 0;

	for (uint32_t i = 0; i < w->n_readers; i++)
		is_far |= w->out[i].peer.life != NULL;
	w->is_eager = is_large && !is_far;
	w->is_eager_after = is_large && is_far;
}

void
hmq_writer_set_peer(struct hmq_writer *w, uint32_t reader, const struct hmq_peer *peer)
{
	if (reader >= w->n_readers)
		return;
	w->out[reader].peer = *peer;
	group_wakes(w);
	prefer_warm_slots(w);
}

static int
open_reader_row(struct hmq_writer *w, const struct hmq_segment *seg, const struct hmq_layout *lay,
		uint32_t index, const struct hmq_peer *peer)
{
	const struct hmq_row_place *place = &lay->reader[index];
	struct hmq_out *o = &w->out[index];

	o->row = hmq_at(seg, place->row_at);
	o->held = hmq_held_in(seg, place);
	o->free_ring = hmq_at(seg, place->free_at);
	o->mask = place->cells - 1;
	o->depth = place->depth;
	o->policy = place->policy;
	o->peer = *peer;
	/* relaxed: what an earlier handle of this writer left; pairs are needed only below */
	o->tail = hmq_load_relaxed_u64(&o->row->tail);
	o->lost = hmq_load_relaxed_u64(&o->row->lost);
	o->left = hmq_load_relaxed_u64(&o->row->left);
	o->abandoned = hmq_load_relaxed_u64(&o->row->abandoned);
	o->skipped = hmq_load_relaxed_u64(&o->row->skipped);
	o->fate = hmq_load_relaxed_u32(&o->row->fate);
	o->ticket = hmq_load_relaxed_u32(&o->row->accepted);
	o->max_queued = hmq_load_relaxed_u32(&o->row->max_queued);
	/* A2, A3: as in hmq_out_refresh and hmq_pool_collect; hints so far are covered by the
	 * rows, which the caller reads next */
	o->head = hmq_load_acquire_u64(&o->row->head);
	o->free_head = hmq_load_acquire_u64(&o->row->free_tail);
	return o->tail - o->head <= o->depth ? 0 : -EBADMSG;
}

static struct hmq_writer *
allocate(const struct hmq_layout *lay)
{
	size_t fixed = sizeof(struct hmq_writer) + lay->n_readers * sizeof(struct hmq_out);
	struct hmq_writer *w = hmq_alloc(fixed);

	if (!w)
		return NULL;
	w->free = hmq_alloc(lay->slots * sizeof(w->free[0]));
	w->state = hmq_alloc(lay->slots);
	if (!w->free || !w->state) {
		hmq_writer_free(w);
		return NULL;
	}
	return w;
}

/* A slot that a reader holds is out, every other one is free; low numbers on top. */
static void
fill_pool(struct hmq_writer *w)
{
	w->n_out = w->slots;
	for (uint32_t slot = 0; slot < w->slots; slot++)
		w->state[slot] = HMQ_SLOT_OUT;
	hmq_pool_scan(w);
	for (uint32_t i = 0; i < w->n_free / 2; i++) {
		uint32_t low = w->free[i];

		w->free[i] = w->free[w->n_free - 1 - i];
		w->free[w->n_free - 1 - i] = low;
	}
}

int
hmq_writer_open(struct hmq_writer **out, const struct hmq_segment *seg,
		const struct hmq_peer *peers, struct hmq_error *err)
{
	struct hmq_layout lay;
	struct hmq_writer *w;
	int rc = hmq_layout_of_segment(&lay, seg, err);

	*out = NULL;
	if (rc)
		return rc;
	/* A reader of this process may have made the pool read-only. */
	if ((seg->flags & HMQ_SEG_SHARED) &&
	    mprotect(seg->base, seg->bytes, PROT_READ | PROT_WRITE))
		return hmq_fail(err, errno, "the pool cannot be made writable");
	w = allocate(&lay);
	if (!w)
		return hmq_fail(err, ENOMEM, "no memory for a writer of %u slots", lay.slots);
	w->first = hmq_at(seg, lay.first_at);
	w->stride = lay.stride;
	w->capacity = lay.payload_bytes;
	w->slots = lay.slots;
	w->n_readers = lay.n_readers;
	w->free_mask = lay.free_cells - 1;
	w->shared = hmq_shared_writer_of(seg);
	for (uint32_t i = 0; i < lay.n_readers; i++) {
		rc = hmq_layout_check_epoch(&lay, peers[i].epoch, err);
		if (rc) {
			hmq_writer_free(w);
			return rc;
		}
		if (open_reader_row(w, seg, &lay, i, &peers[i])) {
			hmq_writer_free(w);
			return hmq_fail(err, EBADMSG, "reader %u: its cursor makes no sense", i);
		}
	}
	group_wakes(w);
	prefer_warm_slots(w);
	fill_pool(w);
	/* relaxed: one writer; the pid is advice to a reader in the same process */
	w->seq = hmq_load_relaxed_u64(&w->shared->seq);
	hmq_store_relaxed_u32(&w->shared->pid, (uint32_t)getpid());
	*out = w;
	return 0;
}

void
hmq_writer_free(struct hmq_writer *w)
{
	if (!w)
		return;
	hmq_dealloc(w->free);
	hmq_dealloc(w->state);
	hmq_dealloc(w);
}
