/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of every type: converted, checked against range and choices, and
 * stored as the C value the op's struct has there.
 */
#include "support.h"

#include <string.h>
#include <unistd.h>

#include "plugin/param.h"

struct all {
	const char *text, *path;
	double real, rate;
	int64_t integer, time;
	uint64_t size;
	struct hop_reals reals;
	int32_t choice;
	uint8_t flag;
};

static const char *const colours[] = { "red", "green", "blue", NULL };
static const struct hop_port ports[] = {
	{ "in", "anything", HOP_IN, HOP_PORT_OPTIONAL, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};
static const struct hop_param params[] = {
	HOP_PARAM(TEXT, 0, struct all, text, "plain", NULL, NULL, "a text"),
	HOP_PARAM(PATH, 0, struct all, path, "some/where", NULL, NULL, "a path"),
	HOP_PARAM(REAL, 0, struct all, real, "1.5", "-10", "10", "a number"),
	HOP_PARAM(RATE, 0, struct all, rate, "2kHz", "1Hz", "1MHz", "a rate"),
	HOP_PARAM(INT, 0, struct all, integer, "7", "-100", "1k", "a whole number"),
	HOP_PARAM(TIME, 0, struct all, time, "10ms", "0", "1s", "a duration"),
	HOP_PARAM(SIZE, 0, struct all, size, "4KiB", "1B", "1MiB", "a size"),
	HOP_PARAM(REALS, 0, struct all, reals, "[1, 2.5]", "0", "100", "numbers"),
	{ "choice", "a word", HOP_P_CHOICE, 0, (uint32_t)offsetof(struct all, choice), 4, NULL,
	  "green", NULL, NULL, colours },
	HOP_PARAM(BOOL, 0, struct all, flag, "false", NULL, NULL, "true or false"),
};

static hop_status
idle(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state, (void)ctx, (void)io;
	return HOP_IDLE;
}

static const struct hop_op op = {
	.size = sizeof op,
	.name = "t/all",
	.doc = "All types.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct all),
	.process = idle,
};
static const struct hop_param must[] = {
	HOP_PARAM(INT, 0, struct op_params, n, NULL, NULL, NULL, "no default"),
};
static const struct hop_op needy = {
	.size = sizeof needy,
	.name = "t/needy",
	.doc = "Wants a parameter.",
	.params = HOP_TABLE(must),
	.params_size = sizeof(struct op_params),
	.process = idle,
};
static const struct hop_op bare = {
	.size = sizeof bare,
	.name = "t/bare",
	.doc = "Has no parameters.",
	.process = idle,
};
static const struct hop_op *const ops[] = { &op, &needy, &bare };

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

static const struct all *
bind(const char *yaml)
{
	rig_bind_ops(&r, yaml, ops, 3);
	return rig_node(&r, "a")->params;
}

static const struct all *
with(const char *given)
{
	return bind(hr_printf(r.a, "nodes:\n  a: {op: t/all, params: {%s}}\n", given));
}

static void
defaults_fill_the_struct(void **state)
{
	const struct all *p = bind("nodes:\n  a: {op: t/all}\n");

	(void)state;
	assert_int_equal(r.d.n_errors, 0);
	assert_string_equal(p->text, "plain");
	assert_string_equal(p->path, "/folder/some/where");
	assert_true(p->real > 1.49 && p->real < 1.51);
	assert_true(p->rate > 1999 && p->rate < 2001);
	assert_int_equal(p->integer, 7);
	assert_int_equal(p->time, 10000000);
	assert_int_equal(p->size, 4096);
	assert_int_equal(p->reals.count, 2);
	assert_true(p->reals.at[1] > 2.4 && p->reals.at[1] < 2.6);
	assert_int_equal(p->choice, 1);
	assert_int_equal(p->flag, 0);
}

static void
values_of_the_graph_replace_them(void **state)
{
	const struct all *p = with("text: no, path: /abs, real: 1e0, rate: 5kHz, integer: -3, "
				   "time: 2us, size: 64B, reals: [1, 2, 3], choice: blue, "
				   "flag: true");

	(void)state;
	assert_int_equal(r.d.n_errors, 0);
	assert_string_equal(p->text, "no");
	assert_string_equal(p->path, "/abs");
	assert_true(p->real > 0.99 && p->real < 1.01);
	assert_int_equal(p->integer, -3);
	assert_int_equal(p->time, 2000);
	assert_int_equal(p->size, 64);
	assert_int_equal(p->reals.count, 3);
	assert_int_equal(p->choice, 2);
	assert_int_equal(p->flag, 1);
}

static void
a_relative_path_starts_at_the_graph_and_an_empty_one_stays(void **state)
{
	(void)state;
	assert_string_equal(with("path: ../x.bin")->path, "/folder/../x.bin");
	rig_fini(&r);
	rig_init(&r);
	assert_string_equal(with("path: \"\"")->path, "");
}

static void
a_path_from_the_command_line_starts_at_the_current_folder(void **state)
{
	const struct hr_file *line = hr_file_new(r.a, "command line", ".", "-k f=x.bin", 10);
	const struct hr_value v = { .type = HR_T_TEXT,
				    .text = "x.bin",
				    .at = { .file = NULL, .line = 3 },
				    .from = { .file = line, .line = 1, .col = 6 } };
	const struct hr_param_in in = { .at = &v, .n = 1, .dir = "/folder" };
	struct hr_param_bad bad;
	char here[4096];
	struct all p;

	(void)state;
	assert_non_null(getcwd(here, sizeof here));
	assert_true(hr_param_store(r.a, "t/all", &params[1], &in, &p, &bad));
	assert_string_equal(p.path, hr_printf(r.a, "%s/x.bin", here));
}

static void
out_of_range_names_the_limit_and_the_op(void **state)
{
	(void)state;
	with("real: 11");
	rig_error_at(&r, 209, "11");
	rig_says(&r, "real: 11 is above the maximum 10 of t/all");
	rig_fini(&r);
	rig_init(&r);
	with("size: 2MiB");
	rig_says(&r, "size: 2 MiB is above the maximum 1MiB of t/all");
	rig_fini(&r);
	rig_init(&r);
	with("rate: 0.5Hz");
	rig_error_at(&r, 209, "0.5Hz");
	rig_fini(&r);
	rig_init(&r);
	with("reals: [1, -2]");
	rig_error_at(&r, 209, "-2");
}

static void
a_wrong_type_is_told_in_the_users_words(void **state)
{
	(void)state;
	with("flag: yes");
	rig_error_at(&r, 207, "yes");
	rig_says(&r, "true or false");
	rig_fini(&r);
	rig_init(&r);
	with("time: 10");
	rig_error_at(&r, 207, "10");
	rig_fini(&r);
	rig_init(&r);
	with("integer: [1, 2]");
	rig_error_at(&r, 205, "1");
	rig_fini(&r);
	rig_init(&r);
	with("real: inf");
	assert_int_equal(r.d.n_errors, 1);
}

static void
a_wrong_choice_proposes_the_nearest(void **state)
{
	(void)state;
	with("choice: gren");
	rig_error_at(&r, 208, "gren");
	rig_says(&r, "did you mean 'green'?");
}

static void
an_unknown_parameter_proposes_the_nearest(void **state)
{
	(void)state;
	with("integr: 5");
	rig_error_at(&r, 233, "integr");
	rig_says(&r, "did you mean 'integer'?");
	rig_fini(&r);
	rig_init(&r);
	bind("nodes:\n  a: {op: t/bare, params: {x: 1}}\n");
	rig_error_at(&r, 233, "x");
	rig_says(&r, "t/bare has no parameters");
}

static void
a_node_key_among_parameters_is_told_where_it_belongs(void **state)
{
	(void)state;
	with("device: cpu");
	rig_error_at(&r, 233, "device");
	rig_says(&r, "help: 'device' is a node key");
}

static void
a_parameter_beside_op_is_told_to_move(void **state)
{
	(void)state;
	bind("nodes:\n  a: {op: t/all, integer: 3}\n");
	rig_error_at(&r, 203, "integer");
	rig_says(&r, "'integer' is a parameter of t/all; move it under 'params'");
}

static void
a_missing_parameter_is_asked_for(void **state)
{
	(void)state;
	bind("nodes:\n  a: {op: t/needy}\n");
	rig_error_at(&r, 234, "a");
	rig_says(&r, "t/needy needs the parameter 'n'");
	rig_says(&r, "n (int): no default");
}

static void
a_substituted_value_shows_both_places(void **state)
{
	(void)state;
	bind("knobs: {k: {type: float, default: 99}}\n"
	     "nodes:\n  a: {op: t/all, params: {real: $k}}\n");
	rig_error_at(&r, 209, "$k");
	rig_says(&r, "note: the value comes from here");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(defaults_fill_the_struct),
		T(values_of_the_graph_replace_them),
		T(a_relative_path_starts_at_the_graph_and_an_empty_one_stays),
		T(a_path_from_the_command_line_starts_at_the_current_folder),
		T(out_of_range_names_the_limit_and_the_op),
		T(a_wrong_type_is_told_in_the_users_words),
		T(a_wrong_choice_proposes_the_nearest),
		T(an_unknown_parameter_proposes_the_nearest),
		T(a_node_key_among_parameters_is_told_where_it_belongs),
		T(a_parameter_beside_op_is_told_to_move),
		T(a_missing_parameter_is_asked_for),
		T(a_substituted_value_shows_both_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
