/* SPDX-License-Identifier: Apache-2.0 */
/*
 * param_put.h - fill an op's params struct by name, for tests that have its
 * table but not its struct.  put_defaults() reads the units that the project's
 * own plugins use in their defaults, no more; a wrong name or width aborts.
 */
#ifndef PARAM_PUT_H
#define PARAM_PUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <holorun/op.h>

enum { PUT_ROOM = 512 }; /* bytes; enough for each params struct here */

static inline void
put(const struct hop_op *op, void *params, const char *name, const void *value, size_t width)
{
	for (uint32_t i = 0; i < op->params.count; i++) {
		const struct hop_param *p = &op->params.at[i];

		if (strcmp(p->name, name))
			continue;
		if (p->width != width || p->offset + width > PUT_ROOM)
			break;
		memcpy((char *)params + p->offset, value, width);
		return;
	}
	fprintf(stderr, "%s: no parameter %s of %zu bytes\n", op->name, name, width);
	abort();
}

static inline void
put_int(const struct hop_op *op, void *params, const char *name, int64_t value)
{
	put(op, params, name, &value, sizeof value);
}

static inline void
put_real(const struct hop_op *op, void *params, const char *name, double value)
{
	put(op, params, name, &value, sizeof value);
}

static inline void
put_bool(const struct hop_op *op, void *params, const char *name, uint8_t value)
{
	put(op, params, name, &value, sizeof value);
}

static inline void
put_text(const struct hop_op *op, void *params, const char *name, const char *value)
{
	put(op, params, name, &value, sizeof value);
}

static inline double
put_unit(const char *unit)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = { { "", 1 },     { "B", 1 },    { "KiB", 1024 }, { "ns", 1 },
		      { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (!strcmp(units[i].name, unit))
			return units[i].factor;
	fprintf(stderr, "unknown unit %s\n", unit);
	abort();
}

static inline void
put_choice(const struct hop_op *op, void *params, const struct hop_param *p, const char *word)
{
	int32_t i = 0;

	while (p->choices[i] && strcmp(p->choices[i], word))
		i++;
	if (!p->choices[i])
		abort();
	put(op, params, p->name, &i, sizeof i);
}

static inline void
put_default(const struct hop_op *op, void *params, const struct hop_param *p)
{
	char *unit;
	double value = strtod(p->def, &unit);

	switch (p->type) {
	case HOP_P_TEXT:
	case HOP_P_PATH:
		put_text(op, params, p->name, p->def);
		break;
	case HOP_P_CHOICE:
		put_choice(op, params, p, p->def);
		break;
	case HOP_P_BOOL:
		put_bool(op, params, p->name, !strcmp(p->def, "true"));
		break;
	case HOP_P_REAL:
	case HOP_P_RATE:
		put_real(op, params, p->name, value * put_unit(unit));
		break;
	default:
		put_int(op, params, p->name, (int64_t)(value * put_unit(unit)));
	}
}

static inline void
put_defaults(const struct hop_op *op, void *params)
{
	memset(params, 0, PUT_ROOM);
	for (uint32_t i = 0; i < op->params.count; i++)
		if (op->params.at[i].def)
			put_default(op, params, &op->params.at[i]);
}

#endif /* PARAM_PUT_H */
