/* SPDX-License-Identifier: Apache-2.0 */
/* missing_dep.c - a plugin that needs libholodep_gone.so: test/missing_dep. */
#define OUTSIDE_CALL holodep_answer
#define PLUGIN "missing_dep"
#include "outside.h"
