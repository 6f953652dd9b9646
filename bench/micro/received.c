/* SPDX-License-Identifier: Apache-2.0 */
/*
 * received.c - what every receiver of paced messages does with one.
 */
#include "micro.h"

bool
hb_received(struct hb_job *job, uint32_t i, const struct hb_msg *m, uint64_t now_ns)
{
	if (!hb_msg_is(m, i))
		return hb_note(job, "message %u is wrong: it says %llu .. %llu", i,
			       (unsigned long long)m->number[0],
			       (unsigned long long)m->number[HB_WORDS - 2]);
	if (i >= job->warm)
		job->share->sample[job->share->n++] = (double)now_ns - (double)m->due_ns;
	return true;
}
