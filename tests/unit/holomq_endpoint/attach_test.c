/* SPDX-License-Identifier: Apache-2.0 */
/* attach_test.c - two ends meet, in any order; they end, die, come back; strangers get nowhere. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "endpoint.h"
#include "place.h"

static struct hmq_endpoint *
open_export(const struct place *p, uint32_t role, uint32_t flags, uint32_t seats)
{
	struct hmq_export e = place_export(p, role, flags);
	struct hmq_endpoint *ep;
	struct hmq_error err;

	e.seats = seats;
	if (hmq_endpoint_export(&ep, &e, &err))
		fail_msg("%s", err.text);
	return ep;
}

/* Serve until n peers are there, or no more. */
static void
until_peers(struct hmq_endpoint *ep, uint32_t n)
{
	while (hmq_endpoint_poll(ep) != n)
		sched_yield();
}

static void
the_exporter_may_come_first_or_last(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	pid_t pid;

	(void)state;
	for (int last = 0; last < 2; last++) {
		place_open(&p);
		i = place_import(&p, HMQ_ROLE_READER);
		ep = last ? NULL : open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, 1);
		pid = place_reader(&p, &i, 1, END_CLOSE);
		if (last)
			ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
		assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
		assert_int_equal(place_send(hmq_endpoint_writer(ep), 7), 1);
		assert_int_equal(place_hear(&p), 'j');
		assert_int_equal(place_hear(&p), 7);
		assert_int_equal(place_reap(pid), 0);
		hmq_endpoint_close(ep);
		place_close(&p);
	}
}

static void
without_an_exporter_the_deadline_ends_the_wait(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	struct hmq_error err;
	int64_t deadline;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	deadline = place_after(20000000);
	assert_int_equal(hmq_endpoint_import(&ep, &i, deadline, &err), -ETIMEDOUT);
	assert_null(ep);
	assert_true(place_after(0) >= deadline);
	assert_non_null(strstr(err.text, "nobody exports it"));
	assert_int_equal(hmq_endpoint_import(&ep, &i, 0, &err), -ETIMEDOUT);
	place_close(&p);
}

static void
a_stopped_exporter_is_a_time_out_not_a_hang(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	struct hmq_error err;
	pid_t pid;
	int status;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	pid = place_fork();
	if (pid == 0) {
		struct hmq_export e = place_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD);

		CHILD_CHECK(hmq_endpoint_export(&ep, &e, NULL) == 0);
		place_tell(&p, 'e');
		for (;;)
			pause();
	}
	place_hear(&p);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_int_equal(hmq_endpoint_import(&ep, &i, place_after(20000000), &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "does not answer"));
	kill(pid, SIGKILL);
	place_reap(pid);
	assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), 1);
	place_close(&p);
}

