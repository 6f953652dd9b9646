/* SPDX-License-Identifier: Apache-2.0 */
/* channel_test.c - one writer, one reader, one thread: loans, windows, depth, order, prime. */
#include <errno.h>
#include <string.h>

#include "rig.h"

static void
a_message_arrives_where_it_was_written(void **state)
{
	struct rig rig;
	struct hmq_tx tx;
	struct hmq_rx rx;

	(void)state;
	rig_open_one(&rig, 0, 4, 2);
	assert_int_equal(hmq_loan(rig.w, &tx, 1), 1);
	assert_int_equal(tx.capacity, RIG_BYTES);
	memcpy(tx.data, "hello", 5);
	tx.head->bytes = 5;
	tx.head->frame = 42;
	assert_int_equal(hmq_publish(rig.w, &tx, 1), 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), 1);
	assert_ptr_equal(rx.data, tx.data);
	assert_int_equal(rx.bytes, 5);
	assert_int_equal(rx.head->frame, 42);
	assert_int_equal(rx.head->seq, 0);
	assert_memory_equal(rx.data, "hello", 5);
	hmq_take(rig.r[0], &rx, 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), 0);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

static void
heads_carry_the_format_of_the_channel_and_payloads_are_aligned(void **state)
{
	struct hmq_reader_config reader = { 2, HMQ_BLOCK };
	struct hmq_config cfg = { .slots = 3,
				  .payload_bytes = 100,
				  .n_readers = 1,
				  .reader = &reader,
				  .dtype = { 2, 32, 1 },
				  .rank = 2,
				  .dim = { 5, 5 } };
	struct hmq_segment seg;
	struct hmq_writer *w;
	struct hmq_error err;
	struct hmq_tx tx[3];

	(void)state;
	for (uint32_t align = 64; align <= 4096; align *= 2) {
		uint64_t bytes, stride;
		void *base;

		cfg.align = align;
		assert_int_equal(hmq_segment_create(&seg, "a", hmq_chan_bytes(&cfg, &err), 0, &err),
				 0);
		assert_int_equal(hmq_chan_format(&seg, &cfg, &err), 0);
		assert_int_equal(hmq_writer_open(&w, &seg, &rig_no_peer, &err), 0);
		assert_int_equal(hmq_loan(w, tx, 5), 3);
		hmq_writer_region(w, &base, &bytes, &stride);
		for (int i = 0; i < 3; i++) {
			assert_int_equal((uintptr_t)tx[i].data % align, 0);
			assert_int_equal(tx[i].head->dtype.bits, 32);
			assert_int_equal(tx[i].head->rank, 2);
			assert_int_equal(tx[i].head->dim[1], 5);
			assert_ptr_equal(tx[i].data, (uint8_t *)base + tx[i].slot * stride);
			memset(tx[i].data, 0xff, tx[i].capacity);
		}
		assert_true((uint8_t *)base + bytes <= (uint8_t *)seg.base + seg.bytes);
		assert_int_equal(tx[0].head->dim[1], 5);
		hmq_writer_free(w);
		hmq_segment_close(&seg);
	}
}

static void
depth_is_exact_for_any_value(void **state)
{
	static const uint32_t depths[] = { 1, 2, 3, 5, 7, 8, 100, 255 };

	(void)state;
	for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]); d++) {
		struct rig rig;
		uint32_t depth = depths[d];

		rig_open_one(&rig, 0, depth + 1, depth);
		for (int round = 0; round < 5; round++) {
			assert_int_equal(hmq_room(rig.w), depth);
			for (uint32_t i = 0; i < depth; i++)
				assert_int_equal(rig_send(&rig, 1), 1);
			assert_int_equal(hmq_room(rig.w), 0);
			assert_int_equal(rig_send(&rig, 1), -EAGAIN);
			assert_int_equal(hmq_queued(rig.r[0]), depth);
			assert_int_equal(rig_take(&rig, 0, 1), 1);
			assert_int_equal(hmq_room(rig.w), 1);
			assert_int_equal(rig_send(&rig, 1), 1);
			assert_int_equal(rig_send(&rig, 1), -EAGAIN);
			while (rig_take(&rig, 0, 256) > 0)
				;
		}
		rig_close(&rig);
	}
}

