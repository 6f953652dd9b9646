/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host: drives one instance of an op with arrays, so that a plugin is
 * tested without executor, transport or threads.
 *
 * It keeps the promises the real host makes (windows, addresses of what was
 * not filled, formats in the heads of loaned slots, kept messages) and aborts
 * with a sentence where an op breaks one of its own.  Taken messages are freed
 * after the call and loans start as 0xa5, so that a sanitizer or a comparison
 * sees what an op should not have read.  It is not for tiled or CUDA ops.
 *
 *	struct fh_plugin plugin = fh_load(PLUGIN_PATH);
 *	const struct hop_op *op = fh_op(&plugin, "radar/cfar");
 *	struct fh *h = fh_open(op, &params, &format, 1);
 *	assert_int_equal(fh_rc(h), 0);
 *	fh_in(h, 0, &(struct hop_head){ .frame = 7 }, data, bytes);
 *	assert_int_equal(fh_step(h), HOP_OK);
 *	const struct fh_msg *m = fh_out(h, 0, 0);
 *	fh_close(h);
 *	fh_unload(&plugin);
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <holorun/op.h>

struct fh;

struct fh_plugin {
	void *handle;
	const struct hop_plugin *table;
};

/* A message an op published; valid until fh_out_clear() or fh_close(). */
struct fh_msg {
	struct hop_head *head;
	void *data;
	uint64_t capacity;
};

/* Loads a plugin or aborts with the reason. */
struct fh_plugin fh_load(const char *path);
void fh_unload(struct fh_plugin *plugin);
/* The op of that whole name, or abort. */
const struct hop_op *fh_op(const struct fh_plugin *plugin, const char *name);

/*
 * shape, open and start in one call.  Never NULL: fh_rc() is 0 or the first
 * failure, fh_error_text() its text.  `params` is copied; strings in it are
 * the caller's.  in[i].size == 0: port i is unconnected.
 */
struct fh *fh_open(const struct hop_op *op, const void *params, const struct hop_format *in,
		   uint32_t n_in);

/* The same in steps, for a test that sets something in between. */
struct fh *fh_new(const struct hop_op *op, const void *params);
int fh_shape(struct fh *h, const struct hop_format *in, uint32_t n_in);
int fh_start(struct fh *h); /* open and start; needs fh_shape first */

/* stop and close, as far as they are due; frees everything. */
void fh_close(struct fh *h);
/* The same without freeing: for what an op says or writes while it ends. */
void fh_stop(struct fh *h);

/* Before fh_start: the n-th host allocation fails (1: the first; 0: none). */
void fh_fail_alloc(struct fh *h, uint32_t nth);
/* Before fh_start: be a host without the interface shape/1. */
void fh_hide_shape(struct fh *h);
/* Largest window shown on an input or output port (default 32). */
void fh_window(struct fh *h, uint32_t dir, uint32_t port, uint32_t count);
/* io->now_ns of later steps; 0: the real clock (default). */
void fh_set_now(struct fh *h, int64_t now_ns);
/* io->stopping of later steps. */
void fh_set_stopping(struct fh *h, int stopping);
/* No consumer is left on an output port. */
void fh_out_end(struct fh *h, uint32_t port);

/*
 * Queues a copy of a message on an input.  head's format fields are taken from
 * the port's format if head->dtype.bits is 0; head->bytes is set from bytes.
 */
void fh_in(struct fh *h, uint32_t port, const struct hop_head *head, const void *data,
	   size_t bytes);
/* Nothing will come after what is queued. */
void fh_end(struct fh *h, uint32_t port);
/* Messages queued and not taken. */
uint32_t fh_in_left(const struct fh *h, uint32_t port);

/* One call of process(). */
hop_status fh_step(struct fh *h);
/* process() until nothing moves, it is DONE or fails, or the limit of calls; the last status. */
hop_status fh_run(struct fh *h, uint32_t limit);

/* What was published so far. */
uint32_t fh_out_count(const struct fh *h, uint32_t port);
const struct fh_msg *fh_out(const struct fh *h, uint32_t port, uint32_t i);
void fh_out_clear(struct fh *h, uint32_t port);

/* What shape() said. */
const struct hop_format *fh_out_format(const struct fh *h, uint32_t port);
uint32_t fh_port_need(const struct fh *h, uint32_t port);
uint32_t fh_port_gives(const struct fh *h, uint32_t port);

int fh_rc(const struct fh *h);
const char *fh_error_text(const struct fh *h); /* of the last HOP_FAIL; "" if none */
const char *fh_log_text(const struct fh *h);   /* of the last HOP_LOG; "" if none */
uint32_t fh_log_count(const struct fh *h);
uint64_t fh_counter(const struct fh *h, const char *name); /* aborts if there is none */
uint32_t fh_kept(const struct fh *h);

/* What the op asked for: descriptors it watches, when to be called again (0: not asked). */
uint32_t fh_watch_count(const struct fh *h);
int fh_watch_fd(const struct fh *h, uint32_t i);
int64_t fh_wake_ns(const struct fh *h);

/*
 * Parameters by name, for ops whose struct is private.  fh_params() gives the
 * table's defaults (0 where there is none), freed with free(); the setters
 * abort on a name or type that is not there.
 */
void *fh_params(const struct hop_op *op);
void fh_set_int(const struct hop_op *op, void *params, const char *name, int64_t value);
void fh_set_real(const struct hop_op *op, void *params, const char *name, double value);
void fh_set_text(const struct hop_op *op, void *params, const char *name, const char *value);
void fh_set_choice(const struct hop_op *op, void *params, const char *name, const char *value);

/* A dense format: dtype, dims and the bytes that follow from them. */
struct hop_format fh_format(uint8_t code, uint8_t bits, uint16_t lanes, uint32_t rank,
			    const uint32_t *dim);

#endif /* FAKE_HOST_H */
