/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness_test.c - that the benchmarks judge rightly: quantiles, pairs, bounds,
 * and that wrong data, a dead or a failing end is a failed row, never a figure.
 *
 * The ends of the jobs here share one CPU if there is only one: no times are
 * looked at.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "micro.h"

enum { MESSAGES = 8 };

static const char *reason; /* of the last row measured */

/* ---- figures -------------------------------------------------------------------------------- */

static void
quantiles_are_nearest_ranks(void **state)
{
	double v[] = { 5, 1, 4, 2, 3 };

	(void)state;
	assert_true(hb_median(v, 5) == 3);
	assert_true(hb_quantile(v, 5, 0.25) == 2);
	assert_true(hb_quantile(v, 5, 1) == 5);
	assert_true(hb_median(v, 0) == 0);
}

static void
spread_is_relative_to_the_mean(void **state)
{
	const double same[] = { 7, 7, 7 }, apart[] = { 5, 15 };

	(void)state;
	assert_true(hb_cv(same, 3) == 0);
	assert_true(fabs(hb_cv(apart, 2) - 70.7) < 0.1);
	assert_true(hb_cv(apart, 1) == 0);
}

static struct hb_row
measured(const char *key, const char *floor, double a, double b, double c)
{
	struct hb_row row = { .key = key, .what = key, .floor = floor, .n = 3 };

	row.value[0] = a;
	row.value[1] = b;
	row.value[2] = c;
	return row;
}

static void
ratio_is_the_median_of_pairs(void **state)
{
	/* Medians are 10 and 20; in one and the same repetition it was 4, 2 and 1 times. */
	struct hb_row rows[] = { measured("floor", NULL, 5, 10, 20),
				 measured("row", "floor", 20, 20, 20) };
	struct hb_result r = { .row = rows, .n_rows = 2, .reps = 3 };
	double lo, hi;

	(void)state;
	assert_true(hb_ratio(&r, &rows[1], &lo, &hi) == 2);
	assert_true(lo >= 1 && lo <= 2 && hi >= 2 && hi <= 4);
	assert_true(hb_ratio(&r, &rows[0], &lo, &hi) == 0);
}

static void
bound_is_missed_just_above_it(void **state)
{
	struct hb_row rows[] = { measured("floor", NULL, 10, 10, 10),
				 measured("row", "floor", 20, 20, 20) };
	struct hb_result r = { .row = rows, .n_rows = 2, .reps = 3 };

	(void)state;
	assert_false(hb_is_missed(&r, &rows[1]));
	rows[1].kind = HB_RATIO;
	rows[1].bound = 2;
	assert_false(hb_is_missed(&r, &rows[1]));
	rows[1].bound = 1.99;
	assert_true(hb_is_missed(&r, &rows[1]));
}

static void
bound_in_ns_grows_with_the_call_and_never_shrinks(void **state)
{
	struct hb_row rows[] = { measured("floor.call", NULL, 4, 4, 4),
				 measured("row", "floor.call", 150, 150, 150) };
	struct hb_result r = { .row = rows, .n_rows = 2, .reps = 3 };

	(void)state;
	rows[1].kind = HB_NS;
	rows[1].bound = 100;
	assert_true(hb_bound_here(&r, &rows[1]) == 200);
	assert_false(hb_is_missed(&r, &rows[1]));
	rows[0] = measured("floor.call", NULL, 1, 1, 1);
	assert_true(hb_bound_here(&r, &rows[1]) == 100);
	assert_true(hb_is_missed(&r, &rows[1]));
}

static void
run_is_noisy_when_most_repetitions_are(void **state)
{
	struct hb_result r = { .reps = 3, .other_pct = { 50, 0, 0 }, .steal_pct = { 0, 0, 0 } };

	(void)state;
	assert_true(hb_is_noisy(&r, 0));
	assert_false(hb_is_mostly_noisy(&r));
	r.steal_pct[2] = 6;
	assert_true(hb_is_mostly_noisy(&r));
}

