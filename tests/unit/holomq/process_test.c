/* SPDX-License-Identifier: Apache-2.0 */
/* process_test.c - the two ends in two processes: hand-over, read-only pool, deaths. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "atomic.h"
#include "layout.h"
#include "nest.h"

/* A channel whose ends know each other's life; the reader's end is opened by the child. */
static void
open_apart(struct rig *rig, const struct nest *n, uint32_t slots,
	   const struct hmq_reader_config *readers, uint32_t n_readers)
{
	struct hmq_peer peers[2] = { { .life = n->reader, .event_fd = -1 }, { .event_fd = -1 } };
	struct hmq_error err;

	rig_open(rig, HMQ_SEG_SHARED, slots, readers, n_readers);
	hmq_writer_free(rig->w);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, peers, &err), 0);
}

/* In the child: another mapping of the same segment, as after exec. */
static struct hmq_reader *
open_reader_again(const struct rig *rig, const struct nest *n, struct hmq_segment *seg)
{
	struct hmq_peer peer = { .life = n->writer, .event_fd = -1 };
	struct hmq_reader *r;
	struct hmq_error err;

	CHILD_CHECK(hmq_segment_map(seg, dup(rig->seg.fd), &err) == 0);
	CHILD_CHECK(hmq_reader_open(&r, seg, 0, &peer, &err) == 0);
	return r;
}

static const struct hmq_reader_config one_reader[] = { { 4, HMQ_BLOCK } };

static void
a_child_reads_what_the_parent_writes(void **state)
{
	struct nest n;
	struct rig rig;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	pid = nest_fork();
	if (pid == 0) {
		struct hmq_segment seg;
		struct hmq_reader *r = open_reader_again(&rig, &n, &seg);
		struct hmq_rx rx[4];
		uint64_t want = 0;

		while (hmq_reader_state(r) == HMQ_OPEN) {
			int32_t got = hmq_peek(r, 0, rx, 4);

			CHILD_CHECK(got >= 0);
			for (int32_t i = 0; i < got; i++, want++)
				CHILD_CHECK(memcmp(rx[i].data, &want, sizeof(want)) == 0);
			hmq_take(r, rx, (uint32_t)got);
			if (got == 0)
				sched_yield();
		}
		CHILD_CHECK(hmq_reader_state(r) == HMQ_ENDED && want == 500);
		_exit(0);
	}
	while (rig.next < 500) {
		struct hmq_tx tx;

		if (hmq_room(rig.w) > 0 && hmq_loan(rig.w, &tx, 1) == 1) {
			hmq_cancel(rig.w, &tx, 1);
			assert_int_equal(rig_send(&rig, 1), 1);
		} else {
			sched_yield();
		}
	}
	hmq_writer_end(rig.w);
	assert_int_equal(nest_reap(pid), 0);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
	nest_close(&n);
}

static void
a_reader_in_another_process_cannot_write_payload(void **state)
{
	struct nest n;
	struct rig rig;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	assert_int_equal(rig_send(&rig, 1), 1);
	pid = nest_fork();
	if (pid == 0) {
		struct hmq_segment seg;
		struct hmq_reader *r = open_reader_again(&rig, &n, &seg);
		struct hmq_rx rx;

		signal(SIGSEGV, SIG_DFL); /* the sanitizers have a handler */
		CHILD_CHECK(hmq_peek(r, 0, &rx, 1) == 1);
		nest_tell(&n);
		memcpy((void *)(uintptr_t)rx.data, "x", 1);
		_exit(0);
	}
	nest_hear(&n);
	assert_int_equal(nest_reap(pid), 128 + SIGSEGV);
	rig_close(&rig);
	nest_close(&n);
}

static void
a_writer_in_the_readers_process_can_write_whoever_opens_first(void **state)
{
	struct nest n;
	struct rig rig;
	struct hmq_peer peer;
	struct hmq_error err;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	peer = (struct hmq_peer){ .life = n.writer, .event_fd = -1 };
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &peer, &err), 0);
	assert_int_equal(rig_send(&rig, 1), 1);
	hmq_writer_free(rig.w);
	hmq_store_relaxed_u32(&hmq_shared_writer_of(&rig.seg)->pid, 0);
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &peer, &err), 0);
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, &rig_no_peer, &err), 0);
	assert_int_equal(rig_send(&rig, 1), 1);
	rig_close(&rig);
	nest_close(&n);
}

