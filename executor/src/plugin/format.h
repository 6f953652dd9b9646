/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - what flows over an edge: spelled, measured, checked, gathered.
 */
#ifndef HR_FORMAT_H
#define HR_FORMAT_H

#include <holorun/op.h>

#include <stdbool.h>

#include "base/arena.h"

#define HR_MAX_PAYLOAD ((uint64_t)1 << 30) /* bytes of one message */

/* "c32[1024]" (complex of two 32-bit floats), "i16x2[4,512]", "bytes, at most 1 KiB". */
const char *hr_format_text(struct hr_arena *a, const struct hop_format *f);
/* Bytes of all elements, densely packed; UINT64_MAX: too many to count.  0 for plain bytes. */
uint64_t hr_format_bytes(const struct hop_format *f);
/* NULL: usable; else what an op did wrong when it filled it in. */
const char *hr_format_check(struct hr_arena *a, const struct hop_format *f);
/* count messages as one, with a new outermost axis.  NULL: done; else why it cannot be. */
const char *hr_format_gather(struct hr_arena *a, const struct hop_format *piece, uint64_t count,
			     struct hop_format *whole);
bool hr_format_same(const struct hop_format *x, const struct hop_format *y);

#endif
