// SPDX-License-Identifier: Apache-2.0
/*
 * loops.c - deadlocks that no run could avoid, and what can be proven.
 *
 * Certain: a loop whose `initial` messages are fewer than its first node needs,
 * and a queue that must hold more than it can until the other way round has
 * gathered its first input.  Proven free: a graph in which no two paths meet
 * again.  The rest is reported as not proven; the watchdog covers it at run time.
 */
#include "plan/stages.h"

enum { MAX_SHOWN = 3, MAX_PATH = 8 };

struct search { /* nodes seen, by stamp, so that nothing is cleared between searches */
	struct hr_planner *p;
	uint32_t *seen;
	uint32_t *queue;
	uint32_t stamp;
};

/* A node with such an input can be called without the others. */
static bool
has_any(const struct hr_planner *p, uint32_t node)
{
	const struct hr_bound_node *n = hr_node_of(p, node);

	for (uint32_t i = 0; i < n->n_in; i++)
		if (n->in[i].port->flags & HOP_PORT_ANY)
			return true;
	return false;
}

/* True if `node` cannot be called for the first time before `other` was. */
static bool
waits_for(struct search *s, uint32_t node, uint32_t other)
{
	const struct hr_planner *p = s->p;
	uint32_t n = 0;

	s->stamp++;
	s->queue[n++] = node;
	s->seen[node] = s->stamp;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = s->queue[i];
		const struct hr_node *gn = &p->graph->node[at];

		if (at == other)
			return true;
		if (has_any(p, at))
			continue;
		for (uint32_t e = gn->first_edge; e < gn->first_edge + gn->n_edges; e++) {
			uint32_t from = p->bound->edge[e].from;

			if (p->graph->edge[e].initial || s->seen[from] == s->stamp)
				continue;
			s->seen[from] = s->stamp;
			s->queue[n++] = from;
		}
	}
	return false;
}

/* An edge that closes a loop must hold what its reader needs for the first call. */
static void
check_initial(struct search *s, uint32_t edge)
{
	struct hr_planner *p = s->p;
	const struct hr_edge *e = &p->graph->edge[edge];
	uint32_t want = p->plan->edge[edge].want;

	if (!e->initial || e->initial >= want || has_any(p, p->bound->edge[edge].to) ||
	    !waits_for(s, p->bound->edge[edge].from, p->bound->edge[edge].to))
		return;
	struct hr_diag *d = hr_error(p->diags, e->initial_at, 267,
				     "%s needs %u messages at once, `initial` gives %u: this loop "
				     "cannot start",
				     hr_input_name(p->arena, p->bound, edge), want, e->initial);

	hr_help(d, "write `initial: %u`", want);
}

/* Messages that must have been published before the edge's reader can be called. */
static uint64_t
first_need(const struct hr_planner *p, uint32_t edge)
{
	const struct hr_gather *g = p->graph->edge[edge].gather;
	uint64_t want = p->plan->edge[edge].want;

	if (g && g->missing == HR_MISSING_DROP)
		return want * (uint64_t)g->count;
	return want;
}

/* `slow` and `direct` read the same output; the reader of direct waits for that of slow. */
static void
check_pair(struct search *s, uint32_t slow, uint32_t direct)
{
	struct hr_planner *p = s->p;
	const struct hr_edge *d = &p->graph->edge[direct];
	uint32_t to = p->bound->edge[direct].to;
	uint32_t depth = p->plan->edge[direct].depth;
	uint64_t need = first_need(p, slow);

	if (need <= depth || d->when_full != HR_FULL_BLOCK || d->gather || d->initial ||
	    p->graph->edge[slow].initial || has_any(p, to) || has_any(p, p->bound->edge[slow].to) ||
	    !waits_for(s, to, p->bound->edge[slow].to))
		return;
	struct hr_diag *e = hr_error(
		p->diags, d->has_depth ? d->depth_at : d->input.at, 267,
		"%s needs depth >= %llu, has %u: '%s' waits for '%s', and %s needs %llu messages "
		"of %s first",
		hr_input_name(p->arena, p->bound, direct), (unsigned long long)need, depth,
		p->graph->node[to].name.text, p->graph->node[p->bound->edge[slow].to].name.text,
		hr_input_name(p->arena, p->bound, slow), (unsigned long long)need,
		hr_output_name(p->arena, p->bound, p->bound->edge[direct].from,
			       p->bound->edge[direct].out));

	hr_help(e, "write `depth: %llu` on this input", (unsigned long long)need);
}

