/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_std_record.c - std/file_sink and std/file_source: what was recorded is
 * what is played, a recording is whole or says that it is not, and no byte of
 * a file is believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_host.h"
#include "param_put.h"

enum { N = 5, BYTES = 40, HEAD = 128, STRIDE = 128 + 64 };

static struct fh_plugin plugin;
static char dir[64], path[96], tmp[104], cut[112];

static int
make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/holorun-record-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof path, "%s/a.rec", dir);
	snprintf(tmp, sizeof tmp, "%s.tmp", path);
	snprintf(cut, sizeof cut, "%s.INCOMPLETE", path);
	return 0;
}

static int
remove_dir(void **state)
{
	(void)state;
	unlink(path);
	unlink(tmp);
	unlink(cut);
	return rmdir(dir);
}

static int
exists(const char *file)
{
	return access(file, F_OK) == 0;
}

static struct fh *
open_sink(void)
{
	const struct hop_op *op = fh_op(&plugin, "std/file_sink");
	const uint32_t dims[] = { 2, 5 };
	struct hop_format f = fh_format(2, 32, 1, 2, dims);
	_Alignas(8) char p[PUT_ROOM];

	put_defaults(op, p);
	put_text(op, p, "path", path);
	return fh_open(op, p, &f, 1);
}

static void
feed(struct fh *h, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hop_head head = { .frame = 10 + i,
					       .index = i,
					       .stream = 7,
					       .flags = i == 2 ? HOP_MSG_BAD : 0,
					       .born_ns = 5000 + 1000 * i,
					       .last_ns = 5100 + 1000 * i,
					       .stamp_ns = 9,
					       .user = { 3 } };
		float data[10] = { (float)i };

		fh_in(h, 0, &head, data, i == 1 ? BYTES - 4 : BYTES);
	}
}

/* A whole recording of N messages at `path`. */
static void
record(void)
{
	struct fh *h = open_sink();

	assert_int_equal(fh_rc(h), 0);
	feed(h, N);
	fh_end(h, 0);
	assert_true(fh_run(h, 10) >= 0);
	assert_int_equal(fh_counter(h, "records"), N);
	fh_close(h);
}

struct play {
	const char *format;
	double rate;
	int64_t loop;
	uint8_t recorded;
	uint8_t incomplete;
};

static struct fh *
open_source(const struct play *play)
{
	const struct hop_op *op = fh_op(&plugin, "std/file_source");
	_Alignas(8) char p[PUT_ROOM];

	put_defaults(op, p);
	put_text(op, p, "path", path);
	if (play->format)
		put_text(op, p, "format", play->format);
	put_real(op, p, "rate", play->rate);
	put_int(op, p, "loop", play->loop);
	put_bool(op, p, "recorded", play->recorded);
	put_bool(op, p, "incomplete", play->incomplete);
	return fh_open(op, p, NULL, 0);
}

static void
what_was_recorded_is_played(void **state)
{
	struct fh *h;

	(void)state;
	record();
	assert_false(exists(tmp));
	h = open_source(&(struct play){ .format = "f32[2,5]", .loop = 1 });
	assert_int_equal(fh_rc(h), 0);
	fh_set_now(h, 77);
	assert_int_equal(fh_run(h, 10), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), N);
	for (uint32_t i = 0; i < N; i++) {
		const struct fh_msg *m = fh_out(h, 0, i);

		assert_int_equal(m->head->frame, 10 + i);
		assert_int_equal(m->head->index, i);
		assert_int_equal(m->head->stream, 7);
		assert_int_equal(m->head->flags, i == 2 ? HOP_MSG_BAD : 0);
		assert_int_equal(m->head->born_ns, 77);
		assert_int_equal(m->head->last_ns, 177);
		assert_int_equal(m->head->stamp_ns, 9);
		assert_int_equal(m->head->user[0], 3);
		assert_int_equal(m->head->rank, 2);
		assert_int_equal(m->head->dim[1], 5);
		assert_int_equal(m->head->bytes, i == 1 ? BYTES - 4 : BYTES);
		assert_true(*(float *)m->data == (float)i);
	}
	fh_close(h);
}

