/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.c - children: started with what they need and nothing else, watched by
 * pidfd, always reaped.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/super.h"

static void
keep_at_exec(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* In the forked child: async-signal-safe calls only. */
static void
become(const struct hr_super *s, const struct hr_wire_fds *fds, int control, char *const argv[])
{
	sigset_t none;

	/* Ignored signals stay so across exec: from here on stopping is the supervisor's. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* It plans with the CPUs the user allowed, not with those left to the supervisor. */
	sched_setaffinity(0, sizeof s->allowed, &s->allowed);
	keep_at_exec(control);
	keep_at_exec(s->bundle_fd);
	keep_at_exec(fds->page);
	keep_at_exec(fds->bell);
	for (uint32_t i = 0; i < fds->n_chans; i++)
		keep_at_exec(fds->chan[i]);
	for (uint32_t i = 0; i < fds->n_workers; i++)
		keep_at_exec(fds->event_fd[i]);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static int
spawn(struct hr_super *s, const struct hr_wire_fds *fds, struct hr_child_proc *c,
      struct hr_error *err)
{
	char bundle[16], control[16], process[16];
	char name[] = "holorun", option[] = HR_CHILD_OPTION;
	char *argv[] = { name, option, bundle, control, process, NULL };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return HR_FAIL(err, errno, "no socket for process '%s': %s (see ulimit -n)",
			       s->plan->process[c->process].name, strerror(errno));
	snprintf(bundle, sizeof bundle, "%d", s->bundle_fd);
	snprintf(control, sizeof control, "%d", pair[1]);
	snprintf(process, sizeof process, "%u", c->process);
	c->pid = fork();
	if (c->pid == 0)
		become(s, fds, pair[1], argv);
	close(pair[1]);
	if (c->pid < 0) {
		int e = errno;

		c->pid = 0;
		close(pair[0]);
		return HR_FAIL(err, e, "cannot start process '%s': %s (see ulimit -u)",
			       s->plan->process[c->process].name, strerror(e));
	}
	c->control = pair[0];
	fcntl(c->control, F_SETFL, O_NONBLOCK);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0)
		return HR_FAIL(err, errno, "cannot watch process '%s': %s",
			       s->plan->process[c->process].name, strerror(errno));
	return 0;
}

int
hr_spawn_one(struct hr_super *s, struct hr_child_proc *c, struct hr_error *err)
{
	uint32_t lives = hr_page_process(s->page, c->process)->lives++;
	struct hr_arena *scratch = hr_arena_new(); /* it may be started any number of times */
	struct hr_wire_fds fds;
	int rc = -1;

	hr_wire_fds(scratch, &s->wiring, &fds);
	s->bundle_fd = hr_bundle_write(scratch, s->plan, s->opt, &fds, lives, err);
	if (s->bundle_fd >= 0) {
		rc = spawn(s, &fds, c, err);
		close(s->bundle_fd);
	}
	s->bundle_fd = -1;
	hr_arena_free(scratch);
	return rc;
}

int
hr_spawn_all(struct hr_super *s, struct hr_error *err)
{
	s->child = HR_ARRAY(s->arena, s->plan->n_processes, struct hr_child_proc);
	for (uint32_t i = 0; i < s->plan->n_processes; i++) {
		struct hr_child_proc *c = &s->child[s->n_children];

		if (s->plan->process[i].n_workers == 0)
			continue;
		*c = (struct hr_child_proc){ .process = i, .pidfd = -1, .control = -1 };
		s->n_children++;
		if (hr_spawn_one(s, c, err))
			return -1;
	}
	return 0;
}

void
hr_spawn_tell_one(const struct hr_child_proc *c, char letter, uint32_t chan, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct hr_command cmd = { .letter = letter, .chan = chan };
	struct iovec iov = { &cmd, sizeof cmd };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof control;
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	}
	if (sendmsg(c->control, &m, MSG_NOSIGNAL) < 0)
		return; /* it is going: the pidfd tells */
}

void
hr_spawn_tell(struct hr_super *s, char command)
{
	for (uint32_t i = 0; i < s->n_children; i++)
		if (s->child[i].pid && !s->child[i].dead)
			hr_spawn_tell_one(&s->child[i], command, 0, -1);
}

void
hr_spawn_forget(struct hr_child_proc *c)
{
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->control >= 0)
		close(c->control);
	*c = (struct hr_child_proc){ .process = c->process, .pidfd = -1, .control = -1 };
}

/* A child that could not tell what it used. */
static void
take_usage(const struct hr_super *s, const struct hr_child_proc *c, const struct rusage *u)
{
	struct hr_page_process *pp = hr_page_process(s->page, c->process);
	uint64_t cpu = hr_usage_cpu_ns(u);

	if (hr_load32_acquire(&pp->closed))
		return;
	if (pp->cpu_base_ns && cpu > pp->cpu_base_ns)
		pp->cpu_ns += cpu - pp->cpu_base_ns;
	pp->max_rss_bytes = (uint64_t)u->ru_maxrss * 1024u;
}

static void
bury(struct hr_child_proc *c)
{
	ssize_t n = recv(c->control, c->words, sizeof c->words - 1, MSG_DONTWAIT);

	c->words[n > 0 ? n : 0] = 0;
	c->dead = true;
	c->dead_ns = hr_mono_ns();
}

bool
hr_spawn_reap(struct hr_super *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n_children; i++) {
		struct hr_child_proc *c = &s->child[i];
		struct rusage u;

		if (!c->pid || c->dead || wait4(c->pid, &c->status, WNOHANG, &u) != c->pid)
			continue;
		take_usage(s, c, &u);
		bury(c);
		any = true;
	}
	return any;
}

void
hr_spawn_kill(struct hr_super *s, struct hr_child_proc *c)
{
	(void)s;
	if (!c->pid || c->dead || c->killed)
		return;
	c->killed = true;
	kill(c->pid, SIGKILL); /* not reaped yet, so the number is still its own */
}

void
hr_spawn_kill_all(struct hr_super *s)
{
	for (uint32_t i = 0; i < s->n_children; i++)
		hr_spawn_kill(s, &s->child[i]);
}

bool
hr_spawn_any_alive(const struct hr_super *s)
{
	for (uint32_t i = 0; i < s->n_children; i++)
		if (s->child[i].pid && !s->child[i].dead)
			return true;
	return false;
}

void
hr_spawn_close(struct hr_super *s)
{
	for (uint32_t i = 0; i < s->n_children; i++) {
		struct hr_child_proc *c = &s->child[i];
		struct rusage u;

		hr_spawn_kill(s, c);
		while (c->pid && !c->dead) {
			if (wait4(c->pid, &c->status, 0, &u) == c->pid) {
				take_usage(s, c, &u);
				bury(c);
			} else if (errno != EINTR)
				break;
		}
		if (c->pidfd >= 0)
			close(c->pidfd);
		if (c->control >= 0)
			close(c->control);
	}
	if (s->bundle_fd >= 0)
		close(s->bundle_fd);
}
