// SPDX-License-Identifier: Apache-2.0
/*
 * load.c - the graph, its overlays and the -k settings become texts and trees.
 *
 * All files are parsed even when one is faulty, so that all their faults are
 * said at once.
 */
#include <string.h>

#include "base/utf8.h"
#include "model/graph.h"

static const struct hr_file *
find_snapshot(const struct hr_load_options *opt, const char *name)
{
	for (uint32_t i = 0; i < opt->n_snapshot; i++)
		if (!strcmp(opt->snapshot[i]->name, name))
			return opt->snapshot[i];
	return NULL;
}

/* A copy of its own: places of one load must not point into another. */
static struct hr_file *
open_file(struct hr_arena *a, const struct hr_load_options *opt, const char *name,
	  struct hr_span wanted_by, struct hr_diags *d)
{
	if (!opt->snapshot)
		return hr_file_read(a, name, wanted_by, d);
	const struct hr_file *f = find_snapshot(opt, name);

	if (f)
		return hr_file_new(a, f->name, f->dir, f->text, f->len);
	hr_error(d, wanted_by, 101, "cannot open '%s': it is not among the texts given", name);
	return NULL;
}

/* An option is a text like any other, so that a message can point into it.  It comes last: what is
 * wrong with the command is said after what is wrong with the files. */
static const struct hr_file *
option_file(struct hr_arena *a, const char *text, uint32_t order)
{
	struct hr_file *f = hr_file_new(a, "command line", ".", text, strlen(text));

	f->order = order;
	return f;
}

/* The name of the i-th file where the command says it. */
static struct hr_span
name_span(struct hr_arena *a, const char *name, uint32_t i, uint32_t order)
{
	const char *flag = i ? "-f " : "";
	uint32_t len = (uint32_t)hr_utf8_count(name, strlen(name));

	return (struct hr_span){ .file = option_file(a, hr_printf(a, "%s%s", flag, name), order),
				 .line = 1,
				 .col = (uint32_t)strlen(flag) + 1,
				 .len = len ? len : 1 };
}

struct hr_doc *
hr_load(struct hr_arena *a, const struct hr_load_options *opt, struct hr_diags *d)
{
	struct hr_doc *doc = HR_NEW(a, struct hr_doc);
	bool whole = true;

	doc->n = 1 + opt->n_overlays;
	doc->file = HR_ARRAY(a, doc->n, const struct hr_file *);
	doc->root = HR_ARRAY(a, doc->n, const struct hr_yaml *);
	for (uint32_t i = 0; i < doc->n; i++) {
		const char *name = i ? opt->overlay[i - 1] : opt->file;
		struct hr_file *f = open_file(a, opt, name, name_span(a, name, i, doc->n + i), d);

		if (f) {
			f->order = i;
			doc->file[i] = f;
			doc->root[i] = hr_yaml_parse(a, f, d);
		}
		whole = whole && doc->root[i];
	}
	doc->option = HR_ARRAY(a, opt->n_settings ? opt->n_settings : 1, const struct hr_file *);
	for (uint32_t i = 0; i < opt->n_settings; i++)
		doc->option[i] = option_file(
			a, hr_printf(a, "-k %s=%s", opt->setting[i].name, opt->setting[i].value),
			2 * doc->n + i);
	return whole ? doc : NULL;
}
