/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holomq.h - HoloMQ, a bounded zero-copy message queue for one machine.
 *
 * One writer, up to HMQ_MAX_READERS readers.  A message is a 128-byte head and
 * a payload in one slot of the writer's pool; readers see it where it was
 * written.  The same layout lives in private memory (one process) or in a
 * sealed memfd (several); the code is the same.
 *
 * Progress.  loan, publish, peek, advance, release are wait-free: they never
 * block, allocate or enter the kernel, except that publish and release make one
 * futex or eventfd call when the other end has gone to sleep.
 *
 * Threads.  A writer handle belongs to one thread at a time, so does a reader
 * handle.  Functions marked [control] may allocate and block; call them while
 * the graph is built or torn down.
 *
 * Trust.  What another process wrote is copied, checked, then used: a hostile
 * peer can send wrong data, never crash or hang its partner.
 *
 * Errors.  0 or a count, else a negative errno; [control] functions also fill
 * a struct hmq_error with a sentence that says what was wanted and found.
 */
#ifndef HOLOMQ_H
#define HOLOMQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define HMQ_ASSERT(cond, text) static_assert(cond, text)
extern "C" {
#else
#define HMQ_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define HMQ_PUBLIC __attribute__((visibility("default")))

#define HMQ_MAX_READERS 64
#define HMQ_MAX_RANK 8
#define HMQ_MAX_SLOTS (1u << 24)

struct hmq_error {
	int32_t code; /* negative errno */
	char text[252];
};

/* ---- messages ---------------------------------------------------------- */

/* DLPack's numbering: code 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool.  Frozen. */
struct hmq_dtype {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
};

/* In shared memory before the payload; no pointers.  Times: CLOCK_MONOTONIC ns.  Frozen. */
struct hmq_head {
	uint64_t seq;     /* set by publish, counts from 0 per channel; a gap is a loss */
	uint64_t frame;   /* the application's count */
	int64_t born_ns;  /* when its source was due to send it */
	int64_t stamp_ns; /* CLOCK_TAI of the capture; 0: unknown */
	uint64_t bytes;   /* payload in use, at most hmq_tx.capacity */
	uint32_t index;
	uint32_t flags;
	uint32_t stream;
	struct hmq_dtype dtype; /* dtype, rank, dim: filled in every slot at format time */
	uint16_t rank;
	uint16_t reserved[3];
	uint32_t dim[HMQ_MAX_RANK];
	int64_t last_ns;
	uint8_t user[24];
};

/* A received message; valid until released.  Frozen. */
struct hmq_rx {
	const struct hmq_head *head;
	const void *data;
	uint64_t bytes; /* head->bytes, read once and checked against the capacity */
	uint64_t slot;
};

/* A loaned slot.  Frozen. */
struct hmq_tx {
	struct hmq_head *head;
	void *data;
	uint64_t capacity;
	uint64_t slot;
};

/* ---- memory ------------------------------------------------------------ */

struct hmq_segment { /* a handle in the caller's memory; fields are read-only for users */
	void *base;
	uint64_t bytes;
	int32_t fd; /* -1: private memory of this process */
	uint32_t flags;
};
enum {
	HMQ_SEG_SHARED = 1u << 0, /* memfd, sealed against shrinking and growing, close-on-exec */
};

/*
 * [control] Memory that is really there: allocated and touched before this
 * returns, so that it cannot be missing later.  -ENOMEM / -ENOSPC are refusals;
 * more than the kernel calls available is refused before anything is taken.
 */
HMQ_PUBLIC int hmq_segment_create(struct hmq_segment *seg, const char *name, uint64_t bytes,
				  uint32_t flags, struct hmq_error *err);
/* [control] Map a descriptor that another process made; its seals and size are checked.  The
 * segment keeps fd and closes it in hmq_segment_close; after a failure fd is still the caller's. */
HMQ_PUBLIC int hmq_segment_map(struct hmq_segment *seg, int32_t fd, struct hmq_error *err);
/* [control] Unmap and close; all handles into it are invalid afterwards. */
HMQ_PUBLIC void hmq_segment_close(struct hmq_segment *seg);

/* ---- waking and life ---------------------------------------------------- */

/*
 * One per worker thread, in a segment every peer of that worker maps.  An event
 * count: producers add 2 and wake if bit 0 is set; the sleeper sets bit 0, looks
 * again at everything it waits on, then sleeps on the value it saw.
 */
struct hmq_waiter;
#define HMQ_WAITER_BYTES 256u /* size and alignment of one record (two 128-byte blocks) */

enum {
	HMQ_WAIT_FUTEX = 1,   /* sleeps in hmq_waiter_wait */
	HMQ_WAIT_EVENTFD = 2, /* sleeps in its own epoll set, which holds the eventfd */
};

/* [control] */
HMQ_PUBLIC void hmq_waiter_init(struct hmq_waiter *w, uint32_t kind);
/* Announce sleep; returns the value to wait on.  Then look again at everything. */
HMQ_PUBLIC uint32_t hmq_waiter_prepare(struct hmq_waiter *w);
/* Something was there after all: withdraw the announcement. */
HMQ_PUBLIC void hmq_waiter_cancel(struct hmq_waiter *w);
/* Sleep until woken or CLOCK_MONOTONIC deadline_ns (INT64_MAX: none); FUTEX kind only.  0 when
 * woken (possibly for nothing), -ETIMEDOUT, -EINTR.  The announcement is withdrawn on return. */
HMQ_PUBLIC int hmq_waiter_wait(struct hmq_waiter *w, uint32_t value, int64_t deadline_ns);

/*
 * Life.  A worker holds the robust mutex of its record from start to end; when
 * its thread dies, by whatever means, the kernel marks it.  Stopped (SIGSTOP)
 * is not dead.
 */
HMQ_PUBLIC int hmq_life_begin(struct hmq_waiter *w); /* by the thread that lives */
HMQ_PUBLIC void hmq_life_end(struct hmq_waiter *w);  /* by the same thread: a clean end */
HMQ_PUBLIC int hmq_life_is_dead(const struct hmq_waiter *w); /* any process: 1 dead, else 0 */

/* How to reach the other end of a channel.  Copied. */
struct hmq_peer {
	struct hmq_waiter *waiter; /* NULL: never sleeps, or is this same thread: no wake needed */
	/* NULL: same process, dies with us.  A reader whose writer lives elsewhere maps the pool
	 * read-only from hmq_reader_open on. */
	const struct hmq_waiter *life;
	int32_t event_fd; /* of an EVENTFD waiter, else -1; borrowed while the handle is open */
	uint32_t reserved;
};
/* What publish and release do: one fetch_add, and a system call only if it sleeps. */
HMQ_PUBLIC void hmq_wake(const struct hmq_peer *peer);

/* ---- channel ------------------------------------------------------------ */

enum { /* what publish does when a reader's queue is full */
	HMQ_BLOCK = 0,       /* not accepted: hmq_room says so beforehand */
	HMQ_DROP_NEWEST = 1, /* this reader misses it; counted */
	HMQ_FAIL = 2,        /* publish returns -ENOBUFS */
	HMQ_DROP_OLDEST = 3, /* not in this version: -ENOTSUP */
};

struct hmq_reader_config {
	uint32_t depth;  /* messages its queue holds, exactly; >= 1 */
	uint32_t policy; /* HMQ_BLOCK .. */
};

struct hmq_config {
	uint32_t slots; /* of the pool; the caller's sum of loans, depths and keeps */
	uint32_t align; /* of payloads: a power of two, 64 .. 4096; 0: 64 */
	uint64_t payload_bytes; /* capacity of each slot */
	uint32_t n_readers; /* 0: what is published goes nowhere */
	struct hmq_dtype dtype; /* dtype, rank, dim: written to every slot's head */
	uint32_t rank;
	uint32_t dim[HMQ_MAX_RANK];
	uint32_t reserved;
	const struct hmq_reader_config *reader; /* n_readers of them */
};

/* [control] Bytes of a segment that holds this channel; 0 when the config is refused. */
HMQ_PUBLIC uint64_t hmq_chan_bytes(const struct hmq_config *cfg, struct hmq_error *err);
/* [control] Lay the channel out in a fresh segment of at least that size. */
HMQ_PUBLIC int hmq_chan_format(const struct hmq_segment *seg, const struct hmq_config *cfg,
			       struct hmq_error *err);

struct hmq_writer;
struct hmq_reader;

/* [control] peers: one per reader, in the order of the config. */
HMQ_PUBLIC int hmq_writer_open(struct hmq_writer **out, const struct hmq_segment *seg,
			       const struct hmq_peer *peers, struct hmq_error *err);
/* [control] Reader number `index`; peer: the writer. */
HMQ_PUBLIC int hmq_reader_open(struct hmq_reader **out, const struct hmq_segment *seg,
			       uint32_t index, const struct hmq_peer *peer, struct hmq_error *err);
/* [control] Frees the handle only; call hmq_writer_end / hmq_reader_end first to tell the peer. */
HMQ_PUBLIC void hmq_writer_free(struct hmq_writer *w);
HMQ_PUBLIC void hmq_reader_free(struct hmq_reader *r);

/* Loan up to n free slots into tx[0..]; returns how many (0: none free).  Loans are held until
 * published or cancelled and keep their address; any loaned slot may be published first. */
HMQ_PUBLIC uint32_t hmq_loan(struct hmq_writer *w, struct hmq_tx *tx, uint32_t n);
HMQ_PUBLIC void hmq_cancel(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n);
/* Messages that every open blocking reader could accept now (capped at HMQ_MAX_SLOTS). */
HMQ_PUBLIC uint32_t hmq_room(struct hmq_writer *w);
/*
 * Publish tx[0..n): seq is set, each reader gets what its policy allows, sleeping
 * readers are woken once.  Returns n, or a negative errno with nothing published:
 * -EMSGSIZE head->bytes > capacity, -EAGAIN a blocking reader has no room,
 * -ENOBUFS a FAIL reader is full (hmq_writer_culprit says which message or reader),
 * -EINVAL a slot that is not on loan.  With no open reader the messages go nowhere:
 * n is returned, they count as sent, the slots are free again.
 */
HMQ_PUBLIC int32_t hmq_publish(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n);
HMQ_PUBLIC uint32_t hmq_writer_culprit(const struct hmq_writer *w);
/* Before the start: put n zero-filled messages of `bytes` into one reader's queue (closes a
 * loop).  They count as sent and received on that edge and take sequence numbers like any other.
 * -EINVAL no such reader, -EMSGSIZE, -ENOBUFS no room or no slots, -EPIPE the reader is gone. */
HMQ_PUBLIC int hmq_prime(struct hmq_writer *w, uint32_t reader, uint32_t n, uint64_t bytes);
/* End of stream: readers get what is queued, then HMQ_ENDED.  Loans must be cancelled before. */
HMQ_PUBLIC void hmq_writer_end(struct hmq_writer *w);
/* Readers that are neither closed nor dead (nor found writing nonsense). */
HMQ_PUBLIC uint32_t hmq_writer_readers(struct hmq_writer *w);
/* 1 when every slot is free or on loan, i.e. nothing is held by any reader; writer thread only. */
HMQ_PUBLIC int hmq_writer_is_idle(struct hmq_writer *w);
/* The pool, e.g. to register with a device: base and stride of the slots' payloads. */
HMQ_PUBLIC void hmq_writer_region(const struct hmq_writer *w, void **base, uint64_t *bytes,
				  uint64_t *stride);

/*
 * A view of the queue: fills rx[0..n) with the messages `skip` .. after the cursor and returns
 * how many there are; moves nothing, so that only what was not seen yet need be asked for.
 * -EBADMSG: the peer wrote nonsense (bad index or length); the channel is unusable.
 */
HMQ_PUBLIC int32_t hmq_peek(struct hmq_reader *r, uint32_t skip, struct hmq_rx *rx, uint32_t n);
/* Take n messages off the queue: the writer has room for n more.  They stay valid until
 * released.  Wakes a sleeping writer. */
HMQ_PUBLIC void hmq_advance(struct hmq_reader *r, uint32_t n);
/* Give slots back, in any order; wakes a sleeping writer. */
HMQ_PUBLIC void hmq_release(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n);
/* hmq_advance + hmq_release of the same n, with at most one wake: the usual case. */
HMQ_PUBLIC void hmq_take(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n);
/* Messages in the queue now, seen or not. */
HMQ_PUBLIC uint32_t hmq_queued(struct hmq_reader *r);

enum {
	HMQ_OPEN = 0,
	HMQ_ENDED = 1, /* the writer ended and nothing is queued */
	HMQ_LOST = 2,  /* the writer died and nothing is queued */
	HMQ_BROKEN = 3, /* see -EBADMSG */
};
HMQ_PUBLIC uint32_t hmq_reader_state(struct hmq_reader *r);
/* The writer's end alone, whatever is queued: OPEN, ENDED, LOST or BROKEN.  After it said ENDED or
 * LOST, the next hmq_peek and hmq_queued see everything that was ever published. */
HMQ_PUBLIC uint32_t hmq_reader_peer(struct hmq_reader *r);
/* No more interest: releases what is queued (counted as left), tells the writer.  Messages taken
 * and not released must be released first. */
HMQ_PUBLIC void hmq_reader_end(struct hmq_reader *r);

/* ---- numbers ------------------------------------------------------------ */

/* Of one edge.  Any process that maps the segment may read them at any time; exact once both ends
 * have ended: sent == received + lost + left + abandoned. */
struct hmq_edge_stat {
	uint64_t sent;     /* messages the writer published, initial ones included */
	uint64_t received; /* taken off the queue by the reader */
	uint64_t lost;     /* not accepted: queue full (DROP_NEWEST) */
	uint64_t left;     /* queued when the reader ended or published after that */
	uint64_t abandoned; /* queued at a reader that died */
	uint32_t depth;
	uint32_t queued;
	uint32_t max_queued;
	uint32_t slots;
};
HMQ_PUBLIC int hmq_chan_stat(const struct hmq_segment *seg, uint32_t reader,
			     struct hmq_edge_stat *out);

HMQ_ASSERT(sizeof(struct hmq_head) == 128, "two cache lines");
HMQ_ASSERT(offsetof(struct hmq_head, dim) == 64, "second line starts at dim");
HMQ_ASSERT(sizeof(struct hmq_rx) == 32 && sizeof(struct hmq_tx) == 32, "frozen");

#ifdef __cplusplus
}
#endif
#endif /* HOLOMQ_H */
