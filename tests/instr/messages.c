/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.c - pass messages on in one thread, a given number of them: what
 * instr.py counts the instructions of.
 *
 * usage: instr_messages one|batch|fan|drop N.  The work before the first message and
 * after the last is the same for every N.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <holomq/holomq.h>

enum { DEPTH = 64, SLOTS = 256, BATCH = 32, MAX_READERS = 4 };

struct shape {
	const char *name;
	uint32_t readers, batch, policy;
};

static const struct shape shapes[] = {
	{ "one", 1, 1, HMQ_BLOCK },
	{ "batch", 1, BATCH, HMQ_BLOCK },
	{ "fan", MAX_READERS, 1, HMQ_BLOCK },
	{ "drop", 1, 1, HMQ_DROP_OLDEST },
};

static const struct hmq_peer nobody = { .event_fd = -1 };

static int
pass_on(struct hmq_writer *w, struct hmq_reader **r, const struct shape *s)
{
	struct hmq_tx tx[BATCH];
	struct hmq_rx rx[BATCH];

	if (hmq_loan(w, tx, s->batch) != s->batch)
		return -1;
	for (uint32_t i = 0; i < s->batch; i++)
		tx[i].head->bytes = sizeof(uint64_t);
	if (hmq_publish(w, tx, s->batch) != (int32_t)s->batch)
		return -1;
	for (uint32_t k = 0; k < s->readers; k++) {
		if (hmq_peek(r[k], 0, rx, s->batch) != (int32_t)s->batch)
			return -1;
		hmq_take(r[k], rx, s->batch);
	}
	return 0;
}

static int
run(const struct shape *s, uint64_t n)
{
	struct hmq_reader_config reader[MAX_READERS];
	struct hmq_peer peer[MAX_READERS];
	struct hmq_reader *r[MAX_READERS];
	struct hmq_config cfg = {
		.slots = SLOTS, .payload_bytes = 64, .n_readers = s->readers, .reader = reader
	};
	struct hmq_segment seg;
	struct hmq_writer *w;
	int rc = 0;

	for (uint32_t k = 0; k < s->readers; k++) {
		reader[k] = (struct hmq_reader_config){ DEPTH, s->policy };
		peer[k] = nobody;
	}
	if (hmq_segment_create(&seg, "instr", hmq_chan_bytes(&cfg, NULL), 0, NULL) ||
	    hmq_chan_format(&seg, &cfg, NULL) || hmq_writer_open(&w, &seg, peer, NULL))
		return -1;
	for (uint32_t k = 0; k < s->readers; k++)
		if (hmq_reader_open(&r[k], &seg, k, &nobody, NULL))
			return -1;
	for (uint64_t i = 0; i < n && !rc; i += s->batch)
		rc = pass_on(w, r, s);
	for (uint32_t k = 0; k < s->readers; k++)
		hmq_reader_free(r[k]);
	hmq_writer_free(w);
	hmq_segment_close(&seg);
	return rc;
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(argv[1], shapes[i].name))
			return run(&shapes[i], strtoull(argv[2], NULL, 10)) ? 1 : 0;
	fprintf(stderr, "usage: instr_messages one|batch|fan|drop N\n");
	return 2;
}
