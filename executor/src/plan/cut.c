// SPDX-License-Identifier: Apache-2.0
/*
 * cut.c - nodes to partitions, partitions to workers.
 *
 * A node goes to the partition that names it.  Any other joins that of its
 * first reader in file order; one without readers, that of its first writer;
 * what is still left, the nearest node that has a place.  A node connected to
 * none of them runs in a partition of its own called `main`.  A node whose
 * process() may block gets a worker of its own, on its partition's CPU.
 */
#include "plan/stages.h"

/* Chains that change direction more often than this are left to join_nearest: no graph may make
 * planning quadratic. */
enum { MAX_PASSES = 8 };

static void
index_edges(struct hr_planner *p)
{
	uint32_t n = p->graph->n_nodes;
	uint32_t *last = HR_ARRAY(p->arena, n, uint32_t);

	p->first_out = HR_ARRAY(p->arena, n, uint32_t);
	p->next_out = HR_ARRAY(p->arena, p->graph->n_edges, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		p->first_out[i] = last[i] = HR_NONE;
	for (uint32_t e = 0; e < p->graph->n_edges; e++) {
		uint32_t from = p->bound->edge[e].from;

		p->next_out[e] = HR_NONE;
		if (last[from] == HR_NONE)
			p->first_out[from] = e;
		else
			p->next_out[last[from]] = e;
		last[from] = e;
	}
}

/* The node whose partition this one joins, or HR_NONE. */
static uint32_t
leader(const struct hr_planner *p, uint32_t node)
{
	const struct hr_node *n = &p->graph->node[node];

	if (p->first_out[node] != HR_NONE)
		return p->bound->edge[p->first_out[node]].to;
	return n->n_edges ? p->bound->edge[n->first_edge].from : HR_NONE;
}

/* Readers come after their writers in the order, so one pass from its end settles whoever follows a
 * reader; who follows a writer may need another.  True if a node was placed. */
static bool
follow_leaders(struct hr_planner *p, bool *placed)
{
	bool moved = false;

	for (uint32_t i = p->graph->n_nodes; i-- > 0;) {
		uint32_t node = p->bound->order[i];
		uint32_t lead = placed[node] ? HR_NONE : leader(p, node);

		if (lead == HR_NONE || !placed[lead])
			continue;
		p->partition[node] = p->partition[lead];
		placed[node] = moved = true;
	}
	return moved;
}

static void
reach(struct hr_planner *p, bool *placed, uint32_t *queue, uint32_t *n, uint32_t from, uint32_t to)
{
	if (placed[to])
		return;
	placed[to] = true;
	p->partition[to] = p->partition[from];
	queue[(*n)++] = to;
}

/* Breadth first over edges in both directions, from every node that has a place. */
static void
join_nearest(struct hr_planner *p, bool *placed)
{
	const struct hr_graph *g = p->graph;
	uint32_t *queue = HR_ARRAY(p->arena, g->n_nodes, uint32_t);
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (placed[i])
			queue[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = queue[i];
		uint32_t first = g->node[node].first_edge;

		for (uint32_t e = p->first_out[node]; e != HR_NONE; e = p->next_out[e])
			reach(p, placed, queue, &n, node, p->bound->edge[e].to);
		for (uint32_t e = first; e < first + g->node[node].n_edges; e++)
			reach(p, placed, queue, &n, node, p->bound->edge[e].from);
	}
}

static void
place_nodes(struct hr_planner *p)
{
	const struct hr_graph *g = p->graph;
	bool *placed = HR_ARRAY(p->arena, g->n_nodes, bool);

	p->partition = HR_ARRAY(p->arena, g->n_nodes, uint32_t);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		p->partition[i] = g->node[i].partition;
		placed[i] = p->partition[i] != HR_NONE;
	}
	if (g->n_partitions == 0)
		return;
	for (uint32_t pass = 0; pass < MAX_PASSES && follow_leaders(p, placed); pass++)
		;
	join_nearest(p, placed);
}

static uint32_t
add_worker(struct hr_planner *p, uint32_t partition, const char *blocking)
{
	const struct hr_partition *part =
		partition == HR_NONE ? NULL : &p->graph->partition[partition];
	const char *name = part ? part->name.text : "main";
	struct hr_plan_worker *w = &p->plan->worker[p->plan->n_workers];

	w->name = blocking ? hr_printf(p->arena, "%s/%s", name, blocking) : name;
	w->process = part ? part->process : 0;
	w->cpu = -1;
	w->partition = partition;
	w->blocks = blocking;
	w->wait = blocking ? HR_WAIT_SLEEP : part ? part->wait : HR_WAIT_ADAPTIVE;
	w->sched = part ? part->sched : HR_SCHED_OTHER;
	w->priority = part ? part->priority : 0;
	w->sched_required = part && part->sched_required;
	return p->plan->n_workers++;
}

/* The workers of one partition, whose nodes are a list through `next`. */
static void
make_workers(struct hr_planner *p, uint32_t partition, uint32_t first, const uint32_t *next)
{
	uint32_t shared = HR_NONE;

	for (uint32_t n = first; n != HR_NONE; n = next[n]) {
		if (hr_node_of(p, n)->op->flags & HOP_F_BLOCKS)
			continue;
		if (shared == HR_NONE)
			shared = add_worker(p, partition, NULL);
		p->plan->node[n].worker = shared;
	}
	for (uint32_t n = first; n != HR_NONE; n = next[n])
		if (hr_node_of(p, n)->op->flags & HOP_F_BLOCKS)
			p->plan->node[n].worker =
				add_worker(p, partition, p->graph->node[n].name.text);
}

