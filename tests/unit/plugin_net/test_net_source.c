/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_net_source.c - net/udp_source on the loopback device: packets become
 * messages or are counted by the reason why not, and it ends after a quiet
 * time.  A loopback datagram is in the receiver's socket when send returns, so
 * no test waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_host.h"
#include "param_put.h"

enum { DATA = 64, PAYLOAD = 16, PACKET = DATA + PAYLOAD };

static const char header[] = "frame=u32@0 index=u32@4 stream=u32@8 fixed=u32@12:4 due=i64@16 "
			     "stamp=i64@24 data@64";
static const int64_t now_ns = 60000000000;

static struct fh_plugin plugin;
static const struct hop_op *op;
static _Alignas(8) char params[PUT_ROOM];

static int
set_params(void **state)
{
	(void)state;
	put_defaults(op, params);
	put_text(op, params, "listen", "127.0.0.1:0");
	put_text(op, params, "header", header);
	put_text(op, params, "format", "i16x2[4]");
	return 0;
}

/* A source, and a socket connected to the port that it says it listens on. */
static struct fh *
open_source(int *sender)
{
	struct fh *h = fh_open(op, params, NULL, 0);
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const char *port;

	assert_int_equal(fh_rc(h), 0);
	port = strstr(fh_log_text(h), ", port ");
	assert_non_null(port);
	to.sin_port = htons((uint16_t)atoi(port + 7));
	*sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(*sender, (struct sockaddr *)&to, sizeof to), 0);
	fh_set_now(h, now_ns);
	return h;
}

struct packet {
	uint32_t frame, index, stream, n;
	int64_t due, stamp;
	char zero[32];
	char data[PAYLOAD];
};

_Static_assert(sizeof(struct packet) == PACKET, "as the header says");

static void
send_packet(int fd, uint32_t frame, int64_t due, uint32_t n, size_t bytes)
{
	struct {
		struct packet p;
		char more[8];
	} x = { .p = { frame, frame + 1, 3, n, due, 99, { 0 }, "payload" } };

	x.p.data[8] = (char)frame;
	assert_int_equal(send(fd, &x, bytes, 0), bytes);
}

static void
a_packet_becomes_a_message(void **state)
{
	const struct fh_msg *m;
	int fd;
	struct fh *h = open_source(&fd);

	(void)state;
	assert_int_equal(fh_watch_count(h), 1);
	assert_int_equal(fh_out_format(h, 0)->dtype.lanes, 2);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, PAYLOAD);
	assert_int_equal(fh_step(h), HOP_IDLE);
	send_packet(fd, 7, now_ns - 1000, 4, PACKET);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_out_count(h, 0), 1);
	m = fh_out(h, 0, 0);
	assert_int_equal(m->head->frame, 7);
	assert_int_equal(m->head->index, 8);
	assert_int_equal(m->head->stream, 3);
	assert_int_equal(m->head->born_ns, now_ns - 1000);
	assert_int_equal(m->head->last_ns, now_ns - 1000);
	assert_int_equal(m->head->stamp_ns, 99);
	assert_int_equal(m->head->bytes, PAYLOAD);
	assert_memory_equal(m->data, "payload\0\7", 9);
	assert_int_equal(fh_counter(h, "packets"), 1);
	assert_int_equal(fh_counter(h, "no_due"), 0);
	close(fd);
	fh_close(h);
}

static void
no_more_packets_are_taken_than_there_are_slots(void **state)
{
	int fd;
	struct fh *h = open_source(&fd);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		send_packet(fd, i, 0, 4, PACKET);
	fh_window(h, HOP_OUT, 0, 2);
	for (uint32_t want = 2; want <= 6; want += 2) {
		assert_int_equal(fh_step(h), HOP_OK);
		assert_int_equal(fh_out_count(h, 0), want < 5 ? want : 5);
	}
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(fh_out(h, 0, i)->head->frame, i);
	assert_int_equal(fh_counter(h, "kernel_drops"), 0);
	close(fd);
	fh_close(h);
}

