/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.c - interleaving, medians, the quiet gate, bounds.
 */
#include "harness.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

/* What a direct call costs on the reference machine: bounds in ns scale with it. */
#define REFERENCE_CALL_NS 2.0
#define CALL_KEY "floor.call"
#define QUIET_PCT 5.0
#define CV_GATE_PCT 10.0

/* Before a repetition: look so long at a time whether others are busy. */
enum { LOOK_MS = 100 };

static char why_text[512];
static enum hb_state why_state;

double
hb_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why_text, sizeof why_text, fmt, ap);
	va_end(ap);
	why_state = HB_SKIPPED;
	return (double)NAN;
}

double
hb_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why_text, sizeof why_text, fmt, ap);
	va_end(ap);
	why_state = HB_FAILED;
	return (double)NAN;
}

/* ---- statistics ----------------------------------------------------------------------------- */

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

int
hb_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

int
hb_cpus(int *cpu, int n)
{
	cpu_set_t set;
	int k = 0;

	if (sched_getaffinity(0, sizeof set, &set))
		return 0;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && k++ < n)
			cpu[k - 1] = i;
	return k;
}

/* ---- quiet ---------------------------------------------------------------------------------- */

struct quiet { /* clock ticks so far */
	uint64_t busy, steal, total, ours;
};

static uint64_t
usage_ticks(int who)
{
	struct rusage u;
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * hz +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * hz / 1000000u;
}

static struct quiet
quiet_now(void)
{
	unsigned long long v[8] = { 0 };
	struct quiet q = { 0 };
	FILE *f = fopen("/proc/stat", "r");

	if (!f)
		return q;
	/* user nice system idle iowait irq softirq steal */
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) == 8) {
		q.busy = v[0] + v[1] + v[2] + v[5] + v[6];
		q.steal = v[7];
		q.total = q.busy + v[3] + v[4] + v[7];
	}
	fclose(f);
	/* Descendants count once they have been waited for, which every row does. */
	q.ours = usage_ticks(RUSAGE_SELF) + usage_ticks(RUSAGE_CHILDREN);
	return q;
}

static void
quiet_since(const struct quiet *then, double *other_pct, double *steal_pct)
{
	struct quiet now = quiet_now();
	double total = (double)(now.total - then->total);
	double other = (double)(now.busy - then->busy) - (double)(now.ours - then->ours);

	*other_pct = total > 0 && other > 0 ? 100 * other / total : 0;
	*steal_pct = total > 0 ? 100 * (double)(now.steal - then->steal) / total : 0;
}

/* Wait for a quiet moment; returns the patience that is left. */
static int
await_quiet(int patience_ms)
{
	double other, steal;

	while (patience_ms > 0) {
		struct quiet q = quiet_now();

		poll(NULL, 0, LOOK_MS);
		quiet_since(&q, &other, &steal);
		if (other <= QUIET_PCT && steal <= QUIET_PCT)
			break;
		patience_ms -= LOOK_MS;
	}
	return patience_ms;
}

/* ---- running -------------------------------------------------------------------------------- */

static struct hb_row *
find(const struct hb_result *r, const char *key)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, key) == 0)
			return &r->row[i];
	return NULL;
}

const struct hb_row *
hb_find(const struct hb_result *r, const char *key)
{
	return find(r, key);
}

static void
select_row(struct hb_result *r, struct hb_row *row)
{
	if (!row || row->selected)
		return;
	row->selected = true;
	if (row->floor)
		select_row(r, find(r, row->floor));
	if (row->same_as)
		select_row(r, find(r, row->same_as));
	if (row->kind == HB_NS)
		select_row(r, find(r, CALL_KEY));
}

size_t
hb_select(struct hb_result *r, const char *glob)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows; i++) {
		if (glob && fnmatch(glob, r->row[i].key, 0))
			continue;
		select_row(r, &r->row[i]);
		n++;
	}
	return n;
}

static void
take_over(struct hb_row *row, const struct hb_row *from)
{
	assert(from && "same_as names a row of the table");
	if (!from)
		return;
	row->state = from->state;
	row->why = from->why;
	row->n = from->n;
	memcpy(row->value, from->value, sizeof row->value);
}

static void
measure(struct hb_row *row, const struct hb_env *env)
{
	double v = row->measure(env, row->arg);

	if (isnan(v)) {
		row->state = why_state;
		row->why = strdup(why_text);
	} else {
		row->value[row->n++] = v;
	}
}

void
hb_run(struct hb_result *r, const struct hb_env *env)
{
	bool tty = isatty(STDERR_FILENO);
	int patience_ms = env->brief ? 0 : env->patience_s * 1000;
	uint64_t start = hr_mono_ns();

	for (uint32_t rep = 0; rep < r->reps; rep++) {
		struct quiet q;

		patience_ms = await_quiet(patience_ms);
		q = quiet_now();
		for (size_t i = 0; i < r->n_rows; i++) {
			struct hb_row *row = &r->row[i];

			if (!row->selected || row->same_as || row->state != HB_MEASURED)
				continue;
			if (tty)
				fprintf(stderr, "\r\033[K%u/%u %s", rep + 1, r->reps, row->what);
			measure(row, env);
		}
		quiet_since(&q, &r->other_pct[rep], &r->steal_pct[rep]);
	}
	if (tty)
		fprintf(stderr, "\r\033[K");
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->row[i].same_as)
			take_over(&r->row[i], find(r, r->row[i].same_as));
	r->wall_s = (double)(hr_mono_ns() - start) / 1e9;
}

/* ---- judging -------------------------------------------------------------------------------- */

double
hb_row_median(const struct hb_row *row)
{
	double v[HB_MAX_REPS];

	memcpy(v, row->value, row->n * sizeof *v);
	return hb_median(v, row->n);
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

double
hb_bound_here(const struct hb_result *r, const struct hb_row *row)
{
	const struct hb_row *call = find(r, CALL_KEY);
	double scale = call && call->n ? hb_row_median(call) / REFERENCE_CALL_NS : 1;

	/* A faster machine is not held against the program. */
	return row->kind == HB_NS ? row->bound * (scale > 1 ? scale : 1) : row->bound;
}

bool
hb_is_missed(const struct hb_result *r, const struct hb_row *row)
{
	double lo, hi, bound = hb_bound_here(r, row);

	if (row->kind == HB_NO_BOUND || !row->n)
		return false;
	return (row->kind == HB_NS ? hb_row_median(row) : hb_ratio(r, row, &lo, &hi)) > bound;
}

bool
hb_is_noisy(const struct hb_result *r, uint32_t rep)
{
	return r->other_pct[rep] > QUIET_PCT || r->steal_pct[rep] > QUIET_PCT;
}

bool
hb_is_mostly_noisy(const struct hb_result *r)
{
	uint32_t noisy = 0;

	for (uint32_t i = 0; i < r->reps; i++)
		noisy += hb_is_noisy(r, i);
	return 2 * noisy > r->reps;
}

bool
hb_is_spread(const struct hb_row *row)
{
	return hb_cv(row->value, row->n) > CV_GATE_PCT;
}
