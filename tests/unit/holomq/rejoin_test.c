/* SPDX-License-Identifier: Apache-2.0 */
/* rejoin_test.c - a reader's place is taken again, a writer comes back with another epoch. */
#include <errno.h>
#include <string.h>

#include "layout.h"
#include "nest.h"

enum { DEPTH = 4, SLOTS = 8 };

static const struct hmq_reader_config one[] = { { DEPTH, HMQ_BLOCK } };

static struct hmq_edge_stat
stat_of(const struct rig *rig, uint32_t reader)
{
	struct hmq_edge_stat s;

	assert_int_equal(hmq_chan_stat(&rig->seg, reader, &s), 0);
	return s;
}

/* Another reader in the place of rig->r[index]; it has not been let in yet. */
static void
rejoin(struct rig *rig, uint32_t index)
{
	struct hmq_error err;

	hmq_reader_free(rig->r[index]);
	assert_int_equal(hmq_reader_rejoin(&rig->r[index], &rig->seg, index, &rig_no_peer, &err),
			 0);
}

static void
a_place_that_was_left_is_taken_again(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;

	(void)state;
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	hmq_reader_end(rig.r[0]);
	rejoin(&rig, 0);
	/* Outside there is nothing to see, and nothing it does reaches the row. */
	assert_int_equal(hmq_queued(rig.r[0]), 0);
	assert_int_equal(rig_take(&rig, 0, 4), 0);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_OPEN);
	assert_int_equal(stat_of(&rig, 0).left, 3);
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	assert_int_equal(rig_take(&rig, 0, 4), 0);
	assert_int_equal(rig_send(&rig, 4), 4);
	rig.want[0] = 4;
	assert_int_equal(rig_take(&rig, 0, 3), 3);
	s = stat_of(&rig, 0);
	assert_int_equal(s.sent, 8);
	assert_int_equal(s.received, 4);
	assert_int_equal(s.left, 3);
	assert_int_equal(s.abandoned, 0);
	assert_int_equal(s.queued, 1);
	hmq_writer_end(rig.w);
	assert_int_equal(rig_take(&rig, 0, 4), 1);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

static void
sequence_numbers_go_on(void **state)
{
	struct rig rig;
	struct hmq_rx rx;

	(void)state;
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	assert_int_equal(rig_send(&rig, 3), 3);
	hmq_reader_end(rig.r[0]);
	assert_int_equal(rig_send(&rig, 2), 2);
	rejoin(&rig, 0);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), 1);
	assert_int_equal(rx.head->seq, 5);
	hmq_take(rig.r[0], &rx, 1);
	assert_int_equal(stat_of(&rig, 0).left, 5);
	rig_close(&rig);
}

/* Each way the writer may let it in. */
static void
asking_for_room_counting_and_publishing_let_it_in(void **state)
{
	enum { BY_ROOM, BY_COUNT, BY_PUBLISH, BY_IDLE, WAYS };

	(void)state;
	for (int way = 0; way < WAYS; way++) {
		for (uint32_t policy = HMQ_BLOCK; policy <= HMQ_DROP_OLDEST; policy++) {
			struct hmq_reader_config reader = { DEPTH, policy };
			struct rig rig;

			rig_open(&rig, 0, 2 * SLOTS, &reader, 1);
			assert_int_equal(rig_send(&rig, 2), 2);
			hmq_reader_end(rig.r[0]);
			assert_int_equal(hmq_writer_readers(rig.w), 0);
			rejoin(&rig, 0);
			if (way == BY_ROOM)
				assert_int_equal(hmq_room(rig.w),
						 policy == HMQ_BLOCK ? DEPTH : HMQ_MAX_SLOTS);
			else if (way == BY_COUNT)
				assert_int_equal(hmq_writer_readers(rig.w), 1);
			else if (way == BY_IDLE)
				assert_int_equal(hmq_writer_is_idle(rig.w), 1);
			assert_int_equal(rig_send(&rig, DEPTH), DEPTH);
			rig.want[0] = 2;
			assert_int_equal(rig_take(&rig, 0, 8), DEPTH);
			rig_close(&rig);
		}
	}
}

