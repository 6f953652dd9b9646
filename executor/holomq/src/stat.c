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

int
hmq_chan_stat(const struct hmq_segment *seg, uint32_t reader, struct hmq_edge_stat *out)
{
	struct hmq_layout lay;
	int rc = hmq_layout_of_segment(&lay, seg, NULL);

	if (rc)
		return rc;
	if (reader >= lay.n_readers)
		return -EINVAL;
	const struct hmq_row *row = hmq_at(seg, lay.reader[reader].row_at);
	/* relaxed throughout: see above */
	uint64_t head = hmq_load_relaxed_u64(&row->head);
	uint64_t tail = hmq_load_relaxed_u64(&row->tail);
	uint64_t queued = tail - head;
	uint32_t fate = hmq_load_relaxed_u32(&row->fate);
	uint32_t seen = hmq_load_relaxed_u32(&row->max_queued_seen);

	*out = (struct hmq_edge_stat){
		.lost = hmq_load_relaxed_u64(&row->lost),
		.left = hmq_load_relaxed_u64(&row->left),
		.max_queued = hmq_load_relaxed_u32(&row->max_queued),
		.depth = lay.reader[reader].depth,
		.slots = lay.slots,
	};
	/* head was read first, so a running reader can only make this too large. */
	if (queued > out->depth)
		queued = out->depth;
	if (fate == HMQ_FATE_DEAD || fate == HMQ_FATE_BROKEN)
		queued = hmq_load_relaxed_u64(&row->abandoned);
	out->sent = tail + out->lost + out->left;
	out->received = tail - queued;
	if (fate == HMQ_FATE_DEAD || fate == HMQ_FATE_BROKEN)
		out->abandoned = queued;
	else if (fate == HMQ_FATE_CLOSED || hmq_load_relaxed_u32(&row->closed) != 0)
		out->left += queued;
	else
		out->queued = (uint32_t)queued;
	if (seen > out->max_queued)
		out->max_queued = seen;
	if (out->queued > out->max_queued)
		out->max_queued = out->queued;
	return 0;
}
