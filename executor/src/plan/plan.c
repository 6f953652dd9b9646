// SPDX-License-Identifier: Apache-2.0
/*
 * plan.c - the order of the planning steps, and the digest of their result.
 *
 * The digest covers every decision, by value and never by address, so that two
 * processes that planned the same inputs can compare one number.
 */
#include "plan/plan.h"

#include "plan/stages.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void
add_byte(uint64_t *hash, uint64_t byte)
{
	*hash = (*hash ^ byte) * 0x100000001b3u; /* FNV-1a */
}

static void
add_number(uint64_t *hash, uint64_t v)
{
	for (uint32_t shift = 0; shift < 64; shift += 8)
		add_byte(hash, v >> shift & 0xff);
}

static void
add_facts(uint64_t *hash, const uint64_t *fact, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_number(hash, fact[i]);
}

static void
add_text(uint64_t *hash, const char *s)
{
	for (; s && *s; s++)
		add_byte(hash, (unsigned char)*s);
	add_byte(hash, 0);
}

static void
add_list(uint64_t *hash, const uint32_t *v, uint32_t n)
{
	add_number(hash, n);
	for (uint32_t i = 0; i < n; i++)
		add_number(hash, v[i]);
}

static void
add_worker(uint64_t *hash, const struct hr_plan_worker *w)
{
	const uint64_t facts[] = { w->process,
				   (uint64_t)(int64_t)w->cpu,
				   w->partition,
				   w->wait,
				   w->shares_cpu,
				   w->watches,
				   w->blocks,
				   w->sched,
				   (uint64_t)(int64_t)w->priority,
				   w->sched_required };

	add_text(hash, w->name);
	add_facts(hash, facts, COUNT(facts));
	add_list(hash, w->node, w->n_nodes);
}

static void
add_edge(uint64_t *hash, const struct hr_plan_edge *e)
{
	const uint64_t facts[] = { e->chan, e->reader, e->depth,     e->gather_chan,
				   e->want, e->max_in, e->when_full, e->carriage };

	add_facts(hash, facts, COUNT(facts));
}

static void
add_chan(uint64_t *hash, const struct hr_plan_chan *c)
{
	const uint64_t facts[] = { c->node,  c->out,           c->gathers, c->max_out, c->slots,
				   c->align, c->payload_bytes, c->bytes,   c->shared };
	const uint64_t dtype[] = { c->format.dtype.code, c->format.dtype.bits,
				   c->format.dtype.lanes };

	add_facts(hash, dtype, COUNT(dtype));
	add_facts(hash, facts, COUNT(facts));
	add_list(hash, c->edge, c->n_readers);
	add_list(hash, c->depth, c->n_readers);
	add_list(hash, c->format.dim, c->format.rank);
}

static uint64_t
digest(const struct hr_plan *plan)
{
	const struct hr_graph *g = plan->graph;
	uint64_t hash = 0xcbf29ce484222325u;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct hr_bound_node *n = &plan->bound->node[i];

		add_text(&hash, g->node[i].name.text);
		add_text(&hash, n->op->name);
		add_text(&hash, n->plugin ? n->plugin->build_id : "");
		add_number(&hash, plan->node[i].worker);
		add_list(&hash, plan->node[i].out_chan, n->n_out);
	}
	for (uint32_t i = 0; i < plan->n_processes; i++) {
		add_text(&hash, plan->process[i].name);
		add_list(&hash, plan->process[i].worker, plan->process[i].n_workers);
	}
	for (uint32_t i = 0; i < plan->n_workers; i++)
		add_worker(&hash, &plan->worker[i]);
	for (uint32_t i = 0; i < g->n_edges; i++)
		add_edge(&hash, &plan->edge[i]);
	for (uint32_t i = 0; i < plan->n_chans; i++)
		add_chan(&hash, &plan->chan[i]);
	return hash;
}

struct hr_plan *
hr_plan_make(struct hr_arena *a, const struct hr_bound *b, const struct hr_machine *m,
	     struct hr_diags *d)
{
	struct hr_plan *plan = HR_NEW(a, struct hr_plan);
	struct hr_planner p = {
		.arena = a, .bound = b, .graph = b->graph, .machine = m, .diags = d, .plan = plan
	};
	uint32_t errors = d->n_errors;

	plan->graph = b->graph;
	plan->bound = b;
	plan->machine = m;
	hr_cut(&p);
	hr_pin(&p);
	hr_size(&p);
	hr_check_loops(&p);
	if (d->n_errors == errors)
		hr_bill(&p);
	if (d->n_errors != errors)
		return NULL;
	plan->note = p.notes.item;
	plan->n_notes = (uint32_t)p.notes.n;
	plan->digest = digest(plan);
	return plan;
}
