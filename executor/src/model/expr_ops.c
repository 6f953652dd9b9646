// SPDX-License-Identifier: Apache-2.0
/*
 * expr_ops.c - arithmetic that carries units.
 *
 * A table says which kinds go together and what comes out; what is not in it is
 * an error.  Integers stay exact: overflow is an error, and '/' gives an int
 * only where nothing is left over.
 */
#include <math.h>
#include <string.h>

#include "model/expr.h"

enum kind { NUM, SIZE, DUR, RATE, BOOL, TEXT, NONE };

static enum kind
kind_of(const struct hr_value *v)
{
	static const enum kind kinds[HR_N_TYPES] = {
		[HR_T_TEXT] = TEXT,   [HR_T_BOOL] = BOOL, [HR_T_INT] = NUM,
		[HR_T_FLOAT] = NUM,   [HR_T_SIZE] = SIZE, [HR_T_DURATION] = DUR,
		[HR_T_STRING] = TEXT, [HR_T_RATE] = RATE, [HR_T_CPUS] = TEXT,
	};

	return kinds[v->type];
}

/* What x * y and x / y are.  Rows: x, columns: y, in the order NUM SIZE DUR RATE. */
static const enum kind product[4][4] = {
	{ NUM, SIZE, DUR, RATE },
	{ SIZE, NONE, NONE, NONE },
	{ DUR, NONE, NONE, NUM },
	{ RATE, NONE, NUM, NONE },
};
static const enum kind quotient[4][4] = {
	{ NUM, NONE, RATE, DUR },
	{ SIZE, NUM, NONE, NONE },
	{ DUR, NONE, NUM, NONE },
	{ RATE, NONE, NONE, NUM },
};

static const char *const too_large = "the result is too large";

static bool
is_exact(const struct hr_value *v)
{
	return v->type == HR_T_INT || v->type == HR_T_SIZE || v->type == HR_T_DURATION;
}

static void
put_int(struct hr_value *out, enum hr_type type, int64_t i)
{
	*out = (struct hr_value){ .type = type, .i = i, .f = (double)i };
}

static const char *
put_float(struct hr_value *out, enum hr_type type, double f)
{
	if (!isfinite(f))
		return too_large;
	*out = (struct hr_value){ .type = type, .f = f };
	return NULL;
}

/* A double as bytes or nanoseconds: rounded to the nearest. */
static const char *
put_rounded(struct hr_value *out, enum hr_type type, double f)
{
	if (!(fabs(f) < 9.2e18))
		return too_large;
	put_int(out, type, llround(f));
	return NULL;
}

static const char *
put_kind(struct hr_value *out, enum kind kind, double f)
{
	switch (kind) {
	case SIZE:
		return put_rounded(out, HR_T_SIZE, f);
	case DUR:
		return put_rounded(out, HR_T_DURATION, f);
	case RATE:
		return put_float(out, HR_T_RATE, f);
	default:
		return put_float(out, HR_T_FLOAT, f);
	}
}

static enum hr_type
exact_type(enum kind kind)
{
	return kind == SIZE ? HR_T_SIZE : kind == DUR ? HR_T_DURATION : HR_T_INT;
}

/* Seconds, not nanoseconds, meet hertz. */
static double
in_units(const struct hr_value *v)
{
	return v->type == HR_T_DURATION ? v->f * 1e-9 : v->f;
}

static const char *
mixed(struct hr_arena *a, const char *what, const struct hr_value *x, const struct hr_value *y)
{
	return hr_printf(a, "%s, %s and %s do not go together", what, hr_type_name[x->type],
			 hr_type_name[y->type]);
}

static const char *
multiply(struct hr_arena *a, const struct hr_value *x, const struct hr_value *y,
	 struct hr_value *out)
{
	enum kind kx = kind_of(x), ky = kind_of(y);
	enum kind k = kx <= RATE && ky <= RATE ? product[kx][ky] : NONE;
	int64_t i;

	if (k == NONE)
		return mixed(a, "in a product", x, y);
	if (is_exact(x) && is_exact(y)) {
		if (__builtin_mul_overflow(x->i, y->i, &i))
			return too_large;
		put_int(out, exact_type(k), i);
		return NULL;
	}
	if ((kx == DUR && ky == RATE) || (kx == RATE && ky == DUR))
		return put_kind(out, k, in_units(x) * in_units(y));
	return put_kind(out, k, x->f * y->f);
}

