/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hk/net.h - packets as text describes them.
 *
 * Pure functions on memory: they read the description of a packet header, of
 * a payload format and of an endpoint, and move header fields between packet
 * and struct.  No sockets, no allocation, no global state; any thread.
 *
 * A header is words separated by spaces, in any order, each at most once
 * (fixed: up to 8 times):
 *   frame=u32@0 index=u32@4 stream=u32@8 due=i64@16 stamp=i64@24 data@64
 *   fixed=u32@12:1024
 * NAME=TYPE@OFFSET is a field of TYPE at byte OFFSET; TYPE is u8 u16 u32 u64
 * i8 i16 i32 i64, little endian, or big endian with `be` behind (u32be).
 * data@OFFSET says where the payload starts; without it, behind the last
 * field.  fixed=TYPE@OFFSET:VALUE is a constant: written when sending, and a
 * received packet with another value is malformed.
 *
 * A format is TYPE[LANES][DIMENSIONS]: i16x2[1024], f32[64,1024], u8[1400].
 * TYPE is i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bf16 bool, or c32 and c64
 * for complex of two 32-bit and two 64-bit floats; xN packs N of them into one
 * element.  Without brackets it is one element.  An empty text means bytes of
 * any number.
 */
#ifndef HK_NET_H
#define HK_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HK_NET_FRAME, HK_NET_INDEX, HK_NET_STREAM, HK_NET_DUE, HK_NET_STAMP, HK_NET_FIELDS };
enum { HK_NET_MAX_FIXED = 8, HK_NET_MAX_RANK = 8, HK_NET_MAX_PACKET = 65507 };

/* What is wrong with a text: a sentence (static) and the part of the text it is about. */
struct hk_net_error {
	const char *what;
	uint32_t at;
	uint32_t len;
};

struct hk_net_field {
	uint32_t offset;
	uint8_t bytes; /* 0: the header has no such field */
	uint8_t is_signed;
	uint8_t is_big;
	uint8_t reserved;
};

struct hk_net_header {
	struct hk_net_field field[HK_NET_FIELDS];
	struct hk_net_field fixed[HK_NET_MAX_FIXED];
	int64_t fixed_value[HK_NET_MAX_FIXED];
	uint32_t n_fixed;
	uint32_t data; /* where the payload starts */
};

/* Field values; those the header lacks are 0. */
struct hk_net_values {
	uint64_t frame;
	uint32_t index;
	uint32_t stream;
	int64_t due_ns;
	int64_t stamp_ns;
};

/* Numbers as in DLPack's DLDataType, which the operator ABI uses, too. */
struct hk_net_format {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
	uint32_t rank; /* 0: plain bytes of any number */
	uint32_t dim[HK_NET_MAX_RANK];
	uint64_t bytes; /* of one payload; 0 if rank is 0 */
};

struct hk_net_endpoint {
	char host[254];
	char port[6]; /* decimal */
};

/* 0 or -EINVAL with *err filled; *h is then undefined. */
int hk_net_header_parse(const char *text, struct hk_net_header *h, struct hk_net_error *err);
/*
 * `packet` holds at least h->data bytes.  -EBADMSG: a fixed field has another
 * value, or frame, index or stream is negative or too large for the message head.
 */
int hk_net_header_read(const struct hk_net_header *h, const void *packet, struct hk_net_values *v);
/*
 * Writes all h->data bytes; those of no field are 0.  A value too wide for its
 * field loses its high bits: counters on the wire wrap.
 */
void hk_net_header_write(const struct hk_net_header *h, void *packet,
			 const struct hk_net_values *v);

int hk_net_format_parse(const char *text, struct hk_net_format *f, struct hk_net_error *err);
/* "host:port" or "[v6]:port"; the host is not looked up. */
int hk_net_endpoint_parse(const char *text, struct hk_net_endpoint *e, struct hk_net_error *err);

#ifdef __cplusplus
}
#endif
#endif /* HK_NET_H */
