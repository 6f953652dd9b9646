/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.c - a channel with a name: export, close, renew, and what it is made of.
 *
 * One handle for both sides.  Whatever fails half-way is undone by close, which copes
 * with any state.  An endpoint belongs to the thread that made it; its death is the
 * endpoint's death, and the kernel tells the peers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoint.h"

struct hmq_endpoint *
hmq_endpoint_new(const char *dir, const char *name, struct hmq_error *err, int *rc)
{
	struct hmq_endpoint *ep = hmq_alloc(sizeof(*ep));

	if (!ep) {
		*rc = hmq_fail(err, ENOMEM, "no memory for endpoint %s", name);
		return NULL;
	}
	ep->chan.fd = ep->life.fd = -1;
	ep->conn = ep->listener = ep->epoll = ep->event_fd = ep->peer_event_fd = -1;
	ep->quit_fd = ep->spare = -1;
	*rc = hmq_address_of(&ep->at, dir, name, err);
	if (*rc) {
		hmq_endpoint_close(ep);
		return NULL;
	}
	(void)snprintf(ep->name, sizeof(ep->name), "%s", name);
	ep->cfg.name = ep->name;
	ep->cfg.dir = ep->at.dir;
	return ep;
}

static int
make(struct hmq_endpoint *ep, const struct hmq_export *cfg, struct hmq_error *err)
{
	const char *name = ep->cfg.name, *dir = ep->cfg.dir;
	int rc;

	ep->cfg = *cfg;
	ep->cfg.name = name;
	ep->cfg.dir = dir;
	ep->is_exporter = 1;
	pthread_mutex_init(&ep->lock, NULL);
	if (cfg->flags & HMQ_ENDPOINT_POLLED) {
		ep->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (ep->event_fd < 0)
			return hmq_fail(err, errno, "endpoint %s: no event descriptor: %s", name,
					strerrordesc_np(errno));
	}
	rc = hmq_seats_make(ep, err);
	if (rc)
		return rc;
	rc = hmq_name_take(&ep->at, cfg->flags, &ep->id, err);
	if (rc < 0)
		return rc;
	ep->listener = rc;
	return hmq_serve_start(ep, err);
}

int
hmq_endpoint_export(struct hmq_endpoint **out, const struct hmq_export *cfg, struct hmq_error *err)
{
	struct hmq_export full = *cfg;
	struct hmq_endpoint *ep;
	int rc = hmq_export_check(&full, err);

	*out = NULL;
	if (rc)
		return rc;
	ep = hmq_endpoint_new(cfg->dir, cfg->name, err, &rc);
	if (!ep)
		return rc;
	rc = make(ep, &full, err);
	if (rc) {
		hmq_endpoint_close(ep);
		return rc;
	}
	*out = ep;
	return 0;
}

void
hmq_endpoint_close(struct hmq_endpoint *ep)
{
	if (!ep)
		return;
	/* The name goes first: who looks from here on waits for the next exporter. */
	if (ep->listener >= 0)
		hmq_name_release(&ep->at, &ep->id);
	if (ep->writer)
		hmq_writer_end(ep->writer);
	if (ep->reader)
		hmq_reader_end(ep->reader);
	if (ep->is_exporter) {
		hmq_serve_stop(ep);
		pthread_mutex_destroy(&ep->lock);
	}
	hmq_seats_free(ep);
	hmq_fds_close((int[]){ ep->listener, ep->conn, ep->epoll, ep->event_fd, ep->peer_event_fd,
			       ep->quit_fd, ep->spare },
		      7);
	hmq_dealloc(ep);
}

int
hmq_endpoint_renew(struct hmq_endpoint *ep, struct hmq_error *err)
{
	int rc;

	if (!ep->is_exporter || ep->cfg.role != HMQ_ROLE_READER)
		return hmq_fail(err, EINVAL, "endpoint %s: this side does not export a reader",
				ep->cfg.name);
	hmq_endpoint_poll(ep);
	if (ep->reader &&
	    (hmq_reader_state(ep->reader) == HMQ_OPEN || !hmq_is_vacant(hmq_seat_waiter(ep, 1))))
		return hmq_fail(err, EBUSY, "endpoint %s: its writer has not left", ep->cfg.name);
	pthread_mutex_lock(&ep->lock);
	hmq_reader_free(ep->reader);
	ep->reader = NULL;
	if (ep->chan.base)
		hmq_segment_close(&ep->chan);
	if (ep->seats[0].is_taken && ep->seats[0].event_fd >= 0)
		close(ep->seats[0].event_fd);
	ep->seats[0] = (struct hmq_seat){ .event_fd = -1, .conn = HMQ_MAX_CONNS };
	ep->n_peers = 0;
	/* A death is remembered in the record: it is not the next writer's. */
	hmq_waiter_init(hmq_seat_waiter(ep, 1), HMQ_WAIT_FUTEX);
	rc = hmq_seats_make(ep, err);
	pthread_mutex_unlock(&ep->lock);
	return rc;
}

/* ---- what it is made of ----------------------------------------------------------------- */

struct hmq_writer *
hmq_endpoint_writer(struct hmq_endpoint *ep)
{
	return ep->writer;
}

struct hmq_reader *
hmq_endpoint_reader(struct hmq_endpoint *ep)
{
	return ep->reader;
}

struct hmq_waiter *
hmq_endpoint_waiter(struct hmq_endpoint *ep)
{
	return ep->cfg.contract.wake == HMQ_WAKE_SPIN ? NULL : ep->own;
}

const struct hmq_contract *
hmq_endpoint_contract(const struct hmq_endpoint *ep)
{
	return &ep->cfg.contract;
}

const struct hmq_segment *
hmq_endpoint_segment(const struct hmq_endpoint *ep)
{
	return &ep->chan;
}

void
hmq_endpoint_numbers(struct hmq_endpoint *ep, struct hmq_endpoint_stat *out)
{
	*out = (struct hmq_endpoint_stat){ .peers = hmq_endpoint_poll(ep) };
	if (!ep->is_exporter)
		return;
	pthread_mutex_lock(&ep->lock);
	out->attached = ep->attached;
	out->refused = ep->refused;
	out->unheard = ep->unheard;
	if (ep->writer && ep->n_peers == 0)
		out->unheard += ep->writer->seq - ep->alone_since;
	pthread_mutex_unlock(&ep->lock);
}
