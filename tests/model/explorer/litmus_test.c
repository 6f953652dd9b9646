/* SPDX-License-Identifier: Apache-2.0 */
/*
 * litmus_test.c - the explorer allows what C11 allows, and its reduction loses nothing.
 *
 * Known litmus programs with their known outcomes; then random programs of two and
 * three threads, whose outcomes under the reduction must be those of every
 * interleaving.  The seed is fixed, so that a failure can be looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "explorer.h"

enum { WORDS = 3, MAX_OPS = 5, MAX_OUTCOMES = 65536, ROUNDS = 150 };
enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE, REL = __ATOMIC_RELEASE };
enum { BOTH = __ATOMIC_ACQ_REL, SC = __ATOMIC_SEQ_CST };

/* What the compilers would call. */
uint32_t __tsan_atomic32_load(const uint32_t *p, int order);
void __tsan_atomic32_store(uint32_t *p, uint32_t v, int order);
uint32_t __tsan_atomic32_fetch_add(uint32_t *p, uint32_t v, int order);
uint32_t __tsan_atomic32_exchange(uint32_t *p, uint32_t v, int order);
int __tsan_atomic32_compare_exchange_strong(uint32_t *p, uint32_t *expected, uint32_t v, int order,
					    int fail_order);
void __tsan_read4(void *p);
void __tsan_write4(void *p);

enum kind { NONE, LOAD, STORE, ADD, SWAP, CAS, SLEEP, WAKE, READ, WRITE, AWAIT };

struct op {
	enum kind kind;
	int word;
	int order;
	uint32_t value;
};

struct program {
	struct op op[3][MAX_OPS]; /* up to the first NONE */
	int n_threads;
	bool dies; /* thread 0 may */
};

static struct program program;
static uint32_t *word[WORDS], *life;
static uint32_t got[3][MAX_OPS];
static struct {
	uint64_t hash[MAX_OUTCOMES];
	int n;
} outcomes[2], *found;

static void
setup(void)
{
	for (int i = 0; i < WORDS; i++) {
		word[i] = xp_alloc(4, 4);
		xp_name(word[i], 4, "word", i);
	}
	life = xp_alloc(4, 4);
	if (program.dies)
		xp_mortal(0, life, FUTEX_OWNER_DIED);
}

static void
begin(void)
{
	memset(got, 0, sizeof(got));
}

static void
do_op(const struct op *op, uint32_t *result)
{
	uint32_t *p = op->word == WORDS ? life : word[op->word];
	uint32_t expected = op->value - 1;

	switch (op->kind) {
	case LOAD:
		*result = __tsan_atomic32_load(p, op->order);
		break;
	case STORE:
		__tsan_atomic32_store(p, op->value, op->order);
		break;
	case ADD:
		*result = __tsan_atomic32_fetch_add(p, op->value, op->order);
		break;
	case SWAP:
		*result = __tsan_atomic32_exchange(p, op->value, op->order);
		break;
	case CAS:
		__tsan_atomic32_compare_exchange_strong(p, &expected, op->value, op->order, RLX);
		*result = expected;
		break;
	case SLEEP:
		*result = (uint32_t)syscall(SYS_futex, p, FUTEX_WAIT, op->value, NULL, NULL, 0);
		break;
	case WAKE:
		syscall(SYS_futex, p, FUTEX_WAKE, 1000, NULL, NULL, 0);
		break;
	case READ:
		__tsan_read4(p);
		*result = *p;
		break;
	case WRITE:
		__tsan_write4(p);
		*p = op->value;
		break;
	case AWAIT:
		xp_assume(__tsan_atomic32_load(p, op->order) == op->value);
		break;
	case NONE:
		break;
	}
}

static void
body(void)
{
	int me = xp_self();

	for (int i = 0; i < MAX_OPS && program.op[me][i].kind != NONE; i++)
		do_op(&program.op[me][i], &got[me][i]);
}

static void
finish(void)
{
	const uint8_t *bytes = (const uint8_t *)got;
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < sizeof(got); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	for (int i = 0; i < WORDS; i++)
		hash = (hash ^ *word[i]) * UINT64_C(1099511628211);
	hash = (hash ^ xp_is_dead(0)) * UINT64_C(1099511628211);
	for (int i = 0; i < found->n; i++)
		if (found->hash[i] == hash)
			return;
	if (found->n == MAX_OUTCOMES)
		abort();
	found->hash[found->n++] = hash;
}