static void
a_batch_is_refused_whole_or_published_whole(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, 8, 4);
	assert_int_equal(rig_send(&rig, 3), 3);
	assert_int_equal(rig_send(&rig, 2), -EAGAIN);
	assert_int_equal(hmq_writer_culprit(rig.w), 0);
	assert_int_equal(hmq_queued(rig.r[0]), 3);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(rig_take(&rig, 0, 8), 4);
	assert_int_equal(hmq_publish(rig.w, NULL, 0), 0);
	rig_close(&rig);
}

static void
a_window_is_a_view_that_can_be_asked_for_in_parts(void **state)
{
	struct rig rig;
	struct hmq_rx rx[8];

	(void)state;
	rig_open_one(&rig, 0, 8, 8);
	assert_int_equal(rig_send(&rig, 5), 5);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 2);
	assert_int_equal(hmq_peek(rig.r[0], 2, rx + 2, 6), 3);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(rig_number(&rx[i]), i);
	assert_int_equal(hmq_peek(rig.r[0], 5, rx, 1), 0);
	assert_int_equal(hmq_peek(rig.r[0], 9, rx, 1), 0);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_peek(rig.r[0], 5, rx + 5, 3), 1);
	assert_int_equal(rig_number(&rx[5]), 5);
	assert_int_equal(hmq_queued(rig.r[0]), 6);
	assert_int_equal(hmq_room(rig.w), 2);
	rig_close(&rig);
}

static void
messages_taken_stay_valid_until_released_in_any_order(void **state)
{
	struct rig rig;
	struct hmq_rx rx[6];
	struct hmq_tx tx[6];
	static const int order[] = { 3, 0, 5, 1, 4, 2 };

	(void)state;
	rig_open_one(&rig, 0, 6, 6);
	for (int round = 0; round < 50; round++) {
		uint64_t first = rig.next;

		assert_int_equal(rig_send(&rig, 6), 6);
		assert_int_equal(hmq_peek(rig.r[0], 0, rx, 6), 6);
		hmq_advance(rig.r[0], 6);
		assert_int_equal(hmq_room(rig.w), 6);
		assert_int_equal(hmq_loan(rig.w, tx, 1), 0);
		for (uint64_t i = 0; i < 6; i++) {
			assert_int_equal(hmq_writer_is_idle(rig.w), 0);
			assert_int_equal(rig_number(&rx[order[i]]), first + (uint64_t)order[i]);
			hmq_release(rig.r[0], &rx[order[i]], 1);
			assert_int_equal(hmq_loan(rig.w, tx, 6), i + 1);
			hmq_cancel(rig.w, tx, (uint32_t)i + 1);
		}
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	}
	rig_close(&rig);
}

static void
loans_keep_their_address_and_may_be_published_in_any_order(void **state)
{
	struct rig rig;
	struct hmq_tx tx[4], other;
	struct hmq_rx rx[4];

	(void)state;
	rig_open_one(&rig, 0, 4, 4);
	assert_int_equal(hmq_loan(rig.w, tx, 4), 4);
	for (uint64_t i = 0; i < 4; i++)
		tx[i].head->bytes = 0;
	assert_int_equal(hmq_loan(rig.w, &other, 1), 0);
	assert_int_equal(hmq_publish(rig.w, &tx[2], 2), 2);
	assert_int_equal(hmq_publish(rig.w, &tx[0], 1), 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), 3);
	assert_ptr_equal(rx[0].data, tx[2].data);
	assert_ptr_equal(rx[2].data, tx[0].data);
	hmq_cancel(rig.w, &tx[1], 1);
	hmq_cancel(rig.w, &tx[1], 1); /* a second time: nothing */
	assert_int_equal(hmq_loan(rig.w, tx, 4), 1);
	rig_close(&rig);
}

static void
publishing_what_is_not_on_loan_is_refused(void **state)
{
	struct rig rig;
	struct hmq_tx tx[3];

	(void)state;
	rig_open_one(&rig, 0, 4, 4);
	assert_int_equal(hmq_loan(rig.w, tx, 2), 2);
	tx[0].head->bytes = tx[1].head->bytes = 8;
	tx[2] = tx[0]; /* twice in one batch */
	assert_int_equal(hmq_publish(rig.w, tx, 3), -EINVAL);
	assert_int_equal(hmq_writer_culprit(rig.w), 2);
	tx[2].slot = 99;
	assert_int_equal(hmq_publish(rig.w, tx, 3), -EINVAL);
	assert_int_equal(hmq_publish(rig.w, tx, 2), 2);
	assert_int_equal(hmq_publish(rig.w, tx, 1), -EINVAL);
	assert_int_equal(hmq_queued(rig.r[0]), 2);
	rig_close(&rig);
}

