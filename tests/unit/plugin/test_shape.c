/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape() along the edges with ops in memory: loops that settle or do not,
 * converters that are proposed, ops that break the contract, port arrays.
 */
#include "shape_ops.h" /* before cmocka, which has a macro `fail` */
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

static void
bind(const char *nodes)
{
	rig_bind_ops(&r, hr_printf(r.a, "nodes:\n%s", nodes), ops, sizeof ops / sizeof ops[0]);
}

static const char *
out_of(const char *node)
{
	return hr_format_text(r.a, &rig_node(&r, node)->out[0].format);
}

static void
good(void)
{
	if (r.d.n_errors)
		fail_msg("%s", rig_text(&r));
}

/* ---- tests ---- */

static void
without_a_shape_the_first_inputs_format_goes_on(void **state)
{
	(void)state;
	bind("  s: {op: t/f32}\n  p: {op: t/pass, inputs: {in: s}}\n"
	     "  k: {op: t/sink, inputs: {in: p}}\n");
	good();
	assert_string_equal(out_of("p"), "f32[16]");
}

static void
a_loop_takes_the_format_that_comes_round(void **state)
{
	(void)state;
	bind("  s: {op: t/f32}\n"
	     "  a: {op: t/add, inputs: {in: s, loop: {from: p, initial: 1}}}\n"
	     "  p: {op: t/pass, inputs: {in: a}}\n");
	good();
	assert_string_equal(hr_format_text(r.a, &rig_node(&r, "a")->in[1].format), "f32[16]");
	assert_int_equal(r.b->order[0], hr_graph_find_node(r.g, "s"));
}

static void
a_loop_is_checked_against_what_really_comes_round(void **state)
{
	(void)state;
	bind("  s: {op: t/f32}\n"
	     "  a: {op: t/add, inputs: {in: s, loop: {from: o, initial: 1}}}\n"
	     "  o: {op: t/own, inputs: {in: a}}\n");
	rig_error_at(&r, 241, "o");
	rig_says(&r, "t/add does not take f32[8]: 'loop': as large as in");
}

static void
a_loop_that_grows_does_not_settle(void **state)
{
	(void)state;
	bind("  g: {op: t/grow, inputs: {in: {from: h, initial: 2}}}\n"
	     "  h: {op: t/grow, inputs: {in: g}}\n");
	assert_int_equal(r.d.n_errors, 1);
	assert_int_equal(r.d.first->code, 243);
	rig_says(&r, "changes each time round the loop");
}

static void
a_circle_without_initial_is_reported_once(void **state)
{
	(void)state;
	bind("  a: {op: t/pass, inputs: {in: b}}\n  b: {op: t/pass, inputs: {in: c}}\n"
	     "  c: {op: t/pass, inputs: {in: a}}\n");
	assert_int_equal(r.d.n_errors, 1);
	assert_int_equal(r.d.first->code, 215);
}

/* Hand-made: validate reports circles itself. */
static void
order_finds_a_circle_that_nobody_reported(void **state)
{
	struct hr_graph *g;

	(void)state;
	bind("  a: {op: t/pass, inputs: {in: b}}\n  b: {op: t/pass, inputs: {in: c}}\n"
	     "  c: {op: t/pass, inputs: {in: a}}\n");
	g = r.g;
	hr_diags_init(&r.d, r.a);
	r.b = hr_bind(r.a, g, r.p, &r.d);
	assert_int_equal(r.d.n_errors, 1);
	rig_says(&r, "feeds itself in a circle");
	rig_says(&r, "'b' feeds 'a' here");
	rig_says(&r, "'c' feeds 'b' here");
	rig_says(&r, "'a' feeds 'c' here");
	rig_says(&r, "initial: 1");
}

static void
an_op_that_converts_is_proposed(void **state)
{
	(void)state;
	bind("  s: {op: t/c32}\n  k: {op: t/take_f64, inputs: {in: s}}\n");
	rig_error_at(&r, 241, "s");
	rig_says(&r, "put one of these between them: t/to_f64");
}

static void
a_refusal_without_a_text_gives_the_errors_name(void **state)
{
	(void)state;
	bind("  s: {op: t/silent}\n  k: {op: t/sink, inputs: {in: s}}\n");
	rig_error_at(&r, 240, "t/silent");
	rig_says(&r, "t/silent refuses: Operation not supported");
}

