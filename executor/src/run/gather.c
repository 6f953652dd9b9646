/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - pieces of a frame become one message with a new outermost axis.
 *
 * Sits between the channel of pieces and the node that reads it, in that node's
 * worker, and writes assembled messages into a channel of its own.  Each piece
 * is copied once, to the place its head.index says.  Every piece and every frame
 * ends in exactly one counter (struct hr_page_gather); the identities are
 * checked at exit.  [worker], except new and free.
 *
 * A frame is open from its first piece until it is complete or closed; at most
 * `window` frames wait here, whether complete or not, so that an old incomplete
 * one cannot hold up newer ones for ever.
 */
#include <errno.h>
#include <string.h>

#include "run/inst.h"
#include "run/keys.h"

enum {
	FAR = 1024,         /* a key this far from the newest is not believed */
	PIECES_A_STEP = 64, /* so that one gather cannot starve its partition */
};

struct open_frame {
	struct hr_key key;
	struct hmq_tx tx;
	uint64_t *have; /* bit i: piece i is placed */
	int64_t n_placed;
	int64_t born_ns, last_ns, stamp_ns, opened_ns;
	uint32_t flags;
	bool done; /* complete or closed as partial: waits for its turn and for room */
	bool partial;
	bool former; /* of the writer's former life: its key says nothing any more */
};

struct hr_gather_run {
	const struct hr_gather *def;
	struct hr_inst *node;
	uint32_t edge;
	struct hr_link link; /* of the pieces */
	struct hmq_writer *writer;
	struct hr_page_gather *page;
	uint64_t slice; /* bytes of a piece in the assembled message */
	uint64_t bytes; /* of the assembled message */
	bool bitmap;    /* the port wants HOP_PORT_GAPS */
	bool sheds;     /* when_full: drop_* */
	bool fails;     /* when_full: fail */
	bool ended;
	bool peer_lost;
	struct hop_dtype dtype;
	bool any_key;
	uint64_t newest; /* frame */
	uint32_t n_open;
	struct open_frame **open; /* `window` of them, oldest first */
	struct open_frame *store;
	struct hr_keys *closed; /* to tell a late piece from a new frame */
};

/* ---- frames --------------------------------------------------------------------------------- */

static void
forget(struct hr_gather_run *g, uint32_t at)
{
	struct open_frame *f = g->open[at];

	if (!f->former)
		hr_keys_add(g->closed, &f->key);
	g->n_open--;
	memmove(&g->open[at], &g->open[at + 1], (g->n_open - at) * sizeof(struct open_frame *));
	g->open[g->n_open] = f;
}

static void
fill_missing(const struct hr_gather_run *g, struct open_frame *f)
{
	for (int64_t i = 0; i < g->def->count; i++) {
		char *dst = (char *)f->tx.data + (uint64_t)i * g->slice;

		if (f->have[i / 64] >> (i % 64) & 1)
			continue;
		if (g->def->missing == HR_MISSING_ZERO) {
			memset(dst, 0, g->slice);
		} else if (g->dtype.bits == 64 && g->dtype.code == 2) {
			for (uint64_t b = 0; b + 8 <= g->slice; b += 8)
				memcpy(dst + b, &(double){ __builtin_nan("") }, 8);
		} else {
			for (uint64_t b = 0; b + 4 <= g->slice; b += 4)
				memcpy(dst + b, &(float){ __builtin_nanf("") }, 4);
		}
	}
}

static void
write_head(const struct hr_gather_run *g, const struct open_frame *f)
{
	struct hmq_head *h = f->tx.head;

	h->frame = f->key.frame;
	h->stream = g->def->by_stream ? f->key.stream : 0;
	h->index = 0;
	h->born_ns = f->born_ns;
	h->last_ns = f->last_ns;
	h->stamp_ns = f->stamp_ns;
	h->flags = f->flags;
	h->bytes = g->bytes;
	if (g->bitmap)
		memcpy((char *)f->tx.data + (g->bytes + 7) / 8 * 8, f->have,
		       ((size_t)g->def->count + 63) / 64 * 8);
}