/* A child that takes one of four messages, holds one of them, and is killed. */
static pid_t
fork_doomed_reader(const struct rig *rig, struct nest *n)
{
	pid_t pid = nest_fork();

	if (pid == 0) {
		struct hmq_segment seg;
		struct hmq_reader *r;
		struct hmq_rx rx[2];

		CHILD_CHECK(hmq_life_begin(n->reader) == 0);
		r = open_reader_again(rig, n, &seg);
		CHILD_CHECK(hmq_peek(r, 0, rx, 2) == 2);
		hmq_advance(r, 2);
		hmq_release(r, &rx[1], 1);
		nest_tell(n);
		for (;;)
			pause();
	}
	return pid;
}

static void
a_killed_reader_gives_room_and_slots_back(void **state)
{
	/* Every way for the writer to notice. */
	enum { BY_ROOM, BY_LOAN, BY_PUBLISH, BY_COUNT, BY_PRIME, BY_END, WAYS };

	(void)state;
	for (int way = 0; way < WAYS; way++) {
		struct nest n;
		struct rig rig;
		struct hmq_edge_stat s;
		struct hmq_tx tx[6];
		pid_t pid;

		nest_open(&n);
		open_apart(&rig, &n, way == BY_LOAN ? 4 : 6, one_reader, 1);
		assert_int_equal(rig_send(&rig, 4), 4);
		pid = fork_doomed_reader(&rig, &n);
		nest_hear(&n);
		assert_int_equal(hmq_writer_readers(rig.w), 1);
		assert_int_equal(rig_send(&rig, 1), 1);
		if (way != BY_LOAN)
			assert_int_equal(rig_send(&rig, 1), 1);
		kill(pid, SIGKILL);
		assert_int_equal(nest_reap(pid), 128 + SIGKILL);
		if (way == BY_ROOM)
			assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
		else if (way == BY_LOAN)
			assert_int_equal(hmq_loan(rig.w, tx, 4), 4);
		else if (way == BY_PUBLISH)
			assert_int_equal(rig_send(&rig, 1), 1);
		else if (way == BY_COUNT)
			assert_int_equal(hmq_writer_readers(rig.w), 0);
		else if (way == BY_END)
			hmq_writer_end(rig.w);
		else
			assert_int_equal(hmq_prime(rig.w, 0, 1, 8), -EPIPE);
		if (way == BY_LOAN)
			hmq_cancel(rig.w, tx, 4);
		/* Before hmq_writer_is_idle, which looks as well. */
		assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
		assert_int_equal(s.received, 2);
		assert_int_equal(s.abandoned, way == BY_LOAN ? 3 : 4);
		assert_int_equal(s.left, way == BY_PUBLISH ? 1 : 0);
		rig_check_identity(&rig, 0);
		rig_close(&rig);
		nest_close(&n);
	}
}

static void
a_surviving_reader_keeps_what_it_holds(void **state)
{
	static const struct hmq_reader_config readers[] = { { 4, HMQ_BLOCK }, { 4, HMQ_BLOCK } };
	struct nest n;
	struct rig rig;
	struct hmq_rx rx[4];
	struct hmq_tx tx[4];
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 4, readers, 2);
	assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(hmq_peek(rig.r[1], 0, rx, 4), 4);
	hmq_advance(rig.r[1], 4);
	hmq_release(rig.r[1], &rx[3], 1);
	pid = fork_doomed_reader(&rig, &n);
	nest_hear(&n);
	kill(pid, SIGKILL);
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	/* Slot 3 was given back by both ends of its story; the other three are still held. */
	assert_int_equal(hmq_loan(rig.w, tx, 4), 1);
	assert_int_equal(tx[0].slot, rx[3].slot);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(rig_number(&rx[i]), i);
	hmq_release(rig.r[1], rx, 3);
	hmq_cancel(rig.w, tx, 1);
	assert_int_equal(hmq_loan(rig.w, tx, 4), 4);
	rig_close(&rig);
	nest_close(&n);
}

