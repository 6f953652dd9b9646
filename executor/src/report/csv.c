// SPDX-License-Identifier: Apache-2.0
/*
 * csv.c - one row per edge and per node, units in the headers.
 *
 * Cells that make no sense for a row are empty.  Texts are quoted when they
 * hold a comma, a quote or a line end.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/numbers.h"

static const char head_line[] =
	"kind,name,messages,sent,lost,left,abandoned,depth_messages,max_queued_messages,"
	"age_p50_ns,age_p99_ns,age_p999_ns,age_max_ns,tail_p50_ns,tail_p99_ns,tail_p999_ns,"
	"tail_max_ns,samples,sampled,calls,taken_messages,filled_messages,working_percent,"
	"waiting_in_percent,waiting_out_percent,unread_messages\n";

static void
add_name(struct hr_text *t, const char *s)
{
	if (!strpbrk(s, ",\"\n\r")) {
		hr_text_puts(t, s);
		return;
	}
	hr_text_puts(t, "\"");
	for (; *s; s++) {
		if (*s == '"')
			hr_text_puts(t, "\"");
		hr_text_putn(t, s, 1);
	}
	hr_text_puts(t, "\"");
}

static void
add_hist(struct hr_text *t, const struct hr_hist *h)
{
	static const double q[] = { 0.5, 0.99, 0.999, 1.0 };

	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		hr_text_puts(t, ",");
		if (h && h->count)
			hr_text_add(t, "%" PRIu64, hr_hist_quantile(h, q[i]));
	}
}

static void
add_edge(struct hr_text *t, const struct hr_edge_numbers *e)
{
	const struct hmq_edge_stat *s = &e->page->queue;

	hr_text_puts(t, "edge,");
	add_name(t, e->name);
	hr_text_add(t,
		    ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32
		    ",%" PRIu32,
		    s->received, s->sent, e->lost, s->left, s->abandoned, e->plan->depth,
		    s->max_queued);
	add_hist(t, &e->page->age);
	add_hist(t, e->into_sink ? &e->page->tail : NULL);
	hr_text_add(t, ",%" PRIu64 ",%s,,,,,,,\n", e->page->age.count,
		    e->page->sampled ? "true" : "false");
}

static void
add_node(struct hr_text *t, const struct hr_node_numbers *n)
{
	hr_text_puts(t, "node,");
	add_name(t, n->name);
	hr_text_fill(t, ',', 17);
	hr_text_add(t, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u.%u,%u.%u,%u.%u,%" PRIu64 "\n",
		    n->page->calls, n->page->taken, n->page->filled, n->work / 10, n->work % 10,
		    n->wait_in / 10, n->wait_in % 10, n->wait_out / 10, n->wait_out % 10,
		    n->unread);
}

char *
hr_report_csv(struct hr_arena *a, const struct hr_report *r)
{
	const struct hr_numbers *n;
	struct hr_text t;

	hr_text_init(&t, a);
	hr_text_puts(&t, head_line);
	if (!r->outcome->page)
		return t.s;
	n = hr_numbers_make(a, r->plan, r->outcome);
	for (uint32_t i = 0; i < n->n_edges; i++)
		add_edge(&t, &n->edge[i]);
	for (uint32_t i = 0; i < n->n_nodes; i++)
		add_node(&t, &n->node[i]);
	return t.s;
}
