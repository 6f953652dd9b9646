// SPDX-License-Identifier: Apache-2.0
/*
 * print_text.c - a plan for people: threads, nodes, edges, channels, the bill.
 *
 * The same plan prints the same bytes: nothing here depends on time, addresses
 * or the machine's load, except the free memory of a live machine.
 */
#include <inttypes.h>

#include "plan/cpus.h"
#include "plan/stages.h"
#include "plan/columns.h"

struct print {
	struct hr_arena *arena;
	const struct hr_plan *plan;
	struct hr_text out;
};

#define COLUMNS(a) (a), sizeof(a) / sizeof((a)[0])

static const char *
number(const struct print *p, uint64_t n)
{
	return hr_printf(p->arena, "%" PRIu64, n);
}

/* "1 node", "3 nodes" */
static const char *
count(const struct print *p, uint32_t n, const char *what)
{
	return hr_printf(p->arena, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static void
print_head(struct print *p)
{
	const struct hr_machine *m = p->plan->machine;
	const struct hr_graph *g = p->plan->graph;
	const struct hr_plugins *plugins = p->plan->bound->plugins;

	hr_text_add(&p->out, "graph %s", g->name ? g->name : "without a name");
	if (g->preset)
		hr_text_add(&p->out, ", preset %s", g->preset);
	hr_text_add(&p->out, ": %s, %s, %s\n", count(p, g->n_nodes, "node"),
		    count(p, g->n_edges, "edge"), count(p, p->plan->n_workers, "thread"));
	hr_text_add(&p->out, "machine %s: %s, allowed %s", m->source, count(p, m->n_cpus, "CPU"),
		    hr_cpus_allowed(p->arena, m));
	if (m->n_numa > 1)
		hr_text_add(&p->out, ", %u NUMA nodes", m->n_numa);
	hr_text_puts(&p->out, "\n");
	for (uint32_t i = 0; plugins && i < plugins->n; i++)
		if (plugins->at[i].table)
			hr_text_add(&p->out, "plugin %s: %s, build %s\n", plugins->at[i].shown,
				    plugins->at[i].path ? plugins->at[i].path : "",
				    plugins->at[i].build_id && *plugins->at[i].build_id
					    ? plugins->at[i].build_id
					    : "unknown");
}

static const char *
node_list(const struct print *p, const struct hr_plan_worker *w)
{
	struct hr_text t;

	hr_text_init(&t, p->arena);
	for (uint32_t i = 0; i < w->n_nodes; i++)
		hr_text_add(&t, "%s%s", i ? ", " : "", p->plan->graph->node[w->node[i]].name.text);
	return t.s;
}

static const char *
wait_text(const struct print *p, const struct hr_plan_worker *w)
{
	const char *sleeps = w->watches && w->wait != HR_WAIT_SPIN ? ", epoll" : "";
	const char *spins = w->wait == HR_WAIT_ADAPTIVE && w->shares_cpu ? ", no spin" : "";

	return hr_printf(p->arena, "%s%s%s", hr_wait_word[w->wait], spins, sleeps);
}

static const char *
sched_text(const struct print *p, const struct hr_plan_worker *w)
{
	if (w->sched == HR_SCHED_OTHER)
		return hr_sched_word[w->sched];
	return hr_printf(p->arena, "%s %d%s", hr_sched_word[w->sched], w->priority,
			 w->sched_required ? "" : " if allowed");
}

static void
print_threads(struct print *p)
{
	static const char *const heading[] = { "thread", "process", "CPU",  "NUMA",
					       "wait",   "sched",   "nodes" };
	const struct hr_plan *plan = p->plan;
	struct hr_columns t;

	hr_columns_init(&t, p->arena, COLUMNS(heading));
	for (uint32_t i = 0; i < plan->n_workers; i++) {
		const struct hr_plan_worker *w = &plan->worker[i];
		const struct hr_cpu *cpu = hr_machine_cpu(plan->machine, (uint32_t)w->cpu);
		bool numa = cpu && plan->machine->n_numa > 1;

		hr_columns_add(&t, w->name);
		hr_columns_add(&t, plan->process[w->process].name);
		hr_columns_add(&t,
			       hr_printf(p->arena, "%d%s", w->cpu, w->shares_cpu ? " shared" : ""));
		hr_columns_add(&t, numa ? number(p, cpu->numa) : "");
		hr_columns_add(&t, wait_text(p, w));
		hr_columns_add(&t, sched_text(p, w));
		hr_columns_add(&t, node_list(p, w));
	}
	hr_text_puts(&p->out, "\nthreads\n");
	hr_columns_print(&t, &p->out);
}

static const char *
device_text(const struct hr_bound_node *n)
{
	if (n->device == HOP_ON_CUDA)
		return "cuda";
	return n->fallback ? "cpu (fallback)" : "cpu";
}

static void
print_nodes(struct print *p)
{
	static const char *const heading[] = { "node", "op", "device", "process", "thread", "CPU" };
	const struct hr_plan *plan = p->plan;
	struct hr_columns t;

	hr_columns_init(&t, p->arena, COLUMNS(heading));
	for (uint32_t i = 0; i < plan->graph->n_nodes; i++) {
		const struct hr_bound_node *n = &plan->bound->node[i];
		const struct hr_plan_worker *w = &plan->worker[plan->node[i].worker];

		hr_columns_add(&t, plan->graph->node[i].name.text);
		hr_columns_add(&t, n->op->name);
		hr_columns_add(&t, device_text(n));
		hr_columns_add(&t, plan->process[w->process].name);
		hr_columns_add(&t, w->name);
		hr_columns_add(&t, hr_printf(p->arena, "%d", w->cpu));
	}
	hr_text_puts(&p->out, "\nnodes\n");
	hr_columns_print(&t, &p->out);
}

/* "4", or "128 pieces, 4 gathered" */
static const char *
depth_text(const struct print *p, const struct hr_plan_edge *e)
{
	if (e->gather_chan == HR_NONE)
		return number(p, e->depth);
	return hr_printf(p->arena, "%u pieces, %u gathered", e->depth,
			 p->plan->chan[e->gather_chan].depth[0]);
}

static const char *
range_text(const struct print *p, uint32_t least, uint32_t most)
{
	return least == most ? number(p, most) : hr_printf(p->arena, "%u-%u", least, most);
}

static void
print_edges(struct print *p)
{
	static const char *const heading[] = { "edge",   "format",  "depth",     "when full",
					       "window", "initial", "carried by" };
	const struct hr_plan *plan = p->plan;
	struct hr_columns t;

	hr_columns_init(&t, p->arena, COLUMNS(heading));
	for (uint32_t i = 0; i < plan->graph->n_edges; i++) {
		const struct hr_plan_edge *e = &plan->edge[i];
		const struct hr_bound_edge *b = &plan->bound->edge[i];
		uint32_t initial = plan->graph->edge[i].initial;

		hr_columns_add(&t, hr_printf(p->arena, "%s -> %s",
					     hr_output_name(p->arena, plan->bound, b->from, b->out),
					     hr_input_name(p->arena, plan->bound, i)));
		hr_columns_add(&t, hr_format_text(p->arena, &plan->chan[e->chan].format));
		hr_columns_add(&t, depth_text(p, e));
		hr_columns_add(&t, hr_full_word[e->when_full]);
		hr_columns_add(&t, range_text(p, e->want, e->max_in));
		hr_columns_add(&t, initial ? number(p, initial) : "");
		hr_columns_add(&t, e->why ? hr_printf(p->arena, "%s; %s",
						      hr_carriage_word[e->carriage], e->why)
					  : hr_carriage_word[e->carriage]);
	}
	hr_text_puts(&p->out, "\nedges\n");
	hr_columns_print(&t, &p->out);
}

/* "8 = 4 loaned + 4 queued" */
static const char *
slots_text(const struct print *p, const struct hr_plan_chan *c)
{
	struct hr_text t;

	hr_text_init(&t, p->arena);
	hr_text_add(&t, "%u = %u %s", c->slots, c->max_out,
		    c->gathers == HR_NONE ? "loaned" : "open");
	if (c->newest)
		hr_text_add(&t, " + %u queued", c->newest);
	if (c->dropping)
		hr_text_add(&t, " + %u dropping", c->dropping);
	if (c->keeps)
		hr_text_add(&t, " + %u kept", c->keeps);
	return t.s;
}

static const char *
memory_text(const struct print *p, const struct hr_plan_chan *c)
{
	const struct hr_plan_worker *w = &p->plan->worker[p->plan->node[c->node].worker];

	return hr_printf(p->arena, "%s, %s%s", p->plan->process[w->process].name,
			 c->shared ? "shared" : "private", c->n_readers ? "" : ", unread");
}

static const char *
out_window(const struct print *p, const struct hr_plan_chan *c)
{
	uint32_t least = p->plan->bound->node[c->node].out[c->out].port->min_batch;

	return range_text(p, least ? least : 1, c->max_out);
}

static void
print_channels(struct print *p)
{
	static const char *const heading[] = { "channel", "window", "slots",
					       "each",    "bytes",  "memory" };
	const struct hr_plan *plan = p->plan;
	struct hr_columns t;

	hr_columns_init(&t, p->arena, COLUMNS(heading));
	for (uint32_t i = 0; i < plan->n_chans; i++) {
		const struct hr_plan_chan *c = &plan->chan[i];
		const char *window = "";

		if (c->gathers == HR_NONE)
			window = out_window(p, c);
		hr_columns_add(&t, hr_chan_name(p->arena, plan, i));
		hr_columns_add(&t, window);
		hr_columns_add(&t, slots_text(p, c));
		hr_columns_add(&t, hr_bytes_text(p->arena, c->payload_bytes));
		hr_columns_add(&t, hr_bytes_text(p->arena, c->bytes));
		hr_columns_add(&t, memory_text(p, c));
	}
	hr_text_puts(&p->out, "\nchannels\n");
	hr_columns_print(&t, &p->out);
}

static void
print_gather(struct print *p, uint32_t edge)
{
	static const char *const missing[] = { "drop", "zero", "nan" };
	const struct hr_gather *g = p->plan->graph->edge[edge].gather;

	hr_text_add(&p->out, "  %s: %" PRId64 " pieces of one %s, %u open, missing: %s",
		    hr_input_name(p->arena, p->plan->bound, edge), g->count,
		    g->by_stream ? "frame and stream" : "frame", g->window, missing[g->missing]);
	if (g->min_valid)
		hr_text_add(&p->out, ", at least %" PRId64, g->min_valid);
	if (g->timeout_ns)
		hr_text_add(&p->out, ", timeout %g ms", (double)g->timeout_ns / 1e6);
	hr_text_puts(&p->out, g->any_order ? ", any order\n" : "\n");
}

static void
print_gathers(struct print *p)
{
	const struct hr_graph *g = p->plan->graph;
	bool any = false;

	for (uint32_t i = 0; i < g->n_edges; i++) {
		if (!g->edge[i].gather)
			continue;
		if (!any)
			hr_text_puts(&p->out, "\ngathers\n");
		any = true;
		print_gather(p, i);
	}
}

static void
print_bill(struct print *p)
{
	const struct hr_plan *plan = p->plan;
	uint64_t *bytes = HR_ARRAY(p->arena, plan->n_processes, uint64_t);

	for (uint32_t i = 0; i < plan->n_chans; i++)
		bytes[plan->worker[plan->node[plan->chan[i].node].worker].process] +=
			plan->chan[i].bytes;
	hr_text_puts(&p->out, "\nmemory of channels\n");
	for (uint32_t i = 0; i < plan->n_processes; i++)
		if (plan->process[i].n_workers)
			hr_text_add(&p->out, "  process %s: %s\n", plan->process[i].name,
				    hr_bytes_text(p->arena, bytes[i]));
	hr_text_add(&p->out, "  together: %s", hr_bytes_text(p->arena, plan->memory_bytes));
	if (plan->machine->memory_bytes)
		hr_text_add(&p->out, " of %s (%s)",
			    hr_bytes_text(p->arena, plan->machine->memory_bytes),
			    plan->machine->memory_from);
	hr_text_puts(&p->out, "\n");
}

char *
hr_plan_text(struct hr_arena *a, const struct hr_plan *plan)
{
	struct print p = { .arena = a, .plan = plan };

	hr_text_init(&p.out, a);
	print_head(&p);
	print_threads(&p);
	print_nodes(&p);
	if (plan->graph->n_edges)
		print_edges(&p);
	if (plan->n_chans)
		print_channels(&p);
	print_gathers(&p);
	print_bill(&p);
	hr_text_add(&p.out, "\nfreedom from deadlock: %s\n", plan->freedom);
	for (uint32_t i = 0; i < plan->n_notes; i++)
		hr_text_add(&p.out, "%s  %s\n", i ? "" : "\nnotes\n", plan->note[i]);
	return p.out.s;
}
