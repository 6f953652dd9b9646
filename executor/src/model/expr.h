/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - `$name`, `${expr}` and `$$` inside scalars.
 *
 * Pure: names and environment come through the scope's callbacks.  Every fault
 * is reported at the characters that cause it.
 */
#ifndef HR_EXPR_H
#define HR_EXPR_H

#include "model/value.h"
#include "yaml/doc.h"

struct hr_scope {
	void *self;
	/* The value of a name: 1 found, 0 no such name, -1 known but faulty (reported already). */
	int (*find)(void *self, const char *name, struct hr_span used_at, struct hr_value *out);
	/* Names that could have been meant. */
	const char *const *names;
	size_t n_names;
	const char *(*env)(const char *name); /* NULL: nothing is set */
};

/* The value of a scalar: typed if it is one reference, else text.  False: reported. */
bool hr_subst(struct hr_arena *a, const struct hr_yaml *scalar, const struct hr_scope *scope,
	      struct hr_diags *d, struct hr_value *out);

/* One operation, for expr.c: units are carried and checked.  NULL, or what is wrong. */
enum hr_op {
	HR_OP_ADD,
	HR_OP_SUB,
	HR_OP_MUL,
	HR_OP_DIV,
	HR_OP_MOD,
	HR_OP_POW,
	HR_OP_EQ,
	HR_OP_NE,
	HR_OP_LT,
	HR_OP_LE,
	HR_OP_GT,
	HR_OP_GE,
	HR_OP_MIN,
	HR_OP_MAX,
	HR_OP_AND,
	HR_OP_OR,
};
enum hr_fn { HR_FN_NEG, HR_FN_NOT, HR_FN_CEIL, HR_FN_FLOOR, HR_FN_LOG2 };
const char *hr_op_binary(struct hr_arena *a, enum hr_op op, const struct hr_value *x,
			 const struct hr_value *y, struct hr_value *out);
const char *hr_op_unary(struct hr_arena *a, enum hr_fn fn, const struct hr_value *x,
			struct hr_value *out);

#endif
