/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - a result as a table for people and as JSON for programs.
 *
 * Both hold every row: a row without a figure says why, a row that misses its
 * bound says so, a repetition during which others were busy is counted.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness.h"

void
hb_print_list(const struct hb_result *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hb_row *row = &r->row[i];

		printf("%-18s %-48s", row->key, row->what);
		if (row->kind == HB_RATIO)
			printf(" <= %g x %s", row->bound, row->floor);
		else if (row->kind == HB_NS)
			printf(" <= %g ns", row->bound);
		else if (row->floor)
			printf(" against %s", row->floor);
		printf("\n");
	}
}

static const char *
verdict(const struct hb_result *r, const struct hb_row *row)
{
	double lo, hi;

	if (row->kind == HB_NO_BOUND)
		return "";
	if (row->kind == HB_RATIO && hb_ratio(r, row, &lo, &hi) <= 0)
		return "not compared";
	return hb_is_missed(r, row) ? "MISSED" : "ok";
}

static void
print_figure(double ns)
{
	if (ns >= 9999.5)
		printf("%9.2f us", ns / 1000);
	else
		printf("%9.1f ns", ns);
}

static void
print_row(const struct hb_result *r, const struct hb_row *row)
{
	double lo, hi, ratio = hb_ratio(r, row, &lo, &hi);

	printf("%-46s ", row->what);
	if (row->state == HB_SKIPPED || row->state == HB_FAILED) {
		printf("%s: %s\n", row->state == HB_FAILED ? "FAILED" : "skipped", row->why);
		return;
	}
	print_figure(hb_row_median(row));
	printf(" %5.1f%s ", hb_cv(row->value, row->n), hb_is_spread(row) ? "!" : " ");
	if (ratio > 0)
		printf("%6.2f [%5.2f %5.2f] %-13s", ratio, lo, hi, row->floor);
	else
		printf("%6s %13s %-13s", "", "", "");
	if (row->kind == HB_RATIO)
		printf(" %6.2f x  %s", row->bound, verdict(r, row));
	else if (row->kind == HB_NS)
		printf(" %6.0f ns %s", hb_bound_here(r, row), verdict(r, row));
	printf("\n");
}

void
hb_print_table(const struct hb_result *r)
{
	uint32_t noisy = 0;

	printf("%-46s %12s %6s %6s %13s %-13s %9s\n", "", "median", "cv %", "ratio",
	       "[  q1    q3 ]", "to", "at most");
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->row[i].selected)
			print_row(r, &r->row[i]);
	for (uint32_t i = 0; i < r->reps; i++)
		noisy += hb_is_noisy(r, i);
	printf("\n%u repetitions in %.0f s, %u of them noisy (other load or steal above 5 %%).\n"
	       "ratio: median and quartiles of the pairs measured in one repetition; "
	       "!: spread above 10 %%.\n",
	       r->reps, r->wall_s, noisy);
	if (hb_is_mostly_noisy(r))
		printf("This machine was busy with other things: the figures say little, and so do "
		       "the verdicts.\n");
}

static cJSON *
machine_facts(void)
{
	cJSON *m = cJSON_CreateObject();
	struct utsname u;
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");

	if (!uname(&u))
		cJSON_AddStringToObject(m, "kernel", u.release);
	while (f && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = 0;
		cJSON_AddStringToObject(m, "cpu", colon + 2);
		break;
	}
	if (f)
		fclose(f);
	cJSON_AddNumberToObject(m, "cpus", (double)sysconf(_SC_NPROCESSORS_ONLN));
	cJSON_AddStringToObject(m, "compiler", __VERSION__);
	return m;
}

static cJSON *
row_json(const struct hb_result *r, const struct hb_row *row)
{
	cJSON *o = cJSON_CreateObject();
	double lo, hi, ratio = hb_ratio(r, row, &lo, &hi);

	cJSON_AddStringToObject(o, "key", row->key);
	cJSON_AddStringToObject(o, "what", row->what);
	if (row->state != HB_MEASURED) {
		cJSON_AddStringToObject(o, row->state == HB_FAILED ? "failed" : "skipped",
					row->why);
		return o;
	}
	cJSON_AddItemToObject(o, "ns", cJSON_CreateDoubleArray(row->value, (int)row->n));
	cJSON_AddNumberToObject(o, "median_ns", hb_row_median(row));
	cJSON_AddNumberToObject(o, "cv_percent", hb_cv(row->value, row->n));
	if (row->floor)
		cJSON_AddStringToObject(o, "floor", row->floor);
	if (ratio > 0) {
		cJSON_AddNumberToObject(o, "ratio", ratio);
		cJSON_AddNumberToObject(o, "ratio_q1", lo);
		cJSON_AddNumberToObject(o, "ratio_q3", hi);
	}
	if (row->kind != HB_NO_BOUND) {
		cJSON_AddNumberToObject(o, row->kind == HB_NS ? "bound_ns" : "bound_ratio",
					hb_bound_here(r, row));
		cJSON_AddStringToObject(o, "verdict", verdict(r, row));
	}
	return o;
}

int
hb_write_json(const struct hb_result *r, const char *path)
{
	cJSON *top = cJSON_CreateObject(), *rows;
	char *text;
	FILE *f;
	int rc = 0;

	cJSON_AddItemToObject(top, "machine", machine_facts());
	cJSON_AddNumberToObject(top, "repetitions", r->reps);
	cJSON_AddNumberToObject(top, "wall_s", r->wall_s);
	cJSON_AddBoolToObject(top, "mostly_noisy", hb_is_mostly_noisy(r));
	cJSON_AddItemToObject(top, "other_percent",
			      cJSON_CreateDoubleArray(r->other_pct, (int)r->reps));
	cJSON_AddItemToObject(top, "steal_percent",
			      cJSON_CreateDoubleArray(r->steal_pct, (int)r->reps));
	rows = cJSON_AddArrayToObject(top, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->row[i].selected)
			cJSON_AddItemToArray(rows, row_json(r, &r->row[i]));
	text = cJSON_Print(top);
	cJSON_Delete(top);
	f = fopen(path, "w");
	if (!f) {
		rc = -errno;
	} else {
		if (fprintf(f, "%s\n", text) < 0)
			rc = -EIO;
		if (fclose(f))
			rc = -errno;
	}
	cJSON_free(text);
	return rc;
}
