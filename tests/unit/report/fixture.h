/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - plans, pages and outcomes made by hand, for tests of the report.
 *
 * Nothing here runs: every number is written by the test, so that what the
 * report says of it can be compared letter by letter.
 */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include "report/report.h"

struct fixture {
	struct hr_arena *arena;
	struct hr_plan *plan;
	struct hr_outcome outcome;
	struct hr_report report;
};

/* src -> work (gather, copies; a second output that nobody reads; fell back) -> sink (counters
 * found, missed); two processes; a clean run of 2 s with balanced books. */
struct fixture *fixture_small(void);
/* A chain of n nodes in one process: n0 -> n1 -> ..., each edge slower than the one before. */
struct fixture *fixture_chain(uint32_t n);
void fixture_free(struct fixture *f);

/* Values for a histogram: n times ns. */
void fixture_times(struct hr_hist *h, uint64_t n, int64_t ns);

#endif
