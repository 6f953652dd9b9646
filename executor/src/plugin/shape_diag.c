/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_diag.c - where in the graph to put what shape() refused.
 *
 * An op says only a text.  If that names a parameter the node gives, its value
 * is to blame; if it names a connected input, the edge is, with both ends and
 * their formats; else the op.  For an edge, ops that would convert are searched:
 * with one input and one output, all parameters at their defaults, that take the
 * writer's format and make one the reader takes.  shape() is pure, so asking is
 * allowed.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "plugin/format.h"
#include "plugin/param.h"
#include "plugin/shaping.h"

/* ---- what a text is about ---- */

static bool
is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The word as a whole word of the text, or NULL. */
static const char *
find_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = strstr(text, word); s; s = strstr(s + 1, word))
		if ((s == text || !is_word_char(s[-1])) && !is_word_char(s[n]))
			return s;
	return NULL;
}

/* "size: 0 is too small": what the text begins with is its subject. */
static bool
is_subject(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 && text[n] == ':';
}

/* 'in' in quotes: short port names are English words too. */
static bool
is_quoted(const char *text, const char *word)
{
	const char *s = find_word(text, word);

	return s && s > text && s[-1] == '\'' && s[strlen(word)] == '\'';
}

static const struct hr_param_value *
blamed_param(const struct hr_node *n, const char *text)
{
	for (uint32_t i = 0; i < n->n_params; i++)
		if (is_subject(text, n->param[i].name.text))
			return &n->param[i];
	for (uint32_t i = 0; i < n->n_params; i++)
		if (find_word(text, n->param[i].name.text))
			return &n->param[i];
	return NULL;
}

/* A parameter the node leaves at its default. */
static const struct hop_param *
blamed_default(const struct hop_op *op, const char *text)
{
	for (uint32_t i = 0; i < op->params.count; i++)
		if (op->params.at[i].def && find_word(text, op->params.at[i].name))
			return &op->params.at[i];
	return NULL;
}

/* Index of a connected input, or HR_NO_INDEX. */
static uint32_t
blamed_input(const struct hr_bound_node *bn, const char *text, bool subject_only)
{
	for (uint32_t k = 0; k < bn->n_in; k++) {
		const char *name = bn->in[k].port->name;

		if (bn->in[k].edge == HR_NO_INDEX)
			continue;
		if (is_subject(text, name) || (!subject_only && is_quoted(text, name)))
			return k;
	}
	return HR_NO_INDEX;
}

/* ---- who converts ---- */

struct converter {
	struct hr_binding *x;
	const struct hr_bound_node *reader;
	const char *reader_name;
	uint32_t input; /* of the reader */
};

static void *
default_params(struct hr_arena *a, const struct hop_op *op)
{
	void *params = hr_alloc_aligned(a, op->params_size ? op->params_size : 8, 64);

	for (uint32_t i = 0; i < op->params.count; i++) {
		const struct hop_param *p = &op->params.at[i];
		struct hr_param_in in;
		struct hr_param_bad bad;

		if (!p->def)
			return NULL;
		in = hr_param_default(a, p);
		if (!hr_param_store(a, op->name, p, &in, params, &bad))
			return NULL;
	}
	return params;
}

static bool
reader_takes(const struct converter *c, const struct hop_format *f)
{
	struct hr_arena *a = c->x->a;
	const struct hr_bound_node *bn = c->reader;
	const struct hop_port **ports = HR_ARRAY(a, bn->n_in + 1, const struct hop_port *);
	const struct hop_format **in = HR_ARRAY(a, bn->n_in + 1, const struct hop_format *);
	struct hr_shape_call *call = HR_NEW(a, struct hr_shape_call);

	for (uint32_t k = 0; k < bn->n_in; k++) {
		ports[k] = bn->in[k].port;
		in[k] = k == c->input                   ? f
			: bn->in[k].edge == HR_NO_INDEX ? NULL
							: &bn->in[k].format;
	}
	*call = (struct hr_shape_call){ .op = bn->op,
					.plugin = bn->plugin->path,
					.node = c->reader_name,
					.params = bn->params };
	call->shape = hr_shape_new(a, ports, bn->n_in, bn->n_out);
	call->shape.in = in;
	return hr_shape_call(call) == 0;
}

static bool
converts(const struct converter *c, const struct hr_plugin *plugin, const struct hop_op *op)
{
	struct hr_arena *a = c->x->a;
	const struct hop_port *port = &op->ports.at[0];
	struct hr_shape_call *call;
	const struct hop_format *from = &c->reader->in[c->input].format;

	if (op->device != HOP_ON_CPU || !op->shape || op->ports.count != 2 ||
	    op->ports.at[0].dir == op->ports.at[1].dir ||
	    ((op->ports.at[0].flags | op->ports.at[1].flags) & HOP_PORT_MANY))
		return false;
	if (port->dir != HOP_IN)
		port++;
	call = HR_NEW(a, struct hr_shape_call);
	*call = (struct hr_shape_call){ .op = op,
					.plugin = plugin->path,
					.node = c->reader_name,
					.params = default_params(a, op) };
	if (!call->params)
		return false;
	call->shape = hr_shape_new(a, &port, 1, 1);
	call->shape.in = &from;
	if (hr_shape_call(call) || hr_format_check(a, call->shape.out[0]) ||
	    hr_format_same(call->shape.out[0], from))
		return false;
	return reader_takes(c, call->shape.out[0]);
}

