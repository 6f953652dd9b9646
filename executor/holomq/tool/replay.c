/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - a recording as an exported endpoint.
 *
 * The endpoint's contract is the recording's format; the first message waits for a
 * subscriber, the others for their recorded time (or for nothing but room).  The same
 * file plays inside a graph with std/file_source.
 */
#include <string.h>

#include "tool.h"

static int export(struct hmq_endpoint **ep, const struct options *o, const struct record_reader *r)
{
	struct hmq_export cfg = { .size = sizeof(cfg),
				  .role = HMQ_ROLE_WRITER,
				  .flags = HMQ_ENDPOINT_THREAD,
				  .seats = 8,
				  .dir = o->dir,
				  .name = o->word[1],
				  .contract = { .kind = "recording",
						.dtype = r->dtype,
						.rank = r->rank,
						.max_bytes = r->max_bytes,
						.depth = 8 } };
	struct hmq_error err;

	memcpy(cfg.contract.dim, r->dim, sizeof(cfg.contract.dim));
	if (hmq_endpoint_export(ep, &cfg, &err))
		return tool_fail(err.code == -EADDRINUSE ? EXIT_USAGE : EXIT_MACHINE, "%s",
				 err.text);
	return 0;
}

static int
publish(struct hmq_endpoint *ep, const struct hmq_head *h, const void *data)
{
	struct hmq_writer *w = hmq_endpoint_writer(ep);
	struct hmq_tx tx;

	while (hmq_room(w) == 0 || hmq_loan(w, &tx, 1) == 0) {
		if (tool_stopped())
			return EXIT_FAILED;
		/* Room, a death or a caller; a second at most, for a signal just before. */
		(void)hmq_endpoint_sleep(ep, tool_now_ns() + 1000000000);
		hmq_endpoint_poll(ep);
	}
	*tx.head = *h;
	memcpy(tx.data, data, h->bytes);
	return hmq_publish(w, &tx, 1) == 1 ? 0 : EXIT_FAILED;
}

static int
play(struct hmq_endpoint *ep, const struct options *o, struct record_reader *r, uint64_t *played)
{
	int64_t start = tool_now_ns();
	struct hmq_head h;
	const void *data;
	int rc;

	while ((rc = record_next(r, &h, &data)) > 0 && !tool_stopped()) {
		if (o->count && *played >= o->count)
			break;
		if (!o->full_speed)
			tool_pause(start + h.born_ns - tool_now_ns());
		h.born_ns = o->full_speed ? tool_now_ns() : start + h.born_ns;
		h.last_ns = h.born_ns;
		hmq_endpoint_poll(ep);
		if (publish(ep, &h, data))
			break;
		++*played;
	}
	return rc < 0 ? EXIT_FAILED : 0;
}

int
tool_replay(const struct options *o)
{
	struct record_reader r;
	struct hmq_endpoint *ep;
	uint64_t played = 0;
	int rc = record_open(&r, o->word[0]);

	if (rc)
		return rc;
	if (!r.is_whole)
		tool_fail(0, "%s is INCOMPLETE: playing what is there", o->word[0]);
	tool_catch_signals();
	rc = export(&ep, o, &r);
	if (!rc) {
		if (hmq_endpoint_wait(ep, 1, tool_now_ns() + o->wait_ns))
			rc = tool_fail(EXIT_FAILED, "nobody imported %s (--wait)", o->word[1]);
		else
			rc = play(ep, o, &r, &played);
		hmq_endpoint_close(ep);
	}
	record_close(&r);
	if (!rc && o->is_json)
		printf("{\"replayed\":%llu}\n", (unsigned long long)played);
	else if (!rc)
		printf("%llu messages replayed\n", (unsigned long long)played);
	return rc;
}
