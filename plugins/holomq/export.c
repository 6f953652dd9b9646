/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - holomq/export: what comes in goes out to programs that know a name.
 *
 * Each message is copied into a slot of the endpoint and published; head and
 * lineage stay as they are, seq is the endpoint's own.  Who is not there misses
 * what is published, which is counted, unless `required` says that the first
 * message waits.  Nothing here blocks: the endpoint's descriptor is watched, and
 * the op is called when somebody asks for a seat, leaves, or makes room.
 *
 * The socket is looked at when the op is called for nothing else, and between
 * messages once in a millisecond: a look is a system call.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "endpoints.h"

enum { C_ATTACHED, C_REFUSED, C_UNHEARD, C_LOST, C_PEERS_MAX };

static const int64_t look_ns = 1000000; /* between looks at the socket while messages flow */

struct export_params {
	const char *name;
	const char *dir;
	const char *kind;
	int64_t layout;
	int64_t depth;
	int32_t when_full;
	int64_t seats;
	int64_t required;
	int64_t attach_timeout;
	uint8_t any_user;
};

enum { COUNT_EVERY_NS = 100000000 };

struct export
{
	struct hmq_endpoint *ep;
	struct hmq_writer *writer;
	int64_t counted_ns;  /* when the library's numbers were last taken over */
	int64_t deadline_ns; /* for required peers; 0: not begun to wait */
	int64_t looked_ns;
	uint64_t attached; /* counted so far, and so on */
	uint64_t refused;
	uint64_t unheard;
	uint64_t lost;
	uint64_t peers_max;
	int32_t fd;
	uint32_t peers;
	bool has_begun; /* the required peers were there once */
	bool is_armed;  /* a reader that makes room rings */
	bool is_behind; /* the socket has more to say */
};

