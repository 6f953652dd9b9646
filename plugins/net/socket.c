/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.c - texts into structs and sockets; see net.h.
 *
 * A buffer size is honoured or refused.  The kernel books each packet with its
 * bookkeeping and doubles what it is asked for to make up for that, so half of
 * what it reports is what was granted.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include "net.h"

static int
text_error(const struct hop_ctx *ctx, const char *param, const char *text,
	   const struct hk_net_error *err)
{
	return HOP_FAIL(ctx, EINVAL, "%s: %s, found '%.*s' at character %u of '%s'", param,
			err->what, (int)err->len, text + err->at, err->at + 1, text);
}

int
net_parse_header(const struct hop_ctx *ctx, const char *text, struct hk_net_header *h)
{
	struct hk_net_error err;

	return hk_net_header_parse(text, h, &err) ? text_error(ctx, "header", text, &err) : 0;
}

int
net_parse_format(const struct hop_ctx *ctx, const char *text, struct hk_net_format *f)
{
	struct hk_net_error err;

	return hk_net_format_parse(text, f, &err) ? text_error(ctx, "format", text, &err) : 0;
}

int
net_parse_endpoint(const struct hop_ctx *ctx, const char *param, const char *text,
		   struct hk_net_endpoint *e)
{
	struct hk_net_error err;

	return hk_net_endpoint_parse(text, e, &err) ? text_error(ctx, param, text, &err) : 0;
}

int
net_socket(const struct hop_ctx *ctx, const char *param, const char *text,
	   struct net_address *address)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICSERV,
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_DGRAM,
	};
	struct hk_net_endpoint e;
	struct addrinfo *found;
	int rc = net_parse_endpoint(ctx, param, text, &e);
	int fd;

	if (rc)
		return rc;
	rc = getaddrinfo(e.host, e.port, &hints, &found);
	if (rc)
		return HOP_FAIL(ctx, EINVAL, "%s: host '%s' is not known: %s", param, e.host,
				gai_strerror(rc));
	memcpy(&address->at, found->ai_addr, found->ai_addrlen);
	address->len = found->ai_addrlen;
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	rc = errno;
	freeaddrinfo(found);
	return fd < 0 ? HOP_FAIL(ctx, rc, "%s: no socket for %s", param, text) : fd;
}

struct buffer {
	const char *param;
	const char *limit;
	int force; /* beyond the limit, for CAP_NET_ADMIN */
	int plain;
};

static int
set_buffer(const struct hop_ctx *ctx, int fd, const struct buffer *b, uint64_t bytes)
{
	int want = (int)bytes, got = 0;
	socklen_t len = sizeof got;

	if (bytes == 0)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, b->force, &want, sizeof want) &&
	    setsockopt(fd, SOL_SOCKET, b->plain, &want, sizeof want))
		return HOP_FAIL(ctx, errno, "%s: cannot ask for %d bytes", b->param, want);
	if (getsockopt(fd, SOL_SOCKET, b->plain, &got, &len))
		return HOP_FAIL(ctx, errno, "%s: cannot read the size back", b->param);
	if (got / 2 >= want)
		return 0;
	return HOP_FAIL(ctx, ENOBUFS,
			"%s: wanted %d bytes, the kernel gives %d (%s); allow it with: sysctl -w "
			"%s=%d",
			b->param, want, got / 2, b->limit, b->limit, want);
}

int
net_receive_buffer(const struct hop_ctx *ctx, int fd, uint64_t bytes)
{
	static const struct buffer b = { "receive_buffer", "net.core.rmem_max", SO_RCVBUFFORCE,
					 SO_RCVBUF };

	return set_buffer(ctx, fd, &b, bytes);
}

int
net_send_buffer(const struct hop_ctx *ctx, int fd, uint64_t bytes)
{
	static const struct buffer b = { "send_buffer", "net.core.wmem_max", SO_SNDBUFFORCE,
					 SO_SNDBUF };

	return set_buffer(ctx, fd, &b, bytes);
}
