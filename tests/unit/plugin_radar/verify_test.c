/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radar/verify accepts what the receiver makes of the scene and nothing else:
 * every way a transport, a gather or an op can break a frame is a mutant here.
 */
#include <fcntl.h>
#include <unistd.h>

#include "chain.h"

enum { FRAMES = 6 };

static struct {
	char *scene; /* FRAMES frames */
} shared;

static const char *
frame_of(uint32_t f)
{
	return shared.scene + (size_t)f * CHIRPS * CHIRP_BYTES;
}

static char *
copy_of(uint32_t f)
{
	char *copy = malloc(CHIRPS * CHIRP_BYTES);

	assert_non_null(copy);
	return memcpy(copy, frame_of(f), CHIRPS * CHIRP_BYTES);
}

static void
send(struct chain *c, uint64_t number, const char *chirps)
{
	struct hop_head head = { .frame = number };

	chain_frame(c, &head, chirps);
}

/* The verdict on frames 0 to FRAMES-1 where frame 3 is `third`. */
static void
refused(const char *third, const char *counter, const char *text)
{
	struct chain c;

	chain_open(&c, FRAMES, NULL);
	for (uint32_t f = 0; f < FRAMES; f++)
		send(&c, f, f == 3 ? third : frame_of(f));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), text));
	assert_true(fh_counter(c.verify, counter) > 0);
	chain_close(&c);
}

static void
what_the_scene_sends_is_accepted(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES, NULL);
	for (uint32_t f = 0; f < FRAMES; f++)
		send(&c, f, frame_of(f));
	assert_int_equal(chain_end(&c), HOP_DONE);
	assert_string_equal(fh_error_text(c.verify), "");
	assert_int_equal(fh_counter(c.verify, "frames"), FRAMES);
	assert_int_equal(fh_counter(c.verify, "found"), 3 * FRAMES);
	assert_int_equal(fh_counter(c.verify, "missed"), 0);
	assert_int_equal(fh_counter(c.verify, "wrong_power"), 0);
	assert_int_equal(fh_counter(c.verify, "false_alarms"), 0);
	assert_int_equal(fh_log_count(c.verify), 3);
	assert_int_equal(fh_step(c.verify), HOP_DONE);
	chain_close(&c);
}

static void
frames_may_come_in_any_order(void **state)
{
	static const uint32_t order[FRAMES] = { 2, 0, 1, 5, 4, 3 };
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES, NULL);
	for (uint32_t i = 0; i < FRAMES; i++)
		send(&c, order[i], frame_of(order[i]));
	assert_int_equal(chain_end(&c), HOP_DONE);
	chain_close(&c);
}

static void
a_frame_beyond_distinct_shows_what_it_repeats(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, 0, NULL);
	for (uint32_t f = 0; f < 20 + FRAMES; f++)
		send(&c, f, frame_of(f % 20 < FRAMES ? f % 20 : 0));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), "frame 6"));
	assert_int_equal(fh_counter(c.verify, "found"), 3 * 2 * FRAMES);
	chain_close(&c);
}

static void
a_chirp_of_zeros_is_caught(void **state)
{
	char *frame = copy_of(3);

	(void)state;
	memset(frame + 20 * CHIRP_BYTES, 0, CHIRP_BYTES);
	refused(frame, "wrong_power", "frame 3: target 1 has power");
	free(frame);
}

static void
two_swapped_chirps_are_caught(void **state)
{
	char *frame = copy_of(3);

	(void)state;
	memcpy(frame + 30 * CHIRP_BYTES, frame_of(3) + 31 * CHIRP_BYTES, CHIRP_BYTES);
	memcpy(frame + 31 * CHIRP_BYTES, frame_of(3) + 30 * CHIRP_BYTES, CHIRP_BYTES);
	refused(frame, "wrong_power", "frame 3: target");
	free(frame);
}

static void
a_chirp_that_stands_twice_is_caught(void **state)
{
	char *frame = copy_of(3);

	(void)state;
	memcpy(frame + 30 * CHIRP_BYTES, frame_of(3) + 29 * CHIRP_BYTES, CHIRP_BYTES);
	refused(frame, "wrong_power", "frame 3: target");
	free(frame);
}

