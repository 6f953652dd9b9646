/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_sink.c - net/udp_sink: one datagram per message, at its due time.
 *
 * The schedule begins 100 us after the first message is seen (so that it is
 * paced like any other) and counts from that message's frame f0, index i0:
 *   every > 0:               due = t0 + (frame - f0) every + (index - i0) interval
 *   every = 0, interval > 0: due = t0 + (number of the message) interval
 *   both 0:                  at once; the due time is the time of sending
 * wake_at brings the op back 60 us before the due time, then it spins.  A
 * message whose time has passed is sent at once.  The due time goes into the
 * packet, so a receiver measures from when it should have been sent.
 *
 * Nobody listening is no error: refused packets are counted, since a receiver
 * may come and go.  The packet that found the refusal is sent again.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net.h"

enum { C_SENT, C_REFUSED, C_RETRIES, C_LATE_MAX, C_LATE_MEAN, C_LATE_100US };

static const int64_t lead_ns = 100000; /* from the first message to the start of the schedule */
static const int64_t spin_ns = 60000;  /* longest spin before a due time */
static const int64_t retry_ns = 50000; /* when the send buffer is full */
static const int64_t far_ns = (int64_t)3600 * 1000000000; /* no schedule waits that long */

struct udp_sink_params {
	const char *to;
	const char *header;
	uint64_t packet;
	uint64_t send_buffer;
	int64_t every;
	int64_t interval;
};

struct udp_sink {
	int fd;
	uint32_t payload;       /* most bytes of a message */
	unsigned char *headers; /* NET_BATCH times header.data */
	int64_t t0_ns;          /* 0: no message yet */
	int64_t last_due_ns;
	uint64_t frame0;
	uint64_t index0;
	uint64_t n; /* messages sent */
	uint64_t late_sum_ns;
	uint64_t late_max_ns;
	struct hk_net_header header;
	int64_t due_ns[NET_BATCH];
	struct msghdr msg[NET_BATCH];
	struct iovec iov[NET_BATCH][2];
};

static const struct hop_port ports[] = {
	{ "in", "payloads", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	NET_PARAM(TEXT, struct udp_sink_params, to, NULL, NULL, NULL, NULL,
		  "host:port to send to; [::1]:port for IPv6"),
	NET_PARAM(TEXT, struct udp_sink_params, header, NULL, NET_HEADER, NULL, NULL,
		  NET_HEADER_DOC),
	NET_PARAM(SIZE, struct udp_sink_params, packet, NULL, "0", "0", "65507B",
		  "bytes of a packet, header included, to be checked; 0: header and message"),
	NET_PARAM(SIZE, struct udp_sink_params, send_buffer, NULL, "0", "0", "512MiB",
		  "of the socket, honoured or refused; 0: the system's default"),
	NET_PARAM(TIME, struct udp_sink_params, every, NULL, "0", "0", "10min",
		  "from one frame to the next; 0: frames are not paced"),
	NET_PARAM(TIME, struct udp_sink_params, interval, NULL, "0", "0", "10min",
		  "from one message of a frame to the next; 0: all at once"),
};

static const struct hop_counter counters[] = {
	[C_SENT] = { "sent", "packets sent", HOP_LOG_INFO, 0 },
	[C_REFUSED] = { "refused", "refusals from the other side: nobody listens there",
			HOP_LOG_WARN, 0 },
	[C_RETRIES] = { "retries", "times the send buffer was full", HOP_LOG_WARN, 0 },
	[C_LATE_MAX] = { "late_max_ns", "longest time from due to sending", HOP_LOG_INFO, 0 },
	[C_LATE_MEAN] = { "late_mean_ns", "mean time from due to sending", HOP_LOG_INFO, 0 },
	[C_LATE_100US] = { "late_over_100us", "packets sent more than 100 us after they were due",
			   HOP_LOG_WARN, 0 },
};

static int
udp_sink_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct udp_sink_params *p = ctx->params;
	uint64_t payload = shape->in[0]->max_bytes;
	struct hk_net_endpoint e;
	struct hk_net_header h;
	int rc = net_parse_endpoint(ctx, "to", p->to, &e);

	if (!rc)
		rc = net_parse_header(ctx, p->header, &h);
	if (rc)
		return rc;
	if (h.data + payload > HK_NET_MAX_PACKET)
		return HOP_FAIL(ctx, EINVAL,
				"in: a header of %u and messages of %llu bytes, a datagram has %d",
				h.data, (unsigned long long)payload, HK_NET_MAX_PACKET);
	if (p->packet && p->packet != h.data + payload)
		return HOP_FAIL(ctx, EINVAL,
				"packet: %llu bytes, but a header of %u and messages of %llu make "
				"%llu",
				(unsigned long long)p->packet, h.data, (unsigned long long)payload,
				(unsigned long long)(h.data + payload));
	return 0;
}

