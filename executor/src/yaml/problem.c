// SPDX-License-Identifier: Apache-2.0
/*
 * problem.c - the parser's words become the user's.
 *
 * libyaml says what its state machine wanted; people want to know what to
 * change.  The frequent mistakes are recognised by the text at the place (a
 * tab, a second ': ', an open bracket); the rest goes through a table.
 */
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "yaml/internal.h"

struct wording {
	const char *problem; /* part of libyaml's text */
	const char *says;
	bool at_context; /* the place is where the construct began */
	const char *help;
};

static const struct wording wordings[] = {
	{ "mapping values are not allowed", "a key cannot start here", false,
	  "the text above already is the value of its key; check the indentation" },
	{ "did not find expected ',' or ']'", "in this list a ',' or the closing ']' is missing",
	  false, NULL },
	{ "did not find expected ',' or '}'", "in this map a ',' or the closing '}' is missing",
	  false, NULL },
	{ "did not find expected key", "a key was expected here", false,
	  "check the indentation: keys of one map start in one column" },
	{ "did not find expected '-' indicator", "a list item was expected here", false,
	  "items of one list start with '- ' in one column" },
	{ "could not find expected ':'", "this line has no ':'", true,
	  "a map holds lines of the form 'key: value'" },
	{ "found unexpected end of stream", "the quote that opens here is never closed", true,
	  NULL },
	{ "found unexpected document indicator", "the quote that opens here is never closed", true,
	  NULL },
	{ "found unknown escape character", "unknown escape in double quotes", false,
	  "write '\\\\' for a backslash, or use single quotes" },
	{ "did not find expected hexdecimal", "an escape needs hexadecimal digits", false, NULL },
	{ "block sequence entries are not allowed", "a list item cannot start here", false,
	  "start the list on a new line under its key" },
	{ "alphabetic or numeric character", "'*' and '&' start an alias or an anchor", true,
	  "put the text in quotes if it starts with '*' or '&'" },
	{ "did not find expected <document start>", "the graph has ended above this line", false,
	  "check the indentation, and quotes and brackets above" },
	{ "found character that cannot start any token", "a value cannot start with this character",
	  false, "put the value in quotes" },
	{ "did not find expected node content", "a value was expected here", false, NULL },
	{ "did not find expected whitespace or line break",
	  "a tag or an anchor ends with a space or the end of the line", false,
	  "inside { } leave a space behind it: `{a: !remove }`" },
	{ "directive", "a line that starts with '%' is a YAML directive", false,
	  "put the value in quotes if it starts with '%'" },
	{ "violates indentation", "tab used for indentation; YAML needs spaces", false, NULL },
	{ "found invalid", NULL, false, NULL },
};

/* The place behind n characters of a line. */
static const char *
skip_chars(const char *line, size_t len, uint32_t n, size_t *rest)
{
	size_t i = 0;

	for (uint32_t code; n && i < len; n--) {
		size_t k = hr_utf8_next(line + i, len - i, &code);

		i += k ? k : 1;
	}
	*rest = len - i;
	return line + i;
}

static struct hr_span
mark_span(const struct hr_file *f, const yaml_mark_t *m)
{
	struct hr_span at = hr_yaml_span(f, m, m);

	/* Behind the last line there is nothing to show: say it at the end of the text. */
	size_t len;

	if (at.col == 1 && at.line > 1) {
		const char *s = hr_file_line(f, at.line, &len);

		if (s == f->text + f->len) {
			at.line--;
			hr_file_line(f, at.line, &len);
			at.col = len ? (uint32_t)len : 1;
		}
	}
	return at;
}

static bool
is_in_brackets(const char *line, size_t n)
{
	return memchr(line, '{', n) || memchr(line, '[', n);
}

/* Where the value that holds the second colon starts, in bytes of the line; SIZE_MAX: this is the
 * first colon. */
static size_t
value_start(const char *line, size_t colon)
{
	bool in_flow = is_in_brackets(line, colon);

	for (size_t i = colon; i-- > 0;) {
		if (in_flow && strchr(",{[", line[i]))
			return SIZE_MAX;
		if (line[i] == ':' && line[i + 1] == ' ') {
			while (line[i + 1] == ' ')
				i++;
			return i + 1 < colon ? i + 1 : SIZE_MAX;
		}
	}
	return SIZE_MAX;
}

