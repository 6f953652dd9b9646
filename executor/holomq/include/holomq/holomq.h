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
 * futex or eventfd call when the other end has gone to sleep.  A peek of a
 * DROP_OLDEST reader may lose its claim to a writer again and again; it gives up
 * after a fixed number of attempts and then shows nothing, with a wake to come.
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
 * How long to look again and again before sleeping (wait: adaptive).  Learns from the gaps between
 * messages; 0 when a gap is longer than what spinning saves, and always with a cost of 0: when
 * another spinner shares the CPU.  In the caller's memory, one thread.  Frozen.
 */
struct hmq_spin {
	int64_t cost_ns; /* what going to sleep and being woken takes */
	int64_t mean_ns; /* of the gaps, moving */
};
/* [control] Measures that cost on this thread, which sleeps for a fraction of a millisecond. */
HMQ_PUBLIC int64_t hmq_spin_cost(void);
HMQ_PUBLIC void hmq_spin_init(struct hmq_spin *s, int64_t cost_ns);
/* A message came after nothing had been there for gap_ns; slept: the thread slept meanwhile. */
HMQ_PUBLIC void hmq_spin_learn(struct hmq_spin *s, int64_t gap_ns, int slept);
HMQ_PUBLIC int64_t hmq_spin_budget(const struct hmq_spin *s);

/*
 * Life.  A worker holds the robust mutex of its record from start to end; when
 * its thread dies, by whatever means, the kernel marks it.  Stopped (SIGSTOP)
 * is not dead.
 */
HMQ_PUBLIC int hmq_life_begin(struct hmq_waiter *w);         /* by the thread that lives */
HMQ_PUBLIC void hmq_life_end(struct hmq_waiter *w);          /* by the same thread: a clean end */
HMQ_PUBLIC int hmq_life_is_dead(const struct hmq_waiter *w); /* any process: 1 dead, else 0 */

/* How to reach the other end of a channel.  Copied. */
struct hmq_peer {
	struct hmq_waiter *waiter; /* NULL: never sleeps, or is this same thread: no wake needed */
	/* NULL: same process, dies with us.  A reader whose writer lives elsewhere maps the pool
	 * read-only from hmq_reader_open on. */
	const struct hmq_waiter *life;
	int32_t event_fd; /* of an EVENTFD waiter, else -1; borrowed while the handle is open */
	uint32_t epoch;   /* that the segment must have, else -ESTALE at open; 0: any */
};
/* What publish and release do: one fetch_add, and a system call only if it sleeps. */
HMQ_PUBLIC void hmq_wake(const struct hmq_peer *peer);

/* ---- channel ------------------------------------------------------------ */

enum {                      /* what publish does when a reader's queue is full */
       HMQ_BLOCK = 0,       /* not accepted: hmq_room says so beforehand */
       HMQ_DROP_NEWEST = 1, /* this reader misses it; counted */
       HMQ_FAIL = 2,        /* publish returns -ENOBUFS */
       HMQ_DROP_OLDEST = 3, /* older messages make room, the newest always arrives; counted */
};

struct hmq_reader_config {
	uint32_t depth;  /* messages its queue holds, exactly; >= 1 */
	uint32_t policy; /* HMQ_BLOCK .. */
};

