/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a plugin's tables in the sizes this host knows.
 *
 * A newer plugin may have longer structs and strides.  The rest of the host
 * indexes arrays directly, so it is given copies with stride = sizeof.
 */
#ifndef HR_TABLE_H
#define HR_TABLE_H

#include <holorun/op.h>

#include "base/arena.h"

/* What surrounds the contents: sizes, pointers, counts, strides.  NULL: p can be copied. */
const char *hr_table_outline(struct hr_arena *a, const struct hop_plugin *p);
/* A deep copy of the tables (texts and functions stay the plugin's).  After hr_table_outline. */
const struct hop_plugin *hr_table_copy(struct hr_arena *a, const struct hop_plugin *p);

#endif
