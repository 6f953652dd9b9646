/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - from plan and wiring to instances and workers.
 *
 * Everything an instance needs is allocated here, once; afterwards the loop
 * touches only what exists.  A failure is written into the page as this
 * process's.  [control]
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "run/inst.h"

static bool
is_connected(const struct hr_plan *p, uint32_t edge)
{
	return edge != UINT32_MAX && p->graph->edge[edge].from != UINT32_MAX;
}

static int
build_input(struct hr_host *h, struct hr_inst *n, uint32_t i)
{
	const struct hr_plan *p = h->plan;
	const struct hr_port_in *port = &p->bound->node[n->node].in[i];
	struct hr_in *in = &n->in[i];
	const struct hr_plan_edge *pe;
	struct hmq_peer peer = { .event_fd = -1 };
	struct hmq_error e = { 0 };
	uint32_t chan, reader = 0;

	n->io.in[i].ended = 1;
	if (!is_connected(p, port->edge))
		return 0;
	pe = &p->edge[port->edge];
	in->edge = port->edge;
	in->max = pe->max_in;
	in->min = pe->want;
	in->any = port->port->flags & HOP_PORT_ANY;
	in->loop = p->graph->edge[port->edge].initial > 0;
	in->rx = HR_ARRAY(h->arena, in->max, struct hop_rx);
	in->keep_shown = HR_ARRAY(h->arena, in->max, bool);
	in->max_keeps = port->keeps;
	in->keep = HR_ARRAY(h->arena, in->max_keeps ? in->max_keeps : 1, struct hop_rx);
	in->keep_of = HR_ARRAY(h->arena, in->max_keeps ? in->max_keeps : 1, struct hr_reading *);
	in->carry = HR_ARRAY(h->arena, in->max, struct hr_reading *);
	in->page = hr_page_edge(h->wiring->page, port->edge);
	n->io.in[i].msg = in->rx;
	n->io.in[i].ended = 0;
	if (pe->gather_chan != UINT32_MAX) {
		struct hr_gather_run *g = hr_gather_new(h, port->edge, n);

		if (!g) {
			hr_control_fail(h, HR_FAILURE_HOST, n->node, HR_CALL_OPEN, EBADMSG,
					"the gather cannot attach to its channels");
			return -EBADMSG;
		}
		n->gather[n->n_gathers++] = g;
		chan = pe->gather_chan;
	} else {
		peer = hr_wire_peer(h->wiring, p->node[n->node].worker,
				    p->node[p->graph->edge[port->edge].from].worker);
		chan = pe->chan;
		reader = pe->reader;
	}
	if (hr_link_open(h, &in->link, chan, reader, &peer, &e)) {
		hr_control_fail(h, HR_FAILURE_HOST, n->node, HR_CALL_OPEN, -e.code, e.text);
		return e.code;
	}
	return 0;
}

static int
prime_loops(struct hr_host *h, struct hr_inst *n, struct hr_out *out, const struct hr_plan_chan *c)
{
	const struct hr_plan *p = h->plan;

	for (uint32_t r = 0; r < c->n_readers; r++) {
		uint32_t initial = p->graph->edge[c->edge[r]].initial;
		int rc = initial ? hmq_prime(out->writer, r, initial, c->format.max_bytes) : 0;

		if (rc) {
			hr_control_fail(h, HR_FAILURE_HOST, n->node, HR_CALL_OPEN, -rc,
					"the initial messages do not fit the channel");
			return rc;
		}
	}
	return 0;
}

static int
build_output(struct hr_host *h, struct hr_inst *n, uint32_t i)
{
	const struct hr_plan *p = h->plan;
	const struct hr_port_out *port = &p->bound->node[n->node].out[i];
	uint32_t chan = p->node[n->node].out_chan[i];
	const struct hr_plan_chan *c = &p->chan[chan];
	struct hr_out *out = &n->out[i];
	struct hmq_peer peer[HMQ_MAX_READERS];
	struct hmq_error e = { 0 };

	for (uint32_t r = 0; r < c->n_readers && r < HMQ_MAX_READERS; r++)
		peer[r] = hr_wire_peer(h->wiring, p->node[n->node].worker,
				       p->node[p->graph->edge[c->edge[r]].to].worker);
	out->max = c->max_out;
	out->min = port->port->min_batch ? port->port->min_batch : 1;
	out->chan = chan;
	out->has_readers = c->n_readers > 0;
	for (uint32_t r = 0; r < c->n_readers; r++)
		out->may_return |=
			p->process[p->worker[p->node[p->graph->edge[c->edge[r]].to].worker].process]
				.on_failure == HR_ON_FAILURE_RESTART;
	out->tx = HR_ARRAY(h->arena, out->max, struct hop_tx);
	n->io.out[i].msg = out->tx;
	if (hmq_writer_open(&out->writer, &h->wiring->chan[chan], peer, &e)) {
		hr_control_fail(h, HR_FAILURE_HOST, n->node, HR_CALL_OPEN, -e.code, e.text);
		return e.code;
	}
	return prime_loops(h, n, out, c);
}

