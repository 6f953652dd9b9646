/* SPDX-License-Identifier: Apache-2.0 */
/* fanout_test.c - several readers of different depth and policy; what each gets and counts. */
#include <errno.h>

#include "rig.h"

static void
each_reader_gets_every_message(void **state)
{
	static const struct hmq_reader_config readers[] = { { 2, HMQ_BLOCK },
							    { 5, HMQ_BLOCK },
							    { 3, HMQ_BLOCK } };
	struct rig rig;
	struct hmq_tx tx;

	(void)state;
	rig_open(&rig, 0, 5, readers, 3);
	for (int round = 0; round < 100; round++) {
		assert_int_equal(hmq_room(rig.w), 2);
		assert_int_equal(rig_send(&rig, 2), 2);
		assert_int_equal(rig_send(&rig, 1), -EAGAIN);
		assert_int_equal(hmq_writer_culprit(rig.w), 0);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(rig_take(&rig, i, 4), 2);
	}
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	assert_int_equal(hmq_loan(rig.w, &tx, 1), 1);
	rig_close(&rig);
}

static void
a_slot_is_free_only_when_the_last_reader_released_it(void **state)
{
	static const struct hmq_reader_config readers[] = { { 1, HMQ_BLOCK }, { 1, HMQ_BLOCK } };
	struct rig rig;
	struct hmq_tx tx;

	(void)state;
	for (uint32_t first = 0; first < 2; first++) {
		rig_open(&rig, 0, 1, readers, 2);
		for (int round = 0; round < 20; round++) {
			assert_int_equal(rig_send(&rig, 1), 1);
			assert_int_equal(rig_take(&rig, first, 1), 1);
			assert_int_equal(hmq_loan(rig.w, &tx, 1), 0);
			assert_int_equal(hmq_writer_is_idle(rig.w), 0);
			assert_int_equal(rig_take(&rig, !first, 1), 1);
		}
		rig_close(&rig);
	}
}

static void
drop_newest_loses_and_counts_while_others_get_all(void **state)
{
	static const struct hmq_reader_config readers[] = { { 8, HMQ_BLOCK },
							    { 2, HMQ_DROP_NEWEST } };
	struct rig rig;
	struct hmq_edge_stat s;
	struct hmq_rx rx[4];

	(void)state;
	rig_open(&rig, 0, 12, readers, 2);
	assert_int_equal(rig_send(&rig, 5), 5);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(rig_take(&rig, 0, 8), 7);
	assert_int_equal(hmq_peek(rig.r[1], 0, rx, 4), 2);
	assert_int_equal(rig_number(&rx[0]), 0);
	assert_int_equal(rig_number(&rx[1]), 1);
	hmq_take(rig.r[1], rx, 2);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_peek(rig.r[1], 0, rx, 4), 1);
	assert_int_equal(rx[0].head->seq, 7); /* the gap is the loss */
	hmq_take(rig.r[1], rx, 1);
	assert_int_equal(hmq_chan_stat(&rig.seg, 1, &s), 0);
	assert_int_equal(s.sent, 8);
	assert_int_equal(s.received, 3);
	assert_int_equal(s.lost, 5);
	assert_int_equal(s.max_queued, 2);
	assert_int_equal(s.depth, 2);
	assert_int_equal(s.slots, 12);
	rig_check_identity(&rig, 1);
	rig_close(&rig);
}

static void
messages_nobody_took_are_free_again(void **state)
{
	static const struct hmq_reader_config readers[] = { { 2, HMQ_DROP_NEWEST } };
	struct rig rig;
	struct hmq_edge_stat s;

	(void)state;
	rig_open(&rig, 0, 4, readers, 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(rig_take(&rig, 0, 4), 2);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
	assert_int_equal(s.lost, 198);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

static void
a_full_fail_reader_refuses_the_batch_and_is_named(void **state)
{
	static const struct hmq_reader_config readers[] = { { 8, HMQ_BLOCK }, { 2, HMQ_FAIL } };
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, 12, readers, 2);
	assert_int_equal(hmq_room(rig.w), 8);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(rig_send(&rig, 1), -ENOBUFS);
	assert_int_equal(hmq_writer_culprit(rig.w), 1);
	assert_int_equal(hmq_queued(rig.r[0]), 2);
	assert_int_equal(hmq_queued(rig.r[1]), 2);
	rig_close(&rig);
}

static void
room_without_a_blocking_reader_is_unlimited(void **state)
{
	static const struct hmq_reader_config readers[] = { { 1, HMQ_DROP_NEWEST },
							    { 1, HMQ_FAIL } };
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, 4, readers, 2);
	assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	rig_close(&rig);
}

static void
without_readers_messages_go_nowhere(void **state)
{
	struct rig rig;
	struct hmq_tx tx[3];

	(void)state;
	rig_open(&rig, 0, 3, NULL, 0);
	assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(rig_send(&rig, 3), 3);
	assert_int_equal(hmq_loan(rig.w, tx, 3), 3);
	hmq_cancel(rig.w, tx, 3);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	assert_int_equal(hmq_prime(rig.w, 0, 1, 8), -EINVAL);
	hmq_writer_end(rig.w);
	rig_close(&rig);
}

static void
sixty_four_readers_work(void **state)
{
	struct hmq_reader_config readers[HMQ_MAX_READERS];
	struct rig rig;

	(void)state;
	for (uint32_t i = 0; i < HMQ_MAX_READERS; i++)
		readers[i] = (struct hmq_reader_config){ i + 1, HMQ_BLOCK };
	rig_open(&rig, 0, 3, readers, HMQ_MAX_READERS);
	for (int round = 0; round < 10; round++) {
		assert_int_equal(rig_send(&rig, 1), 1);
		for (uint32_t i = 0; i < HMQ_MAX_READERS; i++)
			assert_int_equal(rig_take(&rig, i, 2), 1);
	}
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reader_gets_every_message),
		cmocka_unit_test(a_slot_is_free_only_when_the_last_reader_released_it),
		cmocka_unit_test(drop_newest_loses_and_counts_while_others_get_all),
		cmocka_unit_test(messages_nobody_took_are_free_again),
		cmocka_unit_test(a_full_fail_reader_refuses_the_batch_and_is_named),
		cmocka_unit_test(room_without_a_blocking_reader_is_unlimited),
		cmocka_unit_test(without_readers_messages_go_nowhere),
		cmocka_unit_test(sixty_four_readers_work),
	};

	return cmocka_run_group_tests_name("holomq_fanout", tests, NULL, NULL);
}
