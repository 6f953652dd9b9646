// SPDX-License-Identifier: Apache-2.0
/*
 * value.c - one conversion for every place where text becomes a value.
 *
 * A table says how each type is read from text; typed values change type only
 * where no unit is invented or lost.
 */
#include "model/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "model/units.h"

const char *const hr_type_name[HR_N_TYPES] = {
	[HR_T_TEXT] = "text",         [HR_T_BOOL] = "bool",     [HR_T_INT] = "int",
	[HR_T_FLOAT] = "float",       [HR_T_STRING] = "string", [HR_T_SIZE] = "size",
	[HR_T_DURATION] = "duration", [HR_T_RATE] = "rate",     [HR_T_CPUS] = "cpus",
};

/* An integer type's value, with its double beside it. */
static void
set_int(struct hr_value *out, enum hr_type type, int64_t i)
{
	out->type = type;
	out->i = i;
	out->f = (double)i;
}

static void
set_double(struct hr_value *out, enum hr_type type, double f)
{
	out->type = type;
	out->i = 0;
	out->f = f;
}

struct job {
	struct hr_arena *arena;
	const char *text; /* trimmed */
	struct hr_value *out;
	const char **why;
};

static int refuse(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int
refuse(struct job *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*j->why = hr_vprintf(j->arena, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int
read_bool(struct job *j)
{
	bool is_true = !strcmp(j->text, "true");

	if (!is_true && strcmp(j->text, "false") != 0)
		return refuse(j, "'%s' is not a bool: write true or false", j->text);
	set_int(j->out, HR_T_BOOL, is_true);
	return 0;
}

/* The rest of the text behind the number, if that is one of the type's units. */
static const struct hr_unit *
read_unit(struct job *j, enum hr_type type, size_t at)
{
	while (j->text[at] == ' ')
		at++;
	return hr_unit_find(type, j->text + at, strlen(j->text + at));
}

static int
refuse_unit(struct job *j, enum hr_type type, size_t at)
{
	while (j->text[at] == ' ')
		at++;
	if (type == HR_T_INT)
		return refuse(j,
			      "'%s' is not an int: '%s' cannot follow the number (k, M and G can)",
			      j->text, j->text + at);
	if (type == HR_T_FLOAT)
		return refuse(j, "'%s' is not a float: '%s' cannot follow the number", j->text,
			      j->text + at);
	return refuse(j, "'%s' is not a %s: '%s' is none of its units (%s)", j->text,
		      hr_type_name[type], j->text + at, hr_unit_list(j->arena, type));
}

static int
scale(struct job *j, enum hr_type type, const struct hr_decimal *d, const struct hr_unit *unit)
{
	int64_t i = 0;

	switch (hr_decimal_scale(d, (int64_t)unit->factor, &i)) {
	case HR_FIT_OK:
		/* Times are added to the clock and to each other: leave room for that. */
		if (type == HR_T_DURATION && i > INT64_MAX / 4)
			return refuse(j, "'%s' is too large for a duration: 73 years are the most",
				      j->text);
		set_int(j->out, type, i);
		return 0;
	case HR_FIT_TOO_LARGE:
		return refuse(j, "'%s' is too large for a %s", j->text, hr_type_name[type]);
	case HR_FIT_NOT_WHOLE:
		break;
	}
	return refuse(j, "'%s' is not a whole number of %s", j->text,
		      type == HR_T_SIZE       ? "bytes"
		      : type == HR_T_DURATION ? "nanoseconds"
					      : "units: an int is wanted");
}

static int
read_int(struct job *j)
{
	struct hr_decimal d;
	size_t n = hr_decimal_read(j->text, &d);

	if (!n)
		return refuse(j, "'%s' is not an int", j->text);
	const struct hr_unit *unit = read_unit(j, HR_T_INT, n);

	if (!unit)
		return refuse_unit(j, HR_T_INT, n);
	if (d.leading_zero)
		return refuse(j,
			      "'%s' is not an int: a leading zero is not allowed (hexadecimal is "
			      "0x10)",
			      j->text);
	return scale(j, HR_T_INT, &d, unit);
}

static int
read_float(struct job *j)
{
	struct hr_decimal d;
	size_t n = hr_decimal_read(j->text, &d);

	if (!n)
		return refuse(j, "'%s' is not a number", j->text);
	if (j->text[n])
		return refuse_unit(j, HR_T_FLOAT, n);
	if (!isfinite(d.value))
		return refuse(j, "'%s' is too large for a float", j->text);
	set_double(j->out, HR_T_FLOAT, d.value);
	return 0;
}

static int
read_string(struct job *j)
{
	j->out->type = HR_T_STRING;
	return 0;
}

static int
refuse_bare(struct job *j, enum hr_type type)
{
	const char *example = type == HR_T_DURATION ? "ms" : "Hz";

	return refuse(j, "'%s' has no unit: write '%s %s' (units: %s)", j->text, j->text, example,
		      hr_unit_list(j->arena, type));
}

static int
read_size(struct job *j)
{
	struct hr_decimal d;
	size_t n = hr_decimal_read(j->text, &d);

	if (!n || d.value < 0)
		return refuse(j, "'%s' is not a size, such as 64 KiB", j->text);
	const struct hr_unit *unit = read_unit(j, HR_T_SIZE, n);

	return unit ? scale(j, HR_T_SIZE, &d, unit) : refuse_unit(j, HR_T_SIZE, n);
}

static int
read_duration(struct job *j)
{
	struct hr_decimal d;
	size_t n = hr_decimal_read(j->text, &d);

	if (!n || d.value < 0)
		return refuse(j, "'%s' is not a duration, such as 10 ms", j->text);
	if (!j->text[n] && d.digits)
		return refuse_bare(j, HR_T_DURATION);
	const struct hr_unit *unit =
		j->text[n] ? read_unit(j, HR_T_DURATION, n) : hr_unit_find(HR_T_DURATION, "ns", 2);

	return unit ? scale(j, HR_T_DURATION, &d, unit) : refuse_unit(j, HR_T_DURATION, n);
}

static int
read_rate(struct job *j)
{
	struct hr_decimal d;
	size_t n = hr_decimal_read(j->text, &d);

	if (!n || d.value < 0)
		return refuse(j, "'%s' is not a rate, such as 10 kHz", j->text);
	if (!j->text[n] && d.value > 0)
		return refuse_bare(j, HR_T_RATE);
	const struct hr_unit *unit =
		j->text[n] ? read_unit(j, HR_T_RATE, n) : hr_unit_find(HR_T_RATE, "Hz", 2);

	if (!unit)
		return refuse_unit(j, HR_T_RATE, n);
	if (!isfinite(d.value * unit->factor))
		return refuse(j, "'%s' is too large for a rate", j->text);
	set_double(j->out, HR_T_RATE, d.value * unit->factor);
	return 0;
}

/* A CPU number, at most six digits; false: none here. */
static bool
read_cpu(const char **s, long *out)
{
	int n = 0;

	for (*out = 0; isdigit((unsigned char)**s) && n < 6; n++)
		*out = *out * 10 + (*(*s)++ - '0');
	return n > 0;
}

/* "3" or "2-5". */
static bool
read_cpu_range(const char **s, long *low, long *high)
{
	if (!read_cpu(s, low))
		return false;
	*high = *low;
	if (**s != '-')
		return true;
	(*s)++;
	return read_cpu(s, high);
}

static int
read_cpus(struct job *j)
{
	const char *s = j->text;
	long low, high;

	j->out->type = HR_T_CPUS;
	if (!strcmp(s, "rel:all"))
		return 0;
	if (!strncmp(s, "rel:", 4))
		s += 4;
	while (read_cpu_range(&s, &low, &high)) {
		if (high < low)
			return refuse(j, "'%s' is not a CPU list: %ld-%ld counts down", j->text,
				      low, high);
		s += strspn(s, " ");
		if (!*s)
			return 0;
		if (*s++ != ',')
			break;
		s += strspn(s, " ");
	}
	return refuse(j, "'%s' is not a CPU list: write 2-3,6 or rel:0-1 or rel:all", j->text);
}

static int (*const readers[HR_N_TYPES])(struct job *) = {
	[HR_T_BOOL] = read_bool,     [HR_T_INT] = read_int,   [HR_T_FLOAT] = read_float,
	[HR_T_STRING] = read_string, [HR_T_SIZE] = read_size, [HR_T_DURATION] = read_duration,
	[HR_T_RATE] = read_rate,     [HR_T_CPUS] = read_cpus,
};

static bool
is_number(enum hr_type t)
{
	return t == HR_T_INT || t == HR_T_FLOAT;
}

static bool
is_integral(double f)
{
	return f == trunc(f) && f >= -9223372036854775808.0 && f < 9223372036854775808.0;
}

/* A plain number to a type that may have a unit. */
static int
from_number(struct job *j, const struct hr_value *v, enum hr_type want)
{
	bool is_zero = v->f == 0; /* zero is the same in every unit */
	int64_t i = v->type == HR_T_INT ? v->i : is_integral(v->f) ? (int64_t)v->f : 0;

	switch (want) {
	case HR_T_FLOAT:
		set_double(j->out, HR_T_FLOAT, v->f);
		return 0;
	case HR_T_INT:
	case HR_T_SIZE:
		if (v->type == HR_T_FLOAT && !is_integral(v->f))
			return refuse(j, "%s is not a whole number", j->text);
		if (want == HR_T_SIZE && i < 0)
			return refuse(j, "%s is negative, and a size cannot be", j->text);
		set_int(j->out, want, i);
		return 0;
	case HR_T_DURATION:
		if (!is_zero)
			return refuse_bare(j, want);
		set_int(j->out, want, 0);
		return 0;
	case HR_T_RATE:
		if (!is_zero)
			return refuse_bare(j, want);
		set_double(j->out, want, 0);
		return 0;
	default:
		return refuse(j, "%s is a number; type %s is wanted", j->text, hr_type_name[want]);
	}
}

static int
from_typed(struct job *j, const struct hr_value *v, enum hr_type want)
{
	if (want == HR_T_STRING) {
		*j->out = *v;
		j->out->type = HR_T_STRING;
		return 0;
	}
	/* A CPU number is a list of one. */
	if (want == HR_T_CPUS && (v->type == HR_T_STRING || v->type == HR_T_INT))
		return read_cpus(j);
	if (is_number(v->type))
		return from_number(j, v, want);
	return refuse(j, "%s is of type %s; type %s is wanted", j->text, hr_type_name[v->type],
		      hr_type_name[want]);
}

static bool
is_amount(enum hr_type t)
{
	return t == HR_T_SIZE || t == HR_T_DURATION || t == HR_T_RATE;
}

static const char *
trim(struct hr_arena *a, const char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return s[n] ? hr_strndup(a, s, n) : s;
}

int
hr_value_convert(struct hr_arena *a, const struct hr_value *v, enum hr_type want,
		 struct hr_value *out, const char **why)
{
	struct hr_value result = *v;
	const char *text = v->text ? v->text : v->type == HR_T_TEXT ? "" : hr_value_text(a, v);
	struct job j = { a, text, &result, why };
	int rc = 0;

	/* An expression can go below zero where no text could. */
	if (v->type == want && v->f < 0 && is_amount(want))
		return refuse(&j, "%s is negative, and a %s cannot be", text, hr_type_name[want]);
	if (v->type == want) {
		*out = result;
		return 0;
	}
	if (want == HR_T_TEXT || want == HR_T_STRING)
		result.text = text;
	else
		j.text = trim(a, text);
	if (want == HR_T_TEXT)
		result.type = HR_T_TEXT;
	else if (v->type == HR_T_TEXT)
		rc = readers[want](&j);
	else
		rc = from_typed(&j, v, want);
	if (rc)
		return rc;
	if (want == HR_T_CPUS)
		result.text = j.text;
	else if (want != HR_T_TEXT && want != HR_T_STRING)
		result.text = hr_value_text(a, &result);
	*out = result;
	return 0;
}

int
hr_value_compare(const struct hr_value *a, const struct hr_value *b)
{
	bool exact = a->type != HR_T_FLOAT && a->type != HR_T_RATE && b->type != HR_T_FLOAT &&
		     b->type != HR_T_RATE;

	if (a->type == HR_T_STRING || a->type == HR_T_TEXT || a->type == HR_T_CPUS) {
		int c = strcmp(a->text, b->text ? b->text : "");

		return (c > 0) - (c < 0);
	}
	if (exact)
		return (a->i > b->i) - (a->i < b->i);
	return (a->f > b->f) - (a->f < b->f);
}
