/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edges.c - joins the edges of the graph to ports of the ops at both ends.
 *
 * An array of inputs has as many positions as the graph lists, in that order;
 * arrays of outputs are not in this version.  What must be connected and is not
 * is reported at the node.  The order of the nodes is order.c's.
 */
#include <string.h>

#include "base/text.h"
#include "plugin/binding.h"
#include "plugin/verify.h"

static const struct hr_node *
node_of(const struct hr_binding *x, uint32_t i)
{
	return &x->g->node[i];
}

static struct hr_strings
port_names(const struct hr_binding *x, const struct hop_op *op, uint32_t dir)
{
	struct hr_strings names = { 0 };

	for (uint32_t i = 0; i < op->ports.count; i++)
		if (op->ports.at[i].dir == dir)
			hr_strings_add(x->a, &names, op->ports.at[i].name);
	return names;
}

static const char *
joined(const struct hr_binding *x, const struct hr_strings *names)
{
	struct hr_text t;

	hr_text_init(&t, x->a);
	for (size_t i = 0; i < names->n; i++)
		hr_text_add(&t, "%s%s", i ? ", " : "", names->item[i]);
	return t.s;
}

/* Index in the op's table, or HR_NO_INDEX. */
static uint32_t
find_port(const struct hop_op *op, uint32_t dir, const char *name)
{
	for (uint32_t i = 0; i < op->ports.count; i++)
		if (op->ports.at[i].dir == dir && !strcmp(op->ports.at[i].name, name))
			return i;
	return HR_NO_INDEX;
}

/* ---- the writer's end ---- */

static bool
is_same_place(struct hr_span a, struct hr_span b)
{
	return a.file == b.file && a.line == b.line && a.col == b.col;
}

/* The circle that validate saw through this edge, if any.  An edge from an op without outputs is
 * none, so the circle is not there either: its diagnostic becomes the one about the edge. */
static struct hr_diag *
circle_through(const struct hr_binding *x, const struct hr_edge *e)
{
	for (struct hr_diag *d = x->d->first; d; d = d->next) {
		if (d->code != 215)
			continue;
		if (is_same_place(d->at, e->source.at))
			return d;
		for (const struct hr_note *n = d->notes; n; n = n->next)
			if (is_same_place(n->at, e->source.at))
				return d;
	}
	return NULL;
}

static void
report_no_outputs(const struct hr_binding *x, const struct hr_edge *e, const struct hop_op *op)
{
	const struct hr_span at = e->output ? e->output_at : e->source.at;
	const char *text = hr_printf(x->a, "node '%s': input '%s': %s has no outputs",
				     node_of(x, e->to)->name.text, e->input.text, op->name);
	struct hr_diag *d = circle_through(x, e);

	if (d) {
		d->code = 236;
		d->at = at;
		d->text = text;
		d->notes = d->helps = NULL;
	} else {
		d = hr_error(x->d, at, 236, "%s", text);
	}
	hr_help(d, "'%s' only takes messages", node_of(x, e->from)->name.text);
}

static void
report_output(const struct hr_binding *x, const struct hr_edge *e, const struct hop_op *op)
{
	const struct hr_strings names = port_names(x, op, HOP_OUT);
	const char *writer = node_of(x, e->from)->name.text;
	struct hr_span at = e->output ? e->output_at : e->source.at;
	struct hr_diag *d;

	if (!names.n) {
		report_no_outputs(x, e, op);
		return;
	}
	if (!e->output) {
		d = hr_error(x->d, at, 237, "%s has %zu outputs: %s; say which", writer, names.n,
			     joined(x, &names));
		hr_help(d, "write '%s.%s'", writer, names.item[0]);
		return;
	}
	d = hr_error(x->d, at, 236, "node '%s': input '%s': '%s' (%s) has no output '%s'",
		     node_of(x, e->to)->name.text, e->input.text, writer, op->name, e->output);
	hr_suggest(d, e->output, names.item, names.n);
}

static bool
resolve_output(const struct hr_binding *x, const struct hr_edge *e, const struct hop_op *op,
	       uint32_t *row)
{
	*row = HR_NO_INDEX;
	if (e->output)
		*row = find_port(op, HOP_OUT, e->output);
	else if (hr_op_n_ports(op, HOP_OUT) == 1)
		for (uint32_t i = 0; i < op->ports.count; i++)
			if (op->ports.at[i].dir == HOP_OUT)
				*row = i;
	if (*row == HR_NO_INDEX)
		report_output(x, e, op);
	return *row != HR_NO_INDEX;
}

