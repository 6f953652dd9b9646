/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - the graph as the user meant it: one resolved, immutable object.
 *
 * validate (model/validate.c) makes it from the documents: overlays merged,
 * knobs resolved, values substituted, every key known and in place.  Ops are
 * still names and parameters still values: binding them to plugin tables is the
 * next room's (plugin/bind.h).  Indices are positions in the arrays here, in
 * file order.
 */
#ifndef HR_GRAPH_H
#define HR_GRAPH_H

#include "base/names.h"
#include "model/value.h"
#include "yaml/doc.h"

struct hr_name { /* a name and where it stands */
	const char *text;
	struct hr_span at;
};

struct hr_graph_plugin {
	struct hr_name path; /* as written, substituted */
	const char *dir;     /* of the file that names it, absolute: where "./x.so" starts */
	bool optional;
};

struct hr_knob {
	struct hr_name name;
	enum hr_type type;
	struct hr_value value;         /* in force */
	struct hr_value def, min, max; /* type HR_T_TEXT with text NULL: none */
	const char *const *choices;
	uint32_t n_choices;
	const char *help;
	const char *set_by; /* "default", "preset smoke", "-k", "overlay x.yaml" */
};

struct hr_param_value { /* node.params.<name> */
	struct hr_name name;
	struct hr_value value;       /* a scalar */
	const struct hr_value *list; /* or a list of scalars */
	uint32_t n_list;
	bool is_list;
	bool is_broken; /* an error was reported about it: say nothing more */
};

enum hr_when_full { /* = hmq policies */
		    HR_FULL_BLOCK,
		    HR_FULL_DROP_NEWEST,
		    HR_FULL_FAIL,
		    HR_FULL_DROP_OLDEST
};
enum hr_missing { HR_MISSING_DROP, HR_MISSING_ZERO, HR_MISSING_NAN };

struct hr_gather {
	struct hr_span at;
	int64_t count;   /* pieces of a frame, >= 1 */
	bool by_stream;  /* by: [frame, stream] */
	bool any_order;  /* order: any */
	uint32_t window; /* open frames, >= 1 */
	enum hr_missing missing;
	int64_t min_valid;  /* pieces below which a partial frame is dropped; 0 */
	int64_t timeout_ns; /* 0: none */
};

struct hr_edge {                  /* one output feeding one input */
	uint32_t to;              /* reader node */
	uint32_t from;            /* writer node, UINT32_MAX: unknown (an error was reported) */
	struct hr_name input;     /* reader's port */
	struct hr_name source;    /* as written: "src" or "src.out" */
	struct hr_name from_name; /* node part of source */
	const char *output;       /* port part of source; NULL: not given */
	struct hr_span output_at;
	uint32_t slot; /* position in a port array (list form); 0 otherwise */
	bool is_list;  /* written as a list */
	bool has_depth;
	bool has_when_full;
	uint32_t depth;          /* asked (edge, else defaults.channel); 0: unset */
	struct hr_span depth_at; /* of the edge's own or of the default's depth */
	enum hr_when_full when_full;
	uint32_t initial; /* messages that close a loop; 0: none */
	struct hr_span initial_at;
	const struct hr_gather *gather; /* NULL: none */
};

/* What becomes of the graph when a node fails or its process dies. */
enum hr_on_failure {
	HR_ON_FAILURE_STOP,    /* the graph stops */
	HR_ON_FAILURE_DETACH,  /* the rest goes on without it */
	HR_ON_FAILURE_RESTART, /* its process is started again */
};

struct hr_node {
	struct hr_name name;
	struct hr_name op;        /* "radar/cfar" or "radar/cfar@libA" */
	struct hr_name device;    /* text "cpu" | "cuda" | "auto"; line 0 if not written ("auto") */
	struct hr_span params_at; /* of the params map, else of the node name */
	const struct hr_param_value *param;
	uint32_t n_params;
	uint32_t first_edge; /* its inputs are edges [first_edge, first_edge + n_edges) */
	uint32_t n_edges;
	uint32_t partition; /* index, UINT32_MAX: none named */
	bool end_any;       /* end: any */
	enum hr_on_failure on_failure;
	struct hr_span on_failure_at; /* line 0: not written */
	int64_t restart_max; /* restarts of the process before the graph stops; 0: no limit */
	int64_t backoff_ns;  /* before the first restart; doubles up to 32 times that */
	bool inputs_broken; /* its inputs were refused or misspelled: say nothing about missing ones
			     */
	bool params_broken; /* the same for params */
};

