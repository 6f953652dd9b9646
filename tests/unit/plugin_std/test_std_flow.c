/* SPDX-License-Identifier: Apache-2.0 */
/* test_std_flow.c - std/sequence, std/copy, std/busy and std/null: counts, paces, lineage, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "fake_host.h"
#include "param_put.h"

static struct fh_plugin plugin;

static const struct hop_format bytes64 = { .size = sizeof(struct hop_format),
					   .dtype = { 1, 8, 1 },
					   .max_bytes = 64 };

static int64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t
number(const struct fh_msg *m)
{
	uint64_t n;

	memcpy(&n, m->data, sizeof n);
	return n;
}

static void
sequence_numbers_messages_and_ends_after_count(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/sequence");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	put_int(op, p, "count", 70);
	put_int(op, p, "frame_every", 32);
	h = fh_open(op, p, NULL, 0);
	assert_int_equal(fh_rc(h), 0);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, 64);
	fh_set_now(h, 1000);
	assert_int_equal(fh_run(h, 10), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 70);
	for (uint32_t i = 0; i < 70; i++) {
		const struct fh_msg *m = fh_out(h, 0, i);

		assert_int_equal(number(m), i);
		assert_int_equal(m->head->frame, i / 32);
		assert_int_equal(m->head->index, i % 32);
		assert_int_equal(m->head->bytes, 64);
		assert_int_equal(m->head->born_ns, 1000);
		assert_int_equal(m->head->last_ns, 1000);
	}
	fh_close(h);
}

static void
sequence_with_a_rate_is_born_when_due_and_asks_to_be_called_again(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/sequence");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	put_real(op, p, "rate", 1e6);
	h = fh_open(op, p, NULL, 0);
	assert_int_equal(fh_rc(h), 0);
	fh_set_now(h, 5000000);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_out_count(h, 0), 1);
	assert_int_equal(fh_wake_ns(h), 5001000);
	assert_int_equal(fh_step(h), HOP_IDLE);
	/* Called late, it makes all that are due, each with its own due time. */
	fh_set_now(h, 5003500);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_out_count(h, 0), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(fh_out(h, 0, i)->head->born_ns, 5000000 + 1000 * i);
	assert_int_equal(fh_wake_ns(h), 5004000);
	fh_close(h);
}

static void
sequence_ends_when_asked_and_when_nobody_listens(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/sequence");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	h = fh_open(op, p, NULL, 0);
	assert_int_equal(fh_step(h), HOP_OK);
	fh_set_stopping(h, 1);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
	h = fh_open(op, p, NULL, 0);
	fh_out_end(h, 0);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
}

static void
sequence_writes_the_middle_only_when_asked(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/sequence");
	_Alignas(8) char p[PUT_ROOM];
	unsigned char old[4096];

	(void)state;
	memset(old, 0xa5, sizeof old);
	for (uint8_t fill = 0; fill < 2; fill++) {
		const struct fh_msg *m;
		struct fh *h;

		put_defaults(op, p);
		put_int(op, p, "size", 4096);
		put_int(op, p, "count", 1);
		put_bool(op, p, "fill", fill);
		h = fh_open(op, p, NULL, 0);
		assert_int_equal(fh_step(h), HOP_DONE);
		m = fh_out(h, 0, 0);
		assert_int_equal(memcmp((char *)m->data + 8, old, 4096 - 16) == 0, !fill);
		fh_close(h);
	}
}

