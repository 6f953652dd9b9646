/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - which executions have to be tried, and trying them.
 *
 * Depth-first over a trail of steps that is replayed with its last choice changed.
 * Two neighbouring steps of different threads commute unless both touch one word and
 * both store, or one reads what the other stored.  A load before a store it did not see
 * commutes as well: the store first and the load of the older value is the same.  So
 * orders are reversed only where a store follows an unordered store or load of its
 * word (dynamic partial-order reduction); sleep sets cut what is left over.  XP_BRUTE
 * does without all this and is how the reduction is checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "internal.h"

enum { SPIN = 3, MAX_STEPS = 1024, STACK_BYTES = 1 << 17, MAX_TOUCHED = 512 };

enum state { READY, ASLEEP, BLOCKED, DONE, DEAD };

static struct thread {
	ucontext_t context;
	enum state state;
	struct xp_access next;
	int option; /* chosen for next */
	int asleep_on;
	uint16_t n_steps;
	uint16_t clock[XP_MAX_THREADS]; /* steps of each thread that come before, by dependence */
	uint32_t *mark_word;            /* mortal if not NULL */
	uint32_t mark;
	uint32_t n_news; /* steps that were no repetition */
	struct {
		const void *pc;
		int from;
		uint32_t n_news;
		int times;
	} last_load[256]; /* per word */
} thread[XP_MAX_THREADS];

static struct node {
	uint8_t thread, option;
	uint8_t enabled, backtrack;       /* sets of threads */
	uint32_t options[XP_MAX_THREADS]; /* sets of options */
	uint32_t asleep[XP_MAX_THREADS];  /* covered by another branch */
	uint32_t tried[XP_MAX_THREADS];   /* begun here */
	uint16_t number;                  /* of this step in its thread */
	uint16_t clock[XP_MAX_THREADS];   /* of this step */
	struct xp_effect effect;
	struct xp_access access; /* for traces */
} node[MAX_STEPS];

/* Per word: the steps that matter for races of the search (not of memory). */
static struct {
	int last_store; /* -1: none */
	int n_loads;
	int load[MAX_TOUCHED];
} touched[256];

static char stack[XP_MAX_THREADS][STACK_BYTES] __attribute__((aligned(16)));
static ucontext_t home;
static const struct xp_scenario *scenario;
static enum xp_mode mode;
static int current = -1;
static int n_nodes, at, n_fixed; /* length of the trail, next step, steps searched before */
static bool is_cut, is_stopped;
static const char *bug;

static _Noreturn void
too_big(const char *what)
{
	fprintf(stderr, "explorer: the scenario has too many %s\n", what);
	abort();
}

int
xp_current(void)
{
	return current;
}

int
xp_self(void)
{
	return current;
}

bool
xp_is_dead(int i)
{
	return thread[i].state == DEAD;
}

void
xp_mortal(int i, uint32_t *word, uint32_t mark)
{
	thread[i].mark_word = word;
	thread[i].mark = mark;
}

/* What a thread has announced before its first step and while it sleeps. */
static const struct xp_access nothing = { .kind = XP_LAST, .word = -1 };

/* ---- the next step ---------------------------------------------------------------------- */

static uint32_t
options_of(int i)
{
	const struct thread *t = &thread[i];
	uint32_t set;

	if (t->state != READY)
		return 0;
	set = xp_options(i, &t->next);
	return t->mark_word ? set | UINT32_C(1) << XP_DIE : set;
}

/* What the node before leaves asleep here: all it covered, less what its step woke. */
static void
inherit_sleep(struct node *n)
{
	const struct node *before = n - 1;

	memset(n->asleep, 0, sizeof(n->asleep));
	if (n == node || mode == XP_BRUTE)
		return;
	for (int i = 0; i < scenario->n_threads; i++) {
		uint32_t begun = before->tried[i];

		if (i == before->thread)
			continue;
		n->asleep[i] = before->asleep[i] | begun;
		if (before->effect.stores && thread[i].state == READY &&
		    thread[i].next.word == before->effect.word && xp_stores(&thread[i].next))
			n->asleep[i] &= UINT32_C(1) << XP_DIE;
	}
}

