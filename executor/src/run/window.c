/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - one look at a node: open its windows, call process(), close them.
 *
 * The rule of when an op is called: every connected input shows
 * max(min_batch, need) messages or has ended, every output shows min_batch
 * loans; an input flagged HOP_PORT_ANY suffices alone, and so does a watched
 * descriptor that is ready, whatever the inputs show.  What is shown and not
 * taken stays first, at the same address; the same holds for loans.  No heap, no
 * lock; a system call only where hmq wakes a sleeping peer.  [worker]
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "run/inst.h"

_Static_assert(sizeof(struct hop_rx) == sizeof(struct hmq_rx) &&
		       offsetof(struct hop_rx, head) == offsetof(struct hmq_rx, head) &&
		       offsetof(struct hop_rx, data) == offsetof(struct hmq_rx, data) &&
		       offsetof(struct hop_rx, bytes) == offsetof(struct hmq_rx, bytes) &&
		       offsetof(struct hop_rx, slot) == offsetof(struct hmq_rx, slot),
	       "a window entry is the transport's, untranslated");
_Static_assert(sizeof(struct hop_tx) == sizeof(struct hmq_tx) &&
		       offsetof(struct hop_tx, head) == offsetof(struct hmq_tx, head) &&
		       offsetof(struct hop_tx, data) == offsetof(struct hmq_tx, data) &&
		       offsetof(struct hop_tx, capacity) == offsetof(struct hmq_tx, capacity) &&
		       offsetof(struct hop_tx, slot) == offsetof(struct hmq_tx, slot),
	       "a loan is the transport's, untranslated");
#define SAME(m) (offsetof(struct hop_head, m) == offsetof(struct hmq_head, m))
_Static_assert(sizeof(struct hop_head) == sizeof(struct hmq_head) && SAME(seq) && SAME(frame) &&
		       SAME(born_ns) && SAME(stamp_ns) && SAME(bytes) && SAME(index) &&
		       SAME(flags) && SAME(stream) && SAME(dtype) && SAME(rank) && SAME(dim) &&
		       SAME(last_ns) && SAME(user),
	       "one message head for both headers");

enum {
	MAX_ERRNO = 4095,                  /* as the kernel has it */
	TIMED_EVERY_NS = 100 * 1000,       /* below 10 kHz every message is timed */
	BLOCKS_FOR_NS = 100 * 1000 * 1000, /* how long a blocking op may wait in one call */
};

/* Show what has come; false when the peer wrote nonsense. */
static bool
in_show(struct hr_in *in)
{
	int32_t got;

	if (in->shown == in->max)
		return true;
	got = hmq_peek(in->link.reader, in->shown - in->carried, hr_hmq_rx(in->rx + in->shown),
		       in->max - in->shown);
	if (got < 0)
		return false;
	in->shown += (uint32_t)got;
	return true;
}

/* The writer was started again while some, too few for a call, are shown: they come first. */
static void
in_carry(struct hr_in *in, struct hr_reading *of)
{
	while (in->carried < in->shown)
		in->carry[in->carried++] = of;
	in->odd |= in->carried > 0;
}

/* Too little is shown: has the stream ended?  Then whatever came before the end is shown too. */
static bool
in_check_end(struct hr_in *in)
{
	struct hr_reading *was = in->link.now;
	uint32_t peer = hr_link_peer(&in->link, in->shown - in->carried);

	if (in->link.now != was)
		in_carry(in, was);
	if (peer == HMQ_OPEN)
		return true;
	if (peer == HMQ_BROKEN || !in_show(in))
		return false;
	if (hmq_queued(in->link.reader) == in->shown - in->carried) {
		in->ended = true;
		in->lost = peer == HMQ_LOST;
	}
	return true;
}

/* Top up the loans; how many may be filled now, so that publishing never waits. */
static uint32_t
out_open(struct hr_out *out)
{
	uint32_t room = hmq_room(out->writer);

	/* Without readers there is room without end: what one that will be back has not seen would
	 * go nowhere. */
	if (out->may_return && !out->held)
		out->held = hmq_writer_readers(out->writer) == 0;
	if (out->held)
		return 0;
	if (out->loaned < out->max)
		out->loaned += hmq_loan(out->writer, hr_hmq_tx(out->tx + out->loaned),
					out->max - out->loaned);
	return out->loaned < room ? out->loaned : room;
}

