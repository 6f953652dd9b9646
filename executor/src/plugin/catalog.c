/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.c - see catalog.h.  The child loads one file and sends its tables as
 * JSON text; nothing of a plugin is ever mapped in this process.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "plugin/catalog.h"
#include "plugin/child.h"
#include "plugin/find.h"
#include "plugin/load.h"
#include "plugin/param.h"

/* ---- in the child: tables to JSON ---- */

static void
add_text(cJSON *o, const char *key, const char *s)
{
	if (s)
		hr_json_add_text(o, key, s);
}

static void
add_flags(cJSON *o, const char *key, uint32_t flags, const char *const *names)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);

	for (uint32_t i = 0; names[i]; i++)
		if (flags & (1u << i))
			cJSON_AddItemToArray(list, cJSON_CreateString(names[i]));
}

static void
add_port(cJSON *list, const struct hop_port *p)
{
	static const char *const flags[] = { "optional", "any", "many", "gaps", NULL };
	static const char *const memory[] = { "host", "pinned", "cuda", NULL };
	cJSON *o = cJSON_CreateObject();

	cJSON_AddItemToArray(list, o);
	add_text(o, "name", p->name);
	add_text(o, "doc", p->doc);
	add_flags(o, "flags", p->flags, flags);
	add_flags(o, "memory", p->mem, memory);
	hr_json_add_int(o, "min_batch", p->min_batch ? p->min_batch : 1);
	hr_json_add_int(o, "max_batch", p->max_batch);
	hr_json_add_int(o, "keeps", p->keeps);
}

static void
add_param(cJSON *list, const struct hop_param *p)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *choices;

	cJSON_AddItemToArray(list, o);
	add_text(o, "name", p->name);
	add_text(o, "doc", p->doc);
	add_text(o, "type", hr_param_type[p->type].name);
	add_text(o, "unit", p->unit);
	add_text(o, "default", p->def);
	add_text(o, "min", p->min);
	add_text(o, "max", p->max);
	cJSON_AddBoolToObject(o, "required", !p->def);
	cJSON_AddBoolToObject(o, "live", (p->flags & HOP_PARAM_LIVE) != 0);
	if (!p->choices)
		return;
	choices = cJSON_AddArrayToObject(o, "choices");
	for (uint32_t i = 0; i < hr_param_n_choices(p); i++)
		cJSON_AddItemToArray(choices, cJSON_CreateString(p->choices[i]));
}

static void
add_op(cJSON *list, const struct hop_op *op)
{
	static const char *const flags[] = { "blocks", "parallel", "stateless", "maps",
					     "live",   "fd",       "closes",    NULL };
	cJSON *o = cJSON_CreateObject();
	cJSON *in, *out, *params, *counters, *axes;

	cJSON_AddItemToArray(list, o);
	add_text(o, "name", op->name);
	add_text(o, "doc", op->doc);
	add_text(o, "device", op->device == HOP_ON_CUDA ? "cuda" : "cpu");
	add_flags(o, "flags", op->flags, flags);
	in = cJSON_AddArrayToObject(o, "inputs");
	out = cJSON_AddArrayToObject(o, "outputs");
	for (uint32_t i = 0; i < op->ports.count; i++)
		add_port(op->ports.at[i].dir == HOP_IN ? in : out, &op->ports.at[i]);
	params = cJSON_AddArrayToObject(o, "params");
	for (uint32_t i = 0; i < op->params.count; i++)
		add_param(params, &op->params.at[i]);
	counters = cJSON_AddArrayToObject(o, "counters");
	for (uint32_t i = 0; i < op->counters.count; i++) {
		cJSON *c = cJSON_CreateObject();

		cJSON_AddItemToArray(counters, c);
		add_text(c, "name", op->counters.at[i].name);
		add_text(c, "doc", op->counters.at[i].doc);
	}
	axes = cJSON_AddArrayToObject(o, "axes");
	for (uint32_t i = 0; i < op->axes.count; i++) {
		cJSON *x = cJSON_CreateObject();

		cJSON_AddItemToArray(axes, x);
		add_text(x, "name", op->axes.at[i].name);
		add_text(x, "doc", op->axes.at[i].doc);
	}
}

static cJSON *
plugin_json(const struct hr_plugin *p)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *ops;

	add_text(o, "path", p->path);
	add_text(o, "state", p->table ? "ok" : "not loadable");
	add_text(o, "error", p->error);
	add_text(o, "cure", p->cure);
	add_text(o, "device_missing", p->no_device);
	add_text(o, "build_id", p->build_id);
	ops = cJSON_CreateArray();
	if (p->table) {
		add_text(o, "name", p->table->name);
		add_text(o, "version", p->table->version);
		add_text(o, "license", p->table->license);
		for (uint32_t i = 0; i < p->table->n_ops; i++)
			add_op(ops, p->table->ops[i]);
	}
	cJSON_AddItemToObject(o, "ops", ops);
	return o;
}

static void
describe_file(void *arg, struct hr_text *out)
{
	const char *const *path = arg;
	struct hr_plugin p = { .shown = *path };

	hr_plugin_load_file(out->arena, *path, &p);
	hr_text_puts(out, hr_json_text(out->arena, plugin_json(&p), false));
}

/* ---- in the parent ---- */

static cJSON *
lost_plugin(const char *path, const char *error)
{
	const struct hr_plugin p = { .path = path, .error = error, .build_id = "" };

	return plugin_json(&p);
}

static cJSON *
try_file(struct hr_arena *a, const char *path, int limit_ms)
{
	struct hr_child_end end;
	cJSON *o = NULL;
	int rc;

	if (limit_ms <= 0)
		return lost_plugin(path, "the time for its folder was over before it was tried");
	rc = hr_child_run(a, limit_ms, true, describe_file, &path, &end);
	if (rc)
		return lost_plugin(path, hr_printf(a, "no process could be started to try it: %s",
						   strerrordesc_np(-rc)));
	if (end.how == HR_CHILD_CLEAN)
		o = cJSON_Parse(end.text);
	if (o)
		return o;
	return lost_plugin(path,
			   hr_printf(a, "%s %s", *end.stage.doing ? end.stage.doing : "trying it",
				     hr_child_how_text(a, &end, limit_ms)));
}

/* What is left of the folder's time, but never all of it: one that hangs must not hide the rest. */
static int
time_for(uint64_t until, int limit_ms)
{
	const uint64_t now = hr_mono_ns();
	const int left = now < until ? (int)((until - now) / 1000000) : 0;

	return left < limit_ms / 4 ? left : limit_ms / 4;
}

cJSON *
hr_catalog(struct hr_arena *a, const struct hr_plugin_dirs *dirs, int limit_ms)
{
	cJSON *list = cJSON_CreateArray();
	struct hr_strings seen = { 0 };

	for (uint32_t i = 0; i < dirs->n; i++) {
		const struct hr_strings files = hr_plugin_files(a, dirs->dir[i]);
		const uint64_t until = hr_mono_ns() + (uint64_t)limit_ms * 1000000;

		for (size_t k = 0; k < files.n; k++) {
			const char *path = hr_real_path(a, files.item[k]);

			if (!path || hr_strings_has(&seen, path))
				continue;
			hr_strings_add(a, &seen, path);
			cJSON_AddItemToArray(list, try_file(a, path, time_for(until, limit_ms)));
		}
	}
	return list;
}