/* The frame will get no more pieces: decide what becomes of it. */
static void
close_frame(struct hr_gather_run *g, uint32_t at)
{
	struct open_frame *f = g->open[at];

	if (g->def->missing == HR_MISSING_DROP || f->n_placed < g->def->min_valid) {
		hr_add_single(&g->page->dropped, 1);
		hmq_cancel(g->writer, &f->tx, 1);
		forget(g, at);
		return;
	}
	fill_missing(g, f);
	f->flags |= HOP_MSG_GAP;
	f->done = f->partial = true;
}

/* Publish what is done, in the order the keys were first seen unless any order will do. */
static uint32_t
publish_done(struct hr_gather_run *g)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < g->n_open;) {
		struct open_frame *f = g->open[i];

		if (!f->done) {
			if (!g->def->any_order)
				break;
			i++;
			continue;
		}
		if (hmq_room(g->writer) == 0)
			break;
		write_head(g, f);
		if (hmq_publish(g->writer, &f->tx, 1) != 1)
			break;
		hr_add_single(f->partial ? &g->page->partial : &g->page->complete, 1);
		hr_add_single(&g->page->published, 1);
		forget(g, i);
		moved++;
	}
	return moved;
}

static struct open_frame *
find_open(struct hr_gather_run *g, const struct hr_key *k)
{
	for (uint32_t i = g->n_open; i-- > 0;)
		if (!g->open[i]->former && hr_key_equal(&g->open[i]->key, k))
			return g->open[i];
	return NULL;
}

enum verdict { PLACE, COUNT_ONLY, WAIT };

/* Make room in the window: the oldest frame that is still open is closed. */
static bool
make_room(struct hr_gather_run *g)
{
	if (g->n_open < g->def->window)
		return true;
	for (uint32_t i = 0; i < g->n_open; i++) {
		if (g->open[i]->done)
			continue;
		close_frame(g, i);
		break;
	}
	publish_done(g);
	return g->n_open < g->def->window;
}

static void
fail_full(struct hr_gather_run *g)
{
	hr_worker_fail(g->node->worker, g->node, HR_FAILURE_EDGE, HR_CALL_PROCESS, ENOBUFS,
		       "the gather has no free slot for a new frame and its input says "
		       "when_full: fail");
}

static enum verdict
open_new(struct hr_gather_run *g, const struct hr_key *k, const struct hmq_head *h, int64_t now,
	 struct open_frame **out)
{
	struct open_frame *f;

	if (!make_room(g) || hmq_loan(g->writer, &g->open[g->n_open]->tx, 1) == 0) {
		if (g->fails) {
			fail_full(g);
			return WAIT;
		}
		if (!g->sheds)
			return WAIT;
		hr_keys_add(g->closed, &(struct hr_key){ k->frame, k->stream, 1 });
		hr_add_single(&g->page->opened, 1);
		hr_add_single(&g->page->shed_frames, 1);
		hr_add_single(&g->page->shed, 1);
		return COUNT_ONLY;
	}
	f = g->open[g->n_open++];
	f->key = *k;
	memset(f->have, 0, ((size_t)g->def->count + 63) / 64 * 8);
	f->n_placed = 0;
	f->born_ns = h->born_ns;
	f->last_ns = h->last_ns;
	f->stamp_ns = h->stamp_ns;
	f->flags = 0;
	f->opened_ns = now;
	f->done = f->partial = f->former = false;
	hr_add_single(&g->page->opened, 1);
	*out = f;
	return PLACE;
}

static enum verdict
judge(struct hr_gather_run *g, const struct hmq_rx *rx, const struct hmq_head *h, int64_t now,
      struct open_frame **out)
{
	struct hr_key k = { h->frame, g->def->by_stream ? h->stream : 0, 0 };
	int64_t ahead = (int64_t)(k.frame - g->newest);
	const struct hr_key *closed;
	enum verdict v = PLACE;

