/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_sleep.c - sleeping until there is something to do.
 *
 * One sleep waits for the own event count and for the lives of the peers: their lock
 * words get the kernel's WAITERS bit, so that a death wakes as a publish does, and
 * nothing wakes on a timer.  Where the kernel has no futex_waitv (before 5.16) lives
 * are looked at every 5 ms instead.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"
#include "wait.h"

#define LOOK_NS INT64_C(5000000)

int
hmq_endpoint_has_work(struct hmq_endpoint *ep)
{
	/* relaxed: prepare, which came before, is ordered with the helper's wake */
	if (ep->has_thread && hmq_load_relaxed_u32(&ep->news))
		return 1;
	if (ep->reader)
		return hmq_queued(ep->reader) > 0 || hmq_reader_peer(ep->reader) != HMQ_OPEN;
	if (!ep->writer || hmq_room(ep->writer) == 0)
		return 0;
	hmq_pool_collect(ep->writer);
	return ep->writer->n_free > 0;
}

/* ---- poll ------------------------------------------------------------------------------- */

static void
disarm(struct hmq_endpoint *ep)
{
	eventfd_t rung;

	if (!ep->is_armed)
		return;
	ep->is_armed = 0;
	hmq_waiter_cancel(ep->own);
	(void)eventfd_read(ep->event_fd, &rung);
}

/* Importer, polled: the connection ended, which would keep the epoll descriptor readable. */
static void
look_at_exporter(struct hmq_endpoint *ep)
{
	struct pollfd p = { .fd = ep->conn, .events = POLLIN };

	if (ep->epoll >= 0 && ep->conn >= 0 && poll(&p, 1, 0) > 0) {
		close(ep->conn);
		ep->conn = -1;
	}
}

uint32_t
hmq_endpoint_poll(struct hmq_endpoint *ep)
{
	uint32_t state;

	disarm(ep);
	if (ep->is_exporter) {
		hmq_serve(ep);
		hmq_seats_look(ep);
		return ep->n_peers;
	}
	look_at_exporter(ep);
	state = ep->reader ? hmq_reader_peer(ep->reader) : HMQ_OPEN;
	if (ep->writer)
		return hmq_writer_readers(ep->writer);
	return state == HMQ_OPEN;
}

int32_t
hmq_endpoint_fd(const struct hmq_endpoint *ep)
{
	if (ep->is_exporter && (ep->cfg.flags & HMQ_ENDPOINT_THREAD))
		return ep->event_fd;
	return ep->epoll;
}

int
hmq_endpoint_arm(struct hmq_endpoint *ep)
{
	if (!(ep->cfg.flags & HMQ_ENDPOINT_POLLED))
		return -ENOTSUP;
	hmq_waiter_prepare(ep->own);
	ep->is_armed = 1;
	if (!hmq_endpoint_has_work(ep))
		return 0;
	disarm(ep);
	return 1;
}

/* ---- sleep ------------------------------------------------------------------------------ */

/* Ask to be woken when this life ends: 0, the value to wait on; -1: there is none to wait for. */
static int
watch_life(struct hmq_waiter *w, uint32_t *value)
{
	uint32_t *word = (uint32_t *)(void *)&w->life.mutex;
	uint32_t v = hmq_load_relaxed_u32(word); /* relaxed: the swap decides */

	for (int tries = 0; tries < 64; tries++) {
		if ((v & FUTEX_TID_MASK) == 0 || (v & FUTEX_OWNER_DIED))
			return -1;
		*value = v | FUTEX_WAITERS;
		/* A8: as in hmq_life_is_dead; the bit itself is for the kernel */
		if ((v & FUTEX_WAITERS) || hmq_cas_acquire_u32(word, &v, *value))
			return 0;
	}
	return -1;
}

static void
add(struct futex_waitv *list, uint32_t *n, const void *word, uint32_t value)
{
	list[(*n)++] =
		(struct futex_waitv){ .uaddr = (uintptr_t)word, .val = value, .flags = FUTEX_32 };
}

