// SPDX-License-Identifier: Apache-2.0
/*
 * expr.c - reads and computes the text inside `${...}` in one pass.
 *
 * Operators by binding strength, weakest first: or, and, not, comparisons, + -,
 * * / %, unary -, **.  Numbers may carry a unit (5ms, 64KiB).  Nesting is
 * bounded; the first fault ends the reading.
 */
#include "model/expr_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "model/units.h"

enum { MAX_NESTING = 64 };

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT }; /* weakest first */

struct operation {
	const char *text;
	enum hr_op op;
	int level;
};

/* Longer texts before their beginnings. */
static const struct operation operations[] = {
	{ "or", HR_OP_OR, LEVEL_OR },      { "and", HR_OP_AND, LEVEL_AND },
	{ "==", HR_OP_EQ, LEVEL_COMPARE }, { "!=", HR_OP_NE, LEVEL_COMPARE },
	{ "<=", HR_OP_LE, LEVEL_COMPARE }, { ">=", HR_OP_GE, LEVEL_COMPARE },
	{ "<", HR_OP_LT, LEVEL_COMPARE },  { ">", HR_OP_GT, LEVEL_COMPARE },
	{ "+", HR_OP_ADD, LEVEL_SUM },     { "-", HR_OP_SUB, LEVEL_SUM },
	{ "*", HR_OP_MUL, LEVEL_PRODUCT }, { "/", HR_OP_DIV, LEVEL_PRODUCT },
	{ "%", HR_OP_MOD, LEVEL_PRODUCT },
};

struct function {
	const char *name;
	bool is_fold; /* min, max: two or more arguments, joined by op */
	enum hr_op op;
	enum hr_fn fn;
};

static const struct function functions[] = {
	{ .name = "min", .is_fold = true, .op = HR_OP_MIN },
	{ .name = "max", .is_fold = true, .op = HR_OP_MAX },
	{ .name = "ceil", .fn = HR_FN_CEIL },
	{ .name = "floor", .fn = HR_FN_FLOOR },
	{ .name = "log2", .fn = HR_FN_LOG2 },
};

static bool read_level(struct hr_expr *e, int level, struct hr_value *out);

struct hr_span
hr_expr_span(const struct hr_expr *e, size_t off, size_t n)
{
	return hr_yaml_part(e->scalar, off, n);
}

static bool
fault(struct hr_expr *e, uint32_t code, size_t off, const char *text)
{
	size_t n = e->at > off ? e->at - off : 1;

	hr_error(e->diags, hr_expr_span(e, off, n), code, "%s", text);
	return false;
}

static bool
is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static char
peek(const struct hr_expr *e, size_t ahead)
{
	if (e->at + ahead >= e->end)
		return '\0';
	return e->scalar->text[e->at + ahead];
}

static void
skip_space(struct hr_expr *e)
{
	while (isspace((unsigned char)peek(e, 0)))
		e->at++;
}

static bool
starts_with(const struct hr_expr *e, const char *text)
{
	size_t n = strlen(text);

	if (e->end - e->at < n || memcmp(e->scalar->text + e->at, text, n) != 0)
		return false;
	return !is_name_char(text[0]) || !is_name_char(peek(e, n));
}

static size_t
word_length(const struct hr_expr *e)
{
	size_t n = 0;

	while (is_name_char(peek(e, n)))
		n++;
	return n;
}

/* What stands at the reading place is not what must. */
static bool
unexpected(struct hr_expr *e, const char *wanted)
{
	size_t start = e->at, n = word_length(e);

	if (e->at >= e->end) {
		/* The brace that closes it shows where something is missing. */
		hr_error(e->diags, hr_expr_span(e, e->end, 1), 211,
			 "%s is missing at the end of the expression", wanted);
		return false;
	}
	if (!n)
		n = 1;
	e->at += n;
	hr_error(e->diags, hr_expr_span(e, start, n), 211, "%s was expected, not '%.*s'", wanted,
		 (int)(n < 40 ? n : 40), e->scalar->text + start);
	return false;
}

