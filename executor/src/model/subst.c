// SPDX-License-Identifier: Apache-2.0
/*
 * subst.c - the `$` in scalars: names, expressions, environment.
 *
 * A scalar that is one reference keeps the type of what it refers to; any other
 * text is put together from canonical spellings.  Nothing is ever silently empty.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "model/expr_internal.h"

enum { MAX_DEFAULTS = 16 }; /* ${env:A:-${env:B:-...}} */

struct subst {
	struct hr_expr e; /* at: reading place; end: of the text being read */
	struct hr_text text;
	struct hr_value value; /* of the only piece so far */
	unsigned n_pieces;     /* references and runs of plain text */
	unsigned nesting;
};

static bool read_text(struct subst *s);

static char
at(const struct subst *s, size_t i)
{
	if (i >= s->e.end)
		return '\0';
	return s->e.scalar->text[i];
}

static void
add_value(struct subst *s, const struct hr_value *v)
{
	s->value = *v;
	s->n_pieces++;
	hr_text_puts(&s->text, hr_value_text(s->e.arena, v));
}

static void
add_plain(struct subst *s, const char *text, size_t n)
{
	if (!n)
		return;
	s->n_pieces += 2; /* never "one reference" */
	hr_text_putn(&s->text, text, n);
}

/* The '}' that closes the brace opened before i; quotes hide braces; SIZE_MAX: none. */
static size_t
closing(const struct subst *s, size_t i, bool has_quotes)
{
	unsigned depth = 1;

	for (char quote = '\0'; i < s->e.end; i++) {
		char c = at(s, i);

		if (quote && c == quote)
			quote = '\0';
		else if (quote)
			continue;
		else if (has_quotes && (c == '"' || c == '\''))
			quote = c;
		else if (c == '{')
			depth++;
		else if (c == '}' && !--depth)
			return i;
	}
	return SIZE_MAX;
}

static bool
fault(struct subst *s, size_t off, size_t n, const char *text)
{
	hr_error(s->e.diags, hr_expr_span(&s->e, off, n), 211, "%s", text);
	return false;
}

/* The default behind ':-', itself a text with references. */
static bool
read_default(struct subst *s, size_t from, size_t to)
{
	struct subst inner = *s;

	inner.e.at = from;
	inner.e.end = to;
	inner.n_pieces = 0;
	inner.nesting = s->nesting + 1;
	hr_text_init(&inner.text, s->e.arena);
	if (inner.nesting > MAX_DEFAULTS)
		return fault(s, from, to - from, "defaults are nested too deeply");
	if (!read_text(&inner))
		return false;
	s->e.from = inner.e.from;
	struct hr_value v = { .type = HR_T_TEXT, .text = inner.text.s };

	add_value(s, inner.n_pieces == 1 ? &inner.value : &v);
	return true;
}

static size_t
name_length(const struct subst *s, size_t start)
{
	size_t n = 0;

	while (isalnum((unsigned char)at(s, start + n)) || at(s, start + n) == '_')
		n++;
	return n;
}

/* ${env:NAME} and ${env:NAME:-default}; start is at the name, end at the '}'. */
static bool
read_env(struct subst *s, size_t start, size_t end)
{
	size_t n = name_length(s, start), rest = start + n;
	bool has_default = rest + 2 <= end && at(s, rest) == ':' && at(s, rest + 1) == '-';

	if (!n || (rest != end && !has_default))
		return fault(s, start, end > start ? end - start : 1,
			     "write ${env:NAME} or ${env:NAME:-default}");
	const char *name = hr_strndup(s->e.arena, s->e.scalar->text + start, n);
	const char *found = s->e.scope->env ? s->e.scope->env(name) : NULL;

	if (!found && has_default)
		return read_default(s, rest + 2, end);
	if (!found) {
		struct hr_diag *d = hr_error(s->e.diags, hr_expr_span(&s->e, start, n), 219,
					     "the environment variable %s is not set", name);

		hr_help(d, "give a default: ${env:%s:-default}", name);
		return false;
	}
	struct hr_value v = { .type = HR_T_TEXT, .text = hr_strdup(s->e.arena, found) };

	add_value(s, &v);
	return true;
}

static bool
read_expression(struct subst *s, size_t start, size_t end)
{
	struct hr_expr inner = s->e;
	struct hr_value v;

	inner.at = start;
	inner.end = end;
	if (!hr_expr_read(&inner, &v))
		return false;
	s->e.from = inner.from;
	add_value(s, &v);
	return true;
}

static bool
read_braces(struct subst *s)
{
	size_t start = s->e.at + 2;
	bool is_env = s->e.end - start >= 4 && !memcmp(s->e.scalar->text + start, "env:", 4);
	size_t end = closing(s, start, !is_env);

	if (end == SIZE_MAX)
		return fault(s, s->e.at, 2, "the '${' that opens here is never closed by '}'");
	if (!(is_env ? read_env(s, start + 4, end) : read_expression(s, start, end)))
		return false;
	s->e.at = end + 1;
	return true;
}

static bool
read_dollar(struct subst *s)
{
	size_t start = s->e.at + 1, n = name_length(s, start);
	char c = at(s, start);
	struct hr_value v;

	if (c == '$') {
		add_plain(s, "$", 1);
		s->e.at += 2;
		return true;
	}
	if (c == '{')
		return read_braces(s);
	if (!n || isdigit((unsigned char)c))
		return fault(s, s->e.at, 1 + n, "'$' starts a name; for a dollar sign write '$$'");
	if (!hr_expr_name(&s->e, start, n, &v))
		return false;
	add_value(s, &v);
	s->e.at = start + n;
	return true;
}

static bool
read_text(struct subst *s)
{
	while (s->e.at < s->e.end) {
		const char *from = s->e.scalar->text + s->e.at;
		const char *dollar = memchr(from, '$', s->e.end - s->e.at);
		size_t n = dollar ? (size_t)(dollar - from) : s->e.end - s->e.at;

		add_plain(s, from, n);
		s->e.at += n;
		if (dollar && !read_dollar(s))
			return false;
	}
	return true;
}

bool
hr_subst(struct hr_arena *a, const struct hr_yaml *scalar, const struct hr_scope *scope,
	 struct hr_diags *d, struct hr_value *out)
{
	struct subst s = { .e = { .arena = a,
				  .scalar = scalar,
				  .scope = scope,
				  .diags = d,
				  .end = scalar->len } };

	*out = (struct hr_value){ .type = HR_T_TEXT, .text = scalar->text, .at = scalar->at };
	if (strlen(scalar->text) != scalar->len) {
		hr_error(d, scalar->at, 104, "a value cannot hold a NUL character");
		return false;
	}
	if (!strchr(scalar->text, '$'))
		return true;
	hr_text_init(&s.text, a);
	if (!read_text(&s))
		return false;
	if (s.n_pieces == 1)
		*out = s.value;
	else
		*out = (struct hr_value){ .type = HR_T_TEXT };
	out->text = s.text.s;
	out->at = scalar->at;
	out->from = s.e.from;
	return true;
}
