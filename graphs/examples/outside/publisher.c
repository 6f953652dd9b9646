/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.c - a program outside any graph that publishes over HoloMQ.
 *
 *     publisher DIR NAME COUNT
 *
 * Exports NAME in the folder DIR, waits up to ten seconds for a subscriber, publishes
 * COUNT readings as fast as the subscriber takes them and ends the stream.  Everything
 * it needs is holomq.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <holomq/holomq.h>

#include "reading.h"

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Into a slot of the queue itself: the subscriber reads it where it was written. */
static int
publish_one(struct hmq_writer *w, uint64_t number)
{
	struct hmq_tx tx;
	struct reading *r;

	if (hmq_room(w) == 0 || hmq_loan(w, &tx, 1) == 0)
		return -EAGAIN;
	r = tx.data;
	r->number = number;
	r->value = (double)number / 10;
	tx.head->bytes = sizeof(*r);
	tx.head->born_ns = now_ns();
	return hmq_publish(w, &tx, 1) == 1 ? 0 : -EAGAIN;
}

int
main(int argc, char **argv)
{
	struct hmq_export cfg = { .size = sizeof(cfg),
				  .role = HMQ_ROLE_WRITER,
				  .flags = HMQ_ENDPOINT_THREAD,
				  .seats = 4 };
	struct hmq_endpoint *ep;
	struct hmq_error err;
	uint64_t count;

	if (argc != 4) {
		fprintf(stderr, "usage: publisher DIR NAME COUNT\n");
		return 2;
	}
	cfg.dir = argv[1];
	cfg.name = argv[2];
	cfg.contract = reading_contract();
	count = strtoull(argv[3], NULL, 10);
	if (hmq_endpoint_export(&ep, &cfg, &err)) {
		fprintf(stderr, "publisher: %s\n", err.text);
		return 1;
	}
	if (hmq_endpoint_wait(ep, 1, now_ns() + INT64_C(10000000000))) {
		fprintf(stderr, "publisher: nobody subscribed\n");
		hmq_endpoint_close(ep);
		return 1;
	}
	for (uint64_t n = 0; n < count;) {
		if (publish_one(hmq_endpoint_writer(ep), n) == 0)
			n++;
		else
			hmq_endpoint_sleep(ep, INT64_MAX); /* for room, or the reader's death */
		hmq_endpoint_poll(ep); /* more subscribers may come at any time */
	}
	hmq_endpoint_close(ep); /* the end of the stream; what is queued stays readable */
	printf("published %llu\n", (unsigned long long)count);
	return 0;
}