/* ---- choosing and running ------------------------------------------------------------------- */

static double
one(const struct hb_env *env, int arg)
{
	(void)env;
	return arg;
}

static double
not_here(const struct hb_env *env, int arg)
{
	(void)env;
	return hb_skip("arg %d", arg);
}

static double
wrong(const struct hb_env *env, int arg)
{
	(void)env;
	return hb_fail("arg %d", arg);
}

static void
selecting_a_row_selects_what_it_stands_on(void **state)
{
	struct hb_row rows[] = { { .key = "floor.call", .measure = one },
				 { .key = "a", .measure = one },
				 { .key = "b", .measure = one, .floor = "a", .kind = HB_NS },
				 { .key = "c", .measure = one },
				 { .key = "d", .same_as = "b", .floor = "c" } };
	struct hb_result r = { .row = rows, .n_rows = 5, .reps = 1 };

	(void)state;
	assert_int_equal(hb_select(&r, "nothing"), 0);
	assert_int_equal(hb_select(&r, "c"), 1);
	assert_false(rows[0].selected || rows[1].selected || rows[2].selected);
	assert_int_equal(hb_select(&r, "d"), 1);
	assert_true(rows[0].selected && rows[1].selected && rows[2].selected && rows[4].selected);
}

static void
rows_without_a_figure_keep_their_reason(void **state)
{
	struct hb_row rows[] = { { .key = "a", .measure = one, .arg = 3 },
				 { .key = "b", .measure = not_here, .arg = 4 },
				 { .key = "c", .measure = wrong, .arg = 5 },
				 { .key = "d", .same_as = "c" } };
	struct hb_result r = { .row = rows, .n_rows = 4, .reps = 2 };
	struct hb_env env = { .brief = true };

	(void)state;
	hb_select(&r, NULL);
	hb_run(&r, &env);
	assert_int_equal(rows[0].n, 2);
	assert_true(hb_row_median(&rows[0]) == 3);
	assert_int_equal(rows[1].state, HB_SKIPPED);
	assert_string_equal(rows[1].why, "arg 4");
	assert_int_equal(rows[2].state, HB_FAILED);
	assert_string_equal(rows[2].why, "arg 5");
	assert_int_equal(rows[3].state, HB_FAILED);
	free((void *)(uintptr_t)rows[1].why);
	free((void *)(uintptr_t)rows[2].why);
}

/* ---- ends ----------------------------------------------------------------------------------- */

enum fault { NONE, WRONG_NUMBER, TORN, SENDER_FAILS, RECEIVER_FAILS, RECEIVER_DIES };

static struct hb_msg *
slots(struct hb_job *job)
{
	return (void *)job->share->body;
}

static bool
send_all(struct hb_job *job)
{
	hb_meet(job);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		hb_msg_make(&slots(job)[i], 1, i + (job->variant == WRONG_NUMBER && i == 5));
		if (job->variant == TORN && i == 5)
			slots(job)[i].number[HB_WORDS - 2]--;
		if (job->variant == SENDER_FAILS && i == 5)
			return hb_note(job, "sender at 5");
		__atomic_fetch_add(&job->share->here, 1, __ATOMIC_RELEASE);
	}
	return true;
}

static bool
receive_all(struct hb_job *job)
{
	hb_meet(job);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		while (hr_load32_acquire(&job->share->here) < 3 + i)
			usleep(0);
		if (job->variant == RECEIVER_FAILS && i == 5)
			return hb_note(job, "receiver at 5");
		if (job->variant == RECEIVER_DIES && i == 5)
			_exit(9);
		if (!hb_received(job, i, &slots(job)[i], 101 + i))
			return false;
	}
	return true;
}

static double
pair(const struct hb_env *env, int how)
{
	struct hb_job job = { .env = env,
			      .body_bytes = MESSAGES * sizeof(struct hb_msg),
			      .kind = (enum hb_ends)(how & 1),
			      .variant = how >> 1,
			      .warm = 1,
			      .n = MESSAGES - 1,
			      .send = send_all,
			      .receive = receive_all };

	return hb_run_ends(&job);
}

