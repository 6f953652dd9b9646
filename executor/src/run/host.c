/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - the life of one process's ops: open, start, loop, stop, close.
 *
 * The control thread opens and closes, each worker's thread starts, calls and
 * stops its own.  After a failed open or start its counterpart is not called.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/inst.h"

void
hr_control_fail(struct hr_host *h, uint32_t kind, uint32_t node, uint32_t call, int code,
		const char *text)
{
	uint32_t process = h->process == UINT32_MAX ? 0 : h->process;
	struct hr_page_failure f = { .kind = kind,
				     .node = node,
				     .call = call,
				     .code = code,
				     /* What no op did this machine did not grant. */
				     .exit_code = kind == HR_FAILURE_HOST ? 3 : 1,
				     .when_ns = hr_mono_ns() };

	for (uint32_t i = 0; i < h->n_inst; i++) {
		const struct hr_inst *n = &h->inst[i];

		if (n->node != node || !n->fail_code)
			continue;
		f.line = n->fail_line;
		snprintf(f.file, sizeof f.file, "%s", n->fail_file);
	}
	snprintf(f.text, sizeof f.text, "%s", text);
	hr_page_fail(h->wiring->page, h->plan->n_workers + process, &f);
}

/* For the crash handler here, and for the supervisor, which names what does not return. */
static void
set_call(struct hr_host *h, uint32_t node, uint32_t call)
{
	struct hr_page_process *p =
		hr_page_process(h->wiring->page, h->process == UINT32_MAX ? 0 : h->process);

	h->in_node = node;
	h->in_call = call;
	hr_store32_relaxed(&p->in_node, node);
	hr_store32_relaxed(&p->in_call, call);
}

static int
open_ops(struct hr_host *h)
{
	for (uint32_t i = 0; i < h->n_inst; i++) {
		struct hr_inst *n = &h->inst[i];
		int rc;

		set_call(h, n->node, HR_CALL_OPEN);
		n->fail_code = 0;
		rc = n->op->open ? n->op->open(n->state_mem, &n->ctx) : 0;
		if (rc < 0) {
			hr_control_fail(h, HR_FAILURE_ERROR, n->node, HR_CALL_OPEN, -rc,
					n->fail_code ? n->fail_text : strerror(-rc));
			return rc;
		}
		n->opened = true;
		set_call(h, HR_NO_NODE, HR_CALL_NONE);
	}
	return 0;
}

/* The test guard, when it was preloaded. */
static void
find_guard(struct hr_host *h)
{
	void *enter = dlsym(RTLD_DEFAULT, "hr_guard_enter");
	void *leave = dlsym(RTLD_DEFAULT, "hr_guard_leave");

	if (!enter || !leave)
		return;
	memcpy(&h->guard_enter, &enter, sizeof enter);
	memcpy(&h->guard_leave, &leave, sizeof leave);
}

int
hr_host_open(struct hr_host *h, struct hr_arena *a, struct hr_wiring *w,
	     const struct hr_run_options *opt, uint32_t process, bool rejoins)
{
	int rc;

	*h = (struct hr_host){ .plan = w->plan,
			       .opt = opt,
			       .wiring = w,
			       .arena = a,
			       .process = process,
			       .rejoins = rejoins,
			       .in_node = HR_NO_NODE,
			       .done_fd = -1 };
	hr_host_api(&h->api);
	find_guard(h);
	hr_crash_control(h);
	hr_crash_install();
	rc = hr_host_build(h);
	if (!rc)
		rc = open_ops(h);
	return rc;
}

/* ---- threads -------------------------------------------------------------------------------- */

static int
start_ops(struct hr_worker *w)
{
	for (uint32_t i = 0; i < w->n_inst; i++) {
		struct hr_inst *n = w->inst[i];
		int rc;

		hr_store32_relaxed(&w->page->in_call, HR_CALL_START);
		hr_store32_relaxed(&w->page->in_node, n->node);
		n->fail_code = 0;
		rc = n->op->start ? n->op->start(n->state_mem, &n->ctx) : 0;
		hr_store32_relaxed(&w->page->in_node, HR_NO_NODE);
		if (rc < 0) {
			hr_worker_fail(w, n, HR_FAILURE_ERROR, HR_CALL_START, -rc,
				       n->fail_code ? n->fail_text : NULL);
			return rc;
		}
		n->started = true;
		hr_store32_release(&n->page->state, HR_NODE_RUNNING);
	}
	return 0;
}

