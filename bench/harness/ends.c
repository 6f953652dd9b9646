/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.c - children for measurements.
 *
 * The caller forks a child that prepares and then runs one end itself, the other
 * in a thread or in a child of its own; both die with their parent.
 */
#include "ends.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool
hb_note(struct hb_job *job, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(job->share->note, HB_NOTE, fmt, ap);
	va_end(ap);
	hr_store32_release(&job->share->failed, 1);
	return false;
}

void
hb_meet(struct hb_job *job)
{
	uint32_t before = __atomic_fetch_add(&job->share->here, 1, __ATOMIC_ACQ_REL);

	/* The n-th meeting is complete when 2 n have come. */
	while (hr_load32_acquire(&job->share->here) < (before / 2 + 1) * 2)
		hr_cpu_relax();
}

void
hb_pace(struct hb_job *job, const struct hb_env *env)
{
	job->n = env->paced;
	job->warm = env->paced / 10;
}

static bool
run_end(struct hb_job *job, bool (*end)(struct hb_job *), int cpu)
{
	if (hb_pin(cpu))
		return hb_note(job, "cannot run on CPU %d: %s", cpu, strerror(errno));
	return end(job);
}

/* An end that fails takes the other one with it, which would wait for it in vain. */
static void *
receiver_thread(void *arg)
{
	struct hb_job *job = arg;

	if (!run_end(job, job->receive, job->env->cpu[1]))
		_exit(1);
	return NULL;
}

static bool
run_threads(struct hb_job *job)
{
	pthread_t t;

	if (pthread_create(&t, NULL, receiver_thread, job))
		return hb_note(job, "no thread");
	if (!run_end(job, job->send, job->env->cpu[0]))
		return false;
	pthread_join(t, NULL);
	return true;
}

static bool
run_processes(struct hb_job *job)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return hb_note(job, "no process: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (run_end(job, job->receive, job->env->cpu[1]))
			_exit(0);
		kill(getppid(), SIGKILL);
		_exit(1);
	}
	if (!run_end(job, job->send, job->env->cpu[0]))
		return false;
	if (waitpid(pid, &status, 0) != pid || status)
		return hb_note(job, "the receiver died (status %#x)", (unsigned)status);
	return true;
}

static bool
run_job(struct hb_job *job)
{
	if (job->prepare && !job->prepare(job))
		return false;
	if (!job->receive)
		return run_end(job, job->send, job->env->cpu[1]);
	return job->kind == HB_THREADS ? run_threads(job) : run_processes(job);
}

/* 0: it ended well. */
static int
wait_for(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int status = 0, n;

	do
		n = poll(&p, 1, HB_PATIENCE_S * 1000);
	while (n < 0 && errno == EINTR);
	close(p.fd);
	if (n != 1)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static double
outcome(const struct hb_job *job, int status)
{
	struct hb_share *s = job->share;

	if (s->failed)
		return hb_fail("%s", s->note);
	if (status)
		return hb_fail("it hung or died (status %#x)", (unsigned)status);
	return s->n ? hb_median(s->sample, s->n) : s->figure;
}

double
hb_run_ends(struct hb_job *job)
{
	size_t bytes = sizeof(struct hb_share) + job->body_bytes;
	double figure;
	pid_t pid;

	if (job->receive && job->env->n_cpus < 2)
		return hb_skip("needs two CPUs");
	/* Touched before the children exist, so that no page is missing later. */
	job->share = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (job->share == MAP_FAILED)
		return hb_fail("no memory: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(run_job(job) ? 0 : 1);
	}
	figure = pid < 0 ? hb_fail("no process: %s", strerror(errno)) : outcome(job, wait_for(pid));
	munmap(job->share, bytes);
	return figure;
}
