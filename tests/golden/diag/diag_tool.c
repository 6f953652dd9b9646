// SPDX-License-Identifier: Apache-2.0
/*
 * diag_tool.c - load and validate, print what is wrong: the language without the rest.
 *
 * diag_tool FILE [-f overlay]... [-k name=value]... [--preset p] [--json | --graph]
 * Exit status: that of the diagnostics, 0 if there are none.  --graph prints what
 * was understood, one fact a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph.h"

struct args {
	struct hr_load_options opt;
	const char *overlay[16];
	struct hr_setting setting[16];
	bool json, graph;
};

static const char *
environment(const char *name)
{
	return getenv(name);
}

static bool
take_setting(struct args *a, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || a->opt.n_settings == 16)
		return false;
	*equals = '\0';
	a->setting[a->opt.n_settings++] = (struct hr_setting){ text, equals + 1 };
	return true;
}

static bool
read_args(struct args *a, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		bool has_more = i + 1 < argc;

		if (!strcmp(argv[i], "--json"))
			a->json = true;
		else if (!strcmp(argv[i], "--graph"))
			a->graph = true;
		else if (!strcmp(argv[i], "-f") && has_more && a->opt.n_overlays < 16)
			a->overlay[a->opt.n_overlays++] = argv[++i];
		else if (!strcmp(argv[i], "--preset") && has_more)
			a->opt.preset = argv[++i];
		else if (!strcmp(argv[i], "-k") && has_more && take_setting(a, argv[i + 1]))
			i++;
		else if (argv[i][0] != '-' && !a->opt.file)
			a->opt.file = argv[i];
		else
			return false;
	}
	a->opt.overlay = a->overlay;
	a->opt.setting = a->setting;
	a->opt.env = environment;
	a->opt.endpoint_dir = "/run/endpoints";
	return a->opt.file != NULL;
}

static void
print_value(struct hr_arena *a, const char *what, const char *name, const struct hr_value *v)
{
	printf("  %s %s = %s (%s)\n", what, name, hr_value_text(a, v), hr_type_name[v->type]);
}

static void
print_node(struct hr_arena *a, const struct hr_graph *g, const struct hr_node *n)
{
	printf("node %s: op %s, device %s, partition %s%s\n", n->name.text, n->op.text,
	       n->device.text,
	       n->partition == UINT32_MAX ? "-" : g->partition[n->partition].name.text,
	       n->end_any ? ", end any" : "");
	for (uint32_t i = 0; i < n->n_params; i++) {
		const struct hr_param_value *p = &n->param[i];

		if (!p->is_list)
			print_value(a, "param", p->name.text, &p->value);
		for (uint32_t k = 0; k < p->n_list; k++)
			print_value(a, "param item", p->name.text, &p->list[k]);
	}
	for (uint32_t i = n->first_edge; i < n->first_edge + n->n_edges; i++) {
		const struct hr_edge *e = &g->edge[i];

		printf("  input %s[%u] from %s port %s depth %u full %d initial %u\n",
		       e->input.text, e->slot,
		       e->from == UINT32_MAX ? "?" : g->node[e->from].name.text,
		       e->output ? e->output : "-", e->depth, e->when_full, e->initial);
		if (e->gather)
			printf("    gather %" PRId64 " window %u stream %d any %d missing %d valid "
			       "%" PRId64 " timeout %" PRId64 "\n",
			       e->gather->count, e->gather->window, e->gather->by_stream,
			       e->gather->any_order, e->gather->missing, e->gather->min_valid,
			       e->gather->timeout_ns);
	}
}

static void
print_graph(struct hr_arena *a, const struct hr_graph *g)
{
	printf("graph %s: stall %" PRId64 " grace %" PRId64 "\n", g->name ? g->name : "-",
	       g->stall_timeout_ns, g->stop_grace_ns);
	for (uint32_t i = 0; i < g->n_plugins; i++)
		printf("plugin %s%s\n", g->plugin[i].path.text,
		       g->plugin[i].optional ? " optional" : "");
	for (uint32_t i = 0; i < g->n_knobs; i++) {
		printf("knob %s set by %s, default %s\n", g->knob[i].name.text, g->knob[i].set_by,
		       hr_value_text(a, &g->knob[i].def));
		print_value(a, "value", g->knob[i].name.text, &g->knob[i].value);
	}
	for (uint32_t i = 0; i < g->n_nodes; i++)
		print_node(a, g, &g->node[i]);
	for (uint32_t i = 0; i < g->n_partitions; i++) {
		const struct hr_partition *p = &g->partition[i];

		printf("partition %s: process %s cpus %s wait %d sched %d/%d%s%s nodes",
		       p->name.text, g->process[p->process].name.text,
		       p->cpus.text ? p->cpus.text : "-", p->wait, p->sched, p->priority,
		       p->sched_required ? " required" : "", p->exclusive ? " exclusive" : "");
		for (uint32_t k = 0; k < p->n_nodes; k++)
			printf(" %s", g->node[p->node[k]].name.text);
		printf("\n");
	}
	for (uint32_t i = 0; i < g->n_processes; i++)
		printf("process %s\n", g->process[i].name.text);
}

int
main(int argc, char **argv)
{
	struct args args = { 0 };
	struct hr_arena *a = hr_arena_new();
	struct hr_diags d;

	if (!read_args(&args, argc, argv)) {
		fprintf(stderr, "usage: diag_tool FILE [-f overlay] [-k n=v] [--preset p] "
				"[--json|--graph]\n");
		hr_arena_free(a);
		return 64;
	}
	hr_diags_init(&d, a);
	struct hr_doc *doc = hr_load(a, &args.opt, &d);
	struct hr_graph *g = doc ? hr_validate(a, doc, &args.opt, &d) : NULL;

	fputs(args.json ? hr_diags_json(&d, a) : hr_diags_text(&d, a, false), stdout);
	if (g && args.graph && !d.n_errors)
		print_graph(a, g);
	int rc = (int)d.exit_code;

	hr_arena_free(a);
	return rc;
}
