/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - what the files that make a graph share.
 *
 * One struct hr_build lives for one hr_validate call.  The take_ functions turn
 * a tree's node into what its place needs, report what does not fit, and return
 * NULL or false then; absent is not wrong.
 */
#ifndef HR_MODEL_INTERNAL_H
#define HR_MODEL_INTERNAL_H

#include "base/text.h"
#include "model/expr.h"
#include "model/graph.h"
#include "model/schema.h"

enum { HR_MAX_GRAPH_NODES = 100000, HR_MAX_NAME = 63 };

struct hr_knob_build; /* knobs.c */

struct hr_build {
	struct hr_arena *arena;
	struct hr_diags *diags;
	const struct hr_doc *doc;
	const struct hr_load_options *opt;
	const struct hr_yaml *root;   /* everything merged */
	const struct hr_yaml *preset; /* the one asked for, or NULL */
	struct hr_graph *graph;
	struct hr_scope scope;
	struct hr_knob_build *knobs;
	struct hr_knob *knob; /* = graph->knob, writable */
	struct hr_names knob_names;
	uint32_t *chain; /* knobs being evaluated, outermost first */
	uint32_t n_chain;
	struct hr_node *node;
	struct hr_names node_names;
	struct hr_edge *edge;
	size_t n_edges, cap_edges;
	struct hr_unknown_key *unknown;
	size_t n_unknown, cap_unknown;
	uint32_t current_node;   /* whose keys are being looked at */
	uint32_t first_endpoint; /* nodes from here on are endpoints */
	uint32_t default_depth;
	struct hr_span default_depth_at;
	enum hr_when_full default_when_full;
};

/* forms.c: the shape of things. */
/* A map, a list or text as wanted; an empty value counts as an empty map or list.  NULL: reported,
 * or p is NULL.  example: how it is written, for the help line. */
const struct hr_yaml *hr_want(struct hr_build *b, const struct hr_yaml *y, enum hr_yaml_kind kind,
			      const char *what, const char *example);
/* A name of node, partition, ...: letters, digits, _ and - (knobs: no -).  False: reported. */
bool hr_want_name(struct hr_build *b, const char *what, const char *name, struct hr_span at,
		  bool is_knob);
/* A scalar with its references replaced. */
bool hr_resolve(struct hr_build *b, const struct hr_yaml *y, const char *what,
		struct hr_value *out);
/* The same, converted to a type. */
bool hr_resolve_as(struct hr_build *b, const struct hr_yaml *y, enum hr_type type, const char *what,
		   struct hr_value *out);
/* ... and one of the names: its position; UINT32_MAX: reported. */
uint32_t hr_resolve_choice(struct hr_build *b, const struct hr_yaml *y, const char *const *names,
			   uint32_t n, const char *what);
/* An int within bounds. */
bool hr_resolve_count(struct hr_build *b, const struct hr_yaml *y, int64_t min, int64_t max,
		      const char *what, int64_t *out);
/* "5 is below the minimum 10": E209 at v, with a note where v was written. */
struct hr_diag *hr_error_value(struct hr_build *b, const struct hr_value *v, uint32_t code,
			       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The value of a key; NULL: not there. */
const struct hr_yaml *hr_at(const struct hr_yaml *map, const char *key);

/* One file each, in the order in which they run. */
void hr_build_knobs(struct hr_build *b); /* knobs.c */
/* A text as a knob's value: type, range, choices.  False: reported. */
bool hr_knob_check(struct hr_build *b, const struct hr_knob *k, const struct hr_yaml *y,
		   bool is_option, struct hr_value *out);
void hr_build_nodes(struct hr_build *b); /* nodes.c */
/* A node of which nothing is known but its name and op. */
void hr_node_init(struct hr_node *n, struct hr_name name, const char *op);
void hr_build_inputs(struct hr_build *b, const struct hr_yaml *inputs,
		     uint32_t node); /* inputs.c */
/* depth and when_full, for edges and for defaults.channel.  False: reported. */
bool hr_take_depth(struct hr_build *b, const struct hr_yaml *y, uint32_t *out);
bool hr_take_when_full(struct hr_build *b, const struct hr_yaml *y, enum hr_when_full *out);
/* Help with the nearest name of a node. */
void hr_suggest_node(struct hr_build *b, struct hr_diag *e, const char *got);
/* endpoints.c: nodes behind those of `nodes`, which makes room for them. */
uint32_t hr_count_endpoints(const struct hr_build *b);
void hr_build_endpoints(struct hr_build *b);
void hr_settle_endpoints(struct hr_build *b); /* with edges linked */
void hr_link_edges(struct hr_build *b);       /* inputs.c: names to nodes */
void hr_check_cycles(struct hr_build *b);     /* cycles.c */
void hr_build_partitions(struct hr_build *b); /* partitions.c */
/* The preset asked for as a tree to merge: {knobs: {name: {default: value}}}; checks all presets.
 */
const struct hr_yaml *hr_preset_find(struct hr_build *b, const struct hr_yaml *merged);
void hr_presets_check(struct hr_build *b); /* presets.c */

#endif
