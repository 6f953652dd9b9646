/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - a ring of keys and an open-addressing hash of positions in it.
 *
 * Removing closes the gap (Knuth, The Art of Computer Programming, vol. 3,
 * 6.4, algorithm R), so that no probe ends too early.
 */
#include <string.h>

#include "run/keys.h"

enum { SLOTS = 4 * HR_KEYS };

struct hr_keys {
	struct hr_key ring[HR_KEYS];
	uint32_t n;           /* ever added; runs free */
	uint32_t slot[SLOTS]; /* position in the ring + 1; 0: empty */
};

struct hr_keys *
hr_keys_new(struct hr_arena *a)
{
	return HR_NEW(a, struct hr_keys);
}

bool
hr_key_equal(const struct hr_key *a, const struct hr_key *b)
{
	return a->frame == b->frame && a->stream == b->stream;
}

static uint32_t
home_of(const struct hr_key *key)
{
	uint64_t h = (key->frame ^ ((uint64_t)key->stream << 40)) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 40) % SLOTS;
}

/* Where the key is, or the empty slot where it would be. */
static uint32_t
slot_of(const struct hr_keys *k, const struct hr_key *key)
{
	uint32_t i = home_of(key);

	while (k->slot[i] && !hr_key_equal(&k->ring[k->slot[i] - 1], key))
		i = (i + 1) % SLOTS;
	return i;
}

const struct hr_key *
hr_keys_find(const struct hr_keys *k, const struct hr_key *key)
{
	uint32_t i = slot_of(k, key);

	return k->slot[i] ? &k->ring[k->slot[i] - 1] : NULL;
}

static void
remove_key(struct hr_keys *k, const struct hr_key *key)
{
	uint32_t hole = slot_of(k, key);

	for (uint32_t i = (hole + 1) % SLOTS; k->slot[i]; i = (i + 1) % SLOTS) {
		uint32_t home = home_of(&k->ring[k->slot[i] - 1]);

		/* Its home lies behind the hole: it stays reachable. */
		if ((i - home + SLOTS) % SLOTS < (i - hole + SLOTS) % SLOTS)
			continue;
		k->slot[hole] = k->slot[i];
		hole = i;
	}
	k->slot[hole] = 0;
}

void
hr_keys_add(struct hr_keys *k, const struct hr_key *key)
{
	uint32_t at = k->n % HR_KEYS;

	if (k->n >= HR_KEYS)
		remove_key(k, &k->ring[at]);
	k->ring[at] = *key;
	if (++k->n == 0)
		k->n = HR_KEYS; /* it has wrapped: the ring is full all the same */
	k->slot[slot_of(k, key)] = at + 1;
}

void
hr_keys_forget(struct hr_keys *k)
{
	memset(k, 0, sizeof *k);
}
