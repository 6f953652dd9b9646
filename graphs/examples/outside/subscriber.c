/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.c - a program outside any graph that subscribes over HoloMQ.
 *
 *     subscriber DIR NAME
 *
 * Imports NAME from the folder DIR, waiting up to ten seconds for its publisher, and
 * reads until the stream ends.  Says whether it ended or the publisher was lost.
 */
#include <stdio.h>
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

struct total {
	uint64_t n;
	uint64_t first;
	uint64_t next;
	double sum;
};

/* Take what is there; 0, or -1 when a message is missing. */
static int
take_all(struct hmq_reader *reader, struct total *t)
{
	struct hmq_rx rx[8];
	int32_t n;

	while ((n = hmq_peek(reader, 0, rx, 8)) > 0) {
		for (int32_t i = 0; i < n; i++) {
			const struct reading *r = rx[i].data;

			if (t->n++ == 0)
				t->first = t->next = r->number;
			if (r->number != t->next++)
				return -1;
			t->sum += r->value;
		}
		hmq_take(reader, rx, (uint32_t)n);
	}
	return n < 0 ? -1 : 0;
}

int
main(int argc, char **argv)
{
	struct hmq_import cfg = { .size = sizeof(cfg), .role = HMQ_ROLE_READER };
	struct hmq_endpoint *ep;
	struct hmq_reader *reader;
	struct hmq_error err;
	struct total t = { 0 };
	uint32_t state;

	if (argc != 3) {
		fprintf(stderr, "usage: subscriber DIR NAME\n");
		return 2;
	}
	cfg.dir = argv[1];
	cfg.name = argv[2];
	cfg.contract = reading_contract();
	if (hmq_endpoint_import(&ep, &cfg, now_ns() + INT64_C(10000000000), &err)) {
		fprintf(stderr, "subscriber: %s\n", err.text);
		return 1;
	}
	reader = hmq_endpoint_reader(ep);
	while ((state = hmq_reader_state(reader)) == HMQ_OPEN) {
		hmq_endpoint_sleep(ep, INT64_MAX); /* for a message, or the publisher's end */
		if (take_all(reader, &t)) {
			fprintf(stderr, "subscriber: a message is missing\n");
			hmq_endpoint_close(ep);
			return 1;
		}
	}
	printf("received %llu from %llu, sum %.1f: %s\n", (unsigned long long)t.n,
	       (unsigned long long)t.first, t.sum,
	       state == HMQ_ENDED ? "end of stream" : "publisher lost");
	hmq_endpoint_close(ep);
	return state == HMQ_ENDED ? 0 : 1;
}
