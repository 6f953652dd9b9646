/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro.h - the rows of this folder, and what their two ends have in common.
 *
 * A paced message of 64 B carries the time at which it was due and its number,
 * repeated to its last word.  The sender waits on the clock until it is due, so
 * that latency counts from then; the receiver has the 64 B in memory of its own
 * before it reads the clock, and checks them afterwards.
 */
#ifndef HB_MICRO_H
#define HB_MICRO_H

#include <string.h>

#include "base/clock.h"
#include "ends.h"

enum { HB_WORDS = 8 };

/* When a message is due: every HB_PACE_NS, or when the one before was taken. */
enum hb_rhythm { HB_PACED, HB_SERIALIZED };

struct hb_msg {
	uint64_t due_ns;
	uint64_t number[HB_WORDS - 1];
};
_Static_assert(sizeof(struct hb_msg) == 64, "a cache line");

static inline void
hb_msg_make(struct hb_msg *m, uint64_t due_ns, uint64_t number)
{
	m->due_ns = due_ns;
	for (int i = 0; i < HB_WORDS - 1; i++)
		m->number[i] = number;
}

static inline bool
hb_msg_is(const struct hb_msg *m, uint64_t number)
{
	uint64_t wrong = 0;

	for (int i = 0; i < HB_WORDS - 1; i++)
		wrong |= m->number[i] ^ number;
	return wrong == 0;
}

/* Spin until then; returns the same, the time from which the message ages. */
static inline uint64_t
hb_wait_until(uint64_t due_ns)
{
	while (hr_mono_ns() < due_ns)
		;
	return due_ns;
}

/* The receiver's side of message i: check, and keep the sample once warm. */
bool hb_received(struct hb_job *job, uint32_t i, const struct hb_msg *m, uint64_t now_ns);

/* Floors; each file says what it is the floor of. */
double hb_call(const struct hb_env *env, int arg);
double hb_clock(const struct hb_env *env, int arg);
double hb_pingpong(const struct hb_env *env, int arg);
double hb_raw_ring(const struct hb_env *env, int ends);
double hb_raw_serialized(const struct hb_env *env, int ends);
double hb_raw_saturated(const struct hb_env *env, int arg);
enum { HB_SENDER_SPINS = 0, HB_SENDER_SLEEPS = 1 };
double hb_futex(const struct hb_env *env, int sender);

/* HoloMQ, through its public functions. */
double hb_hmq_spin(const struct hb_env *env, int ends);
double hb_hmq_serialized(const struct hb_env *env, int ends);
/* As many as go through a queue of 64: ns per message; the reader may sleep, or never does. */
enum { HB_NEVER_SLEEPS = 0, HB_MAY_SLEEP = 1 };
double hb_hmq_saturated(const struct hb_env *env, int reader);
/* Of a message with 64 B used: in slots of so many bytes, or described there. */
double hb_hmq_large(const struct hb_env *env, int bytes);
double hb_hmq_described(const struct hb_env *env, int bytes);
/* What one more reader costs per message. */
enum { HB_ALONE = 0, HB_ACROSS = 1 };
double hb_hmq_fan(const struct hb_env *env, int where);
/* One call, one message, one thread. */
enum { HB_LOAN, HB_PUBLISH, HB_PEEK, HB_TAKE };
double hb_hmq_one_call(const struct hb_env *env, int call);
double hb_hmq_sleep(const struct hb_env *env, int ends);
enum { HB_BUSY = 0, HB_POLLS = 1 }; /* what the receiver does meanwhile */
double hb_hmq_publish(const struct hb_env *env, int receiver);
double hb_hmq_alone(const struct hb_env *env, int batch);

#endif
