/* SPDX-License-Identifier: Apache-2.0 */
/*
 * param.h - a value of the graph as a member of an op's params struct.
 *
 * The same code reads defaults, ranges and users' values, so that they mean the
 * same.  It converts, checks range and choices, and stores; who reports, and
 * where, is the caller's.  [control] only.
 */
#ifndef HR_PARAM_H
#define HR_PARAM_H

#include <holorun/op.h>

#include "model/graph.h"

enum { HR_N_PARAM_TYPES = HOP_P_REALS + 1 };

struct hr_param_type {
	const char *name; /* "int", "real", "size", ... */
	enum hr_type as;  /* what text is converted to */
	uint32_t width;   /* of the member */
	bool ranged;      /* may have min and max */
};
extern const struct hr_param_type hr_param_type[HR_N_PARAM_TYPES];

struct hr_param_in { /* what to store */
	const struct hr_value *at;
	uint32_t n;
	bool is_list;
	const char *dir; /* a PATH starts here unless its value knows the file that wrote it */
};

struct hr_param_bad {  /* why not */
	uint32_t code; /* of the diagnostic: 205, 207, 208, 209 */
	struct hr_span at;
	struct hr_span from; /* line 0: not substituted */
	const char *why;
	const char *got; /* of CHOICE: what was written, for a proposal; else NULL */
};

/* true: stored in params at p->offset.  op names the op in messages. */
bool hr_param_store(struct hr_arena *a, const char *op, const struct hop_param *p,
		    const struct hr_param_in *in, void *params, struct hr_param_bad *bad);
/* A default as the table writes it: a YAML scalar, or "[1, 2]" for REALS. */
struct hr_param_in hr_param_default(struct hr_arena *a, const struct hop_param *p);
uint32_t hr_param_n_choices(const struct hop_param *p);

#endif
