/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer.h - what a scenario for the explorer on the real sources looks like.
 *
 * HoloMQ's sources and the scenarios are compiled with -fsanitize=thread and linked
 * with the explorer in place of the sanitizer's library: every plain and atomic access
 * to the arena arrives here with address, size and order.  Threads are coroutines;
 * the explorer tries every order of atomic steps that can matter and, for each load,
 * every value that C11 release, acquire and relaxed allow.
 *
 * Limits: the modification order of a word is the order of execution and a load reads
 * only from stores already executed (no load buffering; xp_ordered is the cure); a
 * spin is an assumption (a thread that reads the same values again and again, and does
 * nothing, is dropped); no stand-alone fences; sizes are small.
 */
#ifndef EXPLORER_H
#define EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XP_MAX_THREADS = 4 };

struct xp_scenario {
	const char *name;
	const char *what;    /* one line for people */
	void (*setup)(void); /* once: build everything in the arena; not explored */
	void (*begin)(void); /* before each execution: the scenario's own counters */
	void (*thread[XP_MAX_THREADS])(void);
	int n_threads;
	void (*finish)(void); /* after each whole execution, alone: check what is left */
};

struct xp_result {
	uint64_t executions; /* all, also those below */
	uint64_t whole;      /* every thread ended */
	uint64_t dropped;    /* some thread would have spun on */
	uint64_t repeated;   /* found to be a reordering of one seen before, and cut */
	uint64_t steps;      /* atomic steps of all executions */
	const char *bug;     /* NULL: none in any execution */
};

enum xp_mode {
	XP_REDUCED, /* dynamic partial-order reduction with sleep sets */
	XP_BRUTE,   /* every interleaving: to check the reduction itself */
};

struct xp_result xp_explore(const struct xp_scenario *s, enum xp_mode mode);
/* What the last execution with a bug did, step by step. */
void xp_print_trace(void);

/* ---- in setup --------------------------------------------------------------------------- */

/* Zeroed memory under watch. */
void *xp_alloc(size_t bytes, size_t align);
/* Memory of one thread at a time, not to be shared: a second thread there is a bug. */
void *xp_alloc_private(size_t bytes, size_t align);
/* For traces. */
void xp_name(const void *p, size_t bytes, const char *name, int number);
/* These words are atomic only because a hostile peer may tear them: between honest ends every
 * access to them must be ordered like plain memory. */
void xp_ordered(const void *p, size_t bytes);
/* The same for words at which a thread may glance too early: a load counts only if the thread's
 * next compare-and-swap at `confirmed_at` succeeds. */
void xp_glanced(const void *p, size_t bytes, const void *confirmed_at);
/* Thread `thread` may die before any of its steps; then `mark` is or-ed to the word after all it
 * did, as the kernel does with a robust mutex. */
void xp_mortal(int thread, uint32_t *word, uint32_t mark);

/* ---- in a thread ------------------------------------------------------------------------ */

void xp_assume(bool cond);                      /* drop what would spin */
void xp_check(bool cond, const char *sentence); /* report and stop */
int xp_self(void);

/* An eventfd: a number that write() on fd adds to.  The sleeper takes it. */
void xp_event_fd(int fd, uint64_t *counter); /* in setup */
void xp_event_wait(int fd);

/* ---- in finish -------------------------------------------------------------------------- */

bool xp_is_dead(int thread);

#endif /* EXPLORER_H */
