/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - one process of a run: make the same plan, attach, open, run, leave.
 *
 * The control thread sleeps on the supervisor's socket and on the workers'
 * ends.  It ignores the terminal's signals: stopping is the supervisor's
 * business, and one Ctrl-C reaches every process of the group.  When the
 * supervisor goes, the kernel ends this process (PDEATHSIG), and so does the
 * end of the socket.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/bundle.h"
#include "run/inst.h"

struct child {
	struct hr_arena *arena;
	struct hr_bundle bundle;
	struct hr_plan *plan;
	struct hr_wiring wiring;
	struct hr_host host;
	uint32_t process;
	int control;
};

bool
hr_is_child(int argc, char **argv)
{
	return argc == 5 && strcmp(argv[1], HR_CHILD_OPTION) == 0;
}

/* Before there is a page, the supervisor learns of a failure by text. */
static int
tell(const struct child *c, const char *text)
{
	if (write(c->control, text, strlen(text)) < 0)
		return 3; /* nobody is left to be told */
	return 3;
}

static int
make_plan(struct child *c)
{
	struct hr_bundle *b = &c->bundle;
	struct hr_diags d;
	struct hr_doc *doc;
	struct hr_graph *g = NULL;
	struct hr_bound *bound = NULL;
	struct hr_machine *m = NULL;

	hr_diags_init(&d, c->arena);
	doc = hr_load(c->arena, &b->load, &d);
	if (doc)
		g = hr_validate(c->arena, doc, &b->load, &d);
	if (g && !d.n_errors)
		bound = hr_bind(c->arena, g, hr_plugins_load(c->arena, g, &b->dirs), &d);
	if (bound && !d.n_errors)
		m = hr_machine_load(c->arena, NULL, &d);
	if (m && !d.n_errors) {
		m->memory_bytes = 0; /* the supervisor's channels already count against it */
		c->plan = hr_plan_make(c->arena, bound, m, &d);
	}
	if (!c->plan || d.n_errors)
		return tell(c, hr_diags_text(&d, c->arena, false));
	if (c->plan->digest != b->digest)
		return tell(c, "it made another plan than its supervisor: did a plugin change "
			       "while the run started?");
	if (c->process >= c->plan->n_processes)
		return tell(c, "its process number is not in the plan");
	return 0;
}

static bool
all_ended(const struct hr_host *h)
{
	for (uint32_t i = 0; i < h->n_workers; i++)
		if (h->worker[i].thread_runs &&
		    hr_load32_acquire(&h->worker[i].page->state) != HR_WORKER_ENDED)
			return false;
	return true;
}

/* The writer of a channel was started again: its readers here get the new channel. */
static void
renew(struct child *c, uint32_t chan, int fd)
{
	struct hr_error err = { 0 };

	if (chan >= c->plan->n_chans) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fd < 0)
		HR_FAIL(&err, EMFILE,
			"no descriptor for the channel of a restarted node (see ulimit -n)");
	else if (hr_link_renew(&c->host, chan, fd, &err) == 0)
		return;
	hr_control_fail(&c->host, HR_FAILURE_HOST, HR_NO_NODE, HR_CALL_NONE, EIO, err.text);
	hr_wire_ring(&c->wiring);
	/* Without it this process is of no use: it fails as a whole. */
	if (c->plan->process[c->process].on_failure != HR_ON_FAILURE_STOP)
		_exit(1);
}

static void
obey(struct child *c, const struct hr_command *cmd, int fd)
{
	struct hr_page_process *me = hr_page_process(c->wiring.page, c->process);

	if (cmd->letter == HR_TELL_START) {
		struct rusage u;

		if (!getrusage(RUSAGE_SELF, &u))
			me->cpu_base_ns = hr_usage_cpu_ns(&u);
		if (hr_host_start(&c->host))
			hr_wire_ring(&c->wiring);
	}
	if (cmd->letter == HR_TELL_RENEW)
		renew(c, cmd->chan, fd);
	if (cmd->letter == HR_TELL_SNAPSHOT) {
		hr_host_snapshot(&c->host);
		/* Q1: the copies are there; pairs with Q2 in super.c */
		hr_store32_release(&me->snapshot,
				   hr_load32_relaxed(&c->wiring.page->words->snapshot_asked));
	}
}