/* The newest value first, death last. */
static int
first_of(uint32_t options)
{
	uint32_t living = options & ~(UINT32_C(1) << XP_DIE);

	return living ? 31 - __builtin_clz(living) : XP_DIE;
}

static int
untried(const struct node *n, int i)
{
	uint32_t left = n->options[i] & ~n->asleep[i] & ~n->tried[i];

	return left ? first_of(left) : -1;
}

static void
choose(struct node *n, int i, int option)
{
	n->thread = (uint8_t)i;
	n->option = (uint8_t)option;
	n->tried[i] |= UINT32_C(1) << option;
	n->backtrack |= (uint8_t)(1 << i);
}

/* False: nobody can go on, or what could is covered elsewhere. */
static bool
new_node(void)
{
	struct node *n = &node[n_nodes];
	int pick = -1;

	if (n_nodes == MAX_STEPS)
		too_big("steps");
	n->enabled = n->backtrack = 0;
	memset(n->tried, 0, sizeof(n->tried));
	for (int i = 0; i < scenario->n_threads; i++) {
		n->options[i] = options_of(i);
		n->enabled |= (uint8_t)((n->options[i] != 0) << i);
	}
	inherit_sleep(n);
	if (!n->enabled)
		return false;
	for (int i = 0; i < scenario->n_threads; i++)
		if (untried(n, i) >= 0 && (pick < 0 || i == current))
			pick = i;
	if (pick < 0) {
		is_cut = true;
		return false;
	}
	choose(n, pick, untried(n, pick));
	if (mode == XP_BRUTE)
		n->backtrack = n->enabled;
	n_nodes++;
	return true;
}

static void
switch_to(int next)
{
	int from = current;

	if (next == from)
		return;
	current = next;
	swapcontext(from < 0 ? &home : &thread[from].context,
		    next < 0 ? &home : &thread[next].context);
}

/* Let whoever is chosen do its next step. */
static void
go_on(void)
{
	if (is_stopped || (at == n_nodes && !new_node())) {
		switch_to(-1);
		return;
	}
	thread[node[at].thread].option = node[at].option;
	switch_to(node[at].thread);
}

void
xp_bug(const char *sentence)
{
	if (!bug)
		bug = sentence;
	is_stopped = true;
	if (current >= 0)
		switch_to(-1);
}

/* ---- dependence between steps ----------------------------------------------------------- */

static bool
comes_before(int i, const uint16_t *clock)
{
	return clock[node[i].thread] >= node[i].number;
}

/* Step `later` could have come before step `earlier`: somebody who leads there must be tried in
 * its place. */
static void
reverse(int earlier, int later)
{
	struct node *e = &node[earlier];
	uint8_t seen = 0;
	int first = -1;

	if (later < n_fixed || mode == XP_BRUTE)
		return;
	for (int k = earlier + 1; k <= later; k++) {
		const struct node *n = &node[k];
		bool is_first = !(seen >> n->thread & 1);

		/* What follows from the earlier step is left out; it is never the later one. */
		if (k < later && comes_before(earlier, n->clock))
			continue;
		seen |= (uint8_t)(1 << n->thread);
		for (int j = earlier + 1; is_first && j < k; j++)
			if (!comes_before(earlier, node[j].clock) && node[j].thread != n->thread &&
			    comes_before(j, n->clock))
				is_first = false;
		if (!is_first)
			continue;
		if (e->backtrack >> n->thread & 1)
			return;
		if (first < 0)
			first = n->thread;
	}
	if (!(e->enabled >> first & 1))
		e->backtrack |= e->enabled;
	else
		e->backtrack |= (uint8_t)(1 << first);
}

static void
join_clock(uint16_t *into, const uint16_t *from)
{
	for (int i = 0; i < XP_MAX_THREADS; i++)
		if (from[i] > into[i])
			into[i] = from[i];
}

