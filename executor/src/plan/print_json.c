// SPDX-License-Identifier: Apache-2.0
/*
 * print_json.c - a plan for programs.
 *
 * Names where a person would use names (threads, nodes, edges), numbers in base
 * units: bytes, nanoseconds, hertz.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "plan/stages.h"

static cJSON *
machine_json(const struct hr_machine *m)
{
	cJSON *o = cJSON_CreateObject();

	hr_json_add_text(o, "source", m->source);
	hr_json_add_int(o, "cpus", m->n_cpus);
	hr_json_add_int(o, "numa_nodes", m->n_numa);
	cJSON *allowed = cJSON_AddArrayToObject(o, "allowed");

	for (uint32_t i = 0; i < m->n_cpus; i++)
		if (m->cpu[i].allowed)
			cJSON_AddItemToArray(allowed, cJSON_CreateNumber(m->cpu[i].os));
	if (m->memory_bytes) {
		hr_json_add_int(o, "memory_bytes", (int64_t)m->memory_bytes);
		hr_json_add_text(o, "memory_from", m->memory_from);
	}
	return o;
}

static cJSON *
plugins_json(const struct hr_plugins *plugins)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; plugins && i < plugins->n; i++) {
		const struct hr_plugin *g = &plugins->at[i];
		cJSON *o = cJSON_CreateObject();

		hr_json_add_text(o, "name", g->shown);
		hr_json_add_text(o, "path", g->path ? g->path : "");
		hr_json_add_text(o, "build_id", g->build_id ? g->build_id : "");
		cJSON_AddBoolToObject(o, "loaded", g->table != NULL);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}

/* JSON has no infinity and no NaN. */
static cJSON *
real_json(double v)
{
	return isfinite(v) ? cJSON_CreateNumber(v) : cJSON_CreateNull();
}

static cJSON *
reals_json(const struct hop_reals *r)
{
	cJSON *list = cJSON_CreateArray();

	for (uint64_t i = 0; i < r->count; i++)
		cJSON_AddItemToArray(list, real_json(r->at[i]));
	return list;
}

static cJSON *
text_json(const char *text)
{
	return text ? hr_json_string(text) : cJSON_CreateNull();
}

/* One member of an op's parameter struct; widths and choices were checked when it was filled. */
static void
add_param(cJSON *o, const struct hop_param *q, const void *params)
{
	const unsigned char *at = (const unsigned char *)params + q->offset;
	union {
		int64_t i64;
		int32_t i32;
		double real;
		const char *text;
		struct hop_reals reals;
	} v = { 0 };

	switch (q->type) {
	case HOP_P_BOOL:
		cJSON_AddBoolToObject(o, q->name, *at != 0);
		return;
	case HOP_P_INT:
	case HOP_P_SIZE:
	case HOP_P_TIME:
		memcpy(&v.i64, at, sizeof(v.i64));
		hr_json_add_int(o, q->name, v.i64);
		return;
	case HOP_P_REAL:
	case HOP_P_RATE:
		memcpy(&v.real, at, sizeof(v.real));
		cJSON_AddItemToObject(o, q->name, real_json(v.real));
		return;
	case HOP_P_CHOICE:
		memcpy(&v.i32, at, sizeof(v.i32));
		cJSON_AddItemToObject(o, q->name, text_json(q->choices[v.i32]));
		return;
	case HOP_P_REALS:
		memcpy(&v.reals, at, sizeof(v.reals));
		cJSON_AddItemToObject(o, q->name, reals_json(&v.reals));
		return;
	default: /* HOP_P_TEXT, HOP_P_PATH */
		memcpy(&v.text, at, sizeof(v.text));
		cJSON_AddItemToObject(o, q->name, text_json(v.text));
	}
}

static cJSON *
params_json(const struct hr_bound_node *n)
{
	cJSON *o = cJSON_CreateObject();
	const struct hop_params *table = &n->op->params;
	const char *row = (const char *)table->at;

	for (uint32_t i = 0; n->params && i < table->count; i++, row += table->stride)
		add_param(o, (const struct hop_param *)(const void *)row, n->params);
	return o;
}