/* A key beside `op` that no node has.  Reported already; binding adds a help if the op has a
 * parameter of that name. */
struct hr_unknown_key {
	uint32_t node;
	struct hr_name key;
	struct hr_diag *diag;
};

enum hr_wait { HR_WAIT_SPIN, HR_WAIT_ADAPTIVE, HR_WAIT_SLEEP };
enum hr_sched { HR_SCHED_OTHER, HR_SCHED_FIFO, HR_SCHED_RR };

struct hr_partition {
	struct hr_name name;
	const uint32_t *node; /* indices, as listed */
	uint32_t n_nodes;
	uint32_t process;    /* index into processes */
	struct hr_name cpus; /* text of the list; line 0: not given */
	enum hr_wait wait;
	struct hr_span wait_at; /* line 0: defaulted (adaptive) */
	enum hr_sched sched;
	int32_t priority;
	bool sched_required; /* default true when sched is given */
	bool exclusive;
	struct hr_span sched_at;
};

struct hr_process {
	struct hr_name name; /* "main" first, always there */
};

struct hr_graph {
	const char *name;
	const char *about;
	const struct hr_file *file; /* the first one */
	const struct hr_graph_plugin *plugin;
	const struct hr_knob *knob;
	const struct hr_node *node;
	const struct hr_edge *edge; /* sorted by reader, then file order */
	const struct hr_partition *partition;
	const struct hr_process *process;
	const struct hr_unknown_key *unknown_key; /* of nodes */
	uint32_t n_plugins, n_knobs, n_nodes, n_edges, n_partitions, n_processes;
	uint32_t n_unknown_keys;
	const struct hr_names *node_names; /* for hr_graph_find_node */
	int64_t stall_timeout_ns;          /* defaults.stall_timeout, 10 s */
	int64_t stop_grace_ns;             /* defaults.stop_grace, 3 s */
	const char *preset;                /* asked for, or NULL */
};

/* What comes from the command line beside the files. */
struct hr_setting { /* -k name=value */
	const char *name;
	const char *value;
};
struct hr_load_options {
	const char *file;           /* the graph */
	const char *const *overlay; /* -f, left to right */
	uint32_t n_overlays;
	uint32_t n_settings;
	const struct hr_setting *setting;
	const char *preset; /* NULL: none */
	/* NULL: files are read from disk.  Else every file named is looked up here (by the name a
	 * message would show), which is how a child process sees the very same text. */
	const struct hr_file *const *snapshot;
	uint32_t n_snapshot;
	/* The environment for ${env:X}; NULL, or a NULL answer: not set. */
	const char *(*env)(const char *name);
	/* Where endpoints lie that name no folder; NULL: they must. */
	const char *endpoint_dir;
};

/* What load made: the parsed texts, in order: graph, overlays. */
struct hr_doc {
	const struct hr_file **file;
	const struct hr_yaml **root;
	uint32_t n; /* texts: the graph, then overlays */
	uint32_t reserved;
	const struct hr_file **option; /* one for each -k: "-k n=5", for messages to point into */
};

/* load: files to trees.  NULL when any of them cannot be parsed (diagnostics added). */
struct hr_doc *hr_load(struct hr_arena *a, const struct hr_load_options *opt, struct hr_diags *d);
/* validate: trees to graph.  Returns a graph even when there are errors, as complete as it can be,
 * so that binding can add its own findings; NULL only when nothing sensible is left.  Check
 * d->n_errors before going on. */
struct hr_graph *hr_validate(struct hr_arena *a, const struct hr_doc *doc,
			     const struct hr_load_options *opt, struct hr_diags *d);
/* Index by name, or UINT32_MAX. */
uint32_t hr_graph_find_node(const struct hr_graph *g, const char *name);

/* Where in the language a key is at home: "a node key", "a partition key"; NULL: nowhere. */
const char *hr_key_home(const char *key);
/* What to do with it: "move it into a node, beside `op`"; NULL: nowhere. */
const char *hr_key_move(const char *key);

#endif