static const struct hop_port ports[] = {
	{ "in", "messages to publish", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

#define P(type, member, def, min, max, choices, doc)                                               \
	ENDPOINT_PARAM(type, struct export_params, member, def, min, max, choices, doc)

static const struct hop_param params[] = {
	P(TEXT, name, NULL, NULL, NULL, NULL, "name of the endpoint"),
	P(PATH, dir, NULL, NULL, NULL, NULL, "folder in which programs find it"),
	P(TEXT, kind, "", NULL, NULL, NULL, "a word that tells what the messages are"),
	P(INT, layout, "0", "0", NULL, NULL, "digest of a payload that is a C structure; 0: none"),
	P(INT, depth, "16", "1", "16777216", NULL, "messages each reader's queue holds"),
	P(CHOICE, when_full, "block", NULL, NULL, holomq_policies,
	  "what becomes of a message for which a reader has no room"),
	P(INT, seats, "4", "1", "64", NULL, "readers at most"),
	P(INT, required, "0", "0", "64", NULL,
	  "readers that must be there before the first message"),
	P(TIME, attach_timeout, "10s", "0", NULL, NULL, "how long the required readers may take"),
	P(BOOL, any_user, "false", NULL, NULL, NULL, "let readers of other users in"),
};

static const struct hop_counter counters[] = {
	[C_ATTACHED] = { "attached", "readers that were let in", HOP_LOG_INFO, 0 },
	[C_REFUSED] = { "refused", "programs that were turned away", HOP_LOG_WARN, 0 },
	[C_UNHEARD] = { "unheard", "messages published while no reader was there", HOP_LOG_INFO,
			0 },
	[C_LOST] = { "lost", "messages for which a reader had no room", HOP_LOG_WARN,
		     HOP_COUNTER_LOSS },
	[C_PEERS_MAX] = { "peers_max", "most readers at one time", HOP_LOG_INFO, 0 },
};

/* ---- [control] --------------------------------------------------------------------------- */

static int
describe(const struct hop_ctx *ctx, const struct hop_format *in, struct hmq_export *out)
{
	const struct export_params *p = ctx->params;
	int rc;

	*out = (struct hmq_export){
		.size = sizeof *out,
		.role = HMQ_ROLE_WRITER,
		.flags = HMQ_ENDPOINT_POLLED | (p->any_user ? HMQ_ENDPOINT_ANY_USER : 0),
		.seats = (uint32_t)p->seats,
		.dir = p->dir,
		.name = p->name,
		.contract = { .depth = (uint32_t)p->depth,
			      .policy = (uint32_t)p->when_full,
			      .layout = (uint64_t)p->layout,
			      .wake = HMQ_WAKE_SLEEP },
	};
	rc = holomq_contract_kind(ctx, &out->contract, p->kind);
	if (!rc)
		holomq_contract_format(&out->contract, in);
	return rc;
}

static int
export_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct export_params *p = ctx->params;
	struct hmq_export cfg;
	int rc = describe(ctx, shape->in[0], &cfg);

	if (!rc)
		rc = holomq_check(ctx, &cfg);
	if (!rc && p->required > p->seats)
		rc = HOP_FAIL(ctx, EINVAL, "required: %lld readers, but there are seats for %lld",
			      (long long)p->required, (long long)p->seats);
	return rc;
}

/* ---- [worker] ---------------------------------------------------------------------------- */

static int
export_start(void *state, const struct hop_ctx *ctx)
{
	const struct hop_shape *shape = ctx->host->query(ctx, "shape/1");
	struct export *s = state;
	struct hmq_export cfg;
	struct hmq_error err = { 0 };
	int rc;

	*s = (struct export){ 0 };
	if (!shape)
		return HOP_FAIL(ctx, ENOTSUP, "the host has no interface shape/1");
	rc = describe(ctx, shape->in[0], &cfg);
	if (rc)
		return rc;
	rc = hmq_endpoint_export(&s->ep, &cfg, &err);
	if (rc)
		return HOP_FAIL(ctx, -rc, "%s", err.text);
	s->writer = hmq_endpoint_writer(s->ep);
	s->fd = hmq_endpoint_fd(s->ep);
	rc = ctx->host->watch(ctx, s->fd, POLLIN);
	if (rc < 0) {
		hmq_endpoint_close(s->ep);
		s->ep = NULL;
		return HOP_FAIL(ctx, -rc, "endpoint %s: cannot watch its socket", cfg.name);
	}
	return 0;
}

static void
count_losses(struct export *s, const struct hop_ctx *ctx)
{
	const struct export_params *p = ctx->params;
	uint64_t lost = 0;

	if (p->when_full != HMQ_DROP_NEWEST && p->when_full != HMQ_DROP_OLDEST)
		return;
	for (uint32_t i = 0; i < (uint32_t)p->seats; i++) {
		struct hmq_edge_stat st;

		if (!hmq_chan_stat(hmq_endpoint_segment(s->ep), i, &st))
			lost += st.lost;
	}
	holomq_count_to(ctx, C_LOST, &s->lost, lost);
}

/* The library counts under a lock: not for every look. */
static void
count(struct export *s, const struct hop_ctx *ctx)
{
	struct hmq_endpoint_stat n;

	hmq_endpoint_numbers(s->ep, &n);
	holomq_count_to(ctx, C_ATTACHED, &s->attached, n.attached);
	holomq_count_to(ctx, C_REFUSED, &s->refused, n.refused);
	holomq_count_to(ctx, C_UNHEARD, &s->unheard, n.unheard);
	holomq_count_to(ctx, C_PEERS_MAX, &s->peers_max, n.peers);
}

/* Let in who asks, see who has gone; afterwards the descriptor tells what comes next. */
static void
look(struct export *s, const struct hop_ctx *ctx, int64_t now_ns)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	bool has_news = poll(&p, 1, 0) > 0;
	/* Nobody there and nobody at the door: asking would only let in, uncounted, whoever comes
	 * in this very moment. */
	uint32_t peers = has_news || s->peers ? hmq_endpoint_poll(s->ep) : 0;

	if (has_news || peers != s->peers || now_ns - s->counted_ns >= COUNT_EVERY_NS) {
		count(s, ctx);
		s->counted_ns = now_ns;
	}
	s->looked_ns = now_ns;
	s->is_armed = false;
	s->peers = peers;
	count_losses(s, ctx);
	s->is_behind = has_news && poll(&p, 1, 0) > 0;
}

/* 1: the messages may go; 0: not yet; or a failure. */
static int
may_begin(struct export *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct export_params *p = ctx->params;

	if (s->deadline_ns == 0)
		s->deadline_ns = io->now_ns + p->attach_timeout;
	/* A run that is called off waits for nobody. */
	if (s->has_begun || s->peers >= (uint32_t)p->required || io->stopping) {
		s->has_begun = true;
		return 1;
	}
	if (io->now_ns >= s->deadline_ns)
		return HOP_FAIL(ctx, ETIMEDOUT,
				"endpoint %s: %lld readers are required, %u came within %lld ms",
				p->name, (long long)p->required, s->peers,
				(long long)(p->attach_timeout / 1000000));
	ctx->host->wake_at(ctx, s->deadline_ns);
	return 0;
}