static void
bad_packets_are_counted_by_kind_and_never_placed(void **state)
{
	int fd;
	struct fh *h = open_source(&fd);

	(void)state;
	send_packet(fd, 1, 0, 4, PACKET);
	send_packet(fd, 2, 0, 4, PACKET + 1);
	send_packet(fd, 3, 0, 4, PACKET);
	send_packet(fd, 4, 0, 4, PACKET - 1);
	send_packet(fd, 5, 0, 4, 0);
	send_packet(fd, 6, 0, 5, PACKET);
	send_packet(fd, 7, 0, 4, PACKET);
	assert_int_equal(fh_step(h), HOP_OK);
	assert_int_equal(fh_out_count(h, 0), 3);
	for (uint32_t i = 0; i < 3; i++) {
		static const char frames[] = { 1, 3, 7 };
		const struct fh_msg *m = fh_out(h, 0, i);

		assert_int_equal(m->head->frame, frames[i]);
		assert_int_equal(((const char *)m->data)[8], frames[i]);
	}
	assert_int_equal(fh_counter(h, "packets"), 3);
	assert_int_equal(fh_counter(h, "truncated"), 1);
	assert_int_equal(fh_counter(h, "short"), 2);
	assert_int_equal(fh_counter(h, "malformed"), 1);
	close(fd);
	fh_close(h);
}

static void
a_due_time_that_is_not_sane_is_replaced_by_the_arrival(void **state)
{
	const int64_t bad[] = { 0, now_ns - 10000000000, now_ns + 1000000000, INT64_MIN,
				INT64_MAX };
	const int64_t good[] = { now_ns - 9999999999, now_ns, now_ns + 999999999 };
	int fd;
	struct fh *h = open_source(&fd);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		send_packet(fd, i, bad[i], 4, PACKET);
	for (uint32_t i = 0; i < 3; i++)
		send_packet(fd, i, good[i], 4, PACKET);
	fh_step(h);
	assert_int_equal(fh_out_count(h, 0), 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(fh_out(h, 0, i)->head->born_ns, i < 5 ? now_ns : good[i - 5]);
	assert_int_equal(fh_counter(h, "no_due"), 5);
	close(fd);
	fh_close(h);
}

static void
bytes_of_any_number_and_arrival_numbers_without_a_header(void **state)
{
	int fd;
	struct fh *h;

	(void)state;
	put_text(op, params, "header", "");
	put_text(op, params, "format", "");
	put_int(op, params, "packet", 100);
	h = open_source(&fd);
	assert_int_equal(fh_out_format(h, 0)->rank, 0);
	assert_int_equal(fh_out_format(h, 0)->max_bytes, 100);
	send(fd, "abc", 3, 0);
	send(fd, params, 101, 0);
	send(fd, "defg", 4, 0);
	fh_step(h);
	assert_int_equal(fh_out_count(h, 0), 2);
	assert_int_equal(fh_out(h, 0, 0)->head->bytes, 3);
	assert_int_equal(fh_out(h, 0, 1)->head->frame, 1);
	assert_int_equal(fh_out(h, 0, 1)->head->bytes, 4);
	assert_memory_equal(fh_out(h, 0, 1)->data, "defg", 4);
	assert_int_equal(fh_counter(h, "truncated"), 1);
	close(fd);
	fh_close(h);
}

static void
kernel_drops_are_counted_to_the_last(void **state)
{
	int fd;
	struct fh *h;
	uint32_t sent = 0;

	(void)state;
	put_int(op, params, "receive_buffer", 2304);
	h = open_source(&fd);
	for (; sent < 200; sent++)
		send_packet(fd, sent, 0, 4, PACKET);
	fh_step(h);
	assert_true(fh_out_count(h, 0) < sent);
	fh_set_stopping(h, 1);
	fh_run(h, 10);
	fh_set_now(h, now_ns + 200000000);
	assert_int_equal(fh_step(h), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0) + fh_counter(h, "kernel_drops"), sent);
	close(fd);
	fh_close(h);
}

static void
stopping_delivers_until_a_quiet_time(void **state)
{
	int fd;
	struct fh *h = open_source(&fd);

	(void)state;
	send_packet(fd, 1, 0, 4, PACKET);
	fh_set_stopping(h, 1);
	assert_int_equal(fh_step(h), HOP_OK);
	fh_set_now(h, now_ns + 99999999);
	assert_int_equal(fh_step(h), HOP_IDLE);
	assert_int_equal(fh_wake_ns(h), now_ns + 100000000);
	/* A packet in time begins the quiet time anew. */
	send_packet(fd, 2, 0, 4, PACKET);
	assert_int_equal(fh_step(h), HOP_OK);
	fh_set_now(h, now_ns + 150000000);
	assert_int_equal(fh_step(h), HOP_IDLE);
	fh_set_now(h, now_ns + 200000000);
	assert_int_equal(fh_step(h), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 2);
	close(fd);
	fh_close(h);
}

static void
a_source_nobody_reads_is_done(void **state)
{
	int fd;
	struct fh *h = open_source(&fd);

	(void)state;
	fh_out_end(h, 0);
	assert_int_equal(fh_step(h), HOP_DONE);
	close(fd);
	fh_close(h);
}

