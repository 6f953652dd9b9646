// SPDX-License-Identifier: Apache-2.0
/*
 * diag_text.c - diagnostics as users read them, and as JSON.
 *
 * A shown source line is cut to a window around the caret; tabs, control
 * characters, odd spaces and bytes that are no text are shown as escapes, so
 * that what is wrong can be seen and nothing reaches the terminal unchecked.
 */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

enum { WINDOW = 100 }; /* columns of source shown */

static const char red[] = "\033[1;31m", yellow[] = "\033[1;33m", green[] = "\033[32m",
		  plain[] = "\033[0m";

static const char *
style(bool color, const char *code)
{
	return color ? code : "";
}

const char *
hr_file_line(const struct hr_file *f, uint32_t line, size_t *len)
{
	const char *s = f->text, *end = f->text + f->len;

	if (f->len >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		s += 3;
	for (uint32_t i = 1; i < line && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));

		s = nl ? nl + 1 : end;
	}
	const char *nl = memchr(s, '\n', (size_t)(end - s));

	*len = (size_t)((nl ? nl : end) - s);
	if (*len && s[*len - 1] == '\r')
		(*len)--;
	return s;
}

/* One character as shown: itself, or an escape.  Returns its bytes in the line. */
static size_t
show_char(const char *s, size_t n, char out[12])
{
	uint32_t c = 0;
	size_t k = hr_utf8_next(s, n, &c);

	if (!k)
		(void)snprintf(out, 12, "\\x%02x", (unsigned char)*s);
	else if (c == '\t')
		(void)snprintf(out, 12, "\\t");
	else if (c < 0x20 || c == 0x7f)
		(void)snprintf(out, 12, "\\x%02x", c);
	else if ((c >= 0x80 && c <= 0xa0) || (c >= 0x2000 && c <= 0x200f) ||
		 (c >= 0x2028 && c <= 0x202f) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff)
		(void)snprintf(out, 12, "\\u%04x", c);
	else
		(void)snprintf(out, 12, "%.*s", (int)k, s);
	return k ? k : 1;
}

struct shown {
	struct hr_text text;
	size_t caret; /* columns before the underlined part */
	size_t width; /* of the underlined part, >= 1 */
};

static void
show_line(struct hr_arena *a, const struct hr_span *at, struct shown *out)
{
	size_t len;
	const char *s = hr_file_line(at->file, at->line, &len);
	/* Long lines: start so that the place is inside the window. */
	uint32_t first = at->col > WINDOW * 3 / 4 ? at->col - WINDOW / 2 : 1;
	size_t columns = 0, end = 0;
	uint32_t col = 1;
	bool cut = false;

	hr_text_init(&out->text, a);
	out->caret = SIZE_MAX;
	if (first > 1) {
		hr_text_puts(&out->text, "...");
		columns = 3;
	}
	for (size_t i = 0; i < len; col++) {
		char c[12];
		size_t k = show_char(s + i, len - i, c);

		i += k;
		if (col < first)
			continue;
		if (columns > WINDOW) {
			cut = true;
			break;
		}
		if (col == at->col)
			out->caret = columns;
		hr_text_puts(&out->text, c);
		columns += hr_utf8_count(c, strlen(c));
		if (col >= at->col && col < at->col + (at->len ? at->len : 1))
			end = columns;
	}
	if (out->caret == SIZE_MAX) /* just behind the line: something is missing there */
		out->caret = columns;
	out->width = end > out->caret ? end - out->caret : 1;
	if (cut)
		hr_text_puts(&out->text, "...");
}

static void
add_excerpt(struct hr_text *t, const struct hr_span *at, bool color)
{
	struct shown line;

	if (!at->line || !at->file || !at->file->text)
		return;
	show_line(t->arena, at, &line);
	while (line.text.len && line.text.s[line.text.len - 1] == ' ' &&
	       line.text.len > line.caret + line.width)
		line.text.s[--line.text.len] = '\0';
	hr_text_add(t, "%5u | %s\n", at->line, line.text.s);
	hr_text_puts(t, "      | ");
	hr_text_fill(t, ' ', line.caret);
	hr_text_puts(t, style(color, green));
	hr_text_fill(t, '^', 1);
	hr_text_fill(t, '~', line.width - 1);
	hr_text_add(t, "%s\n", style(color, plain));
}

static void
add_place(struct hr_text *t, const struct hr_span *at)
{
	if (at->file && at->line)
		hr_text_add(t, "%s:%u:%u: ", at->file->name, at->line, at->col);
	else if (at->file)
		hr_text_add(t, "%s: ", at->file->name);
}

