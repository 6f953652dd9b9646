/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failed.c - plugins that could not be loaded, and the nodes that miss them.
 *
 * Which ops such a plugin has cannot be known.  A node whose op nobody offers is
 * taken to need it if it is not optional; if it is optional, only when no loaded
 * op has a similar name, because then it is no slip of the keyboard.
 */
#include <string.h>

#include "plugin/offers.h"

enum { MAX_SHOWN = 12 }; /* nodes in one line */

static void
help_lines(struct hr_diag *e, struct hr_arena *a, const char *lines)
{
	while (lines && *lines) {
		size_t n = strcspn(lines, "\n");

		if (n)
			hr_help(e, "%s", hr_strndup(a, lines, n));
		lines += n + (lines[n] == '\n');
	}
}

void
hr_failed_hint(const struct hr_binding *x, struct hr_diag *e)
{
	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];

		if (p->error)
			hr_help(e, "plugin '%s' is not loaded and may have it: %s", p->shown,
				p->error);
	}
}

static const char *
nearest_op(const struct hr_binding *x, const char *name)
{
	return hr_nearest(name, x->op_names.item, x->op_names.n);
}

static bool
has_failed(const struct hr_binding *x, bool optional)
{
	for (uint32_t i = 0; i < x->plugins->n; i++)
		if (x->plugins->at[i].error && x->plugins->at[i].optional == optional)
			return true;
	return false;
}

/* A node whose op no loaded plugin has. */
static bool
is_blamed_on_failed(const struct hr_binding *x, const char *name, uint32_t nth)
{
	if (has_failed(x, false))
		return true;
	/* Similarity costs; beyond what is shown it makes no difference. */
	return has_failed(x, true) && (nth > HR_DIAGS_KEPT || !nearest_op(x, name));
}

/* The nodes, as a list in words; *near: one of their ops has a similar name that is offered. */
static const char *
users_of_failed(const struct hr_binding *x, uint32_t *n_users, const char **near)
{
	struct hr_text t;
	uint32_t n_missing = 0;

	*n_users = 0;
	*near = NULL;
	hr_text_init(&t, x->a);
	for (uint32_t i = 0; i < x->g->n_nodes; i++) {
		const struct hr_node *n = &x->g->node[i];
		struct hr_offers o;

		if (!n->op.text)
			continue;
		o = hr_offers_of(x, n->op.text);
		if (!hr_offers_none(&o) || !is_blamed_on_failed(x, n->op.text, n_missing++))
			continue;
		x->missing_known[i] = true;
		if (!*near && n_missing <= HR_DIAGS_KEPT)
			*near = nearest_op(x, n->op.text);
		if ((*n_users)++ < MAX_SHOWN)
			hr_text_add(&t, "%s'%s'", t.len ? ", " : "", n->name.text);
	}
	if (*n_users > MAX_SHOWN)
		hr_text_add(&t, " and %u more", *n_users - MAX_SHOWN);
	return t.s;
}

void
hr_failed_report(const struct hr_binding *x)
{
	const bool required = has_failed(x, false);
	uint32_t n_users;
	const char *near, *users;

	if (!required && !has_failed(x, true))
		return;
	users = users_of_failed(x, &n_users, &near);
	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];
		struct hr_diag *e;

		if (!p->error || (p->optional && (!n_users || required)))
			continue;
		e = hr_error(x->d, p->at, p->code, "plugin '%s' cannot be loaded: %s", p->shown,
			     p->error);
		help_lines(e, x->a, p->cure);
		if (p->path && strcmp(p->path, p->shown) != 0)
			hr_help(e, "the file is %s", p->path);
		if (n_users)
			hr_help(e, "needed by node%s %s: no loaded plugin has %s",
				n_users > 1 ? "s" : "", users,
				n_users > 1 ? "their ops" : "its op");
		if (near)
			hr_help(e, "or is one of them misspelt? there is an op '%s'", near);
	}
}

/* The reason why CUDA ops of a plugin that could not even be loaded are missing, or NULL. */
const struct hr_plugin *
hr_failed_for_device(const struct hr_binding *x)
{
	for (uint32_t i = 0; i < x->plugins->n; i++)
		if (!x->plugins->at[i].table && x->plugins->at[i].no_device)
			return &x->plugins->at[i];
	return NULL;
}
