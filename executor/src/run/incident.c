/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.c - who was to blame: causes from the run page and from how children
 * ended, in the order they happened.
 *
 * What workers and signal handlers recorded is believed as a text only: node
 * numbers are checked, texts are bounded.  A death that a record explains is the
 * same incident; a death the supervisor caused is told by whoever decided it.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "run/super.h"

enum { MOST_KEPT = 100 }; /* incidents that the graph survived; a crash loop has no end */

const char *const hr_reason_name[] = { "ended",  "signal",  "duration", "count",
				       "failed", "stalled", "killed",   "forced" };

static void
insert(struct hr_super *s, struct hr_incident *i)
{
	struct hr_incident **at = &s->out->first;

	while (*at && (*at)->when_ns <= i->when_ns)
		at = &(*at)->next;
	i->next = *at;
	*at = i;
	s->n_incidents++;
}

struct hr_incident *
hr_incident_add(struct hr_super *s, uint32_t node, uint32_t process, uint64_t when_ns,
		const char *fmt, ...)
{
	const struct hr_graph *g = s->plan->graph;
	struct hr_incident *i = HR_NEW(s->arena, struct hr_incident);
	va_list ap;

	va_start(ap, fmt);
	i->text = hr_vprintf(s->arena, fmt, ap);
	va_end(ap);
	if (node < g->n_nodes) {
		i->node = g->node[node].name.text;
		i->at = g->node[node].name.at;
	}
	if (process < s->plan->n_processes)
		i->process = s->plan->process[process].name;
	i->when_ns = when_ns;
	insert(s, i);
	return i;
}

static const char *
signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? name : "?";
}

static uint32_t
n_records(const struct hr_super *s)
{
	return s->plan->n_workers + s->plan->n_processes;
}

static bool
is_recorded(const struct hr_super *s, uint32_t who)
{
	/* P2: sees the record; pairs with P1 in hostapi.c and thread.c */
	return hr_load32_acquire(&hr_page_failure(s->page, who)->kind) != HR_FAILURE_NONE;
}

static uint32_t
process_of(const struct hr_super *s, uint32_t who)
{
	const struct hr_plan *p = s->plan;

	return who < p->n_workers ? p->worker[who].process : who - p->n_workers;
}

bool
hr_incident_died_badly(const struct hr_super *s, const struct hr_child_proc *c)
{
	return c->dead && !c->killed && !c->contained &&
	       !(WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0 &&
		 hr_load32_acquire(&hr_page_process(s->page, c->process)->closed));
}

/* Its failures are dealt with when its process has died, or at the next tick (failover.c). */
static bool
is_survived(const struct hr_super *s, uint32_t process)
{
	enum hr_on_failure what = s->plan->process[process].on_failure;

	return s->running && (what == HR_ON_FAILURE_DETACH ||
			      (what == HR_ON_FAILURE_RESTART && !s->opt->in_process));
}

bool
hr_incident_any(const struct hr_super *s)
{
	for (uint32_t i = 0; i < n_records(s); i++)
		if (is_recorded(s, i) && !is_survived(s, process_of(s, i)))
			return true;
	for (uint32_t i = 0; i < s->n_children; i++)
		if (hr_incident_died_badly(s, &s->child[i]))
			return true;
	return s->beyond_repair;
}

static const char *
op_of(const struct hr_super *s, uint32_t node)
{
	return s->plan->bound->node[node].op->name;
}

static void
collect_record(struct hr_super *s, uint32_t who)
{
	struct hr_page_failure f = *hr_page_failure(s->page, who);
	uint32_t process = process_of(s, who), node = f.node;
	const char *call = f.call <= HR_CALL_CLOSE ? hr_call_name[f.call] : "?";
	const char *place = "";

	f.text[sizeof f.text - 1] = f.file[sizeof f.file - 1] = 0;
	if (f.exit_code == 3 && !s->exit_code)
		s->exit_code = 3;
	if (f.file[0] && f.line)
		place = hr_printf(s->arena, " (%s:%u)", f.file, f.line);
	if (node >= s->plan->graph->n_nodes) {
		if (f.kind == HR_FAILURE_SIGNAL)
			hr_incident_add(s, HR_NO_NODE, process, f.when_ns,
					"process '%s' got SIG%s outside of any node",
					s->plan->process[process].name, signal_name(f.code));
		else
			hr_incident_add(s, HR_NO_NODE, process, f.when_ns, "%s", f.text);
		return;
	}
	if (f.kind == HR_FAILURE_SIGNAL)
		hr_incident_add(
			s, node, process, f.when_ns,
			"node '%s' (%s) got SIG%s in %s() after %llu messages, process '%s'",
			s->plan->graph->node[node].name.text, op_of(s, node), signal_name(f.code),
			call, (unsigned long long)f.message, s->plan->process[process].name);
	else if (f.call == HR_CALL_PROCESS)
		hr_incident_add(s, node, process, f.when_ns,
				"node '%s' (%s) failed after %llu messages: %s%s",
				s->plan->graph->node[node].name.text, op_of(s, node),
				(unsigned long long)f.message, f.text, place);
	else
		hr_incident_add(s, node, process, f.when_ns, "node '%s' (%s) failed in %s(): %s%s",
				s->plan->graph->node[node].name.text, op_of(s, node), call, f.text,
				place);
}