static double
measure(enum hb_ends kind, enum fault fault, int n_cpus, enum hb_state *state)
{
	struct hb_row row = { .key = "pair", .measure = pair, .arg = (int)kind | (int)fault << 1 };
	struct hb_result r = { .row = &row, .n_rows = 1, .reps = 1 };
	struct hb_env env = { .n_cpus = n_cpus, .brief = true };

	assert_true(hb_cpus(env.cpu, 2) >= 1);
	if (hb_cpus(env.cpu, 2) < 2)
		env.cpu[1] = env.cpu[0];
	hb_select(&r, NULL);
	hb_run(&r, &env);
	*state = row.state;
	free((void *)(uintptr_t)reason);
	reason = row.why;
	return row.n ? row.value[0] : -1;
}

static void
both_kinds_of_ends_give_the_median_of_warm_samples(void **state)
{
	enum hb_state s;

	(void)state;
	/* 101 .. 107 without the first, since 1. */
	assert_true(measure(HB_THREADS, NONE, 2, &s) == 104);
	assert_int_equal(s, HB_MEASURED);
	assert_true(measure(HB_PROCESSES, NONE, 2, &s) == 104);
	assert_int_equal(s, HB_MEASURED);
}

static void
every_fault_is_a_failed_row(void **state)
{
	static const char *const texts[] = {
		[WRONG_NUMBER] = "message 5 is wrong: it says 6 .. 6",
		[TORN] = "message 5 is wrong: it says 5 .. 4",
		[SENDER_FAILS] = "sender at 5",
		[RECEIVER_FAILS] = "receiver at 5",
	};

	(void)state;
	for (int kind = HB_THREADS; kind <= HB_PROCESSES; kind++)
		for (int fault = WRONG_NUMBER; fault <= RECEIVER_FAILS; fault++) {
			enum hb_state s;

			assert_true(measure((enum hb_ends)kind, (enum fault)fault, 2, &s) == -1);
			assert_int_equal(s, HB_FAILED);
			assert_string_equal(reason, texts[fault]);
		}
}

static void
receiver_that_dies_is_a_failed_row(void **state)
{
	enum hb_state s;

	(void)state;
	assert_true(measure(HB_PROCESSES, RECEIVER_DIES, 2, &s) == -1);
	assert_int_equal(s, HB_FAILED);
	assert_string_equal(reason, "the receiver died (status 0x900)");
	assert_true(measure(HB_THREADS, RECEIVER_DIES, 2, &s) == -1);
	assert_int_equal(s, HB_FAILED);
}

static void
two_ends_need_two_cpus(void **state)
{
	enum hb_state s;

	(void)state;
	assert_true(measure(HB_THREADS, NONE, 1, &s) == -1);
	assert_int_equal(s, HB_SKIPPED);
	assert_string_equal(reason, "needs two CPUs");
	free((void *)(uintptr_t)reason);
	reason = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_nearest_ranks),
		cmocka_unit_test(spread_is_relative_to_the_mean),
		cmocka_unit_test(ratio_is_the_median_of_pairs),
		cmocka_unit_test(bound_is_missed_just_above_it),
		cmocka_unit_test(bound_in_ns_grows_with_the_call_and_never_shrinks),
		cmocka_unit_test(run_is_noisy_when_most_repetitions_are),
		cmocka_unit_test(selecting_a_row_selects_what_it_stands_on),
		cmocka_unit_test(rows_without_a_figure_keep_their_reason),
		cmocka_unit_test(both_kinds_of_ends_give_the_median_of_warm_samples),
		cmocka_unit_test(every_fault_is_a_failed_row),
		cmocka_unit_test(receiver_that_dies_is_a_failed_row),
		cmocka_unit_test(two_ends_need_two_cpus),
	};

	return cmocka_run_group_tests_name("bench harness", tests, NULL, NULL);
}
