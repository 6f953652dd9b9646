// SPDX-License-Identifier: Apache-2.0
/*
 * forms.c - maps, lists, names, numbers and choices as the schema wants them.
 *
 * Every refusal says what was expected, what is there, and how it is written.
 */
#include <ctype.h>
#include <string.h>

#include "model/internal.h"

const struct hr_yaml *
hr_at(const struct hr_yaml *map, const char *key)
{
	const struct hr_yaml_pair *p = hr_yaml_get(map, key);

	return p ? p->value : NULL;
}

static const char *
form_name(enum hr_yaml_kind kind)
{
	static const char *const names[] = { "text", "a list", "a map" };

	return names[kind];
}

const struct hr_yaml *
hr_want(struct hr_build *b, const struct hr_yaml *y, enum hr_yaml_kind kind, const char *what,
	const char *example)
{
	if (!y)
		return NULL;
	if (y->kind == kind)
		return y;
	if (kind != HR_YAML_SCALAR && hr_yaml_is_empty(y)) {
		struct hr_yaml *empty = HR_NEW(b->arena, struct hr_yaml);

		empty->kind = kind;
		empty->at = y->at;
		return empty;
	}
	hr_error(b->diags, y->at, 205, "%s: expected %s, got %s%s%s%s", what, form_name(kind),
		 hr_yaml_kind_name(y), example ? "; write `" : "", example ? example : "",
		 example ? "`" : "");
	return NULL;
}

bool
hr_want_name(struct hr_build *b, const char *what, const char *name, struct hr_span at,
	     bool is_knob)
{
	size_t n = strlen(name), i = 0, digits = 0;

	for (; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		digits += isdigit(c) != 0;
		if (!isalnum(c) && c != '_' && (is_knob || c != '-'))
			break;
	}
	bool starts_well = n && (is_knob ? !isdigit((unsigned char)name[0]) : digits < n);

	if (i == n && starts_well && n <= HR_MAX_NAME)
		return true;
	struct hr_diag *e =
		hr_error(b->diags, at, 218, "'%s' cannot be the name of a %s", name, what);

	if (n > HR_MAX_NAME)
		hr_help(e, "a name has at most %d characters", HR_MAX_NAME);
	else if (is_knob)
		hr_help(e,
			"knob names have letters, digits and '_', and do not start with a digit");
	else
		hr_help(e, "names have letters, digits, '_' and '-', and not only digits");
	return false;
}

bool
hr_resolve(struct hr_build *b, const struct hr_yaml *y, const char *what, struct hr_value *out)
{
	const struct hr_yaml *scalar = hr_want(b, y, HR_YAML_SCALAR, what, NULL);

	return scalar && hr_subst(b->arena, scalar, &b->scope, b->diags, out);
}

struct hr_diag *
hr_error_value(struct hr_build *b, const struct hr_value *v, uint32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *text = hr_vprintf(b->arena, fmt, ap);

	va_end(ap);
	struct hr_diag *e = hr_error(b->diags, v->at, code, "%s", text);

	if (v->from.line)
		hr_note(e, v->from, "the value comes from here");
	return e;
}

bool
hr_resolve_as(struct hr_build *b, const struct hr_yaml *y, enum hr_type type, const char *what,
	      struct hr_value *out)
{
	struct hr_value v;
	const char *why;

	if (!hr_resolve(b, y, what, &v))
		return false;
	if (!hr_value_convert(b->arena, &v, type, out, &why))
		return true;
	hr_error_value(b, &v, 207, "%s: %s", what, why);
	return false;
}

uint32_t
hr_resolve_choice(struct hr_build *b, const struct hr_yaml *y, const char *const *names, uint32_t n,
		  const char *what)
{
	struct hr_value v;

	if (!hr_resolve_as(b, y, HR_T_STRING, what, &v))
		return UINT32_MAX;
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(names[i], v.text))
			return i;
	struct hr_diag *e =
		hr_error_value(b, &v, 208, "%s: '%s' is not one of the choices", what, v.text);

	hr_suggest(e, v.text, names, n);
	return UINT32_MAX;
}

bool
hr_resolve_count(struct hr_build *b, const struct hr_yaml *y, int64_t min, int64_t max,
		 const char *what, int64_t *out)
{
	struct hr_value v;

	if (!hr_resolve_as(b, y, HR_T_INT, what, &v))
		return false;
	if (v.i < min)
		hr_error_value(b, &v, 209, "%s: %lld is below the minimum %lld", what,
			       (long long)v.i, (long long)min);
	else if (v.i > max)
		hr_error_value(b, &v, 209, "%s: %lld is above the maximum %lld", what,
			       (long long)v.i, (long long)max);
	*out = v.i;
	return v.i >= min && v.i <= max;
}
