/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - the reading end of an edge whose writer may come back.
 *
 * A restarted writer comes with a new channel.  The control thread maps it and
 * offers a reader of it as `next`; the worker takes what is left in the old
 * channel and then moves over.  What it left is freed by the control thread when
 * the next one comes, or at the end, and the old channel goes with its last
 * reader.  Without restarts a link is its reader and nothing else.
 */
#include <errno.h>
#include <string.h>

#include "run/inst.h"

/* ---- [worker] ------------------------------------------------------------------------------- */

static uint32_t
move_over(struct hr_link *l, struct hr_reading *next)
{
	if (hmq_queued(l->reader) != 0)
		return HMQ_OPEN;
	if (l->pinned) {
		l->now->chain = l->stuck;
		l->stuck = l->now;
	} else {
		/* N3: the worker is done with it; pairs with N4 in offer */
		hr_store_ptr_release(&l->left, l->now);
	}
	l->now = next;
	l->reader = next->reader;
	hr_store_ptr_release(&l->next, NULL);
	return HMQ_OPEN;
}

uint32_t
hr_link_peer(struct hr_link *l)
{
	uint32_t state = hmq_reader_peer(l->reader);
	struct hr_reading *next;

	if (!l->may_return || state == HMQ_BROKEN || state == HMQ_ENDED)
		return state;
	/* N2: sees the new reader whole; pairs with N1 in offer */
	next = hr_load_ptr_acquire(&l->next);
	if (next)
		return move_over(l, next);
	if (state == HMQ_LOST && !hr_load32_acquire(l->gone))
		return HMQ_OPEN; /* it is being started again */
	return state;
}

/* ---- [control] ------------------------------------------------------------------------------ */

int
hr_link_open(struct hr_host *h, struct hr_link *l, uint32_t chan, uint32_t reader,
	     const struct hmq_peer *peer, struct hmq_error *err)
{
	const struct hr_plan *p = h->plan;
	uint32_t writer = p->worker[hr_wire_writer(p, &p->chan[chan])].process;
	struct hmq_segment *seg = &h->wiring->chan[chan];
	bool rejoin = h->rejoins && writer != h->process;
	int rc;

	l->now = l->latest = HR_NEW(h->arena, struct hr_reading);
	l->gone = &hr_page_process(h->wiring->page, writer)->gone;
	l->may_return = p->process[writer].on_failure == HR_ON_FAILURE_RESTART &&
			h->process != UINT32_MAX && writer != h->process;
	rc = rejoin ? hmq_reader_rejoin(&l->now->reader, seg, reader, peer, err)
		    : hmq_reader_open(&l->now->reader, seg, reader, peer, err);
	l->reader = rc ? NULL : l->now->reader;
	return rc;
}

static void
free_reading(struct hr_reading *r)
{
	if (!r || !r->reader)
		return;
	hmq_reader_free(r->reader);
	r->reader = NULL;
	if (r->attached && --r->attached->refs == 0)
		hmq_segment_close(&r->attached->seg);
}

void
hr_link_close(struct hr_link *l)
{
	free_reading(l->now);
	free_reading(l->next);
	free_reading(l->left);
	for (struct hr_reading *r = l->stuck; r; r = r->chain)
		free_reading(r);
	*l = (struct hr_link){ 0 };
}

static int
offer(struct hr_host *h, struct hr_link *l, uint32_t edge, const struct hmq_segment *seg,
      struct hr_attached *old, struct hmq_error *err)
{
	const struct hr_plan *p = h->plan;
	struct hr_reading *r = HR_NEW(h->arena, struct hr_reading), *unused;
	uint32_t reader = p->node[p->graph->edge[edge].to].worker;
	struct hmq_peer peer =
		hr_wire_peer(h->wiring, reader, p->node[p->graph->edge[edge].from].worker);
	int rc = hmq_reader_open(&r->reader, seg, p->edge[edge].reader, &peer, err);

	if (rc)
		return rc;
	l->latest->attached = old;
	old->refs++;
	l->latest = r;
	/* N4: sees that the worker let go; pairs with N3 in move_over */
	free_reading(hr_swap_ptr(&l->left, NULL));
	/* N1: publishes the reader; pairs with N2.  One that was never taken up comes back. */
	unused = hr_swap_ptr(&l->next, r);
	if (unused) {
		hmq_reader_end(unused->reader);
		free_reading(unused);
	}
	hr_wire_wake(h->wiring, reader);
	return 0;
}

static struct hr_link *
link_of(struct hr_inst *n, uint32_t port, uint32_t edge)
{
	for (uint32_t i = 0; i < n->n_gathers; i++)
		if (hr_gather_edge(n->gather[i]) == edge)
			return hr_gather_link(n->gather[i]);
	return &n->in[port].link;
}

int
hr_link_renew(struct hr_host *h, uint32_t chan, int fd, struct hr_error *err)
{
	const struct hr_plan *p = h->plan;
	struct hr_attached *old = HR_NEW(h->arena, struct hr_attached);
	struct hmq_segment seg;
	struct hmq_error e = { 0 };

	if (hmq_segment_map(&seg, fd, &e))
		return HR_FAIL(err, -e.code, "the channel of a restarted node: %s", e.text);
	old->seg = h->wiring->chan[chan];
	h->wiring->chan[chan] = seg;
	for (uint32_t i = 0; i < h->n_inst; i++) {
		const struct hr_bound_node *b = &p->bound->node[h->inst[i].node];

		for (uint32_t k = 0; k < h->inst[i].n_in; k++) {
			uint32_t edge = b->in[k].edge;

			if (edge == UINT32_MAX || p->edge[edge].chan != chan)
				continue;
			if (offer(h, link_of(&h->inst[i], k, edge), edge, &seg, old, &e))
				return HR_FAIL(err, -e.code, "the channel of a restarted node: %s",
					       e.text);
		}
	}
	if (old->refs == 0)
		hmq_segment_close(&old->seg);
	return 0;
}
