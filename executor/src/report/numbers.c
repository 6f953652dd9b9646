// SPDX-License-Identifier: Apache-2.0
/*
 * numbers.c - shares, losses and names from the page and the plan.
 *
 * Shares are rounded so that the three of a node always sum to 100 %.
 */
#include "report/numbers.h"

#include <string.h>

const struct hop_counter *
hr_counter_at(const struct hop_op *op, uint32_t i)
{
	return (const void *)((const char *)op->counters.at + (size_t)i * op->counters.stride);
}

const char *
hr_device_text(const struct hr_bound_node *b)
{
	if (b->fallback)
		return "cpu (fallback)";
	return b->device == HOP_ON_CUDA ? "cuda" : "cpu";
}

static const struct hop_port *
port_at(const struct hop_op *op, uint32_t i)
{
	return (const void *)((const char *)op->ports.at + (size_t)i * op->ports.stride);
}

/* The port's name, with its position when it is one of an array ("in.2"). */
static const char *
port_text(struct hr_arena *a, const struct hop_op *op, uint32_t table_index, uint32_t index)
{
	const struct hop_port *self = port_at(op, table_index);
	uint32_t before = 0;

	if (!(self->flags & HOP_PORT_MANY))
		return self->name;
	for (uint32_t i = 0; i < table_index; i++)
		before += port_at(op, i)->dir == self->dir;
	return hr_printf(a, "%s.%u", self->name, index - before);
}

static const char *
edge_name(struct hr_arena *a, const struct hr_plan *p, uint32_t i)
{
	const struct hr_bound_edge *e = &p->bound->edge[i];
	const struct hr_bound_node *from = &p->bound->node[e->from], *to = &p->bound->node[e->to];

	return hr_printf(a, "%s.%s -> %s.%s", p->graph->node[e->from].name.text,
			 port_text(a, from->op, from->out[e->out].table_index, e->out),
			 p->graph->node[e->to].name.text,
			 port_text(a, to->op, to->in[e->in].table_index, e->in));
}

/*
 * Of the time its loop ran a node worked; the rest it waited, for what the samples say.  What no
 * sample explains was spent in other nodes of its thread, and counts as waiting for input.
 * Rounded so that the sum is exactly 1000: the largest remainders get the missing ones.
 */
static void
shares(const struct hr_page_worker *w, const struct hr_page_node *n, struct hr_node_numbers *out)
{
	double waits = (double)n->wait_in_ns + (double)n->wait_out_ns;
	/* A loop that was killed never wrote its end: then the samples have to do. */
	double elapsed = w->end_ns > w->start_ns ? (double)(w->end_ns - w->start_ns)
						 : (double)n->work_ns + waits;
	double rest = elapsed > (double)n->work_ns ? elapsed - (double)n->work_ns : 0;
	double part[3] = { (double)n->work_ns, rest, 0 };
	double sum = part[0] + rest;
	uint32_t whole[3], left = 1000;

	if (elapsed <= 0 || sum <= 0)
		return;
	if (waits > 0) {
		part[1] = rest * (double)n->wait_in_ns / waits;
		part[2] = rest * (double)n->wait_out_ns / waits;
	}
	for (int i = 0; i < 3; i++) {
		part[i] = part[i] * 1000 / sum;
		whole[i] = (uint32_t)part[i];
		part[i] -= whole[i];
		left -= whole[i];
	}
	while (left--) {
		int most = 0;

		for (int i = 1; i < 3; i++)
			if (part[i] > part[most])
				most = i;
		whole[most]++;
		part[most] = -1;
	}
	out->work = whole[0];
	out->wait_in = whole[1];
	out->wait_out = whole[2];
}

/* Filled on all outputs, less what went over those that are read. */
static uint64_t
unread(const struct hr_plan *p, struct hr_page *page, uint32_t node)
{
	const struct hr_bound_node *b = &p->bound->node[node];
	uint64_t filled = hr_page_node(page, node)->filled, read = 0;
	bool any = false;

	for (uint32_t o = 0; o < b->n_out; o++) {
		const struct hr_plan_chan *c = &p->chan[p->node[node].out_chan[o]];

		if (!b->out[o].n_edges || !c->n_readers) {
			any = true;
			continue;
		}
		read += hr_page_edge(page, c->edge[0])->queue.sent -
			p->graph->edge[c->edge[0]].initial;
	}
	return any && filled > read ? filled - read : 0;
}

