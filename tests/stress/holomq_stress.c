/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holomq_stress.c - a writer and a reader at full speed: threads and processes,
 * spinning and sleeping, batches of random size, depths from 1 up.
 *
 * Every payload is checked, none may be lost or out of order.  Run lengths are in
 * time, results are not: nothing here has an upper bound but the watchdog.
 */
#include <pthread.h>

#include "load.h"

static const int64_t run_ns = 120000000;
static const uint32_t seed = 2463534242u;

struct end {
	struct hmq_reader *r;
	struct hmq_waiter *mine; /* NULL: spin */
	uint64_t got;
	uint64_t last; /* drop_oldest: the number after the last that came */
};

/* Sleep unless something is there by now. */
static void
doze_reader(struct end *e)
{
	uint32_t value;

	if (!e->mine) {
		sched_yield();
		return;
	}
	value = hmq_waiter_prepare(e->mine);
	if (hmq_queued(e->r) > 0 || hmq_reader_peer(e->r) != HMQ_OPEN)
		hmq_waiter_cancel(e->mine);
	else
		hmq_waiter_wait(e->mine, value, INT64_MAX);
}

static void
doze_writer(struct hmq_writer *w, struct hmq_waiter *mine)
{
	struct hmq_tx tx;
	uint32_t value;

	if (!mine) {
		sched_yield();
		return;
	}
	value = hmq_waiter_prepare(mine);
	if (hmq_room(w) > 0 && hmq_loan(w, &tx, 1) == 1) {
		hmq_cancel(w, &tx, 1);
		hmq_waiter_cancel(mine);
	} else {
		hmq_waiter_wait(mine, value, INT64_MAX);
	}
}

/* 0, or 1 at the first fault. */
static int
read_to_the_end(struct end *e)
{
	uint32_t random = seed + 1;

	while (hmq_reader_state(e->r) == HMQ_OPEN) {
		int32_t n = load_take(e->r, &e->got, &random);

		if (n < 0)
			return 1;
		if (n == 0)
			doze_reader(e);
	}
	return hmq_reader_state(e->r) != HMQ_ENDED;
}

static void *
reader_main(void *arg)
{
	return (void *)(intptr_t)read_to_the_end(arg);
}

static void
write_for_a_while(struct rig *rig, struct hmq_waiter *mine)
{
	int64_t until = load_now_ns() + run_ns;
	uint32_t random = seed;

	while (load_now_ns() < until)
		if (load_send(rig->w, &rig->next, &random) == 0)
			doze_writer(rig->w, mine);
	hmq_writer_end(rig->w);
}

static void
open_ends(struct rig *rig, struct nest *n, int sleeps, uint32_t depth)
{
	struct hmq_peer to_reader = { .waiter = sleeps ? n->reader : NULL, .event_fd = -1 };
	struct hmq_peer to_writer = { .waiter = sleeps ? n->writer : NULL, .event_fd = -1 };
	struct hmq_error err;

	rig_open_one(rig, HMQ_SEG_SHARED, depth + 1, depth);
	hmq_writer_free(rig->w);
	hmq_reader_free(rig->r[0]);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, &to_reader, &err), 0);
	assert_int_equal(hmq_reader_open(&rig->r[0], &rig->seg, 0, &to_writer, &err), 0);
}

static void
run_pair(int sleeps, int processes, uint32_t depth)
{
	struct hmq_edge_stat s;
	struct nest n;
	struct rig rig;
	struct end end;
	pthread_t thread;
	pid_t pid = -1;
	void *rc = NULL;

	nest_open(&n);
	open_ends(&rig, &n, sleeps, depth);
	end = (struct end){ .r = rig.r[0], .mine = sleeps ? n.reader : NULL };
	if (processes) {
		pid = nest_fork();
		if (pid == 0)
			_exit(read_to_the_end(&end));
	} else {
		assert_int_equal(pthread_create(&thread, NULL, reader_main, &end), 0);
	}
	write_for_a_while(&rig, sleeps ? n.writer : NULL);
	if (processes)
		assert_int_equal(nest_reap(pid), 0);
	else
		assert_int_equal(pthread_join(thread, &rc), 0);
	assert_null(rc);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
	assert_int_equal(s.sent, rig.next);
	assert_int_equal(s.received, rig.next);
	assert_true(s.max_queued <= depth);
	print_message("depth %u: %llu messages\n", depth, (unsigned long long)rig.next);
	rig_close(&rig);
	nest_close(&n);
}

