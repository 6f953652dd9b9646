/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - from what a graph calls a plugin to a file.
 *
 * A name with '/' starts from the folder of the file that wrote it; a bare name
 * is looked up in the plugin folders as NAME (if it ends in .so), libNAME.so,
 * NAME.so.  [control] only.
 */
#ifndef HR_FIND_H
#define HR_FIND_H

#include "base/text.h"
#include "plugin/plugin.h"

struct hr_found {
	const char *path;  /* absolute, symbolic links resolved; NULL: not found */
	const char *error; /* if not found: one sentence */
	const char *cure;  /* nearest file, where it was searched; lines; or NULL */
};

struct hr_found hr_plugin_find(struct hr_arena *a, const char *name, const char *base,
			       const struct hr_plugin_dirs *dirs);
/* All *.so of a folder, sorted by name, as absolute paths; an unreadable folder has none. */
struct hr_strings hr_plugin_files(struct hr_arena *a, const char *dir);
/* Absolute, symbolic links resolved; NULL: not there. */
const char *hr_real_path(struct hr_arena *a, const char *path);
/* "libstd.so" of "/x/libstd.so"; and its stem without "lib" and ".so": "std". */
const char *hr_plugin_file_name(const char *path);
const char *hr_plugin_stem(struct hr_arena *a, const char *path);
/* What may stand after '@': "libstd.so", "libstd", "std". */
bool hr_plugin_is_called(struct hr_arena *a, const char *path, const char *lib);

#endif