	if (h->index >= g->def->count || rx->bytes > g->slice ||
	    (g->any_key && (ahead > FAR || ahead < -FAR))) {
		hr_add_single(&g->page->invalid, 1);
		return COUNT_ONLY;
	}
	*out = find_open(g, &k);
	if (!*out && (closed = hr_keys_find(g->closed, &k)) != NULL) {
		hr_add_single(closed->shed ? &g->page->shed : &g->page->late, 1);
		return COUNT_ONLY;
	}
	if (!*out)
		v = open_new(g, &k, h, now, out);
	if (v != WAIT && (!g->any_key || ahead > 0)) {
		g->newest = k.frame;
		g->any_key = true;
	}
	if (v != PLACE)
		return v;
	if ((*out)->have[h->index / 64] >> (h->index % 64) & 1) {
		hr_add_single(&g->page->duplicate, 1);
		return COUNT_ONLY;
	}
	if ((*out)->done) { /* closed as partial, waiting for its turn */
		hr_add_single(&g->page->late, 1);
		return COUNT_ONLY;
	}
	return PLACE;
}

static void
place(struct hr_gather_run *g, struct open_frame *f, const struct hmq_rx *rx,
      const struct hmq_head *h)
{
	char *dst = (char *)f->tx.data + h->index * g->slice;

	memcpy(dst, rx->data, rx->bytes);
	if (rx->bytes < g->slice)
		memset(dst + rx->bytes, 0, g->slice - rx->bytes);
	f->have[h->index / 64] |= 1ull << (h->index % 64);
	f->n_placed++;
	if (h->born_ns < f->born_ns)
		f->born_ns = h->born_ns;
	if (h->last_ns > f->last_ns)
		f->last_ns = h->last_ns;
	f->flags |= h->flags;
	hr_add_single(&g->page->placed, 1);
	if (f->n_placed == g->def->count)
		f->done = true;
}

/* True if the piece was dealt with and may be released. */
static bool
take_piece(struct hr_gather_run *g, const struct hmq_rx *rx, int64_t now)
{
	struct hmq_head h = *rx->head; /* a copy: the writer's process may be hostile */
	struct open_frame *f = NULL;
	enum verdict v = judge(g, rx, &h, now, &f);

	if (v == WAIT)
		return false;
	hr_add_single(&g->page->received, 1);
	if (v == PLACE)
		place(g, f, rx, &h);
	return true;
}

static uint32_t
close_overdue(struct hr_gather_run *g, int64_t now)
{
	uint32_t n = 0;

	if (!g->def->timeout_ns)
		return 0;
	for (uint32_t i = 0; i < g->n_open;) {
		uint32_t before = g->n_open;

		if (!g->open[i]->done && now - g->open[i]->opened_ns >= g->def->timeout_ns) {
			close_frame(g, i);
			n++;
		}
		i += g->n_open == before;
	}
	return n;
}

/* No frame gets more pieces. */
static void
close_all(struct hr_gather_run *g)
{
	for (uint32_t i = 0; i < g->n_open;) {
		uint32_t before = g->n_open;

		if (!g->open[i]->done)
			close_frame(g, i);
		i += g->n_open == before;
	}
}

/* The writer was started again: its frames have nothing to do with those before. */
static void
start_over(struct hr_gather_run *g)
{
	close_all(g);
	for (uint32_t i = 0; i < g->n_open; i++)
		g->open[i]->former = true;
	hr_keys_forget(g->closed);
	g->any_key = false;
	g->newest = 0;
}

static uint32_t
check_end(struct hr_gather_run *g)
{
	const struct hr_reading *was = g->link.now;
	uint32_t peer = hr_link_peer(&g->link, 0);

	if (g->link.now != was) {
		start_over(g);
		return 1;
	}
	if (peer == HMQ_OPEN || hmq_queued(g->link.reader) != 0)
		return 0;
	close_all(g);
	publish_done(g);
	if (g->n_open)
		return 0; /* the node has to make room first */
	g->ended = true;
	g->node->peer_lost |= peer == HMQ_LOST;
	hmq_writer_end(g->writer);
	hr_link_end(&g->link);
	return 1;
}

