// SPDX-License-Identifier: Apache-2.0
/*
 * pin.c - a CPU for every worker, and whether it may have it.
 *
 * What a partition names is what it gets, or a diagnostic.  The others get the
 * first allowed CPU that nobody has, else share the first allowed one.  A
 * partition's slot is its index; the default partition has the slot behind the
 * last.  The workers of nodes that block sit on their partition's CPU: they
 * sleep, so they do not count as sharing between partitions.
 */
#include "plan/cpus.h"
#include "plan/stages.h"

enum { MAX_SHARERS = 8 }; /* named in a message */

struct pins {
	struct hr_planner *p;
	uint32_t n_slots;
	bool *named;     /* per CPU of the machine: some partition names it */
	uint32_t *first; /* per CPU: slots on it, in file order, HR_NONE */
	uint32_t *last;
	uint32_t *next;    /* per slot */
	uint32_t *n_nodes; /* per slot */
};

static const struct hr_partition *
partition_of(const struct pins *s, uint32_t slot)
{
	return slot < s->p->graph->n_partitions ? &s->p->graph->partition[slot] : NULL;
}

static const char *
slot_name(const struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);

	return part ? part->name.text : "main";
}

/* Where the wait mode was written; nowhere for the default partition. */
static struct hr_span
wait_span(const struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);

	return part ? part->wait_at : HR_NOWHERE;
}

static bool
names_cpus(const struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);

	return part && part->cpus.at.line != 0;
}

static bool
is_exclusive(const struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);

	return part && part->exclusive;
}

static enum hr_wait
slot_wait(const struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);

	return part ? part->wait : HR_WAIT_ADAPTIVE;
}

/* Where to point for a slot's placement. */
static struct hr_span
slot_span(const struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);

	if (!part)
		return HR_NOWHERE;
	return part->cpus.at.line ? part->cpus.at : part->name.at;
}

static void
give(struct pins *s, uint32_t slot, const struct hr_cpu *cpu)
{
	size_t at = (size_t)(cpu - s->p->machine->cpu);

	s->p->part_cpu[slot] = (int32_t)cpu->os;
	if (s->first[at] == HR_NONE)
		s->first[at] = slot;
	else
		s->next[s->last[at]] = slot;
	s->last[at] = slot;
}

static void
take_named(struct pins *s, uint32_t slot)
{
	struct hr_planner *p = s->p;
	const struct hr_partition *part = partition_of(s, slot);
	const char *who = hr_printf(p->arena, "partition '%s'", part->name.text);
	struct hr_cpu_list list;

	if (hr_cpus_parse(p->arena, p->machine, who, &part->cpus, &list, p->diags) < 0)
		return;
	if (list.n > 1) {
		struct hr_diag *e = hr_error(
			p->diags, part->cpus.at, 291,
			"%s has %u CPUs; this version has partitions of one CPU", who, list.n);

		hr_help(e, "split it into partitions of one CPU each");
		return;
	}
	const struct hr_cpu *cpu = hr_machine_cpu(p->machine, list.os[0]);

	s->named[cpu - p->machine->cpu] = true;
	give(s, slot, cpu);
}

/* A CPU for a partition that names none. */
static const struct hr_cpu *
find_cpu(const struct pins *s, bool alone)
{
	const struct hr_machine *m = s->p->machine;

	for (uint32_t i = 0; i < m->n_cpus; i++)
		if (m->cpu[i].allowed && !s->named[i] && s->first[i] == HR_NONE)
			return &m->cpu[i];
	for (uint32_t i = 0; !alone && i < m->n_cpus; i++)
		if (m->cpu[i].allowed && !is_exclusive(s, s->first[i]))
			return &m->cpu[i];
	return NULL;
}

static void
take_default(struct pins *s, uint32_t slot)
{
	struct hr_planner *p = s->p;
	const struct hr_cpu *cpu = find_cpu(s, is_exclusive(s, slot));

	if (cpu) {
		give(s, slot, cpu);
		return;
	}
	hr_error(p->diags, slot_span(s, slot), 264,
		 is_exclusive(s, slot)
			 ? "no CPU is left for partition '%s' alone; allowed here: %s"
			 : "no CPU is left for partition '%s': the others are exclusive; "
			   "allowed here: %s",
		 slot_name(s, slot), hr_cpus_allowed(p->arena, p->machine));
}

