/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - echo and record: the messages of one edge of a running graph.
 *
 * Both only look (tap.c): the edge keeps its transport, its policy and its pace.  What
 * could not be seen is counted and said; a recording that misses something is marked
 * INCOMPLETE.  Between messages we sleep a little, or spin if asked to, since nobody
 * wakes us.
 */
#include <string.h>

#include "tool.h"

#define SHORT_NS 20000
#define LONG_NS 1000000
#define SPINS 2000u /* looks before the first sleep: some tens of microseconds */

struct watch {
	const struct options *o;
	struct run *runs, *run;
	uint32_t n_runs;
	struct edge *edge;
	struct tap tap;
	int64_t until; /* INT64_MAX: no end */
	uint32_t idle;
};

static int
open_watch(struct watch *w, const struct options *o)
{
	int rc = runs_pick(o->run, &w->runs, &w->n_runs, &w->run);

	w->o = o;
	if (rc)
		return rc;
	w->edge = run_edge(w->run, o->word[0]);
	if (!w->edge)
		rc = tool_fail(EXIT_USAGE, "run %lld has no edge '%s' (holomq list)",
			       (long long)w->run->pid, o->word[0]);
	else if (!w->edge->seg.base)
		rc = tool_fail(EXIT_MACHINE,
			       "edge %s -> %s lies inside one process: only its counters can be "
			       "seen from outside; put its ends in two processes to look into it",
			       w->edge->from, w->edge->to);
	else
		rc = tap_open(&w->tap, &w->edge->seg, w->edge->reader);
	if (rc) {
		runs_free(w->runs, w->n_runs);
		return rc;
	}
	w->until = o->duration_ns ? tool_now_ns() + o->duration_ns : INT64_MAX;
	tool_catch_signals();
	return 0;
}

static void
close_watch(struct watch *w)
{
	tap_close(&w->tap);
	runs_free(w->runs, w->n_runs);
}

enum why { A_MESSAGE, ENDED, ASKED, CUT };

/* The next message, or why there is none. */
static enum why
next(struct watch *w)
{
	for (;;) {
		int rc;

		if (w->o->count && w->tap.seen >= w->o->count)
			return ASKED;
		rc = tap_next(&w->tap);
		if (rc > 0) {
			w->idle = 0;
			return A_MESSAGE;
		}
		if (rc < 0)
			return ENDED;
		if (tool_stopped())
			return CUT;
		if (tool_now_ns() >= w->until)
			return ASKED;
		w->idle++;
		if (w->o->spin || w->idle < SPINS)
			continue;
		if (w->idle % 64 == 0 && run_is_over(w->run))
			return tap_next(&w->tap) > 0 ? A_MESSAGE : CUT;
		tool_pause(w->idle < 2 * SPINS ? SHORT_NS : LONG_NS);
	}
}

/* The counts, and what they mean for the exit code. */
static int
conclude(const struct watch *w, const char *what)
{
	if (w->tap.missed == 0)
		return EXIT_DONE;
	tool_fail(0, "INCOMPLETE: %llu messages %s, %llu missed on %s -> %s",
		  (unsigned long long)w->tap.seen, what, (unsigned long long)w->tap.missed,
		  w->edge->from, w->edge->to);
	return w->o->deny_drops ? EXIT_DENIED : EXIT_DONE;
}

/* ---- echo ------------------------------------------------------------------------------- */

static void
print_message(const struct watch *w)
{
	const struct hmq_head *h = &w->tap.head;
	uint64_t n = h->bytes < w->o->bytes ? h->bytes : w->o->bytes;

	if (w->o->is_json)
		printf("{\"born_ns\":%lld,\"bytes\":%llu,\"data\":\"", (long long)h->born_ns,
		       (unsigned long long)h->bytes);
	else
		printf("%10llu %8llu %4u %10llu  ", (unsigned long long)h->seq,
		       (unsigned long long)h->frame, h->index, (unsigned long long)h->bytes);
	for (uint64_t i = 0; i < n; i++)
		printf("%02x", w->tap.data[i]);
	if (w->o->is_json)
		printf("\",\"frame\":%llu,\"index\":%u,\"seq\":%llu,\"stream\":%u}\n",
		       (unsigned long long)h->frame, h->index, (unsigned long long)h->seq,
		       h->stream);
	else
		puts(n < h->bytes ? " .." : "");
}

int
tool_echo(const struct options *o)
{
	struct watch w = { 0 };
	int rc = open_watch(&w, o);

	if (rc)
		return rc;
	if (!o->is_json)
		printf("%10s %8s %4s %10s  payload\n", "seq", "frame", "idx", "bytes");
	while (next(&w) == A_MESSAGE) {
		print_message(&w);
		if (w.idle == 0 && fflush(stdout))
			break;
	}
	rc = conclude(&w, "shown");
	close_watch(&w);
	return rc;
}

/* ---- record ----------------------------------------------------------------------------- */

int
tool_record(const struct options *o)
{
	struct record_writer file;
	struct watch w = { 0 };
	enum why why;
	int rc = open_watch(&w, o);

	if (rc)
		return rc;
	rc = record_create(&file, o->word[1], w.edge);
	if (!rc) {
		while ((why = next(&w)) == A_MESSAGE && !rc)
			rc = record_add(&file, &w.tap.head, w.tap.data);
		if (record_finish(&file, !rc && why != CUT && w.tap.missed == 0, w.tap.missed))
			rc = EXIT_FAILED;
		if (!rc)
			rc = conclude(&w, "recorded");
		if (!rc && o->is_json)
			printf("{\"missed\":%llu,\"records\":%llu}\n",
			       (unsigned long long)w.tap.missed, (unsigned long long)file.records);
		else if (!rc)
			printf("%llu messages recorded\n", (unsigned long long)file.records);
	}
	close_watch(&w);
	return rc;
}
