/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding.h - the state of one hr_bind, shared by the files that do its steps.
 *
 * Each step reports what it finds and goes on with what is left, so that one
 * run shows all errors; a node that a step gave up on has op NULL.
 */
#ifndef HR_BINDING_H
#define HR_BINDING_H

#include "base/text.h"
#include "plugin/bind.h"

#define HR_NO_INDEX UINT32_MAX

struct hr_binding {
	struct hr_arena *a;
	const struct hr_graph *g;
	const struct hr_plugins *plugins;
	struct hr_diags *d;
	struct hr_bound *b;
	struct hr_strings op_names; /* of all loaded plugins */
	bool *missing_known;        /* per node: its op is taken to be in a plugin that failed */
	bool *incomplete; /* per node: a parameter or input is missing, so not to be shaped */
};

/* ops.c: find an op for each node, and report plugins that could not be loaded. */
void hr_bind_ops(struct hr_binding *x);
/* values.c: fill each node's params struct. */
void hr_bind_values(struct hr_binding *x);
/* order.c: writers before readers; a circle without `initial` is an error. */
void hr_bind_order(struct hr_binding *x);
/* edges.c: join edges to ports, report what is left open. */
void hr_bind_edges(struct hr_binding *x);
/* Ordinary outputs that nobody reads: a warning each. */
void hr_bind_unread(struct hr_binding *x);
/* shape.c: call shape() along the edges. */
void hr_bind_shapes(struct hr_binding *x);

#endif