/* Exclusive ones choose first: the others can share. */
static void
take_cpus(struct pins *s)
{
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (names_cpus(s, i))
			take_named(s, i);
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (!names_cpus(s, i) && s->n_nodes[i] && is_exclusive(s, i))
			take_default(s, i);
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (!names_cpus(s, i) && s->n_nodes[i] && !is_exclusive(s, i))
			take_default(s, i);
}

/* An exclusive partition on this CPU that is not alone there.  True if there is one. */
static bool
refuse_exclusive(struct pins *s, uint32_t cpu)
{
	for (uint32_t slot = s->first[cpu]; slot != HR_NONE; slot = s->next[slot]) {
		uint32_t other = slot == s->first[cpu] ? s->next[slot] : s->first[cpu];

		if (!is_exclusive(s, slot))
			continue;
		struct hr_diag *e = hr_error(
			s->p->diags, slot_span(s, slot), 264,
			"partition '%s' wants CPU %u for itself, but partition '%s' "
			"is on it too",
			slot_name(s, slot), s->p->machine->cpu[cpu].os, slot_name(s, other));

		if (slot_span(s, other).line)
			hr_note(e, slot_span(s, other), "partition '%s' is placed here",
				slot_name(s, other));
		hr_help(e, "give one of them another CPU, or drop `exclusive: true`");
		return true;
	}
	return false;
}

static bool
refuse_spinners(struct pins *s, uint32_t cpu)
{
	uint32_t spinner = HR_NONE;

	for (uint32_t slot = s->first[cpu]; slot != HR_NONE; slot = s->next[slot]) {
		if (slot_wait(s, slot) != HR_WAIT_SPIN)
			continue;
		if (spinner == HR_NONE) {
			spinner = slot;
			continue;
		}
		struct hr_diag *e = hr_error(s->p->diags, wait_span(s, slot), 265,
					     "partitions '%s' and '%s' would both spin on CPU %u",
					     slot_name(s, spinner), slot_name(s, slot),
					     s->p->machine->cpu[cpu].os);

		hr_note(e, wait_span(s, spinner), "partition '%s' spins too",
			slot_name(s, spinner));
		hr_help(e, "give one of them another CPU, or write `wait: adaptive`");
		return true;
	}
	return false;
}

/* "'a' (2 nodes, adaptive) and 'b' (1 node, sleep)" */
static const char *
sharers(struct pins *s, uint32_t cpu, uint32_t *n_named)
{
	struct hr_text t;

	uint32_t n = 0;

	hr_text_init(&t, s->p->arena);
	*n_named = 0;
	for (uint32_t slot = s->first[cpu]; slot != HR_NONE; slot = s->next[slot]) {
		*n_named += names_cpus(s, slot);
		if (n++ >= MAX_SHARERS)
			continue;
		hr_text_add(&t, "%s'%s' (%u %s, %s)",
			    !t.len                     ? ""
			    : s->next[slot] == HR_NONE ? " and "
						       : ", ",
			    slot_name(s, slot), s->n_nodes[slot],
			    s->n_nodes[slot] == 1 ? "node" : "nodes",
			    hr_wait_word[slot_wait(s, slot)]);
	}
	if (n > MAX_SHARERS)
		hr_text_add(&t, " and %u more", n - MAX_SHARERS);
	return t.s;
}

static bool
all_sleep(const struct pins *s, uint32_t cpu)
{
	for (uint32_t slot = s->first[cpu]; slot != HR_NONE; slot = s->next[slot])
		if (slot_wait(s, slot) != HR_WAIT_SLEEP)
			return false;
	return true;
}

/* The user placed two on one CPU: a warning, unless all of them sleep between messages, which is
 * how to share one.  The default rule did, for want of CPUs: a note. */
static void
tell_sharing(struct pins *s, uint32_t cpu)
{
	uint32_t os = s->p->machine->cpu[cpu].os, n_named;
	const char *who = sharers(s, cpu, &n_named);

	if (n_named < 2 || all_sleep(s, cpu)) {
		hr_strings_add(s->p->arena, &s->p->notes,
			       hr_printf(s->p->arena, "CPU %u is shared by %s%s", os, who,
					 n_named < 2 ? ": no other is free" : ""));
		return;
	}
	struct hr_diag *w = hr_warning(s->p->diags, slot_span(s, s->last[cpu]), 460,
				       "CPU %u is shared by partitions %s", os, who);

	hr_help(w, "adaptive partitions do not spin there; `exclusive: true` refuses sharing");
}

