// SPDX-License-Identifier: Apache-2.0
/*
 * text.c - growth by doubling inside an arena.
 *
 * The old copies stay in the arena until it goes: at most as much again as the
 * final text, which control code can afford.
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

void *
hr_grow(struct hr_arena *a, void *old, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return old;
	size_t more = *cap ? *cap * 2 : 8;
	void *grown = hr_alloc_array(a, more, size);

	if (n)
		memcpy(grown, old, n * size);
	*cap = more;
	return grown;
}

static void
reserve(struct hr_text *t, size_t more)
{
	if (t->cap - t->len > more)
		return;
	size_t cap = t->cap * 2;

	if (cap - t->len <= more)
		cap = t->len + more + 1;
	char *s = hr_alloc_aligned(t->arena, cap, 1);

	memcpy(s, t->s, t->len + 1);
	t->s = s;
	t->cap = cap;
}

void
hr_text_init(struct hr_text *t, struct hr_arena *a)
{
	t->arena = a;
	t->cap = 64;
	t->len = 0;
	t->s = hr_alloc_aligned(a, t->cap, 1);
}

void
hr_text_putn(struct hr_text *t, const char *s, size_t n)
{
	reserve(t, n);
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void
hr_text_puts(struct hr_text *t, const char *s)
{
	hr_text_putn(t, s, strlen(s));
}

void
hr_text_fill(struct hr_text *t, char c, size_t n)
{
	reserve(t, n);
	memset(t->s + t->len, c, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void
hr_text_add(struct hr_text *t, const char *fmt, ...)
{
	va_list ap;
	char small[256];

	va_start(ap, fmt);
	int n = vsnprintf(small, sizeof(small), fmt, ap);

	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(small)) {
		hr_text_putn(t, small, (size_t)n);
		return;
	}
	reserve(t, (size_t)n);
	va_start(ap, fmt);
	(void)vsnprintf(t->s + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void
hr_strings_add(struct hr_arena *a, struct hr_strings *l, const char *s)
{
	*HR_PUSH(a, l->item, l->n, l->cap) = s;
}

bool
hr_strings_has(const struct hr_strings *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->item[i], s))
			return true;
	return false;
}
