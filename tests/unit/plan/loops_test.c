// SPDX-License-Identifier: Apache-2.0
/*
 * loops_test.c - deadlocks that are certain are refused, the rest is not claimed.
 */
#include <string.h>

#include "kit.h"

static void
tree_is_proven_free(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	struct hr_plan *p = kit_want_plan(k);

	assert_true(p->proven);
	assert_string_equal(p->freedom, "proven: no two paths meet again");
	kit_free(k);
}

/* src -> acc -> join.in, src -> join.in1 */
static struct kit *
diamond(void)
{
	struct kit *k = kit_new();
	uint32_t src = kit_node(k, "src", 0, 1, 64);
	uint32_t acc = kit_node(k, "acc", 1, 1, 64);
	uint32_t join = kit_node(k, "join", 2, 0, 0);

	kit_edge(k, src, 0, acc, 0);
	kit_edge(k, acc, 0, join, 0);
	kit_edge(k, src, 0, join, 1);
	return k;
}

static void
diamond_is_not_claimed_to_be_free(void **state)
{
	(void)state;
	struct kit *k = diamond();
	struct hr_plan *p = kit_want_plan(k);

	assert_false(p->proven);
	assert_string_equal(p->freedom, "not proven: paths meet again in src, acc, join");
	kit_free(k);
}

static void
many_rings_are_counted_not_listed(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t src = kit_node(k, "src", 0, 1, 64);

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t n = kit_node(k, hr_printf(k->arena, "n%u", i), 2, 0, 0);

		kit_edge(k, src, 0, n, 0);
		kit_edge(k, src, 0, n, 1);
	}
	assert_string_equal(
		kit_want_plan(k)->freedom,
		"not proven: paths meet again in src, n0; src, n1; src, n2; and 2 more");
	kit_free(k);
}

static void
long_rings_are_cut(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t first = kit_node(k, "n0", 0, 1, 64), last = first;

	for (uint32_t i = 1; i < 12; i++) {
		uint32_t n = kit_node(k, hr_printf(k->arena, "n%u", i), i == 11 ? 2 : 1, 1, 64);

		kit_edge(k, last, 0, n, 0);
		last = n;
	}
	kit_edge(k, first, 0, last, 1);
	assert_string_equal(kit_want_plan(k)->freedom,
			    "not proven: paths meet again in n0, n1, n2, n3, n4, n5, n6, n7, ...");
	kit_free(k);
}

static void
branch_shorter_than_what_the_other_gathers_is_refused(void **state)
{
	(void)state;
	struct kit *k = diamond();

	k->in[1][0].need = 8;
	kit_want_error(k, 267, 202,
		       "join.in1 needs depth >= 8, has 4: 'join' waits for 'acc', and acc.in needs "
		       "8 messages of src.out first");
	kit_depth(k, 2, 8);
	assert_false(kit_want_plan(k)->proven);
	kit_free(k);
}

static void
branch_beside_a_gather_is_measured_in_pieces(void **state)
{
	(void)state;
	struct kit *k = diamond();
	struct hr_gather *g = kit_gather(k, 0, 100);

	kit_depth(k, 2, 64);
	kit_want_error(k, 267, 202,
		       "join.in1 needs depth >= 100, has 64: 'join' waits for 'acc', and acc.in "
		       "needs 100 messages of src.out first");
	assert_int_equal(k->diags.first->at.col, 30);
	/* A frame that may be incomplete needs one piece and a timeout. */
	g->missing = HR_MISSING_ZERO;
	kit_want_plan(k);
	kit_free(k);
}

static void
branch_that_drops_or_need_not_wait_is_not_refused(void **state)
{
	(void)state;
	struct kit *k = diamond();

	k->in[1][0].need = 8;
	k->edge[2].when_full = HR_FULL_DROP_NEWEST;
	kit_want_plan(k);
	k->edge[2].when_full = HR_FULL_BLOCK;
	k->port[2][1].flags = HOP_PORT_ANY;
	kit_want_plan(k);
	k->port[2][1].flags = 0;
	k->port[1][0].flags = HOP_PORT_ANY;
	kit_want_plan(k);
	kit_free(k);
}