static void
what_nobody_heard_is_counted(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	struct hmq_endpoint_stat st;
	pid_t pid;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 2);
	for (uint64_t n = 0; n < 100; n++) /* many times the depth: nobody blocks it */
		assert_int_equal(place_send(hmq_endpoint_writer(ep), n), 1);
	pid = place_reader(&p, &i, 1, END_CLOSE);
	assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 42), 1);
	assert_int_equal(place_hear(&p), 'j');
	assert_int_equal(place_hear(&p), 42); /* the first one since it came */
	until_peers(ep, 0);
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 43), 1);
	hmq_endpoint_numbers(ep, &st);
	assert_int_equal(st.unheard, 101);
	assert_int_equal(st.attached, 1);
	assert_int_equal(st.refused, 0);
	assert_int_equal(st.peers, 0);
	assert_int_equal(place_reap(pid), 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_mismatch_is_told_to_both_and_takes_no_seat(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep, *mine;
	struct hmq_endpoint_stat st;
	struct hmq_error err;
	pid_t pid;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, 1);
	pid = place_fork();
	if (pid == 0) {
		struct hmq_import bad = i;

		bad.contract.depth = 9;
		CHILD_CHECK(hmq_endpoint_import(&mine, &bad, place_after(LONG), &err) == -EPROTO);
		CHILD_CHECK(!strcmp(err.text, "endpoint x, depth: the exporter has 4, the importer "
					      "wants 9"));
		bad = i, bad.role = HMQ_ROLE_WRITER;
		CHILD_CHECK(hmq_endpoint_import(&mine, &bad, place_after(LONG), &err) == -EPROTO);
		CHILD_CHECK(strstr(err.text, "role: the exporter writes, the importer wants to "
					     "write"));
		_exit(0);
	}
	assert_int_equal(place_reap(pid), 0); /* the helper refuses without the owner */
	hmq_endpoint_numbers(ep, &st);
	assert_int_equal(st.refused, 2);
	assert_int_equal(st.attached, 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
seats_are_limited_and_come_back(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep, *mine;
	struct hmq_error err;
	pid_t pid[3], late;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, 3);
	pid[0] = place_reader(&p, &i, 1, END_CLOSE);
	pid[1] = place_reader(&p, &i, 1, END_DIE);
	pid[2] = place_reader(&p, &i, 1, END_HANG);
	assert_int_equal(hmq_endpoint_wait(ep, 3, place_after(LONG)), 0);
	for (int k = 0; k < 3; k++)
		assert_int_equal(place_hear(&p), 'j');
	late = place_fork();
	if (late == 0) {
		CHILD_CHECK(hmq_endpoint_import(&mine, &i, place_after(LONG), &err) == -EUSERS);
		CHILD_CHECK(!strcmp(err.text, "endpoint x: all 3 seats are taken"));
		place_tell(&p, 'r');
		_exit(0);
	}
	do
		hmq_endpoint_poll(ep);
	while (waitpid(late, NULL, WNOHANG) == 0);
	assert_int_equal(place_hear(&p), 'r');
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 1), 1);
	for (int k = 0; k < 3; k++)
		assert_int_equal(place_hear(&p), 1);
	assert_int_equal(place_reap(pid[0]), 0);
	assert_int_equal(place_reap(pid[1]), 256 + SIGKILL);
	until_peers(ep, 1);
	/* Two newcomers get the two seats; the one that hangs keeps its own and its messages. */
	pid[0] = place_reader(&p, &i, 1, END_CLOSE);
	pid[1] = place_reader(&p, &i, 1, END_CLOSE);
	assert_int_equal(hmq_endpoint_wait(ep, 3, place_after(LONG)), 0);
	assert_int_equal(place_hear(&p), 'j');
	assert_int_equal(place_hear(&p), 'j');
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 2), 1);
	assert_int_equal(place_hear(&p), 2);
	assert_int_equal(place_hear(&p), 2);
	assert_int_equal(place_reap(pid[0]), 0);
	assert_int_equal(place_reap(pid[1]), 0);
	kill(pid[2], SIGKILL);
	place_reap(pid[2]);
	until_peers(ep, 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
one_seat_serves_any_number_of_readers_one_after_the_other(void **state)
{
	enum { ROUNDS = 40 };
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	struct hmq_endpoint_stat st;
	struct hmq_edge_stat edge;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, 1);
	for (int round = 0; round < ROUNDS; round++) {
		int dies = round % 2;
		pid_t pid = place_reader(&p, &i, 2, dies ? END_DIE : END_CLOSE);

		assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
		for (uint64_t n = 0; n < 4; n++) /* two of them stay behind */
			assert_int_equal(place_send(hmq_endpoint_writer(ep), n), 1);
		assert_int_equal(place_hear(&p), 'j');
		assert_int_equal(place_hear(&p), 0);
		assert_int_equal(place_hear(&p), 1);
		assert_int_equal(place_reap(pid), dies ? 256 + SIGKILL : 0);
		until_peers(ep, 0);
		assert_true(hmq_writer_is_idle(hmq_endpoint_writer(ep)));
	}
	hmq_endpoint_numbers(ep, &st);
	assert_int_equal(st.attached, ROUNDS);
	assert_int_equal(hmq_chan_stat(hmq_endpoint_segment(ep), 0, &edge), 0);
	assert_int_equal(edge.sent, 4 * ROUNDS);
	assert_int_equal(edge.received, 2 * ROUNDS);
	assert_int_equal(edge.left, ROUNDS);
	assert_int_equal(edge.abandoned, ROUNDS);
	hmq_endpoint_close(ep);
	place_close(&p);
}

