/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twins.h - do two implementations of one op look the same to a graph?
 */
#ifndef HR_TWINS_H
#define HR_TWINS_H

#include <holorun/op.h>

#include "base/arena.h"

/* NULL, or the first difference of ports and parameters.  Memory kinds, batches, alignment and the
 * place of members may differ: they are what a device changes. */
const char *hr_twins_differ(struct hr_arena *a, const struct hop_op *cpu,
			    const struct hop_op *cuda);

#endif