static cJSON *
node_json(const struct hr_plan *p, uint32_t i)
{
	const struct hr_bound_node *n = &p->bound->node[i];
	const struct hr_plan_worker *w = &p->worker[p->node[i].worker];
	cJSON *o = cJSON_CreateObject();

	hr_json_add_text(o, "name", p->graph->node[i].name.text);
	hr_json_add_text(o, "op", n->op->name);
	hr_json_add_text(o, "plugin", n->plugin ? n->plugin->shown : "");
	hr_json_add_text(o, "device", n->device == HOP_ON_CUDA ? "cuda" : "cpu");
	cJSON_AddBoolToObject(o, "fallback", n->fallback);
	hr_json_add_text(o, "process", p->process[w->process].name);
	hr_json_add_text(o, "thread", w->name);
	hr_json_add_int(o, "cpu", w->cpu);
	cJSON_AddItemToObject(o, "params", params_json(n));
	return o;
}

static cJSON *
worker_json(const struct hr_plan *p, const struct hr_plan_worker *w)
{
	const struct hr_cpu *cpu = hr_machine_cpu(p->machine, (uint32_t)w->cpu);
	cJSON *o = cJSON_CreateObject();

	hr_json_add_text(o, "name", w->name);
	hr_json_add_text(o, "process", p->process[w->process].name);
	hr_json_add_int(o, "cpu", w->cpu);
	hr_json_add_int(o, "numa", cpu ? cpu->numa : 0);
	hr_json_add_text(o, "wait", hr_wait_word[w->wait]);
	cJSON_AddBoolToObject(o, "shares_cpu", w->shares_cpu);
	cJSON_AddBoolToObject(o, "watches", w->watches);
	cJSON_AddBoolToObject(o, "blocks", w->blocks);
	hr_json_add_text(o, "sched", hr_sched_word[w->sched]);
	hr_json_add_int(o, "priority", w->priority);
	cJSON_AddBoolToObject(o, "sched_required", w->sched_required);
	cJSON *nodes = cJSON_AddArrayToObject(o, "nodes");

	for (uint32_t i = 0; i < w->n_nodes; i++)
		cJSON_AddItemToArray(nodes, hr_json_string(p->graph->node[w->node[i]].name.text));
	return o;
}

static cJSON *
gather_json(struct hr_arena *a, const struct hr_plan *p, uint32_t edge)
{
	const struct hr_gather *g = p->graph->edge[edge].gather;
	uint32_t chan = p->edge[edge].gather_chan;
	cJSON *o = cJSON_CreateObject();

	hr_json_add_int(o, "count", g->count);
	hr_json_add_int(o, "window", g->window);
	hr_json_add_int(o, "timeout_ns", g->timeout_ns);
	hr_json_add_int(o, "depth", p->chan[chan].depth[0]);
	hr_json_add_text(o, "channel", hr_chan_name(a, p, chan));
	return o;
}

static cJSON *
edge_json(struct hr_arena *a, const struct hr_plan *p, uint32_t i)
{
	const struct hr_plan_edge *e = &p->edge[i];
	const struct hr_bound_edge *b = &p->bound->edge[i];
	cJSON *o = cJSON_CreateObject();

	hr_json_add_text(o, "from", hr_output_name(a, p->bound, b->from, b->out));
	hr_json_add_text(o, "to", hr_input_name(a, p->bound, i));
	hr_json_add_text(o, "format", hr_format_text(a, &p->chan[e->chan].format));
	hr_json_add_int(o, "depth", e->depth);
	hr_json_add_text(o, "when_full", hr_full_word[e->when_full]);
	hr_json_add_int(o, "initial", p->graph->edge[i].initial);
	hr_json_add_int(o, "want", e->want);
	hr_json_add_int(o, "max_in", e->max_in);
	hr_json_add_text(o, "carriage", hr_carriage_word[e->carriage]);
	cJSON_AddBoolToObject(o, "copies", e->why != NULL);
	if (e->why)
		hr_json_add_text(o, "why", e->why);
	hr_json_add_text(o, "channel", hr_chan_name(a, p, e->chan));
	if (e->gather_chan != HR_NONE)
		cJSON_AddItemToObject(o, "gather", gather_json(a, p, i));
	return o;
}

