// SPDX-License-Identifier: Apache-2.0
/*
 * partitions.c - where nodes run: partitions and processes.
 *
 * CPU lists are checked for their form only; which CPUs exist is the planner's.
 */
#include <string.h>

#include "model/internal.h"

static const char *const wait_names[] = { "spin", "adaptive", "sleep" };
static const char *const policy_names[] = { "other", "fifo", "rr" };

struct places {
	struct hr_build *b;
	struct hr_partition *partition;
	struct hr_span *node_at; /* where each node was listed; line 0: nowhere yet */
	struct hr_process *process;
	size_t n_processes, cap_processes;
	struct hr_names process_names;
};

static uint32_t
add_process(struct places *s, const char *name, struct hr_span at)
{
	uint32_t i = hr_names_find(&s->process_names, name);

	if (i != UINT32_MAX)
		return i;
	i = (uint32_t)s->n_processes;
	*HR_PUSH(s->b->arena, s->process, s->n_processes, s->cap_processes) =
		(struct hr_process){ { name, at } };
	hr_names_put(s->b->arena, &s->process_names, name, i);
	return i;
}

static void
take_processes(struct places *s)
{
	struct hr_build *b = s->b;
	const struct hr_yaml *map = hr_want(b, hr_at(b->root, "processes"), HR_YAML_MAP,
					    "processes", "processes: {receiver: {}}");

	add_process(s, "main", HR_NOWHERE);
	for (uint32_t i = 0; map && i < map->n; i++) {
		const struct hr_yaml_pair *p = &map->pair[i];
		const struct hr_yaml *settings =
			hr_want(b, p->value, HR_YAML_MAP, "process", "receiver: {}");

		if (hr_want_name(b, "process", p->key, p->key_at, false))
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was just added */
			s->process[add_process(s, p->key, p->key_at)].name.at = p->key_at;
		if (settings)
			hr_schema_check(settings, HR_L_PROCESS, b->diags, NULL, NULL);
	}
}

static bool
check_listed(struct places *s, const struct hr_value *v, uint32_t node, uint32_t partition)
{
	struct hr_build *b = s->b;
	uint32_t other = b->node[node].partition;

	if (other == UINT32_MAX)
		return true;
	struct hr_diag *e =
		other == partition
			? hr_error_value(b, v, 228, "node '%s' is listed twice in partition '%s'",
					 v->text, s->partition[partition].name.text)
			: hr_error_value(b, v, 216, "node '%s' is in two partitions: '%s' and '%s'",
					 v->text, s->partition[other].name.text,
					 s->partition[partition].name.text);

	hr_note(e, s->node_at[node], "it is listed here already");
	return false;
}

/* The index of a listed node, or UINT32_MAX: reported. */
static uint32_t
take_listed(struct places *s, const struct hr_yaml *y, uint32_t partition)
{
	struct hr_build *b = s->b;
	struct hr_value v;

	if (!hr_resolve_as(b, y, HR_T_STRING, "nodes", &v))
		return UINT32_MAX;
	if (strchr(v.text, '*')) {
		hr_error_value(b, &v, 291, "'%s': patterns in `nodes` are not in this version",
			       v.text);
		return UINT32_MAX;
	}
	uint32_t node = hr_names_find(&b->node_names, v.text);

	if (node == UINT32_MAX) {
		struct hr_diag *e =
			hr_error_value(b, &v, 217, "partition '%s': no node is called '%s'",
				       s->partition[partition].name.text, v.text);

		hr_suggest_node(b, e, v.text);
		return UINT32_MAX;
	}
	if (!check_listed(s, &v, node, partition))
		return UINT32_MAX;
	b->node[node].partition = partition;
	s->node_at[node] = v.at;
	return node;
}

static void
take_nodes(struct places *s, const struct hr_yaml *map, uint32_t partition)
{
	struct hr_build *b = s->b;
	struct hr_partition *p = &s->partition[partition];
	const struct hr_yaml *y = hr_at(map, "nodes");
	const struct hr_yaml *list = hr_want(b, y, HR_YAML_LIST, "nodes", "nodes: [src, work]");

	if (!y && hr_schema_is_misspelt(map, HR_L_PARTITION, "nodes"))
		return;
	if (!y || (list && !list->n))
		hr_error(b->diags, p->name.at, 206, "partition '%s' has no nodes", p->name.text);
	if (!list)
		return;
	uint32_t *nodes = HR_ARRAY(b->arena, list->n + 1u, uint32_t);

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t node = take_listed(s, list->item[i], partition);

		if (node != UINT32_MAX)
			nodes[p->n_nodes++] = node;
	}
	p->node = nodes;
}

/* `cpus: [0, 1]` is `cpus: "0,1"`. */
static void
take_cpu_list(struct hr_build *b, const struct hr_yaml *list, struct hr_partition *p)
{
	struct hr_text t;

	hr_text_init(&t, b->arena);
	for (uint32_t i = 0; i < list->n; i++) {
		struct hr_value v;

		if (!hr_resolve_as(b, list->item[i], HR_T_CPUS, "cpus", &v))
			return;
		hr_text_add(&t, "%s%s", i ? "," : "", v.text);
	}
	if (!list->n) {
		hr_error(b->diags, list->at, 207, "cpus: the list is empty");
		return;
	}
	/* "rel:" holds for a whole list, so it cannot stand inside one. */
	struct hr_value all = { .type = HR_T_TEXT, .text = t.s, .at = list->at };
	const char *why;

	if (hr_value_convert(b->arena, &all, HR_T_CPUS, &all, &why))
		hr_error(b->diags, list->at, 207, "cpus: %s", why);
	else
		p->cpus = (struct hr_name){ t.s, list->n == 1 ? list->item[0]->at : list->at };
}

