// SPDX-License-Identifier: Apache-2.0
/*
 * knobs.c - declarations, what sets them, and their values in force.
 *
 * A knob is evaluated when it is first asked for, so that defaults may use each
 * other in any order; a circle is found on the way and shown whole.  A faulty
 * knob is reported once and silently fails whatever uses it.
 */
#include <string.h>

#include "model/internal.h"

enum { MAX_CHAIN = 200 }; /* knobs that wait for each other */

enum state { UNTOUCHED, BUSY, DONE, FAULTY };

struct hr_knob_build {
	const struct hr_yaml *decl;
	const struct hr_yaml *value; /* in force: default, preset, overlay or -k */
	const struct hr_yaml *def;   /* as declared, if something else is in force */
	enum state state;
	bool is_option; /* set by -k */
};

static bool evaluate(struct hr_build *b, uint32_t i, struct hr_span used_at);

/* Knob k is asked for while it is being evaluated: the chain from its first mention is a circle. */
static void
report_circle(struct hr_build *b, uint32_t k, struct hr_span used_at)
{
	uint32_t first = 0;
	struct hr_text path;

	while (b->chain[first] != k)
		first++;
	hr_text_init(&path, b->arena);
	for (uint32_t i = first; i < b->n_chain; i++)
		hr_text_add(&path, "%s -> ", b->knob[b->chain[i]].name.text);
	hr_text_puts(&path, b->knob[k].name.text);
	struct hr_diag *e = hr_error(b->diags, used_at, 213,
				     "knobs depend on each other in a circle: %s", path.s);

	for (uint32_t i = first; i < b->n_chain; i++)
		hr_note(e, b->knob[b->chain[i]].name.at, "'%s' is declared here",
			b->knob[b->chain[i]].name.text);
}

static int
find_knob(void *self, const char *name, struct hr_span used_at, struct hr_value *out)
{
	struct hr_build *b = self;
	uint32_t i = hr_names_find(&b->knob_names, name);

	if (i == UINT32_MAX)
		return 0;
	if (!evaluate(b, i, used_at))
		return -1;
	*out = b->knob[i].value;
	return 1;
}

static bool
has_value(const struct hr_value *v)
{
	return v->type != HR_T_TEXT || v->text;
}

static bool
check_choice(struct hr_build *b, const struct hr_knob *k, const struct hr_value *v)
{
	const char *text = hr_value_text(b->arena, v);

	for (uint32_t i = 0; i < k->n_choices; i++)
		if (!strcmp(k->choices[i], text))
			return true;
	if (!k->n_choices)
		return true;
	struct hr_diag *e = hr_error_value(b, v, 208, "knob %s: '%s' is not one of its choices",
					   k->name.text, text);

	hr_suggest(e, text, k->choices, k->n_choices);
	return false;
}

/* Inside min, max and choices? */
static bool
check_range(struct hr_build *b, const struct hr_knob *k, const struct hr_value *v)
{
	const char *text = hr_value_text(b->arena, v);

	if (has_value(&k->min) && hr_value_compare(v, &k->min) < 0) {
		hr_error_value(b, v, 209, "knob %s: %s is below the minimum %s (declared at %s)",
			       k->name.text, text, k->min.text, hr_span_text(b->arena, k->name.at));
		return false;
	}
	if (has_value(&k->max) && hr_value_compare(v, &k->max) > 0) {
		hr_error_value(b, v, 209, "knob %s: %s is above the maximum %s (declared at %s)",
			       k->name.text, text, k->max.text, hr_span_text(b->arena, k->name.at));
		return false;
	}
	return check_choice(b, k, v);
}

bool
hr_knob_check(struct hr_build *b, const struct hr_knob *k, const struct hr_yaml *y, bool is_option,
	      struct hr_value *out)
{
	const char *what = hr_printf(b->arena, "knob %s", k->name.text);
	struct hr_value v;
	const char *why;