/* The parts of the send call that stay the same. */
static void
prepare(struct udp_sink *s)
{
	for (uint32_t i = 0; i < NET_BATCH; i++) {
		struct msghdr *m = &s->msg[i];

		s->iov[i][0].iov_base = s->headers + (size_t)i * s->header.data;
		s->iov[i][0].iov_len = s->header.data;
		m->msg_iov = s->iov[i];
		m->msg_iovlen = 2;
	}
}

static int
udp_sink_open(void *state, const struct hop_ctx *ctx)
{
	const struct udp_sink_params *p = ctx->params;
	struct udp_sink *s = state;
	struct net_address address;
	int rc = net_parse_header(ctx, p->header, &s->header);

	if (rc)
		return rc;
	s->payload = HK_NET_MAX_PACKET - s->header.data;
	s->fd = net_socket(ctx, "to", p->to, &address);
	if (s->fd < 0)
		return s->fd;
	rc = net_send_buffer(ctx, s->fd, p->send_buffer);
	if (!rc && connect(s->fd, (const struct sockaddr *)&address.at, address.len))
		rc = HOP_FAIL(ctx, errno, "to: no way to %s", p->to);
	if (!rc) {
		s->headers = ctx->host->alloc(ctx, (uint64_t)NET_BATCH * s->header.data + 1, 0,
					      HOP_MEM_HOST);
		if (!s->headers)
			rc = HOP_FAIL(ctx, ENOMEM, "no memory for %d packet headers", NET_BATCH);
	}
	if (rc) {
		close(s->fd);
		return rc;
	}
	prepare(s);
	return 0;
}

static int
udp_sink_start(void *state, const struct hop_ctx *ctx)
{
	struct udp_sink *s = state;

	(void)ctx;
	s->t0_ns = 0;
	return 0;
}

/* Due time of a message that has `ahead` unsent ones before it, by the schedule above. */
static int
due(struct udp_sink *s, const struct hop_ctx *ctx, const struct hop_head *head, uint64_t ahead,
    int64_t *due_ns)
{
	const struct udp_sink_params *p = ctx->params;
	int64_t frames = (int64_t)(head->frame - s->frame0);
	int64_t steps = (int64_t)head->index - (int64_t)s->index0;
	int64_t a, b, sum;

	if (p->every == 0) {
		frames = 0;
		steps = (int64_t)(s->n + ahead);
	}
	if (__builtin_mul_overflow(frames, p->every, &a) ||
	    __builtin_mul_overflow(steps, p->interval, &b) || __builtin_add_overflow(a, b, &sum) ||
	    __builtin_add_overflow(sum, s->t0_ns, &sum) || sum > s->last_due_ns + far_ns)
		return HOP_FAIL(ctx, ERANGE,
				"frame %llu, index %u is due more than an hour after the message "
				"before it",
				(unsigned long long)head->frame, head->index);
	*due_ns = sum > s->t0_ns ? sum : s->t0_ns;
	return 0;
}

static void
begin(struct udp_sink *s, const struct hop_head *head)
{
	s->t0_ns = net_now_ns() + lead_ns;
	s->last_due_ns = s->t0_ns;
	s->frame0 = head->frame;
	s->index0 = head->index;
	s->n = 0;
}

/*
 * Fills due_ns[] for the messages to send now and says how many: those whose
 * time has come, after a spin if the first one's is near; 0: called again later.
 */
static int
choose(struct udp_sink *s, const struct hop_ctx *ctx, const struct hop_in *in, int64_t *now_ns)
{
	const struct udp_sink_params *p = ctx->params;
	uint32_t most = in->count < NET_BATCH ? in->count : NET_BATCH;
	bool is_paced = p->every || p->interval;
	uint32_t n = 0;

	*now_ns = net_now_ns();
	for (; n < most; n++) {
		int rc;

		s->due_ns[n] = *now_ns;
		rc = is_paced ? due(s, ctx, in->msg[n].head, n, &s->due_ns[n]) : 0;
		if (rc)
			return n ? (int)n : rc; /* what is before it goes out first */
		if (n == 0 && s->due_ns[0] - *now_ns > spin_ns) {
			ctx->host->wake_at(ctx, s->due_ns[0] - spin_ns);
			return 0;
		}
		while (n == 0 && *now_ns < s->due_ns[0])
			*now_ns = net_now_ns();
		if (s->due_ns[n] > *now_ns)
			break;
	}
	return (int)n;
}

