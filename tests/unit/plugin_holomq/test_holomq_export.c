/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_holomq_export.c - holomq/export: readers outside get what they are due, and
 * nobody outside can hold the op in its call.
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

static struct hop_format
format(void)
{
	static const uint32_t dim[] = { 8 };

	return fh_format(1, 8, 1, 1, dim);
}

static int
set_up(void **state)
{
	(void)state;
	place_open(&place);
	put_defaults(op, params);
	put_text(op, params, "name", "x");
	put_text(op, params, "dir", place.dir);
	put_text(op, params, "kind", "kind");
	put_int(op, params, "depth", 4);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	place_close(&place);
	return 0;
}

static void
choose(const char *word)
{
	fh_set_choice(op, params, "when_full", word);
}

static struct fh *
open_export(void)
{
	struct hop_format f = format();
	struct fh *h = fh_open(op, params, &f, 1);

	if (fh_rc(h))
		print_message("%s\n", fh_error_text(h));
	assert_int_equal(fh_rc(h), 0);
	return h;
}

static void
put_message(struct fh *h, uint64_t number)
{
	const struct hop_head head = { .frame = 100 + number,
				       .index = 7,
				       .stream = 3,
				       .stamp_ns = 5,
				       .born_ns = 11,
				       .last_ns = 12,
				       .user = { 42 } };

	fh_in(h, 0, &head, &number, sizeof number);
}

/* Call the op until the peer has done its letter. */
static void
step_until_done(struct fh *h, struct peer *peer)
{
	peer_go(peer);
	while (!peer_has_done(peer))
		assert_true(fh_step(h) >= 0);
}

static struct peer
attach(struct fh *h, const char *script)
{
	struct hmq_contract want = { .kind = "kind", .policy = HMQ_ANY };
	struct peer peer;

	peer_start(&peer, &place, HMQ_ROLE_READER, &want, script);
	step_until_done(h, &peer);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_counter(h, "attached"), 1);
	return peer;
}

static void
readers_get_messages_with_their_heads_and_then_the_end(void **state)
{
	struct fh *h = open_export();
	struct peer peer = attach(h, "Irrrex");

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		put_message(h, i);
	assert_true(fh_step(h) >= 0);
	assert_int_equal(fh_in_left(h, 0), 0);
	for (int i = 0; i < 3; i++)
		step_until_done(h, &peer);
	fh_end(h, 0);
	assert_int_equal(fh_run(h, 3), HOP_DONE);
	assert_int_equal(peer_end(&peer), 0);
	assert_int_equal(fh_counter(h, "unheard"), 0);
	assert_int_equal(fh_counter(h, "peers_max"), 1);
	fh_close(h);
}

static void
it_watches_one_descriptor_and_is_idle_when_that_is_heard(void **state)
{
	struct fh *h = open_export();

	(void)state;
	assert_int_equal(fh_watch_count(h), 1);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_wake_ns(h), 0);
	fh_close(h);
}

static void
what_nobody_hears_is_counted_and_gone(void **state)
{
	struct fh *h = open_export();

	(void)state;
	for (uint64_t i = 0; i < 9; i++)
		put_message(h, i);
	assert_true(fh_run(h, 20) >= 0);
	assert_int_equal(fh_in_left(h, 0), 0);
	fh_end(h, 0);
	assert_int_equal(fh_run(h, 3), HOP_DONE);
	assert_int_equal(fh_counter(h, "unheard"), 9);
	fh_close(h);
}

static void
required_readers_hold_the_first_message_back(void **state)
{
	struct peer peer;
	struct fh *h;

	(void)state;
	put_int(op, params, "required", 1);
	h = open_export();
	put_message(h, 0);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_in_left(h, 0), 1);
	assert_true(fh_wake_ns(h) > 0);
	peer = attach(h, "Ire");
	assert_int_equal(fh_in_left(h, 0), 0);
	fh_end(h, 0);
	assert_int_equal(fh_step(h), HOP_DONE);
	peer_go(&peer);
	peer_go(&peer);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
required_readers_that_do_not_come_are_a_failure(void **state)
{
	struct fh *h;

	(void)state;
	put_int(op, params, "required", 2);
	put_int(op, params, "attach_timeout", 5000000);
	h = open_export();
	fh_set_now(h, 1000);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_wake_ns(h), 5001000);
	fh_set_now(h, 5001000);
	assert_int_equal(fh_step(h), -ETIMEDOUT);
	assert_string_equal(fh_error_text(h),
			    "endpoint x: 2 readers are required, 0 came within 5 ms");
	fh_close(h);
}

