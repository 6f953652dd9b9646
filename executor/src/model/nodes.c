// SPDX-License-Identifier: Apache-2.0
/*
 * nodes.c - the map `nodes`: op, params, device, end; inputs are inputs.c.
 *
 * Ops and parameters are not known here: names and values go on as they are.
 */
#include <string.h>

#include "model/internal.h"

static const char *const device_names[] = { "cpu", "cuda", "auto" };
static const char *const end_names[] = { "all", "any" };

static void
remember_unknown(void *self, const struct hr_yaml_pair *p, struct hr_diag *d)
{
	struct hr_build *b = self;
	struct hr_unknown_key *k = HR_PUSH(b->arena, b->unknown, b->n_unknown, b->cap_unknown);

	*k = (struct hr_unknown_key){ b->current_node, { p->key, p->key_at }, d };
}

static bool
take_param_list(struct hr_build *b, const struct hr_yaml *list, const char *what,
		struct hr_param_value *out)
{
	struct hr_value *v = HR_ARRAY(b->arena, list->n + 1u, struct hr_value);
	bool ok = true;

	for (uint32_t i = 0; i < list->n; i++)
		ok = hr_resolve(b, list->item[i], what, &v[i]) && ok;
	out->is_list = true;
	out->list = v;
	out->n_list = list->n;
	out->value.at = list->at;
	return ok;
}

static void
take_param(struct hr_build *b, const struct hr_yaml_pair *p, struct hr_param_value *out)
{
	const char *what = hr_printf(b->arena, "parameter %s", p->key);

	out->name = (struct hr_name){ p->key, p->key_at };
	out->value = (struct hr_value){ .type = HR_T_TEXT, .text = "", .at = p->value->at };
	if (p->value->kind == HR_YAML_MAP) {
		hr_error(b->diags, p->value->at, 205,
			 "%s: expected a value or a list of values, got a map", what);
		out->is_broken = true;
	} else if (p->value->kind == HR_YAML_LIST) {
		out->is_broken = !take_param_list(b, p->value, what, out);
	} else {
		out->is_broken = !hr_resolve(b, p->value, what, &out->value);
	}
}

static void
take_params(struct hr_build *b, const struct hr_yaml *map, struct hr_node *n)
{
	const struct hr_yaml_pair *p = hr_yaml_get(map, "params");
	const struct hr_yaml *params =
		hr_want(b, p ? p->value : NULL, HR_YAML_MAP, "params", "params: {name: value}");

	n->params_at = p ? p->key_at : n->name.at;
	n->params_broken = (p && !params) || hr_schema_is_misspelt(map, HR_L_NODE, "params");
	if (!params)
		return;
	struct hr_param_value *v = HR_ARRAY(b->arena, params->n + 1u, struct hr_param_value);

	for (uint32_t i = 0; i < params->n; i++)
		take_param(b, &params->pair[i], &v[i]);
	n->params_broken |= params->is_partial;
	n->param = v;
	n->n_params = params->n;
}

static void
take_op(struct hr_build *b, const struct hr_yaml *map, struct hr_node *n)
{
	const struct hr_yaml *op = hr_at(map, "op");
	struct hr_value v;

	n->op = (struct hr_name){ "", n->name.at };
	if (!op && !hr_schema_is_misspelt(map, HR_L_NODE, "op"))
		hr_error(b->diags, n->name.at, 206, "node '%s' has no `op`", n->name.text);
	if (!op || !hr_resolve_as(b, op, HR_T_STRING, "op", &v))
		return;
	n->op = (struct hr_name){ v.text, v.at };
	if (!v.text[0])
		hr_error(b->diags, n->name.at, 206, "node '%s' has no `op`", n->name.text);
}

static void
take_device(struct hr_build *b, const struct hr_yaml *map, struct hr_node *n)
{
	const struct hr_yaml *y = hr_at(map, "device");
	uint32_t i = y ? hr_resolve_choice(b, y, device_names, 3, "device") : UINT32_MAX;

	n->device = (struct hr_name){ "auto", HR_NOWHERE };
	if (i != UINT32_MAX)
		n->device = (struct hr_name){ device_names[i], y->at };
}

static const char *const failures[] = { "stop_graph", "detach", "restart" };
enum { DEFAULT_RESTARTS = 10, DEFAULT_BACKOFF_NS = 100000000 };

/* restart: {max, backoff} */
static void
take_restart(struct hr_build *b, const struct hr_yaml *y, struct hr_node *n)
{
	const struct hr_yaml *map =
		hr_want(b, y, HR_YAML_MAP, "restart", "on_failure: {restart: {max: 10}}");
	struct hr_value v;

	if (!map)
		return;
	hr_schema_check(map, HR_L_RESTART, b->diags, NULL, NULL);
	if ((y = hr_at(map, "max")))
		hr_resolve_count(b, y, 0, INT32_MAX, "max", &n->restart_max);
	if ((y = hr_at(map, "backoff")) && hr_resolve_as(b, y, HR_T_DURATION, "backoff", &v))
		n->backoff_ns = v.i;
}

