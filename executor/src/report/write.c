// SPDX-License-Identifier: Apache-2.0
/*
 * write.c - result.json and results.csv, each whole or not at all.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "report/report.h"

static int
write_one(struct hr_arena *a, const char *dir, const char *name, const char *text,
	  struct hr_diags *d)
{
	const char *path = hr_printf(a, "%s/%s", dir, name);
	struct hr_error err;

	if (!hr_write_whole(path, text, strlen(text), &err))
		return 0;
	hr_error(d, HR_NOWHERE, 391, "%s", err.text);
	return -1;
}

int
hr_report_write(struct hr_arena *a, const struct hr_report *r, const char *dir, struct hr_diags *d)
{
	int rc = 0;

	if (mkdir(dir, 0777) && errno != EEXIST) {
		hr_error(d, HR_NOWHERE, 391, "folder %s cannot be made: %s", dir,
			 strerrordesc_np(errno));
		return -1;
	}
	rc |= write_one(a, dir, "result.json", hr_report_json(a, r), d);
	rc |= write_one(a, dir, "results.csv", hr_report_csv(a, r), d);
	return rc;
}
