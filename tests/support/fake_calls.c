/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an op may call while the fake host drives it, and the lists of messages
 * both sides use.  Logs and failures are kept as text for the test to read;
 * what no correct op does aborts with a sentence.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "fake_internal.h"

void *
fh_need(void *p)
{
	if (!p)
		BROKEN("out of memory");
	return p;
}

void *
fh_aligned(size_t align, size_t bytes)
{
	align = align < 64 ? 64 : align;
	bytes = (bytes + align - 1) / align * align;
	return fh_need(aligned_alloc(align, bytes ? bytes : align));
}

static struct fh *
self(const struct hop_ctx *ctx)
{
	return (struct fh *)(uintptr_t)ctx;
}

/* ---- lists -------------------------------------------------------------- */

void
fh_list_add(struct fh_list *l, struct fh_msg m)
{
	if (l->count == l->room) {
		l->room = l->room ? l->room * 2 : 16;
		l->at = fh_need(realloc(l->at, l->room * sizeof *l->at));
	}
	l->at[l->count++] = m;
}

void
fh_list_shift(struct fh_list *l, uint32_t n)
{
	if (n == 0)
		return; /* an empty list has no address to add to */
	memmove(l->at, l->at + n, (l->count - n) * sizeof *l->at);
	l->count -= n;
}

void
fh_msg_free(struct fh_msg *m)
{
	free(m->head);
	free(m->data);
}

void
fh_list_clear(struct fh_list *l)
{
	for (uint32_t i = 0; i < l->count; i++)
		fh_msg_free(&l->at[i]);
	free(l->at);
	*l = (struct fh_list){ 0 };
}

/* ---- what the op may call ----------------------------------------------- */

static void host_log(const struct hop_ctx *ctx, int32_t level, const char *file, int32_t line,
		     const char *fmt, ...) HOP_PRINTF(5, 6);
static int host_fail(const struct hop_ctx *ctx, int32_t err, const char *file, int32_t line,
		     const char *fmt, ...) HOP_PRINTF(5, 6);

static void
host_log(const struct hop_ctx *ctx, int32_t level, const char *file, int32_t line, const char *fmt,
	 ...)
{
	struct fh *h = self(ctx);
	va_list args;

	(void)level, (void)file, (void)line;
	va_start(args, fmt);
	vsnprintf(h->last_log, sizeof h->last_log, fmt, args);
	va_end(args);
	h->n_logs++;
}

static int
host_fail(const struct hop_ctx *ctx, int32_t err, const char *file, int32_t line, const char *fmt,
	  ...)
{
	struct fh *h = self(ctx);
	va_list args;

	(void)file, (void)line;
	va_start(args, fmt);
	vsnprintf(h->error, sizeof h->error, fmt, args);
	va_end(args);
	if (err <= 0)
		BROKEN("%s fails with errno %d (%s)", h->op->name, err, h->error);
	return -err;
}

static void *
host_alloc(const struct hop_ctx *ctx, uint64_t bytes, uint64_t align, hop_mem mem)
{
	struct fh *h = self(ctx);
	struct fh_block *b;

	if (mem != HOP_MEM_HOST)
		BROKEN("%s asks for memory kind %u", h->op->name, mem);
	if (h->fail_nth && ++h->allocs == h->fail_nth)
		return NULL;
	b = fh_need(malloc(sizeof *b));
	b->data = fh_aligned(align, bytes);
	memset(b->data, 0, bytes);
	b->next = h->blocks;
	h->blocks = b;
	return b->data;
}

static void
host_free(const struct hop_ctx *ctx, void *p)
{
	struct fh *h = self(ctx);

	for (struct fh_block **b = &h->blocks; *b; b = &(*b)->next) {
		struct fh_block *found = *b;

		if (found->data != p)
			continue;
		*b = found->next;
		free(found->data);
		free(found);
		return;
	}
	if (p)
		BROKEN("%s frees what it did not allocate", h->op->name);
}

static int
host_region(const struct hop_ctx *ctx, uint32_t dir, uint32_t index, struct hop_region *out)
{
	(void)ctx, (void)dir, (void)index, (void)out;
	return -ENOTSUP;
}

static int
host_keep(const struct hop_ctx *ctx, const struct hop_rx *msg)
{
	struct fh *h = self(ctx);

	for (uint32_t p = 0; p < h->n_in; p++) {
		struct fh_port *port = &h->in[p];

		for (uint32_t i = 0; i < port->queue.count; i++) {
			if (port->queue.at[i].head != msg->head)
				continue;
			if (port->done.count == port->keeps)
				return -ENOBUFS;
			fh_list_add(&port->done, port->queue.at[i]);
			h->kept++;
			return 0;
		}
	}
	BROKEN("%s keeps a message that it was not shown", h->op->name);
}

static void
host_drop(const struct hop_ctx *ctx, const struct hop_rx *msg)
{
	struct fh *h = self(ctx);

	for (uint32_t p = 0; p < h->n_in; p++) {
		struct fh_list *kept = &h->in[p].done;

		for (uint32_t i = 0; i < kept->count; i++) {
			if (kept->at[i].head != msg->head)
				continue;
			fh_msg_free(&kept->at[i]);
			kept->at[i] = kept->at[--kept->count];
			h->kept--;
			return;
		}
	}
	BROKEN("%s drops a message that it does not hold", h->op->name);
}

static int
host_watch(const struct hop_ctx *ctx, int32_t fd, int32_t events)
{
	struct fh *h = self(ctx);

	(void)events;
	if (h->n_watched == MAX_WATCH)
		return -ENOSPC;
	h->watched[h->n_watched++] = fd;
	return 0;
}

static void
host_wake_at(const struct hop_ctx *ctx, int64_t when_ns)
{
	self(ctx)->wake_ns = when_ns;
}

static const void *
host_query(const struct hop_ctx *ctx, const char *id)
{
	return self(ctx)->hides_shape || strcmp(id, "shape/1") ? NULL : &self(ctx)->shape;
}

void
fh_host_free(struct fh *h, void *p)
{
	host_free(&h->ctx, p);
}

const struct hop_host fh_host_calls = {
	.size = sizeof fh_host_calls,
	.log = host_log,
	.fail = host_fail,
	.alloc = host_alloc,
	.free = host_free,
	.region = host_region,
	.keep = host_keep,
	.drop = host_drop,
	.watch = host_watch,
	.wake_at = host_wake_at,
	.query = host_query,
};
