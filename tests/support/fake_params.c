/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters by name for the fake host.  Reads defaults as tables write them,
 * with the suffixes that occur in tables; it checks no ranges: a test may ask
 * an op for what the real host refuses.
 */
#include <string.h>

#include "fake_internal.h"

static const struct {
	const char *suffix;
	double factor;
} suffixes[] = {
	{ "", 1 },    { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 },
	{ "B", 1 },   { "ns", 1 },     { "us", 1e3 },      { "ms", 1e6 },
	{ "s", 1e9 }, { "Hz", 1 },     { "kHz", 1e3 },     { "MHz", 1e6 },
};

static const struct hop_param *
param_named(const struct hop_op *op, const char *name)
{
	for (uint32_t i = 0; i < op->params.count; i++) {
		const struct hop_param *p =
			(const void *)((const char *)op->params.at + (size_t)i * op->params.stride);

		if (!strcmp(p->name, name))
			return p;
	}
	BROKEN("%s has no parameter %s", op->name, name);
}

static void
store(const struct hop_param *p, void *params, const void *value, size_t bytes)
{
	if (bytes != p->width)
		BROKEN("parameter %s is %u bytes wide", p->name, p->width);
	memcpy((char *)params + p->offset, value, bytes);
}

static double
number(const struct hop_param *p)
{
	char *end;
	double x = strtod(p->def, &end);

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
		if (!strcmp(end, suffixes[i].suffix))
			return x * suffixes[i].factor;
	BROKEN("parameter %s: cannot read its default %s", p->name, p->def);
}

void
fh_set_int(const struct hop_op *op, void *params, const char *name, int64_t value)
{
	const struct hop_param *p = param_named(op, name);
	uint8_t flag = value != 0;

	if (p->type == HOP_P_BOOL)
		store(p, params, &flag, sizeof flag);
	else if (p->type == HOP_P_INT || p->type == HOP_P_SIZE || p->type == HOP_P_TIME)
		store(p, params, &value, sizeof value);
	else
		BROKEN("parameter %s is no integer", name);
}

void
fh_set_real(const struct hop_op *op, void *params, const char *name, double value)
{
	const struct hop_param *p = param_named(op, name);

	if (p->type != HOP_P_REAL && p->type != HOP_P_RATE)
		BROKEN("parameter %s is no real", name);
	store(p, params, &value, sizeof value);
}

void
fh_set_text(const struct hop_op *op, void *params, const char *name, const char *value)
{
	const struct hop_param *p = param_named(op, name);

	if (p->type != HOP_P_TEXT && p->type != HOP_P_PATH)
		BROKEN("parameter %s is no text", name);
	store(p, params, &value, sizeof value);
}

void
fh_set_choice(const struct hop_op *op, void *params, const char *name, const char *value)
{
	const struct hop_param *p = param_named(op, name);

	for (int32_t i = 0; p->type == HOP_P_CHOICE && p->choices[i]; i++)
		if (!strcmp(p->choices[i], value)) {
			store(p, params, &i, sizeof i);
			return;
		}
	BROKEN("parameter %s has no choice %s", name, value);
}

static void
set_default(const struct hop_op *op, void *params, const struct hop_param *p)
{
	switch (p->type) {
	case HOP_P_BOOL:
		fh_set_int(op, params, p->name, !strcmp(p->def, "true"));
		break;
	case HOP_P_INT:
	case HOP_P_SIZE:
	case HOP_P_TIME:
		fh_set_int(op, params, p->name, (int64_t)number(p));
		break;
	case HOP_P_REAL:
	case HOP_P_RATE:
		fh_set_real(op, params, p->name, number(p));
		break;
	case HOP_P_CHOICE:
		fh_set_choice(op, params, p->name, p->def);
		break;
	case HOP_P_TEXT:
	case HOP_P_PATH:
		fh_set_text(op, params, p->name, p->def);
		break;
	default:
		BROKEN("parameter %s: no default of type %u", p->name, p->type);
	}
}

void *
fh_params(const struct hop_op *op)
{
	void *params = fh_need(calloc(1, op->params_size ? op->params_size : 1));

	for (uint32_t i = 0; i < op->params.count; i++) {
		const struct hop_param *p =
			(const void *)((const char *)op->params.at + (size_t)i * op->params.stride);

		if (p->def)
			set_default(op, params, p);
	}
	return params;
}
