// SPDX-License-Identifier: Apache-2.0
/*
 * diag.c - collecting diagnostics: one per fault, sorted by place, with the nearest name.
 *
 * Keeps at most HR_DIAGS_KEPT of each severity and counts the rest, so that a
 * file with a million faults costs no more than one with two hundred.
 */
#include "base/diag.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag_codes.h"
#include "base/text.h"

void
hr_diags_init(struct hr_diags *d, struct hr_arena *a)
{
	*d = (struct hr_diags){ .arena = a };
}

static bool
is_same_place(struct hr_span a, struct hr_span b)
{
	return a.file == b.file && a.line == b.line && a.col == b.col;
}

static bool
is_known(const struct hr_diags *d, const struct hr_diag *new)
{
	if (!new->at.line)
		return false;
	for (const struct hr_diag *i = d->first; i; i = i->next)
		if (i->code == new->code &&
		    i->severity == new->severity &&is_same_place(i->at, new->at))
			return true;
	return false;
}

static void
count(struct hr_diags *d, enum hr_severity severity, uint32_t exit_code)
{
	if (severity == HR_WARNING) {
		d->n_warnings++;
		return;
	}
	d->n_errors++;
	if (!d->exit_code || exit_code < d->exit_code)
		d->exit_code = exit_code;
}

static struct hr_diag *
add(struct hr_diags *d, enum hr_severity severity, struct hr_span at, uint32_t code,
    const char *text)
{
	const struct hr_diag_code *known = hr_diag_code_find(code);
	struct hr_diag *new = HR_NEW(d->arena, struct hr_diag);

	assert(known && "every code is in diag_codes.c");
	*new = (struct hr_diag){
		.severity = severity, .code = code, .at = at, .text = text, .owner = d
	};
	if (is_known(d, new))
		return new;
	uint32_t before = severity == HR_ERROR ? d->n_errors : d->n_warnings;

	count(d, severity, known ? known->exit_code : 2);
	if (before >= HR_DIAGS_KEPT)
		return new;
	if (d->last)
		d->last->next = new;
	else
		d->first = new;
	d->last = new;
	d->n_kept++;
	return new;
}

struct hr_diag *
hr_error(struct hr_diags *d, struct hr_span at, uint32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *text = hr_vprintf(d->arena, fmt, ap);

	va_end(ap);
	return add(d, HR_ERROR, at, code, text);
}

struct hr_diag *
hr_warning(struct hr_diags *d, struct hr_span at, uint32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *text = hr_vprintf(d->arena, fmt, ap);

	va_end(ap);
	return add(d, HR_WARNING, at, code, text);
}

static void
append(struct hr_diag *d, struct hr_note **list, struct hr_span at, const char *text)
{
	struct hr_note *n = HR_NEW(d->owner->arena, struct hr_note);

	n->at = at;
	n->text = text;
	while (*list)
		list = &(*list)->next;
	*list = n;
}

void
hr_note(struct hr_diag *d, struct hr_span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(d, &d->notes, at, hr_vprintf(d->owner->arena, fmt, ap));
	va_end(ap);
}

void
hr_help(struct hr_diag *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(d, &d->helps, HR_NOWHERE, hr_vprintf(d->owner->arena, fmt, ap));
	va_end(ap);
}

/* Names longer than this are compared by folding only. */
enum { NAME_MAX_LEN = 64, NEAR = 2 };

static bool
is_equal_folded(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '-' || *a == '_')
			a++;
		while (*b == '-' || *b == '_')
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

static unsigned
min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions, replacements and swaps of neighbours; case does not count as a change of
 * its own beyond one. */
static unsigned
edit_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[3][NAME_MAX_LEN + 1];

	if (n > NAME_MAX_LEN || m > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *up = row[(i - 1) % 3], *upup = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned differs = a[i - 1] != b[j - 1];

			now[j] = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + differs);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    upup[j - 2] + 1 < now[j])
				now[j] = upup[j - 2] + 1;
		}
	}
	return row[n % 3][m];
}

const char *
hr_nearest(const char *got, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned least = NEAR + 1;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(names[i]);
		unsigned far = is_equal_folded(got, names[i]) ? 0 : edit_distance(got, names[i]);

		/* Two changes in a name of two letters leave nothing in common. */
		if (far < least && far < (len > strlen(got) ? len : strlen(got))) {
			least = far;
			best = names[i];
		}
	}
	return best;
}

void
hr_suggest(struct hr_diag *d, const char *got, const char *const *names, size_t n)
{
	enum { LIST_MAX = 12 };
	const char *best = hr_nearest(got, names, n);

	if (best)
		hr_help(d, "did you mean '%s'?", best);
	if (!n || n > LIST_MAX)
		return;
	struct hr_text list;

	hr_text_init(&list, d->owner->arena);
	for (size_t i = 0; i < n; i++)
		hr_text_add(&list, "%s%s", i ? ", " : "", names[i]);
	hr_help(d, "valid here: %s", list.s);
}

struct sort_item {
	struct hr_diag *diag;
	size_t seq;
};

/* Places in graph files first; what has no file, such as a bad option, is said last. */
static int
compare(const void *pa, const void *pb)
{
	const struct sort_item *x = pa, *y = pb;
	const struct hr_span *a = &x->diag->at, *b = &y->diag->at;

	if (!a->file != !b->file)
		return a->file ? -1 : 1;
	if (a->file && a->file != b->file) {
		if (a->file->order != b->file->order)
			return a->file->order < b->file->order ? -1 : 1;
		int by_name = strcmp(a->file->name, b->file->name);

		if (by_name)
			return by_name;
	}
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->col != b->col)
		return a->col < b->col ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

void
hr_diags_sort(struct hr_diags *d)
{
	struct sort_item *item = HR_ARRAY(d->arena, d->n_kept, struct sort_item);
	size_t n = 0;

	for (struct hr_diag *i = d->first; i; i = i->next, n++)
		item[n] = (struct sort_item){ i, n };
	qsort(item, n, sizeof(*item), compare);
	for (size_t i = 0; i < n; i++)
		item[i].diag->next = i + 1 < n ? item[i + 1].diag : NULL;
	d->first = n ? item[0].diag : NULL;
	d->last = n ? item[n - 1].diag : NULL;
}
