/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ring.c - a peer that writes whatever it likes while the others work.
 *
 * A script of honest calls (channel.h) with scribbles on any word in between: cursors,
 * cells, hints, held bytes, flags, lengths, lives.  The memory is just as large as the
 * channel, so a step outside of it is seen by AddressSanitizer; a loop on a foreign
 * number runs into libFuzzer's time limit.
 */
#include <stdlib.h>

#include "channel.h"
#include "layout.h"

enum { MAX_STEPS = 200 };

struct memory {
	struct hmq_segment seg;
	struct hmq_layout lay;
	struct hmq_waiter *waiter;
};

static int
make(struct memory *m, struct fuzz_input *in)
{
	struct hmq_reader_config readers[USER_READERS];
	struct hmq_config cfg = { .reader = readers };
	void *base;

	cfg.slots = 1 + fuzz_below(in, 8);
	cfg.payload_bytes = fuzz_u8(in);
	cfg.n_readers = fuzz_below(in, USER_READERS + 1);
	for (int i = 0; i < USER_READERS; i++) {
		readers[i].depth = 1 + fuzz_below(in, 5);
		readers[i].policy = fuzz_below(in, 4);
	}
	m->seg = (struct hmq_segment){ .bytes = hmq_chan_bytes(&cfg, NULL), .fd = -1 };
	base = aligned_alloc(HMQ_PAGE_BYTES, m->seg.bytes);
	m->waiter = aligned_alloc(HMQ_BLOCK_BYTES, (size_t)2 * HMQ_WAITER_BYTES);
	m->seg.base = base;
	if (!base || !m->waiter || hmq_chan_format(&m->seg, &cfg, NULL) ||
	    hmq_layout_of_segment(&m->lay, &m->seg, NULL))
		return -1;
	hmq_waiter_init(m->waiter, HMQ_WAIT_FUTEX);
	hmq_waiter_init((void *)((uint8_t *)m->waiter + HMQ_WAITER_BYTES), HMQ_WAIT_FUTEX);
	return 0;
}

/* A place that matters: a word of a row, a cell, a hint, a held byte, a head; or anywhere. */
static uint8_t *
pick_place(const struct memory *m, struct fuzz_input *in)
{
	const struct hmq_row_place *r =
		m->lay.n_readers ? &m->lay.reader[fuzz_below(in, m->lay.n_readers)] : NULL;
	uint8_t *base = m->seg.base;

	switch (fuzz_below(in, 8)) {
	case 0:
		return r ? base + r->row_at + 8 * fuzz_below(in, sizeof(struct hmq_row) / 8) : base;
	case 1:
		return r ? base + r->row_at + HMQ_BLOCK_BYTES : base; /* head */
	case 2:
		return r ? base + r->row_at + offsetof(struct hmq_row, tail) : base;
	case 3:
		return r ? base + r->row_at + offsetof(struct hmq_row, cell) +
				       4 * fuzz_below(in, r->cells)
			 : base;
	case 4:
		return r ? base + r->free_at + 4 * fuzz_below(in, m->lay.free_cells) : base;
	case 5:
		return r ? base + r->held_at +
				       ((uint64_t)fuzz_below(in, m->lay.slots) << r->held_shift)
			 : base;
	case 6:
		return base + m->lay.first_at - sizeof(struct hmq_head) +
		       m->lay.stride * fuzz_below(in, m->lay.slots) +
		       offsetof(struct hmq_head, bytes);
	default:
		if (fuzz_below(in, 2))
			return (uint8_t *)m->waiter + fuzz_u16(in) % (2 * HMQ_WAITER_BYTES - 8);
		return base + fuzz_u16(in) % (m->seg.bytes - 8);
	}
}

static void
scribble(void *arg, struct fuzz_input *in)
{
	const struct memory *m = arg;
	uint8_t *at = pick_place(m, in);
	uint64_t v, width = UINT64_C(1) << fuzz_below(in, 4);

	if (at > (uint8_t *)m->seg.base + m->seg.bytes - 8 &&
	    at < (uint8_t *)m->seg.base + m->seg.bytes)
		at = (uint8_t *)m->seg.base + m->seg.bytes - 8;
	memcpy(&v, at, 8);
	v = fuzz_number(in, v);
	memcpy(at, &v, width);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct memory m = { 0 };
	struct user u;

	if (make(&m, &in) == 0) {
		user_open(&u, &m.seg, m.waiter);
		u.meanwhile = scribble;
		u.arg = &m;
		for (int i = 0; i < MAX_STEPS && in.left > 0; i++) {
			user_step(&u, &in);
			if (fuzz_below(&in, 4) == 0)
				scribble(&m, &in);
		}
		user_close(&u);
	}
	free(m.seg.base);
	free(m.waiter);
	return 0;
}
