/* SPDX-License-Identifier: Apache-2.0 */
/* oldest_test.c - drop_oldest: what is dropped, what is kept, and that the counts are exact. */
#include <errno.h>
#include <string.h>

#include "layout.h"
#include "rig.h"

enum { DEPTH = 4, SLOTS = 12 };

static const struct hmq_reader_config one[] = { { DEPTH, HMQ_DROP_OLDEST } };

static void
open_oldest(struct rig *rig)
{
	rig_open(rig, 0, SLOTS, one, 1);
}

static struct hmq_edge_stat
stat_of(const struct rig *rig, uint32_t reader)
{
	struct hmq_edge_stat s;

	assert_int_equal(hmq_chan_stat(&rig->seg, reader, &s), 0);
	return s;
}

static struct hmq_row *
row_of(struct rig *rig)
{
	struct hmq_layout lay;

	assert_int_equal(hmq_layout_of_segment(&lay, &rig->seg, NULL), 0);
	return hmq_at(&rig->seg, lay.reader[0].row_at);
}

static void
a_full_queue_keeps_the_newest(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;

	(void)state;
	open_oldest(&rig);
	for (int i = 0; i < 10; i++)
		assert_int_equal(rig_send(&rig, 1), 1);
	rig.want[0] = 6;
	assert_int_equal(rig_take(&rig, 0, 16), 4);
	assert_int_equal(rig_take(&rig, 0, 16), 0);
	s = stat_of(&rig, 0);
	assert_int_equal(s.sent, 10);
	assert_int_equal(s.received, 4);
	assert_int_equal(s.lost, 6);
	assert_int_equal(s.max_queued, DEPTH);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

static void
of_a_batch_larger_than_the_queue_its_end_arrives(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(rig_send(&rig, 7), 7);
	rig.want[0] = 5;
	assert_int_equal(rig_take(&rig, 0, 16), 4);
	s = stat_of(&rig, 0);
	assert_int_equal(s.sent, 9);
	assert_int_equal(s.received, 4);
	assert_int_equal(s.lost, 5);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

static void
it_never_stops_the_writer(void **state)
{
	struct rig rig;

	(void)state;
	open_oldest(&rig);
	assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(rig_send(&rig, 1 + (uint32_t)i % 5), 1 + i % 5);
		assert_int_equal(hmq_room(rig.w), HMQ_MAX_SLOTS);
	}
	assert_int_equal(stat_of(&rig, 0).lost, stat_of(&rig, 0).sent - DEPTH);
	rig_close(&rig);
}

static void
what_is_shown_is_never_dropped_or_overwritten(void **state)
{
	struct rig rig;
	struct hmq_rx rx[3];

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 3), 3);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rig_send(&rig, 3), 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(rig_number(&rx[i]), i);
	hmq_take(rig.r[0], rx, 3);
	rig.want[0] = 300;
	assert_int_equal(rig_take(&rig, 0, 16), 4);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

static void
what_was_shown_is_shown_again_until_it_is_taken(void **state)
{
	struct rig rig;
	struct hmq_rx rx[4], again[4];

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 2);
	assert_int_equal(rig_send(&rig, 4), 4);
	/* The window of an executor: only what was not seen yet. */
	assert_int_equal(hmq_peek(rig.r[0], 2, rx + 2, 2), 2);
	assert_int_equal(hmq_peek(rig.r[0], 0, again, 4), 4);
	assert_memory_equal(rx, again, sizeof(rx));
	assert_int_equal(rig_number(&rx[1]), 1);
	assert_int_equal(rig_number(&rx[2]), 4);
	hmq_take(rig.r[0], rx, 3);
	assert_int_equal(hmq_peek(rig.r[0], 0, again, 1), 1);
	assert_memory_equal(&rx[3], again, sizeof(rx[3]));
	/* No more than `depth` are shown and not taken, whatever is asked for. */
	assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(hmq_peek(rig.r[0], 0, again, 100), 4);
	assert_int_equal(hmq_queued(rig.r[0]), 4 + 1);
	assert_int_equal(hmq_peek(rig.r[0], 4, again, 1), 0);
	rig_close(&rig);
}