/* ---- the reader's end ---- */

static bool
resolve_input(const struct hr_binding *x, const struct hr_edge *e, const struct hop_op *op,
	      uint32_t *row)
{
	const struct hr_strings names = port_names(x, op, HOP_IN);
	struct hr_diag *d;

	*row = find_port(op, HOP_IN, e->input.text);
	if (*row != HR_NO_INDEX)
		return true;
	if (!names.n) {
		d = hr_error(x->d, e->input.at, 235, "node '%s': %s has no inputs",
			     node_of(x, e->to)->name.text, op->name);
		hr_help(d, "remove 'inputs', or use another op");
		return false;
	}
	d = hr_error(x->d, e->input.at, 235, "node '%s': %s has no input '%s'",
		     node_of(x, e->to)->name.text, op->name, e->input.text);
	hr_suggest(d, e->input.text, names.item, names.n);
	return false;
}

static void
report_merge(const struct hr_binding *x, const struct hr_edge *e, const struct hr_edge *first)
{
	const char *node = node_of(x, e->to)->name.text;
	struct hr_diag *d;

	if (e->is_list) {
		d = hr_error(x->d, e->source.at, 291,
			     "node '%s': input '%s': merging several outputs into one input is not "
			     "in this version",
			     node, e->input.text);
		hr_help(d, "use an op with a port array, or one input for each");
		return;
	}
	d = hr_error(x->d, e->source.at, 239, "node '%s': input '%s' is fed twice", node,
		     e->input.text);
	hr_note(d, first->source.at, "first fed here");
}

/* ---- the arrays ---- */

struct joint {                    /* of one edge */
	uint32_t out_row, in_row; /* of the op's table */
	bool out_ok, in_ok;
};

static void
make_inputs(const struct hr_binding *x, uint32_t i, const struct joint *joint)
{
	struct hr_bound_node *bn = &x->b->node[i];
	const struct hr_node *n = node_of(x, i);
	const struct hop_op *op = bn->op;

	bn->in = HR_ARRAY(x->a, op->ports.count + n->n_edges + 1, struct hr_port_in);
	for (uint32_t r = 0; r < op->ports.count; r++) {
		const struct hop_port *p = &op->ports.at[r];
		const struct hr_port_in fresh = { .port = p,
						  .table_index = r,
						  .edge = HR_NO_INDEX,
						  .need = p->min_batch ? p->min_batch : 1,
						  .keeps = p->keeps };
		uint32_t first = bn->n_in;

		if (p->dir != HOP_IN)
			continue;
		if (!(p->flags & HOP_PORT_MANY))
			bn->in[bn->n_in++] = fresh;
		for (uint32_t e = n->first_edge; e < n->first_edge + n->n_edges; e++) {
			if (!joint[e].in_ok || joint[e].in_row != r)
				continue;
			if (p->flags & HOP_PORT_MANY) {
				bn->in[bn->n_in++] = fresh;
			} else if (bn->in[first].edge != HR_NO_INDEX) {
				report_merge(x, &x->g->edge[e], &x->g->edge[bn->in[first].edge]);
				continue;
			}
			bn->in[bn->n_in - 1].edge = e;
			x->b->edge[e].in = bn->n_in - 1;
		}
	}
}

/* Edges by writer: those of node i are at[first[i]] .. at[first[i + 1]]. */
struct outgoing {
	uint32_t *first;
	uint32_t *at;
};

static struct outgoing
sort_by_writer(const struct hr_binding *x, const struct joint *joint)
{
	struct outgoing o = { HR_ARRAY(x->a, x->g->n_nodes + 2, uint32_t),
			      HR_ARRAY(x->a, x->g->n_edges + 1, uint32_t) };
	uint32_t *next = o.first + 1; /* while filling; ends as first */

	for (uint32_t e = 0; e < x->g->n_edges; e++)
		if (joint[e].out_ok)
			o.first[x->g->edge[e].from + 2]++;
	for (uint32_t i = 2; i < x->g->n_nodes + 2; i++)
		o.first[i] += o.first[i - 1];
	for (uint32_t e = 0; e < x->g->n_edges; e++)
		if (joint[e].out_ok)
			o.at[next[x->g->edge[e].from]++] = e;
	return o;
}