static void
a_run_that_is_called_off_waits_for_nobody(void **state)
{
	struct fh *h;

	(void)state;
	put_int(op, params, "required", 1);
	h = open_export();
	put_message(h, 0);
	fh_set_stopping(h, 1);
	assert_true(fh_step(h) >= 0);
	assert_int_equal(fh_in_left(h, 0), 0);
	fh_close(h);
}

static void
a_blocking_reader_holds_messages_back_and_rings_when_it_has_room(void **state)
{
	struct fh *h;
	struct peer peer;

	(void)state;
	put_int(op, params, "depth", 2);
	h = open_export();
	peer = attach(h, "Irrrrre");
	for (uint64_t i = 0; i < 5; i++)
		put_message(h, i);
	assert_int_equal(fh_run(h, 10), HOP_IDLE);
	assert_int_equal(fh_in_left(h, 0), 3);
	for (int i = 0; i < 5; i++)
		step_until_done(h, &peer);
	fh_end(h, 0);
	assert_int_equal(fh_run(h, 9), HOP_DONE);
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
a_blocking_reader_that_dies_blocks_no_longer(void **state)
{
	struct fh *h;
	struct peer peer;

	(void)state;
	put_int(op, params, "depth", 1);
	h = open_export();
	peer = attach(h, "Ik");
	put_message(h, 0);
	put_message(h, 1);
	assert_int_equal(fh_run(h, 10), HOP_IDLE);
	assert_int_equal(fh_in_left(h, 0), 1);
	peer_do(&peer);
	assert_int_equal(peer_end(&peer), 256 + SIGKILL);
	while (fh_in_left(h, 0))
		assert_true(fh_step(h) >= 0);
	fh_close(h);
}

static void
when_full_says_what_is_lost(void **state)
{
	static const char *const WORD[] = { "drop_newest", "drop_oldest" };
	/* the first ones; the newest ones, and then one after them */
	static const char *const SCRIPT[] = { "Irre", "IRre" };

	(void)state;
	put_int(op, params, "depth", 2);
	for (int i = 0; i < 2; i++) {
		struct fh *h;
		struct peer peer;

		choose(WORD[i]);
		h = open_export();
		peer = attach(h, SCRIPT[i]);
		for (uint64_t k = 0; k < 5; k++)
			put_message(h, k);
		assert_true(fh_run(h, 10) >= 0);
		assert_int_equal(fh_in_left(h, 0), 0);
		fh_end(h, 0);
		assert_int_equal(fh_run(h, 3), HOP_DONE);
		assert_int_equal(peer_end(&peer), 0);
		fh_stop(h);
		assert_int_equal(fh_counter(h, "lost"), 3);
		fh_close(h);
	}
}

static void
when_full_may_be_a_failure(void **state)
{
	struct fh *h;
	struct peer peer;

	(void)state;
	put_int(op, params, "depth", 1);
	choose("fail");
	h = open_export();
	peer = attach(h, "Ix");
	put_message(h, 0);
	put_message(h, 1);
	assert_int_equal(fh_run(h, 10), -ENOBUFS);
	assert_string_equal(fh_error_text(h), "endpoint x: reader 0 has no room for message 1 "
					      "(depth 1) and when_full says fail");
	assert_int_equal(peer_end(&peer), 0);
	fh_close(h);
}

static void
another_contract_is_refused_and_counted(void **state)
{
	struct fh *h = open_export();
	struct hmq_contract want = { .kind = "other", .policy = HMQ_ANY };
	struct peer peer;

	(void)state;
	peer_start(&peer, &place, HMQ_ROLE_READER, &want, "I");
	step_until_done(h, &peer);
	assert_int_equal(peer_end(&peer), 1);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_counter(h, "refused"), 1);
	assert_int_equal(fh_counter(h, "attached"), 0);
	fh_close(h);
}

