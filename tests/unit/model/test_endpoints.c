// SPDX-License-Identifier: Apache-2.0
/*
 * test_endpoints.c - endpoints become nodes: forms, defaults, and what is refused where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_text.h"

#define DIR "/run/somewhere"

static void
load(struct loaded *l, const char *text)
{
	*l = (struct loaded){ .opt = { .endpoint_dir = DIR } };
	load_texts(l, &text, 1);
	if (l->diags.n_errors)
		print_message("%s", faults(l));
	assert_int_equal(l->diags.n_errors, 0);
}

static const struct hr_node *
node(const struct loaded *l, const char *name)
{
	for (uint32_t i = 0; i < l->g->n_nodes; i++)
		if (!strcmp(l->g->node[i].name.text, name))
			return &l->g->node[i];
	fail_msg("no node %s", name);
	return NULL;
}

static const struct hr_value *
param(const struct hr_node *n, const char *name)
{
	for (uint32_t i = 0; i < n->n_params; i++)
		if (!strcmp(n->param[i].name.text, name))
			return &n->param[i].value;
	return NULL;
}

static void
an_export_is_a_sink_that_no_file_can_name(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "holorun: 1\nnodes: {src: {op: x}}\nendpoints:\n  frames: {export: src.out}\n");
	assert_int_equal(l.g->n_nodes, 2);
	assert_string_equal(node(&l, "endpoint.frames")->op.text, "holomq/export");
	assert_int_equal(node(&l, "endpoint.frames")->name.at.line, 4);
	assert_int_equal(hr_graph_find_node(l.g, "endpoint.frames"), UINT32_MAX);
	assert_int_equal(hr_graph_find_node(l.g, "frames"), UINT32_MAX);
	assert_int_equal(l.g->n_edges, 1);
	assert_int_equal(l.g->edge[0].to, 1);
	assert_int_equal(l.g->edge[0].from, 0);
	assert_string_equal(l.g->edge[0].input.text, "in");
	assert_string_equal(l.g->edge[0].output, "out");
	assert_int_equal(l.g->edge[0].source.at.line, 4);
	assert_string_equal(param(node(&l, "endpoint.frames"), "name")->text, "frames");
	assert_string_equal(param(node(&l, "endpoint.frames"), "dir")->text, DIR);
	assert_int_equal(node(&l, "endpoint.frames")->n_params, 2);
	assert_int_equal(node(&l, "endpoint.frames")->partition, UINT32_MAX);
	unload(&l);
}

static void
an_import_is_a_source_with_a_name_and_a_place(void **state)
{
	struct loaded l;
	const struct hr_node *n;

	(void)state;
	load(&l, "holorun: 1\nnodes: {sink: {op: x, inputs: {in: cmd}}}\n"
		 "endpoints:\n  cmd: {import: other.cmd, format: \"u8[4]\", max_bytes: 4}\n"
		 "  same: {import: , max_bytes: 1}\n"
		 "partitions: {p: {nodes: [cmd]}}\n");
	n = node(&l, "cmd");
	assert_string_equal(n->op.text, "holomq/import");
	assert_string_equal(param(n, "name")->text, "other.cmd");
	assert_string_equal(param(n, "format")->text, "u8[4]");
	assert_int_equal(param(n, "max_bytes")->i, 4);
	assert_int_equal(n->partition, 0);
	assert_int_equal(l.g->edge[0].from, hr_graph_find_node(l.g, "cmd"));
	assert_string_equal(param(node(&l, "same"), "name")->text, "same");
	unload(&l);
}

static void
every_key_becomes_a_parameter(void **state)
{
	struct loaded l;
	const struct hr_node *n;

	(void)state;
	load(&l,
	     "holorun: 1\nknobs: {d: {type: int, default: 9}}\nnodes: {src: {op: x}}\n"
	     "endpoints:\n"
	     "  a: {export: src, name: b.c, kind: k, layout: 0x10, depth: $d, when_full: "
	     "drop_oldest, seats: 3,\n"
	     "      required: 2, attach_timeout: 5ms, dir: here, any_user: true, x-why: because}\n"
	     "  i: {import: z, serve: true, kind: k, depth: 2, when_full: fail, required: 0,\n"
	     "      attach_timeout: 1s, format: u8, max_bytes: 1KiB, lossy_end: true,\n"
	     "      any_user: false}\n");
	n = node(&l, "endpoint.a");
	assert_int_equal(n->n_params, 10);
	assert_string_equal(param(n, "name")->text, "b.c");
	assert_string_equal(param(n, "kind")->text, "k");
	assert_int_equal(param(n, "depth")->i, 9);
	assert_string_equal(param(n, "when_full")->text, "drop_oldest");
	assert_int_equal(param(n, "layout")->i, 16);
	assert_int_equal(param(n, "seats")->i, 3);
	assert_int_equal(param(n, "required")->i, 2);
	assert_int_equal(param(n, "attach_timeout")->i, 5000000);
	assert_string_equal(param(n, "dir")->text, "here");
	assert_int_equal(param(n, "any_user")->i, 1);
	n = node(&l, "i");
	assert_int_equal(n->n_params, 12);
	assert_int_equal(param(n, "serve")->i, 1);
	assert_int_equal(param(n, "lossy_end")->i, 1);
	assert_int_equal(param(n, "max_bytes")->i, 1024);
	unload(&l);
}

static void
the_plugin_comes_by_itself_and_once(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "holorun: 1\nplugins: [{path: std}]\nnodes: {s: {op: x}}\n"
		 "endpoints: {e: {export: s}}\n");
	assert_int_equal(l.g->n_plugins, 2);
	assert_string_equal(l.g->plugin[1].path.text, "holomq");
	assert_false(l.g->plugin[1].optional);
	unload(&l);
	load(&l, "holorun: 1\nplugins: [{path: holomq}]\nnodes: {s: {op: x}}\n"
		 "endpoints: {e: {export: s}}\n");
	assert_int_equal(l.g->n_plugins, 1);
	unload(&l);
	load(&l, "holorun: 1\nnodes: {s: {op: x}}\nendpoints: {}\n");
	assert_int_equal(l.g->n_plugins, 0);
	assert_int_equal(l.g->n_nodes, 1);
	unload(&l);
}

static void
an_endpoint_shares_the_fate_of_its_neighbour(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "holorun: 1\nnodes:\n"
		 "  src: {op: x, on_failure: {restart: {max: 3, backoff: 5ms}}}\n"
		 "  sink: {op: x, on_failure: detach, inputs: {in: in}}\n"
		 "endpoints:\n  out: {export: src}\n  again: {export: in}\n"
		 "  in: {import: z, max_bytes: 1}\n");
	assert_int_equal(node(&l, "endpoint.out")->on_failure, HR_ON_FAILURE_RESTART);
	assert_int_equal(node(&l, "endpoint.out")->restart_max, 3);
	assert_int_equal(node(&l, "endpoint.out")->backoff_ns, 5000000);
	assert_int_equal(node(&l, "in")->on_failure, HR_ON_FAILURE_DETACH);
	assert_int_equal(node(&l, "endpoint.again")->on_failure, HR_ON_FAILURE_DETACH);
	unload(&l);
}

static void
overlays_change_endpoints(void **state)
{
	static const char *const TEXTS[] = {
		"holorun: 1\nnodes: {s: {op: x}}\n"
		"endpoints: {e: {export: s, depth: 2}, f: {export: s}}\n",
		"endpoints: {e: {depth: 7}, f: !remove , g: {export: s.out}}\n",
	};
	struct loaded l = { .opt = { .endpoint_dir = DIR } };

	(void)state;
	load_texts(&l, TEXTS, 2);
	assert_int_equal(l.diags.n_errors, 0);
	assert_int_equal(l.g->n_nodes, 3);
	assert_int_equal(param(node(&l, "endpoint.e"), "depth")->i, 7);
	assert_string_equal(node(&l, "endpoint.g")->op.text, "holomq/export");
	unload(&l);
}

/* ---- refusals ---------------------------------------------------------------------------- */

