/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that lives as long as one stage.
 *
 * Everything a verb makes (document, graph, plan, wiring) is allocated from its
 * arena and freed with it; nothing is freed singly.  [control] only, one thread.
 * The arena is the executor's only malloc.  When memory ends the process ends
 * through the arena's out-of-memory handler (exit 3, one sentence): a stage that
 * cannot be built cannot be started either, so no caller checks for NULL.
 */
#ifndef HR_ARENA_H
#define HR_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct hr_arena;

struct hr_arena *hr_arena_new(void);
void hr_arena_free(struct hr_arena *a); /* NULL is allowed */
/* Zeroed, aligned for any type (or to `align`, a power of two). */
void *hr_alloc(struct hr_arena *a, size_t bytes);
void *hr_alloc_aligned(struct hr_arena *a, size_t bytes, size_t align);
/* n * size with overflow check. */
void *hr_alloc_array(struct hr_arena *a, size_t n, size_t size);
char *hr_strdup(struct hr_arena *a, const char *s);
char *hr_strndup(struct hr_arena *a, const char *s, size_t n);
char *hr_printf(struct hr_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *hr_vprintf(struct hr_arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* What was handed out so far, in bytes. */
size_t hr_arena_bytes(const struct hr_arena *a);
/* Called once when memory ends; must not return (if it does, the process ends with 3 all the same).
 * NULL restores the default: one sentence on stderr, exit 3. */
void hr_arena_on_full(void (*handler)(size_t bytes));

#define HR_NEW(a, type) ((type *)hr_alloc((a), sizeof(type)))
#define HR_ARRAY(a, n, type) ((type *)hr_alloc_array((a), (n), sizeof(type)))

#endif