static void
taken_messages_are_kept_past_the_window(void **state)
{
	struct rig rig;
	struct hmq_rx rx[2];

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 2);
	hmq_advance(rig.r[0], 2);
	hmq_release(rig.r[0], &rx[1], 1);
	assert_int_equal(hmq_queued(rig.r[0]), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(rig_number(&rx[0]), 0);
	hmq_release(rig.r[0], &rx[0], 1);
	rig.want[0] = 78;
	assert_int_equal(rig_take(&rig, 0, 16), 4);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

static void
other_readers_of_the_channel_get_everything(void **state)
{
	static const struct hmq_reader_config both[] = { { 2, HMQ_DROP_OLDEST },
							 { 5, HMQ_BLOCK },
							 { 1, HMQ_DROP_NEWEST },
							 { 3, HMQ_DROP_OLDEST } };
	struct rig rig;
	uint64_t kept;

	(void)state;
	rig_open(&rig, 0, SLOTS, both, 4);
	for (uint64_t i = 0; i < 300; i++) {
		uint32_t n = 1 + (uint32_t)(i % 5);

		assert_int_equal(hmq_room(rig.w), 5);
		assert_int_equal(rig_send(&rig, n), n);
		assert_int_equal(rig_take(&rig, 1, 16), n);
		if (i % 7 == 0) {
			kept = rig.next < 3 ? rig.next : 3;
			rig.want[3] = rig.next - kept;
			assert_int_equal(rig_take(&rig, 3, 16), kept);
		}
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(stat_of(&rig, i).sent, rig.next);
	assert_int_equal(stat_of(&rig, 2).lost, rig.next - 1);
	hmq_writer_end(rig.w);
	for (uint32_t i = 0; i < 4; i++) {
		hmq_reader_end(rig.r[i]);
		rig_check_identity(&rig, i);
	}
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	for (uint32_t i = 0; i < 4; i++)
		rig_check_identity(&rig, i);
	rig_close(&rig);
}

static void
the_end_comes_after_what_is_shown_and_queued(void **state)
{
	struct rig rig;
	struct hmq_rx rx[1];

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 1), 1);
	hmq_writer_end(rig.w);
	assert_int_equal(hmq_reader_peer(rig.r[0]), HMQ_ENDED);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_OPEN);
	assert_int_equal(hmq_queued(rig.r[0]), 2);
	assert_int_equal(rig_take(&rig, 0, 4), 2);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_ENDED);
	rig_close(&rig);
}

static void
shown_and_not_taken_is_left_when_the_reader_ends(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;
	struct hmq_rx rx[3];

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 6), 6);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 3), 3);
	hmq_take(rig.r[0], rx, 1);
	hmq_reader_end(rig.r[0]);
	for (int settled = 0; settled < 2; settled++) {
		s = stat_of(&rig, 0);
		assert_int_equal(s.sent, 6);
		assert_int_equal(s.received, 1);
		assert_int_equal(s.lost, 2);
		assert_int_equal(s.left, 3);
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	}
	assert_int_equal(rig_send(&rig, 3), 3);
	assert_int_equal(stat_of(&rig, 0).left, 6);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

static void
a_new_handle_goes_on_where_the_old_one_stopped_claiming(void **state)
{
	struct rig rig;
	struct hmq_error err;

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 6), 6);
	rig.want[0] = 2;
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	hmq_reader_free(rig.r[0]);
	hmq_writer_free(rig.w);
	assert_int_equal(hmq_writer_open(&rig.w, &rig.seg, &rig_no_peer, &err), 0);
	assert_int_equal(hmq_reader_open(&rig.r[0], &rig.seg, 0, &rig_no_peer, &err), 0);
	assert_int_equal(rig_send(&rig, 2), 2);
	rig.want[0] = 4;
	assert_int_equal(rig_take(&rig, 0, 16), 4);
	assert_int_equal(stat_of(&rig, 0).received, 5);
	assert_int_equal(stat_of(&rig, 0).lost, 3);
	hmq_writer_end(rig.w);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

/* What the writer moved and had no time to count: the reader's own count says how much. */
static void
a_writer_killed_while_dropping_leaves_exact_counts(void **state)
{
	struct rig rig;
	struct hmq_edge_stat s;

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 4), 4);
	assert_int_equal(rig_take(&rig, 0, 1), 1);
	row_of(&rig)->head += 2;
	s = stat_of(&rig, 0);
	assert_int_equal(s.sent, 4);
	assert_int_equal(s.received, 1);
	assert_int_equal(s.lost, 2);
	assert_int_equal(s.queued, 1);
	rig.want[0] = 3;
	assert_int_equal(rig_take(&rig, 0, 4), 1);
	rig_check_identity(&rig, 0);
	rig_close(&rig);
}

/* ---- a peer that lies ------------------------------------------------------------------- */

