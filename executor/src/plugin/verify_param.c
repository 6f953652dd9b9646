/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_param.c - checks what the host will believe of parameters: where the
 * members lie, that defaults can be read and stand inside their own ranges.
 */
#include <string.h>

#include "plugin/param.h"
#include "plugin/verify_param.h"

enum { MAX_NAME = 64, MAX_PARAMS_SIZE = 1 << 20, MAX_CHOICES = 256 };

bool
hr_is_name(const char *s)
{
	static const char inside[] = "0123456789-"
				     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char *const first = inside + 11;
	size_t n = s ? strlen(s) : 0;

	return n && n <= MAX_NAME && strchr(first, *s) && strspn(s, inside) == n;
}

static const char *
check_place(struct hr_arena *a, const struct hop_op *op, const struct hop_param *p)
{
	uint32_t width = hr_param_type[p->type].width;
	uint32_t align = width < 8 ? width : 8;

	if (p->width != width)
		return hr_printf(a, "parameter '%s' is %u bytes wide; type %s takes %u", p->name,
				 p->width, hr_param_type[p->type].name, width);
	if (p->offset % align)
		return hr_printf(a,
				 "parameter '%s' stands at offset %u, which is not aligned to "
				 "%u",
				 p->name, p->offset, align);
	if (p->offset > op->params_size || width > op->params_size - p->offset)
		return hr_printf(a, "parameter '%s' ends at byte %llu, but params_size is %u",
				 p->name, (unsigned long long)p->offset + width, op->params_size);
	for (const struct hop_param *q = op->params.at; q < p; q++)
		if (q->offset < p->offset + p->width && p->offset < q->offset + q->width)
			return hr_printf(a, "parameters '%s' and '%s' overlap", q->name, p->name);
	return NULL;
}

static const char *
check_choices(struct hr_arena *a, const struct hop_param *p)
{
	uint32_t n = 0;

	if (p->type != HOP_P_CHOICE)
		return p->choices
			       ? hr_printf(a,
					   "parameter '%s' has choices, which type %s cannot have",
					   p->name, hr_param_type[p->type].name)
			       : NULL;
	while (p->choices && n < MAX_CHOICES && p->choices[n]) {
		for (uint32_t i = 0; i < n; i++)
			if (!strcmp(p->choices[i], p->choices[n]))
				return hr_printf(a, "parameter '%s' lists the choice '%s' twice",
						 p->name, p->choices[n]);
		n++;
	}
	if (!n || n == MAX_CHOICES)
		return hr_printf(a, "parameter '%s' needs 1 to %d choices", p->name,
				 MAX_CHOICES - 1);
	return NULL;
}

static const char *
check_range(struct hr_arena *a, const struct hop_param *p)
{
	enum hr_type type = hr_param_type[p->type].as;
	const char *const text[2] = { p->min, p->max };
	struct hr_value limit[2];
	const char *why;

	for (int i = 0; i < 2; i++) {
		const struct hr_value v = { .type = HR_T_TEXT, .text = text[i] };

		if (text[i] && !hr_param_type[p->type].ranged)
			return hr_printf(a, "parameter '%s' has a range, which type %s cannot have",
					 p->name, hr_param_type[p->type].name);
		if (text[i] && hr_value_convert(a, &v, type, &limit[i], &why))
			return hr_printf(a, "parameter '%s': its %s cannot be read: %s", p->name,
					 i ? "maximum" : "minimum", why);
	}
	if (text[0] && text[1] && hr_value_compare(&limit[0], &limit[1]) > 0)
		return hr_printf(a, "parameter '%s': its minimum %s is above its maximum %s",
				 p->name, text[0], text[1]);
	return NULL;
}

static const char *
check_default(struct hr_arena *a, const struct hop_op *op, const struct hop_param *p)
{
	struct hr_param_in in;
	struct hr_param_bad bad;

	if (!p->def)
		return NULL;
	in = hr_param_default(a, p);
	if (hr_param_store(a, op->name, p, &in, hr_alloc(a, op->params_size), &bad))
		return NULL;
	return hr_printf(a, "the default of parameter %s", bad.why);
}

static const char *
check_param(struct hr_arena *a, const struct hop_op *op, const struct hop_param *p)
{
	const char *why;

	if (!hr_is_name(p->name))
		return hr_printf(a,
				 "parameter number %u has the name '%s', which no graph can "
				 "write",
				 (uint32_t)(p - op->params.at), p->name ? p->name : "");
	if (!p->doc || !*p->doc)
		return hr_printf(a, "parameter '%s' has no doc", p->name);
	if (p->type >= HR_N_PARAM_TYPES)
		return hr_printf(a, "parameter '%s' has the unknown type %u", p->name, p->type);
	if (p->flags & ~(uint32_t)HOP_PARAM_LIVE)
		return hr_printf(a, "parameter '%s' has unknown flag bits 0x%x", p->name,
				 p->flags & ~(uint32_t)HOP_PARAM_LIVE);
	for (const struct hop_param *q = op->params.at; q < p; q++)
		if (!strcmp(q->name, p->name))
			return hr_printf(a, "two parameters are called '%s'", p->name);
	why = check_place(a, op, p);
	if (!why)
		why = check_choices(a, p);
	if (!why)
		why = check_range(a, p);
	return why ? why : check_default(a, op, p);
}

const char *
hr_verify_params(struct hr_arena *a, const struct hop_op *op)
{
	const char *why = NULL;

	if (op->params_size > MAX_PARAMS_SIZE)
		return hr_printf(a, "params_size is %u; the limit is %d", op->params_size,
				 MAX_PARAMS_SIZE);
	for (uint32_t i = 0; i < op->params.count && !why; i++)
		why = check_param(a, op, &op->params.at[i]);
	return why;
}
