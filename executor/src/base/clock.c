// SPDX-License-Identifier: Apache-2.0
/*
 * clock.c - reads CLOCK_MONOTONIC.
 *
 * The call goes through the vDSO: no kernel entry on the machines that matter.
 */
#include "base/clock.h"

#include <time.h>

uint64_t
hr_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
