// SPDX-License-Identifier: Apache-2.0
/*
 * fixture.c - see fixture.h.  The plan is as small as the report needs it: names,
 * ports, counters and who is where.
 */
#include "fixture.h"

#include <string.h>

static const struct hop_port source_ports[] = { { .name = "out", .dir = HOP_OUT } };
static const struct hop_port copy_ports[] = { { .name = "in", .dir = HOP_IN },
					      { .name = "out", .dir = HOP_OUT } };
static const struct hop_port work_ports[] = { { .name = "in", .dir = HOP_IN },
					      { .name = "out", .dir = HOP_OUT },
					      { .name = "aux", .dir = HOP_OUT } };
static const struct hop_port sink_ports[] = {
	{ .name = "in", .dir = HOP_IN, .flags = HOP_PORT_MANY }
};
static const struct hop_counter sink_counters[] = {
	{ .name = "found", .level = HOP_LOG_INFO },
	{ .name = "missed", .level = HOP_LOG_WARN },
};
static const struct hop_counter source_counters[] = {
	{ .name = "made", .level = HOP_LOG_INFO },
	{ .name = "lost", .level = HOP_LOG_WARN, .flags = HOP_COUNTER_LOSS },
};

static const struct hop_op source_op = { .name = "test/source",
					 .ports = HOP_TABLE(source_ports),
					 .counters = HOP_TABLE(source_counters) };
static const struct hop_op copy_op = { .name = "test/copy", .ports = HOP_TABLE(copy_ports) };
static const struct hop_op work_op = { .name = "test/work", .ports = HOP_TABLE(work_ports) };
static const struct hop_op sink_op = { .name = "test/sink",
				       .ports = HOP_TABLE(sink_ports),
				       .counters = HOP_TABLE(sink_counters) };

static const struct hr_file graph_file = { .name = "small.yaml" };

struct parts { /* what the plan points to as const */
	struct hr_graph *graph;
	struct hr_bound *bound;
	struct hr_node *node;
	struct hr_edge *edge;
	struct hr_process *process;
};

static struct hr_name
name(const char *text, uint32_t line)
{
	return (struct hr_name){ .text = text,
				 .at = { .file = &graph_file, .line = line, .col = 3, .len = 4 } };
}

static struct parts
make(struct fixture *f, uint32_t n_nodes, uint32_t n_edges, uint32_t n_processes)
{
	struct hr_arena *a = f->arena;
	struct parts p = {
		.graph = HR_NEW(a, struct hr_graph),
		.bound = HR_NEW(a, struct hr_bound),
		.node = HR_ARRAY(a, n_nodes, struct hr_node),
		.edge = HR_ARRAY(a, n_edges, struct hr_edge),
		.process = HR_ARRAY(a, n_processes, struct hr_process),
	};
	struct hr_plan *plan = HR_NEW(a, struct hr_plan);

	p.graph->node = p.node;
	p.graph->edge = p.edge;
	p.graph->process = p.process;
	p.graph->n_nodes = n_nodes;
	p.graph->n_edges = n_edges;
	p.graph->n_processes = n_processes;
	p.bound->graph = p.graph;
	p.bound->plugins = HR_NEW(a, struct hr_plugins);
	p.bound->node = HR_ARRAY(a, n_nodes, struct hr_bound_node);
	p.bound->edge = HR_ARRAY(a, n_edges, struct hr_bound_edge);
	plan->graph = p.graph;
	plan->bound = p.bound;
	plan->process = HR_ARRAY(a, n_processes, struct hr_plan_process);
	plan->worker = HR_ARRAY(a, n_processes, struct hr_plan_worker);
	plan->edge = HR_ARRAY(a, n_edges, struct hr_plan_edge);
	plan->node = HR_ARRAY(a, n_nodes, struct hr_plan_node);
	plan->chan = HR_ARRAY(a, 2 * n_nodes, struct hr_plan_chan);
	plan->n_processes = plan->n_workers = n_processes;
	for (uint32_t i = 0; i < n_processes; i++) {
		plan->worker[i] = (struct hr_plan_worker){ .process = i, .cpu = (int32_t)i };
		plan->process[i].n_workers = 1;
	}
	f->plan = plan;
	return p;
}

