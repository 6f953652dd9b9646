// SPDX-License-Identifier: Apache-2.0
/*
 * text.c - the summary of a run: 25 lines at most, the verdict first.
 *
 * Each part is a list of lines.  When they do not fit, the longest part gives
 * way until they do; then edges and nodes are shown worst first, and the head of
 * the part says how many are not shown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/numbers.h"

enum { MAX_LINES = 25, MAX_COLUMNS = 9 };
enum part { PROCESSES, EDGES, NODES, COUNTERS, GATHERS, REMARKS, N_PARTS };

struct line {
	const char *cell[MAX_COLUMNS]; /* tables; cell[0] alone: a plain line */
	uint64_t badness[2];           /* larger is worse; compared in this order */
	uint32_t order;
};

struct lines {
	struct line *at;
	size_t n, cap;
	size_t shown;
	const char *const *head; /* of a table; NULL: plain lines */
};

struct summary {
	struct hr_arena *a;
	const struct hr_report *r;
	const struct hr_numbers *n;
	struct lines part[N_PARTS];
};

static struct line *
add(struct summary *s, enum part p)
{
	struct lines *l = &s->part[p];
	struct line *new = HR_PUSH(s->a, l->at, l->n, l->cap);

	*new = (struct line){ .order = (uint32_t)l->n };
	return new;
}

static const char *
count_text(struct summary *s, uint64_t n)
{
	return hr_printf(s->a, "%" PRIu64, n);
}

/* ---- processes ---- */

static void
add_workers(struct hr_text *t, const struct hr_plan *p, struct hr_page *page, uint32_t process)
{
	static const char *const policies[] = { "other", "fifo", "rr" };
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_workers; i++) {
		const struct hr_page_worker *w = hr_page_worker(page, i);

		if (p->worker[i].process != process || n++ >= 3)
			continue;
		hr_text_add(t, "%s%s on ", n > 1 ? ", " : "; ", p->worker[i].name);
		if (w->cpu >= 0)
			hr_text_add(t, "cpu %d", w->cpu);
		else
			hr_text_puts(t, "any cpu");
		if (w->policy && w->policy < 3)
			hr_text_add(t, " %s %d", policies[w->policy], w->priority);
	}
	if (n > 3)
		hr_text_add(t, " and %u more", n - 3);
}

static void
make_processes(struct summary *s)
{
	const struct hr_plan *p = s->r->plan;
	struct hr_page *page = s->r->outcome->page;

	for (uint32_t i = 0; i < p->n_processes; i++) {
		const struct hr_page_process *q = hr_page_process(page, i);
		double wall = (double)s->n->wall_ns;
		struct hr_text t;

		if (!p->process[i].n_workers)
			continue;
		hr_text_init(&t, s->a);
		hr_text_add(&t, "process %s: pid %u, %.2f cores, %s", p->process[i].name, q->pid,
			    wall > 0 ? (double)q->cpu_ns / wall : 0.0,
			    hr_bytes_short(s->a, q->max_rss_bytes));
		add_workers(&t, p, page, i);
		add(s, PROCESSES)->cell[0] = t.s;
	}
}

/* ---- edges ---- */

static const char *
quantile(struct summary *s, const struct hr_hist *h, double q, bool mark)
{
	if (!h->count)
		return "-";
	return hr_printf(s->a, "%s%s", mark ? "~" : "", hr_ns_text(s->a, hr_hist_quantile(h, q)));
}

static void
add_times(struct summary *s, struct line *l, const struct hr_edge_numbers *e,
	  const struct hr_hist *h)
{
	l->cell[4] = quantile(s, h, 0.5, false);
	l->cell[5] = quantile(s, h, 0.99, false);
	l->cell[6] = quantile(s, h, 0.999, e->page->sampled);
	l->cell[7] = quantile(s, h, 1.0, e->page->sampled);
	l->badness[0] = e->lost;
	/* What arrives at the end matters more than what passes by. */
	l->badness[1] = hr_hist_quantile(h, 0.99) | (e->into_sink ? UINT64_C(1) << 63 : 0);
}

