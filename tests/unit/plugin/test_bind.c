/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes to ops and edges to ports, with the real test plugins: what is found,
 * what is refused, where the caret stands and what is proposed.
 */
#include "support.h"

#include <string.h>

#include "plugin/format.h"

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
	return 0;
}

#define P "plugins: [{path: testops}]\nnodes:\n"
#define SRC "  src: {op: test/seq_source, params: {count: 10, size: 1024}}\n"
#define SINK(from) "  sink: {op: test/seq_sink, params: {file: f}, inputs: {in: " from "}}\n"

/* ---- the good case ---- */

static void
a_chain_is_bound_in_order(void **state)
{
	const struct hr_bound_node *work;

	(void)state;
	rig_bind(&r, P SINK("work.out") "  work: {op: test/copy, inputs: {in: src}}\n" SRC);
	if (r.d.n_errors)
		fail_msg("%s", rig_text(&r));
	work = rig_node(&r, "work");
	assert_string_equal(work->op->name, "test/copy");
	assert_int_equal(work->n_in, 1);
	assert_int_equal(work->in[0].need, 1);
	assert_int_equal(work->in[0].format.max_bytes, 1024);
	assert_int_equal(work->out[0].n_edges, 1);
	assert_int_equal(work->out[0].format.max_bytes, 1024);
	assert_int_equal(r.b->order[0], hr_graph_find_node(r.g, "src"));
	assert_int_equal(r.b->order[1], hr_graph_find_node(r.g, "work"));
	assert_int_equal(r.b->order[2], hr_graph_find_node(r.g, "sink"));
	assert_int_equal(r.d.n_warnings, 0);
}

static void
one_file_given_twice_is_loaded_once(void **state)
{
	(void)state;
	rig_bind(&r, "plugins: [{path: testops}, {path: libtestops.so}, {path: " TEST_PLUGINS
		     "/libtestops.so, optional: true}]\nnodes:\n" SRC SINK("src"));
	assert_int_equal(r.d.n_errors, 0);
	assert_int_equal(r.p->n, 1);
	assert_false(r.p->at[0].optional);
}

static void
needs_come_from_shape(void **state)
{
	(void)state;
	rig_bind(&r, P SRC "  five: {op: test/need5, inputs: {in: src}}\n" SINK("five"));
	assert_int_equal(r.d.n_errors, 0);
	assert_int_equal(rig_node(&r, "five")->in[0].need, 5);
	assert_int_equal(rig_node(&r, "five")->out[0].gives, 1);
}

/* ---- ops ---- */

static void
an_unknown_op_proposes_the_nearest(void **state)
{
	(void)state;
	rig_bind(&r, P SRC "  work: {op: test/copi, inputs: {in: src}}\n" SINK("work.out"));
	rig_error_at(&r, 230, "test/copi");
	rig_says(&r, "did you mean 'test/copy'?");
}

static void
an_op_offered_twice_lists_both_files(void **state)
{
	static const char yaml[] =
		"plugins: [{path: testops}, {path: twin_a}, {path: twin_b}]\nnodes:\n" SRC
		"  work: {op: %s, inputs: {in: src}}\n" SINK("work");

	(void)state;
	rig_bind(&r, hr_printf(r.a, yaml, "test/copy2"));
	rig_error_at(&r, 231, "test/copy2");
	rig_says(&r, TEST_PLUGINS "/libtwin_a.so");
	rig_says(&r, TEST_PLUGINS "/libtwin_b.so");
	rig_says(&r, "'test/copy2@twin_b'");
	assert_int_equal(r.d.exit_code, 2);
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, hr_printf(r.a, yaml, "test/copy2@libtwin_b"));
	assert_int_equal(r.d.n_errors, 0);
	assert_non_null(strstr(rig_node(&r, "work")->plugin->path, "libtwin_b.so"));
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, hr_printf(r.a, yaml, "test/copy2@twin_c"));
	rig_error_at(&r, 232, "test/copy2@twin_c");
	rig_says(&r, "did you mean 'twin_");
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, hr_printf(r.a, yaml, "test/copy2@testops"));
	rig_error_at(&r, 230, "test/copy2@testops");
	rig_says(&r, "plugin 'testops' has no op 'test/copy2'");
}