/* on_failure: stop_graph | detach | restart | {restart: {max, backoff}} */
static void
take_failure(struct hr_build *b, const struct hr_yaml *map, struct hr_node *n)
{
	const struct hr_yaml *y = hr_at(map, "on_failure");
	uint32_t i;

	if (!y)
		return;
	n->on_failure_at = y->at;
	if (y->kind == HR_YAML_MAP) {
		hr_schema_check(y, HR_L_FAILURE, b->diags, NULL, NULL);
		n->on_failure = HR_ON_FAILURE_RESTART;
		if (hr_at(y, "restart"))
			take_restart(b, hr_at(y, "restart"), n);
		return;
	}
	i = hr_resolve_choice(b, y, failures, 3, "on_failure");
	if (i != UINT32_MAX)
		n->on_failure = (enum hr_on_failure)i;
}

void
hr_node_init(struct hr_node *n, struct hr_name name, const char *op)
{
	*n = (struct hr_node){
		.name = name,
		.op = { op, name.at },
		.device = { "auto", HR_NOWHERE },
		.params_at = name.at,
		.partition = UINT32_MAX,
		.restart_max = DEFAULT_RESTARTS,
		.backoff_ns = DEFAULT_BACKOFF_NS,
	};
}

static void
take_node(struct hr_build *b, uint32_t i, const struct hr_yaml_pair *p)
{
	struct hr_node *n = &b->node[i];
	const struct hr_yaml *map =
		hr_want(b, p->value, HR_YAML_MAP, hr_printf(b->arena, "node %s", p->key),
			hr_printf(b->arena, "%s: {op: plugin/op}", p->key));
	const struct hr_yaml *y;

	hr_node_init(n, (struct hr_name){ p->key, p->key_at }, "");
	n->first_edge = (uint32_t)b->n_edges;
	n->inputs_broken = n->params_broken = !map;
	hr_want_name(b, "node", p->key, p->key_at, false);
	if (!map)
		return;
	b->current_node = i;
	hr_schema_check(map, HR_L_NODE, b->diags, remember_unknown, b);
	take_op(b, map, n);
	take_params(b, map, n);
	take_device(b, map, n);
	take_failure(b, map, n);
	if ((y = hr_at(map, "end")))
		n->end_any = hr_resolve_choice(b, y, end_names, 2, "end") == 1;
	n->inputs_broken = hr_schema_is_misspelt(map, HR_L_NODE, "inputs");
	if ((y = hr_at(map, "inputs")))
		hr_build_inputs(b, y, i);
	n->n_edges = (uint32_t)b->n_edges - n->first_edge;
}

static void
report_no_nodes(struct hr_build *b, const struct hr_yaml_pair *p)
{
	struct hr_span at = { .file = b->doc->file[0], .line = 1, .col = 1 };

	if (!p && hr_schema_is_misspelt(b->root, HR_L_TOP, "nodes"))
		return;
	struct hr_diag *e = hr_error(b->diags, p ? p->key_at : at, 226, "the graph has no nodes");

	hr_help(e, "write `nodes: {src: {op: plugin/op}}`");
}

void
hr_build_nodes(struct hr_build *b)
{
	const struct hr_yaml_pair *p = hr_yaml_get(b->root, "nodes");
	const struct hr_yaml *map = hr_want(b, p ? p->value : NULL, HR_YAML_MAP, "nodes",
					    "nodes: {src: {op: plugin/op}}");

	if ((!p || map) && (!map || !map->n))
		report_no_nodes(b, p);
	uint32_t n = map ? map->n : 0;

	if (p && n > HR_MAX_GRAPH_NODES) {
		hr_error(b->diags, p->key_at, 200, "%u nodes are too many; a graph may have %d", n,
			 HR_MAX_GRAPH_NODES);
		n = 0;
	}
	b->node = HR_ARRAY(b->arena, (size_t)n + hr_count_endpoints(b) + 1u, struct hr_node);
	for (uint32_t i = 0; i < n; i++) {
		hr_names_put(b->arena, &b->node_names, map->pair[i].key, i);
		take_node(b, i, &map->pair[i]);
	}
	b->graph->node = b->node;
	b->graph->n_nodes = n;
	b->graph->node_names = &b->node_names;
	b->graph->unknown_key = b->unknown;
	b->graph->n_unknown_keys = (uint32_t)b->n_unknown;
}

void
hr_suggest_node(struct hr_build *b, struct hr_diag *e, const char *got)
{
	/* Once more faults are found than are ever shown, a search through all names for each
	 * would only cost time. */
	if (b->diags->n_errors > 2 * HR_DIAGS_SHOWN)
		return;
	const char **names = HR_ARRAY(b->arena, b->graph->n_nodes + 1u, const char *);

	for (uint32_t i = 0; i < b->graph->n_nodes; i++)
		names[i] = b->node[i].name.text;
	hr_suggest(e, got, names, b->graph->n_nodes);
}

uint32_t
hr_graph_find_node(const struct hr_graph *g, const char *name)
{
	return g->node_names ? hr_names_find(g->node_names, name) : UINT32_MAX;
}
