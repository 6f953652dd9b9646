/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_test.c - a peer that writes nonsense into the segment.
 *
 * Every word a peer can reach is set to bad values; the other end must answer with
 * an error or carry on, and never touch memory outside the segment.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "rig.h"

static struct hmq_shared_head *
head_of(struct rig *rig)
{
	return rig->seg.base;
}

static struct hmq_layout
layout_of(struct rig *rig)
{
	struct hmq_layout lay;

	assert_int_equal(hmq_layout_of_segment(&lay, &rig->seg, NULL), 0);
	return lay;
}

static struct hmq_row *
row_of(struct rig *rig)
{
	return hmq_at(&rig->seg, layout_of(rig).reader[0].row_at);
}

struct answers {
	int writer;
	int reader;
	int stat;
};

static struct answers
try_both(struct rig *rig)
{
	struct hmq_writer *w;
	struct hmq_reader *r;
	struct hmq_edge_stat s;
	struct hmq_error err;
	struct answers rc = { .writer = hmq_writer_open(&w, &rig->seg, &rig_no_peer, &err),
			      .reader = hmq_reader_open(&r, &rig->seg, 0, &rig_no_peer, &err),
			      .stat = hmq_chan_stat(&rig->seg, 0, &s) };

	hmq_writer_free(w);
	hmq_reader_free(r);
	return rc;
}

static int
open_both(struct rig *rig)
{
	struct answers rc = try_both(rig);

	assert_int_equal(rc.writer, rc.reader);
	assert_int_equal(rc.writer, rc.stat);
	return rc.writer;
}

static void
a_header_that_lies_is_refused(void **state)
{
	struct rig rig;
	struct hmq_shared_head good;

#define LIE(field, value, code)                                                                    \
	head_of(&rig)->field = (value);                                                            \
	assert_int_equal(open_both(&rig), -(code));                                                \
	*head_of(&rig) = good

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	good = *head_of(&rig);
	assert_int_equal(open_both(&rig), 0);
	LIE(magic, 0, EBADMSG);
	LIE(version, 2, EPROTO);
	LIE(digest, good.digest ^ 1, EPROTO);
	LIE(bytes, good.bytes + 4096, EBADMSG);
	LIE(bytes, UINT64_MAX, EBADMSG);
	LIE(bytes, good.bytes - 1, EBADMSG);
	LIE(pool_at, good.pool_at + 4096, EBADMSG);
	LIE(stride, 0, EBADMSG);
	LIE(payload_bytes, UINT64_MAX, EINVAL);
	LIE(payload_bytes, good.payload_bytes + 4096, EBADMSG);
	LIE(slots, 0, EINVAL);
	LIE(slots, UINT32_MAX, EINVAL);
	LIE(slots, 1u << 24, EBADMSG);
	LIE(align, 3, EINVAL);
	LIE(n_readers, 65, EINVAL);
	LIE(n_readers, 64, EINVAL); /* descriptions that were never written */
	LIE(rank, 9, EINVAL);
#undef LIE
	/* None is a channel as well: the writer finds no rows, a reader finds no place. */
	struct hmq_reader *r;
	struct hmq_error err;

	head_of(&rig)->n_readers = 0;
	assert_int_equal(hmq_reader_open(&r, &rig.seg, 0, &rig_no_peer, &err), -EINVAL);
	*head_of(&rig) = good;
	struct hmq_shared_desc *desc = hmq_at(&rig.seg, 256);

	desc->depth = 0;
	assert_int_equal(open_both(&rig), -EINVAL);
	desc->depth = 1u << 20;
	assert_int_equal(open_both(&rig), -EBADMSG);
	desc->depth = 3;
	desc->policy = 77;
	assert_int_equal(open_both(&rig), -EINVAL);
	desc->policy = 0;
	assert_int_equal(open_both(&rig), 0);
	rig.seg.bytes = 100;
	assert_int_equal(open_both(&rig), -EBADMSG);
	rig.seg.bytes = good.bytes;
	rig_close(&rig);
}

static void
a_reader_number_that_does_not_exist_is_refused(void **state)
{
	struct rig rig;
	struct hmq_reader *r;
	struct hmq_error err;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(hmq_reader_open(&r, &rig.seg, 1, &rig_no_peer, &err), -EINVAL);
	assert_null(r);
	rig_close(&rig);
}

static void
cursors_that_make_no_sense_are_refused_at_open(void **state)
{
	struct rig rig;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	row_of(&rig)->tail = 4;
	{
		struct hmq_writer *w;
		struct hmq_reader *r;
		struct hmq_error err;

		assert_int_equal(hmq_writer_open(&w, &rig.seg, &rig_no_peer, &err), -EBADMSG);
		assert_int_equal(hmq_reader_open(&r, &rig.seg, 0, &rig_no_peer, &err), -EBADMSG);
		assert_null(w);
		assert_null(r);
	}
	rig_close(&rig);
}