/* A child that exports as a writer, sends 0 .. 2 to one reader and leaves in its way. */
static pid_t
writer_child(struct place *p, int end)
{
	struct hmq_export e = place_export(p, HMQ_ROLE_WRITER, 0);
	struct hmq_endpoint *ep;
	pid_t pid = place_fork();

	if (pid)
		return pid;
	CHILD_CHECK(hmq_endpoint_export(&ep, &e, NULL) == 0);
	CHILD_CHECK(hmq_endpoint_wait(ep, 1, place_after(LONG)) == 0);
	for (uint64_t n = 0; n < 3; n++)
		CHILD_CHECK(place_send(hmq_endpoint_writer(ep), n) == 1);
	if (end == END_DIE)
		kill(getpid(), SIGKILL);
	hmq_endpoint_close(ep);
	_exit(0);
}

static void
an_end_and_a_death_differ_and_lose_nothing(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	struct hmq_reader *r;
	pid_t pid;

	(void)state;
	for (int end = END_CLOSE; end <= END_DIE; end++) {
		place_open(&p);
		i = place_import(&p, HMQ_ROLE_READER);
		pid = writer_child(&p, end);
		assert_int_equal(hmq_endpoint_import(&ep, &i, place_after(LONG), NULL), 0);
		r = hmq_endpoint_reader(ep);
		assert_int_equal(place_reap(pid), end == END_DIE ? 256 + SIGKILL : 0);
		assert_int_equal(hmq_reader_state(r), HMQ_OPEN); /* something is queued */
		for (uint64_t n = 0; n < 3; n++)
			assert_int_equal(place_take(r), n);
		assert_int_equal(hmq_reader_state(r), end == END_DIE ? HMQ_LOST : HMQ_ENDED);
		assert_int_equal(hmq_endpoint_poll(ep), 0);
		hmq_endpoint_close(ep);
		assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), end == END_DIE);
		place_close(&p);
	}
}

static pid_t
importing_writer(struct place *p, uint64_t first, int end)
{
	struct hmq_import i = place_import(p, HMQ_ROLE_WRITER);
	struct hmq_endpoint *ep;
	pid_t pid = place_fork();

	if (pid)
		return pid;
	CHILD_CHECK(hmq_endpoint_import(&ep, &i, place_after(LONG), NULL) == 0);
	CHILD_CHECK(hmq_endpoint_poll(ep) == 1);
	CHILD_CHECK(place_send(hmq_endpoint_writer(ep), first) == 1);
	CHILD_CHECK(place_send(hmq_endpoint_writer(ep), first + 1) == 1);
	if (end == END_DIE)
		kill(getpid(), SIGKILL);
	hmq_endpoint_close(ep);
	_exit(0);
}

