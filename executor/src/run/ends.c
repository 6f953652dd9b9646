/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.c - how a node ends, and when nobody is left to read it.
 *
 * The end of a node passes on: its outputs end, its inputs are closed, so that
 * readers drain and writers look for another reader.  A node whose readers have
 * all gone ends too, unless one of them is being started again.  [worker]
 */
#include "base/clock.h"
#include "run/inst.h"

void
hr_inst_end(struct hr_inst *n, enum hr_node_state as)
{
	if (n->state == HR_INST_ENDED)
		return;
	n->state = HR_INST_ENDED;
	for (uint32_t i = 0; i < n->n_out; i++) {
		struct hr_out *out = &n->out[i];

		hmq_cancel(out->writer, hr_hmq_tx(out->tx), out->loaned);
		out->loaned = 0;
		hmq_writer_end(out->writer);
	}
	for (uint32_t i = 0; i < n->n_in; i++) {
		struct hr_in *in = &n->in[i];

		if (!in->link.reader)
			continue;
		for (uint32_t k = 0; k < in->n_keeps; k++)
			hmq_release(in->keep_of[k]->reader, hr_hmq_rx(&in->keep[k]), 1);
		in->n_keeps = 0;
		hr_link_end(&in->link);
	}
	for (uint32_t i = 0; i < n->n_gathers; i++)
		hr_gather_close_input(n->gather[i]);
	n->wait_for = HR_FOR_NOTHING;
	hr_store32_relaxed(&n->page->wait_for, HR_FOR_NOTHING);
	hr_store_relaxed(&n->page->end_ns, hr_mono_ns());
	if (as == HR_NODE_ENDED && n->peer_lost)
		as = HR_NODE_LOST;
	hr_store32_release(&n->page->state, as);
	n->worker->n_live--;
	/* The end of a node is no hot path: the bell is a system call. */
	hr_guard_leave(n->worker);
	hr_wire_ring(n->worker->host->wiring);
	hr_guard_enter(n->worker, 0);
}

void
hr_inst_stop(struct hr_inst *n, uint32_t stop)
{
	bool live = n->op->flags & HOP_F_LIVE;

	if (n->state == HR_INST_ENDED)
		return;
	if (stop >= HR_STOP_NOW) {
		hr_inst_end(n, HR_NODE_ENDED);
		return;
	}
	if (!n->is_source) {
		n->io.stopping = stop >= HR_STOP_SOURCES;
		return;
	}
	if (!live) {
		if (stop >= HR_STOP_SOURCES)
			hr_inst_end(n, HR_NODE_ENDED);
		return;
	}
	if (stop >= HR_STOP_LIVE) {
		n->io.stopping = 1;
		n->idle = false;
		n->wake_ns = 0;
		n->fd_ready = true;
	}
}

/* Some reader is dead now, but its process is being started again. */
static bool
a_reader_returns(const struct hr_inst *n, const struct hr_out *out)
{
	const struct hr_plan *p = n->host->plan;
	const struct hr_plan_chan *c = &p->chan[out->chan];
	struct hr_page *page = n->host->wiring->page;

	for (uint32_t r = 0; out->may_return && r < c->n_readers; r++) {
		uint32_t to = p->graph->edge[c->edge[r]].to;
		uint32_t process = p->worker[p->node[to].worker].process;

		if (p->process[process].on_failure == HR_ON_FAILURE_RESTART &&
		    !hr_load32_acquire(&hr_page_process(page, process)->gone) &&
		    hr_load32_acquire(&hr_page_node(page, to)->state) < HR_NODE_ENDED)
			return true;
	}
	return false;
}

bool
hr_inst_is_unread(struct hr_inst *n)
{
	bool had = false, has = false;

	for (uint32_t i = 0; i < n->n_out; i++) {
		struct hr_out *out = &n->out[i];

		if (!out->has_readers)
			has = true; /* nobody was to read it: it says nothing about the end */
		else if (!out->unread && hmq_writer_readers(out->writer) == 0) {
			out->held = a_reader_returns(n, out);
			out->unread = !out->held;
		} else {
			out->held = false;
		}
		had |= out->has_readers;
		has |= out->has_readers && !out->unread;
	}
	return had && !has;
}
