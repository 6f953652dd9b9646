/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - nothing waits for ever unseen: stalls, long calls, laggards.
 *
 * A stall is a graph in which nothing moved for stall_timeout although no op is
 * busy and no source is waiting for the outside world: everybody waits for
 * somebody.  A laggard is what still runs when the grace of a stop is over.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "run/super.h"

static bool
has_ended(const struct hr_super *s, uint32_t node)
{
	return hr_load32_acquire(&hr_page_node(s->page, node)->state) >= HR_NODE_ENDED;
}

/* Grows with every message and with every node that ends: an end on its way is progress, too. */
static uint64_t
sum_moved(const struct hr_super *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		sum += hr_load_relaxed(&hr_page_worker(s->page, i)->moved);
	for (uint32_t i = 0; i < s->plan->graph->n_nodes; i++)
		sum += has_ended(s, i);
	return sum;
}

static const char *
node_name(const struct hr_super *s, uint32_t node)
{
	return s->plan->graph->node[node].name.text;
}

static uint32_t
process_of(const struct hr_super *s, uint32_t node)
{
	return s->plan->worker[s->plan->node[node].worker].process;
}

/* ---- finite sources ------------------------------------------------------------------------- */

void
hr_watch_init(struct hr_super *s)
{
	const struct hr_plan *p = s->plan;
	uint32_t n = p->graph->n_nodes;

	s->finite = HR_ARRAY(s->arena, n, bool);
	s->seen = HR_ARRAY(s->arena, p->n_workers, struct hr_seen);
	for (uint32_t k = 0; k < n; k++) { /* writers before readers */
		uint32_t i = p->bound->order[k];
		const struct hr_bound_node *b = &p->bound->node[i];

		s->finite[i] = b->n_in > 0 || !(b->op->flags & HOP_F_LIVE);
		for (uint32_t e = 0; e < b->n_in; e++)
			if (b->in[e].edge != UINT32_MAX && !p->graph->edge[b->in[e].edge].initial)
				s->finite[i] &= s->finite[p->graph->edge[b->in[e].edge].from];
		if (b->n_in == 0) {
			s->has_live |= !s->finite[i];
			s->has_finite |= s->finite[i];
		}
	}
	for (uint32_t i = 0; i < p->n_workers; i++)
		s->seen[i].node = HR_NO_NODE;
}

/* All finite sources and all that only they feed have ended: the live ones may go. */
static void
let_live_sources_go(struct hr_super *s)
{
	if (!s->has_live || !s->has_finite || s->stop >= HR_STOP_LIVE)
		return;
	for (uint32_t i = 0; i < s->plan->graph->n_nodes; i++)
		if (s->finite[i] && !has_ended(s, i))
			return;
	hr_super_stop(s, HR_STOP_LIVE);
}

static bool
sources_ended(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->graph->n_nodes; i++)
		if (s->plan->bound->node[i].n_in == 0 && !has_ended(s, i))
			return false;
	return true;
}

/* ---- long calls ----------------------------------------------------------------------------- */

/* Update what each worker is doing; true if any op is inside a call. */
static bool
look_at_calls(struct hr_super *s)
{
	bool busy = false;

	for (uint32_t i = 0; i < s->plan->n_workers; i++) {
		const struct hr_page_worker *w = hr_page_worker(s->page, i);
		struct hr_seen *seen = &s->seen[i];
		uint64_t calls = hr_load_relaxed(&w->calls);
		uint32_t node = hr_load32_relaxed(&w->in_node);
		uint32_t call = hr_load32_relaxed(&w->in_call);

		if (node >= s->plan->graph->n_nodes)
			node = HR_NO_NODE;
		busy |= node != HR_NO_NODE;
		if (node != seen->node || calls != seen->calls) {
			seen->node = node;
			seen->calls = calls;
			seen->since_ns = s->now;
			seen->named = false;
		}
		if (node == HR_NO_NODE || seen->named || s->now - seen->since_ns < s->stall_ns)
			continue;
		seen->named = true;
		hr_super_say(
			s, "warning: node '%s' has been in %s() for %.1f s (process %s, thread %u)",
			node_name(s, node), call <= HR_CALL_CLOSE ? hr_call_name[call] : "?",
			(double)(s->now - seen->since_ns) / 1e9,
			s->plan->process[process_of(s, node)].name, hr_load32_relaxed(&w->tid));
	}
	return busy;
}