/* hmq_room said that nobody limits the batch: one who comes in between must not refuse it. */
static void
a_batch_larger_than_its_queue_lets_nobody_in(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	hmq_reader_end(rig.r[0]);
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	rejoin(&rig, 0);
	assert_int_equal(rig_send(&rig, DEPTH + 1), DEPTH + 1);
	assert_int_equal(rig_take(&rig, 0, 8), 0);
	assert_int_equal(hmq_room(rig.w), DEPTH);
	assert_int_equal(rig_send(&rig, DEPTH), DEPTH);
	rig.want[0] = DEPTH + 1;
	assert_int_equal(rig_take(&rig, 0, 8), DEPTH);
	rig_close(&rig);
}

static void
the_end_is_seen_from_outside(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	assert_int_equal(rig_send(&rig, 2), 2);
	hmq_writer_end(rig.w);
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	hmq_reader_end(rig.r[0]);
	rejoin(&rig, 0);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

/* Whether the first one closed is known after a second that never came in, however that one went.
 */
static void
one_who_was_never_let_in_changes_no_account(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		struct rig rig;

		rig_open_one(&rig, 0, SLOTS, DEPTH);
		assert_int_equal(rig_send(&rig, 3), 3);
		if (closed)
			hmq_reader_end(rig.r[0]);
		rejoin(&rig, 0);
		if (!closed)
			hmq_reader_end(rig.r[0]);
		rejoin(&rig, 0);
		assert_int_equal(stat_of(&rig, 0).left, closed ? 3 : 0);
		assert_int_equal(stat_of(&rig, 0).abandoned, closed ? 0 : 3);
		assert_int_equal(hmq_writer_readers(rig.w), 1);
		assert_int_equal(hmq_room(rig.w), DEPTH);
		assert_int_equal(stat_of(&rig, 0).left, closed ? 3 : 0);
		assert_int_equal(stat_of(&rig, 0).abandoned, closed ? 0 : 3);
		assert_int_equal(rig_send(&rig, 1), 1);
		rig.want[0] = 3;
		assert_int_equal(rig_take(&rig, 0, 4), 1);
		/* One that leaves before it was let in: there is no reader then. */
		hmq_reader_end(rig.r[0]);
		rejoin(&rig, 0);
		hmq_reader_end(rig.r[0]);
		assert_int_equal(hmq_writer_readers(rig.w), 0);
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
		rig_check_identity(&rig, 0);
		rig_close(&rig);
	}
}

static void
its_neighbours_miss_nothing(void **state)
{
	static const struct hmq_reader_config two[] = { { DEPTH, HMQ_BLOCK },
							{ DEPTH, HMQ_DROP_OLDEST } };
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, 2 * SLOTS, two, 2);
	for (int round = 0; round < 1000; round++) {
		struct hmq_rx rx[2];

		assert_int_equal(hmq_room(rig.w), DEPTH);
		assert_int_equal(rig_send(&rig, 3), 3);
		assert_int_equal(rig_take(&rig, 0, 8), 3);
		/* It goes with a message shown, one taken and kept, one queued. */
		assert_int_equal(hmq_peek(rig.r[1], 0, rx, 2), 2);
		assert_int_equal(rig_number(&rx[0]), rig.next - 3);
		hmq_advance(rig.r[1], 1);
		if (round % 2)
			hmq_reader_end(rig.r[1]);
		rejoin(&rig, 1);
	}
	hmq_writer_readers(rig.w);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	assert_int_equal(stat_of(&rig, 0).received, 3000);
	assert_int_equal(stat_of(&rig, 1).sent, 3000);
	/* Closed: the shown one counts as left.  Dead: it had been given out. */
	assert_int_equal(stat_of(&rig, 1).received, 500 * 1 + 500 * 2);
	assert_int_equal(stat_of(&rig, 1).left, 500 * 2);
	assert_int_equal(stat_of(&rig, 1).abandoned, 500);
	rig_close(&rig);
}