	if (!hr_resolve(b, y, what, &v))
		return false;
	if (hr_value_convert(b->arena, &v, k->type, out, &why)) {
		if (is_option && strchr(y->text, ','))
			hr_error_value(b, &v, 221,
				       "%s takes one value; to try several: holorun sweep ... -s "
				       "%s=%s",
				       k->name.text, k->name.text, y->text);
		else
			hr_error_value(b, &v, is_option ? 221 : 207, "%s: %s", what, why);
		return false;
	}
	return check_range(b, k, out);
}

static bool
has_order(enum hr_type t)
{
	return t == HR_T_INT || t == HR_T_FLOAT || t == HR_T_SIZE || t == HR_T_DURATION ||
	       t == HR_T_RATE;
}

static bool
take_bound(struct hr_build *b, const struct hr_knob *k, const struct hr_yaml *decl, const char *key,
	   struct hr_value *out)
{
	const struct hr_yaml_pair *p = hr_yaml_get(decl, key);
	const char *what = hr_printf(b->arena, "%s of knob %s", key, k->name.text);

	if (!p)
		return true;
	if (!has_order(k->type)) {
		hr_error(b->diags, p->key_at, 227, "knob %s: a %s has no %s", k->name.text,
			 hr_type_name[k->type], key);
		return false;
	}
	struct hr_value v;

	if (!hr_resolve_as(b, p->value, k->type, what, &v))
		return false;
	*out = v;
	return true;
}

static bool
take_bounds(struct hr_build *b, struct hr_knob *k, const struct hr_yaml *decl)
{
	bool ok = take_bound(b, k, decl, "min", &k->min);

	ok = take_bound(b, k, decl, "max", &k->max) && ok;
	if (!ok || !has_value(&k->min) || !has_value(&k->max) ||
	    hr_value_compare(&k->min, &k->max) <= 0)
		return ok;
	hr_error(b->diags, k->max.at, 227, "knob %s: the maximum %s is below the minimum %s",
		 k->name.text, k->max.text, k->min.text);
	return false;
}

static bool
take_choices(struct hr_build *b, struct hr_knob *k, const struct hr_yaml *decl)
{
	const char *what = hr_printf(b->arena, "choices of knob %s", k->name.text);
	const struct hr_yaml *y = hr_at(decl, "choices");
	const struct hr_yaml *list = hr_want(b, y, HR_YAML_LIST, what, "choices: [1, 2]");

	if (!list)
		return !y;
	const char **choices = HR_ARRAY(b->arena, list->n + 1u, const char *);
	bool ok = true;

	for (uint32_t i = 0; i < list->n; i++) {
		struct hr_value v;

		if (hr_resolve_as(b, list->item[i], k->type, what, &v))
			choices[k->n_choices++] = hr_value_text(b->arena, &v);
		else
			ok = false;
	}
	k->choices = choices;
	return ok;
}

static bool
compute(struct hr_build *b, uint32_t i)
{
	struct hr_knob_build *kb = &b->knobs[i];
	struct hr_knob *k = &b->knob[i];
	bool ok = take_bounds(b, k, kb->decl);

	ok = take_choices(b, k, kb->decl) && ok;
	if (!kb->value) {
		if (hr_schema_is_misspelt(kb->decl, HR_L_KNOB, "default"))
			return false;
		hr_error(b->diags, k->name.at, 206,
			 "knob %s has no value: give it a `default`, or set it with -k %s=...",
			 k->name.text, k->name.text);
		return false;
	}
	return ok && hr_knob_check(b, k, kb->value, kb->is_option, &k->value);
}

static bool
evaluate(struct hr_build *b, uint32_t i, struct hr_span used_at)
{
	struct hr_knob_build *kb = &b->knobs[i];

	if (kb->state == DONE || kb->state == FAULTY)
		return kb->state == DONE;
	if (kb->state == BUSY) {
		report_circle(b, i, used_at);
		return false;
	}
	if (b->n_chain == MAX_CHAIN) {
		hr_error(b->diags, used_at, 213, "more than %d knobs wait for each other here",
			 MAX_CHAIN);
		return false;
	}
	kb->state = BUSY;
	b->chain[b->n_chain++] = i;
	bool ok = compute(b, i);

	b->n_chain--;
	kb->state = ok ? DONE : FAULTY;
	return ok;
}

static const char *const type_names[] = { "bool", "int",      "float", "string",
					  "size", "duration", "rate",  "cpus" };
