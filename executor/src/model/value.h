/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - typed values and how text becomes one.
 *
 * A value is text until a declaration (knob, parameter, schema) gives it a
 * type; a value that came from a knob or an expression already has one.  The
 * same conversion serves files, -k, presets and parameters, so that they cannot
 * differ.
 */
#ifndef HR_VALUE_H
#define HR_VALUE_H

#include "base/diag.h"

enum hr_type {
	HR_T_TEXT, /* not typed yet: as written */
	HR_T_BOOL,
	HR_T_INT,
	HR_T_FLOAT,
	HR_T_STRING,
	HR_T_SIZE,     /* bytes, in i */
	HR_T_DURATION, /* nanoseconds, in i */
	HR_T_RATE,     /* Hz, in f */
	HR_T_CPUS,     /* a CPU list, in text: "2-3,6", "rel:0-1", "rel:all" */
	HR_N_TYPES
};
extern const char *const hr_type_name[HR_N_TYPES]; /* "text", "bool", "int", "float", ... */

struct hr_value {
	enum hr_type type;
	uint32_t reserved;
	int64_t i;           /* BOOL 0/1, INT, SIZE, DURATION (its exact integer value) */
	double f;            /* FLOAT, RATE; also set for the integer types */
	const char *text;    /* TEXT, STRING, CPUS; for others: canonical spelling */
	struct hr_span at;   /* where the reader sees it used */
	struct hr_span from; /* where the substituted value was written (knob default, -k); line 0:
			      * not substituted */
};

/*
 * Convert to a declared type.  0, or -EINVAL with *why set to a sentence in the
 * user's words ("'yes' is not a bool: write true or false").  A float given to
 * an int is accepted only if whole; INT to SIZE counts bytes; a bare number is
 * no DURATION unless 0; units of other kinds are refused.
 */
int hr_value_convert(struct hr_arena *a, const struct hr_value *v, enum hr_type want,
		     struct hr_value *out, const char **why);
/* -1, 0, 1 for two values of one numeric type. */
int hr_value_compare(const struct hr_value *a, const struct hr_value *b);
/* Canonical spelling: "64 KiB", "10 ms", "20.48 MHz", "1000". */
const char *hr_value_text(struct hr_arena *a, const struct hr_value *v);

#endif
