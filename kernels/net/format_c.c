/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_c.c - the text of a payload format.  The product of the dimensions is
 * bounded (1 TiB), so sizes computed from a format cannot overflow.
 */
#include <errno.h>
#include <string.h>

#include "scan.h"

struct type {
	const char *name;
	uint8_t code;
	uint8_t bits;
};

/* A name that begins with another one stands before it. */
static const struct type types[] = {
	{ "i8", 0, 8 },   { "i16", 0, 16 },  { "i32", 0, 32 }, { "i64", 0, 64 },  { "u8", 1, 8 },
	{ "u16", 1, 16 }, { "u32", 1, 32 },  { "u64", 1, 64 }, { "f16", 2, 16 },  { "f32", 2, 32 },
	{ "f64", 2, 64 }, { "bf16", 4, 16 }, { "c32", 5, 64 }, { "c64", 5, 128 }, { "bool", 6, 8 },
};

enum { N_TYPES = sizeof types / sizeof types[0] };

static const uint64_t max_bytes = (uint64_t)1 << 40;

/* The dimensions behind "[", up to and with "]". */
static int
parse_dims(struct scan *s, struct hk_net_format *f, struct hk_net_error *err)
{
	do {
		uint32_t from = s->at;
		uint64_t dim;

		if (f->rank == HK_NET_MAX_RANK)
			return scan_fail(s, from, "more than 8 dimensions", err);
		if (!scan_number(s, UINT32_MAX, &dim) || dim == 0)
			return scan_fail(s, from, "want a dimension from 1 to 4294967295", err);
		if (dim > max_bytes / f->bytes)
			return scan_fail(s, from, "the payload would be larger than 1 TiB", err);
		f->dim[f->rank++] = (uint32_t)dim;
		f->bytes *= dim;
		while (scan_word(s, " "))
			;
		if (scan_word(s, "]"))
			return 0;
		if (!scan_word(s, ",")) {
			return scan_fail(s, s->at, "want , or ] behind a dimension", err);
		}
		while (scan_word(s, " "))
			;
	} while (true);
}

int
hk_net_format_parse(const char *text, struct hk_net_format *f, struct hk_net_error *err)
{
	struct scan s = { text, 0 };
	uint64_t lanes = 1;
	uint32_t t = 0;

	memset(f, 0, sizeof *f);
	if (!*text) {
		*f = (struct hk_net_format){ .code = 1, .bits = 8, .lanes = 1 };
		return 0;
	}
	while (t < N_TYPES && !scan_word(&s, types[t].name))
		t++;
	if (t == N_TYPES) {
		s.at = (uint32_t)strcspn(text, "x[");
		return scan_fail(&s, 0,
				 "want a type: i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bf16 "
				 "c32 c64 bool",
				 err);
	}
	if (scan_word(&s, "x") && (!scan_number(&s, UINT16_MAX, &lanes) || lanes == 0))
		return scan_fail(&s, 0, "want a number of lanes from 1 to 65535 behind x", err);
	f->code = types[t].code;
	f->bits = types[t].bits;
	f->lanes = (uint16_t)lanes;
	f->bytes = lanes * f->bits / 8;
	if (scan_word(&s, "[")) {
		int rc = parse_dims(&s, f, err);

		if (rc)
			return rc;
	} else {
		f->rank = 1;
		f->dim[0] = 1;
	}
	if (text[s.at])
		return scan_fail(&s, s.at, "nothing may follow the format", err);
	return 0;
}
