/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_serve.c - the exporter's socket: connections, answers, the helper thread.
 *
 * Nothing here blocks on a peer: who connects and says nothing only takes one of a few
 * places for strangers, and the oldest stranger makes room.  The helper accepts, hears
 * and refuses; seats are given by the owner's thread, which alone may touch the writer.
 * The helper takes the lock for as long as no system call can sleep.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoint.h"
#include "wait.h"

enum { AT_LISTENER = HMQ_MAX_CONNS, AT_BELL, AT_QUIT };

#define EVENTS 32
#define ROUNDS 4

static int
watch(struct hmq_endpoint *ep, int fd, uint32_t at)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = at };

	return epoll_ctl(ep->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void
drop_conn(struct hmq_conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->event_fd >= 0)
		close(c->event_fd);
	*c = (struct hmq_conn){ .fd = -1, .event_fd = -1 };
}

/* ---- answers ---------------------------------------------------------------------------- */

static void
refuse(struct hmq_endpoint *ep, struct hmq_conn *c, const struct hmq_error *why)
{
	struct hmq_welcome w = { .magic = HMQ_HELLO_MAGIC,
				 .code = why->code,
				 .contract = ep->cfg.contract };

	memcpy(w.text, why->text, sizeof(why->text));
	(void)hmq_packet_send(c->fd, &w, sizeof(w), NULL, 0);
	ep->refused++;
	drop_conn(c);
}

static void
welcome(struct hmq_endpoint *ep, uint32_t index)
{
	struct hmq_conn *c = &ep->conns[index];
	struct hmq_error err = { 0 };
	int seat = hmq_seat_take(ep, c->event_fd, &err);
	int fds[3] = { ep->chan.fd, ep->life.fd, ep->event_fd };
	struct hmq_welcome w = { .magic = HMQ_HELLO_MAGIC,
				 .seats = ep->cfg.seats,
				 .epoch = ep->epoch,
				 .flags = ep->cfg.flags & HMQ_ENDPOINT_POLLED,
				 .contract = ep->cfg.contract };

	if (seat < 0) {
		refuse(ep, c, &err);
		return;
	}
	c->event_fd = -1; /* the seat's now */
	w.seat = c->seat = (uint32_t)seat;
	c->state = HMQ_CONN_SITS;
	ep->seats[seat].conn = index;
	if (hmq_packet_send(c->fd, &w, sizeof(w), fds, ep->event_fd >= 0 ? 3 : 2)) {
		/* It left already: its life has not begun, so the seat is free again. */
		hmq_seat_hangup(ep, c->seat, index);
		drop_conn(c);
	}
}

static void
hear_hello(struct hmq_endpoint *ep, struct hmq_conn *c)
{
	struct hmq_hello h = { 0 };
	struct hmq_error err = { 0 };
	int fds[HMQ_MAX_FDS];
	uint32_t n;
	int rc = hmq_packet_receive(c->fd, &h, sizeof(h), fds, &n);

	if (rc == -EAGAIN)
		return;
	if (rc == -ECONNRESET) {
		drop_conn(c); /* somebody looked whether we live */
		return;
	}
	if (rc || h.magic != HMQ_HELLO_MAGIC)
		rc = hmq_fail(&err, EBADMSG, "endpoint %s: this is no hello", ep->cfg.name);
	else if (h.version != HMQ_WIRE_VERSION || h.digest != hmq_layout_digest())
		rc = hmq_fail(&err, EPROTO,
			      "endpoint %s, layout digest: the exporter has %u/%#x, the importer "
			      "wants %u/%#x",
			      ep->cfg.name, HMQ_WIRE_VERSION, hmq_layout_digest(), h.version,
			      h.digest);
	else if (h.role == ep->cfg.role || h.role > HMQ_ROLE_READER || h.role == 0)
		rc = hmq_fail(&err, EPROTO, "endpoint %s, role: the exporter %s, the importer %s",
			      ep->cfg.name, ep->cfg.role == HMQ_ROLE_WRITER ? "writes" : "reads",
			      h.role == HMQ_ROLE_WRITER ? "wants to write" : "wants to read");
	else
		rc = hmq_contract_match(ep->cfg.name, &ep->cfg.contract, &h.contract, &err);
	if (!rc && n != (h.flags & HMQ_ENDPOINT_POLLED ? 1u : 0u))
		rc = hmq_fail(&err, EBADMSG, "endpoint %s: %u descriptors with a hello",
			      ep->cfg.name, n);
	if (!rc && n > 0 && !hmq_is_eventfd(fds[0]))
		rc = hmq_fail(&err, EBADMSG, "endpoint %s: the descriptor is no eventfd",
			      ep->cfg.name);
	if (rc) {
		hmq_fds_close(fds, n);
		refuse(ep, c, &err);
		return;
	}
	c->event_fd = n > 0 ? fds[0] : -1;
	/* Ringing it must never block us. */
	if (c->event_fd >= 0)
		(void)fcntl(c->event_fd, F_SETFL, O_NONBLOCK);
	c->state = HMQ_CONN_ASKS;
}

