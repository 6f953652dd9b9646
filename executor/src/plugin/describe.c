/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - `ops list` and `ops describe`: the catalog as text or JSON.
 */
#include <string.h>

#include "base/text.h"
#include "plugin/bind.h"
#include "plugin/catalog.h"
#include "plugin/child.h"
#include "plugin/example.h"
#include "plugin/find.h"

static const char *
str(const cJSON *o, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return s ? s : "";
}

static const cJSON *
list_of(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

/* Only the first line of a text, which a table row can hold. */
static int
line_len(const char *s)
{
	return (int)strcspn(s, "\n");
}

/* ---- ops list ---- */

static void
list_plugin(struct hr_text *t, const cJSON *p)
{
	const cJSON *op;

	if (*str(p, "error")) {
		hr_text_add(t, "%s  not loadable: %s\n", str(p, "path"), str(p, "error"));
		for (const char *s = str(p, "cure"); *s; s += line_len(s) + (s[line_len(s)] != 0))
			hr_text_add(t, "    %.*s\n", line_len(s), s);
		return;
	}
	hr_text_add(t, "%s  ok: %s %s, %s\n", str(p, "path"), str(p, "name"), str(p, "version"),
		    str(p, "license"));
	if (*str(p, "device_missing"))
		hr_text_add(t, "    its cuda ops cannot run: %s\n", str(p, "device_missing"));
	cJSON_ArrayForEach(op, list_of(p, "ops"))
	{
		hr_text_add(t, "    %-24s %-4s %.*s\n", str(op, "name"), str(op, "device"),
			    line_len(str(op, "doc")), str(op, "doc"));
	}
}

int
hr_ops_list(struct hr_arena *a, const struct hr_plugin_dirs *dirs, bool json, const char **text,
	    struct hr_diags *d)
{
	cJSON *all = hr_catalog(a, dirs, HR_CHILD_LIMIT_MS);
	const cJSON *p;
	struct hr_text t;

	(void)d;
	if (json) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddItemToObject(o, "plugins", all);
		*text = hr_json_text(a, o, true);
		return 0;
	}
	hr_text_init(&t, a);
	cJSON_ArrayForEach(p, all) list_plugin(&t, p);
	if (!cJSON_GetArraySize(all)) {
		hr_text_puts(&t, "no plugins");
		for (uint32_t i = 0; i < dirs->n; i++)
			hr_text_add(&t, "%s%s", i ? ", " : " in ", dirs->dir[i]);
		hr_text_puts(&t, "\n");
	}
	cJSON_Delete(all);
	*text = t.s;
	return 0;
}

/* ---- ops describe ---- */

static void
add_words(struct hr_text *t, const cJSON *list)
{
	const cJSON *w;

	cJSON_ArrayForEach(w, list) hr_text_add(t, " %s", cJSON_GetStringValue(w));
}

static void
describe_ports(struct hr_text *t, const char *title, const cJSON *ports)
{
	const cJSON *p;

	if (!cJSON_GetArraySize(ports)) {
		hr_text_add(t, "%s: none\n", title);
		return;
	}
	hr_text_add(t, "%s\n", title);
	cJSON_ArrayForEach(p, ports)
	{
		hr_text_add(t, "    %-16s %s", str(p, "name"), str(p, "doc"));
		if (cJSON_GetArraySize(list_of(p, "flags"))) {
			hr_text_puts(t, "; flags:");
			add_words(t, list_of(p, "flags"));
		}
		hr_text_puts(t, "; memory:");
		add_words(t, list_of(p, "memory"));
		hr_text_puts(t, "\n");
	}
}

static void
describe_param(struct hr_text *t, const cJSON *p)
{
	hr_text_add(t, "    %-16s %-9s", str(p, "name"), str(p, "type"));
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(p, "required")))
		hr_text_puts(t, " required");
	else
		hr_text_add(t, " default %s", *str(p, "default") ? str(p, "default") : "(empty)");
	if (*str(p, "min") || *str(p, "max"))
		hr_text_add(t, ", %s to %s", *str(p, "min") ? str(p, "min") : "any",
			    *str(p, "max") ? str(p, "max") : "any");
	if (*str(p, "unit"))
		hr_text_add(t, " %s", str(p, "unit"));
	if (list_of(p, "choices")) {
		hr_text_puts(t, ", one of:");
		add_words(t, list_of(p, "choices"));
	}
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(p, "live")))
		hr_text_puts(t, ", live");
	hr_text_add(t, "\n    %-16s   %s\n", "", str(p, "doc"));
}

