// SPDX-License-Identifier: Apache-2.0
/*
 * dirs.c - where plugins named without a path are searched, and where endpoints lie.
 *
 * For plugins, what the user gives comes first, then the environment, then the folder that
 * belongs to this very program: a build tree's plugins/, or lib/holorun beside
 * an installed bin/.  Folders are found relative to /proc/self/exe, so that a
 * tree may be moved.
 */
#include "cli/cli.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* "a:b": every part that is not empty. */
static void
add_list(struct hr_arena *a, struct hr_strings *l, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, ":");

		if (n)
			hr_strings_add(a, l, hr_strndup(a, text, n));
		text += n + (text[n] == ':');
	}
}

/* The folder that holds the folder of this program: "/usr" for "/usr/bin/holorun". */
static const char *
prefix(struct hr_arena *a)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return hr_strdup(a, path);
}

static void
add_glob(struct hr_arena *a, struct hr_strings *l, const char *pattern)
{
	glob_t found;
	if (glob(pattern, GLOB_ONLYDIR, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (is_dir(found.gl_pathv[i]) && !hr_strings_has(l, found.gl_pathv[i]))
			hr_strings_add(a, l, hr_strdup(a, found.gl_pathv[i]));
	globfree(&found);
}

struct hr_plugin_dirs
hr_cli_plugin_dirs(struct hr_arena *a, const struct hr_strings *given)
{
	struct hr_strings l = { 0 };
	const char *env = getenv("HOLORUN_PLUGIN_PATH");
	const char *root = prefix(a);

	for (size_t i = 0; i < given->n; i++)
		add_list(a, &l, given->item[i]);
	if (env)
		add_list(a, &l, env);
	if (root && !access(hr_printf(a, "%s/CMakeCache.txt", root), F_OK)) {
		hr_strings_add(a, &l, hr_printf(a, "%s/plugins", root));
	} else {
		if (root) {
			add_glob(a, &l, hr_printf(a, "%s/lib*/holorun", root));
			add_glob(a, &l, hr_printf(a, "%s/lib/*/holorun", root));
		}
		add_glob(a, &l, HR_PLUGIN_DIR);
	}
	return (struct hr_plugin_dirs){ .dir = l.item, .n = (uint32_t)l.n };
}

const char *
hr_cli_endpoint_dir(struct hr_arena *a)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime == '/')
		return hr_printf(a, "%s/holomq", runtime);
	runtime = hr_printf(a, "/run/user/%u", (unsigned)geteuid());
	if (is_dir(runtime) && !access(runtime, W_OK | X_OK))
		return hr_printf(a, "%s/holomq", runtime);
	return hr_printf(a, "/tmp/holomq-%u", (unsigned)geteuid());
}
