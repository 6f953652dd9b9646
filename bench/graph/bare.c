/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.c - process() of std/copy without a runtime: windows prepared once, the
 * function called from a loop.
 *
 * The floor of an op in a partition.  Like in a chain the slots are used in
 * turn, so that the payloads come from the same level of cache.
 */
#include <dlfcn.h>
#include <holorun/op.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "graph.h"

enum { SLOTS = 64, PAYLOAD = 64, ROUNDS = 31, CALLS = 20000, BRIEF_CALLS = 1000 };

struct slot {
	_Alignas(64) struct hop_head head;
	uint8_t data[PAYLOAD];
};

struct bare {
	struct slot from[SLOTS], to[SLOTS];
	struct hop_rx rx[SLOTS];
	struct hop_tx tx[SLOTS];
};

static const struct hop_op *
find_copy(struct hb_job *job)
{
	char path[4096];
	const struct hop_plugin *plugin;
	void *so;

	snprintf(path, sizeof path, "%s/libstd.so", job->env->plugins);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	plugin = so ? dlsym(so, "hop_plugin_v1") : NULL;
	for (uint32_t i = 0; plugin && i < plugin->n_ops; i++)
		if (strcmp(plugin->ops[i]->name, "std/copy") == 0)
			return plugin->ops[i];
	hb_note(job, "no std/copy in %.200s", path);
	return NULL;
}

static void
prepare(struct bare *b)
{
	for (uint64_t i = 0; i < SLOTS; i++) {
		b->from[i].head.bytes = PAYLOAD;
		b->from[i].head.frame = i;
		b->rx[i] = (struct hop_rx){ &b->from[i].head, b->from[i].data, PAYLOAD, i };
		b->tx[i] = (struct hop_tx){ &b->to[i].head, b->to[i].data, PAYLOAD, i };
	}
}

static bool
call(const struct hop_op *op, const struct hop_ctx *ctx, struct bare *b, uint32_t at,
     uint32_t batch)
{
	struct hop_in in = { .msg = &b->rx[at], .count = batch };
	struct hop_out out = { .msg = &b->tx[at], .count = batch };
	struct hop_io io = { .size = sizeof io,
			     .in = &in,
			     .out = &out,
			     .n_in = 1,
			     .n_out = 1,
			     .deadline_ns = INT64_MAX };
	/* volatile: as the host does, through the op's table. */
	hop_status (*volatile process)(void *, const struct hop_ctx *, struct hop_io *) =
		op->process;

	return process(NULL, ctx, &io) == HOP_OK && in.taken == batch && out.filled == batch;
}

static bool
bare(struct hb_job *job)
{
	struct hop_ctx ctx = { .size = sizeof ctx, .name = "copy", .cpu = -1, .cuda_device = -1 };
	const struct hop_op *op = find_copy(job);
	uint32_t batch = (uint32_t)job->variant, n = job->env->brief ? BRIEF_CALLS : CALLS;
	static struct bare b;

	if (!op)
		return false;
	prepare(&b);
	for (int r = 0; r < ROUNDS; r++) {
		uint64_t start = hr_mono_ns();

		for (uint32_t i = 0; i < n; i++)
			if (!call(op, &ctx, &b, i * batch % SLOTS, batch))
				return hb_note(job, "std/copy did not copy");
		job->share->sample[job->share->n++] =
			(double)(hr_mono_ns() - start) / ((double)n * batch);
	}
	for (uint64_t i = 0; i < SLOTS; i++)
		if (b.to[i].head.frame != i)
			return hb_note(job, "std/copy copied nothing");
	return true;
}

double
hb_bare_copy(const struct hb_env *env, int batch)
{
	struct hb_job job = { .env = env, .send = bare, .variant = batch };

	return hb_run_ends(&job);
}
