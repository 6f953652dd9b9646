// SPDX-License-Identifier: Apache-2.0
/*
 * bill.c - the memory of all channels against what the machine can give.
 *
 * Everything is allocated and touched before the start, so what does not fit is
 * known here and refused here, with the channels to blame and their arithmetic.
 */
#include "plan/stages.h"

enum { SHOWN = 3 };

/* Indices of the largest channels, largest first; returns how many. */
static uint32_t
largest(const struct hr_plan *plan, uint32_t top[SHOWN])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_chans; i++) {
		uint32_t at = n;

		while (at > 0 && plan->chan[top[at - 1]].bytes < plan->chan[i].bytes)
			at--;
		if (at == SHOWN)
			continue;
		n += n < SHOWN;
		for (uint32_t k = n - 1; k > at; k--)
			top[k] = top[k - 1];
		top[at] = i;
	}
	return n;
}

void
hr_bill(struct hr_planner *p)
{
	const struct hr_plan *plan = p->plan;
	const struct hr_machine *m = p->machine;
	uint32_t top[SHOWN] = { 0 };

	if (m->memory_bytes == 0 || plan->memory_bytes <= m->memory_bytes)
		return;
	struct hr_diag *e =
		hr_error(p->diags, HR_NOWHERE, 311, "the channels need %s; %s are free (%s)",
			 hr_bytes_text(p->arena, plan->memory_bytes),
			 hr_bytes_text(p->arena, m->memory_bytes), m->memory_from);
	uint32_t n = largest(plan, top);

	for (uint32_t i = 0; i < n; i++) {
		const struct hr_plan_chan *c = &plan->chan[top[i]];

		hr_note(e, p->graph->node[c->node].name.at, "%s: %u slots x %s = %s",
			hr_chan_name(p->arena, plan, top[i]), c->slots,
			hr_bytes_text(p->arena, c->payload_bytes),
			hr_bytes_text(p->arena, c->bytes));
	}
	hr_help(e, "lower `depth` on the inputs that read them, or give the %s more memory",
		m->live ? "cgroup or machine" : "machine");
}