static void
a_refused_default_is_shown_and_warnings_are_passed_on(void **state)
{
	(void)state;
	bind("  s: {op: t/odd}\n  k: {op: t/sink, inputs: {in: s}}\n");
	rig_error_at(&r, 240, "t/odd");
	rig_says(&r, "'n' has its default, 3");
	rig_says(&r, "warning[W422]: node 's': t/odd says: n of 3 is odd");
	rig_fini(&r);
	rig_init(&r);
	bind("  s: {op: t/odd, params: {n: 5}}\n  k: {op: t/sink, inputs: {in: s}}\n");
	rig_error_at(&r, 240, "5");
	rig_says(&r, "t/odd refuses 'n': cannot work with an n of 5");
}

static void
an_op_that_breaks_the_contract_is_the_authors(void **state)
{
	static const struct {
		const char *op, *says;
	} cases[] = {
		{ "t/lie", "more than its max_bytes of 1" },
		{ "t/bare", "it has no shape() and says no size" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bind(hr_printf(r.a, "  s: {op: %s}\n  k: {op: t/sink, inputs: {in: s}}\n",
			       cases[i].op));
		rig_error_at(&r, 331, cases[i].op);
		rig_says(&r, cases[i].says);
		assert_int_equal(r.d.exit_code, 3);
		rig_fini(&r);
		rig_init(&r);
	}
	bind("  s: {op: t/f32}\n  k: {op: t/need0, inputs: {in: s}}\n");
	rig_error_at(&r, 331, "t/need0");
	rig_says(&r, "need 0");
}

static void
a_message_above_the_limit_is_refused(void **state)
{
	(void)state;
	bind("  s: {op: t/huge}\n  k: {op: t/sink, inputs: {in: s}}\n");
	rig_error_at(&r, 246, "t/huge");
}

static void
shape_has_no_host_to_lean_on(void **state)
{
	(void)state;
	bind("  s: {op: t/host}\n  k: {op: t/sink, inputs: {in: s}}\n");
	good();
}

static void
an_array_of_outputs_is_not_in_this_version(void **state)
{
	(void)state;
	bind("  s: {op: t/f32}\n  x: {op: t/split, inputs: {in: s}}\n"
	     "  a: {op: t/sink, inputs: {in: x.out}}\n");
	rig_error_at(&r, 291, "t/split");
	rig_says(&r, "array of outputs, which is not in this version");
}

static void
tiles_and_device_memory_are_not_in_this_version(void **state)
{
	(void)state;
	bind("  s: {op: t/tiled}\n  k: {op: t/sink, inputs: {in: s}}\n");
	rig_error_at(&r, 291, "t/tiled");
	rig_says(&r, "called in tiles");
	rig_fini(&r);
	rig_init(&r);
	bind("  s: {op: t/device}\n  k: {op: t/sink, inputs: {in: s}}\n");
	rig_error_at(&r, 291, "t/device");
	rig_says(&r, "'out' of t/device takes no host memory");
}

static void
a_node_behind_a_refused_one_is_not_shaped(void **state)
{
	(void)state;
	bind("  s: {op: t/silent}\n  p: {op: t/to_f64, inputs: {in: s}}\n"
	     "  k: {op: t/take_f64, inputs: {in: p}}\n");
	rig_error_at(&r, 240, "t/silent");
}

static void
a_gather_that_cannot_be_is_underlined(void **state)
{
	(void)state;
	bind("  s: {op: t/f32}\n"
	     "  k: {op: t/sink, inputs: {in: {from: s, gather: {count: 1000000000}}}}\n");
	assert_int_equal(r.d.n_errors, 1);
	assert_int_equal(r.d.first->code, 244);
	rig_says(&r, "are more than a message may hold");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(without_a_shape_the_first_inputs_format_goes_on),
		T(a_loop_takes_the_format_that_comes_round),
		T(a_loop_is_checked_against_what_really_comes_round),
		T(a_loop_that_grows_does_not_settle),
		T(a_circle_without_initial_is_reported_once),
		T(order_finds_a_circle_that_nobody_reported),
		T(an_op_that_converts_is_proposed),
		T(a_refusal_without_a_text_gives_the_errors_name),
		T(a_refused_default_is_shown_and_warnings_are_passed_on),
		T(an_op_that_breaks_the_contract_is_the_authors),
		T(a_message_above_the_limit_is_refused),
		T(shape_has_no_host_to_lean_on),
		T(an_array_of_outputs_is_not_in_this_version),
		T(tiles_and_device_memory_are_not_in_this_version),
		T(a_node_behind_a_refused_one_is_not_shaped),
		T(a_gather_that_cannot_be_is_underlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
