/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - everything that lies in shared memory, and who writes what.
 *
 *   hmq_shared_head      what the channel is; written once by hmq_chan_format
 *   hmq_shared_writer    the writer's own block
 *   hmq_shared_desc[]    per reader: depth, policy; written once
 *   per reader           hmq_row with its ring of cells, the free ring, the held bytes
 *   page boundary
 *   pool                 per slot: head, payload; readers may map it read-only
 *
 * No pointers, no padding, no bit-fields, no bool, no enum.  Fields of different
 * writers lie in different blocks of 128 bytes (two cache lines: the adjacent-line
 * prefetcher counts as sharing).  Indices run free and wrap; differences are
 * compared, never values.
 *
 * Where a thing lies is computed from the sizes by one function, by the side that
 * formats and by each side that opens: no stored offset is ever followed.
 */
#ifndef HMQ_LAYOUT_H
#define HMQ_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

#include "holomq/holomq.h"

#define HMQ_BLOCK_BYTES ((size_t)128)
#define HMQ_PAGE_BYTES 4096u
#define HMQ_MAGIC UINT64_C(0x31514d4f4c4f48) /* "HOLOMQ1" */
#define HMQ_WIRE_VERSION 1u
#define HMQ_MAX_PAYLOAD (UINT64_C(1) << 40)

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct hmq_shared_head { /* written by hmq_chan_format, afterwards by nobody */
	uint64_t magic;
	uint32_t version;
	uint32_t digest; /* of the structures below: two builds that differ do not meet */
	uint64_t bytes;
	uint64_t pool_at;
	uint64_t stride;
	uint64_t payload_bytes;
	uint32_t slots;
	uint32_t align;
	uint32_t n_readers;
	uint32_t rank;
	struct hmq_dtype dtype;
	uint32_t dim[HMQ_MAX_RANK];
	uint32_t epoch; /* of the writer: another one after each restart */
	uint8_t fill[24];
};

struct hmq_shared_writer { /* the writer writes, tools read */
	uint64_t seq;      /* of the next message */
	uint32_t pid; /* of the process that opened the writer: keeps the pool writable there */
	uint8_t fill[116];
};

struct hmq_shared_desc { /* written by hmq_chan_format, afterwards by nobody */
	uint32_t depth;
	uint32_t policy;
};

struct hmq_row {
	/* Block 0.  The writer writes, tools read. */
	uint64_t lost;       /* refused or dropped: queue full */
	uint64_t left;       /* queued at a reader that closed, or published while there was none */
	uint64_t abandoned;  /* queued at a reader found dead */
	uint64_t skipped;    /* of these three: those that were in the ring, i.e. before tail */
	uint32_t max_queued; /* the most the writer saw */
	uint32_t fate;       /* enum hmq_fate */
	uint32_t accepted;   /* the ticket of the reader that was let in last */
	uint8_t fill0[84];

	/* Block 1.  The reader writes, the writer reads when it needs room or slots.  Between two
	 * readers, until it has let the next one in, the writer writes it. */
	uint64_t head;      /* next message to take; drop_oldest: both ends move it, by CAS */
	uint64_t free_tail; /* next cell of the free ring to fill */
	uint64_t claimed;   /* drop_oldest: how many the reader has claimed */
	uint64_t returned;  /* drop_oldest: of these, claimed and not taken when it closed */
	uint8_t fill1[96];

	/* Block 2.  The reader writes, seldom. */
	uint32_t ticket; /* HMQ_TICKET_..; a new number: another reader asks to be let in */
	uint32_t max_queued_seen;
	uint8_t fill2[120];

	/* Block 3.  The writer writes, the reader polls.  A copy of the newest cell shares the line
	 * of the cursor: a message that finds the queue empty is handed over with one cache miss.
	 */
	uint64_t tail;   /* next cell to fill */
	uint64_t newest; /* hmq_newest() of the message before tail */
	uint32_t ended;  /* 1: end of stream; tail is final */
	uint32_t reserved;
	uint32_t cell[]; /* slot numbers; a power of two of them, at least depth */
};

struct hmq_waiter {
	/* Block 0.  Bit 0: the owner has announced sleep (owner writes).  The rest counts wakes
	 * (every peer adds 2). */
	uint32_t word;
	uint32_t kind; /* hmq_waiter_init */
	uint8_t fill0[120];

	/* Block 1.  The owner and, at its death, the kernel write; peers look. */
	union {
		pthread_mutex_t mutex; /* robust, process-shared */
		uint8_t fill[128];
	} life;
};

#pragma GCC diagnostic pop

/*
 * A slot with the turn of its message, in one word.  Whoever reads it beside tail may find the word
 * of a later message, and sees that by the turn.  Turns are 40 bits: no queue is as long.
 */
