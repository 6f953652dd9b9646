// SPDX-License-Identifier: Apache-2.0
/*
 * rooms.c - load, validate, bind, plan: one room after another, as far as asked.
 *
 * Every error of a file is shown at once: a graph that validate refused is
 * still bound, and what binding finds is added unless it concerns a node that is
 * known to be wrong already, where it would be noise.  Such a graph is never
 * planned.
 */
#include "cli/cli.h"

#include <string.h>

/* "nodes.work" of "nodes.work.params.count"; NULL: not inside a node. */
static const char *
node_of(struct hr_arena *a, struct hr_span at)
{
	static const char nodes[] = "nodes.";
	const char *path = hr_span_path(a, at);

	if (strncmp(path, nodes, sizeof(nodes) - 1) != 0)
		return NULL;
	return hr_strndup(a, path, sizeof(nodes) - 1 + strcspn(path + sizeof(nodes) - 1, "."));
}

/* A circle is about names alone: what binding finds out about its nodes is news. */
enum { CIRCLE = 215 };

static void
wrong_nodes(struct hr_arena *a, const struct hr_diags *d, struct hr_strings *out)
{
	for (const struct hr_diag *i = d->first; i; i = i->next) {
		const char *node =
			i->severity == HR_ERROR && i->code != CIRCLE ? node_of(a, i->at) : NULL;

		if (node)
			hr_strings_add(a, out, node);
	}
}

/* Is there an error, other than a circle, at the key of this place? */
static bool
is_wrong_otherwise(struct hr_arena *a, const struct hr_diags *d, struct hr_span at)
{
	const char *path = hr_span_path(a, at);

	for (const struct hr_diag *i = d->first; i; i = i->next)
		if (i->severity == HR_ERROR && i->code != CIRCLE && i->at.file == at.file &&
		    strcmp(hr_span_path(a, i->at), path) == 0)
			return true;
	return false;
}

static bool
is_moot(struct hr_arena *a, const struct hr_diag *circle, const struct hr_diags *found)
{
	for (const struct hr_note *n = circle->notes; n; n = n->next)
		if (n->at.line && is_wrong_otherwise(a, found, n->at))
			return true;
	return is_wrong_otherwise(a, found, circle->at);
}

/* An edge that cannot be is no part of a circle: the reason why it cannot is enough. */
static void
forget_circles(struct hr_arena *a, struct hr_diags *d, const struct hr_diags *found)
{
	struct hr_diag **at = &d->first, *last = NULL;

	while (*at) {
		if ((*at)->code == CIRCLE && is_moot(a, *at, found)) {
			*at = (*at)->next;
			d->n_errors--;
			d->n_kept--;
			continue;
		}
		last = *at;
		at = &last->next;
	}
	d->last = last;
}

static void
copy_diag(struct hr_diags *d, const struct hr_diag *from)
{
	struct hr_diag *to = from->severity == HR_ERROR
				     ? hr_error(d, from->at, from->code, "%s", from->text)
				     : hr_warning(d, from->at, from->code, "%s", from->text);

	for (const struct hr_note *n = from->notes; n; n = n->next)
		hr_note(to, n->at, "%s", n->text);
	for (const struct hr_note *n = from->helps; n; n = n->next)
		hr_help(to, "%s", n->text);
}

/* Add what binding found, without the nodes that were wrong before and without warnings that may
 * be nothing but their consequence. */
static void
add_findings(struct hr_arena *a, struct hr_diags *d, const struct hr_diags *found)
{
	struct hr_strings wrong = { 0 };
	bool was_wrong = d->n_errors > 0;

	wrong_nodes(a, d, &wrong);
	forget_circles(a, d, found);
	for (const struct hr_diag *i = found->first; i; i = i->next) {
		const char *node = node_of(a, i->at);

		if (was_wrong && i->severity == HR_WARNING)
			continue;
		if (!node || !hr_strings_has(&wrong, node))
			copy_diag(d, i);
	}
}

static void
bind_graph(struct hr_cli *c, struct hr_rooms *r, struct hr_diags *d)
{
	struct hr_diags found;

	hr_diags_init(&found, c->arena);
	/* First in a child: a plugin that crashes must not take the command with it. */
	if (!hr_probe(c->arena, r->graph, &c->dirs, &found)) {
		r->plugins = hr_plugins_load(c->arena, r->graph, &c->dirs);
		r->bound = hr_bind(c->arena, r->graph, r->plugins, &found);
	}
	add_findings(c->arena, d, &found);
}

static void
plan_graph(struct hr_cli *c, struct hr_rooms *r, struct hr_diags *d)
{
	r->machine = hr_machine_load(c->arena, c->topology, d);
	if (r->machine)
		r->plan = hr_plan_make(c->arena, r->bound, r->machine, d);
}

static void
apply_deny(const struct hr_cli *c, const struct hr_rooms *r, struct hr_diags *d)
{
	for (uint32_t i = 0; (c->deny & HR_DENY_FALLBACK) && i < r->graph->n_nodes; i++) {
		const struct hr_node *n = &r->graph->node[i];

		if (r->bound->node[i].fallback)
			hr_error(d, n->device.at.line ? n->device.at : n->name.at, 390,
				 "node '%s' fell back to the CPU (--deny fallback)", n->name.text);
	}
	if ((c->deny & HR_DENY_WARNINGS) && d->n_warnings)
		hr_error(d, HR_NOWHERE, 283, "%u warning%s, and --deny warnings was given",
			 d->n_warnings, d->n_warnings == 1 ? "" : "s");
}

int
hr_rooms_enter(struct hr_cli *c, const char *file, enum hr_stage stage, struct hr_rooms *r,
	       struct hr_diags *d)
{
	*r = (struct hr_rooms){ 0 };
	c->load.file = file;
	r->doc = hr_load(c->arena, &c->load, d);
	if (!r->doc)
		return -1;
	r->graph = hr_validate(c->arena, r->doc, &c->load, d);
	if (!r->graph)
		return -1;
	if (stage >= HR_TO_BOUND)
		bind_graph(c, r, d);
	if (d->n_errors)
		return -1;
	if (stage >= HR_TO_PLAN)
		plan_graph(c, r, d);
	if (d->n_errors)
		return -1;
	if (stage >= HR_TO_BOUND)
		apply_deny(c, r, d);
	return d->n_errors ? -1 : 0;
}
