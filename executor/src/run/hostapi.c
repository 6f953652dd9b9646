/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostapi.c - what an op may ask of its host: log, fail, memory, keep, watch.
 *
 * A context is the first member of its instance, so the callbacks find the
 * instance by a cast.  Failures are written into the worker's record in the run
 * page, once: the first one is the cause, the rest follows from it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "plan/limits.h"
#include "run/inst.h"

static struct hr_inst *
inst_of(const struct hop_ctx *ctx)
{
	return (struct hr_inst *)(uintptr_t)ctx; /* ours; the op's view of it is const */
}

static uint32_t
process_of(const struct hr_inst *n)
{
	const struct hr_plan *p = n->host->plan;

	return p->worker[p->node[n->node].worker].process;
}

static void
api_log(const struct hop_ctx *ctx, int32_t level, const char *file, int32_t line, const char *fmt,
	...)
{
	struct hr_inst *n = inst_of(ctx);
	char text[HR_LOG_TEXT];
	va_list ap;

	(void)file;
	(void)line;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	hr_log_put(hr_page_log(n->host->wiring->page, process_of(n)), n->node, level, text);
}

static int
api_fail(const struct hop_ctx *ctx, int32_t err, const char *file, int32_t line, const char *fmt,
	 ...)
{
	struct hr_inst *n = inst_of(ctx);
	const char *base = strrchr(file, '/');
	va_list ap;

	if (err < 0)
		err = -err; /* be lenient with a sign */
	if (err == 0)
		err = EIO;
	va_start(ap, fmt);
	vsnprintf(n->fail_text, sizeof n->fail_text, fmt, ap);
	va_end(ap);
	snprintf(n->fail_file, sizeof n->fail_file, "%s", base ? base + 1 : file);
	n->fail_line = (uint32_t)line;
	n->fail_code = err;
	return -err;
}

/* More than there is: the op is told, rather than the process ended. */
static bool
memory_has(const struct hr_inst *n, uint64_t bytes)
{
	const char *from;
	uint64_t room = hr_limits_memory(n->host->arena, "/proc", "/sys/fs/cgroup", &from);

	return bytes <= SIZE_MAX / 4 && (room == 0 || bytes < room);
}

static void *
api_alloc(const struct hop_ctx *ctx, uint64_t bytes, uint64_t align, hop_mem mem)
{
	struct hr_inst *n = inst_of(ctx);

	if ((mem && !(mem & HOP_MEM_HOST)) || (align & (align - 1)))
		return NULL;
	if (!memory_has(n, bytes))
		return NULL;
	return hr_alloc_aligned(n->host->arena, bytes, align ? align : 64);
}

static void
api_free(const struct hop_ctx *ctx, void *p)
{
	/* The arena goes with the process: nothing is lost by waiting for it. */
	(void)ctx;
	(void)p;
}

static int
api_region(const struct hop_ctx *ctx, uint32_t dir, uint32_t index, struct hop_region *out)
{
	struct hr_inst *n = inst_of(ctx);

	if (dir != HOP_OUT || index >= n->n_out)
		return -EINVAL;
	memset(out, 0, sizeof *out);
	hmq_writer_region(n->out[index].writer, &out->base, &out->bytes, &out->slot_bytes);
	out->mem = HOP_MEM_HOST;
	return 0;
}

static int
api_keep(const struct hop_ctx *ctx, const struct hop_rx *msg)
{
	struct hr_inst *n = inst_of(ctx);

	for (uint32_t i = 0; i < n->n_in; i++) {
		struct hr_in *in = &n->in[i];

		if (msg < in->rx || msg >= in->rx + in->shown)
			continue;
		if (in->n_keeps == in->max_keeps)
			return -ENOBUFS;
		if (in->keep_shown[msg - in->rx])
			return -EALREADY;
		in->keep_of[in->n_keeps] =
			msg - in->rx < in->carried ? in->carry[msg - in->rx] : in->link.now;
		in->keep_of[in->n_keeps]->held++;
		in->keep[in->n_keeps++] = *msg;
		in->keep_shown[msg - in->rx] = true;
		in->odd = true;
		return 0;
	}
	return -EINVAL;
}

