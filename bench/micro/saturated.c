/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saturated.c - as many messages of 64 B as two processes can pass on, one at a
 * time, through a queue of 64: the raw ring and HoloMQ.
 *
 * The figure is time per message, from the first one after the warm-up to the last,
 * as the receiver sees it.  Nothing is dropped: the sender waits for room.  Where the
 * reader may sleep, each publish adds to its waiter, and a reader that finds nothing
 * for LOOKS looks sleeps.
 */
#include <errno.h>

#include "channel.h"
#include "raw_ring.h"

enum { MANY = 400000, BRIEF_MANY = 20000, WARM = 10000, LOOKS = 1000 };

static uint32_t
count(const struct hb_job *job)
{
	return WARM + (job->env->brief ? BRIEF_MANY : MANY);
}

/* Message i is there: check, note the time. */
static bool
arrived(struct hb_job *job, uint32_t i, const struct hb_msg *m, uint64_t *start)
{
	uint32_t last = count(job) - 1;

	if (i == WARM)
		*start = hr_mono_ns();
	if (i == last)
		job->share->figure = (double)(hr_mono_ns() - *start) / (last - WARM);
	return hb_msg_is(m, i) || hb_note(job, "message %u is wrong", i);
}

/* ---- the raw ring --------------------------------------------------------------------------- */

static bool
raw_send(struct hb_job *job)
{
	struct hb_end e = { .ring = (void *)job->share->body };
	struct hb_msg m;

	hb_meet(job);
	for (uint32_t i = 0; i < count(job); i++) {
		hb_msg_make(&m, 0, i);
		while (!hb_push(&e, &m))
			hr_cpu_relax();
	}
	return true;
}

static bool
raw_receive(struct hb_job *job)
{
	struct hb_end e = { .ring = (void *)job->share->body };
	uint64_t start = 0;
	struct hb_msg m;

	hb_meet(job);
	for (uint32_t i = 0; i < count(job); i++) {
		while (!hb_pop(&e, &m))
			hr_cpu_relax();
		if (!arrived(job, i, &m, &start))
			return false;
	}
	return true;
}

double
hb_raw_saturated(const struct hb_env *env, int arg)
{
	struct hb_job job = { .env = env,
			      .body_bytes = sizeof(struct hb_ring),
			      .kind = HB_PROCESSES,
			      .send = raw_send,
			      .receive = raw_receive };

	(void)arg;
	return hb_run_ends(&job);
}

/* ---- HoloMQ --------------------------------------------------------------------------------- */

static bool
send_one(struct hmq_writer *w, uint32_t i)
{
	struct hmq_tx tx;
	int32_t sent;

	while (!hmq_loan(w, &tx, 1))
		hr_cpu_relax();
	hb_msg_make(tx.data, 0, i);
	tx.head->bytes = sizeof(struct hb_msg);
	while ((sent = hmq_publish(w, &tx, 1)) == -EAGAIN)
		hr_cpu_relax();
	return sent == 1;
}

static bool
hmq_send(struct hb_job *job)
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

static void
sleep_for_one(struct hb_channel *c, struct hmq_reader *r)
{
	uint32_t value = hmq_waiter_prepare(c->reader);

	if (hmq_queued(r) || hmq_reader_peer(r) != HMQ_OPEN)
		hmq_waiter_cancel(c->reader);
	else
		hmq_waiter_wait(c->reader, value, INT64_MAX);
}

/* False: there will be none. */
static bool
receive_one(struct hb_channel *c, struct hmq_reader *r, struct hmq_rx *rx)
{
	uint32_t looks = 0;
	int32_t got;

	while ((got = hmq_peek(r, 0, rx, 1)) == 0) {
		if (++looks % LOOKS) {
			hr_cpu_relax();
			continue;
		}
		if (hmq_reader_state(r) != HMQ_OPEN)
			return false;
		if (c->wait == HB_SLEEPS)
			sleep_for_one(c, r);
	}
	return got == 1;
}

static bool
hmq_receive(struct hb_job *job)
{
	struct hmq_reader *r = hb_channel_read(job);
	uint64_t start = 0;
	bool ok = true;

	if (!r)
		return false;
	hb_meet(job);
	for (uint32_t i = 0; ok && i < count(job); i++) {
		struct hmq_rx rx;
		struct hb_msg m;

		if (!receive_one(job->own, r, &rx)) {
			ok = hb_note(job, "message %u never came", i);
			break;
		}
		memcpy(&m, rx.data, sizeof m);
		hmq_take(r, &rx, 1);
		ok = arrived(job, i, &m, &start);
	}
	hb_channel_end_read(job, r);
	return ok;
}

double
hb_hmq_saturated(const struct hb_env *env, int reader)
{
	struct hb_channel channel = { .wait = reader == HB_MAY_SLEEP ? HB_SLEEPS : HB_SPINS };
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES,
			      .kind = HB_PROCESSES,
			      .prepare = hb_channel_make,
			      .send = hmq_send,
			      .receive = hmq_receive,
			      .own = &channel };

	return hb_run_ends(&job);
}
