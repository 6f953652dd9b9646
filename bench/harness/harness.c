/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.c - interleaving, medians, the quiet gate, the table.
 */
#include "harness.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* What a direct call costs on the reference machine: absolute bounds scale with it. */
#define REFERENCE_CALL_NS 2.0
#define QUIET_PCT 5.0
#define CV_GATE_PCT 10.0

static const char *why_text = "";

double
hb_skip(const char *why)
{
	why_text = why;
	return -1;
}

const char *
hb_why(void)
{
	return why_text;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
hb_quantile(double *v, size_t n, double q)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof *v, by_value);
	return v[(size_t)(q * (double)(n - 1) + 0.5)];
}

double
hb_median(double *v, size_t n)
{
	return hb_quantile(v, n, 0.5);
}

double
hb_cv(const double *v, size_t n)
{
	double sum = 0, sq = 0, mean;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	mean = n ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++)
		sq += (v[i] - mean) * (v[i] - mean);
	return n > 1 && mean > 0 ? 100.0 * sqrt(sq / (double)(n - 1)) / mean : 0;
}

double
hb_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int
hb_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set) ? -errno : 0;
}

int
hb_cpus(int *cpu, int n)
{
	cpu_set_t set;
	int k = 0;

	if (sched_getaffinity(0, sizeof set, &set))
		return 0;
	for (int i = 0; i < CPU_SETSIZE && k < n; i++)
		if (CPU_ISSET(i, &set))
			cpu[k++] = i;
	return k;
}

/* ---- quiet ---------------------------------------------------------------------------------- */

static uint64_t
usage_ticks(int who)
{
	struct rusage u;
	long hz = sysconf(_SC_CLK_TCK);

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * (uint64_t)hz +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * (uint64_t)hz / 1000000u;
}

void
hb_quiet_begin(struct hb_quiet *q)
{
	unsigned long long v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "r");

	memset(q, 0, sizeof *q);
	if (!f)
		return;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) == 8) {
		q->busy = v[0] + v[1] + v[2] + v[5] + v[6];
		q->steal = v[7];
		q->total = q->busy + v[3] + v[4] + v[7];
	}
	fclose(f);
	q->ours = usage_ticks(RUSAGE_SELF) + usage_ticks(RUSAGE_CHILDREN);
}

void
hb_quiet_end(const struct hb_quiet *q, double *other_pct, double *steal_pct)
{
	struct hb_quiet now;
	double total, other;

	hb_quiet_begin(&now);
	total = (double)(now.total - q->total);
	other = (double)(now.busy - q->busy) - (double)(now.ours - q->ours);
	*other_pct = total > 0 && other > 0 ? 100 * other / total : 0;
	*steal_pct = total > 0 ? 100 * (double)(now.steal - q->steal) / total : 0;
}

/* ---- running -------------------------------------------------------------------------------- */

void
hb_run(struct hb_result *r)
{
	bool tty = isatty(STDERR_FILENO);

	for (uint32_t rep = 0; rep < r->reps && rep < HB_MAX_REPS; rep++) {
		struct hb_quiet q;

		hb_quiet_begin(&q);
		for (size_t i = 0; i < r->n_rows; i++) {
			struct hb_row *row = &r->row[i];
			double v;

			if (row->skipped)
				continue;
			if (tty)
				fprintf(stderr, "\r\033[K%u/%u %s", rep + 1, r->reps, row->what);
			v = row->measure();
			if (v < 0)
				row->skipped = hb_why();
			else
				row->value[row->n++] = v;
		}
		hb_quiet_end(&q, &r->other_pct[rep], &r->steal_pct[rep]);
	}
	if (tty)
		fprintf(stderr, "\r\033[K");
}

static const struct hb_row *
find(const struct hb_result *r, const char *key)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, key) == 0)
			return &r->row[i];
	return NULL;
}

double
hb_ratio(const struct hb_result *r, const struct hb_row *row, double *lo, double *hi)
{
	const struct hb_row *floor = row->floor ? find(r, row->floor) : NULL;
	double v[HB_MAX_REPS];
	uint32_t n = 0;

	*lo = *hi = 0;
	if (!floor)
		return 0;
	for (uint32_t i = 0; i < row->n && i < floor->n; i++)
		if (floor->value[i] > 0)
			v[n++] = row->value[i] / floor->value[i];
	if (!n)
		return 0;
	*lo = hb_quantile(v, n, 0.25);
	*hi = hb_quantile(v, n, 0.75);
	return hb_median(v, n);
}

