// SPDX-License-Identifier: Apache-2.0
/*
 * check_test.c - books that do not balance fail a run, and losses can be denied.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static int
check(struct fixture *f)
{
	return hr_report_check(f->arena, &f->report, &f->outcome);
}

static void
assert_first_says(const struct fixture *f, const char *part)
{
	assert_non_null(f->outcome.first);
	if (!strstr(f->outcome.first->text, part))
		fail_msg("wanted '%s' in '%s'", part, f->outcome.first->text);
}

static void
balanced_books_are_no_incident(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	assert_int_equal(check(f), 0);
	assert_null(f->outcome.first);
	assert_null(hr_report_incidents(f->arena, &f->report));
	fixture_free(f);
}

static void
an_edge_that_does_not_balance_fails_the_run(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	hr_page_edge(f->outcome.page, 1)->queue.received--;
	assert_int_equal(check(f), 1);
	assert_int_equal(f->outcome.exit_code, 1);
	assert_int_equal(f->outcome.reason, HR_REASON_FAILED);
	assert_first_says(f, "work.out -> sink.in.0 do not balance: sent 100, received 99");
	assert_string_equal(f->outcome.first->node, "sink");
	fixture_free(f);
}

static void
lost_left_and_abandoned_messages_balance(void **state)
{
	struct fixture *f = fixture_small();
	struct hmq_edge_stat *s = &hr_page_edge(f->outcome.page, 1)->queue;

	(void)state;
	s->received = 90;
	s->lost = 5;
	s->left = 3;
	s->abandoned = 2;
	assert_int_equal(check(f), 0);
	fixture_free(f);
}

static void
numbers_that_nobody_reported_fail_a_run_that_ended_well(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	hr_page_edge(f->outcome.page, 0)->queue_valid = 0;
	assert_int_equal(check(f), 1);
	assert_first_says(f, "nobody reported the numbers of src.out -> work.in");
	fixture_free(f);
}

static void
a_killed_end_is_not_asked_to_balance(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	f->outcome.exit_code = 1;
	hr_page_edge(f->outcome.page, 0)->queue_valid = 0;
	hr_page_edge(f->outcome.page, 1)->queue.received = 7;
	hr_page_node(f->outcome.page, 2)->state = HR_NODE_RUNNING;
	assert_int_equal(check(f), 1);
	assert_null(f->outcome.first);
	fixture_free(f);
}

static void
a_fault_in_the_books_comes_after_the_first_cause(void **state)
{
	struct fixture *f = fixture_small();
	struct hr_incident cause = { .text = "node 'work' failed" };

	(void)state;
	f->outcome.exit_code = 5;
	f->outcome.first = &cause;
	hr_page_edge(f->outcome.page, 1)->queue.received--;
	assert_int_equal(check(f), 5);
	assert_ptr_equal(f->outcome.first, &cause);
	assert_non_null(cause.next);
	fixture_free(f);
}

static void
pieces_and_frames_of_a_gather_must_add_up(void **state)
{
	struct fixture *f = fixture_small();
	struct hr_page_gather *g = hr_page_gather(f->outcome.page, 0);

	(void)state;
	g->placed--;
	assert_int_equal(check(f), 1);
	assert_first_says(f, "the pieces of the gather at src.out -> work.in");
	f->outcome.exit_code = 0;
	f->outcome.first = NULL;
	g->placed++;
	g->opened++;
	assert_int_equal(check(f), 1);
	assert_first_says(f, "the frames of the gather at src.out -> work.in");
	f->outcome.exit_code = 0;
	f->outcome.first = NULL;
	g->opened--;
	g->published--;
	assert_int_equal(check(f), 1);
	f->outcome.exit_code = 0;
	f->outcome.first = NULL;
	g->published++;
	hr_page_edge(f->outcome.page, 0)->gathered.sent++;
	assert_int_equal(check(f), 1);
	assert_first_says(f, "(assembled)");
	fixture_free(f);
}

static void
losses_are_fine_unless_denied(void **state)
{
	struct fixture *f = fixture_small();
	struct hmq_edge_stat *s = &hr_page_edge(f->outcome.page, 1)->queue;

	(void)state;
	s->received = 99;
	s->lost = 1;
	assert_int_equal(check(f), 0);
	f->report.deny_drops = true;
	assert_int_equal(check(f), 4);
	assert_first_says(f, "--deny drops: 1 message lost");
	fixture_free(f);
}

static void
dropped_frames_are_losses_too(void **state)
{
	struct fixture *f = fixture_small();
	struct hr_page_gather *g = hr_page_gather(f->outcome.page, 0);

	(void)state;
	f->report.deny_drops = true;
	assert_int_equal(check(f), 0);
	g->opened++;
	g->dropped++;
	assert_int_equal(check(f), 4);
	assert_first_says(f, "1 frame dropped");
	fixture_free(f);
}

static void
a_run_that_never_began_has_no_books(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	f->outcome.page = NULL;
	f->outcome.exit_code = 3;
	assert_int_equal(check(f), 3);
	assert_string_equal(hr_report_text(f->arena, &f->report), "small: ended, exit 3\n");
	fixture_free(f);
}

static void
the_first_cause_is_the_first_line(void **state)
{
	static const struct hr_file file = { .name = "g.yaml" };
	struct fixture *f = fixture_small();
	struct hr_incident second = { .text = "node sink lost its writer" };
	struct hr_incident first = { .text = "node work received SIGSEGV",
				     .node = "work",
				     .at = { .file = &file, .line = 12, .col = 3 },
				     .next = &second };

	(void)state;
	f->outcome.first = &first;
	f->outcome.exit_code = 1;
	assert_string_equal(hr_report_incidents(f->arena, &f->report),
			    "g.yaml:12:3: error: node work received SIGSEGV\n"
			    "    then: node sink lost its writer\n");
	f->outcome.exit_code = 0;
	first.next = NULL;
	assert_string_equal(hr_report_incidents(f->arena, &f->report),
			    "g.yaml:12:3: note: node work received SIGSEGV\n");
	fixture_free(f);
}

static void
a_flood_of_incidents_is_cut(void **state)
{
	struct fixture *f = fixture_small();
	struct hr_incident all[50] = { { .text = "x" } };
	const char *text;
	int lines = 0;

	(void)state;
	for (int i = 0; i < 49; i++) {
		all[i + 1].text = "x";
		all[i].next = &all[i + 1];
	}
	f->outcome.first = all;
	f->outcome.exit_code = 1;
	text = hr_report_incidents(f->arena, &f->report);
	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	assert_int_equal(lines, 21);
	assert_non_null(strstr(text, "and 30 more\n"));
	fixture_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(balanced_books_are_no_incident),
		cmocka_unit_test(an_edge_that_does_not_balance_fails_the_run),
		cmocka_unit_test(lost_left_and_abandoned_messages_balance),
		cmocka_unit_test(numbers_that_nobody_reported_fail_a_run_that_ended_well),
		cmocka_unit_test(a_killed_end_is_not_asked_to_balance),
		cmocka_unit_test(a_fault_in_the_books_comes_after_the_first_cause),
		cmocka_unit_test(pieces_and_frames_of_a_gather_must_add_up),
		cmocka_unit_test(losses_are_fine_unless_denied),
		cmocka_unit_test(dropped_frames_are_losses_too),
		cmocka_unit_test(a_run_that_never_began_has_no_books),
		cmocka_unit_test(the_first_cause_is_the_first_line),
		cmocka_unit_test(a_flood_of_incidents_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