static void
a_new_handle_of_one_outside_is_outside(void **state)
{
	struct rig rig;
	struct hmq_error err;

	(void)state;
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	assert_int_equal(rig_send(&rig, 2), 2);
	hmq_reader_end(rig.r[0]);
	rejoin(&rig, 0);
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &rig_no_peer, &err), 0);
	assert_int_equal(rig_take(&rig, 0, 4), 0);
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	assert_int_equal(rig_send(&rig, 2), 2);
	rig.want[0] = 2;
	assert_int_equal(rig_take(&rig, 0, 4), 2);
	rig_close(&rig);
}

static void
a_joining_reader_wakes_the_writer_and_may_be_reached_elsewhere(void **state)
{
	struct hmq_peer to_writer, to_reader;
	struct hmq_reader *none;
	struct hmq_error err;
	struct nest n;
	struct rig rig;
	uint32_t value;

	(void)state;
	nest_open(&n);
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	to_writer = (struct hmq_peer){ .waiter = n.writer, .event_fd = -1 };
	to_reader = (struct hmq_peer){ .waiter = n.reader, .event_fd = -1 };
	hmq_reader_end(rig.r[0]);
	hmq_reader_free(rig.r[0]);
	value = hmq_waiter_prepare(n.writer);
	assert_int_equal(hmq_reader_rejoin(&rig.r[0], &rig.seg, 0, &to_writer, &err), 0);
	assert_int_equal(hmq_waiter_wait(n.writer, value, INT64_MAX), 0);
	hmq_writer_set_peer(rig.w, 0, &to_reader);
	hmq_writer_set_peer(rig.w, 7, &to_reader); /* no such reader */
	value = hmq_waiter_prepare(n.reader);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_waiter_wait(n.reader, value, INT64_MAX), 0);
	rig.want[0] = 0;
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	assert_int_equal(hmq_reader_rejoin(&none, &rig.seg, 1, &to_writer, &err), -EINVAL);
	assert_null(none);
	rig_close(&rig);
	nest_close(&n);
}

/* ---- deaths ----------------------------------------------------------------------------- */

static void
open_apart(struct rig *rig, const struct nest *n, const struct hmq_reader_config *readers,
	   uint32_t n_readers)
{
	struct hmq_peer peers[2] = { { .life = n->reader, .event_fd = -1 }, { .event_fd = -1 } };
	struct hmq_error err;

	rig_open(rig, HMQ_SEG_SHARED, 2 * SLOTS, readers, n_readers);
	hmq_writer_free(rig->w);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, peers, &err), 0);
}

/* In a child: the life of a reader that takes one message, keeps one, and is killed. */
static _Noreturn void
live_and_die(struct rig *rig, struct nest *n, int is_first)
{
	struct hmq_rx rx[2];
	struct hmq_error err;
	int32_t got = 0;

	CHILD_CHECK(hmq_life_begin(n->reader) == 0);
	if (!is_first)
		CHILD_CHECK(hmq_reader_rejoin(&rig->r[0], &rig->seg, 0, &rig_no_peer, &err) == 0);
	nest_tell(n);
	while (got < 2) {
		got = hmq_peek(rig->r[0], 0, rx, 2);
		CHILD_CHECK(got >= 0);
		if (got == 0)
			sched_yield();
	}
	CHILD_CHECK(rig_number(&rx[1]) == rig_number(&rx[0]) + 1);
	hmq_advance(rig->r[0], 2);
	hmq_release(rig->r[0], &rx[1], 1);
	nest_tell(n);
	raise(SIGKILL);
	_exit(1);
}

static void
a_killed_reader_is_replaced_whether_its_death_was_seen_or_not(void **state)
{
	enum { LIVES = 60 };
	struct hmq_edge_stat s;
	struct nest n;
	struct rig rig;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, one, 1);
	for (int life = 0; life < LIVES; life++) {
		pid_t pid = nest_fork();

		if (pid == 0)
			live_and_die(&rig, &n, life == 0);
		nest_hear(&n);
		/* Every second time its death was not looked at before the next one lives. */
		assert_int_equal(hmq_writer_readers(rig.w), 1);
		assert_int_equal(rig_send(&rig, 3), 3);
		nest_hear(&n);
		assert_int_equal(nest_reap(pid), 128 + SIGKILL);
		if (life % 2)
			assert_int_equal(hmq_writer_readers(rig.w), 0);
	}
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	s = stat_of(&rig, 0);
	assert_int_equal(s.sent, 3 * LIVES);
	assert_int_equal(s.received, 2 * LIVES);
	assert_int_equal(s.abandoned, LIVES);
	assert_int_equal(s.left, 0);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
	nest_close(&n);
}