static void
make_edge(struct hr_arena *a, const struct hr_plan *p, struct hr_page *page, uint32_t i,
	  struct hr_numbers *n)
{
	struct hr_edge_numbers *e = &n->edge[i];
	const struct hr_edge *g = &p->graph->edge[i];

	*e = (struct hr_edge_numbers){
		.name = edge_name(a, p, i),
		.edge = g,
		.plan = &p->edge[i],
		.page = hr_page_edge(page, i),
		.gather = g->gather ? hr_page_gather(page, i) : NULL,
		.into_sink = !p->bound->node[p->bound->edge[i].to].n_out,
	};
	e->lost = e->page->queue.lost + (g->gather ? e->page->gathered.lost : 0);
	n->lost += e->lost;
	n->abandoned += e->page->queue.abandoned;
	if (e->gather) {
		n->frames_lost += e->gather->dropped + e->gather->shed_frames;
		n->pieces_lost += e->gather->late + e->gather->shed + e->gather->invalid;
	}
}

static void
make_node(const struct hr_plan *p, struct hr_page *page, uint32_t i, struct hr_numbers *n)
{
	struct hr_node_numbers *o = &n->node[i];

	*o = (struct hr_node_numbers){
		.name = p->graph->node[i].name.text,
		.bound = &p->bound->node[i],
		.page = hr_page_node(page, i),
		.counter = hr_page_counters(page, i),
		.is_sink = !p->bound->node[i].n_out,
		.unread = unread(p, page, i),
	};
	shares(hr_page_worker(page, p->node[i].worker), o->page, o);
	if (o->is_sink)
		n->delivered += o->page->taken;
	for (uint32_t c = 0; c < o->bound->op->counters.count; c++) {
		const struct hop_counter *t = hr_counter_at(o->bound->op, c);

		if (t->level <= HOP_LOG_WARN && o->counter[c])
			o->warns = true;
		/* A socket's losses happen before there is an edge to lose on. */
		if (t->flags & HOP_COUNTER_LOSS)
			n->lost += o->counter[c];
	}
}

struct hr_numbers *
hr_numbers_make(struct hr_arena *a, const struct hr_plan *p, const struct hr_outcome *out)
{
	struct hr_numbers *n = HR_NEW(a, struct hr_numbers);

	n->n_edges = p->graph->n_edges;
	n->n_nodes = p->graph->n_nodes;
	n->edge = HR_ARRAY(a, (size_t)n->n_edges + 1, struct hr_edge_numbers);
	n->node = HR_ARRAY(a, (size_t)n->n_nodes + 1, struct hr_node_numbers);
	n->wall_ns = out->end_ns > out->start_ns ? out->end_ns - out->start_ns : 0;
	for (uint32_t i = 0; i < n->n_edges; i++)
		make_edge(a, p, out->page, i, n);
	for (uint32_t i = 0; i < n->n_nodes; i++)
		make_node(p, out->page, i, n);
	return n;
}

/* Three significant digits. */
static const char *
scaled(struct hr_arena *a, double v, const char *unit)
{
	int digits = v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;

	return hr_printf(a, "%.*f %s", digits, v, unit);
}

const char *
hr_ns_text(struct hr_arena *a, uint64_t ns)
{
	if (ns < 1000)
		return hr_printf(a, "%u ns", (unsigned)ns);
	if (ns < 999500)
		return scaled(a, (double)ns / 1e3, "us");
	if (ns < 999500000)
		return scaled(a, (double)ns / 1e6, "ms");
	return scaled(a, (double)ns / 1e9, "s");
}

const char *
hr_bytes_short(struct hr_arena *a, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes / 1024;
	size_t u = 0;

	if (bytes < 1024)
		return hr_printf(a, "%u B", (unsigned)bytes);
	while (v >= 1023.5 && u < 3) {
		v /= 1024;
		u++;
	}
	return scaled(a, v, units[u]);
}
