/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - one file to one hr_plugin.  For the loader's callers in this room.
 */
#ifndef HR_LOAD_H
#define HR_LOAD_H

#include "plugin/plugin.h"

/* path: absolute; p->path is set to it.  Success or failure, *p says which. */
void hr_plugin_load_file(struct hr_arena *a, const char *path, struct hr_plugin *p);

#endif
