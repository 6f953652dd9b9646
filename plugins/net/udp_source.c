/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_source.c - net/udp_source: one message per datagram.
 *
 * recvmmsg puts each payload straight into its slot and the header beside it,
 * and never takes more packets than there are slots: under back-pressure they
 * wait in the socket, and what the kernel then drops is counted as
 * kernel_drops.  A packet that is too long, too short or whose header lies is
 * counted by kind and makes no message.
 *
 * born_ns is the packet's due time if that is within 10 s before and 1 s after
 * its arrival, else the arrival (counted: no_due).  A header without a frame
 * field numbers the packets as they arrive.  Once told to stop, the source
 * delivers until no packet has come for `linger`.
 */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net.h"

enum { C_PACKETS, C_KERNEL_DROPS, C_TRUNCATED, C_SHORT, C_MALFORMED, C_NO_DUE };

struct udp_source_params {
	const char *listen;
	const char *header;
	const char *format;
	uint64_t packet;
	uint64_t receive_buffer;
	int64_t linger;
};

enum { CONTROL_BYTES = CMSG_SPACE(sizeof(uint32_t)) }; /* the drop counter of one packet */

struct udp_source {
	int fd;
	uint32_t drops;    /* the kernel's counter as last seen */
	uint32_t payload;  /* most bytes behind the header */
	uint32_t shortest; /* packet, header included */
	uint64_t received;
	int64_t quiet_ns;       /* since when no packet came; 0: not asked to stop yet */
	unsigned char *headers; /* NET_BATCH times header.data */
	struct hk_net_header header;
	struct mmsghdr msg[NET_BATCH];
	struct iovec iov[NET_BATCH][2];
	_Alignas(struct cmsghdr) char control[NET_BATCH][CONTROL_BYTES];
};

static const struct hop_port ports[] = {
	{ "out", "payloads", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	NET_PARAM(TEXT, struct udp_source_params, listen, NULL, NULL, NULL, NULL,
		  "host:port to receive on; [::1]:port for IPv6"),
	NET_PARAM(TEXT, struct udp_source_params, header, NULL, NET_HEADER, NULL, NULL,
		  NET_HEADER_DOC),
	NET_PARAM(TEXT, struct udp_source_params, format, NULL, "", NULL, NULL,
		  "the payload, as i16x2[1024]; empty: bytes, up to what `packet` leaves"),
	NET_PARAM(SIZE, struct udp_source_params, packet, NULL, "0", "0", "65507B",
		  "bytes of a packet, header included; 0: header and format"),
	NET_PARAM(SIZE, struct udp_source_params, receive_buffer, NULL, "0", "0", "512MiB",
		  "of the socket, honoured or refused; 0: the system's default"),
	NET_PARAM(TIME, struct udp_source_params, linger, NULL, "100ms", "0", "1min",
		  "when stopping: end after this long without a packet"),
};

static const struct hop_counter counters[] = {
	[C_PACKETS] = { "packets", "packets that became messages", HOP_LOG_INFO, 0 },
	[C_KERNEL_DROPS] = { "kernel_drops", "packets the kernel dropped: receive buffer full",
			     HOP_LOG_WARN, HOP_COUNTER_LOSS },
	[C_TRUNCATED] = { "truncated", "packets longer than declared", HOP_LOG_WARN, 0 },
	[C_SHORT] = { "short", "packets shorter than declared", HOP_LOG_WARN, 0 },
	[C_MALFORMED] = { "malformed", "packets with a wrong fixed field or an impossible number",
			  HOP_LOG_WARN, 0 },
	[C_NO_DUE] = { "no_due", "messages born at their arrival: no due time, or not a sane one",
		       HOP_LOG_INFO, 0 },
};

struct layout {
	struct hk_net_header header;
	struct hk_net_format format;
	uint64_t packet;
};

/* What the parameters say about packets, or why they cannot be. */
static int
read_layout(const struct hop_ctx *ctx, struct layout *l)
{
	const struct udp_source_params *p = ctx->params;
	int rc = net_parse_header(ctx, p->header, &l->header);

	if (!rc)
		rc = net_parse_format(ctx, p->format, &l->format);
	if (rc)
		return rc;
	l->packet = p->packet ? p->packet : l->header.data + l->format.bytes;
	if (l->format.rank && l->packet != l->header.data + l->format.bytes)
		return HOP_FAIL(ctx, EINVAL,
				"packet: %llu bytes, but a header of %u and %s of %llu make %llu",
				(unsigned long long)l->packet, l->header.data, p->format,
				(unsigned long long)l->format.bytes,
				(unsigned long long)(l->header.data + l->format.bytes));
	if (!l->format.rank && l->packet <= l->header.data)
		return HOP_FAIL(ctx, EINVAL,
				"packet: %llu bytes leave no payload behind a header of %u; give "
				"packet or format",
				(unsigned long long)l->packet, l->header.data);
	if (l->packet > HK_NET_MAX_PACKET)
		return HOP_FAIL(ctx, EINVAL, "format: packets of %llu bytes, a datagram has %d",
				(unsigned long long)l->packet, HK_NET_MAX_PACKET);
	return 0;
}

static int
udp_source_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct udp_source_params *p = ctx->params;
	struct hop_format *out = shape->out[0];
	struct hk_net_endpoint e;
	struct layout l;
	int rc = net_parse_endpoint(ctx, "listen", p->listen, &e);

	if (!rc)
		rc = read_layout(ctx, &l);
	if (rc)
		return rc;
	out->dtype = (struct hop_dtype){ l.format.code, l.format.bits, l.format.lanes };
	out->rank = l.format.rank;
	memcpy(out->dim, l.format.dim, sizeof out->dim);
	out->max_bytes = l.packet - l.header.data;
	return 0;
}

