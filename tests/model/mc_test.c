/* SPDX-License-Identifier: Apache-2.0 */
/* mc_test.c - the explorer itself: what C11 allows is found, what it forbids is not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "mc.h"

static struct mc_atomic x, y;
static struct mc_plain data;
static uint64_t seen[2];
static enum mc_order store_order, load_order;
static int has_seen_it;

static void
setup(void)
{
	mc_atomic_init(&x, 0);
	mc_atomic_init(&y, 0);
	mc_plain_init(&data);
	seen[0] = seen[1] = 0;
}

static void
nothing(void)
{
}

static struct mc_result
explore_two(void (*one)(void), void (*two)(void), void (*finish)(void))
{
	const struct mc_model model = { setup, { one, two }, 2, finish, 1000 };

	has_seen_it = 0;
	return mc_explore(&model);
}

static void
send(void)
{
	mc_write(&data, 1);
	mc_store(&x, 1, store_order);
}

static void
receive(void)
{
	mc_assume(mc_load(&x, load_order) == 1);
	seen[0] = mc_read(&data);
	has_seen_it = 1;
}

static void
a_release_acquire_hand_over_is_no_race(void **state)
{
	(void)state;
	store_order = MC_RELEASE;
	load_order = MC_ACQUIRE;
	struct mc_result r = explore_two(send, receive, nothing);

	assert_null(r.bug);
	assert_true(has_seen_it);
	assert_true(r.pruned > 0 && r.pruned < r.executions);
}

static void
a_relaxed_hand_over_is_a_race(void **state)
{
	(void)state;
	store_order = MC_RELAXED;
	load_order = MC_ACQUIRE;
	assert_non_null(explore_two(send, receive, nothing).bug);
	store_order = MC_RELEASE;
	load_order = MC_RELAXED;
	assert_non_null(explore_two(send, receive, nothing).bug);
}

static void
store_x_load_y(void)
{
	mc_store(&x, 1, MC_RELEASE);
	seen[0] = mc_load(&y, MC_ACQUIRE);
}

static void
store_y_load_x(void)
{
	mc_store(&y, 1, MC_RELEASE);
	seen[1] = mc_load(&x, MC_ACQUIRE);
}

static void
both_zero(void)
{
	has_seen_it |= seen[0] == 0 && seen[1] == 0;
}

static void
both_threads_may_miss_the_others_store(void **state)
{
	(void)state;
	assert_null(explore_two(store_x_load_y, store_y_load_x, both_zero).bug);
	assert_true(has_seen_it);
}

static void
add_x_load_y(void)
{
	mc_store(&y, 1, MC_RELAXED);
	seen[0] = mc_add(&x, 2, MC_RELEASE);
}

static void
or_x_load_y(void)
{
	uint64_t before = mc_or(&x, 1, MC_ACQUIRE);

	seen[1] = mc_load(&y, MC_RELAXED);
	mc_check(before == 0 || seen[1] == 1, "second, yet blind");
}

static void
one_of_two_modifications_is_first(void)
{
	mc_check(mc_load(&x, MC_RELAXED) == 3, "an update was lost");
	mc_check((seen[0] & 1) || seen[1] == 1, "neither saw the other");
}

static void
of_two_modifications_the_second_sees_the_first(void **state)
{
	(void)state;
	assert_null(explore_two(add_x_load_y, or_x_load_y, one_of_two_modifications_is_first).bug);
}

static void
swap_first(void)
{
	uint64_t expected = 0;

	seen[0] = mc_cas(&x, &expected, 1, MC_RELEASE, MC_RELAXED);
	mc_check(seen[0] || expected == 2, "failed though it held what was expected");
}

static void
swap_second(void)
{
	uint64_t expected = 0;

	seen[1] = mc_cas(&x, &expected, 2, MC_RELEASE, MC_RELAXED);
	mc_check(seen[1] || expected == 1, "failed though it held what was expected");
}

static void
one_has_won(void)
{
	mc_check(seen[0] + seen[1] == 1, "not exactly one swap succeeded");
	mc_check(mc_load(&x, MC_RELAXED) == (seen[0] ? 1 : 2), "the loser's value is there");
	has_seen_it |= 1 << seen[0];
}

static void
of_two_swaps_exactly_one_wins(void **state)
{
	(void)state;
	assert_null(explore_two(swap_first, swap_second, one_has_won).bug);
	assert_int_equal(has_seen_it, 3);
}

static void
write_and_swap(void)
{
	uint64_t expected = 0;

	mc_write(&data, 1);
	mc_assume(mc_cas(&x, &expected, 1, store_order, MC_RELAXED));
}

static void
fail_to_swap_and_read(void)
{
	uint64_t expected = 0;

	if (mc_cas(&x, &expected, 2, MC_RELAXED, load_order))
		return;
	seen[0] = mc_read(&data);
	has_seen_it = 1;
}

static void
a_failed_swap_is_a_load_with_its_order(void **state)
{
	(void)state;
	store_order = MC_RELEASE;
	load_order = MC_ACQUIRE;
	assert_null(explore_two(write_and_swap, fail_to_swap_and_read, nothing).bug);
	assert_true(has_seen_it);
	load_order = MC_RELAXED;
	assert_non_null(explore_two(write_and_swap, fail_to_swap_and_read, nothing).bug);
	store_order = MC_RELAXED;
	load_order = MC_ACQUIRE;
	assert_non_null(explore_two(write_and_swap, fail_to_swap_and_read, nothing).bug);
}

static void
load_twice(void)
{
	seen[0] = mc_load(&x, MC_RELAXED);
	seen[1] = mc_load(&x, MC_RELAXED);
	mc_check(seen[0] <= seen[1], "a word went back in time");
	has_seen_it |= seen[0] == 1 && seen[1] == 2;
}

static void
store_twice(void)
{
	mc_store(&x, 1, MC_RELAXED);
	mc_store(&x, 2, MC_RELAXED);
}

static void
one_word_never_goes_back(void **state)
{
	(void)state;
	assert_null(explore_two(store_twice, load_twice, nothing).bug);
	assert_true(has_seen_it);
}

static void
sleep_on_x(void)
{
	mc_sleep(&x, 0);
}

static void
wake_without_change(void)
{
	mc_wake(&x);
}

static void
change_and_wake(void)
{
	mc_store(&x, 1, MC_RELAXED);
	mc_wake(&x);
}

static void
a_sleeper_nobody_wakes_is_reported(void **state)
{
	(void)state;
	assert_non_null(explore_two(sleep_on_x, wake_without_change, nothing).bug);
	assert_null(explore_two(sleep_on_x, change_and_wake, nothing).bug);
}

static struct mc_atomic mark;

static void
setup_mortal(void)
{
	setup();
	mc_atomic_init(&mark, 0);
	mc_mortal(0, &mark);
}

static void
see_the_mark(void)
{
	mc_assume(mc_load(&mark, MC_ACQUIRE) == 1);
	seen[0] = mc_load(&x, MC_RELAXED);
	mc_check(seen[0] <= 1, "died after its last step");
	has_seen_it |= 1 << seen[0];
}

static void
death_comes_before_any_step_and_is_seen_after_all_others(void **state)
{
	const struct mc_model model = {
		setup_mortal, { store_twice, see_the_mark }, 2, nothing, 1000
	};

	(void)state;
	has_seen_it = 0;
	assert_null(mc_explore(&model).bug);
	assert_int_equal(has_seen_it, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_release_acquire_hand_over_is_no_race),
		cmocka_unit_test(a_relaxed_hand_over_is_a_race),
		cmocka_unit_test(both_threads_may_miss_the_others_store),
		cmocka_unit_test(of_two_modifications_the_second_sees_the_first),
		cmocka_unit_test(of_two_swaps_exactly_one_wins),
		cmocka_unit_test(a_failed_swap_is_a_load_with_its_order),
		cmocka_unit_test(one_word_never_goes_back),
		cmocka_unit_test(a_sleeper_nobody_wakes_is_reported),
		cmocka_unit_test(death_comes_before_any_step_and_is_seen_after_all_others),
	};

	return cmocka_run_group_tests_name("model_mc", tests, NULL, NULL);
}
