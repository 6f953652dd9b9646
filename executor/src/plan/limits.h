/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what the system lets this process have: memory, locking, priority.
 *
 * Read from /proc and the cgroup files under given roots, so that tests can
 * show it other systems.  What cannot be read counts as no limit.
 */
#ifndef HR_LIMITS_H
#define HR_LIMITS_H

#include "plan/machine.h"

/* Bytes this process can still get: the least of MemAvailable and the room in every memory cgroup
 * around it.  0 and *from "unknown" when nothing can be read. */
uint64_t hr_limits_memory(struct hr_arena *a, const char *proc, const char *cgroup,
			  const char **from);
/* RLIMIT_MEMLOCK; UINT64_MAX: unlimited. */
uint64_t hr_limits_memlock(void);
/* Highest real-time priority: 99 with CAP_SYS_NICE, else RLIMIT_RTPRIO; 0: none. */
uint32_t hr_limits_rtprio(struct hr_arena *a, const char *proc);

#endif
