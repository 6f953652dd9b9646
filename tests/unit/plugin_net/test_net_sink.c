/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_net_sink.c - net/udp_sink on the loopback device: packets are as the
 * header says, never early, and losses of the other side are no error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fake_host.h"
#include "param_put.h"

enum { PAYLOAD = 16, PACKET = 64 + PAYLOAD };

static struct fh_plugin plugin;
static const struct hop_op *op;
static _Alignas(8) char params[PUT_ROOM];
static char to[32];
static int receiver;

static const struct hop_format format = { .size = sizeof(struct hop_format),
					  .dtype = { 1, 8, 1 },
					  .max_bytes = PAYLOAD };

static int64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int
open_receiver(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;

	(void)state;
	receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (receiver < 0 || bind(receiver, (struct sockaddr *)&at, sizeof at) ||
	    getsockname(receiver, (struct sockaddr *)&at, &len))
		return -1;
	snprintf(to, sizeof to, "127.0.0.1:%d", ntohs(at.sin_port));
	put_defaults(op, params);
	put_text(op, params, "to", to);
	return 0;
}

static int
close_receiver(void **state)
{
	(void)state;
	return receiver >= 0 ? close(receiver) : 0;
}

struct packet {
	uint32_t frame, index, stream, n;
	int64_t due;
	char zero[40];
	char data[PAYLOAD];
};

static void
feed(struct fh *h, uint64_t frame, uint32_t index)
{
	char data[PAYLOAD] = "payload";

	data[8] = (char)index;
	fh_in(h, 0, &(struct hop_head){ .frame = frame, .index = index, .stream = 5 }, data,
	      PAYLOAD);
}

/* Calls until everything queued was sent; an endless loop ends with the test's time limit. */
static void
drain(struct fh *h)
{
	while (fh_in_left(h, 0))
		assert_true(fh_step(h) >= 0);
}

static void
a_message_becomes_a_packet(void **state)
{
	static const char zeros[40];
	struct fh *h = fh_open(op, params, &format, 1);
	int64_t before = clock_ns();
	struct packet p;

	(void)state;
	assert_int_equal(fh_rc(h), 0);
	assert_int_equal(fh_step(h), HOP_IDLE);
	feed(h, 0x100000003, 4);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(recv(receiver, &p, sizeof p, 0), PACKET);
	assert_int_equal(p.frame, 3);
	assert_int_equal(p.index, 4);
	assert_int_equal(p.stream, 5);
	assert_int_equal(p.n, 0);
	assert_memory_equal(p.zero, zeros, sizeof zeros);
	assert_memory_equal(p.data, "payload\0\4", 9);
	assert_true(p.due >= before && p.due <= clock_ns());
	assert_int_equal(fh_counter(h, "sent"), 1);
	fh_close(h);
}

static void
unpaced_messages_go_out_together(void **state)
{
	struct fh *h = fh_open(op, params, &format, 1);
	struct packet p;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		feed(h, 0, i);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_in_left(h, 0), 0);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(recv(receiver, &p, sizeof p, 0), PACKET);
		assert_int_equal(p.index, i);
	}
	fh_close(h);
}

static void
paced_messages_are_never_early_and_carry_their_due_time(void **state)
{
	struct fh *h;
	int64_t t0 = 0;

	(void)state;
	put_int(op, params, "every", 2000000);
	put_int(op, params, "interval", 150000);
	h = fh_open(op, params, &format, 1);
	for (uint32_t i = 0; i < 9; i++)
		feed(h, 10 + i / 3, i % 3);
	while (fh_in_left(h, 0)) {
		struct packet p;
		int64_t due;

		assert_true(fh_step(h) >= 0);
		while (recv(receiver, &p, sizeof p, 0) == PACKET) {
			t0 = t0 ? t0 : p.due;
			due = t0 + (p.frame - 10) * 2000000 + p.index * 150000;
			assert_int_equal(p.due, due);
			assert_true(clock_ns() >= p.due);
		}
	}
	assert_int_equal(fh_counter(h, "sent"), 9);
	assert_true(fh_counter(h, "late_max_ns") >= fh_counter(h, "late_mean_ns"));
	fh_close(h);
}

static void
a_message_due_later_asks_to_be_called_60_us_before(void **state)
{
	struct fh *h;
	struct packet p;

	(void)state;
	put_int(op, params, "every", 60000000000);
	h = fh_open(op, params, &format, 1);
	feed(h, 0, 0);
	feed(h, 1, 0);
	while (fh_in_left(h, 0) == 2)
		fh_step(h);
	assert_int_equal(recv(receiver, &p, sizeof p, 0), PACKET);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_wake_ns(h), p.due + 60000000000 - 60000);
	assert_int_equal(fh_in_left(h, 0), 1);
	fh_close(h);
}

