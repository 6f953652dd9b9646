/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - the suffixes of each type and how values are spelled.
 */
#ifndef HR_UNITS_H
#define HR_UNITS_H

#include "model/value.h"

struct hr_unit {
	enum hr_type type;
	uint32_t reserved;
	const char *suffix;
	double factor; /* to bytes, nanoseconds, hertz, ones: exact in a double */
};

/* The unit of a type with this suffix, or NULL. */
const struct hr_unit *hr_unit_find(enum hr_type type, const char *suffix, size_t len);
/* The unit with this suffix, of whatever type, or NULL: for literals in expressions. */
const struct hr_unit *hr_unit_any(const char *suffix, size_t len);
/* "ns us ms s min": for messages. */
const char *hr_unit_list(struct hr_arena *a, enum hr_type type);

#endif