static void
add_diag(struct hr_text *t, const struct hr_diag *d, bool color)
{
	bool is_error = d->severity == HR_ERROR;

	add_place(t, &d->at);
	hr_text_add(t, "%s%s[%c%03u]%s: %s\n", style(color, is_error ? red : yellow),
		    is_error ? "error" : "warning", is_error ? 'E' : 'W', d->code,
		    style(color, plain), d->text);
	add_excerpt(t, &d->at, color);
	for (const struct hr_note *n = d->notes; n; n = n->next) {
		add_place(t, &n->at);
		hr_text_add(t, "note: %s\n", n->text);
		add_excerpt(t, &n->at, color);
	}
	for (const struct hr_note *n = d->helps; n; n = n->next)
		hr_text_add(t, "%shelp:%s %s\n", style(color, green), style(color, plain), n->text);
}

static const char *
plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

char *
hr_diags_text(struct hr_diags *d, struct hr_arena *a, bool color)
{
	uint32_t shown[2] = { 0, 0 };
	struct hr_text t;

	hr_diags_sort(d);
	hr_text_init(&t, a);
	for (const struct hr_diag *i = d->first; i; i = i->next)
		if (shown[i->severity]++ < HR_DIAGS_SHOWN)
			add_diag(&t, i, color);
	if (d->n_warnings > HR_DIAGS_SHOWN)
		hr_text_add(&t, "and %u more warning%s\n", d->n_warnings - HR_DIAGS_SHOWN,
			    plural(d->n_warnings - HR_DIAGS_SHOWN));
	if (d->n_errors > HR_DIAGS_SHOWN)
		hr_text_add(&t, "and %u more error%s\n", d->n_errors - HR_DIAGS_SHOWN,
			    plural(d->n_errors - HR_DIAGS_SHOWN));
	if (d->n_errors)
		hr_text_add(&t, "%u error%s; nothing was started\n", d->n_errors,
			    plural(d->n_errors));
	return t.s;
}

const char *
hr_span_text(struct hr_arena *a, struct hr_span at)
{
	if (!at.file || !at.line)
		return at.file ? at.file->name : "";
	return hr_printf(a, "%s:%u:%u", at.file->name, at.line, at.col);
}

/* The last step that starts at or before the place, or NULL. */
static const struct hr_path_step *
find_step(const struct hr_paths *p, struct hr_span at)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct hr_path_step *s = &p->step[mid];

		if (s->line < at.line || (s->line == at.line && s->col <= at.col))
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &p->step[low - 1] : NULL;
}

static void
add_path(struct hr_text *t, const struct hr_paths *p, const struct hr_path_step *s)
{
	if (s->parent != UINT32_MAX)
		add_path(t, p, &p->step[s->parent]);
	if (t->len)
		hr_text_puts(t, ".");
	if (s->key)
		hr_text_puts(t, s->key);
	else
		hr_text_add(t, "%u", s->item);
}

const char *
hr_span_path(struct hr_arena *a, struct hr_span at)
{
	if (!at.file || !at.line || !at.file->paths)
		return "";
	const struct hr_path_step *s = find_step(at.file->paths, at);
	struct hr_text t;

	hr_text_init(&t, a);
	if (s)
		add_path(&t, at.file->paths, s);
	return t.s;
}

static void
add_json_place(cJSON *o, const struct hr_span *at)
{
	if (at->file)
		hr_json_add_text(o, "file", at->file->name);
	else
		cJSON_AddNullToObject(o, "file");
	hr_json_add_int(o, "line", at->line);
	hr_json_add_int(o, "col", at->col);
}

static cJSON *
diag_json(struct hr_arena *a, const struct hr_diag *d)
{
	cJSON *o = cJSON_CreateObject();
	char code[16];

	(void)snprintf(code, sizeof(code), "%c%03u", d->severity == HR_ERROR ? 'E' : 'W', d->code);
	cJSON_AddStringToObject(o, "code", code);
	cJSON_AddStringToObject(o, "severity", d->severity == HR_ERROR ? "error" : "warning");
	add_json_place(o, &d->at);
	hr_json_add_text(o, "path", hr_span_path(a, d->at));
	hr_json_add_text(o, "message", d->text);
	cJSON *notes = cJSON_AddArrayToObject(o, "notes");

	for (const struct hr_note *n = d->notes; n; n = n->next) {
		cJSON *note = cJSON_CreateObject();

		add_json_place(note, &n->at);
		hr_json_add_text(note, "message", n->text);
		cJSON_AddItemToArray(notes, note);
	}
	cJSON *help = cJSON_AddArrayToObject(o, "help");

	for (const struct hr_note *n = d->helps; n; n = n->next)
		cJSON_AddItemToArray(help, hr_json_string(n->text));
	return o;
}

char *
hr_diags_json(struct hr_diags *d, struct hr_arena *a)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(o, "diagnostics");

	hr_diags_sort(d);
	for (const struct hr_diag *i = d->first; i; i = i->next)
		cJSON_AddItemToArray(list, diag_json(a, i));
	hr_json_add_int(o, "errors", d->n_errors);
	hr_json_add_int(o, "warnings", d->n_warnings);
	return hr_json_text(a, o, true);
}
