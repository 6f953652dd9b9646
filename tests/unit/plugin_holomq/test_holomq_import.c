/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_holomq_import.c - holomq/import: a writer is found or waited for, its end and
 * its death are two things, and its heads are not believed blindly.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "fake_host.h"
#include "param_put.h"
#include "peer.h"

static struct fh_plugin plugin;
static const struct hop_op *op;
static _Alignas(8) char params[PUT_ROOM];
static struct place place;

static int
set_up(void **state)
{
	(void)state;
	place_open(&place);
	put_defaults(op, params);
	put_text(op, params, "name", "x");
	put_text(op, params, "dir", place.dir);
	put_text(op, params, "kind", "kind");
	put_text(op, params, "format", "u8[8]");
	put_int(op, params, "attach_timeout", 60000000000);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	place_close(&place);
	return 0;
}

static struct fh *
open_import(void)
{
	struct fh *h = fh_open(op, params, NULL, 0);

	if (fh_rc(h))
		print_message("%s\n", fh_error_text(h));
	assert_int_equal(fh_rc(h), 0);
	return h;
}

static struct peer
writer(const char *script)
{
	const struct hmq_contract c = peer_contract();
	struct peer peer;

	peer_start(&peer, &place, HMQ_ROLE_WRITER, &c, script);
	return peer;
}

static void
remove_name(void)
{
	hmq_endpoint_clean(place.dir, NULL, NULL, NULL);
}

/* Call the op until it has published so many; its status then. */
static hop_status
step_until(struct fh *h, uint32_t published)
{
	hop_status rc = HOP_OK;

	while (rc >= 0 && rc != HOP_DONE && fh_out_count(h, 0) < published)
		rc = fh_step(h);
	return rc;
}

static uint64_t
number(struct fh *h, uint32_t i)
{
	uint64_t n;

	memcpy(&n, fh_out(h, 0, i)->data, sizeof n);
	return n;
}