static struct xp_result
explore(enum xp_mode mode)
{
	struct xp_scenario s = { "litmus", "", setup, begin, { body, body, body }, 0, finish };

	s.n_threads = program.n_threads;
	found = &outcomes[mode];
	found->n = 0;
	return xp_explore(&s, mode);
}

/* ---- known outcomes --------------------------------------------------------------------- */

struct known {
	const char *name;
	int n_outcomes; /* of reads and final values together */
	const char *bug;
	struct program program;
};

static const struct known known[] = {
	{ "message passing, release and acquire",
	  3,
	  NULL,
	  { { { { STORE, 0, RLX, 1 }, { STORE, 1, REL, 1 } },
	      { { LOAD, 1, ACQ, 0 }, { LOAD, 0, RLX, 0 } } },
	    2,
	    false } },
	{ "message passing, relaxed store",
	  4,
	  NULL,
	  { { { { STORE, 0, RLX, 1 }, { STORE, 1, RLX, 1 } },
	      { { LOAD, 1, ACQ, 0 }, { LOAD, 0, RLX, 0 } } },
	    2,
	    false } },
	{ "message passing, relaxed load",
	  4,
	  NULL,
	  { { { { STORE, 0, RLX, 1 }, { STORE, 1, REL, 1 } },
	      { { LOAD, 1, RLX, 0 }, { LOAD, 0, RLX, 0 } } },
	    2,
	    false } },
	{ "store buffering, release and acquire",
	  4,
	  NULL,
	  { { { { STORE, 0, REL, 1 }, { LOAD, 1, ACQ, 0 } },
	      { { STORE, 1, REL, 1 }, { LOAD, 0, ACQ, 0 } } },
	    2,
	    false } },
	{ "store buffering, seq_cst",
	  3,
	  NULL,
	  { { { { STORE, 0, SC, 1 }, { LOAD, 1, SC, 0 } },
	      { { STORE, 1, SC, 1 }, { LOAD, 0, SC, 0 } } },
	    2,
	    false } },
	{ "two loads of one word do not go back",
	  3,
	  NULL,
	  { { { { STORE, 0, RLX, 1 } }, { { LOAD, 0, RLX, 0 }, { LOAD, 0, RLX, 0 } } },
	    2,
	    false } },
	{ "a release sequence goes on through a relaxed compare-and-swap",
	  1,
	  NULL,
	  { { { { STORE, 0, RLX, 1 }, { STORE, 1, REL, 1 } },
	      { { CAS, 1, RLX, 2 } },
	      { { AWAIT, 1, ACQ, 2 }, { LOAD, 0, RLX, 0 } } },
	    3,
	    false } },
	{ "two adds are one after the other",
	  2,
	  NULL,
	  { { { { ADD, 0, RLX, 1 } }, { { ADD, 0, RLX, 1 } } }, 2, false } },
	{ "one of two compare-and-swaps wins",
	  2,
	  NULL,
	  { { { { CAS, 0, RLX, 1 } }, { { CAS, 0, RLX, 1 } } }, 2, false } },
	{ "plain memory behind a release is safe",
	  1,
	  NULL,
	  { { { { WRITE, 0, 0, 7 }, { STORE, 1, REL, 1 } },
	      { { AWAIT, 1, ACQ, 1 }, { READ, 0, 0, 0 } } },
	    2,
	    false } },
	{ "plain memory behind a relaxed store is a race",
	  -1,
	  "data race: write, read",
	  { { { { WRITE, 0, 0, 7 }, { STORE, 1, RLX, 1 } },
	      { { AWAIT, 1, ACQ, 1 }, { READ, 0, 0, 0 } } },
	    2,
	    false } },
	{ "a wake that looks before it calls is lost",
	  -1,
	  "lost wake-up: nobody is left to wake",
	  { { { { WAKE, 0, 0, 0 }, { ADD, 0, RLX, 1 } }, { { SLEEP, 0, 0, 0 } } }, 2, false } },
	{ "a wake after the word has changed is not",
	  2,
	  NULL,
	  { { { { ADD, 0, RLX, 1 }, { WAKE, 0, 0, 0 } }, { { SLEEP, 0, 0, 0 } } }, 2, false } },
	{ "who sees the mark sees all the dead one did",
	  2, /* it died before or after its store */
	  NULL,
	  { { { { STORE, 0, RLX, 1 } },
	      { { AWAIT, WORDS, ACQ, FUTEX_OWNER_DIED }, { LOAD, 0, RLX, 0 } } },
	    2,
	    true } },
};