struct hmq_config {
	uint32_t slots;         /* of the pool; the caller's sum of loans, depths and keeps */
	uint32_t align;         /* of payloads: a power of two, 64 .. 4096; 0: 64 */
	uint64_t payload_bytes; /* capacity of each slot */
	uint32_t n_readers;     /* 0: what is published goes nowhere */
	struct hmq_dtype dtype; /* dtype, rank, dim: written to every slot's head */
	uint32_t rank;
	uint32_t dim[HMQ_MAX_RANK];
	uint32_t epoch; /* which life of the writer this channel belongs to; the caller's count */
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
/*
 * [control] Reader number `index` again, after one that has ended or died: the caller knows that it
 * has (it was waited for, or its pidfd said so), as often as it likes.  The writer settles the
 * former one's account, then lets this one in, by itself, when it next asks for room, counts its
 * readers or publishes; and not while peer.life at its side still shows the dead one
 * (hmq_life_begin by the new worker ends that).  Until then there is nothing to see here;
 * afterwards what is published then. The edge's counters go on.
 *
 * A restarted writer does not come back to its old channel: it formats a new segment with another
 * `epoch`.  Its readers take what is queued in the old one, until HMQ_LOST, release it there, and
 * open the new one at any time before or after.
 */
HMQ_PUBLIC int hmq_reader_rejoin(struct hmq_reader **out, const struct hmq_segment *seg,
				 uint32_t index, const struct hmq_peer *peer,
				 struct hmq_error *err);
/* How to reach a reader from now on; by the writer's thread, while that reader is not there. */
HMQ_PUBLIC void hmq_writer_set_peer(struct hmq_writer *w, uint32_t reader,
				    const struct hmq_peer *peer);
/* [control] Frees the handle only; call hmq_writer_end / hmq_reader_end first to tell the peer. */
HMQ_PUBLIC void hmq_writer_free(struct hmq_writer *w);
HMQ_PUBLIC void hmq_reader_free(struct hmq_reader *r);

/* Loan up to n free slots into tx[0..]; returns how many (0: none free).  Loans are held until
 * published or cancelled and keep their address; any loaned slot may be published first. */
HMQ_PUBLIC uint32_t hmq_loan(struct hmq_writer *w, struct hmq_tx *tx, uint32_t n);
HMQ_PUBLIC void hmq_cancel(struct hmq_writer *w, const struct hmq_tx *tx, uint32_t n);
/* Messages that every open blocking reader could accept now (capped at HMQ_MAX_SLOTS); readers of
 * another policy never limit it. */
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
/* For a writer about to sleep because room or slots are missing: the CLOCK_MONOTONIC time by which
 * it must look again (hmq_writer_readers, then hmq_room, hmq_loan) lest a reader in another process
 * has died, whom nobody wakes for; INT64_MAX when no open reader lives elsewhere. */
HMQ_PUBLIC int64_t hmq_writer_next_look(const struct hmq_writer *w, int64_t now_ns);
/* 1 when every slot is free or on loan, i.e. nothing is held by any reader; writer thread only. */
HMQ_PUBLIC int hmq_writer_is_idle(struct hmq_writer *w);
/* The pool, e.g. to register with a device: base and stride of the slots' payloads. */
HMQ_PUBLIC void hmq_writer_region(const struct hmq_writer *w, void **base, uint64_t *bytes,
				  uint64_t *stride);

/*
 * A view of the queue: fills rx[0..n) with the messages `skip` .. after the cursor and returns
 * how many there are; moves nothing, so that only what was not seen yet need be asked for.
 * -EBADMSG: the peer wrote nonsense (bad index or length); the channel is unusable.
 *
 * A DROP_OLDEST reader claims what it is shown: the writer drops none of it any more, and the
 * queue has room for others.  It stays on loan to the reader until it is released, at most `depth`
 * of it, and is shown again until it is taken, as with any policy.  So ask for no more than will be
 * used, and count it into the channel's slots: what one call may show, beside what is kept.
 */
HMQ_PUBLIC int32_t hmq_peek(struct hmq_reader *r, uint32_t skip, struct hmq_rx *rx, uint32_t n);
/* Take n messages off the queue: the writer has room for n more (DROP_OLDEST: it had since they
 * were shown).  They stay valid until released.  Wakes a sleeping writer. */
HMQ_PUBLIC void hmq_advance(struct hmq_reader *r, uint32_t n);
/* Give slots back, in any order; wakes a sleeping writer. */
HMQ_PUBLIC void hmq_release(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n);
/* hmq_advance + hmq_release of the same n, with at most one wake: the usual case. */
HMQ_PUBLIC void hmq_take(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n);
/* Messages in the queue now, seen or not; those shown and not taken included. */
HMQ_PUBLIC uint32_t hmq_queued(struct hmq_reader *r);

enum {
	HMQ_OPEN = 0,
	HMQ_ENDED = 1,  /* the writer ended and nothing is queued */
	HMQ_LOST = 2,   /* the writer died and nothing is queued */
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
	uint64_t sent;      /* messages the writer published, initial ones included */
	uint64_t received;  /* taken off the queue by the reader; DROP_OLDEST: shown to it */
	uint64_t lost;      /* queue full: not accepted (DROP_NEWEST), dropped (DROP_OLDEST) */
	uint64_t left;      /* queued or not taken when the reader ended, or published after that */
	uint64_t abandoned; /* queued at a reader that died */
	uint32_t depth;
	uint32_t queued;
	uint32_t max_queued;
	uint32_t slots;
};
HMQ_PUBLIC int hmq_chan_stat(const struct hmq_segment *seg, uint32_t reader,
			     struct hmq_edge_stat *out);

/* ---- endpoints ---------------------------------------------------------- */

/*
 * A channel with a name, for programs that know nothing of each other but a folder and a word.
 * One of them exports it: makes the memory and answers on a socket in that folder.  Others import
 * it, before or after.  Descriptors travel by SCM_RIGHTS, identity by SO_PEERCRED; the socket is
 * asked once, when two ends meet, and never carries a message.  The library reads no environment:
 * the folder is given.  It is made with mode 0700 if it is not there; programs commonly take
 * $XDG_RUNTIME_DIR/holomq, else /tmp/holomq-UID.
 *
 * An endpoint handle and the writer, reader and waiter it has belong to the thread that made it:
 * its life is the endpoint's life, and it must close it.
 */

/* What one side does. */
enum {
	HMQ_ROLE_WRITER = 1,
	HMQ_ROLE_READER = 2,
};

/* What the two ends do for each other. */
enum {
	HMQ_WAKE_ANY = 0,   /* import: as the exporter has it; export: HMQ_WAKE_SLEEP */
	HMQ_WAKE_SLEEP = 1, /* ends may sleep: one fetch_add per batch */
	HMQ_WAKE_SPIN = 2,  /* nobody ever sleeps, nobody is woken */
};

#define HMQ_ANY UINT32_MAX
#define HMQ_KIND_BYTES 48u

/*
 * What the messages are, and how they are queued.  The exporter's is the truth; an importer's is
 * what it wants, where 0 wants nothing (dtype.bits 0: neither dtype nor rank), and policy HMQ_ANY.
 * Nothing is negotiated: what differs is refused, with the field and both values.
 */
struct hmq_contract {
	char kind[HMQ_KIND_BYTES]; /* a word both sides chose; zero-terminated */
	struct hmq_dtype dtype;
	uint32_t rank;
	uint32_t dim[HMQ_MAX_RANK]; /* 0: varies from message to message */
	uint64_t max_bytes;         /* of one payload */
	uint64_t layout;            /* digest of a payload that is a C structure; 0: it is none */
	uint32_t depth;             /* of each reader's queue */
	uint32_t policy;            /* HMQ_BLOCK .. */
	uint32_t wake;              /* HMQ_WAKE_ANY .. */
	uint32_t reserved;
};

enum {
	HMQ_ENDPOINT_THREAD = 1u << 0,   /* export: a helper thread answers the socket */
	HMQ_ENDPOINT_ANY_USER = 1u << 1, /* else peers of the same user only (and root) */
	HMQ_ENDPOINT_POLLED = 1u << 2,   /* this side sleeps in poll() on hmq_endpoint_fd() */
};

struct hmq_export {
	uint32_t size; /* sizeof(struct hmq_export) */
	uint32_t role; /* of this side */
	uint32_t flags;
	uint32_t seats; /* readers at most, 1 .. HMQ_MAX_READERS; 0: 1 */
	uint32_t loans; /* the writer holds at most so many at once; 0: 1 */
	uint32_t keeps; /* each reader holds back at most so many after hmq_advance */
	const char *dir;
	const char *name; /* 1 to 64 of a-z A-Z 0-9 . _ -, not beginning with a dot */
	struct hmq_contract contract;
};

struct hmq_import {
	uint32_t size; /* sizeof(struct hmq_import) */
	uint32_t role; /* of this side: the other one than the exporter's */
	uint32_t flags;
	uint32_t reserved;
	const char *dir;
	const char *name;
	struct hmq_contract contract;
};

struct hmq_endpoint;

/* [control] -EADDRINUSE: a live endpoint has this name, and keeps it; the socket of a dead one is
 * replaced.  -ETIMEDOUT: something else has kept the folder locked for two seconds. */
HMQ_PUBLIC int hmq_endpoint_export(struct hmq_endpoint **out, const struct hmq_export *cfg,
				   struct hmq_error *err);
/* [control] Waits for an exporter and its answer until CLOCK_MONOTONIC deadline_ns.  -ETIMEDOUT:
 * nobody came, -EPROTO the contracts differ, -EUSERS no seat is free, -EACCES another user.
 * When this returns 0 the writer knows this reader: the next message it publishes arrives. */
HMQ_PUBLIC int hmq_endpoint_import(struct hmq_endpoint **out, const struct hmq_import *cfg,
				   int64_t deadline_ns, struct hmq_error *err);
/* [control] Ends the stream or the interest, takes the name away, frees everything.  Loans must be
 * cancelled and messages released before. */
HMQ_PUBLIC void hmq_endpoint_close(struct hmq_endpoint *ep);

/* NULL when this side has the other role. */
HMQ_PUBLIC struct hmq_writer *hmq_endpoint_writer(struct hmq_endpoint *ep);
HMQ_PUBLIC struct hmq_reader *hmq_endpoint_reader(struct hmq_endpoint *ep);
/* This side's event count; NULL with HMQ_WAKE_SPIN. */
HMQ_PUBLIC struct hmq_waiter *hmq_endpoint_waiter(struct hmq_endpoint *ep);
/* What the exporter promised. */
HMQ_PUBLIC const struct hmq_contract *hmq_endpoint_contract(const struct hmq_endpoint *ep);
/* The memory, e.g. for hmq_chan_stat. */
HMQ_PUBLIC const struct hmq_segment *hmq_endpoint_segment(const struct hmq_endpoint *ep);

/*
 * Exporter: let in who has asked, see who has gone; returns how many peers are attached.  Never
 * blocks; without news it is one load.  Call it between messages: without HMQ_ENDPOINT_THREAD it
 * answers the socket, with it it seats readers that the helper thread has checked.
 */
HMQ_PUBLIC uint32_t hmq_endpoint_poll(struct hmq_endpoint *ep);
/* Exporter, for a required peer: serve and sleep until n are attached or the deadline. */
HMQ_PUBLIC int hmq_endpoint_wait(struct hmq_endpoint *ep, uint32_t n, int64_t deadline_ns);
/*
 * Sleep until there may be a message (reader) or room (writer), a peer came, ended or died, or the
 * deadline: 0 or -ETIMEDOUT, -EINTR; at once if it is so already.  Wakes on no timer.  Then call
 * hmq_endpoint_poll (exporter) and look.  -ENOTSUP with HMQ_WAKE_SPIN or HMQ_ENDPOINT_POLLED.
 */
HMQ_PUBLIC int hmq_endpoint_sleep(struct hmq_endpoint *ep, int64_t deadline_ns);
/* Of an endpoint with HMQ_ENDPOINT_POLLED, or an exporter without HMQ_ENDPOINT_THREAD: readable
 * when hmq_endpoint_poll should be called.  Else -1. */
HMQ_PUBLIC int32_t hmq_endpoint_fd(const struct hmq_endpoint *ep);
/* POLLED, before poll(): 1 when there is something already, else 0 and the descriptor will tell.
 * hmq_endpoint_poll disarms. */
HMQ_PUBLIC int hmq_endpoint_arm(struct hmq_endpoint *ep);
/*
 * Exporter that reads: its writer has ended or died and everything is read; make new memory for
 * the next writer.  Afterwards hmq_endpoint_reader is another one.  -EBUSY: not so yet.
 */
HMQ_PUBLIC int hmq_endpoint_renew(struct hmq_endpoint *ep, struct hmq_error *err);

/* What happened at the socket of an exporter. */
struct hmq_endpoint_stat {
	uint64_t attached; /* ever */
	uint64_t refused;  /* contract, user, no seat, nonsense */
	uint64_t unheard;  /* messages published while no reader was attached */
	uint32_t peers;    /* now */
	uint32_t reserved;
};
HMQ_PUBLIC void hmq_endpoint_numbers(struct hmq_endpoint *ep, struct hmq_endpoint_stat *out);

/* [control] Remove the sockets in a folder that nobody listens on any more; live ones and other
 * files are not touched.  Returns how many; said: told each name, may be NULL. */
HMQ_PUBLIC int32_t hmq_endpoint_clean(const char *dir, void (*said)(const char *name, void *arg),
				      void *arg, struct hmq_error *err);

/* ---- catalog -------------------------------------------------------------- */

/* The endpoints of a program as canonical JSON (keys sorted, no blanks, integers only) with the
 * SHA-256 of all the rest in "digest".  Returns the length, text is zero-terminated if size allows;
 * call with size 0 to learn it.  -EINVAL: two have one name. */
HMQ_PUBLIC int64_t hmq_catalog_text(const struct hmq_export *list, uint32_t n, char *text,
				    size_t size, struct hmq_error *err);
/* [control] The same into a file, whole or not at all, only if it differs: 1 written, 0 as it was.
 */
HMQ_PUBLIC int hmq_catalog_write(const char *path, const struct hmq_export *list, uint32_t n,
				 struct hmq_error *err);

/* ---- descriptors: payloads that lie elsewhere ------------------------------ */

/* What a descriptor describes. */
enum {
	HMQ_DESCRIBES_BUFFER = 1,   /* a place of a struct hmq_buffer */
	HMQ_DESCRIBES_CUDA_IPC = 2, /* handle: a cudaIpcMemHandle_t; not opened by this library */
};

/* The payload of a message that describes bytes instead of holding them.  Frozen. */
struct hmq_descriptor {
	uint32_t kind;
	uint32_t reserved0;
	uint64_t buffer;     /* a random number: which one */
	uint64_t generation; /* of the place: rises each time it is written anew */
	uint64_t offset;     /* of the place in the buffer */
	uint64_t bytes;      /* in use */
	uint8_t handle[64];
	uint8_t reserved[24];
};

enum {
	HMQ_BUFFER_HUGE = 1u << 0, /* huge pages, or the creation is refused */
};

/*
 * A buffer of the writer's: places of equal size in a sealed memfd, with the generation of each,
 * so that a reader with an old descriptor finds out.  Give it a place per slot of the channel and
 * use place tx.slot: then the slot's life is the place's, and what a reader holds stays as it is.
 */
struct hmq_buffer;
/* [control] place_bytes is rounded up to a page; the memory is really there. */
HMQ_PUBLIC int hmq_buffer_create(struct hmq_buffer **out, const char *name, uint64_t place_bytes,
				 uint32_t places, uint32_t flags, struct hmq_error *err);
HMQ_PUBLIC void hmq_buffer_free(struct hmq_buffer *b);
/* To be handed to readers; borrowed. */
HMQ_PUBLIC int32_t hmq_buffer_fd(const struct hmq_buffer *b);
/* Begin to write a place: its old descriptors are void from here on.  NULL: no such place. */
HMQ_PUBLIC void *hmq_buffer_begin(struct hmq_buffer *b, uint32_t place);
/* It is written: fill the descriptor to be published.  -EINVAL: no such place, or not begun;
 * -EMSGSIZE: more bytes than a place has. */
HMQ_PUBLIC int hmq_buffer_finish(struct hmq_buffer *b, uint32_t place, uint64_t bytes,
				 struct hmq_descriptor *out);

/* A reader's view of the buffers that it was given: imported once, looked up per message. */
struct hmq_cache;
/* [control] */
HMQ_PUBLIC int hmq_cache_new(struct hmq_cache **out, struct hmq_error *err);
HMQ_PUBLIC void hmq_cache_free(struct hmq_cache *c);
/* [control] Map a buffer read-only: 1, or 0 when it was there already; fd stays the caller's.
 * -ENOSPC: 64 are there. */
HMQ_PUBLIC int hmq_cache_import(struct hmq_cache *c, int32_t fd, struct hmq_error *err);
/*
 * Where the bytes are: no system call, whatever their number.  -ENOENT: that buffer was not
 * imported, -ESTALE: the place has been written anew, -EBADMSG: nonsense, -ENOTSUP: another kind.
 */
HMQ_PUBLIC int hmq_cache_find(const struct hmq_cache *c, const struct hmq_descriptor *d,
			      const void **data);

HMQ_ASSERT(sizeof(struct hmq_descriptor) == 128, "frozen");
HMQ_PUBLIC int hmq_chan_epoch(const struct hmq_segment *seg, uint32_t *out);

HMQ_ASSERT(sizeof(struct hmq_head) == 128, "two cache lines");
HMQ_ASSERT(offsetof(struct hmq_head, dim) == 64, "second line starts at dim");
HMQ_ASSERT(sizeof(struct hmq_rx) == 32 && sizeof(struct hmq_tx) == 32, "frozen");

#ifdef __cplusplus
}
#endif
#endif /* HOLOMQ_H */
