/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twins.c - compares two ops row by row.  See twins.h.
 */
#include <stdbool.h>
#include <string.h>

#include "plugin/twins.h"

static bool
same_text(const char *x, const char *y)
{
	return x == y || (x && y && !strcmp(x, y));
}

static const char *
or_none(const char *s)
{
	return s ? s : "none";
}

static const char *
differ(struct hr_arena *a, const char *what, const char *x, const char *y)
{
	if (same_text(x, y))
		return NULL;
	return hr_printf(a, "%s is %s on cpu, %s on cuda", what, or_none(x), or_none(y));
}

static const char *
number(struct hr_arena *a, uint32_t n)
{
	return hr_printf(a, "%u", n);
}

static const char *
differ_number(struct hr_arena *a, const char *what, uint32_t x, uint32_t y)
{
	return x == y ? NULL : differ(a, what, number(a, x), number(a, y));
}

static const char *
port_differs(struct hr_arena *a, uint32_t i, const struct hop_port *x, const struct hop_port *y)
{
	const char *why = differ(a, hr_printf(a, "the name of port %u", i), x->name, y->name);

	if (!why)
		why = differ_number(a, hr_printf(a, "the direction of port '%s'", x->name), x->dir,
				    y->dir);
	if (!why)
		why = differ_number(a, hr_printf(a, "the flags of port '%s'", x->name), x->flags,
				    y->flags);
	return why;
}

static const char *
choices_differ(struct hr_arena *a, const struct hop_param *x, const struct hop_param *y)
{
	const char *what = hr_printf(a, "a choice of parameter '%s'", x->name);

	for (uint32_t i = 0; x->choices && y->choices; i++) {
		const char *why = differ(a, what, x->choices[i], y->choices[i]);

		if (why)
			return why;
		if (!x->choices[i])
			break;
	}
	return NULL;
}

static const char *
param_differs(struct hr_arena *a, uint32_t i, const struct hop_param *x, const struct hop_param *y)
{
	const char *const xs[] = { x->def, x->min, x->max, x->unit };
	const char *const ys[] = { y->def, y->min, y->max, y->unit };
	static const char *const names[] = { "default", "minimum", "maximum", "unit" };
	const char *why = differ(a, hr_printf(a, "the name of parameter %u", i), x->name, y->name);

	if (!why)
		why = differ_number(a, hr_printf(a, "the type of parameter '%s'", x->name), x->type,
				    y->type);
	if (!why)
		why = differ_number(a, hr_printf(a, "the flags of parameter '%s'", x->name),
				    x->flags, y->flags);
	for (int k = 0; k < 4 && !why; k++)
		why = differ(a, hr_printf(a, "the %s of parameter '%s'", names[k], x->name), xs[k],
			     ys[k]);
	return why ? why : choices_differ(a, x, y);
}

const char *
hr_twins_differ(struct hr_arena *a, const struct hop_op *cpu, const struct hop_op *cuda)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < cpu->ports.count && i < cuda->ports.count && !why; i++)
		why = port_differs(a, i, &cpu->ports.at[i], &cuda->ports.at[i]);
	if (!why)
		why = differ_number(a, "the number of ports", cpu->ports.count, cuda->ports.count);
	for (uint32_t i = 0; i < cpu->params.count && i < cuda->params.count && !why; i++)
		why = param_differs(a, i, &cpu->params.at[i], &cuda->params.at[i]);
	if (!why)
		why = differ_number(a, "the number of parameters", cpu->params.count,
				    cuda->params.count);
	return why;
}
