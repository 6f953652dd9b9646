/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example.c - writes a node to paste: each parameter with its default, required
 * ones with a value of their type, each required input with a source to fill in.
 */
#include <string.h>

#include "base/text.h"
#include "plugin/example.h"

static const char *
str(const cJSON *o, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return s ? s : "";
}

static bool
has_flag(const cJSON *o, const char *flag)
{
	const cJSON *f;

	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(o, "flags"))
	{
		if (!strcmp(cJSON_GetStringValue(f), flag))
			return true;
	}
	return false;
}

/* A value for a required parameter. */
static const char *
sample(const cJSON *p)
{
	static const struct {
		const char *type, *value;
	} by_type[] = {
		{ "bool", "false" },    { "int", "1" },
		{ "float", "1.0" },     { "size", "1 KiB" },
		{ "duration", "1 ms" }, { "rate", "1 kHz" },
		{ "path", "FILE" },     { "list of floats", "[1.0]" },
	};

	if (*str(p, "min"))
		return str(p, "min");
	if (!strcmp(str(p, "type"), "choice"))
		return cJSON_GetStringValue(
			cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(p, "choices"), 0));
	for (size_t i = 0; i < sizeof by_type / sizeof by_type[0]; i++)
		if (!strcmp(by_type[i].type, str(p, "type")))
			return by_type[i].value;
	return "TEXT";
}

/* As a YAML scalar: plain if nothing in it has a meaning of its own. */
static const char *
scalar(struct hr_arena *a, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.+/ ";
	struct hr_text t;

	if (*s && *s != ' ' && s[strlen(s) - 1] != ' ' && strspn(s, plain) == strlen(s))
		return s;
	if (*s == '-' && s[1] >= '0' && s[1] <= '9' && strspn(s + 1, plain) == strlen(s + 1))
		return s;
	hr_text_init(&t, a);
	hr_text_puts(&t, "\"");
	for (; *s; s++) {
		if (*s == '$') /* would be a reference */
			hr_text_puts(&t, "$");
		if (*s == '"' || *s == '\\')
			hr_text_puts(&t, "\\");
		hr_text_putn(&t, s, 1);
	}
	hr_text_puts(&t, "\"");
	return t.s;
}

static void
add_param(struct hr_arena *a, struct hr_text *t, const cJSON *p)
{
	const bool required = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(p, "required"));
	const char *value = required ? sample(p) : str(p, "default");
	const char *doc = str(p, "doc");

	if (strcmp(str(p, "type"), "list of floats") != 0)
		value = scalar(a, value);
	else if (*value != '[')
		value = hr_printf(a, "[%s]", value);
	hr_text_add(t, "      %s: %s  # %s%.*s\n", str(p, "name"), value,
		    required ? "required; " : "", (int)strcspn(doc, "\n"), doc);
}

const char *
hr_op_example(struct hr_arena *a, const cJSON *op)
{
	const char *name = strrchr(str(op, "name"), '/');
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(op, "params");
	const cJSON *p;
	struct hr_text t;
	bool any = false;

	hr_text_init(&t, a);
	hr_text_add(&t, "  %s:\n    op: %s\n", name ? name + 1 : "node", str(op, "name"));
	if (!strcmp(str(op, "device"), "cuda"))
		hr_text_puts(&t, "    device: cuda\n");
	if (cJSON_GetArraySize(params))
		hr_text_puts(&t, "    params:\n");
	cJSON_ArrayForEach(p, params) add_param(a, &t, p);
	cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(op, "inputs"))
	{
		if (has_flag(p, "optional"))
			continue;
		hr_text_puts(&t, any ? "" : "    inputs:\n");
		any = true;
		hr_text_add(&t, "      %s: %s  # %.*s\n", str(p, "name"),
			    has_flag(p, "many") ? "[SOURCE.out]" : "SOURCE.out",
			    (int)strcspn(str(p, "doc"), "\n"), str(p, "doc"));
	}
	return t.s;
}