static void
a_length_above_the_capacity_is_refused_and_named(void **state)
{
	struct rig rig;
	struct hmq_tx tx[2];

	(void)state;
	rig_open_one(&rig, 0, 4, 4);
	assert_int_equal(hmq_loan(rig.w, tx, 2), 2);
	tx[0].head->bytes = RIG_BYTES;
	tx[1].head->bytes = RIG_BYTES + 1;
	assert_int_equal(hmq_publish(rig.w, tx, 2), -EMSGSIZE);
	assert_int_equal(hmq_writer_culprit(rig.w), 1);
	assert_int_equal(hmq_queued(rig.r[0]), 0);
	tx[1].head->bytes = RIG_BYTES;
	assert_int_equal(hmq_publish(rig.w, tx, 2), 2);
	rig_close(&rig);
}

static void
primed_messages_come_first_and_are_zero(void **state)
{
	struct rig rig;
	struct hmq_rx rx[4];
	struct hmq_edge_stat s;

	(void)state;
	rig_open_one(&rig, 0, 5, 3);
	assert_int_equal(hmq_prime(rig.w, 0, 2, 16), 0);
	assert_int_equal(hmq_prime(rig.w, 0, 2, 16), -ENOBUFS);
	assert_int_equal(hmq_prime(rig.w, 1, 1, 16), -EINVAL);
	assert_int_equal(hmq_prime(rig.w, 0, 1, RIG_BYTES + 1), -EMSGSIZE);
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(rx[i].head->seq, i);
	for (int i = 0; i < 2; i++) {
		static const uint8_t zero[16];

		assert_int_equal(rx[i].bytes, 16);
		assert_memory_equal(rx[i].data, zero, 16);
	}
	hmq_take(rig.r[0], rx, 3);
	assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
	assert_int_equal(s.sent, 3);
	assert_int_equal(s.received, 3);
	hmq_reader_end(rig.r[0]);
	assert_int_equal(hmq_prime(rig.w, 0, 1, 16), -EPIPE);
	rig_close(&rig);
}

static void
a_new_handle_goes_on_where_the_old_one_stopped(void **state)
{
	struct rig rig;
	struct hmq_rx rx[2];
	struct hmq_tx tx[5];
	struct hmq_error err;

	(void)state;
	rig_open_one(&rig, 0, 5, 3);
	assert_int_equal(hmq_prime(rig.w, 0, 2, 8), 0);
	hmq_writer_free(rig.w);
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, &rig_no_peer, &err), 0);
	assert_int_equal(hmq_room(rig.w), 1);
	assert_int_equal(hmq_loan(rig.w, tx, 5), 3);
	tx[0].head->bytes = 8;
	assert_int_equal(hmq_publish(rig.w, tx, 1), 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 2);
	hmq_take(rig.r[0], rx, 2);
	hmq_reader_free(rig.r[0]);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &rig_no_peer, &err), 0);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 1);
	assert_int_equal(rx[0].head->seq, 2);
	hmq_take(rig.r[0], rx, 1);
	hmq_cancel(rig.w, tx, 3);
	assert_int_equal(hmq_loan(rig.w, tx, 5), 5);
	rig_close(&rig);
}

static void
large_slots_are_reused_first_come_hot(void **state)
{
	struct hmq_reader_config reader = { 4, HMQ_BLOCK };
	struct hmq_config cfg = {
		.slots = 4, .payload_bytes = 8192, .n_readers = 1, .reader = &reader
	};
	struct hmq_error err;
	struct rig rig = { .n_readers = 1 };
	struct hmq_tx tx;
	struct hmq_rx rx;
	uint64_t slot = 0;

	(void)state;
	assert_int_equal(hmq_segment_create(&rig.seg, "l", hmq_chan_bytes(&cfg, &err), 0, &err), 0);
	assert_int_equal(hmq_chan_format(&rig.seg, &cfg, &err), 0);
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, &rig_no_peer, &err), 0);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &rig_no_peer, &err), 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(hmq_loan(rig.w, &tx, 1), 1);
		if (i > 0)
			assert_int_equal(tx.slot, slot);
		slot = tx.slot;
		tx.head->bytes = 8192;
		assert_int_equal(hmq_publish(rig.w, &tx, 1), 1);
		assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), 1);
		hmq_take(rig.r[0], &rx, 1);
	}
	rig_close(&rig);
}

