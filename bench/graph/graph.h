/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - rows that run graphs with the real holorun, as a user would.
 *
 * The executable is a child; its JSON is the only thing looked at.  A run counts
 * when it exits with 0, the sink's own check found every message in order and
 * nothing was lost: anything else is a failed row, whatever the time.
 */
#ifndef HB_GRAPH_H
#define HB_GRAPH_H

#include "ends.h"

enum { HB_MAX_ARGS = 24 };

struct hb_run {           /* of one graph */
	double p50_ns;    /* at the sink, from the due time to after its call */
	double worker_ns; /* CPU time of the only worker; 0 when there are several */
	double delivered;
};

/*
 * `holorun FILE args... --format json`; args ends with NULL.  `messages` must arrive.  False: *why
 * is what to return from the row.
 */
bool hb_holorun(const struct hb_env *env, const char *file, const char *const *args,
		uint32_t messages, struct hb_run *out, double *why);

/* Rows. */
enum {
	HB_SPIN = 0,
	HB_SLEEP = 1,       /* the receiver sleeps, the sender spins until a message is due */
	HB_BOTH_SLEEP = 2,  /* so does the sender */
	HB_APART = 1u << 4, /* two processes; else two threads */
};
double hb_one_to_one(const struct hb_env *env, int how);
double hb_chain_latency(const struct hb_env *env, int arg);
double hb_host_cost(const struct hb_env *env, int batch);
/* process() of std/copy called on prepared windows, per message. */
double hb_bare_copy(const struct hb_env *env, int batch);

#endif
