/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - where things lie: computed from sizes, never read from the segment.
 *
 * hmq_layout_of_segment is the gate through which every opened segment passes.
 * It copies the header once, checks it, recomputes all offsets from the sizes in
 * the copy and compares: whatever a hostile peer writes later changes nothing.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout.h"

/* The numbers of a channel, from a config or from a header. */
struct sizes {
	uint64_t payload_bytes;
	uint32_t slots;
	uint32_t align;
	uint32_t n_readers;
	uint32_t rank;
};

int
hmq_fail(struct hmq_error *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list ap;

		err->code = -code;
		va_start(ap, fmt);
		(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -code;
}

static uint64_t
round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static uint32_t
power_of_two_from(uint32_t v)
{
	uint32_t p = 1;

	while (p < v)
		p <<= 1;
	return p;
}

uint32_t
hmq_layout_digest(void)
{
	static const uint32_t fact[] = {
		HMQ_WIRE_VERSION,
		HMQ_BLOCK_BYTES,
		HMQ_PAGE_BYTES,
		HMQ_MAX_RANK,
		HMQ_HELD_BYTES,
		HMQ_HELD_MAX_SHIFT,
		sizeof(struct hmq_head),
		offsetof(struct hmq_head, bytes),
		offsetof(struct hmq_head, dtype),
		offsetof(struct hmq_head, dim),
		offsetof(struct hmq_head, last_ns),
		sizeof(struct hmq_shared_head),
		offsetof(struct hmq_shared_head, epoch),
		sizeof(struct hmq_shared_writer),
		sizeof(struct hmq_shared_desc),
		sizeof(struct hmq_row),
		offsetof(struct hmq_row, head),
		offsetof(struct hmq_row, free_tail),
		offsetof(struct hmq_row, claimed),
		offsetof(struct hmq_row, skipped),
		offsetof(struct hmq_row, accepted),
		offsetof(struct hmq_row, ticket),
		offsetof(struct hmq_row, tail),
		offsetof(struct hmq_row, newest),
		offsetof(struct hmq_row, ended),
		offsetof(struct hmq_row, cell),
		sizeof(struct hmq_waiter),
		sizeof(pthread_mutex_t),
	};
	uint32_t hash = 2166136261u; /* FNV-1a, by words */

	for (size_t i = 0; i < sizeof(fact) / sizeof(fact[0]); i++)
		hash = (hash ^ fact[i]) * 16777619u;
	return hash;
}

static int
check_sizes(const struct sizes *s, struct hmq_error *err)
{
	if (s->slots < 1 || s->slots > HMQ_MAX_SLOTS)
		return hmq_fail(err, EINVAL, "slots: wanted 1 to %u, found %u", HMQ_MAX_SLOTS,
				s->slots);
	if (s->align < 64 || s->align > 4096 || (s->align & (s->align - 1)))
		return hmq_fail(err, EINVAL, "align: wanted a power of two, 64 to 4096, found %u",
				s->align);
	if (s->payload_bytes > HMQ_MAX_PAYLOAD)
		return hmq_fail(err, EINVAL, "payload_bytes: wanted at most 2^40, found %llu",
				(unsigned long long)s->payload_bytes);
	if (s->n_readers > HMQ_MAX_READERS)
		return hmq_fail(err, EINVAL, "n_readers: wanted 0 to %u, found %u", HMQ_MAX_READERS,
				s->n_readers);
	if (s->rank > HMQ_MAX_RANK)
		return hmq_fail(err, EINVAL, "rank: wanted at most %u, found %u", HMQ_MAX_RANK,
				s->rank);
	return 0;
}

static int
check_reader(uint32_t index, uint32_t depth, uint32_t policy, struct hmq_error *err)
{
	if (depth < 1 || depth > HMQ_MAX_SLOTS)
		return hmq_fail(err, EINVAL, "reader %u, depth: wanted 1 to %u, found %u", index,
				HMQ_MAX_SLOTS, depth);
	if (policy > HMQ_DROP_OLDEST)
		return hmq_fail(err, EINVAL, "reader %u, policy: wanted 0 to 3, found %u", index,
				policy);
	return 0;
}

static uint32_t
held_shift(uint32_t slots)
{
	uint32_t shift = 0;

	while (shift < HMQ_HELD_MAX_SHIFT && (uint64_t)slots << (shift + 1) <= HMQ_HELD_BYTES)
		shift++;
	return shift;
}

/* Compute from checked numbers; out->reader[].depth and .policy are filled in already. */
static int
place(struct hmq_layout *out, const struct sizes *s, struct hmq_error *err)
{
	uint64_t unit = s->align > HMQ_BLOCK_BYTES ? s->align : HMQ_BLOCK_BYTES;
	uint64_t at = sizeof(struct hmq_shared_head) + sizeof(struct hmq_shared_writer);
	uint64_t pool_bytes;

	out->slots = s->slots;
	out->align = s->align;
	out->n_readers = s->n_readers;
	out->payload_bytes = s->payload_bytes;
	out->free_cells = power_of_two_from(2 * s->slots);
	at += round_up(s->n_readers * sizeof(struct hmq_shared_desc), HMQ_BLOCK_BYTES);
	for (uint32_t i = 0; i < s->n_readers; i++) {
		struct hmq_row_place *r = &out->reader[i];

		r->cells = power_of_two_from(r->depth);
		r->held_shift = held_shift(s->slots);
		r->row_at = at;
		at += round_up(sizeof(struct hmq_row) + UINT64_C(4) * r->cells, HMQ_BLOCK_BYTES);
		r->free_at = at;
		at += round_up(UINT64_C(4) * out->free_cells, HMQ_BLOCK_BYTES);
		r->held_at = at;
		at += round_up((uint64_t)s->slots << r->held_shift, HMQ_BLOCK_BYTES);
	}
	out->pool_at = round_up(at, HMQ_PAGE_BYTES);
	out->first_at = out->pool_at + unit;
	out->stride = round_up(s->payload_bytes + sizeof(struct hmq_head), unit);
	if (__builtin_mul_overflow(out->stride, s->slots, &pool_bytes) ||
	    pool_bytes > UINT64_MAX / 2)
		return hmq_fail(err, EOVERFLOW, "%u slots of %llu bytes: more than memory can be",
				s->slots, (unsigned long long)out->stride);
	out->bytes = round_up(out->first_at + pool_bytes, HMQ_PAGE_BYTES);
	return 0;
}

int
hmq_layout_of_config(struct hmq_layout *out, const struct hmq_config *cfg, struct hmq_error *err)
{
	struct sizes s = {
		.payload_bytes = cfg->payload_bytes,
		.slots = cfg->slots,
		.align = cfg->align ? cfg->align : 64,
		.n_readers = cfg->n_readers,
		.rank = cfg->rank,
	};
	int rc = check_sizes(&s, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < s.n_readers; i++) {
		out->reader[i].depth = cfg->reader[i].depth;
		out->reader[i].policy = cfg->reader[i].policy;
		rc = check_reader(i, cfg->reader[i].depth, cfg->reader[i].policy, err);
		if (rc)
			return rc;
	}
	out->epoch = cfg->epoch;
	return place(out, &s, err);
}

static int
check_identity(const struct hmq_shared_head *h, const struct hmq_segment *seg,
	       struct hmq_error *err)
{
	if (h->magic != HMQ_MAGIC)
		return hmq_fail(err, EBADMSG, "not a HoloMQ channel: magic %#llx",
				(unsigned long long)h->magic);
	if (h->version != HMQ_WIRE_VERSION)
		return hmq_fail(err, EPROTO, "wire version: wanted %u, found %u", HMQ_WIRE_VERSION,
				h->version);
	if (h->digest != hmq_layout_digest())
		return hmq_fail(err, EPROTO, "layout digest: wanted %#x, found %#x",
				hmq_layout_digest(), h->digest);
	if (h->bytes > seg->bytes)
		return hmq_fail(err, EBADMSG, "channel of %llu bytes in a segment of %llu",
				(unsigned long long)h->bytes, (unsigned long long)seg->bytes);
	return 0;
}

int
hmq_layout_of_segment(struct hmq_layout *out, const struct hmq_segment *seg, struct hmq_error *err)
{
	struct hmq_shared_desc desc[HMQ_MAX_READERS];
	struct hmq_shared_head h;
	struct sizes s;
	int rc;

	/* One page is the least a channel needs: header, descriptions and one row. */
	if (seg->bytes < HMQ_PAGE_BYTES)
		return hmq_fail(err, EBADMSG, "segment of %llu bytes holds no channel",
				(unsigned long long)seg->bytes);
	memcpy(&h, seg->base, sizeof(h));
	rc = check_identity(&h, seg, err);
	if (rc)
		return rc;
	s = (struct sizes){ .payload_bytes = h.payload_bytes,
			    .slots = h.slots,
			    .align = h.align,
			    .n_readers = h.n_readers,
			    .rank = h.rank };
	rc = check_sizes(&s, err);
	if (rc)
		return rc;
	/* No more than there are: behind them lie rows that are in use. */
	memcpy(desc, hmq_at(seg, sizeof(h) + sizeof(struct hmq_shared_writer)),
	       s.n_readers * sizeof(desc[0]));
	for (uint32_t i = 0; i < s.n_readers; i++) {
		out->reader[i].depth = desc[i].depth;
		out->reader[i].policy = desc[i].policy;
		rc = check_reader(i, desc[i].depth, desc[i].policy, err);
		if (rc)
			return rc;
	}
	rc = place(out, &s, err);
	if (rc)
		return rc;
	if (out->bytes != h.bytes || out->pool_at != h.pool_at || out->stride != h.stride)
		return hmq_fail(err, EBADMSG, "offsets do not follow from the sizes");
	out->epoch = h.epoch;
	return 0;
}

int
hmq_layout_check_epoch(const struct hmq_layout *lay, uint32_t wanted, struct hmq_error *err)
{
	if (wanted == 0 || wanted == lay->epoch)
		return 0;
	return hmq_fail(err, ESTALE, "epoch: wanted %u, found %u", wanted, lay->epoch);
}

_Static_assert(sizeof(struct hmq_shared_head) + sizeof(struct hmq_shared_writer) +
			       HMQ_MAX_READERS * sizeof(struct hmq_shared_desc) <=
		       HMQ_PAGE_BYTES,
	       "the part read before any check lies in the first page");
