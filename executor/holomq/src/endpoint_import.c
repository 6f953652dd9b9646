/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_import.c - find the exporter, ask, attach.
 *
 * In any order: without an exporter the folder is watched until its socket appears or
 * the deadline passes.  What the exporter sends is checked like any other memory from
 * outside, and its contract once more against what was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"

#define RETRY_MS 10 /* where the kernel tells no end of being busy */

/* ---- waiting for the name --------------------------------------------------------------- */

/* Sleep until the folder changes or the deadline; why: what connect said. */
static void
await_change(int watcher, int why, int64_t deadline_ns)
{
	struct pollfd p = { .fd = watcher, .events = POLLIN };
	char events[1024];
	int ms = hmq_left_ms(deadline_ns);

	/* A listener that is busy or turned us away changes nothing in its folder. */
	if (watcher < 0 || why == -EAGAIN || why == -ECONNRESET)
		ms = ms < 0 || ms > RETRY_MS ? RETRY_MS : ms;
	(void)poll(&p, 1, ms);
	if (watcher >= 0)
		while (read(watcher, events, sizeof(events)) > 0)
			;
}

static int
open_watcher(const char *dir)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd >= 0 && inotify_add_watch(fd, dir, IN_MOVED_TO | IN_ONLYDIR) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- asking ----------------------------------------------------------------------------- */

static int
await_welcome(int conn, struct hmq_welcome *w, int *fds, uint32_t *n_fds, int64_t deadline_ns)
{
	struct pollfd p = { .fd = conn, .events = POLLIN };
	int resets = 0;
	int rc;

	for (;;) {
		rc = hmq_packet_receive(conn, w, sizeof(*w), fds, n_fds);
		/* Hung up before it heard our hello: what it said before is behind that error. */
		if (rc == -ECONNRESET && resets++ == 0)
			continue;
		if (rc != -EAGAIN)
			return rc;
		if (hmq_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		(void)poll(&p, 1, hmq_left_ms(deadline_ns));
	}
}

static int
ask(struct hmq_endpoint *ep, struct hmq_welcome *w, int *fds, uint32_t *n_fds, int64_t deadline_ns,
    struct hmq_error *err)
{
	struct hmq_hello h = { .magic = HMQ_HELLO_MAGIC,
			       .version = HMQ_WIRE_VERSION,
			       .digest = hmq_layout_digest(),
			       .role = ep->cfg.role,
			       .flags = ep->cfg.flags & HMQ_ENDPOINT_POLLED,
			       .contract = ep->cfg.contract };
	int rc = hmq_packet_may(ep->conn, ep->cfg.flags, err);

	*n_fds = 0;
	if (rc)
		return rc;
	rc = hmq_packet_send(ep->conn, &h, sizeof(h), &ep->event_fd, ep->event_fd >= 0 ? 1 : 0);
	if (!rc || rc == -EPIPE)
		rc = await_welcome(ep->conn, w, fds, n_fds, deadline_ns);
	if (rc == -ECONNRESET)
		return rc;
	if (rc == -ETIMEDOUT)
		return hmq_fail(err, ETIMEDOUT, "endpoint %s: its exporter does not answer",
				ep->at.leaf);
	if (rc)
		return hmq_fail(err, -rc, "endpoint %s: asking its exporter: %s", ep->at.leaf,
				strerrordesc_np(-rc));
	if (w->magic != HMQ_HELLO_MAGIC || w->code > 0 || w->code < -4095 ||
	    !memchr(w->text, 0, sizeof(w->text)))
		return hmq_fail(err, EBADMSG, "endpoint %s: its exporter answers nonsense",
				ep->at.leaf);
	return w->code ? hmq_fail(err, -w->code, "%s", w->text) : 0;
}

/* Until somebody answers: ep->conn and the welcome, or a refusal, or the deadline. */
static int
find(struct hmq_endpoint *ep, struct hmq_welcome *w, int *fds, uint32_t *n_fds, int64_t deadline_ns,
     struct hmq_error *err)
{
	int watcher = open_watcher(ep->at.dir);
	int rc;

	for (;;) {
		ep->conn = hmq_name_connect(&ep->at.un);
		rc = ep->conn >= 0 ? ask(ep, w, fds, n_fds, deadline_ns, err) : ep->conn;
		if (ep->conn < 0 && rc != -ENOENT && rc != -ECONNREFUSED && rc != -EAGAIN) {
			hmq_fail(err, -rc, "%s: %s", ep->at.un.sun_path, strerrordesc_np(-rc));
			break;
		}
		if (ep->conn >= 0 && rc != -ECONNRESET)
			break;
		if (ep->conn >= 0)
			close(ep->conn);
		ep->conn = -1;
		if (hmq_now_ns() >= deadline_ns) {
			rc = hmq_fail(err, ETIMEDOUT, "endpoint %s: nobody exports it (%s)",
				      ep->at.leaf, ep->at.un.sun_path);
			break;
		}
		await_change(watcher, rc, deadline_ns);
	}
	if (watcher >= 0)
		close(watcher);
	return rc;
}

/* ---- attaching -------------------------------------------------------------------------- */

static int
check_memory(struct hmq_endpoint *ep, const struct hmq_welcome *w, struct hmq_error *err)
{
	struct hmq_layout lay;
	int rc = hmq_layout_of_segment(&lay, &ep->chan, err);

	if (rc)
		return rc;
	if (w->seats < 1 || w->seats > HMQ_MAX_READERS || w->seat >= w->seats ||
	    lay.n_readers != w->seats ||
	    ep->life.bytes < (1 + 2 * (uint64_t)w->seats) * HMQ_WAITER_BYTES)
		return hmq_fail(err, EBADMSG, "endpoint %s: its exporter offers seat %u of %u",
				ep->at.leaf, w->seat, w->seats);
	if (lay.payload_bytes != w->contract.max_bytes ||
	    lay.reader[w->seat].depth != w->contract.depth ||
	    lay.reader[w->seat].policy != w->contract.policy)
		return hmq_fail(err, EBADMSG,
				"endpoint %s: its memory is not what its exporter says",
				ep->at.leaf);
	return 0;
}

/* Takes over the descriptors. */
static int
map(struct hmq_endpoint *ep, const struct hmq_welcome *w, int *fds, uint32_t n,
    struct hmq_error *err)
{
	int rc;

	if (n != (w->flags & HMQ_ENDPOINT_POLLED ? 3u : 2u) || (n == 3 && !hmq_is_eventfd(fds[2])))
		return hmq_fail(err, EBADMSG, "endpoint %s: %u descriptors with a welcome",
				ep->at.leaf, n);
	rc = hmq_segment_map(&ep->chan, fds[0], err);
	if (rc)
		return rc;
	fds[0] = -1;
	rc = hmq_segment_map(&ep->life, fds[1], err);
	if (rc)
		return rc;
	fds[1] = -1;
	if (n == 3) {
		ep->peer_event_fd = fds[2];
		fds[2] = -1;
	}
	return check_memory(ep, w, err);
}

static int
attach(struct hmq_endpoint *ep, const struct hmq_welcome *w, struct hmq_error *err)
{
	const uint64_t joined = HMQ_HELLO_MAGIC;
	int spins = w->contract.wake == HMQ_WAKE_SPIN;
	struct hmq_peer peer;
	int rc = hmq_contract_match(ep->cfg.name, &w->contract, &ep->cfg.contract, err);

	if (rc)
		return rc;
	ep->cfg.contract = w->contract;
	ep->cfg.seats = w->seats;
	ep->seat = w->seat;
	ep->own = hmq_seat_waiter(ep, 1 + w->seat);
	peer = (struct hmq_peer){ .waiter = spins ? NULL : hmq_seat_waiter(ep, 0),
				  .life = hmq_seat_exporter(ep, w->seat),
				  .event_fd = ep->peer_event_fd,
				  .epoch = w->epoch };
	rc = hmq_life_begin(ep->own);
	if (rc)
		return hmq_fail(err, -rc, "endpoint %s: seat %u is occupied", ep->at.leaf,
				ep->seat);
	ep->lives = 1;
	if (ep->cfg.role == HMQ_ROLE_READER)
		rc = hmq_reader_rejoin(&ep->reader, &ep->chan, ep->seat, &peer, err);
	else
		rc = hmq_writer_open(&ep->writer, &ep->chan, &peer, err);
	/* A lost packet costs an exporter that sleeps on its sockets its early call, no more. */
	if (!rc)
		(void)hmq_packet_send(ep->conn, &joined, sizeof(joined), NULL, 0);
	return rc;
}

static int
prepare_polled(struct hmq_endpoint *ep, struct hmq_error *err)
{
	struct epoll_event e = { .events = EPOLLIN };

	if (!(ep->cfg.flags & HMQ_ENDPOINT_POLLED))
		return 0;
	ep->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ep->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (ep->event_fd < 0 || ep->epoll < 0 ||
	    epoll_ctl(ep->epoll, EPOLL_CTL_ADD, ep->event_fd, &e))
		return hmq_fail(err, errno, "endpoint %s: no event descriptor: %s", ep->at.leaf,
				strerrordesc_np(errno));
	return 0;
}

static int
watch_conn(struct hmq_endpoint *ep, struct hmq_error *err)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = 1 };

	if (ep->epoll < 0 || epoll_ctl(ep->epoll, EPOLL_CTL_ADD, ep->conn, &e) == 0)
		return 0;
	return hmq_fail(err, errno, "endpoint %s: no epoll: %s", ep->at.leaf,
			strerrordesc_np(errno));
}

