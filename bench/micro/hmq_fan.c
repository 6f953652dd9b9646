/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmq_fan.c - what one more reader costs: time per message with four readers minus
 * that with one, a third of it.
 *
 * In one thread: loan, publish, and each reader peeks and takes.  Across: the writer
 * in one process, all readers in another, which asks them in turn; the queue is kept
 * full.  Each reader sees every message, which is checked.
 */
#include <errno.h>

#include "channel.h"

enum { MANY = 100000, BRIEF_MANY = 5000, WARM = 1000, ROUNDS = 15 };

static uint32_t
count(const struct hb_job *job)
{
	return WARM + (job->env->brief ? BRIEF_MANY : MANY);
}

static bool
send_one(struct hmq_writer *w, uint64_t number)
{
	struct hmq_tx tx;
	int32_t sent;

	while (!hmq_loan(w, &tx, 1))
		hr_cpu_relax();
	*(uint64_t *)tx.data = number;
	tx.head->bytes = sizeof(struct hb_msg);
	while ((sent = hmq_publish(w, &tx, 1)) == -EAGAIN)
		hr_cpu_relax();
	return sent == 1;
}

/* 1: taken, 0: not there, -1: not the one that was due. */
static int
take_one(struct hmq_reader *r, uint64_t number)
{
	struct hmq_rx rx;
	bool right;

	if (hmq_peek(r, 0, &rx, 1) != 1)
		return 0;
	right = *(const uint64_t *)rx.data == number;
	hmq_take(r, &rx, 1);
	return right ? 1 : -1;
}

/* ---- one thread ----------------------------------------------------------------------------- */

static bool
pass_on(struct hmq_writer *w, struct hmq_reader **r, uint32_t readers, uint64_t number)
{
	if (!send_one(w, number))
		return false;
	for (uint32_t k = 0; k < readers; k++)
		if (take_one(r[k], number) != 1)
			return false;
	return true;
}

static bool
alone(struct hb_job *job)
{
	struct hb_channel *c = job->own;
	struct hmq_reader *r[HB_MAX_READERS];
	struct hmq_writer *w = hb_channel_write(job);
	uint32_t n = count(job) / ROUNDS;
	uint64_t number = 0;

	if (!w || !hb_channel_read_all(job, r))
		return false;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = hr_mono_ns();

		for (uint32_t i = 0; i < n; i++)
			if (!pass_on(w, r, c->readers, number++))
				return hb_note(job, "a message got stuck");
		job->share->sample[job->share->n++] = (double)(hr_mono_ns() - start) / n;
	}
	return true;
}

/* ---- two processes -------------------------------------------------------------------------- */

static bool
send_many(struct hb_job *job)
{
	struct hmq_writer *w = hb_channel_write(job);
	bool ok = true;

	if (!w)
		return false;
	hb_meet(job);
	for (uint32_t i = 0; ok && i < count(job); i++)
		ok = send_one(w, i) || hb_note(job, "message %u was not published", i);
	hb_channel_end_write(job, w);
	return ok;
}

static bool
take_from_all(struct hb_job *job)
{
	struct hb_channel *c = job->own;
	struct hmq_reader *r[HB_MAX_READERS];
	uint64_t start = 0;
	uint32_t last = count(job) - 1;

	if (!hb_channel_read_all(job, r))
		return false;
	hb_meet(job);
	for (uint32_t i = 0; i <= last; i++) {
		if (i == WARM)
			start = hr_mono_ns();
		for (uint32_t k = 0; k < c->readers; k++) {
			int got;

			while ((got = take_one(r[k], i)) == 0)
				if (hmq_reader_state(r[k]) != HMQ_OPEN)
					return hb_note(job, "message %u never came", i);
			if (got < 0)
				return hb_note(job, "message %u is wrong", i);
		}
	}
	job->share->figure = (double)(hr_mono_ns() - start) / (last - WARM);
	hmq_life_end(c->reader);
	return true;
}

static double
per_message(const struct hb_env *env, int where, uint32_t readers)
{
	struct hb_channel channel = { .wait = HB_SPINS, .readers = readers };
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES,
			      .kind = HB_PROCESSES,
			      .prepare = hb_channel_make,
			      .send = where == HB_ALONE ? alone : send_many,
			      .receive = where == HB_ALONE ? NULL : take_from_all,
			      .own = &channel };

	return hb_run_ends(&job);
}

/* Each is NaN when it failed, and so is the difference. */
double
hb_hmq_fan(const struct hb_env *env, int where)
{
	double one = per_message(env, where, 1);

	if (one != one)
		return one;
	return (per_message(env, where, HB_MAX_READERS) - one) / (HB_MAX_READERS - 1);
}
