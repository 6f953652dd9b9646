/* SPDX-License-Identifier: Apache-2.0 */
/* files_test.c - what the tool reads of others: JSON, recordings, and slots that change under it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "tool.h"

static char said[512];

int
tool_fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	return code;
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void
json_is_checked_before_it_is_looked_at(void **state)
{
	static const char *const good[] = { "{}",
					    "[]",
					    "1",
					    " {\"a\" : [1, -2.5e3, \"x\\\"y\"]} \n",
					    "[[[]],{\"a\":{\"b\":null}}]",
					    "\"\"" };
	static const char *const bad[] = { "",     "{",     "[1,]",  "{\"a\"}", "{\"a\":}", "\"x",
					   "\"\\", "[1 2]", "{1:2}", "1 1",     "\"\n\"" };
	char deep[100];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(json_check(good[i], strlen(good[i])), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(json_check(bad[i], strlen(bad[i])), -1);
	memset(deep, '[', 50);
	memset(deep + 50, ']', 50);
	assert_int_equal(json_check(deep, 100), -1);
}

static void
json_members_and_items_are_found(void **state)
{
	static const char text[] = "{\"aa\":1,\"a\":[10,\"b\\\"c\",{\"k\":-7}],\"f\":2.5,"
				   "\"big\":9223372036854775807,\"s\":\"long word\"}";
	struct value all, list;
	char word[6];

	(void)state;
	assert_int_equal(json_check(text, sizeof(text) - 1), 0);
	all = json_all(text, sizeof(text) - 1);
	list = json_member(all, "a");
	assert_int_equal(json_int(json_item(list, 0), 0), 10);
	json_string(json_item(list, 1), word, sizeof(word));
	assert_string_equal(word, "b\"c");
	assert_int_equal(json_int(json_member(json_item(list, 2), "k"), 0), -7);
	assert_null(json_item(list, 3).begin);
	assert_true(json_number(json_member(all, "f"), 0) == 2.5);
	assert_true(json_int(json_member(all, "big"), 0) == INT64_MAX);
	assert_int_equal(json_int(json_member(all, "none"), 3), 3);
	assert_int_equal(json_int(json_member(all, "s"), 3), 3);
	json_string(json_member(all, "s"), word, sizeof(word));
	assert_string_equal(word, "long "); /* cut to the room there is */
	json_string(json_member(all, "f"), word, sizeof(word));
	assert_string_equal(word, "");
}

/* ---- recordings ------------------------------------------------------------------------- */

static char dir[64];

static const char *
in_dir(const char *leaf)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, leaf);
	return path;
}

static void
record(const char *leaf, uint32_t n, int is_whole, uint64_t missed)
{
	struct edge e = { .payload_bytes = 100, .dtype = { 1, 8, 1 }, .rank = 1, .dim = { 100 } };
	struct record_writer w;
	uint8_t data[100];

	assert_int_equal(record_create(&w, in_dir(leaf), &e), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct hmq_head h = { .bytes = i, .frame = i, .born_ns = 1000 + i, .rank = 1 };

		memset(data, (int)i, sizeof(data));
		assert_int_equal(record_add(&w, &h, data), 0);
	}
	assert_int_equal(record_finish(&w, is_whole, missed), 0);
}

static void
a_recording_comes_back_as_it_was(void **state)
{
	struct record_reader r;
	struct hmq_head h;
	const void *data;

	(void)state;
	record("r", 100, 1, 0);
	assert_int_equal(record_open(&r, in_dir("r")), 0);
	assert_true(r.is_whole);
	assert_int_equal(r.max_bytes, 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(record_next(&r, &h, &data), 1);
		assert_int_equal(h.bytes, i);
		assert_int_equal(h.frame, i);
		assert_int_equal(h.born_ns, i); /* since the first */
		if (i)
			assert_int_equal(((const uint8_t *)data)[i - 1], i);
	}
	assert_int_equal(record_next(&r, &h, &data), 0);
	record_close(&r);
	unlink(in_dir("r"));
}

static void
an_incomplete_recording_says_so(void **state)
{
	struct record_reader r;
	struct hmq_head h;
	const void *data;
	int n = 0;

	(void)state;
	record("r", 5, 0, 3);
	assert_int_equal(access(in_dir("r"), F_OK), -1);
	assert_int_equal(record_open(&r, in_dir("r.INCOMPLETE")), 0);
	assert_false(r.is_whole);
	while (record_next(&r, &h, &data) > 0)
		n++;
	assert_int_equal(n, 5);
	record_close(&r);
	unlink(in_dir("r.INCOMPLETE"));
}

