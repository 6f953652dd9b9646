/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.c - see support.h.
 */
#include "support.h"

#include <string.h>

#include "base/text.h"

void
rig_init(struct rig *r)
{
	static const char *const dirs[] = { TEST_PLUGINS };

	*r = (struct rig){ .a = hr_arena_new(), .dir = TEST_PLUGINS, .dirs = { dirs, 1 } };
	hr_diags_init(&r->d, r->a);
}

void
rig_fini(struct rig *r)
{
	hr_arena_free(r->a);
}

void
rig_graph(struct rig *r, const char *yaml)
{
	const char *text = hr_printf(r->a, "holorun: 1\n%s", yaml);
	const struct hr_file *file = hr_file_new(r->a, "g.yaml", "/folder", text, strlen(text));
	const struct hr_load_options opt = { .file = "g.yaml", .snapshot = &file, .n_snapshot = 1 };
	const struct hr_doc *doc = hr_load(r->a, &opt, &r->d);

	if (!doc)
		fail_msg("the test's graph is no YAML:\n%s", rig_text(r));
	r->g = hr_validate(r->a, doc, &opt, &r->d);
	assert_non_null(r->g);
}

void
rig_bind(struct rig *r, const char *yaml)
{
	rig_graph(r, yaml);
	r->p = hr_plugins_load(r->a, r->g, &r->dirs);
	r->b = hr_bind(r->a, r->g, r->p, &r->d);
}

void
rig_bind_ops(struct rig *r, const char *yaml, const struct hop_op *const *ops, uint32_t n)
{
	struct hop_plugin *table = HR_NEW(r->a, struct hop_plugin);
	const char *why;

	*table = (struct hop_plugin){ .size = sizeof *table,
				      .abi_major = HOP_ABI_MAJOR,
				      .abi_minor = HOP_ABI_MINOR,
				      .name = "mem",
				      .version = "1",
				      .license = "Apache-2.0",
				      .ops = ops,
				      .n_ops = n,
				      .abi_draft = HOP_ABI_DRAFT };
	why = hr_plugin_verify(r->a, table);
	if (why)
		fail_msg("the test's ops: %s", why);
	rig_graph(r, yaml);
	r->p = HR_NEW(r->a, struct hr_plugins);
	r->p->at = HR_NEW(r->a, struct hr_plugin);
	r->p->n = 1;
	r->p->at[0] = (struct hr_plugin){
		.shown = "mem", .path = "/mem/libmem.so", .table = table, .build_id = ""
	};
	r->b = hr_bind(r->a, r->g, r->p, &r->d);
}

const char *
rig_text(struct rig *r)
{
	return hr_diags_text(&r->d, r->a, false);
}

void
rig_says(struct rig *r, const char *part)
{
	if (!strstr(rig_text(r), part))
		fail_msg("wanted '%s' in:\n%s", part, rig_text(r));
}

static bool
underlines(const struct hr_span *at, const char *token)
{
	const char *s = at->file ? at->file->text : "";

	for (uint32_t line = 1; line < at->line; line++)
		s = strchr(s, '\n') + 1;
	return at->line && at->len == strlen(token) && !strncmp(s + at->col - 1, token, at->len);
}

void
rig_error_at(struct rig *r, uint32_t code, const char *token)
{
	const struct hr_diag *e = r->d.first;

	while (e && (e->severity != HR_ERROR || e->code != code))
		e = e->next;
	if (r->d.n_errors != 1 || !e)
		fail_msg("wanted one error E%u, found %u errors:\n%s", code, r->d.n_errors,
			 rig_text(r));
	if (!underlines(&e->at, token))
		fail_msg("wanted '%s' underlined:\n%s", token, rig_text(r));
}

const struct hr_bound_node *
rig_node(struct rig *r, const char *name)
{
	uint32_t i = hr_graph_find_node(r->g, name);

	assert_int_not_equal(i, UINT32_MAX);
	return &r->b->node[i];
}

static hop_status
idle(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state, (void)ctx, (void)io;
	return HOP_IDLE;
}

void
mem_plugin_init(struct mem_plugin *m)
{
	*m = (struct mem_plugin){
		.port = { { "in", "anything", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
			  { "out", "the same", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 } },
		.param = { HOP_PARAM(REAL, 0, struct op_params, gain, "1.5", "-10", "10", "a gain"),
			   HOP_PARAM(INT, HOP_PARAM_LIVE, struct op_params, n, "5", "1", "10",
				     "a number") },
		.counter = { { "bad", "what was bad", HOP_LOG_WARN, 0 } },
		.axis = { { "row", "along rows", 0, 0, 0, 0, 0, 0, 0, 0 } },
		.after = { { { -1, 0, 0, 0 } } },
	};
	m->op = (struct hop_op){
		.size = sizeof m->op,
		.name = "test/op",
		.doc = "An op to change.",
		.ports = { m->port, 2, sizeof m->port[0] },
		.params = { m->param, 2, sizeof m->param[0] },
		.counters = { m->counter, 1, sizeof m->counter[0] },
		.axes = { m->axis, 1, sizeof m->axis[0] },
		.afters = { m->after, 1, sizeof m->after[0] },
		.params_size = sizeof(struct op_params),
		.process = idle,
	};
	m->list[0] = &m->op;
	m->plugin = (struct hop_plugin){
		.size = sizeof m->plugin,
		.abi_major = HOP_ABI_MAJOR,
		.abi_minor = HOP_ABI_MINOR,
		.name = "mem",
		.version = "1",
		.license = "Apache-2.0",
		.ops = m->list,
		.n_ops = 1,
		.abi_draft = HOP_ABI_DRAFT,
	};
}
