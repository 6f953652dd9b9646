/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - make, open and end the channel that the HoloMQ rows measure.
 */
#include "channel.h"

#include <unistd.h>

bool
hb_channel_make(struct hb_job *job)
{
	struct hmq_reader_config reader = { .depth = HB_DEPTH, .policy = HMQ_BLOCK };
	struct hmq_config cfg = { .slots = HB_DEPTH + HB_MAX_BATCH,
				  .payload_bytes = sizeof(struct hb_msg),
				  .n_readers = 1,
				  .dtype = { 1, 8, 1 },
				  .reader = &reader };
	struct hb_channel *c = job->own;
	struct hmq_error err;
	uint64_t bytes = hmq_chan_bytes(&cfg, &err);

	if (!bytes || hmq_segment_create(&c->seg, "bench", bytes, HMQ_SEG_SHARED, &err) ||
	    hmq_chan_format(&c->seg, &cfg, &err))
		return hb_note(job, "%s", err.text);
	c->reader = (void *)job->share->body;
	c->writer = (void *)(job->share->body + HMQ_WAITER_BYTES);
	hmq_waiter_init(c->reader, HMQ_WAIT_FUTEX);
	hmq_waiter_init(c->writer, HMQ_WAIT_FUTEX);
	return true;
}

struct hmq_writer *
hb_channel_write(struct hb_job *job)
{
	struct hb_channel *c = job->own;
	bool apart = job->receive && job->kind == HB_PROCESSES;
	struct hmq_peer peer = { .waiter = c->wait == HB_SLEEPS ? c->reader : NULL,
				 .life = apart ? c->reader : NULL,
				 .event_fd = -1 };
	struct hmq_error err;
	struct hmq_writer *w;

	if (apart && hmq_life_begin(c->writer)) {
		hb_note(job, "the writer has no life");
		return NULL;
	}
	if (hmq_writer_open(&w, &c->seg, &peer, &err))
		hb_note(job, "%s", err.text);
	return w;
}

struct hmq_reader *
hb_channel_read(struct hb_job *job)
{
	struct hb_channel *c = job->own;
	bool apart = job->receive && job->kind == HB_PROCESSES;
	/* The writer of these rows spins: it never wants to be woken. */
	struct hmq_peer peer = { .life = apart ? c->writer : NULL, .event_fd = -1 };
	struct hmq_segment *seg = &c->seg;
	struct hmq_error err;
	struct hmq_reader *r;

	if (apart) {
		seg = &c->mapped;
		if (hmq_life_begin(c->reader)) {
			hb_note(job, "the reader has no life");
			return NULL;
		}
		if (hmq_segment_map(seg, dup(c->seg.fd), &err)) {
			hb_note(job, "%s", err.text);
			return NULL;
		}
	}
	if (hmq_reader_open(&r, seg, 0, &peer, &err))
		hb_note(job, "%s", err.text);
	return r;
}

void
hb_channel_end_write(struct hb_job *job, struct hmq_writer *w)
{
	struct hb_channel *c = job->own;

	hmq_writer_end(w);
	hmq_writer_free(w);
	if (job->receive && job->kind == HB_PROCESSES)
		hmq_life_end(c->writer);
}

void
hb_channel_end_read(struct hb_job *job, struct hmq_reader *r)
{
	struct hb_channel *c = job->own;

	hmq_reader_end(r);
	hmq_reader_free(r);
	if (job->receive && job->kind == HB_PROCESSES)
		hmq_life_end(c->reader);
}
