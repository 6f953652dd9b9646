/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - lay a channel out in a fresh segment.
 *
 * Runs once, before the segment has another owner; nothing here is concurrent.
 * Heads get dtype, rank and dim here, once: they are never cleared per loan.
 */
#include <errno.h>
#include <string.h>

#include "layout.h"

static void
fill_heads(const struct hmq_segment *seg, const struct hmq_layout *lay,
	   const struct hmq_config *cfg)
{
	uint64_t at = lay->first_at - sizeof(struct hmq_head);

	for (uint32_t i = 0; i < lay->slots; i++, at += lay->stride) {
		struct hmq_head *head = hmq_at(seg, at);

		memset(head, 0, sizeof(*head));
		head->dtype = cfg->dtype;
		head->rank = (uint16_t)cfg->rank;
		memcpy(head->dim, cfg->dim, sizeof(head->dim));
	}
}

uint64_t
hmq_chan_bytes(const struct hmq_config *cfg, struct hmq_error *err)
{
	struct hmq_layout lay;

	return hmq_layout_of_config(&lay, cfg, err) ? 0 : lay.bytes;
}

int
hmq_chan_format(const struct hmq_segment *seg, const struct hmq_config *cfg, struct hmq_error *err)
{
	struct hmq_layout lay;
	struct hmq_shared_head *head = seg->base;
	struct hmq_shared_desc *desc;
	int rc = hmq_layout_of_config(&lay, cfg, err);

	if (rc)
		return rc;
	if (lay.bytes > seg->bytes)
		return hmq_fail(err, ENOSPC, "segment of %llu bytes: this channel needs %llu",
				(unsigned long long)seg->bytes, (unsigned long long)lay.bytes);
	memset(seg->base, 0, lay.pool_at);
	desc = hmq_at(seg, sizeof(*head) + sizeof(struct hmq_shared_writer));
	for (uint32_t i = 0; i < lay.n_readers; i++) {
		desc[i].depth = lay.reader[i].depth;
		desc[i].policy = lay.reader[i].policy;
	}
	fill_heads(seg, &lay, cfg);
	*head = (struct hmq_shared_head){
		.magic = HMQ_MAGIC,
		.version = HMQ_WIRE_VERSION,
		.digest = hmq_layout_digest(),
		.bytes = lay.bytes,
		.pool_at = lay.pool_at,
		.stride = lay.stride,
		.payload_bytes = lay.payload_bytes,
		.slots = lay.slots,
		.align = lay.align,
		.n_readers = lay.n_readers,
		.rank = cfg->rank,
		.dtype = cfg->dtype,
		.epoch = cfg->epoch,
	};
	memcpy(head->dim, cfg->dim, sizeof(head->dim));
	return 0;
}
