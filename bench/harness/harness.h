/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.h - how every benchmark here measures.
 *
 * Rows are measured interleaved: one repetition measures each row once, in
 * order, and ratios are taken between the figures of one repetition, so that a
 * slow minute hurts a row and its floor alike.  A figure is the median over
 * repetitions; the spread stands beside it.  Each repetition records how much
 * of the CPUs others took (other load and steal); noisy ones are marked, not
 * dropped.
 */
#ifndef HB_HARNESS_H
#define HB_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HB_MAX_REPS = 101, HB_MAX_ROWS = 48 };

struct hb_row {
	const char *key;   /* "hmq.spin.2p" */
	const char *what;  /* for people */
	const char *unit;  /* "ns", "us" */
	const char *floor; /* key of the row it is compared with, NULL: is a floor */
	double bound;      /* largest ratio to the floor (or value if absolute) that passes; 0: none */
	bool absolute;     /* bound is a value in ns on the reference machine, scaled by the floor */
	/* Returns the figure in ns (median of its own samples), or a negative value: not possible
	 * here, with hb_why() set. */
	double (*measure)(void);
	double value[HB_MAX_REPS];
	uint32_t n;
	const char *skipped;
};

/* Values are sorted in place. */
double hb_median(double *v, size_t n);
double hb_quantile(double *v, size_t n, double q);
/* Coefficient of variation in percent. */
double hb_cv(const double *v, size_t n);
double hb_now_ns(void);
int hb_pin(int cpu);
/* CPUs this process may use; fills at most n. */
int hb_cpus(int *cpu, int n);
/* Say why a row cannot be measured here; returns -1. */
double hb_skip(const char *why);
const char *hb_why(void);

/* Share of all CPU time that was neither ours nor idle since begin, in percent. */
struct hb_quiet {
	uint64_t busy, steal, total, ours;
};
void hb_quiet_begin(struct hb_quiet *q);
void hb_quiet_end(const struct hb_quiet *q, double *other_pct, double *steal_pct);

/* Run all rows `reps` times; progress on stderr if it is a terminal. */
struct hb_result {
	struct hb_row *row;
	size_t n_rows;
	uint32_t reps;
	double other_pct[HB_MAX_REPS], steal_pct[HB_MAX_REPS];
};
void hb_run(struct hb_result *r);
/* Median over repetitions of row / floor, or 0. */
double hb_ratio(const struct hb_result *r, const struct hb_row *row, double *lo, double *hi);
void hb_print_table(const struct hb_result *r);
/* JSON to a file; 0 or -errno. */
int hb_write_json(const struct hb_result *r, const char *path);

#endif
