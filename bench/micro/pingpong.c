/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pingpong.c - one cache line between two CPUs, one way: half a round trip of a
 * word that both ends write in turn.
 *
 * The floor of every hand-over between spinning ends: no queue can tell another
 * CPU anything in less than one such trip.
 */
#include "micro.h"

enum { ROUNDS = 31, TRIPS = 1000, BRIEF_TRIPS = 100 };

static uint32_t
trips(const struct hb_job *job)
{
	return job->env->brief ? BRIEF_TRIPS : TRIPS;
}

static void
turn(uint32_t *word, uint32_t await, uint32_t then)
{
	while (hr_load32_acquire(word) != await)
		;
	hr_store32_release(word, then);
}

static bool
ping(struct hb_job *job)
{
	uint32_t *word = (void *)job->share->body, n = trips(job);

	hb_meet(job);
	for (uint32_t r = 0; r <= ROUNDS; r++) {
		uint64_t start = hr_mono_ns();

		for (uint32_t i = 0; i < n; i++)
			turn(word, 0, 1);
		if (r) /* the first one warms up */
			job->share->sample[job->share->n++] =
				(double)(hr_mono_ns() - start) / (2.0 * n);
	}
	return true;
}

static bool
pong(struct hb_job *job)
{
	uint32_t *word = (void *)job->share->body, n = (ROUNDS + 1) * trips(job);

	hb_meet(job);
	for (uint32_t i = 0; i < n; i++)
		turn(word, 1, 0);
	return true;
}

double
hb_pingpong(const struct hb_env *env, int arg)
{
	struct hb_job job = { .env = env,
			      .body_bytes = HB_BLOCK,
			      .kind = HB_THREADS,
			      .send = ping,
			      .receive = pong };

	(void)arg;
	return hb_run_ends(&job);
}
