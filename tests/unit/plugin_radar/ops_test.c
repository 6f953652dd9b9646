/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The radar ops one by one: what their tables say, which inputs shape()
 * accepts and how it refuses the rest, windows, lineage, and every failure
 * open() and process() know.
 */
#include "chain.h"

static struct fh_plugin plugin;

static const struct hop_op *
op_named(const char *name)
{
	return fh_op(&plugin, name);
}

static void
every_op_port_parameter_and_counter_has_a_doc(void **state)
{
	static const char *const names[] = { "radar/scene", "radar/range_fft", "radar/doppler_fft",
					     "radar/cfar",  "radar/cluster",   "radar/verify" };

	(void)state;
	assert_string_equal(plugin.table->name, "radar");
	assert_int_equal(plugin.table->n_ops, 6);
	for (uint32_t i = 0; i < plugin.table->n_ops; i++) {
		const struct hop_op *op = plugin.table->ops[i];

		assert_string_equal(op->name, names[i]);
		assert_true(op->doc && op->doc[0]);
		for (uint32_t k = 0; k < op->ports.count; k++)
			assert_true(op->ports.at[k].doc && op->ports.at[k].doc[0]);
		for (uint32_t k = 0; k < op->params.count; k++)
			assert_true(op->params.at[k].doc && op->params.at[k].doc[0]);
		for (uint32_t k = 0; k < op->counters.count; k++)
			assert_true(op->counters.at[k].doc && op->counters.at[k].doc[0]);
	}
}

/* ---- shape ------------------------------------------------------------------ */

static void
refuses(const char *name, struct hop_format in, const char *text)
{
	const struct hop_op *op = op_named(name);
	void *params = fh_params(op);
	struct fh *h = fh_new(op, params);

	assert_int_equal(fh_shape(h, &in, 1), -EINVAL);
	if (!strstr(fh_error_text(h), text)) {
		print_error("wanted '%s' in '%s'\n", text, fh_error_text(h));
		fail();
	}
	fh_close(h);
	free(params);
}

static struct hop_format
bytes_format(void)
{
	struct hop_format f = { .size = sizeof f, .max_bytes = 100 };

	return f;
}

static void
wrong_inputs_are_refused_with_wanted_and_found(void **state)
{
	(void)state;
	refuses("radar/range_fft", bytes_format(),
		"wanted one chirp, i16x2[samples] or c64[samples]; found plain bytes");
	refuses("radar/range_fft", fh_format(0, 16, 1, 1, (const uint32_t[]){ 64 }),
		"found i16[64]");
	refuses("radar/range_fft", chain_format_frame(), "found c64[64][512]");
	refuses("radar/range_fft", fh_format(0, 16, 2, 1, (const uint32_t[]){ 4 }),
		"wanted 8 to 65536 samples; found i16x2[4]");
	refuses("radar/doppler_fft", fh_format(5, 64, 1, 1, (const uint32_t[]){ 512 }),
		"found c64[512], one chirp: give this input a gather");
	refuses("radar/doppler_fft", chain_format_power(), "found f32[512][64]");
	refuses("radar/doppler_fft", fh_format(5, 64, 1, 2, (const uint32_t[]){ 10000, 8 }),
		"wanted at most 8192 chirps");
	refuses("radar/cfar", chain_format_frame(), "wanted a power map");
	refuses("radar/cfar", fh_format(2, 32, 1, 2, (const uint32_t[]){ 512, 16 }),
		"guard 2 and train 8 need 21 cells on each axis; found f32[512][16]");
	refuses("radar/cfar", fh_format(2, 32, 1, 2, (const uint32_t[]){ 20, 64 }), "need 21");
	refuses("radar/cluster", chain_format_power(), "wanted detections");
	refuses("radar/cluster", fh_format(1, 32, 1, 2, (const uint32_t[]){ 5, 4 }),
		"found u32[5][4]");
	refuses("radar/verify", bytes_format(), "wanted detections");
	refuses("radar/verify", fh_format(1, 32, 1, 2, (const uint32_t[]){ 1, 3 }),
		"found u32[1][3]");
	refuses("radar/cluster", fh_format(9, 32, 1, 1, (const uint32_t[]){ 1 }), "found ?32[1]");
}

static void
gives(const char *name, struct hop_format in, struct hop_format wanted)
{
	const struct hop_op *op = op_named(name);
	void *params = fh_params(op);
	struct fh *h = fh_new(op, params);
	const struct hop_format *out;

	in.rate_hz = 100.0;
	assert_int_equal(fh_shape(h, &in, 1), 0);
	out = fh_out_format(h, 0);
	assert_memory_equal(&out->dtype, &wanted.dtype, sizeof out->dtype);
	assert_int_equal(out->rank, wanted.rank);
	assert_memory_equal(out->dim, wanted.dim, sizeof out->dim);
	assert_int_equal(out->max_bytes, wanted.max_bytes);
	assert_true(out->rate_hz == 100.0);
	assert_int_equal(fh_port_gives(h, 0), 1);
	assert_int_equal(fh_port_need(h, 0), 1);
	fh_close(h);
	free(params);
}

