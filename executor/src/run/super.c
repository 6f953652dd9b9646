/* SPDX-License-Identifier: Apache-2.0 */
/*
 * super.c - the supervisor: open, start, go, watch, stop, collect.
 *
 * One thread that sleeps in poll on signals, the workers' bell and the
 * children's pidfds, and looks around ten times a second.  Whatever happens, it
 * comes back with every child reaped and every descriptor closed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/serve.h"
#include "run/super.h"

enum {
	TICK_MS = 100,
	SNAPSHOT_TRIES = 50, /* of 10 ms each */
	PROGRESS_NS = 2000000000,
	FORCED_NS = 500000000, /* after STOP_NOW: time to clean up */
	MAX_SAID = 64,         /* log lines a tick */
};

static int64_t
now_ns(void)
{
	return (int64_t)hr_mono_ns();
}

/* ---- words while running -------------------------------------------------------------------- */

void
hr_super_say(struct hr_super *s, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!s->opt->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	s->opt->say(line);
}

static void
pass_on_logs(struct hr_super *s)
{
	static const char *const level[] = { "error", "warning", "info", "debug" };
	struct hr_page_log_entry e;

	for (uint32_t i = 0; i < s->plan->n_processes; i++) {
		struct hr_page_log *log = hr_page_log(s->page, i);
		uint64_t full = hr_load_relaxed(&log->full);

		for (int k = 0; k < MAX_SAID && hr_log_take(log, &e); k++)
			hr_super_say(s, "%s: %s: %s",
				     e.level >= 0 && e.level < 4 ? level[e.level] : "log",
				     e.node < s->plan->graph->n_nodes
					     ? s->plan->graph->node[e.node].name.text
					     : s->plan->process[i].name,
				     e.text);
		if (full != log->dropped) {
			hr_super_say(s, "warning: process '%s': %llu log lines were dropped",
				     s->plan->process[i].name,
				     (unsigned long long)(full - log->dropped));
			log->dropped = full;
		}
	}
}

static void
show_progress(struct hr_super *s)
{
	uint64_t into_sinks = 0;

	if (!s->opt->progress || s->now - s->said_ns < PROGRESS_NS)
		return;
	s->said_ns = s->now;
	for (uint32_t i = 0; i < s->plan->graph->n_nodes; i++)
		if (s->plan->bound->node[i].n_out == 0)
			into_sinks += hr_load_relaxed(&hr_page_node(s->page, i)->taken);
	hr_super_say(s, "%6.1f s  %llu messages into sinks",
		     (double)(s->now - s->page->words->go_ns) / 1e9,
		     (unsigned long long)into_sinks);
}

/* ---- commands ------------------------------------------------------------------------------- */

void
hr_super_wake(struct hr_super *s)
{
	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		hr_wire_wake(&s->wiring, i);
}

static void
set_phase(struct hr_super *s, uint32_t phase)
{
	/* G2: everything before the start is visible; pairs with G1 in host.c */
	hr_store32_release(&s->page->words->phase, phase);
	hr_super_wake(s);
}

void
hr_super_stop(struct hr_super *s, uint32_t stop)
{
	if (stop <= s->stop)
		return;
	if (stop >= HR_STOP_SOURCES && s->stop < HR_STOP_SOURCES)
		s->stop_ns = s->now;
	s->stop = stop;
	if (stop == HR_STOP_NOW)
		s->kill_ns = s->now + FORCED_NS;
	/* S2: the wish; pairs with S1 in loop.c */
	hr_store32_release(&s->page->words->stop, stop);
	hr_super_wake(s);
}

void
hr_super_snapshot(struct hr_super *s)
{
	const struct timespec wait = { 0, 10000000 };
	uint32_t asked = s->page->words->snapshot_asked + 1;

	if (s->opt->in_process) {
		hr_host_snapshot(&s->host);
		return;
	}
	hr_store32_relaxed(&s->page->words->snapshot_asked, asked);
	hr_spawn_tell(s, HR_TELL_SNAPSHOT);
	for (int k = 0; k < SNAPSHOT_TRIES; k++) {
		bool all = true;

		for (uint32_t i = 0; i < s->n_children; i++) {
			const struct hr_page_process *p =
				hr_page_process(s->page, s->child[i].process);

			/* Q2: sees the copies; pairs with Q1 in child.c */
			if (!s->child[i].dead && hr_load32_acquire(&p->snapshot) != asked)
				all = false;
		}
		if (all)
			break;
		nanosleep(&wait, NULL);
		hr_spawn_reap(s);
	}
	s->now = now_ns(); /* whoever asked goes on from here */
}

/* ---- signals -------------------------------------------------------------------------------- */