uint32_t
hr_gather_step(struct hr_gather_run *g, int64_t now)
{
	struct hmq_rx rx[PIECES_A_STEP];
	uint32_t moved = 0;
	int32_t n;

	if (g->ended)
		return 0;
	moved += publish_done(g);
	moved += close_overdue(g, now);
	n = hmq_peek(g->link.reader, 0, rx, PIECES_A_STEP);
	if (n < 0) {
		hr_worker_fail(g->node->worker, g->node, HR_FAILURE_HOST, HR_CALL_PROCESS, EBADMSG,
			       "the writer of a gathered input put an impossible index or length "
			       "into its channel");
		return 1;
	}
	for (int32_t i = 0; i < n; i++) {
		/* A complete frame goes at once: it frees its place in the window. */
		if (!take_piece(g, &rx[i], now))
			break;
		hmq_take(g->link.reader, &rx[i], 1);
		moved += 1 + publish_done(g);
		if (g->ended)
			return moved;
	}
	if (n == 0)
		moved += check_end(g);
	if (moved)
		hr_add_single(&g->node->worker->page->moved, moved);
	return moved;
}

int64_t
hr_gather_deadline(const struct hr_gather_run *g)
{
	int64_t first = INT64_MAX;

	if (g->ended || !g->def->timeout_ns)
		return first;
	for (uint32_t i = 0; i < g->n_open; i++)
		if (!g->open[i]->done && g->open[i]->opened_ns + g->def->timeout_ns < first)
			first = g->open[i]->opened_ns + g->def->timeout_ns;
	return first;
}

void
hr_gather_close_input(struct hr_gather_run *g)
{
	if (g->ended)
		return;
	g->ended = true;
	/* Its node left: what is half assembled was received and will not be published. */
	while (g->n_open) {
		hr_add_single(&g->page->dropped, 1);
		hmq_cancel(g->writer, &g->open[0]->tx, 1);
		forget(g, 0);
	}
	hmq_writer_end(g->writer);
	hr_link_end(&g->link);
}

/* ---- making --------------------------------------------------------------------------------- */

struct hr_gather_run *
hr_gather_new(struct hr_host *h, uint32_t edge, struct hr_inst *reader)
{
	const struct hr_plan *p = h->plan;
	const struct hr_plan_edge *pe = &p->edge[edge];
	const struct hr_bound_edge *be = &p->bound->edge[edge];
	const struct hop_format *piece = &p->bound->node[be->from].out[be->out].format;
	const struct hr_port_in *port = &p->bound->node[be->to].in[be->in];
	struct hr_gather_run *g = HR_NEW(h->arena, struct hr_gather_run);
	uint32_t writer = p->node[be->from].worker, self = p->node[be->to].worker;
	struct hmq_peer peer = hr_wire_peer(h->wiring, self, writer), none = { .event_fd = -1 };
	struct hmq_error e = { 0 };

	g->def = p->graph->edge[edge].gather;
	g->node = reader;
	g->edge = edge;
	g->page = hr_page_gather(h->wiring->page, edge);
	g->slice = piece->max_bytes;
	g->bytes = piece->max_bytes * (uint64_t)g->def->count;
	g->dtype = piece->dtype;
	g->bitmap = port->port->flags & HOP_PORT_GAPS;
	g->sheds = pe->when_full == HR_FULL_DROP_NEWEST || pe->when_full == HR_FULL_DROP_OLDEST;
	g->fails = pe->when_full == HR_FULL_FAIL;
	g->open = HR_ARRAY(h->arena, g->def->window + 1, struct open_frame *);
	g->store = HR_ARRAY(h->arena, g->def->window + 1, struct open_frame);
	for (uint32_t i = 0; i <= g->def->window; i++) {
		g->open[i] = &g->store[i];
		g->store[i].have = HR_ARRAY(h->arena, ((size_t)g->def->count + 63) / 64, uint64_t);
	}
	g->closed = hr_keys_new(h->arena);
	if (hr_link_open(h, &g->link, pe->chan, pe->reader, &peer, &e) ||
	    hmq_writer_open(&g->writer, &h->wiring->chan[pe->gather_chan], &none, &e)) {
		hr_gather_free(g);
		return NULL;
	}
	return g;
}

void
hr_gather_free(struct hr_gather_run *g)
{
	hr_link_close(&g->link);
	if (g->writer)
		hmq_writer_free(g->writer);
	g->writer = NULL;
}

uint32_t
hr_gather_edge(const struct hr_gather_run *g)
{
	return g->edge;
}

struct hr_link *
hr_gather_link(struct hr_gather_run *g)
{
	return &g->link;
}
