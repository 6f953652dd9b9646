/* SPDX-License-Identifier: Apache-2.0 */
/* ends_test.c - end of stream, readers that end, and the numbers afterwards. */
#include <errno.h>

#include "rig.h"

static void
what_is_queued_comes_before_the_end(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_OPEN);
	assert_int_equal(hmq_reader_peer(rig.r[0]), HMQ_OPEN);
	assert_int_equal(rig_send(&rig, 2), 2);
	hmq_writer_end(rig.w);
	assert_int_equal(hmq_reader_peer(rig.r[0]), HMQ_ENDED);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_OPEN);
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_OPEN);
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

static void
a_reader_that_ends_gives_its_queue_back_and_counts_it_left(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;
	struct hmq_tx tx[4];
	struct hmq_rx rx;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(rig_send(&rig, 3), 3);
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	assert_int_equal(hmq_writer_readers(rig.w), 1);
	hmq_reader_end(rig.r[0]);
	hmq_reader_end(rig.r[0]); /* a second time: nothing */
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), 0);
	assert_int_equal(hmq_queued(rig.r[0]), 0);
	assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0); /* before the writer noticed */
	assert_int_equal(s.left, 2);
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	assert_int_equal(rig_send(&rig, 4), 4); /* to nobody: sent, left, slots free */
	assert_int_equal(hmq_loan(rig.w, tx, 4), 4);
	hmq_cancel(rig.w, tx, 4);
	assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
	assert_int_equal(s.sent, 7);
	assert_int_equal(s.received, 1);
	assert_int_equal(s.left, 6);
	assert_int_equal(s.lost, 0);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

/* Each way the writer may notice: by loaning, by asking for room, by publishing. */
static void
loaning_from_a_dry_pool_finds_an_ended_reader(void **state)
{
	struct rig rig;
	struct hmq_tx tx[2];

	(void)state;
	rig_open_one(&rig, 0, 2, 2);
	assert_int_equal(rig_send(&rig, 2), 2);
	hmq_reader_end(rig.r[0]);
	assert_int_equal(hmq_loan(rig.w, tx, 2), 2);
	rig_close(&rig);
}

static void
asking_for_room_finds_an_ended_reader(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, 3, 2);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(hmq_room(rig.w), 0);
	hmq_reader_end(rig.r[0]);
	assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	rig_close(&rig);
}

static void
publishing_finds_an_ended_reader(void **state)
{
	static const struct hmq_reader_config readers[] = { { 2, HMQ_BLOCK }, { 4, HMQ_BLOCK } };
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, 6, readers, 2);
	assert_int_equal(rig_send(&rig, 2), 2);
	hmq_reader_end(rig.r[0]);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(rig_take(&rig, 1, 6), 4);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	for (uint32_t i = 0; i < 2; i++)
		rig_check_identity(&rig, i);
	rig_close(&rig);
}

static void
messages_held_across_the_end_are_released_after_it(void **state)
{
	struct rig rig;
	struct hmq_rx rx[2];

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 2);
	hmq_advance(rig.r[0], 2);
	hmq_writer_end(rig.w);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	assert_int_equal(hmq_writer_is_idle(rig.w), 0);
	assert_int_equal(rig_number(&rx[1]), 1);
	hmq_release(rig.r[0], rx, 2);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

static void
numbers_of_a_reader_that_does_not_exist_are_refused(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(hmq_chan_stat(&rig.seg, 1, &s), -EINVAL);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
	assert_int_equal(s.queued, 2);
	assert_int_equal(s.max_queued, 2);
	assert_int_equal(s.received, 0);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_queued_comes_before_the_end),
		cmocka_unit_test(a_reader_that_ends_gives_its_queue_back_and_counts_it_left),
		cmocka_unit_test(loaning_from_a_dry_pool_finds_an_ended_reader),
		cmocka_unit_test(asking_for_room_finds_an_ended_reader),
		cmocka_unit_test(publishing_finds_an_ended_reader),
		cmocka_unit_test(messages_held_across_the_end_are_released_after_it),
		cmocka_unit_test(numbers_of_a_reader_that_does_not_exist_are_refused),
	};

	return cmocka_run_group_tests_name("holomq_ends", tests, NULL, NULL);
}