static void
api_drop(const struct hop_ctx *ctx, const struct hop_rx *msg)
{
	struct hr_inst *n = inst_of(ctx);

	for (uint32_t i = 0; i < n->n_in; i++) {
		struct hr_in *in = &n->in[i];

		for (uint32_t k = 0; k < in->n_keeps; k++) {
			bool shown = false;

			if (in->keep[k].head != msg->head)
				continue;
			/* Dropped before it was taken: the window gives it back. */
			for (uint32_t s = 0; s < in->shown; s++) {
				if (in->rx[s].head != msg->head || !in->keep_shown[s])
					continue;
				in->keep_shown[s] = false;
				shown = true;
			}
			if (!shown)
				hmq_release(in->keep_of[k]->reader, hr_hmq_rx(&in->keep[k]), 1);
			hr_link_let_go(&in->link, in->keep_of[k]);
			in->keep_of[k] = in->keep_of[--in->n_keeps];
			in->keep[k] = in->keep[in->n_keeps];
			return;
		}
	}
}

static int
api_watch(const struct hop_ctx *ctx, int32_t fd, int32_t events)
{
	struct hr_inst *n = inst_of(ctx);
	/* Edges: one event for what came since the op last found nothing. */
	struct epoll_event ev = { .events = (uint32_t)events | EPOLLET, .data.ptr = n };

	if (!(n->op->flags & HOP_F_FD) || !n->worker || n->worker->epoll_fd < 0)
		return -EPERM;
	if (epoll_ctl(n->worker->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0 ||
	    (errno == EEXIST && epoll_ctl(n->worker->epoll_fd, EPOLL_CTL_MOD, fd, &ev) == 0)) {
		n->watched = true;
		n->fd_ready = true;
		return 0;
	}
	return -errno;
}

static void
api_wake_at(const struct hop_ctx *ctx, int64_t when_ns)
{
	inst_of(ctx)->wake_ns = when_ns > 0 ? when_ns : 1;
}

static const void *
api_query(const struct hop_ctx *ctx, const char *id)
{
	return strcmp(id, "shape/1") == 0 ? &inst_of(ctx)->shape : NULL;
}

void
hr_host_api(struct hop_host *api)
{
	*api = (struct hop_host){
		.size = sizeof *api,
		.log = api_log,
		.fail = api_fail,
		.alloc = api_alloc,
		.free = api_free,
		.region = api_region,
		.keep = api_keep,
		.drop = api_drop,
		.watch = api_watch,
		.wake_at = api_wake_at,
		.query = api_query,
	};
}

void
hr_page_fail(struct hr_page *page, uint32_t who, const struct hr_page_failure *f)
{
	struct hr_page_failure *dst = hr_page_failure(page, who);
	uint32_t kind = f->kind;

	if (hr_load32_relaxed(&dst->kind) != HR_FAILURE_NONE)
		return; /* only this thread writes it: the first cause stays until it was noted */
	*dst = *f;
	dst->kind = HR_FAILURE_NONE;
	/* P1: publishes the record; pairs with P2 in incident.c */
	hr_store32_release(&dst->kind, kind);
}

void
hr_worker_fail(struct hr_worker *w, struct hr_inst *n, uint32_t kind, uint32_t call, int code,
	       const char *text)
{
	struct hr_page_failure f = {
		.kind = kind,
		.node = n ? n->node : HR_NO_NODE,
		.call = call,
		.code = code,
		.exit_code = 1,
		.when_ns = hr_mono_ns(),
	};

	hr_guard_leave(w);
	if (n) {
		f.message = hr_inst_messages(n);
		f.line = n->fail_code ? n->fail_line : 0;
		if (n->fail_code)
			snprintf(f.file, sizeof f.file, "%s", n->fail_file);
	}
	snprintf(f.text, sizeof f.text, "%s", text ? text : strerror(code));
	hr_page_fail(w->run_page, w->index, &f);
	hr_wire_ring(w->host->wiring);
	/* It starts anew as a whole: what it holds must not be delivered half. */
	if (w->host->process != UINT32_MAX &&
	    w->host->plan->process[w->plan->process].on_failure == HR_ON_FAILURE_RESTART)
		_exit(1);
	if (n)
		hr_inst_end(n, HR_NODE_FAILED);
	hr_guard_enter(w, 0);
}
