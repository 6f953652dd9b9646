// SPDX-License-Identifier: Apache-2.0
/*
 * numbers_test.c - what the report works out from a page.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "report/numbers.h"

static void
times_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },           { 999, "999 ns" },        { 1000, "1.00 us" },
		{ 9994, "9.99 us" },     { 9996, "10.0 us" },      { 99960, "100 us" },
		{ 999499, "999 us" },    { 999500, "1.00 ms" },    { 12345678, "12.3 ms" },
		{ 999600000, "1.00 s" }, { 2010000000, "2.01 s" }, { 3600000000000, "3600 s" },
	};
	struct hr_arena *a = hr_arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(hr_ns_text(a, cases[i].ns), cases[i].text);
	hr_arena_free(a);
}

static void
sizes_have_three_digits_and_a_unit(void **state)
{
	struct hr_arena *a = hr_arena_new();

	(void)state;
	assert_string_equal(hr_bytes_short(a, 0), "0 B");
	assert_string_equal(hr_bytes_short(a, 1023), "1023 B");
	assert_string_equal(hr_bytes_short(a, 1536), "1.50 KiB");
	assert_string_equal(hr_bytes_short(a, 32715571), "31.2 MiB");
	assert_string_equal(hr_bytes_short(a, UINT64_C(3) << 30), "3.00 GiB");
	assert_string_equal(hr_bytes_short(a, UINT64_C(5000) << 40), "5000 TiB");
	hr_arena_free(a);
}

static void
shares_of_a_node_always_sum_to_100_percent(void **state)
{
	static const uint64_t cases[][3] = {
		{ 1, 1, 1 },       { 1, 0, 0 },   { 1, 999999, 3 },
		{ 333, 333, 334 }, { 7, 11, 13 }, { UINT64_C(1) << 62, 5, UINT64_C(1) << 61 }
	};
	struct fixture *f = fixture_small();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hr_page_node *n = hr_page_node(f->outcome.page, 0);
		const struct hr_node_numbers *o;

		n->work_ns = cases[i][0];
		n->wait_in_ns = cases[i][1];
		n->wait_out_ns = cases[i][2];
		o = &hr_numbers_make(f->arena, f->plan, &f->outcome)->node[0];
		assert_int_equal(o->work + o->wait_in + o->wait_out, 1000);
	}
	fixture_free(f);
}

static void
a_node_that_was_never_timed_has_no_shares(void **state)
{
	struct fixture *f = fixture_small();
	const struct hr_node_numbers *o = &hr_numbers_make(f->arena, f->plan, &f->outcome)->node[2];

	(void)state;
	assert_int_equal(o->work + o->wait_in + o->wait_out, 0);
	fixture_free(f);
}

static void
losses_of_edges_and_sockets_are_added_up(void **state)
{
	struct fixture *f = fixture_small();
	const struct hr_numbers *n;

	(void)state;
	hr_page_edge(f->outcome.page, 0)->queue.lost = 3;
	hr_page_edge(f->outcome.page, 0)->gathered.lost = 4;
	hr_page_counters(f->outcome.page, 0)[1] = 5; /* "lost" */
	hr_page_gather(f->outcome.page, 0)->dropped = 6;
	hr_page_gather(f->outcome.page, 0)->late = 7;
	n = hr_numbers_make(f->arena, f->plan, &f->outcome);
	assert_int_equal(n->edge[0].lost, 7);
	assert_int_equal(n->lost, 12);
	assert_int_equal(n->frames_lost, 6);
	assert_int_equal(n->pieces_lost, 7);
	assert_true(n->node[0].warns);
	assert_false(n->node[1].warns);
	fixture_free(f);
}

static void
unread_outputs_are_counted(void **state)
{
	struct fixture *f = fixture_small();
	const struct hr_numbers *n = hr_numbers_make(f->arena, f->plan, &f->outcome);

	(void)state;
	assert_int_equal(n->node[0].unread, 0);
	assert_int_equal(n->node[1].unread, 50); /* filled 150, of which 100 were read */
	fixture_free(f);
}

static void
edges_are_named_by_their_ports(void **state)
{
	struct fixture *f = fixture_small();
	const struct hr_numbers *n = hr_numbers_make(f->arena, f->plan, &f->outcome);

	(void)state;
	assert_string_equal(n->edge[0].name, "src.out -> work.in");
	assert_string_equal(n->edge[1].name, "work.out -> sink.in.0"); /* a port array */
	assert_false(n->edge[0].into_sink);
	assert_true(n->edge[1].into_sink);
	assert_int_equal(n->delivered, 100);
	fixture_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_three_digits_and_a_unit),
		cmocka_unit_test(sizes_have_three_digits_and_a_unit),
		cmocka_unit_test(shares_of_a_node_always_sum_to_100_percent),
		cmocka_unit_test(a_node_that_was_never_timed_has_no_shares),
		cmocka_unit_test(losses_of_edges_and_sockets_are_added_up),
		cmocka_unit_test(unread_outputs_are_counted),
		cmocka_unit_test(edges_are_named_by_their_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