static void
on_signal(struct hr_super *s, int sig)
{
	if (!s->signal) {
		s->signal = sig;
		if (s->reason == HR_REASON_ENDED)
			s->reason = HR_REASON_SIGNAL;
		if (s->running)
			hr_super_stop(s, HR_STOP_SOURCES);
		return;
	}
	s->reason = HR_REASON_FORCED;
	s->exit_code = 128 + sig;
	hr_super_stop(s, HR_STOP_NOW);
}

static void
read_signals(struct hr_super *s)
{
	struct signalfd_siginfo si;

	while (read(s->signal_fd, &si, sizeof si) == (ssize_t)sizeof si)
		on_signal(s, (int)si.ssi_signo);
}

/* Sleep until something happens, at most a tick; then take note of it. */
static void
look(struct hr_super *s, int timeout_ms)
{
	struct pollfd p[3 + HMQ_MAX_READERS];
	uint32_t n = 3;
	eventfd_t rung;

	p[0] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = s->wiring.bell, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = s->serve ? hr_serve_fd(s->serve) : -1, .events = POLLIN };
	for (uint32_t i = 0; i < s->n_children && n < sizeof p / sizeof p[0]; i++)
		if (!s->child[i].dead && s->child[i].pid)
			p[n++] = (struct pollfd){ .fd = s->child[i].pidfd, .events = POLLIN };
	if (poll(p, n, timeout_ms) < 0 && errno != EINTR)
		return;
	if (p[1].revents & POLLIN)
		eventfd_read(s->wiring.bell, &rung);
	if (p[2].revents & POLLIN)
		hr_serve_accept(s->serve);
	s->now = now_ns();
	read_signals(s);
	if (hr_spawn_reap(s))
		hr_super_wake(s); /* whoever waited for the dead looks again */
	pass_on_logs(s);
}

/* ---- phases --------------------------------------------------------------------------------- */

static bool
all_opened(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->n_children; i++)
		/* O2: sees that it is attached; pairs with O1 in child.c */
		if (!hr_load32_acquire(&hr_page_process(s->page, s->child[i].process)->opened))
			return false;
	return true;
}

static bool
all_workers(const struct hr_super *s, uint32_t state)
{
	for (uint32_t i = 0; i < s->plan->n_workers; i++)
		if (hr_load32_acquire(&hr_page_worker(s->page, i)->state) < state)
			return false;
	return true;
}

static bool
called_off(const struct hr_super *s)
{
	return s->signal || hr_incident_any(s);
}

/* An open() or start() that takes long is named once, like any other call. */
static void
look_while_starting(struct hr_super *s, int64_t since)
{
	look(s, TICK_MS);
	if (s->said_slow || s->now - since < s->stall_ns)
		return;
	s->said_slow = true;
	for (uint32_t i = 0; i < s->n_children; i++) {
		const struct hr_page_process *p = hr_page_process(s->page, s->child[i].process);
		uint32_t node = hr_load32_relaxed(&p->in_node),
			 call = hr_load32_relaxed(&p->in_call);

		if (call == HR_CALL_OPEN && node < s->plan->graph->n_nodes)
			hr_super_say(
				s, "warning: node '%s' has been in open() for %.1f s (process %s)",
				s->plan->graph->node[node].name.text,
				(double)(s->now - since) / 1e9,
				s->plan->process[s->child[i].process].name);
	}
	for (uint32_t i = 0; i < s->plan->n_workers; i++) {
		uint32_t node = hr_load32_relaxed(&hr_page_worker(s->page, i)->in_node);

		if (node < s->plan->graph->n_nodes)
			hr_super_say(s, "warning: node '%s' has been in start() for %.1f s",
				     s->plan->graph->node[node].name.text,
				     (double)(s->now - since) / 1e9);
	}
}

/* Everyone opens, then everyone starts, then all may go: nobody misses a first message. */
static bool
bring_up(struct hr_super *s)
{
	int64_t since = now_ns();

	set_phase(s, HR_PHASE_OPEN);
	while (!all_opened(s) && !called_off(s))
		look_while_starting(s, since);
	if (called_off(s))
		return false;
	set_phase(s, HR_PHASE_START);
	if (s->opt->in_process) {
		struct rusage u;

		s->host_started = true;
		if (!getrusage(RUSAGE_SELF, &u))
			s->cpu_base_ns = hr_usage_cpu_ns(&u);
		if (hr_host_start(&s->host))
			return false;
	}
	hr_spawn_tell(s, HR_TELL_START);
	while (!all_workers(s, HR_WORKER_STARTED) && !called_off(s))
		look_while_starting(s, since);
	return !called_off(s);
}

