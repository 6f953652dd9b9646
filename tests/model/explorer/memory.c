/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - what C11 lets a thread see, and who raced.
 *
 * Each atomic word keeps all values ever stored, in order, each with the view that a
 * release published.  A thread's view holds, per word, the oldest value it may still
 * read, and a vector clock of what happened before.  Plain accesses carry the clock:
 * two that are not ordered are a race even when the value is right.  Real memory
 * always holds the last value, so plain code reads what it should.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
	ARENA_BYTES = 1 << 17,
	PAGE = 4096,
	MAX_WORDS = 256,
	MAX_VALUES = 40,
	MAX_NAMES = 64,
	MAX_PRIVATE = 32,
	MAX_GLANCES = 16,
};

struct view {
	uint16_t clock[XP_MAX_THREADS];
	int8_t at[MAX_WORDS]; /* index of the newest value seen */
};

struct value {
	uint64_t value;
	int step; /* that stored it; -1 */
	struct view view;
};

static struct word {
	uint8_t *p;
	unsigned size;
	int n;
	int floor;     /* after a plain write: older values are gone for everybody */
	int sc_floor;  /* seq_cst loads see at least this one */
	bool is_stale; /* written plainly since: look at memory again */
	bool is_ordered;
	uint32_t confirmed_by; /* where a glance at this word is confirmed; 0: at once */
	struct value v[MAX_VALUES];
} word[MAX_WORDS];

static int n_words, n_threads;

/* Per byte: the last accesses, as clocks of their threads (0: none). */
struct shadow {
	uint32_t run;
	int16_t word; /* index + 1 */
	uint8_t writer;
	uint16_t written;
	uint16_t read[XP_MAX_THREADS];
	uint16_t atomic_written[XP_MAX_THREADS];
	uint16_t atomic_read[XP_MAX_THREADS];
};

static struct shadow shadow[ARENA_BYTES];
static uint32_t run; /* shadows of older executions count as empty */

static struct view view[XP_MAX_THREADS];
/* Glances of a thread that no compare-and-swap has confirmed yet. */
static struct {
	int n;
	struct {
		int word;
		uint16_t clock;
		bool is_unordered;
	} glance[MAX_GLANCES];
} glances[XP_MAX_THREADS];
static uint8_t arena[ARENA_BYTES] __attribute__((aligned(PAGE)));
static uint8_t snapshot[ARENA_BYTES];
static bool is_ordered[ARENA_BYTES];
static uint32_t confirmed_by[ARENA_BYTES];
static size_t used, used_by_setup;
static struct {
	const uint8_t *from;
	size_t bytes;
	int owner;
} private[MAX_PRIVATE];
static int n_private, n_private_of_setup;
static struct {
	const uint8_t *from;
	size_t bytes;
	const char *name;
	int number;
} name[MAX_NAMES];
static int n_names;

static _Noreturn void
too_big(const char *what)
{
	fprintf(stderr, "explorer: the scenario has too many %s\n", what);
	abort();
}

/* ---- the arena -------------------------------------------------------------------------- */

void
xp_arena_open(void)
{
	memset(arena, 0, sizeof(arena));
	memset(is_ordered, 0, sizeof(is_ordered));
	memset(confirmed_by, 0, sizeof(confirmed_by));
	used = 64; /* no offset is 0 */
	n_private = n_names = 0;
}

void
xp_arena_snapshot(void)
{
	used_by_setup = used;
	n_private_of_setup = n_private;
	memcpy(snapshot, arena, used);
}

void
xp_arena_restore(void)
{
	memcpy(arena, snapshot, used_by_setup);
	if (used > used_by_setup)
		memset(arena + used_by_setup, 0, used - used_by_setup);
	used = used_by_setup;
	n_private = n_private_of_setup;
	for (int i = 0; i < n_private; i++)
	private[i].owner = -1;
}