static void
a_plugin_that_fails_is_one_error_with_the_nodes_that_need_it(void **state)
{
	(void)state;
	rig_bind(&r, "plugins: [{path: testops}, {path: missing_dep}]\nnodes:\n" SRC
		     "  work: {op: test/missing_dep, inputs: {in: src}}\n" SINK("work"));
	rig_error_at(&r, 304, "missing_dep");
	rig_says(&r, "needed by node 'work'");
	rig_says(&r, "ldd '" TEST_PLUGINS "/libmissing_dep.so'");
	assert_int_equal(r.d.exit_code, 3);
}

static void
a_plugin_that_fails_is_an_error_even_unneeded_unless_optional(void **state)
{
	(void)state;
	rig_bind(&r, "plugins: [{path: testops}, {path: undefined}]\nnodes:\n" SRC SINK("src"));
	rig_error_at(&r, 305, "undefined");
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r,
		 "plugins: [{path: testops}, {path: undefined, optional: true}]\nnodes:\n" SRC SINK(
			 "src"));
	assert_int_equal(r.d.n_errors, 0);
	assert_int_equal(r.d.n_warnings, 0);
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, "plugins: [{path: testops}, {path: undefined, optional: true}]\nnodes:\n" SRC
		     "  work: {op: far/away, inputs: {in: src}}\n" SINK("work"));
	rig_error_at(&r, 305, "undefined");
	rig_says(&r, "needed by node 'work'");
}

static void
a_typo_is_a_typo_even_if_a_plugin_failed(void **state)
{
	(void)state;
	rig_bind(&r, "plugins: [{path: testops}, {path: undefined, optional: true}]\nnodes:\n" SRC
		     "  work: {op: test/copi, inputs: {in: src}}\n" SINK("work"));
	rig_error_at(&r, 230, "test/copi");
	rig_says(&r, "did you mean 'test/copy'?");
	rig_says(&r, "plugin 'undefined' is not loaded and may have it");
}

static void
a_missing_plugin_says_where_it_was_sought(void **state)
{
	(void)state;
	rig_bind(&r, "plugins: [{path: testopz}]\nnodes:\n" SRC SINK("src"));
	rig_error_at(&r, 302, "testopz");
	rig_says(&r, "did you mean 'testops'?");
	rig_says(&r, "searched in " TEST_PLUGINS);
	rig_says(&r, "needed by nodes 'src', 'sink'");
}

/* ---- devices ---- */

#define CUDA "plugins: [{path: testops}, {path: cuda_fake, optional: true}]\nnodes:\n" SRC

static void
cpu_is_taken_when_asked_for(void **state)
{
	(void)state;
	rig_bind(&r, CUDA "  work: {op: test/copy, device: cpu, inputs: {in: src}}\n" SINK("work"));
	assert_int_equal(r.d.n_errors + r.d.n_warnings, 0);
	assert_int_equal(rig_node(&r, "work")->device, HOP_ON_CPU);
	assert_false(rig_node(&r, "work")->fallback);
}

static void
cuda_that_cannot_run_is_refused(void **state)
{
	(void)state;
	rig_bind(&r,
		 CUDA "  work: {op: test/copy, device: cuda, inputs: {in: src}}\n" SINK("work"));
	rig_error_at(&r, 330, "cuda");
	assert_int_equal(r.d.exit_code, 3);
	rig_says(&r, "device: cpu");
}

static void
auto_falls_back_and_says_so(void **state)
{
	(void)state;
	rig_bind(&r,
		 CUDA "  work: {op: test/copy, device: auto, inputs: {in: src}}\n" SINK("work"));
	assert_int_equal(r.d.n_errors, 0);
	assert_int_equal(r.d.n_warnings, 1);
	rig_says(&r, "warning[W421]: node 'work': 'test/copy' runs on the cpu: ");
	assert_true(rig_node(&r, "work")->fallback);
	assert_int_equal(rig_node(&r, "work")->device, HOP_ON_CPU);
}

static void
a_plugin_without_its_driver_is_the_reason_of_a_fallback(void **state)
{
	static const char yaml[] = "plugins: [{path: testops}, {path: " TEST_NEEDS_DRIVER
				   ", optional: true}]\nnodes:\n" SRC
				   "  work: {op: test/copy, %sinputs: {in: src}}\n" SINK("work");

	(void)state;
	rig_bind(&r, hr_printf(r.a, yaml, "device: auto, "));
	assert_int_equal(r.d.n_errors, 0);
	rig_says(&r, "W421");
	rig_says(&r, "the driver library libcufft.so.holorun is not installed here");
	assert_true(rig_node(&r, "work")->fallback);
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, hr_printf(r.a, yaml, "device: cuda, "));
	rig_error_at(&r, 330, "cuda");
	rig_says(&r, "libcufft.so.holorun");
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, hr_printf(r.a, yaml, ""));
	assert_int_equal(r.d.n_errors + r.d.n_warnings, 0);
}

