/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.c - inject/take: a sink that has had enough after `limit` messages, and
 * that creates the file `mark` at message `mark_at`, so that a test can wait
 * for a graph that runs instead of sleeping.  With `work` each message keeps
 * the thread busy.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

struct take_params {
	int64_t limit;
	int64_t mark_at;
	int64_t work;
	const char *mark;
};

struct take {
	int64_t n;
};

enum { C_RECEIVED };

static const struct hop_counter counters[] = {
	[C_RECEIVED] = { "received", "messages taken", HOP_LOG_INFO, 0 },
};

static const struct hop_port ports[] = {
	INJECT_PORT("in", HOP_IN, 0, 0),
};

static const struct hop_param params[] = {
	INJECT_PARAM(INT, struct take_params, limit, "0", "0", NULL,
		     "messages after which it is done; 0: never"),
	INJECT_PARAM(INT, struct take_params, mark_at, "1", "1", NULL, "message to mark"),
	INJECT_PARAM(TIME, struct take_params, work, "0", "0", "60s", "busy time per message"),
	INJECT_PARAM(TEXT, struct take_params, mark, "", NULL, NULL,
		     "absolute path of a file to create then; empty: none"),
};

static void
busy(int64_t work_ns)
{
	struct timespec t;
	int64_t end_ns = 0, now_ns;

	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		if (!end_ns)
			end_ns = now_ns + work_ns;
	} while (now_ns < end_ns);
}

static void
take_one(struct take *s, const struct take_params *p)
{
	if (p->work)
		busy(p->work);
	s->n++;
	if (s->n == p->mark_at && *p->mark) {
		int fd = open(p->mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd >= 0)
			close(fd);
	}
}

static hop_status
take_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct take_params *p = ctx->params;
	struct take *s = state;
	struct hop_in *in = &io->in[0];
	uint32_t n = p->work && in->count > 1 ? 1 : in->count;

	for (uint32_t i = 0; i < n; i++) {
		take_one(s, p);
		in->taken = i + 1;
		hop_count(ctx, C_RECEIVED, 1);
		if (p->limit && s->n == p->limit)
			return HOP_DONE;
	}
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op inject_take = {
	.size = sizeof inject_take,
	.name = "inject/take",
	.doc = "Take messages, mark one, be done after some.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct take_params),
	.state_size = sizeof(struct take),
	.process = take_process,
};