/* ---- stall ---------------------------------------------------------------------------------- */

/* Somebody waits for the outside world or for a time: that is idleness, not a stall. */
static bool
waits_for_outside(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->graph->n_nodes; i++) {
		const struct hr_page_node *n = hr_page_node(s->page, i);
		uint32_t what = hr_load32_relaxed(&n->wait_for);

		if (has_ended(s, i))
			continue;
		if (what == HR_FOR_TIME || what == HR_FOR_NOTHING)
			return true;
		if (s->plan->bound->node[i].n_in == 0 && what != HR_FOR_OUTPUT)
			return true;
	}
	return false;
}

static bool
gathers_may_time_out(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->graph->n_edges; i++) {
		const struct hr_gather *g = s->plan->graph->edge[i].gather;
		const struct hr_page_gather *n = hr_page_gather(s->page, i);

		if (g && g->timeout_ns && s->now - s->moved_ns < g->timeout_ns + s->stall_ns &&
		    hr_load_relaxed(&n->opened) > hr_load_relaxed(&n->published) +
							  hr_load_relaxed(&n->dropped) +
							  hr_load_relaxed(&n->shed_frames))
			return true;
	}
	return false;
}

static const char *
describe_edge(struct hr_super *s, uint32_t edge)
{
	const struct hr_plan *p = s->plan;
	const struct hr_edge *e = &p->graph->edge[edge];
	const struct hr_bound_edge *b = &p->bound->edge[edge];

	return hr_printf(s->arena, "%s.%s -> %s.%s", node_name(s, e->from),
			 p->bound->node[b->from].out[b->out].port->name, node_name(s, e->to),
			 e->input.text);
}

static bool
is_full(const struct hr_super *s, uint32_t edge)
{
	const struct hr_page_edge *e = hr_page_edge(s->page, edge);

	return e->queue_valid && e->queue.queued >= e->queue.depth;
}

/* The edge a node waits on now: full behind it, or short before it. */
static uint32_t
waits_on(const struct hr_super *s, uint32_t node)
{
	const struct hr_plan *p = s->plan;
	const struct hr_page_node *n = hr_page_node(s->page, node);
	uint32_t port = hr_load32_relaxed(&n->wait_port);

	if (hr_load32_relaxed(&n->wait_for) == HR_FOR_OUTPUT) {
		const struct hr_plan_chan *c;

		if (port >= p->bound->node[node].n_out)
			return UINT32_MAX;
		c = &p->chan[p->node[node].out_chan[port]];
		for (uint32_t r = 0; r < c->n_readers; r++)
			if (is_full(s, c->edge[r]))
				return c->edge[r];
		return c->n_readers ? c->edge[0] : UINT32_MAX;
	}
	return port < p->bound->node[node].n_in ? p->bound->node[node].in[port].edge : UINT32_MAX;
}

static char *
ring_of_waits(struct hr_super *s, uint32_t from, uint64_t *depth, uint32_t *full_edge)
{
	const struct hr_graph *g = s->plan->graph;
	char *text = hr_strdup(s->arena, node_name(s, from));
	bool *seen = HR_ARRAY(s->arena, g->n_nodes, bool);
	uint32_t node = from;
	uint64_t missing = 0;

	for (;;) {
		uint32_t edge = waits_on(s, node);
		const struct hr_plan_edge *pe;
		const char *what;

		if (edge == UINT32_MAX)
			break;
		pe = &s->plan->edge[edge];
		if (g->edge[edge].from == node) {
			*full_edge = *full_edge == UINT32_MAX ? edge : *full_edge;
			node = g->edge[edge].to;
			what = "waits for room at";
		} else {
			uint64_t queued = hr_page_edge(s->page, edge)->queue.queued;
			uint64_t want = g->edge[edge].gather ? (uint64_t)g->edge[edge].gather->count
							     : pe->want;

			missing += want > queued ? want - queued : 1;
			node = g->edge[edge].from;
			what = "waits for messages of";
		}
		text = hr_printf(s->arena, "%s %s %s", text, what, node_name(s, node));
		if (node == from || seen[node] || has_ended(s, node))
			break;
		seen[node] = true;
		if (waits_on(s, node) == UINT32_MAX)
			break;
		text = hr_printf(s->arena, "%s, which", text);
	}
	if (*full_edge != UINT32_MAX && node == from)
		*depth = s->plan->edge[*full_edge].depth + missing;
	return text;
}