void *
xp_alloc(size_t bytes, size_t align)
{
	uint8_t *p;

	used = (used + align - 1) / align * align;
	p = arena + used;
	used += bytes;
	if (used > ARENA_BYTES)
		too_big("bytes");
	return p;
}

void *
xp_alloc_private(size_t bytes, size_t align)
{
	void *p = xp_alloc(bytes, align);

	if (n_private == MAX_PRIVATE)
		too_big("private pieces of memory");
	private[n_private].from = p;
	private[n_private].bytes = bytes;
	private[n_private++].owner = -1;
	return p;
}

void
xp_name(const void *p, size_t bytes, const char *text, int number)
{
	if (n_names == MAX_NAMES)
		too_big("names");
	name[n_names].from = p;
	name[n_names].bytes = bytes;
	name[n_names].name = text;
	name[n_names++].number = number;
}

void
xp_ordered(const void *p, size_t bytes)
{
	memset(&is_ordered[(const uint8_t *)p - arena], 1, bytes);
}

void
xp_glanced(const void *p, size_t bytes, const void *confirmed_at)
{
	const uint8_t *from = p;

	for (size_t i = 0; i < bytes; i++) {
		is_ordered[from - arena + (ptrdiff_t)i] = true;
		confirmed_by[from - arena + (ptrdiff_t)i] =
			(uint32_t)((const uint8_t *)confirmed_at - arena);
	}
}

bool
xp_is_watched(const void *p)
{
	return (const uint8_t *)p >= arena && (const uint8_t *)p < arena + ARENA_BYTES;
}