static void
a_crowd_is_let_in_call_by_call(void **state)
{
	struct hmq_contract want = { .policy = HMQ_ANY };
	struct peer peer[6];
	struct fh *h;

	(void)state;
	put_int(op, params, "seats", 6);
	put_int(op, params, "required", 6);
	h = open_export();
	for (int i = 0; i < 6; i++) {
		peer_start(&peer[i], &place, HMQ_ROLE_READER, &want, "Ir");
		peer_go(&peer[i]);
	}
	put_message(h, 0);
	while (fh_in_left(h, 0))
		assert_true(fh_step(h) >= 0);
	assert_int_equal(fh_counter(h, "attached"), 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(peer_end(&peer[i]), 0);
	fh_close(h);
}

static void
a_live_name_is_not_taken(void **state)
{
	struct fh *h = open_export();
	struct hop_format f = format();
	struct fh *second = fh_open(op, params, &f, 1);

	(void)state;
	assert_int_equal(fh_rc(second), -EADDRINUSE);
	assert_non_null(strstr(fh_error_text(second), "a live endpoint has this name"));
	fh_close(second);
	fh_close(h);
}

static void
a_dead_name_is_replaced(void **state)
{
	const struct hmq_contract c = peer_contract();
	struct peer peer;
	struct fh *h;

	(void)state;
	peer_start(&peer, &place, HMQ_ROLE_WRITER, &c, "Ek");
	peer_do(&peer);
	peer_do(&peer);
	assert_int_equal(peer_end(&peer), 256 + SIGKILL);
	h = open_export();
	fh_close(h);
}

static void
a_message_that_is_too_long_is_a_failure(void **state)
{
	static const char data[16];
	struct fh *h = open_export();
	const struct hop_head head = { 0 };

	(void)state;
	fh_in(h, 0, &head, data, sizeof data);
	assert_int_equal(fh_step(h), -EMSGSIZE);
	assert_string_equal(fh_error_text(h), "in: 16 bytes, a slot of the endpoint has 8");
	fh_close(h);
}

static void
shape_refuses_what_could_not_be_exported(void **state)
{
	static const struct {
		const char *name, *kind;
		int64_t seats, required;
		const char *says;
	} CASES[] = {
		{ "a/b", "", 1, 0, "name: endpoint name 'a/b': wanted" },
		{ "", "", 1, 0, "name: endpoint name: wanted 1 to 64" },
		{ "x", "123456789012345678901234567890123456789012345678", 1, 0,
		  "kind: 48 bytes, it may have 47" },
		{ "x", "", 2, 3, "required: 3 readers, but there are seats for 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct hop_format f = format();
		struct fh *h;

		put_text(op, params, "name", CASES[i].name);
		put_text(op, params, "kind", CASES[i].kind);
		put_int(op, params, "seats", CASES[i].seats);
		put_int(op, params, "required", CASES[i].required);
		h = fh_open(op, params, &f, 1);
		assert_int_equal(fh_rc(h), -EINVAL);
		if (strncmp(fh_error_text(h), CASES[i].says, strlen(CASES[i].says)) != 0)
			fail_msg("wanted %s\nfound %s", CASES[i].says, fh_error_text(h));
		fh_close(h);
	}
}

static void
start_says_why_it_cannot(void **state)
{
	struct hop_format f = format();
	struct fh *h = fh_new(op, params);

	(void)state;
	fh_hide_shape(h);
	assert_int_equal(fh_shape(h, &f, 1), 0);
	assert_int_equal(fh_start(h), -ENOTSUP);
	fh_close(h);
	put_text(op, params, "dir", "/proc/none/such");
	h = fh_open(op, params, &f, 1);
	assert_true(fh_rc(h) < 0);
	assert_non_null(strstr(fh_error_text(h), "/proc/none/such"));
	fh_close(h);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(readers_get_messages_with_their_heads_and_then_the_end),
		T(it_watches_one_descriptor_and_is_idle_when_that_is_heard),
		T(what_nobody_hears_is_counted_and_gone),
		T(required_readers_hold_the_first_message_back),
		T(required_readers_that_do_not_come_are_a_failure),
		T(a_run_that_is_called_off_waits_for_nobody),
		T(a_blocking_reader_holds_messages_back_and_rings_when_it_has_room),
		T(a_blocking_reader_that_dies_blocks_no_longer),
		T(when_full_says_what_is_lost),
		T(when_full_may_be_a_failure),
		T(another_contract_is_refused_and_counted),
		T(a_crowd_is_let_in_call_by_call),
		T(a_live_name_is_not_taken),
		T(a_dead_name_is_replaced),
		T(a_message_that_is_too_long_is_a_failure),
		T(shape_refuses_what_could_not_be_exported),
		T(start_says_why_it_cannot),
	};
	int rc;

	plugin = fh_load(PLUGIN_HOLOMQ);
	op = fh_op(&plugin, "holomq/export");
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fh_unload(&plugin);
	return rc;
}