/* A node that was shown all it asked for and took nothing: it waits for nobody. */
static uint32_t
find_idler(struct hr_super *s, uint32_t *shown)
{
	const struct hr_plan *p = s->plan;

	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		const struct hr_bound_node *b = &p->bound->node[i];
		uint32_t sum = 0;
		bool enough = b->n_in > 0 && !has_ended(s, i);

		if (hr_load32_relaxed(&hr_page_node(s->page, i)->wait_for) != HR_FOR_INPUT)
			continue;
		for (uint32_t k = 0; k < b->n_in && enough; k++) {
			const struct hr_page_edge *e;
			uint32_t queued;

			if (b->in[k].edge == UINT32_MAX)
				continue;
			e = hr_page_edge(s->page, b->in[k].edge);
			queued = p->graph->edge[b->in[k].edge].gather ? e->gathered.queued
								      : e->queue.queued;
			enough = e->queue_valid && queued >= p->edge[b->in[k].edge].want;
			sum += queued;
		}
		if (enough && sum) {
			*shown = sum;
			return i;
		}
	}
	return HR_NO_NODE;
}

static void
report_idler(struct hr_super *s, uint32_t node, uint32_t shown)
{
	hr_incident_add(s, node, process_of(s, node), (uint64_t)s->now,
			"stalled: node '%s' was shown %u message%s and has taken none for %.1f s; "
			"its process() says there is nothing to do",
			node_name(s, node), shown, shown == 1 ? "" : "s",
			(double)(s->now - s->moved_ns) / 1e9);
}

static void
report_stall(struct hr_super *s)
{
	const struct hr_graph *g = s->plan->graph;
	uint64_t when = (uint64_t)s->now;
	uint32_t first = HR_NO_NODE, full = UINT32_MAX;
	uint64_t depth = 0;
	uint32_t idler, shown = 0;
	char *ring;

	hr_super_snapshot(s);
	idler = find_idler(s, &shown);
	if (idler != HR_NO_NODE)
		report_idler(s, idler, shown);
	for (uint32_t i = 0; i < g->n_nodes && first == HR_NO_NODE; i++)
		if (!has_ended(s, i))
			first = i;
	if (idler == HR_NO_NODE)
		hr_incident_add(s, first, first < g->n_nodes ? process_of(s, first) : HR_NO_NODE,
				when, "stalled: nothing has moved for %.1f s and everything waits",
				(double)(s->now - s->moved_ns) / 1e9);
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct hr_page_edge *e = hr_page_edge(s->page, i);

		if (!e->queue_valid || has_ended(s, g->edge[i].to))
			continue;
		if (is_full(s, i))
			hr_incident_add(s, HR_NO_NODE, HR_NO_NODE, when, "%s is full (%u/%u)",
					describe_edge(s, i), e->queue.queued, e->queue.depth);
		else if (e->queue.queued == 0)
			hr_incident_add(s, HR_NO_NODE, HR_NO_NODE, when, "%s is empty (0/%u)",
					describe_edge(s, i), e->queue.depth);
		else
			hr_incident_add(s, HR_NO_NODE, HR_NO_NODE, when, "%s holds %u of %u",
					describe_edge(s, i), e->queue.queued, e->queue.depth);
	}
	if (first == HR_NO_NODE || idler != HR_NO_NODE)
		return;
	ring = ring_of_waits(s, first, &depth, &full);
	hr_incident_add(s, HR_NO_NODE, HR_NO_NODE, when, "%s", ring);
	if (depth)
		hr_incident_add(s, HR_NO_NODE, HR_NO_NODE, when,
				"depth: %llu on %s would suffice if each node on the way makes one "
				"message of one",
				(unsigned long long)depth, describe_edge(s, full));
}

/* Stopped by a signal or a debugger: slow, not dead. */
static bool
is_stopped(pid_t pid)
{
	char path[64], text[512];
	const char *at;
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	at = strrchr(text, ')'); /* the name before it may hold anything */
	return at && (at[1] == ' ') && (at[2] == 'T' || at[2] == 't');
}