static void
formats_follow_from_the_input(void **state)
{
	struct hop_format spectrum = fh_format(5, 64, 1, 1, (const uint32_t[]){ SAMPLES });

	(void)state;
	gives("radar/range_fft", chain_format_chirp(), spectrum);
	gives("radar/range_fft", spectrum, spectrum);
	gives("radar/doppler_fft", chain_format_frame(), chain_format_power());
	gives("radar/cfar", chain_format_power(), chain_format_targets());
	gives("radar/cluster", chain_format_targets(), chain_format_targets());
}

/* ---- the source --------------------------------------------------------------- */

static struct fh *
open_scene(int64_t frames, int64_t distinct)
{
	const struct hop_op *op = op_named("radar/scene");
	void *params = fh_params(op);
	struct fh *h;

	fh_set_int(op, params, "samples", 16);
	fh_set_int(op, params, "chirps", 3);
	fh_set_int(op, params, "frames", frames);
	fh_set_int(op, params, "distinct", distinct);
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_rc(h), 0);
	free(params);
	return h;
}

static void
the_scene_sends_each_chirp_once_and_ends(void **state)
{
	struct fh *h = open_scene(5, 2);

	(void)state;
	fh_window(h, HOP_OUT, 0, 7);
	fh_set_now(h, 1234);
	assert_int_equal(fh_run(h, 100), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 15);
	assert_int_equal(fh_counter(h, "frames"), 5);
	for (uint32_t i = 0; i < 15; i++) {
		const struct hop_head *head = fh_out(h, 0, i)->head;

		assert_int_equal(head->frame, i / 3);
		assert_int_equal(head->index, i % 3);
		assert_int_equal(head->bytes, 64);
		assert_int_equal(head->born_ns, 1234);
		assert_int_equal(head->last_ns, 1234);
		assert_int_equal(head->flags, 0);
		if (i >= 6)
			assert_memory_equal(fh_out(h, 0, i)->data, fh_out(h, 0, i - 6)->data, 64);
	}
	assert_memory_not_equal(fh_out(h, 0, 0)->data, fh_out(h, 0, 3)->data, 64);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
}

static void
a_scene_without_end_ends_when_told_to(void **state)
{
	struct fh *h = open_scene(0, 2);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_out_count(h, 0), 320);
	fh_set_stopping(h, 1);
	assert_int_equal(fh_step(h), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 320);
	fh_close(h);
}

static void
a_short_scene_holds_no_more_than_it_sends(void **state)
{
	struct fh *h = open_scene(1, 20);

	(void)state;
	assert_int_equal(fh_run(h, 10), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3);
	fh_close(h);
}

/* ---- windows and lineage ------------------------------------------------------ */

static struct fh *
open_default(const char *name, struct hop_format in)
{
	const struct hop_op *op = op_named(name);
	void *params = fh_params(op);
	struct fh *h = fh_open(op, params, &in, 1);

	assert_int_equal(fh_rc(h), 0);
	free(params);
	return h;
}

static void
lineage_is_kept_at_any_window(void **state)
{
	static const int16_t chirp[2 * SAMPLES] = { 100 };
	static const uint32_t windows[][2] = { { 1, 1 }, { 3, 2 }, { 2, 3 },
					       { 0, 1 }, { 1, 0 }, { 32, 32 } };

	(void)state;
	for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
		struct fh *h = open_default("radar/range_fft", chain_format_chirp());

		fh_window(h, HOP_IN, 0, windows[w][0]);
		fh_window(h, HOP_OUT, 0, windows[w][1]);
		for (uint32_t i = 0; i < 5; i++) {
			struct hop_head head = { .frame = 70 + i,
						 .index = i,
						 .born_ns = 10 + i,
						 .last_ns = 20 + i,
						 .stamp_ns = 30,
						 .stream = 4,
						 .flags = i == 2 ? HOP_MSG_BAD : 0 };

			fh_in(h, 0, &head, chirp, sizeof chirp);
		}
		fh_run(h, 100);
		if (!windows[w][0] || !windows[w][1]) {
			assert_int_equal(fh_in_left(h, 0), 5);
			fh_close(h);
			continue;
		}
		assert_int_equal(fh_out_count(h, 0), 5);
		for (uint32_t i = 0; i < 5; i++) {
			const struct hop_head *head = fh_out(h, 0, i)->head;

			assert_int_equal(head->frame, 70 + i);
			assert_int_equal(head->index, i);
			assert_int_equal(head->born_ns, 10 + i);
			assert_int_equal(head->last_ns, 20 + i);
			assert_int_equal(head->stamp_ns, 30);
			assert_int_equal(head->stream, 4);
			assert_int_equal(head->flags, i == 2 ? HOP_MSG_BAD : 0);
			assert_int_equal(head->bytes, SAMPLES * 8);
		}
		fh_close(h);
	}
}