struct look {           /* what opening the inputs found */
	bool ready;     /* enough for a call */
	bool all_ended; /* every input whose end matters has ended and is drained */
	bool no_more;   /* every input whose end matters has ended; some may be left */
	bool first_end; /* some input has ended and is drained */
	uint32_t seen;  /* changes when there is something new to see */
	uint32_t port;  /* the first input that is short */
};

static bool
open_inputs(struct hr_inst *n, struct look *look)
{
	bool enough = true, any = false, drained = true, ended = true;

	for (uint32_t i = 0; i < n->n_in; i++) {
		struct hr_in *in = &n->in[i];
		struct hop_in *shown = &n->io.in[i];

		if (!in->link.reader)
			continue;
		if (!in->ended && (!in_show(in) || (in->shown < in->min && !in_check_end(in))))
			return false;
		shown->count = in->shown;
		shown->taken = 0;
		shown->ended = in->ended;
		look->seen += in->shown + (in->ended ? 0x10000u : 0);
		if (in->shown >= in->min) {
			any |= in->any;
		} else if (!in->ended) {
			if (enough)
				look->port = i;
			enough = false;
		}
		if (in->ended && in->shown == 0 && !in->loop)
			look->first_end = true;
		drained &= in->loop || (in->ended && in->shown == 0);
		ended &= in->loop || in->ended;
	}
	look->ready = enough || any;
	look->all_ended = drained;
	look->no_more = ended;
	return true;
}

static bool
open_outputs(struct hr_inst *n, struct look *look)
{
	bool enough = true;

	for (uint32_t i = 0; i < n->n_out; i++) {
		struct hr_out *out = &n->out[i];
		struct hop_out *shown = &n->io.out[i];
		uint32_t count = out_open(out);

		if (count > (uint64_t)n->count_left)
			count = (uint32_t)n->count_left;
		shown->count = count;
		shown->filled = 0;
		shown->ended = out->unread;
		look->seen += count << 8;
		if (count < out->min) {
			n->wait_port = i;
			enough = false;
		}
	}
	return enough;
}

/* ---- closing ------------------------------------------------------------------------------- */

/* A head may say anything: the difference wraps instead of overflowing. */
static int64_t
age_of(int64_t then, int64_t now)
{
	return (int64_t)((uint64_t)now - (uint64_t)then);
}

static void
time_messages(const struct hr_inst *n, struct hr_in *in, uint32_t taken, int64_t now)
{
	if (!in->page)
		return;
	if (n->is_sink) {
		for (uint32_t i = 0; i < taken; i++) {
			const struct hop_head *h = in->rx[i].head;

			hr_hist_add(&in->page->age, age_of(h->born_ns, now));
			hr_hist_add(&in->page->tail, age_of(h->last_ns, now));
		}
		return;
	}
	hr_hist_add(&in->page->age, age_of(in->rx[taken - 1].head->born_ns, now));
	if (taken > 1 || now - in->timed_ns < TIMED_EVERY_NS)
		hr_store32_relaxed(&in->page->sampled, 1);
	in->timed_ns = now;
}

/* Some of the window are kept, or of an older channel. */
static void
take_odd(struct hr_in *in, uint32_t taken)
{
	uint32_t n = taken < in->carried ? taken : in->carried;

	for (uint32_t i = 0; i < taken; i++) {
		struct hr_reading *of = i < in->carried ? in->carry[i] : in->link.now;

		hmq_advance(of->reader, 1);
		if (!in->keep_shown[i])
			hmq_release(of->reader, hr_hmq_rx(&in->rx[i]), 1);
		if (i < in->carried)
			hr_link_let_go(&in->link, of);
	}
	in->carried -= n;
	memmove(in->carry, in->carry + n, in->carried * sizeof(struct hr_reading *));
	memmove(in->keep_shown, in->keep_shown + taken, (in->max - taken) * sizeof *in->keep_shown);
	memset(in->keep_shown + (in->max - taken), 0, taken * sizeof *in->keep_shown);
	in->odd = in->carried > 0;
	for (uint32_t i = 0; i < in->shown - taken; i++)
		in->odd |= in->keep_shown[i];
}

