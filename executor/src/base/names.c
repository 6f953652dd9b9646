// SPDX-License-Identifier: Apache-2.0
/*
 * names.c - open addressing, FNV-1a, at most half full.
 */
#include "base/names.h"

#include <string.h>

struct hr_names_slot {
	const char *name; /* NULL: free */
	uint32_t number;
	uint32_t hash;
};

static uint32_t
hash_of(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct hr_names_slot *
locate(struct hr_names_slot *slot, size_t cap, const char *name, uint32_t hash)
{
	for (size_t i = hash & (cap - 1);; i = (i + 1) & (cap - 1))
		if (!slot[i].name || (slot[i].hash == hash && !strcmp(slot[i].name, name)))
			return &slot[i];
}

uint32_t
hr_names_find(const struct hr_names *t, const char *name)
{
	if (!t->cap)
		return UINT32_MAX;
	const struct hr_names_slot *s = locate(t->slot, t->cap, name, hash_of(name));

	return s->name ? s->number : UINT32_MAX;
}

static void
grow(struct hr_arena *a, struct hr_names *t)
{
	size_t cap = t->cap ? t->cap * 2 : 16;
	struct hr_names_slot *slot = HR_ARRAY(a, cap, struct hr_names_slot);

	for (size_t i = 0; i < t->cap; i++)
		if (t->slot[i].name)
			*locate(slot, cap, t->slot[i].name, t->slot[i].hash) = t->slot[i];
	t->slot = slot;
	t->cap = cap;
}

void
hr_names_put(struct hr_arena *a, struct hr_names *t, const char *name, uint32_t number)
{
	if (t->n * 2 >= t->cap)
		grow(a, t);
	uint32_t hash = hash_of(name);
	struct hr_names_slot *s = locate(t->slot, t->cap, name, hash);

	t->n += !s->name;
	*s = (struct hr_names_slot){ name, number, hash };
}