static void
the_reading_side_may_export_and_take_one_writer_after_the_other(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	struct hmq_error err;
	uint32_t epoch = 0, next;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_READER, 0, 1);
	assert_null(hmq_endpoint_writer(ep));
	for (int round = 0; round < 6; round++) {
		int end = round % 2 ? END_DIE : END_CLOSE;
		pid_t pid = importing_writer(&p, 10, end);
		struct hmq_reader *r = hmq_endpoint_reader(ep);

		while (hmq_reader_peer(r) == HMQ_OPEN)
			hmq_endpoint_poll(ep);
		assert_int_equal(place_reap(pid), end == END_DIE ? 256 + SIGKILL : 0);
		assert_int_equal(hmq_endpoint_renew(ep, &err), -EBUSY); /* not all is read */
		assert_int_equal(place_take(r), 10);
		assert_int_equal(place_take(r), 11);
		assert_int_equal(hmq_reader_state(r), end == END_DIE ? HMQ_LOST : HMQ_ENDED);
		assert_int_equal(hmq_endpoint_renew(ep, &err), 0);
		assert_int_equal(hmq_chan_epoch(hmq_endpoint_segment(ep), &next), 0);
		assert_true(next != epoch);
		epoch = next;
	}
	hmq_endpoint_close(ep);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	assert_int_equal(hmq_endpoint_renew(ep, &err), -EINVAL);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static int
call(const struct place *p, const char *name)
{
	struct hmq_address at;
	int fd;

	assert_int_equal(hmq_address_of(&at, p->dir, name, NULL), 0);
	fd = hmq_name_connect(&at.un);
	assert_true(fd >= 0);
	return fd;
}

static void
strangers_who_say_nothing_make_room(void **state)
{
	enum { CROWD = 3 * HMQ_MAX_STRANGERS };
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	int fd[CROWD];
	pid_t pid;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	for (int k = 0; k < CROWD; k++)
		fd[k] = call(&p, "x");
	hmq_endpoint_poll(ep);
	pid = place_reader(&p, &i, 1, END_CLOSE);
	assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 1), 1);
	assert_int_equal(place_reap(pid), 0);
	for (int k = 0; k < CROWD; k++)
		close(fd[k]);
	hmq_endpoint_close(ep);
	place_close(&p);
}

/* What the exporter answers to these bytes and descriptors. */
static int32_t
answer_to(struct hmq_endpoint *ep, const struct place *p, const void *data, size_t bytes,
	  const int *fds, uint32_t n_fds)
{
	struct hmq_welcome w = { 0 };
	int got[HMQ_MAX_FDS];
	uint32_t n;
	int fd = call(p, "x");

	assert_int_equal(hmq_packet_send(fd, data, bytes, fds, n_fds), 0);
	hmq_endpoint_poll(ep);
	assert_int_equal(hmq_packet_receive(fd, &w, sizeof(w), got, &n), 0);
	hmq_fds_close(got, n);
	close(fd);
	hmq_endpoint_poll(ep);
	return w.code;
}

static void
nonsense_is_refused_and_leaves_nothing(void **state)
{
	struct hmq_hello good = { .magic = HMQ_HELLO_MAGIC,
				  .version = HMQ_WIRE_VERSION,
				  .digest = hmq_layout_digest(),
				  .role = HMQ_ROLE_READER,
				  .contract = { .policy = HMQ_ANY } };
	struct hmq_hello h;
	struct place p;
	struct hmq_endpoint *ep;
	int fds[4], pair[2];

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	assert_int_equal(pipe(pair), 0);
	fds[0] = fds[2] = pair[0];
	fds[1] = fds[3] = pair[1];
	h = good;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h) - 1, NULL, 0), -EBADMSG);
	assert_int_equal(answer_to(ep, &p, &h, 1, fds, 4), -EBADMSG);
	h = good, h.magic++;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), -EBADMSG);
	h = good, h.version++;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), -EPROTO);
	h = good, h.digest++;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), -EPROTO);
	h = good, h.role = 77;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), -EPROTO);
	h = good, h.contract.rank = 99;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), -EINVAL);
	h = good; /* a descriptor nobody asked for */
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), fds, 1), -EBADMSG);
	h = good, h.flags = HMQ_ENDPOINT_POLLED; /* none where one is needed */
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), -EBADMSG);
	/* A pipe instead of an eventfd: writing to it could kill the exporter. */
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), &pair[1], 1), -EBADMSG);
	/* A good hello from somebody who then vanishes: the seat is free again. */
	h = good;
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), 0);
	assert_int_equal(answer_to(ep, &p, &h, sizeof(h), NULL, 0), 0);
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 1), 1);
	close(pair[0]);
	close(pair[1]);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static const struct hmq_hello good_hello = { .magic = HMQ_HELLO_MAGIC,
					     .version = HMQ_WIRE_VERSION,
					     .role = HMQ_ROLE_READER,
					     .contract = { .policy = HMQ_ANY } };

