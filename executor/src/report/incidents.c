// SPDX-License-Identifier: Apache-2.0
/*
 * incidents.c - what went wrong in a run: the first cause on the first line, its
 * consequences indented below.
 */
#include "base/text.h"
#include "report/report.h"

enum { SHOWN = 20 };

static void
add_line(struct hr_text *t, const struct hr_incident *i, bool first, bool bad)
{
	if (!first)
		hr_text_puts(t, "    ");
	if (i->at.line)
		hr_text_add(t, "%s: ", hr_span_text(t->arena, i->at));
	hr_text_add(t, "%s%s\n", first ? (bad ? "error: " : "note: ") : "then: ", i->text);
}

char *
hr_report_incidents(struct hr_arena *a, const struct hr_report *r)
{
	const struct hr_incident *first = r->outcome->first;
	struct hr_text t;
	unsigned n = 0;

	if (!first)
		return NULL;
	hr_text_init(&t, a);
	for (const struct hr_incident *i = first; i; i = i->next)
		if (n++ < SHOWN)
			add_line(&t, i, i == first, r->outcome->exit_code != 0);
	if (n > SHOWN)
		hr_text_add(&t, "    and %u more\n", n - SHOWN);
	return t.s;
}
