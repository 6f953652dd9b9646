/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - making and mapping the segments of a run.
 *
 * Shared channels and the page are sealed memfds that children inherit at exec;
 * channels inside one process are private memory with the same layout.  What
 * fails half-way is undone by hr_wire_release, which copes with any state.
 */
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

uint32_t
hr_wire_writer(const struct hr_plan *p, const struct hr_plan_chan *c)
{
	return p->node[c->node].worker;
}

static bool
is_here(const struct hr_plan *p, const struct hr_plan_chan *c, uint32_t process)
{
	if (p->worker[hr_wire_writer(p, c)].process == process)
		return true;
	for (uint32_t r = 0; r < c->n_readers; r++)
		if (p->worker[p->node[p->graph->edge[c->edge[r]].to].worker].process == process)
			return true;
	return false;
}

static int
make_chan(struct hr_arena *a, struct hr_wiring *w, uint32_t index, bool shared, uint32_t epoch,
	  struct hr_error *err)
{
	const struct hr_plan *p = w->plan;
	const struct hr_plan_chan *c = &p->chan[index];
	struct hmq_reader_config *reader = HR_ARRAY(a, c->n_readers, struct hmq_reader_config);
	struct hmq_config cfg;
	struct hmq_error e = { 0 };
	char name[64];
	uint64_t bytes;

	hr_plan_chan_config(p, index, reader, &cfg);
	cfg.epoch = epoch;
	snprintf(name, sizeof name, "holorun:%s.%u", p->graph->node[c->node].name.text, c->out);
	bytes = hmq_chan_bytes(&cfg, &e);
	if (!bytes)
		return HR_FAIL(err, -e.code, "channel of node '%s': %s",
			       p->graph->node[c->node].name.text, e.text);
	if (hmq_segment_create(&w->chan[index], name, bytes, shared ? HMQ_SEG_SHARED : 0, &e))
		return HR_FAIL(err, -e.code, "channel of node '%s' (%u slots of %llu bytes): %s",
			       p->graph->node[c->node].name.text, c->slots,
			       (unsigned long long)c->payload_bytes, e.text);
	if (hmq_chan_format(&w->chan[index], &cfg, &e))
		return HR_FAIL(err, -e.code, "channel of node '%s': %s",
			       p->graph->node[c->node].name.text, e.text);
	return 0;
}

int
hr_wire_renew(struct hr_arena *a, struct hr_wiring *w, uint32_t chan, uint32_t epoch,
	      struct hr_error *err)
{
	w->chan[chan] = (struct hmq_segment){ .fd = -1 };
	return make_chan(a, w, chan, true, epoch, err);
}

static void
prepare(struct hr_arena *a, const struct hr_plan *p, struct hr_wiring *w)
{
	*w = (struct hr_wiring){ .plan = p, .bell = -1, .process = UINT32_MAX };
	w->page_seg.fd = -1;
	w->chan = HR_ARRAY(a, p->n_chans, struct hmq_segment);
	w->event_fd = HR_ARRAY(a, p->n_workers, int32_t);
	for (uint32_t i = 0; i < p->n_chans; i++)
		w->chan[i].fd = -1;
	for (uint32_t i = 0; i < p->n_workers; i++)
		w->event_fd[i] = -1;
}

static int
make_descriptors(struct hr_wiring *w, struct hr_error *err)
{
	w->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->bell < 0)
		return HR_FAIL(err, errno, "no event descriptor: %s (see ulimit -n)",
			       strerror(errno));
	for (uint32_t i = 0; i < w->plan->n_workers; i++) {
		if (!w->plan->worker[i].watches)
			continue;
		w->event_fd[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (w->event_fd[i] < 0)
			return HR_FAIL(err, errno, "no event descriptor: %s (see ulimit -n)",
				       strerror(errno));
	}
	return 0;
}

int
hr_wire_make(struct hr_arena *a, const struct hr_plan *p, bool all_here, struct hr_wiring *w,
	     struct hr_error *err)
{
	struct hmq_error e = { 0 };
	uint64_t bytes = hr_page_bytes(p);
	int rc;

	prepare(a, p, w);
	if (hmq_segment_create(&w->page_seg, "holorun:page", bytes, HMQ_SEG_SHARED, &e)) {
		w->page_seg.base = NULL;
		return HR_FAIL(err, -e.code, "the run page: %s", e.text);
	}
	w->page = hr_page_view(a, w->page_seg.base, p);
	hr_page_format(w->page, p);
	rc = make_descriptors(w, err);
	for (uint32_t i = 0; i < p->n_chans && !rc; i++)
		if (all_here || p->chan[i].shared)
			rc = make_chan(a, w, i, !all_here, 0, err);
	if (rc)
		hr_wire_release(w);
	return rc;
}