/* Call and ask, as import does; the answer is there once the exporter has polled. */
static int
call_and_ask(const struct place *p)
{
	struct hmq_hello h = good_hello;
	int fd = call(p, "x");

	h.digest = hmq_layout_digest();
	assert_int_equal(hmq_packet_send(fd, &h, sizeof(h), NULL, 0), 0);
	return fd;
}

static void
a_late_hang_up_does_not_cost_the_next_one_his_seat(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	int fd;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	fd = call_and_ask(&p);
	hmq_endpoint_poll(ep);
	assert_true(ep->seats[0].is_taken);
	hmq_seat_hangup(ep, 0, ep->seats[0].conn + 1); /* the connection of who sat there before */
	hmq_endpoint_poll(ep);
	assert_true(ep->seats[0].is_taken);
	close(fd);
	hmq_endpoint_poll(ep);
	assert_false(ep->seats[0].is_taken);
	hmq_endpoint_close(ep);
	place_close(&p);
}

/* In a child: ask, join, die, while the exporter looks elsewhere. */
static pid_t
join_and_die(struct place *p)
{
	struct hmq_segment chan, life;
	struct hmq_peer peer = { .event_fd = -1 };
	struct hmq_reader *r;
	struct hmq_welcome w;
	int fds[HMQ_MAX_FDS], fd;
	uint32_t n;
	pid_t pid = place_fork();

	if (pid)
		return pid;
	fd = call_and_ask(p);
	place_tell(p, 'a');
	while (hmq_packet_receive(fd, &w, sizeof(w), fds, &n) == -EAGAIN)
		sched_yield();
	CHILD_CHECK(w.code == 0 && n == 2);
	CHILD_CHECK(hmq_segment_map(&chan, fds[0], NULL) == 0);
	CHILD_CHECK(hmq_segment_map(&life, fds[1], NULL) == 0);
	peer.life = (void *)((uint8_t *)life.base + 2 * HMQ_WAITER_BYTES);
	CHILD_CHECK(hmq_life_begin((void *)((uint8_t *)life.base + HMQ_WAITER_BYTES)) == 0);
	CHILD_CHECK(hmq_reader_rejoin(&r, &chan, 0, &peer, NULL) == 0);
	kill(getpid(), SIGKILL);
	_exit(0);
}

static void
who_dies_at_the_door_is_not_let_in_later(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	pid_t pid;
	int fd;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	pid = join_and_die(&p);
	assert_int_equal(place_hear(&p), 'a');
	hmq_endpoint_poll(ep);
	assert_int_equal(place_reap(pid), 256 + SIGKILL);
	assert_int_equal(hmq_endpoint_poll(ep), 0);
	/* The next one has the seat and does not join: nobody is there to block the writer. */
	fd = call_and_ask(&p);
	assert_int_equal(hmq_endpoint_poll(ep), 0);
	assert_true(ep->seats[0].is_taken);
	for (uint64_t n = 0; n < 100; n++)
		assert_int_equal(place_send(hmq_endpoint_writer(ep), n), 1);
	close(fd);
	hmq_endpoint_close(ep);
	place_close(&p);
}

/* An exporter that answers whatever the test wants. */
struct liar {
	struct hmq_address at;
	struct stat id;
	int listener;
	struct hmq_welcome w;
	int fds[3];
	uint32_t n_fds;
};