static void
nobody_is_let_in_while_the_mark_is_still_that_of_the_dead(void **state)
{
	struct hmq_error err;
	struct nest n;
	struct rig rig;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_apart(&rig, &n, one, 1);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.reader) == 0);
		raise(SIGKILL);
	}
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_rejoin(&rig.r[0], &rig.seg, 0, &rig_no_peer, &err), 0);
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_life_begin(n.reader), 0);
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	assert_int_equal(rig_send(&rig, 1), 1);
	rig.want[0] = 1;
	assert_int_equal(rig_take(&rig, 0, 2), 1);
	assert_int_equal(stat_of(&rig, 0).left, 1);
	hmq_life_end(n.reader);
	rig_close(&rig);
	nest_close(&n);
}

/* A full queue, a dead reader nobody looked at: the next one must not inherit its place in it. */
static void
a_blocked_writer_goes_on_with_the_next_reader(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, SLOTS, DEPTH);
	assert_int_equal(rig_send(&rig, DEPTH), DEPTH);
	assert_int_equal(hmq_room(rig.w), 0);
	rejoin(&rig, 0);
	assert_int_equal(hmq_room(rig.w), DEPTH);
	assert_int_equal(stat_of(&rig, 0).abandoned, DEPTH);
	assert_int_equal(rig_send(&rig, DEPTH), DEPTH);
	rig.want[0] = DEPTH;
	assert_int_equal(rig_take(&rig, 0, 8), DEPTH);
	rig_close(&rig);
}

/* ---- a writer that comes back ----------------------------------------------------------- */

static void
open_epoch(struct rig *rig, uint32_t epoch)
{
	struct hmq_config cfg = { .slots = SLOTS,
				  .payload_bytes = RIG_BYTES,
				  .n_readers = 1,
				  .epoch = epoch,
				  .reader = one };
	struct hmq_peer peer = { .event_fd = -1, .epoch = epoch };
	struct hmq_error err;
	uint32_t found;

	memset(rig, 0, sizeof(*rig));
	rig->n_readers = 1;
	assert_int_equal(hmq_segment_create(&rig->seg, "rig", hmq_chan_bytes(&cfg, &err),
					    HMQ_SEG_SHARED, &err),
			 0);
	assert_int_equal(hmq_chan_format(&rig->seg, &cfg, &err), 0);
	assert_int_equal(hmq_chan_epoch(&rig->seg, &found), 0);
	assert_int_equal(found, epoch);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, &peer, &err), 0);
	assert_int_equal(hmq_reader_open(&rig->r[0], &rig->seg, 0, &peer, &err), 0);
}

static void
a_restarted_writer_has_another_channel_while_the_old_one_drains(void **state)
{
	struct nest n;
	struct rig old, new;
	struct hmq_rx held;
	struct hmq_peer peer;
	struct hmq_error err;
	pid_t pid;

	(void)state;
	nest_open(&n);
	open_epoch(&old, 1);
	hmq_reader_free(old.r[0]);
	peer = (struct hmq_peer){ .life = n.writer, .event_fd = -1, .epoch = 1 };
	assert_int_equal(hmq_reader_open(&old.r[0], &old.seg, 0, &peer, &err), 0);
	pid = nest_fork();
	if (pid == 0) {
		CHILD_CHECK(hmq_life_begin(n.writer) == 0);
		CHILD_CHECK(hmq_writer_open(&old.w, &old.seg, &rig_no_peer, &err) == 0);
		CHILD_CHECK(rig_send(&old, 3) == 3);
		raise(SIGKILL);
	}
	assert_int_equal(nest_reap(pid), 128 + SIGKILL);
	assert_int_equal(hmq_reader_peer(old.r[0]), HMQ_LOST);
	open_epoch(&new, 2);
	assert_int_equal(rig_send(&new, 2), 2);
	/* One message of the old epoch is kept beyond its end, and released there. */
	assert_int_equal(hmq_peek(old.r[0], 0, &held, 1), 1);
	hmq_advance(old.r[0], 1);
	old.want[0] = 1;
	assert_int_equal(rig_take(&old, 0, 4), 2);
	assert_int_equal(hmq_reader_state(old.r[0]), HMQ_LOST);
	assert_int_equal(rig_take(&new, 0, 4), 2);
	assert_int_equal(rig_number(&held), 0);
	hmq_release(old.r[0], &held, 1);
	rig_check_identity(&old, 0);
	rig_close(&old);
	rig_close(&new);
	nest_close(&n);
}