/* A recording with one byte changed or cut to a length; how record_open and _next end. */
static int
spoiled(off_t at, uint8_t byte, off_t cut)
{
	struct record_reader r;
	struct hmq_head h;
	const void *data;
	int fd, rc;

	record("r", 4, 1, 0);
	fd = open(in_dir("r"), O_RDWR);
	assert_true(fd >= 0);
	if (cut >= 0)
		assert_int_equal(ftruncate(fd, cut), 0);
	else
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
	rc = record_open(&r, in_dir("r"));
	if (!rc) {
		while ((rc = record_next(&r, &h, &data)) > 0)
			;
		record_close(&r);
	}
	unlink(in_dir("r"));
	return rc;
}

static void
a_file_that_lies_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(spoiled(0, 'x', -1), EXIT_FAILED);   /* magic */
	assert_int_equal(spoiled(8, 9, -1), EXIT_FAILED);     /* version */
	assert_int_equal(spoiled(36, 99, -1), EXIT_FAILED);   /* rank */
	assert_int_equal(spoiled(79, 0xff, -1), EXIT_FAILED); /* max_bytes */
	assert_int_equal(spoiled(128, 0, -1), -1);            /* the first record's mark */
	assert_int_equal(spoiled(128 + 15, 0xff, -1), -1);    /* its length */
	assert_int_equal(spoiled(128 + 60, 99, -1), -1);      /* its rank */
	assert_int_equal(spoiled(0, 0, 100), EXIT_FAILED);    /* shorter than a header */
	assert_int_equal(spoiled(0, 0, 300), 0);              /* a torn tail is the end */
	assert_int_equal(record_open(&(struct record_reader){ 0 }, in_dir("none")), EXIT_FAILED);
	assert_int_equal(record_open(&(struct record_reader){ 0 }, dir), EXIT_FAILED);
}

static void
a_recording_that_cannot_be_made_is_refused(void **state)
{
	struct edge e = { .payload_bytes = 8 };
	struct record_writer w;
	char path[5000];

	(void)state;
	assert_int_equal(record_create(&w, in_dir("no/where"), &e), EXIT_FAILED);
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = 0;
	assert_int_equal(record_create(&w, path, &e), EXIT_USAGE);
}

/* ---- taps ------------------------------------------------------------------------------- */

struct rig {
	struct hmq_segment seg;
	struct hmq_writer *w;
	struct hmq_reader *r;
};

static void
rig_open(struct rig *rig, uint32_t depth)
{
	const struct hmq_peer none = { .event_fd = -1 };
	struct hmq_reader_config reader = { depth, HMQ_BLOCK };
	struct hmq_config cfg = {
		.slots = depth + 1, .payload_bytes = 64, .n_readers = 1, .reader = &reader
	};

	assert_int_equal(hmq_segment_create(&rig->seg, "tap", hmq_chan_bytes(&cfg, NULL), 0, NULL),
			 0);
	assert_int_equal(hmq_chan_format(&rig->seg, &cfg, NULL), 0);
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, &none, NULL), 0);
	assert_int_equal(hmq_reader_open(&rig->r, &rig->seg, 0, &none, NULL), 0);
}

static void
rig_close(struct rig *rig)
{
	hmq_writer_free(rig->w);
	hmq_reader_free(rig->r);
	hmq_segment_close(&rig->seg);
}

static void
send(struct rig *rig, uint8_t what)
{
	struct hmq_tx tx;

	assert_int_equal(hmq_loan(rig->w, &tx, 1), 1);
	memset(tx.data, what, 64);
	tx.head->bytes = 64;
	assert_int_equal(hmq_publish(rig->w, &tx, 1), 1);
}

static void
take(struct rig *rig)
{
	struct hmq_rx rx;

	assert_int_equal(hmq_peek(rig->r, 0, &rx, 1), 1);
	hmq_take(rig->r, &rx, 1);
}