/* Everything that may end the sleep. */
static uint32_t
collect(struct hmq_endpoint *ep, struct futex_waitv *list, uint32_t value)
{
	uint32_t n = 0, v;

	add(list, &n, &ep->own->word, value);
	if (!ep->is_exporter) {
		struct hmq_waiter *w = hmq_seat_exporter(ep, ep->seat);

		if (watch_life(w, &v) == 0)
			add(list, &n, &w->life.mutex, v);
		return n;
	}
	for (uint32_t i = 0; i < ep->cfg.seats; i++) {
		struct hmq_waiter *w = hmq_seat_waiter(ep, 1 + i);

		if (ep->seats[i].is_taken && watch_life(w, &v) == 0)
			add(list, &n, &w->life.mutex, v);
	}
	return n;
}

static int
sleep_on(struct hmq_endpoint *ep, const struct futex_waitv *list, uint32_t n, int64_t deadline_ns)
{
	struct timespec at = { deadline_ns / 1000000000, deadline_ns % 1000000000 };
	struct timespec *until = deadline_ns == INT64_MAX ? NULL : &at;
	int64_t next;

	if (syscall(__NR_futex_waitv, list, n, 0, until, CLOCK_MONOTONIC) >= 0 || errno == EAGAIN)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	next = hmq_now_ns() + LOOK_NS;
	if (hmq_waiter_wait(ep->own, (uint32_t)list[0].val,
			    next < deadline_ns ? next : deadline_ns))
		return hmq_now_ns() >= deadline_ns ? -ETIMEDOUT : 0;
	return 0;
}

int
hmq_endpoint_sleep(struct hmq_endpoint *ep, int64_t deadline_ns)
{
	struct futex_waitv list[1 + HMQ_MAX_READERS];
	uint32_t value;
	int rc = 0;

	if ((ep->cfg.flags & HMQ_ENDPOINT_POLLED) || ep->cfg.contract.wake == HMQ_WAKE_SPIN ||
	    (ep->is_exporter && !ep->has_thread))
		return -ENOTSUP;
	value = hmq_waiter_prepare(ep->own);
	if (!hmq_endpoint_has_work(ep)) {
		uint32_t n = collect(ep, list, value);

		/* Who died before its bit was set did not wake us: look once more. */
		if (!hmq_endpoint_has_work(ep))
			rc = deadline_ns <= hmq_now_ns() ? -ETIMEDOUT
							 : sleep_on(ep, list, n, deadline_ns);
	}
	hmq_waiter_cancel(ep->own);
	return rc;
}

/* ---- a required peer -------------------------------------------------------------------- */

static void
await_caller(struct hmq_endpoint *ep, int64_t deadline_ns)
{
	struct pollfd p = { .fd = hmq_endpoint_fd(ep), .events = POLLIN };
	uint32_t value = hmq_waiter_prepare(ep->own);

	ep->is_armed = p.fd >= 0 && (ep->cfg.flags & HMQ_ENDPOINT_POLLED) != 0;
	/* relaxed: as in hmq_endpoint_has_work */
	if (ep->has_thread && hmq_load_relaxed_u32(&ep->news))
		hmq_waiter_cancel(ep->own);
	else if (p.fd >= 0)
		(void)poll(&p, 1, hmq_left_ms(deadline_ns));
	else
		(void)hmq_waiter_wait(ep->own, value, deadline_ns);
	hmq_waiter_cancel(ep->own);
}

int
hmq_endpoint_wait(struct hmq_endpoint *ep, uint32_t n, int64_t deadline_ns)
{
	if (n > ep->cfg.seats)
		return -EINVAL;
	while (hmq_endpoint_poll(ep) < n) {
		if (!ep->is_exporter)
			return -EPIPE;
		if (hmq_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		await_caller(ep, deadline_ns);
	}
	return 0;
}