static void
the_files_format_is_used_when_none_is_given(void **state)
{
	struct fh *h;

	(void)state;
	record();
	h = open_source(&(struct play){ .loop = 1 });
	assert_int_equal(fh_rc(h), 0);
	assert_int_equal(fh_out_format(h, 0)->dtype.code, 2);
	assert_int_equal(fh_out_format(h, 0)->rank, 2);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, BYTES);
	fh_close(h);
}

static void
repeated_frames_go_on_counting(void **state)
{
	struct fh *h;

	(void)state;
	record();
	h = open_source(&(struct play){ .loop = 3 });
	assert_int_equal(fh_run(h, 10), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3 * N);
	for (uint32_t i = 0; i < 3 * N; i++)
		assert_int_equal(fh_out(h, 0, i)->head->frame, 10 + i);
	fh_close(h);
}

static void
a_rate_and_the_recorded_pace_set_the_due_times(void **state)
{
	struct fh *h;

	(void)state;
	record();
	h = open_source(&(struct play){ .loop = 1, .rate = 1e6 });
	fh_set_now(h, 5000);
	fh_step(h);
	assert_int_equal(fh_out_count(h, 0), 1);
	assert_int_equal(fh_wake_ns(h), 6000);
	fh_close(h);
	h = open_source(&(struct play){ .loop = 2, .recorded = 1 });
	fh_set_now(h, 100000);
	fh_step(h);
	assert_int_equal(fh_out_count(h, 0), 1);
	fh_set_now(h, 104999);
	fh_step(h);
	assert_int_equal(fh_out_count(h, 0), N);
	assert_int_equal(fh_out(h, 0, 4)->head->born_ns, 104000);
	assert_int_equal(fh_wake_ns(h), 105000);
	fh_close(h);
}

static void
a_source_stops_when_asked_or_unread(void **state)
{
	struct fh *h;

	(void)state;
	record();
	h = open_source(&(struct play){ 0 });
	assert_int_equal(fh_step(h), HOP_OK);
	fh_set_stopping(h, 1);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
	h = open_source(&(struct play){ 0 });
	fh_out_end(h, 0);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
}

static void
a_stream_cut_short_is_marked_incomplete(void **state)
{
	struct fh *h = open_sink();

	(void)state;
	unlink(path);
	feed(h, 3);
	fh_step(h);
	fh_stop(h);
	assert_non_null(strstr(fh_log_text(h), ": INCOMPLETE, 3 records"));
	fh_close(h);
	assert_false(exists(path));
	assert_false(exists(tmp));
	assert_int_equal(rename(cut, path), 0);
	h = open_source(&(struct play){ .loop = 1 });
	assert_int_equal(fh_rc(h), -EINVAL);
	assert_non_null(strstr(fh_error_text(h), "the recording is INCOMPLETE"));
	fh_close(h);
	h = open_source(&(struct play){ .loop = 1, .incomplete = 1 });
	assert_int_equal(fh_run(h, 5), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3);
	fh_close(h);
}

static void
a_cut_stream_leaves_the_older_recording_alone(void **state)
{
	struct stat before, after;
	struct fh *h;

	(void)state;
	record();
	assert_int_equal(stat(path, &before), 0);
	h = open_sink();
	feed(h, 1);
	fh_step(h);
	fh_close(h);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_true(exists(cut));
}

static void
a_sink_without_messages_leaves_nothing_or_an_empty_recording(void **state)
{
	struct fh *h = open_sink();

	(void)state;
	unlink(path);
	unlink(cut);
	fh_close(h);
	assert_false(exists(tmp) || exists(cut) || exists(path));
	h = open_sink();
	fh_end(h, 0);
	assert_true(fh_run(h, 3) >= 0);
	fh_close(h);
	h = open_source(&(struct play){ .loop = 0 });
	assert_int_equal(fh_rc(h), 0);
	assert_int_equal(fh_step(h), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 0);
	fh_close(h);
}

static void
two_recorders_of_one_file_are_refused(void **state)
{
	struct fh *a = open_sink(), *b = open_sink();

	(void)state;
	assert_int_equal(fh_rc(a), 0);
	assert_int_equal(fh_rc(b), -EWOULDBLOCK);
	assert_non_null(strstr(fh_error_text(b), "is being written by another recorder"));
	fh_close(b);
	fh_close(a);
}

