// SPDX-License-Identifier: Apache-2.0
/*
 * check.c - do the numbers of a run add up?
 *
 * What a channel's writer sent is somewhere: received, lost, left or abandoned.
 * A run whose own books do not balance has failed, whatever else it says.  Ends
 * that were killed could not close their books, so they are left out once the
 * run has failed anyway.
 */
#include <inttypes.h>

#include "base/text.h"
#include "report/numbers.h"

static void
append(struct hr_arena *a, struct hr_outcome *out, struct hr_span at, const char *node,
       const char *text)
{
	struct hr_incident *i = HR_NEW(a, struct hr_incident), **end = &out->first;

	*i = (struct hr_incident){
		.at = at, .node = node, .text = text, .when_ns = (uint64_t)out->end_ns
	};
	while (*end)
		end = &(*end)->next;
	*end = i;
}

static bool
balances(const struct hmq_edge_stat *s)
{
	return s->sent == s->received + s->lost + s->left + s->abandoned;
}

static const char *
queue_text(struct hr_arena *a, const char *edge, const char *what, const struct hmq_edge_stat *s)
{
	return hr_printf(a,
			 "the books of %s%s do not balance: sent %" PRIu64 ", received %" PRIu64
			 " + lost %" PRIu64 " + left %" PRIu64 " + abandoned %" PRIu64,
			 edge, what, s->sent, s->received, s->lost, s->left, s->abandoned);
}

/* NULL: fine. */
static const char *
gather_text(struct hr_arena *a, const char *edge, const struct hr_page_gather *g)
{
	if (g->received != g->placed + g->duplicate + g->late + g->shed + g->invalid)
		return hr_printf(a,
				 "the pieces of the gather at %s do not add up: received %" PRIu64
				 ", placed %" PRIu64 " + duplicate %" PRIu64 " + late %" PRIu64
				 " + shed %" PRIu64 " + invalid %" PRIu64,
				 edge, g->received, g->placed, g->duplicate, g->late, g->shed,
				 g->invalid);
	if (g->opened != g->complete + g->partial + g->dropped + g->shed_frames ||
	    g->published != g->complete + g->partial)
		return hr_printf(a,
				 "the frames of the gather at %s do not add up: opened %" PRIu64
				 ", complete %" PRIu64 " + partial %" PRIu64 " + dropped %" PRIu64
				 " + shed %" PRIu64 ", published %" PRIu64,
				 edge, g->opened, g->complete, g->partial, g->dropped,
				 g->shed_frames, g->published);
	return NULL;
}

/* Did both ends of an edge close their books? */
static bool
both_ended(const struct hr_report *r, struct hr_page *page, uint32_t i)
{
	const struct hr_bound_edge *e = &r->plan->bound->edge[i];
	uint32_t from = hr_page_node(page, e->from)->state, to = hr_page_node(page, e->to)->state;

	return (from == HR_NODE_ENDED || from == HR_NODE_FAILED) &&
	       (to == HR_NODE_ENDED || to == HR_NODE_FAILED);
}

/* Its process died and the graph went on: the numbers went with it. */
static bool
died_with_it(const struct hr_report *r, struct hr_page *page, const struct hr_edge_numbers *e)
{
	const struct hr_plan *p = r->plan;
	const struct hr_page_process *q =
		hr_page_process(page, p->worker[p->node[e->edge->to].worker].process);

	return q->lives && !q->closed;
}

/* NULL: the edge is in order. */
static const char *
edge_fault(struct hr_arena *a, const struct hr_report *r, struct hr_page *page,
	   const struct hr_edge_numbers *e)
{
	if (!e->page->queue_valid && died_with_it(r, page, e))
		return NULL;
	if (!e->page->queue_valid)
		return hr_printf(a, "nobody reported the numbers of %s", e->name);
	if (!balances(&e->page->queue))
		return queue_text(a, e->name, "", &e->page->queue);
	if (!e->gather)
		return NULL;
	if (!balances(&e->page->gathered))
		return queue_text(a, e->name, " (assembled)", &e->page->gathered);
	return gather_text(a, e->name, e->gather);
}

static void
check_edges(struct hr_arena *a, struct hr_report *r, struct hr_outcome *out,
	    const struct hr_numbers *n)
{
	bool failed = out->exit_code != 0;

	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct hr_edge *e = n->edge[i].edge;
		const char *text;

		if (failed && (!n->edge[i].page->queue_valid || !both_ended(r, out->page, i)))
			continue;
		text = edge_fault(a, r, out->page, &n->edge[i]);
		if (!text)
			continue;
		append(a, out, e->source.at, r->plan->graph->node[e->to].name.text, text);
		if (!out->exit_code) {
			out->exit_code = 1;
			out->reason = HR_REASON_FAILED;
		}
	}
}

static const char *
loss_text(struct hr_arena *a, const struct hr_numbers *n)
{
	struct hr_text t;

	hr_text_init(&t, a);
	hr_text_add(&t, "--deny drops: %" PRIu64 " message%s lost", n->lost,
		    n->lost == 1 ? "" : "s");
	if (n->abandoned)
		hr_text_add(&t, ", %" PRIu64 " abandoned", n->abandoned);
	if (n->frames_lost)
		hr_text_add(&t, ", %" PRIu64 " frame%s dropped", n->frames_lost,
			    n->frames_lost == 1 ? "" : "s");
	if (n->pieces_lost)
		hr_text_add(&t, ", %" PRIu64 " piece%s not placed", n->pieces_lost,
			    n->pieces_lost == 1 ? "" : "s");
	return t.s;
}

int
hr_report_check(struct hr_arena *a, struct hr_report *r, struct hr_outcome *out)
{
	const struct hr_numbers *n;

	if (!out->page)
		return out->exit_code;
	n = hr_numbers_make(a, r->plan, out);
	check_edges(a, r, out, n);
	if (r->deny_drops && !out->exit_code &&
	    n->lost + n->abandoned + n->frames_lost + n->pieces_lost) {
		append(a, out, HR_NOWHERE, NULL, loss_text(a, n));
		out->exit_code = 4;
	}
	return out->exit_code;
}
