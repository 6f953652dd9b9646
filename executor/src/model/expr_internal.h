/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr_internal.h - between the reader of scalars (subst.c) and of expressions (expr.c).
 */
#ifndef HR_EXPR_INTERNAL_H
#define HR_EXPR_INTERNAL_H

#include "model/expr.h"

struct hr_expr {
	struct hr_arena *arena;
	const struct hr_yaml *scalar;
	const struct hr_scope *scope;
	struct hr_diags *diags;
	size_t at, end; /* bytes of scalar->text */
	int nesting;
	struct hr_span from; /* where the first knob used got its value; line 0: none used */
};

/* The expression in [at, end).  False: reported. */
bool hr_expr_read(struct hr_expr *e, struct hr_value *out);
/* The name in [start, start + n). */
bool hr_expr_name(struct hr_expr *e, size_t start, size_t n, struct hr_value *out);
struct hr_span hr_expr_span(const struct hr_expr *e, size_t off, size_t n);

#endif