static void
take_cpus(struct hr_build *b, const struct hr_yaml *y, struct hr_partition *p)
{
	struct hr_value v;

	if (y->kind == HR_YAML_LIST)
		take_cpu_list(b, y, p);
	else if (hr_resolve_as(b, y, HR_T_CPUS, "cpus", &v))
		p->cpus = (struct hr_name){ v.text, v.at };
}

static void
take_priority(struct hr_build *b, const struct hr_yaml *map, struct hr_partition *p)
{
	const struct hr_yaml_pair *y = hr_yaml_get(map, "priority");
	int64_t v;

	if (p->sched == HR_SCHED_OTHER) {
		if (y)
			hr_error(b->diags, y->key_at, 208,
				 "priority goes with policy fifo or rr, not with other");
		return;
	}
	if (!y && !hr_schema_is_misspelt(map, HR_L_SCHED, "priority"))
		hr_error(b->diags, map->at, 206, "sched: policy %s needs a `priority` from 1 to 99",
			 policy_names[p->sched]);
	if (y && hr_resolve_count(b, y->value, 1, 99, "priority", &v))
		p->priority = (int32_t)v;
}

static void
take_sched(struct hr_build *b, const struct hr_yaml *y, struct hr_partition *p)
{
	const struct hr_yaml *map =
		hr_want(b, y, HR_YAML_MAP, "sched", "sched: {policy: fifo, priority: 10}");
	struct hr_value v;

	if (!map)
		return;
	p->sched_at = map->at;
	p->sched_required = true;
	hr_schema_check(map, HR_L_SCHED, b->diags, NULL, NULL);
	if ((y = hr_at(map, "policy"))) {
		uint32_t i = hr_resolve_choice(b, y, policy_names, 3, "policy");

		if (i == UINT32_MAX)
			return;
		p->sched = (enum hr_sched)i;
	} else if (!hr_schema_is_misspelt(map, HR_L_SCHED, "policy")) {
		hr_error(b->diags, map->at, 206, "sched has no `policy`: other, fifo or rr");
		return;
	}
	take_priority(b, map, p);
	if ((y = hr_at(map, "required")) && hr_resolve_as(b, y, HR_T_BOOL, "required", &v))
		p->sched_required = v.i;
}

static void
take_process(struct places *s, const struct hr_yaml *y, struct hr_partition *p)
{
	struct hr_value v;

	if (y && hr_resolve_as(s->b, y, HR_T_STRING, "process", &v) &&
	    hr_want_name(s->b, "process", v.text, v.at, false))
		p->process = add_process(s, v.text, v.at);
}

static void
take_partition(struct places *s, const struct hr_yaml_pair *pair, uint32_t i)
{
	struct hr_build *b = s->b;
	struct hr_partition *p = &s->partition[i];
	const struct hr_yaml *y, *map;
	struct hr_value v;

	*p = (struct hr_partition){ .name = { pair->key, pair->key_at }, .wait = HR_WAIT_ADAPTIVE };
	hr_want_name(b, "partition", pair->key, pair->key_at, false);
	map = hr_want(b, pair->value, HR_YAML_MAP, hr_printf(b->arena, "partition %s", pair->key),
		      hr_printf(b->arena, "%s: {nodes: [src], cpus: \"rel:0\"}", pair->key));
	if (!map)
		return;
	hr_schema_check(map, HR_L_PARTITION, b->diags, NULL, NULL);
	take_nodes(s, map, i);
	take_process(s, hr_at(map, "process"), p);
	if ((y = hr_at(map, "cpus")))
		take_cpus(b, y, p);
	if ((y = hr_at(map, "wait"))) {
		uint32_t w = hr_resolve_choice(b, y, wait_names, 3, "wait");

		if (w != UINT32_MAX) {
			p->wait = (enum hr_wait)w;
			p->wait_at = y->at;
		}
	}
	if ((y = hr_at(map, "sched")))
		take_sched(b, y, p);
	if ((y = hr_at(map, "exclusive")) && hr_resolve_as(b, y, HR_T_BOOL, "exclusive", &v))
		p->exclusive = v.i;
}

void
hr_build_partitions(struct hr_build *b)
{
	const struct hr_yaml *map = hr_want(b, hr_at(b->root, "partitions"), HR_YAML_MAP,
					    "partitions", "partitions: {a: {nodes: [src]}}");
	uint32_t n = map ? map->n : 0;
	struct places s = { .b = b };

	s.partition = HR_ARRAY(b->arena, n + 1u, struct hr_partition);
	s.node_at = HR_ARRAY(b->arena, b->graph->n_nodes + 1u, struct hr_span);
	take_processes(&s);
	for (uint32_t i = 0; i < n; i++)
		take_partition(&s, &map->pair[i], i);
	b->graph->partition = s.partition;
	b->graph->n_partitions = n;
	b->graph->process = s.process;
	b->graph->n_processes = (uint32_t)s.n_processes;
}
