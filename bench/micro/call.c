/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - a call through a pointer the compiler cannot see through, and a
 * reading of the clock.
 *
 * The first is the floor of handing a message to the next op of a partition:
 * whatever the runtime does, it calls process() like this.  Bounds in ns scale
 * with it.  The second is the floor of every time stamp.
 */
#include "micro.h"

enum { ROUNDS = 31, CALLS = 20000 };

typedef uint64_t (*step_fn)(uint64_t);

__attribute__((noinline)) static uint64_t
step(uint64_t x)
{
	return x + 1;
}

static uint64_t
read_clock(uint64_t x)
{
	return x + hr_mono_ns();
}

static bool
many_calls(struct hb_job *job)
{
	/* volatile: read anew for each call, as an op's table is. */
	step_fn volatile call = job->variant ? read_clock : step;
	double round[ROUNDS];
	uint64_t x = 0;

	for (int r = 0; r < ROUNDS; r++) {
		uint64_t start = hr_mono_ns();

		for (int i = 0; i < CALLS; i++)
			x = call(x);
		round[r] = (double)(hr_mono_ns() - start) / CALLS;
	}
	if (!job->variant && x != (uint64_t)ROUNDS * CALLS)
		return hb_note(job, "calls were lost");
	job->share->figure = hb_median(round, ROUNDS);
	return true;
}

double
hb_call(const struct hb_env *env, int arg)
{
	struct hb_job job = { .env = env, .send = many_calls, .variant = 0 };

	(void)arg;
	return hb_run_ends(&job);
}

double
hb_clock(const struct hb_env *env, int arg)
{
	struct hb_job job = { .env = env, .send = many_calls, .variant = 1 };

	(void)arg;
	return hb_run_ends(&job);
}
