/* SPDX-License-Identifier: Apache-2.0 */
/*
 * param.c - converts, checks and stores one parameter.  See param.h.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "plugin/find.h"
#include "plugin/param.h"

const struct hr_param_type hr_param_type[HR_N_PARAM_TYPES] = {
	[HOP_P_BOOL] = { "bool", HR_T_BOOL, 1, false },
	[HOP_P_INT] = { "int", HR_T_INT, 8, true },
	[HOP_P_REAL] = { "float", HR_T_FLOAT, 8, true },
	[HOP_P_SIZE] = { "size", HR_T_SIZE, 8, true },
	[HOP_P_TIME] = { "duration", HR_T_DURATION, 8, true },
	[HOP_P_RATE] = { "rate", HR_T_RATE, 8, true },
	[HOP_P_CHOICE] = { "choice", HR_T_STRING, 4, false },
	[HOP_P_TEXT] = { "text", HR_T_STRING, sizeof(char *), false },
	[HOP_P_PATH] = { "path", HR_T_STRING, sizeof(char *), false },
	[HOP_P_REALS] = { "list of floats", HR_T_FLOAT, sizeof(struct hop_reals), true },
};

uint32_t
hr_param_n_choices(const struct hop_param *p)
{
	uint32_t n = 0;

	while (p->choices && p->choices[n])
		n++;
	return n;
}

static bool
refuse(struct hr_param_bad *bad, uint32_t code, const struct hr_value *v, const char *why)
{
	bad->code = code;
	bad->at = v->at;
	bad->from = v->from;
	bad->why = why;
	return false;
}

static bool
in_range(struct hr_arena *a, const char *op, const struct hop_param *p, const struct hr_value *v,
	 struct hr_param_bad *bad)
{
	const char *const text[2] = { p->min, p->max };
	static const char *const words[2] = { "below the minimum", "above the maximum" };
	enum hr_type type = hr_param_type[p->type].as;

	if (type == HR_T_FLOAT || type == HR_T_RATE)
		if (!isfinite(v->f))
			return refuse(bad, 209, v,
				      hr_printf(a, "%s: %s is no finite number", p->name,
						hr_value_text(a, v)));
	for (int i = 0; i < 2; i++) {
		const struct hr_value written = { .type = HR_T_TEXT, .text = text[i] };
		struct hr_value limit;
		const char *why;

		if (!text[i] || hr_value_convert(a, &written, type, &limit, &why))
			continue;
		if (hr_value_compare(v, &limit) != (i ? 1 : -1))
			continue;
		return refuse(bad, 209, v,
			      hr_printf(a, "%s: %s is %s %s of %s", p->name, hr_value_text(a, v),
					words[i], text[i], op));
	}
	return true;
}

static bool
convert(struct hr_arena *a, const char *op, const struct hop_param *p, const struct hr_value *v,
	struct hr_value *out, struct hr_param_bad *bad)
{
	const char *why = NULL;

	if (hr_value_convert(a, v, hr_param_type[p->type].as, out, &why))
		return refuse(bad, 207, v, hr_printf(a, "%s: %s", p->name, why));
	out->at = v->at;
	out->from = v->from;
	return !hr_param_type[p->type].ranged || in_range(a, op, p, out, bad);
}

static bool
store_choice(struct hr_arena *a, const char *op, const struct hop_param *p,
	     const struct hr_value *v, void *dst, struct hr_param_bad *bad)
{
	uint32_t n = hr_param_n_choices(p);

	for (uint32_t i = 0; i < n; i++) {
		int32_t index = (int32_t)i;

		if (strcmp(p->choices[i], v->text) != 0)
			continue;
		memcpy(dst, &index, sizeof index);
		return true;
	}
	bad->got = v->text;
	return refuse(bad, 208, v, hr_printf(a, "%s: %s has no choice '%s'", p->name, op, v->text));
}

/* A relative path starts where the text that wrote it lies: beside the graph, or for -k the folder
 * the user is in.  "" stays: it means no file. */
