/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - what the page says, worked out once for text, JSON and CSV.
 *
 * Pure; everything is in the arena of the report.  Histograms stay in the page.
 */
#ifndef HR_NUMBERS_H
#define HR_NUMBERS_H

#include "report/report.h"

struct hr_edge_numbers {
	const char *name; /* "src.out -> work.in" */
	const struct hr_edge *edge;
	const struct hr_plan_edge *plan;
	const struct hr_page_edge *page;
	const struct hr_page_gather *gather; /* NULL: none */
	uint64_t lost;                       /* of both queues */
	bool into_sink;                      /* age is end to end, tail is there */
};

struct hr_node_numbers {
	const char *name;
	const struct hr_bound_node *bound;
	const struct hr_page_node *page;
	const uint64_t *counter; /* in the order of the op's table */
	uint32_t work, wait_in,
		wait_out; /* per mille; together 1000, or 0 when nothing was timed */
	uint64_t unread;  /* messages on outputs that nobody reads */
	bool is_sink;
	bool warns; /* a counter of level warning is not zero */
};

struct hr_numbers {
	struct hr_edge_numbers *edge;
	struct hr_node_numbers *node;
	uint32_t n_edges, n_nodes;
	uint64_t delivered;   /* messages that sinks took */
	uint64_t lost;        /* on edges, and what ops count as lost */
	uint64_t abandoned;   /* queued at, or held by, readers that died */
	uint64_t frames_lost; /* assembled frames that were dropped or shed */
	uint64_t pieces_lost; /* late, shed or invalid at a gather */
	int64_t wall_ns;
};

/* out->page must be there. */
struct hr_numbers *hr_numbers_make(struct hr_arena *a, const struct hr_plan *p,
				   const struct hr_outcome *out);
const struct hop_counter *hr_counter_at(const struct hop_op *op, uint32_t i);
/* "cpu", "cuda" or "cpu (fallback)". */
const char *hr_device_text(const struct hr_bound_node *b);

/* Three digits and a unit: "950 ns", "12.3 us", "1.20 ms", "2.01 s". */
const char *hr_ns_text(struct hr_arena *a, uint64_t ns);
/* "31.2 MiB" */
const char *hr_bytes_short(struct hr_arena *a, uint64_t bytes);

#endif
