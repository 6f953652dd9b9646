/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - where everything runs and what carries every edge.  Immutable.
 *
 * Pure: a bound graph and a machine in, a plan or diagnostics out; no thread, no
 * shared memory, no device.  Two processes that plan the same inputs get the
 * same plan, which is how children learn theirs (digest).
 */
#ifndef HR_PLAN_H
#define HR_PLAN_H

#include "plan/machine.h"
#include "plugin/bind.h"

enum hr_carriage {
	HR_SAME_THREAD,
	HR_OTHER_THREAD,
	HR_SHARED_MEMORY, /* another process */
};

/* A thread of one process, pinned to one CPU, that owns its nodes. */
struct hr_plan_worker {
	const char *name; /* of the partition; "part/node" for a BLOCKS node's own */
	uint32_t process;
	int32_t cpu;        /* OS number; -1: not pinned (no CPU named and none free of owners) */
	uint32_t partition; /* in graph->partition; UINT32_MAX: the default one */
	enum hr_wait wait;  /* resolved; adaptive keeps its name */
	bool shares_cpu;    /* another worker has the same CPU: adaptive does not spin */
	bool watches;       /* has an HOP_F_FD op: sleeps in epoll */
	bool blocks;        /* one HOP_F_BLOCKS node, its own thread */
	enum hr_sched sched;
	int32_t priority;
	bool sched_required;
	uint32_t n_nodes;
	const uint32_t *node; /* graph nodes in the order they are called: writers first */
};

struct hr_plan_process {
	const char *name;
	enum hr_on_failure on_failure; /* of all its nodes: a crash takes them together */
	int64_t restart_max;           /* the least of them; 0: no limit */
	int64_t backoff_ns;            /* the longest of them */
	uint32_t n_workers;
	const uint32_t *worker;
};

struct hr_plan_edge {         /* parallel to graph->edge */
	uint32_t chan;        /* the channel it reads from */
	uint32_t reader;      /* its reader number there */
	uint32_t depth;       /* of that queue; pieces if it gathers */
	uint32_t gather_chan; /* assembled messages for the node; UINT32_MAX: no gather */
	uint32_t want;        /* max(1, need, min_batch) */
	uint32_t max_in;      /* largest in.count */
	enum hr_when_full when_full;
	enum hr_carriage carriage;
	const char *why; /* "copies: gather at the reader", or NULL when zero-copy */
};

struct hr_plan_chan {
	uint32_t node;     /* writer; for a gather's channel the node that reads it */
	uint32_t out;      /* index into its out[] */
	uint32_t gathers;  /* the edge whose gather writes this one; UINT32_MAX: an op's output */
	uint32_t max_out;  /* largest out.count = loans */
	uint32_t slots;    /* = max_out + newest + dropping + keeps */
	uint32_t newest;   /* largest depth over block and fail readers */
	uint32_t dropping; /* sum of the depths of drop_newest readers */
	uint32_t keeps;    /* sum of what readers may hold back */
	uint32_t align;
	uint32_t n_readers;     /* 0: nobody reads; loans only */
	const uint32_t *edge;   /* per reader */
	const uint32_t *depth;  /* per reader: queue depth (for a gather's channel: assembled) */
	uint64_t payload_bytes; /* capacity of a slot */
	uint64_t bytes;         /* of its segment */
	bool shared;            /* memfd */
	uint32_t index;
	struct hop_format format;
};

struct hr_plan_node { /* parallel to graph->node */
	uint32_t worker;
	uint32_t *out_chan; /* per output */
};

struct hr_plan {
	const struct hr_graph *graph;
	const struct hr_bound *bound;
	const struct hr_machine *machine;
	struct hr_plan_process *process; /* parallel to graph->process; those without nodes have 0
					  * workers */
	struct hr_plan_worker *worker;
	struct hr_plan_edge *edge;
	struct hr_plan_chan *chan;
	struct hr_plan_node *node;
	uint32_t n_processes, n_workers, n_chans;
	uint32_t n_notes;
	const char *const *note; /* worth knowing, nothing to change: "CPU 0 is shared by ..." */
	bool proven;             /* free of deadlock by its shape alone */
	const char *freedom;     /* "proven: ..." or "not proven: ..." */
	uint64_t memory_bytes;   /* the whole bill */
	uint64_t digest;         /* of everything above that two processes must agree on */
};

struct hmq_config;
struct hmq_reader_config;

struct hr_plan *hr_plan_make(struct hr_arena *a, const struct hr_bound *b,
			     const struct hr_machine *m, struct hr_diags *d);
/* The channel as HoloMQ wants to hear it; reader: room for chan[i].n_readers, kept by cfg.  The
 * bytes of the plan come from the same call. */
void hr_plan_chan_config(const struct hr_plan *p, uint32_t chan, struct hmq_reader_config *reader,
			 struct hmq_config *cfg);
/* `holorun plan`: text for people, JSON, DOT. */
char *hr_plan_text(struct hr_arena *a, const struct hr_plan *p);
char *hr_plan_json(struct hr_arena *a, const struct hr_plan *p);
char *hr_plan_dot(struct hr_arena *a, const struct hr_plan *p);

#endif