static void
prepare_inst(struct hr_host *h, struct hr_inst *n, struct hr_worker *w, uint32_t node)
{
	const struct hr_graph *g = h->plan->graph;
	const struct hr_bound_node *b = &h->plan->bound->node[node];
	const struct hop_op *op = b->op;

	n->op = op;
	n->node = node;
	n->worker = w;
	n->host = h;
	n->page = hr_page_node(h->wiring->page, node);
	n->n_in = b->n_in;
	n->n_out = b->n_out;
	n->is_source = b->n_in == 0;
	n->is_sink = b->n_out == 0;
	n->end_any = g->node[node].end_any;
	n->count_left = n->is_source && h->opt->count ? h->opt->count : INT64_MAX;
	n->in = HR_ARRAY(h->arena, b->n_in, struct hr_in);
	n->out = HR_ARRAY(h->arena, b->n_out, struct hr_out);
	n->gather = HR_ARRAY(h->arena, b->n_in, struct hr_gather_run *);
	n->state_mem = hr_alloc_aligned(h->arena, op->state_size ? op->state_size : 1,
					op->state_align ? op->state_align : 64);
	n->io = (struct hop_io){
		.size = sizeof n->io,
		.in = HR_ARRAY(h->arena, b->n_in, struct hop_in),
		.out = HR_ARRAY(h->arena, b->n_out, struct hop_out),
		.n_in = b->n_in,
		.n_out = b->n_out,
		.deadline_ns = INT64_MAX,
		.stopping = h->opt->count && !n->is_source,
	};
	n->ctx = (struct hop_ctx){
		.size = sizeof n->ctx,
		.log_level = h->opt->log_level,
		.name = g->node[node].name.text,
		.params = b->params,
		.counters = hr_page_counters(h->wiring->page, node),
		.host = &h->api,
		.cpu = w->plan->cpu,
		.cuda_device = -1,
	};
}

/* The formats as binding settled them, in the words shape() was asked in. */
static void
recall_shape(struct hr_host *h, struct hr_inst *n)
{
	const struct hr_bound_node *b = &h->plan->bound->node[n->node];
	const struct hop_format **in = HR_ARRAY(h->arena, b->n_in, const struct hop_format *);
	struct hop_format **out = HR_ARRAY(h->arena, b->n_out, struct hop_format *);

	n->shape = (struct hop_shape){
		.size = sizeof n->shape,
		.n_in = b->n_in,
		.n_out = b->n_out,
		.in = in,
		.out = out,
		.need = HR_ARRAY(h->arena, b->n_in, uint32_t),
		.gives = HR_ARRAY(h->arena, b->n_out, uint32_t),
		.keeps = HR_ARRAY(h->arena, b->n_in, uint32_t),
	};
	for (uint32_t i = 0; i < b->n_in; i++) {
		in[i] = &b->in[i].format;
		n->shape.need[i] = b->in[i].need;
		n->shape.keeps[i] = b->in[i].keeps;
	}
	for (uint32_t i = 0; i < b->n_out; i++) {
		out[i] = &b->out[i].format;
		n->shape.gives[i] = b->out[i].gives;
	}
	memcpy(n->shape.extent, b->extent, sizeof n->shape.extent);
}

static int
build_inst(struct hr_host *h, struct hr_inst *n, struct hr_worker *w, uint32_t node)
{
	int rc = 0;

	prepare_inst(h, n, w, node);
	recall_shape(h, n);
	for (uint32_t i = 0; i < n->n_out && !rc; i++)
		rc = build_output(h, n, i);
	for (uint32_t i = 0; i < n->n_in && !rc; i++)
		rc = build_input(h, n, i);
	return rc;
}

