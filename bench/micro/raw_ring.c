/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_ring.c - 64 B through the raw ring, one way, from the due time until the
 * reader has them: paced, or each one due when the one before was taken.
 */
#include "raw_ring.h"

static bool
send_paced(struct hb_job *job)
{
	struct hb_end e = { .ring = (void *)job->share->body };
	uint64_t due;
	struct hb_msg m;

	hb_meet(job);
	due = hr_mono_ns();
	for (uint32_t i = 0; i < job->warm + job->n; i++) {
		if (job->variant == HB_SERIALIZED) {
			while (hr_load32_acquire(&e.ring->head) != i)
				hr_cpu_relax();
			due = hr_mono_ns();
		} else {
			due = hb_wait_until(due + HB_PACE_NS);
		}
		hb_msg_make(&m, due, i);
		while (!hb_push(&e, &m))
			hr_cpu_relax();
	}
	return true;
}

static bool
receive_paced(struct hb_job *job)
{
	struct hb_end e = { .ring = (void *)job->share->body };
	struct hb_msg m;

	hb_meet(job);
	for (uint32_t i = 0; i < job->warm + job->n; i++) {
		while (!hb_pop(&e, &m))
			;
		if (!hb_received(job, i, &m, hr_mono_ns()))
			return false;
	}
	return true;
}

static double
latency(const struct hb_env *env, enum hb_ends ends, enum hb_rhythm rhythm)
{
	struct hb_job job = { .env = env,
			      .body_bytes = sizeof(struct hb_ring),
			      .kind = ends,
			      .variant = (int)rhythm,
			      .send = send_paced,
			      .receive = receive_paced };

	hb_pace(&job, env);
	return hb_run_ends(&job);
}

double
hb_raw_ring(const struct hb_env *env, int ends)
{
	return latency(env, (enum hb_ends)ends, HB_PACED);
}

double
hb_raw_serialized(const struct hb_env *env, int ends)
{
	return latency(env, (enum hb_ends)ends, HB_SERIALIZED);
}
