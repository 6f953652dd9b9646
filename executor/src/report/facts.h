/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what a number needs beside it to be believed: the machine it is from.
 */
#ifndef HR_FACTS_H
#define HR_FACTS_H

#include "base/json.h"

/* Reads /proc and /sys; what is not there is left out.  The caller owns the tree. */
cJSON *hr_machine_facts(struct hr_arena *a);

#endif
