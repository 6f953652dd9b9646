/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c - which op of which plugin a node means.
 *
 * One op may be offered for two devices (twins, which must agree); the same op
 * for the same device twice must be told apart with '@'.  A plugin that could
 * not be loaded is reported where the graph names it, with the nodes that need
 * it, unless it is optional and nobody does.
 */
#include <string.h>

#include "base/text.h"
#include "plugin/binding.h"
#include "plugin/find.h"
#include "plugin/twins.h"

struct offer {
	const struct hop_op *op;
	const struct hr_plugin *plugin;
};

struct choice {                         /* what is offered for one node */
	const char *name;               /* without @lib */
	const char *lib;                /* after '@', or NULL */
	struct offer on[2];             /* by HOP_ON_* */
	const struct hr_plugin *second; /* another offer of one of these */
	uint32_t second_device;
};

static struct choice
offers(const struct hr_binding *x, const char *text)
{
	const char *at = strchr(text, '@');
	struct choice c = { .name = text };

	if (at) {
		c.name = hr_strndup(x->a, text, (size_t)(at - text));
		c.lib = at + 1;
	}
	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];

		if (!p->table || (c.lib && !hr_plugin_is_called(x->a, p->path, c.lib)))
			continue;
		for (uint32_t k = 0; k < p->table->n_ops; k++) {
			const struct hop_op *op = p->table->ops[k];

			if (strcmp(op->name, c.name) != 0)
				continue;
			if (c.on[op->device].op) {
				c.second = p;
				c.second_device = op->device;
			} else {
				c.on[op->device] = (struct offer){ op, p };
			}
		}
	}
	return c;
}

static struct hr_strings
all_op_names(const struct hr_binding *x)
{
	struct hr_strings names = { 0 };

	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hop_plugin *t = x->plugins->at[i].table;

		for (uint32_t k = 0; t && k < t->n_ops; k++)
			if (!hr_strings_has(&names, t->ops[k]->name))
				hr_strings_add(x->a, &names, t->ops[k]->name);
	}
	return names;
}

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

static void
hint_failed(const struct hr_binding *x, struct hr_diag *e)
{
	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];

		if (p->error)
			hr_help(e, "plugin '%s' is not loaded and may have it: %s", p->shown,
				p->error);
	}
}

/* No loaded plugin has it, and no loaded op has a similar name: it may well come from a plugin that
 * could not be loaded, which is then the error to report. */
static bool
may_be_in_failed(const struct hr_binding *x, const char *name)
{
	struct hr_strings names = all_op_names(x);
	bool failed = false;

	for (uint32_t i = 0; i < x->plugins->n; i++)
		failed = failed || x->plugins->at[i].error;
	return failed && !hr_nearest(name, names.item, names.n);
}

static bool
is_missing(const struct hr_binding *x, const struct hr_node *n)
{
	struct choice c = offers(x, n->op.text);

	return !c.on[HOP_ON_CPU].op && !c.on[HOP_ON_CUDA].op;
}

static const char *
users_of_failed(const struct hr_binding *x, uint32_t *n_users)
{
	struct hr_text t;

	*n_users = 0;
	hr_text_init(&t, x->a);
	for (uint32_t i = 0; i < x->g->n_nodes; i++) {
		const struct hr_node *n = &x->g->node[i];

		if (!n->op.text || !is_missing(x, n) || !may_be_in_failed(x, n->op.text))
			continue;
		hr_text_add(&t, "%s'%s'", t.len ? ", " : "", n->name.text);
		(*n_users)++;
	}
	return t.s;
}

static void
report_plugins(const struct hr_binding *x)
{
	uint32_t n_users;
	const char *users = users_of_failed(x, &n_users);
	bool required_failed = false;

	for (uint32_t i = 0; i < x->plugins->n; i++)
		if (x->plugins->at[i].error && !x->plugins->at[i].optional)
			required_failed = true;
	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];
		struct hr_diag *e;

		if (!p->error || (p->optional && (!n_users || required_failed)))
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
	}
}

static void
report_unknown(const struct hr_binding *x, const struct hr_node *n, const struct choice *c)
{
	struct hr_strings names = all_op_names(x), libs = { 0 };
	struct hr_diag *e;
	bool known = false;

	for (uint32_t i = 0; i < x->plugins->n && c->lib; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];

		if (p->table)
			hr_strings_add(x->a, &libs, hr_plugin_stem(x->a, p->path));
		known = known || (p->path && hr_plugin_is_called(x->a, p->path, c->lib));
	}
	if (c->lib && !known) {
		e = hr_error(x->d, n->op.at, 232, "node '%s': no plugin is called '%s'",
			     n->name.text, c->lib);
		hr_suggest(e, c->lib, libs.item, libs.n);
		return;
	}
	if (c->lib)
		e = hr_error(x->d, n->op.at, 230, "node '%s': plugin '%s' has no op '%s'",
			     n->name.text, c->lib, c->name);
	else
		e = hr_error(x->d, n->op.at, 230, "node '%s': no loaded plugin has the op '%s'",
			     n->name.text, c->name);
	hr_suggest(e, c->name, names.item, names.n);
	hint_failed(x, e);
}

static void
report_twice(const struct hr_binding *x, const struct hr_node *n, const struct choice *c)
{
	const struct hr_plugin *first = c->on[c->second_device].plugin;
	struct hr_diag *e = hr_error(x->d, n->op.at, 231, "node '%s': two plugins offer '%s'",
				     n->name.text, c->name);

	hr_note(e, first->at, "one is %s", first->path);
	hr_note(e, c->second->at, "the other is %s", c->second->path);
	hr_help(e, "write '%s@%s' or '%s@%s'", c->name, hr_plugin_stem(x->a, first->path), c->name,
		hr_plugin_stem(x->a, c->second->path));
}

