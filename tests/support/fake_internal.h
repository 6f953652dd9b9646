/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the fake host: an instance, its ports and lists, shared by the part
 * that drives the op (fake_host.c) and the part the op calls (fake_calls.c).
 */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include <stdio.h>
#include <stdlib.h>

#include "fake_host.h"

enum { MAX_PORTS = 16, WINDOW = 32, TEXT = 1024, MAX_WATCH = 16, MAX_COUNTERS = 64 };

struct fh_list {
	struct fh_msg *at;
	uint32_t count, room;
};

struct fh_port {
	struct hop_format format;
	const struct hop_port *desc;
	struct fh_list queue; /* inputs: waiting; outputs: loans */
	struct fh_list done;  /* outputs: published; inputs: kept */
	uint32_t window;
	uint32_t connected;
	uint32_t ended;
	uint32_t need, gives, keeps;
	uint64_t seq;
};

struct fh_block {
	struct fh_block *next;
	void *data;
};

struct fh {
	struct hop_ctx ctx; /* first: the host's callbacks come back with it */
	const struct hop_op *op;
	void *params;
	void *state;
	struct fh_port in[MAX_PORTS], out[MAX_PORTS];
	uint32_t n_in, n_out;
	uint32_t shaped, opened, started, hides_shape;
	struct hop_shape shape; /* and what its pointers show */
	const struct hop_format *ins[MAX_PORTS];
	struct hop_format *outs[MAX_PORTS];
	uint32_t needs[MAX_PORTS], gives[MAX_PORTS], keeps[MAX_PORTS];
	struct fh_block *blocks;
	uint32_t allocs, fail_nth;
	uint64_t counters[MAX_COUNTERS];
	int64_t now_ns, wake_ns;
	int stopping;
	int rc;
	int watched[MAX_WATCH];
	uint32_t n_watched;
	uint32_t kept;
	uint32_t n_logs;
	char error[TEXT], last_log[TEXT];
};

#define BROKEN(...)                                                                                \
	(fprintf(stderr, "fake_host: "), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

void *fh_need(void *p);
void *fh_aligned(size_t align, size_t bytes);
void fh_list_add(struct fh_list *l, struct fh_msg m);
void fh_list_shift(struct fh_list *l, uint32_t n);
void fh_list_clear(struct fh_list *l);
void fh_msg_free(struct fh_msg *m);

/* What ctx->host points to. */
extern const struct hop_host fh_host_calls;
void fh_host_free(struct fh *h, void *p);

#endif /* FAKE_INTERNAL_H */
