/* SPDX-License-Identifier: Apache-2.0 */
/* undefined.c - a plugin that calls a function no library has: test/undefined. */
#define OUTSIDE_CALL holo_no_such_function
#define PLUGIN "undefined"
#include "outside.h"