#define HMQ_SLOT_MASK (HMQ_MAX_SLOTS - 1)

static inline uint64_t
hmq_newest(uint64_t turn, uint64_t slot)
{
	return turn * HMQ_MAX_SLOTS | slot;
}

enum hmq_ticket {
	HMQ_TICKET_CLOSED = 1, /* no more interest; head is final */
	HMQ_TICKET_FORMER = 2, /* the reader let in before closed, it did not die */
	HMQ_TICKET_STEP = 4,   /* numbers go up by it and wrap */
};

enum hmq_fate {
	HMQ_FATE_OPEN = 0,
	HMQ_FATE_CLOSED = 1, /* the reader ended */
	HMQ_FATE_DEAD = 2,
	HMQ_FATE_BROKEN = 3, /* it wrote nonsense */
};

_Static_assert(sizeof(struct hmq_shared_head) == HMQ_BLOCK_BYTES, "one block");
_Static_assert(sizeof(struct hmq_shared_writer) == HMQ_BLOCK_BYTES, "one block");
_Static_assert(offsetof(struct hmq_row, head) == HMQ_BLOCK_BYTES, "reader's block");
_Static_assert(offsetof(struct hmq_row, ticket) == 2 * HMQ_BLOCK_BYTES, "reader's second block");
_Static_assert(offsetof(struct hmq_row, tail) == 3 * HMQ_BLOCK_BYTES, "writer's block");
_Static_assert(offsetof(struct hmq_row, cell) % 4 == 0, "cells are words");
_Static_assert(sizeof(struct hmq_waiter) == HMQ_WAITER_BYTES, "two blocks");
_Static_assert(offsetof(struct hmq_waiter, life) == HMQ_BLOCK_BYTES, "life apart from word");

/* ---- of this process from here on ------------------------------------------------------- */

/* Where one reader's things lie, as offsets from the start of the segment. */
struct hmq_row_place {
	uint64_t row_at;
	uint64_t free_at;
	uint64_t held_at;
	uint32_t depth;
	uint32_t policy;
	uint32_t cells;      /* of the ring: a power of two >= depth */
	uint32_t held_shift; /* see struct hmq_held */
};

/*
 * The held bytes of one reader.  Both ends write them, of neighbouring slots at nearly the same
 * time, so each has a line of its own while HMQ_HELD_BYTES last, and less with more slots.
 */
#define HMQ_HELD_BYTES UINT64_C(16384)
#define HMQ_HELD_MAX_SHIFT 6u

struct hmq_held {
	uint8_t *first;
	uint32_t shift;
};

struct hmq_layout {
	uint64_t bytes;
	uint64_t pool_at;  /* multiple of the page size */
	uint64_t first_at; /* payload of slot 0; its head lies 128 bytes before */
	uint64_t stride;
	uint64_t payload_bytes;
	uint32_t slots;
	uint32_t align;
	uint32_t n_readers;
	uint32_t epoch;
	uint32_t free_cells; /* of each free ring: a power of two >= 2 * slots, see pool.c */
	struct hmq_row_place reader[HMQ_MAX_READERS];
};

/* Check cfg and compute; -EINVAL and friends with a sentence. */
int hmq_layout_of_config(struct hmq_layout *out, const struct hmq_config *cfg,
			 struct hmq_error *err);
/* Read the header of a segment once, trust nothing, compute. */
int hmq_layout_of_segment(struct hmq_layout *out, const struct hmq_segment *seg,
			  struct hmq_error *err);
uint32_t hmq_layout_digest(void);
/* The epoch a peer wants, if it wants one, against the segment's; 0 or -ESTALE. */
int hmq_layout_check_epoch(const struct hmq_layout *lay, uint32_t wanted, struct hmq_error *err);

/* Fill err (may be NULL) and return -code. */
__attribute__((format(printf, 3, 4))) int hmq_fail(struct hmq_error *err, int code, const char *fmt,
						   ...);

/* Zeroed memory of this process in whole blocks, and its end; [control] only. */
void *hmq_alloc(size_t bytes);
void hmq_dealloc(void *p);

static inline void *
hmq_at(const struct hmq_segment *seg, uint64_t offset)
{
	return (uint8_t *)seg->base + offset;
}

static inline struct hmq_held
hmq_held_in(const struct hmq_segment *seg, const struct hmq_row_place *place)
{
	return (struct hmq_held){ hmq_at(seg, place->held_at), place->held_shift };
}

static inline uint8_t *
hmq_held_of(struct hmq_held h, uint64_t slot)
{
	return h.first + (slot << h.shift);
}

static inline struct hmq_shared_writer *
hmq_shared_writer_of(const struct hmq_segment *seg)
{
	return hmq_at(seg, sizeof(struct hmq_shared_head));
}

#endif /* HMQ_LAYOUT_H */