static void
fill(const struct hmq_tx *tx, const struct hop_rx *rx)
{
	const struct hop_head *from = rx->head;
	struct hmq_head *to = tx->head;

	to->frame = from->frame;
	to->index = from->index;
	to->stream = from->stream;
	to->flags = from->flags;
	to->born_ns = from->born_ns;
	to->last_ns = from->last_ns;
	to->stamp_ns = from->stamp_ns;
	memcpy(to->dim, from->dim, sizeof to->dim);
	memcpy(to->user, from->user, sizeof to->user);
	to->bytes = rx->bytes;
	memcpy(tx->data, rx->data, rx->bytes);
}

/* One message: 1, 0 for no room now, or a failure. */
static int
publish(struct export *s, const struct hop_ctx *ctx, const struct hop_rx *rx)
{
	const struct export_params *p = ctx->params;
	struct hmq_tx tx;
	int32_t rc;

	if (hmq_room(s->writer) == 0 || hmq_loan(s->writer, &tx, 1) == 0)
		return 0;
	if (rx->bytes > tx.capacity) {
		hmq_cancel(s->writer, &tx, 1);
		return HOP_FAIL(ctx, EMSGSIZE, "in: %llu bytes, a slot of the endpoint has %llu",
				(unsigned long long)rx->bytes, (unsigned long long)tx.capacity);
	}
	fill(&tx, rx);
	rc = hmq_publish(s->writer, &tx, 1);
	if (rc > 0)
		return 1;
	hmq_cancel(s->writer, &tx, 1);
	if (rc == -EAGAIN)
		return 0;
	if (rc == -ENOBUFS)
		return HOP_FAIL(
			ctx, ENOBUFS,
			"endpoint %s: reader %u has no room for message %llu (depth %lld) and "
			"when_full says fail",
			p->name, hmq_writer_culprit(s->writer), (unsigned long long)rx->head->seq,
			(long long)p->depth);
	return HOP_FAIL(ctx, -rc, "endpoint %s: cannot publish", p->name);
}

/* As many as there is room for; without room the readers are asked to ring. */
static int
publish_all(struct export *s, const struct hop_ctx *ctx, struct hop_in *in)
{
	while (in->taken < in->count) {
		int rc = publish(s, ctx, &in->msg[in->taken]);

		if (rc < 0)
			return rc;
		in->taken += (uint32_t)rc;
		if (rc > 0)
			continue;
		if (hmq_endpoint_arm(s->ep) == 0) {
			s->is_armed = true;
			return 0;
		}
	}
	return 0;
}

static hop_status
export_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct export *s = state;
	struct hop_in *in = &io->in[0];
	bool looks = in->count == 0 || s->is_armed || s->is_behind || !s->has_begun ||
		     io->now_ns - s->looked_ns >= look_ns;
	int rc;

	if (looks)
		look(s, ctx, io->now_ns);
	rc = may_begin(s, ctx, io);
	if (rc > 0)
		rc = publish_all(s, ctx, in);
	if (rc < 0)
		return rc;
	if (in->ended && in->taken == in->count) {
		hmq_writer_end(s->writer);
		count(s, ctx);
		return HOP_DONE;
	}
	if (s->is_behind)
		ctx->host->wake_at(ctx, io->now_ns);
	/* Idle means that the descriptor has been heard. */
	return looks && !s->is_behind ? HOP_IDLE : HOP_OK;
}

static void
export_stop(void *state, const struct hop_ctx *ctx)
{
	struct export *s = state;

	count(s, ctx);
	count_losses(s, ctx);
	hmq_endpoint_close(s->ep);
	s->ep = NULL;
}

const struct hop_op holomq_export = {
	.size = sizeof holomq_export,
	.flags = HOP_F_FD,
	.name = "holomq/export",
	.doc = "Publish messages to programs outside the graph.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct export_params),
	.state_size = sizeof(struct export),
	.shape = export_shape,
	.start = export_start,
	.process = export_process,
	.stop = export_stop,
};
