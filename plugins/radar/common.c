/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - formats of the radar ops, and what open() callbacks share.  See
 * radar.h.
 */
#include <errno.h>
#include <stdio.h>

#include "radar.h"

static const struct hop_dtype dtypes[] = {
	[RADAR_I16X2] = { 0, 16, 2 },
	[RADAR_C64] = { 5, 64, 1 },
	[RADAR_F32] = { 2, 32, 1 },
	[RADAR_U32] = { 1, 32, 1 },
};

const char *const radar_windows[] = { "none", "hann", NULL };

HOP_ASSERT(HK_WINDOW_NONE == 0 && HK_WINDOW_HANN == 1, "the order of radar_windows");
HOP_ASSERT(sizeof(struct hk_detection) == 12 && sizeof(struct hk_detections) == 12,
	   "rows of three u32");

int
radar_is(const struct hop_format *f, enum radar_type type, uint32_t rank)
{
	const struct hop_dtype *t = &dtypes[type];

	return f->dtype.code == t->code && f->dtype.bits == t->bits && f->dtype.lanes == t->lanes &&
	       f->rank == rank;
}

void
radar_set(struct hop_format *f, enum radar_type type, uint32_t rank, uint32_t dim0, uint32_t dim1)
{
	f->dtype = dtypes[type];
	f->rank = rank;
	for (uint32_t i = 0; i < HOP_MAX_RANK; i++)
		f->dim[i] = 0;
	f->dim[0] = dim0;
	f->dim[1] = dim1;
	f->max_bytes = (uint64_t)f->dtype.bits / 8 * f->dtype.lanes * dim0 * (rank > 1 ? dim1 : 1);
}

const char *
radar_text(const struct hop_format *f, char text[RADAR_FORMAT_TEXT])
{
	static const char letters[] = "iuf?bc?";
	size_t at;

	if (!f->rank) {
		snprintf(text, RADAR_FORMAT_TEXT, "plain bytes");
		return text;
	}
	at = (size_t)snprintf(text, RADAR_FORMAT_TEXT, "%c%u",
			      f->dtype.code < sizeof letters - 1 ? letters[f->dtype.code] : '?',
			      f->dtype.bits);
	if (f->dtype.lanes != 1)
		at += (size_t)snprintf(text + at, RADAR_FORMAT_TEXT - at, "x%u", f->dtype.lanes);
	for (uint32_t i = 0; i < f->rank && i < HOP_MAX_RANK && at < RADAR_FORMAT_TEXT; i++)
		at += (size_t)snprintf(text + at, RADAR_FORMAT_TEXT - at, "[%u]", f->dim[i]);
	return text;
}

uint32_t
radar_capacity(const struct hop_format *f)
{
	if (!radar_is(f, RADAR_U32, 2) || !f->dim[0] || f->dim[1] != 3)
		return 0;
	return f->dim[0] - 1;
}

void
radar_set_detections(struct hop_format *f, uint32_t capacity)
{
	radar_set(f, RADAR_U32, 2, 1 + capacity, 3);
}

void
radar_fill_detections(const struct hop_tx *tx, uint32_t count)
{
	tx->head->dim[0] = 1 + count;
	tx->head->bytes = sizeof(struct hk_detections) + count * sizeof(struct hk_detection);
}

const struct hk_detections *
radar_detections(const struct hop_rx *rx)
{
	const struct hk_detections *d = rx->data;

	if (rx->bytes < sizeof *d || d->count > (rx->bytes - sizeof *d) / sizeof d->at[0])
		return NULL;
	return d;
}

const struct hop_shape *
radar_shape(const struct hop_ctx *ctx)
{
	const struct hop_shape *s = NULL;

	if (HOP_HAS(ctx->host, struct hop_host, query) && ctx->host->query)
		s = ctx->host->query(ctx, "shape/1");
	if (!s)
		HOP_FAIL(ctx, ENOTSUP, "this host does not offer shape/1, which %s needs",
			 ctx->name);
	return s;
}

void *
radar_alloc(const struct hop_ctx *ctx, size_t bytes, const char *what)
{
	void *p = ctx->host->alloc(ctx, bytes, HK_ALIGN, HOP_MEM_HOST);

	if (!p)
		HOP_FAIL(ctx, ENOMEM, "no memory for %s: %zu bytes", what, bytes);
	return p;
}
