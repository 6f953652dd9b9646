/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc.c - the explorer: depth-first search over a trail of choices.
 *
 * Each word keeps all values ever stored, in order, each with the view that a
 * release store published.  Each thread has a view: per word the oldest value it may
 * still read, per thread how far it has seen (a vector clock, for races).  A choice
 * is which thread goes on, which value a load sees, whether a mortal thread dies.
 * The trail is replayed with its last choice changed until no choice is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "mc.h"

enum { MAX_WORDS = 32, MAX_VALUES = 64, MAX_TRAIL = 4096, STACK_BYTES = 65536 };

struct view {
	int at[MAX_WORDS]; /* index of the newest value seen */
	int clock[MC_MAX_THREADS];
};

struct value {
	uint64_t value;
	struct view view; /* what a reader that acquires it has seen as well */
};

static struct {
	int n;
	struct value v[MAX_VALUES];
} word[MAX_WORDS];

static struct {
	int writer; /* -1: nobody yet */
	int written;
	int read[MC_MAX_THREADS];
} plain[MAX_WORDS];

enum thread_state { READY, ASLEEP, DONE };

static struct {
	ucontext_t context;
	enum thread_state state;
	int asleep_on;
	struct view view;
	struct mc_atomic *mark; /* mortal if not NULL */
} thread[MC_MAX_THREADS];

static char stack[MC_MAX_THREADS][STACK_BYTES];
static ucontext_t home;
static const struct mc_model *model;
static int n_words, n_plains;
static int current; /* -1: setup or finish */
static int preemptions_left;
static bool stopped;
static const char *bug;

static struct {
	int pick;
	int of;
} trail[MAX_TRAIL];

static int trail_len, trail_at;

static _Noreturn void
too_big(const char *what)
{
	fprintf(stderr, "mc: the model has too many %s\n", what);
	abort();
}

static int
choose(int of)
{
	if (of <= 1)
		return 0;
	if (trail_at == trail_len) {
		if (trail_len == MAX_TRAIL)
			too_big("choices");
		trail[trail_len].pick = 0;
		trail[trail_len++].of = of;
	}
	return trail[trail_at++].pick;
}

/* ---- threads ---------------------------------------------------------------------------- */

static void
switch_to(int next)
{
	int from = current;

	current = next;
	swapcontext(&thread[from].context, next < 0 ? &home : &thread[next].context);
}

/* Who goes on: the current thread first, if it can; -1 when nobody can. */
static int
pick_thread(void)
{
	int ready[MC_MAX_THREADS], n = 0;
	bool may_stay = current >= 0 && thread[current].state == READY;
	int pick;

	if (may_stay)
		ready[n++] = current;
	for (int i = 0; i < model->n_threads; i++)
		if (thread[i].state == READY && i != current)
			ready[n++] = i;
	if (n == 0)
		return -1;
	pick = choose(may_stay && preemptions_left == 0 ? 1 : n);
	if (may_stay && pick > 0)
		preemptions_left--;
	return ready[pick];
}

static void
leave(void)
{
	switch_to(pick_thread());
}

static void
stop(void)
{
	stopped = true;
	if (current >= 0)
		switch_to(-1);
}

void
mc_assume(bool cond)
{
	if (!cond)
		stop();
}

void
mc_check(bool cond, const char *sentence)
{
	if (cond)
		return;
	bug = sentence;
	stop();
}

static void
main_of_thread(void)
{
	model->thread[current]();
	thread[current].state = DONE;
	leave();
}

/* ---- words ------------------------------------------------------------------------------ */

static struct view *
mine(void)
{
	return &thread[current].view;
}

static void
join(struct view *into, const struct view *from)
{
	for (int i = 0; i < n_words; i++)
		if (from->at[i] > into->at[i])
			into->at[i] = from->at[i];
	for (int i = 0; i < MC_MAX_THREADS; i++)
		if (from->clock[i] > into->clock[i])
			into->clock[i] = from->clock[i];
}

static void
append(int at, uint64_t value, bool releases)
{
	int k = word[at].n++;
	struct value *v = &word[at].v[k];

	if (k == MAX_VALUES)
		too_big("stores");
	memset(v, 0, sizeof(*v));
	v->value = value;
	mine()->at[at] = k;
	if (releases)
		v->view = *mine();
	v->view.at[at] = k;
}

