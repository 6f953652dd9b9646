/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - the loop of a worker: look at every node in order; if nothing moved,
 * wait.
 *
 * The clock is read once per pass and after a wait.  Waiting is try first,
 * announce, look again, sleep: a message that comes in between is seen, because
 * whoever publishes adds to the waiter's word after its message is visible.
 * [worker]
 */
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/inst.h"

enum {
	SAMPLE_EVERY = 64,          /* passes */
	POLL_EVERY = 16,            /* passes between looks at descriptors while data flows */
	ASK_AGAIN_NS = 1000 * 1000, /* for a source that says neither when nor what for */
	EVENTS = 16,
};

static int64_t
now_ns(void)
{
	return (int64_t)hr_mono_ns();
}

/* Move the time since the last sample to what each idle node was waiting for. */
static void
account(struct hr_worker *w, int64_t now)
{
	uint64_t dt = (uint64_t)(now - w->sampled_ns);

	w->sampled_ns = now;
	for (uint32_t i = 0; i < w->n_inst; i++) {
		struct hr_inst *n = w->inst[i];

		if (n->wait_for == HR_FOR_OUTPUT)
			hr_add_single(&n->page->wait_out_ns, dt);
		else if (n->wait_for != HR_FOR_NOTHING)
			hr_add_single(&n->page->wait_in_ns, dt);
	}
}

void
hr_worker_obey(struct hr_worker *w)
{
	/* S1: sees what the supervisor decided; pairs with S2 in super.c.  Only the value counts.
	 */
	uint32_t stop = hr_load32_acquire(&w->run_page->words->stop);

	if (__builtin_expect(stop == w->stop, 1))
		return;
	w->stop = stop;
	for (uint32_t i = 0; i < w->n_inst; i++)
		hr_inst_stop(w->inst[i], stop);
}

static uint32_t
pass(struct hr_worker *w, int64_t now)
{
	bool sample = w->pass++ % SAMPLE_EVERY == 0;
	uint32_t moved = 0;

	hr_worker_obey(w);
	for (uint32_t i = 0; i < w->n_inst; i++) {
		struct hr_inst *n = w->inst[i];

		for (uint32_t k = 0; k < n->n_gathers; k++)
			moved += hr_gather_step(n->gather[k], now);
		moved += hr_inst_step(n, now, sample);
	}
	if (sample)
		account(w, now);
	hr_store_relaxed(&w->page->passes, w->pass);
	return moved;
}

/* A reader in another process may die while this node waits for room: nobody wakes it for that. */
static int64_t
look_at_readers(const struct hr_inst *n, int64_t now)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < n->n_out; i++) {
		int64_t at = hmq_writer_next_look(n->out[i].writer, now);

		first = at < first ? at : first;
	}
	return first;
}

/* The time by which something has to be looked at though no message came. */
static int64_t
deadline(const struct hr_worker *w, int64_t now)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < w->n_inst; i++) {
		const struct hr_inst *n = w->inst[i];

		for (uint32_t k = 0; k < n->n_gathers; k++) {
			int64_t at = hr_gather_deadline(n->gather[k]);

			first = at < first ? at : first;
		}
		if (n->state == HR_INST_ENDED)
			continue;
		if (n->wait_for == HR_FOR_OUTPUT) {
			int64_t at = look_at_readers(n, now);

			first = at < first ? at : first;
			continue;
		}
		if (n->wake_ns && n->wake_ns < first)
			first = n->wake_ns;
		if (n->is_source && !n->wake_ns && !n->watched && now + ASK_AGAIN_NS < first)
			first = now + ASK_AGAIN_NS;
	}
	return first;
}

