/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - fills the params struct of each node from the graph.
 *
 * Every value is checked against the op's table first; what is wrong is
 * reported at the value.  A parameter that is not given gets its default.
 */
#include <string.h>

#include "plugin/binding.h"
#include "plugin/param.h"

static const struct hop_param *
find_param(const struct hop_op *op, const char *name)
{
	for (uint32_t i = 0; i < op->params.count; i++)
		if (!strcmp(op->params.at[i].name, name))
			return &op->params.at[i];
	return NULL;
}

static const struct hr_param_value *
find_value(const struct hr_node *n, const char *name)
{
	for (uint32_t i = 0; i < n->n_params; i++)
		if (!strcmp(n->param[i].name.text, name))
			return &n->param[i];
	return NULL;
}

static void
report_unknown(const struct hr_binding *x, const struct hr_node *n, const struct hop_op *op,
	       const struct hr_param_value *v)
{
	const char **names = HR_ARRAY(x->a, op->params.count + 1, const char *);
	struct hr_diag *e = hr_error(x->d, v->name.at, 233, "node '%s': %s has no parameter '%s'",
				     n->name.text, op->name, v->name.text);
	const char *home = hr_key_home(v->name.text);
	const char *move = hr_key_move(v->name.text);

	for (uint32_t i = 0; i < op->params.count; i++)
		names[i] = op->params.at[i].name;
	if (home && move)
		hr_help(e, "'%s' is %s; %s", v->name.text, home, move);
	else if (op->params.count)
		hr_suggest(e, v->name.text, names, op->params.count);
	else
		hr_help(e, "%s has no parameters", op->name);
}

static void
report_bad(const struct hr_binding *x, uint32_t i, const struct hop_param *p,
	   const struct hr_param_value *v, const struct hr_param_bad *bad)
{
	const struct hr_node *n = &x->g->node[i];
	struct hr_span at = bad->at.line ? bad->at : v->name.at;
	struct hr_diag *e = hr_error(x->d, at, bad->code, "node '%s': %s", n->name.text, bad->why);

	if (bad->from.line)
		hr_note(e, bad->from, "the value comes from here");
	x->incomplete[i] = true;
	if (bad->got)
		hr_suggest(e, bad->got, p->choices, hr_param_n_choices(p));
	else if (p->unit)
		hr_help(e, "%s is in %s: %s", p->name, p->unit, p->doc);
}

/* An unknown parameter of the node, reported already, that must have been meant as this one. */
static bool
is_misspelt(const struct hr_node *n, const struct hop_op *op, const struct hop_param *p)
{
	for (uint32_t k = 0; k < n->n_params; k++)
		if (!find_param(op, n->param[k].name.text) &&
		    hr_nearest(n->param[k].name.text, &p->name, 1))
			return true;
	return false;
}

static void
report_missing(const struct hr_binding *x, uint32_t i, const struct hop_param *p)
{
	const struct hr_node *n = &x->g->node[i];
	struct hr_diag *e;

	x->incomplete[i] = true;
	if (n->params_broken || is_misspelt(n, x->b->node[i].op, p))
		return;
	e = hr_error(x->d, n->params_at, 234, "node '%s': %s needs the parameter '%s'",
		     n->name.text, x->b->node[i].op->name, p->name);
	hr_help(e, "%s (%s): %s", p->name, hr_param_type[p->type].name, p->doc);
}

static void
fill_one(const struct hr_binding *x, uint32_t i, const struct hop_param *p)
{
	const struct hr_param_value *v = find_value(&x->g->node[i], p->name);
	const struct hr_bound_node *bn = &x->b->node[i];
	struct hr_param_in in;
	struct hr_param_bad bad;

	if (!v && !p->def) {
		report_missing(x, i, p);
		return;
	}
	if (v && v->is_broken) {
		x->incomplete[i] = true;
		return;
	}
	if (v)
		in = (struct hr_param_in){ .at = v->is_list ? v->list : &v->value,
					   .n = v->is_list ? v->n_list : 1,
					   .is_list = v->is_list };
	else /* verified when the plugin was loaded: cannot fail */
		in = hr_param_default(x->a, p);
	in.dir = x->g->file ? x->g->file->dir : NULL;
	if (!hr_param_store(x->a, bn->op->name, p, &in, bn->params, &bad) && v)
		report_bad(x, i, p, v, &bad);
}

/* Keys beside `op` that validate did not know: the op may have a parameter of that name. */
static void
help_unknown_keys(const struct hr_binding *x)
{
	for (uint32_t k = 0; k < x->g->n_unknown_keys; k++) {
		const struct hr_unknown_key *u = &x->g->unknown_key[k];
		const struct hop_op *op = x->b->node[u->node].op;

		if (op && u->diag && find_param(op, u->key.text))
			hr_help(u->diag, "'%s' is a parameter of %s; move it under 'params'",
				u->key.text, op->name);
	}
}

void
hr_bind_values(struct hr_binding *x)
{
	for (uint32_t i = 0; i < x->g->n_nodes; i++) {
		const struct hr_node *n = &x->g->node[i];
		struct hr_bound_node *bn = &x->b->node[i];

		if (!bn->op)
			continue;
		for (uint32_t k = 0; k < n->n_params; k++)
			if (!n->param[k].is_broken && !find_param(bn->op, n->param[k].name.text))
				report_unknown(x, n, bn->op, &n->param[k]);
		bn->params =
			hr_alloc_aligned(x->a, bn->op->params_size ? bn->op->params_size : 8, 64);
		for (uint32_t k = 0; k < bn->op->params.count; k++)
			fill_one(x, i, &bn->op->params.at[k]);
	}
	help_unknown_keys(x);
}