/* Two channels a node, at 2 * node and 2 * node + 1. */
static void
set_node(struct fixture *f, struct parts *p, uint32_t i, const char *text, const struct hop_op *op)
{
	struct hr_bound_node *b = &p->bound->node[i];
	uint32_t in = 0, out = 0;

	p->node[i].name = name(text, 10 + i);
	b->op = op;
	b->in = HR_ARRAY(f->arena, 3, struct hr_port_in);
	b->out = HR_ARRAY(f->arena, 3, struct hr_port_out);
	f->plan->node[i].out_chan = HR_ARRAY(f->arena, 3, uint32_t);
	for (uint32_t k = 0; k < op->ports.count; k++) {
		if (op->ports.at[k].dir == HOP_IN) {
			b->in[in].table_index = k;
			b->in[in++].port = &op->ports.at[k];
			continue;
		}
		f->plan->node[i].out_chan[out] = 2 * i + out;
		b->out[out].table_index = k;
		b->out[out++].port = &op->ports.at[k];
	}
	b->n_in = in;
	b->n_out = out;
}

static void
set_edge(struct fixture *f, struct parts *p, uint32_t i, uint32_t from, uint32_t to)
{
	struct hr_plan_chan *c = &f->plan->chan[2 * from];
	uint32_t *reader = HR_ARRAY(f->arena, 1, uint32_t);

	*reader = i;
	c->edge = reader;
	c->n_readers = 1;
	p->edge[i] = (struct hr_edge){ .from = from, .to = to, .source = name("", 20 + i) };
	p->bound->edge[i] = (struct hr_bound_edge){ .from = from, .to = to };
	p->bound->node[from].out[0].n_edges = 1;
	f->plan->edge[i].depth = 8;
}

static void
set_page(struct fixture *f)
{
	uint64_t bytes = hr_page_bytes(f->plan);
	struct hr_page *page =
		hr_page_view(f->arena, hr_alloc_aligned(f->arena, bytes, 256), f->plan);

	hr_page_format(page, f->plan);
	f->outcome = (struct hr_outcome){
		.page = page,
		.start_ns = 1000000000,
		.end_ns = 3010000000,
		.start_unix_ns = INT64_C(1700000000123456789),
		.supervisor_cpu_ns = 5000000,
		.run_id = 0xabcdef,
	};
	f->report = (struct hr_report){ .plan = f->plan, .outcome = &f->outcome };
	for (uint32_t i = 0; i < f->plan->n_processes; i++) {
		struct hr_page_process *q = hr_page_process(page, i);

		q->pid = 4000 + i;
		q->cpu_ns = 1005000000 * (i + 1);
		q->max_rss_bytes = (5 + i) << 20;
		hr_page_worker(page, i)->cpu = (int32_t)i;
	}
	for (uint32_t i = 0; i < f->plan->graph->n_nodes; i++)
		hr_page_node(page, i)->state = HR_NODE_ENDED;
	for (uint32_t i = 0; i < f->plan->graph->n_edges; i++) {
		struct hr_page_edge *e = hr_page_edge(page, i);

		e->queue_valid = 1;
		e->queue.depth = 8;
		e->queue.max_queued = 5;
	}
}

void
fixture_times(struct hr_hist *h, uint64_t n, int64_t ns)
{
	while (n--)
		hr_hist_add(h, ns);
}

static struct fixture *new (void)
{
	struct hr_arena *a = hr_arena_new();
	struct fixture *f = HR_NEW(a, struct fixture);

	f->arena = a;
	return f;
}