static void
chirps_in_reverse_are_caught(void **state)
{
	char *frame = copy_of(3);

	(void)state;
	for (int m = 0; m < CHIRPS; m++)
		memcpy(frame + m * CHIRP_BYTES, frame_of(3) + (CHIRPS - 1 - m) * CHIRP_BYTES,
		       CHIRP_BYTES);
	refused(frame, "missed", "frame 3: target 1 was not found within 2 bins");
	free(frame);
}

static void
chirps_of_two_frames_in_one_are_caught(void **state)
{
	char *frame = copy_of(3);

	(void)state;
	memcpy(frame, frame_of(2), CHIRPS / 2 * CHIRP_BYTES);
	refused(frame, "wrong_power", "frame 3: target 1");
	free(frame);
}

static void
a_stale_frame_under_a_new_number_is_caught(void **state)
{
	(void)state;
	refused(frame_of(2), "missed", "frame 3: target 1 was not found within 2 bins of range");
}

static void
a_frame_that_comes_twice_is_caught(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES, NULL);
	for (uint32_t f = 0; f < FRAMES; f++)
		send(&c, f, frame_of(f));
	send(&c, 4, frame_of(4));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), "frame 4 came twice"));
	assert_int_equal(fh_counter(c.verify, "duplicate_frames"), 1);
	chain_close(&c);
}

static void
a_frame_that_never_comes_is_caught(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES, NULL);
	for (uint32_t f = 0; f < FRAMES; f++)
		if (f != 2)
			send(&c, f, frame_of(f));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), "frame 2 never came"));
	assert_int_equal(fh_counter(c.verify, "missing_frames"), 1);
	chain_close(&c);
}

static void
a_stream_that_ends_early_is_caught(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES, NULL);
	for (uint32_t f = 0; f < FRAMES - 2; f++)
		send(&c, f, frame_of(f));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), "frame 4 never came"));
	assert_int_equal(fh_counter(c.verify, "missing_frames"), 2);
	chain_close(&c);
}

static void
no_frame_at_all_is_caught_if_some_were_promised(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES, NULL);
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_int_equal(fh_counter(c.verify, "missing_frames"), FRAMES);
	chain_close(&c);
	chain_open(&c, 0, NULL);
	assert_int_equal(chain_end(&c), HOP_DONE);
	chain_close(&c);
}

static void
a_frame_number_that_cannot_be_is_caught(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, FRAMES - 1, NULL);
	for (uint32_t f = 0; f < FRAMES; f++)
		send(&c, f, frame_of(f));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), "frame 5 came, which cannot be"));
	assert_int_equal(fh_counter(c.verify, "unexpected_frames"), 1);
	chain_close(&c);
	chain_open(&c, 0, NULL);
	send(&c, 0, frame_of(0));
	send(&c, UINT64_MAX, frame_of(0));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_int_equal(fh_counter(c.verify, "unexpected_frames"), 1);
	assert_int_equal(fh_counter(c.verify, "missing_frames"), 0);
	chain_close(&c);
}

static void
a_frame_flagged_incomplete_is_caught(void **state)
{
	struct hop_head head = { .frame = 1, .flags = HOP_MSG_GAP };
	struct chain c;

	(void)state;
	chain_open(&c, 2, NULL);
	send(&c, 0, frame_of(0));
	chain_frame(&c, &head, frame_of(1));
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(strstr(fh_error_text(c.verify), "frame 1 is incomplete"));
	assert_int_equal(fh_counter(c.verify, "flagged_frames"), 1);
	chain_close(&c);
}

static void
detections_of_another_map_are_malformed(void **state)
{
	static const struct {
		struct {
			uint32_t count, rows, cols;
		} head;
		struct detection at[1];
	} bad[] = {
		{ { 1, SAMPLES, CHIRPS + 1 }, { { 0, 0, 1.0f } } },
		{ { 2, SAMPLES, CHIRPS }, { { 0, 0, 1.0f } } },
		{ { 1, SAMPLES, CHIRPS }, { { SAMPLES, 0, 1.0f } } },
		{ { 1, SAMPLES, CHIRPS }, { { 0, CHIRPS, 1.0f } } },
	};
	struct chain c;

	(void)state;
	chain_open(&c, 0, NULL);
	for (uint32_t i = 0; i < 4; i++)
		fh_in(c.verify, 0, &(struct hop_head){ .frame = i }, &bad[i], sizeof bad[i]);
	fh_in(c.verify, 0, &(struct hop_head){ .frame = 4 }, "", 1);
	assert_int_equal(chain_end(&c), -EBADMSG);
	assert_non_null(
		strstr(fh_error_text(c.verify), "frame 0 holds no detections of a 512 x 64 map"));
	assert_int_equal(fh_counter(c.verify, "malformed"), 5);
	chain_close(&c);
}

