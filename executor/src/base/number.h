/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - numbers out of text and back, whatever the locale says.
 *
 * Decimal numbers stay exact (2.3 us is 2300 ns) until somebody wants a double.
 */
#ifndef HR_NUMBER_H
#define HR_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct hr_decimal { /* digits * 10^exponent */
	int64_t digits;
	int32_t exponent;
	bool is_int;       /* written without '.' and exponent */
	bool leading_zero; /* 010: refused by those who want an int */
	bool too_long;     /* more digits than 64 bits hold: digits is not valid */
	double value;      /* nearest double; infinite if too large */
};

/* Read the number at the start of s: sign, 0x, digits with single '_' between them, '.', exponent.
 * Bytes read; 0: no number
 * (or one of 400 characters and more). */
size_t hr_decimal_read(const char *s, struct hr_decimal *out);

enum hr_fit { HR_FIT_OK, HR_FIT_NOT_WHOLE, HR_FIT_TOO_LARGE };
/* digits * 10^exponent * factor as an exact integer. */
enum hr_fit hr_decimal_scale(const struct hr_decimal *d, int64_t factor, int64_t *out);

/* The shortest text that reads back as the same double; whole numbers without exponent. */
const char *hr_number_text(struct hr_arena *a, double value);

#endif
