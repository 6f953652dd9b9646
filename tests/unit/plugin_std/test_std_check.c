/* SPDX-License-Identifier: Apache-2.0 */
/* test_std_check.c - std/check accepts what std/sequence makes and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>

#include "fake_host.h"
#include "param_put.h"

enum { SIZE = 64, COUNT = 10 };

static struct fh_plugin plugin;
static unsigned char made[COUNT][SIZE]; /* by std/sequence, filled */

static const struct hop_format format = { .size = sizeof(struct hop_format),
					  .dtype = { 1, 8, 1 },
					  .max_bytes = SIZE };

static int
make_messages(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/sequence");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	put_int(op, p, "count", COUNT);
	put_bool(op, p, "fill", 1);
	h = fh_open(op, p, NULL, 0);
	fh_run(h, 10);
	for (uint32_t i = 0; i < COUNT; i++)
		memcpy(made[i], fh_out(h, 0, i)->data, SIZE);
	fh_close(h);
	return 0;
}

static struct fh *
open_check(int64_t count, uint8_t lossy, uint8_t fill)
{
	const struct hop_op *op = fh_op(&plugin, "std/check");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	put_defaults(op, p);
	put_int(op, p, "count", count);
	put_bool(op, p, "lossy", lossy);
	put_bool(op, p, "fill", fill);
	h = fh_open(op, p, &format, 1);
	assert_int_equal(fh_rc(h), 0);
	return h;
}

static void
feed(struct fh *h, uint32_t i)
{
	fh_in(h, 0, &(struct hop_head){ 0 }, made[i], SIZE);
}

static void
check_accepts_the_whole_sequence(void **state)
{
	struct fh *h = open_check(COUNT, 0, 1);

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++)
		feed(h, i);
	fh_end(h, 0);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_counter(h, "received"), COUNT);
	assert_int_equal(fh_counter(h, "gaps"), 0);
	fh_close(h);
}

static void
check_names_the_number_wanted_and_found(void **state)
{
	struct fh *h = open_check(0, 0, 0);

	(void)state;
	feed(h, 0);
	feed(h, 2);
	assert_int_equal(fh_step(h), -EPROTO);
	assert_string_equal(fh_error_text(h), "wanted message 1, found 2");
	fh_close(h);
}

static void
check_wants_the_first_message(void **state)
{
	struct fh *h = open_check(0, 0, 0);

	(void)state;
	feed(h, 1);
	assert_int_equal(fh_step(h), -EPROTO);
	fh_close(h);
}

static void
check_refuses_a_repeated_message(void **state)
{
	struct fh *h = open_check(0, 0, 0);

	(void)state;
	feed(h, 0);
	feed(h, 0);
	assert_int_equal(fh_step(h), -EPROTO);
	fh_close(h);
}

static void
lossy_check_counts_gaps_and_reordering(void **state)
{
	struct fh *h = open_check(COUNT, 1, 0);

	(void)state;
	feed(h, 1);
	feed(h, 4);
	feed(h, 3);
	fh_end(h, 0);
	assert_int_equal(fh_run(h, 5) < 0, 0);
	assert_int_equal(fh_counter(h, "received"), 3);
	/* 0, 2 and 3 when they were passed over, 5 to 9 at the end. */
	assert_int_equal(fh_counter(h, "gaps"), 8);
	assert_int_equal(fh_counter(h, "reordered"), 1);
	fh_close(h);
}

static void
check_finds_a_changed_byte(void **state)
{
	static const uint32_t places[] = { 17, SIZE - 1 };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct fh *h = open_check(0, 1, 1);
		unsigned char bad[SIZE];

		memcpy(bad, made[0], SIZE);
		bad[places[i]] ^= 1;
		fh_in(h, 0, &(struct hop_head){ 0 }, bad, SIZE);
		assert_int_equal(fh_step(h), -EBADMSG);
		assert_int_equal(fh_counter(h, "bad"), 1);
		fh_close(h);
	}
}

static void
check_finds_content_of_another_message(void **state)
{
	struct fh *h = open_check(0, 0, 0);
	unsigned char bad[SIZE];

	(void)state;
	memcpy(bad, made[5], SIZE);
	memcpy(bad, made[0], 8);
	fh_in(h, 0, &(struct hop_head){ 0 }, bad, SIZE);
	assert_int_equal(fh_step(h), -EBADMSG);
	assert_string_equal(fh_error_text(h), "message 0: content differs at byte 56 of 64");
	fh_close(h);
}

static void
check_refuses_a_message_without_a_number(void **state)
{
	struct fh *h = open_check(0, 1, 0);

	(void)state;
	fh_in(h, 0, &(struct hop_head){ 0 }, "1234567", 7);
	assert_int_equal(fh_step(h), -EBADMSG);
	fh_close(h);
}

static void
check_fails_when_the_stream_is_too_short_or_too_long(void **state)
{
	struct fh *h = open_check(3, 0, 0);

	(void)state;
	feed(h, 0);
	feed(h, 1);
	fh_end(h, 0);
	assert_int_equal(fh_run(h, 5), -ENODATA);
	assert_string_equal(fh_error_text(h), "the stream ended after 2 messages, wanted 3");
	fh_close(h);
	h = open_check(1, 0, 0);
	feed(h, 0);
	feed(h, 1);
	assert_int_equal(fh_step(h), -EPROTO);
	assert_string_equal(fh_error_text(h), "wanted 1 messages in all, found number 1");
	fh_close(h);
}

static void
slow_check_gives_each_message_back_at_once(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/check");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	put_int(op, p, "work", 1000);
	h = fh_open(op, p, &format, 1);
	feed(h, 0);
	feed(h, 1);
	fh_step(h);
	assert_int_equal(fh_in_left(h, 0), 1);
	fh_close(h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_accepts_the_whole_sequence),
		cmocka_unit_test(check_names_the_number_wanted_and_found),
		cmocka_unit_test(check_wants_the_first_message),
		cmocka_unit_test(check_refuses_a_repeated_message),
		cmocka_unit_test(lossy_check_counts_gaps_and_reordering),
		cmocka_unit_test(check_finds_a_changed_byte),
		cmocka_unit_test(check_finds_content_of_another_message),
		cmocka_unit_test(check_refuses_a_message_without_a_number),
		cmocka_unit_test(check_fails_when_the_stream_is_too_short_or_too_long),
		cmocka_unit_test(slow_check_gives_each_message_back_at_once),
	};
	int rc;

	plugin = fh_load(PLUGIN_STD);
	rc = cmocka_run_group_tests(tests, make_messages, NULL);
	fh_unload(&plugin);
	return rc;
}
