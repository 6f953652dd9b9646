// SPDX-License-Identifier: Apache-2.0
/*
 * columns.c - lay out cells once all are known.
 */
#include "plan/columns.h"

#include <string.h>

#include "base/utf8.h"

void
hr_columns_init(struct hr_columns *t, struct hr_arena *a, const char *const *heading,
		size_t n_columns)
{
	*t = (struct hr_columns){ .arena = a, .n_columns = n_columns };
	for (size_t i = 0; i < n_columns; i++)
		hr_columns_add(t, heading[i]);
}

void
hr_columns_add(struct hr_columns *t, const char *cell)
{
	*HR_PUSH(t->arena, t->cell, t->n, t->cap) = cell;
}

/* 0: no row has anything in this column. */
static size_t
column_width(const struct hr_columns *t, size_t column)
{
	size_t width = hr_utf8_count(t->cell[column], strlen(t->cell[column]));
	bool used = false;

	for (size_t i = t->n_columns + column; i < t->n; i += t->n_columns) {
		size_t n = hr_utf8_count(t->cell[i], strlen(t->cell[i]));

		used |= n > 0;
		width = n > width ? n : width;
	}
	return used ? width : 0;
}

static void
print_row(const struct hr_columns *t, size_t row, const size_t *width, struct hr_text *out)
{
	size_t blanks = 2;

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *cell = t->cell[row * t->n_columns + i];

		if (width[i] == 0)
			continue;
		if (*cell) {
			hr_text_fill(out, ' ', blanks);
			hr_text_puts(out, cell);
			blanks = 0;
		}
		blanks += width[i] + 2 - hr_utf8_count(cell, strlen(cell));
	}
	hr_text_puts(out, "\n");
}

void
hr_columns_print(const struct hr_columns *t, struct hr_text *out)
{
	size_t *width = HR_ARRAY(t->arena, t->n_columns, size_t);

	for (size_t i = 0; i < t->n_columns; i++)
		width[i] = column_width(t, i);
	for (size_t row = 0; row * t->n_columns < t->n; row++)
		print_row(t, row, width, out);
}