static void
fill_small(struct fixture *f)
{
	struct hr_page *page = f->outcome.page;
	struct hr_page_edge *in = hr_page_edge(page, 0), *out = hr_page_edge(page, 1);

	in->queue.sent = in->queue.received = 800;
	in->gathered.sent = in->gathered.received = 100;
	in->sampled = 1;
	fixture_times(&in->age, 99, 1200);
	fixture_times(&in->age, 1, 31000);
	*hr_page_gather(page, 0) = (struct hr_page_gather){
		.received = 800, .placed = 800, .opened = 100, .complete = 100, .published = 100
	};
	out->queue.sent = out->queue.received = 100;
	fixture_times(&out->age, 100, 6500000);
	fixture_times(&out->tail, 100, 450000);
	*hr_page_counters(page, 0) = 800;
	*hr_page_counters(page, 2) = 300;
	hr_page_node(page, 0)->calls = 400;
	hr_page_node(page, 0)->filled = 800;
	hr_page_node(page, 0)->work_ns = 100;
	hr_page_node(page, 0)->wait_in_ns = 100;
	hr_page_node(page, 0)->wait_out_ns = 100;
	hr_page_node(page, 1)->calls = 100;
	hr_page_node(page, 1)->taken = 100;
	hr_page_node(page, 1)->filled = 150;
	hr_page_node(page, 1)->work_ns = 750;
	hr_page_node(page, 1)->wait_in_ns = 250;
	hr_page_node(page, 2)->calls = 100;
	hr_page_node(page, 2)->taken = 100;
	hr_page_worker(page, 1)->policy = 1;
	hr_page_worker(page, 1)->priority = 50;
}

struct fixture *
fixture_small(void)
{
	static const struct hr_gather gather = { .count = 8, .window = 2 };
	static const struct hr_knob knob = {
		.name = { .text = "n" },
		.type = HR_T_INT,
		.value = { .type = HR_T_INT, .i = 800, .f = 800, .text = "800" },
		.set_by = "-k"
	};
	static const struct hr_param_value param = {
		.name = { .text = "count" },
		.value = { .type = HR_T_INT, .i = 800, .f = 800, .text = "800" }
	};
	struct fixture *f = new ();
	struct parts p = make(f, 3, 2, 2);

	set_node(f, &p, 0, "src", &source_op);
	set_node(f, &p, 1, "work", &work_op);
	set_node(f, &p, 2, "sink", &sink_op);
	set_edge(f, &p, 0, 0, 1);
	set_edge(f, &p, 1, 1, 2);
	p.edge[0].gather = &gather;
	p.node[0].param = &param;
	p.node[0].n_params = 1;
	p.bound->node[1].fallback = true;
	p.graph->name = "small";
	p.graph->knob = &knob;
	p.graph->n_knobs = 1;
	f->plan->edge[0].why = "copies: gather at the reader";
	f->plan->edge[0].carriage = HR_SHARED_MEMORY;
	f->plan->process[0].name = "main";
	f->plan->process[1].name = "receiver";
	f->plan->worker[0].name = "front";
	f->plan->worker[1].name = "back";
	f->plan->node[1].worker = f->plan->node[2].worker = 1;
	set_page(f);
	fill_small(f);
	return f;
}

struct fixture *
fixture_chain(uint32_t n)
{
	struct fixture *f = new ();
	struct parts p = make(f, n, n - 1, 1);

	for (uint32_t i = 0; i < n; i++)
		set_node(f, &p, i, hr_printf(f->arena, "n%u", i),
			 !i           ? &source_op
			 : i == n - 1 ? &sink_op
				      : &copy_op);
	for (uint32_t i = 0; i + 1 < n; i++)
		set_edge(f, &p, i, i, i + 1);
	p.graph->name = "chain";
	f->plan->process[0].name = "main";
	f->plan->worker[0].name = "main";
	set_page(f);
	for (uint32_t i = 0; i < n; i++) {
		struct hr_page_node *o = hr_page_node(f->outcome.page, i);

		o->calls = 10;
		o->work_ns = 10 + i;
		o->wait_in_ns = 100;
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		struct hr_page_edge *e = hr_page_edge(f->outcome.page, i);

		e->queue.sent = e->queue.received = 1000;
		fixture_times(&e->age, 10, 1000 * (i + 1));
		if (i + 2 == n)
			fixture_times(&e->tail, 10, 500);
	}
	return f;
}

void
fixture_free(struct fixture *f)
{
	hr_arena_free(f->arena);
}
