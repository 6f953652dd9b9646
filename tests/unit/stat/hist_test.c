// SPDX-License-Identifier: Apache-2.0
/*
 * hist_test.c - the histogram against exact quantiles of the same values.
 *
 * Random values come from a fixed seed that a failure prints.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stat/hist.h"

enum { N = 20000 };
static const uint64_t SEED = 20240611;

static uint64_t
next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t
exact(const uint64_t *sorted, size_t n, double q)
{
	size_t k = (size_t)(q * (double)n);

	if ((double)k < q * (double)n)
		k++;
	return sorted[(k ? k : 1) - 1];
}

static void
empty_histogram_gives_zero(void **state)
{
	static struct hr_hist h;

	(void)state;
	assert_int_equal(hr_hist_quantile(&h, 0.5), 0);
	assert_int_equal(hr_hist_quantile(&h, 1.0), 0);
}

static void
values_below_32_are_exact(void **state)
{
	static struct hr_hist h;

	(void)state;
	for (int64_t v = 0; v < 32; v++)
		hr_hist_add(&h, v);
	for (unsigned k = 1; k <= 32; k++)
		assert_int_equal(hr_hist_quantile(&h, k / 32.0), k - 1);
	assert_int_equal(h.min_ns, 0);
	assert_int_equal(h.max_ns, 31);
	assert_int_equal(h.sum_ns, 31 * 16);
}

static void
one_value_is_every_quantile(void **state)
{
	static const int64_t values[] = { 0, 1, 31, 32, 33, 1000, 123456789, INT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct hr_hist h = { 0 };

		hr_hist_add(&h, values[i]);
		assert_int_equal(hr_hist_quantile(&h, 1e-9), values[i]);
		assert_int_equal(hr_hist_quantile(&h, 0.5), values[i]);
		assert_int_equal(hr_hist_quantile(&h, 1.0), values[i]);
	}
}

static void
bucket_edges_are_where_octaves_are(void **state)
{
	(void)state;
	assert_int_equal(hr_hist_bucket(31), 31);
	assert_int_equal(hr_hist_bucket(32), 32);
	assert_int_equal(hr_hist_bucket(63), 63);
	assert_int_equal(hr_hist_bucket(64), 64);
	assert_int_equal(hr_hist_bucket(65), 64);
	assert_int_equal(hr_hist_bucket(66), 65);
	assert_int_equal(hr_hist_bucket(UINT64_MAX), HR_HIST_BUCKETS - 1);
	for (uint64_t v = 1, last = 0; v < UINT64_C(1) << 45; v += 1 + v / 100) {
		assert_true(hr_hist_bucket(v) >= last);
		last = hr_hist_bucket(v);
	}
}

static void
negative_values_count_as_zero_and_apart(void **state)
{
	static struct hr_hist h;

	(void)state;
	hr_hist_add(&h, -5);
	hr_hist_add(&h, 10);
	assert_int_equal(h.count, 2);
	assert_int_equal(h.negative, 1);
	assert_int_equal(h.min_ns, 0);
	assert_int_equal(hr_hist_quantile(&h, 0.5), 0);
	assert_int_equal(hr_hist_quantile(&h, 1.0), 10);
}

/* Values over nine decades, as latencies are. */
static void
fill(struct hr_hist *h, uint64_t *values, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++) {
		values[i] = next(seed) >> (24 + next(seed) % 36);
		hr_hist_add(h, (int64_t)values[i]);
	}
}

static void
check_against(const struct hr_hist *h, uint64_t *values, size_t n)
{
	static const double qs[] = { 0.0001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0 };

	qsort(values, n, sizeof(*values), by_value);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		uint64_t want = exact(values, n, qs[i]), got = hr_hist_quantile(h, qs[i]);

		if (got < want || (double)got > (double)want * (1 + 1.0 / 32))
			fail_msg("seed %llu, q %g: wanted %llu, found %llu",
				 (unsigned long long)SEED, qs[i], (unsigned long long)want,
				 (unsigned long long)got);
	}
	assert_int_equal(hr_hist_quantile(h, 1.0), values[n - 1]);
}

static void
quantiles_are_within_a_bucket_of_exact(void **state)
{
	static struct hr_hist h;
	static uint64_t values[N];
	uint64_t seed = SEED;

	(void)state;
	fill(&h, values, N, &seed);
	check_against(&h, values, N);
}

static void
merged_is_the_same_as_added_together(void **state)
{
	static struct hr_hist a, b, all;
	static uint64_t values[N];
	uint64_t seed = SEED;

	(void)state;
	fill(&a, values, N / 2, &seed);
	fill(&b, values + N / 2, N / 2, &seed);
	for (size_t i = 0; i < N; i++)
		hr_hist_add(&all, (int64_t)values[i]);
	hr_hist_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(a));
	check_against(&a, values, N);
}

static void
merging_with_an_empty_one_changes_nothing(void **state)
{
	static struct hr_hist a, empty, copy;

	(void)state;
	hr_hist_add(&a, 77);
	copy = a;
	hr_hist_merge(&a, &empty);
	assert_memory_equal(&a, &copy, sizeof(a));
	hr_hist_merge(&empty, &a);
	assert_memory_equal(&empty, &a, sizeof(a));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_histogram_gives_zero),
		cmocka_unit_test(values_below_32_are_exact),
		cmocka_unit_test(one_value_is_every_quantile),
		cmocka_unit_test(bucket_edges_are_where_octaves_are),
		cmocka_unit_test(negative_values_count_as_zero_and_apart),
		cmocka_unit_test(quantiles_are_within_a_bucket_of_exact),
		cmocka_unit_test(merged_is_the_same_as_added_together),
		cmocka_unit_test(merging_with_an_empty_one_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
