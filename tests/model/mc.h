/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc.h - explore every interleaving and every stale value of a small model.
 *
 * A model is two to four threads over atomic words and plain memory.  The explorer
 * runs it again and again until every order of atomic steps and, for each load, every
 * value that C11 release/acquire/relaxed allows has been tried.  Plain memory is
 * raced over if it is not ordered, even when the value happens to be right.
 *
 * Limits: the modification order of a word is the order of execution, so there is
 * no load buffering (model what relies on it as plain memory: the race shows);
 * loops must be bounded (mc_assume drops an execution that would spin); no fences,
 * no seq_cst; sizes are small.
 */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stdint.h>

enum { MC_MAX_THREADS = 4 };

enum mc_order { MC_RELAXED, MC_ACQUIRE, MC_RELEASE };

struct mc_atomic {
	int at;
};

struct mc_plain {
	int at;
	uint64_t value;
};

/* In setup only. */
void mc_atomic_init(struct mc_atomic *a, uint64_t value);
void mc_plain_init(struct mc_plain *p);
/* Thread number `thread` may die before any of its atomic steps; then 1 is stored to mark, after
 * everything it did, as the kernel does with a robust mutex. */
void mc_mortal(int thread, struct mc_atomic *mark);

uint64_t mc_load(struct mc_atomic *a, enum mc_order order);
void mc_store(struct mc_atomic *a, uint64_t value, enum mc_order order);
/* Each returns the value before. */
uint64_t mc_add(struct mc_atomic *a, uint64_t value, enum mc_order order);
uint64_t mc_or(struct mc_atomic *a, uint64_t value, enum mc_order order);
uint64_t mc_and(struct mc_atomic *a, uint64_t value, enum mc_order order);

/* Strong compare-and-swap: true when a held *expected.  It then saw the last value; a failure may
 * have seen any value a load might, which is stored to *expected. */
bool mc_cas(struct mc_atomic *a, uint64_t *expected, uint64_t value, enum mc_order success,
	    enum mc_order failure);

uint64_t mc_read(struct mc_plain *p);
/* A look that counts only if it is confirmed: *when is the moment, mc_confirm makes it a read made
 * then.  For what is read first and validated by a swap. */
uint64_t mc_glance(const struct mc_plain *p, int *when);
void mc_confirm(struct mc_plain *p, int when);
void mc_write(struct mc_plain *p, uint64_t value);

/* futex: sleep if the word still holds value; wake all who sleep on it.  When every thread that
 * is left sleeps, a wake-up was lost. */
void mc_sleep(struct mc_atomic *word, uint64_t value);
void mc_wake(struct mc_atomic *word);

void mc_assume(bool cond);                      /* drop this execution */
void mc_check(bool cond, const char *sentence); /* report and stop */

struct mc_model {
	void (*setup)(void);
	void (*thread[MC_MAX_THREADS])(void);
	int n_threads;
	void (*finish)(void); /* afterwards, alone: loads give the last value */
	int preemptions;      /* at most so many, or a large number */
};

struct mc_result {
	uint64_t executions;
	uint64_t pruned;
	const char *bug; /* NULL: none in any execution */
};

struct mc_result mc_explore(const struct mc_model *model);

/* ---- tables of mutations ---------------------------------------------------------------- */

/* One change that must make the model fail: *knob set to value. */
struct mc_mutation {
	const char *name;
	int *knob;
	int value;
};

/* Explore the model as it is, which must pass, then under each mutation, which must fail; print
 * a table.  The number of expectations that were not met. */
int mc_prove(const char *name, const struct mc_model *model, const struct mc_mutation *mutation,
	     int n_mutations);

#endif /* MC_H */