static void
complex_chirps_give_what_integer_chirps_give(void **state)
{
	static int16_t iq[2 * SAMPLES];
	static float c[2 * SAMPLES];
	struct fh *a = open_default("radar/range_fft", chain_format_chirp());
	struct fh *b = open_default("radar/range_fft",
				    fh_format(5, 64, 1, 1, (const uint32_t[]){ SAMPLES }));

	(void)state;
	for (int i = 0; i < 2 * SAMPLES; i++)
		c[i] = iq[i] = (int16_t)(i * 7919 % 2001 - 1000);
	fh_in(a, 0, &(struct hop_head){ 0 }, iq, sizeof iq);
	fh_in(b, 0, &(struct hop_head){ 0 }, c, sizeof c);
	assert_int_equal(fh_step(a), HOP_OK);
	assert_int_equal(fh_step(b), HOP_OK);
	assert_memory_equal(fh_out(a, 0, 0)->data, fh_out(b, 0, 0)->data, SAMPLES * 8);
	fh_close(a);
	fh_close(b);
}

static void
without_a_window_a_constant_is_one_bin(void **state)
{
	static float ones[2 * SAMPLES];
	const struct hop_op *op = op_named("radar/range_fft");
	void *params = fh_params(op);
	struct hop_format in = fh_format(5, 64, 1, 1, (const uint32_t[]){ SAMPLES });
	const float *out;
	struct fh *h;

	(void)state;
	for (int i = 0; i < SAMPLES; i++)
		ones[2 * i] = 1.0f;
	fh_set_choice(op, params, "window", "none");
	h = fh_open(op, params, &in, 1);
	fh_in(h, 0, &(struct hop_head){ 0 }, ones, sizeof ones);
	assert_int_equal(fh_step(h), HOP_OK);
	out = fh_out(h, 0, 0)->data;
	assert_true(out[0] == (float)SAMPLES);
	for (int i = 1; i < 2 * SAMPLES; i++)
		assert_true(out[i] < 1e-3f && out[i] > -1e-3f);
	fh_close(h);
	free(params);
}

static void
cfar_counts_what_does_not_fit_and_says_what_is_used(void **state)
{
	static float map[SAMPLES * CHIRPS];
	const struct hop_op *op = op_named("radar/cfar");
	void *params = fh_params(op);
	struct hop_format in = chain_format_power();
	const struct detections *d;
	struct fh *h;

	(void)state;
	for (int i = 0; i < SAMPLES * CHIRPS; i++)
		map[i] = 1.0f;
	for (int i = 0; i < 5; i++)
		map[(100 * i + 50) * CHIRPS + 7] = 1000.0f;
	fh_set_int(op, params, "capacity", 2);
	h = fh_open(op, params, &in, 1);
	fh_in(h, 0, &(struct hop_head){ 0 }, map, sizeof map);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_counter(h, "detections"), 5);
	assert_int_equal(fh_counter(h, "overflow"), 3);
	d = fh_out(h, 0, 0)->data;
	assert_int_equal(d->count, 2);
	assert_int_equal(d->rows, SAMPLES);
	assert_int_equal(d->cols, CHIRPS);
	assert_int_equal(d->at[1].range, 150);
	assert_int_equal(d->at[1].doppler, 7);
	assert_int_equal(fh_out(h, 0, 0)->head->bytes, 36);
	assert_int_equal(fh_out(h, 0, 0)->head->dim[0], 3);
	assert_int_equal(fh_out(h, 0, 0)->head->dim[1], 3);
	fh_close(h);
	free(params);
}

/* ---- failures ------------------------------------------------------------------ */

static void
breaks(const char *name, struct hop_format in, const void *data, size_t bytes, const char *text)
{
	struct fh *h = open_default(name, in);

	fh_in(h, 0, &(struct hop_head){ .frame = 9, .index = 2 }, data, bytes);
	assert_int_equal(fh_step(h), -EBADMSG);
	assert_int_equal(fh_in_left(h, 0), 1);
	if (!strstr(fh_error_text(h), text)) {
		print_error("wanted '%s' in '%s'\n", text, fh_error_text(h));
		fail();
	}
	fh_close(h);
}

