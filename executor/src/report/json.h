/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - the two halves of result.json.
 */
#ifndef HR_REPORT_JSON_H
#define HR_REPORT_JSON_H

#include "base/json.h"
#include "report/numbers.h"

/* Processes, workers, nodes and edges; the outcome's page must be there. */
void hr_json_numbers(struct hr_arena *a, const struct hr_report *r, cJSON *root);

#endif