/* While a part of it stands still by somebody's wish, the graph waits. */
static bool
waits_for_a_stopped_child(struct hr_super *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n_children; i++) {
		struct hr_child_proc *c = &s->child[i];

		if (!c->pid || c->dead || !is_stopped(c->pid))
			continue;
		any = true;
		if (!c->stopped)
			hr_super_say(s,
				     "warning: process '%s' (pid %d) is stopped, by a signal or a "
				     "debugger; the graph waits for it",
				     s->plan->process[c->process].name, (int)c->pid);
		c->stopped = true;
	}
	if (any)
		s->moved_ns = s->now;
	return any;
}

/* What is left are stop() and close(), which may take their time (and have the stop ladder). */
static bool
all_nodes_ended(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->graph->n_nodes; i++)
		if (!has_ended(s, i))
			return false;
	return true;
}

static void
check_stall(struct hr_super *s, bool busy)
{
	if (busy || s->stop >= HR_STOP_NOW || s->now - s->moved_ns < s->stall_ns ||
	    s->now - s->busy_ns < s->stall_ns)
		return;
	if (all_nodes_ended(s) || waits_for_outside(s) || gathers_may_time_out(s))
		return;
	if (sum_moved(s) != s->moved)
		return; /* it moved while we looked */
	if (waits_for_a_stopped_child(s))
		return;
	report_stall(s);
	s->reason = HR_REASON_STALLED;
	s->exit_code = 5;
	hr_super_stop(s, HR_STOP_NOW);
}

/* ---- laggards ------------------------------------------------------------------------------- */

static void
blame(struct hr_super *s, uint32_t worker)
{
	const struct hr_plan_worker *w = &s->plan->worker[worker];
	const struct hr_page_worker *pw = hr_page_worker(s->page, worker);
	uint32_t node = hr_load32_relaxed(&pw->in_node), call = hr_load32_relaxed(&pw->in_call);
	double grace = (double)s->grace_ns / 1e9;

	if (node < s->plan->graph->n_nodes) {
		hr_incident_add(s, node, w->process, (uint64_t)s->now,
				"node '%s' did not return from %s() in %.3g s (process %s, thread "
				"%u): killed",
				node_name(s, node),
				call <= HR_CALL_CLOSE ? hr_call_name[call] : "?", grace,
				s->plan->process[w->process].name, hr_load32_relaxed(&pw->tid));
		return;
	}
	for (uint32_t i = 0; i < w->n_nodes; i++) {
		if (has_ended(s, w->node[i]))
			continue;
		hr_incident_add(s, w->node[i], w->process, (uint64_t)s->now,
				"node '%s' did not end in %.3g s (process %s, thread %u): killed",
				node_name(s, w->node[i]), grace, s->plan->process[w->process].name,
				hr_load32_relaxed(&pw->tid));
		return;
	}
	hr_incident_add(s, HR_NO_NODE, w->process, (uint64_t)s->now,
			"process '%s' did not end in %.3g s: killed",
			s->plan->process[w->process].name, grace);
}

/* Threads of this very process cannot be killed: they are named and left to the exit. */
static void
give_up_threads(struct hr_super *s)
{
	uint32_t worst = UINT32_MAX;

	for (uint32_t i = 0; i < s->plan->n_workers; i++) {
		const struct hr_page_worker *pw = hr_page_worker(s->page, i);

		if (hr_load32_acquire(&pw->state) == HR_WORKER_ENDED)
			continue;
		if (worst == UINT32_MAX || hr_load32_relaxed(&pw->in_node) != HR_NO_NODE)
			worst = i;
	}
	if (worst != UINT32_MAX)
		blame(s, worst);
	s->over = true;
}

/* True if the control thread of a process is in some op's open() or close(). */
static bool
blame_control(struct hr_super *s, const struct hr_child_proc *child)
{
	const struct hr_page_process *p = hr_page_process(s->page, child->process);
	uint32_t node = hr_load32_relaxed(&p->in_node), call = hr_load32_relaxed(&p->in_call);

	if (call == HR_CALL_NONE || call > HR_CALL_CLOSE || node >= s->plan->graph->n_nodes)
		return false;
	hr_incident_add(s, node, child->process, (uint64_t)s->now,
			"node '%s' did not return from %s() in %.3g s (process %s, thread %d): "
			"killed",
			node_name(s, node), hr_call_name[call], (double)s->grace_ns / 1e9,
			s->plan->process[child->process].name, (int)child->pid);
	return true;
}

