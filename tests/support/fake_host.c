/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host: see fake_host.h.  Ports hold a list of queued messages, a list of
 * loans and a list of what was published; windows are rebuilt for each call
 * from these.  Everything is freed by fh_close, so that leak checkers see what
 * an op or a test forgot.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_host.h"

enum { MAX_PORTS = 16, WINDOW = 32, TEXT = 1024, MAX_WATCH = 16, MAX_COUNTERS = 64 };

struct list {
	struct fh_msg *at;
	uint32_t count, room;
};

struct port {
	struct hop_format format;
	const struct hop_port *desc;
	struct list queue; /* inputs: waiting; outputs: loans */
	struct list done;  /* outputs: published; inputs: kept */
	uint32_t window;
	uint32_t connected;
	uint32_t ended;
	uint32_t need, gives, keeps;
	uint64_t seq;
};

struct block {
	struct block *next;
	void *data;
};

struct fh {
	struct hop_ctx ctx; /* first: the host's callbacks come back with it */
	struct hop_host host;
	const struct hop_op *op;
	void *params;
	void *state;
	struct port in[MAX_PORTS], out[MAX_PORTS];
	uint32_t n_in, n_out;
	uint32_t shaped, opened, started;
	struct block *blocks;
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

static void *
need(void *p)
{
	if (!p)
		BROKEN("out of memory");
	return p;
}

static void *
aligned(size_t align, size_t bytes)
{
	align = align < 64 ? 64 : align;
	bytes = (bytes + align - 1) / align * align;
	return need(aligned_alloc(align, bytes ? bytes : align));
}

static struct fh *
self(const struct hop_ctx *ctx)
{
	return (struct fh *)(uintptr_t)ctx;
}

/* ---- lists -------------------------------------------------------------- */

static void
list_add(struct list *l, struct fh_msg m)
{
	if (l->count == l->room) {
		l->room = l->room ? l->room * 2 : 16;
		l->at = need(realloc(l->at, l->room * sizeof *l->at));
	}
	l->at[l->count++] = m;
}

static void
list_shift(struct list *l, uint32_t n)
{
	memmove(l->at, l->at + n, (l->count - n) * sizeof *l->at);
	l->count -= n;
}

static void
msg_free(struct fh_msg *m)
{
	free(m->head);
	free(m->data);
}

static void
list_clear(struct list *l)
{
	for (uint32_t i = 0; i < l->count; i++)
		msg_free(&l->at[i]);
	free(l->at);
	*l = (struct list){ 0 };
}

/* ---- what the op may call ----------------------------------------------- */

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
	struct block *b;

	if (mem != HOP_MEM_HOST)
		BROKEN("%s asks for memory kind %u", h->op->name, mem);
	if (h->fail_nth && ++h->allocs == h->fail_nth)
		return NULL;
	b = need(malloc(sizeof *b));
	b->data = aligned(align, bytes);
	memset(b->data, 0, bytes);
	b->next = h->blocks;
	h->blocks = b;
	return b->data;
}

