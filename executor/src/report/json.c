// SPDX-License-Identifier: Apache-2.0
/*
 * json.c - result.json: all that is needed to understand a run later, or to run
 * it again.
 *
 * What was asked (command line, knobs, nodes, parameters), what it ran with
 * (versions, plugins, machine) and how it ended; what came out is in
 * json_numbers.c.  Times are in nanoseconds unless the key says _s.
 */
#include <time.h>

#include "report/facts.h"
#include "report/json.h"

static void
add_place(struct hr_arena *a, cJSON *o, struct hr_span at)
{
	if (at.line)
		hr_json_add_text(o, "at", hr_span_text(a, at));
}

/* ---- what was asked ---- */

static void
add_knobs(struct hr_arena *a, const struct hr_graph *g, cJSON *graph)
{
	cJSON *list = cJSON_AddArrayToObject(graph, "knobs");

	for (uint32_t i = 0; i < g->n_knobs; i++) {
		const struct hr_knob *k = &g->knob[i];
		cJSON *o = cJSON_CreateObject();

		hr_json_add_text(o, "name", k->name.text);
		cJSON_AddStringToObject(o, "type", hr_type_name[k->type]);
		hr_json_add_text(o, "value", hr_value_text(a, &k->value));
		if (k->set_by)
			hr_json_add_text(o, "set_by", k->set_by);
		cJSON_AddItemToArray(list, o);
	}
}

static cJSON *
param_json(struct hr_arena *a, const struct hr_param_value *v)
{
	cJSON *list;

	if (!v->is_list)
		return hr_json_string(hr_value_text(a, &v->value));
	list = cJSON_CreateArray();
	for (uint32_t i = 0; i < v->n_list; i++)
		cJSON_AddItemToArray(list, hr_json_string(hr_value_text(a, &v->list[i])));
	return list;
}

static void
add_nodes(struct hr_arena *a, const struct hr_plan *p, cJSON *graph)
{
	cJSON *list = cJSON_AddArrayToObject(graph, "nodes");

	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		const struct hr_node *n = &p->graph->node[i];
		const struct hr_bound_node *b = &p->bound->node[i];
		const struct hr_plan_worker *w = &p->worker[p->node[i].worker];
		cJSON *o = cJSON_CreateObject(), *params;

		hr_json_add_text(o, "name", n->name.text);
		hr_json_add_text(o, "op", b->op->name);
		hr_json_add_text(o, "device", hr_device_text(b));
		add_place(a, o, n->name.at);
		hr_json_add_text(o, "partition", w->name);
		hr_json_add_text(o, "process", p->process[w->process].name);
		params = cJSON_AddObjectToObject(o, "params");
		for (uint32_t k = 0; k < n->n_params; k++)
			cJSON_AddItemToObject(params, n->param[k].name.text,
					      param_json(a, &n->param[k]));
		cJSON_AddItemToArray(list, o);
	}
}

static void
add_graph(struct hr_arena *a, const struct hr_report *r, cJSON *root)
{
	const struct hr_graph *g = r->plan->graph;
	const struct hr_load_options *l = r->load;
	cJSON *o = cJSON_AddObjectToObject(root, "graph"), *overlays;

	if (g->name)
		hr_json_add_text(o, "name", g->name);
	if (l && l->file)
		hr_json_add_text(o, "file", l->file);
	overlays = cJSON_AddArrayToObject(o, "overlays");
	for (uint32_t i = 0; l && i < l->n_overlays; i++)
		cJSON_AddItemToArray(overlays, hr_json_string(l->overlay[i]));
	if (g->preset)
		hr_json_add_text(o, "preset", g->preset);
	add_knobs(a, g, o);
	add_nodes(a, r->plan, o);
}

/* ---- what it ran with ---- */

static void
add_plugins(const struct hr_plugins *p, cJSON *root)
{
	cJSON *list = cJSON_AddArrayToObject(root, "plugins");

	for (uint32_t i = 0; p && i < p->n; i++) {
		const struct hr_plugin *q = &p->at[i];
		cJSON *o = cJSON_CreateObject();

		hr_json_add_text(o, "name", q->table ? q->table->name : q->shown);
		if (q->table)
			hr_json_add_text(o, "version", q->table->version);
		if (q->path)
			hr_json_add_text(o, "path", q->path);
		if (q->build_id)
			hr_json_add_text(o, "build_id", q->build_id);
		if (q->error)
			hr_json_add_text(o, "error", q->error);
		cJSON_AddItemToArray(list, o);
	}
}

/* ---- how it ended ---- */

static void
add_incidents(struct hr_arena *a, const struct hr_outcome *out, cJSON *root)
{
	cJSON *list = cJSON_AddArrayToObject(root, "incidents");

	for (const struct hr_incident *i = out->first; i; i = i->next) {
		cJSON *o = cJSON_CreateObject();

		hr_json_add_text(o, "text", i->text);
		add_place(a, o, i->at);
		if (i->node)
			hr_json_add_text(o, "node", i->node);
		if (i->process)
			hr_json_add_text(o, "process", i->process);
		cJSON_AddItemToArray(list, o);
	}
}

static void
add_exit(const struct hr_outcome *out, cJSON *root)
{
	cJSON *o = cJSON_AddObjectToObject(root, "exit");

	hr_json_add_int(o, "code", out->exit_code);
	cJSON_AddStringToObject(o, "reason", hr_reason_name[out->reason]);
	if (out->exit_code && out->first && out->first->node)
		hr_json_add_text(o, "node", out->first->node);
	else
		cJSON_AddNullToObject(o, "node");
	if (out->signal)
		hr_json_add_int(o, "signal", out->signal);
}

static const char *
time_text(struct hr_arena *a, int64_t unix_ns)
{
	time_t s = (time_t)(unix_ns / 1000000000);
	struct tm tm;
	char day[32];

	if (!gmtime_r(&s, &tm) || !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		return "";
	return hr_printf(a, "%s.%03dZ", day, (int)(unix_ns / 1000000 % 1000));
}

char *
hr_report_json(struct hr_arena *a, const struct hr_report *r)
{
	cJSON *root = cJSON_CreateObject(), *command;
	const char *name = r->name ? r->name : r->plan->graph->name;

	cJSON_AddStringToObject(root, "holorun", hr_version);
	if (name)
		hr_json_add_text(root, "name", name);
	hr_json_add_text(root, "run_id",
			 hr_printf(a, "%016llx", (unsigned long long)r->outcome->run_id));
	hr_json_add_text(root, "start", time_text(a, r->outcome->start_unix_ns));
	command = cJSON_AddArrayToObject(root, "command");
	for (int i = 0; i < r->argc; i++)
		cJSON_AddItemToArray(command, hr_json_string(r->argv[i]));
	add_exit(r->outcome, root);
	add_incidents(a, r->outcome, root);
	add_graph(a, r, root);
	add_plugins(r->plan->bound->plugins, root);
	cJSON_AddItemToObject(root, "machine", hr_machine_facts(a));
	if (r->outcome->page)
		hr_json_numbers(a, r, root);
	return hr_json_text(a, root, true);
}