static void
blame_child(struct hr_super *s, const struct hr_child_proc *child, uint32_t worker)
{
	if (blame_control(s, child))
		return;
	if (worker != UINT32_MAX)
		blame(s, worker);
	else
		hr_incident_add(s, HR_NO_NODE, child->process, (uint64_t)s->now,
				"process '%s' (pid %d) did not end in %.3g s: killed",
				s->plan->process[child->process].name, (int)child->pid,
				(double)s->grace_ns / 1e9);
}

void
hr_watch_blame(struct hr_super *s, const struct hr_child_proc *child)
{
	uint32_t busy = UINT32_MAX;

	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		if (s->plan->worker[i].process == child->process &&
		    hr_load32_relaxed(&hr_page_worker(s->page, i)->in_node) != HR_NO_NODE)
			busy = i;
	blame_child(s, child, busy);
}

static void
kill_laggards(struct hr_super *s, bool only_busy)
{
	if (s->opt->in_process)
		give_up_threads(s);
	for (uint32_t c = 0; c < s->n_children; c++) {
		struct hr_child_proc *child = &s->child[c];
		uint32_t worst = UINT32_MAX;

		if (!child->pid || child->dead || child->killed)
			continue;
		for (uint32_t i = 0; i < s->plan->n_workers; i++) {
			const struct hr_page_worker *pw = hr_page_worker(s->page, i);
			bool busy = hr_load32_relaxed(&pw->in_node) != HR_NO_NODE;

			if (s->plan->worker[i].process != child->process ||
			    hr_load32_acquire(&pw->state) == HR_WORKER_ENDED)
				continue;
			if (busy || (!only_busy && worst == UINT32_MAX))
				worst = i;
		}
		if (worst == UINT32_MAX && only_busy)
			continue;
		blame_child(s, child, worst);
		hr_spawn_kill(s, child);
	}
	if (!s->exit_code) {
		s->exit_code = 6;
		s->reason = HR_REASON_KILLED;
	}
	/* Those that only waited for the dead go on by themselves, and get a grace of their own. */
	s->stop_ns = s->now;
}

static bool
workers_ended(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		if (hr_load32_acquire(&hr_page_worker(s->page, i)->state) != HR_WORKER_ENDED)
			return false;
	return true;
}

static void
check_laggards(struct hr_super *s, bool busy)
{
	bool over = sources_ended(s);

	if (!s->ended_ns && workers_ended(s))
		s->ended_ns = s->now;
	/* All threads are through, but some close() does not return. */
	if (s->ended_ns && s->now - s->ended_ns >= s->grace_ns) {
		kill_laggards(s, false);
		return;
	}
	if (s->stop >= HR_STOP_SOURCES && s->now - s->stop_ns >= s->grace_ns) {
		/* First those inside a call: others may only wait for them. */
		kill_laggards(s, busy);
		return;
	}
	/* The natural end is the same ladder, but data in flight may take its time. */
	if (s->stop < HR_STOP_SOURCES && over && busy && s->now - s->moved_ns >= s->grace_ns) {
		for (uint32_t i = 0; i < s->plan->n_workers; i++) {
			if (s->seen[i].node == HR_NO_NODE ||
			    s->now - s->seen[i].since_ns < s->grace_ns)
				continue;
			kill_laggards(s, true);
			return;
		}
	}
}

void
hr_watch_tick(struct hr_super *s)
{
	uint64_t moved = sum_moved(s);
	bool busy;

	/* The clock of a stall starts when those that failed are back. */
	if (moved != s->moved || hr_failover_is_at_work(s)) {
		s->moved = moved;
		s->moved_ns = s->now;
	}
	busy = look_at_calls(s);
	if (busy)
		s->busy_ns = s->now; /* the clock of a stall starts when the last call ended */
	let_live_sources_go(s);
	check_laggards(s, busy);
	check_stall(s, busy);
}