static void
host_free(const struct hop_ctx *ctx, void *p)
{
	struct fh *h = self(ctx);

	for (struct block **b = &h->blocks; *b; b = &(*b)->next) {
		struct block *found = *b;

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
		struct port *port = &h->in[p];

		for (uint32_t i = 0; i < port->queue.count; i++) {
			if (port->queue.at[i].head != msg->head)
				continue;
			if (port->done.count == port->keeps)
				return -ENOBUFS;
			list_add(&port->done, port->queue.at[i]);
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
		struct list *kept = &h->in[p].done;

		for (uint32_t i = 0; i < kept->count; i++) {
			if (kept->at[i].head != msg->head)
				continue;
			msg_free(&kept->at[i]);
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
	(void)ctx, (void)id;
	return NULL;
}

/* ---- plugins ------------------------------------------------------------ */

struct fh_plugin
fh_load(const char *path)
{
	struct fh_plugin p = { .handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) };

	if (!p.handle)
		BROKEN("%s", dlerror());
	p.table = dlsym(p.handle, "hop_plugin_v1");
	if (!p.table)
		BROKEN("%s exports no hop_plugin_v1", path);
	if (p.table->abi_major != HOP_ABI_MAJOR || p.table->abi_draft != HOP_ABI_DRAFT)
		BROKEN("%s was built for another ABI", path);
	return p;
}

void
fh_unload(struct fh_plugin *plugin)
{
	dlclose(plugin->handle);
	*plugin = (struct fh_plugin){ 0 };
}

const struct hop_op *
fh_op(const struct fh_plugin *plugin, const char *name)
{
	for (uint32_t i = 0; i < plugin->table->n_ops; i++)
		if (!strcmp(plugin->table->ops[i]->name, name))
			return plugin->table->ops[i];
	BROKEN("%s has no op %s", plugin->table->name, name);
}

/* ---- an instance -------------------------------------------------------- */

static const struct hop_port *
port_at(const struct hop_op *op, uint32_t i)
{
	return (const void *)((const char *)op->ports.at + (size_t)i * op->ports.stride);
}

/* Ports of one direction in table order; a MANY port repeats up to `count`. */
static uint32_t
ports_of(const struct hop_op *op, uint32_t dir, struct port *ports, uint32_t count)
{
	const struct hop_port *last = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < op->ports.count; i++) {
		const struct hop_port *d = port_at(op, i);

		if (d->dir != dir)
			continue;
		if (n == MAX_PORTS)
			BROKEN("%s has more than %d ports", op->name, MAX_PORTS);
		ports[n++].desc = last = d;
	}
	while (last && (last->flags & HOP_PORT_MANY) && n < count && n < MAX_PORTS)
		ports[n++].desc = last;
	for (uint32_t i = 0; i < n; i++) {
		ports[i].window = ports[i].desc->max_batch ? ports[i].desc->max_batch : WINDOW;
		ports[i].keeps = ports[i].desc->keeps;
	}
	return n;
}

struct fh *
fh_new(const struct hop_op *op, const void *params)
{
	struct fh *h = need(calloc(1, sizeof *h));

	h->op = op;
	h->host = (struct hop_host){
		.size = sizeof h->host,
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
	h->params = aligned(64, op->params_size);
	if (op->params_size)
		memcpy(h->params, params, op->params_size);
	h->ctx = (struct hop_ctx){
		.size = sizeof h->ctx,
		.log_level = HOP_LOG_DEBUG,
		.name = "under_test",
		.params = h->params,
		.counters = h->counters,
		.host = &h->host,
		.cpu = -1,
		.cuda_device = -1,
	};
	if (op->counters.count > MAX_COUNTERS)
		BROKEN("%s has more than %d counters", op->name, MAX_COUNTERS);
	h->n_in = ports_of(op, HOP_IN, h->in, 0);
	h->n_out = ports_of(op, HOP_OUT, h->out, 0);
	return h;
}

int
fh_shape(struct fh *h, const struct hop_format *in, uint32_t n_in)
{
	const struct hop_format *ins[MAX_PORTS] = { 0 };
	struct hop_format *outs[MAX_PORTS];
	uint32_t needs[MAX_PORTS], gives[MAX_PORTS] = { 0 }, keeps[MAX_PORTS];
	struct hop_shape shape = { .size = sizeof shape };

	h->n_in = ports_of(h->op, HOP_IN, h->in, n_in);
	if (n_in > h->n_in)
		BROKEN("%s has %u inputs, not %u", h->op->name, h->n_in, n_in);
	for (uint32_t i = 0; i < h->n_in; i++) {
		h->in[i].connected = i < n_in && in[i].size;
		if (h->in[i].connected) {
			h->in[i].format = in[i];
			ins[i] = &h->in[i].format;
		}
		needs[i] = h->in[i].desc->min_batch ? h->in[i].desc->min_batch : 1;
		keeps[i] = h->in[i].desc->keeps;
	}
	for (uint32_t i = 0; i < h->n_out; i++) {
		h->out[i].format = (struct hop_format){ .size = sizeof(struct hop_format) };
		h->out[i].connected = 1;
		outs[i] = &h->out[i].format;
	}
	shape.n_in = h->n_in;
	shape.n_out = h->n_out;
	shape.in = ins;
	shape.out = outs;
	shape.need = needs;
	shape.gives = gives;
	shape.keeps = keeps;
	h->rc = h->op->shape ? h->op->shape(&h->ctx, &shape) : 0;
	for (uint32_t i = 0; i < h->n_in; i++) {
		h->in[i].need = needs[i];
		h->in[i].keeps = keeps[i];
	}
	for (uint32_t i = 0; i < h->n_out; i++)
		h->out[i].gives = gives[i];
	h->shaped = !h->rc;
	return h->rc;
}

int
fh_start(struct fh *h)
{
	const struct hop_op *op = h->op;

	if (!h->shaped)
		BROKEN("%s: fh_start without fh_shape", op->name);
	h->state = aligned(op->state_align, op->state_size);
	memset(h->state, 0, op->state_size);
	h->rc = op->open ? op->open(h->state, &h->ctx) : 0;
	h->opened = !h->rc;
	if (h->rc)
		return h->rc;
	h->rc = op->start ? op->start(h->state, &h->ctx) : 0;
	h->started = !h->rc;
	return h->rc;
}

struct fh *
fh_open(const struct hop_op *op, const void *params, const struct hop_format *in, uint32_t n_in)
{
	struct fh *h = fh_new(op, params);

	if (!fh_shape(h, in, n_in))
		fh_start(h);
	return h;
}

void
fh_stop(struct fh *h)
{
	if (h->started && h->op->stop)
		h->op->stop(h->state, &h->ctx);
	if (h->opened && h->op->close)
		h->op->close(h->state, &h->ctx);
	h->started = h->opened = 0;
}

void
fh_close(struct fh *h)
{
	fh_stop(h);
	for (uint32_t i = 0; i < MAX_PORTS; i++) {
		list_clear(&h->in[i].queue);
		list_clear(&h->in[i].done);
		list_clear(&h->out[i].queue);
		list_clear(&h->out[i].done);
	}
	while (h->blocks)
		host_free(&h->ctx, h->blocks->data);
	free(h->state);
	free(h->params);
	free(h);
}

/* ---- windows ------------------------------------------------------------ */

static void
head_format(struct hop_head *head, const struct hop_format *f)
{
	head->dtype = f->dtype;
	head->rank = (uint16_t)f->rank;
	memcpy(head->dim, f->dim, sizeof head->dim);
}

void
fh_in(struct fh *h, uint32_t port, const struct hop_head *head, const void *data, size_t bytes)
{
	struct port *p = &h->in[port];
	struct fh_msg m = { aligned(128, sizeof *head), aligned(p->desc->align, bytes), bytes };

	if (!p->connected || p->ended)
		BROKEN("input %u of %s is %s", port, h->op->name,
		       p->ended ? "ended" : "unconnected");
	*m.head = *head;
	if (!head->dtype.bits)
		head_format(m.head, &p->format);
	m.head->seq = p->seq++;
	m.head->bytes = bytes;
	if (bytes)
		memcpy(m.data, data, bytes);
	list_add(&p->queue, m);
}

static void
loan(struct port *p)
{
	struct fh_msg m = { aligned(128, sizeof *m.head),
			    aligned(p->desc->align, p->format.max_bytes), p->format.max_bytes };

	memset(m.head, 0, sizeof *m.head);
	head_format(m.head, &p->format);
	memset(m.data, 0xa5, p->format.max_bytes);
	list_add(&p->queue, m);
}

static void
show_in(struct port *p, struct hop_in *in, struct hop_rx *rx)
{
	uint32_t n = p->queue.count < p->window ? p->queue.count : p->window;

	for (uint32_t i = 0; i < n; i++) {
		struct fh_msg *m = &p->queue.at[i];

		rx[i] = (struct hop_rx){ m->head, m->data, m->head->bytes, i };
	}
	*in = (struct hop_in){ .msg = rx, .count = n };
	in->ended = !p->connected || (p->ended && n == p->queue.count);
}

static void
show_out(struct port *p, struct hop_out *out, struct hop_tx *tx)
{
	while (p->queue.count < p->window)
		loan(p);
	for (uint32_t i = 0; i < p->window; i++) {
		struct fh_msg *m = &p->queue.at[i];

		tx[i] = (struct hop_tx){ m->head, m->data, m->capacity, i };
	}
	*out = (struct hop_out){ .msg = tx, .count = p->window, .ended = p->ended };
}

static void
settle_in(struct fh *h, struct port *p, const struct hop_in *in)
{
	if (in->taken > in->count)
		BROKEN("%s took %u of %u", h->op->name, in->taken, in->count);
	for (uint32_t i = 0; i < in->taken; i++) {
		int kept = 0;

		for (uint32_t k = 0; k < p->done.count; k++)
			kept |= p->done.at[k].head == p->queue.at[i].head;
		if (!kept)
			msg_free(&p->queue.at[i]);
	}
	list_shift(&p->queue, in->taken);
}

/* An op may swap entries of the window: what it filled is what tx[] says now. */
static void
settle_out(struct fh *h, struct port *p, const struct hop_out *out)
{
	if (out->filled > out->count)
		BROKEN("%s filled %u of %u", h->op->name, out->filled, out->count);
	for (uint32_t i = 0; i < out->count; i++)
		p->queue.at[i] =
			(struct fh_msg){ out->msg[i].head, out->msg[i].data, out->msg[i].capacity };
	for (uint32_t i = 0; i < out->filled; i++) {
		struct fh_msg m = p->queue.at[i];

		if (m.head->bytes > m.capacity)
			BROKEN("%s filled %llu bytes of %llu", h->op->name,
			       (unsigned long long)m.head->bytes, (unsigned long long)m.capacity);
		m.head->seq = p->seq++;
		list_add(&p->done, m);
	}
	list_shift(&p->queue, out->filled);
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static hop_status
step(struct fh *h, uint32_t *moved)
{
	struct hop_in in[MAX_PORTS];
	struct hop_out out[MAX_PORTS];
	struct hop_rx *rx[MAX_PORTS];
	struct hop_tx *tx[MAX_PORTS];
	struct hop_io io = { .size = sizeof io, .in = in, .out = out, .n_in = h->n_in };
	hop_status status;

	if (!h->started)
		BROKEN("%s is not started", h->op->name);
	for (uint32_t i = 0; i < h->n_in; i++) {
		rx[i] = need(calloc(h->in[i].window + 1, sizeof *rx[i]));
		show_in(&h->in[i], &in[i], rx[i]);
	}
	for (uint32_t i = 0; i < h->n_out; i++) {
		tx[i] = need(calloc(h->out[i].window + 1, sizeof *tx[i]));
		show_out(&h->out[i], &out[i], tx[i]);
	}
	io.n_out = h->n_out;
	io.now_ns = h->now_ns ? h->now_ns : now();
	io.deadline_ns = INT64_MAX;
	io.stopping = (uint32_t)h->stopping;
	h->wake_ns = 0;
	status = h->op->process(h->state, &h->ctx, &io);
	if (status > HOP_DONE)
		BROKEN("%s returned %d", h->op->name, status);
	*moved = 0;
	for (uint32_t i = 0; i < h->n_in; i++) {
		settle_in(h, &h->in[i], &in[i]);
		*moved += in[i].taken;
		free(rx[i]);
	}
	for (uint32_t i = 0; i < h->n_out; i++) {
		settle_out(h, &h->out[i], &out[i]);
		*moved += out[i].filled;
		free(tx[i]);
	}
	return status;
}

hop_status
fh_step(struct fh *h)
{
	uint32_t moved;

	return step(h, &moved);
}

hop_status
fh_run(struct fh *h, uint32_t limit)
{
	hop_status status = HOP_IDLE;
	uint32_t moved = 1;

	while (limit-- && moved) {
		status = step(h, &moved);
		if (status < 0 || status == HOP_DONE)
			break;
	}
	return status;
}

/* ---- what a test sets and reads ----------------------------------------- */

void
fh_fail_alloc(struct fh *h, uint32_t nth)
{
	h->fail_nth = nth;
	h->allocs = 0;
}

void
fh_window(struct fh *h, uint32_t dir, uint32_t port, uint32_t count)
{
	struct port *p = dir == HOP_IN ? &h->in[port] : &h->out[port];

	/* Loans already shown stay shown. */
	p->window = dir == HOP_OUT && count < p->queue.count ? p->queue.count : count;
}

void
fh_set_now(struct fh *h, int64_t now_ns)
{
	h->now_ns = now_ns;
}

void
fh_set_stopping(struct fh *h, int stopping)
{
	h->stopping = stopping;
}

void
fh_out_end(struct fh *h, uint32_t port)
{
	h->out[port].ended = 1;
}

void
fh_end(struct fh *h, uint32_t port)
{
	h->in[port].ended = 1;
}

uint32_t
fh_in_left(const struct fh *h, uint32_t port)
{
	return h->in[port].queue.count;
}

uint32_t
fh_out_count(const struct fh *h, uint32_t port)
{
	return h->out[port].done.count;
}

const struct fh_msg *
fh_out(const struct fh *h, uint32_t port, uint32_t i)
{
	if (i >= h->out[port].done.count)
		BROKEN("%s published %u messages, no number %u", h->op->name,
		       h->out[port].done.count, i);
	return &h->out[port].done.at[i];
}

void
fh_out_clear(struct fh *h, uint32_t port)
{
	list_clear(&h->out[port].done);
}

const struct hop_format *
fh_out_format(const struct fh *h, uint32_t port)
{
	return &h->out[port].format;
}

uint32_t
fh_need(const struct fh *h, uint32_t port)
{
	return h->in[port].need;
}

uint32_t
fh_gives(const struct fh *h, uint32_t port)
{
	return h->out[port].gives;
}

int
fh_rc(const struct fh *h)
{
	return h->rc;
}

const char *
fh_error_text(const struct fh *h)
{
	return h->error;
}

const char *
fh_log_text(const struct fh *h)
{
	return h->last_log;
}

uint32_t
fh_log_count(const struct fh *h)
{
	return h->n_logs;
}

uint64_t
fh_counter(const struct fh *h, const char *name)
{
	const struct hop_counters *t = &h->op->counters;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct hop_counter *c =
			(const void *)((const char *)t->at + (size_t)i * t->stride);

		if (!strcmp(c->name, name))
			return h->counters[i];
	}
	BROKEN("%s has no counter %s", h->op->name, name);
}

uint32_t
fh_kept(const struct fh *h)
{
	return h->kept;
}

uint32_t
fh_watch_count(const struct fh *h)
{
	return h->n_watched;
}

int
fh_watch_fd(const struct fh *h, uint32_t i)
{
	return h->watched[i];
}

int64_t
fh_wake_ns(const struct fh *h)
{
	return h->wake_ns;
}

struct hop_format
fh_format(uint8_t code, uint8_t bits, uint16_t lanes, uint32_t rank, const uint32_t *dim)
{
	struct hop_format f = { .size = sizeof f, .dtype = { code, bits, lanes }, .rank = rank };

	f.max_bytes = (uint64_t)bits / 8 * lanes;
	for (uint32_t i = 0; i < rank; i++) {
		f.dim[i] = dim[i];
		f.max_bytes *= dim[i];
	}
	return f;
}