/* Where it ends: before a comment, or in { } before ',' and brackets. */
static size_t
value_end(const char *line, size_t len, size_t start)
{
	bool in_flow = is_in_brackets(line, start);
	size_t end = start;

	for (; end < len; end++) {
		if (line[end] == '#' && line[end - 1] == ' ')
			break;
		if (in_flow && strchr(",}]", line[end]))
			break;
	}
	while (end > start && line[end - 1] == ' ')
		end--;
	return end;
}

static void
add_quoted(struct hr_text *t, const char *s, size_t n)
{
	/* In single quotes only the quote itself is special; they are used where double quotes
	 * would need escapes. */
	char quote = memchr(s, '"', n) || memchr(s, '\\', n) ? '\'' : '"';

	hr_text_fill(t, quote, 1);
	for (size_t i = 0; i < n; i++)
		hr_text_fill(t, s[i], s[i] == '\'' && quote == '\'' ? 2 : 1);
	hr_text_fill(t, quote, 1);
}

/* `help: window: hann`: show the line as it must be. */
static bool
report_second_colon(const struct hr_file *f, struct hr_span at, struct hr_arena *a,
		    struct hr_diags *d)
{
	size_t len, rest;
	const char *line = hr_file_line(f, at.line, &len);
	const char *here = skip_chars(line, len, at.col - 1, &rest);
	size_t colon = (size_t)(here - line);

	if (!rest || *here != ':')
		return false;
	size_t start = value_start(line, colon);

	if (start == SIZE_MAX || strchr("\"'|>&*!", line[start]))
		return false;
	size_t end = value_end(line, len, start);
	size_t indent = strspn(line, " ");
	struct hr_text t;

	hr_text_init(&t, a);
	hr_text_putn(&t, line + indent, start - indent);
	add_quoted(&t, line + start, end - start);
	hr_text_putn(&t, line + end, len - end);
	struct hr_diag *e = hr_error(d, at, 108, "a value containing ': ' must be quoted");

	hr_help(e, "write: %s", t.s);
	return true;
}

static const struct wording *
find_wording(const char *problem)
{
	for (size_t i = 0; i < sizeof(wordings) / sizeof(wordings[0]); i++)
		if (strstr(problem, wordings[i].problem))
			return &wordings[i];
	return NULL;
}

/* Brackets and `${` inside { } are met so often that they get their own help. */
static void
help_flow(struct hr_diag *e, const struct hr_file *f, struct hr_span at)
{
	size_t len, rest;
	const char *line = hr_file_line(f, at.line, &len);
	const char *here = skip_chars(line, len, at.col - 1, &rest);

	if (here == line || !rest)
		return;
	if (*here == '{' && here[-1] == '$')
		hr_help(e, "'${...}' must be quoted inside { } and [ ]");
	else if (*here == '[')
		hr_help(e, "names are dotted: write fft.0.out, not fft[0].out");
}

void
hr_yaml_report(const struct hr_file *f, const yaml_parser_t *p, struct hr_arena *a,
	       struct hr_diags *d)
{
	const char *problem = p->problem ? p->problem : "the text cannot be read";
	struct hr_span at = mark_span(f, &p->problem_mark);

	if (p->error == YAML_MEMORY_ERROR) {
		hr_error(d, HR_NOWHERE, 301, "out of memory");
		return;
	}
	if (hr_yaml_check_indent(f, at.line, d) || report_second_colon(f, at, a, d))
		return;
	const struct wording *w = find_wording(problem);
	struct hr_span context = p->context ? mark_span(f, &p->context_mark) : HR_NOWHERE;

	if (w && w->at_context && context.line) {
		struct hr_span start = context;

		if (hr_yaml_check_indent(f, start.line, d))
			return;
		at = start;
	}
	struct hr_diag *e = hr_error(d, at, 109, "%s", w && w->says ? w->says : problem);

	if (p->context && context.line && (context.line != at.line || context.col != at.col))
		hr_note(e, context, "it belongs to what begins here");
	if (w && w->help)
		hr_help(e, "%s", w->help);
	help_flow(e, f, at);
}
