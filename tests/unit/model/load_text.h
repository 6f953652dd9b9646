/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_text.h - graphs from texts in memory, for the tests of this folder.
 */
#ifndef LOAD_TEXT_H
#define LOAD_TEXT_H

#include <stdio.h>
#include <string.h>

#include "model/graph.h"

struct loaded {
	struct hr_arena *arena;
	struct hr_diags diags;
	struct hr_load_options opt;
	const char *overlay[4];
	const struct hr_file *snapshot[5];
	struct hr_graph *g;
};

static inline const char *
no_env(const char *name)
{
	return strcmp(name, "SET") ? NULL : "7";
}

/* texts: the graph, then overlays; named g.yaml, o1.yaml, ... */
static inline void
load_n(struct loaded *l, const char *const *text, const size_t *len, uint32_t n)
{
	static const char *const NAMES[] = { "g.yaml", "o1.yaml", "o2.yaml", "o3.yaml", "o4.yaml" };

	l->arena = hr_arena_new();
	hr_diags_init(&l->diags, l->arena);
	for (uint32_t i = 0; i < n; i++) {
		l->snapshot[i] = hr_file_new(l->arena, NAMES[i], "/dir", text[i], len[i]);
		if (i)
			l->overlay[i - 1] = NAMES[i];
	}
	l->opt.file = NAMES[0];
	l->opt.overlay = l->overlay;
	l->opt.n_overlays = n - 1;
	l->opt.snapshot = l->snapshot;
	l->opt.n_snapshot = n;
	l->opt.env = no_env;
	struct hr_doc *doc = hr_load(l->arena, &l->opt, &l->diags);

	l->g = doc ? hr_validate(l->arena, doc, &l->opt, &l->diags) : NULL;
}

static inline void
load_texts(struct loaded *l, const char *const *text, uint32_t n)
{
	size_t len[5];

	for (uint32_t i = 0; i < n; i++)
		len[i] = strlen(text[i]);
	load_n(l, text, len, n);
}

static inline void
unload(struct loaded *l)
{
	hr_arena_free(l->arena);
}

/* The faults as users see them. */
static inline const char *
faults(struct loaded *l)
{
	return hr_diags_text(&l->diags, l->arena, false);
}

#endif