/* The parts of the receive call that stay the same. */
static void
prepare(struct udp_source *s)
{
	for (uint32_t i = 0; i < NET_BATCH; i++) {
		struct msghdr *m = &s->msg[i].msg_hdr;

		s->iov[i][0].iov_base = s->headers + (size_t)i * s->header.data;
		s->iov[i][0].iov_len = s->header.data;
		m->msg_iov = s->iov[i];
		m->msg_iovlen = 2;
		m->msg_control = s->control[i];
	}
}

static int
open_socket(struct udp_source *s, const struct hop_ctx *ctx)
{
	const struct udp_source_params *p = ctx->params;
	struct net_address address;
	const struct sockaddr_in *in = (const void *)&address.at;
	socklen_t len = sizeof address.at;
	int on = 1, rc;

	s->fd = net_socket(ctx, "listen", p->listen, &address);
	if (s->fd < 0)
		return s->fd;
	rc = net_receive_buffer(ctx, s->fd, p->receive_buffer);
	if (!rc && in->sin_family == AF_INET && IN_MULTICAST(ntohl(in->sin_addr.s_addr)))
		rc = HOP_FAIL(ctx, EINVAL,
			      "listen: %s is a multicast group, which is not supported", p->listen);
	if (!rc && setsockopt(s->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on))
		rc = HOP_FAIL(ctx, errno, "listen: the kernel does not count its drops");
	if (!rc && bind(s->fd, (const struct sockaddr *)&address.at, address.len))
		rc = HOP_FAIL(ctx, errno, "listen: cannot receive on %s%s", p->listen,
			      errno == EADDRINUSE ? ": another socket does" : "");
	if (!rc && getsockname(s->fd, (struct sockaddr *)&address.at, &len))
		rc = HOP_FAIL(ctx, errno, "listen: cannot read the address back");
	if (rc) {
		close(s->fd);
		return rc;
	}
	/* sin_port and sin6_port lie at the same place. */
	HOP_LOG(ctx, HOP_LOG_INFO, "listening on %s, port %u", p->listen, ntohs(in->sin_port));
	return 0;
}

static int
udp_source_open(void *state, const struct hop_ctx *ctx)
{
	struct udp_source *s = state;
	struct layout l;
	int rc = read_layout(ctx, &l);

	if (rc)
		return rc;
	s->header = l.header;
	s->payload = (uint32_t)(l.packet - l.header.data);
	s->shortest = l.format.rank ? (uint32_t)l.packet : l.header.data;
	s->headers =
		ctx->host->alloc(ctx, (uint64_t)NET_BATCH * l.header.data + 1, 0, HOP_MEM_HOST);
	if (!s->headers)
		return HOP_FAIL(ctx, ENOMEM, "no memory for %d packet headers", NET_BATCH);
	rc = open_socket(s, ctx);
	if (rc) {
		ctx->host->free(ctx, s->headers);
		return rc;
	}
	prepare(s);
	return 0;
}

static int
udp_source_start(void *state, const struct hop_ctx *ctx)
{
	struct udp_source *s = state;
	int rc = ctx->host->watch(ctx, s->fd, POLLIN);

	s->quiet_ns = 0;
	return rc < 0 ? HOP_FAIL(ctx, -rc, "listen: cannot watch the socket") : 0;
}

static void
count_drops(struct udp_source *s, const struct hop_ctx *ctx, uint32_t drops)
{
	if (drops == s->drops)
		return;
	hop_count(ctx, C_KERNEL_DROPS, drops - s->drops); /* wraps as the kernel's does */
	s->drops = drops;
}

/* Drops since the last packet, which no packet reports. */
static void
count_last_drops(struct udp_source *s, const struct hop_ctx *ctx)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t len = sizeof info;

	if (!getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, info, &len) &&
	    len > SK_MEMINFO_DROPS * sizeof info[0])
		count_drops(s, ctx, info[SK_MEMINFO_DROPS]);
}

