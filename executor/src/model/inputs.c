// SPDX-License-Identifier: Apache-2.0
/*
 * inputs.c - edges, written at the reader in short, list or long form.
 *
 * First all are read; when all nodes are known, sources are looked up.  Ports
 * are names only: the op's table is the next room's.
 */
#include <string.h>

#include "model/internal.h"

enum { MAX_DEPTH = 1 << 30, MAX_WINDOW = 1024 };

static const char *const when_full_names[] = { "block", "drop_newest", "fail", "drop_oldest" };
static const char *const missing_names[] = { "drop", "zero", "nan" };
static const char *const order_names[] = { "first", "any" };
static const char *const key_names[] = { "frame", "stream" };

bool
hr_take_when_full(struct hr_build *b, const struct hr_yaml *y, enum hr_when_full *out)
{
	uint32_t i = hr_resolve_choice(b, y, when_full_names, 4, "when_full");

	if (i > HR_FULL_DROP_OLDEST)
		return false;
	*out = (enum hr_when_full)i;
	return true;
}

bool
hr_take_depth(struct hr_build *b, const struct hr_yaml *y, uint32_t *out)
{
	int64_t v;

	if (!hr_resolve_count(b, y, 1, MAX_DEPTH, "depth", &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

/* by: frame | [frame] | [frame, stream] */
static void
take_by(struct hr_build *b, const struct hr_yaml *y, struct hr_gather *g)
{
	bool is_list = y->kind == HR_YAML_LIST;
	uint32_t n = is_list ? y->n : 1, seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = hr_resolve_choice(b, is_list ? y->item[i] : y, key_names, 2, "by");

		if (k == UINT32_MAX)
			return;
		seen |= 1u << k;
	}
	g->by_stream = seen & 2;
	if (!(seen & 1))
		hr_error(b->diags, y->at, 208,
			 "by: pieces are collected by frame: write `frame` or `[frame, stream]`");
}

static void
take_gather_times(struct hr_build *b, const struct hr_yaml *map, struct hr_gather *g)
{
	const struct hr_yaml *y = hr_at(map, "timeout");
	struct hr_value v;

	if (!y || !hr_resolve_as(b, y, HR_T_DURATION, "timeout", &v))
		return;
	g->timeout_ns = v.i;
}

static void
take_gather_counts(struct hr_build *b, const struct hr_yaml *map, struct hr_gather *g)
{
	const struct hr_yaml *y = hr_at(map, "count");
	int64_t v = 0;

	if (!y && !hr_schema_is_misspelt(map, HR_L_GATHER, "count"))
		hr_error(b->diags, map->at, 206,
			 "gather has no `count`: how many pieces make a frame");
	if (y && hr_resolve_count(b, y, 1, MAX_DEPTH, "count", &v))
		g->count = v;
	if ((y = hr_at(map, "window")) && hr_resolve_count(b, y, 1, MAX_WINDOW, "window", &v))
		g->window = (uint32_t)v;
	if ((y = hr_at(map, "min_valid")) && hr_resolve_count(b, y, 0, g->count, "min_valid", &v))
		g->min_valid = v;
}

static const struct hr_gather *
take_gather(struct hr_build *b, const struct hr_yaml *y)
{
	const struct hr_yaml *map =
		hr_want(b, y, HR_YAML_MAP, "gather", "gather: {count: 8, by: frame}");
	struct hr_gather *g = HR_NEW(b->arena, struct hr_gather);

	if (!map)
		return NULL;
	*g = (struct hr_gather){ .at = map->at, .count = 1, .window = 2 };
	hr_schema_check(map, HR_L_GATHER, b->diags, NULL, NULL);
	take_gather_counts(b, map, g);
	take_gather_times(b, map, g);
	if ((y = hr_at(map, "by")))
		take_by(b, y, g);
	if ((y = hr_at(map, "missing"))) {
		uint32_t i = hr_resolve_choice(b, y, missing_names, 3, "missing");

		g->missing = i == UINT32_MAX ? HR_MISSING_DROP : (enum hr_missing)i;
	}
	if ((y = hr_at(map, "order")))
		g->any_order = hr_resolve_choice(b, y, order_names, 2, "order") == 1;
	return g;
}

/* initial: 1 | {count: 1} */
static void
take_initial(struct hr_build *b, const struct hr_yaml *y, struct hr_edge *e)
{
	const struct hr_yaml *count = y;
	int64_t v;

	/* A faulty number closes the loop all the same: that there is one was meant. */
	e->initial = 1;
	e->initial_at = y->at;

	if (y->kind == HR_YAML_MAP) {
		hr_schema_check(y, HR_L_INITIAL, b->diags, NULL, NULL);
		count = hr_at(y, "count");
		if (!count && !hr_schema_is_misspelt(y, HR_L_INITIAL, "count"))
			hr_error(b->diags, y->at, 206, "initial has no `count`");
	}
	if (count && hr_resolve_count(b, count, 1, MAX_DEPTH, "initial", &v)) {
		e->initial = (uint32_t)v;
		e->initial_at = count->at;
	}
}

static void
take_attributes(struct hr_build *b, const struct hr_yaml *map, struct hr_edge *e)
{
	const struct hr_yaml *y;

	hr_schema_check(map, HR_L_INPUT, b->diags, NULL, NULL);
	if ((y = hr_at(map, "depth")) && hr_take_depth(b, y, &e->depth)) {
		e->has_depth = true;
		e->depth_at = y->at;
	}
	if ((y = hr_at(map, "when_full")))
		e->has_when_full = hr_take_when_full(b, y, &e->when_full);
	if ((y = hr_at(map, "initial")))
		take_initial(b, y, e);
	if ((y = hr_at(map, "gather")))
		e->gather = take_gather(b, y);
}

/* A part of what was written; where it came by substitution, the whole of it. */
static struct hr_span
part(const struct hr_yaml *y, const struct hr_value *v, size_t off, size_t n)
{
	return strcmp(y->text, v->text) != 0 ? y->at : hr_yaml_part(y, off, n);
}

static bool
check_source(struct hr_build *b, const struct hr_yaml *y, const struct hr_value *v)
{
	const char *dot = strchr(v->text, '.');
	struct hr_diag *e;

	if (strchr(v->text, '*')) {
		hr_error_value(b, v, 291, "'%s': patterns in inputs are not in this version",
			       v->text);
		return false;
	}
	if (strpbrk(v->text, "[]")) {
		e = hr_error_value(b, v, 225, "'%s' is not a source", v->text);
		hr_help(e, "names are dotted, without brackets: `node.port`");
		return false;
	}
	if (!v->text[0] || dot == v->text || (dot && (!dot[1] || strchr(dot + 1, '.')))) {
		e = hr_error(b->diags, y->at, 225, "'%s' is not a source", v->text);
		hr_help(e, "write `node`, or `node.port` if it has several outputs");
		return false;
	}
	return true;
}

static bool
take_source(struct hr_build *b, const struct hr_yaml *y, const struct hr_edge *like, uint32_t slot)
{
	struct hr_edge e = *like;
	struct hr_value v;

	if (!hr_resolve_as(b, y, HR_T_STRING, "source", &v) || !check_source(b, y, &v))
		return false;
	const char *dot = strchr(v.text, '.');
	size_t node_len = dot ? (size_t)(dot - v.text) : strlen(v.text);

	e.slot = slot;
	e.source = (struct hr_name){ v.text, part(y, &v, 0, strlen(v.text)) };
	e.from_name = (struct hr_name){ hr_strndup(b->arena, v.text, node_len),
					part(y, &v, 0, node_len) };
	e.output_at = e.source.at;
	if (dot) {
		e.output = dot + 1;
		e.output_at = part(y, &v, node_len + 1, strlen(dot + 1));
	}
	*HR_PUSH(b->arena, b->edge, b->n_edges, b->cap_edges) = e;
	return true;
}

static bool
take_sources(struct hr_build *b, const struct hr_yaml *from, struct hr_edge *like)
{
	bool ok = true;

	if (from->kind != HR_YAML_LIST)
		return take_source(b, from, like, 0);
	like->is_list = true;
	if (!from->n)
		hr_error(b->diags, from->at, 225, "input '%s': the list of sources is empty",
			 like->input.text);
	for (uint32_t i = 0; i < from->n; i++)
		ok = take_source(b, from->item[i], like, i) && ok;
	return ok && from->n;
}

static bool
take_input(struct hr_build *b, const struct hr_yaml_pair *p, uint32_t node)
{
	struct hr_edge e = { .to = node,
			     .from = UINT32_MAX,
			     .input = { p->key, p->key_at },
			     .depth = b->default_depth,
			     .depth_at = b->default_depth_at,
			     .when_full = b->default_when_full };
	const struct hr_yaml *from = p->value;

	if (from->kind == HR_YAML_MAP) {
		take_attributes(b, from, &e);
		from = hr_at(p->value, "from");
		if (!from && hr_schema_is_misspelt(p->value, HR_L_INPUT, "from"))
			return false;
	}
	if (!from || hr_yaml_is_empty(from)) {
		struct hr_diag *d = hr_error(b->diags, p->key_at, 206,
					     "input '%s' of node '%s' names no source", p->key,
					     b->node[node].name.text);

		hr_help(d, "write `%s: node.port` or `%s: {from: node.port}`", p->key, p->key);
		return false;
	}
	return take_sources(b, from, &e);
}

void
hr_build_inputs(struct hr_build *b, const struct hr_yaml *inputs, uint32_t node)
{
	struct hr_node *n = &b->node[node];

	if (inputs->kind != HR_YAML_MAP && !hr_yaml_is_empty(inputs)) {
		const char *given = inputs->kind == HR_YAML_SCALAR && !strpbrk(inputs->text, " {[")
					    ? inputs->text
					    : "src.out";

		hr_error(b->diags, inputs->at, 205,
			 "expected a map port: source, got %s; write `inputs: {in: %s}`",
			 hr_yaml_kind_name(inputs), given);
		n->inputs_broken = true;
		return;
	}
	n->inputs_broken |= inputs->is_partial;
	for (uint32_t i = 0; i < inputs->n; i++)
		if (!take_input(b, &inputs->pair[i], node))
			n->inputs_broken = true;
}

void
hr_link_edges(struct hr_build *b)
{
	for (size_t i = 0; i < b->n_edges; i++) {
		struct hr_edge *e = &b->edge[i];

		e->from = hr_names_find(&b->node_names, e->from_name.text);
		if (e->from != UINT32_MAX)
			continue;
		struct hr_diag *d =
			hr_error(b->diags, e->from_name.at, 214,
				 "node '%s': input '%s': no node is called '%s'",
				 b->node[e->to].name.text, e->input.text, e->from_name.text);

		hr_suggest_node(b, d, e->from_name.text);
	}
	b->graph->edge = b->edge;
	b->graph->n_edges = (uint32_t)b->n_edges;
}