static void
in_take(struct hr_in *in, uint32_t taken)
{
	if (__builtin_expect(in->odd, 0))
		take_odd(in, taken);
	else
		hmq_take(in->link.reader, hr_hmq_rx(in->rx), taken);
	in->shown -= taken;
	if (in->shown)
		memmove(in->rx, in->rx + taken, in->shown * sizeof *in->rx);
}

static uint32_t
close_inputs(struct hr_inst *n, int64_t now, bool sample)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < n->n_in; i++) {
		struct hr_in *in = &n->in[i];
		uint32_t taken = n->io.in[i].taken;

		if (!in->link.reader || !taken)
			continue;
		if (n->is_sink || sample || now - in->timed_ns >= TIMED_EVERY_NS)
			time_messages(n, in, taken, now);
		in_take(in, taken);
		n->io.in[i].taken = 0;
		moved += taken;
	}
	if (moved)
		hr_add_single(&n->page->taken, moved);
	return moved;
}

static void
fail_publish(struct hr_inst *n, uint32_t port, int32_t rc)
{
	const struct hr_out *out = &n->out[port];
	const struct hr_plan *plan = n->worker->host->plan;
	const struct hr_graph *g = plan->graph;
	uint32_t culprit = hmq_writer_culprit(out->writer);
	const char *name = plan->bound->node[n->node].out[port].port->name;
	char text[300];

	if (rc == -ENOBUFS) {
		const struct hr_plan_chan *c = &plan->chan[plan->node[n->node].out_chan[port]];
		const struct hr_edge *e = &g->edge[c->edge[culprit]];

		snprintf(text, sizeof text,
			 "%s.%s -> %s.%s is full (depth %u) at sequence %llu and says when_full: "
			 "fail",
			 g->node[n->node].name.text, name, g->node[e->to].name.text, e->input.text,
			 c->depth[culprit], (unsigned long long)n->page->filled);
	} else if (rc == -EMSGSIZE) {
		snprintf(text, sizeof text,
			 "output '%s' says %llu bytes in a message; its slot holds %llu", name,
			 (unsigned long long)out->tx[culprit].head->bytes,
			 (unsigned long long)out->tx[culprit].capacity);
	} else {
		snprintf(text, sizeof text, "output '%s' cannot publish: %s", name, strerror(-rc));
	}
	hr_worker_fail(n->worker, n, HR_FAILURE_EDGE, HR_CALL_PROCESS, -rc, text);
}

/* Messages published, or UINT32_MAX after a failure. */
static uint32_t
close_outputs(struct hr_inst *n)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < n->n_out; i++) {
		struct hr_out *out = &n->out[i];
		uint32_t filled = n->io.out[i].filled;
		int32_t rc;

		if (!filled)
			continue;
		rc = hmq_publish(out->writer, hr_hmq_tx(out->tx), filled);
		if (rc < 0) {
			fail_publish(n, i, rc);
			return UINT32_MAX;
		}
		out->loaned -= filled;
		if (out->loaned)
			memmove(out->tx, out->tx + filled, out->loaned * sizeof *out->tx);
		n->io.out[i].filled = 0;
		moved += filled;
		if (i == 0 && n->count_left != INT64_MAX)
			n->count_left -= filled;
	}
	if (moved)
		hr_add_single(&n->page->filled, moved);
	return moved;
}

uint64_t
hr_inst_messages(const struct hr_inst *n)
{
	uint64_t taken = n->page->taken, filled = n->page->filled;

	for (uint32_t i = 0; i < n->n_in; i++)
		taken += n->io.in[i].taken;
	for (uint32_t i = 0; i < n->n_out; i++)
		filled += n->io.out[i].filled;
	return taken > filled ? taken : filled;
}

/* ---- the call ------------------------------------------------------------------------------ */

static void
note_wait(struct hr_inst *n, enum hr_wait_for what)
{
	if (n->wait_for == what)
		return;
	n->wait_for = what;
	hr_store32_relaxed(&n->page->wait_for, what);
	hr_store32_relaxed(&n->page->wait_port, n->wait_port);
}