static void
check_passes_on(const char *name, int64_t work_ns)
{
	const struct hop_op *op = fh_op(&plugin, name);
	_Alignas(8) char p[PUT_ROOM];
	const struct hop_head head = { .frame = 3,
				       .index = 4,
				       .born_ns = 5,
				       .last_ns = 6,
				       .stamp_ns = 7,
				       .stream = 8,
				       .flags = HOP_MSG_GAP,
				       .dtype = { 2, 32, 1 },
				       .rank = 1,
				       .dim = { 5 },
				       .user = { 9 } };
	const float data[5] = { 1, 2, 3, 4, 5 };
	const struct fh_msg *m;
	struct fh *h;

	put_defaults(op, p);
	if (work_ns)
		put_int(op, p, "work", work_ns);
	h = fh_open(op, p, &bytes64, 1);
	assert_int_equal(fh_rc(h), 0);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, 64);
	for (int i = 0; i < 3; i++)
		fh_in(h, 0, &head, data, sizeof data);
	fh_end(h, 0);
	fh_run(h, 10);
	assert_int_equal(fh_out_count(h, 0), 3);
	assert_int_equal(fh_in_left(h, 0), 0);
	m = fh_out(h, 0, 2);
	assert_int_equal(m->head->frame, 3);
	assert_int_equal(m->head->index, 4);
	assert_int_equal(m->head->born_ns, 5);
	assert_int_equal(m->head->last_ns, 6);
	assert_int_equal(m->head->stamp_ns, 7);
	assert_int_equal(m->head->stream, 8);
	assert_int_equal(m->head->flags, HOP_MSG_GAP);
	assert_int_equal(m->head->dtype.bits, 32);
	assert_int_equal(m->head->rank, 1);
	assert_int_equal(m->head->dim[0], 5);
	assert_int_equal(m->head->user[0], 9);
	assert_int_equal(m->head->bytes, sizeof data);
	assert_memory_equal(m->data, data, sizeof data);
	fh_close(h);
}

static void
copy_keeps_content_lineage_and_shape(void **state)
{
	(void)state;
	check_passes_on("std/copy", 0);
}

static void
busy_passes_on_after_working(void **state)
{
	int64_t begin_ns = clock_ns();

	(void)state;
	check_passes_on("std/busy", 200000);
	assert_true(clock_ns() - begin_ns >= 3 * 200000);
}

static void
busy_takes_one_message_a_call(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/busy");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	h = fh_open(op, p, &bytes64, 1);
	for (int i = 0; i < 3; i++)
		fh_in(h, 0, &(struct hop_head){ 0 }, "12345678", 8);
	fh_step(h);
	assert_int_equal(fh_out_count(h, 0), 1);
	assert_int_equal(fh_in_left(h, 0), 2);
	fh_close(h);
}

static void
passers_stop_where_the_output_is_full(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/copy");
	struct fh *h = fh_open(op, NULL, &bytes64, 1);

	(void)state;
	fh_window(h, HOP_OUT, 0, 2);
	for (int i = 0; i < 3; i++)
		fh_in(h, 0, &(struct hop_head){ 0 }, "12345678", 8);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_out_count(h, 0), 2);
	assert_int_equal(fh_in_left(h, 0), 1);
	fh_close(h);
}

static void
null_takes_and_counts_everything(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/null");
	struct fh *h = fh_open(op, NULL, &bytes64, 1);

	(void)state;
	for (int i = 0; i < 5; i++)
		fh_in(h, 0, &(struct hop_head){ 0 }, "12345678", 8);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_counter(h, "received"), 5);
	assert_int_equal(fh_counter(h, "bytes"), 40);
	fh_close(h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequence_numbers_messages_and_ends_after_count),
		cmocka_unit_test(sequence_with_a_rate_is_born_when_due_and_asks_to_be_called_again),
		cmocka_unit_test(sequence_ends_when_asked_and_when_nobody_listens),
		cmocka_unit_test(sequence_writes_the_middle_only_when_asked),
		cmocka_unit_test(copy_keeps_content_lineage_and_shape),
		cmocka_unit_test(busy_passes_on_after_working),
		cmocka_unit_test(busy_takes_one_message_a_call),
		cmocka_unit_test(passers_stop_where_the_output_is_full),
		cmocka_unit_test(null_takes_and_counts_everything),
	};
	int rc;

	plugin = fh_load(PLUGIN_STD);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fh_unload(&plugin);
	return rc;
}