int
hmq_endpoint_import(struct hmq_endpoint **out, const struct hmq_import *cfg, int64_t deadline_ns,
		    struct hmq_error *err)
{
	struct hmq_welcome w = { 0 };
	struct hmq_endpoint *ep;
	int fds[HMQ_MAX_FDS];
	uint32_t n = 0;
	int rc = hmq_import_check(cfg, err);

	*out = NULL;
	if (rc)
		return rc;
	if (mkdir(cfg->dir, 0700) && errno != EEXIST)
		return hmq_fail(err, errno, "%s cannot be made: %s", cfg->dir,
				strerrordesc_np(errno));
	ep = hmq_endpoint_new(cfg->dir, cfg->name, err, &rc);
	if (!ep)
		return rc;
	ep->cfg.role = cfg->role;
	ep->cfg.flags = cfg->flags & ~(uint32_t)HMQ_ENDPOINT_THREAD;
	ep->cfg.contract = cfg->contract;
	rc = prepare_polled(ep, err);
	if (!rc)
		rc = find(ep, &w, fds, &n, deadline_ns, err);
	if (!rc)
		rc = map(ep, &w, fds, n, err);
	hmq_fds_close(fds, n); /* those that were not taken over */
	if (!rc)
		rc = attach(ep, &w, err);
	if (!rc)
		rc = watch_conn(ep, err);
	if (rc) {
		hmq_endpoint_close(ep);
		return rc;
	}
	*out = ep;
	return 0;
}
