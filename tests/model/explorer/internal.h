/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - between the explorer's files: accesses, the memory model, the search.
 *
 * hooks.c turns what the compiler inserted into accesses; search.c decides who goes on
 * and which of the allowed values is seen; memory.c knows what C11 allows and finds
 * races.  Nothing here is instrumented.
 */
#ifndef XP_INTERNAL_H
#define XP_INTERNAL_H

#include "explorer.h"

enum xp_kind {
	XP_LOAD,
	XP_STORE,
	XP_ADD,
	XP_SUB,
	XP_AND,
	XP_OR,
	XP_XOR,
	XP_NAND,
	XP_EXCHANGE,
	XP_CAS,
	XP_SLEEP, /* futex: sleep while the word holds operand */
	XP_WAKE,  /* futex: wake all */
	XP_TAKE,  /* eventfd: sleep while it is zero, then take it */
	XP_LAST,  /* the end of a mortal thread */
};

struct xp_access { /* one visible step */
	enum xp_kind kind;
	int word; /* index in the table of words; -1: XP_LAST */
	uint64_t operand;
	uint64_t expected; /* XP_CAS */
	int order, fail_order;
	const void *pc; /* of the call: a load that comes back to it may be a spin */
};

/* An option is a bit: for loads the value's place after the oldest one that the thread may see,
 * else 0; XP_DIE for a mortal thread. */
enum { XP_MAX_OPTIONS = 31, XP_DIE = 31 };

/* What a step was, for the search. */
struct xp_effect {
	int word;
	bool stores;   /* its order among stores of the word matters */
	int read_from; /* step that stored the value; -1: none or the first value */
	bool reads;
	uint64_t value;
	bool sleeps; /* the thread is to go to sleep on the word */
	bool wakes;
};

/* ---- memory.c --------------------------------------------------------------------------- */

void xp_memory_reset(int n_threads); /* before each execution */
/* The word at p; makes it on first sight. */
int xp_word(const void *p, unsigned size);
const char *xp_word_name(int word, char *text, size_t n);
bool xp_is_watched(const void *p);
void xp_plain(int thread, const void *p, size_t size, bool writes);
uint32_t xp_options(int thread, const struct xp_access *a);
/* Does its order among the stores of its word matter?  A compare-and-swap that fails counts: before
 * a store it might have succeeded. */
bool xp_stores(const struct xp_access *a);
uint64_t xp_perform(int thread, const struct xp_access *a, int option, int step,
		    struct xp_effect *out);
void xp_mark_dead(int thread, uint32_t *word, uint32_t mark, int step, struct xp_effect *out);
/* Outside of threads, and on memory that is not watched. */
uint64_t xp_direct(const struct xp_access *a, void *p, unsigned size);

void xp_arena_open(void);     /* before setup */
void xp_arena_snapshot(void); /* after setup */
void xp_arena_restore(void);

/* ---- search.c --------------------------------------------------------------------------- */

int xp_current(void); /* -1: setup or finish */
/* One step of the current thread, when its turn comes; the value read. */
uint64_t xp_visible(const struct xp_access *a);
void xp_bug(const char *sentence); /* does not return in a thread */

#endif /* XP_INTERNAL_H */
