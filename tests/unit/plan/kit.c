// SPDX-License-Identifier: Apache-2.0
/*
 * kit.c - builders; no checks of their own beyond cmocka's.
 */
#include "kit.h"

#include <string.h>

static struct hr_span
at(struct kit *k, uint32_t line, uint32_t col, const char *text)
{
	return (struct hr_span){
		.file = &k->file, .line = line, .col = col, .len = (uint32_t)strlen(text)
	};
}

struct kit *
kit_new(void)
{
	struct hr_arena *a = hr_arena_new();
	struct kit *k = HR_NEW(a, struct kit);

	k->arena = a;
	k->file = (struct hr_file){ .name = "t.yaml", .dir = "/", .text = "" };
	k->graph = (struct hr_graph){ .name = "t",
				      .file = &k->file,
				      .node = k->node,
				      .edge = k->edge,
				      .partition = k->partition,
				      .process = k->process };
	k->bound = (struct hr_bound){
		.graph = &k->graph, .node = k->bnode, .edge = k->bedge, .order = k->order
	};
	kit_process(k, "main");
	kit_machine(k, 4, 0xf);
	return k;
}

void
kit_free(struct kit *k)
{
	hr_arena_free(k->arena);
}

void
kit_machine(struct kit *k, uint32_t n_cpus, uint64_t allowed)
{
	k->machine = (struct hr_machine){ .source = "kit",
					  .cpu = k->cpu,
					  .n_cpus = n_cpus,
					  .n_numa = 1,
					  .memory_from = "unknown",
					  .memlock_bytes = UINT64_MAX,
					  .rtprio_max = 99 };
	for (uint32_t i = 0; i < n_cpus; i++) {
		k->cpu[i] = (struct hr_cpu){ .os = i, .core = i, .allowed = allowed >> i & 1 };
		k->machine.n_allowed += k->cpu[i].allowed;
	}
}

static void
name_port(struct kit *k, struct hop_port *p, const char *word, uint32_t i)
{
	p->name = i ? hr_printf(k->arena, "%s%u", word, i) : word;
}

uint32_t
kit_node(struct kit *k, const char *name, uint32_t n_in, uint32_t n_out, uint64_t bytes)
{
	uint32_t n = k->graph.n_nodes++;

	k->node[n].name = (struct hr_name){ name, at(k, 100 + n, 3, name) };
	k->node[n].partition = UINT32_MAX;
	k->op[n].name = hr_printf(k->arena, "t/%s", name);
	for (uint32_t i = 0; i < n_in; i++) {
		struct hop_port *p = &k->port[n][i];

		name_port(k, p, "in", i);
		k->in[n][i] = (struct hr_port_in){
			.port = p, .table_index = i, .edge = UINT32_MAX, .need = 1
		};
	}
	for (uint32_t i = 0; i < n_out; i++) {
		struct hop_port *p = &k->port[n][KIT_PORTS + i];

		name_port(k, p, "out", i);
		p->dir = HOP_OUT;
		k->out[n][i] = (struct hr_port_out){ .port = p,
						     .table_index = n_in + i,
						     .format = { .dtype = { 1, 8, 1 },
								 .rank = 1,
								 .dim = { (uint32_t)bytes },
								 .max_bytes = bytes } };
	}
	k->bnode[n] = (struct hr_bound_node){
		.op = &k->op[n], .n_in = n_in, .n_out = n_out, .in = k->in[n], .out = k->out[n]
	};
	return n;
}

uint32_t
kit_edge(struct kit *k, uint32_t from, uint32_t out, uint32_t to, uint32_t in)
{
	uint32_t e = k->graph.n_edges++;

	if (e > 0)
		assert_true(k->edge[e - 1].to <= to);
	k->edge[e] = (struct hr_edge){
		.to = to,
		.from = from,
		.input = { k->in[to][in].port->name, at(k, 200 + e, 10, "in") },
		.source = { k->node[from].name.text, at(k, 200 + e, 14, "src") },
	};
	k->bedge[e] = (struct hr_bound_edge){ from, out, to, in };
	k->in[to][in].edge = e;
	k->in[to][in].format = k->out[from][out].format;
	k->out[from][out].n_edges++;
	return e;
}