static bool
explained(const struct hr_super *s, const struct hr_child_proc *c)
{
	for (uint32_t i = 0; i < n_records(s); i++)
		if (process_of(s, i) == c->process && is_recorded(s, i))
			return true;
	return false;
}

static void
collect_death(struct hr_super *s, const struct hr_child_proc *c)
{
	const char *name = s->plan->process[c->process].name;

	if (!hr_incident_died_badly(s, c) || explained(s, c))
		return;
	if (c->words[0]) {
		hr_incident_add(s, HR_NO_NODE, c->process, c->dead_ns,
				"process '%s' could not start: %s", name, c->words);
		s->exit_code = s->exit_code ? s->exit_code : 3;
	} else if (WIFSIGNALED(c->status)) {
		hr_incident_add(s, HR_NO_NODE, c->process, c->dead_ns,
				"process '%s' (pid %d) was killed by SIG%s%s", name, (int)c->pid,
				signal_name(WTERMSIG(c->status)),
				WCOREDUMP(c->status) ? ", core dumped" : "");
	} else {
		hr_incident_add(s, HR_NO_NODE, c->process, c->dead_ns,
				"process '%s' (pid %d) left with exit code %d before its end", name,
				(int)c->pid, WEXITSTATUS(c->status));
	}
}

static void
forget_record(struct hr_super *s, uint32_t who)
{
	/* P3: the record may be used again; its thread looks at the kind first */
	hr_store32_release(&hr_page_failure(s->page, who)->kind, HR_FAILURE_NONE);
}

/* What is found while it is open is said, and kept if there are not too many already. */
struct survival {
	struct hr_arena *arena;
	struct hr_incident *before;
	uint32_t n_before;
	int exit_code;
};

static void
begin(struct hr_super *s, struct survival *v)
{
	*v = (struct survival){ s->arena, s->out->first, s->n_incidents, s->exit_code };
	s->out->first = NULL;
	if (s->n_contained >= MOST_KEPT)
		s->arena = hr_arena_new();
}

static void
end(struct hr_super *s, const struct survival *v)
{
	struct hr_incident *found = s->out->first;

	s->out->first = v->before;
	s->n_incidents = v->n_before;
	s->exit_code = v->exit_code;
	while (found) {
		struct hr_incident *i = found;

		found = i->next;
		hr_super_say(s, "warning: %s", i->text);
		if (s->arena == v->arena) {
			insert(s, i);
			s->n_contained++;
		} else {
			s->n_untold++;
		}
	}
	if (s->arena != v->arena)
		hr_arena_free(s->arena);
	s->arena = v->arena;
}

void
hr_incident_contain(struct hr_super *s, const struct hr_child_proc *c)
{
	struct survival v;

	begin(s, &v);
	collect_death(s, c);
	for (uint32_t i = 0; i < n_records(s); i++) {
		if (process_of(s, i) != c->process || !is_recorded(s, i))
			continue;
		collect_record(s, i);
		forget_record(s, i);
	}
	end(s, &v);
}

void
hr_incident_contain_records(struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->n_workers; i++) {
		uint32_t process = process_of(s, i), kind;
		struct survival v;

		if (s->plan->process[process].on_failure != HR_ON_FAILURE_DETACH)
			continue;
		kind = hr_load32_acquire(&hr_page_failure(s->page, i)->kind);
		if (kind == HR_FAILURE_NONE || kind == HR_FAILURE_SIGNAL)
			continue; /* a crash is its process's end, which is yet to come */
		begin(s, &v);
		collect_record(s, i);
		forget_record(s, i);
		end(s, &v);
	}
}

/* What followed from it: nodes whose peer went away. */
static void
collect_consequences(struct hr_super *s)
{
	const struct hr_graph *g = s->plan->graph;
	uint64_t cause_ns = s->out->first->when_ns;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct hr_page_node *n = hr_page_node(s->page, i);
		uint64_t when_ns = hr_load_relaxed(&n->end_ns);

		if (hr_load32_acquire(&n->state) != HR_NODE_LOST)
			continue;
		/* A peer sees the death by its mutex, before the kernel has reaped the process. */
		if (when_ns < cause_ns)
			when_ns = cause_ns;
		hr_incident_add(s, i, HR_NO_NODE, when_ns,
				"node '%s' lost the writer of an input and ended",
				g->node[i].name.text);
	}
}

void
hr_incidents_collect(struct hr_super *s)
{
	for (uint32_t i = 0; i < n_records(s); i++)
		if (is_recorded(s, i))
			collect_record(s, i);
	for (uint32_t i = 0; i < s->n_children; i++)
		collect_death(s, &s->child[i]);
	if (s->out->first) {
		uint32_t before = s->n_incidents;

		collect_consequences(s);
		s->n_contained += s->n_incidents - before; /* follow from what is counted already */
	}
	if (s->n_untold) {
		hr_incident_add(s, HR_NO_NODE, HR_NO_NODE, (uint64_t)s->now,
				"%llu more failures that the graph survived",
				(unsigned long long)s->n_untold);
		s->n_contained++;
	}
}
