/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/value.h"
#include "plugin/format.h"

static const char *
size_text(struct hr_arena *a, uint64_t bytes)
{
	const struct hr_value v = { .type = HR_T_SIZE, .i = (int64_t)bytes };

	return hr_value_text(a, &v);
}

static const char *
dtype_text(struct hr_arena *a, struct hop_dtype t)
{
	static const char *const letter[] = { "i", "u", "f", NULL, "bf", "c", "bool" };
	const char *s;

	if (t.code >= sizeof letter / sizeof letter[0] || !letter[t.code])
		return hr_printf(a, "type(%u,%u)", t.code, t.bits);
	/* DLPack counts both parts of a complex number, people count one. */
	s = hr_printf(a, "%s%u", letter[t.code], t.code == 5 ? t.bits / 2u : t.bits);
	return t.lanes > 1 ? hr_printf(a, "%sx%u", s, t.lanes) : s;
}

const char *
hr_format_text(struct hr_arena *a, const struct hop_format *f)
{
	struct hr_text t;

	if (!f->rank)
		return f->max_bytes ? hr_printf(a, "bytes, at most %s", size_text(a, f->max_bytes))
				    : "bytes";
	hr_text_init(&t, a);
	hr_text_add(&t, "%s[", dtype_text(a, f->dtype));
	for (uint32_t i = 0; i < f->rank && i < HOP_MAX_RANK; i++)
		hr_text_add(&t, "%s%u", i ? "," : "", f->dim[i]);
	hr_text_puts(&t, "]");
	return t.s;
}

uint64_t
hr_format_bytes(const struct hop_format *f)
{
	uint64_t n = (uint64_t)f->dtype.bits * f->dtype.lanes;

	if (!f->rank)
		return 0;
	for (uint32_t i = 0; i < f->rank && i < HOP_MAX_RANK; i++)
		if (__builtin_mul_overflow(n, (uint64_t)f->dim[i], &n))
			return UINT64_MAX;
	return n / 8 + (n % 8 != 0);
}

const char *
hr_format_check(struct hr_arena *a, const struct hop_format *f)
{
	uint64_t dense;

	if (f->rank > HOP_MAX_RANK)
		return hr_printf(a, "says rank %u; the limit is %d", f->rank, HOP_MAX_RANK);
	if (f->rank &&
	    (f->dtype.code > 6 || f->dtype.code == 3 || !f->dtype.bits || !f->dtype.lanes))
		return hr_printf(a, "says element type %u, %u bits, %u lanes, which is none",
				 f->dtype.code, f->dtype.bits, f->dtype.lanes);
	if (!f->max_bytes)
		return "says no size (max_bytes is 0)";
	dense = hr_format_bytes(f);
	if (dense > f->max_bytes)
		return hr_printf(a, "says %s, which is more than its max_bytes of %llu",
				 hr_format_text(a, f), (unsigned long long)f->max_bytes);
	if (!(f->rate_hz >= 0) || isinf(f->rate_hz))
		return "says a rate that is no number of messages per second";
	return NULL;
}

const char *
hr_format_gather(struct hr_arena *a, const struct hop_format *piece, uint64_t count,
		 struct hop_format *whole)
{
	*whole = *piece;
	if (piece->rank == HOP_MAX_RANK)
		return hr_printf(a, "%s has %d axes already, which is the limit",
				 hr_format_text(a, piece), HOP_MAX_RANK);
	if (piece->rank && hr_format_bytes(piece) != piece->max_bytes)
		return hr_printf(a,
				 "pieces must have one size, but %s may take up to %llu bytes and "
				 "its elements %llu",
				 hr_format_text(a, piece), (unsigned long long)piece->max_bytes,
				 (unsigned long long)hr_format_bytes(piece));
	if (!count || count > UINT32_MAX || piece->max_bytes > HR_MAX_PAYLOAD / count)
		return hr_printf(a, "%llu pieces of %s are more than a message may hold (%s)",
				 (unsigned long long)count, size_text(a, piece->max_bytes),
				 size_text(a, HR_MAX_PAYLOAD));
	if (!piece->rank) { /* plain bytes: rows of bytes, each at a multiple of the largest */
		whole->dtype = (struct hop_dtype){ 1, 8, 1 };
		whole->dim[0] = (uint32_t)piece->max_bytes;
		whole->rank = 1;
	}
	memmove(&whole->dim[1], &whole->dim[0], whole->rank * sizeof whole->dim[0]);
	whole->dim[0] = (uint32_t)count;
	whole->rank++;
	whole->max_bytes = piece->max_bytes * count;
	whole->rate_hz = piece->rate_hz / (double)count;
	return NULL;
}

bool
hr_format_same(const struct hop_format *x, const struct hop_format *y)
{
	return x->rank == y->rank && x->max_bytes == y->max_bytes &&
	       !memcmp(&x->dtype, &y->dtype, sizeof x->dtype) &&
	       !memcmp(x->dim, y->dim, sizeof x->dim) && !(x->rate_hz < y->rate_hz) &&
	       !(x->rate_hz > y->rate_hz);
}