static uint64_t
fetch(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

/* ---- plain memory ----------------------------------------------------------------------- */

static struct shadow *
shadow_of(const uint8_t *p)
{
	struct shadow *s = &shadow[p - arena];

	if (s->run != run) {
		memset(s, 0, sizeof(*s));
		s->run = run;
	}
	return s;
}

static bool
has_seen(int thread, int who, unsigned clock)
{
	return clock == 0 || view[thread].clock[who] >= clock;
}

static bool
has_seen_all(int thread, const uint16_t *clock)
{
	for (int i = 0; i < n_threads; i++)
		if (i != thread && !has_seen(thread, i, clock[i]))
			return false;
	return true;
}

/* True if it belongs to one thread; a second one is a bug. */
static bool
is_private(int thread, const uint8_t *p)
{
	for (int i = 0; i < n_private; i++) {
		if (p < private[i].from || p >= private[i].from + private[i].bytes)
			continue;
		if (private[i].owner < 0)
		private[i].owner = thread;
		if (private[i].owner != thread)
			xp_bug("a handle is used by two threads");
		return true;
	}
	return false;
}

static void
plain_read(int thread, struct shadow *s)
{
	if (!has_seen(thread, s->writer, s->written))
		xp_bug("data race: write, read");
	if (!has_seen_all(thread, s->atomic_written))
		xp_bug("data race: atomic write, read");
	s->read[thread] = view[thread].clock[thread];
}

static void
plain_write(int thread, struct shadow *s)
{
	if (!has_seen(thread, s->writer, s->written))
		xp_bug("data race: write, write");
	if (!has_seen_all(thread, s->read))
		xp_bug("data race: read, write");
	if (!has_seen_all(thread, s->atomic_written) || !has_seen_all(thread, s->atomic_read))
		xp_bug("data race: atomic access, write");
	s->writer = (uint8_t)thread;
	s->written = view[thread].clock[thread];
}

void
xp_plain(int thread, const void *start, size_t size, bool writes)
{
	const uint8_t *p = start;

	if (is_private(thread, p))
		return;
	for (size_t i = 0; i < size; i++) {
		struct shadow *s = shadow_of(p + i);

		if (!writes) {
			plain_read(thread, s);
			continue;
		}
		plain_write(thread, s);
		if (s->word)
			word[s->word - 1].is_stale = true;
	}
}

/* ---- words ------------------------------------------------------------------------------ */

void
xp_memory_reset(int n)
{
	run++;
	n_words = 0;
	n_threads = n;
	memset(view, 0, sizeof(view));
	memset(glances, 0, sizeof(glances));
	for (int i = 0; i < n; i++)
		view[i].clock[i] = 1;
}

static struct value *
append(struct word *w, uint64_t v, int step)
{
	struct value *new = &w->v[w->n];

	if (w->n == MAX_VALUES)
		too_big("stores to one word");
	w->n++;
	memset(&new->view, 0, sizeof(new->view));
	new->value = v;
	new->step = step;
	return new;
}

int
xp_word(const void *start, unsigned size)
{
	const uint8_t *p = start;
	struct shadow *s = shadow_of(p);
	struct word *w;

	if (s->word) {
		w = &word[s->word - 1];
		if (w->p != p || w->size != size)
			xp_bug("one word is used in two sizes");
		return s->word - 1;
	}
	if (n_words == MAX_WORDS)
		too_big("words");
	w = &word[n_words++];
	for (unsigned i = 0; i < size; i++)
		shadow_of(p + i)->word = (int16_t)n_words;
	w->p = arena + (p - arena);
	w->size = size;
	w->n = w->floor = w->sc_floor = 0;
	w->is_stale = false;
	w->is_ordered = is_ordered[p - arena];
	w->confirmed_by = confirmed_by[p - arena];
	for (int i = 0; i < n_threads; i++)
		view[i].at[n_words - 1] = 0;
	append(w, fetch(p, size), -1);
	return n_words - 1;
}

const char *
xp_word_name(int i, char *text, size_t n)
{
	const uint8_t *p = word[i].p;

	for (int k = n_names - 1; k >= 0; k--) {
		if (p < name[k].from || p >= name[k].from + name[k].bytes)
			continue;
		if (name[k].bytes <= word[i].size)
			snprintf(text, n, "%s[%d]", name[k].name, name[k].number);
		else
			snprintf(text, n, "%s[%d] + %d", name[k].name, name[k].number,
				 (int)(p - name[k].from));
		return text;
	}
	snprintf(text, n, "arena + %d", (int)(p - arena));
	return text;
}

/* Written plainly since: those who may look at all see only what is there now. */
static struct word *
settled(int i)
{
	struct word *w = &word[i];

	if (w->is_stale) {
		w->is_stale = false;
		append(w, fetch(w->p, w->size), -1);
		w->floor = w->n - 1;
	}
	return w;
}

static bool
acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool
releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static int
oldest(int thread, int i)
{
	const struct word *w = settled(i);
	int at = view[thread].at[i];

	return at > w->floor ? at : w->floor;
}

static void
join(struct view *into, const struct view *from)
{
	for (int i = 0; i < n_words; i++)
		if (from->at[i] > into->at[i])
			into->at[i] = from->at[i];
	for (int i = 0; i < n_threads; i++)
		if (from->clock[i] > into->clock[i])
			into->clock[i] = from->clock[i];
}

static uint32_t
bits(int n)
{
	if (n > XP_MAX_OPTIONS)
		too_big("values a load may see");
	return n == XP_MAX_OPTIONS ? UINT32_MAX >> 1 : (UINT32_C(1) << n) - 1;
}

uint32_t
xp_options(int thread, const struct xp_access *a)
{
	uint32_t set = 0;
	int from;
	const struct word *w;

	if (a->kind == XP_LAST)
		return 1;
	from = oldest(thread, a->word);
	w = &word[a->word];
	if (a->kind == XP_LOAD && a->order == __ATOMIC_SEQ_CST && w->sc_floor > from)
		return bits(w->n - from) & ~bits(w->sc_floor - from);
	if (a->kind == XP_LOAD)
		return bits(w->n - from);
	if (a->kind == XP_CAS) {
		for (int k = from; k < w->n; k++)
			if (w->v[k].value != a->expected || k == w->n - 1)
				set |= bits(k - from + 1) & ~bits(k - from);
		return set;
	}
	return 1;
}

bool
xp_stores(const struct xp_access *a)
{
	if (a->kind == XP_LOAD)
		return a->order == __ATOMIC_SEQ_CST;
	return a->kind != XP_LAST;
}

/* The race between an atomic access and plain ones, and between ordered words. */
static void
check_byte(int thread, const struct word *w, struct shadow *s, bool writes)
{
	if (!has_seen(thread, s->writer, s->written))
		xp_bug("data race: write, atomic access");
	if (writes && !has_seen_all(thread, s->read))
		xp_bug("data race: read, atomic write");
	if (w->is_ordered && !has_seen_all(thread, s->atomic_written))
		xp_bug("unordered: write, access to a word that must be ordered");
	if (w->is_ordered && writes && !has_seen_all(thread, s->atomic_read))
		xp_bug("unordered: read, write of a word that must be ordered");
}

static void
check_atomic(int thread, const struct word *w, bool writes)
{
	uint16_t now = view[thread].clock[thread];

	for (unsigned i = 0; i < w->size; i++) {
		struct shadow *s = shadow_of(w->p + i);

		check_byte(thread, w, s, writes);
		if (writes)
			s->atomic_written[thread] = now;
		else
			s->atomic_read[thread] = now;
	}
}

/* A look that counts only if a swap confirms it. */
static void
glance(int thread, int i)
{
	int n = glances[thread].n;

	if (n == MAX_GLANCES)
		too_big("glances");
	glances[thread].glance[n].word = i;
	glances[thread].glance[n].clock = view[thread].clock[thread];
	glances[thread].glance[n].is_unordered =
		!has_seen_all(thread, shadow_of(word[i].p)->atomic_written);
	glances[thread].n++;
}

static void
confirm(int thread, const struct word *at, bool is_won)
{
	uint32_t offset = (uint32_t)(at->p - arena);
	int kept = 0;

	for (int i = 0; i < glances[thread].n; i++) {
		const struct word *w = &word[glances[thread].glance[i].word];

		if (w->confirmed_by != offset) {
			glances[thread].glance[kept++] = glances[thread].glance[i];
			continue;
		}
		if (!is_won)
			continue;
		if (glances[thread].glance[i].is_unordered ||
		    !has_seen_all(thread, shadow_of(w->p)->atomic_written))
			xp_bug("unordered: write, glance that was confirmed");
		for (unsigned k = 0; k < w->size; k++)
			shadow_of(w->p + k)->atomic_read[thread] = glances[thread].glance[i].clock;
	}
	glances[thread].n = kept;
}

/* ---- steps ------------------------------------------------------------------------------ */

static uint64_t
see(int thread, int i, int k, int order, struct xp_effect *out)
{
	const struct value *v = &word[i].v[k];

	out->reads = true;
	out->read_from = v->step;
	out->value = v->value;
	view[thread].at[i] = (int8_t)k;
	if (acquires(order))
		join(&view[thread], &v->view);
	return v->value;
}

static void
put(int thread, int i, uint64_t v, int order, const struct view *sequence, int step,
    struct xp_effect *out)
{
	struct word *w = &word[i];
	struct value *new;

	if (w->size < 8)
		v &= (UINT64_C(1) << 8 * w->size) - 1;
	new = append(w, v, step);
	view[thread].at[i] = (int8_t)(w->n - 1);
	if (releases(order))
		new->view = view[thread];
	else
		new->view.at[i] = (int8_t)(w->n - 1);
	/* A read-modify-write goes on with the release sequence it reads from. */
	if (sequence)
		join(&new->view, sequence);
	memcpy(w->p, &v, w->size);
	if (order == __ATOMIC_SEQ_CST)
		w->sc_floor = w->n - 1;
	out->value = v;
}

static uint64_t
modified(enum xp_kind kind, uint64_t v, uint64_t x)
{
	switch (kind) {
	case XP_ADD:
		return v + x;
	case XP_SUB:
		return v - x;
	case XP_AND:
		return v & x;
	case XP_OR:
		return v | x;
	case XP_XOR:
		return v ^ x;
	case XP_NAND:
		return ~(v & x);
	default:
		return x;
	}
}

static uint64_t
modify(int thread, const struct xp_access *a, int step, struct xp_effect *out)
{
	struct word *w = settled(a->word);
	int last = w->n - 1;
	struct view sequence = w->v[last].view;
	uint64_t before;

	check_atomic(thread, w, true);
	before = see(thread, a->word, last, a->order, out);
	put(thread, a->word, modified(a->kind, before, a->operand), a->order, &sequence, step, out);
	return before;
}

static uint64_t
compare_and_swap(int thread, const struct xp_access *a, int option, int step, struct xp_effect *out)
{
	int k = oldest(thread, a->word) + option;

	bool is_won = word[a->word].v[k].value == a->expected;

	confirm(thread, &word[a->word], is_won);
	if (is_won)
		return modify(thread, a, step, out);
	check_atomic(thread, &word[a->word], false);
	return see(thread, a->word, k, a->fail_order, out);
}

/* Futex and eventfd: the kernel sees the last value and orders nothing for us. */
static uint64_t
kernel_call(int thread, const struct xp_access *a, int step, struct xp_effect *out)
{
	struct word *w = settled(a->word);
	uint64_t last = w->v[w->n - 1].value;

	out->value = last;
	if (a->kind == XP_SLEEP)
		out->sleeps = last == a->operand;
	else if (a->kind == XP_TAKE)
		out->sleeps = last == 0;
	else
		out->wakes = true;
	if (a->kind == XP_TAKE && last != 0)
		put(thread, a->word, 0, __ATOMIC_RELAXED, NULL, step, out);
	return last;
}

uint64_t
xp_perform(int thread, const struct xp_access *a, int option, int step, struct xp_effect *out)
{
	uint64_t value = 0;
	int k;

	*out = (struct xp_effect){ .word = a->word, .stores = xp_stores(a), .read_from = -1 };
	switch (a->kind) {
	case XP_LAST:
		break;
	case XP_LOAD:
		k = oldest(thread, a->word) + option;
		if (word[a->word].confirmed_by)
			glance(thread, a->word);
		else
			check_atomic(thread, &word[a->word], false);
		value = see(thread, a->word, k, a->order, out);
		break;
	case XP_STORE:
		settled(a->word);
		check_atomic(thread, &word[a->word], true);
		put(thread, a->word, a->operand, a->order, NULL, step, out);
		break;
	case XP_CAS:
		value = compare_and_swap(thread, a, option, step, out);
		break;
	case XP_SLEEP:
	case XP_WAKE:
	case XP_TAKE:
		value = kernel_call(thread, a, step, out);
		break;
	default:
		value = modify(thread, a, step, out);
		break;
	}
	view[thread].clock[thread]++;
	return value;
}

void
xp_mark_dead(int thread, uint32_t *mark_word, uint32_t mark, int step, struct xp_effect *out)
{
	struct xp_access a = { .kind = XP_OR,
			       .word = xp_word(mark_word, sizeof(*mark_word)),
			       .operand = mark,
			       .order = __ATOMIC_ACQ_REL };

	xp_perform(thread, &a, 0, step, out);
}

uint64_t
xp_direct(const struct xp_access *a, void *p, unsigned size)
{
	uint64_t before = fetch(p, size), after;

	if (a->kind == XP_LOAD || (a->kind == XP_CAS && before != a->expected))
		return before;
	after = modified(a->kind, before, a->operand);
	memcpy(p, &after, size);
	return before;
}
