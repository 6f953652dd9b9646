/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat.c - the numbers of an edge, for any process that maps the segment.
 *
 * Each number has one writer and is read relaxed: a snapshot while the ends run,
 * exact once they have stopped.  Sent and received are the cursors themselves, so
 * counting costs the hot path nothing.
 */
#include <errno.h>

#include "atomic.h"
#include "layout.h"

/* What the reader has not got of the messages before tail, as far as nobody has counted it yet. */
static void
count_open(const struct hmq_row *row, const struct hmq_row_place *place, uint64_t head,
	   uint64_t tail, struct hmq_edge_stat *out)
{
	/* relaxed throughout: see above */
	uint64_t queued = tail - head;
	uint64_t dropped = 0, returned = 0;
	uint32_t ticket = hmq_load_relaxed_u32(&row->ticket);

	/* head was read first, so a running reader can only make this too large. */
	if (queued > place->depth)
		queued = place->depth;
	if (place->policy == HMQ_DROP_OLDEST) {
		/* Moved by the writer and not counted by it yet, for ever if it was killed then. */
		dropped = head - hmq_load_relaxed_u64(&row->claimed) -
			  hmq_load_relaxed_u64(&row->skipped);
		if (dropped > place->depth)
			dropped = 0;
		returned = hmq_load_relaxed_u64(&row->returned);
		if (returned > place->depth)
			returned = 0;
	}
	out->lost += dropped;
	out->received -= queued + dropped;
	if (hmq_load_relaxed_u32(&row->accepted) == ticket) {
		out->queued = (uint32_t)queued;
		return;
	}
	/* Closed, or replaced by one that was not let in yet. */
	if (ticket & (HMQ_TICKET_CLOSED | HMQ_TICKET_FORMER)) {
		out->received -= returned;
		out->left += queued + returned;
	} else {
		out->abandoned += queued;
	}
}

static void
read_row(const struct hmq_row *row, const struct hmq_row_place *place, struct hmq_edge_stat *out)
{
	/* relaxed throughout: see above */
	uint64_t head = hmq_load_relaxed_u64(&row->head);
	uint64_t tail = hmq_load_relaxed_u64(&row->tail);
	uint64_t skipped = hmq_load_relaxed_u64(&row->skipped);
	uint32_t seen = hmq_load_relaxed_u32(&row->max_queued_seen);

	*out = (struct hmq_edge_stat){
		.lost = hmq_load_relaxed_u64(&row->lost),
		.left = hmq_load_relaxed_u64(&row->left),
		.abandoned = hmq_load_relaxed_u64(&row->abandoned),
		.received = tail - skipped,
		.max_queued = hmq_load_relaxed_u32(&row->max_queued),
		.depth = place->depth,
	};
	if (hmq_load_relaxed_u32(&row->fate) == HMQ_FATE_OPEN)
		count_open(row, place, head, tail, out);
	out->sent = out->received + out->queued + out->lost + out->left + out->abandoned;
	if (seen > out->max_queued)
		out->max_queued = seen;
	if (out->queued > out->max_queued)
		out->max_queued = out->queued;
}

int
hmq_chan_stat(const struct hmq_segment *seg, uint32_t reader, struct hmq_edge_stat *out)
{
	struct hmq_layout lay;
	int rc = hmq_layout_of_segment(&lay, seg, NULL);

	if (rc)
		return rc;
	if (reader >= lay.n_readers)
		return -EINVAL;
	read_row(hmq_at(seg, lay.reader[reader].row_at), &lay.reader[reader], out);
	out->slots = lay.slots;
	return 0;
}

int
hmq_chan_epoch(const struct hmq_segment *seg, uint32_t *out)
{
	struct hmq_layout lay;
	int rc = hmq_layout_of_segment(&lay, seg, NULL);

	if (!rc)
		*out = lay.epoch;
	return rc;
}