static void *
lie(void *arg)
{
	struct liar *l = arg;
	struct hmq_hello h;
	int got[HMQ_MAX_FDS];
	uint32_t n;
	int fd = -1;

	while (fd < 0) {
		fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);
		sched_yield();
	}
	while (hmq_packet_receive(fd, &h, sizeof(h), got, &n) == -EAGAIN)
		sched_yield();
	(void)hmq_packet_send(fd, &l->w, sizeof(l->w), l->fds, l->n_fds);
	close(fd);
	return NULL;
}

static int
import_from(struct liar *l, const struct place *p)
{
	struct hmq_import i = place_import(p, HMQ_ROLE_READER);
	struct hmq_endpoint *ep;
	struct hmq_error err = { 0 };
	pthread_t t;
	int rc;

	i.contract = (struct hmq_contract){ .policy = HMQ_ANY };
	assert_int_equal(pthread_create(&t, NULL, lie, l), 0);
	rc = hmq_endpoint_import(&ep, &i, place_after(LONG), &err);
	pthread_join(t, NULL);
	if (rc)
		assert_true(err.text[0] != 0);
	else
		hmq_endpoint_close(ep);
	return rc;
}

static void
a_lying_exporter_is_an_error(void **state)
{
	struct place p;
	struct liar l = { 0 };
	struct hmq_endpoint *real;
	struct hmq_welcome good;

	(void)state;
	place_open(&p);
	real = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	assert_int_equal(hmq_address_of(&l.at, p.dir, "x", NULL), 0);
	unlink(l.at.un.sun_path);
	l.listener = hmq_name_take(&l.at, 0, &l.id, NULL);
	assert_true(l.listener >= 0);
	good = (struct hmq_welcome){ .magic = HMQ_HELLO_MAGIC,
				     .seats = 1,
				     .epoch = real->epoch,
				     .contract = real->cfg.contract };
	l.fds[0] = real->chan.fd;
	l.fds[1] = real->life.fd;
	l.n_fds = 2;
	l.w = good, l.w.magic = 1;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, l.w.code = 5;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, memset(l.w.text, 'x', sizeof(l.w.text));
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, l.w.seat = 1;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, l.w.seats = 64;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, l.w.contract.max_bytes = 9;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, l.w.contract.depth = 9;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.w = good, l.w.epoch = 99;
	assert_int_equal(import_from(&l, &p), -ESTALE);
	l.w = good, l.w.contract.rank = 77;
	assert_int_not_equal(import_from(&l, &p), 0);
	l.w = good, l.n_fds = 1;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.n_fds = 2, l.fds[0] = real->life.fd; /* a segment, but no channel */
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	l.fds[0] = l.listener; /* no segment at all */
	assert_int_not_equal(import_from(&l, &p), 0);
	l.fds[0] = real->chan.fd, l.fds[1] = l.listener;
	assert_int_not_equal(import_from(&l, &p), 0);
	/* POLLED with a pipe's end instead of an eventfd. */
	l.fds[1] = real->life.fd, l.fds[2] = p.pipe[1], l.n_fds = 3;
	l.w.flags = HMQ_ENDPOINT_POLLED;
	assert_int_equal(import_from(&l, &p), -EBADMSG);
	hmq_name_release(&l.at, &l.id);
	close(l.listener);
	hmq_endpoint_close(real);
	place_close(&p);
}

