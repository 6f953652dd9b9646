/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failover.c - on_failure: what becomes of the graph when a part of it dies.
 *
 * stop_graph is not done here: whatever failure this file leaves unhandled stops
 * the graph.  detach notes the failure and lets the rest go on; restart starts
 * the process again after a pause that doubles, with new channels for what it
 * writes, to which its readers move over (link.c), while what it reads lives on.
 * What the dead process held is counted as abandoned.
 */
#include <string.h>
#include <sys/wait.h>

#include "run/super.h"

enum { BACKOFF_DOUBLINGS = 5 };

static bool
is_of(const struct hr_super *s, uint32_t worker, uint32_t process)
{
	return s->plan->worker[worker].process == process;
}

/* The process will not be back: its peers see an end, and nothing waits for it. */
static void
mark_gone(struct hr_super *s, uint32_t process)
{
	s->life[process].respawn_ns = 0;
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
	hr_store32_release(&pp->opened, 0);
	hr_store32_release(&pp->closed, 0);
}

/* An older channel is done with when its readers took all of it. */
static bool
settle_old(struct hr_super *s, const struct hr_old_chan *o, bool last)
{
	const struct hr_plan_chan *c = &s->plan->chan[o->chan];
	struct hmq_edge_stat st[HMQ_MAX_READERS];

	for (uint32_t r = 0; r < c->n_readers; r++) {
		hmq_chan_stat(&o->seg, r, &st[r]);
		if (st[r].sent == st[r].received + st[r].lost + st[r].left + st[r].abandoned)
			continue;
		if (!last)
			return false;
		st[r].abandoned = st[r].sent - st[r].received - st[r].lost - st[r].left;
	}
	for (uint32_t r = 0; r < c->n_readers; r++) {
		struct hmq_edge_stat *sum = &s->past[c->edge[r]];

		sum->sent += st[r].sent;
		sum->received += st[r].received;
		sum->lost += st[r].lost;
		sum->left += st[r].left;
		sum->abandoned += st[r].abandoned;
	}
	return true;
}

static void
settle_olds(struct hr_super *s, bool last)
{
	struct hr_old_chan **at = &s->old;

	while (*at) {
		struct hr_old_chan *o = *at;

		if (!settle_old(s, o, last)) {
			at = &o->next;
			continue;
		}
		hmq_segment_close(&o->seg);
		*at = o->next;
	}
}

/* A new channel for everything it writes; the readers elsewhere are told. */
static int
renew_channels(struct hr_super *s, uint32_t process, struct hr_error *err)
{
	const struct hr_plan *p = s->plan;

	settle_olds(s, false);
	for (uint32_t i = 0; i < p->n_chans; i++) {
		struct hr_old_chan *o;

		if (!p->chan[i].shared || !is_of(s, hr_wire_writer(p, &p->chan[i]), process))
			continue;
		o = HR_NEW(s->arena, struct hr_old_chan);
		*o = (struct hr_old_chan){ .seg = s->wiring.chan[i], .chan = i, .next = s->old };
		s->old = o;
		if (hr_wire_renew(s->arena, &s->wiring, i, hr_page_process(s->page, process)->lives,
				  err))
			return -1;
		for (uint32_t k = 0; k < s->n_children; k++)
			if (s->child[k].pid && !s->child[k].dead && s->child[k].process != process)
				hr_spawn_tell_one(&s->child[k], HR_TELL_RENEW, i,
						  s->wiring.chan[i].fd);
	}
	return 0;
}

static void
respawn(struct hr_super *s, struct hr_child_proc *c)
{
	struct hr_life *l = &s->life[c->process];
	struct hr_error err = { 0 };

	l->respawn_ns = 0;
	forget_life(s, c->process);
	hr_spawn_forget(c);
	if (renew_channels(s, c->process, &err) || hr_spawn_one(s, c, &err)) {
		hr_incident_add(s, HR_NO_NODE, c->process, (uint64_t)s->now,
				"process '%s' cannot be started again: %s",
				s->plan->process[c->process].name, err.text);
		s->beyond_repair = true;
		mark_gone(s, c->process);
		return;
	}
	l->starting = true;
	hr_super_say(s, "process '%s' was started again (%lld)", s->plan->process[c->process].name,
		     (long long)l->restarts);
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
bring_up(struct hr_super *s, struct hr_child_proc *c)
{
	struct hr_life *l = &s->life[c->process];

	if (!l->told && hr_load32_acquire(&hr_page_process(s->page, c->process)->opened)) {
		hr_spawn_tell_one(c, HR_TELL_START, 0, -1);
		l->told = true;
	}
	if (!l->told || !has_started(s, c->process))
		return;
	l->starting = l->told = false;
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
	l->starting = l->told = false;
}

/* ---- what happened -------------------------------------------------------------------------- */

static void
on_death(struct hr_super *s, struct hr_child_proc *c)
{
	enum hr_on_failure what = s->plan->process[c->process].on_failure;

	if (!hr_incident_died_badly(c)) {
		if (!c->killed) {
			c->contained = true;
			hr_store32_release(&hr_page_process(s->page, c->process)->gone, 1);
		}
		return;
	}
	if (what == HR_ON_FAILURE_STOP)
		return;
	hr_incident_contain(s, c);
	c->contained = true;
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
	settle_olds(s, true);
	for (uint32_t i = 0; i < s->plan->graph->n_edges; i++) {
		struct hmq_edge_stat *q = &hr_page_edge(s->page, i)->queue, *past = &s->past[i];

		q->sent += past->sent;
		q->received += past->received;
		q->lost += past->lost;
		q->left += past->left;
		q->abandoned += past->abandoned;
	}
}
