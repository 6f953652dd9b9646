// SPDX-License-Identifier: Apache-2.0
/*
 * verb_knobs.c - `holorun knobs`: what of a graph may be turned, and where it acts.
 *
 * Values and what set them come from the graph; places of use are found in the
 * texts, since substitution leaves no trace of a name that was merged away.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"

struct use { /* of one knob */
	struct hr_span first;
	uint32_t n;
};

struct uses {
	const struct hr_graph *graph;
	struct use *of; /* parallel to the graph's knobs */
};

static void
found(struct uses *u, const char *name, size_t n, struct hr_span at)
{
	for (uint32_t i = 0; i < u->graph->n_knobs; i++) {
		const char *k = u->graph->knob[i].name.text;

		if (strncmp(k, name, n) != 0 || k[n])
			continue;
		if (!u->of[i].n++)
			u->of[i].first = at;
	}
}

static size_t
name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* Names inside ${...}. */
static const char *
scan_expression(struct uses *u, const char *s, struct hr_span at)
{
	while (*s && *s != '}') {
		size_t n = name_length(s);

		if (n)
			found(u, s, n, at);
		else if (isdigit((unsigned char)*s))
			n = 1 + strspn(s + 1, "0123456789_.abcdefxABCDEFX");
		s += n ? n : 1;
	}
	return s;
}

static void
scan_text(struct uses *u, const char *s, struct hr_span at)
{
	while ((s = strchr(s, '$'))) {
		s++;
		if (*s == '$') {
			s++;
		} else if (*s == '{') {
			s = scan_expression(u, s + 1, at);
		} else {
			size_t n = name_length(s);

			found(u, s, n, at);
			s += n;
		}
	}
}

static void
scan_tree(struct uses *u, const struct hr_yaml *y)
{
	if (y->kind == HR_YAML_SCALAR) {
		scan_text(u, y->text, y->at);
		return;
	}
	for (uint32_t i = 0; i < y->n; i++)
		scan_tree(u, y->kind == HR_YAML_MAP ? y->pair[i].value : y->item[i]);
}

static bool
is_given(const struct hr_value *v)
{
	return v->type != HR_T_TEXT || v->text;
}

/* "16 .. 512", "cpu | cuda", or "". */
static const char *
range_text(struct hr_arena *a, const struct hr_knob *k)
{
	struct hr_text t;

	hr_text_init(&t, a);
	for (uint32_t i = 0; i < k->n_choices; i++)
		hr_text_add(&t, "%s%s", i ? " | " : "", k->choices[i]);
	if (is_given(&k->min) || is_given(&k->max))
		hr_text_add(&t, "%s%s .. %s", t.len ? ", " : "",
			    is_given(&k->min) ? hr_value_text(a, &k->min) : "",
			    is_given(&k->max) ? hr_value_text(a, &k->max) : "");
	return t.s;
}

static const char *
use_text(struct hr_arena *a, const struct use *u)
{
	if (!u->n)
		return "not used";
	if (u->n == 1)
		return hr_span_text(a, u->first);
	return hr_printf(a, "%s and %u more", hr_span_text(a, u->first), u->n - 1);
}

static char *
knobs_text(struct hr_arena *a, const struct uses *u)
{
	enum { COLUMNS = 6 };
	uint32_t n = u->graph->n_knobs;
	const char *(*row)[COLUMNS] = hr_alloc_array(a, (size_t)n + 1, sizeof(*row));
	size_t width[COLUMNS] = { 0 };
	struct hr_text t;

	row[0][0] = "knob", row[0][1] = "type", row[0][2] = "value", row[0][3] = "range";
	row[0][4] = "set by", row[0][5] = "used at";
	for (uint32_t i = 0; i < n; i++) {
		const struct hr_knob *k = &u->graph->knob[i];

		row[i + 1][0] = k->name.text;
		row[i + 1][1] = hr_type_name[k->type];
		row[i + 1][2] = hr_value_text(a, &k->value);
		row[i + 1][3] = range_text(a, k);
		row[i + 1][4] = k->set_by;
		row[i + 1][5] = use_text(a, &u->of[i]);
	}
	for (uint32_t i = 0; i <= n; i++)
		for (size_t c = 0; c < COLUMNS; c++)
			if (strlen(row[i][c]) > width[c])
				width[c] = strlen(row[i][c]);
	hr_text_init(&t, a);
	for (uint32_t i = 0; i <= n; i++)
		for (size_t c = 0; c < COLUMNS; c++)
			hr_text_add(&t, "%-*s%s", c + 1 < COLUMNS ? (int)width[c] : 0, row[i][c],
				    c + 1 < COLUMNS ? "  " : "\n");
	return t.s;
}

static void
add_value(struct hr_arena *a, cJSON *o, const char *key, const struct hr_value *v)
{
	if (!is_given(v))
		return;
	switch (v->type) {
	case HR_T_BOOL:
		cJSON_AddBoolToObject(o, key, v->i != 0);
		break;
	case HR_T_INT:
	case HR_T_SIZE:
	case HR_T_DURATION:
		hr_json_add_int(o, key, v->i);
		break;
	case HR_T_FLOAT:
	case HR_T_RATE:
		cJSON_AddNumberToObject(o, key, v->f);
		break;
	default:
		hr_json_add_text(o, key, hr_value_text(a, v));
		break;
	}
}

static char *
knobs_json(struct hr_arena *a, const struct uses *u)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(o, "knobs");

	for (uint32_t i = 0; i < u->graph->n_knobs; i++) {
		const struct hr_knob *k = &u->graph->knob[i];
		cJSON *j = cJSON_CreateObject(), *choices;

		hr_json_add_text(j, "name", k->name.text);
		cJSON_AddStringToObject(j, "type", hr_type_name[k->type]);
		add_value(a, j, "value", &k->value);
		hr_json_add_text(j, "text", hr_value_text(a, &k->value));
		add_value(a, j, "default", &k->def);
		add_value(a, j, "min", &k->min);
		add_value(a, j, "max", &k->max);
		if (k->n_choices) {
			choices = cJSON_AddArrayToObject(j, "choices");
			for (uint32_t c = 0; c < k->n_choices; c++)
				cJSON_AddItemToArray(choices, hr_json_string(k->choices[c]));
		}
		if (k->help)
			hr_json_add_text(j, "help", k->help);
		hr_json_add_text(j, "set_by", k->set_by);
		hr_json_add_int(j, "uses", u->of[i].n);
		if (u->of[i].n)
			hr_json_add_text(j, "used_at", hr_span_text(a, u->of[i].first));
		cJSON_AddItemToArray(list, j);
	}
	return hr_json_text(a, o, true);
}

int
hr_verb_knobs(struct hr_cli *c)
{
	const char *file = hr_cli_one_file(c);
	struct hr_rooms r;

	if (!file || hr_rooms_enter(c, file, HR_TO_GRAPH, &r, c->diags))
		return hr_cli_refuse(c, c->diags);
	hr_cli_warn(c, c->diags);
	struct uses u = { .graph = r.graph,
			  .of = HR_ARRAY(c->arena, (size_t)r.graph->n_knobs + 1, struct use) };

	for (uint32_t i = 0; i < r.doc->n; i++)
		if (r.doc->root[i])
			scan_tree(&u, r.doc->root[i]);
	if (c->format == HR_AS_JSON)
		return hr_cli_result(knobs_json(c->arena, &u), 0);
	if (!r.graph->n_knobs)
		return hr_cli_result("this graph has no knobs\n", 0);
	return hr_cli_result(knobs_text(c->arena, &u), 0);
}