static void
more_than_a_window_of_frames_is_counted_right(void **state)
{
	static const struct detections none = { 0, SAMPLES, CHIRPS };
	struct chain c;

	(void)state;
	chain_open(&c, 0, NULL);
	for (uint64_t f = 0; f < 140000; f++) {
		if (f != 5 && f != 70000 && f != 139000)
			fh_in(c.verify, 0, &(struct hop_head){ .frame = f }, &none, sizeof none);
		if (f % 32 == 31)
			assert_int_equal(fh_step(c.verify), HOP_OK);
	}
	fh_in(c.verify, 0, &(struct hop_head){ .frame = 5 }, &none, sizeof none);
	fh_in(c.verify, 0, &(struct hop_head){ .frame = 100000 }, &none, sizeof none);
	fh_end(c.verify, 0);
	assert_int_equal(fh_run(c.verify, 4), -EBADMSG);
	assert_int_equal(fh_counter(c.verify, "missing_frames"), 3);
	assert_int_equal(fh_counter(c.verify, "duplicate_frames"), 2);
	chain_close(&c);
}

static void
be_lenient(const struct hop_op *op, void *params)
{
	fh_set_int(op, params, "strict", 0);
}

static void
a_lenient_verifier_warns_and_counts(void **state)
{
	struct chain c;

	(void)state;
	chain_open(&c, 2, be_lenient);
	send(&c, 0, frame_of(0));
	send(&c, 1, frame_of(0));
	assert_int_equal(chain_end(&c), HOP_DONE);
	assert_string_equal(fh_error_text(c.verify), "");
	assert_non_null(strstr(fh_log_text(c.verify), "frame 1: target 1 was not found"));
	assert_int_equal(fh_counter(c.verify, "missed"), 3);
	assert_int_equal(fh_counter(c.verify, "false_alarms"), 3);
	chain_close(&c);
}

static void
ignore_power(const struct hop_op *op, void *params)
{
	fh_set_real(op, params, "power_tolerance", 0.0);
}

static void
power_is_not_compared_at_tolerance_zero(void **state)
{
	char *frame = copy_of(0);
	struct chain c;

	(void)state;
	memset(frame + 20 * CHIRP_BYTES, 0, CHIRP_BYTES);
	chain_open(&c, 1, ignore_power);
	send(&c, 0, frame);
	assert_int_equal(chain_end(&c), HOP_DONE);
	chain_close(&c);
	free(frame);
}

/* ---- the file --------------------------------------------------------------- */

static char folder[] = "/tmp/radar_verify_XXXXXX";
static char listing[64];

static void
want_listing(const struct hop_op *op, void *params)
{
	fh_set_text(op, params, "file", listing);
}

static size_t
read_listing(char *text, size_t size)
{
	int fd = open(listing, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, text, size - 1);
	assert_true(n >= 0);
	close(fd);
	text[n] = 0;
	return (size_t)n;
}

static void
the_file_lists_every_detection_exactly(void **state)
{
	static char first[65536], second[65536];
	unsigned long long frame;
	unsigned range, doppler, lines = 0;
	float power;
	struct chain c;

	(void)state;
	for (int run = 0; run < 2; run++) {
		chain_open(&c, 4 * FRAMES, want_listing);
		for (uint32_t f = 0; f < 4 * FRAMES; f++)
			send(&c, f, frame_of(f % FRAMES));
		chain_end(&c);
		chain_close(&c);
		read_listing(run ? second : first, sizeof first);
	}
	assert_string_equal(first, second);
	for (char *line = first; *line; line = strchr(line, '\n') + 1, lines++)
		assert_int_equal(sscanf(line, "%llu %u %u %a\n", &frame, &range, &doppler, &power),
				 4);
	assert_int_equal(lines, 3 * 4 * FRAMES);
	assert_int_equal(frame, 4 * FRAMES - 1);
	assert_true(power > 1e9f);
	unlink(listing);
}

