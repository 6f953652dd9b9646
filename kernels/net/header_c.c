/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_c.c - the text of a packet header, and its fields in packets.
 * Fields must not overlap, lie before the payload, and fit a datagram; all of
 * that is decided when the text is read, so that per packet nothing is checked
 * but values.
 */
#include <errno.h>
#include <string.h>

#include "scan.h"

static const char *const names[HK_NET_FIELDS] = { "frame", "index", "stream", "due", "stamp" };
static const char *const types[] = { "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64" };

enum { N_TYPES = sizeof types / sizeof types[0] };

/* TYPE@OFFSET */
static int
parse_field(struct scan *s, struct hk_net_field *f, struct hk_net_error *err)
{
	uint32_t from = s->at;
	uint64_t offset;
	uint32_t t = 0;

	while (t < N_TYPES && !scan_word(s, types[t]))
		t++;
	if (t == N_TYPES)
		return scan_fail(s, from, "want a type: u8 u16 u32 u64 i8 i16 i32 i64", err);
	f->bytes = (uint8_t)(1u << (t % 4));
	f->is_signed = t >= 4;
	f->is_big = scan_word(s, "be");
	if (!scan_word(s, "@"))
		return scan_fail(s, s->at, "want @ and the byte offset of the field", err);
	from = s->at;
	if (!scan_number(s, HK_NET_MAX_PACKET - f->bytes, &offset))
		return scan_fail(s, from, "want a byte offset inside a packet of 65507 bytes", err);
	f->offset = (uint32_t)offset;
	return 0;
}

/* Whether a field can hold the value. */
static bool
fits(const struct hk_net_field *f, int64_t value)
{
	uint32_t bits = 8u * f->bytes;

	if (bits == 64)
		return f->is_signed || value >= 0;
	if (f->is_signed)
		return value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1);
	return value >= 0 && value < (int64_t)1 << bits;
}

static int
parse_fixed(struct scan *s, struct hk_net_header *h, struct hk_net_error *err)
{
	struct hk_net_field *f = &h->fixed[h->n_fixed];
	uint32_t from = s->at;
	uint64_t value;
	bool minus;
	int rc;

	if (h->n_fixed == HK_NET_MAX_FIXED)
		return scan_fail(s, from, "more than 8 fixed fields", err);
	rc = parse_field(s, f, err);
	if (rc)
		return rc;
	if (!scan_word(s, ":"))
		return scan_fail(s, s->at, "want : and the value of the fixed field", err);
	from = s->at;
	minus = scan_word(s, "-");
	if (!scan_number(s, INT64_MAX, &value))
		return scan_fail(s, from, "want a decimal value", err);
	h->fixed_value[h->n_fixed] = minus ? -(int64_t)value : (int64_t)value;
	if (!fits(f, h->fixed_value[h->n_fixed]))
		return scan_fail(s, from, "the value does not fit the type of the field", err);
	h->n_fixed++;
	return 0;
}

static int
parse_data(struct scan *s, struct hk_net_header *h, bool *has_data, struct hk_net_error *err)
{
	uint32_t from = s->at - (uint32_t)strlen("data@"); /* which is read */
	uint64_t offset;

	if (*has_data)
		return scan_fail(s, from, "data@ is given twice", err);
	if (!scan_number(s, HK_NET_MAX_PACKET, &offset))
		return scan_fail(s, from, "want the byte offset of the payload, at most 65507",
				 err);
	h->data = (uint32_t)offset;
	*has_data = true;
	return 0;
}

static int
parse_named(struct scan *s, struct hk_net_header *h, struct hk_net_error *err)
{
	uint32_t from = s->at;

	for (uint32_t i = 0; i < HK_NET_FIELDS; i++) {
		if (!scan_word(s, names[i]))
			continue;
		if (!scan_word(s, "="))
			return scan_fail(s, s->at, "want = and a type behind the field's name",
					 err);
		if (h->field[i].bytes)
			return scan_fail(s, from, "this field is given twice", err);
		return parse_field(s, &h->field[i], err);
	}
	s->at += (uint32_t)strcspn(s->text + s->at, "=@ ");
	return scan_fail(s, from, "want frame=, index=, stream=, due=, stamp=, fixed= or data@",
			 err);
}

/* Field number n of the header, the named ones first; NULL behind the last. */
static const struct hk_net_field *
field_at(const struct hk_net_header *h, uint32_t n)
{
	if (n < HK_NET_FIELDS)
		return &h->field[n];
	n -= HK_NET_FIELDS;
	return n < h->n_fixed ? &h->fixed[n] : NULL;
}

