/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what a run was: the summary for people, result.json for programs.
 *
 * Reads the plan and the page copy of the outcome; pure apart from hr_report_write.
 */
#ifndef HR_REPORT_H
#define HR_REPORT_H

#include "run/run.h"

extern const char hr_version[]; /* of holorun: "0.1.0" */

struct hr_report {
	const struct hr_plan *plan;
	const struct hr_outcome *outcome;
	const struct hr_load_options *load;
	const char *name;        /* of this run; NULL: the graph's */
	const char *const *argv; /* the command line, for the record */
	int argc;
	bool deny_drops; /* losses make exit 4 */
	bool deny_fallback, deny_warnings;
};

/* Check the identities (sent = received + lost + left + abandoned on every edge, the gather's two).
 * Violations are appended to the outcome's incidents and make exit 1 unless it failed already.
 * Also applies --deny drops (exit 4).  Returns the exit code. */
int hr_report_check(struct hr_arena *a, struct hr_report *r, struct hr_outcome *out);
/* At most 25 lines, one verdict line first. */
char *hr_report_text(struct hr_arena *a, const struct hr_report *r);
char *hr_report_json(struct hr_arena *a, const struct hr_report *r);
char *hr_report_csv(struct hr_arena *a, const struct hr_report *r);
/* result.json and results.csv into a folder (made if missing), each whole or not at all. */
int hr_report_write(struct hr_arena *a, const struct hr_report *r, const char *dir,
		    struct hr_diags *d);
/* The endpoints that this graph exports, as a catalog: into a file, if it would differ; 0 or -1. */
int hr_report_catalog(struct hr_arena *a, const struct hr_plan *plan, const char *path,
		      struct hr_diags *d);
/* First cause on the first line, consequences indented below it; NULL when there is none. */
char *hr_report_incidents(struct hr_arena *a, const struct hr_report *r);

#endif