/* ---- connections ------------------------------------------------------------------------ */

static struct hmq_conn *
place_for_stranger(struct hmq_endpoint *ep)
{
	struct hmq_conn *oldest = NULL, *empty = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < HMQ_MAX_CONNS; i++) {
		struct hmq_conn *c = &ep->conns[i];

		if (c->state == HMQ_CONN_NONE && !empty)
			empty = c;
		if (c->state != HMQ_CONN_STRANGER && c->state != HMQ_CONN_ASKS)
			continue;
		n++;
		if (c->state == HMQ_CONN_STRANGER && (!oldest || c->since < oldest->since))
			oldest = c;
	}
	if (empty && n < HMQ_MAX_STRANGERS)
		return empty;
	if (oldest) {
		ep->refused++;
		drop_conn(oldest);
	}
	return oldest;
}

/* No descriptor is left: take the caller with the spare one and turn it away. */
static void
turn_away(struct hmq_endpoint *ep)
{
	int fd;

	if (ep->spare >= 0)
		close(ep->spare);
	fd = accept4(ep->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		ep->refused++;
		close(fd);
	}
	ep->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
accept_one(struct hmq_endpoint *ep, int fd)
{
	struct hmq_error err = { 0 };
	struct hmq_conn *c = place_for_stranger(ep);

	if (!c) {
		ep->refused++;
		close(fd);
		return;
	}
	*c = (struct hmq_conn){
		.fd = fd, .event_fd = -1, .state = HMQ_CONN_STRANGER, .since = ep->clock++
	};
	if (hmq_packet_may(fd, ep->cfg.flags, &err))
		refuse(ep, c, &err);
	else if (watch(ep, fd, (uint32_t)(c - ep->conns)))
		drop_conn(c);
}

static void
accept_all(struct hmq_endpoint *ep)
{
	for (;;) {
		int fd = accept4(ep->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			accept_one(ep, fd);
		} else if (errno == EMFILE || errno == ENFILE) {
			turn_away(ep);
			return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return;
		}
	}
}

/* Who sits says once that it has joined, which is news, and then hangs up some day. */
static void
hear_seated(struct hmq_endpoint *ep, struct hmq_conn *c)
{
	uint64_t word = 0;
	int fds[HMQ_MAX_FDS];
	uint32_t n;
	int rc = hmq_packet_receive(c->fd, &word, sizeof(word), fds, &n);

	hmq_fds_close(fds, n);
	c->joined = rc == 0;
	if (rc == 0 || rc == -EAGAIN)
		return;
	epoll_ctl(ep->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	c->state = HMQ_CONN_GONE;
}

static void
hear(struct hmq_endpoint *ep, struct hmq_conn *c)
{
	if (c->state == HMQ_CONN_STRANGER)
		hear_hello(ep, c);
	else if (c->state == HMQ_CONN_ASKS)
		drop_conn(c);
	else if (c->state == HMQ_CONN_SITS)
		hear_seated(ep, c);
}

static void
handle(struct hmq_endpoint *ep, const struct epoll_event *e, int n)
{
	eventfd_t rung;

	for (int i = 0; i < n; i++) {
		uint32_t at = e[i].data.u32;

		if (at == AT_LISTENER)
			accept_all(ep);
		else if (at == AT_BELL)
			(void)eventfd_read(ep->event_fd, &rung);
		else if (at < HMQ_MAX_CONNS)
			hear(ep, &ep->conns[at]);
	}
}

/* The owner's part: seats. */
static void
settle(struct hmq_endpoint *ep)
{
	for (uint32_t i = 0; i < HMQ_MAX_CONNS; i++) {
		struct hmq_conn *c = &ep->conns[i];

		c->joined = 0;
		if (c->state != HMQ_CONN_GONE)
			continue;
		hmq_seat_hangup(ep, c->seat, i);
		drop_conn(c);
	}
	for (uint32_t i = 0; i < HMQ_MAX_CONNS; i++)
		if (ep->conns[i].state == HMQ_CONN_ASKS)
			welcome(ep, i);
}

void
hmq_serve(struct hmq_endpoint *ep)
{
	struct epoll_event e[EVENTS];
	int n = 1;

	if (ep->has_thread) {
		/* relaxed: the lock orders; a miss is a call too early */
		if (!hmq_load_relaxed_u32(&ep->news))
			return;
		pthread_mutex_lock(&ep->lock);
		hmq_store_relaxed_u32(&ep->news, 0);
		settle(ep);
		pthread_mutex_unlock(&ep->lock);
		return;
	}
	/* A caller is heard after it was accepted; a crowd waits for the next call. */
	for (int round = 0; round < ROUNDS && n > 0; round++) {
		n = epoll_wait(ep->epoll, e, EVENTS, 0);
		handle(ep, e, n);
		settle(ep);
	}
}

/* ---- the helper ------------------------------------------------------------------------- */

static int
has_news(const struct hmq_endpoint *ep)
{
	for (uint32_t i = 0; i < HMQ_MAX_CONNS; i++)
		if (ep->conns[i].state == HMQ_CONN_ASKS || ep->conns[i].state == HMQ_CONN_GONE ||
		    ep->conns[i].joined)
			return 1;
	return 0;
}

static void *
help(void *arg)
{
	struct hmq_endpoint *ep = arg;
	struct hmq_peer owner = { .waiter = ep->own, .event_fd = ep->event_fd };
	struct epoll_event e[EVENTS];

	for (;;) {
		int n = epoll_wait(ep->epoll, e, EVENTS, -1);
		int news;

		for (int i = 0; i < n; i++)
			if (e[i].data.u32 == AT_QUIT)
				return NULL;
		pthread_mutex_lock(&ep->lock);
		handle(ep, e, n);
		news = has_news(ep);
		/* relaxed: hmq_wake releases it to a sleeper, the lock to everybody else */
		if (news)
			hmq_store_relaxed_u32(&ep->news, 1);
		pthread_mutex_unlock(&ep->lock);
		if (news)
			hmq_wake(&owner);
	}
}

static int
start_thread(struct hmq_endpoint *ep, struct hmq_error *err)
{
	sigset_t all, old;
	int rc;

	ep->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ep->quit_fd < 0)
		return hmq_fail(err, errno, "endpoint %s: no event descriptor: %s", ep->cfg.name,
				strerrordesc_np(errno));
	rc = watch(ep, ep->quit_fd, AT_QUIT);
	if (rc)
		return hmq_fail(err, -rc, "endpoint %s: no epoll: %s", ep->cfg.name,
				strerrordesc_np(-rc));
	/* Signals are the program's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&ep->thread, NULL, help, ep);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return hmq_fail(err, rc, "endpoint %s: no thread: %s", ep->cfg.name,
				strerrordesc_np(rc));
	ep->has_thread = 1;
	return 0;
}

int
hmq_serve_start(struct hmq_endpoint *ep, struct hmq_error *err)
{
	int rc;

	for (uint32_t i = 0; i < HMQ_MAX_CONNS; i++)
		ep->conns[i] = (struct hmq_conn){ .fd = -1, .event_fd = -1 };
	ep->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ep->epoll = epoll_create1(EPOLL_CLOEXEC);
	rc = ep->epoll < 0 ? -errno : watch(ep, ep->listener, AT_LISTENER);
	/* With a helper the owner polls its bell itself. */
	if (!rc && ep->event_fd >= 0 && !(ep->cfg.flags & HMQ_ENDPOINT_THREAD))
		rc = watch(ep, ep->event_fd, AT_BELL);
	if (rc)
		return hmq_fail(err, -rc, "endpoint %s: no epoll: %s", ep->cfg.name,
				strerrordesc_np(-rc));
	return ep->cfg.flags & HMQ_ENDPOINT_THREAD ? start_thread(ep, err) : 0;
}

void
hmq_serve_stop(struct hmq_endpoint *ep)
{
	if (ep->has_thread) {
		(void)eventfd_write(ep->quit_fd, 1);
		pthread_join(ep->thread, NULL);
	}
	ep->has_thread = 0;
	for (uint32_t i = 0; i < HMQ_MAX_CONNS; i++)
		if (ep->conns[i].state != HMQ_CONN_NONE)
			drop_conn(&ep->conns[i]);
}
