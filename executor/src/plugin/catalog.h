/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h - plugins and their ops as JSON, each read in a child of its own.
 *
 * The JSON is what `ops list --format json` and `ops describe --format json`
 * print; the texts for people are made from it (describe.c).
 */
#ifndef HR_CATALOG_H
#define HR_CATALOG_H

#include "base/json.h"
#include "plugin/plugin.h"

/* One object a plugin: {path, state: "ok" | "not loadable", ...}.  A plugin that crashes or hangs
 * is "not loadable" with that as its error; the others are listed all the same.  limit_ms: for
 * each folder.  The caller deletes the array. */
cJSON *hr_catalog(struct hr_arena *a, const struct hr_plugin_dirs *dirs, int limit_ms);

#endif