static void
a_tail_out_of_range_breaks_the_reader(void **state)
{
	static const uint64_t bad[] = { 4, 5, UINT64_MAX, UINT64_C(1) << 63, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rig rig;
		struct hmq_rx rx[4];

		rig_open_one(&rig, 0, 4, 3);
		row_of(&rig)->tail = bad[i];
		assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), -EBADMSG);
		assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), -EBADMSG);
		assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
		assert_int_equal(hmq_reader_peer(rig.r[0]), HMQ_BROKEN);
		assert_int_equal(hmq_queued(rig.r[0]), 0);
		rig_close(&rig);
		rig_open_one(&rig, 0, 4, 3);
		row_of(&rig)->tail = bad[i];
		assert_int_equal(hmq_queued(rig.r[0]), 0);
		assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
		rig_close(&rig);
		rig_open_one(&rig, 0, 4, 3);
		row_of(&rig)->tail = bad[i];
		assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
		hmq_reader_end(rig.r[0]);
		rig_close(&rig);
	}
}

static void
a_tail_that_goes_back_breaks_the_reader(void **state)
{
	struct rig rig;
	struct hmq_rx rx[4];

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(rig_send(&rig, 3), 3);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), 3);
	row_of(&rig)->tail = 1;
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), -EBADMSG);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
	rig_close(&rig);
}

static void
a_slot_number_out_of_range_breaks_the_reader(void **state)
{
	static const uint32_t bad[] = { 4, UINT32_MAX, 1u << 31 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rig rig;
		struct hmq_rx rx[4];

		rig_open_one(&rig, 0, 4, 3);
		assert_int_equal(rig_send(&rig, 2), 2);
		row_of(&rig)->cell[1] = bad[i];
		assert_int_equal(hmq_peek(rig.r[0], 0, rx, 1), 1);
		assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), -EBADMSG);
		assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
		rig_close(&rig);
	}
}

static void
a_newest_slot_out_of_range_breaks_the_reader(void **state)
{
	struct rig rig;
	struct hmq_rx rx;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(rig_send(&rig, 1), 1);
	row_of(&rig)->newest = hmq_newest(0, HMQ_MAX_SLOTS - 1);
	assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), -EBADMSG);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
	rig_close(&rig);
}

static void
a_newest_word_of_another_turn_is_not_believed(void **state)
{
	static const uint64_t turns[] = { 1, UINT64_MAX, (UINT64_C(1) << 40) - 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		struct rig rig;
		struct hmq_rx rx;

		rig_open_one(&rig, 0, 4, 3);
		assert_int_equal(rig_send(&rig, 1), 1);
		row_of(&rig)->newest = hmq_newest(turns[i], HMQ_MAX_SLOTS - 1);
		assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), 1);
		assert_int_equal(rx.slot, row_of(&rig)->cell[0]);
		rig_close(&rig);
	}
}

static void
a_length_above_the_capacity_breaks_the_reader(void **state)
{
	struct rig rig;
	struct hmq_tx tx;
	struct hmq_rx rx;

	(void)state;
	rig_open_one(&rig, 0, 4, 3);
	assert_int_equal(hmq_loan(rig.w, &tx, 1), 1);
	tx.head->bytes = 8;
	assert_int_equal(hmq_publish(rig.w, &tx, 1), 1);
	tx.head->bytes = RIG_BYTES + 1;
	assert_int_equal(hmq_peek(rig.r[0], 0, &rx, 1), -EBADMSG);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
	rig_close(&rig);
}

static void
a_head_out_of_range_ends_that_reader_alone(void **state)
{
	static const struct hmq_reader_config readers[] = { { 2, HMQ_BLOCK }, { 4, HMQ_BLOCK } };
	static const uint64_t bad[] = { 3, UINT64_MAX, UINT64_C(1) << 40 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rig rig;
		struct hmq_edge_stat s;

		rig_open(&rig, 0, 8, readers, 2);
		assert_int_equal(rig_send(&rig, 2), 2);
		row_of(&rig)->head = bad[i];
		assert_int_equal(rig_send(&rig, 2), 2);
		assert_int_equal(hmq_writer_readers(rig.w), 1);
		assert_int_equal(rig_take(&rig, 1, 8), 4);
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
		assert_int_equal(hmq_chan_stat(&rig.seg, 0, &s), 0);
		assert_int_equal(s.abandoned, 2);
		rig_check_identity(&rig, 0);
		rig_check_identity(&rig, 1);
		rig_close(&rig);
	}
}

