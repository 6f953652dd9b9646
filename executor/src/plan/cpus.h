/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - CPU lists as users write them: "2-3,6", "rel:0-1", "rel:all".
 *
 * Plain numbers are the OS's; after "rel:" they count inside the CPUs this
 * process may use.  Every number is checked against the machine.
 */
#ifndef HR_CPUS_H
#define HR_CPUS_H

#include "model/graph.h"
#include "plan/machine.h"

struct hr_cpu_list {
	uint32_t *os; /* in the order written */
	uint32_t n;
};

/* 0, or -1 with diagnostics that start with `who` ("partition 'a'") and point into the text. */
int hr_cpus_parse(struct hr_arena *a, const struct hr_machine *m, const char *who,
		  const struct hr_name *text, struct hr_cpu_list *out, struct hr_diags *d);
/* The CPUs this process may use, shortest form: "0-3,6". */
const char *hr_cpus_allowed(struct hr_arena *a, const struct hr_machine *m);

#endif