static int
receive(struct udp_source *s, const struct hop_out *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct msghdr *m = &s->msg[i].msg_hdr;

		s->iov[i][1].iov_base = out->msg[i].data;
		s->iov[i][1].iov_len = s->payload;
		m->msg_controllen = CONTROL_BYTES;
		m->msg_flags = 0;
	}
	return recvmmsg(s->fd, s->msg, n, MSG_DONTWAIT, NULL);
}

/* The counter that tells why packet i makes no message; -1: it makes one. */
static int
refuse(const struct udp_source *s, uint32_t i, struct hk_net_values *v)
{
	if (s->msg[i].msg_hdr.msg_flags & MSG_TRUNC)
		return C_TRUNCATED;
	if (s->msg[i].msg_len < s->shortest)
		return C_SHORT;
	if (hk_net_header_read(&s->header, s->iov[i][0].iov_base, v))
		return C_MALFORMED;
	return -1;
}

static bool
is_sane_due(int64_t due_ns, int64_t now_ns)
{
	return due_ns > now_ns - (int64_t)10000000000 && due_ns < now_ns + 1000000000;
}

/* Packet i becomes message `to`; its payload is there unless a packet before it was refused. */
static void
place(struct udp_source *s, const struct hop_ctx *ctx, const struct hop_io *io, uint32_t i,
      uint32_t to, const struct hk_net_values *v)
{
	const struct hop_tx *tx = &io->out[0].msg[to];
	struct hop_head *head = tx->head;
	uint32_t bytes = s->msg[i].msg_len - s->header.data;
	bool has_due = s->header.field[HK_NET_DUE].bytes && is_sane_due(v->due_ns, io->now_ns);

	if (to != i)
		memcpy(tx->data, io->out[0].msg[i].data, bytes);
	head->frame = s->header.field[HK_NET_FRAME].bytes ? v->frame : s->received;
	head->index = v->index;
	head->stream = v->stream;
	head->flags = 0;
	head->stamp_ns = v->stamp_ns;
	head->born_ns = has_due ? v->due_ns : io->now_ns;
	head->last_ns = head->born_ns;
	head->bytes = bytes;
	s->received++;
	if (!has_due)
		hop_count(ctx, C_NO_DUE, 1);
}

static uint32_t
drops_of(const struct msghdr *m, uint32_t before)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	uint32_t drops = before;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL)
		memcpy(&drops, CMSG_DATA(c), sizeof drops);
	return drops;
}

/* Nothing came. */
static hop_status
idle(struct udp_source *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct udp_source_params *p = ctx->params;

	if (!io->stopping)
		return HOP_IDLE;
	if (s->quiet_ns == 0)
		s->quiet_ns = io->now_ns;
	if (io->now_ns - s->quiet_ns < p->linger) {
		ctx->host->wake_at(ctx, s->quiet_ns + p->linger);
		return HOP_IDLE;
	}
	count_last_drops(s, ctx);
	return HOP_DONE;
}

static hop_status
udp_source_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct udp_source *s = state;
	struct hop_out *out = &io->out[0];
	uint32_t n = out->count < NET_BATCH ? out->count : NET_BATCH;
	int got;

	if (out->ended)
		return HOP_DONE;
	if (n == 0)
		return HOP_IDLE;
	got = receive(s, out, n);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return HOP_FAIL(ctx, errno, "cannot receive");
	if (got <= 0)
		return idle(s, ctx, io);
	s->quiet_ns = io->stopping ? io->now_ns : 0;
	for (uint32_t i = 0; i < (uint32_t)got; i++) {
		struct hk_net_values v;
		int why = refuse(s, i, &v);

		if (why < 0)
			place(s, ctx, io, i, out->filled++, &v);
		else
			hop_count(ctx, (uint32_t)why, 1);
	}
	hop_count(ctx, C_PACKETS, out->filled);
	count_drops(s, ctx, drops_of(&s->msg[got - 1].msg_hdr, s->drops));
	return HOP_OK;
}

static void
udp_source_stop(void *state, const struct hop_ctx *ctx)
{
	count_last_drops(state, ctx);
}

static void
udp_source_close(void *state, const struct hop_ctx *ctx)
{
	struct udp_source *s = state;

	close(s->fd);
	ctx->host->free(ctx, s->headers);
}

const struct hop_op net_udp_source = {
	.size = sizeof net_udp_source,
	.flags = HOP_F_LIVE | HOP_F_FD,
	.name = "net/udp_source",
	.doc = "Receive UDP packets, one message each.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct udp_source_params),
	.state_size = sizeof(struct udp_source),
	.shape = udp_source_shape,
	.open = udp_source_open,
	.start = udp_source_start,
	.process = udp_source_process,
	.stop = udp_source_stop,
	.close = udp_source_close,
};
