/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - load, bind and shape once in a child, so that a fault there ends the
 * child and not the run.  The child's own findings are thrown away: the parent
 * repeats the same pure steps and reports them.
 */
#include <errno.h>
#include <string.h>

#include "plugin/bind.h"
#include "plugin/child.h"
#include "plugin/find.h"
#include "plugin/probe.h"

struct probe {
	const struct hr_graph *g;
	const struct hr_plugin_dirs *dirs;
};

static void
rehearse(void *arg, struct hr_text *out)
{
	const struct probe *p = arg;
	struct hr_arena *a = hr_arena_new();
	struct hr_diags d;

	(void)out;
	hr_diags_init(&d, a);
	(void)hr_bind(a, p->g, hr_plugins_load(a, p->g, p->dirs), &d);
}

/* Where the graph names what crashed: the node, else the plugin, else the graph. */
static struct hr_span
place(struct hr_arena *a, const struct hr_graph *g, const struct hr_plugin_dirs *dirs,
      const struct hr_stage *s)
{
	for (uint32_t i = 0; i < g->n_nodes && *s->node; i++)
		if (!strcmp(g->node[i].name.text, s->node))
			return g->node[i].op.at;
	for (uint32_t i = 0; i < g->n_plugins; i++) {
		const struct hr_graph_plugin *gp = &g->plugin[i];
		struct hr_found f = hr_plugin_find(a, gp->path.text, gp->dir, dirs);

		if (f.path && !strcmp(f.path, s->plugin))
			return gp->path.at;
	}
	return HR_NOWHERE;
}

static void
report(struct hr_arena *a, const struct probe *p, const struct hr_child_end *end, int limit_ms,
       struct hr_diags *d)
{
	const struct hr_stage *s = &end->stage;
	const char *how = hr_child_how_text(a, end, limit_ms);
	struct hr_diag *e;

	if (!*s->doing) {
		hr_error(d, HR_NOWHERE, 308, "the process that tries the plugins out %s", how);
		return;
	}
	if (*s->op)
		e = hr_error(d, place(a, p->g, p->dirs, s), 308,
			     "node '%s': plugin '%s': op '%s': %s %s", s->node, s->plugin, s->op,
			     s->doing, how);
	else
		e = hr_error(d, place(a, p->g, p->dirs, s), 308, "plugin '%s': %s %s", s->plugin,
			     s->doing, how);
	hr_help(e, "this happened in a process of its own, and is for the plugin's author to "
		   "correct");
}

int
hr_probe_limited(struct hr_arena *a, const struct hr_graph *g, const struct hr_plugin_dirs *dirs,
		 int limit_ms, struct hr_diags *d)
{
	struct probe p = { g, dirs };
	struct hr_child_end end;
	int rc = hr_child_run(a, limit_ms, false, rehearse, &p, &end);

	if (rc) {
		hr_error(d, HR_NOWHERE, 308, "no process could be started to try the plugins: %s",
			 strerrordesc_np(-rc));
		return -1;
	}
	if (end.how == HR_CHILD_CLEAN)
		return 0;
	report(a, &p, &end, limit_ms, d);
	return -1;
}

int
hr_probe(struct hr_arena *a, const struct hr_graph *g, const struct hr_plugin_dirs *dirs,
	 struct hr_diags *d)
{
	return hr_probe_limited(a, g, dirs, HR_CHILD_LIMIT_MS, d);
}
