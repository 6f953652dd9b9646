/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.c - see kit.h.
 */
#include <linux/futex.h>
#include <stdlib.h>

#include "kit.h"
#include "layout.h"

struct kit kit;
static struct kit opened; /* as kit_open left it */

static const struct hmq_peer no_peer = { .event_fd = -1 };

/* The lock word of a life is its first; an owner is a number of a thread. */
static uint32_t *
lock_word(struct hmq_waiter *w)
{
	return (uint32_t *)(void *)&w->life.mutex;
}

static void
name_row(const struct hmq_layout *lay, uint32_t i)
{
	struct hmq_row *row = hmq_at(&kit.seg, lay->reader[i].row_at);
	uint32_t *free_ring = hmq_at(&kit.seg, lay->reader[i].free_at);

	xp_name(row, sizeof(*row), "row", (int)i);
	xp_name(&row->head, 8, "row.head", (int)i);
	xp_name(&row->free_tail, 8, "row.free_tail", (int)i);
	xp_name(&row->tail, 8, "row.tail", (int)i);
	xp_name(&row->newest, 8, "row.newest", (int)i);
	xp_name(&row->ended, 4, "row.ended", (int)i);
	xp_name(row->cell, 4 * lay->reader[i].cells, "row.cell", (int)i);
	xp_name(free_ring, 4 * lay->free_cells, "free_ring", (int)i);
	xp_name(hmq_at(&kit.seg, lay->reader[i].held_at),
		(uint64_t)lay->slots << lay->reader[i].held_shift, "held", (int)i);
	/* Hints and cells are atomic only because a hostile peer may write them at any time. */
	xp_ordered(free_ring, 4 * lay->free_cells);
	if (lay->reader[i].policy == HMQ_DROP_OLDEST)
		xp_glanced(row->cell, 4 * lay->reader[i].cells, &row->head);
	else
		xp_ordered(row->cell, 4 * lay->reader[i].cells);
}

static struct hmq_waiter *
new_waiter(uint32_t kind, const char *name, int number)
{
	struct hmq_waiter *w = xp_alloc(sizeof(*w), 128);

	hmq_waiter_init(w, kind);
	xp_name(w, sizeof(*w), name, number);
	xp_name(&w->word, 4, name, number);
	xp_name(lock_word(w), 4, "life", number);
	return w;
}

static void
live(struct hmq_waiter *w, int thread)
{
	*lock_word(w) = 100u + (uint32_t)thread;
	xp_mortal(thread, lock_word(w), FUTEX_OWNER_DIED);
}

void
kit_open(uint32_t slots, const struct hmq_reader_config *readers, uint32_t n, int flags)
{
	struct hmq_config cfg = {
		.slots = slots, .payload_bytes = 16, .n_readers = n, .reader = readers
	};
	struct hmq_peer peer[KIT_READERS], to_writer = no_peer;
	struct hmq_error err;
	struct hmq_layout lay;

	kit = (struct kit){ .n_readers = n };
	kit.writer_waiter = new_waiter(HMQ_WAIT_FUTEX, "writer's waiter", 0);
	for (uint32_t i = 0; i < n; i++)
		kit.reader_waiter[i] =
			new_waiter(flags & KIT_EVENT_FD ? HMQ_WAIT_EVENTFD : HMQ_WAIT_FUTEX,
				   "reader's waiter", (int)i);
	if (flags & KIT_WRITER_DIES)
		live(kit.writer_waiter, 0);
	if (flags & (KIT_READER_DIES | KIT_DIES_UNSEEN))
		live(kit.reader_waiter[0], 1);
	kit.seg = (struct hmq_segment){ .bytes = hmq_chan_bytes(&cfg, NULL), .fd = -1 };
	kit.seg.base = xp_alloc(kit.seg.bytes, 4096);
	if (hmq_chan_format(&kit.seg, &cfg, &err) || hmq_layout_of_segment(&lay, &kit.seg, &err))
		abort();
	if (flags & KIT_WRITER_SLEEPS)
		to_writer.waiter = kit.writer_waiter;
	if (flags & KIT_WRITER_DIES)
		to_writer.life = kit.writer_waiter;
	for (uint32_t i = 0; i < n; i++) {
		name_row(&lay, i);
		peer[i] = no_peer;
		if (flags & KIT_READERS_SLEEP)
			peer[i].waiter = kit.reader_waiter[i];
		if ((flags & KIT_READER_DIES) && i == 0)
			peer[i].life = kit.reader_waiter[i];
		if (flags & KIT_EVENT_FD)
			peer[i].event_fd = KIT_FD + (int)i;
		if (hmq_reader_open(&kit.r[i], &kit.seg, i, &to_writer, &err))
			abort();
	}
	if (hmq_writer_open(&kit.w, &kit.seg, peer, &err))
		abort();
	if (flags & KIT_EVENT_FD)
		xp_event_fd(KIT_FD, xp_alloc(8, 8));
	opened = kit;
}

void
kit_begin(void)
{
	kit = opened;
}

bool
kit_fill(struct hmq_tx *tx, uint32_t n)
{
	uint32_t got = hmq_loan(kit.w, tx, n);

	if (got < n) {
		hmq_cancel(kit.w, tx, got);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t *data = tx[i].data;

		data[0] = kit.sent + i;
		data[1] = ~(kit.sent + i);
		tx[i].head->bytes = 16;
	}
	return true;
}

void
kit_publish(const struct hmq_tx *tx, uint32_t n)
{
	xp_check(hmq_publish(kit.w, tx, n) == (int32_t)n, "room was there, publish refused");
	kit.sent += n;
}

void
kit_send(uint32_t n)
{
	struct hmq_tx tx[KIT_MAX];

	xp_assume(hmq_room(kit.w) >= n);
	xp_assume(kit_fill(tx, n));
	kit_publish(tx, n);
}

uint64_t
kit_number(const struct hmq_rx *rx)
{
	const uint64_t *data = rx->data;

	xp_check(rx->bytes == 16, "the length is wrong");
	xp_check(data[0] == ~data[1], "the payload is torn");
	return data[0];
}

uint32_t
kit_look(int reader, struct hmq_rx *rx, uint32_t n)
{
	int32_t there = hmq_peek(kit.r[reader], 0, rx, n);

	xp_check(there >= 0, "an honest writer is taken for a broken one");
	for (int32_t i = 0; i < there; i++)
		xp_check(kit_number(&rx[i]) == kit.taken[reader] + (uint64_t)i,
			 "a message is lost, doubled or out of order");
	return there > 0 ? (uint32_t)there : 0;
}

void
kit_take(int reader, uint32_t n)
{
	struct hmq_rx rx;

	for (uint32_t i = 0; i < n; i++) {
		xp_assume(kit_look(reader, &rx, 1) == 1);
		hmq_take(kit.r[reader], &rx, 1);
		kit.taken[reader]++;
	}
}

void
kit_check_idle(void)
{
	xp_check(hmq_writer_is_idle(kit.w), "a slot did not come back");
}

void
kit_check_account(uint32_t reader)
{
	struct hmq_edge_stat stat;

	xp_check(hmq_chan_stat(&kit.seg, reader, &stat) == 0, "no numbers");
	xp_check(stat.sent == stat.received + stat.lost + stat.left + stat.abandoned + stat.queued,
		 "sent is not received + lost + left + abandoned + queued");
	xp_check(stat.sent == kit.sent, "sent is not what was published");
}
