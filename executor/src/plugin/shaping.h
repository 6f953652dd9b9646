/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shaping.h - one call of shape(), and what to say when an op refuses.
 */
#ifndef HR_SHAPING_H
#define HR_SHAPING_H

#include "plugin/binding.h"

struct hr_shape_call {
	const struct hop_op *op;
	const char *plugin; /* path, for the probe's page */
	const char *node;
	const void *params;
	struct hop_shape shape; /* filled by the caller, arrays too */
	char text[1024];        /* of HOP_FAIL; "" if the op gave none */
	char warning[1024];     /* the last log of level warn or error */
};

/* 0, or what the op returned.  Without a shape() outputs get the first connected input's format. */
int hr_shape_call(struct hr_shape_call *c);
/* Arrays for n_in inputs (formats are the caller's, NULL: unconnected) and n_out outputs (zeroed
 * formats), with the defaults of the op's table; one position per row. */
struct hop_shape hr_shape_new(struct hr_arena *a, const struct hop_port *const *in_port,
			      uint32_t n_in, uint32_t n_out);

struct hr_refusal { /* of node's shape() */
	uint32_t node;
	int rc;
	const char *text; /* of a refusal; or, with rc 0, how the op broke the contract */
	bool guessed;     /* an input from a loop was not known yet when it was called last */
};
void hr_report_refusal(struct hr_binding *x, const struct hr_refusal *r);

#endif
