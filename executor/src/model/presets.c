// SPDX-License-Identifier: Apache-2.0
/*
 * presets.c - named sets of knobs.
 *
 * The preset asked for becomes a small text that is merged between the file and
 * the overlays, so that it obeys the same rule and the same order as they do.
 * The knobs of all presets are checked, asked for or not.
 */
#include <string.h>

#include "model/internal.h"

static void
report_no_preset(struct hr_build *b, const struct hr_yaml *presets)
{
	uint32_t n = presets && presets->kind == HR_YAML_MAP ? presets->n : 0;
	const char *text = hr_printf(b->arena, "--preset %s", b->opt->preset);
	struct hr_file *f = hr_file_new(b->arena, "command line", ".", text, strlen(text));
	const char **names = HR_ARRAY(b->arena, n + 1u, const char *);
	uint32_t len = (uint32_t)strlen(b->opt->preset);

	f->order = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++)
		names[i] = presets->pair[i].key;
	struct hr_diag *e = hr_error(b->diags,
				     (struct hr_span){ .file = f,
						       .line = 1,
						       .col = (uint32_t)strlen("--preset ") + 1,
						       .len = len ? len : 1 },
				     222, "no preset is called '%s'", b->opt->preset);

	hr_suggest(e, b->opt->preset, names, n);
	if (!n)
		hr_help(e, "this graph has no presets");
}

static struct hr_yaml *
make_map(struct hr_build *b, struct hr_span at, uint32_t n)
{
	struct hr_yaml *map = HR_NEW(b->arena, struct hr_yaml);

	map->kind = HR_YAML_MAP;
	map->at = at;
	map->pair = HR_ARRAY(b->arena, n + 1u, struct hr_yaml_pair);
	return map;
}

static void
put(struct hr_yaml *in, const char *key, struct hr_span at, struct hr_yaml *value)
{
	in->pair[in->n++] = (struct hr_yaml_pair){ key, at, value };
}

/* {knobs: {name: {default: value}}} for the knobs that exist. */
static const struct hr_yaml *
as_overlay(struct hr_build *b, const struct hr_yaml *knobs, const struct hr_yaml *declared)
{
	struct hr_yaml *root = make_map(b, knobs->at, 1);
	struct hr_yaml *map = make_map(b, knobs->at, knobs->n);

	for (uint32_t i = 0; i < knobs->n; i++) {
		const struct hr_yaml_pair *p = &knobs->pair[i];
		const struct hr_yaml *decl = hr_at(declared, p->key);
		struct hr_yaml *one = make_map(b, p->value->at, 1);

		if (!decl || decl->kind != HR_YAML_MAP || p->value->kind != HR_YAML_SCALAR)
			continue; /* reported by hr_presets_check */
		put(one, "default", p->key_at, p->value);
		put(map, p->key, p->key_at, one);
	}
	put(root, "knobs", knobs->at, map);
	return root;
}

static void
refuse_later(struct hr_build *b, const struct hr_yaml *preset)
{
	static const char *const later[] = { "sweep", "bench", "expect", "overlay" };

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		const struct hr_yaml_pair *p = hr_yaml_get(preset, later[i]);

		if (p)
			hr_error(b->diags, p->key_at, 293,
				 "preset '%s': `%s` is not in this version; a preset sets knobs",
				 b->opt->preset, p->key);
	}
}

const struct hr_yaml *
hr_preset_find(struct hr_build *b, const struct hr_yaml *merged)
{
	const struct hr_yaml *presets = hr_at(merged, "presets");

	if (!b->opt->preset)
		return NULL;
	const struct hr_yaml *preset = hr_at(presets, b->opt->preset);

	if (!preset) {
		report_no_preset(b, presets);
		return NULL;
	}
	refuse_later(b, preset);
	const struct hr_yaml *knobs = hr_at(preset, "knobs");

	if (!knobs || knobs->kind != HR_YAML_MAP)
		return NULL;
	b->preset = knobs;
	return as_overlay(b, knobs, hr_at(merged, "knobs"));
}

static void
check_knobs(struct hr_build *b, const struct hr_yaml *knobs)
{
	for (uint32_t i = 0; i < knobs->n; i++) {
		const struct hr_yaml_pair *p = &knobs->pair[i];
		uint32_t k = hr_names_find(&b->knob_names, p->key);
		struct hr_value v;

		if (k == UINT32_MAX) {
			struct hr_diag *e = hr_error(b->diags, p->key_at, 220,
						     "no knob is called '%s'", p->key);

			hr_suggest(e, p->key, b->scope.names, b->scope.n_names);
		} else if (b->knob[k].type != HR_T_TEXT) {
			hr_knob_check(b, &b->knob[k], p->value, false, &v);
		}
	}
}

void
hr_presets_check(struct hr_build *b)
{
	const struct hr_yaml *map = hr_want(b, hr_at(b->root, "presets"), HR_YAML_MAP, "presets",
					    "presets: {small: {knobs: {n: 1}}}");

	for (uint32_t i = 0; map && i < map->n; i++) {
		const struct hr_yaml_pair *p = &map->pair[i];
		const struct hr_yaml *preset =
			hr_want(b, p->value, HR_YAML_MAP, hr_printf(b->arena, "preset %s", p->key),
				"small: {knobs: {n: 1}}");

		hr_want_name(b, "preset", p->key, p->key_at, false);
		if (!preset)
			continue;
		hr_schema_check(preset, HR_L_PRESET, b->diags, NULL, NULL);
		const struct hr_yaml *knobs = hr_want(b, hr_at(preset, "knobs"), HR_YAML_MAP,
						      "knobs of a preset", "knobs: {n: 1}");

		if (knobs)
			check_knobs(b, knobs);
	}
}
