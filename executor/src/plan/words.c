// SPDX-License-Identifier: Apache-2.0
/*
 * words.c - one spelling for ports, channels and sizes in every output of a plan.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plan/stages.h"

const char *const hr_wait_word[] = { "spin", "adaptive", "sleep" };
const char *const hr_sched_word[] = { "other", "fifo", "rr" };
const char *const hr_full_word[] = { "block", "drop_newest", "fail", "drop_oldest" };
const char *const hr_carriage_word[] = { "same thread", "other thread", "shared memory" };

static const char *
port_name(struct hr_arena *a, const char *node, const struct hop_port *port, uint32_t position)
{
	if (port->flags & HOP_PORT_MANY)
		return hr_printf(a, "%s.%s.%u", node, port->name, position);
	return hr_printf(a, "%s.%s", node, port->name);
}

/* A port array takes the last positions of its direction: where it starts, it has another port
 * before it. */
const char *
hr_input_name(struct hr_arena *a, const struct hr_bound *b, uint32_t edge)
{
	const struct hr_bound_edge *e = &b->edge[edge];
	const struct hr_port_in *in = b->node[e->to].in;
	uint32_t first = e->in;

	while (first > 0 && in[first - 1].port == in[e->in].port)
		first--;
	return port_name(a, b->graph->node[e->to].name.text, in[e->in].port, e->in - first);
}

const char *
hr_output_name(struct hr_arena *a, const struct hr_bound *b, uint32_t node, uint32_t out)
{
	const struct hr_port_out *o = b->node[node].out;
	uint32_t first = out;

	while (first > 0 && o[first - 1].port == o[out].port)
		first--;
	return port_name(a, b->graph->node[node].name.text, o[out].port, out - first);
}

const char *
hr_chan_name(struct hr_arena *a, const struct hr_plan *p, uint32_t chan)
{
	const struct hr_plan_chan *c = &p->chan[chan];

	if (c->gathers != HR_NONE)
		return hr_printf(a, "%s gathered", hr_input_name(a, p->bound, c->gathers));
	return hr_output_name(a, p->bound, c->node, c->out);
}

const char *
hr_bytes_text(struct hr_arena *a, uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	uint64_t scale = 1;
	size_t u = 0;

	while (u + 1 < sizeof(unit) / sizeof(unit[0]) && bytes / scale >= 1024) {
		scale *= 1024;
		u++;
	}
	if (bytes % scale == 0)
		return hr_printf(a, "%" PRIu64 " %s", bytes / scale, unit[u]);
	return hr_printf(a, "%.1f %s", (double)bytes / (double)scale, unit[u]);
}
