/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.c - ops in a line in one partition: what the runtime adds to each.
 *
 * Host cost is the slope between chains of 2 and 12 copies, per op and message
 * and in CPU time of the worker, minus what process() of the same op takes on
 * prepared windows: source, sink, start and end of the run cancel out.
 * Statistics are on, as always.
 */
#include <math.h>
#include <stdio.h>

#include "graph.h"

enum { FEW = 2, MANY = 12, MESSAGES = 200000, BRIEF = 10000, LATENCY_RATE_HZ = 50000 };

double
hb_chain_latency(const struct hb_env *env, int arg)
{
	uint32_t messages = env->brief ? BRIEF / 10 : LATENCY_RATE_HZ / 5;
	char count[32];
	const char *args[] = { "-k", count, "-k", "wait=spin", NULL };
	struct hb_run run;
	double why;

	(void)arg;
	snprintf(count, sizeof count, "count=%u", messages);
	return hb_holorun(env, "chain.yaml", args, messages, &run, &why) ? run.p50_ns : why;
}

/* CPU time per message of a chain with `ops` copies. */
static bool
per_message(const struct hb_env *env, int ops, int batch, double *ns, double *why)
{
	uint32_t messages = env->brief ? BRIEF : MESSAGES;
	char count[32], depth[32], overlay[4096];
	const char *args[] = { "-f", overlay, "-k", count, "-k", depth, "-k", "rate=0", NULL };
	struct hb_run run;

	snprintf(overlay, sizeof overlay, "%s/chain-%d.yaml", env->graphs, ops);
	snprintf(count, sizeof count, "count=%u", messages);
	snprintf(depth, sizeof depth, "depth=%d", batch);
	if (!hb_holorun(env, "chain.yaml", args, messages, &run, why))
		return false;
	*ns = run.worker_ns / messages;
	return true;
}

double
hb_host_cost(const struct hb_env *env, int batch)
{
	double few, many, why, bare = hb_bare_copy(env, batch);

	if (isnan(bare))
		return bare;
	if (!per_message(env, FEW, batch, &few, &why) ||
	    !per_message(env, MANY, batch, &many, &why))
		return why;
	return (many - few) / (MANY - FEW) - bare;
}
