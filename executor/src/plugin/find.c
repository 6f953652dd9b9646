/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c - looks for plugin files and says where it looked.  See find.h.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/find.h"

static bool
ends_with_so(const char *s)
{
	size_t n = strlen(s);

	return n > 3 && strcmp(s + n - 3, ".so") == 0;
}

const char *
hr_plugin_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *
hr_plugin_stem(struct hr_arena *a, const char *path)
{
	const char *file = hr_plugin_file_name(path);
	size_t n = strlen(file);

	if (ends_with_so(file))
		n -= 3;
	if (n > 3 && strncmp(file, "lib", 3) == 0)
		return hr_strndup(a, file + 3, n - 3);
	return hr_strndup(a, file, n);
}

bool
hr_plugin_is_called(struct hr_arena *a, const char *path, const char *lib)
{
	const char *file = hr_plugin_file_name(path);
	size_t n = strlen(lib);

	return !strcmp(file, lib) || !strcmp(hr_plugin_stem(a, path), lib) ||
	       (!strncmp(file, lib, n) && !strcmp(file + n, ".so"));
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

struct hr_strings
hr_plugin_files(struct hr_arena *a, const char *dir)
{
	struct hr_strings files = { 0 };
	const struct dirent *e;
	DIR *d = opendir(dir);

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): this stream is nobody else's */
	while (d && (e = readdir(d)) != NULL) {
		struct stat st;
		const char *path;

		if (!ends_with_so(e->d_name))
			continue;
		path = hr_printf(a, "%s/%s", dir, e->d_name);
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			hr_strings_add(a, &files, path);
	}
	if (d)
		(void)closedir(d);
	if (files.n)
		qsort(files.item, files.n, sizeof files.item[0], by_name);
	return files;
}

const char *
hr_real_path(struct hr_arena *a, const char *path)
{
	char buf[PATH_MAX];

	return realpath(path, buf) ? hr_strdup(a, buf) : NULL;
}

/* The real path of a candidate that is there, else NULL. */
static const char *
try_path(struct hr_arena *a, const char *path)
{
	struct stat st;

	if (stat(path, &st) || S_ISDIR(st.st_mode))
		return NULL;
	return hr_real_path(a, path);
}

static struct hr_found
find_by_path(struct hr_arena *a, const char *name, const char *base)
{
	struct hr_found f = { 0 };
	const char *path = *name == '/' || !base ? name : hr_printf(a, "%s/%s", base, name);
	const char *dir = hr_strndup(a, path, (size_t)(hr_plugin_file_name(path) - path));
	struct hr_strings files, names = { 0 };
	const char *near;
	struct stat st;

	f.path = try_path(a, path);
	if (f.path)
		return f;
	if (!stat(path, &st)) {
		f.error = hr_printf(a, "'%s' is a folder", path);
		return f;
	}
	f.error = errno == ENOENT || errno == ENOTDIR
			  ? hr_printf(a, "there is no file '%s'", path)
			  : hr_printf(a, "'%s' cannot be opened: %s", path, strerrordesc_np(errno));
	files = hr_plugin_files(a, dir);
	for (size_t i = 0; i < files.n; i++)
		hr_strings_add(a, &names, hr_plugin_file_name(files.item[i]));
	near = hr_nearest(hr_plugin_file_name(name), names.item, names.n);
	if (near)
		f.cure = hr_printf(a, "did you mean '%.*s%s'?",
				   (int)(hr_plugin_file_name(name) - name), name, near);
	return f;
}

/* Nearest stem in the folders, and the folders themselves. */
static const char *
searched(struct hr_arena *a, const char *name, const struct hr_plugin_dirs *dirs)
{
	struct hr_strings stems = { 0 };
	struct hr_text t;
	const char *near;

	hr_text_init(&t, a);
	for (uint32_t i = 0; i < dirs->n; i++) {
		struct hr_strings files = hr_plugin_files(a, dirs->dir[i]);

		for (size_t k = 0; k < files.n; k++)
			hr_strings_add(a, &stems, hr_plugin_stem(a, files.item[k]));
	}
	near = hr_nearest(hr_plugin_stem(a, name), stems.item, stems.n);
	if (near)
		hr_text_add(&t, "did you mean '%s'?\n", near);
	if (!dirs->n)
		hr_text_puts(&t, "no plugin folder was given; use --plugin-path DIR");
	for (uint32_t i = 0; i < dirs->n; i++)
		hr_text_add(&t, "%s%s", i ? ", " : "searched in ", dirs->dir[i]);
	hr_text_add(&t, "\nwrite './%s' for a file beside the graph", name);
	return t.s;
}

struct hr_found
hr_plugin_find(struct hr_arena *a, const char *name, const char *base,
	       const struct hr_plugin_dirs *dirs)
{
	struct hr_found f = { 0 };

	if (!*name) {
		f.error = "the path is empty";
		return f;
	}
	if (strchr(name, '/'))
		return find_by_path(a, name, base);
	for (uint32_t i = 0; i < dirs->n && !f.path; i++) {
		const char *dir = dirs->dir[i];

		if (ends_with_so(name))
			f.path = try_path(a, hr_printf(a, "%s/%s", dir, name));
		if (!f.path)
			f.path = try_path(a, hr_printf(a, "%s/lib%s.so", dir, name));
		if (!f.path)
			f.path = try_path(a, hr_printf(a, "%s/%s.so", dir, name));
	}
	if (f.path)
		return f;
	f.error = "no plugin folder has it";
	f.cure = searched(a, name, dirs);
	return f;
}