struct refusal {
	const char *endpoints; /* behind "holorun: 1\nnodes: {s: {op: x}}\nendpoints: " */
	uint32_t code, line, col;
	const char *says;
};

static const struct refusal REFUSALS[] = {
	{ "[a]\n", 205, 3, 12, "endpoints: expected a map" },
	{ "{e: s.out}\n", 205, 3, 16, "write `e: {export: node.port}`" },
	{ "{e: {}}\n", 206, 3, 13, "has neither `export` nor `import`" },
	{ "{e: {exprot: s}}\n", 203, 3, 17, "did you mean 'export'?" },
	{ "{e: {export: s, import: z}}\n", 251, 3, 28, "cannot be both" },
	{ "{e: {export: }}\n", 206, 3, 17, "names no source" },
	{ "{e: {export: t}}\n", 214, 3, 25, "no node is called 't'" },
	{ "{e: {export: s..a}}\n", 225, 3, 25, "is not a source" },
	{ "{\"e.f\": {export: s}}\n", 218, 3, 13, "cannot be the name of a endpoint" },
	{ "{e: {export: s, op: y}}\n", 204, 3, 28, "'op' is a node key, not an endpoint key" },
	{ "{e: {export: s, dephts: 1}}\n", 203, 3, 28, "did you mean 'depth'?" },
	{ "{e: {export: s, depth: many}}\n", 207, 3, 35, "depth: 'many' is not an int" },
	{ "{e: {export: s, when_full: drop}}\n", 208, 3, 39, "when_full: 'drop'" },
	{ "{e: {export: s, attach_timeout: 5}}\n", 207, 3, 44, "attach_timeout" },
	{ "{e: {export: s, any_user: yes}}\n", 207, 3, 38, "any_user" },
	{ "{e: {export: s, format: u8}}\n", 251, 3, 28, "`format` does not go with an export" },
	{ "{e: {export: s, serve: true}}\n", 251, 3, 28, "`serve` does not go with an export" },
	{ "{e: {import: z, seats: 2}}\n", 251, 3, 28, "`seats` does not go with an import" },
	{ "{e: {import: z, any_user: true}}\n", 251, 3, 28, "without `serve: true`" },
	{ "{e: {import: z, serve: maybe}}\n", 207, 3, 35, "serve: 'maybe'" },
	{ "{e: {import: z, name: y}}\n", 251, 3, 28, "is the value of `import`" },
	{ "{e: {import: {a: b}}}\n", 205, 3, 25, "import: expected text" },
	{ "{e: {import: a/b}}\n", 218, 3, 25, "'a/b' cannot be the name of an endpoint" },
	{ "{e: {export: s, name: .a}}\n", 218, 3, 34, "no dot in front" },
	{ "{e: {export: s, name: $no}}\n", 210, 3, 34, "no" },
	{ "{e: {export: s, dir: $no}}\n", 210, 3, 33, "no" },
	{ "{s: {import: z}}\n", 250, 3, 13, "is the name of a node and of an imported endpoint" },
	{ "{e: {export: s}, f: {export: s, name: e}}\n", 250, 3, 50,
	  "two endpoints of this graph would be called 'e'" },
	{ "{e: {export: s}, f: {import: e, serve: true}}\n", 250, 3, 41, "this one is called so" },
	{ "{e: {export: s}, e: {export: s}}\n", 110, 3, 29, "e" },
};