static void
two_inputs_of_one_node_count_as_branches(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t src = kit_node(k, "src", 0, 1, 64);
	uint32_t n = kit_node(k, "n", 2, 0, 0);

	kit_edge(k, src, 0, n, 0);
	kit_edge(k, src, 0, n, 1);
	k->in[n][1].need = 6;
	kit_want_error(
		k, 267, 200,
		"n.in needs depth >= 6, has 4: 'n' waits for 'n', and n.in1 needs 6 messages "
		"of src.out first");
	kit_free(k);
}

/* a -> b -> a, started by `initial` messages into a. */
static struct kit *
loop(uint32_t initial)
{
	struct kit *k = kit_new();
	uint32_t a = kit_node(k, "a", 1, 1, 64);
	uint32_t b = kit_node(k, "b", 1, 1, 64);

	kit_edge(k, b, 0, a, 0);
	kit_edge(k, a, 0, b, 0);
	k->edge[0].initial = initial;
	k->edge[0].initial_at =
		(struct hr_span){ .file = &k->file, .line = 200, .col = 40, .len = 1 };
	return k;
}

static void
loop_with_enough_initial_messages_is_accepted_unproven(void **state)
{
	(void)state;
	struct kit *k = loop(1);
	struct hr_plan *p = kit_want_plan(k);

	assert_string_equal(p->freedom, "not proven: paths meet again in a, b");
	kit_free(k);
}

static void
loop_with_too_few_initial_messages_is_refused(void **state)
{
	(void)state;
	struct kit *k = loop(1);

	k->in[0][0].need = 3;
	kit_want_error(k, 267, 200,
		       "a.in needs 3 messages at once, `initial` gives 1: this loop cannot start");
	assert_int_equal(k->diags.first->at.col, 40);
	assert_string_equal(k->diags.first->helps->text, "write `initial: 3`");
	kit_free(k);
}

static void
node_feeding_itself_needs_enough_too(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t a = kit_node(k, "a", 1, 1, 64);

	kit_edge(k, a, 0, a, 0);
	k->edge[0].initial = 1;
	assert_string_equal(kit_want_plan(k)->freedom, "not proven: paths meet again in a");
	k->in[a][0].need = 2;
	assert_null(kit_plan(k));
	assert_non_null(kit_find(k, 267));
	kit_free(k);
}

static void
loop_with_another_start_is_not_certain(void **state)
{
	(void)state;
	struct kit *k = loop(1);

	/* b has messages of its own to start with. */
	k->in[0][0].need = 3;
	k->edge[1].initial = 1;
	kit_want_plan(k);
	/* or a may be called by another input. */
	k->edge[1].initial = 0;
	k->port[0][0].flags = HOP_PORT_ANY;
	kit_want_plan(k);
	kit_free(k);
}

static void
initial_outside_a_loop_is_not_a_deadlock(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->edge[0].initial = 1;
	k->in[1][0].need = 3;
	kit_want_plan(k);
	kit_free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_is_proven_free),
		cmocka_unit_test(diamond_is_not_claimed_to_be_free),
		cmocka_unit_test(many_rings_are_counted_not_listed),
		cmocka_unit_test(long_rings_are_cut),
		cmocka_unit_test(branch_shorter_than_what_the_other_gathers_is_refused),
		cmocka_unit_test(branch_beside_a_gather_is_measured_in_pieces),
		cmocka_unit_test(branch_that_drops_or_need_not_wait_is_not_refused),
		cmocka_unit_test(two_inputs_of_one_node_count_as_branches),
		cmocka_unit_test(loop_with_enough_initial_messages_is_accepted_unproven),
		cmocka_unit_test(loop_with_too_few_initial_messages_is_refused),
		cmocka_unit_test(node_feeding_itself_needs_enough_too),
		cmocka_unit_test(loop_with_another_start_is_not_certain),
		cmocka_unit_test(initial_outside_a_loop_is_not_a_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
