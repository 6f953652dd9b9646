/* SPDX-License-Identifier: Apache-2.0 */
/* wait_test.c - the event count: who is woken, by what, and that no wake is lost. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#include "atomic.h"
#include "layout.h"
#include "nest.h"

enum { ROUNDS = 2000 };

static void
a_deadline_in_the_past_ends_the_wait(void **state)
{
	struct nest n;

	(void)state;
	nest_open(&n);
	assert_int_equal(hmq_waiter_wait(n.reader, hmq_waiter_prepare(n.reader), 1), -ETIMEDOUT);
	assert_int_equal(hmq_waiter_wait(n.reader, hmq_waiter_prepare(n.reader), -5), -ETIMEDOUT);
	assert_int_equal(hmq_load_relaxed_u32(&n.reader->word) & 1, 0);
	nest_close(&n);
}

static void
a_wake_between_prepare_and_wait_is_not_lost(void **state)
{
	struct nest n;
	struct hmq_peer peer = { .event_fd = -1 };
	uint32_t value;

	(void)state;
	nest_open(&n);
	peer.waiter = n.reader;
	value = hmq_waiter_prepare(n.reader);
	hmq_wake(&peer);
	assert_int_equal(hmq_waiter_wait(n.reader, value, INT64_MAX), 0);
	nest_close(&n);
}

static void
a_withdrawn_announcement_costs_no_call(void **state)
{
	struct nest n;
	struct hmq_peer peer = { .event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
	struct pollfd poll_fd = { .fd = peer.event_fd, .events = POLLIN };

	(void)state;
	nest_open(&n);
	hmq_waiter_init(n.reader, HMQ_WAIT_EVENTFD);
	peer.waiter = n.reader;
	hmq_wake(&peer);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	hmq_waiter_prepare(n.reader);
	hmq_waiter_cancel(n.reader);
	hmq_wake(&peer);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	hmq_waiter_prepare(n.reader);
	hmq_wake(&peer);
	assert_int_equal(poll(&poll_fd, 1, 0), 1);
	peer.waiter = NULL;
	hmq_wake(&peer); /* nobody */
	close(peer.event_fd);
	nest_close(&n);
}

static void
a_full_eventfd_still_wakes_and_keeps_errno(void **state)
{
	const uint64_t most = UINT64_MAX - 1;
	struct nest n;
	struct hmq_peer peer = { .event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };

	(void)state;
	nest_open(&n);
	peer.waiter = n.reader;
	assert_int_equal(write(peer.event_fd, &most, sizeof(most)), sizeof(most));
	hmq_waiter_prepare(n.reader);
	errno = 0;
	hmq_wake(&peer);
	assert_int_equal(errno, 0);
	close(peer.event_fd);
	nest_close(&n);
}

static void
on_signal(int sig)
{
	(void)sig;
}

static void *
wait_for_ever(void *arg)
{
	return (void *)(intptr_t)hmq_waiter_wait(arg, hmq_waiter_prepare(arg), INT64_MAX);
}

static void
a_signal_interrupts_the_wait(void **state)
{
	struct nest n;
	struct sigaction act = { .sa_handler = on_signal };
	pthread_t thread;
	void *rc;

	(void)state;
	nest_open(&n);
	sigaction(SIGUSR1, &act, NULL);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, n.reader), 0);
	/* The announcement is withdrawn when the wait is over: until then, keep interrupting. */
	while (!(hmq_load_acquire_u32(&n.reader->word) & 1))
		;
	while (hmq_load_acquire_u32(&n.reader->word) & 1)
		pthread_kill(thread, SIGUSR1);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, -EINTR);
	nest_close(&n);
}

static void
a_sleeping_process_is_woken(void **state)
{
	struct nest n;
	struct hmq_peer peer = { .event_fd = -1 };
	pid_t pid;

	(void)state;
	nest_open(&n);
	pid = nest_fork();
	if (pid == 0)
		_exit(hmq_waiter_wait(n.reader, hmq_waiter_prepare(n.reader), INT64_MAX) != 0);
	peer.waiter = n.reader;
	while (!(hmq_load_acquire_u32(&n.reader->word) & 1))
		sched_yield();
	hmq_wake(&peer);
	assert_int_equal(nest_reap(pid), 0);
	nest_close(&n);
}

