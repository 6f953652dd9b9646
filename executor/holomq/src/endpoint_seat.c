/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_seat.c - the memory of an endpoint, and which peer sits where.
 *
 * A seat is a reader's row (or the writer's place), a waiter record and, if the peer
 * is polled, its eventfd.  Rows are closed until a reader joins, so what is published
 * before goes nowhere and is counted.  A seat is free again when its reader has gone and
 * the record is no longer held: the kernel says so for a peer that died, the peer itself
 * when it ended.  One that never came is known by its connection alone.
 */
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <unistd.h>

#include "endpoint.h"
#include "reader.h"

struct hmq_waiter *
hmq_seat_waiter(const struct hmq_endpoint *ep, uint32_t index)
{
	return hmq_at(&ep->life, (uint64_t)index * HMQ_WAITER_BYTES);
}

struct hmq_waiter *
hmq_seat_exporter(const struct hmq_endpoint *ep, uint32_t seat)
{
	return hmq_seat_waiter(ep, 1 + ep->cfg.seats + seat);
}

static uint32_t
life_word(const struct hmq_waiter *w)
{
	/* A8: as in hmq_life_is_dead */
	return hmq_load_acquire_u32((const uint32_t *)(const void *)&w->life.mutex);
}

int
hmq_is_vacant(const struct hmq_waiter *w)
{
	uint32_t word = life_word(w);

	return (word & FUTEX_TID_MASK) == 0 || (word & FUTEX_OWNER_DIED);
}

static struct hmq_peer
peer_of(const struct hmq_endpoint *ep, uint32_t seat, int32_t event_fd)
{
	struct hmq_waiter *w = hmq_seat_waiter(ep, 1 + seat);

	return (struct hmq_peer){ .waiter = ep->cfg.contract.wake == HMQ_WAKE_SPIN ? NULL : w,
				  .life = w,
				  .event_fd = event_fd };
}

/* ---- memory ----------------------------------------------------------------------------- */