static int
fill(struct udp_sink *s, const struct hop_ctx *ctx, const struct hop_in *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hop_rx *rx = &in->msg[i];
		const struct hk_net_values v = {
			.frame = rx->head->frame,
			.index = rx->head->index,
			.stream = rx->head->stream,
			.due_ns = s->due_ns[i],
			.stamp_ns = rx->head->stamp_ns,
		};

		if (rx->bytes > s->payload)
			return HOP_FAIL(ctx, EMSGSIZE, "in: %llu bytes, a packet takes %u",
					(unsigned long long)rx->bytes, s->payload);
		hk_net_header_write(&s->header, s->iov[i][0].iov_base, &v);
		s->iov[i][1].iov_base = (void *)(uintptr_t)rx->data;
		s->iov[i][1].iov_len = rx->bytes;
	}
	return 0;
}

/* How many of the n went out; a failure if none can. */
static int
send_all(struct udp_sink *s, const struct hop_ctx *ctx, uint32_t n)
{
	uint32_t sent = 0;

	while (sent < n) {
		/* One by one: sendmmsg does not tell why it stopped half way. */
		if (sendmsg(s->fd, &s->msg[sent], MSG_DONTWAIT) >= 0) {
			sent++;
		} else if (errno == ECONNREFUSED) {
			hop_count(ctx, C_REFUSED, 1);
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			hop_count(ctx, C_RETRIES, 1);
			ctx->host->wake_at(ctx, net_now_ns() + retry_ns);
			break;
		} else if (errno != EINTR) {
			return sent ? (int)sent : HOP_FAIL(ctx, errno, "cannot send");
		}
	}
	return (int)sent;
}

/* Own lateness, kept as counters: the largest, the mean, how many beyond 100 us. */
static void
account(struct udp_sink *s, const struct hop_ctx *ctx, uint32_t n, int64_t now_ns)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t late_ns = now_ns > s->due_ns[i] ? (uint64_t)(now_ns - s->due_ns[i]) : 0;

		s->late_sum_ns += late_ns;
		if (late_ns > s->late_max_ns)
			s->late_max_ns = late_ns;
		if (late_ns > 100000)
			hop_count(ctx, C_LATE_100US, 1);
		s->last_due_ns = s->due_ns[i];
	}
	s->n += n;
	hop_count(ctx, C_SENT, n);
	/* hop_count only adds; these two are values. */
	hop_count(ctx, C_LATE_MAX, s->late_max_ns - ctx->counters[C_LATE_MAX]);
	hop_count(ctx, C_LATE_MEAN,
		  s->late_sum_ns / ctx->counters[C_SENT] - ctx->counters[C_LATE_MEAN]);
}

static hop_status
udp_sink_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct udp_sink *s = state;
	struct hop_in *in = &io->in[0];
	int64_t now_ns;
	int n, rc;

	if (in->count == 0)
		return HOP_IDLE;
	if (s->t0_ns == 0)
		begin(s, in->msg[0].head);
	n = choose(s, ctx, in, &now_ns);
	if (n <= 0)
		return n < 0 ? n : HOP_IDLE;
	rc = fill(s, ctx, in, (uint32_t)n);
	if (rc)
		return rc;
	rc = send_all(s, ctx, (uint32_t)n);
	if (rc <= 0)
		return rc < 0 ? rc : HOP_IDLE;
	account(s, ctx, (uint32_t)rc, now_ns);
	in->taken = (uint32_t)rc;
	return HOP_OK;
}

static void
udp_sink_close(void *state, const struct hop_ctx *ctx)
{
	struct udp_sink *s = state;

	close(s->fd);
	ctx->host->free(ctx, s->headers);
}

const struct hop_op net_udp_sink = {
	.size = sizeof net_udp_sink,
	.flags = HOP_F_FD,
	.name = "net/udp_sink",
	.doc = "Send each message as a UDP packet, at its due time.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct udp_sink_params),
	.state_size = sizeof(struct udp_sink),
	.shape = udp_sink_shape,
	.open = udp_sink_open,
	.start = udp_sink_start,
	.process = udp_sink_process,
	.close = udp_sink_close,
};