/* The writer's only reader dies at some time while it is asleep for room: nobody wakes it. */
static void
a_writer_asleep_for_room_finds_a_killed_reader_by_itself(void **state)
{
	const struct timespec a_while = { 0, 20000000 };
	struct timespec died, now;
	struct hmq_peer to_reader;
	struct hmq_error err;
	int n_sleeps = 0;
	struct nest n;
	struct rig rig;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	hmq_writer_free(rig.w);
	to_reader = (struct hmq_peer){ .waiter = n.reader, .life = n.reader, .event_fd = -1 };
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, &to_reader, &err), 0);
	assert_int_equal(rig_send(&rig, 4), 4);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.reader) == 0);
		nest_tell(&n);
		nanosleep(&a_while, NULL);
		clock_gettime(CLOCK_MONOTONIC, &died);
		CHILD_CHECK(write(n.pipe[1], &died, sizeof(died)) == sizeof(died));
		raise(SIGKILL);
	}
	nest_hear(&n);
	while (hmq_room(rig.w) == 0) {
		uint32_t value = hmq_waiter_prepare(n.writer);
		int64_t until;

		clock_gettime(CLOCK_MONOTONIC, &now);
		until = hmq_writer_next_look(rig.w, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
		assert_true(until != INT64_MAX);
		n_sleeps += hmq_waiter_wait(n.writer, value, until) == -ETIMEDOUT;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(n_sleeps > 0);
	assert_int_equal(read(n.pipe[0], &died, sizeof(died)), sizeof(died));
	/* Wanted is 10 ms; ten times that on a loaded machine. */
	assert_true((now.tv_sec - died.tv_sec) * 1000000000 + now.tv_nsec - died.tv_nsec <
		    100000000);
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	assert_true(hmq_writer_next_look(rig.w, 0) == INT64_MAX);
	rig_close(&rig);
	nest_close(&n);
}

static void
a_writer_whose_readers_live_here_needs_no_second_look(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_true(hmq_writer_next_look(rig.w, 0) == INT64_MAX);
	rig_close(&rig);
}

/* Too few slots is enough to look, it need not be none. */
static void
a_loan_that_comes_out_short_looks_for_the_dead(void **state)
{
	struct hmq_tx tx[6];
	struct nest n;
	struct rig rig;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	assert_int_equal(rig_send(&rig, 4), 4);
	pid = fork_doomed_reader(&rig, &n);
	nest_hear(&n);
	assert_int_equal(hmq_loan(rig.w, tx, 6), 3);
	hmq_cancel(rig.w, tx, 3);
	kill(pid, SIGKILL);
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_loan(rig.w, tx, 6), 6);
	hmq_cancel(rig.w, tx, 6);
	rig_close(&rig);
	nest_close(&n);
}

static void
a_killed_writer_is_lost_after_its_queue(void **state)
{
	struct nest n;
	struct rig rig;
	struct hmq_peer peer;
	struct hmq_error err;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	peer = (struct hmq_peer){ .life = n.writer, .event_fd = -1 };
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &peer, &err), 0);
	pid = nest_fork();
	if (pid == 0) {
		struct hmq_tx tx[4];

		CHILD_CHECK(hmq_life_begin(n.writer) == 0);
		CHILD_CHECK(hmq_writer_open(&rig.w, &rig.seg, &rig_no_peer, &err) == 0);
		CHILD_CHECK(hmq_loan(rig.w, tx, 4) == 4);
		for (uint64_t i = 0; i < 4; i++) {
			memcpy(tx[i].data, &i, sizeof(i));
			tx[i].head->bytes = sizeof(i);
		}
		CHILD_CHECK(hmq_publish(rig.w, tx, 3) == 3);
		raise(SIGKILL); /* one loan is open: it is never seen */
	}
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_reader_peer(rig.r[0]), HMQ_LOST);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_OPEN);
	assert_int_equal(rig_take(&rig, 0, 6), 3);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_LOST);
	rig_close(&rig);
	nest_close(&n);
}

static void
a_writer_that_ended_and_then_died_has_ended(void **state)
{
	struct nest n;
	struct rig rig;
	struct hmq_peer peer;
	struct hmq_error err;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, 6, one_reader, 1);
	peer = (struct hmq_peer){ .life = n.writer, .event_fd = -1 };
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &peer, &err), 0);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.writer) == 0);
		hmq_writer_end(rig.w);
		raise(SIGKILL);
	}
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	rig_close(&rig);
	nest_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_reads_what_the_parent_writes),
		cmocka_unit_test(a_reader_in_another_process_cannot_write_payload),
		cmocka_unit_test(a_writer_in_the_readers_process_can_write_whoever_opens_first),
		cmocka_unit_test(a_killed_reader_gives_room_and_slots_back),
		cmocka_unit_test(a_surviving_reader_keeps_what_it_holds),
		cmocka_unit_test(a_writer_asleep_for_room_finds_a_killed_reader_by_itself),
		cmocka_unit_test(a_writer_whose_readers_live_here_needs_no_second_look),
		cmocka_unit_test(a_loan_that_comes_out_short_looks_for_the_dead),
		cmocka_unit_test(a_killed_writer_is_lost_after_its_queue),
		cmocka_unit_test(a_writer_that_ended_and_then_died_has_ended),
	};

	alarm(100); /* the watchdog */
	return cmocka_run_group_tests_name("holomq_process", tests, NULL, NULL);
}
