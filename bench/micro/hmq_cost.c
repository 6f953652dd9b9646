/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmq_cost.c - what HoloMQ takes of its user's CPU time: publish to a receiver
 * that may sleep but is awake (no system call), and the whole way of a message,
 * loan to take, inside one thread.
 *
 * Not paced: these are costs per message, not latencies.  A receiver that polls
 * its queue takes the line that publish writes away each time; one that is busy
 * with an earlier message does not.
 */
#include "channel.h"

enum { BURST = 32, ROUNDS = 300, BRIEF_ROUNDS = 30, ALONE = 4096, ALONE_ROUNDS = 31 };

/* ---- publish to an awake receiver ----------------------------------------------------------- */

struct progress {                         /* behind the waiters */
	_Alignas(HB_BLOCK) uint32_t sent; /* bursts, written by the sender */
};

static uint32_t *
sent_of(const struct hb_job *job)
{
	struct progress *p = (void *)(job->share->body + (size_t)2 * HMQ_WAITER_BYTES);

	return &p->sent;
}

static uint32_t
bursts(const struct hb_job *job)
{
	return job->env->brief ? BRIEF_ROUNDS : ROUNDS;
}

static bool
publish_burst(struct hmq_writer *w, struct hmq_tx *tx, uint64_t *spent_ns)
{
	uint64_t start;
	int32_t sent = 0;

	*spent_ns = 0;

	/* The receiver has emptied the queue and looks for more. */
	while (!hmq_writer_is_idle(w))
		hr_cpu_relax();
	if (hmq_loan(w, tx, BURST) != BURST)
		return false;
	for (int i = 0; i < BURST; i++)
		tx[i].head->bytes = sizeof(struct hb_msg);
	start = hr_mono_ns();
	for (int i = 0; i < BURST; i++)
		sent += hmq_publish(w, &tx[i], 1);
	*spent_ns = hr_mono_ns() - start;
	return sent == BURST;
}

static bool
publish_many(struct hb_job *job)
{
	struct hmq_writer *w = hb_channel_write(job);
	struct hmq_tx tx[BURST];
	bool ok = true;

	if (!w)
		return false;
	hb_meet(job);
	for (uint32_t r = 0; ok && r < bursts(job); r++) {
		uint64_t spent;

		ok = publish_burst(w, tx, &spent) || hb_note(job, "a burst was not published");
		hr_store32_release(sent_of(job), r + 1);
		job->share->sample[job->share->n++] = (double)spent / BURST;
	}
	hb_channel_end_write(job, w);
	return ok;
}

static bool
take_many(struct hb_job *job)
{
	struct hmq_reader *r = hb_channel_read(job);
	uint32_t want = bursts(job) * BURST, got = 0;
	struct hmq_rx rx[BURST];

	if (!r)
		return false;
	hb_meet(job);
	while (got < want) {
		int32_t n;

		if (job->variant == HB_BUSY && hr_load32_acquire(sent_of(job)) * BURST == got)
			continue;
		n = hmq_peek(r, 0, rx, BURST);
		if (n < 0)
			break;
		if (n > 0)
			hmq_take(r, rx, (uint32_t)n);
		got += (uint32_t)n;
	}
	hb_channel_end_read(job, r);
	return got == want || hb_note(job, "%u of %u messages came", got, want);
}

double
hb_hmq_publish(const struct hb_env *env, int receiver)
{
	struct hb_channel channel = { .wait = HB_SLEEPS };
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES + sizeof(struct progress),
			      .kind = HB_PROCESSES,
			      .variant = receiver,
			      .prepare = hb_channel_make,
			      .send = publish_many,
			      .receive = take_many,
			      .own = &channel };

	return hb_run_ends(&job);
}

/* ---- in one thread -------------------------------------------------------------------------- */

static bool
pass_on(struct hmq_writer *w, struct hmq_reader *r, uint32_t batch)
{
	struct hmq_tx tx[HB_MAX_BATCH];
	struct hmq_rx rx[HB_MAX_BATCH];

	if (hmq_loan(w, tx, batch) != batch)
		return false;
	for (uint32_t i = 0; i < batch; i++)
		tx[i].head->bytes = sizeof(struct hb_msg);
	if (hmq_publish(w, tx, batch) != (int32_t)batch ||
	    hmq_peek(r, 0, rx, batch) != (int32_t)batch)
		return false;
	hmq_take(r, rx, batch);
	return true;
}

static bool
alone(struct hb_job *job)
{
	struct hmq_writer *w = hb_channel_write(job);
	struct hmq_reader *r = w ? hb_channel_read(job) : NULL;
	uint32_t batch = (uint32_t)job->variant;
	bool ok = true;

	if (!r)
		return false;
	for (int round = 0; ok && round < ALONE_ROUNDS; round++) {
		uint64_t start = hr_mono_ns();

		for (uint32_t i = 0; ok && i < ALONE; i += batch)
			ok = pass_on(w, r, batch);
		job->share->sample[job->share->n++] = (double)(hr_mono_ns() - start) / ALONE;
	}
	hb_channel_end_read(job, r);
	hb_channel_end_write(job, w);
	return ok || hb_note(job, "a batch got stuck");
}

double
hb_hmq_alone(const struct hb_env *env, int batch)
{
	struct hb_channel channel = { .wait = HB_SPINS };
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES,
			      .prepare = hb_channel_make,
			      .send = alone,
			      .variant = batch,
			      .own = &channel };

	return hb_run_ends(&job);
}