static const uint32_t depths[] = { 1, 3, 100 };

static void
run_depths(int sleeps, int processes)
{
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		run_pair(sleeps, processes, depths[i]);
}

static void
threads_that_spin(void **state)
{
	(void)state;
	run_depths(0, 0);
}

static void
threads_that_sleep(void **state)
{
	(void)state;
	run_depths(1, 0);
}

static void
processes_that_spin(void **state)
{
	(void)state;
	run_depths(0, 1);
}

static void
processes_that_sleep(void **state)
{
	(void)state;
	run_depths(1, 1);
}

/* ---- drop_oldest ------------------------------------------------------------------------ */

static int
read_the_newest_to_the_end(struct end *e)
{
	uint32_t random = seed + 2;
	uint64_t want = 0;

	while (hmq_reader_state(e->r) == HMQ_OPEN) {
		int32_t n = load_take_newer(e->r, &want, &random);

		if (n < 0)
			return 1;
		e->got += (uint64_t)n;
		if (n == 0)
			doze_reader(e);
		else if (load_random(&random) % 8 == 0)
			sched_yield();
	}
	/* What is proven besides order: the newest arrived, and the transport counted the same. */
	e->last = want;
	return hmq_reader_state(e->r) != HMQ_ENDED;
}

static void *
newest_main(void *arg)
{
	return (void *)(intptr_t)read_the_newest_to_the_end(arg);
}

static void
run_oldest(uint32_t depth)
{
	const struct hmq_reader_config readers[] = { { depth, HMQ_DROP_OLDEST },
						     { 3, HMQ_DROP_OLDEST } };
	struct hmq_edge_stat s;
	struct hmq_error err;
	struct end end[2] = { { 0 } };
	struct hmq_peer to_readers[2];
	pthread_t thread[2];
	struct nest n;
	struct rig rig;

	nest_open(&n);
	rig_open(&rig, HMQ_SEG_SHARED, LOAD_WINDOW + depth + 3 + 2 * LOAD_WINDOW, readers, 2);
	hmq_writer_free(rig.w);
	/* One sleeps, one spins. */
	to_readers[0] = (struct hmq_peer){ .waiter = n.reader, .event_fd = -1 };
	to_readers[1] = rig_no_peer;
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, to_readers, &err), 0);
	for (int i = 0; i < 2; i++) {
		end[i].r = rig.r[i];
		end[i].mine = i == 0 ? n.reader : NULL;
		assert_int_equal(pthread_create(&thread[i], NULL, newest_main, &end[i]), 0);
	}
	write_for_a_while(&rig, NULL);
	for (int i = 0; i < 2; i++) {
		void *rc = NULL;

		assert_int_equal(pthread_join(thread[i], &rc), 0);
		assert_null(rc);
		assert_int_equal(end[i].last, rig.next);
		assert_int_equal(hmq_chan_stat(&rig.seg, (uint32_t)i, &s), 0);
		assert_int_equal(s.sent, rig.next);
		assert_int_equal(s.received, end[i].got);
		assert_int_equal(s.lost, rig.next - end[i].got);
		assert_int_equal(s.queued, 0);
	}
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	print_message("drop_oldest, depth %u: %llu messages, %llu and %llu taken\n", depth,
		      (unsigned long long)rig.next, (unsigned long long)end[0].got,
		      (unsigned long long)end[1].got);
	rig_close(&rig);
	nest_close(&n);
}

static void
readers_that_drop_the_oldest(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		run_oldest(depths[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_that_spin),
		cmocka_unit_test(processes_that_sleep),
		cmocka_unit_test(threads_that_spin),
		cmocka_unit_test(threads_that_sleep),
		cmocka_unit_test(readers_that_drop_the_oldest),
	};

	alarm(100); /* the watchdog */
	print_message("seed %u\n", seed);
	return cmocka_run_group_tests_name("stress_holomq", tests, NULL, NULL);
}