static double
median_of(const struct hb_row *row)
{
	double v[HB_MAX_REPS];

	memcpy(v, row->value, row->n * sizeof *v);
	return hb_median(v, row->n);
}

static double
scaled_bound(const struct hb_result *r, const struct hb_row *row)
{
	const struct hb_row *call = find(r, "floor.call");
	double scale = call && call->n ? median_of(call) / REFERENCE_CALL_NS : 1;

	return row->absolute ? row->bound * (scale > 1 ? scale : 1) : row->bound;
}

static const char *
verdict(const struct hb_result *r, const struct hb_row *row, double ratio)
{
	double bound = scaled_bound(r, row);

	if (row->bound <= 0)
		return "";
	return (row->absolute ? median_of(row) : ratio) <= bound ? "ok" : "MISSED";
}

void
hb_print_table(const struct hb_result *r)
{
	uint32_t noisy = 0;

	printf("%-46s %10s %7s %8s %13s %7s %s\n", "row", "median", "cv %", "ratio", "[q1 q3]",
	       "bound", "");
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hb_row *row = &r->row[i];
		double lo, hi, ratio = hb_ratio(r, row, &lo, &hi), cv = hb_cv(row->value, row->n);

		if (row->skipped) {
			printf("%-46s skipped: %s\n", row->what, row->skipped);
			continue;
		}
		printf("%-46s %8.1f ns %6.1f%s", row->what, median_of(row), cv,
		       cv > CV_GATE_PCT ? "!" : " ");
		if (ratio > 0)
			printf(" %8.2f %6.2f %6.2f", ratio, lo, hi);
		else
			printf(" %8s %13s", "", "");
		if (row->bound > 0)
			printf(" %7.2f %s", scaled_bound(r, row), verdict(r, row, ratio));
		printf("\n");
	}
	for (uint32_t i = 0; i < r->reps; i++)
		noisy += r->other_pct[i] > QUIET_PCT || r->steal_pct[i] > QUIET_PCT;
	printf("\n%u repetitions, %u of them noisy (others or steal above %.0f %%); "
	       "ratio: median of the repetitions' pairs; !: spread above %.0f %%\n",
	       r->reps, noisy, QUIET_PCT, CV_GATE_PCT);
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

int
hb_write_json(const struct hb_result *r, const char *path)
{
	cJSON *top = cJSON_CreateObject(), *rows;
	char *text;
	FILE *f;

	cJSON_AddItemToObject(top, "machine", machine_facts());
	cJSON_AddNumberToObject(top, "repetitions", r->reps);
	cJSON_AddItemToObject(top, "other_pct",
			      cJSON_CreateDoubleArray(r->other_pct, (int)r->reps));
	cJSON_AddItemToObject(top, "steal_pct",
			      cJSON_CreateDoubleArray(r->steal_pct, (int)r->reps));
	rows = cJSON_AddArrayToObject(top, "rows");
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hb_row *row = &r->row[i];
		cJSON *o = cJSON_CreateObject();
		double lo, hi, ratio = hb_ratio(r, row, &lo, &hi);

		cJSON_AddItemToArray(rows, o);
		cJSON_AddStringToObject(o, "key", row->key);
		cJSON_AddStringToObject(o, "what", row->what);
		if (row->skipped) {
			cJSON_AddStringToObject(o, "skipped", row->skipped);
			continue;
		}
		cJSON_AddItemToObject(o, "ns", cJSON_CreateDoubleArray(row->value, (int)row->n));
		cJSON_AddNumberToObject(o, "median_ns", median_of(row));
		cJSON_AddNumberToObject(o, "cv_pct", hb_cv(row->value, row->n));
		if (row->floor)
			cJSON_AddStringToObject(o, "floor", row->floor);
		if (ratio > 0)
			cJSON_AddNumberToObject(o, "ratio", ratio);
		if (row->bound > 0) {
			cJSON_AddNumberToObject(o, "bound", scaled_bound(r, row));
			cJSON_AddStringToObject(o, "verdict", verdict(r, row, ratio));
		}
	}
	text = cJSON_Print(top);
	cJSON_Delete(top);
	f = fopen(path, "w");
	if (!f) {
		cJSON_free(text);
		return -errno;
	}
	fprintf(f, "%s\n", text);
	cJSON_free(text);
	return fclose(f) ? -errno : 0;
}
