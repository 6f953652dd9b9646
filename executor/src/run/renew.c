/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew.c - the channels of a process that is started again.
 *
 * Whatever it writes gets a new channel, which its readers in other processes are
 * told; the old one is kept here until they took all of it, or died, for its
 * numbers.  Rows of the new channel that nobody will ever read are closed on behalf
 * of readers that have gone, so that the writer does not wait for them.  What half
 * a step of a dead process left in the page is set straight.
 */
#include <string.h>

#include "run/super.h"

static uint32_t
process_of_node(const struct hr_super *s, uint32_t node)
{
	return s->plan->worker[s->plan->node[node].worker].process;
}

static uint32_t
reader_of(const struct hr_super *s, uint32_t edge)
{
	return process_of_node(s, s->plan->graph->edge[edge].to);
}

static bool
is_written_by(const struct hr_super *s, uint32_t chan, uint32_t process)
{
	const struct hr_plan_chan *c = &s->plan->chan[chan];

	return c->shared && s->plan->worker[hr_wire_writer(s->plan, c)].process == process;
}

static bool
is_gone(const struct hr_super *s, uint32_t process)
{
	return hr_load32_acquire(&hr_page_process(s->page, process)->gone);
}

/* ---- what was replaced ---------------------------------------------------------------------- */

static const struct hr_child_proc *
child_of(const struct hr_super *s, uint32_t process)
{
	for (uint32_t i = 0; i < s->n_children; i++)
		if (s->child[i].process == process)
			return &s->child[i];
	return NULL;
}

/* The life of the reader that could take what is left is over. */
static bool
has_passed(const struct hr_super *s, const struct hr_old_chan *o, uint32_t reader)
{
	uint32_t process = reader_of(s, s->plan->chan[o->chan].edge[reader]);
	const struct hr_child_proc *c = child_of(s, process);

	return !c || !c->pid || c->dead ||
	       hr_page_process(s->page, process)->lives != o->lives[reader];
}

/* An older channel is done with when its readers took all of it. */
static bool
settle_old(struct hr_super *s, const struct hr_old_chan *o, bool last)
{
	const struct hr_plan_chan *c = &s->plan->chan[o->chan];
	struct hmq_edge_stat st[HMQ_MAX_READERS];

	for (uint32_t r = 0; r < c->n_readers; r++) {
		hmq_chan_stat(&o->seg, r, &st[r]);
		if (st[r].sent == st[r].received + st[r].lost + st[r].left + st[r].abandoned)
			continue;
		if (!last && !has_passed(s, o, r))
			return false;
		st[r].abandoned = st[r].sent - st[r].received - st[r].lost - st[r].left;
	}
	for (uint32_t r = 0; r < c->n_readers; r++) {
		struct hmq_edge_stat *sum = &s->past[c->edge[r]];

		sum->sent += st[r].sent;
		sum->received += st[r].received;
		sum->lost += st[r].lost;
		sum->left += st[r].left;
		sum->abandoned += st[r].abandoned;
	}
	return true;
}

uint32_t
hr_renew_settle(struct hr_super *s, uint32_t process, bool last)
{
	struct hr_old_chan **at = &s->old;
	uint32_t n = 0;

	while (*at) {
		struct hr_old_chan *o = *at;

		if (!settle_old(s, o, last)) {
			n += is_written_by(s, o->chan, process);
			at = &o->next;
			continue;
		}
		hmq_segment_close(&o->seg);
		*at = o->next;
		o->next = s->spare;
		s->spare = o;
	}
	return n;
}

static void
keep_old(struct hr_super *s, uint32_t chan)
{
	const struct hr_plan_chan *c = &s->plan->chan[chan];
	struct hr_old_chan *o = s->spare;

	if (o)
		s->spare = o->next;
	else
		o = HR_NEW(s->arena, struct hr_old_chan);
	o->seg = s->wiring.chan[chan];
	o->chan = chan;
	for (uint32_t r = 0; r < c->n_readers; r++)
		o->lives[r] = hr_page_process(s->page, reader_of(s, c->edge[r]))->lives;
	o->next = s->old;
	s->old = o;
}