static void
a_folder_that_is_not_there_fails_in_open(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/file_sink");
	const struct hop_format f = { .size = sizeof f, .dtype = { 1, 8, 1 }, .max_bytes = 8 };
	char longest[5000];
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	put_defaults(op, p);
	put_text(op, p, "path", "/nowhere/a.rec");
	h = fh_open(op, p, &f, 1);
	assert_int_equal(fh_rc(h), -ENOENT);
	fh_close(h);
	memset(longest, 'x', sizeof longest);
	longest[0] = '/';
	longest[sizeof longest - 1] = 0;
	put_text(op, p, "path", longest);
	h = fh_open(op, p, &f, 1);
	assert_int_equal(fh_rc(h), -ENAMETOOLONG);
	fh_close(h);
}

/* A disk that is full, as far as writev can tell. */
static void
a_full_disk_fails_with_the_place(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/file_sink");
	const struct hop_format f = { .size = sizeof f, .dtype = { 1, 8, 1 }, .max_bytes = 64 };
	_Alignas(8) char p[PUT_ROOM];
	char link[96];
	struct fh *h;

	(void)state;
	snprintf(link, sizeof link, "%s/full", dir);
	snprintf(p + 256, 128, "%s.tmp", link);
	assert_int_equal(symlink("/dev/full", p + 256), 0);
	put_defaults(op, p);
	put_text(op, p, "path", link);
	h = fh_open(op, p, &f, 1);
	assert_true(fh_rc(h) < 0);
	assert_non_null(strstr(fh_error_text(h), "path: cannot write"));
	fh_close(h);
}

/* A file that may not grow: the sink cuts back to whole records and says which. */
static void
a_record_that_does_not_fit_the_disk_is_cut_away(void **state)
{
	struct rlimit old, small;
	struct stat st;
	struct fh *h = open_sink();

	(void)state;
	unlink(path);
	unlink(cut);
	feed(h, N);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = HEAD + 2 * STRIDE + 10;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(fh_step(h), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(strstr(fh_error_text(h), "cannot write record 2 at byte 512 of "));
	fh_close(h);
	assert_int_equal(stat(cut, &st), 0);
	assert_int_equal(st.st_size, HEAD + 2 * STRIDE);
}

static void
a_name_that_is_a_folder_fails_when_the_stream_ends(void **state)
{
	struct fh *h = open_sink();

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	feed(h, 1);
	fh_end(h, 0);
	assert_int_equal(fh_run(h, 3), -EISDIR);
	assert_non_null(strstr(fh_error_text(h), "is there and is no regular file"));
	rmdir(path);
	fh_close(h);
	assert_true(exists(cut));
}

static void
a_link_or_a_device_is_not_replaced(void **state)
{
	struct fh *h;

	(void)state;
	assert_int_equal(symlink("/dev/null", path), 0);
	h = open_sink();
	assert_int_equal(fh_rc(h), -EEXIST);
	fh_close(h);
	assert_int_equal(unlink(path), 0);
}

struct lie {
	const char *what; /* part of the text */
	off_t at;
	uint64_t value;
	size_t width; /* 0: cut the file at `at` */
};

static void
no_byte_of_a_file_is_believed(void **state)
{
	static const struct lie lies[] = {
		{ "does not begin with", 0, 'x', 1 },
		{ "another version", 8, 2, 4 },
		{ "neither whole nor cut", 12, 7, 4 },
		{ "wanted 6 records", 16, 6, 8 },
		{ "wanted 5 records in 9 bytes", 24, 9, 8 },
		{ "bad header: more than 8 dimensions", 36, 9, 4 },
		{ "payload size not within", 72, 0, 8 },
		{ "payload size not within", 72, UINT64_MAX, 8 },
		{ "rate not within", 80, UINT64_MAX, 8 },
		{ "record 0 at byte 128: no record begins here", HEAD, 0, 4 },
		{ "record 1 at byte 320: no record begins here", HEAD + STRIDE, 0, 4 },
		{ "the payload is larger than the header allows", HEAD + 8, 41, 8 },
		{ "the payload is larger than the header allows", HEAD + 8, UINT64_MAX, 8 },
		{ "36 years", HEAD + 24, INT64_MAX, 8 },
		{ "36 years", HEAD + 32, (uint64_t)INT64_MIN, 8 },
		{ "record 0 at byte 128: more than 8 dimensions", HEAD + 60, 9, 4 },
		{ "100 bytes are too few", 100, 0, 0 },
		{ "record 4 at byte 896: the file ends inside a record's head", 900, 0, 0 },
		{ "the file ends inside a record's payload", HEAD + 5 * STRIDE - 1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		const struct lie *l = &lies[i];
		struct fh *h;
		int fd;

		record();
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (l->width)
			assert_int_equal(pwrite(fd, &l->value, l->width, l->at), l->width);
		else
			assert_int_equal(ftruncate(fd, l->at), 0);
		close(fd);
		h = open_source(&(struct play){ .loop = 1 });
		if (fh_rc(h) != -EINVAL || !strstr(fh_error_text(h), l->what))
			fail_msg("wanted '%s', found %d '%s'", l->what, fh_rc(h), fh_error_text(h));
		fh_close(h);
	}
}

static void
parameters_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		struct play play;
		const char *what;
	} bad[] = {
		{ { .rate = 1, .recorded = 1 }, "recorded: cannot be true when rate is given" },
		{ { .format = "f32[" }, "format: want a dimension" },
		{ { .format = "f32[10]" }, "format: wanted f32[10], found code 2, 32 bits" },
		{ { .format = "f32[5,2]" }, "format: wanted f32[5,2]" },
	};
	struct fh *h;

	(void)state;
	record();
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		h = open_source(&bad[i].play);
		assert_int_equal(fh_rc(h), -EINVAL);
		if (!strstr(fh_error_text(h), bad[i].what))
			fail_msg("wanted '%s', found '%s'", bad[i].what, fh_error_text(h));
		fh_close(h);
	}
	unlink(path);
	h = open_source(&(struct play){ 0 });
	assert_int_equal(fh_rc(h), -ENOENT);
	fh_close(h);
	assert_int_equal(mkdir(path, 0700), 0);
	h = open_source(&(struct play){ 0 });
	assert_non_null(strstr(fh_error_text(h), "is not a file"));
	fh_close(h);
	rmdir(path);
}