static void
a_tap_sees_what_comes_after_it_and_disturbs_nothing(void **state)
{
	struct rig rig;
	struct tap t;

	(void)state;
	rig_open(&rig, 4);
	send(&rig, 1);
	assert_int_equal(tap_open(&t, &rig.seg, 0), 0);
	assert_int_equal(tap_next(&t), 0);
	send(&rig, 2);
	send(&rig, 3);
	for (uint8_t n = 2; n < 4; n++) {
		assert_int_equal(tap_next(&t), 1);
		assert_int_equal(t.data[63], n);
		assert_int_equal(t.head.bytes, 64);
	}
	assert_int_equal(tap_next(&t), 0);
	for (int i = 0; i < 3; i++) /* all are still there for the reader */
		take(&rig);
	hmq_writer_end(rig.w);
	assert_int_equal(tap_next(&t), -1);
	assert_int_equal(t.seen, 2);
	assert_int_equal(t.missed, 0);
	tap_close(&t);
	rig_close(&rig);
}

static void
what_was_gone_before_it_was_copied_is_counted(void **state)
{
	struct rig rig;
	struct tap t;

	(void)state;
	rig_open(&rig, 4);
	assert_int_equal(tap_open(&t, &rig.seg, 0), 0);
	for (uint8_t n = 0; n < 10; n++) { /* more than the ring has cells, all taken */
		send(&rig, n);
		take(&rig);
	}
	send(&rig, 10);
	assert_int_equal(tap_next(&t), 1);
	assert_int_equal(t.data[0], 10);
	assert_int_equal(t.missed, 10);
	assert_int_equal(tap_next(&t), 0);
	tap_close(&t);
	rig_close(&rig);
}

static void
a_slot_on_loan_again_is_not_shown(void **state)
{
	struct rig rig;
	struct tap t;
	struct hmq_tx tx;

	(void)state;
	rig_open(&rig, 1);
	assert_int_equal(tap_open(&t, &rig.seg, 0), 0);
	send(&rig, 1);
	take(&rig);
	/* Both slots are on loan: the old message is being overwritten. */
	assert_int_equal(hmq_loan(rig.w, &tx, 1), 1);
	assert_int_equal(hmq_loan(rig.w, &tx, 1), 1);
	assert_int_equal(tap_next(&t), 0);
	assert_int_equal(t.missed, 1);
	tap_close(&t);
	rig_close(&rig);
}

static void
nonsense_in_the_memory_is_survived(void **state)
{
	struct rig rig;
	struct tap t;
	struct hmq_layout lay;
	struct hmq_row *row;

	(void)state;
	rig_open(&rig, 4);
	assert_int_equal(tap_open(&t, &rig.seg, 7), EXIT_FAILED);
	assert_int_equal(hmq_layout_of_segment(&lay, &rig.seg, NULL), 0);
	row = hmq_at(&rig.seg, lay.reader[0].row_at);
	assert_int_equal(tap_open(&t, &rig.seg, 0), 0);
	row->cell[0] = UINT32_MAX; /* no such slot */
	row->tail = 1;
	assert_int_equal(tap_next(&t), 0);
	assert_int_equal(t.missed, 1);
	row->tail = 0; /* behind us: a long way round, cut to the ring */
	assert_int_equal(tap_next(&t), 0);
	row->tail = 5;
	row->cell[0] = 0;
	((struct hmq_head *)hmq_at(&rig.seg, lay.first_at - sizeof(struct hmq_head)))->bytes =
		1u << 30;
	*(uint8_t *)hmq_at(&rig.seg, lay.reader[0].held_at) = 1;
	assert_int_equal(tap_next(&t), 0); /* longer than a slot */
	tap_close(&t);
	memset(rig.seg.base, 0, 128);
	assert_int_equal(tap_open(&t, &rig.seg, 0), EXIT_FAILED);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_checked_before_it_is_looked_at),
		cmocka_unit_test(json_members_and_items_are_found),
		cmocka_unit_test(a_recording_comes_back_as_it_was),
		cmocka_unit_test(an_incomplete_recording_says_so),
		cmocka_unit_test(a_file_that_lies_is_an_error),
		cmocka_unit_test(a_recording_that_cannot_be_made_is_refused),
		cmocka_unit_test(a_tap_sees_what_comes_after_it_and_disturbs_nothing),
		cmocka_unit_test(what_was_gone_before_it_was_copied_is_counted),
		cmocka_unit_test(a_slot_on_loan_again_is_not_shown),
		cmocka_unit_test(nonsense_in_the_memory_is_survived),
	};
	int rc;

	strcpy(dir, "/tmp/holomq-tool-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(dir) || rc;
}