/* False when the supervisor is gone. */
static bool
receive(const struct child *c, struct hr_command *cmd, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { cmd, sizeof *cmd };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	ssize_t n = recvmsg(c->control, &m, MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n != (ssize_t)sizeof *cmd)
		return false;
	if (m.msg_controllen && CMSG_FIRSTHDR(&m) && CMSG_FIRSTHDR(&m)->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof *fd);
	return true;
}

/* Until every thread that was started has ended; false when called off before that. */
static void
serve(struct child *c)
{
	bool started = false;

	for (;;) {
		struct pollfd p[2] = { { .fd = c->control, .events = POLLIN },
				       { .fd = c->host.done_fd, .events = POLLIN } };
		struct hr_command cmd;
		eventfd_t n;
		int fd;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents & POLLIN) {
			eventfd_read(c->host.done_fd, &n);
			if (started && all_ended(&c->host))
				return;
		}
		if (!(p[0].revents & (POLLIN | POLLHUP)))
			continue;
		if (!receive(c, &cmd, &fd))
			_exit(1); /* the supervisor is gone */
		if (cmd.letter == HR_TELL_ABORT && !started)
			return;
		obey(c, &cmd, fd);
		started |= cmd.letter == HR_TELL_START;
		if (started && all_ended(&c->host))
			return;
	}
}

static void
report_usage(struct child *c)
{
	struct hr_page_process *me = hr_page_process(c->wiring.page, c->process);
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		return;
	me->cpu_ns += hr_usage_cpu_ns(&u) - me->cpu_base_ns;
	me->max_rss_bytes = (uint64_t)u.ru_maxrss * 1024u;
}

static int
live(struct child *c)
{
	struct hr_page_process *me = hr_page_process(c->wiring.page, c->process);
	struct hr_host *h = &c->host;
	int rc;

	me->pid = (uint32_t)getpid();
	rc = hr_host_open(h, c->arena, &c->wiring, &c->bundle.run, c->process, c->bundle.lives > 0);
	h->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* O1: everything of this process is attached, or its failure is recorded; pairs with O2 in
	 * super.c */
	hr_store32_release(&me->opened, 1);
	hr_wire_ring(&c->wiring);
	if (!rc)
		serve(c);
	hr_host_join(h);
	hr_host_close(h);
	report_usage(c);
	close(h->done_fd);
	hr_store32_release(&me->closed, 1);
	hr_wire_ring(&c->wiring);
	return hr_load32_acquire(
		       &hr_page_failure(c->wiring.page, c->plan->n_workers + c->process)->kind)
		       ? 1
		       : 0;
}

static void
set_up_process(const struct child *c)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have gone before that took hold. */
	if (getppid() != (pid_t)c->bundle.supervisor)
		_exit(1);
}

/* A descriptor or an index; anything else becomes -1, which no later check lets pass. */
static long
number(const char *text)
{
	char *end;
	long v = strtol(text, &end, 10);

	return *text && !*end && v >= 0 && v <= INT32_MAX ? v : -1;
}

int
hr_child_main(int argc, char **argv, const char *(*env)(const char *name))
{
	struct child c = { .arena = hr_arena_new(), .control = (int)number(argv[3]) };
	struct hr_error err = { 0 };
	int rc, fd = (int)number(argv[2]);

	(void)argc;
	c.process = (uint32_t)number(argv[4]);
	if (hr_bundle_read(c.arena, fd, &c.bundle, &err))
		return tell(&c, err.text);
	close(fd);
	c.bundle.load.env = env;
	c.bundle.run.load = &c.bundle.load;
	set_up_process(&c);
	rc = make_plan(&c);
	if (rc)
		return rc;
	prctl(PR_SET_NAME, c.plan->process[c.process].name);
	hr_thread_keep_house(c.plan);
	if (hr_wire_attach(c.arena, c.plan, c.process, &c.bundle.fds, &c.wiring, &err))
		return tell(&c, err.text);
	if (hr_page_protect(c.wiring.page))
		return tell(&c, "the run page cannot be protected");
	rc = live(&c);
	hr_wire_release(&c.wiring);
	close(c.control);
	hr_arena_free(c.arena);
	return rc;
}
