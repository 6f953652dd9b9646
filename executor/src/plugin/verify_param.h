/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_param.h - the parameter table of one op, word by word.
 *
 * Part of hr_plugin_verify, which has checked the table's frame and copied it.
 */
#ifndef HR_VERIFY_PARAM_H
#define HR_VERIFY_PARAM_H

#include <holorun/op.h>

#include <stdbool.h>

#include "base/arena.h"

/* NULL, or what is wrong; the text continues "op 'x': ". */
const char *hr_verify_params(struct hr_arena *a, const struct hop_op *op);
/* A name that can stand in a graph: letters, digits, '_' and '-', first a letter or '_'. */
bool hr_is_name(const char *s);

#endif
