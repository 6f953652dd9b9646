/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest.h - two workers' records in shared memory, and forked children with a pipe.
 *
 * Children leave by _exit or by a signal; nest_reap says which.  Nothing sleeps for
 * order: who must wait reads the pipe.
 */
#ifndef NEST_H
#define NEST_H

#include <sys/types.h>
#include <sys/wait.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "rig.h"

struct nest {
	struct hmq_segment seg;
	struct hmq_waiter *writer;
	struct hmq_waiter *reader;
	int pipe[2];
};

static inline void
nest_open(struct nest *n)
{
	struct hmq_error err;

	assert_int_equal(hmq_segment_create(&n->seg, "nest", 4096, HMQ_SEG_SHARED, &err), 0);
	n->writer = n->seg.base;
	n->reader = (void *)((uint8_t *)n->seg.base + HMQ_WAITER_BYTES);
	hmq_waiter_init(n->writer, HMQ_WAIT_FUTEX);
	hmq_waiter_init(n->reader, HMQ_WAIT_FUTEX);
	assert_int_equal(pipe(n->pipe), 0);
}

static inline void
nest_close(struct nest *n)
{
	close(n->pipe[0]);
	close(n->pipe[1]);
	hmq_segment_close(&n->seg);
}

/* fork, never -1: a negative pid in kill() means everybody.  A child does not outlive a failed
 * parent for long. */
static inline pid_t
nest_fork(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		alarm(60);
	return pid;
}

/* The child says that it got somewhere; the parent waits for it. */
static inline void
nest_tell(struct nest *n)
{
	if (write(n->pipe[1], "x", 1) != 1)
		_exit(99);
}

static inline void
nest_hear(struct nest *n)
{
	char c;

	assert_int_equal(read(n->pipe[0], &c, 1), 1);
}

/* The status of a child that must end by itself; 128 + signal if one ended it. */
static inline int
nest_reap(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a child cmocka's asserts would jump into the parent's frames. */
#define CHILD_CHECK(cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			_exit(1);                                                                  \
	} while (0)

#endif /* NEST_H */