static void
an_op_that_no_plugin_has_for_cuda_is_the_graphs_error(void **state)
{
	(void)state;
	rig_bind(&r,
		 P SRC "  work: {op: test/copy, device: cuda, inputs: {in: src}}\n" SINK("work"));
	rig_error_at(&r, 245, "cuda");
	rig_says(&r, "offered for cpu by " TEST_PLUGINS "/libtestops.so");
}

static void
an_op_for_cuda_only_is_not_had_on_the_cpu(void **state)
{
	static const char yaml[] =
		"plugins: [{path: testops}, {path: cuda_fake}]\nnodes:\n" SRC
		"  work: {op: test/copy@cuda_fake, %sinputs: {in: src}}\n" SINK("work");

	(void)state;
	rig_bind(&r, hr_printf(r.a, yaml, "device: cpu, "));
	rig_error_at(&r, 245, "cpu");
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, hr_printf(r.a, yaml, ""));
	rig_error_at(&r, 330, "test/copy@cuda_fake");
}

static void
twins_that_differ_are_refused_with_the_first_difference(void **state)
{
	(void)state;
	rig_bind(&r, "plugins: [{path: testops}, {path: cuda_odd}]\nnodes:\n" SRC
		     "  work: {op: test/copy, inputs: {in: src}}\n" SINK("work"));
	rig_error_at(&r, 309, "test/copy");
	rig_says(&r, "the name of port 1 is out on cpu, outt on cuda");
	assert_int_equal(r.d.exit_code, 3);
}

/* ---- ports ---- */

#define FILT "  filt: {op: test/two_out, inputs: {in: src}}\n"

static void
several_outputs_must_be_named(void **state)
{
	(void)state;
	rig_bind(&r, P SRC FILT SINK("filt"));
	rig_error_at(&r, 237, "filt");
	rig_says(&r, "filt has 2 outputs: hit, miss; say which");
}

static void
a_wrong_output_proposes_the_nearest(void **state)
{
	(void)state;
	rig_bind(&r, P SRC FILT SINK("filt.hits"));
	rig_error_at(&r, 236, "hits");
	rig_says(&r, "did you mean 'hit'?");
}

static void
a_sink_has_no_outputs(void **state)
{
	(void)state;
	rig_bind(&r, P SRC SINK("src") "  two: {op: test/seq_sink, params: {file: f}, inputs: {in: "
				       "sink.out}}\n");
	rig_error_at(&r, 236, "out");
	rig_says(&r, "test/seq_sink has no outputs");
}

static void
a_wrong_input_proposes_the_nearest_and_is_the_only_error(void **state)
{
	(void)state;
	rig_bind(&r, P SRC "  sink: {op: test/seq_sink, params: {file: f}, inputs: {inn: src}}\n");
	rig_error_at(&r, 235, "inn");
	rig_says(&r, "did you mean 'in'?");
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, P "  src: {op: test/seq_source, inputs: {in: src2}}\n"
		       "  src2: {op: test/seq_source}\n" SINK("src"));
	rig_error_at(&r, 235, "in");
	rig_says(&r, "test/seq_source has no inputs");
}

static void
a_required_input_left_open_is_an_error_and_an_optional_one_is_not(void **state)
{
	(void)state;
	rig_bind(&r, P "  work: {op: test/copy}\n" SINK("work"));
	rig_error_at(&r, 238, "work");
	rig_says(&r, "input 'in' of test/copy is not connected");
	rig_fini(&r);
	rig_init(&r);
	rig_bind(&r, P SRC "  work: {op: test/opt_in, inputs: {in: src}}\n" SINK("work"));
	assert_int_equal(r.d.n_errors, 0);
	assert_int_equal(rig_node(&r, "work")->in[1].edge, UINT32_MAX);
}

static void
an_unread_output_is_a_warning(void **state)
{
	(void)state;
	rig_bind(&r, P SRC FILT SINK("filt.hit"));
	assert_int_equal(r.d.n_errors, 0);
	assert_int_equal(r.d.n_warnings, 1);
	rig_says(&r, "warning[W420]: node 'filt': nobody reads its output 'miss'");
	assert_int_equal(rig_node(&r, "filt")->out[1].n_edges, 0);
}

