/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c - which op of which plugin a node means.
 *
 * One op may be offered for two devices (twins, which must agree); the same op
 * for the same device twice must be told apart with '@'.
 */
#include <string.h>

#include "plugin/find.h"
#include "plugin/offers.h"
#include "plugin/twins.h"

static void
report_unknown(const struct hr_binding *x, const struct hr_node *n, const struct hr_offers *c)
{
	struct hr_strings libs = { 0 };
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
	if (x->d->n_errors > HR_DIAGS_KEPT) /* not shown, and similarity costs */
		return;
	if (!x->g->n_plugins)
		hr_help(e, "the graph names no plugin; add `plugins: [{path: std}]`, or whichever "
			   "has it (`holorun ops list`)");
	hr_suggest(e, c->name, x->op_names.item, x->op_names.n);
	hr_failed_hint(x, e);
}

static void
report_twice(const struct hr_binding *x, const struct hr_node *n, const struct hr_offers *c)
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
twins_agree(const struct hr_binding *x, const struct hr_node *n, const struct hr_offers *c)
{
	const struct hr_offer *cpu = &c->on[HOP_ON_CPU], *cuda = &c->on[HOP_ON_CUDA];
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

static void
report_no_cuda(const struct hr_binding *x, const struct hr_node *n, const struct hr_offers *c,
	       struct hr_span at)
{
	const struct hr_plugin *p = c->on[HOP_ON_CUDA].plugin;
	struct hr_diag *e;

	if (!p)
		p = hr_failed_for_device(x);
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
	hr_failed_hint(x, e);
}

/* device: auto.  CUDA where it can run, else the CPU, and a word about it. */
static const struct hr_offer *
pick_auto(const struct hr_binding *x, const struct hr_node *n, const struct hr_offers *c,
	  struct hr_bound_node *bn)
{
	const struct hr_offer *cuda = &c->on[HOP_ON_CUDA];
	const struct hr_plugin *lost = cuda->plugin;
	struct hr_span at = n->device.at.line ? n->device.at : n->op.at;

	if (cuda->op && !cuda->plugin->no_device)
		return cuda;
	if (!c->on[HOP_ON_CPU].op) {
		report_no_cuda(x, n, c, at);
		return NULL;
	}
	if (!lost && n->device.at.line)
		lost = hr_failed_for_device(x);
	if (lost) {
		bn->fallback = true;
		hr_warning(x->d, at, 421, "node '%s': '%s' runs on the cpu: %s", n->name.text,
			   c->name, lost->no_device);
	}
	return &c->on[HOP_ON_CPU];
}

static const struct hr_offer *
pick(const struct hr_binding *x, const struct hr_node *n, const struct hr_offers *c,
     struct hr_bound_node *bn)
{
	static const char *const devices[] = { "cpu", "cuda", "auto" };
	const char *want = n->device.text ? n->device.text : "auto";
	const struct hr_offer *cuda = &c->on[HOP_ON_CUDA];
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

/* What the ABI describes and this version does not do. */
static bool
is_supported(const struct hr_binding *x, const struct hr_node *n, const struct hop_op *op)
{
	struct hr_diag *e;

	if (op->axes.count) {
		e = hr_error(x->d, n->op.at, 291,
			     "node '%s': %s is called in tiles, which is not in this version",
			     n->name.text, op->name);
		hr_help(e, "its axis '%s': %s", op->axes.at[0].name, op->axes.at[0].doc);
		return false;
	}
	for (uint32_t i = 0; i < op->ports.count; i++) {
		const struct hop_port *p = &op->ports.at[i];

		if (p->mem & HOP_MEM_HOST)
			continue;
		hr_error(x->d, n->op.at, 291,
			 "node '%s': '%s' of %s takes no host memory; device memory is not in this "
			 "version",
			 n->name.text, p->name, op->name);
		return false;
	}
	return true;
}

static void
bind_node(const struct hr_binding *x, uint32_t i)
{
	const struct hr_node *n = &x->g->node[i];
	struct hr_bound_node *bn = &x->b->node[i];
	const struct hr_offer *o;
	struct hr_offers c;

	if (!n->op.text) /* reported by validate */
		return;
	c = hr_offers_of(x, n->op.text);
	if (hr_offers_none(&c)) {
		if (!x->missing_known[i])
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
	if (!o || !is_supported(x, n, o->op))
		return;
	bn->op = o->op;
	bn->plugin = o->plugin;
	bn->device = o->op->device;
}

void
hr_bind_ops(struct hr_binding *x)
{
	x->op_names = hr_offers_names(x->a, x->plugins);
	x->missing_known = HR_ARRAY(x->a, x->g->n_nodes + 1, bool);
	hr_failed_report(x);
	for (uint32_t i = 0; i < x->g->n_nodes; i++)
		bind_node(x, i);
}
