/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - the steps of planning, in the order hr_plan_make takes them.
 *
 * Each step reads what the earlier ones wrote into the plan and adds its part,
 * or diagnostics.  A step that finds errors still leaves the plan complete
 * enough for the next, so that all errors are reported at once.  Private to plan/.
 */
#ifndef HR_STAGES_H
#define HR_STAGES_H

#include <holomq/holomq.h>

#include "base/text.h"
#include "plan/plan.h"
#include "plugin/format.h"

#define HR_NONE UINT32_MAX /* no partition, edge, channel */

struct hr_planner {
	struct hr_arena *arena;
	const struct hr_bound *bound;
	const struct hr_graph *graph;
	const struct hr_machine *machine;
	struct hr_diags *diags;
	struct hr_plan *plan;
	uint32_t *partition; /* per node, HR_NONE: the default one */
	uint32_t *first_out; /* per node: its first outgoing edge in file order, HR_NONE */
	uint32_t *next_out;  /* per edge: the next with the same writer, HR_NONE */
	int32_t *part_cpu;   /* per partition, the default one last; -1: none yet */
	struct hr_strings notes;
};

/* cut.c: which node runs on which worker, in which order. */
void hr_cut(struct hr_planner *p);
/* pin.c: a CPU for each worker; sharing, spinning, scheduling rights. */
void hr_pin(struct hr_planner *p);
/* size.c: channels, depths, windows, slots, bytes, carriage. */
void hr_size(struct hr_planner *p);
/* loops.c: deadlocks that are certain; what is proven and what is not. */
void hr_check_loops(struct hr_planner *p);
/* bill.c: all bytes against the machine's. */
void hr_bill(struct hr_planner *p);

static inline const struct hr_bound_node *
hr_node_of(const struct hr_planner *p, uint32_t node)
{
	return &p->bound->node[node];
}

static inline const struct hr_port_in *
hr_input_of(const struct hr_planner *p, uint32_t edge)
{
	const struct hr_bound_edge *e = &p->bound->edge[edge];

	return &p->bound->node[e->to].in[e->in];
}

/* words.c: how things are called in messages and tables. */

/* "work.in", "mix.in.2" for a position in a port array. */
const char *hr_input_name(struct hr_arena *a, const struct hr_bound *b, uint32_t edge);
/* "src.out", "split.out.1" for a position in a port array. */
const char *hr_output_name(struct hr_arena *a, const struct hr_bound *b, uint32_t node,
			   uint32_t out);
/* Of the output that writes it, or "work.in gathered". */
const char *hr_chan_name(struct hr_arena *a, const struct hr_plan *p, uint32_t chan);
/* "64 KiB" when exact, else "1.3 MiB". */
const char *hr_bytes_text(struct hr_arena *a, uint64_t bytes);
extern const char *const hr_wait_word[], *const hr_sched_word[], *const hr_full_word[],
									 *const hr_carriage_word[];

#endif