static cJSON *
chan_json(struct hr_arena *a, const struct hr_plan *p, uint32_t i)
{
	const struct hr_plan_chan *c = &p->chan[i];
	const struct hr_plan_worker *w = &p->worker[p->node[c->node].worker];
	cJSON *o = cJSON_CreateObject();

	hr_json_add_text(o, "name", hr_chan_name(a, p, i));
	hr_json_add_text(o, "node", p->graph->node[c->node].name.text);
	hr_json_add_text(o, "process", p->process[w->process].name);
	hr_json_add_int(o, "readers", c->n_readers);
	hr_json_add_int(o, "max_out", c->max_out);
	hr_json_add_int(o, "slots", c->slots);
	hr_json_add_int(o, "queued", c->newest);
	hr_json_add_int(o, "dropping", c->dropping);
	hr_json_add_int(o, "keeps", c->keeps);
	hr_json_add_int(o, "payload_bytes", (int64_t)c->payload_bytes);
	hr_json_add_int(o, "align", c->align);
	hr_json_add_int(o, "bytes", (int64_t)c->bytes);
	cJSON_AddBoolToObject(o, "shared", c->shared);
	return o;
}

static cJSON *
knobs_json(struct hr_arena *a, const struct hr_graph *g)
{
	cJSON *o = cJSON_CreateObject();

	for (uint32_t i = 0; i < g->n_knobs; i++)
		hr_json_add_text(o, g->knob[i].name.text, hr_value_text(a, &g->knob[i].value));
	return o;
}

static cJSON *
memory_json(struct hr_arena *a, const struct hr_plan *p)
{
	uint64_t *bytes = HR_ARRAY(a, p->n_processes, uint64_t);
	cJSON *o = cJSON_CreateObject();

	for (uint32_t i = 0; i < p->n_chans; i++)
		bytes[p->worker[p->node[p->chan[i].node].worker].process] += p->chan[i].bytes;
	hr_json_add_int(o, "bytes", (int64_t)p->memory_bytes);
	cJSON *per = cJSON_AddObjectToObject(o, "processes");

	for (uint32_t i = 0; i < p->n_processes; i++)
		if (p->process[i].n_workers)
			hr_json_add_int(per, p->process[i].name, (int64_t)bytes[i]);
	return o;
}

char *
hr_plan_json(struct hr_arena *a, const struct hr_plan *p)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *list;

	if (p->graph->name)
		hr_json_add_text(o, "graph", p->graph->name);
	if (p->graph->preset)
		hr_json_add_text(o, "preset", p->graph->preset);
	cJSON_AddItemToObject(o, "machine", machine_json(p->machine));
	cJSON_AddItemToObject(o, "plugins", plugins_json(p->bound->plugins));
	cJSON_AddItemToObject(o, "knobs", knobs_json(a, p->graph));
	list = cJSON_AddArrayToObject(o, "threads");
	for (uint32_t i = 0; i < p->n_workers; i++)
		cJSON_AddItemToArray(list, worker_json(p, &p->worker[i]));
	list = cJSON_AddArrayToObject(o, "nodes");
	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		cJSON_AddItemToArray(list, node_json(p, i));
	list = cJSON_AddArrayToObject(o, "edges");
	for (uint32_t i = 0; i < p->graph->n_edges; i++)
		cJSON_AddItemToArray(list, edge_json(a, p, i));
	list = cJSON_AddArrayToObject(o, "channels");
	for (uint32_t i = 0; i < p->n_chans; i++)
		cJSON_AddItemToArray(list, chan_json(a, p, i));
	cJSON_AddItemToObject(o, "memory", memory_json(a, p));
	hr_json_add_text(o, "freedom_from_deadlock", p->freedom);
	list = cJSON_AddArrayToObject(o, "notes");
	for (uint32_t i = 0; i < p->n_notes; i++)
		cJSON_AddItemToArray(list, hr_json_string(p->note[i]));
	hr_json_add_text(o, "digest", hr_printf(a, "%016" PRIx64, p->digest));
	return hr_json_text(a, o, true);
}