static int
build_worker(struct hr_host *h, struct hr_worker *w, uint32_t index)
{
	w->plan = &h->plan->worker[index];
	w->host = h;
	w->index = index;
	w->waiter = hr_page_waiter(h->wiring->page, index);
	w->page = hr_page_worker(h->wiring->page, index);
	w->run_page = h->wiring->page;
	/* All that follows is this worker's: it begins a block that no other worker writes to. */
	w->inst = hr_alloc_aligned(h->arena, w->plan->n_nodes * sizeof(struct hr_inst *),
				   HR_PAGE_BLOCK);
	if (w->plan->watches) {
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = NULL };

		w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		if (w->epoll_fd < 0 ||
		    epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, h->wiring->event_fd[index], &ev)) {
			hr_control_fail(h, HR_FAILURE_HOST, HR_NO_NODE, HR_CALL_OPEN, errno,
					"no descriptor for the worker's epoll set (see ulimit -n)");
			return -EMFILE;
		}
	}
	for (uint32_t i = 0; i < w->plan->n_nodes; i++) {
		struct hr_inst *n = &h->inst[h->n_inst++];
		int rc = build_inst(h, n, w, w->plan->node[i]);

		w->inst[w->n_inst++] = n;
		if (rc)
			return rc;
	}
	w->n_live = w->n_inst;
	return 0;
}

static bool
is_ours(const struct hr_host *h, const struct hr_plan_worker *w)
{
	return h->process == UINT32_MAX || w->process == h->process;
}

int
hr_host_build(struct hr_host *h)
{
	uint32_t n_inst = 0, k = 0;
	int rc = 0;

	for (uint32_t i = 0; i < h->plan->n_workers; i++) {
		if (!is_ours(h, &h->plan->worker[i]))
			continue;
		h->n_workers++;
		n_inst += h->plan->worker[i].n_nodes;
	}
	h->worker = hr_alloc_aligned(h->arena, h->n_workers * sizeof(struct hr_worker),
				     _Alignof(struct hr_worker));
	h->inst = HR_ARRAY(h->arena, n_inst, struct hr_inst);
	for (uint32_t i = 0; i < h->n_workers; i++)
		h->worker[i].epoll_fd = -1;
	for (uint32_t i = 0; i < h->plan->n_workers && !rc; i++)
		if (is_ours(h, &h->plan->worker[i]))
			rc = build_worker(h, &h->worker[k++], i);
	return rc;
}

static void
free_handles(struct hr_inst *n)
{
	for (uint32_t i = 0; i < n->n_in; i++)
		hr_link_close(&n->in[i].link);
	for (uint32_t i = 0; i < n->n_out; i++)
		if (n->out[i].writer)
			hmq_writer_free(n->out[i].writer);
	for (uint32_t i = 0; i < n->n_gathers; i++)
		hr_gather_free(n->gather[i]);
	n->n_in = n->n_out = n->n_gathers = 0;
}

void
hr_host_free(struct hr_host *h)
{
	for (uint32_t i = 0; i < h->n_inst; i++)
		free_handles(&h->inst[i]);
	for (uint32_t i = 0; i < h->n_workers; i++)
		if (h->worker[i].epoll_fd >= 0)
			close(h->worker[i].epoll_fd);
}

/* The queues' numbers of the edges read here, into the page. */
void
hr_host_snapshot(struct hr_host *h)
{
	const struct hr_plan *p = h->plan;
	const struct hmq_segment *seg = h->wiring->chan;

	for (uint32_t i = 0; i < h->n_inst; i++) {
		const struct hr_bound_node *b = &p->bound->node[h->inst[i].node];

		for (uint32_t k = 0; k < b->n_in; k++) {
			const struct hr_plan_edge *pe;
			struct hr_page_edge *page;

			if (!is_connected(p, b->in[k].edge))
				continue;
			pe = &p->edge[b->in[k].edge];
			page = hr_page_edge(h->wiring->page, b->in[k].edge);
			if (!seg[pe->chan].base)
				continue;
			hmq_chan_stat(&seg[pe->chan], pe->reader, &page->queue);
			if (pe->gather_chan != UINT32_MAX && seg[pe->gather_chan].base)
				hmq_chan_stat(&seg[pe->gather_chan], 0, &page->gathered);
			/* Q1: publishes the copies; pairs with Q2 in super.c */
			hr_store32_release(&page->queue_valid, 1);
		}
	}
}
