// SPDX-License-Identifier: Apache-2.0
/*
 * arena.c - a chain of blocks that grow, freed at once.
 *
 * A request larger than a block gets a block of its own.  Memory comes zeroed
 * from calloc and is never reused, so "zeroed" costs nothing here.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BLOCK = 16 << 10, LARGEST_BLOCK = 1 << 20 };

struct block {
	struct block *next;
	size_t size; /* of data[] */
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct hr_arena {
	struct block *blocks; /* newest first */
	size_t next_size;
	size_t handed_out;
};

static void (*on_full)(size_t bytes);

void
hr_arena_on_full(void (*handler)(size_t bytes))
{
	on_full = handler;
}

static void
write_all(const char *s)
{
	ssize_t n = write(STDERR_FILENO, s, strlen(s));

	(void)n; /* nothing is left to tell it to */
}

static _Noreturn void
memory_ended(size_t bytes)
{
	if (on_full)
		on_full(bytes);
	write_all("holorun: error[E301]: out of memory; nothing was started\n");
	_exit(3);
}

struct hr_arena *
hr_arena_new(void)
{
	struct hr_arena *a = calloc(1, sizeof(*a));

	if (!a)
		memory_ended(sizeof(*a));
	a->next_size = FIRST_BLOCK;
	return a;
}

void
hr_arena_free(struct hr_arena *a)
{
	if (!a)
		return;
	for (struct block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

static struct block *
add_block(struct hr_arena *a, size_t want)
{
	size_t size = a->next_size;

	if (want > size)
		size = want;
	else if (a->next_size < LARGEST_BLOCK)
		a->next_size *= 2;
	if (size > SIZE_MAX - sizeof(struct block))
		memory_ended(size);
	struct block *b = calloc(1, sizeof(*b) + size);

	if (!b)
		memory_ended(size);
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

/* Bytes to skip in b so that the next byte is aligned. */
static size_t
padding(const struct block *b, size_t align)
{
	uintptr_t at = (uintptr_t)(b->data + b->used);

	return (size_t)((align - (at & (align - 1))) & (align - 1));
}

void *
hr_alloc_aligned(struct hr_arena *a, size_t bytes, size_t align)
{
	assert(align && !(align & (align - 1)) && "alignment is a power of two");
	struct block *b = a->blocks;

	if (bytes > SIZE_MAX / 2 || align > SIZE_MAX / 4)
		memory_ended(bytes);
	if (!b || b->size - b->used < bytes + padding(b, align))
		b = add_block(a, bytes + align);
	b->used += padding(b, align);
	void *p = b->data + b->used;

	b->used += bytes;
	a->handed_out += bytes;
	return p;
}

void *
hr_alloc(struct hr_arena *a, size_t bytes)
{
	return hr_alloc_aligned(a, bytes, alignof(max_align_t));
}

void *
hr_alloc_array(struct hr_arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		memory_ended(SIZE_MAX);
	return hr_alloc(a, bytes);
}

char *
hr_strndup(struct hr_arena *a, const char *s, size_t n)
{
	if (n == SIZE_MAX)
		memory_ended(n);
	char *copy = hr_alloc_aligned(a, n + 1, 1);

	memcpy(copy, s, n);
	return copy;
}

char *
hr_strdup(struct hr_arena *a, const char *s)
{
	return hr_strndup(a, s, strlen(s));
}

char *
hr_vprintf(struct hr_arena *a, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);

	va_end(again);
	if (n < 0)
		return hr_strdup(a, fmt);
	char *s = hr_alloc_aligned(a, (size_t)n + 1, 1);

	(void)vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *
hr_printf(struct hr_arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *s = hr_vprintf(a, fmt, ap);

	va_end(ap);
	return s;
}

size_t
hr_arena_bytes(const struct hr_arena *a)
{
	return a->handed_out;
}