static int
check_known(const struct known *k)
{
	int bad = 0;

	program = k->program;
	for (int mode = XP_REDUCED; mode <= XP_BRUTE; mode++) {
		struct xp_result r = explore(mode);
		bool is_met = k->bug ? r.bug && !strcmp(r.bug, k->bug)
				     : !r.bug && found->n == k->n_outcomes;

		printf("%-4s %-62s %6llu executions, %3d outcomes: %s\n", is_met ? "" : "BAD",
		       k->name, (unsigned long long)r.executions, found->n,
		       r.bug ? r.bug : "no fault");
		bad += !is_met;
	}
	return bad;
}

/* ---- random programs -------------------------------------------------------------------- */

static uint32_t random_state = 20260101;

static uint32_t
random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

static struct op
random_op(bool with_sleep)
{
	static const int load_order[] = { RLX, ACQ, SC };
	static const int store_order[] = { RLX, REL, SC };
	static const int both_order[] = { RLX, ACQ, REL, BOTH };
	struct op op = { .word = (int)random_below(WORDS), .value = 1 + random_below(2) };
	uint32_t pick = random_below(with_sleep ? 14 : 12);

	op.kind = pick < 5     ? LOAD
		  : pick < 9   ? STORE
		  : pick == 9  ? ADD
		  : pick == 10 ? CAS
		  : pick == 11 ? SWAP
		  : pick == 12 ? SLEEP
			       : WAKE;
	op.order = op.kind == LOAD    ? load_order[random_below(8) % 3]
		   : op.kind == STORE ? store_order[random_below(8) % 3]
				      : both_order[random_below(4)];
	if (op.kind == SLEEP)
		op.value = 0;
	return op;
}

static void
random_program(int round)
{
	int n_ops = 2;

	memset(&program, 0, sizeof(program));
	program.n_threads = 2 + round % 2;
	n_ops = program.n_threads == 2 ? 4 : 2;
	program.dies = round % 5 == 4;
	for (int t = 0; t < program.n_threads; t++)
		for (int i = 0; i < n_ops; i++)
			program.op[t][i] = random_op(round % 3 == 0);
	if (program.dies)
		program.op[1][0] = (struct op){ LOAD, WORDS, round % 2 ? ACQ : RLX, 0 };
}

static int
check_random(int round, uint64_t executions[2])
{
	struct xp_result r[2];
	int n_common = 0;
	bool is_met;

	random_program(round);
	for (int mode = XP_REDUCED; mode <= XP_BRUTE; mode++) {
		r[mode] = explore(mode);
		executions[mode] += r[mode].executions;
	}
	for (int i = 0; i < outcomes[0].n; i++)
		for (int k = 0; k < outcomes[1].n; k++)
			n_common += outcomes[0].hash[i] == outcomes[1].hash[k];
	is_met = !r[0].bug == !r[1].bug &&
		 (r[0].bug || (n_common == outcomes[0].n && n_common == outcomes[1].n));
	if (is_met)
		return 0;
	printf("BAD  program %d: %d outcomes reduced, %d in all, %d in common; bugs: %s, %s\n",
	       round, outcomes[0].n, outcomes[1].n, n_common, r[0].bug ? r[0].bug : "none",
	       r[1].bug ? r[1].bug : "none");
	for (int t = 0; t < program.n_threads; t++)
		for (int i = 0; i < MAX_OPS && program.op[t][i].kind != NONE; i++)
			printf("  thread %d: kind %d word %d order %d value %u\n", t,
			       program.op[t][i].kind, program.op[t][i].word, program.op[t][i].order,
			       program.op[t][i].value);
	return 1;
}

int
main(void)
{
	uint64_t executions[2] = { 0, 0 };
	int n_bad = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		n_bad += check_known(&known[i]);
	for (int round = 0; round < ROUNDS; round++)
		n_bad += check_random(round, executions);
	printf("%d random programs: %llu executions reduced, %llu in all\n", ROUNDS,
	       (unsigned long long)executions[0], (unsigned long long)executions[1]);
	return n_bad > 0;
}
