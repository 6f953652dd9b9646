/* SPDX-License-Identifier: Apache-2.0 */
/* life_test.c - the kernel's mark on a dead worker; what is not death. */
#include <errno.h>
#include <pthread.h>

#include "nest.h"

static void
a_killed_process_is_marked_dead(void **state)
{
	struct nest n;
	pid_t pid;

	(void)state;
	nest_open(&n);
	assert_int_equal(hmq_life_is_dead(n.reader), 0); /* never began */
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.reader) == 0);
		nest_tell(&n);
		for (;;)
			pause();
	}
	nest_hear(&n);
	assert_int_equal(hmq_life_is_dead(n.reader), 0);
	assert_int_equal(hmq_life_begin(n.reader), -EBUSY);
	kill(pid, SIGKILL);
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_life_is_dead(n.reader), 1);
	nest_close(&n);
}

static void
a_stopped_process_is_not_dead(void **state)
{
	struct nest n;
	pid_t pid;
	int status;

	(void)state;
	nest_open(&n);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.reader) == 0);
		raise(SIGSTOP);
		hmq_life_end(n.reader);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(hmq_life_is_dead(n.reader), 0);
	kill(pid, SIGCONT);
	assert_int_equal(nest_reap(pid), 0);
	assert_int_equal(hmq_life_is_dead(n.reader), 0); /* a clean end */
	nest_close(&n);
}

static void *
live_and_forget(void *arg)
{
	return (void *)(intptr_t)hmq_life_begin(arg);
}

static void
a_thread_that_ends_without_ending_its_life_is_dead(void **state)
{
	struct nest n;
	pthread_t thread;
	void *rc;

	(void)state;
	nest_open(&n);
	assert_int_equal(pthread_create(&thread, NULL, live_and_forget, n.writer), 0);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_null(rc);
	assert_int_equal(hmq_life_is_dead(n.writer), 1);
	nest_close(&n);
}

static void
a_new_life_in_the_place_of_a_dead_one_lives(void **state)
{
	struct nest n;
	pid_t pid;

	(void)state;
	nest_open(&n);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.reader) == 0);
		raise(SIGKILL);
	}
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_life_is_dead(n.reader), 1);
	assert_int_equal(hmq_life_begin(n.reader), 0);
	assert_int_equal(hmq_life_is_dead(n.reader), 0);
	hmq_life_end(n.reader);
	assert_int_equal(hmq_life_is_dead(n.reader), 0);
	nest_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_process_is_marked_dead),
		cmocka_unit_test(a_stopped_process_is_not_dead),
		cmocka_unit_test(a_thread_that_ends_without_ending_its_life_is_dead),
		cmocka_unit_test(a_new_life_in_the_place_of_a_dead_one_lives),
	};

	return cmocka_run_group_tests_name("holomq_life", tests, NULL, NULL);
}