static int
make_life(struct hmq_endpoint *ep, struct hmq_error *err)
{
	uint32_t n = 1 + 2 * ep->cfg.seats;
	int rc = hmq_segment_create(&ep->life, "holomq:life", (uint64_t)n * HMQ_WAITER_BYTES,
				    HMQ_SEG_SHARED, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		hmq_waiter_init(hmq_seat_waiter(ep, i), HMQ_WAIT_FUTEX);
	ep->own = hmq_seat_waiter(ep, 0);
	if (ep->cfg.flags & HMQ_ENDPOINT_POLLED)
		ep->own->kind = HMQ_WAIT_EVENTFD;
	rc = hmq_life_begin(ep->own);
	for (uint32_t i = 0; i < ep->cfg.seats && !rc; i++)
		rc = hmq_life_begin(hmq_seat_exporter(ep, i));
	assert(!rc && "fresh records");
	ep->lives = 1;
	return 0;
}

/* As many as can be out at once; see the slots of a channel in holomq(7). */
static uint64_t
slots_of(const struct hmq_export *cfg)
{
	uint64_t seats = cfg->seats, depth = cfg->contract.depth;
	uint64_t queued = cfg->contract.policy == HMQ_DROP_NEWEST ? seats * depth : depth;
	uint64_t claimed = cfg->contract.policy == HMQ_DROP_OLDEST ? seats : 0;

	return cfg->loans + queued + claimed + seats * cfg->keeps;
}

static int
make_chan(struct hmq_endpoint *ep, struct hmq_error *err)
{
	const struct hmq_contract *c = &ep->cfg.contract;
	struct hmq_reader_config reader[HMQ_MAX_READERS];
	struct hmq_config cfg = { .payload_bytes = c->max_bytes,
				  .n_readers = ep->cfg.seats,
				  .dtype = c->dtype,
				  .rank = c->rank };
	uint64_t slots = slots_of(&ep->cfg);
	uint64_t bytes;
	int rc;

	cfg.epoch = ++ep->epoch;
	memcpy(cfg.dim, c->dim, sizeof(cfg.dim));
	cfg.slots = slots > HMQ_MAX_SLOTS ? HMQ_MAX_SLOTS + 1 : (uint32_t)slots;
	for (uint32_t i = 0; i < ep->cfg.seats; i++)
		reader[i] = (struct hmq_reader_config){ c->depth, c->policy };
	cfg.reader = reader;
	bytes = hmq_chan_bytes(&cfg, err);
	if (bytes == 0)
		return -EINVAL;
	rc = hmq_segment_create(&ep->chan, "holomq:channel", bytes, HMQ_SEG_SHARED, err);
	return rc ? rc : hmq_chan_format(&ep->chan, &cfg, err);
}

/* Close a row before there is a writer: nobody sits there yet. */
static int
close_row(struct hmq_endpoint *ep, uint32_t index, struct hmq_error *err)
{
	const struct hmq_peer nobody = { .event_fd = -1 };
	struct hmq_reader *r;
	int rc = hmq_reader_open(&r, &ep->chan, index, &nobody, err);

	if (rc)
		return rc;
	hmq_reader_end(r);
	hmq_reader_free(r);
	return 0;
}

static int
open_writer(struct hmq_endpoint *ep, struct hmq_error *err)
{
	struct hmq_peer peer[HMQ_MAX_READERS];
	int rc = 0;

	for (uint32_t i = 0; i < ep->cfg.seats && !rc; i++) {
		peer[i] = peer_of(ep, i, -1);
		rc = close_row(ep, i, err);
	}
	if (!rc)
		rc = hmq_writer_open(&ep->writer, &ep->chan, peer, err);
	if (!rc)
		hmq_writer_readers(ep->writer); /* settles the rows */
	return rc;
}

int
hmq_seats_make(struct hmq_endpoint *ep, struct hmq_error *err)
{
	struct hmq_peer writer;
	int rc = ep->life.base ? 0 : make_life(ep, err);

	if (!rc)
		rc = make_chan(ep, err);
	if (rc)
		return rc;
	if (ep->cfg.role == HMQ_ROLE_WRITER)
		return open_writer(ep, err);
	writer = peer_of(ep, 0, -1);
	return hmq_reader_open(&ep->reader, &ep->chan, 0, &writer, err);
}

void
hmq_seats_free(struct hmq_endpoint *ep)
{
	for (uint32_t i = 0; i < HMQ_MAX_READERS; i++)
		if (ep->seats[i].is_taken && ep->seats[i].event_fd >= 0)
			close(ep->seats[i].event_fd);
	hmq_writer_free(ep->writer);
	hmq_reader_free(ep->reader);
	ep->writer = NULL;
	ep->reader = NULL;
	if (ep->chan.base)
		hmq_segment_close(&ep->chan);
	if (ep->lives)
		hmq_life_end(ep->own);
	for (uint32_t i = 0; ep->lives && ep->is_exporter && i < ep->cfg.seats; i++)
		hmq_life_end(hmq_seat_exporter(ep, i));
	ep->lives = 0;
	if (ep->life.base)
		hmq_segment_close(&ep->life);
}

/* ---- taking and giving back ------------------------------------------------------------- */

/* Is the peer of this seat at its place?  For a reader after hmq_writer_readers let it in. */
static int
is_there(const struct hmq_endpoint *ep, uint32_t seat)
{
	if (ep->writer)
		return ep->writer->out[seat].fate == HMQ_FATE_OPEN;
	return hmq_reader_peer(ep->reader) == HMQ_OPEN &&
	       !hmq_is_vacant(hmq_seat_waiter(ep, 1 + seat));
}

/* Nobody is there and nobody comes: it was there, or hung up before. */
static int
is_left(const struct hmq_endpoint *ep, uint32_t seat)
{
	const struct hmq_seat *s = &ep->seats[seat];

	if (!hmq_is_vacant(hmq_seat_waiter(ep, 1 + seat)))
		return 0;
	/* Memory a writer has used waits for hmq_endpoint_renew. */
	if (ep->reader && hmq_reader_peer(ep->reader) != HMQ_OPEN)
		return 0;
	return s->was_there || s->conn == HMQ_MAX_CONNS;
}

/* It asked to be let in and died before it was: nobody else writes its word any more. */
static void
withdraw(struct hmq_out *o)
{
	/* relaxed: read and written for this thread alone */
	uint32_t ticket = hmq_load_relaxed_u32(&o->row->ticket);

	if (ticket != o->ticket && !(ticket & HMQ_TICKET_CLOSED))
		hmq_store_relaxed_u32(&o->row->ticket, ticket | HMQ_TICKET_CLOSED);
}

static void
give_back(struct hmq_endpoint *ep, uint32_t index)
{
	struct hmq_seat *s = &ep->seats[index];
	struct hmq_peer peer = peer_of(ep, index, -1);

	if (ep->writer) {
		withdraw(&ep->writer->out[index]);
		hmq_writer_set_peer(ep->writer, index, &peer);
	}
	if (s->event_fd >= 0)
		close(s->event_fd);
	*s = (struct hmq_seat){ .event_fd = -1, .conn = HMQ_MAX_CONNS };
}

static void
count_peers(struct hmq_endpoint *ep, uint32_t n)
{
	if (ep->writer && n == 0 && ep->n_peers > 0)
		ep->alone_since = ep->writer->seq;
	if (ep->writer && n > 0 && ep->n_peers == 0)
		ep->unheard += ep->writer->seq - ep->alone_since;
	ep->n_peers = n;
}

void
hmq_seats_look(struct hmq_endpoint *ep)
{
	uint32_t n = 0;

	if (ep->writer)
		hmq_writer_readers(ep->writer);
	for (uint32_t i = 0; i < ep->cfg.seats; i++) {
		struct hmq_seat *s = &ep->seats[i];

		if (!s->is_taken)
			continue;
		if (is_there(ep, i)) {
			n++;
			ep->attached += !s->was_there;
			s->was_there = 1;
		} else if (is_left(ep, i)) {
			give_back(ep, i);
		}
	}
	count_peers(ep, n);
}

int
hmq_seat_take(struct hmq_endpoint *ep, int32_t event_fd, struct hmq_error *err)
{
	struct hmq_peer peer;

	hmq_seats_look(ep);
	for (uint32_t i = 0; i < ep->cfg.seats; i++) {
		if (ep->seats[i].is_taken)
			continue;
		peer = peer_of(ep, i, event_fd);
		hmq_waiter_init(hmq_seat_waiter(ep, 1 + i),
				event_fd >= 0 ? HMQ_WAIT_EVENTFD : HMQ_WAIT_FUTEX);
		if (ep->writer)
			hmq_writer_set_peer(ep->writer, i, &peer);
		else
			ep->reader->peer = peer;
		ep->seats[i] = (struct hmq_seat){ .is_taken = 1, .event_fd = event_fd };
		return (int)i;
	}
	return hmq_fail(err, EUSERS, "endpoint %s: all %u seats are taken", ep->cfg.name,
			ep->cfg.seats);
}

void
hmq_seat_hangup(struct hmq_endpoint *ep, uint32_t seat, uint32_t conn)
{
	if (ep->seats[seat].conn == conn)
		ep->seats[seat].conn = HMQ_MAX_CONNS;
}