static bool
read_number(struct hr_expr *e, struct hr_value *out)
{
	size_t start = e->at;
	struct hr_decimal d;

	/* '5ms' and '2**3' end the number; it cannot reach beyond the '}' that follows. */
	e->at += hr_decimal_read(e->scalar->text + e->at, &d);
	size_t unit_len = word_length(e);
	const struct hr_unit *unit = hr_unit_any(e->scalar->text + e->at, unit_len);
	int64_t i = 0;

	e->at += unit_len;
	if (!unit || e->at == start)
		return fault(e, 211, start, "this number cannot be read");
	if (!unit_len && !d.is_int) {
		*out = (struct hr_value){ .type = HR_T_FLOAT, .f = d.value };
		return true;
	}
	if (unit->type == HR_T_RATE) {
		*out = (struct hr_value){ .type = HR_T_RATE, .f = d.value * unit->factor };
		return true;
	}
	enum hr_fit fit = hr_decimal_scale(&d, (int64_t)unit->factor, &i);

	if (fit == HR_FIT_TOO_LARGE)
		return fault(e, 212, start, "this number is too large");
	if (fit == HR_FIT_NOT_WHOLE)
		return fault(e, 212, start, "this is not a whole number of its smallest unit");
	*out = (struct hr_value){ .type = unit->type, .i = i, .f = (double)i };
	return true;
}

static bool
read_string(struct hr_expr *e, struct hr_value *out)
{
	char quote = peek(e, 0);
	size_t start = e->at++;

	while (peek(e, 0) && peek(e, 0) != quote)
		e->at++;
	if (!peek(e, 0))
		return fault(e, 211, start, "the quote that opens here is never closed");
	*out = (struct hr_value){ .type = HR_T_STRING,
				  .text = hr_strndup(e->arena, e->scalar->text + start + 1,
						     e->at - start - 1) };
	e->at++;
	return true;
}

static bool
take(struct hr_expr *e, char c)
{
	skip_space(e);
	if (peek(e, 0) != c)
		return false;
	e->at++;
	return true;
}

static bool
read_arguments(struct hr_expr *e, const struct function *f, size_t start, struct hr_value *out)
{
	const char *wrong = NULL;
	struct hr_value x;

	if (!read_level(e, LEVEL_OR, &x))
		return false;
	*out = x;
	if (!f->is_fold)
		wrong = hr_op_unary(e->arena, f->fn, &x, out);
	while (f->is_fold && !wrong && take(e, ',')) {
		struct hr_value y;

		x = *out;
		if (!read_level(e, LEVEL_OR, &y))
			return false;
		wrong = hr_op_binary(e->arena, f->op, &x, &y, out);
	}
	return wrong ? fault(e, 212, start, wrong) : true;
}

static bool
read_call(struct hr_expr *e, const struct function *f, size_t start, struct hr_value *out)
{
	e->at++; /* '(' */
	if (!read_arguments(e, f, start, out))
		return false;
	return take(e, ')') || unexpected(e, f->is_fold ? "',' or ')'" : "')'");
}

bool
hr_expr_name(struct hr_expr *e, size_t start, size_t n, struct hr_value *out)
{
	const char *name = hr_strndup(e->arena, e->scalar->text + start, n);
	size_t dollar = start && e->scalar->text[start - 1] == '$' ? 1 : 0;
	struct hr_span at = hr_expr_span(e, start - dollar, n + dollar);
	int found = e->scope->find(e->scope->self, name, at, out);

	if (found > 0 && !e->from.line)
		e->from = out->from.line ? out->from : out->at;
	if (found)
		return found > 0;
	struct hr_diag *d = hr_error(e->diags, at, 210, "no knob is called '%s'", name);

	hr_suggest(d, name, e->scope->names, e->scope->n_names);
	if (dollar)
		hr_help(d, "for a dollar sign write '$$'");
	return false;
}

