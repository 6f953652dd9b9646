/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.c - calls shape() along the edges, writers first.
 *
 * An edge with `initial` closes a loop: its reader is shaped before its writer.
 * The first pass takes the format of the reader's first known input for it; the
 * passes are repeated until what was taken is what came.  shape() is pure, so it
 * may be called again.  What an op filled in is checked before it is used.
 */
#include <string.h>

#include "plugin/format.h"
#include "plugin/shaping.h"

enum { MAX_PASSES = 8, MAX_NEED = 1 << 20 };

enum state { UNKNOWN, KNOWN, REFUSED, BLOCKED };

struct pass {
	struct hr_binding *x;
	enum state *state;          /* per node */
	struct hr_refusal *refusal; /* per node, of its last call */
	/* Per edge with `initial`: what its reader was given, and what its writer last said (also
	 * when the writer can no longer be shaped because the reader refuses just that). */
	struct hop_format *taken, *said;
	bool unsettled;
};

static const struct hr_port_out *
writer_port(const struct hr_binding *x, uint32_t e)
{
	const struct hr_bound_edge *be = &x->b->edge[e];

	if (be->from == HR_NO_INDEX || be->out == HR_NO_INDEX)
		return NULL;
	return &x->b->node[be->from].out[be->out];
}

/* The format an edge brings, after a gather; false: not known. */
static bool
edge_format(const struct pass *p, uint32_t e, struct hop_format *f)
{
	const struct hr_edge *edge = &p->x->g->edge[e];
	const struct hr_port_out *o = writer_port(p->x, e);
	struct hop_format whole;
	const char *why;
	struct hr_diag *d;

	if (!o || p->state[edge->from] != KNOWN)
		return false;
	*f = o->format;
	if (!edge->gather)
		return true;
	why = hr_format_gather(p->x->a, f, (uint64_t)edge->gather->count, &whole);
	if (why) {
		d = hr_error(p->x->d, edge->gather->at, 244, "node '%s': input '%s': gather: %s",
			     p->x->g->node[edge->to].name.text, edge->input.text, why);
		hr_note(d, p->x->g->node[edge->from].op.at, "%s comes from here",
			hr_format_text(p->x->a, f));
		return false;
	}
	*f = whole;
	return true;
}

static const struct hop_format *
first_known(const struct hr_bound_node *bn, const bool *known)
{
	static const struct hop_format bytes = { .size = sizeof bytes };

	for (uint32_t i = 0; i < bn->n_in; i++)
		if (known[i])
			return &bn->in[i].format;
	return &bytes;
}

/* An input that closes a loop: what its writer said last time round, else a guess. */
static bool
take_loop(struct pass *p, struct hr_bound_node *bn, uint32_t k, const bool *known, bool *guessed)
{
	const uint32_t e = bn->in[k].edge;

	if (known[k]) {
		p->said[e] = bn->in[k].format;
	} else if (p->said[e].size) {
		bn->in[k].format = p->said[e];
	} else {
		if (!writer_port(p->x, e))
			return false;
		bn->in[k].format = *first_known(bn, known);
		*guessed = true;
	}
	if (!p->taken[e].size || !hr_format_same(&p->taken[e], &bn->in[k].format))
		p->unsettled = true;
	p->taken[e] = bn->in[k].format;
	p->taken[e].size = sizeof p->taken[e];
	return true;
}

/* Fills the formats of a node's inputs; false: one is not to be had. */
static bool
take_inputs(struct pass *p, uint32_t i, bool *guessed)
{
	struct hr_bound_node *bn = &p->x->b->node[i];
	bool *known = HR_ARRAY(p->x->a, bn->n_in + 1, bool);

	for (uint32_t k = 0; k < bn->n_in; k++) {
		uint32_t e = bn->in[k].edge;

		if (e == HR_NO_INDEX)
			continue;
		known[k] = edge_format(p, e, &bn->in[k].format);
		if (!known[k] && !p->x->g->edge[e].initial)
			return false;
	}
	for (uint32_t k = 0; k < bn->n_in; k++) {
		uint32_t e = bn->in[k].edge;

		if (e != HR_NO_INDEX && p->x->g->edge[e].initial &&
		    !take_loop(p, bn, k, known, guessed))
			return false;
	}
	return true;
}

/* What the op filled in, checked.  NULL: fine. */
static const char *
check_shape(const struct hr_binding *x, const struct hr_bound_node *bn, const struct hop_shape *s)
{
	for (uint32_t k = 0; k < s->n_in; k++)
		if (!s->need[k] || s->need[k] > MAX_NEED || s->keeps[k] > MAX_NEED)
			return hr_printf(x->a, "shape() says need %u, keeps %u for input '%s'",
					 s->need[k], s->keeps[k], bn->in[k].port->name);
	for (uint32_t k = 0; k < s->n_out; k++) {
		const char *why = hr_format_check(x->a, s->out[k]);

		if (why)
			return hr_printf(x->a, "%s %s for output '%s'",
					 bn->op->shape ? "shape()" : "it has no shape() and", why,
					 bn->out[k].port->name);
	}
	return NULL;
}

