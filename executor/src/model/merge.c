// SPDX-License-Identifier: Apache-2.0
/*
 * merge.c - overlays and presets onto a graph.
 *
 * Two places know more than the rule: `nodes` (a new node needs `op`, so that a
 * misspelt one cannot be confused with it) and an input in its short form, which
 * is a map with `from` and merges as one.
 */
#include "model/merge.h"

#include <string.h>

#include "base/names.h"

/* Where in the tree a map is; only what merging must know. */
enum where { ROOT, NODES, NODE, INPUTS, ELSEWHERE };

struct merge {
	struct hr_arena *arena;
	struct hr_diags *diags;
};

static enum where
below(enum where w, const char *key)
{
	if (w == ROOT && !strcmp(key, "nodes"))
		return NODES;
	if (w == NODES)
		return NODE;
	if (w == NODE && !strcmp(key, "inputs"))
		return INPUTS;
	return ELSEWHERE;
}

static bool
has_tag(const struct hr_yaml *y, const char *tag)
{
	return y->tag && !strcmp(y->tag, tag);
}

static void
suggest_keys(struct hr_diag *e, const char *got, const struct hr_yaml *map, struct hr_arena *a)
{
	const char **names = HR_ARRAY(a, map->n ? map->n : 1, const char *);

	for (uint32_t i = 0; i < map->n; i++)
		names[i] = map->pair[i].key;
	hr_suggest(e, got, names, map->n);
}

static void
report_nothing_to_remove(struct merge *m, const struct hr_yaml *base, const struct hr_yaml_pair *p)
{
	struct hr_diag *e = hr_error(m->diags, p->key_at, 224,
				     "nothing to remove: there is no '%s' here", p->key);

	if (base)
		suggest_keys(e, p->key, base, m->arena);
}

/* What comes in whole has nothing that it could remove. */
static struct hr_yaml *
take_new(struct merge *m, struct hr_yaml *y)
{
	for (uint32_t i = 0; i < y->n && y->kind == HR_YAML_MAP; i++) {
		if (has_tag(y->pair[i].value, "!remove"))
			report_nothing_to_remove(m, NULL, &y->pair[i]);
		else
			take_new(m, y->pair[i].value);
	}
	for (uint32_t i = 0; i < y->n && y->kind == HR_YAML_LIST; i++)
		if (has_tag(y->item[i], "!remove"))
			hr_error(m->diags, y->item[i]->at, 229,
				 "!remove deletes a key, not an item of a list");
	return y;
}

/* `in: src.out` is `in: {from: src.out}`. */
static struct hr_yaml *
long_form(struct merge *m, struct hr_yaml *input)
{
	struct hr_yaml *map = HR_NEW(m->arena, struct hr_yaml);

	map->kind = HR_YAML_MAP;
	map->at = input->at;
	map->n = 1;
	map->pair = HR_NEW(m->arena, struct hr_yaml_pair);
	*map->pair = (struct hr_yaml_pair){ "from", input->at, input };
	return map;
}

static struct hr_yaml *merge_maps(struct merge *m, const struct hr_yaml *base,
				  const struct hr_yaml *over, enum where w);

static struct hr_yaml *
merge_values(struct merge *m, struct hr_yaml *base, struct hr_yaml *over, enum where map,
	     enum where w)
{
	if (map == INPUTS && over->kind == HR_YAML_MAP && base->kind != HR_YAML_MAP)
		base = long_form(m, base);
	if (base->kind != HR_YAML_MAP || over->kind != HR_YAML_MAP || has_tag(over, "!replace"))
		return take_new(m, over);
	return merge_maps(m, base, over, w);
}

/* False: the key is not taken over. */
static bool
check_new_key(struct merge *m, const struct hr_yaml *base, const struct hr_yaml_pair *p,
	      enum where w)
{
	if (has_tag(p->value, "!remove")) {
		report_nothing_to_remove(m, base, p);
		return false;
	}
	if (w != NODES || hr_yaml_get(p->value, "op"))
		return true;
	struct hr_diag *e = hr_error(m->diags, p->key_at, 223,
				     "overlay touches a node that does not exist: '%s'", p->key);

	suggest_keys(e, p->key, base, m->arena);
	hr_help(e, "a new node needs `op`");
	return false;
}

static struct hr_yaml *
merge_maps(struct merge *m, const struct hr_yaml *base, const struct hr_yaml *over, enum where w)
{
	struct hr_yaml *out = HR_NEW(m->arena, struct hr_yaml);
	struct hr_names index = { 0 };
	uint32_t n = 0;

	*out = *base;
	out->pair = HR_ARRAY(m->arena, (size_t)base->n + over->n + 1, struct hr_yaml_pair);
	for (uint32_t i = 0; i < base->n; i++) {
		out->pair[i] = base->pair[i];
		hr_names_put(m->arena, &index, base->pair[i].key, i);
	}
	out->n = base->n;
	out->is_partial |= over->is_partial;
	for (uint32_t i = 0; i < over->n; i++) {
		const struct hr_yaml_pair *p = &over->pair[i];
		uint32_t at = hr_names_find(&index, p->key);

		if (at == UINT32_MAX) {
			if (check_new_key(m, base, p, w))
				out->pair[out->n++] =
					(struct hr_yaml_pair){ p->key, p->key_at,
							       take_new(m, p->value) };
			continue;
		}
		struct hr_yaml_pair *old = &out->pair[at];

		if (has_tag(p->value, "!remove")) {
			old->value = NULL;
			continue;
		}
		struct hr_yaml *merged = merge_values(m, old->value, p->value, w, below(w, p->key));

		/* A replaced value stands in the overlay; a merged map where it began. */
		if (merged->kind != HR_YAML_MAP || has_tag(p->value, "!replace"))
			old->key_at = p->key_at;
		old->value = merged;
	}
	for (uint32_t i = 0; i < out->n; i++)
		if (out->pair[i].value)
			out->pair[n++] = out->pair[i];
	out->n = n;
	return out;
}

struct hr_yaml *
hr_merge(struct hr_arena *a, const struct hr_yaml *base, const struct hr_yaml *over,
	 struct hr_diags *d)
{
	struct merge m = { a, d };

	return merge_maps(&m, base, over, ROOT);
}

void
hr_merge_refuse_tags(const struct hr_yaml *y, struct hr_diags *d)
{
	if (y->tag)
		hr_error(d, y->at, 229, "%s works in overlays and presets only", y->tag);
	for (uint32_t i = 0; i < y->n; i++)
		hr_merge_refuse_tags(y->kind == HR_YAML_MAP ? y->pair[i].value : y->item[i], d);
}