static void
a_process_asleep_in_its_poll_set_is_woken(void **state)
{
	struct nest n;
	struct hmq_peer peer = { .event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
	struct pollfd poll_fd = { .fd = peer.event_fd, .events = POLLIN };
	pid_t pid;

	(void)state;
	nest_open(&n);
	hmq_waiter_init(n.reader, HMQ_WAIT_EVENTFD);
	pid = nest_fork();
	if (pid == 0) {
		hmq_waiter_prepare(n.reader);
		_exit(poll(&poll_fd, 1, -1) != 1);
	}
	peer.waiter = n.reader;
	while (!(hmq_load_acquire_u32(&n.reader->word) & 1))
		sched_yield();
	hmq_wake(&peer);
	assert_int_equal(nest_reap(pid), 0);
	close(peer.event_fd);
	nest_close(&n);
}

/* ---- two ends that both sleep, over a queue of one ------------------------------------- */

static void
wait_until(struct hmq_waiter *w, int (*is_there)(struct rig *), struct rig *rig)
{
	while (!is_there(rig)) {
		uint32_t value = hmq_waiter_prepare(w);

		if (is_there(rig)) {
			hmq_waiter_cancel(w);
			return;
		}
		hmq_waiter_wait(w, value, INT64_MAX);
	}
}

static int
has_message(struct rig *rig)
{
	return hmq_queued(rig->r[0]) > 0;
}

static int
has_slot(struct rig *rig)
{
	struct hmq_tx tx;

	if (hmq_room(rig->w) == 0 || hmq_loan(rig->w, &tx, 1) == 0)
		return 0;
	hmq_cancel(rig->w, &tx, 1);
	return 1;
}

static int
read_all(struct rig *rig, struct hmq_waiter *mine)
{
	struct hmq_rx rx;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t number;

		wait_until(mine, has_message, rig);
		if (hmq_peek(rig->r[0], 0, &rx, 1) != 1)
			return 1;
		memcpy(&number, rx.data, sizeof(number));
		if (number != i)
			return 2;
		hmq_take(rig->r[0], &rx, 1);
	}
	return 0;
}

static void
open_sleepers(struct rig *rig, struct nest *n)
{
	struct hmq_peer to_reader = { .waiter = n->reader, .event_fd = -1 };
	struct hmq_peer to_writer = { .waiter = n->writer, .event_fd = -1 };
	struct hmq_error err;

	rig_open_one(rig, HMQ_SEG_SHARED, 1, 1);
	hmq_writer_free(rig->w);
	hmq_reader_free(rig->r[0]);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, &to_reader, &err), 0);
	assert_int_equal(hmq_reader_open(&rig->r[0], &rig->seg, 0, &to_writer, &err), 0);
}

static void
no_wake_is_lost_between_processes(void **state)
{
	struct nest n;
	struct rig rig;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_sleepers(&rig, &n);
	pid = nest_fork();
	if (pid == 0)
		_exit(read_all(&rig, n.reader));
	for (int i = 0; i < ROUNDS; i++) {
		wait_until(n.writer, has_slot, &rig);
		assert_int_equal(rig_send(&rig, 1), 1);
	}
	assert_int_equal(nest_reap(pid), 0);
	rig_close(&rig);
	nest_close(&n);
}

struct sleeper {
	struct rig *rig;
	struct hmq_waiter *mine;
};

static void *
sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	return (void *)(intptr_t)read_all(s->rig, s->mine);
}

static void
no_wake_is_lost_between_threads(void **state)
{
	struct nest n;
	struct rig rig;
	struct sleeper sleeper = { &rig, NULL };
	pthread_t thread;
	void *rc;

	(void)state;
	nest_open(&n);
	open_sleepers(&rig, &n);
	sleeper.mine = n.reader;
	assert_int_equal(pthread_create(&thread, NULL, sleeper_main, &sleeper), 0);
	for (int i = 0; i < ROUNDS; i++) {
		wait_until(n.writer, has_slot, &rig);
		assert_int_equal(rig_send(&rig, 1), 1);
	}
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_null(rc);
	rig_close(&rig);
	nest_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadline_in_the_past_ends_the_wait),
		cmocka_unit_test(a_wake_between_prepare_and_wait_is_not_lost),
		cmocka_unit_test(a_withdrawn_announcement_costs_no_call),
		cmocka_unit_test(a_full_eventfd_still_wakes_and_keeps_errno),
		cmocka_unit_test(a_signal_interrupts_the_wait),
		cmocka_unit_test(a_sleeping_process_is_woken),
		cmocka_unit_test(a_process_asleep_in_its_poll_set_is_woken),
		cmocka_unit_test(no_wake_is_lost_between_processes),
		cmocka_unit_test(no_wake_is_lost_between_threads),
	};

	alarm(100); /* the watchdog */
	return cmocka_run_group_tests_name("holomq_wait", tests, NULL, NULL);
}
