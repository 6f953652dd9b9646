// SPDX-License-Identifier: Apache-2.0
/*
 * print_dot.c - a plan as a Graphviz digraph: processes hold threads hold nodes.
 */
#include "plan/stages.h"

/* Inside a quoted DOT string. */
static void
put_escaped(struct hr_text *t, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			hr_text_puts(t, "\\");
		hr_text_putn(t, s, 1);
	}
}

static void
put_quoted(struct hr_text *t, const char *s)
{
	hr_text_puts(t, "\"");
	put_escaped(t, s);
	hr_text_puts(t, "\"");
}

static void
put_worker(struct hr_arena *a, const struct hr_plan *p, uint32_t worker, struct hr_text *t)
{
	const struct hr_plan_worker *w = &p->worker[worker];

	hr_text_add(t, "    subgraph cluster_thread_%u {\n      label=", worker);
	put_quoted(t, hr_printf(a, "%s, CPU %d, %s", w->name, w->cpu, hr_wait_word[w->wait]));
	hr_text_puts(t, ";\n");
	for (uint32_t i = 0; i < w->n_nodes; i++) {
		const char *name = p->graph->node[w->node[i]].name.text;

		hr_text_puts(t, "      ");
		put_quoted(t, name);
		hr_text_puts(t, " [label=\"");
		put_escaped(t, name);
		hr_text_puts(t, "\\n"); /* DOT's own line break */
		put_escaped(t, p->bound->node[w->node[i]].op->name);
		hr_text_puts(t, "\"];\n");
	}
	hr_text_puts(t, "    }\n");
}

static void
put_edge(struct hr_arena *a, const struct hr_plan *p, uint32_t edge, struct hr_text *t)
{
	static const char *const style[] = { "solid", "bold", "dashed" };
	const struct hr_plan_edge *e = &p->edge[edge];
	const struct hr_bound_edge *b = &p->bound->edge[edge];

	hr_text_puts(t, "  ");
	put_quoted(t, p->graph->node[b->from].name.text);
	hr_text_puts(t, " -> ");
	put_quoted(t, p->graph->node[b->to].name.text);
	hr_text_puts(t, " [label=");
	put_quoted(t, hr_printf(a, "%s, depth %u, %s, %s%s",
				hr_format_text(a, &p->chan[e->chan].format), e->depth,
				hr_full_word[e->when_full], hr_carriage_word[e->carriage],
				e->why ? ", copies" : ""));
	hr_text_add(t, ", style=%s];\n", style[e->carriage]);
}

char *
hr_plan_dot(struct hr_arena *a, const struct hr_plan *p)
{
	struct hr_text t;

	hr_text_init(&t, a);
	hr_text_puts(&t, "digraph ");
	put_quoted(&t, p->graph->name ? p->graph->name : "graph");
	hr_text_puts(&t, " {\n  rankdir=LR;\n  node [shape=box];\n");
	for (uint32_t i = 0; i < p->n_processes; i++) {
		if (!p->process[i].n_workers)
			continue;
		hr_text_add(&t, "  subgraph cluster_process_%u {\n    label=", i);
		put_quoted(&t, hr_printf(a, "process %s", p->process[i].name));
		hr_text_puts(&t, ";\n");
		for (uint32_t w = 0; w < p->process[i].n_workers; w++)
			put_worker(a, p, p->process[i].worker[w], &t);
		hr_text_puts(&t, "  }\n");
	}
	for (uint32_t e = 0; e < p->graph->n_edges; e++)
		put_edge(a, p, e, &t);
	hr_text_puts(&t, "}\n");
	return t.s;
}
