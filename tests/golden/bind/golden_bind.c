/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden_bind DIR [--update]: binds each graph of DIR and compares the
 * diagnostics, or what was bound, with the text beside it.  Paths of the build
 * are shown as PLUGINS; folders of this machine are left out.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "plugin/bind.h"
#include "plugin/format.h"

static void
show_node(struct hr_text *t, const struct hr_bound *b, uint32_t i)
{
	const struct hr_bound_node *n = &b->node[i];

	hr_text_add(t, "%s: %s on %s%s\n", b->graph->node[i].name.text, n->op->name,
		    n->device == HOP_ON_CUDA ? "cuda" : "cpu", n->fallback ? " (fallback)" : "");
	for (uint32_t k = 0; k < n->n_in; k++) {
		const struct hr_port_in *in = &n->in[k];

		hr_text_add(t, "    in  %s", in->port->name);
		if (in->edge == UINT32_MAX) {
			hr_text_puts(t, ": open\n");
			continue;
		}
		hr_text_add(t, ": %s from %s, need %u, keeps %u\n",
			    hr_format_text(t->arena, &in->format),
			    b->graph->node[b->edge[in->edge].from].name.text, in->need, in->keeps);
	}
	for (uint32_t k = 0; k < n->n_out; k++)
		hr_text_add(t, "    out %s: %s, %u readers, gives %u\n", n->out[k].port->name,
			    hr_format_text(t->arena, &n->out[k].format), n->out[k].n_edges,
			    n->out[k].gives);
}

/* The build's folder becomes PLUGINS, lists of this machine's folders become "...". */
static const char *
neutral(struct hr_arena *a, const char *s)
{
	static const char folder[] = TEST_PLUGINS, searched[] = "searched in /";
	struct hr_text t;

	hr_text_init(&t, a);
	while (*s) {
		if (!strncmp(s, folder, sizeof folder - 1)) {
			hr_text_puts(&t, "PLUGINS");
			s += sizeof folder - 1;
		} else if (!strncmp(s, searched, sizeof searched - 1)) {
			hr_text_puts(&t, "searched in ...");
			s += strcspn(s, "\n");
		} else {
			hr_text_putn(&t, s++, 1);
		}
	}
	return t.s;
}

static const char *
bind_file(struct hr_arena *a, const char *file)
{
	static const char *const dirs[] = { TEST_PLUGINS };
	const struct hr_plugin_dirs d = { dirs, 1 };
	const struct hr_load_options opt = { .file = file };
	struct hr_diags diags;
	struct hr_text t;
	const struct hr_doc *doc;
	const struct hr_graph *g = NULL;
	const struct hr_bound *b = NULL;

	hr_text_init(&t, a);
	hr_diags_init(&diags, a);
	doc = hr_load(a, &opt, &diags);
	if (doc)
		g = hr_validate(a, doc, &opt, &diags);
	if (g)
		b = hr_bind(a, g, hr_plugins_load(a, g, &d), &diags);
	hr_text_puts(&t, hr_diags_text(&diags, a, false));
	hr_text_add(&t, "exit %u\n", diags.exit_code);
	for (uint32_t k = 0; b && !diags.n_errors && k < g->n_nodes; k++)
		show_node(&t, b, b->order[k]);
	return neutral(a, t.s);
}

static bool
check_file(const char *file, bool update)
{
	struct hr_arena *a = hr_arena_new();
	const char *found = bind_file(a, file);
	const char *golden = hr_printf(a, "%.*s.txt", (int)strlen(file) - 5, file);
	struct hr_error err;
	char *wanted = NULL;
	size_t len;
	bool same = true;

	if (update) {
		if (hr_write_whole(golden, found, strlen(found), &err))
			fprintf(stderr, "%s\n", err.text);
	} else {
		same = !hr_read_whole(a, golden, 1 << 20, &wanted, &len, &err) &&
		       !strcmp(wanted, found);
		if (!same)
			fprintf(stderr, "%s: wanted\n%s\nfound\n%s\n", file,
				wanted ? wanted : "(no such file)\n", found);
	}
	hr_arena_free(a);
	return same;
}

static int
by_name(const struct dirent **x, const struct dirent **y)
{
	return strcmp((*x)->d_name, (*y)->d_name);
}

static int
is_graph(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && !strcmp(e->d_name + n - 5, ".yaml");
}

int
main(int argc, char **argv)
{
	const bool update = argc == 3 && !strcmp(argv[2], "--update");
	struct dirent **list;
	int bad = 0, n;

	if (argc < 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: golden_bind DIR [--update]\n");
		return 1;
	}
	n = scandir(".", &list, is_graph, by_name);
	for (int i = 0; i < n; i++) {
		bad += !check_file(list[i]->d_name, update);
		free(list[i]);
	}
	free(list);
	printf("%d graphs, %d differ\n", n, bad);
	return n <= 0 || bad;
}