static void
die(void)
{
	append(thread[current].mark->at, 1, true);
	thread[current].state = DONE;
	leave();
}

/* Before each atomic step: another thread may run, this one may die. */
static void
step(void)
{
	int next;

	if (thread[current].mark && choose(2))
		die();
	next = pick_thread();
	if (next != current)
		switch_to(next);
	mine()->clock[current]++;
}

void
mc_atomic_init(struct mc_atomic *a, uint64_t value)
{
	if (n_words == MAX_WORDS)
		too_big("words");
	a->at = n_words++;
	word[a->at].n = 1;
	memset(&word[a->at].v[0], 0, sizeof(struct value));
	word[a->at].v[0].value = value;
}

void
mc_mortal(int i, struct mc_atomic *mark)
{
	thread[i].mark = mark;
}

static uint64_t
last_value(int at)
{
	return word[at].v[word[at].n - 1].value;
}

uint64_t
mc_load(struct mc_atomic *a, enum mc_order order)
{
	int at = a->at, pick;

	if (current < 0)
		return last_value(at);
	step();
	/* The newest first, then every staler one this thread may still see. */
	pick = word[at].n - 1 - choose(word[at].n - mine()->at[at]);
	mine()->at[at] = pick;
	if (order == MC_ACQUIRE)
		join(mine(), &word[at].v[pick].view);
	return word[at].v[pick].value;
}

void
mc_store(struct mc_atomic *a, uint64_t value, enum mc_order order)
{
	step();
	append(a->at, value, order == MC_RELEASE);
}

/* A read-modify-write sees the last value and goes on with its release sequence. */
static uint64_t
replace_last(int at, uint64_t value, enum mc_order order)
{
	int last = word[at].n - 1;

	mine()->at[at] = last;
	if (order == MC_ACQUIRE)
		join(mine(), &word[at].v[last].view);
	append(at, value, order == MC_RELEASE);
	join(&word[at].v[last + 1].view, &word[at].v[last].view);
	return word[at].v[last].value;
}

static uint64_t
modify(struct mc_atomic *a, uint64_t and_mask, uint64_t or_mask, uint64_t add, enum mc_order order)
{
	step();
	return replace_last(a->at, ((last_value(a->at) & and_mask) | or_mask) + add, order);
}

bool
mc_cas(struct mc_atomic *a, uint64_t *expected, uint64_t value, enum mc_order success,
       enum mc_order failure)
{
	int at = a->at, last, can[MAX_VALUES], n = 0, pick;

	step();
	last = word[at].n - 1;
	/* The newest first; an old value equal to *expected is neither success nor failure. */
	for (int i = last; i >= mine()->at[at]; i--)
		if (i == last || word[at].v[i].value != *expected)
			can[n++] = i;
	pick = can[choose(n)];
	if (pick == last && word[at].v[pick].value == *expected) {
		replace_last(at, value, success);
		return true;
	}
	mine()->at[at] = pick;
	if (failure == MC_ACQUIRE)
		join(mine(), &word[at].v[pick].view);
	*expected = word[at].v[pick].value;
	return false;
}

uint64_t
mc_add(struct mc_atomic *a, uint64_t value, enum mc_order order)
{
	return modify(a, UINT64_MAX, 0, value, order);
}

uint64_t
mc_or(struct mc_atomic *a, uint64_t value, enum mc_order order)
{
	return modify(a, UINT64_MAX, value, 0, order);
}

uint64_t
mc_and(struct mc_atomic *a, uint64_t value, enum mc_order order)
{
	return modify(a, value, 0, 0, order);
}

void
mc_sleep(struct mc_atomic *a, uint64_t value)
{
	step();
	/* The kernel compares under its lock: it sees the last value. */
	if (last_value(a->at) != value)
		return;
	thread[current].state = ASLEEP;
	thread[current].asleep_on = a->at;
	leave();
}

void
mc_wake(struct mc_atomic *a)
{
	step();
	for (int i = 0; i < model->n_threads; i++)
		if (thread[i].state == ASLEEP && thread[i].asleep_on == a->at)
			thread[i].state = READY;
}

/* ---- plain memory ----------------------------------------------------------------------- */

