/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - make, open and end the channel that the HoloMQ rows measure.
 */
#include "channel.h"

#include <unistd.h>

/* What is not said is as in most rows. */
static void
complete(struct hb_channel *c)
{
	c->payload = c->payload ? c->payload : sizeof(struct hb_msg);
	c->depth = c->depth ? c->depth : HB_DEPTH;
	c->slots = c->slots ? c->slots : c->depth + HB_MAX_BATCH;
	c->readers = c->readers ? c->readers : 1;
}

bool
hb_channel_make(struct hb_job *job)
{
	struct hb_channel *c = job->own;
	struct hmq_reader_config reader[HB_MAX_READERS];
	struct hmq_config cfg = { .dtype = { 1, 8, 1 }, .reader = reader };
	struct hmq_error err;
	uint64_t bytes;

	complete(c);
	for (uint32_t i = 0; i < c->readers; i++)
		reader[i] = (struct hmq_reader_config){ .depth = c->depth, .policy = HMQ_BLOCK };
	cfg.slots = c->slots;
	cfg.payload_bytes = c->payload;
	cfg.n_readers = c->readers;
	bytes = hmq_chan_bytes(&cfg, &err);
	if (!bytes || hmq_segment_create(&c->seg, "bench", bytes, HMQ_SEG_SHARED, &err) ||
	    hmq_chan_format(&c->seg, &cfg, &err))
		return hb_note(job, "%s", err.text);
	c->reader = (void *)job->share->body;
	c->writer = (void *)(job->share->body + HMQ_WAITER_BYTES);
	hmq_waiter_init(c->reader, HMQ_WAIT_FUTEX);
	hmq_waiter_init(c->writer, HMQ_WAIT_FUTEX);
	return true;
}

static bool
is_apart(const struct hb_job *job)
{
	return job->receive && job->kind == HB_PROCESSES;
}

struct hmq_writer *
hb_channel_write(struct hb_job *job)
{
	struct hb_channel *c = job->own;
	struct hmq_peer peer[HB_MAX_READERS];
	struct hmq_error err;
	struct hmq_writer *w;

	for (uint32_t i = 0; i < c->readers; i++)
		peer[i] = (struct hmq_peer){ .waiter = c->wait == HB_SLEEPS ? c->reader : NULL,
					     .life = is_apart(job) ? c->reader : NULL,
					     .event_fd = -1 };
	if (is_apart(job) && hmq_life_begin(c->writer)) {
		hb_note(job, "the writer has no life");
		return NULL;
	}
	if (hmq_writer_open(&w, &c->seg, peer, &err))
		hb_note(job, "%s", err.text);
	return w;
}

bool
hb_channel_read_all(struct hb_job *job, struct hmq_reader **r)
{
	struct hb_channel *c = job->own;
	/* The writer of these rows spins: it never wants to be woken. */
	struct hmq_peer peer = { .life = is_apart(job) ? c->writer : NULL, .event_fd = -1 };
	struct hmq_segment *seg = &c->seg;
	struct hmq_error err;

	if (is_apart(job)) {
		seg = &c->mapped;
		if (hmq_life_begin(c->reader))
			return hb_note(job, "the reader has no life");
		if (hmq_segment_map(seg, dup(c->seg.fd), &err))
			return hb_note(job, "%s", err.text);
	}
	for (uint32_t i = 0; i < c->readers; i++)
		if (hmq_reader_open(&r[i], seg, i, &peer, &err))
			return hb_note(job, "%s", err.text);
	return true;
}

struct hmq_reader *
hb_channel_read(struct hb_job *job)
{
	struct hmq_reader *r[HB_MAX_READERS];

	return hb_channel_read_all(job, r) ? r[0] : NULL;
}

void
hb_channel_end_write(struct hb_job *job, struct hmq_writer *w)
{
	struct hb_channel *c = job->own;

	hmq_writer_end(w);
	hmq_writer_free(w);
	if (is_apart(job))
		hmq_life_end(c->writer);
}

void
hb_channel_end_read(struct hb_job *job, struct hmq_reader *r)
{
	struct hb_channel *c = job->own;

	hmq_reader_end(r);
	hmq_reader_free(r);
	if (is_apart(job))
		hmq_life_end(c->reader);
}