static void
describe_rows(struct hr_text *t, const char *title, const cJSON *rows)
{
	const cJSON *r;

	if (!cJSON_GetArraySize(rows))
		return;
	hr_text_add(t, "%s\n", title);
	cJSON_ArrayForEach(r, rows) hr_text_add(t, "    %-16s %s\n", str(r, "name"), str(r, "doc"));
}

static void
describe_op(struct hr_arena *a, struct hr_text *t, const cJSON *plugin, const cJSON *op)
{
	const cJSON *p;

	hr_text_add(t, "%s (%s): %s\n", str(op, "name"), str(op, "device"), str(op, "doc"));
	hr_text_add(t, "plugin: %s %s, %s\n", str(plugin, "name"), str(plugin, "version"),
		    str(plugin, "path"));
	if (!strcmp(str(op, "device"), "cuda") && *str(plugin, "device_missing"))
		hr_text_add(t, "cannot run here: %s\n", str(plugin, "device_missing"));
	if (cJSON_GetArraySize(list_of(op, "flags"))) {
		hr_text_puts(t, "flags:");
		add_words(t, list_of(op, "flags"));
		hr_text_puts(t, "\n");
	}
	describe_ports(t, "inputs", list_of(op, "inputs"));
	describe_ports(t, "outputs", list_of(op, "outputs"));
	if (cJSON_GetArraySize(list_of(op, "params")))
		hr_text_puts(t, "parameters\n");
	cJSON_ArrayForEach(p, list_of(op, "params")) describe_param(t, p);
	describe_rows(t, "counters", list_of(op, "counters"));
	describe_rows(t, "axes", list_of(op, "axes"));
	hr_text_add(t, "example, to paste under 'nodes:'\n%s", hr_op_example(a, op));
}

static bool
is_wanted(struct hr_arena *a, const cJSON *plugin, const cJSON *op, const char *want)
{
	const char *at = strchr(want, '@');
	size_t n = at ? (size_t)(at - want) : strlen(want);

	if (strlen(str(op, "name")) != n || strncmp(str(op, "name"), want, n) != 0)
		return false;
	return !at || hr_plugin_is_called(a, str(plugin, "path"), at + 1);
}

static void
report_unknown(struct hr_arena *a, const cJSON *all, const char *want, struct hr_diags *d)
{
	struct hr_strings names = { 0 };
	struct hr_diag *e = hr_error(d, HR_NOWHERE, 230, "no plugin has the op '%s'", want);
	const cJSON *p, *op;
	struct hr_text lost;

	hr_text_init(&lost, a);
	cJSON_ArrayForEach(p, all)
	{
		if (*str(p, "error"))
			hr_text_add(&lost, "%s%s", lost.len ? ", " : "",
				    hr_plugin_file_name(str(p, "path")));
		cJSON_ArrayForEach(op, list_of(p, "ops"))
			hr_strings_add(a, &names, hr_strdup(a, str(op, "name")));
	}
	hr_suggest(e, want, names.item, names.n);
	if (lost.len)
		hr_help(e, "not loadable here: %s; 'holorun ops list' says why", lost.s);
}

int
hr_ops_describe(struct hr_arena *a, const struct hr_plugin_dirs *dirs, const char *op, bool json,
		const char **text, struct hr_diags *d)
{
	cJSON *all = hr_catalog(a, dirs, HR_CHILD_LIMIT_MS);
	cJSON *found = cJSON_CreateArray();
	const cJSON *p, *o;
	struct hr_text t;
	int n = 0;

	hr_text_init(&t, a);
	cJSON_ArrayForEach(p, all)
	{
		cJSON_ArrayForEach(o, list_of(p, "ops"))
		{
			cJSON *copy;

			if (!is_wanted(a, p, o, op))
				continue;
			hr_text_puts(&t, n++ ? "\n" : "");
			describe_op(a, &t, p, o);
			copy = cJSON_Duplicate(o, true);
			hr_json_add_text(copy, "plugin", str(p, "path"));
			hr_json_add_text(copy, "device_missing", str(p, "device_missing"));
			hr_json_add_text(copy, "example", hr_op_example(a, o));
			cJSON_AddItemToArray(found, copy);
		}
	}
	if (!n)
		report_unknown(a, all, op, d);
	cJSON_Delete(all);
	*text = json ? hr_json_text(a, found, true) : t.s;
	if (!json)
		cJSON_Delete(found);
	return n ? 0 : -1;
}