static void
a_cursor_before_or_beyond_the_queue_ends_that_reader_alone(void **state)
{
	static const struct hmq_reader_config both[] = { { DEPTH, HMQ_DROP_OLDEST },
							 { DEPTH, HMQ_BLOCK } };
	static const int64_t lies[] = { -1, -DEPTH, INT64_MIN, DEPTH + 1, INT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct rig rig;

		rig_open(&rig, 0, SLOTS, both, 2);
		assert_int_equal(rig_send(&rig, 4), 4);
		assert_int_equal(rig_take(&rig, 1, 4), 4);
		row_of(&rig)->head += (uint64_t)lies[i];
		assert_int_equal(rig_send(&rig, 3), 3);
		assert_int_equal(rig_take(&rig, 1, 4), 3);
		assert_int_equal(hmq_writer_readers(rig.w), 1);
		assert_int_equal(hmq_writer_is_idle(rig.w), 1);
		rig_close(&rig);
	}
}

static void
a_cursor_moved_back_between_two_looks_is_found(void **state)
{
	struct rig rig;

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 6), 6);
	row_of(&rig)->head -= 2;
	assert_int_equal(rig_send(&rig, 1), 1);
	assert_int_equal(hmq_writer_readers(rig.w), 0);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	rig_close(&rig);
}

static void
slot_numbers_a_reader_scribbled_hurt_itself_alone(void **state)
{
	static const struct hmq_reader_config both[] = { { DEPTH, HMQ_DROP_OLDEST },
							 { 8, HMQ_BLOCK } };
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, 16, both, 2);
	for (int round = 0; round < 50; round++) {
		struct hmq_tx tx[2];

		for (int i = 0; i < 4; i++)
			row_of(&rig)->cell[i] = round % 2 ? UINT32_MAX : (uint32_t)(round % 16);
		if (hmq_loan(rig.w, tx, 2) < 2)
			break; /* it hoards slots: its own doing, as if it kept them */
		hmq_cancel(rig.w, tx, 2);
		assert_int_equal(rig_send(&rig, 2), 2);
		assert_int_equal(rig_take(&rig, 1, 8), 2);
	}
	assert_int_equal(hmq_writer_readers(rig.w), 2);
	rig_close(&rig);
}

static void
a_writer_that_lies_breaks_the_reader(void **state)
{
	struct hmq_rx rx[4];
	struct rig rig;

	(void)state;
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	row_of(&rig)->tail += DEPTH;
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), -EBADMSG);
	assert_int_equal(hmq_reader_state(rig.r[0]), HMQ_BROKEN);
	rig_close(&rig);
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	row_of(&rig)->cell[1] = SLOTS;
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 4), -EBADMSG);
	rig_close(&rig);
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 2);
	((struct hmq_head *)(uintptr_t)rx[1].head)->bytes = RIG_BYTES + 1;
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), -EBADMSG);
	assert_int_equal(hmq_queued(rig.r[0]), 0);
	rig_close(&rig);
	/* A cursor for ever beyond the tail: nothing is there, and nobody loops. */
	open_oldest(&rig);
	assert_int_equal(rig_send(&rig, 2), 2);
	row_of(&rig)->head += 5;
	assert_int_equal(hmq_peek(rig.r[0], 0, rx, 2), 0);
	assert_int_equal(hmq_queued(rig.r[0]), 0);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_queue_keeps_the_newest),
		cmocka_unit_test(of_a_batch_larger_than_the_queue_its_end_arrives),
		cmocka_unit_test(it_never_stops_the_writer),
		cmocka_unit_test(what_is_shown_is_never_dropped_or_overwritten),
		cmocka_unit_test(what_was_shown_is_shown_again_until_it_is_taken),
		cmocka_unit_test(taken_messages_are_kept_past_the_window),
		cmocka_unit_test(other_readers_of_the_channel_get_everything),
		cmocka_unit_test(the_end_comes_after_what_is_shown_and_queued),
		cmocka_unit_test(shown_and_not_taken_is_left_when_the_reader_ends),
		cmocka_unit_test(a_new_handle_goes_on_where_the_old_one_stopped_claiming),
		cmocka_unit_test(a_writer_killed_while_dropping_leaves_exact_counts),
		cmocka_unit_test(a_cursor_before_or_beyond_the_queue_ends_that_reader_alone),
		cmocka_unit_test(a_cursor_moved_back_between_two_looks_is_found),
		cmocka_unit_test(slot_numbers_a_reader_scribbled_hurt_itself_alone),
		cmocka_unit_test(a_writer_that_lies_breaks_the_reader),
	};

	return cmocka_run_group_tests_name("holomq_oldest", tests, NULL, NULL);
}