static void
a_segment_of_another_epoch_is_refused(void **state)
{
	const struct hmq_peer peer = { .event_fd = -1, .epoch = 4 };
	struct hmq_error err;
	struct hmq_reader *r;
	struct hmq_writer *w;
	struct rig rig;
	uint32_t epoch;

	(void)state;
	open_epoch(&rig, 3);
	assert_int_equal(hmq_reader_open(&r, &rig.seg, 0, &peer, &err), -ESTALE);
	assert_non_null(strstr(err.text, "wanted 4, found 3"));
	assert_int_equal(hmq_reader_rejoin(&r, &rig.seg, 0, &peer, &err), -ESTALE);
	assert_int_equal(hmq_writer_open(&w, &rig.seg, &peer, &err), -ESTALE);
	assert_non_null(strstr(err.text, "wanted 4, found 3"));
	((struct hmq_shared_head *)rig.seg.base)->magic = 0;
	assert_int_equal(hmq_chan_epoch(&rig.seg, &epoch), -EBADMSG);
	rig_close(&rig);
}

/* ---- a peer that lies ------------------------------------------------------------------- */

static void
tickets_out_of_nowhere_cost_only_that_reader(void **state)
{
	static const struct hmq_reader_config two[] = { { DEPTH, HMQ_BLOCK },
							{ DEPTH, HMQ_BLOCK } };
	struct hmq_layout lay;
	struct hmq_row *row;
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, SLOTS, two, 2);
	assert_int_equal(hmq_layout_of_segment(&lay, &rig.seg, NULL), 0);
	row = hmq_at(&rig.seg, lay.reader[0].row_at);
	for (uint32_t i = 0; i < 500; i++) {
		row->ticket = i * 2654435761u;
		row->head = (uint64_t)i << 40;
		row->free_tail = i * UINT64_C(77777777777);
		row->returned = UINT64_MAX - i;
		assert_true(hmq_room(rig.w) > 0);
		assert_int_equal(rig_send(&rig, 2), 2);
		assert_int_equal(rig_take(&rig, 1, 4), 2);
	}
	hmq_writer_end(rig.w);
	assert_int_equal(stat_of(&rig, 1).received, 1000);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_that_was_left_is_taken_again),
		cmocka_unit_test(sequence_numbers_go_on),
		cmocka_unit_test(asking_for_room_counting_and_publishing_let_it_in),
		cmocka_unit_test(a_batch_larger_than_its_queue_lets_nobody_in),
		cmocka_unit_test(the_end_is_seen_from_outside),
		cmocka_unit_test(one_who_was_never_let_in_changes_no_account),
		cmocka_unit_test(its_neighbours_miss_nothing),
		cmocka_unit_test(a_new_handle_of_one_outside_is_outside),
		cmocka_unit_test(a_joining_reader_wakes_the_writer_and_may_be_reached_elsewhere),
		cmocka_unit_test(a_killed_reader_is_replaced_whether_its_death_was_seen_or_not),
		cmocka_unit_test(nobody_is_let_in_while_the_mark_is_still_that_of_the_dead),
		cmocka_unit_test(a_blocked_writer_goes_on_with_the_next_reader),
		cmocka_unit_test(a_restarted_writer_has_another_channel_while_the_old_one_drains),
		cmocka_unit_test(a_segment_of_another_epoch_is_refused),
		cmocka_unit_test(tickets_out_of_nowhere_cost_only_that_reader),
	};

	return cmocka_run_group_tests_name("holomq_rejoin", tests, NULL, NULL);
}