static void
a_writer_with_a_name_is_found_and_its_end_is_the_end(void **state)
{
	struct peer peer = writer("Ewpppx");
	struct fh *h = open_import();

	(void)state;
	for (int i = 0; i < 6; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct hop_head *head = fh_out(h, 0, i)->head;

		assert_int_equal(number(h, i), i);
		assert_int_equal(head->frame, 100 + i);
		assert_int_equal(head->index, 7);
		assert_int_equal(head->stream, 3);
		assert_int_equal(head->stamp_ns, 5);
		assert_int_equal(head->bytes, 8);
		assert_int_equal(head->user[0], 42);
		assert_int_equal(head->flags, 0);
	}
	assert_int_equal(fh_counter(h, "attached"), 1);
	assert_int_equal(fh_counter(h, "lost"), 0);
	assert_int_equal(fh_counter(h, "died"), 0);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
what_a_stranger_says_of_time_and_size_is_checked(void **state)
{
	struct peer peer = writer("Ewppx");
	struct fh *h = open_import();

	(void)state;
	for (int i = 0; i < 5; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	/* born 0: when it was taken; born at 1001, last at 2000: as they are */
	assert_true(fh_out(h, 0, 0)->head->born_ns > 2000);
	assert_int_equal(fh_out(h, 0, 0)->head->born_ns, fh_out(h, 0, 0)->head->last_ns);
	assert_int_equal(fh_out(h, 0, 1)->head->born_ns, 1001);
	assert_int_equal(fh_out(h, 0, 1)->head->last_ns, 2000);
	/* a dimension of 999 is not believed */
	assert_int_equal(fh_out(h, 0, 1)->head->dim[0], 8);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
it_may_come_before_its_writer(void **state)
{
	struct fh *h = open_import();
	struct peer peer;

	(void)state;
	assert_int_equal(fh_step(h), HOP_IDLE);
	peer = writer("Ewpx");
	for (int i = 0; i < 4; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 1);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
a_required_writer_that_does_not_come_is_a_failure(void **state)
{
	struct fh *h;

	(void)state;
	put_int(op, params, "attach_timeout", 5000000);
	h = open_import();
	fh_set_now(h, 1000);
	assert_int_equal(fh_step(h), HOP_IDLE);
	fh_set_now(h, 5001000);
	assert_int_equal(fh_step(h), -ETIMEDOUT);
	assert_non_null(strstr(fh_error_text(h), "nobody exports it"));
	assert_non_null(strstr(fh_error_text(h), "it was waited for 5 ms"));
	fh_close(h);
}

static void
an_optional_writer_is_waited_for_until_the_stop(void **state)
{
	struct fh *h;

	(void)state;
	put_int(op, params, "required", 0);
	put_int(op, params, "attach_timeout", 0);
	h = open_import();
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_step(h), HOP_IDLE);
	fh_set_stopping(h, 1);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
}

static void
a_stop_ends_it_after_what_is_queued(void **state)
{
	struct peer peer = writer("Ewppx");
	struct fh *h = open_import();

	(void)state;
	peer_do(&peer);
	peer_go(&peer);
	while (!peer_has_done(&peer))
		assert_int_equal(fh_step(h), HOP_IDLE);
	peer_do(&peer);
	peer_do(&peer);
	fh_set_stopping(h, 1);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 2);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
another_contract_is_a_failure_with_field_and_values(void **state)
{
	struct peer peer = writer("Ewx");
	struct fh *h;

	(void)state;
	put_int(op, params, "required", 0);
	put_text(op, params, "kind", "other");
	h = open_import();
	peer_do(&peer);
	assert_int_equal(step_until(h, 1), -EPROTO);
	assert_string_equal(fh_error_text(h),
			    "endpoint x, kind: the exporter has kind, the importer wants other");
	fh_close(h);
	kill(peer.pid, SIGKILL); /* it waits for somebody */
	assert_int_equal(peer_end(&peer), 256 + SIGKILL);
	remove_name();
}

static void
a_seat_that_another_has_is_asked_for_again(void **state)
{
	struct peer peer = writer("Ewux"), other;
	const struct hmq_contract any = { .policy = HMQ_ANY };
	struct fh *h;

	(void)state;
	put_int(op, params, "attach_timeout", 5000000);
	peer_do(&peer);
	peer_start(&other, &place, HMQ_ROLE_READER, &any, "Ix");
	peer_go(&other);
	peer_do(&peer); /* which lets the other one in */
	while (!peer_has_done(&other))
		;
	peer_go(&peer);
	h = open_import();
	fh_set_now(h, 1000);
	while (fh_wake_ns(h) == 0) /* no seat: again in a while */
		assert_int_equal(fh_step(h), HOP_IDLE);
	fh_set_now(h, 6000000);
	assert_int_equal(fh_step(h), -ETIMEDOUT);
	fh_close(h);
	assert_int_equal(peer_end(&other), 0);
	assert_int_equal(peer_end(&peer), 0);
}

static void
dying(struct fh *h, hop_status rc, const char *says)
{
	struct peer peer = writer("Ewppk");

	for (int i = 0; i < 5; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 2), HOP_OK);
	while (fh_counter(h, "died") == 0)
		if (fh_step(h) == HOP_DONE)
			break;
	assert_int_equal(fh_step(h), rc);
	assert_non_null(strstr(rc < 0 ? fh_error_text(h) : fh_log_text(h), says));
	assert_int_equal(peer_end(&peer), 256 + SIGKILL);
}

static void
the_death_of_a_required_writer_is_a_failure(void **state)
{
	struct fh *h = open_import();

	(void)state;
	dying(h, -EPIPE, "its writer died; this is not the end of its stream");
	fh_close(h);
	remove_name();
}

static void
the_death_of_a_writer_may_be_taken_for_the_end(void **state)
{
	struct fh *h;

	(void)state;
	put_bool(op, params, "lossy_end", 1);
	h = open_import();
	dying(h, HOP_DONE, "taken for the end");
	assert_int_equal(fh_out_count(h, 0), 2);
	fh_close(h);
	remove_name();
}

static void
after_an_optional_writer_another_may_come(void **state)
{
	struct peer peer;
	struct fh *h;

	(void)state;
	put_int(op, params, "required", 0);
	h = open_import();
	dying(h, HOP_IDLE, "waiting for another");
	peer = writer("Ewpx");
	for (int i = 0; i < 4; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3);
	assert_int_equal(fh_counter(h, "attached"), 2);
	assert_int_equal(fh_counter(h, "lost"), 0);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
gaps_are_counted_and_marked(void **state)
{
	struct hmq_contract c = peer_contract();
	struct peer peer;
	struct fh *h = open_import();

	(void)state;
	c.policy = HMQ_DROP_OLDEST;
	c.depth = 1;
	peer_start(&peer, &place, HMQ_ROLE_WRITER, &c, "Ewppppx");
	peer_do(&peer);
	peer_go(&peer);
	while (!peer_has_done(&peer))
		assert_int_equal(fh_step(h), HOP_IDLE);
	peer_do(&peer);
	assert_int_equal(step_until(h, 1), HOP_OK);
	for (int i = 0; i < 3; i++)
		peer_do(&peer);
	peer_do(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 2);
	assert_int_equal(number(h, 1), 3);
	assert_int_equal(fh_out(h, 0, 1)->head->flags, HOP_MSG_GAP);
	assert_int_equal(fh_counter(h, "lost"), 2);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

/* ---- serve ------------------------------------------------------------------------------- */

static void
serve(int64_t required)
{
	put_bool(op, params, "serve", 1);
	put_int(op, params, "required", required);
}

/* A writer that has been let in; whoever comes and goes between two calls is not counted. */
static struct peer
served_writer(struct fh *h, const char *script, uint64_t attached)
{
	const struct hmq_contract any = { .kind = "kind", .policy = HMQ_ANY };
	struct peer peer;

	peer_start(&peer, &place, HMQ_ROLE_WRITER, &any, script);
	peer_go(&peer);
	while (fh_counter(h, "attached") < attached)
		assert_int_equal(fh_step(h), HOP_IDLE);
	return peer;
}

static void
with_serve_the_writer_comes_to_it(void **state)
{
	struct peer peer;
	struct fh *h;

	(void)state;
	serve(1);
	h = open_import();
	assert_int_equal(fh_step(h), HOP_IDLE);
	peer = served_writer(h, "Ippx", 1);
	for (int i = 0; i < 3; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 2);
	assert_int_equal(fh_counter(h, "attached"), 1);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
with_serve_nobody_may_be_a_failure(void **state)
{
	struct fh *h;

	(void)state;
	serve(1);
	put_int(op, params, "attach_timeout", 5000000);
	h = open_import();
	fh_set_now(h, 1000);
	assert_int_equal(fh_step(h), HOP_IDLE);
	fh_set_now(h, 5001000);
	assert_int_equal(fh_step(h), -ETIMEDOUT);
	assert_string_equal(fh_error_text(h), "nobody came to write; it was waited for 5 ms");
	fh_close(h);
}

static void
with_serve_another_writer_may_come_after_a_death(void **state)
{
	struct peer peer;
	struct fh *h;

	(void)state;
	serve(0);
	h = open_import();
	peer = served_writer(h, "Ippk", 1);
	for (int i = 0; i < 3; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 2), HOP_OK);
	while (fh_counter(h, "died") == 0)
		assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(peer_end(&peer), 256 + SIGKILL);
	peer = served_writer(h, "Ipx", 2);
	for (int i = 0; i < 2; i++)
		peer_go(&peer);
	assert_int_equal(step_until(h, 99), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3);
	assert_int_equal(fh_counter(h, "attached"), 2);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
with_serve_a_live_name_is_not_taken(void **state)
{
	struct fh *h, *second;

	(void)state;
	serve(1);
	h = open_import();
	second = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_rc(second), -EADDRINUSE);
	assert_non_null(strstr(fh_error_text(second), "a live endpoint has this name"));
	fh_close(second);
	fh_close(h);
}

static void
with_serve_a_contract_that_differs_is_turned_away_and_counted(void **state)
{
	const struct hmq_contract other = { .kind = "other", .policy = HMQ_ANY };
	struct peer peer;
	struct fh *h;

	(void)state;
	serve(0);
	h = open_import();
	peer_start(&peer, &place, HMQ_ROLE_WRITER, &other, "I");
	peer_go(&peer);
	while (fh_counter(h, "refused") == 0)
		assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(peer_end(&peer), 1);
	fh_close(h);
}

/* ---- shape ------------------------------------------------------------------------------- */

static void
shape_says_the_format(void **state)
{
	struct fh *h;

	(void)state;
	put_text(op, params, "format", "i16x2[4,2]");
	h = open_import();
	assert_int_equal(fh_out_format(h, 0)->rank, 2);
	assert_int_equal(fh_out_format(h, 0)->dtype.lanes, 2);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, 32);
	fh_close(h);
	put_text(op, params, "format", "");
	put_int(op, params, "max_bytes", 100);
	h = open_import();
	assert_int_equal(fh_out_format(h, 0)->rank, 0);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, 100);
	fh_close(h);
}

static void
shape_refuses_what_cannot_be(void **state)
{
	static const struct {
		const char *name, *kind, *format;
		int64_t max_bytes;
		int any_user;
		const char *says;
	} CASES[] = {
		{ "x", "", "", 0, 0, "max_bytes: plain bytes need a size" },
		{ "x", "", "f31", 0, 0, "format: want a type" },
		{ "x", "", "u8[8]", 4, 0, "max_bytes: 4, but u8[8] takes 8 bytes" },
		{ "x", "123456789012345678901234567890123456789012345678", "u8", 0, 0,
		  "kind: 48 bytes" },
		{ ".x", "", "u8", 0, 0, "name: endpoint name '.x'" },
		{ "x", "", "u8", 0, 1, "any_user: goes with serve" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct fh *h;

		put_text(op, params, "name", CASES[i].name);
		put_text(op, params, "kind", CASES[i].kind);
		put_text(op, params, "format", CASES[i].format);
		put_int(op, params, "max_bytes", CASES[i].max_bytes);
		put_bool(op, params, "any_user", CASES[i].any_user);
		h = fh_open(op, params, NULL, 0);
		assert_int_equal(fh_rc(h), -EINVAL);
		if (strncmp(fh_error_text(h), CASES[i].says, strlen(CASES[i].says)) != 0)
			fail_msg("wanted %s\nfound %s", CASES[i].says, fh_error_text(h));
		fh_close(h);
	}
}

static void
nobody_reads_so_it_ends(void **state)
{
	struct fh *h = open_import();

	(void)state;
	fh_out_end(h, 0);
	assert_int_equal(fh_step(h), HOP_DONE);
	fh_close(h);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_writer_with_a_name_is_found_and_its_end_is_the_end),
		T(what_a_stranger_says_of_time_and_size_is_checked),
		T(it_may_come_before_its_writer),
		T(a_required_writer_that_does_not_come_is_a_failure),
		T(an_optional_writer_is_waited_for_until_the_stop),
		T(a_stop_ends_it_after_what_is_queued),
		T(another_contract_is_a_failure_with_field_and_values),
		T(a_seat_that_another_has_is_asked_for_again),
		T(the_death_of_a_required_writer_is_a_failure),
		T(the_death_of_a_writer_may_be_taken_for_the_end),
		T(after_an_optional_writer_another_may_come),
		T(gaps_are_counted_and_marked),
		T(with_serve_the_writer_comes_to_it),
		T(with_serve_nobody_may_be_a_failure),
		T(with_serve_another_writer_may_come_after_a_death),
		T(with_serve_a_live_name_is_not_taken),
		T(with_serve_a_contract_that_differs_is_turned_away_and_counted),
		T(shape_says_the_format),
		T(shape_refuses_what_cannot_be),
		T(nobody_reads_so_it_ends),
	};
	int rc;

	plugin = fh_load(PLUGIN_HOLOMQ);
	op = fh_op(&plugin, "holomq/import");
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fh_unload(&plugin);
	return rc;
}
