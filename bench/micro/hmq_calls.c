/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmq_calls.c - what each of the four calls costs that a message needs, made for one
 * message at a time by one thread that holds both ends.
 *
 * A queue of 64 is filled and emptied, 64 calls of a kind in a row, so that the clock
 * is read seldom; the lines are in cache, as between two ops of one partition.
 */
#include "channel.h"

enum { N = HB_DEPTH, ROUNDS = 1001, BRIEF_ROUNDS = 51, CALLS = 4 };

struct ends {
	struct hmq_writer *w;
	struct hmq_reader *r;
	struct hmq_tx tx[N];
	struct hmq_rx rx[N];
};

static uint64_t
since(uint64_t start)
{
	return hr_mono_ns() - start;
}

static bool
make_calls(struct ends *e, uint64_t *spent)
{
	uint32_t done[CALLS] = { 0 };
	uint64_t start = hr_mono_ns();

	for (uint32_t i = 0; i < N; i++)
		done[HB_LOAN] += hmq_loan(e->w, &e->tx[i], 1);
	spent[HB_LOAN] = since(start);
	for (uint32_t i = 0; i < done[HB_LOAN]; i++)
		e->tx[i].head->bytes = sizeof(struct hb_msg);
	start = hr_mono_ns();
	for (uint32_t i = 0; i < done[HB_LOAN]; i++)
		done[HB_PUBLISH] += hmq_publish(e->w, &e->tx[i], 1) == 1;
	spent[HB_PUBLISH] = since(start);
	start = hr_mono_ns();
	for (uint32_t i = 0; i < N; i++)
		done[HB_PEEK] += hmq_peek(e->r, i, &e->rx[i], 1) == 1;
	spent[HB_PEEK] = since(start);
	start = hr_mono_ns();
	for (uint32_t i = 0; i < done[HB_PEEK]; i++)
		hmq_take(e->r, &e->rx[i], 1);
	spent[HB_TAKE] = since(start);
	return done[HB_LOAN] == N && done[HB_PUBLISH] == N && done[HB_PEEK] == N;
}

static bool
measure(struct hb_job *job)
{
	int rounds = job->env->brief ? BRIEF_ROUNDS : ROUNDS;
	struct ends e = { .w = hb_channel_write(job) };
	bool ok = true;

	e.r = e.w ? hb_channel_read(job) : NULL;
	if (!e.r)
		return false;
	for (int round = 0; ok && round < rounds; round++) {
		uint64_t spent[CALLS];

		ok = make_calls(&e, spent) || hb_note(job, "a message got stuck");
		job->share->sample[job->share->n++] = (double)spent[job->variant] / N;
	}
	hb_channel_end_read(job, e.r);
	hb_channel_end_write(job, e.w);
	return ok;
}

double
hb_hmq_one_call(const struct hb_env *env, int call)
{
	struct hb_channel channel = { .wait = HB_SPINS };
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES,
			      .prepare = hb_channel_make,
			      .send = measure,
			      .variant = call,
			      .own = &channel };

	return hb_run_ends(&job);
}
