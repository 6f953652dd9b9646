/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failover.c - on_failure: what becomes of the graph when a part of it dies.
 *
 * stop_graph is not done here: whatever failure this file leaves unhandled stops
 * the graph.  detach notes the failure and lets the rest go on; restart starts
 * the process again after a pause that doubles, with new channels for what it
 * writes, to which its readers move over (renew.c, link.c), while what it reads
 * lives on.  What the dead process held is counted as abandoned.
 */
#include <string.h>
#include <sys/wait.h>

#include "run/super.h"

enum {
	BACKOFF_DOUBLINGS = 5,
	MOST_UNREAD = 8,          /* channels of former lives that a reader has not emptied */
	LOOK_AGAIN_NS = 20000000, /* at these */
};

static bool
is_of(const struct hr_super *s, uint32_t worker, uint32_t process)
{
	return s->plan->worker[worker].process == process;
}

/* The process will not be back: its peers see an end, and nothing waits for it. */
static void
mark_gone(struct hr_super *s, uint32_t process)
{
	struct hr_life *l = &s->life[process];

	l->respawn_ns = 0;
	l->starting = l->told = l->named = false;
	for (uint32_t i = 0; i < s->plan->n_workers; i++) {
		struct hr_page_worker *w = hr_page_worker(s->page, i);

		if (!is_of(s, i, process))
			continue;
		for (uint32_t k = 0; k < s->plan->worker[i].n_nodes; k++) {
			struct hr_page_node *n = hr_page_node(s->page, s->plan->worker[i].node[k]);

			if (hr_load32_acquire(&n->state) < HR_NODE_ENDED)
				hr_store32_release(&n->state, HR_NODE_FAILED);
		}
		hr_store32_relaxed(&w->in_node, HR_NO_NODE);
		hr_store32_release(&w->state, HR_WORKER_ENDED);
	}
	hr_store32_release(&hr_page_process(s->page, process)->gone, 1);
	hr_super_wake(s);
}

/* ---- restart -------------------------------------------------------------------------------- */

/* As if it had never been started; its counters go on. */
static void
forget_life(struct hr_super *s, uint32_t process)
{
	struct hr_page_process *pp = hr_page_process(s->page, process);

	for (uint32_t i = 0; i < s->plan->n_workers; i++) {
		struct hr_page_worker *w = hr_page_worker(s->page, i);

		if (!is_of(s, i, process))
			continue;
		for (uint32_t k = 0; k < s->plan->worker[i].n_nodes; k++)
			hr_store32_release(
				&hr_page_node(s->page, s->plan->worker[i].node[k])->state,
				HR_NODE_NEW);
		hr_store32_relaxed(&w->in_node, HR_NO_NODE);
		hr_store32_release(&w->state, HR_WORKER_NEW);
	}
	pp->cpu_base_ns = 0;
	hr_store32_release(&pp->opened, 0);
	hr_store32_release(&pp->closed, 0);
	s->ended_ns = 0;
}

static uint32_t
n_written(const struct hr_super *s, uint32_t process)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->plan->n_chans; i++)
		n += s->plan->chan[i].shared &&
		     is_of(s, hr_wire_writer(s->plan, &s->plan->chan[i]), process);
	return n ? n : 1;
}

static void
respawn(struct hr_super *s, struct hr_child_proc *c)
{
	struct hr_life *l = &s->life[c->process];
	struct hr_error err = { 0 };

	/* A reader that stands still is not to be buried in channels. */
	l->waits = hr_renew_settle(s, c->process, false) >= MOST_UNREAD * n_written(s, c->process);
	if (l->waits) {
		l->respawn_ns = s->now + LOOK_AGAIN_NS;
		return;
	}
	l->respawn_ns = 0;
	forget_life(s, c->process);
	hr_spawn_forget(c);
	if (hr_renew_channels(s, c->process, &err) || hr_spawn_one(s, c, &err)) {
		hr_incident_add(s, HR_NO_NODE, c->process, (uint64_t)s->now,
				"process '%s' cannot be started again: %s",
				s->plan->process[c->process].name, err.text);
		s->beyond_repair = true;
		hr_spawn_kill(s, c);
		mark_gone(s, c->process);
		return;
	}
	l->starting = true;
	l->started_ns = s->now;
	hr_super_say(s, "info: process '%s' was started again (%lld)",
		     s->plan->process[c->process].name, (long long)l->restarts);
}

static bool
has_started(const struct hr_super *s, uint32_t process)
{
	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		if (is_of(s, i, process) &&
		    hr_load32_acquire(&hr_page_worker(s->page, i)->state) < HR_WORKER_STARTED)
			return false;
	return true;
}

