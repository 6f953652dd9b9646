/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iceoryx.c - the messages of the HoloMQ rows through iceoryx, by its C binding:
 * 64 B, two processes, a queue of 64, a sender that waits when it is full.
 *
 * The receiver polls its subscriber or sleeps in a wait set.  Both ends are pinned,
 * subscribed and warm before the first sample; the sender loans and fills after the
 * due time, the receiver copies the 64 B out before it reads the clock, as in
 * hmq_latency.c and saturated.c.
 */
#include "iceoryx.h"

#include <iceoryx_binding_c/api.h>

enum { DEPTH = 64, MANY = 20000, BRIEF_MANY = 2000, WARM = 1000, EVENTS = 4 };

enum way { POLLS, SLEEPS, SATURATED };

struct receiver {
	iox_sub_storage_t storage;
	iox_ws_storage_t set_storage;
	iox_sub_t sub;
	iox_ws_t set; /* NULL: polls */
};

static uint32_t
count(const struct hb_job *job)
{
	return job->variant == SATURATED ? WARM + (job->env->brief ? BRIEF_MANY : MANY)
					 : job->warm + job->n;
}

/* ---- sender --------------------------------------------------------------------------------- */

static bool
send_one(iox_pub_t pub, uint64_t due, uint32_t i)
{
	void *data;

	if (iox_pub_loan_chunk(pub, &data, sizeof(struct hb_msg)) != AllocationResult_SUCCESS)
		return false;
	hb_msg_make(data, due, i);
	iox_pub_publish_chunk(pub, data);
	return true;
}

static bool
send_all(struct hb_job *job)
{
	iox_pub_options_t options;
	iox_pub_storage_t storage;
	uint64_t due;
	iox_pub_t pub;
	bool ok = true;

	iox_set_loglevel(Iceoryx_LogLevel_Off);
	iox_runtime_init(HB_IOX_SENDER);
	iox_pub_options_init(&options);
	options.historyCapacity = 0;
	options.subscriberTooSlowPolicy = ConsumerTooSlowPolicy_WAIT_FOR_CONSUMER;
	pub = iox_pub_init(&storage, "holorun", "bench", "message", &options);
	while (!iox_pub_has_subscribers(pub))
		hr_cpu_relax();
	hb_meet(job);
	due = hr_mono_ns();
	for (uint32_t i = 0; ok && i < count(job); i++) {
		if (job->variant != SATURATED)
			due = hb_wait_until(due + HB_PACE_NS);
		ok = send_one(pub, due, i) || hb_note(job, "iceoryx has no chunk");
	}
	/* The receiver may still hold the last ones. */
	hb_meet(job);
	iox_pub_deinit(pub);
	iox_runtime_shutdown();
	return ok;
}

/* ---- receiver ------------------------------------------------------------------------------- */

static bool
open_receiver(struct hb_job *job, struct receiver *r)
{
	iox_sub_options_t options;

	iox_set_loglevel(Iceoryx_LogLevel_Off);
	iox_runtime_init(HB_IOX_RECEIVER);
	iox_sub_options_init(&options);
	options.queueCapacity = DEPTH;
	options.historyRequest = 0;
	options.queueFullPolicy = QueueFullPolicy_BLOCK_PRODUCER;
	r->sub = iox_sub_init(&r->storage, "holorun", "bench", "message", &options);
	r->set = NULL;
	while (iox_sub_get_subscription_state(r->sub) != SubscribeState_SUBSCRIBED)
		hr_cpu_relax();
	if (job->variant != SLEEPS)
		return true;
	r->set = iox_ws_init(&r->set_storage);
	return iox_ws_attach_subscriber_state(r->set, r->sub, SubscriberState_HAS_DATA, 0, NULL) ==
		       WaitSetResult_SUCCESS ||
	       hb_note(job, "iceoryx's wait set takes no subscriber");
}

static const void *
receive_one(const struct receiver *r)
{
	iox_notification_info_t info[EVENTS];
	enum iox_ChunkReceiveResult got;
	const void *data;
	uint64_t missed;

	while ((got = iox_sub_take_chunk(r->sub, &data)) == ChunkReceiveResult_NO_CHUNK_AVAILABLE)
		if (r->set)
			iox_ws_wait(r->set, info, EVENTS, &missed);
	return got == ChunkReceiveResult_SUCCESS ? data : NULL;
}

/* Time per message, from the first one after the warm-up to the last. */
static bool
count_time(struct hb_job *job, uint32_t i, const struct hb_msg *m, uint64_t *start)
{
	uint32_t last = count(job) - 1;

	if (i == WARM)
		*start = hr_mono_ns();
	if (i == last)
		job->share->figure = (double)(hr_mono_ns() - *start) / (last - WARM);
	return hb_msg_is(m, i) || hb_note(job, "message %u is wrong", i);
}

static bool
receive_all(struct hb_job *job)
{
	struct receiver r;
	uint64_t start = 0;
	bool ok = open_receiver(job, &r);

	if (!ok)
		return false;
	hb_meet(job);
	for (uint32_t i = 0; ok && i < count(job); i++) {
		const void *data = receive_one(&r);
		struct hb_msg m;
		uint64_t now;

		if (!data)
			return hb_note(job, "message %u never came", i);
		memcpy(&m, data, sizeof m);
		now = job->variant == SATURATED ? 0 : hr_mono_ns();
		iox_sub_release_chunk(r.sub, data);
		ok = job->variant == SATURATED ? count_time(job, i, &m, &start)
					       : hb_received(job, i, &m, now);
	}
	hb_meet(job);
	if (r.set) {
		iox_ws_detach_subscriber_state(r.set, r.sub, SubscriberState_HAS_DATA);
		iox_ws_deinit(r.set);
	}
	iox_sub_deinit(r.sub);
	iox_runtime_shutdown();
	return ok;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static double
measure(const struct hb_env *env, enum way way)
{
	struct hb_job job = { .env = env,
			      .kind = HB_PROCESSES,
			      .variant = (int)way,
			      .send = send_all,
			      .receive = receive_all };
	const char *why;
	double figure;

	if (env->n_cpus < 2)
		return hb_skip("needs two CPUs");
	why = hb_roudi_start();
	if (why)
		return hb_skip("%s", why);
	if (way != SATURATED)
		hb_pace(&job, env);
	figure = hb_run_ends(&job);
	hb_roudi_stop();
	return figure;
}

double
hb_iceoryx_spin(const struct hb_env *env, int arg)
{
	(void)arg;
	return measure(env, POLLS);
}

double
hb_iceoryx_sleep(const struct hb_env *env, int arg)
{
	(void)arg;
	return measure(env, SLEEPS);
}

double
hb_iceoryx_saturated(const struct hb_env *env, int arg)
{
	(void)arg;
	return measure(env, SATURATED);
}