void
hr_wire_fds(struct hr_arena *a, const struct hr_wiring *w, struct hr_wire_fds *out)
{
	const struct hr_plan *p = w->plan;

	*out = (struct hr_wire_fds){ .page = w->page_seg.fd,
				     .bell = w->bell,
				     .n_chans = p->n_chans,
				     .n_workers = p->n_workers,
				     .chan = HR_ARRAY(a, p->n_chans, int32_t),
				     .event_fd = HR_ARRAY(a, p->n_workers, int32_t) };
	for (uint32_t i = 0; i < p->n_chans; i++)
		out->chan[i] = w->chan[i].fd;
	for (uint32_t i = 0; i < p->n_workers; i++)
		out->event_fd[i] = w->event_fd[i];
}

static int
attach_chans(struct hr_arena *a, struct hr_wiring *w, const struct hr_wire_fds *fds,
	     struct hr_error *err)
{
	const struct hr_plan *p = w->plan;
	struct hmq_error e = { 0 };

	for (uint32_t i = 0; i < p->n_chans; i++) {
		int rc = 0;

		if (!is_here(p, &p->chan[i], w->process)) {
			if (fds->chan[i] >= 0)
				close(fds->chan[i]);
			continue;
		}
		if (!p->chan[i].shared)
			rc = make_chan(a, w, i, false, 0, err);
		else if (hmq_segment_map(&w->chan[i], fds->chan[i], &e))
			rc = HR_FAIL(err, -e.code, "channel %u: %s", i, e.text);
		if (rc)
			return rc;
	}
	return 0;
}

int
hr_wire_attach(struct hr_arena *a, const struct hr_plan *p, uint32_t process,
	       const struct hr_wire_fds *fds, struct hr_wiring *w, struct hr_error *err)
{
	struct hmq_error e = { 0 };
	int rc;

	prepare(a, p, w);
	w->process = process;
	if (fds->n_chans != p->n_chans || fds->n_workers != p->n_workers)
		return HR_FAIL(err, EBADMSG, "the supervisor planned %u channels, this process %u",
			       fds->n_chans, p->n_chans);
	if (hmq_segment_map(&w->page_seg, fds->page, &e)) {
		w->page_seg.base = NULL;
		return HR_FAIL(err, -e.code, "the run page: %s", e.text);
	}
	w->page = hr_page_view(a, w->page_seg.base, p);
	w->bell = fds->bell;
	memcpy(w->event_fd, fds->event_fd, p->n_workers * sizeof *w->event_fd);
	if (hr_page_check(w->page, w->page_seg.bytes))
		rc = HR_FAIL(err, EBADMSG, "the run page was made for another plan");
	else
		rc = attach_chans(a, w, fds, err);
	if (rc)
		hr_wire_release(w);
	return rc;
}

void
hr_wire_release(struct hr_wiring *w)
{
	for (uint32_t i = 0; i < w->plan->n_chans; i++)
		if (w->chan[i].base)
			hmq_segment_close(&w->chan[i]);
	for (uint32_t i = 0; i < w->plan->n_workers; i++)
		if (w->event_fd[i] >= 0)
			close(w->event_fd[i]);
	if (w->bell >= 0)
		close(w->bell);
	if (w->page_seg.base)
		hmq_segment_close(&w->page_seg);
	w->page = NULL;
	w->bell = -1;
}

struct hmq_peer
hr_wire_peer(const struct hr_wiring *w, uint32_t from_worker, uint32_t to_worker)
{
	const struct hr_plan_worker *from = &w->plan->worker[from_worker];
	const struct hr_plan_worker *to = &w->plan->worker[to_worker];
	struct hmq_peer peer = { .event_fd = -1 };

	if (from_worker == to_worker)
		return peer;
	if (to->wait != HR_WAIT_SPIN || to->blocks) {
		peer.waiter = hr_page_waiter(w->page, to_worker);
		peer.event_fd = w->event_fd[to_worker];
	}
	if (from->process != to->process)
		peer.life = hr_page_waiter(w->page, to_worker);
	return peer;
}

void
hr_wire_wake(const struct hr_wiring *w, uint32_t worker)
{
	struct hmq_peer peer = { .waiter = hr_page_waiter(w->page, worker),
				 .event_fd = w->event_fd[worker] };

	hmq_wake(&peer);
}

void
hr_wire_ring(const struct hr_wiring *w)
{
	uint64_t one = 1;

	/* A full counter already says what this would. */
	if (write(w->bell, &one, sizeof one) < 0)
		return;
}