/* The step `here` of thread i has been done: set its clock, find what it could precede. */
static void
relate(int here, int i)
{
	struct node *n = &node[here];
	struct thread *t = &thread[i];
	uint16_t clock[XP_MAX_THREADS]; /* without the dependences of this step itself */
	int w = n->effect.word;

	memcpy(clock, t->clock, sizeof(clock));
	n->number = ++t->n_steps;
	t->clock[i] = n->number;
	if (n->effect.stores && touched[w].last_store >= 0)
		join_clock(t->clock, node[touched[w].last_store].clock);
	if (n->effect.read_from >= 0)
		join_clock(t->clock, node[n->effect.read_from].clock);
	memcpy(n->clock, t->clock, sizeof(n->clock));
	if (n->effect.stores) {
		if (touched[w].last_store >= 0 && node[touched[w].last_store].thread != i &&
		    !comes_before(touched[w].last_store, clock))
			reverse(touched[w].last_store, here);
		for (int k = 0; k < touched[w].n_loads; k++)
			if (node[touched[w].load[k]].thread != i &&
			    !comes_before(touched[w].load[k], n->clock))
				reverse(touched[w].load[k], here);
		touched[w].last_store = here;
	} else if (w >= 0) {
		if (touched[w].n_loads == MAX_TOUCHED)
			too_big("loads of one word");
		touched[w].load[touched[w].n_loads++] = here;
	}
}

/* ---- steps ------------------------------------------------------------------------------ */

static void
wake_all(int word, const uint16_t *clock)
{
	for (int i = 0; i < scenario->n_threads; i++) {
		if (thread[i].state != ASLEEP || thread[i].asleep_on != word)
			continue;
		thread[i].state = READY;
		join_clock(thread[i].clock, clock);
	}
}

static _Noreturn void
leave(enum state state)
{
	thread[current].state = state;
	go_on();
	fprintf(stderr, "explorer: the scenario does not do the same when it is run again\n");
	abort();
}

/* The same load of the same value, a third time and nothing new in between. */
static bool
is_spinning(struct thread *t, const struct node *n)
{
	bool is_same;

	if (n->effect.stores || n->access.kind != XP_LOAD) {
		t->n_news++;
		return false;
	}
	is_same = t->last_load[n->effect.word].pc == n->access.pc &&
		  t->last_load[n->effect.word].from == n->effect.read_from &&
		  t->last_load[n->effect.word].n_news == t->n_news;
	if (t->last_load[n->effect.word].from != n->effect.read_from)
		t->n_news++;
	t->last_load[n->effect.word].times = is_same ? t->last_load[n->effect.word].times + 1 : 1;
	t->last_load[n->effect.word].pc = n->access.pc;
	t->last_load[n->effect.word].from = n->effect.read_from;
	t->last_load[n->effect.word].n_news = t->n_news;
	return t->last_load[n->effect.word].times >= SPIN;
}

static void
die(int here)
{
	struct thread *t = &thread[current];

	xp_mark_dead(current, t->mark_word, t->mark, here, &node[here].effect);
	relate(here, current);
	leave(DEAD);
}

/* The current thread was chosen: do what it has announced. */
static uint64_t
take_step(void)
{
	struct thread *t = &thread[current];
	int here = at++;
	struct node *n = &node[here];
	uint64_t value;

	n->access = t->next;
	if (t->option == XP_DIE)
		die(here);
	value = xp_perform(current, &t->next, t->option, here, &n->effect);
	relate(here, current);
	if (is_spinning(t, n))
		leave(BLOCKED);
	if (n->effect.wakes)
		wake_all(n->effect.word, n->clock);
	if (n->effect.sleeps) {
		t->state = ASLEEP;
		t->asleep_on = n->effect.word;
		t->next = nothing;
		go_on();
		take_step();
	}
	return value;
}

uint64_t
xp_visible(const struct xp_access *a)
{
	thread[current].next = *a;
	go_on();
	return take_step();
}

void
xp_assume(bool cond)
{
	if (!cond)
		leave(BLOCKED);
}

void
xp_check(bool cond, const char *sentence)
{
	if (!cond)
		xp_bug(sentence);
}

static void
main_of_thread(void)
{
	take_step();
	scenario->thread[current]();
	if (thread[current].mark_word)
		xp_visible(&nothing);
	leave(DONE);
}

/* ---- executions ------------------------------------------------------------------------- */

