/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the verb run: processes, threads, signals, the end, and who was to blame.
 *
 * hr_run wires the plan, starts a child process for each process of the plan
 * (or threads of this one), supervises them to the end and returns what
 * happened.  It always comes back, with every child reaped and nothing left
 * behind.
 */
#ifndef HR_RUN_H
#define HR_RUN_H

#include "plan/plan.h"
#include "wire/page.h"

struct hr_run_options {
	const struct hr_load_options *load; /* as loaded: children load the same texts */
	const struct hr_plugin_dirs *dirs;
	const struct hr_doc *doc;
	bool in_process; /* no children: for gdb and perf */
	bool quiet;      /* no progress, no info lines */
	bool progress;   /* lines on stderr while running: "12.0 s  1200 frames ..." */
	bool reserved[5];
	void (*say)(const char *line); /* log and progress lines while running; NULL: dropped */
	int64_t duration_ns;           /* 0: none */
	int64_t count;                 /* messages per source; 0: none */
	int64_t stall_timeout_ns;      /* 0: the graph's */
	int64_t stop_grace_ns;         /* 0: the graph's */
	int32_t log_level;             /* HOP_LOG_* */
};

/* A cause or a consequence, in a sentence. */
struct hr_incident {
	struct hr_span at;   /* the node in the graph; line 0: none */
	const char *node;    /* NULL: none */
	const char *process; /* NULL: none */
	const char *text;
	uint64_t when_ns;
	struct hr_incident *next;
};

enum hr_reason {
	HR_REASON_ENDED,  /* every source ended */
	HR_REASON_SIGNAL, /* stopped cleanly by SIGINT, SIGTERM, SIGHUP */
	HR_REASON_DURATION,
	HR_REASON_COUNT,
	HR_REASON_FAILED,  /* exit 1 or 3 */
	HR_REASON_STALLED, /* 5 */
	HR_REASON_KILLED,  /* 6 */
	HR_REASON_FORCED,  /* second signal: 130, 143, 129 */
};
extern const char *const hr_reason_name[];

struct hr_outcome {
	int exit_code;
	enum hr_reason reason;
	int signal;                /* that stopped it, or 0 */
	struct hr_incident *first; /* first cause, then its consequences, in order of time */
	struct hr_page *page;      /* a private copy for the report; NULL: nothing ran */
	int64_t start_ns, end_ns;  /* go to the last process's end, CLOCK_MONOTONIC */
	int64_t start_unix_ns;
	uint64_t supervisor_cpu_ns;
	uint64_t run_id;
};

/* Diagnostics (exit 3) are for what is refused before anything started; the rest is in the
 * outcome.  Returns 0 when something ran, -1 when d has the errors. */
int hr_run(struct hr_arena *a, const struct hr_plan *p, const struct hr_run_options *opt,
	   struct hr_outcome *out, struct hr_diags *d);

/* The other side of it: main() of a child process; returns its exit code.  What it gets on its
 * command line is in run/bundle.h; env as in struct hr_load_options. */
int hr_child_main(int argc, char **argv, const char *(*env)(const char *name));
/* True if this command line is a child's. */
bool hr_is_child(int argc, char **argv);

#endif
