/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.h - run a piece of work in a child process, or two ends of a hand-over
 * in two threads or two processes, each pinned to its CPU.
 *
 * Everything happens in children: what a measurement leaves behind dies with
 * it, and one that hangs is killed after HB_PATIENCE_S and has failed.
 */
#ifndef HB_ENDS_H
#define HB_ENDS_H

#include "base/atomic.h"
#include "harness.h"

enum { HB_PATIENCE_S = 30, HB_MAX_SAMPLES = 4096, HB_BLOCK = 128, HB_NOTE = 256 };
enum hb_ends { HB_THREADS, HB_PROCESSES };
#define HB_PACE_NS 200000

struct hb_share {                         /* lies in memory that all children share */
	_Alignas(HB_BLOCK) uint32_t here; /* how often an end came to hb_meet */
	uint32_t failed;                  /* an end has said why in note */
	char note[HB_NOTE];
	_Alignas(HB_BLOCK) double figure;
	uint32_t n; /* samples */
	_Alignas(HB_BLOCK) double sample[HB_MAX_SAMPLES];
	_Alignas(HB_BLOCK) unsigned char body[]; /* what the two ends hand over through */
};

struct hb_job {
	const struct hb_env *env;
	struct hb_share *share;
	size_t body_bytes;
	int variant;
	uint32_t warm, n; /* messages before the first sample; samples */
	enum hb_ends kind;
	/* In the parent of both ends, before they start. */
	bool (*prepare)(struct hb_job *job);
	/* Sender on cpu[0], receiver on cpu[1].  A receiver fills share->sample; a job without
	 * samples sets share->figure.  False: hb_note said why. */
	bool (*send)(struct hb_job *job);
	bool (*receive)(struct hb_job *job); /* NULL: send alone, on cpu[1] */
	void *own;                           /* of prepare */
};

/* The figure: median of the samples, or share->figure when there are none. */
double hb_run_ends(struct hb_job *job);
/* Say what is wrong; returns false. */
__attribute__((format(printf, 2, 3))) bool hb_note(struct hb_job *job, const char *fmt, ...);
/* Both ends call this before the first message, and whenever they wait for each other; returns
 * when the other one has. */
void hb_meet(struct hb_job *job);
/* Messages and warm-up of a paced latency, from the environment. */
void hb_pace(struct hb_job *job, const struct hb_env *env);

#endif