static void
make_outputs(const struct hr_binding *x, uint32_t i, const struct joint *joint,
	     const struct outgoing *o)
{
	struct hr_bound_node *bn = &x->b->node[i];
	const struct hop_op *op = bn->op;

	bn->out = HR_ARRAY(x->a, op->ports.count + 1, struct hr_port_out);
	for (uint32_t r = 0; r < op->ports.count; r++) {
		const struct hop_port *p = &op->ports.at[r];
		struct hr_port_out *out = &bn->out[bn->n_out];

		if (p->dir != HOP_OUT)
			continue;
		*out = (struct hr_port_out){ .port = p, .table_index = r };
		for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++) {
			if (joint[o->at[k]].out_row != r)
				continue;
			x->b->edge[o->at[k]].out = bn->n_out;
			out->n_edges++;
		}
		bn->n_out++;
		if (p->flags & HOP_PORT_MANY)
			hr_error(x->d, x->g->node[i].op.at, 291,
				 "node '%s': '%s' of %s is an array of outputs, which is not in "
				 "this version",
				 x->g->node[i].name.text, p->name, op->name);
	}
}

static void
report_open(const struct hr_binding *x, uint32_t i, bool quiet)
{
	const struct hr_bound_node *bn = &x->b->node[i];
	const struct hr_node *n = node_of(x, i);

	for (uint32_t r = 0; r < bn->op->ports.count; r++) {
		const struct hop_port *p = &bn->op->ports.at[r];
		bool fed = false;
		struct hr_diag *d;

		if (p->dir != HOP_IN || (p->flags & HOP_PORT_OPTIONAL))
			continue;
		for (uint32_t k = 0; k < bn->n_in; k++)
			fed = fed || (bn->in[k].table_index == r && bn->in[k].edge != HR_NO_INDEX);
		if (fed)
			continue;
		x->incomplete[i] = true;
		if (quiet)
			continue;
		d = hr_error(x->d, n->name.at, 238, "node '%s': input '%s' of %s is not connected",
			     n->name.text, p->name, bn->op->name);
		hr_help(d, "it takes %s; write 'inputs: {%s: NODE.OUTPUT}'", p->doc, p->name);
	}
}

/* Does a misspelt input of this node stand for what would be reported as open? */
static bool
has_bad_input(const struct hr_binding *x, uint32_t i, const struct joint *joint)
{
	const struct hr_node *n = node_of(x, i);

	for (uint32_t e = n->first_edge; e < n->first_edge + n->n_edges; e++)
		if (!joint[e].in_ok)
			return true;
	return false;
}

void
hr_bind_edges(struct hr_binding *x)
{
	struct joint *joint = HR_ARRAY(x->a, x->g->n_edges + 1, struct joint);
	struct outgoing outgoing;

	for (uint32_t e = 0; e < x->g->n_edges; e++) {
		const struct hr_edge *edge = &x->g->edge[e];
		const struct hop_op *reader = x->b->node[edge->to].op;
		const struct hop_op *writer =
			edge->from == HR_NO_INDEX ? NULL : x->b->node[edge->from].op;
		struct joint *j = &joint[e];

		x->b->edge[e] =
			(struct hr_bound_edge){ edge->from, HR_NO_INDEX, edge->to, HR_NO_INDEX };
		j->in_ok = reader && resolve_input(x, edge, reader, &j->in_row);
		j->out_ok = writer && resolve_output(x, edge, writer, &j->out_row);
	}
	outgoing = sort_by_writer(x, joint);
	for (uint32_t i = 0; i < x->g->n_nodes; i++) {
		const struct hr_node *n = node_of(x, i);

		if (!x->b->node[i].op)
			continue;
		make_inputs(x, i, joint);
		make_outputs(x, i, joint, &outgoing);
		report_open(x, i, n->inputs_broken || has_bad_input(x, i, joint));
	}
}

void
hr_bind_unread(struct hr_binding *x)
{
	for (uint32_t i = 0; i < x->g->n_nodes; i++) {
		const struct hr_bound_node *bn = &x->b->node[i];

		for (uint32_t k = 0; k < bn->n_out; k++) {
			const struct hr_port_out *o = &bn->out[k];

			if (o->n_edges || (o->port->flags & HOP_PORT_OPTIONAL))
				continue;
			hr_warning(x->d, node_of(x, i)->name.at, 420,
				   "node '%s': nobody reads its output '%s'; what it sends is "
				   "counted as unread",
				   node_of(x, i)->name.text, o->port->name);
		}
	}
}