static bool
is_due(const struct hr_inst *n, const struct look *look, int64_t now)
{
	if (n->wake_ns && now >= n->wake_ns)
		return true;
	if (n->watched && n->fd_ready)
		return true;
	if (n->is_source)
		return !n->wake_ns && !n->watched; /* one that says nothing is asked every pass */
	return !n->idle || look->seen != n->seen;
}

/* It watches a descriptor, which does not wait for messages: neither does the call. */
static bool
is_called_anyway(const struct hr_inst *n, int64_t now)
{
	return n->watched && (n->fd_ready || (n->wake_ns && now >= n->wake_ns));
}

/* Nothing was done in this pass before the node came: it began when the pass did. */
static bool
starts_pass(const struct hr_inst *n)
{
	return n->worker->inst[0] == n && n->n_gathers == 0;
}

/* *after: when it returned, if it was timed, else 0.  A reading of the clock costs as much as a
 * hand-over's share of the loop, so none is made twice. */
static hop_status
call_process(struct hr_inst *n, int64_t now, bool time_it, int64_t *after)
{
	struct hr_page_worker *pw = n->worker->page;
	hop_status status;

	n->io.now_ns = now;
	n->wake_ns = 0;
	n->fail_code = 0;
	if (n->op->flags & HOP_F_BLOCKS)
		n->io.deadline_ns = now + BLOCKS_FOR_NS;
	hr_store32_relaxed(&pw->in_call, HR_CALL_PROCESS);
	hr_store32_relaxed(&pw->in_node, n->node);
	hr_guard_enter(n->worker, (n->op->flags & HOP_F_FD) != 0);
	if (time_it) {
		uint64_t before = starts_pass(n) ? (uint64_t)now : hr_mono_ns(), spent;

		status = n->op->process(n->state_mem, &n->ctx, &n->io);
		*after = (int64_t)hr_mono_ns();
		spent = (uint64_t)*after - before;
		/* It stands for the calls that were not timed since the last one that was. */
		hr_add_single(&n->page->work_ns, spent * (n->calls - n->timed_calls + 1));
		if (spent > n->page->max_call_ns)
			hr_store_relaxed(&n->page->max_call_ns, spent);
		n->timed_calls = n->calls + 1;
		n->timed_ns = now;
	} else {
		status = n->op->process(n->state_mem, &n->ctx, &n->io);
		*after = 0;
	}
	hr_guard_enter(n->worker, 0);
	n->calls++;
	hr_store32_relaxed(&pw->in_node, HR_NO_NODE);
	hr_add_single(&n->page->calls, 1);
	hr_add_single(&pw->calls, 1);
	return status;
}

static void
fail_status(struct hr_inst *n, hop_status status)
{
	char text[120];

	snprintf(text, sizeof text,
		 "process() returned %d; wanted HOP_OK, HOP_IDLE, HOP_DONE or a negative errno",
		 status);
	hr_worker_fail(n->worker, n, HR_FAILURE_ERROR, HR_CALL_PROCESS, EPROTO, text);
}

static bool
windows_are_sane(struct hr_inst *n)
{
	char text[200];

	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->io.in[i].taken <= n->io.in[i].count)
			continue;
		snprintf(text, sizeof text,
			 "process() took %u messages of input %u, which showed %u",
			 n->io.in[i].taken, i, n->io.in[i].count);
		hr_worker_fail(n->worker, n, HR_FAILURE_ERROR, HR_CALL_PROCESS, EPROTO, text);
		return false;
	}
	for (uint32_t i = 0; i < n->n_out; i++) {
		if (n->io.out[i].filled <= n->io.out[i].count)
			continue;
		snprintf(text, sizeof text,
			 "process() filled %u messages of output %u, which showed %u",
			 n->io.out[i].filled, i, n->io.out[i].count);
		n->io.out[i].filled = 0;
		hr_worker_fail(n->worker, n, HR_FAILURE_ERROR, HR_CALL_PROCESS, EPROTO, text);
		return false;
	}
	return true;
}

