/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - the steps of binding, in order.  Each is a file of its own.
 */
#include "plugin/bind.h"
#include "plugin/binding.h"

struct hr_bound *
hr_bind(struct hr_arena *a, const struct hr_graph *g, const struct hr_plugins *plugins,
	struct hr_diags *d)
{
	struct hr_bound *b = HR_NEW(a, struct hr_bound);
	struct hr_binding x = { .a = a,
				.g = g,
				.plugins = plugins,
				.d = d,
				.b = b,
				.incomplete = HR_ARRAY(a, g->n_nodes + 1, bool) };

	b->graph = g;
	b->plugins = plugins;
	b->node = HR_ARRAY(a, g->n_nodes + 1, struct hr_bound_node);
	b->edge = HR_ARRAY(a, g->n_edges + 1, struct hr_bound_edge);
	hr_bind_ops(&x);
	hr_bind_values(&x);
	hr_bind_edges(&x);
	hr_bind_order(&x);
	hr_bind_shapes(&x);
	if (!d->n_errors) /* what a misspelt input leaves unread is no second fault */
		hr_bind_unread(&x);
	return b;
}