static int
check_layout(const struct scan *s, struct hk_net_header *h, bool has_data, struct hk_net_error *err)
{
	const struct hk_net_field *f, *g;

	for (uint32_t i = 0; (f = field_at(h, i)); i++) {
		uint32_t end = f->offset + f->bytes;

		if (f->bytes && has_data && end > h->data)
			return scan_fail(s, 0, "a field reaches into the payload", err);
		if (f->bytes && !has_data && end > h->data)
			h->data = end;
		for (uint32_t j = 0; j < i; j++) {
			g = field_at(h, j);
			if (f->bytes && g->bytes && f->offset < g->offset + g->bytes &&
			    g->offset < end)
				return scan_fail(s, 0, "two fields overlap", err);
		}
	}
	return 0;
}

int
hk_net_header_parse(const char *text, struct hk_net_header *h, struct hk_net_error *err)
{
	struct scan s = { text, 0 };
	bool has_data = false;

	memset(h, 0, sizeof *h);
	for (;;) {
		uint32_t from;
		int rc;

		while (scan_word(&s, " "))
			;
		if (!text[s.at])
			return check_layout(&s, h, has_data, err);
		from = s.at;
		if (scan_word(&s, "fixed="))
			rc = parse_fixed(&s, h, err);
		else if (scan_word(&s, "data@"))
			rc = parse_data(&s, h, &has_data, err);
		else
			rc = parse_named(&s, h, err);
		if (rc)
			return rc;
		if (text[s.at] && text[s.at] != ' ') {
			s.at++;
			return scan_fail(&s, from, "want a space behind the field", err);
		}
	}
}

static uint64_t
load(const struct hk_net_field *f, const unsigned char *packet)
{
	const unsigned char *p = packet + f->offset;
	uint64_t v = 0;

	for (uint32_t i = 0; i < f->bytes; i++)
		v = v << 8 | p[f->is_big ? i : f->bytes - 1u - i];
	if (!f->bytes || f->bytes >= 8)
		return v;
	/* Sign extension without a shift of a negative number. */
	if (f->is_signed && v >> (8u * f->bytes - 1))
		v |= UINT64_MAX << (8u * f->bytes);
	return v;
}

static void
store(const struct hk_net_field *f, unsigned char *packet, uint64_t v)
{
	unsigned char *p = packet + f->offset;

	for (uint32_t i = 0; i < f->bytes; i++) {
		p[f->is_big ? f->bytes - 1u - i : i] = (unsigned char)(v & 0xff);
		v >>= 8;
	}
}

int
hk_net_header_read(const struct hk_net_header *h, const void *packet, struct hk_net_values *v)
{
	uint64_t raw[HK_NET_FIELDS];

	for (uint32_t i = 0; i < h->n_fixed; i++)
		if (load(&h->fixed[i], packet) != (uint64_t)h->fixed_value[i])
			return -EBADMSG;
	for (uint32_t i = 0; i < HK_NET_FIELDS; i++)
		raw[i] = h->field[i].bytes ? load(&h->field[i], packet) : 0;
	if (h->field[HK_NET_FRAME].is_signed && (int64_t)raw[HK_NET_FRAME] < 0)
		return -EBADMSG;
	if (raw[HK_NET_INDEX] > UINT32_MAX || raw[HK_NET_STREAM] > UINT32_MAX)
		return -EBADMSG;
	v->frame = raw[HK_NET_FRAME];
	v->index = (uint32_t)raw[HK_NET_INDEX];
	v->stream = (uint32_t)raw[HK_NET_STREAM];
	v->due_ns = (int64_t)raw[HK_NET_DUE];
	v->stamp_ns = (int64_t)raw[HK_NET_STAMP];
	return 0;
}

void
hk_net_header_write(const struct hk_net_header *h, void *packet, const struct hk_net_values *v)
{
	const uint64_t raw[HK_NET_FIELDS] = { v->frame, v->index, v->stream, (uint64_t)v->due_ns,
					      (uint64_t)v->stamp_ns };

	memset(packet, 0, h->data);
	for (uint32_t i = 0; i < h->n_fixed; i++)
		store(&h->fixed[i], packet, (uint64_t)h->fixed_value[i]);
	for (uint32_t i = 0; i < HK_NET_FIELDS; i++)
		if (h->field[i].bytes)
			store(&h->field[i], packet, raw[i]);
}
