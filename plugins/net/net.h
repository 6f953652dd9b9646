/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - what the files of the net plugin share: the ops, texts into structs
 * with the parameter named in the failure, and sockets with their buffers.
 * Functions are [control] unless they say otherwise.
 */
#ifndef HR_PLUGIN_NET_H
#define HR_PLUGIN_NET_H

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <hk/net.h>
#include <holorun/op.h>

extern const struct hop_op net_udp_source;
extern const struct hop_op net_udp_sink;

/* The packet that source and sink agree on unless told otherwise. */
#define NET_HEADER "frame=u32@0 index=u32@4 stream=u32@8 due=i64@16 data@64"
#define NET_HEADER_DOC                                                                             \
	"fields as NAME=TYPE@OFFSET of frame index stream due stamp, TYPE u8..u64 i8..i64 or "     \
	"big endian as u32be; fixed=TYPE@OFFSET:VALUE; data@OFFSET"

#define NET_PARAM(type, strct, member, unit, def, min, max, doc)                                   \
	{                                                                                          \
#member, doc, HOP_P_##type, 0, (uint32_t)offsetof(strct, member),                  \
			(uint32_t)sizeof(((strct *)0)->member), unit, def, min, max, NULL          \
	}

enum { NET_BATCH = 32 }; /* most packets of one call of process() */

struct net_address {
	struct sockaddr_storage at;
	socklen_t len;
};

/* Any thread. */
static inline int64_t
net_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Pure; 0 or a failure that names the parameter and the place in its text. */
int net_parse_header(const struct hop_ctx *ctx, const char *text, struct hk_net_header *h);
int net_parse_format(const struct hop_ctx *ctx, const char *text, struct hk_net_format *f);
int net_parse_endpoint(const struct hop_ctx *ctx, const char *param, const char *text,
		       struct hk_net_endpoint *e);

/*
 * A UDP socket for the endpoint, non-blocking and closed at exec; the address
 * may be looked up.  The descriptor, or a failure.
 */
int net_socket(const struct hop_ctx *ctx, const char *param, const char *text,
	       struct net_address *address);
/* Receive (SO_RCVBUF) or send buffer of that many bytes, or a failure; 0 leaves the system's. */
int net_receive_buffer(const struct hop_ctx *ctx, int fd, uint64_t bytes);
int net_send_buffer(const struct hop_ctx *ctx, int fd, uint64_t bytes);

#endif /* HR_PLUGIN_NET_H */
