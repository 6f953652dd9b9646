/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - columns of text, as wide as their widest cell.
 *
 * Cells are borrowed until hr_columns_print.  No trailing blanks, so that the
 * output can be compared byte for byte.
 */
#ifndef HR_COLUMNS_H
#define HR_COLUMNS_H

#include "base/text.h"

struct hr_columns {
	struct hr_arena *arena;
	size_t n_columns;
	const char **cell; /* row by row; the first row is the heading */
	size_t n, cap;
};

void hr_columns_init(struct hr_columns *t, struct hr_arena *a, const char *const *heading,
		     size_t n_columns);
/* Cells in order, row after row. */
void hr_columns_add(struct hr_columns *t, const char *cell);
/* Appends to out, each line indented by two blanks.  Columns in which every cell is empty are left
 * out. */
void hr_columns_print(const struct hr_columns *t, struct hr_text *out);

#endif
