/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host: see fake_host.h.  Ports hold a list of queued messages, a list of
 * loans and a list of what was published; windows are rebuilt for each call
 * from these.  Everything is freed by fh_close, so that leak checkers see what
 * an op or a test forgot.
 */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "fake_internal.h"

enum { BLOCKS_FOR_NS = 10 * 1000 * 1000 }; /* how long a blocking op may wait in one call */

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
ports_of(const struct hop_op *op, uint32_t dir, struct fh_port *ports, uint32_t count)
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
	struct fh *h = fh_need(calloc(1, sizeof *h));

	h->op = op;
	h->params = fh_aligned(64, op->params_size);
	if (op->params_size)
		memcpy(h->params, params, op->params_size);
	h->ctx = (struct hop_ctx){
		.size = sizeof h->ctx,
		.log_level = HOP_LOG_DEBUG,
		.name = "under_test",
		.params = h->params,
		.counters = h->counters,
		.host = &fh_host_calls,
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
	h->n_in = ports_of(h->op, HOP_IN, h->in, n_in);
	if (n_in > h->n_in)
		BROKEN("%s has %u inputs, not %u", h->op->name, h->n_in, n_in);
	for (uint32_t i = 0; i < h->n_in; i++) {
		h->in[i].connected = i < n_in && in[i].size;
		if (h->in[i].connected) {
			h->in[i].format = in[i];
			h->ins[i] = &h->in[i].format;
		}
		h->needs[i] = h->in[i].desc->min_batch ? h->in[i].desc->min_batch : 1;
		h->keeps[i] = h->in[i].desc->keeps;
	}
	for (uint32_t i = 0; i < h->n_out; i++) {
		h->out[i].format = (struct hop_format){ .size = sizeof(struct hop_format) };
		h->out[i].connected = 1;
		h->outs[i] = &h->out[i].format;
	}
	h->shape = (struct hop_shape){
		.size = sizeof h->shape,
		.n_in = h->n_in,
		.n_out = h->n_out,
		.in = h->ins,
		.out = h->outs,
		.need = h->needs,
		.gives = h->gives,
		.keeps = h->keeps,
	};
	h->rc = h->op->shape ? h->op->shape(&h->ctx, &h->shape) : 0;
	for (uint32_t i = 0; i < h->n_in; i++) {
		h->in[i].need = h->needs[i];
		h->in[i].keeps = h->keeps[i];
	}
	for (uint32_t i = 0; i < h->n_out; i++)
		h->out[i].gives = h->gives[i];
	h->shaped = !h->rc;
	return h->rc;
}

int
fh_start(struct fh *h)
{
	const struct hop_op *op = h->op;

	if (!h->shaped)
		BROKEN("%s: fh_start without fh_shape", op->name);
	h->state = fh_aligned(op->state_align, op->state_size);
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
		fh_list_clear(&h->in[i].queue);
		fh_list_clear(&h->in[i].done);
		fh_list_clear(&h->out[i].queue);
		fh_list_clear(&h->out[i].done);
	}
	while (h->blocks)
		fh_host_free(h, h->blocks->data);
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
	struct fh_port *p = &h->in[port];
	struct fh_msg m = { fh_aligned(128, sizeof *head), fh_aligned(p->desc->align, bytes),
			    bytes };

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
	fh_list_add(&p->queue, m);
}

static void
loan(struct fh_port *p)
{
	struct fh_msg m = { fh_aligned(128, sizeof *m.head),
			    fh_aligned(p->desc->align, p->format.max_bytes), p->format.max_bytes };

	memset(m.head, 0, sizeof *m.head);
	head_format(m.head, &p->format);
	memset(m.data, 0xa5, p->format.max_bytes);
	fh_list_add(&p->queue, m);
}

static void
show_in(struct fh_port *p, struct hop_in *in, struct hop_rx *rx)
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
show_out(struct fh_port *p, struct hop_out *out, struct hop_tx *tx)
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
settle_in(struct fh *h, struct fh_port *p, const struct hop_in *in)
{
	if (in->taken > in->count)
		BROKEN("%s took %u of %u", h->op->name, in->taken, in->count);
	for (uint32_t i = 0; i < in->taken; i++) {
		int kept = 0;

		for (uint32_t k = 0; k < p->done.count; k++)
			kept |= p->done.at[k].head == p->queue.at[i].head;
		if (!kept)
			fh_msg_free(&p->queue.at[i]);
	}
	fh_list_shift(&p->queue, in->taken);
}

/* An op may swap entries of the window: what it filled is what tx[] says now. */
static void
settle_out(struct fh *h, struct fh_port *p, const struct hop_out *out)
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
		fh_list_add(&p->done, m);
	}
	fh_list_shift(&p->queue, out->filled);
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
		rx[i] = fh_need(calloc(h->in[i].window + 1, sizeof *rx[i]));
		show_in(&h->in[i], &in[i], rx[i]);
	}
	for (uint32_t i = 0; i < h->n_out; i++) {
		tx[i] = fh_need(calloc(h->out[i].window + 1, sizeof *tx[i]));
		show_out(&h->out[i], &out[i], tx[i]);
	}
	io.n_out = h->n_out;
	io.now_ns = h->now_ns ? h->now_ns : now();
	/* The real clock: a blocking op sleeps by that, whatever the time is said to be. */
	io.deadline_ns = h->op->flags & HOP_F_BLOCKS ? now() + BLOCKS_FOR_NS : INT64_MAX;
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
fh_hide_shape(struct fh *h)
{
	h->hides_shape = 1;
}

void
fh_window(struct fh *h, uint32_t dir, uint32_t port, uint32_t count)
{
	struct fh_port *p = dir == HOP_IN ? &h->in[port] : &h->out[port];

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
	fh_list_clear(&h->out[port].done);
}

const struct hop_format *
fh_out_format(const struct fh *h, uint32_t port)
{
	return &h->out[port].format;
}

uint32_t
fh_port_need(const struct fh *h, uint32_t port)
{
	return h->in[port].need;
}

uint32_t
fh_port_gives(const struct fh *h, uint32_t port)
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
