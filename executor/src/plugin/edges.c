/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edges.c - joins the edges of the graph to ports of the ops at both ends.
 *
 * A port array has as many positions as the graph connects: inputs in the order
 * they are listed, outputs by the number a reader writes ("split.out.2").  What
 * must be connected and is not, is reported at the node.  The order of the nodes
 * is order.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plugin/binding.h"
#include "plugin/verify.h"

enum { MAX_POSITIONS = 1024 };

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
find_port(const struct hop_op *op, uint32_t dir, const char *name, size_t len)
{
	for (uint32_t i = 0; i < op->ports.count; i++) {
		const struct hop_port *p = &op->ports.at[i];

		if (p->dir == dir && strlen(p->name) == len && !strncmp(p->name, name, len))
			return i;
	}
	return HR_NO_INDEX;
}

/* ---- the writer's end ---- */

struct end { /* table row and position in its port array (0 for a single port) */
	uint32_t row;
	uint32_t position;
};

/* "out", or "out.2" of a port array. */
static bool
parse_output(const struct hop_op *op, const char *text, struct end *end)
{
	const char *dot = strrchr(text, '.');
	char *rest;
	unsigned long n;

	*end = (struct end){ find_port(op, HOP_OUT, text, strlen(text)), 0 };
	if (end->row != HR_NO_INDEX)
		return !(op->ports.at[end->row].flags & HOP_PORT_MANY);
	if (!dot || dot[1] < '0' || dot[1] > '9')
		return false;
	n = strtoul(dot + 1, &rest, 10);
	end->row = find_port(op, HOP_OUT, text, (size_t)(dot - text));
	end->position = (uint32_t)n;
	return !*rest && n < MAX_POSITIONS && end->row != HR_NO_INDEX &&
	       (op->ports.at[end->row].flags & HOP_PORT_MANY);
}

static void
report_output(const struct hr_binding *x, const struct hr_edge *e, const struct hop_op *op,
	      const struct end *end)
{
	const struct hr_strings names = port_names(x, op, HOP_OUT);
	const char *writer = node_of(x, e->from)->name.text;
	struct hr_span at = e->output ? e->output_at : e->source.at;
	struct hr_diag *d;

	if (!names.n) {
		d = hr_error(x->d, at, 236, "node '%s': input '%s': %s has no outputs",
			     node_of(x, e->to)->name.text, e->input.text, op->name);
		hr_help(d, "'%s' can only be read from", writer);
		return;
	}
	if (end && end->row != HR_NO_INDEX) {
		d = hr_error(x->d, at, 237, "node '%s': '%s' of '%s' is a port array",
			     node_of(x, e->to)->name.text, op->ports.at[end->row].name, writer);
		hr_help(d, "say which position, 0 to %d: '%s.%s.0'", MAX_POSITIONS - 1, writer,
			op->ports.at[end->row].name);
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
	       struct end *end)
{
	if (e->output) {
		if (parse_output(op, e->output, end))
			return true;
		report_output(x, e, op, end);
		return false;
	}
	*end = (struct end){ HR_NO_INDEX, 0 };
	for (uint32_t i = 0; i < op->ports.count; i++)
		if (op->ports.at[i].dir == HOP_OUT)
			end->row = i;
	if (hr_op_n_ports(op, HOP_OUT) == 1 && !(op->ports.at[end->row].flags & HOP_PORT_MANY))
		return true;
	report_output(x, e, op, hr_op_n_ports(op, HOP_OUT) == 1 ? end : NULL);
	return false;
}

/* ---- the reader's end ---- */

static bool
resolve_input(const struct hr_binding *x, const struct hr_edge *e, const struct hop_op *op,
	      uint32_t *row)
{
	const struct hr_strings names = port_names(x, op, HOP_IN);
	struct hr_diag *d;

	*row = find_port(op, HOP_IN, e->input.text, strlen(e->input.text));
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

struct joint { /* of one edge */
	struct end out;
	uint32_t in_row;
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

static uint32_t
positions(const struct hop_port *p, uint32_t row, const struct joint *joint, const uint32_t *edge,
	  uint32_t n)
{
	uint32_t count = 0;

	if (!(p->flags & HOP_PORT_MANY))
		return 1;
	for (uint32_t k = 0; k < n; k++)
		if (joint[edge[k]].out.row == row && joint[edge[k]].out.position >= count)
			count = joint[edge[k]].out.position + 1;
	return count;
}

static void
make_outputs(const struct hr_binding *x, uint32_t i, const struct joint *joint,
	     const struct outgoing *o)
{
	struct hr_bound_node *bn = &x->b->node[i];
	const struct hop_op *op = bn->op;
	const uint32_t *edge = &o->at[o->first[i]];
	uint32_t n = o->first[i + 1] - o->first[i], many = 0;

	for (uint32_t k = 0; k < n; k++)
		if (joint[edge[k]].out.position >= many)
			many = joint[edge[k]].out.position + 1;
	bn->out = HR_ARRAY(x->a, op->ports.count + many + 1, struct hr_port_out);
	for (uint32_t r = 0; r < op->ports.count; r++) {
		const struct hop_port *p = &op->ports.at[r];
		const uint32_t first = bn->n_out;

		if (p->dir != HOP_OUT)
			continue;
		for (uint32_t k = positions(p, r, joint, edge, n); k > 0; k--)
			bn->out[bn->n_out++] = (struct hr_port_out){ .port = p, .table_index = r };
		for (uint32_t k = 0; k < n; k++) {
			if (joint[edge[k]].out.row != r)
				continue;
			x->b->edge[edge[k]].out = first + joint[edge[k]].out.position;
			bn->out[first + joint[edge[k]].out.position].n_edges++;
		}
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
		j->out_ok = writer && resolve_output(x, edge, writer, &j->out);
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