static void
every_refusal_has_its_sentence_and_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(REFUSALS) / sizeof(REFUSALS[0]); i++) {
		const struct refusal *r = &REFUSALS[i];
		struct loaded l = { .opt = { .endpoint_dir = DIR } };
		char text[512];
		const char *t = text;

		snprintf(text, sizeof(text), "holorun: 1\nnodes: {s: {op: x}}\nendpoints: %s",
			 r->endpoints);
		load_texts(&l, &t, 1);
		if (l.diags.n_errors != 1 || l.diags.first->code != r->code ||
		    l.diags.first->at.line != r->line || l.diags.first->at.col != r->col ||
		    !strstr(faults(&l), r->says)) {
			print_message("%swanted one E%u at %u:%u: %s\nfound\n%s", text, r->code,
				      r->line, r->col, r->says, faults(&l));
			fail();
		}
		unload(&l);
	}
}

static void
both_places_of_a_clash_are_shown(void **state)
{
	const char *text = "holorun: 1\nnodes: {s: {op: x}}\nendpoints:\n"
			   "  a: {export: s, name: n}\n  b: {export: s, name: n}\n";
	struct loaded l = { .opt = { .endpoint_dir = DIR } };

	(void)state;
	load_texts(&l, &text, 1);
	assert_int_equal(l.diags.n_errors, 1);
	assert_int_equal(l.diags.first->at.line, 5);
	assert_int_equal(l.diags.first->notes->at.line, 4);
	unload(&l);
}

static void
one_name_in_two_folders_is_two_names(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "holorun: 1\nnodes: {s: {op: x}}\nendpoints:\n"
		 "  a: {export: s, name: n, dir: /x}\n  b: {export: s, name: n, dir: /y}\n"
		 "  c: {import: n, dir: /x, max_bytes: 1}\n");
	unload(&l);
}

static void
without_a_folder_from_the_program_the_graph_names_it(void **state)
{
	const char *text = "holorun: 1\nnodes: {s: {op: x}}\nendpoints: {e: {export: s}}\n";
	struct loaded l = { 0 };

	(void)state;
	load_texts(&l, &text, 1);
	assert_int_equal(l.diags.n_errors, 1);
	assert_int_equal(l.diags.first->code, 206);
	assert_non_null(strstr(faults(&l), "has no `dir`"));
	unload(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_export_is_a_sink_that_no_file_can_name),
		cmocka_unit_test(an_import_is_a_source_with_a_name_and_a_place),
		cmocka_unit_test(every_key_becomes_a_parameter),
		cmocka_unit_test(the_plugin_comes_by_itself_and_once),
		cmocka_unit_test(an_endpoint_shares_the_fate_of_its_neighbour),
		cmocka_unit_test(overlays_change_endpoints),
		cmocka_unit_test(every_refusal_has_its_sentence_and_place),
		cmocka_unit_test(both_places_of_a_clash_are_shown),
		cmocka_unit_test(one_name_in_two_folders_is_two_names),
		cmocka_unit_test(without_a_folder_from_the_program_the_graph_names_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
