/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holorun/holorun.h - run graphs from a C program: the verbs of the command line.
 *
 * A session takes one graph from text to report, one verb after the other:
 * load, validate, plan, run (which wires first), report.  Each returns 0, or the
 * exit code that the command line would give (2: the request is wrong, 3: this
 * machine cannot, ...), and holorun_diagnostics says why; -EINVAL means that a
 * verb before it is missing.  Nothing is printed and the environment is not read.
 *
 * Threads.  A session belongs to one thread; a process should be single-threaded
 * when it plans and runs, since both start children.  Two sessions do not run at
 * once in one process.
 *
 * Processes.  The processes of a graph are children that execute this same
 * program.  main() must therefore begin with
 *
 *	if (holorun_is_child(argc, argv))
 *		return holorun_child_main(argc, argv);
 *
 * unless every run sets in_process.  Signals: during holorun_run, SIGINT, SIGTERM
 * and SIGHUP stop the graph.
 */
#ifndef HOLORUN_HOLORUN_H
#define HOLORUN_HOLORUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct holorun;

int holorun_is_child(int argc, char **argv);
int holorun_child_main(int argc, char **argv);

/* Never NULL: when memory ends, so does the process (exit 3). */
struct holorun *holorun_open(void);
/* Texts that the session returned are gone afterwards.  NULL is allowed. */
void holorun_close(struct holorun *h);

/* What the command line's options say; before holorun_load.  Texts are copied. */
void holorun_plugin_path(struct holorun *h, const char *dir); /* --plugin-path, repeats */
void holorun_overlay(struct holorun *h, const char *file);    /* -f, repeats */
void holorun_knob(struct holorun *h, const char *name, const char *value); /* -k, repeats */
void holorun_preset(struct holorun *h, const char *name);                  /* --preset */

/* ---- the verbs, in this order ---- */

int holorun_load(struct holorun *h, const char *file);
/* Knobs, nodes, edges and places; what concerns plugins is the plan's. */
int holorun_validate(struct holorun *h);
/* topology: NULL for this machine; else hwloc XML or "pack:2 core:8", and then it cannot be run. */
int holorun_plan(struct holorun *h, const char *topology);

struct holorun_run_options {
	uint32_t size;       /* of this struct, as compiled */
	uint32_t in_process; /* no children: every process of the graph as threads of this one */
	int64_t duration_ns; /* 0: none */
	int64_t count;       /* messages per source; 0: no limit */
	int64_t stall_timeout_ns; /* 0: the graph's */
	int64_t stop_grace_ns;    /* 0: the graph's */
	/* Log lines of ops, without newline, on the calling thread; NULL: dropped. */
	void (*say)(const char *line);
};
/* Blocks until the graph has ended.  opt: NULL for the defaults.  Books that do not balance fail
 * the run. */
int holorun_run(struct holorun *h, const struct holorun_run_options *opt);

enum holorun_format { HOLORUN_TEXT, HOLORUN_JSON, HOLORUN_CSV };
/* After holorun_run: the summary, result.json or results.csv.  After holorun_plan: the plan as text
 * or JSON.  NULL: nothing to report in this format.  Kept until holorun_close. */
const char *holorun_report(struct holorun *h, uint32_t format);
/* Errors and warnings so far, and after a run what went wrong, first cause first; "" if nothing.
 * Kept until holorun_close. */
const char *holorun_diagnostics(struct holorun *h);

#ifdef __cplusplus
}
#endif
#endif /* HOLORUN_HOLORUN_H */