static void
stop_ops(struct hr_worker *w)
{
	for (uint32_t i = 0; i < w->n_inst; i++) {
		struct hr_inst *n = w->inst[i];

		if (!n->started)
			continue;
		hr_store32_relaxed(&w->page->in_call, HR_CALL_STOP);
		hr_store32_relaxed(&w->page->in_node, n->node);
		if (n->op->stop)
			n->op->stop(n->state_mem, &n->ctx);
		n->started = false;
		hr_store32_relaxed(&w->page->in_node, HR_NO_NODE);
	}
}

static void
sleep_before_go(struct hr_worker *w, uint32_t value)
{
	struct epoll_event ev;
	uint64_t drain;

	if (w->epoll_fd < 0) {
		hmq_waiter_wait(w->waiter, value, INT64_MAX);
		return;
	}
	if (epoll_wait(w->epoll_fd, &ev, 1, -1) == 1) {
		if (ev.data.ptr)
			((struct hr_inst *)ev.data.ptr)->fd_ready = true;
		else if (read(w->host->wiring->event_fd[w->index], &drain, sizeof drain) < 0)
			return; /* another read took it: the phase is looked at anyway */
	}
	hmq_waiter_cancel(w->waiter);
}

/* Wait for the command to go; false when the run is called off. */
static bool
wait_for_go(struct hr_worker *w)
{
	for (;;) {
		/* G1: sees that every worker has started; pairs with G2 in super.c */
		uint32_t phase = hr_load32_acquire(&w->run_page->words->phase);
		uint32_t value;

		if (phase >= HR_PHASE_GO)
			return phase == HR_PHASE_GO;
		value = hmq_waiter_prepare(w->waiter);
		if (hr_load32_acquire(&w->run_page->words->phase) >= HR_PHASE_GO)
			hmq_waiter_cancel(w->waiter);
		else
			sleep_before_go(w, value);
	}
}

static uint64_t
thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *
worker_main(void *arg)
{
	struct hr_worker *w = arg;

	hr_crash_thread(w);
	hmq_life_begin(w->waiter);
	hr_thread_place(w);
	if (!w->start_rc)
		w->start_rc = start_ops(w);
	hr_store32_release(&w->page->state, HR_WORKER_STARTED);
	hr_wire_ring(w->host->wiring);
	if (wait_for_go(w) && !w->start_rc) {
		hr_store32_release(&w->page->state, HR_WORKER_RUNNING);
		hr_worker_loop(w);
	}
	stop_ops(w);
	for (uint32_t i = 0; i < w->n_inst; i++)
		hr_inst_end(w->inst[i], HR_NODE_ENDED);
	hr_store_relaxed(&w->page->cpu_ns, thread_cpu_ns());
	hr_store32_release(&w->page->state, HR_WORKER_ENDED);
	hmq_life_end(w->waiter);
	hr_wire_ring(w->host->wiring);
	if (w->host->done_fd >= 0)
		eventfd_write(w->host->done_fd, 1);
	hr_crash_thread(NULL);
	return NULL;
}

int
hr_host_start(struct hr_host *h)
{
	for (uint32_t i = 0; i < h->n_workers; i++) {
		struct hr_worker *w = &h->worker[i];
		int rc = pthread_create(&w->thread, NULL, worker_main, w);

		if (rc) {
			hr_control_fail(h, HR_FAILURE_HOST, HR_NO_NODE, HR_CALL_START, rc,
					"no thread for a worker (see ulimit -u and the memory "
					"limit)");
			return -rc;
		}
		w->thread_runs = true;
	}
	return 0;
}

void
hr_host_join(struct hr_host *h)
{
	for (uint32_t i = 0; i < h->n_workers; i++)
		if (h->worker[i].thread_runs)
			pthread_join(h->worker[i].thread, NULL);
}

void
hr_host_close(struct hr_host *h)
{
	for (uint32_t i = h->n_inst; i-- > 0;) {
		struct hr_inst *n = &h->inst[i];

		if (!n->opened || !n->op->close)
			continue;
		set_call(h, n->node, HR_CALL_CLOSE);
		n->fail_code = 0;
		n->op->close(n->state_mem, &n->ctx);
		if (n->fail_code)
			hr_control_fail(h, HR_FAILURE_ERROR, n->node, HR_CALL_CLOSE, n->fail_code,
					n->fail_text);
		set_call(h, HR_NO_NODE, HR_CALL_NONE);
		n->opened = false;
	}
	hr_host_snapshot(h);
	hr_host_free(h);
	hr_crash_control(NULL);
}
