/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_to_one.c - a paced message of 64 B from a source to a sink in another
 * partition, on another CPU: from its due time until the sink's call returned.
 *
 * Everything a message of a real graph goes through is in it: the loop of the
 * source that finds it due, windows on both sides, the sink's check, statistics.
 */
#include <stdio.h>

#include "graph.h"

double
hb_one_to_one(const struct hb_env *env, int how)
{
	uint32_t messages = env->paced + env->paced / 10;
	int wait = how & ~(int)HB_APART;
	char count[32];
	const char *args[] = {
		"-k", count,
		"-k", wait == HB_SPIN ? "wait=spin" : "wait=sleep",
		"-k", wait == HB_BOTH_SLEEP ? "writer_wait=sleep" : "writer_wait=spin",
		"-k", how & (int)HB_APART ? "reader=other" : "reader=main",
		NULL
	};
	struct hb_run run;
	double why;

	if (env->n_cpus < 2)
		return hb_skip("needs two CPUs");
	snprintf(count, sizeof count, "count=%u", messages);
	return hb_holorun(env, "one-to-one.yaml", args, messages, &run, &why) ? run.p50_ns : why;
}