static void
detections_beyond_the_files_room_are_counted(void **state)
{
	static struct {
		uint32_t count, rows, cols;
		struct detection at[20];
	} many = { 20, SAMPLES, CHIRPS, { { 0, 0, 1.0f } } };
	char text[4096];
	struct chain c;

	(void)state;
	chain_open(&c, 1, want_listing);
	fh_in(c.verify, 0, &(struct hop_head){ .frame = 0 }, &many, sizeof many);
	assert_int_equal(fh_step(c.verify), HOP_OK);
	assert_int_equal(fh_counter(c.verify, "unlisted"), 4);
	chain_close(&c);
	read_listing(text, sizeof text);
	assert_non_null(strstr(text, "# 4 more\n"));
	unlink(listing);
}

static void
a_file_that_cannot_be_made_or_written_is_reported(void **state)
{
	struct fh_plugin plugin = fh_load(PLUGIN_PATH);
	const struct hop_op *op = fh_op(&plugin, "radar/verify");
	struct hop_format in = chain_format_targets();
	void *params = fh_params(op);
	struct fh *h;

	(void)state;
	fh_set_int(op, params, "samples", SAMPLES);
	fh_set_int(op, params, "chirps", CHIRPS);
	fh_set_text(op, params, "file", "/nonexistent/folder/file");
	h = fh_open(op, params, &in, 1);
	assert_int_equal(fh_rc(h), -EINVAL);
	assert_non_null(strstr(fh_error_text(h), "give frames"));
	fh_close(h);
	fh_set_int(op, params, "frames", 4);
	h = fh_open(op, params, &in, 1);
	assert_int_equal(fh_rc(h), -ENOENT);
	assert_non_null(strstr(fh_error_text(h), "cannot create /nonexistent/folder/file"));
	fh_close(h);
	fh_set_text(op, params, "file", "/dev/full");
	h = fh_open(op, params, &in, 1);
	assert_int_equal(fh_rc(h), 0);
	fh_in(h, 0, &(struct hop_head){ .frame = 0 },
	      (const uint32_t[]){ 1, SAMPLES, CHIRPS, 0, 0, 0 }, 24);
	assert_int_equal(fh_step(h), HOP_OK);
	fh_stop(h);
	assert_non_null(strstr(fh_log_text(h), "cannot write /dev/full"));
	fh_close(h);
	free(params);
	fh_unload(&plugin);
}

static int
set_up(void **state)
{
	struct fh_plugin plugin = fh_load(PLUGIN_PATH);

	(void)state;
	shared.scene = chain_scene(&plugin, FRAMES);
	fh_unload(&plugin);
	if (!mkdtemp(folder))
		return -1;
	snprintf(listing, sizeof listing, "%s/list", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(shared.scene);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_scene_sends_is_accepted),
		cmocka_unit_test(frames_may_come_in_any_order),
		cmocka_unit_test(a_frame_beyond_distinct_shows_what_it_repeats),
		cmocka_unit_test(a_chirp_of_zeros_is_caught),
		cmocka_unit_test(two_swapped_chirps_are_caught),
		cmocka_unit_test(a_chirp_that_stands_twice_is_caught),
		cmocka_unit_test(chirps_in_reverse_are_caught),
		cmocka_unit_test(chirps_of_two_frames_in_one_are_caught),
		cmocka_unit_test(a_stale_frame_under_a_new_number_is_caught),
		cmocka_unit_test(a_frame_that_comes_twice_is_caught),
		cmocka_unit_test(a_frame_that_never_comes_is_caught),
		cmocka_unit_test(a_stream_that_ends_early_is_caught),
		cmocka_unit_test(no_frame_at_all_is_caught_if_some_were_promised),
		cmocka_unit_test(a_frame_number_that_cannot_be_is_caught),
		cmocka_unit_test(a_frame_flagged_incomplete_is_caught),
		cmocka_unit_test(detections_of_another_map_are_malformed),
		cmocka_unit_test(more_than_a_window_of_frames_is_counted_right),
		cmocka_unit_test(a_lenient_verifier_warns_and_counts),
		cmocka_unit_test(power_is_not_compared_at_tolerance_zero),
		cmocka_unit_test(the_file_lists_every_detection_exactly),
		cmocka_unit_test(detections_beyond_the_files_room_are_counted),
		cmocka_unit_test(a_file_that_cannot_be_made_or_written_is_reported),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