static void
start_thread(int i)
{
	struct thread *t = &thread[i];

	t->state = READY;
	t->n_steps = 0;
	t->option = 0;
	t->next = nothing;
	t->n_news = 0;
	memset(t->last_load, 0, sizeof(t->last_load));
	memset(t->clock, 0, sizeof(t->clock));
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = stack[i];
	t->context.uc_stack.ss_size = STACK_BYTES;
	t->context.uc_link = NULL;
	makecontext(&t->context, main_of_thread, 0);
}

static void
run_once(void)
{
	xp_arena_restore();
	xp_memory_reset(scenario->n_threads);
	if (scenario->begin)
		scenario->begin();
	for (int i = 0; i < 256; i++) {
		touched[i].last_store = -1;
		touched[i].n_loads = 0;
	}
	at = 0;
	is_cut = is_stopped = false;
	for (int i = 0; i < scenario->n_threads; i++)
		start_thread(i);
	current = -1;
	go_on();
}

static void
judge(struct xp_result *r)
{
	bool is_whole = true;

	r->executions++;
	r->steps += (uint64_t)at;
	if (bug)
		return;
	if (is_cut) {
		r->repeated++;
		return;
	}
	for (int i = 0; i < scenario->n_threads; i++)
		is_whole &= thread[i].state != BLOCKED;
	if (!is_whole) {
		r->dropped++;
		return;
	}
	r->whole++;
	for (int i = 0; i < scenario->n_threads; i++)
		if (thread[i].state == ASLEEP)
			xp_bug("lost wake-up: nobody is left to wake");
	if (!bug && scenario->finish)
		scenario->finish();
}

/* Change the last choice that can be changed; false: none is left. */
static bool
next_trail(void)
{
	for (; n_nodes > 0; n_nodes--) {
		struct node *n = &node[n_nodes - 1];

		for (int i = 0; i < scenario->n_threads; i++) {
			int option = n->backtrack >> i & 1 ? untried(n, i) : -1;

			if (option < 0)
				continue;
			/* The step of this node is done anew, and its children with it. */
			n_fixed = n_nodes - 1;
			choose(n, i, option);
			return true;
		}
	}
	return false;
}

struct xp_result
xp_explore(const struct xp_scenario *s, enum xp_mode how)
{
	struct xp_result r = { 0 };

	scenario = s;
	mode = how;
	n_nodes = n_fixed = 0;
	bug = NULL;
	current = -1;
	memset(thread, 0, sizeof(thread));
	xp_arena_open();
	if (s->setup)
		s->setup();
	xp_arena_snapshot();
	do {
		run_once();
		judge(&r);
	} while (!bug && next_trail());
	r.bug = bug;
	return r;
}

/* ---- traces ----------------------------------------------------------------------------- */

void
xp_print_trace(void)
{
	static const char *const kind[] = {
		[XP_LOAD] = "load", [XP_STORE] = "store", [XP_ADD] = "add",
		[XP_SUB] = "sub",   [XP_AND] = "and",     [XP_OR] = "or",
		[XP_XOR] = "xor",   [XP_NAND] = "nand",   [XP_EXCHANGE] = "exchange",
		[XP_CAS] = "cas",   [XP_SLEEP] = "sleep", [XP_WAKE] = "wake",
		[XP_TAKE] = "take", [XP_LAST] = "-",
	};
	static const char *const order[] = { "relaxed", "consume", "acquire",
					     "release", "acq_rel", "seq_cst" };

	for (int i = 0; i < at; i++) {
		const struct node *n = &node[i];
		char text[64] = "";

		if (n->access.kind == XP_LAST && n->option != XP_DIE)
			continue;
		if (n->effect.word >= 0)
			xp_word_name(n->effect.word, text, sizeof(text));
		printf("  %3d thread %d %-8s %-8s %-24s %#llx\n", i, n->thread,
		       n->option == XP_DIE ? "dies" : kind[n->access.kind],
		       order[n->access.order < 6 ? n->access.order : 0], text,
		       (unsigned long long)n->effect.value);
	}
	printf("  bug: %s\n", bug ? bug : "none");
}
