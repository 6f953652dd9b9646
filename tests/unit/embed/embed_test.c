// SPDX-License-Identifier: Apache-2.0
/*
 * embed_test.c - a C program takes graphs through the verbs.
 *
 * The test program is its own child process, as any embedding program is.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <holorun/holorun.h>

static const char GRAPH[] = "holorun: 1\n"
			    "name: chain\n"
			    "plugins: [{path: std}]\n"
			    "knobs:\n"
			    "  n: {type: int, default: 1000, min: 1}\n"
			    "nodes:\n"
			    "  src:  {op: std/sequence, params: {count: $n, size: 1KiB}}\n"
			    "  work: {op: std/copy, inputs: {in: src}}\n"
			    "  sink: {op: std/check, params: {count: $n}, inputs: {in: work}}\n"
			    "partitions:\n"
			    "  front: {nodes: [src, work]}\n"
			    "  back: {process: other, nodes: [sink]}\n";

struct place {
	char graph[64];
	struct holorun *h;
};

static int
setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	int fd;

	strcpy(p->graph, "/tmp/embed-XXXXXX");
	fd = mkstemp(p->graph);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, GRAPH, sizeof(GRAPH) - 1), sizeof(GRAPH) - 1);
	close(fd);
	p->h = holorun_open();
	holorun_plugin_path(p->h, PLUGINS);
	*state = p;
	return 0;
}

static int
teardown(void **state)
{
	struct place *p = *state;

	holorun_close(p->h);
	unlink(p->graph);
	free(p);
	return 0;
}

static void
plan(struct place *p)
{
	assert_int_equal(holorun_load(p->h, p->graph), 0);
	assert_int_equal(holorun_validate(p->h), 0);
	if (holorun_plan(p->h, NULL))
		fail_msg("%s", holorun_diagnostics(p->h));
}

static void
run(struct place *p, const struct holorun_run_options *opt)
{
	plan(p);
	if (holorun_run(p->h, opt))
		fail_msg("%s", holorun_diagnostics(p->h));
}

static void
a_graph_goes_from_text_to_report(void **state)
{
	struct place *p = *state;

	run(p, NULL);
	assert_non_null(strstr(holorun_report(p->h, HOLORUN_TEXT), "1000 delivered, 0 lost"));
	assert_non_null(strstr(holorun_report(p->h, HOLORUN_JSON), "\"shared_memory\""));
	assert_int_equal(strncmp(holorun_report(p->h, HOLORUN_CSV), "kind,", 5), 0);
	assert_null(holorun_report(p->h, 9));
	assert_string_equal(holorun_diagnostics(p->h), "");
	assert_int_equal(holorun_run(p->h, NULL), -EINVAL); /* once */
}

static void
it_runs_inside_this_process_too(void **state)
{
	struct holorun_run_options opt = { .size = sizeof(opt), .in_process = 1, .count = 10 };
	struct place *p = *state;

	holorun_knob(p->h, "n", "10");
	run(p, &opt);
	assert_non_null(strstr(holorun_report(p->h, HOLORUN_TEXT), "10 delivered, 0 lost"));
}

static void
an_older_caller_has_a_shorter_struct(void **state)
{
	/* Only size and in_process existed: what lies behind must not be looked at. */
	struct holorun_run_options opt = { .size = 8, .in_process = 1, .count = 1 };
	struct place *p = *state;

	run(p, &opt);
	assert_non_null(strstr(holorun_report(p->h, HOLORUN_TEXT), "1000 delivered"));
}

static void
a_plan_is_a_report_before_the_run(void **state)
{
	struct place *p = *state;

	assert_null(holorun_report(p->h, HOLORUN_TEXT));
	plan(p);
	assert_non_null(strstr(holorun_report(p->h, HOLORUN_TEXT), "work"));
	assert_int_equal(holorun_report(p->h, HOLORUN_JSON)[0], '{');
	assert_null(holorun_report(p->h, HOLORUN_CSV));
}

static void
a_plan_for_another_machine_cannot_be_run(void **state)
{
	struct place *p = *state;

	assert_int_equal(holorun_load(p->h, p->graph), 0);
	assert_int_equal(holorun_validate(p->h), 0);
	assert_int_equal(holorun_plan(p->h, "pack:1 core:4 pu:1"), 0);
	assert_int_equal(holorun_run(p->h, NULL), -EINVAL);
}

static void
verbs_out_of_order_are_refused(void **state)
{
	struct place *p = *state;

	assert_int_equal(holorun_validate(p->h), -EINVAL);
	assert_int_equal(holorun_plan(p->h, NULL), -EINVAL);
	assert_int_equal(holorun_run(p->h, NULL), -EINVAL);
	assert_int_equal(holorun_load(p->h, p->graph), 0);
	assert_int_equal(holorun_load(p->h, p->graph), -EINVAL);
}

static void
a_missing_file_is_exit_2(void **state)
{
	struct place *p = *state;

	assert_int_equal(holorun_load(p->h, "/nowhere.yaml"), 2);
	assert_non_null(strstr(holorun_diagnostics(p->h), "E101"));
	assert_int_equal(holorun_validate(p->h), -EINVAL);
}

static void
an_unknown_knob_or_preset_is_exit_2(void **state)
{
	struct place *p = *state;

	holorun_knob(p->h, "m", "3");
	holorun_preset(p->h, "nope");
	assert_int_equal(holorun_load(p->h, p->graph), 0);
	assert_int_equal(holorun_validate(p->h), 2);
	assert_non_null(strstr(holorun_diagnostics(p->h), "E220"));
	assert_non_null(strstr(holorun_diagnostics(p->h), "E222"));
	assert_int_equal(holorun_plan(p->h, NULL), -EINVAL);
}

static void
a_missing_overlay_is_exit_2(void **state)
{
	struct place *p = *state;

	holorun_overlay(p->h, "/nowhere.yaml");
	assert_int_equal(holorun_load(p->h, p->graph), 2);
}

static void
a_missing_plugin_is_exit_3(void **state)
{
	struct place *p = *state;
	struct holorun *h = holorun_open();

	holorun_plugin_path(h, "/nowhere");
	assert_int_equal(holorun_load(h, p->graph), 0);
	assert_int_equal(holorun_validate(h), 0);
	assert_int_equal(holorun_plan(h, NULL), 3);
	assert_null(holorun_report(h, HOLORUN_TEXT));
	holorun_close(h);
	holorun_close(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_graph_goes_from_text_to_report),
		TEST(it_runs_inside_this_process_too),
		TEST(an_older_caller_has_a_shorter_struct),
		TEST(a_plan_is_a_report_before_the_run),
		TEST(a_plan_for_another_machine_cannot_be_run),
		TEST(verbs_out_of_order_are_refused),
		TEST(a_missing_file_is_exit_2),
		TEST(an_unknown_knob_or_preset_is_exit_2),
		TEST(a_missing_overlay_is_exit_2),
		TEST(a_missing_plugin_is_exit_3),
	};

	if (holorun_is_child(argc, argv))
		return holorun_child_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
