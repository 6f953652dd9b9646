// SPDX-License-Identifier: Apache-2.0
/*
 * test_graph.c - good graphs: what every key becomes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_text.h"

static void
load(struct loaded *l, const char *text)
{
	load_texts(l, &text, 1);
	if (l->diags.n_errors)
		print_message("%s", faults(l));
	assert_int_equal(l->diags.n_errors, 0);
	assert_non_null(l->g);
}

static const struct hr_node *
node(const struct loaded *l, const char *name)
{
	uint32_t i = hr_graph_find_node(l->g, name);

	assert_int_not_equal(i, UINT32_MAX);
	return &l->g->node[i];
}

static void
a_small_graph_has_defaults(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 1\nnodes: {src: {op: a/b}}\n");
	assert_null(l.g->name);
	assert_int_equal(l.g->stall_timeout_ns, 10000000000);
	assert_int_equal(l.g->stop_grace_ns, 3000000000);
	assert_int_equal(l.g->n_nodes, 1);
	assert_int_equal(l.g->n_edges, 0);
	assert_int_equal(l.g->n_partitions, 0);
	assert_int_equal(l.g->n_processes, 1);
	assert_string_equal(l.g->process[0].name.text, "main");
	assert_string_equal(node(&l, "src")->op.text, "a/b");
	assert_string_equal(node(&l, "src")->device.text, "auto");
	assert_int_equal(node(&l, "src")->device.at.line, 0);
	assert_int_equal(node(&l, "src")->partition, UINT32_MAX);
	assert_false(node(&l, "src")->end_any);
	assert_int_equal(hr_graph_find_node(l.g, "sr"), UINT32_MAX);
	unload(&l);
}

static void
top_level_keys_are_taken(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l,
	     "holorun: 1\nname: n\nabout: costs $5\n"
	     "plugins: [{path: ./x.so}, {path: y, optional: true}]\n"
	     "defaults: {channel: {depth: 7, when_full: fail}, stall_timeout: 2s, stop_grace: "
	     "500ms}\n"
	     "nodes: {a: {op: a/b}, b: {op: c/d, inputs: {in: a}}}\nx-notes: [$nope, {y: 1}]\n");
	assert_string_equal(l.g->name, "n");
	assert_string_equal(l.g->about, "costs $5");
	assert_int_equal(l.g->n_plugins, 2);
	assert_string_equal(l.g->plugin[0].path.text, "./x.so");
	assert_string_equal(l.g->plugin[0].dir, "/dir");
	assert_false(l.g->plugin[0].optional);
	assert_true(l.g->plugin[1].optional);
	assert_int_equal(l.g->stall_timeout_ns, 2000000000);
	assert_int_equal(l.g->stop_grace_ns, 500000000);
	assert_int_equal(l.g->edge[0].depth, 7);
	assert_int_equal(l.g->edge[0].when_full, HR_FULL_FAIL);
	assert_int_equal(l.g->edge[0].depth_at.line, 5);
	assert_false(l.g->edge[0].has_depth);
	unload(&l);
}

static void
inputs_have_three_forms(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 1\nnodes:\n  a: {op: x}\n  b: {op: x}\n  c:\n    op: x\n    inputs:\n"
		 "      one: a.out\n      two: [a.p, b]\n"
		 "      three: {from: b, depth: 5, when_full: drop_newest, initial: 2}\n"
		 "      four: {from: [a, b], initial: {count: 3}}\n");
	const struct hr_node *c = node(&l, "c");
	const struct hr_edge *e = &l.g->edge[c->first_edge];

	assert_int_equal(c->n_edges, 6);
	assert_string_equal(e[0].input.text, "one");
	assert_int_equal(e[0].from, 0);
	assert_int_equal(e[0].to, 2);
	assert_string_equal(e[0].output, "out");
	assert_string_equal(e[0].source.text, "a.out");
	assert_int_equal(e[0].output_at.col, 14);
	assert_int_equal(e[0].output_at.len, 3);
	assert_false(e[0].is_list);
	assert_true(e[1].is_list && e[2].is_list);
	assert_int_equal(e[2].slot, 1);
	assert_int_equal(e[2].from, 1);
	assert_null(e[2].output);
	assert_int_equal(e[3].depth, 5);
	assert_true(e[3].has_depth && e[3].has_when_full);
	assert_int_equal(e[3].when_full, HR_FULL_DROP_NEWEST);
	assert_int_equal(e[3].initial, 2);
	assert_int_equal(e[5].initial, 3);
	assert_int_equal(e[5].slot, 1);
	unload(&l);
}

static void
gather_has_defaults_and_all_its_keys(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 1\nknobs: {n: {type: int, default: 8}}\nnodes:\n  a: {op: x}\n"
		 "  b: {op: x, inputs: {in: {from: a, gather: {count: $n}}}}\n"
		 "  c: {op: x, inputs: {in: {from: a, gather: {count: 4, by: [frame, stream], "
		 "window: 3, "
		 "missing: nan, timeout: 5ms, min_valid: 2, order: any}}}}\n"
		 "  d: {op: x, inputs: {in: {from: a, gather: {count: 4, by: frame, missing: "
		 "zero}}}}\n");
	const struct hr_gather *g = l.g->edge[0].gather;

	assert_int_equal(g->count, 8);
	assert_int_equal(g->window, 2);
	assert_int_equal(g->missing, HR_MISSING_DROP);
	assert_false(g->by_stream || g->any_order);
	assert_int_equal(g->timeout_ns, 0);
	g = l.g->edge[1].gather;
	assert_true(g->by_stream && g->any_order);
	assert_int_equal(g->window, 3);
	assert_int_equal(g->missing, HR_MISSING_NAN);
	assert_int_equal(g->timeout_ns, 5000000);
	assert_int_equal(g->min_valid, 2);
	assert_int_equal(l.g->edge[2].gather->missing, HR_MISSING_ZERO);
	unload(&l);
}

static void
params_keep_text_until_the_op_types_them(void **state)
{
	static const char *const WORDS[] = { "no", "NO", "yes",  "on",  "off",
					     "y",  "~",  "null", "true" };
	struct loaded l = { 0 };
	char text[600] =
		"holorun: 1\nknobs: {r: {type: rate, default: 1kHz}}\nnodes:\n  a:\n    op: x\n"
		"    params:\n      list: [1, $r, x]\n      typed: $r\n      mixed: 'v$r'\n"
		"      empty:\n";

	(void)state;
	for (size_t i = 0; i < 9; i++)
		snprintf(text + strlen(text), 40, "      w%zu: %s\n", i, WORDS[i]);
	load(&l, text);
	const struct hr_param_value *p = node(&l, "a")->param;

	assert_int_equal(node(&l, "a")->n_params, 13);
	assert_true(p[0].is_list);
	assert_int_equal(p[0].n_list, 3);
	assert_int_equal(p[0].list[1].type, HR_T_RATE);
	assert_int_equal(p[1].value.type, HR_T_RATE);
	assert_int_equal(p[1].value.from.line, 2);
	assert_int_equal(p[1].value.at.line, 8);
	assert_string_equal(p[2].value.text, "v1 kHz");
	assert_int_equal(p[2].value.type, HR_T_TEXT);
	assert_string_equal(p[3].value.text, "");
	for (size_t i = 0; i < 9; i++)
		assert_string_equal(p[4 + i].value.text, WORDS[i]);
	assert_int_equal(node(&l, "a")->params_at.line, 6);
	unload(&l);
}

static void
knobs_use_each_other_in_any_order(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 1\nknobs:\n"
		 "  period: {type: duration, default: \"${1 / rate}\", max: $longest}\n"
		 "  rate: {type: rate, default: 100Hz}\n"
		 "  longest: {type: duration, default: 1s}\n"
		 "  dev: {type: string, default: $other, choices: [cpu, cuda]}\n"
		 "  other: {type: string, default: cuda}\n"
		 "  list: {type: cpus, default: 2-3}\n"
		 "  on: {type: bool, default: true, help: costs $3}\n"
		 "  n: {type: int, default: \"${env:SET:-1}\"}\n"
		 "nodes: {a: {op: x}}\n");
	const struct hr_knob *k = l.g->knob;

	assert_int_equal(l.g->n_knobs, 8);
	assert_string_equal(k[0].value.text, "10 ms");
	assert_string_equal(k[0].max.text, "1 s");
	assert_null(k[0].min.text);
	assert_int_equal(k[0].min.type, HR_T_TEXT);
	assert_string_equal(k[0].set_by, "default");
	assert_string_equal(k[3].value.text, "cuda");
	assert_int_equal(k[3].n_choices, 2);
	assert_string_equal(k[5].value.text, "2-3");
	assert_string_equal(k[6].help, "costs $3");
	assert_int_equal(k[7].value.i, 7);
	unload(&l);
}

static void
partitions_say_where(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l,
	     "holorun: 1\nnodes: {a: {op: x}, b: {op: x, device: cuda, end: any}, c: {op: x}}\n"
	     "processes: {p: {}, q: }\n"
	     "partitions:\n"
	     "  one: {nodes: [b, a], cpus: \"rel:0-1\", process: r, wait: spin, exclusive: true,\n"
	     "        sched: {policy: fifo, priority: 80, required: false}}\n"
	     "  two: {nodes: [c], cpus: [2, 4-5], wait: sleep, process: q, sched: {policy: rr, "
	     "priority: 1}}\n");
	const struct hr_partition *p = l.g->partition;

	assert_int_equal(l.g->n_partitions, 2);
	assert_int_equal(p[0].n_nodes, 2);
	assert_int_equal(p[0].node[0], 1);
	assert_string_equal(p[0].cpus.text, "rel:0-1");
	assert_int_equal(p[0].wait, HR_WAIT_SPIN);
	assert_int_equal(p[0].sched, HR_SCHED_FIFO);
	assert_int_equal(p[0].priority, 80);
	assert_false(p[0].sched_required);
	assert_true(p[0].exclusive);
	assert_string_equal(l.g->process[p[0].process].name.text, "r");
	assert_string_equal(p[1].cpus.text, "2,4-5");
	assert_int_equal(p[1].sched, HR_SCHED_RR);
	assert_true(p[1].sched_required);
	assert_string_equal(l.g->process[p[1].process].name.text, "q");
	assert_int_equal(l.g->n_processes, 4);
	assert_int_equal(node(&l, "c")->partition, 1);
	assert_true(node(&l, "b")->end_any);
	assert_string_equal(node(&l, "b")->device.text, "cuda");
	assert_int_equal(node(&l, "b")->device.at.line, 2);
	unload(&l);
}

static void
loops_with_initial_messages_are_fine(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 1\nnodes:\n  a: {op: x, inputs: {in: {from: b, initial: 1}}}\n"
		 "  b: {op: x, inputs: {in: a, self: {from: b.s, initial: 2}}}\n");
	assert_int_equal(l.g->n_edges, 3);
	unload(&l);
}

static void
any_spelling_of_version_one_is_one(void **state)
{
	static const char *const ONES[] = { "1", "\"1\"", "1.0", "0x1", "'1'" };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct loaded l = { 0 };
		char text[80];

		snprintf(text, sizeof(text), "holorun: %s\nnodes: {a: {op: x}}\n", ONES[i]);
		load(&l, text);
		unload(&l);
	}
}

static void
settings_win_over_presets_and_presets_over_defaults(void **state)
{
	static const char *const TEXT =
		"holorun: 1\nknobs: {n: {type: int, default: 1, max: 99}, m: {type: int, default: "
		"$n}, "
		"k: {type: int, default: 5}}\nnodes: {a: {op: x}}\n"
		"presets: {big: {knobs: {n: 50, k: \"${n + 1}\"}}, other: {sweep: {x: y}}}\n";
	struct hr_setting set[] = { { "n", "60" }, { "n", "61" } };
	struct loaded l = { .opt = { .preset = "big" } };

	(void)state;
	load(&l, TEXT);
	assert_int_equal(l.g->knob[0].value.i, 50);
	assert_int_equal(l.g->knob[0].def.i, 1);
	assert_string_equal(l.g->knob[0].set_by, "preset big");
	assert_int_equal(l.g->knob[1].value.i, 50);
	assert_int_equal(l.g->knob[2].value.i, 51);
	assert_string_equal(l.g->preset, "big");
	unload(&l);
	l = (struct loaded){ .opt = { .preset = "big", .setting = set, .n_settings = 2 } };
	load(&l, TEXT);
	assert_int_equal(l.g->knob[0].value.i, 61); /* the last one counts */
	assert_string_equal(l.g->knob[0].set_by, "-k");
	assert_int_equal(l.g->knob[2].value.i, 62);
	unload(&l);
}

static void
keys_know_their_home(void **state)
{
	(void)state;
	assert_string_equal(hr_key_home("cpus"), "a partition key");
	assert_string_equal(hr_key_home("inputs"), "a node key");
	assert_string_equal(hr_key_home("depth"), "an input key");
	assert_non_null(strstr(hr_key_move("op"), "beside `op`"));
	assert_null(hr_key_home("frequency"));
	assert_null(hr_key_move("frequency"));
	assert_null(hr_key_home("count")); /* too common a parameter to guess */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_graph_has_defaults),
		cmocka_unit_test(top_level_keys_are_taken),
		cmocka_unit_test(inputs_have_three_forms),
		cmocka_unit_test(gather_has_defaults_and_all_its_keys),
		cmocka_unit_test(params_keep_text_until_the_op_types_them),
		cmocka_unit_test(knobs_use_each_other_in_any_order),
		cmocka_unit_test(partitions_say_where),
		cmocka_unit_test(loops_with_initial_messages_are_fine),
		cmocka_unit_test(any_spelling_of_version_one_is_one),
		cmocka_unit_test(settings_win_over_presets_and_presets_over_defaults),
		cmocka_unit_test(keys_know_their_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
