/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - finding, loading and checking plugins.
 *
 * A plugin is dlopened (RTLD_NOW | RTLD_LOCAL), its table is verified word by
 * word before anything in it is used, and it is never unloaded.  No op callback
 * runs here.  [control] only.
 */
#ifndef HR_PLUGIN_H
#define HR_PLUGIN_H

#include <holorun/op.h>

#include "model/graph.h"

struct hr_plugin {
	const char *shown;              /* as the graph or the folder names it */
	const char *path;               /* absolute, symlinks resolved; NULL: not found */
	const struct hop_plugin *table; /* NULL: not loadable */
	const char *build_id;           /* hex, from the ELF note; "" if there is none */
	const char *error;              /* why not loadable: one sentence; NULL: ok */
	const char *cure;               /* what to do about it; NULL: nothing known */
	const char
		*no_device; /* loaded, but its device is missing here ("no CUDA driver"); or NULL */
	bool optional;
	uint32_t code;     /* of the diagnostic that says `error`: 302..307; 0: ok */
	struct hr_span at; /* where the graph names it; line 0: from a folder */
};

struct hr_plugins {
	struct hr_plugin *at;
	uint32_t n;
	uint32_t n_dirs;
	const char *const *dir; /* searched, in order */
};

/* Where bare names are searched: --plugin-path, then HOLORUN_PLUGIN_PATH (passed in by the
 * command line), then the install folder. */
struct hr_plugin_dirs {
	const char *const *dir;
	uint32_t n;
};

/* Load what the graph names.  Failures are kept in the result; they become diagnostics when a node
 * needs the plugin or it is not optional (hr_bind). */
struct hr_plugins *hr_plugins_load(struct hr_arena *a, const struct hr_graph *g,
				   const struct hr_plugin_dirs *dirs);
/* Load every *.so of the folders, for `ops list`; in this process: call it from a child. */
struct hr_plugins *hr_plugins_scan(struct hr_arena *a, const struct hr_plugin_dirs *dirs);
/* Verify a table that is in memory.  NULL: fine, else a sentence (arena) that says what is wrong
 * with which op, port or parameter. */
const char *hr_plugin_verify(struct hr_arena *a, const struct hop_plugin *p);

#endif