static void
make_edges(struct summary *s)
{
	static const char *const head[] = { "edge", "messages", "lost", "time", "p50",
					    "p99",  "p99.9",    "max",  NULL };

	s->part[EDGES].head = head;
	for (uint32_t i = 0; i < s->n->n_edges; i++) {
		const struct hr_edge_numbers *e = &s->n->edge[i];
		struct line *l = add(s, EDGES);

		l->cell[0] = e->name;
		l->cell[1] = count_text(s, e->page->queue.received);
		l->cell[2] = count_text(s, e->lost);
		l->cell[3] = e->into_sink ? "e2e" : "age";
		add_times(s, l, e, &e->page->age);
		if (!e->into_sink)
			continue;
		l = add(s, EDGES);
		l->cell[0] = l->cell[1] = l->cell[2] = "";
		l->cell[3] = "tail";
		add_times(s, l, e, &e->page->tail);
	}
}

/* ---- nodes ---- */

static const char *
share_text(struct summary *s, const struct hr_node_numbers *n, uint32_t share)
{
	if (!n->work && !n->wait_in && !n->wait_out)
		return "-";
	return hr_printf(s->a, "%u.%u%%", share / 10, share % 10);
}

static void
make_nodes(struct summary *s)
{
	static const char *const head[] = { "node",        "calls", "working", "waiting-in",
					    "waiting-out", "",      NULL };
	static const char *const states[] = { "not started", "not ended", "", "failed",
					      "peer lost" };

	s->part[NODES].head = head;
	for (uint32_t i = 0; i < s->n->n_nodes; i++) {
		const struct hr_node_numbers *n = &s->n->node[i];
		struct line *l = add(s, NODES);

		l->cell[0] = n->name;
		l->cell[1] = count_text(s, n->page->calls);
		l->cell[2] = share_text(s, n, n->work);
		l->cell[3] = share_text(s, n, n->wait_in);
		l->cell[4] = share_text(s, n, n->wait_out);
		l->cell[5] = n->page->state <= HR_NODE_LOST ? states[n->page->state] : "?";
		l->badness[0] = n->page->state != HR_NODE_ENDED;
		l->badness[1] = n->work;
	}
}

/* ---- counters, gathers, remarks ---- */

/* "rx: lost=3 packets=12"; NULL: nothing to say.  A sink's counters are its result. */
static const char *
counter_line(struct summary *s, const struct hr_node_numbers *n)
{
	struct hr_text t;
	bool any = false;

	hr_text_init(&t, s->a);
	hr_text_add(&t, "%s:", n->name);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t c = 0; c < n->bound->op->counters.count; c++) {
			const struct hop_counter *k = hr_counter_at(n->bound->op, c);
			bool warns = k->level <= HOP_LOG_WARN && n->counter[c];

			/* A sink's results are told even when zero; that no fault occurred is not.
			 */
			if (warns != !pass ||
			    (!n->counter[c] && (!n->is_sink || k->level <= HOP_LOG_WARN)))
				continue;
			hr_text_add(&t, " %s=%" PRIu64, k->name, n->counter[c]);
			any = true;
		}
	}
	return any ? t.s : NULL;
}

/* A line each for what is worth a look and for sinks, one line for all others. */
static void
make_counters(struct summary *s)
{
	struct hr_text rest;

	hr_text_init(&rest, s->a);
	for (int pass = 0; pass < 3; pass++) {
		for (uint32_t i = 0; i < s->n->n_nodes; i++) {
			const struct hr_node_numbers *n = &s->n->node[i];
			int due = n->warns ? 0 : n->is_sink ? 1 : 2;
			const char *text = due == pass ? counter_line(s, n) : NULL;

			if (text && pass < 2)
				add(s, COUNTERS)->cell[0] = text;
			else if (text)
				hr_text_add(&rest, "%s%s", rest.len ? "; " : "", text);
		}
	}
	if (rest.len)
		add(s, COUNTERS)->cell[0] = rest.s;
}

