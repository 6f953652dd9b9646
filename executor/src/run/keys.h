/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - the keys of frames a gather has closed, the last HR_KEYS of them.
 *
 * A ring with a hash over it: adding and finding take constant time, nothing
 * allocates after hr_keys_new.  One thread.
 */
#ifndef HR_KEYS_H
#define HR_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { HR_KEYS = 1024 };

struct hr_key {
	uint64_t frame;
	uint32_t stream;
	uint32_t shed; /* it never got a slot */
};

struct hr_keys;

struct hr_keys *hr_keys_new(struct hr_arena *a);
bool hr_key_equal(const struct hr_key *a, const struct hr_key *b);
/* NULL if it is not among the last HR_KEYS. */
const struct hr_key *hr_keys_find(const struct hr_keys *k, const struct hr_key *key);
/* All of them. */
void hr_keys_forget(struct hr_keys *k);
/* The key must not be there; the oldest makes room. */
void hr_keys_add(struct hr_keys *k, const struct hr_key *key);

#endif