void
mc_plain_init(struct mc_plain *p)
{
	if (n_plains == MAX_WORDS)
		too_big("plain words");
	p->at = n_plains++;
	p->value = 0;
	memset(&plain[p->at], 0, sizeof(plain[0]));
	plain[p->at].writer = -1;
}

static bool
has_seen(int who, int clock)
{
	return who < 0 || mine()->clock[who] >= clock;
}

uint64_t
mc_read(struct mc_plain *p)
{
	if (current < 0)
		return p->value;
	mine()->clock[current]++;
	mc_check(has_seen(plain[p->at].writer, plain[p->at].written), "data race: write, read");
	plain[p->at].read[current] = mine()->clock[current];
	return p->value;
}

uint64_t
mc_glance(const struct mc_plain *p, int *when)
{
	*when = ++mine()->clock[current];
	return p->value;
}

void
mc_confirm(struct mc_plain *p, int when)
{
	mc_check(has_seen(plain[p->at].writer, plain[p->at].written), "data race: write, read");
	plain[p->at].read[current] = when;
}

void
mc_write(struct mc_plain *p, uint64_t value)
{
	if (current >= 0) {
		mine()->clock[current]++;
		mc_check(has_seen(plain[p->at].writer, plain[p->at].written),
			 "data race: write, write");
		for (int i = 0; i < model->n_threads; i++)
			mc_check(i == current || has_seen(i, plain[p->at].read[i]),
				 "data race: read, write");
		plain[p->at].writer = current;
		plain[p->at].written = mine()->clock[current];
	}
	p->value = value;
}

/* ---- search ----------------------------------------------------------------------------- */

static void
start_thread(int i)
{
	memset(&thread[i].view, 0, sizeof(thread[i].view));
	thread[i].state = READY;
	getcontext(&thread[i].context);
	thread[i].context.uc_stack.ss_sp = stack[i];
	thread[i].context.uc_stack.ss_size = STACK_BYTES;
	thread[i].context.uc_link = NULL;
	makecontext(&thread[i].context, main_of_thread, 0);
}

static void
run_once(void)
{
	n_words = n_plains = 0;
	trail_at = 0;
	current = -1;
	stopped = false;
	preemptions_left = model->preemptions;
	for (int i = 0; i < model->n_threads; i++) {
		thread[i].mark = NULL;
		start_thread(i);
	}
	model->setup();
	current = pick_thread();
	swapcontext(&home, &thread[current].context);
	if (stopped)
		return;
	for (int i = 0; i < model->n_threads; i++)
		mc_check(thread[i].state != ASLEEP, "lost wake-up: nobody is left to wake");
	if (!stopped)
		model->finish();
}

struct mc_result
mc_explore(const struct mc_model *m)
{
	struct mc_result r = { 0, 0, NULL };

	model = m;
	trail_len = 0;
	bug = NULL;
	for (;;) {
		run_once();
		r.executions++;
		r.pruned += stopped && !bug;
		r.bug = bug;
		if (bug)
			return r;
		while (trail_len > 0 && trail[trail_len - 1].pick + 1 == trail[trail_len - 1].of)
			trail_len--;
		if (trail_len == 0)
			return r;
		trail[trail_len - 1].pick++;
	}
}

static void
print_row(const char *name, const struct mc_result *r, bool is_met)
{
	printf("%-4s %-52s %8llu runs, %8llu dropped: %s\n", is_met ? "" : "BAD", name,
	       (unsigned long long)r->executions, (unsigned long long)r->pruned,
	       r->bug ? r->bug : "no fault");
}

int
mc_prove(const char *name, const struct mc_model *m, const struct mc_mutation *mutation,
	 int n_mutations)
{
	struct mc_result r = mc_explore(m);
	/* A model whose every execution is dropped proves nothing. */
	bool is_met = !r.bug && r.pruned < r.executions;
	int n_bad = !is_met;

	print_row(name, &r, is_met);
	for (int i = 0; i < n_mutations; i++) {
		int keep = *mutation[i].knob;

		*mutation[i].knob = mutation[i].value;
		r = mc_explore(m);
		*mutation[i].knob = keep;
		print_row(mutation[i].name, &r, r.bug != NULL);
		n_bad += r.bug == NULL;
	}
	return n_bad;
}
