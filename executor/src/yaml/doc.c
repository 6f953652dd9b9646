// SPDX-License-Identifier: Apache-2.0
/*
 * doc.c - files as texts with a name, and small questions about trees.
 *
 * A file is read whole, with a limit; its folder is remembered so that paths
 * inside it can start there.
 */
#include "yaml/doc.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

static struct hr_file *
wrap(struct hr_arena *a, const char *name, const char *dir, const char *text, size_t len)
{
	struct hr_file *f = HR_NEW(a, struct hr_file);

	f->name = hr_strdup(a, name);
	f->dir = hr_strdup(a, dir);
	f->text = text;
	f->len = len;
	f->paths = HR_NEW(a, struct hr_paths);
	return f;
}

struct hr_file *
hr_file_new(struct hr_arena *a, const char *name, const char *dir, const char *text, size_t len)
{
	return wrap(a, name, dir, hr_strndup(a, text, len), len);
}

struct hr_file *
hr_file_read(struct hr_arena *a, const char *path, struct hr_span wanted_by, struct hr_diags *d)
{
	struct hr_error err = { 0 };
	char *text;
	size_t len;
	int rc = hr_read_whole(a, path, HR_YAML_MAX_BYTES, &text, &len, &err);

	if (rc == -EFBIG) {
		hr_error(d, wanted_by, 102, "'%s' is too large: a graph file may hold %d MiB", path,
			 HR_YAML_MAX_BYTES >> 20);
		return NULL;
	}
	if (rc) {
		hr_error(d, wanted_by, 101, "%s", err.text);
		return NULL;
	}
	return wrap(a, path, hr_dir_of(a, path), text, len);
}

const struct hr_yaml_pair *
hr_yaml_get(const struct hr_yaml *map, const char *key)
{
	if (!map || map->kind != HR_YAML_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->n; i++)
		if (!strcmp(map->pair[i].key, key))
			return &map->pair[i];
	return NULL;
}

struct hr_span
hr_yaml_part(const struct hr_yaml *scalar, size_t off, size_t n)
{
	struct hr_span at = scalar->at;

	if (!at.line || !scalar->exact || off > scalar->len)
		return at;
	/* One beyond the end shows where something is missing. */
	size_t last = off + n < scalar->len ? off + n : scalar->len;

	at.col += scalar->exact - 1u + (uint32_t)hr_utf8_count(scalar->text, off);
	at.len = (uint32_t)hr_utf8_count(scalar->text + off, last - off);
	if (!at.len)
		at.len = 1;
	return at;
}

bool
hr_yaml_is_empty(const struct hr_yaml *y)
{
	return y->kind == HR_YAML_SCALAR && y->plain && !y->len;
}

const char *
hr_yaml_kind_name(const struct hr_yaml *y)
{
	static const char *const names[] = { "text", "a list", "a map" };

	return hr_yaml_is_empty(y) ? "nothing" : names[y->kind];
}
