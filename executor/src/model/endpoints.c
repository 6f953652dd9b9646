// SPDX-License-Identifier: Apache-2.0
/*
 * endpoints.c - the map `endpoints`: what programs outside see, and what they send.
 *
 * An endpoint is a node of the plugin holomq that nobody writes down.  An import
 * is a source under its own name; an export is called endpoint.NAME, which no name
 * in a file can be.  Keys become parameters, whose ranges the op's table has; where
 * nothing says otherwise an endpoint shares the fate of its neighbour in the graph.
 */
#include <ctype.h>
#include <string.h>

#include "model/internal.h"

enum { EXPORT = 1, ATTACH = 2, SERVE = 4, IMPORT = ATTACH | SERVE, BOTH = EXPORT | IMPORT };
enum { MAX_OUTER_NAME = 64 };

static const char plugin_name[] = "holomq";
static const char *const policies[] = { "block", "drop_oldest", "drop_newest", "fail" };
static const char *const side_words[] = {
	[EXPORT] = "an export", [ATTACH] = "an import without `serve: true`", [SERVE] = "an import"
};

/* Keys that are parameters of the op under the same name. */
struct setting {
	const char *key;
	uint32_t sides;
	enum hr_type type;
	const char *const *choices;
};

static const struct setting settings[] = {
	{ "kind", BOTH, HR_T_STRING, NULL },
	{ "layout", BOTH, HR_T_INT, NULL },
	{ "depth", BOTH, HR_T_INT, NULL },
	{ "when_full", BOTH, HR_T_STRING, policies },
	{ "seats", EXPORT, HR_T_INT, NULL },
	{ "required", BOTH, HR_T_INT, NULL },
	{ "attach_timeout", BOTH, HR_T_DURATION, NULL },
	{ "format", IMPORT, HR_T_STRING, NULL },
	{ "max_bytes", IMPORT, HR_T_SIZE, NULL },
	{ "serve", IMPORT, HR_T_BOOL, NULL },
	{ "lossy_end", IMPORT, HR_T_BOOL, NULL },
	{ "any_user", EXPORT | SERVE, HR_T_BOOL, NULL },
};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]), N_PARAMS = N_SETTINGS + 2 };

/* One endpoint on its way to a node. */
struct take {
	struct hr_build *b;
	const struct hr_yaml_pair *pair;
	const struct hr_yaml *map;
	struct hr_node *node;
	struct hr_param_value *param;
	uint32_t side;
	struct hr_value name, dir; /* outside */
};

/* Names outside that this graph will take, and where each is said. */
struct taken {
	struct hr_names names;
	struct hr_span *at;
	uint32_t n;
};

static const struct hr_yaml *
map_of(struct hr_build *b)
{
	return hr_want(b, hr_at(b->root, "endpoints"), HR_YAML_MAP, "endpoints",
		       "endpoints: {frames: {export: src.out}}");
}

uint32_t
hr_count_endpoints(const struct hr_build *b)
{
	const struct hr_yaml *map = hr_at(b->root, "endpoints");

	return map && map->kind == HR_YAML_MAP ? map->n : 0;
}

/* ---- the plugin -------------------------------------------------------------------------- */

static void
add_plugin(struct hr_build *b)
{
	const struct hr_yaml_pair *p = hr_yaml_get(b->root, "endpoints");
	uint32_t n = b->graph->n_plugins;
	struct hr_graph_plugin *all = HR_ARRAY(b->arena, n + 1u, struct hr_graph_plugin);

	for (uint32_t i = 0; i < n; i++) {
		all[i] = b->graph->plugin[i];
		if (!strcmp(all[i].path.text, plugin_name))
			return;
	}
	all[n] = (struct hr_graph_plugin){ .path = { plugin_name, p->key_at }, .dir = "." };
	b->graph->plugin = all;
	b->graph->n_plugins = n + 1;
}

/* ---- one endpoint ------------------------------------------------------------------------ */

static void
add_param(struct take *t, const char *key, struct hr_span key_at, const struct hr_value *v)
{
	t->param[t->node->n_params++] =
		(struct hr_param_value){ .name = { key, key_at }, .value = *v };
}

/* A param that is known to be wrong is named all the same, so that nobody misses it. */
static void
add_broken(struct take *t, const struct hr_yaml_pair *p)
{
	const struct hr_value none = { .type = HR_T_TEXT, .text = "", .at = p->value->at };

	add_param(t, p->key, p->key_at, &none);
	t->param[t->node->n_params - 1].is_broken = true;
}

static void
take_setting(struct take *t, const struct setting *s, const struct hr_yaml_pair *p)
{
	struct hr_value v;
	bool ok;

	if (!(s->sides & t->side)) {
		hr_error(t->b->diags, p->key_at, 251, "endpoint '%s': `%s` does not go with %s",
			 t->pair->key, s->key, side_words[t->side]);
		return;
	}
	ok = hr_resolve_as(t->b, p->value, s->type, s->key, &v);
	if (ok && s->choices)
		ok = hr_resolve_choice(t->b, p->value, s->choices, 4, s->key) != UINT32_MAX;
	if (ok)
		add_param(t, s->key, p->key_at, &v);
	else
		add_broken(t, p);
}

