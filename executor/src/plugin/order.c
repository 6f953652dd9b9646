/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - nodes so that writers come before readers.
 *
 * A depth-first walk from each node to its writers, in file order, with its own
 * stack: linear in nodes and edges.  Edges with `initial`, and those from no
 * known output, are not followed.  A circle of other edges can never start; it
 * is reported once, edge by edge.
 */
#include "plugin/binding.h"

enum { NEW, OPEN, PLACED };

struct visit {
	uint32_t node;
	uint32_t next; /* of its edges: to be followed */
};

static void
report_cycle(const struct hr_binding *x, const struct visit *stack, uint32_t top, uint32_t writer)
{
	uint32_t at = top;
	struct hr_diag *d;

	for (const struct hr_diag *old = x->d->first; old; old = old->next)
		if (old->code == 215) /* validate found it, or this walk */
			return;
	while (stack[at].node != writer)
		at--;
	/* stack[k].next - 1 is the edge on which stack[k] reads from stack[k + 1]. */
	d = hr_error(x->d, x->g->edge[stack[top].next - 1].source.at, 215,
		     "node '%s' feeds itself%s", x->g->node[writer].name.text,
		     at == top ? "" : " in a circle");
	for (uint32_t k = top; k + 1 > at; k--) {
		const struct hr_edge *e = &x->g->edge[stack[k].next - 1];

		hr_note(d, e->source.at, "'%s' feeds '%s' here", x->g->node[e->from].name.text,
			x->g->node[e->to].name.text);
		if (!k)
			break;
	}
	hr_help(d, "break the circle, or add 'initial: 1' to one edge");
}

/* The next writer of the node on top that must come first, or HR_NO_INDEX. */
static uint32_t
next_writer(const struct hr_binding *x, struct visit *v)
{
	const struct hr_node *n = &x->g->node[v->node];

	while (v->next < n->first_edge + n->n_edges) {
		const uint32_t e = v->next++;

		if (x->b->edge[e].out != HR_NO_INDEX && !x->g->edge[e].initial)
			return x->b->edge[e].from;
	}
	return HR_NO_INDEX;
}

void
hr_bind_order(struct hr_binding *x)
{
	uint32_t n = x->g->n_nodes, n_placed = 0;
	uint8_t *state = HR_ARRAY(x->a, n + 1, uint8_t);
	struct visit *stack = HR_ARRAY(x->a, n + 1, struct visit);

	x->b->order = HR_ARRAY(x->a, n + 1, uint32_t);
	for (uint32_t start = 0; start < n; start++) {
		uint32_t depth = 0;

		if (state[start] == NEW) {
			stack[depth++] = (struct visit){ start, x->g->node[start].first_edge };
			state[start] = OPEN;
		}
		while (depth) {
			struct visit *top = &stack[depth - 1];
			uint32_t writer = next_writer(x, top);

			if (writer == HR_NO_INDEX) {
				state[top->node] = PLACED;
				x->b->order[n_placed++] = top->node;
				depth--;
			} else if (state[writer] == OPEN) {
				report_cycle(x, stack, depth - 1, writer);
			} else if (state[writer] == NEW) {
				stack[depth++] =
					(struct visit){ writer, x->g->node[writer].first_edge };
				state[writer] = OPEN;
			}
		}
	}
}
