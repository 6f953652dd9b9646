// SPDX-License-Identifier: Apache-2.0
/*
 * validate.c - trees to graph: merge, then one part after the other.
 *
 * Every part goes on after a fault, so that all faults of a graph are said at
 * once; what a fault spoils is marked so that nobody complains twice.
 */
#include <string.h>

#include "model/internal.h"
#include "model/merge.h"

static const int64_t second_ns = 1000000000;

static bool
check_is_map(struct hr_build *b, const struct hr_yaml *root)
{
	if (root->kind == HR_YAML_MAP)
		return true;
	struct hr_diag *e =
		hr_error(b->diags, root->at, 205, "a graph is a map of keys, but the file holds %s",
			 root->kind == HR_YAML_LIST ? "a list" : "only a text");

	hr_help(e, "a graph starts with the line 'holorun: 1'");
	return false;
}

static void
check_version(struct hr_build *b, const struct hr_yaml *root, bool is_overlay)
{
	const struct hr_yaml *y = hr_at(root, "holorun");
	struct hr_span top = { .file = root->at.file, .line = 1, .col = 1 };
	struct hr_value v;
	const char *why;

	if (!y && !is_overlay && !hr_schema_is_misspelt(root, HR_L_TOP, "holorun")) {
		struct hr_diag *e =
			hr_error(b->diags, top, 201, "the file does not say its language version");

		hr_help(e, "add the line `holorun: 1`");
	}
	y = hr_want(b, y, HR_YAML_SCALAR, "holorun", "holorun: 1");
	if (!y)
		return;
	struct hr_value text = { .type = HR_T_TEXT, .text = y->text };

	if (hr_value_convert(b->arena, &text, HR_T_INT, &v, &why))
		hr_error(b->diags, y->at, 202,
			 "'%s' is no language version; this holorun understands 1", y->text);
	else if (v.i != 1)
		hr_error(b->diags, y->at, 202,
			 "this file needs language version %s; this holorun understands 1", v.text);
}

/* File, preset, overlays left to right. */
static const struct hr_yaml *
merge_all(struct hr_build *b, const struct hr_yaml *preset, struct hr_diags *d)
{
	const struct hr_yaml *root = b->doc->root[0];

	if (preset)
		root = hr_merge(b->arena, root, preset, d);
	for (uint32_t i = 1; i < b->doc->n; i++)
		if (b->doc->root[i]->kind == HR_YAML_MAP)
			root = hr_merge(b->arena, root, b->doc->root[i], d);
	return root;
}

static bool
merge_texts(struct hr_build *b)
{
	struct hr_diags ignored; /* the same merge is done again with the preset in its place */

	for (uint32_t i = 0; i < b->doc->n; i++) {
		if (!check_is_map(b, b->doc->root[i])) {
			if (!i)
				return false;
			continue;
		}
		check_version(b, b->doc->root[i], i > 0);
	}
	hr_merge_refuse_tags(b->doc->root[0], b->diags);
	hr_diags_init(&ignored, b->arena);
	b->root = merge_all(b, hr_preset_find(b, merge_all(b, NULL, &ignored)), b->diags);
	return true;
}

static const char *
take_text(struct hr_build *b, const char *key)
{
	const struct hr_yaml *y = hr_want(b, hr_at(b->root, key), HR_YAML_SCALAR, key, NULL);

	return y ? y->text : NULL;
}

static void
take_plugin(struct hr_build *b, const struct hr_yaml *y, struct hr_graph_plugin *out)
{
	const struct hr_yaml *map = hr_want(b, y, HR_YAML_MAP, "plugin", "- path: ./libname.so");
	const struct hr_yaml *path = hr_at(map, "path");
	struct hr_value v;

	if (!map)
		return;
	hr_schema_check(map, HR_L_PLUGIN, b->diags, NULL, NULL);
	if (!path && !hr_schema_is_misspelt(map, HR_L_PLUGIN, "path"))
		hr_error(b->diags, map->at, 206, "a plugin needs a `path`");
	if (path && hr_resolve_as(b, path, HR_T_STRING, "path", &v)) {
		if (!v.text[0])
			hr_error(b->diags, path->at, 206, "a plugin needs a `path`");
		out->path = (struct hr_name){ v.text, v.at };
		out->dir = path->at.file ? path->at.file->dir : ".";
	}
	if ((y = hr_at(map, "optional")) && hr_resolve_as(b, y, HR_T_BOOL, "optional", &v))
		out->optional = v.i;
}

