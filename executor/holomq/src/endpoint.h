/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h - channels with a name: what the files of the endpoint share.
 *
 *   endpoint.c           export, close, accessors: the owner's thread
 *   endpoint_name.c      the socket in its folder: who may have a name
 *   endpoint_contract.c  what two ends must agree on
 *   endpoint_message.c   one packet with descriptors, and who sent it
 *   endpoint_seat.c      the memory, and which peer sits where
 *   endpoint_serve.c     the exporter's socket: connections, answers, helper thread
 *   endpoint_import.c    find, ask, attach
 *   endpoint_sleep.c     sleeping until there is something to do
 *
 * Socket: SOCK_SEQPACKET.  The importer says hello; the exporter answers welcome, with
 * the descriptors or with a refusal and its sentence; the importer says when it has
 * joined, for an exporter that sleeps on its sockets.  The connection stays open while
 * the two are attached: its end is a hint that somebody went, never the proof.
 */
#ifndef HMQ_ENDPOINT_H
#define HMQ_ENDPOINT_H

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

#include "writer.h"

#define HMQ_HELLO_MAGIC UINT64_C(0x314f4c4c45484d48) /* "HMHELLO1" */
#define HMQ_SUFFIX ".hmq"
#define HMQ_MAX_NAME 64u
#define HMQ_MAX_FDS 4u
#define HMQ_MAX_STRANGERS 16u /* connections that have not said hello yet */
#define HMQ_MAX_CONNS (HMQ_MAX_READERS + HMQ_MAX_STRANGERS)
#define HMQ_LOCK_NS INT64_C(2000000000)

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct hmq_hello { /* with the importer's eventfd, if it has one */
	uint64_t magic;
	uint32_t version; /* HMQ_WIRE_VERSION */
	uint32_t digest;  /* of the layout in shared memory */
	uint32_t role;    /* of the importer */
	uint32_t flags;   /* HMQ_ENDPOINT_POLLED */
	struct hmq_contract contract;
};

struct hmq_welcome { /* with segment, waiters and the exporter's eventfd, if it has one */
	uint64_t magic;
	int32_t code; /* 0, or -errno: text says why */
	uint32_t seat;
	uint32_t seats;
	uint32_t flags; /* HMQ_ENDPOINT_POLLED: of the exporter */
	uint32_t epoch;
	uint32_t reserved;
	struct hmq_contract contract;
	char text[256];
};

#pragma GCC diagnostic pop

/* ---- names ------------------------------------------------------------------------------ */

struct hmq_address {
	struct sockaddr_un un;
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char leaf[HMQ_MAX_NAME + sizeof(HMQ_SUFFIX)];
};

/* A name that may be a file; 0 or -EINVAL. */
int hmq_name_check(const char *name, struct hmq_error *err);
/* Where the socket lies; -ENAMETOOLONG when no socket can. */
int hmq_address_of(struct hmq_address *out, const char *dir, const char *name,
		   struct hmq_error *err);
/* Open the folder, make it if need be, check that it is ours, lock it: a descriptor. */
int hmq_folder_lock(const char *dir, int64_t deadline_ns, struct hmq_error *err);
/* Take the name: a listening socket; id: what hmq_name_release needs. */
int hmq_name_take(const struct hmq_address *at, uint32_t flags, struct stat *id,
		  struct hmq_error *err);
/* Remove the socket if it still is the one that was taken. */
void hmq_name_release(const struct hmq_address *at, const struct stat *id);
/* Connect without blocking: a descriptor, or -ECONNREFUSED dead, -ENOENT, -EAGAIN busy, ... */
int hmq_name_connect(const struct sockaddr_un *un);

/* ---- contracts -------------------------------------------------------------------------- */

/* Complete the defaults and check; 0 or -EINVAL with a sentence. */
int hmq_export_check(struct hmq_export *cfg, struct hmq_error *err);
int hmq_import_check(const struct hmq_import *cfg, struct hmq_error *err);
/* 0, or -EPROTO naming the first field that differs and both values. */
int hmq_contract_match(const char *name, const struct hmq_contract *have,
		       const struct hmq_contract *want, struct hmq_error *err);

/* ---- packets ---------------------------------------------------------------------------- */

/* Never block.  0 or -errno; -EAGAIN when the other end does not read. */
int hmq_packet_send(int sock, const void *data, size_t bytes, const int *fds, uint32_t n_fds);
/* Exactly `bytes`, at most HMQ_MAX_FDS descriptors; -EAGAIN nothing there, -ECONNRESET the end,
 * -EBADMSG anything else.  After a failure no descriptor is left open. */
int hmq_packet_receive(int sock, void *data, size_t bytes, int *fds, uint32_t *n_fds);
void hmq_fds_close(int *fds, uint32_t n);
/* Is the other end of our user, root, or anybody if flags say so? */
int hmq_packet_may(int sock, uint32_t flags, struct hmq_error *err);

