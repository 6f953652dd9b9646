/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - checks the frame of a plugin's tables and copies them.
 *
 * Larger structs and strides than ours are growth and are cut to what we know;
 * smaller ones are refused.  Pointers cannot be checked from inside: a wild one
 * faults, which the probe child catches.
 */
#include <string.h>

#include "plugin/table.h"

enum { MAX_OPS = 4096, MAX_ROWS = 1024, MAX_STRIDE = 4096 };

struct rows { /* any of the hop_* table views */
	const void *at;
	uint32_t count, stride;
};
#define ROWS(view) ((struct rows){ (view).at, (view).count, (view).stride })

static const char *
check_rows(struct hr_arena *a, const char *op, const char *what, struct rows r, size_t known)
{
	if (!r.count)
		return NULL;
	if (!r.at)
		return hr_printf(a, "op '%s': its %s table has %u rows but no address", op, what,
				 r.count);
	if (r.count > MAX_ROWS)
		return hr_printf(a, "op '%s': its %s table has %u rows; the limit is %d", op, what,
				 r.count, MAX_ROWS);
	if (r.stride < known || r.stride > MAX_STRIDE || r.stride % 4)
		return hr_printf(a, "op '%s': its %s table has a stride of %u bytes; a row is %zu",
				 op, what, r.stride, known);
	return NULL;
}

static const char *
check_op(struct hr_arena *a, const struct hop_op *op, uint32_t i)
{
	const char *why;

	if (!op)
		return hr_printf(a, "op number %u has no address", i);
	if (op->size < sizeof *op || op->size > MAX_STRIDE)
		return hr_printf(a, "op number %u says its size is %u; at least %zu is needed", i,
				 op->size, sizeof *op);
	if (!op->name)
		return hr_printf(a, "op number %u has no name", i);
	why = check_rows(a, op->name, "port", ROWS(op->ports), sizeof(struct hop_port));
	if (!why)
		why = check_rows(a, op->name, "parameter", ROWS(op->params),
				 sizeof(struct hop_param));
	if (!why)
		why = check_rows(a, op->name, "counter", ROWS(op->counters),
				 sizeof(struct hop_counter));
	if (!why)
		why = check_rows(a, op->name, "axis", ROWS(op->axes), sizeof(struct hop_axis));
	if (!why)
		why = check_rows(a, op->name, "dependence", ROWS(op->afters),
				 sizeof(struct hop_after));
	return why;
}

const char *
hr_table_outline(struct hr_arena *a, const struct hop_plugin *p)
{
	const char *why = NULL;

	if (p->size < sizeof *p || p->size > MAX_STRIDE)
		return hr_printf(a, "hop_plugin_v1 says its size is %u; at least %zu is needed",
				 p->size, sizeof *p);
	if (p->n_ops > MAX_OPS)
		return hr_printf(a, "it claims %u ops; the limit is %d", p->n_ops, MAX_OPS);
	if (p->n_ops && !p->ops)
		return "its list of ops has no address";
	for (uint32_t i = 0; i < p->n_ops && !why; i++)
		why = check_op(a, p->ops[i], i);
	return why;
}

static const void *
copy_rows(struct hr_arena *a, struct rows r, size_t known)
{
	char *dst = hr_alloc_array(a, r.count ? r.count : 1, known);

	for (uint32_t i = 0; i < r.count; i++)
		memcpy(dst + i * known, (const char *)r.at + (size_t)i * r.stride, known);
	return dst;
}

#define COPY(view, type)                                                                           \
	do {                                                                                       \
		(view).at = copy_rows(a, ROWS(view), sizeof(type));                                \
		(view).stride = sizeof(type);                                                      \
	} while (0)

const struct hop_plugin *
hr_table_copy(struct hr_arena *a, const struct hop_plugin *p)
{
	struct hop_plugin *copy = HR_NEW(a, struct hop_plugin);
	const struct hop_op **list = HR_ARRAY(a, p->n_ops ? p->n_ops : 1, const struct hop_op *);

	*copy = *p;
	copy->size = sizeof *copy;
	copy->ops = list;
	for (uint32_t i = 0; i < p->n_ops; i++) {
		struct hop_op *op = HR_NEW(a, struct hop_op);

		*op = *p->ops[i];
		op->size = sizeof *op;
		COPY(op->ports, struct hop_port);
		COPY(op->params, struct hop_param);
		COPY(op->counters, struct hop_counter);
		COPY(op->axes, struct hop_axis);
		COPY(op->afters, struct hop_after);
		list[i] = op;
	}
	return copy;
}
