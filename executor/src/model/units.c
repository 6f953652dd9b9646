// SPDX-License-Identifier: Apache-2.0
/*
 * units.c - one table of suffixes; values spelled in the largest unit that fits exactly.
 */
#include "model/units.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

/* Ascending within a type; bare numbers have the first. */
static const struct hr_unit units[] = {
	{ HR_T_INT, 0, "", 1 },
	{ HR_T_INT, 0, "k", 1e3 },
	{ HR_T_INT, 0, "M", 1e6 },
	{ HR_T_INT, 0, "G", 1e9 },
	{ HR_T_SIZE, 0, "", 1 },
	{ HR_T_SIZE, 0, "B", 1 },
	{ HR_T_SIZE, 0, "kB", 1e3 },
	{ HR_T_SIZE, 0, "KiB", 1024 },
	{ HR_T_SIZE, 0, "MB", 1e6 },
	{ HR_T_SIZE, 0, "MiB", 1048576 },
	{ HR_T_SIZE, 0, "GB", 1e9 },
	{ HR_T_SIZE, 0, "GiB", 1073741824 },
	{ HR_T_DURATION, 0, "ns", 1 },
	{ HR_T_DURATION, 0, "us", 1e3 },
	{ HR_T_DURATION, 0, "ms", 1e6 },
	{ HR_T_DURATION, 0, "s", 1e9 },
	{ HR_T_DURATION, 0, "min", 60e9 },
	{ HR_T_RATE, 0, "Hz", 1 },
	{ HR_T_RATE, 0, "kHz", 1e3 },
	{ HR_T_RATE, 0, "MHz", 1e6 },
	{ HR_T_RATE, 0, "GHz", 1e9 },
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

static bool
is_suffix(const struct hr_unit *u, const char *suffix, size_t len)
{
	return strlen(u->suffix) == len && !memcmp(u->suffix, suffix, len);
}

const struct hr_unit *
hr_unit_find(enum hr_type type, const char *suffix, size_t len)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (units[i].type == type && is_suffix(&units[i], suffix, len))
			return &units[i];
	return NULL;
}

const struct hr_unit *
hr_unit_any(const char *suffix, size_t len)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (is_suffix(&units[i], suffix, len))
			return &units[i];
	return NULL;
}

const char *
hr_unit_list(struct hr_arena *a, enum hr_type type)
{
	struct hr_text t;

	hr_text_init(&t, a);
	for (size_t i = 0; i < N_UNITS; i++)
		if (units[i].type == type && units[i].suffix[0])
			hr_text_add(&t, "%s%s", t.len ? " " : "", units[i].suffix);
	return t.s;
}

/* Decimal multiples of bytes are read, binary ones are written. */
static bool
is_written(const struct hr_unit *u)
{
	return u->suffix[0] && strcmp(u->suffix, "min") != 0 &&
	       (u->type != HR_T_SIZE || !strcmp(u->suffix, "B") || strstr(u->suffix, "iB"));
}

static const char *
whole_text(struct hr_arena *a, const struct hr_value *v)
{
	const struct hr_unit *best = NULL;

	for (size_t i = 0; i < N_UNITS; i++)
		if (units[i].type == v->type && is_written(&units[i]) &&
		    (!best || (v->i && v->i % (int64_t)units[i].factor == 0)))
			best = &units[i];
	return hr_printf(a, "%" PRId64 " %s", v->i / (int64_t)best->factor, best->suffix);
}

static const char *
rate_text(struct hr_arena *a, double hertz)
{
	const struct hr_unit *best = NULL;

	for (size_t i = 0; i < N_UNITS; i++)
		if (units[i].type == HR_T_RATE && (!best || hertz >= units[i].factor))
			best = &units[i];
	return hr_printf(a, "%s %s", hr_number_text(a, hertz / best->factor), best->suffix);
}

const char *
hr_value_text(struct hr_arena *a, const struct hr_value *v)
{
	switch (v->type) {
	case HR_T_BOOL:
		return v->i ? "true" : "false";
	case HR_T_INT:
		return hr_printf(a, "%" PRId64, v->i);
	case HR_T_FLOAT:
		return hr_number_text(a, v->f);
	case HR_T_SIZE:
	case HR_T_DURATION:
		return whole_text(a, v);
	case HR_T_RATE:
		return rate_text(a, v->f);
	default:
		return v->text ? v->text : "";
	}
}