static const char *
divide(struct hr_arena *a, const struct hr_value *x, const struct hr_value *y, struct hr_value *out)
{
	enum kind kx = kind_of(x), ky = kind_of(y);
	enum kind k = kx <= RATE && ky <= RATE ? quotient[kx][ky] : NONE;

	if (k == NONE)
		return mixed(a, "in a quotient", x, y);
	if (y->f == 0)
		return "division by zero";
	/* 1/Hz is a second, 1/ns a gigahertz. */
	if (kx == NUM && (ky == RATE || ky == DUR))
		return put_kind(out, k, x->f / y->f * 1e9);
	if (is_exact(x) && is_exact(y) && !(x->i == INT64_MIN && y->i == -1) &&
	    !(kx == DUR && ky == DUR) && x->i % y->i == 0) {
		put_int(out, exact_type(k), x->i / y->i);
		return NULL;
	}
	return put_kind(out, k, x->f / y->f);
}

/* Zero is the same in every unit. */
static bool
is_same_kind(const struct hr_value *x, const struct hr_value *y)
{
	enum kind kx = kind_of(x), ky = kind_of(y);

	if (kx > RATE || ky > RATE)
		return false;
	return kx == ky || (x->type == HR_T_INT && !x->i) || (y->type == HR_T_INT && !y->i);
}

static const char *
add(struct hr_arena *a, const struct hr_value *x, const struct hr_value *y, struct hr_value *out,
    bool minus)
{
	enum kind k = kind_of(x) == NUM ? kind_of(y) : kind_of(x);
	int64_t i;

	if (!is_same_kind(x, y))
		return mixed(a, minus ? "in a difference" : "in a sum", x, y);
	if (!is_exact(x) || !is_exact(y))
		return put_kind(out, k, minus ? x->f - y->f : x->f + y->f);
	if (minus ? __builtin_sub_overflow(x->i, y->i, &i) : __builtin_add_overflow(x->i, y->i, &i))
		return too_large;
	put_int(out, exact_type(k), i);
	return NULL;
}

/* The remainder has the sign of the divisor. */
static const char *
modulo(struct hr_arena *a, const struct hr_value *x, const struct hr_value *y, struct hr_value *out)
{
	enum kind k = kind_of(x) == NUM ? kind_of(y) : kind_of(x);

	if (!is_same_kind(x, y))
		return mixed(a, "in a remainder", x, y);
	if (y->f == 0)
		return "division by zero";
	if (!is_exact(x) || !is_exact(y)) {
		double r = fmod(x->f, y->f);

		return put_kind(out, k, r != 0 && (r < 0) != (y->f < 0) ? r + y->f : r);
	}
	int64_t r = y->i == -1 ? 0 : x->i % y->i;

	put_int(out, exact_type(k), r && (r < 0) != (y->i < 0) ? r + y->i : r);
	return NULL;
}

static const char *
power(struct hr_arena *a, const struct hr_value *x, const struct hr_value *y, struct hr_value *out)
{
	if (kind_of(x) != NUM || kind_of(y) != NUM)
		return mixed(a, "in a power", x, y);
	if (x->type != HR_T_INT || y->type != HR_T_INT || y->i < 0) {
		if (x->f == 0 && y->f < 0)
			return "division by zero";
		return put_float(out, HR_T_FLOAT, pow(x->f, y->f));
	}
	int64_t result = 1, base = x->i;

	for (int64_t n = y->i; n; n >>= 1) {
		if (n & 1 && __builtin_mul_overflow(result, base, &result))
			return too_large;
		if (n > 1 && __builtin_mul_overflow(base, base, &base))
			return too_large;
	}
	put_int(out, HR_T_INT, result);
	return NULL;
}