static void
an_interval_alone_paces_by_number(void **state)
{
	struct fh *h;
	struct packet p;
	int64_t t0 = 0;

	(void)state;
	put_int(op, params, "interval", 200000);
	h = fh_open(op, params, &format, 1);
	for (uint32_t i = 0; i < 4; i++)
		feed(h, 1000 * i, 0);
	drain(h);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(recv(receiver, &p, sizeof p, 0), PACKET);
		t0 = t0 ? t0 : p.due;
		assert_int_equal(p.due, t0 + 200000 * i);
	}
	fh_close(h);
}

static void
an_earlier_frame_is_due_at_once_and_a_far_one_is_an_error(void **state)
{
	static const uint64_t far[] = { 1000000, UINT64_MAX / 2 };
	struct packet p;
	struct fh *h;

	(void)state;
	put_int(op, params, "every", 10000000);
	for (int i = 0; i < 2; i++) {
		h = fh_open(op, params, &format, 1);
		feed(h, 5, 0);
		feed(h, 4, 0);
		drain(h);
		feed(h, far[i], 0);
		assert_int_equal(fh_step(h), -ERANGE);
		assert_non_null(strstr(fh_error_text(h), "more than an hour after"));
		fh_close(h);
		assert_int_equal(recv(receiver, &p, sizeof p, 0), PACKET);
		assert_int_equal(recv(receiver, &p, sizeof p, 0), PACKET);
		assert_int_equal(p.frame, 4);
	}
}

static void
late_messages_are_counted(void **state)
{
	struct fh *h;

	(void)state;
	put_int(op, params, "interval", 1);
	h = fh_open(op, params, &format, 1);
	feed(h, 0, 0);
	drain(h);
	feed(h, 0, 1);
	for (int64_t end = clock_ns() + 300000; clock_ns() < end;)
		;
	drain(h);
	assert_int_equal(fh_counter(h, "late_over_100us") >= 1, 1);
	assert_true(fh_counter(h, "late_max_ns") > 100000);
	fh_close(h);
}

static void
nobody_listening_is_counted_and_everything_is_sent(void **state)
{
	struct fh *h = fh_open(op, params, &format, 1);

	(void)state;
	close(receiver);
	receiver = -1;
	for (uint32_t i = 0; i < 10; i++)
		feed(h, 0, i);
	drain(h);
	assert_int_equal(fh_counter(h, "sent"), 10);
	assert_true(fh_counter(h, "refused") >= 1);
	fh_close(h);
}

static void
parameters_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *param, *text;
		int64_t packet;
		uint64_t payload;
		const char *what;
	} bad[] = {
		{ "to", "h", 0, 16, "to: want host:port" },
		{ "header", "x", 0, 16, "header: want frame=" },
		{ "header", "data@8", 25, 16,
		  "packet: 25 bytes, but a header of 8 and messages of "
		  "16 make 24" },
		{ "header", "data@8", 0, 65500, "in: a header of 8 and messages of 65500 bytes" },
		{ "to", "host.invalid:1", 0, 16, "to: host 'host.invalid' is not known" },
		{ "to", "255.255.255.255:1", 0, 16, "to: no way to 255.255.255.255:1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct hop_format f = format;
		struct fh *h;

		put_defaults(op, params);
		put_text(op, params, "to", to);
		put_text(op, params, bad[i].param, bad[i].text);
		put_int(op, params, "packet", bad[i].packet);
		f.max_bytes = bad[i].payload;
		h = fh_open(op, params, &f, 1);
		assert_true(fh_rc(h) < 0);
		if (!strstr(fh_error_text(h), bad[i].what))
			fail_msg("wanted '%s', found '%s'", bad[i].what, fh_error_text(h));
		fh_close(h);
	}
}

static void
a_sink_without_memory_fails_in_open(void **state)
{
	struct fh *h = fh_new(op, params);

	(void)state;
	fh_fail_alloc(h, 1);
	assert_int_equal(fh_shape(h, &format, 1), 0);
	assert_int_equal(fh_start(h), -ENOMEM);
	fh_close(h);
}

int
main(void)
{
#define ON_LOOPBACK(f) cmocka_unit_test_setup_teardown(f, open_receiver, close_receiver)
	const struct CMUnitTest tests[] = {
		ON_LOOPBACK(a_message_becomes_a_packet),
		ON_LOOPBACK(unpaced_messages_go_out_together),
		ON_LOOPBACK(paced_messages_are_never_early_and_carry_their_due_time),
		ON_LOOPBACK(a_message_due_later_asks_to_be_called_60_us_before),
		ON_LOOPBACK(an_interval_alone_paces_by_number),
		ON_LOOPBACK(an_earlier_frame_is_due_at_once_and_a_far_one_is_an_error),
		ON_LOOPBACK(late_messages_are_counted),
		ON_LOOPBACK(nobody_listening_is_counted_and_everything_is_sent),
		ON_LOOPBACK(parameters_that_do_not_fit_are_refused),
		ON_LOOPBACK(a_sink_without_memory_fails_in_open),
	};
	int rc;

	plugin = fh_load(PLUGIN_NET);
	op = fh_op(&plugin, "net/udp_sink");
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fh_unload(&plugin);
	return rc;
}