static const char *
absolute(struct hr_arena *a, const struct hr_value *v, const char *dir)
{
	const struct hr_file *file = v->from.line ? v->from.file : v->at.file;

	if (!*v->text || *v->text == '/')
		return hr_strdup(a, v->text);
	if (file && file->dir)
		dir = file->dir;
	if (dir && *dir != '/') /* "." of the command line */
		dir = hr_real_path(a, dir);
	return dir ? hr_printf(a, "%s/%s", dir, v->text) : hr_strdup(a, v->text);
}

static bool
store_reals(struct hr_arena *a, const char *op, const struct hop_param *p,
	    const struct hr_param_in *in, void *dst, struct hr_param_bad *bad)
{
	struct hop_reals reals = { .count = in->n };
	double *at = HR_ARRAY(a, in->n ? in->n : 1, double);

	for (uint32_t i = 0; i < in->n; i++) {
		struct hr_value v;

		if (!convert(a, op, p, &in->at[i], &v, bad))
			return false;
		at[i] = v.f;
	}
	reals.at = at;
	memcpy(dst, &reals, sizeof reals);
	return true;
}

static void
store_scalar(struct hr_arena *a, const struct hop_param *p, const struct hr_value *v,
	     const char *dir, void *dst)
{
	uint8_t flag = v->i != 0;
	const char *text;

	switch (p->type) {
	case HOP_P_BOOL:
		memcpy(dst, &flag, sizeof flag);
		break;
	case HOP_P_INT:
	case HOP_P_SIZE:
	case HOP_P_TIME:
		memcpy(dst, &v->i, sizeof v->i);
		break;
	case HOP_P_REAL:
	case HOP_P_RATE:
		memcpy(dst, &v->f, sizeof v->f);
		break;
	default:
		text = p->type == HOP_P_PATH ? absolute(a, v, dir) : hr_strdup(a, v->text);
		memcpy(dst, &text, sizeof text);
		break;
	}
}

bool
hr_param_store(struct hr_arena *a, const char *op, const struct hop_param *p,
	       const struct hr_param_in *in, void *params, struct hr_param_bad *bad)
{
	char *dst = (char *)params + p->offset;
	struct hr_value v;

	*bad = (struct hr_param_bad){ 0 };
	if (p->type == HOP_P_REALS)
		return store_reals(a, op, p, in, dst, bad);
	if (in->is_list) {
		bad->why = hr_printf(a, "%s: one %s is wanted, not a list", p->name,
				     hr_param_type[p->type].name);
		bad->code = 205;
		if (in->n)
			bad->at = in->at[0].at;
		return false;
	}
	if (!convert(a, op, p, &in->at[0], &v, bad))
		return false;
	if (p->type == HOP_P_CHOICE)
		return store_choice(a, op, p, &v, dst, bad);
	store_scalar(a, p, &v, in->dir, dst);
	return true;
}

/* "[1, 2.5]" or "1": the items between commas. */
static struct hr_param_in
default_list(struct hr_arena *a, const char *text)
{
	struct hr_param_in in = { .is_list = true };
	struct hr_value *at = NULL;
	size_t cap = 0, n = 0;

	for (const char *s = text; *s;) {
		size_t skip = strspn(s, "[], \t");
		size_t len;
		struct hr_value *v;

		s += skip;
		len = strcspn(s, "], \t");
		if (!len)
			break;
		v = HR_PUSH(a, at, n, cap);
		*v = (struct hr_value){ .type = HR_T_TEXT, .text = hr_strndup(a, s, len) };
		s += len;
	}
	in.at = at;
	in.n = (uint32_t)n;
	return in;
}

struct hr_param_in
hr_param_default(struct hr_arena *a, const struct hop_param *p)
{
	struct hr_value *v = HR_NEW(a, struct hr_value);

	if (p->type == HOP_P_REALS)
		return default_list(a, p->def);
	v->type = HR_T_TEXT;
	v->text = p->def;
	return (struct hr_param_in){ .at = v, .n = 1 };
}