static bool
holds(enum hr_op op, int order)
{
	switch (op) {
	case HR_OP_EQ:
		return order == 0;
	case HR_OP_NE:
		return order != 0;
	case HR_OP_LT:
		return order < 0;
	case HR_OP_LE:
		return order <= 0;
	case HR_OP_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

static const char *
compare(struct hr_arena *a, enum hr_op op, const struct hr_value *x, const struct hr_value *y,
	struct hr_value *out)
{
	enum kind kx = kind_of(x), ky = kind_of(y);
	bool has_equality = kx == ky && (kx == TEXT || kx == BOOL);

	if (!is_same_kind(x, y) && !(has_equality && (op == HR_OP_EQ || op == HR_OP_NE)))
		return mixed(a, "in a comparison", x, y);
	put_int(out, HR_T_BOOL, holds(op, hr_value_compare(x, y)));
	return NULL;
}

static const char *
choose(struct hr_arena *a, enum hr_op op, const struct hr_value *x, const struct hr_value *y,
       struct hr_value *out)
{
	if (!is_same_kind(x, y))
		return mixed(a, op == HR_OP_MIN ? "in min()" : "in max()", x, y);
	int order = hr_value_compare(x, y);
	const struct hr_value *chosen = (op == HR_OP_MIN ? order <= 0 : order >= 0) ? x : y;

	if (kind_of(x) != kind_of(y)) /* a bare zero takes the unit of the other */
		return put_kind(out, kind_of(x) == NUM ? kind_of(y) : kind_of(x), chosen->f);
	*out = *chosen;
	return NULL;
}

static const char *
logic(struct hr_arena *a, enum hr_op op, const struct hr_value *x, const struct hr_value *y,
      struct hr_value *out)
{
	if (x->type != HR_T_BOOL || y->type != HR_T_BOOL)
		return mixed(a, op == HR_OP_AND ? "around 'and'" : "around 'or'", x, y);
	put_int(out, HR_T_BOOL, op == HR_OP_AND ? x->i && y->i : x->i || y->i);
	return NULL;
}

const char *
hr_op_binary(struct hr_arena *a, enum hr_op op, const struct hr_value *x, const struct hr_value *y,
	     struct hr_value *out)
{
	switch (op) {
	case HR_OP_ADD:
	case HR_OP_SUB:
		return add(a, x, y, out, op == HR_OP_SUB);
	case HR_OP_MUL:
		return multiply(a, x, y, out);
	case HR_OP_DIV:
		return divide(a, x, y, out);
	case HR_OP_MOD:
		return modulo(a, x, y, out);
	case HR_OP_POW:
		return power(a, x, y, out);
	case HR_OP_MIN:
	case HR_OP_MAX:
		return choose(a, op, x, y, out);
	case HR_OP_AND:
	case HR_OP_OR:
		return logic(a, op, x, y, out);
	default:
		return compare(a, op, x, y, out);
	}
}

static const char *
takes(struct hr_arena *a, const char *who, const char *what, const struct hr_value *x)
{
	return hr_printf(a, "%s takes a %s, this is of type %s", who, what, hr_type_name[x->type]);
}

static const char *
negate(struct hr_arena *a, const struct hr_value *x, struct hr_value *out)
{
	struct hr_value zero = { .type = HR_T_INT };

	return kind_of(x) <= RATE ? add(a, &zero, x, out, true) : takes(a, "'-'", "number", x);
}

static const char *
round_to(struct hr_arena *a, enum hr_fn fn, const struct hr_value *x, struct hr_value *out)
{
	if (kind_of(x) != NUM)
		return takes(a, fn == HR_FN_CEIL ? "ceil" : "floor", "number", x);
	if (x->type == HR_T_FLOAT)
		return put_rounded(out, HR_T_INT, fn == HR_FN_CEIL ? ceil(x->f) : floor(x->f));
	*out = *x;
	return NULL;
}

static const char *
log_two(struct hr_arena *a, const struct hr_value *x, struct hr_value *out)
{
	if (kind_of(x) != NUM)
		return takes(a, "log2", "number", x);
	if (x->f <= 0)
		return "log2 takes a number above zero";
	double f = log2(x->f);

	if (f != floor(f))
		return put_float(out, HR_T_FLOAT, f);
	put_int(out, HR_T_INT, (int64_t)f);
	return NULL;
}

const char *
hr_op_unary(struct hr_arena *a, enum hr_fn fn, const struct hr_value *x, struct hr_value *out)
{
	switch (fn) {
	case HR_FN_NEG:
		return negate(a, x, out);
	case HR_FN_NOT:
		if (x->type != HR_T_BOOL)
			return takes(a, "'not'", "bool", x);
		put_int(out, HR_T_BOOL, !x->i);
		return NULL;
	case HR_FN_LOG2:
		return log_two(a, x, out);
	default:
		return round_to(a, fn, x, out);
	}
}