/* ---- the endpoint ----------------------------------------------------------------------- */

enum hmq_conn_state {
	HMQ_CONN_NONE = 0,
	HMQ_CONN_STRANGER = 1, /* connected, has said nothing */
	HMQ_CONN_ASKS = 2,     /* its hello was checked: waits for a seat */
	HMQ_CONN_SITS = 3,
	HMQ_CONN_GONE = 4, /* hung up while it sat */
};

struct hmq_conn {
	uint64_t since; /* strangers: the oldest one makes room */
	int32_t fd;
	int32_t event_fd; /* of the peer, or -1 */
	uint32_t state;
	uint32_t seat;
	uint32_t joined; /* it has just said so */
	uint32_t reserved;
};

struct hmq_seat {
	uint32_t is_taken;
	uint32_t was_there; /* its peer has joined */
	uint32_t conn;      /* HMQ_MAX_CONNS: hung up */
	int32_t event_fd;
};

struct hmq_endpoint {
	struct hmq_export cfg; /* importer: flags, role, contract */
	char name[HMQ_MAX_NAME + 8];
	struct hmq_address at;
	struct stat id;
	struct hmq_segment chan;
	/*
	 * Waiter records: [0] the exporter's, [1 + seat] its peers', [1 + seats + seat] the
	 * exporter's life once more for each peer: at a death the kernel wakes one sleeper per
	 * word, and that one might be stopped, so no two may sleep on the same.
	 */
	struct hmq_segment life;
	struct hmq_writer *writer;
	struct hmq_reader *reader;
	struct hmq_waiter *own;
	uint32_t is_exporter;
	uint32_t seat; /* importer: its own */
	uint32_t n_peers;
	uint32_t epoch;    /* of the channel's memory: renewed memory has another one */
	uint32_t lives;    /* hmq_life_begin was called */
	uint32_t is_armed; /* POLLED: sleep is announced */
	uint32_t news;     /* helper to owner: look at the connections */
	int32_t conn;      /* importer: to the exporter */
	int32_t listener;
	int32_t epoll;
	int32_t event_fd;      /* POLLED: rung by peers */
	int32_t peer_event_fd; /* importer: the exporter's, or -1 */
	int32_t quit_fd;       /* THREAD: tells the helper to leave */
	int32_t spare;         /* given up to turn callers away when descriptors run out */
	uint32_t has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* THREAD: connections and numbers */
	uint64_t clock;
	uint64_t attached;
	uint64_t refused;
	uint64_t unheard;
	uint64_t alone_since; /* the writer's count when the last peer left */
	struct hmq_conn conns[HMQ_MAX_CONNS];
	struct hmq_seat seats[HMQ_MAX_READERS];
};

/* endpoint.c: an empty handle that close can take; NULL and *rc on failure. */
struct hmq_endpoint *hmq_endpoint_new(const char *dir, const char *name, struct hmq_error *err,
				      int *rc);

/* endpoint_seat.c: the owner's thread. */
int hmq_seats_make(struct hmq_endpoint *ep, struct hmq_error *err);
void hmq_seats_free(struct hmq_endpoint *ep);
/* A free seat, or -EUSERS; event_fd is the seat's from then on. */
int hmq_seat_take(struct hmq_endpoint *ep, int32_t event_fd, struct hmq_error *err);
/* This connection hung up: a hint for its seat, unless that has another peer by now. */
void hmq_seat_hangup(struct hmq_endpoint *ep, uint32_t seat, uint32_t conn);
/* Count peers; give seats back whose peers have gone. */
void hmq_seats_look(struct hmq_endpoint *ep);
struct hmq_waiter *hmq_seat_waiter(const struct hmq_endpoint *ep, uint32_t index);
/* The exporter's life as the peer in this seat sees it. */
struct hmq_waiter *hmq_seat_exporter(const struct hmq_endpoint *ep, uint32_t seat);
/* Nobody lives in it: ended, died or never began. */
int hmq_is_vacant(const struct hmq_waiter *w);
/* An eventfd and nothing else, which a write could block on or be killed by. */
int hmq_is_eventfd(int fd);

/* endpoint_sleep.c: something to do right now? */
int hmq_endpoint_has_work(struct hmq_endpoint *ep);

/* endpoint_serve.c */
int hmq_serve_start(struct hmq_endpoint *ep, struct hmq_error *err);
void hmq_serve_stop(struct hmq_endpoint *ep);
/* Accept, hear, answer; the owner's thread. */
void hmq_serve(struct hmq_endpoint *ep);

int64_t hmq_now_ns(void);
/* Milliseconds for poll() until the deadline, rounded up, -1: none. */
int hmq_left_ms(int64_t deadline_ns);

#endif /* HMQ_ENDPOINT_H */
