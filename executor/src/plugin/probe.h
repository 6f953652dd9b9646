/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - hr_probe with another time limit, for tests.
 */
#ifndef HR_PROBE_H
#define HR_PROBE_H

#include "plugin/plugin.h"

int hr_probe_limited(struct hr_arena *a, const struct hr_graph *g,
		     const struct hr_plugin_dirs *dirs, int limit_ms, struct hr_diags *d);

#endif
