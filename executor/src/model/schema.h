/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - which key belongs where, as one table.
 *
 * A level is a map with fixed keys.  Maps of names (nodes, knobs, presets,
 * partitions, processes, params, inputs) are no levels: their keys are free.
 */
#ifndef HR_SCHEMA_H
#define HR_SCHEMA_H

#include <stdbool.h>

#include "model/graph.h"

enum hr_level {
	HR_L_TOP,
	HR_L_PLUGIN,
	HR_L_KNOB,
	HR_L_DEFAULTS,
	HR_L_CHANNEL,
	HR_L_NODE,
	HR_L_INPUT,
	HR_L_INITIAL,
	HR_L_GATHER,
	HR_L_FAILURE,
	HR_L_RESTART,
	HR_L_PARTITION,
	HR_L_SCHED,
	HR_L_PROCESS,
	HR_L_PRESET,
	HR_L_ENDPOINT,
	HR_N_LEVELS
};

/* Report every key of the map that the level does not have.  Found ones are handed to `found`
 * (NULL: nobody) so that the caller can remember them. */
typedef void (*hr_unknown_fn)(void *self, const struct hr_yaml_pair *pair, struct hr_diag *d);
void hr_schema_check(const struct hr_yaml *map, enum hr_level level, struct hr_diags *d,
		     hr_unknown_fn found, void *self);
/* True if some unknown key of the map is a misspelt `key`, or a key of it was refused: the absence
 * was reported already. */
bool hr_schema_is_misspelt(const struct hr_yaml *map, enum hr_level level, const char *key);

#endif