static void
a_port_in_use_is_refused(void **state)
{
	char listen[32];
	int fd;
	struct fh *h = open_source(&fd), *second;

	(void)state;
	snprintf(listen, sizeof listen, "127.0.0.1:%d",
		 atoi(strstr(fh_log_text(h), ", port ") + 7));
	put_text(op, params, "listen", listen);
	second = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_rc(second), -EADDRINUSE);
	assert_non_null(strstr(fh_error_text(second), "another socket does"));
	fh_close(second);
	close(fd);
	fh_close(h);
}

static void
parameters_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *param, *text;
		int64_t packet;
		const char *what;
	} bad[] = {
		{ "listen", "8100", 0, "listen: want host:port, found '8100' at character 1" },
		{ "header", "frame=u32", 0, "header: want @ and the byte offset" },
		{ "format", "q8", 0, "format: want a type" },
		{ "format", "u8[16]", 81,
		  "packet: 81 bytes, but a header of 64 and u8[16] of 16 "
		  "make 80" },
		{ "format", "", 64, "packet: 64 bytes leave no payload" },
		{ "format", "", 0, "packet: 64 bytes leave no payload" },
		{ "format", "u8[65444]", 0,
		  "format: packets of 65508 bytes, a datagram has 65507" },
		{ "listen", "host.invalid:1", 0, "listen: host 'host.invalid' is not known" },
		{ "listen", "239.1.2.3:0", 0, "multicast group, which is not supported" },
		{ "listen", "192.0.2.1:0", 0, "listen: cannot receive on 192.0.2.1:0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct fh *h;

		set_params(NULL);
		put_text(op, params, bad[i].param, bad[i].text);
		put_int(op, params, "packet", bad[i].packet);
		h = fh_open(op, params, NULL, 0);
		assert_true(fh_rc(h) < 0);
		if (!strstr(fh_error_text(h), bad[i].what))
			fail_msg("wanted '%s', found '%s'", bad[i].what, fh_error_text(h));
		fh_close(h);
	}
}

static void
a_source_without_memory_fails_in_open(void **state)
{
	struct fh *h = fh_new(op, params);

	(void)state;
	fh_fail_alloc(h, 1);
	assert_int_equal(fh_shape(h, NULL, 0), 0);
	assert_int_equal(fh_start(h), -ENOMEM);
	fh_close(h);
}

/* As a user without rights, in a child: the limit holds for it. */
static int
refused_buffer(void)
{
	struct fh *h;
	int ok;

	if (getuid() == 0 && (setgid(65534) || setuid(65534)))
		return 77;
	put_int(op, params, "receive_buffer", 512 << 20);
	h = fh_open(op, params, NULL, 0);
	ok = fh_rc(h) == -ENOBUFS &&
	     strstr(fh_error_text(h),
		    "receive_buffer: wanted 536870912 bytes, the kernel gives ") &&
	     strstr(fh_error_text(h), "sysctl -w net.core.rmem_max=536870912");
	if (!ok)
		fprintf(stderr, "found %d '%s'\n", fh_rc(h), fh_error_text(h));
	fh_close(h);
	return ok ? 0 : 1;
}

static void
a_buffer_beyond_the_limit_is_refused_with_the_cure(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(refused_buffer());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_packet_becomes_a_message, set_params),
		cmocka_unit_test_setup(no_more_packets_are_taken_than_there_are_slots, set_params),
		cmocka_unit_test_setup(bad_packets_are_counted_by_kind_and_never_placed,
				       set_params),
		cmocka_unit_test_setup(a_due_time_that_is_not_sane_is_replaced_by_the_arrival,
				       set_params),
		cmocka_unit_test_setup(bytes_of_any_number_and_arrival_numbers_without_a_header,
				       set_params),
		cmocka_unit_test_setup(kernel_drops_are_counted_to_the_last, set_params),
		cmocka_unit_test_setup(stopping_delivers_until_a_quiet_time, set_params),
		cmocka_unit_test_setup(a_source_nobody_reads_is_done, set_params),
		cmocka_unit_test_setup(a_port_in_use_is_refused, set_params),
		cmocka_unit_test_setup(parameters_that_do_not_fit_are_refused, set_params),
		cmocka_unit_test_setup(a_source_without_memory_fails_in_open, set_params),
		cmocka_unit_test_setup(a_buffer_beyond_the_limit_is_refused_with_the_cure,
				       set_params),
	};
	int rc;

	plugin = fh_load(PLUGIN_NET);
	op = fh_op(&plugin, "net/udp_source");
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fh_unload(&plugin);
	return rc;
}