static void
messages_of_another_length_fail_the_op(void **state)
{
	static const char zeros[64];
	static const uint32_t disorder[] = { 2, 10, 10, 3, 3, 0, 3, 3, 0 };

	(void)state;
	breaks("radar/range_fft", chain_format_chirp(), zeros, 64,
	       "frame 9 chirp 2: wanted 2048 bytes, found 64");
	breaks("radar/doppler_fft", chain_format_frame(), zeros, 64,
	       "frame 9: wanted 262144 bytes, found 64");
	breaks("radar/cfar", chain_format_power(), zeros, 64,
	       "frame 9: wanted 131072 bytes, found 64");
	breaks("radar/cluster", chain_format_targets(), zeros, 8, "frame 9: wanted detections");
	breaks("radar/cluster", chain_format_targets(), disorder, sizeof disorder,
	       "frame 9: wanted detections in row-major order");
}

static void
fails_each_allocation(const char *name, const struct hop_format *in, uint32_t n_in)
{
	const struct hop_op *op = op_named(name);
	void *params = fh_params(op);
	uint32_t nth = 0;
	int rc;

	do {
		struct fh *h = fh_new(op, params);

		assert_int_equal(fh_shape(h, in, n_in), 0);
		fh_fail_alloc(h, ++nth);
		rc = fh_start(h);
		if (rc) {
			assert_int_equal(rc, -ENOMEM);
			assert_non_null(strstr(fh_error_text(h), "no memory for"));
		}
		fh_close(h);
	} while (rc);
	assert_true(nth > 1);
	free(params);
}

static void
every_failing_allocation_is_reported(void **state)
{
	struct hop_format chirp = chain_format_chirp(), frame = chain_format_frame();
	struct hop_format power = chain_format_power(), targets = chain_format_targets();

	(void)state;
	fails_each_allocation("radar/scene", NULL, 0);
	fails_each_allocation("radar/range_fft", &chirp, 1);
	fails_each_allocation("radar/doppler_fft", &frame, 1);
	fails_each_allocation("radar/cfar", &power, 1);
	fails_each_allocation("radar/cluster", &targets, 1);
	fails_each_allocation("radar/verify", &targets, 1);
}

static void
no_memory_for_the_file_is_reported_and_leaves_no_file(void **state)
{
	const struct hop_op *op = op_named("radar/verify");
	struct hop_format in = chain_format_targets();
	void *params = fh_params(op);
	struct fh *h;

	(void)state;
	fh_set_int(op, params, "frames", 1);
	fh_set_text(op, params, "file", "/nonexistent/never");
	h = fh_new(op, params);
	assert_int_equal(fh_shape(h, &in, 1), 0);
	fh_fail_alloc(h, 3);
	assert_int_equal(fh_start(h), -ENOMEM);
	assert_non_null(strstr(fh_error_text(h), "the lines of `file`"));
	fh_close(h);
	free(params);
}

static void
a_host_without_shapes_is_refused(void **state)
{
	static const char *const names[] = { "radar/range_fft", "radar/doppler_fft", "radar/cfar",
					     "radar/cluster" };
	struct hop_format in[] = { chain_format_chirp(), chain_format_frame(), chain_format_power(),
				   chain_format_targets() };

	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct hop_op *op = op_named(names[i]);
		void *params = fh_params(op);
		struct fh *h = fh_new(op, params);

		assert_int_equal(fh_shape(h, &in[i], 1), 0);
		fh_hide_shape(h);
		assert_int_equal(fh_start(h), -ENOTSUP);
		assert_non_null(strstr(fh_error_text(h), "does not offer shape/1"));
		fh_close(h);
		free(params);
	}
}

static int
set_up(void **state)
{
	(void)state;
	plugin = fh_load(PLUGIN_PATH);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	fh_unload(&plugin);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_op_port_parameter_and_counter_has_a_doc),
		cmocka_unit_test(wrong_inputs_are_refused_with_wanted_and_found),
		cmocka_unit_test(formats_follow_from_the_input),
		cmocka_unit_test(the_scene_sends_each_chirp_once_and_ends),
		cmocka_unit_test(a_scene_without_end_ends_when_told_to),
		cmocka_unit_test(a_short_scene_holds_no_more_than_it_sends),
		cmocka_unit_test(lineage_is_kept_at_any_window),
		cmocka_unit_test(complex_chirps_give_what_integer_chirps_give),
		cmocka_unit_test(without_a_window_a_constant_is_one_bin),
		cmocka_unit_test(cfar_counts_what_does_not_fit_and_says_what_is_used),
		cmocka_unit_test(messages_of_another_length_fail_the_op),
		cmocka_unit_test(every_failing_allocation_is_reported),
		cmocka_unit_test(no_memory_for_the_file_is_reported_and_leaves_no_file),
		cmocka_unit_test(a_host_without_shapes_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