static bool
is_outer_name(const char *s)
{
	size_t n = strlen(s);

	if (n < 1 || n > MAX_OUTER_NAME || s[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
			return false;
	return true;
}

/* The name outside: the value of `import`, or `name` of an export; else that of the endpoint. */
static bool
take_name(struct take *t)
{
	const char *key = t->side == EXPORT ? "name" : "import";
	const struct hr_yaml_pair *p = hr_yaml_get(t->map, key);

	t->name = (struct hr_value){ .type = HR_T_STRING,
				     .text = t->pair->key,
				     .at = t->pair->key_at };
	if (!p || (t->side != EXPORT && hr_yaml_is_empty(p->value))) {
		add_param(t, "name", t->pair->key_at, &t->name);
		return true;
	}
	if (!hr_resolve_as(t->b, p->value, HR_T_STRING, key, &t->name)) {
		add_broken(t, &(struct hr_yaml_pair){ "name", p->key_at, p->value });
		return false;
	}
	add_param(t, "name", p->key_at, &t->name);
	if (is_outer_name(t->name.text))
		return true;
	struct hr_diag *e = hr_error_value(t->b, &t->name, 218,
					   "'%s' cannot be the name of an endpoint", t->name.text);

	hr_help(e,
		"these names have 1 to %d letters, digits, '.', '_' and '-', and no dot in front",
		MAX_OUTER_NAME);
	t->param[t->node->n_params - 1].is_broken = true;
	return false;
}

static bool
take_dir(struct take *t)
{
	const struct hr_yaml_pair *p = hr_yaml_get(t->map, "dir");
	const char *dir = t->b->opt->endpoint_dir;

	if (p && !hr_resolve_as(t->b, p->value, HR_T_STRING, "dir", &t->dir)) {
		add_broken(t, p);
		return false;
	}
	if (!p && !dir) {
		hr_error(t->b->diags, t->pair->key_at, 206,
			 "endpoint '%s' has no `dir`, and this program knows none for it",
			 t->pair->key);
		t->node->params_broken = true;
		return false;
	}
	if (!p)
		t->dir = (struct hr_value){ .type = HR_T_STRING,
					    .text = dir,
					    .at = t->pair->key_at };
	add_param(t, "dir", p ? p->key_at : t->pair->key_at, &t->dir);
	return true;
}

/* The source of an export is an input like any other. */
static void
take_source(struct take *t, uint32_t node)
{
	const struct hr_yaml_pair *p = hr_yaml_get(t->map, "export");
	struct hr_yaml_pair in = { "in", p->key_at, p->value };
	const struct hr_yaml inputs = { .kind = HR_YAML_MAP, .at = p->key_at, .pair = &in, .n = 1 };

	if (hr_yaml_is_empty(p->value)) {
		struct hr_diag *e = hr_error(t->b->diags, p->key_at, 206,
					     "endpoint '%s' names no source", t->pair->key);

		hr_help(e, "write `export: node.port`");
		t->node->inputs_broken = true;
		return;
	}
	hr_build_inputs(t->b, &inputs, node);
}

/* EXPORT, ATTACH or SERVE; 0: reported. */
static uint32_t
side_of(struct hr_build *b, const struct hr_yaml_pair *pair, const struct hr_yaml *map)
{
	const struct hr_yaml_pair *out = hr_yaml_get(map, "export");
	const struct hr_yaml_pair *in = hr_yaml_get(map, "import");
	const struct hr_yaml *serve = hr_at(map, "serve");
	struct hr_diags quiet;
	struct hr_build silent = *b;
	struct hr_diag *e;
	struct hr_value v;

	if (out && in) {
		e = hr_error(b->diags, in->key_at, 251, "endpoint '%s' cannot be both", pair->key);
		hr_note(e, out->key_at, "it is an export here already");
		return 0;
	}
	if (out)
		return EXPORT;
	if (!in) {
		if (!hr_schema_is_misspelt(map, HR_L_ENDPOINT, "export") &&
		    !hr_schema_is_misspelt(map, HR_L_ENDPOINT, "import")) {
			e = hr_error(b->diags, pair->key_at, 206,
				     "endpoint '%s' has neither `export` nor `import`", pair->key);
			hr_help(e,
				"write `%s: {export: node.port}` or `%s: {import: name, format: "
				"...}`",
				pair->key, pair->key);
		}
		return 0;
	}
	/* What is wrong with `serve` is said where it becomes a parameter. */
	hr_diags_init(&quiet, b->arena);
	silent.diags = &quiet;
	return serve && hr_resolve_as(&silent, serve, HR_T_BOOL, "serve", &v) && v.i ? SERVE
										     : ATTACH;
}

/* Two ends of one graph under one name: the second could never start. */
static void
check_taken(struct take *t, struct taken *all)
{
	const char *key = hr_printf(t->b->arena, "%s/%s", t->dir.text, t->name.text);
	uint32_t i = hr_names_find(&all->names, key);

	if (t->side == ATTACH)
		return;
	if (i != UINT32_MAX) {
		struct hr_diag *e = hr_error_value(
			t->b, &t->name, 250, "two endpoints of this graph would be called '%s'",
			t->name.text);

		hr_note(e, all->at[i], "this one is called so already");
		return;
	}
	all->at[all->n] = t->name.at;
	hr_names_put(t->b->arena, &all->names, key, all->n++);
}

/* An import is a node for everybody who reads from it. */
static void
take_place(struct take *t, uint32_t node)
{
	struct hr_build *b = t->b;
	uint32_t other = hr_names_find(&b->node_names, t->pair->key);
	struct hr_diag *e;

	if (t->side == EXPORT) {
		t->node->name.text = hr_printf(b->arena, "endpoint.%s", t->pair->key);
		return;
	}
	if (other == UINT32_MAX) {
		hr_names_put(b->arena, &b->node_names, t->pair->key, node);
		return;
	}
	e = hr_error(b->diags, t->pair->key_at, 250,
		     "'%s' is the name of a node and of an imported endpoint", t->pair->key);
	hr_note(e, b->node[other].name.at, "the node");
	hr_help(e, "rename one of the two; the name outside is the value of `import`");
}

static void
take_endpoint(struct hr_build *b, const struct hr_yaml_pair *pair, struct taken *all)
{
	uint32_t node = b->graph->n_nodes;
	struct take t = { .b = b, .pair = pair, .node = &b->node[node] };
	bool has_name, has_dir;

	hr_want_name(b, "endpoint", pair->key, pair->key_at, false);
	t.map = hr_want(b, pair->value, HR_YAML_MAP, hr_printf(b->arena, "endpoint %s", pair->key),
			hr_printf(b->arena, "%s: {export: node.port}", pair->key));
	if (!t.map)
		return;
	hr_schema_check(t.map, HR_L_ENDPOINT, b->diags, NULL, NULL);
	t.side = side_of(b, pair, t.map);
	if (!t.side)
		return;
	t.param = HR_ARRAY(b->arena, N_PARAMS, struct hr_param_value);
	hr_node_init(t.node, (struct hr_name){ pair->key, pair->key_at },
		     t.side == EXPORT ? "holomq/export" : "holomq/import");
	t.node->first_edge = (uint32_t)b->n_edges;
	t.node->param = t.param;
	t.node->params_broken = t.map->is_partial;
	take_place(&t, node);
	b->graph->n_nodes++;
	has_name = take_name(&t);
	has_dir = take_dir(&t);
	for (uint32_t i = 0; i < N_SETTINGS; i++) {
		const struct hr_yaml_pair *p = hr_yaml_get(t.map, settings[i].key);

		if (p)
			take_setting(&t, &settings[i], p);
	}
	if (t.side != EXPORT && hr_at(t.map, "name"))
		hr_error(b->diags, hr_yaml_get(t.map, "name")->key_at, 251,
			 "endpoint '%s': the name outside is the value of `import`", pair->key);
	if (has_name && has_dir)
		check_taken(&t, all);
	if (t.side == EXPORT)
		take_source(&t, node);
	t.node->n_edges = (uint32_t)b->n_edges - t.node->first_edge;
}

void
hr_build_endpoints(struct hr_build *b)
{
	const struct hr_yaml *map = map_of(b);
	struct taken all = { 0 };

	b->first_endpoint = b->graph->n_nodes;
	if (!map || !map->n || !b->node)
		return;
	if ((uint64_t)b->graph->n_nodes + map->n > HR_MAX_GRAPH_NODES) {
		hr_error(b->diags, map->at, 200,
			 "%u nodes and %u endpoints are too many; a graph "
			 "may have %d of both",
			 b->graph->n_nodes, map->n, HR_MAX_GRAPH_NODES);
		return;
	}
	add_plugin(b);
	all.at = HR_ARRAY(b->arena, map->n, struct hr_span);
	for (uint32_t i = 0; i < map->n; i++)
		take_endpoint(b, &map->pair[i], &all);
}

/* ---- the fate of a neighbour --------------------------------------------------------------- */

static void
follow(struct hr_build *b, uint32_t endpoint, uint32_t neighbour)
{
	const struct hr_node *from = &b->node[neighbour];
	struct hr_node *to = &b->node[endpoint];

	to->on_failure = from->on_failure;
	to->on_failure_at = from->on_failure_at;
	to->restart_max = from->restart_max;
	to->backoff_ns = from->backoff_ns;
}

void
hr_settle_endpoints(struct hr_build *b)
{
	bool *done = HR_ARRAY(b->arena, b->graph->n_nodes + 1u, bool);

	/* Readers first: an export of an import then finds it settled. */
	for (size_t i = 0; i < b->n_edges; i++) {
		uint32_t from = b->edge[i].from, to = b->edge[i].to;

		if (from == UINT32_MAX || from < b->first_endpoint || done[from] ||
		    to >= b->first_endpoint)
			continue;
		follow(b, from, to);
		done[from] = true;
	}
	for (size_t i = 0; i < b->n_edges; i++)
		if (b->edge[i].to >= b->first_endpoint && b->edge[i].from != UINT32_MAX)
			follow(b, b->edge[i].to, b->edge[i].from);
}