static uint32_t
call_and_close(struct hr_inst *n, const struct look *look, int64_t now, bool sample)
{
	bool time_it = sample || now - n->timed_ns >= TIMED_EVERY_NS;
	int64_t after;
	hop_status status = call_process(n, now, time_it, &after);
	uint32_t published, moved;

	if (status > HOP_DONE || status < -MAX_ERRNO) {
		fail_status(n, status);
		return 1;
	}
	if (status < 0) {
		hr_worker_fail(n->worker, n, HR_FAILURE_ERROR, HR_CALL_PROCESS, -status,
			       n->fail_code ? n->fail_text : NULL);
		return 1;
	}
	if (!windows_are_sane(n))
		return 1;
	if (!n->is_sink)
		after = now;
	else if (!after)
		after = (int64_t)hr_mono_ns();
	published = close_outputs(n);
	if (published == UINT32_MAX)
		return 1;
	moved = close_inputs(n, after, sample) + published;
	n->idle = moved == 0;
	n->seen = look->seen;
	if (n->watched && status == HOP_IDLE)
		n->fd_ready = false;
	if (moved)
		hr_add_single(&n->worker->page->moved, moved);
	if (status == HOP_DONE || n->count_left == 0) {
		hr_inst_end(n, HR_NODE_ENDED);
		return moved + 1;
	}
	/* Nothing more comes and it made nothing of it: it has ended. */
	if (!n->is_source && look->no_more && moved == 0 && !n->wake_ns) {
		hr_inst_end(n, HR_NODE_ENDED);
		return 1;
	}
	/* Packets were read though none was any good: there may be more. */
	return !moved && n->is_source && n->watched && n->fd_ready ? 1 : moved;
}

/* All inputs are over: the op sees count 0, ended 1 on each as long as it fills something. */
static void
begin_drain(struct hr_inst *n)
{
	n->state = HR_INST_DRAINS;
	n->idle = false;
	for (uint32_t i = 0; i < n->n_in; i++)
		n->peer_lost |= n->in[i].lost;
}

static bool
look_at_inputs(struct hr_inst *n, struct look *look)
{
	if (n->state == HR_INST_DRAINS) {
		for (uint32_t i = 0; i < n->n_in; i++) {
			n->io.in[i].count = 0;
			n->io.in[i].taken = 0;
			n->io.in[i].ended = 1;
		}
		look->ready = look->no_more = true;
		return true;
	}
	if (!open_inputs(n, look)) {
		hr_worker_fail(n->worker, n, HR_FAILURE_HOST, HR_CALL_PROCESS, EBADMSG,
			       "the writer of an input put an impossible index or length into its "
			       "channel");
		return false;
	}
	if (!n->is_source && (look->all_ended || (n->end_any && look->first_end))) {
		/* The writer may have ended because of a stop this worker has not seen yet: the op
		 * is to know that it was cut short. */
		hr_worker_obey(n->worker);
		if (n->state == HR_INST_ENDED)
			return false;
		begin_drain(n);
		return look_at_inputs(n, look);
	}
	return true;
}

uint32_t
hr_inst_step(struct hr_inst *n, int64_t now, bool sample)
{
	struct look look = { 0 };

	if (n->state == HR_INST_ENDED)
		return 0;
	if (n->is_source) {
		look.ready = true;
	} else if (!look_at_inputs(n, &look)) {
		return 1;
	}
	if (!look.ready && !is_called_anyway(n, now)) {
		n->wait_port = look.port;
		note_wait(n, HR_FOR_INPUT);
		if (sample && hr_inst_is_unread(n)) {
			hr_inst_end(n, HR_NODE_ENDED);
			return 1;
		}
		return 0;
	}
	if (!open_outputs(n, &look)) {
		note_wait(n, HR_FOR_OUTPUT);
		if (hr_inst_is_unread(n)) {
			hr_inst_end(n, HR_NODE_ENDED);
			return 1;
		}
		return 0;
	}
	if (sample && hr_inst_is_unread(n)) {
		hr_inst_end(n, HR_NODE_ENDED);
		return 1;
	}
	if (!is_due(n, &look, now)) {
		note_wait(n, n->is_source || n->wake_ns || n->watched ? HR_FOR_TIME : HR_FOR_INPUT);
		return 0;
	}
	note_wait(n, HR_FOR_NOTHING);
	return call_and_close(n, &look, now, sample);
}
