/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example.h - a node of an op as it could stand in a graph.
 */
#ifndef HR_EXAMPLE_H
#define HR_EXAMPLE_H

#include "base/json.h"

/* YAML, indented to stand under `nodes:`.  op: as in the catalog. */
const char *hr_op_example(struct hr_arena *a, const cJSON *op);

#endif
