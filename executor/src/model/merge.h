/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - the one rule by which a later text changes an earlier one.
 *
 * Maps merge by key, everything else replaces; `!remove` deletes a key (which
 * must be there), `!replace` puts a map in place of the old one.  Trees are not
 * changed; the result shares what did not change, places included.
 */
#ifndef HR_MERGE_H
#define HR_MERGE_H

#include "yaml/doc.h"

struct hr_yaml *hr_merge(struct hr_arena *a, const struct hr_yaml *base, const struct hr_yaml *over,
			 struct hr_diags *d);
/* Report !remove and !replace in a text that changes nothing (the first file). */
void hr_merge_refuse_tags(const struct hr_yaml *y, struct hr_diags *d);

#endif
