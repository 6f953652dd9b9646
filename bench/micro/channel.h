/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - a HoloMQ channel of 64 B messages between two ends, and their
 * waiters, for the rows that measure it.
 *
 * Each end opens its own handle; in another process the reader maps the segment
 * by its descriptor, as any peer does.
 */
#ifndef HB_CHANNEL_H
#define HB_CHANNEL_H

#include <holomq/holomq.h>

#include "micro.h"

enum { HB_DEPTH = 64, HB_MAX_BATCH = 32, HB_MAX_READERS = 4 };
enum hb_wait { HB_SPINS, HB_SLEEPS };

struct hb_channel {
	struct hmq_segment seg;
	struct hmq_segment mapped;
	struct hmq_waiter *reader, *writer; /* in job->share->body */
	enum hb_wait wait;                  /* may the reader sleep? */
	/* 0: 64 B, HB_DEPTH messages, as many slots and HB_MAX_BATCH more, one reader. */
	uint64_t payload;
	uint32_t depth, slots, readers;
};

/* For hb_job.prepare; job->own is the struct hb_channel. */
bool hb_channel_make(struct hb_job *job);
/* NULL: hb_note said why. */
struct hmq_writer *hb_channel_write(struct hb_job *job);
struct hmq_reader *hb_channel_read(struct hb_job *job);
/* All of them, in one thread; false: hb_note said why. */
bool hb_channel_read_all(struct hb_job *job, struct hmq_reader **r);
/* Tell the peer, be alive no longer. */
void hb_channel_end_write(struct hb_job *job, struct hmq_writer *w);
void hb_channel_end_read(struct hb_job *job, struct hmq_reader *r);

#endif