static void
a_source_without_memory_fails_in_open(void **state)
{
	const struct hop_op *op = fh_op(&plugin, "std/file_source");
	_Alignas(8) char p[PUT_ROOM];
	struct fh *h;

	(void)state;
	record();
	put_defaults(op, p);
	put_text(op, p, "path", path);
	h = fh_new(op, p);
	fh_fail_alloc(h, 1);
	assert_int_equal(fh_shape(h, NULL, 0), 0);
	assert_int_equal(fh_start(h), -ENOMEM);
	fh_close(h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_recorded_is_played),
		cmocka_unit_test(the_files_format_is_used_when_none_is_given),
		cmocka_unit_test(repeated_frames_go_on_counting),
		cmocka_unit_test(a_rate_and_the_recorded_pace_set_the_due_times),
		cmocka_unit_test(a_source_stops_when_asked_or_unread),
		cmocka_unit_test(a_stream_cut_short_is_marked_incomplete),
		cmocka_unit_test(a_cut_stream_leaves_the_older_recording_alone),
		cmocka_unit_test(a_sink_without_messages_leaves_nothing_or_an_empty_recording),
		cmocka_unit_test(two_recorders_of_one_file_are_refused),
		cmocka_unit_test(a_folder_that_is_not_there_fails_in_open),
		cmocka_unit_test(a_full_disk_fails_with_the_place),
		cmocka_unit_test(a_record_that_does_not_fit_the_disk_is_cut_away),
		cmocka_unit_test(a_name_that_is_a_folder_fails_when_the_stream_ends),
		cmocka_unit_test(a_link_or_a_device_is_not_replaced),
		cmocka_unit_test(no_byte_of_a_file_is_believed),
		cmocka_unit_test(parameters_that_do_not_fit_are_refused),
		cmocka_unit_test(a_source_without_memory_fails_in_open),
	};
	int rc;

	plugin = fh_load(PLUGIN_STD);
	rc = cmocka_run_group_tests(tests, make_dir, remove_dir);
	fh_unload(&plugin);
	return rc;
}