/* ---- what comes instead --------------------------------------------------------------------- */

/* Nobody will: the writer is not to wait for this reader. */
static void
close_row(struct hr_super *s, uint32_t chan, uint32_t reader)
{
	struct hmq_peer none = { .event_fd = -1 };
	struct hmq_reader *r;

	if (hmq_reader_open(&r, &s->wiring.chan[chan], reader, &none, NULL))
		return;
	hmq_reader_end(r);
	hmq_reader_free(r);
}

void
hr_renew_close_rows(struct hr_super *s, uint32_t process)
{
	const struct hr_plan *p = s->plan;

	for (uint32_t i = 0; i < p->n_chans; i++) {
		uint32_t writer = p->worker[hr_wire_writer(p, &p->chan[i])].process;

		if (!p->chan[i].shared || !s->wiring.chan[i].base || writer == process ||
		    hr_page_process(s->page, writer)->lives < 2)
			continue;
		for (uint32_t r = 0; r < p->chan[i].n_readers; r++)
			if (reader_of(s, p->chan[i].edge[r]) == process)
				close_row(s, i, r);
	}
	hr_super_wake(s);
}

static void
tell_readers(struct hr_super *s, uint32_t chan, uint32_t writer)
{
	const struct hr_plan_chan *c = &s->plan->chan[chan];

	for (uint32_t k = 0; k < s->n_children; k++) {
		const struct hr_child_proc *child = &s->child[k];
		bool reads = false;

		for (uint32_t r = 0; r < c->n_readers; r++)
			reads |= reader_of(s, c->edge[r]) == child->process;
		if (reads && child->process != writer && child->pid && !child->dead)
			hr_spawn_tell_one(child, HR_TELL_RENEW, chan, s->wiring.chan[chan].fd);
	}
}

int
hr_renew_channels(struct hr_super *s, uint32_t process, struct hr_error *err)
{
	uint32_t epoch = hr_page_process(s->page, process)->lives;

	for (uint32_t i = 0; i < s->plan->n_chans; i++) {
		const struct hr_plan_chan *c = &s->plan->chan[i];
		struct hr_arena *scratch;
		int rc;

		if (!is_written_by(s, i, process))
			continue;
		keep_old(s, i);
		scratch = hr_arena_new();
		rc = hr_wire_renew(scratch, &s->wiring, i, epoch, err);
		hr_arena_free(scratch);
		if (rc)
			return -1;
		for (uint32_t r = 0; r < c->n_readers; r++)
			if (is_gone(s, reader_of(s, c->edge[r])))
				close_row(s, i, r);
		tell_readers(s, i, process);
	}
	return 0;
}

/* ---- what was left half done ---------------------------------------------------------------- */

/* The frames that were open are dropped, and a piece in hand was not placed. */
static void
settle_gather(struct hr_page_gather *g)
{
	g->received = g->placed + g->duplicate + g->late + g->shed + g->invalid;
	g->published = g->complete + g->partial;
	g->dropped = g->opened - g->published - g->shed_frames;
}

void
hr_renew_page(struct hr_super *s, uint32_t process)
{
	struct hr_page_process *p = hr_page_process(s->page, process);

	for (uint32_t i = 0; i < s->plan->graph->n_edges; i++) {
		if (reader_of(s, i) != process)
			continue;
		/* What it once copied is not the last word any more. */
		hr_store32_release(&hr_page_edge(s->page, i)->queue_valid, 0);
		if (s->plan->graph->edge[i].gather)
			settle_gather(hr_page_gather(s->page, i));
	}
	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		if (s->plan->worker[i].process == process)
			hr_store32_relaxed(&hr_page_worker(s->page, i)->in_node, HR_NO_NODE);
	hr_store32_relaxed(&p->in_node, HR_NO_NODE);
	hr_store32_relaxed(&p->in_call, HR_CALL_NONE);
	hr_log_start_over(hr_page_log(s->page, process));
}
