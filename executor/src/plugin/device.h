/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - is what an op's device needs on this machine?
 *
 * Looks for the driver's library and its control file; opens no device and
 * links no driver.  [control] only.
 */
#ifndef HR_DEVICE_H
#define HR_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* NULL: device (HOP_ON_*) can be used.  Else a sentence that names what is missing. */
const char *hr_device_missing(struct hr_arena *a, uint32_t device);
/* A library that belongs to a device driver ("libcuda.so.1"): its absence is a missing device. */
bool hr_device_library(const char *soname);

#endif