static void
a_list_fills_a_port_array_in_its_order(void **state)
{
	const struct hr_bound_node *m;

	(void)state;
	rig_bind(&r,
		 P SRC FILT "  m: {op: test/many_in, inputs: {in: [filt.miss, src, filt.hit]}}\n");
	if (r.d.n_errors)
		fail_msg("%s", rig_text(&r));
	m = rig_node(&r, "m");
	assert_int_equal(m->n_in, 3);
	assert_int_equal(r.b->edge[m->in[0].edge].out, 1);
	assert_int_equal(r.b->edge[m->in[1].edge].from, hr_graph_find_node(r.g, "src"));
	assert_int_equal(r.b->edge[m->in[2].edge].out, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(r.b->edge[m->in[i].edge].in, i);
}

static void
a_list_on_a_single_input_is_not_in_this_version(void **state)
{
	(void)state;
	rig_bind(&r, P SRC FILT "  m: {op: test/seq_sink, params: {file: f}, inputs: {in: "
				"[filt.miss, filt.hit]}}\n");
	rig_error_at(&r, 291, "filt.hit");
	rig_says(&r, "merging several outputs into one input is not in this version");
}

static void
a_gather_adds_an_axis_to_what_the_reader_sees(void **state)
{
	(void)state;
	rig_bind(&r, P "  src: {op: test/c32_source, params: {n: 16}}\n"
		       "  k: {op: test/slow, inputs: {in: {from: src, gather: {count: 8}}}}\n");
	if (r.d.n_errors)
		fail_msg("%s", rig_text(&r));
	assert_string_equal(hr_format_text(r.a, &rig_node(&r, "k")->in[0].format), "c32[8,16]");
	assert_string_equal(hr_format_text(r.a, &rig_node(&r, "src")->out[0].format), "c32[16]");
}

/* ---- shape ---- */

static void
formats_that_do_not_fit_name_both_ends(void **state)
{
	(void)state;
	rig_bind(&r, P "  src: {op: test/c32_source, params: {n: 1024}}\n"
		       "  sink: {op: test/f64_sink, inputs: {in: src.out}}\n");
	rig_error_at(&r, 241, "src.out");
	rig_says(&r, "test/f64_sink does not take c32[1024]: in: want float64");
	rig_says(&r, "'src.out' is c32[1024]");
	rig_says(&r, "no loaded op, with its default parameters, converts between them");
	assert_int_equal(r.d.exit_code, 2);
}

static void
a_refused_parameter_is_underlined(void **state)
{
	(void)state;
	rig_bind(&r, P "  src: {op: test/seq_source, params: {count: 10, size: 4}}\n" SINK("src"));
	assert_int_equal(r.d.n_errors, 1);
	rig_says(&r, "size");
	rig_error_at(&r, r.d.first->code, "4");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_chain_is_bound_in_order),
		T(one_file_given_twice_is_loaded_once),
		T(needs_come_from_shape),
		T(an_unknown_op_proposes_the_nearest),
		T(an_op_offered_twice_lists_both_files),
		T(a_plugin_that_fails_is_one_error_with_the_nodes_that_need_it),
		T(a_plugin_that_fails_is_an_error_even_unneeded_unless_optional),
		T(a_typo_is_a_typo_even_if_a_plugin_failed),
		T(a_missing_plugin_says_where_it_was_sought),
		T(cpu_is_taken_when_asked_for),
		T(cuda_that_cannot_run_is_refused),
		T(auto_falls_back_and_says_so),
		T(a_plugin_without_its_driver_is_the_reason_of_a_fallback),
		T(an_op_that_no_plugin_has_for_cuda_is_the_graphs_error),
		T(an_op_for_cuda_only_is_not_had_on_the_cpu),
		T(twins_that_differ_are_refused_with_the_first_difference),
		T(several_outputs_must_be_named),
		T(a_wrong_output_proposes_the_nearest),
		T(a_sink_has_no_outputs),
		T(a_wrong_input_proposes_the_nearest_and_is_the_only_error),
		T(a_required_input_left_open_is_an_error_and_an_optional_one_is_not),
		T(an_unread_output_is_a_warning),
		T(a_list_fills_a_port_array_in_its_order),
		T(a_list_on_a_single_input_is_not_in_this_version),
		T(a_gather_adds_an_axis_to_what_the_reader_sees),
		T(formats_that_do_not_fit_name_both_ends),
		T(a_refused_parameter_is_underlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