static void
free_hints_are_only_hints(void **state)
{
	struct rig rig;
	struct hmq_tx tx[4];
	struct hmq_layout lay;
	uint32_t *ring;

	(void)state;
	rig_open_one(&rig, 0, 3, 3);
	lay = layout_of(&rig);
	ring = hmq_at(&rig.seg, lay.reader[0].free_at);
	assert_int_equal(rig_send(&rig, 2), 2);
	/* Slots that are held, free, on loan or do not exist; each more than once. */
	assert_int_equal(hmq_loan(rig.w, tx, 1), 1);
	for (uint32_t i = 0; i < lay.free_cells; i++)
		ring[i] = i == 3 ? UINT32_MAX : i % 5;
	row_of(&rig)->free_tail = lay.free_cells;
	assert_int_equal(hmq_loan(rig.w, tx + 1, 1), 0);
	/* A cursor beyond the ring: skipped, the rows are scanned, nothing is lost. */
	row_of(&rig)->free_tail = UINT64_MAX / 2;
	assert_int_equal(hmq_loan(rig.w, tx + 1, 1), 0);
	memset(hmq_at(&rig.seg, lay.reader[0].held_at), 0, (size_t)3 << lay.reader[0].held_shift);
	row_of(&rig)->free_tail = 5;
	assert_int_equal(hmq_loan(rig.w, tx + 1, 3), 2);
	rig_close(&rig);
}

/* One pass over everything an end can do; loops are bounded whatever the segment says. */
static void
exercise(struct rig *rig)
{
	struct hmq_tx tx[4];
	struct hmq_rx rx[4];

	for (int round = 0; round < 8; round++) {
		uint32_t n = hmq_loan(rig->w, tx, 3);

		for (uint32_t i = 0; i < n; i++)
			tx[i].head->bytes = 8;
		if (hmq_publish(rig->w, tx, n) < 0)
			hmq_cancel(rig->w, tx, n);
		int32_t got = hmq_peek(rig->r[0], 0, rx, 4);

		for (int32_t i = 0; i < got; i++) {
			uint8_t copy[RIG_BYTES];

			memcpy(copy, rx[i].data, rx[i].bytes);
		}
		if (got > 0)
			hmq_take(rig->r[0], rx, (uint32_t)got);
		hmq_room(rig->w);
		hmq_queued(rig->r[0]);
		hmq_reader_state(rig->r[0]);
		hmq_writer_is_idle(rig->w);
	}
}

static void
random_bytes_anywhere_crash_nobody(void **state)
{
	struct hmq_reader_config reader = { 3, HMQ_BLOCK };
	unsigned seed = 20240229;

	(void)state;
	print_message("seed %u\n", seed);
	srand(seed);
	for (int trial = 0; trial < 2000; trial++) {
		struct rig rig;
		struct hmq_edge_stat s;
		uint8_t *base;
		uint64_t control;

		reader.policy = (uint32_t)trial % 4; /* each of them */
		rig_open(&rig, 0, 4, &reader, 1);
		base = rig.seg.base;
		control = head_of(&rig)->pool_at;
		exercise(&rig);
		for (int k = rand() % 16; k >= 0; k--)
			base[(uint64_t)rand() % control] = (uint8_t)rand();
		exercise(&rig);
		hmq_chan_stat(&rig.seg, 0, &s);
		try_both(&rig);
		hmq_reader_end(rig.r[0]);
		hmq_writer_readers(rig.w);
		hmq_writer_end(rig.w);
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_that_lies_is_refused),
		cmocka_unit_test(a_reader_number_that_does_not_exist_is_refused),
		cmocka_unit_test(cursors_that_make_no_sense_are_refused_at_open),
		cmocka_unit_test(a_tail_out_of_range_breaks_the_reader),
		cmocka_unit_test(a_tail_that_goes_back_breaks_the_reader),
		cmocka_unit_test(a_slot_number_out_of_range_breaks_the_reader),
		cmocka_unit_test(a_newest_slot_out_of_range_breaks_the_reader),
		cmocka_unit_test(a_newest_word_of_another_turn_is_not_believed),
		cmocka_unit_test(a_length_above_the_capacity_breaks_the_reader),
		cmocka_unit_test(a_head_out_of_range_ends_that_reader_alone),
		cmocka_unit_test(free_hints_are_only_hints),
		cmocka_unit_test(random_bytes_anywhere_crash_nobody),
	};

	return cmocka_run_group_tests_name("holomq_hostile", tests, NULL, NULL);
}
