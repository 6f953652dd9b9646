/* SPDX-License-Identifier: Apache-2.0 */
/* taker.c - import an endpoint, whatever it carries, and print what came: taker DIR NAME. */
#include <stdio.h>
#include <time.h>

#include "holomq/holomq.h"

int
main(int argc, char **argv)
{
	struct hmq_import cfg = { .size = sizeof(cfg),
				  .role = HMQ_ROLE_READER,
				  .contract = { .policy = HMQ_ANY } };
	struct hmq_endpoint *ep;
	struct hmq_error err;
	struct timespec now;
	struct hmq_rx rx;
	unsigned long long n = 0, bytes = 0;

	if (argc != 3)
		return 2;
	cfg.dir = argv[1];
	cfg.name = argv[2];
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (hmq_endpoint_import(&ep, &cfg, (now.tv_sec + 60) * INT64_C(1000000000), &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while (hmq_reader_state(hmq_endpoint_reader(ep)) == HMQ_OPEN) {
		hmq_endpoint_sleep(ep, INT64_MAX);
		while (hmq_peek(hmq_endpoint_reader(ep), 0, &rx, 1) == 1) {
			n++;
			bytes += rx.bytes;
			hmq_take(hmq_endpoint_reader(ep), &rx, 1);
		}
	}
	printf("%llu messages, %llu bytes\n", n, bytes);
	hmq_endpoint_close(ep);
	return 0;
}