static struct hop_shape
shape_of_node(struct hr_arena *a, const struct hr_bound_node *bn)
{
	const struct hop_port **ports = HR_ARRAY(a, bn->n_in + 1, const struct hop_port *);
	const struct hop_format **in = HR_ARRAY(a, bn->n_in + 1, const struct hop_format *);
	struct hop_shape s;

	for (uint32_t k = 0; k < bn->n_in; k++) {
		ports[k] = bn->in[k].port;
		in[k] = bn->in[k].edge == HR_NO_INDEX ? NULL : &bn->in[k].format;
	}
	s = hr_shape_new(a, ports, bn->n_in, bn->n_out);
	s.in = in;
	return s;
}

static void
keep_shape(struct hr_bound_node *bn, const struct hop_shape *s)
{
	for (uint32_t k = 0; k < bn->n_in; k++) {
		bn->in[k].need = s->need[k];
		bn->in[k].keeps = s->keeps[k];
	}
	for (uint32_t k = 0; k < bn->n_out; k++) {
		bn->out[k].gives = s->gives[k];
		bn->out[k].format = *s->out[k];
		bn->out[k].format.size = sizeof bn->out[k].format;
	}
	memcpy(bn->extent, s->extent, sizeof bn->extent);
}

static void
shape_node(struct pass *p, uint32_t i)
{
	struct hr_binding *x = p->x;
	struct hr_bound_node *bn = &x->b->node[i];
	struct hr_refusal *r = &p->refusal[i];
	struct hr_shape_call c = { .op = bn->op };

	*r = (struct hr_refusal){ .node = i };
	p->state[i] = BLOCKED;
	if (!bn->op || x->incomplete[i] || !take_inputs(p, i, &r->guessed))
		return;
	c.plugin = bn->plugin->path;
	c.node = x->g->node[i].name.text;
	c.params = bn->params;
	c.shape = shape_of_node(x->a, bn);
	r->rc = hr_shape_call(&c);
	r->text = r->rc ? hr_strdup(x->a, c.text) : check_shape(x, bn, &c.shape);
	p->state[i] = r->text ? REFUSED : KNOWN;
	if (*c.warning)
		hr_warning(x->d, x->g->node[i].op.at, 422, "node '%s': %s says: %s", c.node,
			   bn->op->name, c.warning);
	if (!r->text)
		keep_shape(bn, &c.shape);
}

static void
check_limits(const struct hr_binding *x, uint32_t i)
{
	const struct hr_bound_node *bn = &x->b->node[i];

	for (uint32_t k = 0; k < bn->n_out; k++) {
		const uint64_t bytes = bn->out[k].format.max_bytes;

		if (bytes > HR_MAX_PAYLOAD)
			hr_error(x->d, x->g->node[i].op.at, 246,
				 "node '%s': a message of output '%s' may take %llu bytes; the "
				 "limit is 1 GiB",
				 x->g->node[i].name.text, bn->out[k].port->name,
				 (unsigned long long)bytes);
	}
}

static void
report(const struct pass *p)
{
	struct hr_binding *x = p->x;

	for (uint32_t i = 0; i < x->g->n_nodes; i++) {
		if (p->state[i] == REFUSED)
			hr_report_refusal(x, &p->refusal[i]);
		else if (p->state[i] == KNOWN)
			check_limits(x, i);
	}
	for (uint32_t e = 0; e < x->g->n_edges && p->unsettled; e++) {
		const struct hr_edge *edge = &x->g->edge[e];

		if (edge->initial)
			hr_error(x->d, edge->initial_at, 243,
				 "the format of '%s' changes each time round the loop it closes",
				 edge->source.text);
	}
}

void
hr_bind_shapes(struct hr_binding *x)
{
	uint32_t n = x->g->n_nodes;
	struct pass p = {
		.x = x,
		.state = HR_ARRAY(x->a, n + 1, enum state),
		.refusal = HR_ARRAY(x->a, n + 1, struct hr_refusal),
		.taken = HR_ARRAY(x->a, x->g->n_edges + 1, struct hop_format),
		.said = HR_ARRAY(x->a, x->g->n_edges + 1, struct hop_format),
		.unsettled = true,
	};

	for (int pass = 0; pass < MAX_PASSES && p.unsettled; pass++) {
		p.unsettled = false;
		for (uint32_t k = 0; k < n; k++)
			shape_node(&p, x->b->order[k]);
	}
	report(&p);
}
