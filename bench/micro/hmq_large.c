/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmq_large.c - a message of which only 64 B are touched: does its size cost
 * anything?  In slots of so many bytes, or in a buffer of its own that the message
 * describes.
 *
 * Two processes, paced, one way from the due time; channels that differ in nothing
 * but the size.
 */
#include <errno.h>

#include "channel.h"

enum { DEPTH = 4, SLOTS = 8 };

struct large {
	struct hb_channel channel; /* first: channel.c takes it for its own */
	struct hmq_buffer *buffer; /* NULL: in the slots */
	uint64_t bytes;
};

/* Where the 64 B of a loaned slot go, the rest of the message untouched. */
static bool
fill(const struct large *l, const struct hmq_tx *tx, uint64_t due, uint32_t i)
{
	void *place = l->buffer ? hmq_buffer_begin(l->buffer, (uint32_t)tx->slot) : tx->data;

	if (!place)
		return false;
	hb_msg_make(place, due, i);
	tx->head->bytes = l->buffer ? sizeof(struct hmq_descriptor) : l->bytes;
	return !l->buffer || !hmq_buffer_finish(l->buffer, (uint32_t)tx->slot, l->bytes, tx->data);
}

static bool
publish(struct hmq_writer *w, const struct hmq_tx *tx)
{
	int32_t sent;

	while ((sent = hmq_publish(w, tx, 1)) == -EAGAIN)
		hr_cpu_relax();
	return sent == 1;
}

static bool
send_paced(struct hb_job *job)
{
	struct hmq_writer *w = hb_channel_write(job);
	bool ok = w != NULL;
	uint64_t due;

	if (!w)
		return false;
	hb_meet(job);
	due = hr_mono_ns();
	for (uint32_t i = 0; ok && i < job->warm + job->n; i++) {
		struct hmq_tx tx;

		due = hb_wait_until(due + HB_PACE_NS);
		while (!hmq_loan(w, &tx, 1))
			hr_cpu_relax();
		ok = (fill(job->own, &tx, due, i) && publish(w, &tx)) ||
		     hb_note(job, "message %u was not published", i);
	}
	hb_channel_end_write(job, w);
	return ok;
}

static struct hmq_cache *
import(struct hb_job *job)
{
	const struct large *l = job->own;
	struct hmq_cache *cache;
	struct hmq_error err;

	if (hmq_cache_new(&cache, &err) ||
	    hmq_cache_import(cache, hmq_buffer_fd(l->buffer), &err) < 0) {
		hb_note(job, "%s", err.text);
		return NULL;
	}
	return cache;
}

static bool
receive_one(struct hb_job *job, struct hmq_reader *r, const struct hmq_cache *cache, uint32_t i)
{
	const void *data;
	struct hmq_rx rx;
	struct hb_msg m;
	uint64_t now;

	while (hmq_peek(r, 0, &rx, 1) != 1)
		;
	data = rx.data;
	if (cache && hmq_cache_find(cache, rx.data, &data))
		return hb_note(job, "message %u describes nothing", i);
	memcpy(&m, data, sizeof m);
	now = hr_mono_ns();
	hmq_take(r, &rx, 1);
	return hb_received(job, i, &m, now);
}

static bool
receive_paced(struct hb_job *job)
{
	const struct large *l = job->own;
	struct hmq_reader *r = hb_channel_read(job);
	struct hmq_cache *cache = r && l->buffer ? import(job) : NULL;
	bool ok = true;

	if (!r || (l->buffer && !cache))
		return false;
	hb_meet(job);
	for (uint32_t i = 0; ok && i < job->warm + job->n; i++)
		ok = receive_one(job, r, cache, i);
	hb_channel_end_read(job, r);
	return ok;
}

static double
latency(const struct hb_env *env, struct large *l)
{
	struct hb_job job = { .env = env,
			      .body_bytes = (size_t)2 * HMQ_WAITER_BYTES,
			      .kind = HB_PROCESSES,
			      .prepare = hb_channel_make,
			      .send = send_paced,
			      .receive = receive_paced,
			      .own = l };

	l->channel.depth = DEPTH;
	l->channel.slots = SLOTS;
	hb_pace(&job, env);
	return hb_run_ends(&job);
}

double
hb_hmq_large(const struct hb_env *env, int bytes)
{
	struct large l = { .channel.payload = (uint64_t)bytes, .bytes = (uint64_t)bytes };

	return latency(env, &l);
}

double
hb_hmq_described(const struct hb_env *env, int bytes)
{
	struct large l = { .channel.payload = sizeof(struct hmq_descriptor),
			   .bytes = (uint64_t)bytes };
	struct hmq_error err;
	double figure;

	if (hmq_buffer_create(&l.buffer, "bench", l.bytes, SLOTS, 0, &err))
		return hb_fail("%s", err.text);
	figure = latency(env, &l);
	hmq_buffer_free(l.buffer);
	return figure;
}
