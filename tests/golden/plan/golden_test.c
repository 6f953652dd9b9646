// SPDX-License-Identifier: Apache-2.0
/*
 * golden_test.c - whole plans of graph files on recorded machines, byte for byte.
 *
 * Each case goes through every room up to the plan.  Paths of plugins and of the
 * source tree and build ids are replaced before planning, so that the expected
 * files hold anywhere.  With --update the files are written anew; read the
 * difference before committing it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "plan/plan.h"

enum view { TEXT, JSON, DOT };

struct one {
	const char *name;  /* of the expected file */
	const char *graph; /* in this folder, or from the top of the tree */
	const char *overlay;
	const char *topology; /* a recorded one, or a description */
	enum view view;
};

static const struct one cases[] = {
	{ "chain-laptop.txt", "chain.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "chain-laptop.json", "chain.yaml", NULL, "laptop-8c-smt.xml", JSON },
	{ "chain-one-cpu.txt", "chain.yaml", NULL, "pack:1 core:1 pu:1", TEXT },
	{ "placed-server.txt", "placed.yaml", NULL, "server-2x32.xml", TEXT },
	{ "placed-server.json", "placed.yaml", NULL, "server-2x32.xml", JSON },
	{ "placed-server.dot", "placed.yaml", NULL, "server-2x32.xml", DOT },
	{ "placed-node.txt", "placed.yaml", NULL, "node-64.xml", TEXT },
	{ "placed-two-cpus.txt", "placed.yaml", NULL, "pack:1 core:2 pu:1", TEXT },
	{ "loop-laptop.txt", "loop.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "shared-laptop.txt", "shared.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "wrong-laptop.txt", "wrong.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "short-laptop.txt", "short.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "large-laptop.txt", "large.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "large-server.txt", "large.yaml", NULL, "server-2x32.xml", TEXT },
	{ "radar-laptop.txt", "radar.yaml", NULL, "laptop-8c-smt.xml", TEXT },
	{ "radar-server.json", "radar.yaml", NULL, "server-2x32.xml", JSON },
	{ "radar-per-node-laptop.txt", "radar.yaml", "radar-per-node.yaml", "laptop-8c-smt.xml",
	  TEXT },
	{ "fanout-laptop.txt", "fanout.yaml", NULL, "laptop-8c-smt.xml", TEXT },
};

static bool update;

static const char *
here(struct hr_arena *a, const char *file)
{
	return file ? hr_printf(a, "%s/%s", GOLDEN_DIR, file) : NULL;
}

static const char *
topology_path(struct hr_arena *a, const char *topology)
{
	return strstr(topology, ".xml")
		       ? hr_printf(a, "%s/tests/support/topologies/%s", SOURCE_DIR, topology)
		       : topology;
}

/* Texts that differ from one checkout to another. */
static void
hide_places(struct hr_arena *a, const struct hr_plugins *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const char *slash = p->at[i].path ? strrchr(p->at[i].path, '/') : NULL;

		if (slash)
			p->at[i].path = hr_printf(a, "PLUGINS%s", slash);
		p->at[i].build_id = "BUILD";
	}
}

static const char *
replace(struct hr_arena *a, const char *text, const char *from, const char *to)
{
	struct hr_text t;

	hr_text_init(&t, a);
	for (const char *hit; (hit = strstr(text, from)); text = hit + strlen(from)) {
		hr_text_putn(&t, text, (size_t)(hit - text));
		hr_text_puts(&t, to);
	}
	hr_text_puts(&t, text);
	return t.s;
}

/* The plan as the case wants it, behind what there was to say about it. */
static const char *
result(struct hr_arena *a, const struct one *c)
{
	static const char *const dir[] = { PLUGIN_DIR, TEST_PLUGIN_DIR };
	const struct hr_plugin_dirs dirs = { dir, 2 };
	const char *overlay = here(a, c->overlay);
	struct hr_load_options opt = { .file = here(a, c->graph),
				       .overlay = &overlay,
				       .n_overlays = overlay != NULL };
	struct hr_plan *plan = NULL;
	struct hr_diags d;

	hr_diags_init(&d, a);
	struct hr_doc *doc = hr_load(a, &opt, &d);
	struct hr_graph *g = doc ? hr_validate(a, doc, &opt, &d) : NULL;

	if (g && !d.n_errors) {
		struct hr_plugins *plugins = hr_plugins_load(a, g, &dirs);
		struct hr_bound *b = hr_bind(a, g, plugins, &d);
		struct hr_machine *m = hr_machine_load(a, topology_path(a, c->topology), &d);

		hide_places(a, plugins);
		if (!d.n_errors)
			plan = hr_plan_make(a, b, m, &d);
	}
	const char *said = d.n_errors + d.n_warnings ? hr_diags_text(&d, a, false) : "";
	const char *body = !plan             ? hr_printf(a, "exit %u\n", d.exit_code)
			   : c->view == TEXT ? hr_plan_text(a, plan)
			   : c->view == JSON ? hr_plan_json(a, plan)
					     : hr_plan_dot(a, plan);

	return replace(a, hr_printf(a, "%s%s", said, body), SOURCE_DIR, "TREE");
}

/* The first line in which they differ. */
static void
show_difference(const char *want, const char *found)
{
	uint32_t line = 1;

	while (*want && *want == *found) {
		line += *want == '\n';
		want++;
		found++;
	}
	print_error("line %u, from the first difference:\nwanted: %.200s\nfound:  %.200s\n", line,
		    want, found);
}

static void
plan_is_as_expected(void **state)
{
	const struct one *c = *state;
	struct hr_arena *a = hr_arena_new();
	const char *path = hr_printf(a, "%s/expected/%s", GOLDEN_DIR, c->name);
	const char *found = result(a, c);
	struct hr_error err;
	char *want = NULL;
	size_t len;

	if (update) {
		assert_int_equal(hr_write_whole(path, found, strlen(found), &err), 0);
	} else {
		assert_int_equal(hr_read_whole(a, path, 1 << 20, &want, &len, &err), 0);
		if (strcmp(want, found) != 0)
			show_difference(want, found);
		assert_true(strcmp(want, found) == 0);
	}
	hr_arena_free(a);
}

int
main(int argc, char **argv)
{
	enum { N = sizeof(cases) / sizeof(cases[0]) };
	struct CMUnitTest tests[N];

	update = argc > 1 && strcmp(argv[1], "--update") == 0;
	for (size_t i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = plan_is_as_expected,
			.initial_state = (void *)(uintptr_t)&cases[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
