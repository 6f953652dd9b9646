/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmq_latency.c - a paced message of 64 B through a HoloMQ channel, one way,
 * to a spinning or a sleeping receiver.
 *
 * The same work as the raw ring and the bare futex: the sender loans and fills
 * after the due time, the receiver copies the 64 B out before it reads the
 * clock.
 */
#include <errno.h>

#include "channel.h"

/* publish looks for room itself, and at the reader's index only when it has to. */
static bool
send_one(struct hmq_writer *w, uint64_t due, uint32_t i)
{
	struct hmq_tx tx;
	int32_t sent;

	while (!hmq_loan(w, &tx, 1))
		hr_cpu_relax();
	hb_msg_make(tx.data, due, i);
	tx.head->frame = i;
	tx.head->born_ns = tx.head->last_ns = (int64_t)due;
	tx.head->bytes = sizeof(struct hb_msg);
	while ((sent = hmq_publish(w, &tx, 1)) == -EAGAIN)
		hr_cpu_relax();
	return sent == 1;
}

static bool
send_paced(struct hb_job *job)
{
	struct hmq_writer *w = hb_channel_write(job);
	bool ok = true;
	uint64_t due;

	if (!w)
		return false;
	hb_meet(job);
	due = hr_mono_ns();
	for (uint32_t i = 0; ok && i < job->warm + job->n; i++) {
		if (job->variant == HB_SERIALIZED) {
			while (!hmq_writer_is_idle(w))
				hr_cpu_relax();
			due = hr_mono_ns();
		} else {
			due = hb_wait_until(due + HB_PACE_NS);
		}
		ok = send_one(w, due, i) || hb_note(job, "message %u was not published", i);
	}
	hb_channel_end_write(job, w);
	return ok;
}

/* A spinning reader looks for the end now and then, as one does who counts on the next message. */
enum { LOOKS = 64 };

/* Returns when a message is there: 1; 0 after the end; negative: broken. */
static int32_t
await(struct hb_channel *c, struct hmq_reader *r, struct hmq_rx *rx)
{
	uint32_t looks = 0;
	int32_t got;

	while ((got = hmq_peek(r, 0, rx, 1)) == 0) {
		uint32_t value;

		if (c->wait == HB_SPINS && ++looks % LOOKS)
			continue;
		if (hmq_reader_peer(r) != HMQ_OPEN)
			return hmq_peek(r, 0, rx, 1);
		if (c->wait == HB_SPINS)
			continue;
		value = hmq_waiter_prepare(c->reader);
		got = hmq_peek(r, 0, rx, 1);
		if (got || hmq_reader_peer(r) != HMQ_OPEN)
			hmq_waiter_cancel(c->reader);
		else
			hmq_waiter_wait(c->reader, value, INT64_MAX);
	}
	return got;
}

static bool
receive_paced(struct hb_job *job)
{
	struct hmq_reader *r = hb_channel_read(job);
	bool ok = true;

	if (!r)
		return false;
	hb_meet(job);
	for (uint32_t i = 0; ok && i < job->warm + job->n; i++) {
		struct hmq_rx rx;
		struct hb_msg m;
		uint64_t now;

		if (await(job->own, r, &rx) != 1) {
			ok = hb_note(job, "message %u never came", i);
			break;
		}
		memcpy(&m, rx.data, sizeof m);
		now = hr_mono_ns();
		hmq_take(r, &rx, 1);
		ok = hb_received(job, i, &m, now);
	}
	hb_channel_end_read(job, r);
	return ok;
}

static double
latency(const struct hb_env *env, int ends, enum hb_wait wait, enum hb_rhythm rhythm)
{
	struct hb_channel channel = { .wait = wait };
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES,
			      .kind = (enum hb_ends)ends,
			      .variant = (int)rhythm,
			      .prepare = hb_channel_make,
			      .send = send_paced,
			      .receive = receive_paced,
			      .own = &channel };

	hb_pace(&job, env);
	return hb_run_ends(&job);
}

double
hb_hmq_spin(const struct hb_env *env, int ends)
{
	return latency(env, ends, HB_SPINS, HB_PACED);
}

double
hb_hmq_serialized(const struct hb_env *env, int ends)
{
	return latency(env, ends, HB_SPINS, HB_SERIALIZED);
}

double
hb_hmq_sleep(const struct hb_env *env, int ends)
{
	return latency(env, ends, HB_SLEEPS, HB_PACED);
}
