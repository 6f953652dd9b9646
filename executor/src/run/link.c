/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - the reading end of an edge whose writer may come back.
 *
 * A restarted writer comes with a new channel.  The control thread maps it and
 * offers a reader of it; the worker takes what is left in the old channel and then
 * moves over, one channel after the other, so that nothing that was published is
 * lost.  Messages of an older channel that are kept, or too few for a call, hold
 * that channel until they are given back.  What the worker is done with is freed
 * by the control thread when the next one comes, or at the end.  Without restarts a
 * link is its reader and nothing else.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "run/inst.h"

/* ---- [worker] ------------------------------------------------------------------------------- */

/* The control thread may free it. */
static void
retire(struct hr_link *l, struct hr_reading *r)
{
	r->chain = hr_swap_ptr(&l->left, NULL);
	/* N3: the worker is done with it; pairs with N4 in free_left.  Only the worker adds. */
	hr_store_ptr_release(&l->left, r);
}

static bool
another_comes(struct hr_link *l)
{
	if (!l->coming && hr_load_ptr_acquire(&l->next))
		/* N2: sees the new readers whole; pairs with N1 in offer */
		l->coming = hr_swap_ptr(&l->next, NULL);
	return l->coming;
}

static void
move_over(struct hr_link *l, uint32_t shown)
{
	struct hr_reading *was = l->now;

	l->now = l->coming;
	l->coming = l->now->chain;
	l->reader = l->now->reader;
	was->held += shown;
	if (!was->held) {
		retire(l, was);
		return;
	}
	was->chain = l->before;
	l->before = was;
}

uint32_t
hr_link_peer(struct hr_link *l, uint32_t shown)
{
	uint32_t state = hmq_reader_peer(l->reader);

	if (!l->may_return || state == HMQ_BROKEN || state == HMQ_ENDED)
		return state;
	if (another_comes(l)) {
		if (hmq_queued(l->reader) == shown)
			move_over(l, shown);
		return HMQ_OPEN;
	}
	if (state == HMQ_LOST && !hr_load32_acquire(l->gone))
		return HMQ_OPEN; /* it is being started again */
	return state;
}

void
hr_link_let_go(struct hr_link *l, struct hr_reading *r)
{
	struct hr_reading **at = &l->before;

	if (--r->held || r == l->now)
		return;
	while (*at && *at != r)
		at = &(*at)->chain;
	if (!*at)
		return;
	*at = r->chain;
	retire(l, r);
}

static void
end_all(struct hr_reading *list)
{
	for (; list; list = list->chain)
		hmq_reader_end(list->reader);
}

void
hr_link_end(struct hr_link *l)
{
	hmq_reader_end(l->reader);
	end_all(l->before);
	end_all(l->coming);
	/* N5: whoever offers from now on sees it, or what is offered is taken here; pairs with N6
	 */
	hr_store32_release(&l->ended, 1);
	if (!l->coming) {
		l->coming = hr_swap_ptr(&l->next, NULL);
		end_all(l->coming);
	} else {
		struct hr_reading *last = l->coming;

		while (last->chain)
			last = last->chain;
		last->chain = hr_swap_ptr(&l->next, NULL);
		end_all(last->chain);
	}
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
free_reading(struct hr_link *l, struct hr_reading *r)
{
	if (!r || !r->reader)
		return;
	hmq_reader_free(r->reader);
	if (r->attached && --r->attached->refs == 0)
		hmq_segment_close(&r->attached->seg);
	*r = (struct hr_reading){ .chain = l->spare };
	l->spare = r;
}

static void
free_all(struct hr_link *l, struct hr_reading *list)
{
	while (list) {
		struct hr_reading *r = list;

		list = r->chain;
		free_reading(l, r);
	}
}

void
hr_link_close(struct hr_link *l)
{
	free_reading(l, l->now);
	free_all(l, l->coming);
	free_all(l, l->before);
	free_all(l, l->next);
	free_all(l, l->left);
	*l = (struct hr_link){ 0 };
}

/* Add it behind those that wait; those in which nothing came, and nothing will, go. */
static struct hr_reading *
add_last(struct hr_link *l, struct hr_reading *waiting, struct hr_reading *r)
{
	struct hr_reading **at = &waiting;

	while (*at) {
		struct hr_reading *w = *at;

		if (hmq_queued(w->reader)) {
			at = &w->chain;
			continue;
		}
		*at = w->chain;
		hmq_reader_end(w->reader);
		free_reading(l, w);
	}
	*at = r;
	return waiting;
}

static int
offer(struct hr_host *h, struct hr_link *l, uint32_t edge, const struct hmq_segment *seg,
      struct hr_attached *old, struct hmq_error *err)
{
	const struct hr_plan *p = h->plan;
	struct hr_reading *r = l->spare, *waiting;
	uint32_t reader = p->node[p->graph->edge[edge].to].worker;
	struct hmq_peer peer =
		hr_wire_peer(h->wiring, reader, p->node[p->graph->edge[edge].from].worker);
	struct hmq_reader *opened;
	int rc = hmq_reader_open(&opened, seg, p->edge[edge].reader, &peer, err);

	if (rc)
		return rc;
	if (l->latest->reader) { /* else it was freed: the node has ended */
		l->latest->attached = old;
		old->refs++;
	}
	if (r)
		l->spare = r->chain;
	else
		r = HR_NEW(h->arena, struct hr_reading);
	*r = (struct hr_reading){ .reader = opened };
	l->latest = r;
	/* N4: sees that the worker let go; pairs with N3 in retire */
	free_all(l, hr_swap_ptr(&l->left, NULL));
	waiting = hr_swap_ptr(&l->next, NULL);
	/* N1: publishes the readers; pairs with N2 in another_comes */
	hr_swap_ptr(&l->next, add_last(l, waiting, r));
	/* N6: either the worker saw r when it ended, or it is seen here that it has; pairs with N5
	 */
	if (hr_load32_acquire(&l->ended)) {
		waiting = hr_swap_ptr(&l->next, NULL);
		end_all(waiting);
		free_all(l, waiting);
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

static struct hr_attached *
unused_attached(struct hr_host *h)
{
	struct hr_attached *a = h->attached;

	while (a && (a->refs || a->seg.base))
		a = a->next;
	if (!a) {
		a = HR_NEW(h->arena, struct hr_attached);
		a->next = h->attached;
		h->attached = a;
	}
	return a;
}

int
hr_link_renew(struct hr_host *h, uint32_t chan, int fd, struct hr_error *err)
{
	const struct hr_plan *p = h->plan;
	struct hr_attached *old;
	struct hmq_segment seg;
	struct hmq_error e = { 0 };

	if (hmq_segment_map(&seg, fd, &e)) {
		close(fd);
		return HR_FAIL(err, -e.code, "the channel of a restarted node: %s", e.text);
	}
	old = unused_attached(h);
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
