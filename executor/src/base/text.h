/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - texts and lists that grow, in an arena.
 *
 * struct hr_text collects a text piece by piece and is NUL-terminated at every
 * moment; struct hr_strings collects strings (kept, not copied).  hr_grow is
 * what both stand on, for vectors of anything.  [control] only.
 */
#ifndef HR_TEXT_H
#define HR_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct hr_text {
	struct hr_arena *arena;
	char *s; /* never NULL after init */
	size_t len;
	size_t cap;
};

void hr_text_init(struct hr_text *t, struct hr_arena *a);
void hr_text_add(struct hr_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hr_text_puts(struct hr_text *t, const char *s);
void hr_text_putn(struct hr_text *t, const char *s, size_t n);
void hr_text_fill(struct hr_text *t, char c, size_t n); /* c, n times */

struct hr_strings {
	const char **item;
	size_t n;
	size_t cap;
};

void hr_strings_add(struct hr_arena *a, struct hr_strings *l, const char *s);
bool hr_strings_has(const struct hr_strings *l, const char *s);

/* Room for one more of `size` bytes after n: returns old, or a larger copy with *cap updated. */
void *hr_grow(struct hr_arena *a, void *old, size_t n, size_t *cap, size_t size);

#define HR_PUSH(a, vec, n, cap)                                                                    \
	((vec) = hr_grow((a), (vec), (n), &(cap), sizeof(*(vec))), &(vec)[(n)++])

#endif
