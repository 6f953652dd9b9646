/* SPDX-License-Identifier: Apache-2.0 */
/* spin_test.c - how long it is worth to spin: learnt from the gaps between messages. */
#include "rig.h"

enum { COST = 40000 };

static struct hmq_spin
after(int n, int64_t gap_ns, int slept)
{
	struct hmq_spin s;

	hmq_spin_init(&s, COST);
	for (int i = 0; i < n; i++)
		hmq_spin_learn(&s, gap_ns, slept);
	return s;
}

static void
before_it_knows_anything_it_spins_for_what_a_sleep_costs(void **state)
{
	struct hmq_spin s = after(0, 0, 0);

	(void)state;
	assert_int_equal(hmq_spin_budget(&s), COST);
}

static void
short_gaps_are_spun_through_but_not_for_longer_than_a_sleep_costs(void **state)
{
	(void)state;
	for (int64_t gap = 100; gap < COST; gap += 100) {
		struct hmq_spin s = after(100, gap, 0);

		assert_true(hmq_spin_budget(&s) >= gap);
		assert_true(hmq_spin_budget(&s) <= COST);
	}
}

static void
gaps_longer_than_a_sleep_costs_are_slept_through(void **state)
{
	struct hmq_spin s = after(50, COST + COST / 4, 0);

	(void)state;
	assert_int_equal(hmq_spin_budget(&s), 0);
	/* One long gap after another, from the second on at the latest. */
	s = after(2, INT64_MAX / 2, 0);
	assert_int_equal(hmq_spin_budget(&s), 0);
}

/* Else a worker that once sleeps would take its own delay for the gap and never spin again. */
static void
what_the_sleep_itself_took_is_no_gap(void **state)
{
	struct hmq_spin s = after(50, COST + 1000, 1);

	(void)state;
	assert_true(hmq_spin_budget(&s) >= 1000);
	s = after(50, COST / 2, 1); /* woken faster than measured */
	assert_true(hmq_spin_budget(&s) > 0);
}

static void
a_long_pause_is_forgotten_after_a_few_messages(void **state)
{
	struct hmq_spin s = after(100, INT64_MAX / 2, 1);
	int n = 0;

	(void)state;
	assert_int_equal(hmq_spin_budget(&s), 0);
	while (hmq_spin_budget(&s) == 0 && n < 100) {
		hmq_spin_learn(&s, COST + 2000, 1);
		n++;
	}
	assert_in_range(n, 1, 20);
}

static void
a_few_long_gaps_among_short_ones_do_not_stop_it(void **state)
{
	struct hmq_spin s = after(100, 1000, 0);

	(void)state;
	hmq_spin_learn(&s, 1000000000, 1);
	assert_true(hmq_spin_budget(&s) > 0);
}

static void
on_a_shared_cpu_it_never_spins(void **state)
{
	struct hmq_spin s;

	(void)state;
	hmq_spin_init(&s, 0);
	assert_int_equal(hmq_spin_budget(&s), 0);
	for (int i = 0; i < 100; i++) {
		hmq_spin_learn(&s, i * 10, i % 2);
		assert_int_equal(hmq_spin_budget(&s), 0);
	}
	hmq_spin_init(&s, -5);
	assert_int_equal(hmq_spin_budget(&s), 0);
}

static void
the_cost_is_measured(void **state)
{
	int64_t cost = hmq_spin_cost();

	(void)state;
	assert_in_range(cost, 2000, 200000);
	print_message("a sleep costs %lld ns here\n", (long long)cost);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_it_knows_anything_it_spins_for_what_a_sleep_costs),
		cmocka_unit_test(short_gaps_are_spun_through_but_not_for_longer_than_a_sleep_costs),
		cmocka_unit_test(gaps_longer_than_a_sleep_costs_are_slept_through),
		cmocka_unit_test(what_the_sleep_itself_took_is_no_gap),
		cmocka_unit_test(a_long_pause_is_forgotten_after_a_few_messages),
		cmocka_unit_test(a_few_long_gaps_among_short_ones_do_not_stop_it),
		cmocka_unit_test(on_a_shared_cpu_it_never_spins),
		cmocka_unit_test(the_cost_is_measured),
	};

	return cmocka_run_group_tests_name("holomq_spin", tests, NULL, NULL);
}