static const enum hr_type types[] = { HR_T_BOOL, HR_T_INT,      HR_T_FLOAT, HR_T_STRING,
				      HR_T_SIZE, HR_T_DURATION, HR_T_RATE,  HR_T_CPUS };
enum { N_TYPES = sizeof(type_names) / sizeof(type_names[0]) };

static bool
take_type(struct hr_build *b, struct hr_knob *k, const struct hr_yaml *decl)
{
	const char *what = hr_printf(b->arena, "type of knob %s", k->name.text);
	const struct hr_yaml *y = hr_want(b, hr_at(decl, "type"), HR_YAML_SCALAR, what, NULL);

	if (!hr_at(decl, "type") && !hr_schema_is_misspelt(decl, HR_L_KNOB, "type")) {
		struct hr_diag *e =
			hr_error(b->diags, k->name.at, 206, "knob %s has no `type`", k->name.text);

		hr_suggest(e, "", type_names, N_TYPES);
	}
	for (size_t i = 0; y && i < N_TYPES; i++)
		if (!strcmp(type_names[i], y->text)) {
			k->type = types[i];
			return true;
		}
	if (y) {
		struct hr_diag *e =
			hr_error(b->diags, y->at, 208, "%s: there is no type '%s'", what, y->text);

		hr_suggest(e, y->text, type_names, N_TYPES);
	}
	return false;
}

static void
take_declaration(struct hr_build *b, uint32_t i, const struct hr_yaml_pair *p)
{
	struct hr_knob *k = &b->knob[i];
	const struct hr_yaml *decl =
		hr_want(b, p->value, HR_YAML_MAP, hr_printf(b->arena, "knob %s", p->key),
			hr_printf(b->arena, "%s: {type: int, default: 1}", p->key));

	k->name = (struct hr_name){ p->key, p->key_at };
	b->knobs[i].state = FAULTY;
	if (!decl)
		return;
	hr_schema_check(decl, HR_L_KNOB, b->diags, NULL, NULL);
	const struct hr_yaml *help = hr_want(b, hr_at(decl, "help"), HR_YAML_SCALAR, "help", NULL);

	k->help = help ? help->text : NULL;
	if (!take_type(b, k, decl))
		return;
	b->knobs[i].state = UNTOUCHED;
	b->knobs[i].decl = decl;
	b->knobs[i].value = hr_at(decl, "default");
}

/* Who set the value in force. */
static void
find_setter(struct hr_build *b, uint32_t i)
{
	struct hr_knob *k = &b->knob[i];
	const struct hr_yaml *value = b->knobs[i].value;
	const struct hr_yaml *first =
		hr_at(hr_at(hr_at(b->doc->root[0], "knobs"), k->name.text), "default");

	if (!value)
		return;
	if (b->preset && hr_at(b->preset, k->name.text) == value) {
		k->set_by = hr_printf(b->arena, "preset %s", b->opt->preset);
		b->knobs[i].def = first;
	} else if (value == first) {
		k->set_by = "default";
	} else {
		k->set_by = hr_printf(b->arena, "overlay %s",
				      value->at.file ? value->at.file->name : "");
	}
}

/* Its range in words: "n (int, 1 to 100)". */
static const char *
describe(struct hr_build *b, const struct hr_knob *k)
{
	struct hr_text t;

	hr_text_init(&t, b->arena);
	hr_text_add(&t, "%s (%s", k->name.text, hr_type_name[k->type]);
	if (has_value(&k->min))
		hr_text_add(&t, ", min %s", k->min.text);
	if (has_value(&k->max))
		hr_text_add(&t, ", max %s", k->max.text);
	for (uint32_t i = 0; i < k->n_choices; i++)
		hr_text_add(&t, "%s%s", i ? "|" : ", ", k->choices[i]);
	hr_text_puts(&t, ")");
	return t.s;
}