static bool
is_over(struct hr_super *s)
{
	if (s->opt->in_process)
		return all_workers(s, HR_WORKER_ENDED);
	return !hr_spawn_any_alive(s) && !hr_failover_is_busy(s);
}

static void
give_up_waiting(struct hr_super *s)
{
	if (!s->kill_ns || s->now < s->kill_ns)
		return;
	hr_spawn_kill_all(s);
	s->over = s->opt->in_process; /* a thread cannot be killed alone */
}

static void
check_limits(struct hr_super *s)
{
	if (s->opt->duration_ns && s->now - s->page->words->go_ns >= s->opt->duration_ns &&
	    s->stop < HR_STOP_SOURCES) {
		s->reason = HR_REASON_DURATION;
		hr_super_stop(s, HR_STOP_SOURCES);
	}
	if (hr_incident_any(s) && s->stop < HR_STOP_SOURCES)
		hr_super_stop(s, HR_STOP_SOURCES);
}

static int
next_tick_ms(const struct hr_super *s)
{
	int64_t left = TICK_MS, again = hr_failover_deadline(s);

	if (again != INT64_MAX && (again - s->now) / 1000000 + 1 < left)
		left = (again - s->now) / 1000000 + 1;

	if (s->opt->duration_ns && s->stop < HR_STOP_SOURCES) {
		int64_t ms = (s->page->words->go_ns + s->opt->duration_ns - s->now) / 1000000 + 1;

		left = ms < left ? ms : left;
	}
	return left > 0 ? (int)left : 0;
}

static void
keep_watch(struct hr_super *s)
{
	s->now = now_ns();
	s->page->words->go_ns = s->now;
	s->out->start_ns = s->now;
	s->moved_ns = s->said_ns = s->now;
	s->running = true;
	set_phase(s, HR_PHASE_GO);
	while (!is_over(s) && !s->over) {
		look(s, next_tick_ms(s));
		hr_failover_tick(s);
		hr_watch_tick(s);
		check_limits(s);
		give_up_waiting(s);
		show_progress(s);
	}
}

static void
blame_slow_starters(struct hr_super *s)
{
	for (uint32_t i = 0; i < s->n_children; i++) {
		const struct hr_child_proc *c = &s->child[i];

		if (!c->pid || c->dead || c->killed)
			continue;
		hr_watch_blame(s, c);
		s->exit_code = s->exit_code ? s->exit_code : 6;
		if (s->reason != HR_REASON_FORCED)
			s->reason = HR_REASON_KILLED;
	}
}

/* Before GO: undo what stands. */
static void
call_off(struct hr_super *s)
{
	int64_t patience;

	s->now = now_ns();
	patience = s->now + s->grace_ns;
	set_phase(s, HR_PHASE_ABORT);
	hr_spawn_tell(s, HR_TELL_ABORT);
	while (hr_spawn_any_alive(s)) {
		look(s, TICK_MS);
		if (s->now < patience && s->reason != HR_REASON_FORCED)
			continue;
		blame_slow_starters(s);
		hr_spawn_kill_all(s);
	}
}

static void
end_in_process(struct hr_super *s)
{
	struct rusage u;

	if (!s->opt->in_process || s->over)
		return;
	if (s->host_started)
		hr_host_join(&s->host);
	hr_host_close(&s->host);
	hr_page_process(s->page, 0)->pid = (uint32_t)getpid();
	if (!getrusage(RUSAGE_SELF, &u)) {
		hr_page_process(s->page, 0)->cpu_ns = hr_usage_cpu_ns(&u) - s->cpu_base_ns;
		hr_page_process(s->page, 0)->max_rss_bytes = (uint64_t)u.ru_maxrss * 1024u;
	}
}

static int
block_signals(struct hr_super *s, sigset_t *old, struct hr_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, old);
	s->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->signal_fd < 0)
		return HR_FAIL(err, errno, "no signal descriptor: %s", strerror(errno));
	return 0;
}

