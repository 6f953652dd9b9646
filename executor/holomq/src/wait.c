/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - the event count.
 *
 * Bit 0 of the word says that the owner is about to sleep; the rest counts wakes.
 * Both ends touch the word with one read-modify-write, so one of them is first: if
 * the waker is, the owner's acquire sees what was published and does not sleep; if
 * the owner is, the waker sees bit 0 and wakes.  A plain load on either side would
 * lose wake-ups, also on x86.  Guarantees nothing about who is woken for what:
 * the owner looks at everything again.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "layout.h"

#define SLEEPS 1u
#define ONE_WAKE 2u

uint32_t
hmq_waiter_prepare(struct hmq_waiter *w)
{
	/* A7: sees what was published before the wakes it counts; pairs with R7 in hmq_wake */
	return hmq_or_acquire_u32(&w->word, SLEEPS) | SLEEPS;
}

void
hmq_waiter_cancel(struct hmq_waiter *w)
{
	/* relaxed: a wake meant for the withdrawn announcement is a spurious one */
	hmq_and_relaxed_u32(&w->word, ~SLEEPS);
}

int
hmq_waiter_wait(struct hmq_waiter *w, uint32_t value, int64_t deadline_ns)
{
	struct timespec at = { deadline_ns / 1000000000, deadline_ns % 1000000000 };
	struct timespec *until = deadline_ns == INT64_MAX ? NULL : &at;
	int rc = 0;

	if (deadline_ns < 0)
		at = (struct timespec){ 0, 0 };
	/* Shared and absolute: FUTEX_WAIT_BITSET takes CLOCK_MONOTONIC. */
	if (syscall(SYS_futex, &w->word, FUTEX_WAIT_BITSET, value, until, NULL,
		    FUTEX_BITSET_MATCH_ANY) < 0 &&
	    errno != EAGAIN)
		rc = -errno;
	hmq_waiter_cancel(w);
	return rc;
}

static void
signal_fd(int fd)
{
	const uint64_t one = 1;
	int saved = errno;

	/* EAGAIN: the counter is full, the sleeper is awake as it is. */
	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	errno = saved;
}

void
hmq_wake(const struct hmq_peer *peer)
{
	if (!peer->waiter)
		return;
	/* R7: what was stored before is seen by who counts this wake; pairs with A7 in
	 * hmq_waiter_prepare */
	if (!(hmq_add_release_u32(&peer->waiter->word, ONE_WAKE) & SLEEPS))
		return;
	if (peer->event_fd >= 0)
		signal_fd(peer->event_fd);
	else
		syscall(SYS_futex, &peer->waiter->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