uint32_t
kit_partition(struct kit *k, const char *name, const char *cpus)
{
	uint32_t p = k->graph.n_partitions++;

	k->partition[p] = (struct hr_partition){ .name = { name, at(k, 300 + p, 3, name) },
						 .wait = HR_WAIT_ADAPTIVE,
						 .sched_required = true };
	if (cpus)
		k->partition[p].cpus = (struct hr_name){ cpus, at(k, 300 + p, 20, cpus) };
	k->partition[p].wait_at = at(k, 300 + p, 50, "spin");
	k->partition[p].sched_at = at(k, 300 + p, 60, "fifo");
	return p;
}

uint32_t
kit_process(struct kit *k, const char *name)
{
	k->process[k->graph.n_processes].name.text = name;
	return k->graph.n_processes++;
}

void
kit_place(struct kit *k, uint32_t node, uint32_t partition)
{
	k->node[node].partition = partition;
}

void
kit_depth(struct kit *k, uint32_t edge, uint32_t depth)
{
	k->edge[edge].depth = depth;
	k->edge[edge].has_depth = true;
	k->edge[edge].depth_at = at(k, 200 + edge, 30, "4");
}

struct hr_gather *
kit_gather(struct kit *k, uint32_t edge, int64_t count)
{
	struct hr_gather *g = HR_NEW(k->arena, struct hr_gather);
	struct hr_port_in *in = &k->in[k->bedge[edge].to][k->bedge[edge].in];

	*g = (struct hr_gather){ .at = at(k, 200 + edge, 70, "gather"),
				 .count = count,
				 .window = 2 };
	k->edge[edge].gather = g;
	in->format.rank = 2;
	in->format.dim[1] = in->format.dim[0];
	in->format.dim[0] = (uint32_t)count;
	in->format.max_bytes *= (uint64_t)count;
	return g;
}

/* Writers before readers, initial edges apart; small graphs only. */
static void
sort_nodes(struct kit *k)
{
	bool done[KIT_MAX] = { 0 };
	uint32_t n = 0;

	for (uint32_t round = 0; round < k->graph.n_nodes; round++)
		for (uint32_t i = 0; i < k->graph.n_nodes; i++) {
			bool ready = !done[i];

			for (uint32_t e = 0; e < k->graph.n_edges; e++)
				if (k->bedge[e].to == i && !k->edge[e].initial &&
				    !done[k->bedge[e].from])
					ready = false;
			if (ready) {
				done[i] = true;
				k->order[n++] = i;
			}
		}
	assert_int_equal(n, k->graph.n_nodes);
}

struct hr_plan *
kit_plan(struct kit *k)
{
	for (uint32_t i = 0; i < k->graph.n_nodes; i++)
		k->node[i].n_edges = 0;
	for (uint32_t e = k->graph.n_edges; e-- > 0;) {
		k->node[k->edge[e].to].first_edge = e;
		k->node[k->edge[e].to].n_edges++;
	}
	sort_nodes(k);
	hr_diags_init(&k->diags, k->arena);
	return hr_plan_make(k->arena, &k->bound, &k->machine, &k->diags);
}

struct hr_plan *
kit_want_plan(struct kit *k)
{
	struct hr_plan *p = kit_plan(k);

	if (k->diags.n_errors)
		print_error("%s\n", k->diags.first->text);
	assert_int_equal(k->diags.n_errors, 0);
	assert_non_null(p);
	return p;
}

const struct hr_diag *
kit_find(const struct kit *k, uint32_t code)
{
	for (const struct hr_diag *d = k->diags.first; d; d = d->next)
		if (d->code == code)
			return d;
	return NULL;
}

void
kit_want_error(struct kit *k, uint32_t code, uint32_t line, const char *text)
{
	assert_null(kit_plan(k));
	for (const struct hr_diag *d = k->diags.first; d; d = d->next)
		if (d->severity == HR_ERROR && d->code != code)
			print_error("also: E%u %s\n", d->code, d->text);
	assert_int_equal(k->diags.n_errors, 1);
	const struct hr_diag *d = kit_find(k, code);

	if (!d) {
		fail_msg("no E%u", code);
		return;
	}
	assert_string_equal(d->text, text);
	assert_int_equal(d->at.line, line);
}

struct kit *
kit_chain(void)
{
	struct kit *k = kit_new();
	uint32_t src = kit_node(k, "src", 0, 1, 1024);
	uint32_t work = kit_node(k, "work", 1, 1, 1024);
	uint32_t sink = kit_node(k, "sink", 1, 0, 0);

	kit_edge(k, src, 0, work, 0);
	kit_edge(k, work, 0, sink, 0);
	return k;
}
