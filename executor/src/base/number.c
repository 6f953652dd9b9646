// SPDX-License-Identifier: Apache-2.0
/*
 * number.c - a hand-written reader for the grammar, the C library for rounding.
 *
 * The C library's functions follow the process locale, so they run under an
 * explicit "C" locale here.
 */
#include "base/number.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { LONGEST = 400 }; /* characters of a number; nobody writes more by intent */

struct reader {
	const char *s;
	size_t at;
	char plain[LONGEST + 1]; /* without '_' */
	size_t n;
};

static void
keep(struct reader *r)
{
	if (r->n < LONGEST)
		r->plain[r->n++] = r->s[r->at];
	r->at++;
}

static bool
is_digit_of(char c, bool hex)
{
	return hex ? isxdigit((unsigned char)c) : isdigit((unsigned char)c);
}

static int
digit_value(char c)
{
	return c <= '9' ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* A run of digits; '_' only between two. */
static size_t
read_digits(struct reader *r, struct hr_decimal *out, bool hex)
{
	size_t count = 0;

	for (;;) {
		char c = r->s[r->at];

		if (c == '_' && count && is_digit_of(r->s[r->at + 1], hex)) {
			r->at++;
			continue;
		}
		if (!is_digit_of(c, hex))
			return count;
		if (__builtin_mul_overflow(out->digits, hex ? 16 : 10, &out->digits) ||
		    __builtin_add_overflow(out->digits, digit_value(c), &out->digits))
			out->too_long = true;
		keep(r);
		count++;
	}
}

static void
read_exponent(struct reader *r, struct hr_decimal *out)
{
	const char *s = r->s + r->at;
	size_t sign;
	int32_t exponent = 0;

	if (*s != 'e' && *s != 'E') /* may be the text's end: nothing behind it is read */
		return;
	sign = s[1] == '+' || s[1] == '-';
	if (!isdigit((unsigned char)s[1 + sign]))
		return;
	out->is_int = false;
	keep(r);
	if (sign)
		keep(r);
	while (isdigit((unsigned char)r->s[r->at])) {
		if (exponent < 100000)
			exponent = exponent * 10 + (r->s[r->at] - '0');
		keep(r);
	}
	out->exponent += s[1] == '-' ? -exponent : exponent;
}

static double
to_double(const char *text)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double v = c ? strtod_l(text, NULL, c) : strtod(text, NULL);

	if (c)
		freelocale(c);
	return v;
}

static size_t
read_decimal(struct reader *r, struct hr_decimal *out)
{
	size_t start = r->at;
	size_t whole = read_digits(r, out, false), fraction = 0;

	out->leading_zero = whole > 1 && r->s[start] == '0';
	if (r->s[r->at] == '.' && (whole || isdigit((unsigned char)r->s[r->at + 1]))) {
		out->is_int = false;
		keep(r);
		fraction = read_digits(r, out, false);
		out->exponent = -(int32_t)fraction;
	}
	if (!whole && !fraction)
		return 0;
	read_exponent(r, out);
	return r->at;
}

size_t
hr_decimal_read(const char *s, struct hr_decimal *out)
{
	struct reader r = { .s = s };
	bool negative = *s == '-';

	*out = (struct hr_decimal){ .is_int = true };
	if (*s == '-' || *s == '+')
		r.at = 1;
	if (s[r.at] == '0' && (s[r.at + 1] | 0x20) == 'x') {
		r.at += 2;
		if (!read_digits(&r, out, true))
			return 0;
		out->value = (double)out->digits;
	} else {
		if (!read_decimal(&r, out))
			return 0;
		if (r.n == LONGEST)
			return 0;
		r.plain[r.n] = '\0';
		out->value = to_double(r.plain);
	}
	if (negative) {
		out->digits = out->too_long ? 0 : -out->digits;
		out->value = -out->value;
	}
	return r.at;
}

enum hr_fit
hr_decimal_scale(const struct hr_decimal *d, int64_t factor, int64_t *out)
{
	wide v = (wide)d->digits * factor;
	int32_t e = d->exponent;

	if (d->too_long)
		return d->exponent < 0 ? HR_FIT_NOT_WHOLE : HR_FIT_TOO_LARGE;
	for (; e < 0 && v; e++) {
		if (v % 10)
			return HR_FIT_NOT_WHOLE;
		v /= 10;
	}
	for (; e > 0 && v; e--) {
		v *= 10;
		if (v > INT64_MAX || v < INT64_MIN)
			return HR_FIT_TOO_LARGE;
	}
	if (v > INT64_MAX || v < INT64_MIN)
		return HR_FIT_TOO_LARGE;
	*out = (int64_t)v;
	return HR_FIT_OK;
}

static void
print(char *buf, size_t size, double value)
{
	if (value == trunc(value) && fabs(value) < 1e15) {
		(void)snprintf(buf, size, "%.0f", value + 0.0); /* no minus zero */
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		(void)snprintf(buf, size, "%.*g", digits, value);
		if (to_double(buf) == value)
			return;
	}
}

const char *
hr_number_text(struct hr_arena *a, double value)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = c ? uselocale(c) : (locale_t)0;
	char buf[40];

	print(buf, sizeof(buf), value);
	if (c) {
		uselocale(before);
		freelocale(c);
	}
	return hr_strdup(a, buf);
}