static void
build_plugins(struct hr_build *b)
{
	const struct hr_yaml *list = hr_want(b, hr_at(b->root, "plugins"), HR_YAML_LIST, "plugins",
					     "plugins: [{path: ./libname.so}]");
	uint32_t n = list ? list->n : 0, kept = 0;
	struct hr_graph_plugin *plugin = HR_ARRAY(b->arena, n + 1u, struct hr_graph_plugin);

	for (uint32_t i = 0; i < n; i++) {
		take_plugin(b, list->item[i], &plugin[kept]);
		if (plugin[kept].path.text && plugin[kept].path.text[0])
			kept++;
		else
			plugin[kept] = (struct hr_graph_plugin){ 0 };
	}
	b->graph->plugin = plugin;
	b->graph->n_plugins = kept;
}

static void
take_time(struct hr_build *b, const struct hr_yaml *map, const char *key, int64_t *out)
{
	const struct hr_yaml *y = hr_at(map, key);
	struct hr_value v;

	if (!y || !hr_resolve_as(b, y, HR_T_DURATION, key, &v))
		return;
	if (v.i <= 0)
		hr_error_value(b, &v, 209, "%s: must be longer than 0", key);
	else
		*out = v.i;
}

static void
build_defaults(struct hr_build *b)
{
	const struct hr_yaml *map = hr_want(b, hr_at(b->root, "defaults"), HR_YAML_MAP, "defaults",
					    "defaults: {stop_grace: 3s}");
	const struct hr_yaml *channel, *y;

	b->graph->stall_timeout_ns = 10 * second_ns;
	b->graph->stop_grace_ns = 3 * second_ns;
	if (!map)
		return;
	hr_schema_check(map, HR_L_DEFAULTS, b->diags, NULL, NULL);
	take_time(b, map, "stall_timeout", &b->graph->stall_timeout_ns);
	take_time(b, map, "stop_grace", &b->graph->stop_grace_ns);
	channel = hr_want(b, hr_at(map, "channel"), HR_YAML_MAP, "channel", "channel: {depth: 8}");
	if (!channel)
		return;
	hr_schema_check(channel, HR_L_CHANNEL, b->diags, NULL, NULL);
	if ((y = hr_at(channel, "depth")) && hr_take_depth(b, y, &b->default_depth))
		b->default_depth_at = y->at;
	if ((y = hr_at(channel, "when_full")))
		hr_take_when_full(b, y, &b->default_when_full);
}

struct hr_graph *
hr_validate(struct hr_arena *a, const struct hr_doc *doc, const struct hr_load_options *opt,
	    struct hr_diags *d)
{
	struct hr_build *b = HR_NEW(a, struct hr_build);

	b->arena = a;
	b->diags = d;
	b->doc = doc;
	b->opt = opt;
	b->graph = HR_NEW(a, struct hr_graph);
	b->graph->file = doc->file[0];
	b->graph->preset = opt->preset;
	if (!merge_texts(b))
		return NULL;
	hr_schema_check(b->root, HR_L_TOP, d, NULL, NULL);
	b->graph->name = take_text(b, "name");
	b->graph->about = take_text(b, "about");
	hr_build_knobs(b);
	build_plugins(b);
	build_defaults(b);
	hr_build_nodes(b);
	hr_build_endpoints(b);
	hr_link_edges(b);
	hr_settle_endpoints(b);
	hr_check_cycles(b);
	hr_build_partitions(b);
	hr_presets_check(b);
	return b->graph;
}