/* A signal that came at the very end was meant for this run: it must not kill the report. */
static void
unblock_signals(struct hr_super *s, const sigset_t *old)
{
	const struct timespec none = { 0, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	while (sigtimedwait(&set, NULL, &none) > 0)
		;
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	sigprocmask(SIG_SETMASK, old, NULL);
}

/* It copied the last word on the queues it reads; what it copied before was asked for on the way.
 */
static bool
has_told(const struct hr_super *s, uint32_t edge)
{
	const struct hr_plan *p = s->plan;
	uint32_t process = p->worker[p->node[p->graph->edge[edge].to].worker].process;

	if (!hr_load32_relaxed(&hr_page_edge(s->page, edge)->queue_valid))
		return false;
	return s->opt->in_process || hr_load32_acquire(&hr_page_process(s->page, process)->closed);
}

/* A process that died told nothing of its queues; those it shared are still here. */
static void
read_queues_of_the_dead(struct hr_super *s)
{
	const struct hmq_segment *seg = s->wiring.chan;

	for (uint32_t i = 0; i < s->plan->graph->n_edges; i++) {
		const struct hr_plan_edge *e = &s->plan->edge[i];
		struct hr_page_edge *page = hr_page_edge(s->page, i);
		struct hmq_edge_stat *q = &page->queue;

		if (has_told(s, i))
			continue;
		hr_store32_relaxed(&page->queue_valid, 0);
		if (!seg[e->chan].base || hmq_chan_stat(&seg[e->chan], e->reader, q))
			continue;
		/* A writer that ended first never saw the death: what is queued is abandoned. */
		q->abandoned = q->sent - q->received - q->lost - q->left;
		hr_store32_relaxed(&page->queue_valid, 1);
	}
}

static void
settle(struct hr_super *s)
{
	struct hr_outcome *out = s->out;
	uint64_t bytes = s->wiring.page_seg.bytes;

	read_queues_of_the_dead(s);
	hr_failover_settle(s);
	hr_incidents_collect(s);
	out->exit_code = s->exit_code;
	out->reason = s->reason;
	out->signal = s->signal;
	if (s->n_incidents > s->n_contained &&
	    (out->reason == HR_REASON_ENDED || out->reason == HR_REASON_SIGNAL ||
	     out->reason == HR_REASON_DURATION)) {
		out->reason = HR_REASON_FAILED;
		out->exit_code = out->exit_code ? out->exit_code : 1;
	}
	if (out->reason == HR_REASON_ENDED && s->opt->count)
		out->reason = HR_REASON_COUNT;
	out->end_ns = now_ns();
	out->page = hr_page_view(s->arena, hr_alloc_aligned(s->arena, bytes, 256), s->plan);
	memcpy(out->page->words, s->page->words, bytes);
}

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int
run_wired(struct hr_super *s, struct hr_error *err)
{
	if (s->opt->in_process) {
		/* A failure is in the page: bringing up stops at it. */
		hr_host_open(&s->host, s->arena, &s->wiring, s->opt, UINT32_MAX, false);
	} else if (hr_spawn_all(s, err)) {
		hr_spawn_close(s);
		return -1;
	}
	hr_thread_keep_house(s->plan);
	s->serve = hr_serve_open(s);
	if (bring_up(s))
		keep_watch(s);
	else
		call_off(s);
	hr_serve_close(s->serve);
	s->serve = NULL;
	end_in_process(s);
	hr_spawn_close(s);
	pass_on_logs(s);
	return 0;
}

int
hr_run(struct hr_arena *a, const struct hr_plan *p, const struct hr_run_options *opt,
       struct hr_outcome *out, struct hr_diags *d)
{
	struct hr_super s = { .arena = a,
			      .plan = p,
			      .opt = opt,
			      .out = out,
			      .bundle_fd = -1,
			      .signal_fd = -1,
			      .stall_ns = opt->stall_timeout_ns ? opt->stall_timeout_ns
								: p->graph->stall_timeout_ns,
			      .grace_ns = opt->stop_grace_ns ? opt->stop_grace_ns
							     : p->graph->stop_grace_ns };
	struct hr_error err = { 0 };
	struct timespec wall;
	uint64_t cpu = cpu_ns();
	sigset_t old;
	int rc;

	clock_gettime(CLOCK_REALTIME, &wall);
	*out = (struct hr_outcome){ .start_ns = now_ns() };
	out->start_unix_ns = wall.tv_sec * INT64_C(1000000000) + wall.tv_nsec;
	out->run_id = (uint64_t)out->start_unix_ns ^ ((uint64_t)getpid() << 48);
	sched_getaffinity(0, sizeof s.allowed, &s.allowed);
	rc = block_signals(&s, &old, &err);
	if (!rc)
		rc = hr_wire_make(a, p, opt->in_process, &s.wiring, &err);
	if (!rc) {
		s.page = s.wiring.page;
		hr_watch_init(&s);
		hr_failover_init(&s);
		rc = run_wired(&s, &err);
		if (!rc)
			settle(&s);
		/* Threads that would not end still use it; it goes with the process. */
		if (!s.over)
			hr_wire_release(&s.wiring);
	}
	unblock_signals(&s, &old);
	sched_setaffinity(0, sizeof s.allowed, &s.allowed);
	out->supervisor_cpu_ns = cpu_ns() - cpu;
	if (rc)
		hr_error(d, HR_NOWHERE, 320, "%s", err.text);
	return rc ? -1 : 0;
}
