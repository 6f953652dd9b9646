// SPDX-License-Identifier: Apache-2.0
/*
 * cpus.c - a small scanner over a CPU list that keeps the offset of each number.
 *
 * A list that came from a YAML sequence may carry brackets and blanks.  A
 * number the machine does not have ends the scan, so "0-4294967295" costs
 * nothing.
 */
#include "plan/cpus.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

#define NO_NUMBER UINT32_MAX

struct scan {
	struct hr_arena *arena;
	const struct hr_machine *machine;
	const char *who;
	const struct hr_name *text;
	struct hr_diags *diags;
	const char *at;
	bool relative;
	struct hr_cpu_list *out;
	size_t cap;
};

/* The file's text from a place on, or NULL. */
static const char *
text_at(struct hr_span at)
{
	const char *s = at.file && at.line ? at.file->text : NULL;
	uint32_t code;

	for (uint32_t line = 1; s && line < at.line; line++) {
		s = strchr(s, '\n');
		if (s)
			s++;
	}
	for (uint32_t col = 1; s && col < at.col; col++) {
		size_t n = hr_utf8_next(s, strlen(s), &code);

		if (*s == 0 || *s == '\n')
			return NULL;
		s += n ? n : 1;
	}
	return s;
}

/* Underline [from, at) of the list if the file shows it as it is; a knob's name or a YAML list is
 * underlined whole. */
static struct hr_span
span_from(const struct scan *s, const char *from)
{
	struct hr_span span = s->text->at;
	const char *shown = text_at(span);
	uint32_t skip = shown && (*shown == '"' || *shown == '\'') ? 1 : 0;

	if (!shown || strncmp(shown + skip, s->text->text, strlen(s->text->text)) != 0)
		return span;
	span.col += skip + (uint32_t)(from - s->text->text);
	span.len = s->at > from ? (uint32_t)(s->at - from) : 1;
	return span;
}

static void
skip_blanks(struct scan *s)
{
	while (*s->at == ' ' || *s->at == '[' || *s->at == ']')
		s->at++;
}

static int
refuse_text(const struct scan *s, const char *from, const char *wanted)
{
	struct hr_diag *e = hr_error(s->diags, span_from(s, from), 260, "%s: cpus '%s': %s", s->who,
				     s->text->text, wanted);

	hr_help(e, "write numbers and ranges (2-3,6), or count inside the allowed CPUs (rel:0-1, "
		   "rel:all)");
	return -1;
}

/* A decimal number, NO_NUMBER - 1 at most; NO_NUMBER when there is none. */
static uint32_t
scan_number(struct scan *s)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)*s->at))
		return NO_NUMBER;
	for (; isdigit((unsigned char)*s->at); s->at++)
		value = value * 10 + (uint64_t)(*s->at - '0') >= NO_NUMBER
				? NO_NUMBER - 1
				: value * 10 + (uint64_t)(*s->at - '0');
	return (uint32_t)value;
}

/* The allowed CPU with this position among the allowed, or NULL. */
static const struct hr_cpu *
nth_allowed(const struct hr_machine *m, uint32_t nth)
{
	for (uint32_t i = 0; i < m->n_cpus; i++)
		if (m->cpu[i].allowed && nth-- == 0)
			return &m->cpu[i];
	return NULL;
}

static int
add_cpu(struct scan *s, const char *from, uint32_t number)
{
	const struct hr_machine *m = s->machine;
	const struct hr_cpu *cpu = s->relative ? nth_allowed(m, number) : hr_machine_cpu(m, number);

	if (!cpu || !cpu->allowed) {
		struct hr_diag *e = hr_error(
			s->diags, span_from(s, from), 310, "%s asks for CPU %s%u; allowed here: %s",
			s->who, s->relative ? "rel:" : "", number, hr_cpus_allowed(s->arena, m));

		if (cpu)
			hr_help(e,
				"CPU %u exists, but this process may not run there (affinity or "
				"cpuset)",
				number);
		return -1;
	}
	for (uint32_t i = 0; i < s->out->n; i++)
		if (s->out->os[i] == cpu->os) {
			hr_error(s->diags, span_from(s, from), 261, "%s: CPU %s%u listed twice",
				 s->who, s->relative ? "rel:" : "", number);
			return -1;
		}
	*HR_PUSH(s->arena, s->out->os, s->out->n, s->cap) = cpu->os;
	return 0;
}

static int
add_all_allowed(struct scan *s, const char *from)
{
	for (uint32_t i = 0; i < s->machine->n_allowed; i++)
		if (add_cpu(s, from, i) < 0)
			return -1;
	return 0;
}

/* One item between commas: "3", "2-5", each with or without "rel:"; "rel:all". */
static int
scan_item(struct scan *s)
{
	const char *from = s->at;

	if (strncmp(s->at, "rel:", 4) == 0) {
		s->relative = true;
		s->at += 4;
		skip_blanks(s);
		if (strncmp(s->at, "all", 3) == 0) {
			s->at += 3;
			return add_all_allowed(s, from);
		}
	}
	const char *digits = s->at;
	uint32_t lo = scan_number(s);
	uint32_t hi = lo;

	if (lo == NO_NUMBER)
		return refuse_text(s, s->at,
				   *s->at ? "a number is wanted here"
					  : "a number is missing at the end");
	if (*s->at == '-') {
		s->at++;
		hi = scan_number(s);
		if (hi == NO_NUMBER)
			return refuse_text(s, from, "a range needs a number on both sides of '-'");
	}
	if (hi < lo)
		return refuse_text(s, from, "a range runs from the smaller to the larger number");
	for (uint32_t n = lo; n <= hi; n++)
		if (add_cpu(s, digits, n) < 0)
			return -1;
	return 0;
}

int
hr_cpus_parse(struct hr_arena *a, const struct hr_machine *m, const char *who,
	      const struct hr_name *text, struct hr_cpu_list *out, struct hr_diags *d)
{
	struct scan s = { .arena = a,
			  .machine = m,
			  .who = who,
			  .text = text,
			  .diags = d,
			  .at = text->text,
			  .out = out };

	*out = (struct hr_cpu_list){ 0 };
	for (;;) {
		skip_blanks(&s);
		if (scan_item(&s) < 0)
			return -1;
		skip_blanks(&s);
		if (!*s.at)
			return 0;
		if (*s.at != ',')
			return refuse_text(&s, s.at, "a comma is wanted between numbers");
		s.at++;
	}
}

const char *
hr_cpus_allowed(struct hr_arena *a, const struct hr_machine *m)
{
	struct hr_text t;

	hr_text_init(&t, a);
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		uint32_t last = i;

		if (!m->cpu[i].allowed)
			continue;
		while (last + 1 < m->n_cpus && m->cpu[last + 1].allowed &&
		       m->cpu[last + 1].os == m->cpu[last].os + 1)
			last++;
		hr_text_add(&t, t.len ? ",%u" : "%u", m->cpu[i].os);
		if (last > i)
			hr_text_add(&t, "-%u", m->cpu[last].os);
		i = last;
	}
	return t.s;
}
