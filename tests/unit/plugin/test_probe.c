/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe: a plugin that crashes or hangs while it is loaded or in shape()
 * takes a child with it, and the diagnostic names plugin, op and callback.
 */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/probe.h"

static struct rig r;

static int
begin(void **state)
{
	(void)state;
	rig_init(&r);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	rig_fini(&r);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return 0;
}

static void
a_good_graph_ends_cleanly(void **state)
{
	(void)state;
	rig_graph(&r, "plugins: [{path: testops}]\nnodes:\n  s: {op: test/seq_source}\n"
		      "  k: {op: test/seq_sink, inputs: {in: s}}\n");
	assert_int_equal(hr_probe(r.a, r.g, &r.dirs, &r.d), 0);
	assert_int_equal(r.d.n_errors, 0);
}

static void
errors_of_the_graph_are_left_to_the_parent(void **state)
{
	(void)state;
	rig_graph(&r, "plugins: [{path: testops}, {path: nowhere}]\nnodes:\n"
		      "  s: {op: test/seq_sourze}\n");
	assert_int_equal(hr_probe(r.a, r.g, &r.dirs, &r.d), 0);
	assert_int_equal(r.d.n_errors, 0);
}

static void
a_crash_in_shape_names_plugin_op_and_callback(void **state)
{
	(void)state;
	rig_graph(&r, "plugins: [{path: testops}]\nnodes:\n  s: {op: test/seq_source}\n"
		      "  c: {op: test/crash, params: {where: shape}, inputs: {in: s}}\n");
	assert_int_equal(hr_probe(r.a, r.g, &r.dirs, &r.d), -1);
	rig_error_at(&r, 308, "test/crash");
	rig_says(&r, "node 'c': plugin '" TEST_PLUGINS "/libtestops.so': op 'test/crash': shape() "
		     "was killed by SIGSEGV");
	assert_int_equal(r.d.exit_code, 3);
}

static void
a_crash_in_a_constructor_names_the_plugin(void **state)
{
	(void)state;
	rig_graph(&r, "plugins: [{path: testops}, {path: ctor_crash}]\nnodes:\n"
		      "  s: {op: test/seq_source}\n");
	assert_int_equal(hr_probe(r.a, r.g, &r.dirs, &r.d), -1);
	rig_error_at(&r, 308, "ctor_crash");
	rig_says(&r, "loading it (ELF constructors) was killed by SIGSEGV");
}

static void
without_time_the_probe_itself_is_named(void **state)
{
	(void)state;
	rig_graph(&r, "plugins: [{path: testops}]\nnodes:\n  s: {op: test/seq_source}\n");
	assert_int_equal(hr_probe_limited(r.a, r.g, &r.dirs, 0, &r.d), -1);
	rig_says(&r, "did not return in 0 s");
	assert_int_equal(r.d.exit_code, 3);
}

static void
an_op_that_hangs_or_exits_in_shape_is_named(void **state)
{
	static const char yaml[] = "plugins: [{path: " TEST_HANG "}]\nnodes:\n  h: {op: %s}\n";

	(void)state;
	rig_graph(&r, hr_printf(r.a, yaml, "hang/shape"));
	assert_int_equal(hr_probe_limited(r.a, r.g, &r.dirs, 200, &r.d), -1);
	rig_error_at(&r, 308, "hang/shape");
	rig_says(&r, "op 'hang/shape': shape() did not return in 0.2 s");
	rig_fini(&r);
	rig_init(&r);
	rig_graph(&r, hr_printf(r.a, yaml, "exit/shape"));
	assert_int_equal(hr_probe(r.a, r.g, &r.dirs, &r.d), -1);
	rig_says(&r, "op 'exit/shape': shape() ended the process with exit status 3");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_good_graph_ends_cleanly),
		T(errors_of_the_graph_are_left_to_the_parent),
		T(a_crash_in_shape_names_plugin_op_and_callback),
		T(a_crash_in_a_constructor_names_the_plugin),
		T(an_op_that_hangs_or_exits_in_shape_is_named),
		T(without_time_the_probe_itself_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
