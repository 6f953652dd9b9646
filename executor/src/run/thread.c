/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - a worker's thread: placed as planned, and what was achieved read
 * back; and the handler that says which node a crash was in.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/inst.h"

/* ---- placement ------------------------------------------------------------------------------ */

static void
name_thread(const struct hr_worker *w)
{
	char name[16]; /* the kernel's limit */

	if (w->n_inst == 1)
		snprintf(name, sizeof name, "%s",
			 w->host->plan->graph->node[w->inst[0]->node].name.text);
	else
		snprintf(name, sizeof name, "%s", w->plan->name);
	prctl(PR_SET_NAME, name);
}

static void
read_back(struct hr_worker *w)
{
	struct sched_param sp = { 0 };
	cpu_set_t set;
	int policy = SCHED_OTHER;

	CPU_ZERO(&set);
	hr_store32_relaxed((uint32_t *)&w->page->cpu, (uint32_t)-1);
	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1)
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &set))
				w->page->cpu = i;
	pthread_getschedparam(pthread_self(), &policy, &sp);
	w->page->policy = (uint32_t)policy;
	w->page->priority = sp.sched_priority;
	w->page->tid = (uint32_t)syscall(SYS_gettid);
}

static void
fail_place(struct hr_worker *w, int code, const char *text)
{
	struct hr_page_failure f = { .kind = HR_FAILURE_HOST,
				     .node = HR_NO_NODE,
				     .call = HR_CALL_START,
				     .code = code,
				     .exit_code = 3,
				     .when_ns = hr_mono_ns() };

	snprintf(f.text, sizeof f.text, "%s", text);
	hr_page_fail(w->run_page, w->index, &f);
	w->start_rc = -code;
}

/* Honoured or refused: affinity, scheduling class and priority. */
void
hr_thread_place(struct hr_worker *w)
{
	const struct hr_plan_worker *p = w->plan;
	char text[300];

	name_thread(w);
	prctl(PR_SET_TIMERSLACK, 1ul);
	if (p->cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(p->cpu, &set);
		if (sched_setaffinity(0, sizeof set, &set)) {
			snprintf(text, sizeof text, "partition '%s': cannot run on CPU %d: %s",
				 p->name, p->cpu, strerror(errno));
			fail_place(w, errno, text);
		}
	}
	if (p->sched != HR_SCHED_OTHER) {
		struct sched_param sp = { .sched_priority = p->priority };
		int policy = p->sched == HR_SCHED_FIFO ? SCHED_FIFO : SCHED_RR;
		int rc = pthread_setschedparam(pthread_self(), policy, &sp);

		if (rc && p->sched_required) {
			snprintf(text, sizeof text,
				 "partition '%s': real-time priority %d refused: %s (see "
				 "ulimit -r; or set sched: {required: false})",
				 p->name, p->priority, strerror(rc));
			fail_place(w, rc, text);
		}
	}
	read_back(w);
}

uint64_t
hr_usage_cpu_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000u;
}

/* Control threads keep off CPUs that spin for one worker, if any other is allowed. */
void
hr_thread_keep_house(const struct hr_plan *p)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set))
		return;
	for (uint32_t i = 0; i < p->n_workers; i++)
		if (p->worker[i].cpu >= 0 && p->worker[i].wait == HR_WAIT_SPIN)
			CPU_CLR(p->worker[i].cpu, &set);
	if (CPU_COUNT(&set) > 0)
		sched_setaffinity(0, sizeof set, &set);
}

/* ---- crashes -------------------------------------------------------------------------------- */

static __thread struct hr_worker *crash_worker;
static __thread char crash_stack[16384];
static __thread stack_t crash_before;
static struct hr_host *crash_host;
static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Async-signal-safe: plain stores into the page, then the signal takes its course. */
static void
on_crash(int sig, siginfo_t *info, void *context)
{
	struct hr_worker *w = crash_worker;
	struct hr_page_failure *dst = NULL;
	uint32_t node = HR_NO_NODE, call = HR_CALL_NONE;

	(void)info;
	(void)context;
	if (w) {
		node = w->page->in_node;
		call = w->page->in_call;
		dst = hr_page_failure(w->run_page, w->index);
	} else if (crash_host) {
		const struct hr_plan *p = crash_host->plan;
		uint32_t process = crash_host->process == UINT32_MAX ? 0 : crash_host->process;

		node = crash_host->in_node;
		call = crash_host->in_call;
		dst = hr_page_failure(crash_host->wiring->page, p->n_workers + process);
	}
	if (dst && dst->kind == HR_FAILURE_NONE) {
		dst->node = node;
		dst->call = call;
		dst->code = sig;
		dst->exit_code = 1;
		dst->when_ns = hr_mono_ns();
		for (uint32_t i = 0; w && i < w->n_inst; i++)
			if (w->inst[i]->node == node)
				dst->message = hr_inst_messages(w->inst[i]);
		/* P1: publishes the record; pairs with P2 in incident.c */
		hr_store32_release(&dst->kind, HR_FAILURE_SIGNAL);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

void
hr_crash_install(void)
{
	struct sigaction sa = { .sa_sigaction = on_crash,
				.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof crash_signals / sizeof crash_signals[0]; i++)
		sigaction(crash_signals[i], &sa, NULL);
}

void
hr_crash_thread(struct hr_worker *w)
{
	/* A stack that ran over cannot hold the handler's frame. */
	stack_t alt = { .ss_sp = crash_stack, .ss_size = sizeof crash_stack };

	/* What was there before comes back at the end: sanitizers free theirs with the thread. */
	if (w)
		sigaltstack(&alt, &crash_before);
	else
		sigaltstack(&crash_before, NULL);
	crash_worker = w;
}

void
hr_crash_control(struct hr_host *h)
{
	crash_host = h;
}
