/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - what a plan needs to know of a machine, live or recorded.
 *
 * From hwloc: this machine, its XML export, or a synthetic description
 * ("pack:2 core:8 pu:2").  Limits come from this process when live; a recorded
 * machine has none.  Pure data afterwards.
 */
#ifndef HR_MACHINE_H
#define HR_MACHINE_H

#include "base/diag.h"

struct hr_cpu {
	uint32_t os;   /* number as the OS counts */
	uint32_t core; /* logical index of the core: equal for SMT siblings */
	uint32_t package;
	uint32_t numa;
	uint32_t l3;  /* index of the last-level cache group */
	bool allowed; /* this process may run there */
};

struct hr_machine {
	const char *source; /* "this machine", "file.xml", "pack:2 core:8" */
	struct hr_cpu *cpu; /* by OS number */
	uint32_t n_cpus;
	uint32_t n_allowed;
	uint32_t n_numa;
	bool live;
	uint64_t memory_bytes;   /* available to us: min of free memory and the cgroup's room; 0:
				    unknown */
	const char *memory_from; /* "MemAvailable", "cgroup memory.max", ... */
	uint64_t memlock_bytes;  /* RLIMIT_MEMLOCK; UINT64_MAX: unlimited */
	uint32_t rtprio_max;     /* RLIMIT_RTPRIO, 99 with CAP_SYS_NICE; 0: none */
};

/* topology: NULL for this machine; else an XML file or a synthetic description.  NULL and a
 * diagnostic when it cannot be read. */
struct hr_machine *hr_machine_load(struct hr_arena *a, const char *topology, struct hr_diags *d);
const struct hr_cpu *hr_machine_cpu(const struct hr_machine *m, uint32_t os);
/* The XML of the live machine (to record it), or NULL. */
const char *hr_machine_xml(struct hr_arena *a);

#endif
