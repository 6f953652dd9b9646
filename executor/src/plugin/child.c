/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - fork, limit, watch, reap.  See child.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "plugin/child.h"

enum { MAX_TEXT = 64 << 20 };

/* A plugin must neither reach the user's terminal nor be stopped by handlers that were meant for
 * the parent: with the defaults a fault is a signal, also under a sanitizer. */
static void
isolate(int limit_ms)
{
	static const int defaults[] = { SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT, SIGTRAP,
					SIGSYS,  SIGXCPU, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
					SIGALRM, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2 };
	const rlim_t seconds = (rlim_t)(limit_ms + 999) / 1000;
	const struct rlimit cpu = { seconds, seconds + 1 }, core = { 0, 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
		(void)sigaction(defaults[i], &by_default, NULL);
	sigemptyset(&none);
	(void)pthread_sigmask(SIG_SETMASK, &none, NULL);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	(void)setrlimit(RLIMIT_CORE, &core);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		(void)dup2(null, fd);
}

static int
write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t k = write(fd, s, n);

		if (k < 0 && errno != EINTR)
			return -errno;
		if (k > 0) {
			s += k;
			n -= (size_t)k;
		}
	}
	return 0;
}

static _Noreturn void
run_child(int limit_ms, pid_t parent, int out, struct hr_stage *page,
	  void (*body)(void *arg, struct hr_text *out), void *arg)
{
	struct hr_text text;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	isolate(limit_ms);
	hr_stage_attach(page);
	hr_text_init(&text, hr_arena_new());
	body(arg, &text);
	hr_stage_leave();
	if (out < 0 || !write_all(out, text.s, text.len))
		page->done = 1;
	_exit(0);
}

/* Waits until the child ends or its time is over, then reaps it.  Without pidfd (an old kernel)
 * it looks every 2 ms. */
static void
watch_child(pid_t pid, int limit_ms, struct hr_child_end *end)
{
	struct pollfd p = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	const uint64_t until = hr_mono_ns() + (uint64_t)limit_ms * 1000000;
	int status = 0;

	while (limit_ms <= 0 || waitpid(pid, &status, WNOHANG) == 0) {
		const uint64_t now = hr_mono_ns();

		if (now >= until) {
			end->how = HR_CHILD_TIMEOUT;
			(void)kill(pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			break;
		}
		(void)poll(&p, 1, p.fd < 0 ? 2 : (int)((until - now) / 1000000) + 1);
	}
	if (p.fd >= 0)
		(void)close(p.fd);
	if (end->how == HR_CHILD_TIMEOUT)
		return;
	if (WIFSIGNALED(status)) {
		end->how = WTERMSIG(status) == SIGXCPU ? HR_CHILD_TIMEOUT : HR_CHILD_SIGNAL;
		end->status = WTERMSIG(status);
	} else {
		end->how = HR_CHILD_EXITED;
		end->status = WEXITSTATUS(status);
	}
}

static const char *
read_text(struct hr_arena *a, int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *s;

	if (n <= 0 || n > MAX_TEXT)
		return "";
	s = hr_alloc(a, (size_t)n + 1);
	if (pread(fd, s, (size_t)n, 0) != n)
		return "";
	return s;
}

int
hr_child_run(struct hr_arena *a, int limit_ms, bool wants_text,
	     void (*body)(void *arg, struct hr_text *out), void *arg, struct hr_child_end *end)
{
	const pid_t parent = getpid();
	struct hr_stage *page;
	pid_t pid;
	int rc = 0, out = -1;

	*end = (struct hr_child_end){ .text = "" };
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (wants_text)
		out = memfd_create("holorun-probe", MFD_CLOEXEC);
	if (wants_text && out < 0) {
		rc = -errno;
		goto unmap;
	}
	pid = fork();
	if (pid == 0)
		run_child(limit_ms, parent, out, page, body, arg);
	if (pid < 0) {
		rc = -errno;
		goto close;
	}
	watch_child(pid, limit_ms, end);
	/* Foreign code may have written over the page: terminate what is read from it. */
	end->stage = *page;
	end->stage.doing[sizeof end->stage.doing - 1] = 0;
	end->stage.plugin[sizeof end->stage.plugin - 1] = 0;
	end->stage.op[sizeof end->stage.op - 1] = 0;
	end->stage.node[sizeof end->stage.node - 1] = 0;
	if (end->how == HR_CHILD_EXITED && end->status == 0 && end->stage.done)
		end->how = HR_CHILD_CLEAN;
	if (end->how == HR_CHILD_CLEAN && out >= 0)
		end->text = read_text(a, out);
close:
	if (out >= 0)
		(void)close(out);
unmap:
	(void)munmap(page, sizeof *page);
	return rc;
}

const char *
hr_child_how_text(struct hr_arena *a, const struct hr_child_end *end, int limit_ms)
{
	const char *name;

	switch (end->how) {
	case HR_CHILD_SIGNAL:
		name = sigabbrev_np(end->status);
		return name ? hr_printf(a, "was killed by SIG%s (%s)", name,
					sigdescr_np(end->status))
			    : hr_printf(a, "was killed by signal %d", end->status);
	case HR_CHILD_TIMEOUT:
		return hr_printf(a, "did not return in %g s", limit_ms / 1000.0);
	case HR_CHILD_EXITED:
		return hr_printf(a, "ended the process with exit status %d", end->status);
	case HR_CHILD_CLEAN:
		break;
	}
	return "returned";
}