static void
check_fan_out(struct search *s, const struct hr_plan_chan *c)
{
	if (c->gathers != HR_NONE || c->n_readers > HMQ_MAX_READERS)
		return;
	for (uint32_t i = 0; i < c->n_readers; i++)
		for (uint32_t j = 0; j < c->n_readers; j++)
			if (i != j)
				check_pair(s, c->edge[i], c->edge[j]);
}

/* ---- what is proven ------------------------------------------------------- */

static uint32_t
root_of(uint32_t *parent, uint32_t node)
{
	while (parent[node] != node) {
		parent[node] = parent[parent[node]];
		node = parent[node];
	}
	return node;
}

/* Follow tree edges (in both directions) from one end of a closing edge to the other; `via` gets
 * each node's predecessor. */
static void
walk_tree(struct search *s, const bool *tree, uint32_t *via, uint32_t from, uint32_t to)
{
	const struct hr_planner *p = s->p;
	uint32_t n = 0;

	s->stamp++;
	s->queue[n++] = from;
	s->seen[from] = s->stamp;
	for (uint32_t i = 0; i < n && s->seen[to] != s->stamp; i++) {
		uint32_t at = s->queue[i];
		const struct hr_node *gn = &p->graph->node[at];

		for (uint32_t e = gn->first_edge; e < gn->first_edge + gn->n_edges; e++) {
			uint32_t next = p->bound->edge[e].from;

			if (!tree[e] || s->seen[next] == s->stamp)
				continue;
			s->seen[next] = s->stamp;
			via[next] = at;
			s->queue[n++] = next;
		}
		for (uint32_t e = p->first_out[at]; e != HR_NONE; e = p->next_out[e]) {
			uint32_t next = p->bound->edge[e].to;

			if (!tree[e] || s->seen[next] == s->stamp)
				continue;
			s->seen[next] = s->stamp;
			via[next] = at;
			s->queue[n++] = next;
		}
	}
}

/* "src, acc, join": the nodes of the ring that an edge closes. */
static void
describe_ring(struct search *s, const bool *tree, uint32_t edge, struct hr_text *t)
{
	const struct hr_planner *p = s->p;
	uint32_t from = p->bound->edge[edge].from, to = p->bound->edge[edge].to;
	uint32_t *via = HR_ARRAY(p->arena, p->graph->n_nodes, uint32_t);
	uint32_t n = 0;

	if (from != to)
		walk_tree(s, tree, via, to, from);
	for (uint32_t at = from;; at = via[at]) {
		if (n++ == MAX_PATH) {
			hr_text_puts(t, ", ...");
			return;
		}
		hr_text_add(t, "%s%s", n > 1 ? ", " : "", p->graph->node[at].name.text);
		if (at == to)
			return;
	}
}

static void
state_freedom(struct search *s)
{
	struct hr_planner *p = s->p;
	uint32_t *parent = HR_ARRAY(p->arena, p->graph->n_nodes, uint32_t);
	bool *tree = HR_ARRAY(p->arena, p->graph->n_edges, bool);
	uint32_t n_rings = 0;
	struct hr_text t;

	hr_text_init(&t, p->arena);
	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		parent[i] = i;
	for (uint32_t e = 0; e < p->graph->n_edges; e++) {
		uint32_t a = root_of(parent, p->bound->edge[e].from);
		uint32_t b = root_of(parent, p->bound->edge[e].to);

		tree[e] = a != b;
		parent[a] = b;
	}
	for (uint32_t e = 0; e < p->graph->n_edges; e++) {
		if (tree[e] || n_rings++ >= MAX_SHOWN)
			continue;
		hr_text_puts(&t, n_rings > 1 ? "; " : "not proven: paths meet again in ");
		describe_ring(s, tree, e, &t);
	}
	if (n_rings > MAX_SHOWN)
		hr_text_add(&t, "; and %u more", n_rings - MAX_SHOWN);
	p->plan->proven = n_rings == 0;
	p->plan->freedom = n_rings ? t.s : "proven: no two paths meet again";
}

void
hr_check_loops(struct hr_planner *p)
{
	struct search s = {
		.p = p,
		.seen = HR_ARRAY(p->arena, p->graph->n_nodes, uint32_t),
		.queue = HR_ARRAY(p->arena, p->graph->n_nodes, uint32_t),
	};

	for (uint32_t e = 0; e < p->graph->n_edges; e++)
		check_initial(&s, e);
	for (uint32_t c = 0; c < p->plan->n_chans; c++)
		check_fan_out(&s, &p->plan->chan[c]);
	state_freedom(&s);
}