static bool
read_word(struct hr_expr *e, struct hr_value *out)
{
	const char *word = e->scalar->text + e->at;
	size_t start = e->at, n = word_length(e);
	bool is_true = n == 4 && !memcmp(word, "true", n);

	e->at += n;
	if (is_true || (n == 5 && !memcmp(word, "false", n))) {
		*out = (struct hr_value){ .type = HR_T_BOOL, .i = is_true, .f = is_true };
		return true;
	}
	if (peek(e, 0) != '(')
		return hr_expr_name(e, start, n, out);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strlen(functions[i].name) == n && !memcmp(functions[i].name, word, n))
			return read_call(e, &functions[i], start, out);
	return fault(e, 211, start,
		     "there is no such function; there are min, max, ceil, floor, log2");
}

static bool
read_operand(struct hr_expr *e, struct hr_value *out)
{
	char c = peek(e, 0);

	if (c == '(') {
		e->at++;
		return read_level(e, LEVEL_OR, out) && (take(e, ')') || unexpected(e, "')'"));
	}
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(e, 1))))
		return read_number(e, out);
	if (c == '\'' || c == '"')
		return read_string(e, out);
	if (c == '$')
		return fault(e, 211, e->at, "inside '${...}' names stand without '$'");
	return is_name_char(c) ? read_word(e, out) : unexpected(e, "a value");
}

static bool
apply_unary(struct hr_expr *e, enum hr_fn fn, size_t start, struct hr_value *v)
{
	struct hr_value x = *v;
	const char *wrong = hr_op_unary(e->arena, fn, &x, v);

	return wrong ? fault(e, 212, start, wrong) : true;
}

static bool
apply_binary(struct hr_expr *e, enum hr_op op, size_t start, const struct hr_value *y,
	     struct hr_value *v)
{
	struct hr_value x = *v;
	const char *wrong = hr_op_binary(e->arena, op, &x, y, v);

	return wrong ? fault(e, 212, start, wrong) : true;
}

static bool
enter(struct hr_expr *e)
{
	if (++e->nesting <= MAX_NESTING)
		return true;
	return fault(e, 211, e->at, "the expression is nested too deeply");
}

/* Unary minus and '**', which binds more strongly on its left: -2 ** 2 is -4. */
static bool
read_signed(struct hr_expr *e, struct hr_value *out)
{
	struct hr_value y;
	bool ok;

	skip_space(e);
	size_t start = e->at;

	if (!enter(e))
		return false;
	if (take(e, '-')) {
		ok = read_signed(e, out) && apply_unary(e, HR_FN_NEG, start, out);
	} else {
		ok = read_operand(e, out);
		skip_space(e);
		if (ok && starts_with(e, "**")) {
			e->at += 2;
			ok = read_signed(e, &y) && apply_binary(e, HR_OP_POW, start, &y, out);
		}
	}
	e->nesting--;
	return ok;
}

static const struct operation *
find_operation(struct hr_expr *e, int level)
{
	skip_space(e);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (starts_with(e, operations[i].text))
			return operations[i].level == level ? &operations[i] : NULL;
	return NULL;
}

/* `not` stands between `and` and the comparisons. */
static bool
read_not(struct hr_expr *e, struct hr_value *out)
{
	skip_space(e);
	size_t start = e->at;

	if (!starts_with(e, "not"))
		return read_level(e, LEVEL_COMPARE, out);
	if (!enter(e))
		return false;
	e->at += strlen("not");
	bool ok = read_not(e, out) && apply_unary(e, HR_FN_NOT, start, out);

	e->nesting--;
	return ok;
}

static bool
read_next(struct hr_expr *e, int level, struct hr_value *out)
{
	if (level == LEVEL_AND)
		return read_not(e, out);
	return level == LEVEL_PRODUCT ? read_signed(e, out) : read_level(e, level + 1, out);
}

static bool
read_level(struct hr_expr *e, int level, struct hr_value *out)
{
	const struct operation *op;

	skip_space(e);
	size_t start = e->at;

	if (!read_next(e, level, out))
		return false;
	while ((op = find_operation(e, level))) {
		struct hr_value y;

		e->at += strlen(op->text);
		if (!read_next(e, level, &y) || !apply_binary(e, op->op, start, &y, out))
			return false;
	}
	return true;
}

bool
hr_expr_read(struct hr_expr *e, struct hr_value *out)
{
	if (!read_level(e, LEVEL_OR, out))
		return false;
	skip_space(e);
	return e->at == e->end || unexpected(e, "an operator");
}