static void
name_slow_starter(struct hr_super *s, const struct hr_child_proc *c)
{
	const struct hr_page_process *p = hr_page_process(s->page, c->process);
	struct hr_life *l = &s->life[c->process];
	uint32_t node = hr_load32_relaxed(&p->in_node);

	if (l->named || s->now - l->started_ns < s->stall_ns)
		return;
	l->named = true;
	if (node < s->plan->graph->n_nodes)
		hr_super_say(s, "warning: node '%s' has been in open() for %.1f s (process %s)",
			     s->plan->graph->node[node].name.text,
			     (double)(s->now - l->started_ns) / 1e9,
			     s->plan->process[c->process].name);
	else
		hr_super_say(s, "warning: process '%s' has not started for %.1f s",
			     s->plan->process[c->process].name,
			     (double)(s->now - l->started_ns) / 1e9);
}

static void
bring_up(struct hr_super *s, struct hr_child_proc *c)
{
	struct hr_life *l = &s->life[c->process];

	if (!l->told && hr_load32_acquire(&hr_page_process(s->page, c->process)->opened)) {
		hr_spawn_tell_one(c, HR_TELL_START, 0, -1);
		l->told = true;
	}
	if (!l->told || !has_started(s, c->process)) {
		name_slow_starter(s, c);
		return;
	}
	l->starting = l->told = l->named = false;
	hr_super_wake(s); /* writers that hold back for it look again */
}

static void
plan_restart(struct hr_super *s, const struct hr_child_proc *c)
{
	const struct hr_plan_process *p = &s->plan->process[c->process];
	struct hr_life *l = &s->life[c->process];
	int64_t pause = p->backoff_ns;

	if (p->restart_max && l->restarts >= p->restart_max) {
		hr_incident_add(s, HR_NO_NODE, c->process, (uint64_t)s->now,
				"process '%s' was restarted %lld times; on_failure allows no more",
				p->name, (long long)l->restarts);
		s->beyond_repair = true;
		mark_gone(s, c->process);
		return;
	}
	for (int64_t i = 0; i < l->restarts && i < BACKOFF_DOUBLINGS; i++)
		pause *= 2;
	l->restarts++;
	l->respawn_ns = s->now + pause;
	l->starting = l->told = l->named = false;
}

/* ---- what happened -------------------------------------------------------------------------- */

static void
on_death(struct hr_super *s, struct hr_child_proc *c)
{
	enum hr_on_failure what = s->plan->process[c->process].on_failure;

	if (!hr_incident_died_badly(s, c)) {
		/* In the ordinary way, or killed for being late, which was told. */
		c->contained = true;
		if (c->killed)
			mark_gone(s, c->process);
		else
			hr_store32_release(&hr_page_process(s->page, c->process)->gone, 1);
		hr_renew_close_rows(s, c->process);
		return;
	}
	if (what == HR_ON_FAILURE_STOP)
		return;
	hr_incident_contain(s, c);
	c->contained = true;
	hr_renew_page(s, c->process);
	if (what == HR_ON_FAILURE_RESTART && s->stop < HR_STOP_SOURCES)
		plan_restart(s, c);
	else
		mark_gone(s, c->process);
}

void
hr_failover_tick(struct hr_super *s)
{
	hr_incident_contain_records(s);
	for (uint32_t i = 0; i < s->n_children; i++) {
		struct hr_child_proc *c = &s->child[i];
		struct hr_life *l = &s->life[c->process];

		if (c->dead && !c->contained)
			on_death(s, c);
		if (l->respawn_ns && s->stop >= HR_STOP_SOURCES)
			mark_gone(s, c->process);
		else if (l->respawn_ns && s->now >= l->respawn_ns)
			respawn(s, c);
		else if (l->starting)
			bring_up(s, c);
	}
}

bool
hr_failover_is_busy(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->n_processes; i++)
		if (s->life[i].respawn_ns || s->life[i].starting)
			return true;
	return false;
}

bool
hr_failover_is_at_work(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->n_processes; i++)
		if ((s->life[i].respawn_ns && !s->life[i].waits) || s->life[i].starting)
			return true;
	return false;
}

int64_t
hr_failover_deadline(const struct hr_super *s)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < s->plan->n_processes; i++)
		if (s->life[i].respawn_ns && s->life[i].respawn_ns < first)
			first = s->life[i].respawn_ns;
	return first;
}

void
hr_failover_init(struct hr_super *s)
{
	s->life = HR_ARRAY(s->arena, s->plan->n_processes, struct hr_life);
	s->past = HR_ARRAY(s->arena, s->plan->graph->n_edges, struct hmq_edge_stat);
}

void
hr_failover_settle(struct hr_super *s)
{
	hr_renew_settle(s, 0, true);
	for (uint32_t i = 0; i < s->plan->graph->n_edges; i++) {
		struct hmq_edge_stat *q = &hr_page_edge(s->page, i)->queue, *past = &s->past[i];

		q->sent += past->sent;
		q->received += past->received;
		q->lost += past->lost;
		q->left += past->left;
		q->abandoned += past->abandoned;
	}
}