static void
make_gathers(struct summary *s)
{
	for (uint32_t i = 0; i < s->n->n_edges; i++) {
		const struct hr_page_gather *g = s->n->edge[i].gather;

		if (!g)
			continue;
		add(s, GATHERS)->cell[0] = hr_printf(
			s->a,
			"gather at %s: %" PRIu64 " of %" PRIu64 " frames complete, %" PRIu64
			" partial, %" PRIu64 " dropped; pieces: %" PRIu64 " placed, %" PRIu64
			" duplicate, %" PRIu64 " late, %" PRIu64 " shed, %" PRIu64 " invalid%s",
			strstr(s->n->edge[i].name, "-> ") + 3, g->complete, g->opened, g->partial,
			g->dropped + g->shed_frames, g->placed, g->duplicate, g->late, g->shed,
			g->invalid, s->n->edge[i].plan->why ? "; copied" : "");
	}
}

static void
remark(struct summary *s, const char *what, const struct hr_text *t)
{
	if (t->len)
		add(s, REMARKS)->cell[0] = hr_printf(s->a, "%s: %s", what, t->s);
}

/* Outputs that nobody reads, and ops that run elsewhere than meant. */
static void
remark_nodes(struct summary *s)
{
	struct hr_text unread, fallback;

	hr_text_init(&unread, s->a);
	hr_text_init(&fallback, s->a);
	for (uint32_t i = 0; i < s->n->n_nodes; i++) {
		const struct hr_node_numbers *n = &s->n->node[i];

		for (uint32_t o = 0; o < n->bound->n_out; o++)
			if (!n->bound->out[o].n_edges)
				hr_text_add(&unread, "%s%s.%s", unread.len ? ", " : "", n->name,
					    n->bound->out[o].port->name);
		if (n->unread)
			hr_text_add(&unread, " (%" PRIu64 " messages)", n->unread);
		if (n->bound->fallback)
			hr_text_add(&fallback, "%s%s", fallback.len ? ", " : "", n->name);
	}
	remark(s, "unread", &unread);
	remark(s, "fallback to the CPU", &fallback);
}

static void
remark_edges(struct summary *s)
{
	struct hr_text copies;

	hr_text_init(&copies, s->a);
	for (uint32_t i = 0; i < s->n->n_edges; i++) {
		const char *why = s->n->edge[i].plan->why;

		/* That a gather copies is said in its own line. */
		if (!why || s->n->edge[i].gather)
			continue;
		if (!strncmp(why, "copies: ", 8))
			why += 8;
		hr_text_add(&copies, "%s%s (%s)", copies.len ? ", " : "", s->n->edge[i].name, why);
	}
	remark(s, "copies", &copies);
}

/* ---- fitting and printing ---- */

static void
fit(struct summary *s)
{
	size_t used = 1; /* the verdict */

	for (int i = 0; i < N_PARTS; i++) {
		s->part[i].shown = s->part[i].n;
		used += s->part[i].n + (s->part[i].head && s->part[i].n ? 1 : 0);
	}
	while (used > MAX_LINES) {
		int most = 0;

		for (int i = 1; i < N_PARTS; i++)
			if (s->part[i].shown > s->part[most].shown)
				most = i;
		s->part[most].shown--;
		used--;
	}
}

static int
worst_first(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->badness[i] != y->badness[i])
			return x->badness[i] > y->badness[i] ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* The tail of an edge stands below it without a name: give it one before lines change places. */
static void
name_tails(struct lines *l)
{
	for (size_t i = 1; i < l->n; i++)
		for (size_t c = 0; l->head[c]; c++)
			if (!*l->at[i].cell[c] && c < 3)
				l->at[i].cell[c] = l->at[i - 1].cell[c];
}

static void
measure(const struct lines *l, size_t *width)
{
	for (size_t c = 0; l->head[c]; c++) {
		width[c] = strlen(l->head[c]);
		for (size_t i = 0; i < l->shown; i++)
			if (strlen(l->at[i].cell[c]) > width[c])
				width[c] = strlen(l->at[i].cell[c]);
	}
}

