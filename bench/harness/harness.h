/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.h - how every benchmark here measures.
 *
 * Rows are measured interleaved: one repetition measures each row once, in
 * order, and ratios are taken between the figures of one repetition, so that a
 * slow minute hurts a row and its floor alike.  A figure is the median over
 * repetitions; the spread stands beside it.  Each repetition records how much
 * of the CPUs others took (other load and steal); noisy ones are marked, not
 * dropped.  A row that got wrong data has failed, which is not a slow figure.
 */
#ifndef HB_HARNESS_H
#define HB_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HB_MAX_REPS = 101 };

struct hb_env {              /* the same for all rows of a run */
	int cpu[2];          /* sender, receiver; both the same when only one is allowed */
	int n_cpus;          /* allowed: 1 or more */
	bool brief;          /* a smoke test: as few messages as make a figure */
	int patience_s;      /* to wait for quiet moments, in all */
	uint32_t paced;      /* messages of a paced latency, warm-up not counted */
	const char *holorun; /* the executable */
	const char *graphs;  /* folder of the graphs */
	const char *plugins; /* folder of the plugins */
};

enum hb_bound { /* what `bound` of a row is */
		HB_NO_BOUND,
		HB_RATIO, /* largest ratio to the floor */
		HB_NS, /* largest figure in ns where a call costs 2 ns; grows with a slower call */
};

enum hb_state { HB_MEASURED, HB_SKIPPED, HB_FAILED };

struct hb_row {
	const char *key;  /* "hmq.spin.2p" */
	const char *what; /* for people */
	/* Returns the figure in ns, or what hb_skip or hb_fail return.  Not used in a row that
	 * has `same_as`: that takes over the figures of another row, against another floor. */
	double (*measure)(const struct hb_env *env, int arg);
	int arg;
	const char *floor; /* key of the row it is compared with; NULL: none */
	enum hb_bound kind;
	double bound;
	const char *same_as;
	/* Results. */
	bool selected;
	enum hb_state state;
	const char *why; /* of a row that was skipped or failed */
	double value[HB_MAX_REPS];
	uint32_t n;
};

/* Why there is no figure: not possible on this machine, or wrong.  Text is copied. */
__attribute__((format(printf, 1, 2))) double hb_skip(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) double hb_fail(const char *fmt, ...);

/* Values are sorted in place. */
double hb_median(double *v, size_t n);
double hb_quantile(double *v, size_t n, double q);
/* Coefficient of variation in percent. */
double hb_cv(const double *v, size_t n);
int hb_pin(int cpu);
/* CPUs this process may use; fills at most n, returns how many there are. */
int hb_cpus(int *cpu, int n);

struct hb_result {
	struct hb_row *row;
	size_t n_rows;
	uint32_t reps;
	double other_pct[HB_MAX_REPS], steal_pct[HB_MAX_REPS];
	double wall_s;
};

/* Select the rows whose key matches the glob (NULL: all), and every floor they need. */
size_t hb_select(struct hb_result *r, const char *glob);
/* Run the selected rows, each repetition in a quiet moment if one comes within env->patience_s in
 * all; progress on stderr if it is a terminal. */
void hb_run(struct hb_result *r, const struct hb_env *env);

const struct hb_row *hb_find(const struct hb_result *r, const char *key);
double hb_row_median(const struct hb_row *row);
/* Median and quartiles over the repetitions of row / floor; 0 when there is none. */
double hb_ratio(const struct hb_result *r, const struct hb_row *row, double *lo, double *hi);
double hb_bound_here(const struct hb_result *r, const struct hb_row *row);
bool hb_is_missed(const struct hb_result *r, const struct hb_row *row);
bool hb_is_noisy(const struct hb_result *r, uint32_t rep);
bool hb_is_mostly_noisy(const struct hb_result *r);
bool hb_is_spread(const struct hb_row *row);

/* report.c */
void hb_print_list(const struct hb_result *r);
void hb_print_table(const struct hb_result *r);
/* JSON to a file; 0 or -errno. */
int hb_write_json(const struct hb_result *r, const char *path);

#endif
