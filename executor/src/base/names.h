/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - from a name to a number, in constant time.
 *
 * For tables whose size the user decides (nodes, anchors, keys): a file with
 * 100000 nodes must not take quadratic time.  Names are kept, not copied.
 */
#ifndef HR_NAMES_H
#define HR_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct hr_names {
	struct hr_names_slot *slot;
	size_t n, cap; /* cap: a power of two, or 0 */
};

/* The number of a name, or UINT32_MAX. */
uint32_t hr_names_find(const struct hr_names *t, const char *name);
/* Give a name a number, replacing the one it had. */
void hr_names_put(struct hr_arena *a, struct hr_names *t, const char *name, uint32_t number);

#endif
