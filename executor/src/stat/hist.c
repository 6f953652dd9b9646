// SPDX-License-Identifier: Apache-2.0
/*
 * hist.c - reading a histogram that its writer may still be adding to.
 *
 * Buckets and count are separate words, so a reader may see a value in one and
 * not yet in the other; a quantile then comes out one value early or late,
 * never out of the range of what was added.
 */
#include "stat/hist.h"

/* The largest value that falls into bucket b. */
static uint64_t
upper_edge(uint32_t b)
{
	uint32_t shift;

	if (b < HR_HIST_SUB)
		return b;
	if (b == HR_HIST_BUCKETS - 1)
		return UINT64_MAX; /* takes all that is larger, too */
	shift = b / HR_HIST_SUB - 1;
	return ((uint64_t)(HR_HIST_SUB + b % HR_HIST_SUB + 1) << shift) - 1;
}

/* Nearest rank: the smallest k with k >= q * n, at least 1. */
static uint64_t
rank_of(double q, uint64_t n)
{
	double exact = q * (double)n;
	uint64_t k;

	if (exact >= (double)n)
		return n;
	k = (uint64_t)exact;
	if ((double)k < exact)
		k++;
	return k ? k : 1;
}

uint64_t
hr_hist_quantile(const struct hr_hist *h, double q)
{
	uint64_t n = hr_load_relaxed(&h->count);
	uint64_t max = hr_load_relaxed(&h->max_ns);
	uint64_t want, seen = 0;

	if (!n)
		return 0;
	want = rank_of(q, n);
	for (uint32_t b = 0; b < HR_HIST_BUCKETS; b++) {
		seen += hr_load_relaxed(&h->bucket[b]);
		if (seen >= want) {
			uint64_t edge = upper_edge(b);

			return edge < max ? edge : max;
		}
	}
	return max;
}

void
hr_hist_merge(struct hr_hist *a, const struct hr_hist *b)
{
	uint64_t n = hr_load_relaxed(&b->count);
	uint64_t min = hr_load_relaxed(&b->min_ns), max = hr_load_relaxed(&b->max_ns);

	if (!n)
		return;
	if (!a->count || min < a->min_ns)
		a->min_ns = min;
	if (max > a->max_ns)
		a->max_ns = max;
	a->count += n;
	a->sum_ns += hr_load_relaxed(&b->sum_ns);
	a->negative += hr_load_relaxed(&b->negative);
	for (uint32_t i = 0; i < HR_HIST_BUCKETS; i++)
		a->bucket[i] += hr_load_relaxed(&b->bucket[i]);
}
