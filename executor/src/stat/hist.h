/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h - a log-linear histogram of nanoseconds, in memory others may read.
 *
 * 32 buckets an octave: a quantile is right to 3 %.  One writer; readers see
 * whole counts, at worst a little old.  Layout is frozen (it lives in the run
 * page).  Quantiles follow the nearest-rank rule and are the upper edge of
 * their bucket, never above the exact maximum.
 */
#ifndef HR_HIST_H
#define HR_HIST_H

#include <stdint.h>

#include "base/atomic.h"

enum { HR_HIST_SUB = 32, HR_HIST_OCTAVES = 37, HR_HIST_BUCKETS = HR_HIST_SUB * HR_HIST_OCTAVES };

struct hr_hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* valid when count > 0 */
	uint64_t max_ns;
	uint64_t negative; /* values below zero, counted as 0: a clock of another machine */
	uint64_t bucket[HR_HIST_BUCKETS];
};

/* Which bucket: values below 32 are exact, above that 32 steps an octave; the last takes all. */
static inline uint32_t
hr_hist_bucket(uint64_t ns)
{
	uint32_t top, b;

	if (ns < HR_HIST_SUB)
		return (uint32_t)ns;
	top = 63u - (uint32_t)__builtin_clzll(ns); /* >= 5 */
	b = (top - 4u) * HR_HIST_SUB + (uint32_t)((ns >> (top - 5u)) & (HR_HIST_SUB - 1u));
	return b < HR_HIST_BUCKETS ? b : HR_HIST_BUCKETS - 1u;
}

static inline void
hr_hist_add(struct hr_hist *h, int64_t ns)
{
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;

	if (ns < 0)
		hr_add_single(&h->negative, 1);
	if (h->count == 0 || v < h->min_ns)
		hr_store_relaxed(&h->min_ns, v);
	if (v > h->max_ns)
		hr_store_relaxed(&h->max_ns, v);
	hr_add_single(&h->bucket[hr_hist_bucket(v)], 1);
	hr_add_single(&h->sum_ns, v);
	hr_add_single(&h->count, 1);
}

/* q in (0, 1]; 0 when empty. */
uint64_t hr_hist_quantile(const struct hr_hist *h, double q);
/* Add b to a; a is private to the caller. */
void hr_hist_merge(struct hr_hist *a, const struct hr_hist *b);

#endif