static bool
twins_agree(const struct hr_binding *x, const struct hr_node *n, const struct choice *c)
{
	const struct offer *cpu = &c->on[HOP_ON_CPU], *cuda = &c->on[HOP_ON_CUDA];
	const char *why;
	struct hr_diag *e;

	if (!cpu->op || !cuda->op)
		return true;
	why = hr_twins_differ(x->a, cpu->op, cuda->op);
	if (!why)
		return true;
	e = hr_error(x->d, n->op.at, 309, "node '%s': the cpu and the cuda op '%s' differ: %s",
		     n->name.text, c->name, why);
	hr_note(e, cpu->plugin->at, "cpu: %s", cpu->plugin->path);
	hr_note(e, cuda->plugin->at, "cuda: %s", cuda->plugin->path);
	return false;
}

/* The reason why CUDA ops of a plugin that could not even be loaded are missing, or NULL. */
static const struct hr_plugin *
failed_for_device(const struct hr_binding *x)
{
	for (uint32_t i = 0; i < x->plugins->n; i++)
		if (!x->plugins->at[i].table && x->plugins->at[i].no_device)
			return &x->plugins->at[i];
	return NULL;
}

static void
report_no_cuda(const struct hr_binding *x, const struct hr_node *n, const struct choice *c,
	       struct hr_span at)
{
	const struct hr_plugin *p = c->on[HOP_ON_CUDA].plugin;
	struct hr_diag *e;

	if (!p)
		p = failed_for_device(x);
	if (p) {
		e = hr_error(x->d, at, 330, "node '%s': '%s' cannot run on cuda: %s", n->name.text,
			     c->name, p->no_device);
		hr_note(e, p->at, "the plugin is %s", p->path);
		if (c->on[HOP_ON_CPU].op)
			hr_help(e, "write 'device: cpu', or 'device: auto' to fall back");
		return;
	}
	e = hr_error(x->d, at, 245, "node '%s': no loaded plugin has '%s' for cuda", n->name.text,
		     c->name);
	hr_help(e, "it is offered for cpu by %s", c->on[HOP_ON_CPU].plugin->path);
	hint_failed(x, e);
}

/* device: auto.  CUDA where it can run, else the CPU, and a word about it. */
static const struct offer *
pick_auto(const struct hr_binding *x, const struct hr_node *n, const struct choice *c,
	  struct hr_bound_node *bn)
{
	const struct offer *cuda = &c->on[HOP_ON_CUDA];
	const struct hr_plugin *lost = cuda->plugin;
	struct hr_span at = n->device.at.line ? n->device.at : n->op.at;

	if (cuda->op && !cuda->plugin->no_device)
		return cuda;
	if (!c->on[HOP_ON_CPU].op) {
		report_no_cuda(x, n, c, at);
		return NULL;
	}
	if (!lost && n->device.at.line)
		lost = failed_for_device(x);
	if (lost) {
		bn->fallback = true;
		hr_warning(x->d, at, 421, "node '%s': '%s' runs on the cpu: %s", n->name.text,
			   c->name, lost->no_device);
	}
	return &c->on[HOP_ON_CPU];
}

static const struct offer *
pick(const struct hr_binding *x, const struct hr_node *n, const struct choice *c,
     struct hr_bound_node *bn)
{
	static const char *const devices[] = { "cpu", "cuda", "auto" };
	const char *want = n->device.text ? n->device.text : "auto";
	const struct offer *cuda = &c->on[HOP_ON_CUDA];
	struct hr_diag *e;

	if (!strcmp(want, "auto"))
		return pick_auto(x, n, c, bn);
	if (!strcmp(want, "cuda")) {
		if (cuda->op && !cuda->plugin->no_device)
			return cuda;
		report_no_cuda(x, n, c, n->device.at);
		return NULL;
	}
	if (strcmp(want, "cpu") != 0) {
		e = hr_error(x->d, n->device.at, 208, "node '%s': there is no device '%s'",
			     n->name.text, want);
		hr_suggest(e, want, devices, sizeof devices / sizeof devices[0]);
		return NULL;
	}
	if (c->on[HOP_ON_CPU].op)
		return &c->on[HOP_ON_CPU];
	e = hr_error(x->d, n->device.at, 245, "node '%s': no loaded plugin has '%s' for cpu",
		     n->name.text, c->name);
	hr_help(e, "it is offered for cuda by %s", cuda->plugin->path);
	return NULL;
}

static void
bind_node(const struct hr_binding *x, uint32_t i)
{
	const struct hr_node *n = &x->g->node[i];
	struct hr_bound_node *bn = &x->b->node[i];
	const struct offer *o;
	struct choice c;

	if (!n->op.text) /* reported by validate */
		return;
	c = offers(x, n->op.text);
	if (!c.on[HOP_ON_CPU].op && !c.on[HOP_ON_CUDA].op) {
		if (!may_be_in_failed(x, n->op.text))
			report_unknown(x, n, &c);
		return;
	}
	if (c.second) {
		report_twice(x, n, &c);
		return;
	}
	if (!twins_agree(x, n, &c))
		return;
	o = pick(x, n, &c, bn);
	if (!o)
		return;
	bn->op = o->op;
	bn->plugin = o->plugin;
	bn->device = o->op->device;
}

void
hr_bind_ops(struct hr_binding *x)
{
	report_plugins(x);
	for (uint32_t i = 0; i < x->g->n_nodes; i++)
		bind_node(x, i);
}
