// SPDX-License-Identifier: Apache-2.0
/*
 * cycles.c - circles of nodes that could never start.
 *
 * Depth first from each node towards its writers, without recursion; edges with
 * `initial` carry messages from the beginning and break a circle.  Each node is
 * reported in at most one circle.
 */
#include "model/internal.h"

enum { LONGEST_SHOWN = 12 }; /* nodes of a circle that are named */

enum colour { WHITE, GREY, BLACK };

struct walk {
	struct hr_build *b;
	unsigned char *colour;
	bool *reported;
	uint32_t *edge; /* the edge being followed, one for each node on the path */
	bool *done;     /* ... and whether its writer was visited */
	uint32_t *path;
	uint32_t n;
};

static const char *
port_text(struct hr_arena *a, const struct hr_build *b, const struct hr_edge *e)
{
	return hr_printf(a, "%s -> %s.%s", e->source.text, b->node[e->to].name.text, e->input.text);
}

static void
report_self(struct hr_build *b, const struct hr_edge *e)
{
	struct hr_diag *d = hr_error(b->diags, e->source.at, 215, "%s feeds itself: %s",
				     b->node[e->to].name.text, port_text(b->arena, b, e));

	hr_help(d, "name another source, or add `initial: 1` to the edge to close the loop");
}

static bool
is_before(struct hr_span a, struct hr_span b)
{
	return a.line < b.line || (a.line == b.line && a.col < b.col);
}

/* The path from `first` on, as text; path[i] reads from path[i + 1], the last from the first.  Of a
 * very long one the middle is left out. */
static const char *
circle_text(struct walk *w, uint32_t first)
{
	const struct hr_node *node = w->b->node;
	uint32_t len = w->n - first;
	struct hr_text t;

	hr_text_init(&t, w->b->arena);
	hr_text_puts(&t, node[w->path[first]].name.text);
	for (uint32_t i = w->n; i-- > first;) {
		if (len > LONGEST_SHOWN && i - first >= LONGEST_SHOWN / 2 &&
		    w->n - i > LONGEST_SHOWN / 2) {
			if (w->n - i == LONGEST_SHOWN / 2 + 1)
				hr_text_add(&t, " -> ... %u more ...", len - LONGEST_SHOWN);
			continue;
		}
		hr_text_add(&t, " -> %s", node[w->path[i]].name.text);
	}
	return t.s;
}

static void
report_circle(struct walk *w, uint32_t first)
{
	struct hr_build *b = w->b;
	const struct hr_edge *main_edge = &b->edge[w->edge[first]]; /* the first in the file */
	uint32_t shown = 0;

	for (uint32_t i = w->n; i-- > first;) {
		const struct hr_edge *e = &b->edge[w->edge[i]];

		if (w->reported[w->path[i]])
			return;
		if (is_before(e->source.at, main_edge->source.at))
			main_edge = e;
	}
	struct hr_diag *d =
		hr_error(b->diags, main_edge->source.at, 215,
			 "nodes wait for each other in a circle: %s", circle_text(w, first));

	for (uint32_t i = w->n; i-- > first;) {
		const struct hr_edge *e = &b->edge[w->edge[i]];

		w->reported[w->path[i]] = true;
		if (e != main_edge && shown++ < LONGEST_SHOWN)
			hr_note(d, e->source.at, "%s", port_text(b->arena, b, e));
	}
	hr_help(d, "break it or add `initial: 1` to one edge");
}

static void
visit(struct walk *w, const struct hr_edge *e)
{
	if (e->from == UINT32_MAX || e->initial)
		return;
	if (e->from == e->to) {
		report_self(w->b, e);
		return;
	}
	if (w->colour[e->from] == WHITE) {
		w->colour[e->from] = GREY;
		w->path[w->n] = e->from;
		w->edge[w->n] = w->b->node[e->from].first_edge;
		w->n++;
	} else if (w->colour[e->from] == GREY) {
		uint32_t first = 0;

		while (w->path[first] != e->from)
			first++;
		report_circle(w, first);
	}
}

static void
walk_from(struct walk *w, uint32_t start)
{
	w->n = 1;
	w->path[0] = start;
	w->edge[0] = w->b->node[start].first_edge;
	w->colour[start] = GREY;
	while (w->n) {
		uint32_t top = w->n - 1, at = w->edge[top];
		const struct hr_node *node = &w->b->node[w->path[top]];

		if (at == node->first_edge + node->n_edges) {
			w->colour[w->path[top]] = BLACK;
			w->n--;
			continue;
		}
		/* The edge stays current while its writer is visited: reports read it. */
		const struct hr_edge *e = &w->b->edge[at];

		if (w->done[top]) {
			w->done[top] = false;
			w->edge[top]++;
			continue;
		}
		w->done[top] = true;
		visit(w, e);
		if (w->n > top + 1)
			w->done[w->n - 1] = false;
	}
}

void
hr_check_cycles(struct hr_build *b)
{
	uint32_t n = b->graph->n_nodes;
	struct walk w = { .b = b };

	w.colour = HR_ARRAY(b->arena, n + 1u, unsigned char);
	w.reported = HR_ARRAY(b->arena, n + 1u, bool);
	w.done = HR_ARRAY(b->arena, n + 1u, bool);
	w.edge = HR_ARRAY(b->arena, n + 1u, uint32_t);
	w.path = HR_ARRAY(b->arena, n + 1u, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		if (w.colour[i] == WHITE)
			walk_from(&w, i);
}