static void
help_convert(const struct converter *c, struct hr_diag *d)
{
	const struct hr_plugins *all = c->x->plugins;
	struct hr_text t;

	hr_text_init(&t, c->x->a);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct hop_plugin *table = all->at[i].table;

		for (uint32_t k = 0; table && k < table->n_ops; k++)
			if (converts(c, &all->at[i], table->ops[k]))
				hr_text_add(&t, "%s%s", t.len ? ", " : "", table->ops[k]->name);
	}
	if (t.len)
		hr_help(d, "put one of these between them: %s", t.s);
	else
		hr_help(d, "no loaded op, with its default parameters, converts between them");
}

/* ---- the diagnostics ---- */

static const char *
reason(const struct hr_refusal *r)
{
	const char *name = strerrordesc_np(r->rc < 0 ? -r->rc : r->rc);

	return *r->text ? r->text : name ? name : "no reason was given";
}

static void
report_edge(struct hr_binding *x, const struct hr_refusal *r, uint32_t input)
{
	const struct hr_bound_node *bn = &x->b->node[r->node];
	const struct hr_edge *e = &x->g->edge[bn->in[input].edge];
	const struct hr_node *writer = &x->g->node[e->from];
	const struct hr_bound_node *bw = &x->b->node[e->from];
	const struct hr_port_out *out = &bw->out[x->b->edge[bn->in[input].edge].out];
	const char *got = hr_format_text(x->a, &bn->in[input].format);
	const struct converter c = { x, bn, x->g->node[r->node].name.text, input };
	struct hr_diag *d;

	d = hr_error(x->d, e->source.at, 241, "node '%s': input '%s': %s does not take %s: %s",
		     x->g->node[r->node].name.text, bn->in[input].port->name, bn->op->name, got,
		     reason(r));
	hr_note(d, writer->op.at, "'%s.%s' is %s%s: %s", writer->name.text, out->port->name,
		hr_format_text(x->a, &out->format), e->gather ? ", before the gather" : "",
		out->port->doc);
	hr_note(d, x->g->node[r->node].op.at, "'%s.%s' wants: %s", x->g->node[r->node].name.text,
		bn->in[input].port->name, bn->in[input].port->doc);
	if (r->guessed)
		hr_help(d, "the input that closes the loop was taken to be like the first one");
	help_convert(&c, d);
}

static void
report_param(struct hr_binding *x, const struct hr_refusal *r, const struct hr_param_value *v)
{
	const struct hr_value *value = v->is_list && v->n_list ? &v->list[0] : &v->value;
	struct hr_span at = value->at.line ? value->at : v->name.at;
	struct hr_diag *d = hr_error(x->d, at, 240, "node '%s': %s refuses '%s': %s",
				     x->g->node[r->node].name.text, x->b->node[r->node].op->name,
				     v->name.text, reason(r));

	if (value->from.line)
		hr_note(d, value->from, "the value comes from here");
}

static void
report_op(struct hr_binding *x, const struct hr_refusal *r)
{
	const struct hr_bound_node *bn = &x->b->node[r->node];
	const struct hr_node *n = &x->g->node[r->node];
	const struct hop_param *p = blamed_default(bn->op, reason(r));
	struct hr_diag *d = hr_error(x->d, n->op.at, 240, "node '%s': %s refuses: %s", n->name.text,
				     bn->op->name, reason(r));

	if (p)
		hr_help(d, "'%s' has its default, %s", p->name, p->def);
	for (uint32_t k = 0; k < bn->n_in; k++)
		if (bn->in[k].edge != HR_NO_INDEX)
			hr_note(d, x->g->edge[bn->in[k].edge].source.at, "input '%s' is %s",
				bn->in[k].port->name, hr_format_text(x->a, &bn->in[k].format));
}

static void
report_contract(struct hr_binding *x, const struct hr_refusal *r)
{
	const struct hr_bound_node *bn = &x->b->node[r->node];
	struct hr_diag *d = hr_error(x->d, x->g->node[r->node].op.at, 331, "node '%s': %s: %s",
				     x->g->node[r->node].name.text, bn->op->name, r->text);

	hr_help(d, "this is for the author of plugin '%s' to correct (%s)", bn->plugin->table->name,
		bn->plugin->path);
}

void
hr_report_refusal(struct hr_binding *x, const struct hr_refusal *r)
{
	const struct hr_bound_node *bn = &x->b->node[r->node];
	const struct hr_param_value *v;
	uint32_t input;

	if (!r->rc) {
		report_contract(x, r);
		return;
	}
	input = blamed_input(bn, r->text, true);
	v = blamed_param(&x->g->node[r->node], r->text);
	if (input == HR_NO_INDEX && !v)
		input = blamed_input(bn, r->text, false);
	if (input != HR_NO_INDEX)
		report_edge(x, r, input);
	else if (v)
		report_param(x, r, v);
	else
		report_op(x, r);
}