/* Look at descriptors; wait until `until` unless it is 0.  True if any had an event. */
static bool
look_at_fds(struct hr_worker *w, int64_t until)
{
	struct epoll_event ev[EVENTS];
	struct timespec left = { 0, 0 };
	int n;

	if (until && until != INT64_MAX) {
		int64_t ns = until - now_ns();

		if (ns > 0)
			left = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	}
	hr_guard_leave(w);
	n = epoll_pwait2(w->epoll_fd, ev, EVENTS, until == INT64_MAX ? NULL : &left, NULL);
	for (int i = 0; i < n; i++) {
		struct hr_inst *inst = ev[i].data.ptr;
		uint64_t drain;

		if (inst)
			inst->fd_ready = true;
		else if (read(w->host->wiring->event_fd[w->index], &drain, sizeof drain) < 0)
			continue; /* somebody's wake that another read already took */
	}
	hr_guard_enter(w, 0);
	return n > 0;
}

/* How a worker waits, and what it has learnt about the gaps between messages. */
struct wait {
	struct hmq_spin spin;
	int64_t budget; /* ns to look again before it sleeps */
	int64_t since;  /* when something moved last */
	bool is_idle;
	bool slept;
};

static void
begin_wait(struct wait *x, const struct hr_plan_worker *p)
{
	bool adapts = p->wait == HR_WAIT_ADAPTIVE && !p->shares_cpu && !p->blocks;

	*x = (struct wait){ .is_idle = false };
	hmq_spin_init(&x->spin, adapts ? hmq_spin_cost() : 0);
	x->budget = hmq_spin_budget(&x->spin);
}

static void
has_moved(struct wait *x, int64_t now)
{
	if (x->is_idle) {
		hmq_spin_learn(&x->spin, now - x->since, x->slept);
		x->budget = hmq_spin_budget(&x->spin);
		x->is_idle = x->slept = false;
	}
}

/* True if something had come before it could sleep. */
static bool
sleep_until_woken(struct hr_worker *w)
{
	uint32_t value = hmq_waiter_prepare(w->waiter);
	int64_t now = now_ns(), until;

	if (pass(w, now)) {
		hmq_waiter_cancel(w->waiter);
		return true;
	}
	if (w->n_live == 0 || hr_load32_relaxed(&w->run_page->words->stop) != w->stop) {
		hmq_waiter_cancel(w->waiter);
		return false;
	}
	until = deadline(w, now);
	if (until <= now) {
		hmq_waiter_cancel(w->waiter);
		return false;
	}
	hr_add_single(&w->page->sleeps, 1);
	if (w->epoll_fd >= 0) {
		look_at_fds(w, until);
		hmq_waiter_cancel(w->waiter);
	} else {
		hr_guard_leave(w);
		hmq_waiter_wait(w->waiter, value, until);
		hr_guard_enter(w, 0);
	}
	account(w, now_ns());
	return false;
}

/* Nothing moved.  Spinning workers never sleep; adaptive ones after a while.  True if something
 * moved after all. */
static bool
idle(struct hr_worker *w, struct wait *x, int64_t now)
{
	const struct hr_plan_worker *p = w->plan;

	x->is_idle = true;
	if (w->epoll_fd >= 0 && look_at_fds(w, 0))
		return false;
	if ((p->wait == HR_WAIT_SPIN && !p->blocks) || now - x->since < x->budget) {
		hr_cpu_relax();
		return false;
	}
	x->slept = true;
	return sleep_until_woken(w);
}

void
hr_worker_loop(struct hr_worker *w)
{
	struct wait x;
	int64_t now;

	begin_wait(&x, w->plan);
	now = x.since = now_ns();
	w->sampled_ns = now;
	hr_store_relaxed(&w->page->start_ns, (uint64_t)now);
	w->guarded = w->host->guard_enter && !w->plan->blocks;
	hr_guard_enter(w, 0);
	while (w->n_live) {
		bool moved = pass(w, now);

		if (moved && w->epoll_fd >= 0 && w->pass % POLL_EVERY == 0)
			look_at_fds(w, 0);
		if (!moved)
			moved = idle(w, &x, now);
		if (moved)
			has_moved(&x, now);
		now = now_ns();
		if (moved)
			x.since = now;
	}
	hr_guard_leave(w);
	w->guarded = false;
	hr_store_relaxed(&w->page->end_ns, (uint64_t)now_ns());
}