static void
cut_partitions(struct hr_planner *p)
{
	const struct hr_graph *g = p->graph;
	uint32_t *first = HR_ARRAY(p->arena, g->n_partitions + 1, uint32_t);
	uint32_t *next = HR_ARRAY(p->arena, g->n_nodes, uint32_t);

	for (uint32_t i = 0; i <= g->n_partitions; i++)
		first[i] = HR_NONE;
	for (uint32_t n = g->n_nodes; n-- > 0;) {
		uint32_t slot = p->partition[n] == HR_NONE ? g->n_partitions : p->partition[n];

		next[n] = first[slot];
		first[slot] = n;
	}
	for (uint32_t i = 0; i < g->n_partitions; i++) {
		if (first[i] == HR_NONE) {
			struct hr_diag *e =
				hr_error(p->diags, g->partition[i].name.at, 266,
					 "partition '%s' has no nodes", g->partition[i].name.text);

			hr_help(e, "name its nodes, or remove the partition");
		}
		make_workers(p, i, first[i], next);
	}
	make_workers(p, HR_NONE, first[g->n_partitions], next);
}

/* Node lists of the workers, in calling order. */
static void
order_nodes(struct hr_planner *p)
{
	struct hr_plan *plan = p->plan;
	uint32_t **list = HR_ARRAY(p->arena, plan->n_workers, uint32_t *);

	for (uint32_t n = 0; n < p->graph->n_nodes; n++)
		plan->worker[plan->node[n].worker].n_nodes++;
	for (uint32_t w = 0; w < plan->n_workers; w++) {
		list[w] = HR_ARRAY(p->arena, plan->worker[w].n_nodes, uint32_t);
		plan->worker[w].node = list[w];
	}
	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		uint32_t n = p->bound->order[i];
		uint32_t w = plan->node[n].worker;

		*list[w]++ = n;
		if (hr_node_of(p, n)->op->flags & HOP_F_FD)
			plan->worker[w].watches = true;
	}
}

static void
list_processes(struct hr_planner *p)
{
	struct hr_plan *plan = p->plan;
	uint32_t **list = HR_ARRAY(p->arena, p->graph->n_processes, uint32_t *);

	plan->n_processes = p->graph->n_processes;
	plan->process = HR_ARRAY(p->arena, plan->n_processes, struct hr_plan_process);
	for (uint32_t i = 0; i < plan->n_processes; i++)
		plan->process[i].name = p->graph->process[i].name.text;
	for (uint32_t w = 0; w < plan->n_workers; w++)
		plan->process[plan->worker[w].process].n_workers++;
	for (uint32_t i = 0; i < plan->n_processes; i++) {
		list[i] = HR_ARRAY(p->arena, plan->process[i].n_workers, uint32_t);
		plan->process[i].worker = list[i];
	}
	for (uint32_t w = 0; w < plan->n_workers; w++)
		*list[plan->worker[w].process]++ = w;
}

static const char *const failure_word[] = { "stop_graph", "detach", "restart" };

static void
agree_on_failure(struct hr_planner *p, struct hr_plan_process *process, uint32_t first,
		 uint32_t node)
{
	const struct hr_node *a = &p->graph->node[first], *b = &p->graph->node[node];
	const struct hr_node *loud = b->on_failure == HR_ON_FAILURE_STOP ? a : b;
	const struct hr_node *other = loud == a ? b : a;

	if (b->on_failure != process->on_failure) {
		struct hr_diag *e =
			hr_error(p->diags, loud->on_failure_at, 270,
				 "node '%s' says on_failure: %s, but shares process '%s' with node "
				 "'%s' (%s)",
				 loud->name.text, failure_word[loud->on_failure], process->name,
				 other->name.text, failure_word[other->on_failure]);

		hr_help(e,
			"a crash takes the whole process: give '%s' a process of its own, or all "
			"its nodes the same on_failure",
			loud->name.text);
		return;
	}
	if (b->restart_max && (!process->restart_max || b->restart_max < process->restart_max))
		process->restart_max = b->restart_max;
	if (b->backoff_ns > process->backoff_ns)
		process->backoff_ns = b->backoff_ns;
}

/* A process fails as a whole, so its nodes have to want the same. */
static void
settle_failures(struct hr_planner *p)
{
	uint32_t *first = HR_ARRAY(p->arena, p->plan->n_processes, uint32_t);

	for (uint32_t i = 0; i < p->plan->n_processes; i++)
		first[i] = HR_NONE;
	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		uint32_t k = p->plan->worker[p->plan->node[i].worker].process;
		struct hr_plan_process *process = &p->plan->process[k];

		if (first[k] == HR_NONE) {
			first[k] = i;
			process->on_failure = p->graph->node[i].on_failure;
			process->restart_max = p->graph->node[i].restart_max;
			process->backoff_ns = p->graph->node[i].backoff_ns;
		} else {
			agree_on_failure(p, process, first[k], i);
		}
	}
}

void
hr_cut(struct hr_planner *p)
{
	const struct hr_graph *g = p->graph;

	p->plan->node = HR_ARRAY(p->arena, g->n_nodes, struct hr_plan_node);
	p->plan->worker =
		HR_ARRAY(p->arena, (size_t)g->n_partitions + g->n_nodes + 1, struct hr_plan_worker);
	index_edges(p);
	place_nodes(p);
	cut_partitions(p);
	order_nodes(p);
	list_processes(p);
	settle_failures(p);
}
