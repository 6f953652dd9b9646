/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the memory of a run: the page, the channels, the descriptors.
 *
 * The supervisor makes what processes share (hr_wire_make) and hands the
 * descriptors to its children, each of which maps what concerns it and makes
 * its private channels (hr_wire_attach).  Nothing has a name in the file
 * system; what is left when the last process ends is nothing.  [control]
 */
#ifndef HR_WIRE_H
#define HR_WIRE_H

#include "base/error.h"
#include "wire/page.h"

struct hr_wiring {
	const struct hr_plan *plan;
	struct hr_page *page;
	struct hmq_segment page_seg;
	struct hmq_segment *chan; /* by channel; base NULL: not in this process */
	int32_t *event_fd;        /* by worker; -1: its waiter is a futex */
	int32_t bell;             /* eventfd: rung by workers when their state changes */
	uint32_t process;         /* this one; UINT32_MAX: the supervisor, or all in one */
};

/* A fresh shared channel in place of w->chan[chan], whose segment the caller keeps. */
int hr_wire_renew(struct hr_arena *a, struct hr_wiring *w, uint32_t chan, uint32_t epoch,
		  struct hr_error *err);
/* The numbers a child inherits, in the plan's order; -1: none. */
struct hr_wire_fds {
	int32_t page;
	int32_t bell;
	uint32_t n_chans, n_workers;
	int32_t *chan;
	int32_t *event_fd;
};

/* all_here: no child processes; every channel is private memory of this one. */
int hr_wire_make(struct hr_arena *a, const struct hr_plan *p, bool all_here, struct hr_wiring *w,
		 struct hr_error *err);
int hr_wire_attach(struct hr_arena *a, const struct hr_plan *p, uint32_t process,
		   const struct hr_wire_fds *fds, struct hr_wiring *w, struct hr_error *err);
void hr_wire_fds(struct hr_arena *a, const struct hr_wiring *w, struct hr_wire_fds *out);
/* Unmap and close everything. */
void hr_wire_release(struct hr_wiring *w);

/* What the writer of a channel is told of reader r, and a reader of its writer. */
struct hmq_peer hr_wire_peer(const struct hr_wiring *w, uint32_t from_worker, uint32_t to_worker);
/* The worker that writes a channel. */
uint32_t hr_wire_writer(const struct hr_plan *p, const struct hr_plan_chan *c);
/* Wake a worker, whatever it sleeps in. */
void hr_wire_wake(const struct hr_wiring *w, uint32_t worker);
/* Tell the supervisor that something changed. */
void hr_wire_ring(const struct hr_wiring *w);

#endif