static void
report_no_knob(struct hr_build *b, const char *name, struct hr_span at)
{
	enum { LIST_MAX = 12 };
	struct hr_diag *e = hr_error(b->diags, at, 220, "no knob is called '%s'", name);
	const char *nearest = hr_nearest(name, b->scope.names, b->scope.n_names);
	struct hr_text t;

	if (nearest)
		hr_help(e, "did you mean '%s'?", nearest);
	if (!b->graph->n_knobs)
		hr_help(e, "this graph declares no knobs");
	if (!b->graph->n_knobs || b->graph->n_knobs > LIST_MAX)
		return;
	hr_text_init(&t, b->arena);
	for (uint32_t i = 0; i < b->graph->n_knobs; i++)
		hr_text_add(&t, "%s%s", i ? ", " : "", describe(b, &b->knob[i]));
	hr_help(e, "knobs: %s", t.s);
}

static void
apply_setting(struct hr_build *b, const struct hr_setting *s, const struct hr_file *f)
{
	struct hr_yaml *y = HR_NEW(b->arena, struct hr_yaml);
	uint32_t i = hr_names_find(&b->knob_names, s->name);
	uint32_t name_len = (uint32_t)strlen(s->name);

	if (i == UINT32_MAX)
		return;
	y->kind = HR_YAML_SCALAR;
	y->plain = true;
	y->exact = 1;
	y->text = s->value;
	y->len = strlen(s->value);
	y->at = (struct hr_span){
		.file = f, .line = 1, .col = 4 + name_len + 1, .len = y->len ? (uint32_t)y->len : 1
	};
	if (!b->knobs[i].is_option)
		b->knobs[i].def = b->knobs[i].value;
	b->knobs[i].value = y;
	b->knobs[i].is_option = true;
	b->knob[i].set_by = "-k";
}

static void
report_unknown_settings(struct hr_build *b)
{
	for (uint32_t i = 0; i < b->opt->n_settings; i++) {
		const struct hr_setting *s = &b->opt->setting[i];
		uint32_t len = (uint32_t)strlen(s->name);
		struct hr_span at = {
			.file = b->doc->option[i], .line = 1, .col = 4, .len = len ? len : 1
		};

		if (hr_names_find(&b->knob_names, s->name) == UINT32_MAX)
			report_no_knob(b, s->name, at);
	}
}

static void
evaluate_all(struct hr_build *b)
{
	for (uint32_t i = 0; i < b->graph->n_knobs; i++)
		evaluate(b, i, b->knob[i].name.at);
	/* A default that is not in force must be good all the same. */
	for (uint32_t i = 0; i < b->graph->n_knobs; i++) {
		struct hr_knob *k = &b->knob[i];
		struct hr_knob_build *kb = &b->knobs[i];

		if (kb->state == DONE && !kb->def && !kb->is_option)
			k->def = k->value;
		else if (kb->state == DONE && kb->def)
			hr_knob_check(b, k, kb->def, false, &k->def);
	}
}

void
hr_build_knobs(struct hr_build *b)
{
	const struct hr_yaml *map = hr_want(b, hr_at(b->root, "knobs"), HR_YAML_MAP, "knobs",
					    "knobs: {n: {type: int, default: 1}}");
	uint32_t n = map ? map->n : 0;
	const char **names = HR_ARRAY(b->arena, n + 1u, const char *);

	b->knob = HR_ARRAY(b->arena, n + 1u, struct hr_knob);
	b->knobs = HR_ARRAY(b->arena, n + 1u, struct hr_knob_build);
	b->chain = HR_ARRAY(b->arena, MAX_CHAIN, uint32_t);
	b->graph->knob = b->knob;
	b->graph->n_knobs = n;
	for (uint32_t i = 0; i < n; i++) {
		names[i] = map->pair[i].key;
		hr_names_put(b->arena, &b->knob_names, names[i], i);
	}
	b->scope = (struct hr_scope){ b, find_knob, names, n, b->opt->env };
	for (uint32_t i = 0; i < n; i++) {
		take_declaration(b, i, &map->pair[i]);
		hr_want_name(b, "knob", names[i], map->pair[i].key_at, true);
		find_setter(b, i);
	}
	for (uint32_t i = 0; i < b->opt->n_settings; i++)
		apply_setting(b, &b->opt->setting[i], b->doc->option[i]);
	evaluate_all(b);
	report_unknown_settings(b);
}