static void
print_row(struct hr_text *t, const char *const *head, const char *const *cell, const size_t *width)
{
	hr_text_add(t, "%-*s", (int)width[0], cell[0]);
	for (size_t c = 1; head[c]; c++)
		hr_text_add(t, "  %*s", (int)width[c], cell[c]);
	while (t->len && t->s[t->len - 1] == ' ')
		t->s[--t->len] = '\0';
}

static void
print_table(struct hr_text *t, struct lines *l)
{
	size_t width[MAX_COLUMNS] = { 0 };

	if (l->shown < l->n) {
		name_tails(l);
		qsort(l->at, l->n, sizeof(*l->at), worst_first);
	}
	measure(l, width);
	print_row(t, l->head, l->head, width);
	if (l->shown < l->n)
		hr_text_add(t, "  (the worst %zu of %zu lines)", l->shown, l->n);
	hr_text_puts(t, "\n");
	for (size_t i = 0; i < l->shown; i++) {
		print_row(t, l->head, l->at[i].cell, width);
		hr_text_puts(t, "\n");
	}
}

static void
print_plain(struct hr_text *t, const struct lines *l)
{
	for (size_t i = 0; i < l->shown; i++) {
		hr_text_puts(t, l->at[i].cell[0]);
		if (i + 1 == l->shown && l->shown < l->n)
			hr_text_add(t, "  (and %zu more)", l->n - l->shown);
		hr_text_puts(t, "\n");
	}
}

/* ---- the verdict ---- */

static const char *
reason_text(struct hr_arena *a, const struct hr_outcome *o)
{
	const char *sig = o->signal ? sigabbrev_np(o->signal) : NULL;

	switch (o->reason) {
	case HR_REASON_SIGNAL:
		return hr_printf(a, "stopped by SIG%s", sig ? sig : "?");
	case HR_REASON_FORCED:
		return hr_printf(a, "forced to stop by SIG%s", sig ? sig : "?");
	case HR_REASON_DURATION:
		return "stopped by --duration";
	case HR_REASON_COUNT:
		return "ended by --count";
	case HR_REASON_FAILED:
		return "failed";
	case HR_REASON_STALLED:
		return "stalled";
	case HR_REASON_KILLED:
		return "had to be killed";
	case HR_REASON_ENDED:
		break;
	}
	return "ended";
}

static void
add_verdict(struct hr_text *t, const struct hr_report *r, const struct hr_numbers *n)
{
	const struct hr_outcome *o = r->outcome;
	const char *name = r->name ? r->name : r->plan->graph->name;

	hr_text_add(t, "%s: %s", name ? name : "graph", reason_text(t->arena, o));
	if (n) {
		hr_text_add(t, " after %s, %" PRIu64 " delivered, %" PRIu64 " lost",
			    hr_ns_text(t->arena, (uint64_t)n->wall_ns), n->delivered, n->lost);
		if (n->abandoned)
			hr_text_add(t, ", %" PRIu64 " abandoned", n->abandoned);
		if (n->frames_lost)
			hr_text_add(t, ", %" PRIu64 " frames dropped", n->frames_lost);
	}
	if (o->exit_code && o->first && o->first->node)
		hr_text_add(t, ", first cause: node %s", o->first->node);
	else if (o->exit_code && o->first && o->first->process)
		hr_text_add(t, ", first cause: process %s", o->first->process);
	hr_text_add(t, ", exit %d\n", o->exit_code);
}

char *
hr_report_text(struct hr_arena *a, const struct hr_report *r)
{
	struct summary s = { .a = a, .r = r };
	struct hr_text t;

	hr_text_init(&t, a);
	if (!r->outcome->page) {
		add_verdict(&t, r, NULL);
		return t.s;
	}
	s.n = hr_numbers_make(a, r->plan, r->outcome);
	add_verdict(&t, r, s.n);
	make_processes(&s);
	make_edges(&s);
	make_nodes(&s);
	make_counters(&s);
	make_gathers(&s);
	remark_nodes(&s);
	remark_edges(&s);
	fit(&s);
	for (int i = 0; i < N_PARTS; i++) {
		if (s.part[i].head && s.part[i].n)
			print_table(&t, &s.part[i]);
		else
			print_plain(&t, &s.part[i]);
	}
	return t.s;
}
