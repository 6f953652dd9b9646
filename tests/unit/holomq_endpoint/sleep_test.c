/* SPDX-License-Identifier: Apache-2.0 */
/* sleep_test.c - asleep until there is something to do: futex and poll, messages, ends, deaths. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "place.h"

static void
until_asleep(pid_t pid)
{
	char path[64], text[512];
	FILE *f;

	for (;;) {
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		f = fopen(path, "r");
		assert_non_null(f);
		text[fread(text, 1, sizeof(text) - 1, f)] = 0;
		fclose(f);
		if (strrchr(text, ')')[2] == 'S')
			return;
		sched_yield();
	}
}

static struct hmq_endpoint *
open_export(const struct place *p, uint32_t role, uint32_t flags, uint32_t wake)
{
	struct hmq_export e = place_export(p, role, flags);
	struct hmq_endpoint *ep;
	struct hmq_error err;

	e.contract.wake = wake;
	if (hmq_endpoint_export(&ep, &e, &err))
		fail_msg("%s", err.text);
	return ep;
}

/* A reader in a child that sleeps without end and tells what woke it: a number, E, L. */
static pid_t
sleeper(struct place *p, uint32_t flags)
{
	struct hmq_import i = place_import(p, HMQ_ROLE_READER);
	struct hmq_endpoint *ep;
	struct hmq_reader *r;
	pid_t pid = place_fork();
	uint64_t number;

	if (pid)
		return pid;
	i.flags = flags;
	CHILD_CHECK(hmq_endpoint_import(&ep, &i, place_after(LONG), NULL) == 0);
	r = hmq_endpoint_reader(ep);
	place_tell(p, 'j');
	while (hmq_reader_state(r) == HMQ_OPEN) {
		if (flags & HMQ_ENDPOINT_POLLED) {
			struct pollfd pf = { .fd = hmq_endpoint_fd(ep), .events = POLLIN };

			CHILD_CHECK(hmq_endpoint_sleep(ep, INT64_MAX) == -ENOTSUP);
			if (hmq_endpoint_arm(ep) == 0)
				CHILD_CHECK(poll(&pf, 1, -1) == 1);
			hmq_endpoint_poll(ep);
		} else {
			CHILD_CHECK(hmq_endpoint_arm(ep) == -ENOTSUP);
			CHILD_CHECK(hmq_endpoint_sleep(ep, INT64_MAX) == 0);
		}
		number = place_take(r);
		if (number != UINT64_MAX)
			place_tell(p, (char)number);
	}
	place_tell(p, hmq_reader_state(r) == HMQ_ENDED ? 'E' : 'L');
	hmq_endpoint_close(ep);
	_exit(0);
}

static void
wake_a_sleeper(uint32_t flags, uint32_t own_flags)
{
	struct place p;
	struct hmq_endpoint *ep;
	pid_t pid;

	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_WRITER, own_flags, HMQ_WAKE_ANY);
	pid = sleeper(&p, flags);
	assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
	assert_int_equal(place_hear(&p), 'j');
	for (uint64_t n = 0; n < 20; n++) {
		if (n % 2)
			until_asleep(pid);
		assert_int_equal(place_send(hmq_endpoint_writer(ep), n), 1);
		assert_int_equal(place_hear(&p), (char)n);
	}
	until_asleep(pid);
	hmq_endpoint_close(ep);
	assert_int_equal(place_hear(&p), 'E');
	assert_int_equal(place_reap(pid), 0);
	place_close(&p);
}

static void
a_message_and_the_end_wake_a_sleeping_reader(void **state)
{
	(void)state;
	wake_a_sleeper(0, 0);
	wake_a_sleeper(0, HMQ_ENDPOINT_THREAD);
}

static void
a_message_and_the_end_wake_a_polling_reader(void **state)
{
	(void)state;
	wake_a_sleeper(HMQ_ENDPOINT_POLLED, 0);
	wake_a_sleeper(HMQ_ENDPOINT_POLLED, HMQ_ENDPOINT_POLLED);
	wake_a_sleeper(HMQ_ENDPOINT_POLLED, HMQ_ENDPOINT_POLLED | HMQ_ENDPOINT_THREAD);
}

/* Two readers, one of them stopped: the death of the writer must reach the other one. */
static void
a_death_wakes_every_sleeper(void **state)
{
	static const uint32_t flags[] = { 0, HMQ_ENDPOINT_POLLED };
	struct place p;

	(void)state;
	for (int f = 0; f < 2; f++) {
		struct hmq_export e;
		struct hmq_endpoint *ep;
		pid_t writer, reader[2];
		int status;

		place_open(&p);
		e = place_export(&p, HMQ_ROLE_WRITER, 0);
		e.seats = 2;
		writer = place_fork();
		if (writer == 0) {
			CHILD_CHECK(hmq_endpoint_export(&ep, &e, NULL) == 0);
			CHILD_CHECK(hmq_endpoint_wait(ep, 2, place_after(LONG)) == 0);
			for (;;)
				pause();
		}
		reader[0] = sleeper(&p, flags[f]);
		assert_int_equal(place_hear(&p), 'j');
		reader[1] = sleeper(&p, flags[f]);
		assert_int_equal(place_hear(&p), 'j');
		until_asleep(reader[0]);
		until_asleep(reader[1]);
		kill(reader[0], SIGSTOP);
		assert_int_equal(waitpid(reader[0], &status, WUNTRACED), reader[0]);
		kill(writer, SIGKILL);
		assert_int_equal(place_hear(&p), 'L');
		assert_int_equal(place_reap(reader[1]), 0);
		kill(reader[0], SIGCONT);
		assert_int_equal(place_hear(&p), 'L');
		assert_int_equal(place_reap(reader[0]), 0);
		place_reap(writer);
		assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), 1);
		place_close(&p);
	}
}

