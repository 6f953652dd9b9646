// SPDX-License-Identifier: Apache-2.0
/*
 * test_merge.c - overlays: one rule, and who wins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_text.h"

static const char BASE[] = "holorun: 1\n"
			   "knobs: {n: {type: int, default: 1, min: 0}}\n"
			   "nodes:\n"
			   "  src: {op: a/b, params: {count: 1, size: 2}}\n"
			   "  work: {op: c/d, inputs: {in: src.out, two: [src]}}\n"
			   "partitions: {p: {nodes: [src], cpus: 0}, q: {nodes: [work]}}\n"
			   "presets: {small: {knobs: {n: 5}}}\n";

static void
load(struct loaded *l, const char *o1, const char *o2)
{
	const char *text[] = { BASE, o1, o2 };

	load_texts(l, text, o2 ? 3 : 2);
}

static void
assert_good(struct loaded *l)
{
	if (l->diags.n_errors)
		print_message("%s", faults(l));
	assert_int_equal(l->diags.n_errors, 0);
}

static void
assert_fault(struct loaded *l, uint32_t code, const char *file, uint32_t line, uint32_t col)
{
	const struct hr_diag *d = l->diags.first;

	if (l->diags.n_errors != 1 || d->code != code || strcmp(d->at.file->name, file) != 0 ||
	    d->at.line != line || d->at.col != col) {
		print_message("wanted E%u at %s:%u:%u, found\n%s", code, file, line, col,
			      faults(l));
		fail();
	}
}

static void
maps_merge_and_the_rest_replaces(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "nodes: {src: {params: {size: 9, more: 3}}, work: {inputs: {two: src.x}}}\n",
	     NULL);
	assert_good(&l);
	const struct hr_node *src = &l.g->node[0];

	assert_int_equal(src->n_params, 3);
	assert_string_equal(src->param[0].value.text, "1");
	assert_string_equal(src->param[1].value.text, "9");
	assert_string_equal(src->param[1].value.at.file->name, "o1.yaml");
	assert_string_equal(src->param[2].name.text, "more");
	assert_string_equal(l.g->edge[1].output, "x");
	assert_false(l.g->edge[1].is_list);
	unload(&l);
}

static void
a_short_input_merges_as_its_long_form(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "nodes: {work: {inputs: {in: {depth: 8}, two: {when_full: fail}}}}\n", NULL);
	assert_good(&l);
	assert_int_equal(l.g->edge[0].depth, 8);
	assert_string_equal(l.g->edge[0].source.text, "src.out");
	assert_int_equal(l.g->edge[1].when_full, HR_FULL_FAIL);
	assert_true(l.g->edge[1].is_list);
	unload(&l);
}

static void
replace_puts_a_map_in_place_of_the_old_one(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 1\npartitions: !replace\n  all: {nodes: [src, work], cpus: 1}\n", NULL);
	assert_good(&l);
	assert_int_equal(l.g->n_partitions, 1);
	assert_string_equal(l.g->partition[0].name.text, "all");
	unload(&l);
}

static void
remove_deletes_what_is_there(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "partitions: {q: !remove }\nnodes: {src: {params: {size: !remove }}}\n", NULL);
	assert_good(&l);
	assert_int_equal(l.g->n_partitions, 1);
	assert_int_equal(l.g->node[0].n_params, 1);
	unload(&l);
	l = (struct loaded){ 0 };
	load(&l, "nodes: {src: {params: {sise: !remove }}}\n", NULL);
	assert_fault(&l, 224, "o1.yaml", 1, 24);
	assert_non_null(strstr(faults(&l), "did you mean 'size'?"));
	unload(&l);
	l = (struct loaded){ 0 };
	load(&l, "nodes: {new: {op: x, params: {a: !remove }}}\n", NULL);
	assert_fault(&l, 224, "o1.yaml", 1, 31);
	unload(&l);
	l = (struct loaded){ 0 };
	load(&l, "nodes: {work: {inputs: {in: [src, !remove src]}}}\n", NULL);
	assert_fault(&l, 229, "o1.yaml", 1, 35);
	unload(&l);
}

static void
overlays_apply_left_to_right(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "nodes: {src: {params: {size: 3}}, extra: {op: e/f}}\n",
	     "nodes: {src: {params: {size: 4}}, extra: {params: {p: 1}}}\n");
	assert_good(&l);
	assert_string_equal(l.g->node[0].param[1].value.text, "4");
	assert_int_equal(l.g->n_nodes, 3);
	assert_int_equal(l.g->node[2].n_params, 1);
	unload(&l);
}

static void
a_node_that_does_not_exist_needs_an_op(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "nodes:\n  wrok: {params: {x: 1}}\n", NULL);
	assert_fault(&l, 223, "o1.yaml", 2, 3);
	assert_non_null(strstr(faults(&l), "did you mean 'work'?"));
	assert_non_null(strstr(faults(&l), "a new node needs `op`"));
	unload(&l);
	l = (struct loaded){ 0 };
	load(&l, "nodes:\n  wrok: !remove\n", NULL);
	assert_fault(&l, 224, "o1.yaml", 2, 3);
	unload(&l);
}

static void
tags_in_the_graph_itself_are_refused(void **state)
{
	struct loaded l = { 0 };
	const char *text = "holorun: 1\nnodes: !replace {a: {op: x, params: {p: [!remove y]}}}\n";

	(void)state;
	load_texts(&l, &text, 1);
	assert_int_equal(l.diags.n_errors, 2);
	assert_int_equal(l.diags.first->code, 229);
	unload(&l);
}

static void
overlays_beat_presets_and_settings_beat_overlays(void **state)
{
	static const char OVER[] = "knobs: {n: {default: 7}}\n";
	struct hr_setting set = { "n", "9" };
	struct loaded l = { .opt = { .preset = "small" } };

	(void)state;
	load(&l, OVER, NULL);
	assert_good(&l);
	assert_int_equal(l.g->knob[0].value.i, 7);
	assert_string_equal(l.g->knob[0].set_by, "overlay o1.yaml");
	assert_int_equal(l.g->knob[0].min.i, 0);
	unload(&l);
	l = (struct loaded){ .opt = { .preset = "small", .setting = &set, .n_settings = 1 } };
	load(&l, OVER, NULL);
	assert_good(&l);
	assert_int_equal(l.g->knob[0].value.i, 9);
	assert_int_equal(l.g->knob[0].def.i, 7);
	unload(&l);
	l = (struct loaded){ .opt = { .preset = "mine" } };
	load(&l, "presets: {mine: {knobs: {n: 3}}}\n", NULL);
	assert_good(&l);
	assert_int_equal(l.g->knob[0].value.i, 3);
	unload(&l);
}

static void
faults_of_all_texts_are_said_at_once_in_order(void **state)
{
	struct loaded l = { 0 };

	(void)state;
	load(&l, "holorun: 2\nnodez: 1\n", "- a\n");
	assert_int_equal(l.diags.n_errors, 3);
	hr_diags_sort(&l.diags);
	assert_int_equal(l.diags.first->code, 202);
	assert_int_equal(l.diags.first->next->code, 203);
	assert_int_equal(l.diags.last->code, 205);
	assert_string_equal(l.diags.last->at.file->name, "o2.yaml");
	unload(&l);
	l = (struct loaded){ 0 };
	load(&l, "a: [\n", "b: 1\nb: 2\n");
	assert_int_equal(l.diags.n_errors, 2);
	assert_null(l.g);
	unload(&l);
}

static void
a_text_that_is_not_there_is_named(void **state)
{
	const char *text[] = { BASE };
	struct loaded l = { 0 };

	(void)state;
	load_texts(&l, text, 1);
	l.overlay[0] = "none.yaml";
	l.opt.n_overlays = 1;
	assert_null(hr_load(l.arena, &l.opt, &l.diags));
	assert_int_equal(l.diags.first->code, 101);
	assert_non_null(strstr(faults(&l), "command line:1:4: error[E101]"));
	l.opt.snapshot = NULL;
	hr_diags_init(&l.diags, l.arena);
	assert_null(hr_load(l.arena, &l.opt, &l.diags));
	assert_int_equal(l.diags.n_errors, 2);
	unload(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_merge_and_the_rest_replaces),
		cmocka_unit_test(a_short_input_merges_as_its_long_form),
		cmocka_unit_test(replace_puts_a_map_in_place_of_the_old_one),
		cmocka_unit_test(remove_deletes_what_is_there),
		cmocka_unit_test(overlays_apply_left_to_right),
		cmocka_unit_test(a_node_that_does_not_exist_needs_an_op),
		cmocka_unit_test(tags_in_the_graph_itself_are_refused),
		cmocka_unit_test(overlays_beat_presets_and_settings_beat_overlays),
		cmocka_unit_test(faults_of_all_texts_are_said_at_once_in_order),
		cmocka_unit_test(a_text_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