static void
without_descriptors_left_callers_are_turned_away(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	struct rlimit old, tight;
	int fd[2];
	char c;

	(void)state;
	place_open(&p);
	ep = open_export(&p, HMQ_ROLE_WRITER, 0, 1);
	fd[0] = call(&p, "x");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	tight = old;
	tight.rlim_cur = (rlim_t)fd[0] + 1; /* all below are in use */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	hmq_endpoint_poll(ep);
	hmq_endpoint_poll(ep);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(recv(fd[0], &c, 1, 0), 0); /* hung up, not left waiting */
	close(fd[0]);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_reader_killed_with_messages_in_its_hands_blocks_nobody(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	pid_t pid, other;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, 2);
	pid = place_reader(&p, &i, 0, END_HANG); /* takes nothing: the writer blocks on it */
	other = place_reader(&p, &i, 5, END_CLOSE);
	assert_int_equal(hmq_endpoint_wait(ep, 2, place_after(LONG)), 0);
	assert_int_equal(place_hear(&p), 'j');
	assert_int_equal(place_hear(&p), 'j');
	for (uint64_t n = 0; n < 4; n++)
		assert_int_equal(place_send(hmq_endpoint_writer(ep), n), 1);
	assert_int_equal(hmq_room(hmq_endpoint_writer(ep)), 0);
	kill(pid, SIGKILL);
	/* Sleeping for room: the death itself wakes us, with no timer. */
	while (hmq_room(hmq_endpoint_writer(ep)) == 0)
		assert_int_equal(hmq_endpoint_sleep(ep, place_after(LONG)), 0);
	while (place_send(hmq_endpoint_writer(ep), 4) != 1)
		assert_int_equal(hmq_endpoint_sleep(ep, place_after(LONG)), 0);
	for (int n = 0; n < 5; n++)
		assert_int_equal(place_hear(&p), n);
	place_reap(pid);
	assert_int_equal(place_reap(other), 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_stopped_reader_keeps_its_seat_and_its_messages(void **state)
{
	struct place p;
	struct hmq_import i;
	struct hmq_endpoint *ep;
	pid_t pid;
	int64_t deadline;
	int status, rc;

	(void)state;
	place_open(&p);
	i = place_import(&p, HMQ_ROLE_READER);
	ep = open_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD, 1);
	pid = place_reader(&p, &i, 5, END_CLOSE);
	assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
	assert_int_equal(place_hear(&p), 'j');
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	for (uint64_t n = 0; n < 4; n++)
		assert_int_equal(place_send(hmq_endpoint_writer(ep), n), 1);
	assert_int_equal(hmq_room(hmq_endpoint_writer(ep)), 0);
	deadline = place_after(30000000);
	while ((rc = hmq_endpoint_sleep(ep, deadline)) == 0)
		hmq_endpoint_poll(ep); /* what it said when it joined */
	assert_int_equal(rc, -ETIMEDOUT);
	assert_int_equal(hmq_endpoint_poll(ep), 1); /* slow, not dead */
	kill(pid, SIGCONT);
	while (place_send(hmq_endpoint_writer(ep), 4) != 1)
		assert_int_equal(hmq_endpoint_sleep(ep, place_after(LONG)), 0);
	for (int n = 0; n < 5; n++)
		assert_int_equal(place_hear(&p), n);
	assert_int_equal(place_reap(pid), 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exporter_may_come_first_or_last),
		cmocka_unit_test(without_an_exporter_the_deadline_ends_the_wait),
		cmocka_unit_test(a_stopped_exporter_is_a_time_out_not_a_hang),
		cmocka_unit_test(what_nobody_heard_is_counted),
		cmocka_unit_test(a_mismatch_is_told_to_both_and_takes_no_seat),
		cmocka_unit_test(seats_are_limited_and_come_back),
		cmocka_unit_test(one_seat_serves_any_number_of_readers_one_after_the_other),
		cmocka_unit_test(an_end_and_a_death_differ_and_lose_nothing),
		cmocka_unit_test(the_reading_side_may_export_and_take_one_writer_after_the_other),
		cmocka_unit_test(strangers_who_say_nothing_make_room),
		cmocka_unit_test(nonsense_is_refused_and_leaves_nothing),
		cmocka_unit_test(a_late_hang_up_does_not_cost_the_next_one_his_seat),
		cmocka_unit_test(who_dies_at_the_door_is_not_let_in_later),
		cmocka_unit_test(a_lying_exporter_is_an_error),
		cmocka_unit_test(without_descriptors_left_callers_are_turned_away),
		cmocka_unit_test(a_reader_killed_with_messages_in_its_hands_blocks_nobody),
		cmocka_unit_test(a_stopped_reader_keeps_its_seat_and_its_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
