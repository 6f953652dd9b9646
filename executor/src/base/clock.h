/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the one clock: monotonic, in nanoseconds.
 *
 * Any thread, never blocks.  Steps of the wall clock do not show here.
 */
#ifndef HR_CLOCK_H
#define HR_CLOCK_H

#include <stdint.h>

uint64_t hr_mono_ns(void);

#endif
