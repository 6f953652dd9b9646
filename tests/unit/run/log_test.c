/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log ring of a process: what many threads put in comes out whole, once and
 * in each thread's order; what does not fit is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "run/inst.h"

static struct hr_page_log *
make(void)
{
	return test_calloc(1, sizeof(struct hr_page_log));
}

static void
what_is_put_comes_out_in_order(void **state)
{
	struct hr_page_log *log = make();
	struct hr_page_log_entry e;
	char text[32];

	(void)state;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++) {
			snprintf(text, sizeof text, "line %d", i);
			hr_log_put(log, (uint32_t)i, HOP_LOG_INFO, text);
		}
		for (int i = 0; i < 100; i++) {
			snprintf(text, sizeof text, "line %d", i);
			assert_true(hr_log_take(log, &e));
			assert_string_equal(e.text, text);
			assert_int_equal(e.node, i);
		}
		assert_false(hr_log_take(log, &e));
	}
	assert_int_equal(log->full, 0);
	test_free(log);
}

static void
a_full_ring_drops_and_counts(void **state)
{
	struct hr_page_log *log = make();
	struct hr_page_log_entry e;
	int n = 0;

	(void)state;
	for (int i = 0; i < HR_LOG_ENTRIES + 7; i++)
		hr_log_put(log, 0, HOP_LOG_INFO, "x");
	assert_int_equal(log->full, 7);
	while (hr_log_take(log, &e))
		n++;
	assert_int_equal(n, HR_LOG_ENTRIES);
	hr_log_put(log, 0, HOP_LOG_INFO, "after");
	assert_true(hr_log_take(log, &e));
	assert_string_equal(e.text, "after");
	test_free(log);
}

static void
a_long_text_is_cut_not_overrun(void **state)
{
	struct hr_page_log *log = make();
	struct hr_page_log_entry e;
	char text[1000];

	(void)state;
	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = 0;
	hr_log_put(log, 0, HOP_LOG_WARN, text);
	assert_true(hr_log_take(log, &e));
	assert_int_equal(strlen(e.text), HR_LOG_TEXT - 1);
	test_free(log);
}

enum { WRITERS = 3, LINES = 20000 };

static void *
write_lines(void *arg)
{
	struct hr_page_log *log = ((void **)arg)[0];
	uint32_t who = (uint32_t)(uintptr_t)((void **)arg)[1];
	char text[32];

	for (int i = 0; i < LINES; i++) {
		snprintf(text, sizeof text, "%u %d", who, i);
		hr_log_put(log, who, HOP_LOG_INFO, text);
	}
	return NULL;
}

static void
many_writers_lose_nothing_uncounted(void **state)
{
	struct hr_page_log *log = make();
	struct hr_page_log_entry e;
	pthread_t thread[WRITERS];
	void *arg[WRITERS][2];
	int last[WRITERS], got = 0;

	(void)state;
	for (uint32_t i = 0; i < WRITERS; i++) {
		last[i] = -1;
		arg[i][0] = log;
		arg[i][1] = (void *)(uintptr_t)i;
		assert_int_equal(pthread_create(&thread[i], NULL, write_lines, arg[i]), 0);
	}
	while ((uint64_t)got + hr_load_relaxed(&log->full) < WRITERS * LINES) {
		unsigned who;
		int line;

		if (!hr_log_take(log, &e)) {
			sched_yield();
			continue;
		}
		got++;
		assert_int_equal(sscanf(e.text, "%u %d", &who, &line), 2);
		assert_int_equal(who, e.node);
		assert_in_range(who, 0, WRITERS - 1);
		assert_true(line > last[who]);
		last[who] = line;
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	assert_false(hr_log_take(log, &e));
	test_free(log);
}

/* A writer that was killed after it took its place: what stands behind it must not be stuck. */
static void
a_line_half_written_is_overcome_by_starting_over(void **state)
{
	struct hr_page_log *log = make();
	struct hr_page_log_entry e;

	(void)state;
	hr_log_put(log, 1, HOP_LOG_INFO, "before");
	log->tail++; /* as far as the dead one came */
	hr_log_put(log, 1, HOP_LOG_INFO, "behind");
	assert_true(hr_log_take(log, &e));
	assert_false(hr_log_take(log, &e));
	hr_log_start_over(log);
	assert_int_equal(log->full, 2);
	assert_false(hr_log_take(log, &e));
	for (int i = 0; i < 3 * HR_LOG_ENTRIES; i++) {
		hr_log_put(log, 2, HOP_LOG_INFO, "again");
		assert_true(hr_log_take(log, &e));
		assert_string_equal(e.text, "again");
	}
	test_free(log);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_comes_out_in_order),
		cmocka_unit_test(a_full_ring_drops_and_counts),
		cmocka_unit_test(a_long_text_is_cut_not_overrun),
		cmocka_unit_test(many_writers_lose_nothing_uncounted),
		cmocka_unit_test(a_line_half_written_is_overcome_by_starting_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