static void
check_sharing(struct pins *s)
{
	for (uint32_t i = 0; i < s->p->machine->n_cpus; i++) {
		if (s->first[i] == HR_NONE || s->next[s->first[i]] == HR_NONE)
			continue;
		if (!refuse_exclusive(s, i) && !refuse_spinners(s, i))
			tell_sharing(s, i);
	}
}

static void
check_sched(struct pins *s, uint32_t slot)
{
	const struct hr_partition *part = partition_of(s, slot);
	const struct hr_machine *m = s->p->machine;
	const char *policy;
	struct hr_diag *e;

	if (!part || part->sched == HR_SCHED_OTHER || part->priority <= (int32_t)m->rtprio_max)
		return;
	policy = hr_sched_word[part->sched];
	if (part->sched_required)
		e = hr_error(s->p->diags, part->sched_at, 312,
			     "partition '%s' asks for %s priority %d; the limit here is %u "
			     "(RLIMIT_RTPRIO, no CAP_SYS_NICE)",
			     part->name.text, policy, part->priority, m->rtprio_max);
	else
		e = hr_warning(s->p->diags, part->sched_at, 461,
			       "partition '%s' will not get %s priority %d; the limit here is %u "
			       "(RLIMIT_RTPRIO, no CAP_SYS_NICE)",
			       part->name.text, policy, part->priority, m->rtprio_max);
	hr_help(e, "raise it for this shell: sudo prlimit --rtprio=%d --pid $$", part->priority);
	if (part->sched_required)
		hr_help(e, "or go on without it: `required: false`");
}

static void
pin_workers(struct pins *s)
{
	struct hr_plan *plan = s->p->plan;
	uint32_t *n_on = HR_ARRAY(s->p->arena, s->p->machine->n_cpus, uint32_t);

	for (uint32_t w = 0; w < plan->n_workers; w++) {
		struct hr_plan_worker *worker = &plan->worker[w];
		uint32_t slot = worker->partition == HR_NONE ? s->n_slots - 1 : worker->partition;

		worker->cpu = s->p->part_cpu[slot];
		if (worker->cpu >= 0)
			n_on[hr_machine_cpu(s->p->machine, (uint32_t)worker->cpu) -
			     s->p->machine->cpu]++;
	}
	for (uint32_t w = 0; w < plan->n_workers; w++)
		if (plan->worker[w].cpu >= 0)
			plan->worker[w].shares_cpu =
				n_on[hr_machine_cpu(s->p->machine, (uint32_t)plan->worker[w].cpu) -
				     s->p->machine->cpu] > 1;
}

static void
init_pins(struct pins *s, struct hr_planner *p)
{
	uint32_t n_cpus = p->machine->n_cpus;

	s->p = p;
	s->n_slots = p->graph->n_partitions + 1;
	s->named = HR_ARRAY(p->arena, n_cpus, bool);
	s->first = HR_ARRAY(p->arena, n_cpus, uint32_t);
	s->last = HR_ARRAY(p->arena, n_cpus, uint32_t);
	s->next = HR_ARRAY(p->arena, s->n_slots, uint32_t);
	s->n_nodes = HR_ARRAY(p->arena, s->n_slots, uint32_t);
	p->part_cpu = HR_ARRAY(p->arena, s->n_slots, int32_t);
	for (uint32_t i = 0; i < n_cpus; i++)
		s->first[i] = s->last[i] = HR_NONE;
	for (uint32_t i = 0; i < s->n_slots; i++) {
		s->next[i] = HR_NONE;
		p->part_cpu[i] = -1;
	}
	for (uint32_t n = 0; n < p->graph->n_nodes; n++)
		s->n_nodes[p->partition[n] == HR_NONE ? s->n_slots - 1 : p->partition[n]]++;
}

void
hr_pin(struct hr_planner *p)
{
	struct pins s;

	init_pins(&s, p);
	take_cpus(&s);
	check_sharing(&s);
	for (uint32_t i = 0; i < s.n_slots; i++)
		check_sched(&s, i);
	pin_workers(&s);
}
