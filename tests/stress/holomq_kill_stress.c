/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holomq_kill_stress.c - an end is killed at a random instant, again and again.
 *
 * A killed reader: the writer goes on, the other reader gets every message whole and
 * in order, no slot stays away, the numbers add up.  A killed writer: the reader gets
 * a whole prefix and then is told.  A killed reader whose place is taken again, with
 * each policy.  The instant is random in messages, not in time, and whatever the child
 * was doing then.
 */
#include "load.h"

enum { ROUNDS = 30, LIVES = 170, MOST = 400 };

static const uint32_t seed = 88172645u;
static const struct hmq_reader_config two_readers[] = { { 3, HMQ_BLOCK }, { 8, HMQ_BLOCK } };

static void
open_rig(struct rig *rig, const struct nest *n, uint32_t n_readers)
{
	struct hmq_peer peers[2] = { { .life = n->reader, .event_fd = -1 }, { .event_fd = -1 } };
	struct hmq_error err;

	rig_open(rig, HMQ_SEG_SHARED, 12, two_readers, n_readers);
	hmq_writer_free(rig->w);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, peers, &err), 0);
}

static void
take_some(struct rig *rig, uint32_t reader, uint32_t *random)
{
	int32_t n = load_take(rig->r[reader], &rig->want[reader], random);

	assert_true(n >= 0);
	if (n == 0)
		sched_yield();
}

/* In a child that is going to be killed. */
static void
take_for_ever(struct rig *rig, uint32_t *random)
{
	for (;;) {
		int32_t n = load_take(rig->r[0], &rig->want[0], random);

		CHILD_CHECK(n >= 0);
		if (n == 0)
			sched_yield();
	}
}

static void
send_for_ever(struct rig *rig, uint32_t *random)
{
	for (;;)
		if (load_send(rig->w, &rig->next, random) == 0)
			sched_yield();
}

static void
kill_reader_once(uint32_t *random)
{
	uint32_t until = 1 + load_random(random) % MOST;
	struct nest n;
	struct rig rig;
	pid_t pid;

	nest_open(&n);
	open_rig(&rig, &n, 2);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.reader) == 0);
		nest_tell(&n);
		take_for_ever(&rig, random);
	}
	nest_hear(&n);
	while (rig.next < until) {
		load_send(rig.w, &rig.next, random);
		take_some(&rig, 1, random);
	}
	kill(pid, SIGKILL);
	/* Before it is reaped: the writer must find out by itself and go on. */
	while (rig.next < 2 * MOST) {
		load_send(rig.w, &rig.next, random);
		take_some(&rig, 1, random);
	}
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	hmq_writer_end(rig.w);
	while (hmq_reader_state(rig.r[1]) == HMQ_OPEN)
		take_some(&rig, 1, random);
	assert_int_equal(rig.want[1], rig.next);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_check_identity(&rig, 0);
	rig_check_identity(&rig, 1);
	rig_close(&rig);
	nest_close(&n);
}

static void
kill_writer_once(uint32_t *random)
{
	uint32_t until = 1 + load_random(random) % MOST;
	struct hmq_peer to_writer;
	struct hmq_error err;
	struct nest n;
	struct rig rig;
	pid_t pid;

	nest_open(&n);
	open_rig(&rig, &n, 1);
	hmq_reader_free(rig.r[0]);
	to_writer = (struct hmq_peer){ .life = n.writer, .event_fd = -1 };
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &to_writer, &err), 0);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.writer) == 0);
		CHILD_CHECK(hmq_writer_open(&rig.w, &rig.seg, &rig_no_peer, &err) == 0);
		nest_tell(&n);
		send_for_ever(&rig, random);
	}
	nest_hear(&n);
	while (rig.want[0] < until)
		take_some(&rig, 0, random);
	kill(pid, SIGKILL);
	while (hmq_reader_state(rig.r[0]) == HMQ_OPEN)
		take_some(&rig, 0, random);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_LOST);
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
	nest_close(&n);
}

static void
a_reader_killed_at_any_instant_harms_nobody(void **state)
{
	uint32_t random = seed;

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		kill_reader_once(&random);
}

static void
a_writer_killed_at_any_instant_leaves_a_whole_prefix(void **state)
{
	uint32_t random = seed + 1;

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		kill_writer_once(&random);
}

/* In a child that takes the place of a killed one and is going to be killed. */
static _Noreturn void
live_until_killed(struct rig *rig, struct nest *n, uint32_t *random, int is_first)
{
	struct hmq_error err;
	uint64_t want = 0;

	CHILD_CHECK(hmq_life_begin(n->reader) == 0);
	if (!is_first)
		CHILD_CHECK(hmq_reader_rejoin(&rig->r[0], &rig->seg, 0, &rig_no_peer, &err) == 0);
	nest_tell(n);
	for (;;) {
		int32_t got = load_take_newer(rig->r[0], &want, random);

		CHILD_CHECK(got >= 0);
		if (got == 0)
			sched_yield();
	}
}

/* One channel, many lives of its first reader; the writer and the second go on all the time. */
static void
restart_again_and_again(uint32_t policy, uint32_t *random)
{
	const struct hmq_reader_config readers[] = { { 3, policy }, { 8, HMQ_BLOCK } };
	struct hmq_peer peers[2] = { { .event_fd = -1 }, { .event_fd = -1 } };
	struct hmq_edge_stat s;
	struct hmq_error err;
	struct nest n;
	struct rig rig;

	nest_open(&n);
	rig_open(&rig, HMQ_SEG_SHARED, 3 + 8 + 3 * LOAD_WINDOW, readers, 2);
	hmq_writer_free(rig.w);
	peers[0].life = n.reader;
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, peers, &err), 0);
	for (int life = 0; life < LIVES; life++) {
		uint64_t until = rig.next + 1 + load_random(random) % MOST;
		pid_t pid = nest_fork();

		if (pid == 0)
			live_until_killed(&rig, &n, random, life == 0);
		nest_hear(&n);
		while (rig.next < until) {
			load_send(rig.w, &rig.next, random);
			take_some(&rig, 1, random);
		}
		kill(pid, SIGKILL);
		assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	}
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	hmq_writer_end(rig.w);
	while (hmq_reader_state(rig.r[1]) == HMQ_OPEN)
		take_some(&rig, 1, random);
	assert_int_equal(rig.want[1], rig.next);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	for (uint32_t i = 0; i < 2; i++) {
		rig_check_identity(&rig, i);
		assert_int_equal(hmq_chan_stat(&rig.seg, i, &s), 0);
		assert_int_equal(s.sent, rig.next);
	}
	rig_close(&rig);
	nest_close(&n);
}

static void
a_reader_is_replaced_as_often_as_it_is_killed(void **state)
{
	uint32_t random = seed + 3;

	(void)state;
	for (uint32_t policy = HMQ_BLOCK; policy <= HMQ_DROP_OLDEST; policy++)
		if (policy != HMQ_FAIL)
			restart_again_and_again(policy, &random);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_killed_at_any_instant_harms_nobody),
		cmocka_unit_test(a_writer_killed_at_any_instant_leaves_a_whole_prefix),
		cmocka_unit_test(a_reader_is_replaced_as_often_as_it_is_killed),
	};
	int before = rig_count_fds();
	int rc;

	alarm(100); /* the watchdog */
	print_message("seed %u\n", seed);
	rc = cmocka_run_group_tests_name("stress_holomq_kill", tests, NULL, NULL);
	return rc != 0 || rig_count_fds() != before;
}