static void
a_channel_without_readers_swallows_what_is_published(void **state)
{
	struct rig rig = { 0 };

	(void)state;
	rig_open(&rig, 0, 4, NULL, 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
		assert_int_equal(rig_send(&rig, 3), 3);
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	}
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	hmq_writer_end(rig.w);
	rig_close(&rig);
}

static void
refused_configs_name_field_and_value(void **state)
{
	struct hmq_reader_config reader = { 2, HMQ_BLOCK };
	const struct hmq_config good = {
		.slots = 4, .payload_bytes = 8, .n_readers = 1, .reader = &reader
	};
	struct hmq_config cfg;
	struct hmq_segment seg;
	struct hmq_error err;

#define REFUSED(change, code_, word)                                                               \
	cfg = good;                                                                                \
	reader = (struct hmq_reader_config){ 2, HMQ_BLOCK };                                       \
	change;                                                                                    \
	assert_int_equal(hmq_chan_bytes(&cfg, &err), 0);                                           \
	assert_int_equal(err.code, -(code_));                                                      \
	assert_non_null(strstr(err.text, word))

	(void)state;
	REFUSED(cfg.slots = 0, EINVAL, "slots");
	REFUSED(cfg.slots = HMQ_MAX_SLOTS + 1, EINVAL, "slots");
	REFUSED(cfg.align = 32, EINVAL, "align");
	REFUSED(cfg.align = 96, EINVAL, "align");
	REFUSED(cfg.align = 8192, EINVAL, "align");
	REFUSED(cfg.payload_bytes = UINT64_C(1) << 41, EINVAL, "payload_bytes");
	REFUSED(cfg.n_readers = 65, EINVAL, "n_readers");
	REFUSED(cfg.rank = 9, EINVAL, "rank");
	REFUSED(reader.depth = 0, EINVAL, "depth");
	REFUSED(reader.depth = HMQ_MAX_SLOTS + 1, EINVAL, "depth");
	REFUSED(reader.policy = 4, EINVAL, "policy");
	REFUSED(cfg.payload_bytes = UINT64_C(1) << 40;
		cfg.slots = HMQ_MAX_SLOTS, EOVERFLOW, "slots");
#undef REFUSED
	reader = (struct hmq_reader_config){ 2, HMQ_BLOCK };
	assert_int_equal(hmq_segment_create(&seg, "s", 4096, 0, &err), 0);
	assert_int_equal(hmq_chan_format(&seg, &good, &err), -ENOSPC);
	cfg = good;
	cfg.slots = 0;
	assert_int_equal(hmq_chan_format(&seg, &cfg, &err), -EINVAL);
	hmq_segment_close(&seg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_arrives_where_it_was_written),
		cmocka_unit_test(heads_carry_the_format_of_the_channel_and_payloads_are_aligned),
		cmocka_unit_test(depth_is_exact_for_any_value),
		cmocka_unit_test(a_batch_is_refused_whole_or_published_whole),
		cmocka_unit_test(a_window_is_a_view_that_can_be_asked_for_in_parts),
		cmocka_unit_test(messages_taken_stay_valid_until_released_in_any_order),
		cmocka_unit_test(loans_keep_their_address_and_may_be_published_in_any_order),
		cmocka_unit_test(publishing_what_is_not_on_loan_is_refused),
		cmocka_unit_test(a_length_above_the_capacity_is_refused_and_named),
		cmocka_unit_test(primed_messages_come_first_and_are_zero),
		cmocka_unit_test(a_new_handle_goes_on_where_the_old_one_stopped),
		cmocka_unit_test(large_slots_are_reused_first_come_hot),
		cmocka_unit_test(a_channel_without_readers_swallows_what_is_published),
		cmocka_unit_test(refused_configs_name_field_and_value),
	};

	return cmocka_run_group_tests_name("holomq_channel", tests, NULL, NULL);
}
