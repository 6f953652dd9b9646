/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_yaml.c - texts to graph: load, validate, and the messages about it.
 *
 * The input is the graph's text; behind each byte 0x1e follows another part: an
 * overlay, or, if it begins with "-k", a setting "name=value".  Files are looked up in
 * a snapshot, the disk is not touched.
 */
#include <string.h>

#include "fuzz.h"
#include "model/graph.h"

enum { MAX_PARTS = 6 };

struct parts {
	const struct hr_file *file[MAX_PARTS];
	const char *overlay[MAX_PARTS];
	struct hr_setting setting[MAX_PARTS];
	uint32_t n_files, n_settings;
};

static const char *const names[] = {
	"g.yaml", "o1.yaml", "o2.yaml", "o3.yaml", "o4.yaml", "o5.yaml"
};

static void
add_setting(struct parts *p, struct hr_arena *a, const char *text, size_t len)
{
	char *copy = hr_strndup(a, text + 2, len - 2);
	char *equal = strchr(copy, '=');

	if (!equal)
		return;
	*equal = '\0';
	p->setting[p->n_settings++] = (struct hr_setting){ copy, equal + 1 };
}

static void
split(struct parts *p, struct hr_arena *a, const char *text, size_t len)
{
	for (int i = 0; i < MAX_PARTS; i++) {
		const char *end = memchr(text, 0x1e, len);
		size_t part = end ? (size_t)(end - text) : len;

		if (i > 0 && part >= 2 && memcmp(text, "-k", 2) == 0) {
			add_setting(p, a, text, part);
		} else {
			p->file[p->n_files] = hr_file_new(a, names[p->n_files], "/dir", text, part);
			p->n_files++;
		}
		if (!end)
			return;
		text += part + 1;
		len -= part + 1;
	}
}

static const char *
env(const char *name)
{
	return strcmp(name, "SET") ? NULL : "7";
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_load_options opt = { .file = names[0], .env = env };
	struct hr_diags diags;
	struct hr_doc *doc;
	struct parts p = { 0 };

	split(&p, a, size ? (const char *)data : "", size);
	for (uint32_t i = 1; i < p.n_files; i++)
		p.overlay[i - 1] = names[i];
	opt.overlay = p.overlay;
	opt.n_overlays = p.n_files - 1;
	opt.setting = p.setting;
	opt.n_settings = p.n_settings;
	opt.snapshot = p.file;
	opt.n_snapshot = p.n_files;
	hr_diags_init(&diags, a);
	doc = hr_load(a, &opt, &diags);
	if (doc)
		hr_validate(a, doc, &opt, &diags);
	hr_diags_text(&diags, a, true);
	hr_diags_json(&diags, a);
	hr_arena_free(a);
	return 0;
}
