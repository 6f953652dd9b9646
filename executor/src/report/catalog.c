// SPDX-License-Identifier: Apache-2.0
/*
 * catalog.c - the endpoints of a graph as a file for the programs outside it.
 *
 * Contracts are put together from the parameters and formats that binding settled,
 * as the plugin holomq does when it exports; an integration test compares the two.
 * The file is written only when it would differ.
 */
#include <string.h>

#include <holomq/holomq.h>

#include "report/report.h"

_Static_assert(HOP_MAX_RANK == HMQ_MAX_RANK, "dimensions are copied");

/* A parameter's place; NULL: the op has none of this name and width. */
static const void *
param(const struct hr_bound_node *n, const char *name, uint32_t width)
{
	for (uint32_t i = 0; i < n->op->params.count; i++) {
		const struct hop_param *p = &n->op->params.at[i];

		if (!strcmp(p->name, name) && p->width == width)
			return (const char *)n->params + p->offset;
	}
	return NULL;
}

static int64_t
number(const struct hr_bound_node *n, const char *name, int64_t otherwise)
{
	const int64_t *v = param(n, name, sizeof *v);

	return v ? *v : otherwise;
}

static const char *
text(const struct hr_bound_node *n, const char *name)
{
	const char *const *v = param(n, name, sizeof *v);

	return v && *v ? *v : "";
}

static bool
is_set(const struct hr_bound_node *n, const char *name)
{
	const uint8_t *v = param(n, name, sizeof *v);

	return v && *v;
}

/* By its word: choices of the two ops differ. */
static uint32_t
policy(const struct hr_bound_node *n)
{
	static const char *const words[] = { "block", "drop_newest", "fail", "drop_oldest" };
	const int32_t *v = param(n, "when_full", sizeof *v);

	for (uint32_t i = 0; v && i < n->op->params.count; i++) {
		const struct hop_param *p = &n->op->params.at[i];

		for (uint32_t k = 0; !strcmp(p->name, "when_full") && k < 4; k++)
			if (!strcmp(p->choices[*v], words[k]))
				return k;
	}
	return HMQ_BLOCK;
}

static void
describe(const struct hr_bound_node *n, const struct hop_format *f, struct hmq_export *e)
{
	bool writes = n->n_in > 0;
	int64_t depth = number(n, "depth", 0);

	*e = (struct hmq_export){
		.size = sizeof *e,
		.role = writes ? HMQ_ROLE_WRITER : HMQ_ROLE_READER,
		.seats = (uint32_t)number(n, "seats", 1),
		.dir = text(n, "dir"),
		.name = text(n, "name"),
		.contract = { .depth = depth ? (uint32_t)depth : 16,
			      .policy = policy(n),
			      .wake = HMQ_WAKE_SLEEP,
			      .max_bytes = f->max_bytes,
			      .layout = (uint64_t)number(n, "layout", 0) },
	};
	strncpy(e->contract.kind, text(n, "kind"), sizeof e->contract.kind - 1);
	if (f->rank == 0)
		return;
	e->contract.dtype = (struct hmq_dtype){ f->dtype.code, f->dtype.bits, f->dtype.lanes };
	e->contract.rank = f->rank;
	memcpy(e->contract.dim, f->dim, sizeof e->contract.dim);
}

int
hr_report_catalog(struct hr_arena *a, const struct hr_plan *plan, const char *path,
		  struct hr_diags *d)
{
	const struct hr_bound *b = plan->bound;
	struct hmq_export *list = HR_ARRAY(a, plan->graph->n_nodes + 1u, struct hmq_export);
	struct hmq_error err = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->graph->n_nodes; i++) {
		const struct hr_bound_node *node = &b->node[i];

		if (!strcmp(node->op->name, "holomq/export"))
			describe(node, &node->in[0].format, &list[n++]);
		else if (!strcmp(node->op->name, "holomq/import") && is_set(node, "serve"))
			describe(node, &node->out[0].format, &list[n++]);
	}
	if (hmq_catalog_write(path, list, n, &err) >= 0)
		return 0;
	hr_error(d, HR_NOWHERE, 391, "--catalog %s: %s", path, err.text);
	return -1;
}
