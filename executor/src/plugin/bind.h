/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.h - a graph whose nodes are ops: ports, parameters and formats known.
 *
 * Binding finds each node's op, fills its parameter struct, joins edges to port
 * numbers and calls shape() along the edges.  Pure apart from shape(), which is
 * the op's own pure function; hr_probe calls everything first in a child that
 * may crash.  Arrays are parallel to those of the hr_graph.
 */
#ifndef HR_BIND_H
#define HR_BIND_H

#include "plugin/plugin.h"

struct hr_port_in { /* an input of one node; a port array gives one per position */
	const struct hop_port *port;
	uint32_t table_index; /* of the port in the op's table */
	uint32_t edge;        /* UINT32_MAX: not connected */
	uint32_t need;        /* messages wanted at once, >= 1; after a gather */
	uint32_t keeps;
	struct hop_format format; /* as the op sees it: after a gather */
};

struct hr_port_out {
	const struct hop_port *port;
	uint32_t table_index;
	uint32_t gives;   /* 0: unknown */
	uint32_t n_edges; /* 0: nobody reads it */
	struct hop_format format;
};

struct hr_bound_node {
	const struct hop_op *op; /* NULL: not bound (an error was reported) */
	const struct hr_plugin *plugin;
	void *params;         /* params_size bytes, filled; texts in the arena */
	bool fallback;        /* device: auto chose the CPU though another was offered */
	uint32_t device;      /* HOP_ON_CPU, HOP_ON_CUDA */
	uint32_t n_in, n_out; /* in table order, port arrays expanded */
	struct hr_port_in *in;
	struct hr_port_out *out;
	uint64_t extent[HOP_MAX_AXES];
};

struct hr_bound_edge {
	uint32_t from, out; /* writer node, index into its out[] */
	uint32_t to, in;    /* reader node, index into its in[] */
};

struct hr_bound {
	const struct hr_graph *graph;
	const struct hr_plugins *plugins;
	struct hr_bound_node *node; /* graph->n_nodes */
	struct hr_bound_edge *edge; /* graph->n_edges */
	uint32_t *order; /* nodes so that writers come before readers; cut at `initial` */
};

/* Errors go to d (exit 2 for the graph, 3 for plugins and devices).  The result is complete only
 * if d->n_errors stayed the same. */
struct hr_bound *hr_bind(struct hr_arena *a, const struct hr_graph *g,
			 const struct hr_plugins *plugins, struct hr_diags *d);

/*
 * Load the plugins and call every shape() in a child process first.  0: the
 * child ended cleanly and this process may do the same.  Else a diagnostic
 * (exit 3) that names plugin, op and callback, and -1.  Time limit 10 s (CPU
 * time 10 s too).  The caller must be single-threaded.
 */
int hr_probe(struct hr_arena *a, const struct hr_graph *g, const struct hr_plugin_dirs *dirs,
	     struct hr_diags *d);

/* `ops list` and `ops describe`: text for people or JSON.  Listing runs in a child, with a time
 * limit per folder; a plugin that crashes it is listed as such. */
int hr_ops_list(struct hr_arena *a, const struct hr_plugin_dirs *dirs, bool json, const char **text,
		struct hr_diags *d);
int hr_ops_describe(struct hr_arena *a, const struct hr_plugin_dirs *dirs, const char *op,
		    bool json, const char **text, struct hr_diags *d);

#endif
