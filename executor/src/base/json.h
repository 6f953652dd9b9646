/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - cJSON trees out into arena texts.
 *
 * cJSON keeps its own heap; a tree lives only between its making and hr_json_text.
 */
#ifndef HR_JSON_H
#define HR_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Print and delete tree (given).  pretty: indented, with a final newline. */
char *hr_json_text(struct hr_arena *a, cJSON *tree, bool pretty);
/* Adding that keeps 64-bit integers exact (cJSON numbers are doubles). */
void hr_json_add_int(cJSON *object, const char *key, int64_t value);
/* A string that may hold bytes that are no UTF-8: those become U+FFFD, so the JSON is valid. */
void hr_json_add_text(cJSON *object, const char *key, const char *value);
/* The same as a value of its own, for lists. */
cJSON *hr_json_string(const char *value);

#endif