static void
room_wakes_a_sleeping_writer(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	pid_t pid;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, HMQ_WAKE_SLEEP);
	pid = place_reader(&p, &i, 100, END_CLOSE);
	assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
	for (uint64_t n = 0; n < 100;) {
		if (place_send(hmq_endpoint_writer(ep), n) == 1)
			n++;
		else
			assert_int_equal(hmq_endpoint_sleep(ep, place_after(LONG)), 0);
	}
	assert_int_equal(place_hear(&p), 'j');
	for (int n = 0; n < 100; n++)
		assert_int_equal(place_hear(&p), n);
	assert_int_equal(place_reap(pid), 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_caller_wakes_a_polling_exporter(void **state)
{
	static const uint32_t flags[] = { 0, HMQ_ENDPOINT_POLLED,
					  HMQ_ENDPOINT_POLLED | HMQ_ENDPOINT_THREAD };
	struct place p;
	struct hmq_import i;

	(void)state;
	for (int f = 0; f < 3; f++) {
		struct hmq_endpoint *ep;
		struct pollfd pf = { .events = POLLIN };
		pid_t pid;

		place_open(&p);
		i = place_import(&p, HMQ_ROLE_READER);
		ep = open_export(&p, HMQ_ROLE_WRITER, flags[f], HMQ_WAKE_ANY);
		pf.fd = hmq_endpoint_fd(ep);
		assert_true(pf.fd >= 0);
		pid = place_reader(&p, &i, 1, END_CLOSE);
		while (hmq_endpoint_poll(ep) == 0) {
			/* Room is always there, so arm() would say so: sleep on callers alone. */
			if (flags[f] & HMQ_ENDPOINT_THREAD)
				assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
			else
				assert_int_equal(poll(&pf, 1, -1), 1);
		}
		assert_int_equal(place_send(hmq_endpoint_writer(ep), 1), 1);
		assert_int_equal(place_reap(pid), 0);
		while (hmq_endpoint_poll(ep) > 0)
			sched_yield();
		hmq_endpoint_close(ep);
		place_close(&p);
	}
}

static void
a_deadline_ends_the_sleep(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	int64_t deadline;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_READER, HMQ_ENDPOINT_THREAD, HMQ_WAKE_ANY);
	deadline = place_after(10000000);
	assert_int_equal(hmq_endpoint_sleep(ep, deadline), -ETIMEDOUT);
	assert_true(place_after(0) >= deadline);
	assert_int_equal(hmq_endpoint_sleep(ep, 0), -ETIMEDOUT);
	deadline = place_after(10000000);
	assert_int_equal(hmq_endpoint_wait(ep, 1, deadline), -ETIMEDOUT);
	assert_true(place_after(0) >= deadline);
	assert_int_equal(hmq_endpoint_wait(ep, 2, deadline), -EINVAL);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
sleeping_costs_no_cpu(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	struct rusage before, after;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_READER, HMQ_ENDPOINT_THREAD, HMQ_WAKE_ANY);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(hmq_endpoint_sleep(ep, place_after(200000000)), -ETIMEDOUT);
	getrusage(RUSAGE_SELF, &after);
	/* One sleep is one or two switches; a timer of 5 ms would be forty. */
	assert_true(after.ru_nvcsw - before.ru_nvcsw < 10);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
who_spins_or_serves_himself_cannot_sleep(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, HMQ_WAKE_SPIN);
	assert_int_equal(hmq_endpoint_sleep(ep, 0), -ENOTSUP);
	assert_null(hmq_endpoint_waiter(ep));
	hmq_endpoint_close(ep);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, HMQ_WAKE_ANY);
	assert_int_equal(hmq_endpoint_sleep(ep, 0), -ENOTSUP);
	assert_non_null(hmq_endpoint_waiter(ep));
	assert_int_equal(hmq_endpoint_contract(ep)->wake, HMQ_WAKE_SLEEP);
	hmq_endpoint_close(ep);
	hmq_endpoint_close(NULL);
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_and_the_end_wake_a_sleeping_reader),
		cmocka_unit_test(a_message_and_the_end_wake_a_polling_reader),
		cmocka_unit_test(a_death_wakes_every_sleeper),
		cmocka_unit_test(room_wakes_a_sleeping_writer),
		cmocka_unit_test(a_caller_wakes_a_polling_exporter),
		cmocka_unit_test(a_deadline_ends_the_sleep),
		cmocka_unit_test(sleeping_costs_no_cpu),
		cmocka_unit_test(who_spins_or_serves_himself_cannot_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
