/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap.c - look at the messages of an edge without taking part.
 *
 * The memory is mapped read-only and nothing waits for us, so the edge runs as if we
 * were not there; the price is that a message can be gone before it was copied.  It
 * cannot change as long as the edge's own reader holds it: the byte held[reader][slot]
 * is set before the slot enters the queue and cleared when the reader is done, and a
 * slot used again has another sequence number.  Held with the same number before and
 * after the copy: the copy is whole.  A slot that is queued once more further on holds
 * that later message, and numbers that do not rise were shown before.  Everything else
 * is counted as missed: nothing is torn, doubled or out of order.
 *
 * The checks rely on loads staying in order, which x86-64 guarantees.
 */
#include <errno.h>
#include <string.h>

#include "atomic.h"
#include "layout.h"
#include "tool.h"

struct tap_view {
	struct hmq_layout lay;
	const struct hmq_row *row;
	struct hmq_held held;
	uint32_t mask;
};

int
tap_open(struct tap *t, const struct hmq_segment *seg, uint32_t reader)
{
	struct tap_view *v = hmq_alloc(sizeof(*v));
	struct hmq_error err;

	memset(t, 0, sizeof(*t));
	if (!v)
		return tool_fail(EXIT_MACHINE, "no memory");
	t->view = v;
	t->seg = seg;
	if (hmq_layout_of_segment(&v->lay, seg, &err) || reader >= v->lay.n_readers) {
		tap_close(t);
		return tool_fail(EXIT_FAILED, "the edge's memory makes no sense: %s", err.text);
	}
	v->row = hmq_at(seg, v->lay.reader[reader].row_at);
	v->held = hmq_held_in(seg, &v->lay.reader[reader]);
	v->mask = v->lay.reader[reader].cells - 1;
	t->room = v->lay.payload_bytes;
	t->data = hmq_alloc(t->room);
	if (!t->data) {
		tap_close(t);
		return tool_fail(EXIT_MACHINE, "no memory for a message of %llu bytes",
				 (unsigned long long)t->room);
	}
	/* A1: from here on; what is queued already is somebody's business. */
	t->at = hmq_load_acquire_u64(&v->row->tail);
	return 0;
}

void
tap_close(struct tap *t)
{
	hmq_dealloc(t->data);
	hmq_dealloc(t->view);
	t->data = NULL;
	t->view = NULL;
}

/* Keeps the compiler from moving loads; the machine does not. */
static inline void
in_order(void)
{
	__asm__ volatile("" ::: "memory");
}

static int
copy(struct tap *t, uint32_t slot)
{
	const struct tap_view *v = t->view;
	uint64_t at = v->lay.first_at + slot * v->lay.stride;
	const struct hmq_head *head = hmq_at(t->seg, at - sizeof(*head));
	uint64_t seq;

	if (hmq_load_acquire_u8(hmq_held_of(v->held, slot)) == 0)
		return 0;
	/* relaxed: checked again below */
	seq = hmq_load_relaxed_u64(&head->seq);
	in_order();
	memcpy(&t->head, head, sizeof(t->head));
	if (t->head.bytes > t->room)
		return 0;
	memcpy(t->data, hmq_at(t->seg, at), t->head.bytes);
	in_order();
	if (hmq_load_acquire_u8(hmq_held_of(v->held, slot)) == 0 ||
	    hmq_load_relaxed_u64(&head->seq) != seq || t->head.seq != seq || seq < t->next_seq)
		return 0;
	t->next_seq = seq + 1;
	return 1;
}

/* Is the slot of message `at` queued again before tail? */
static int
is_used_again(const struct tap_view *v, uint64_t at, uint64_t tail, uint32_t slot)
{
	while (++at != tail)
		/* relaxed: ordered by A1 */
		if (hmq_load_relaxed_u32(&v->row->cell[at & v->mask]) == slot)
			return 1;
	return 0;
}

int
tap_next(struct tap *t)
{
	const struct tap_view *v = t->view;

	for (;;) {
		/* A5, A1: as a reader of the edge */
		uint32_t ended = hmq_load_acquire_u32(&v->row->ended);
		uint64_t tail = hmq_load_acquire_u64(&v->row->tail);
		uint64_t cells = (uint64_t)v->mask + 1;
		uint32_t slot;

		if (tail == t->at)
			return ended ? -1 : 0;
		if (tail - t->at > cells) {
			t->missed += tail - t->at - cells;
			t->at = tail - cells;
		}
		/* relaxed: ordered by A1 */
		slot = hmq_load_relaxed_u32(&v->row->cell[t->at & v->mask]);
		if (slot < v->lay.slots && !is_used_again(v, t->at, tail, slot) && copy(t, slot)) {
			t->at++;
			t->seen++;
			return 1;
		}
		t->at++;
		t->missed++;
	}
}
