/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c - a program outside the graph that reads or writes as it is told.
 *
 *     outside_peer read|write DIR NAME [KEY=VALUE]...
 *
 * read attaches and takes until the end; write exports, or attaches where the graph
 * has the name (attach=1), and publishes numbers of 8 bytes.  It says in lines what
 * happens: `attached ...`, then `received ...` or `published ...`, or one line on
 * stderr and exit 1.  Nobody has to wait for a time: take=, hold= and gate= order it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <holomq/holomq.h>

struct settings {
	const char *kind;
	const char *gate; /* write: publish nothing until this file is there */
	uint64_t bytes;
	uint64_t count; /* write: messages */
	uint64_t take;  /* read: after so many, close */
	uint64_t hold;  /* read: after so many, say so and read no more until stdin ends */
	uint64_t depth;
	uint64_t pause_us; /* after each message */
	uint64_t timeout_ms;
	uint64_t attach;
};

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
wait_us(uint64_t us)
{
	struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	if (us)
		nanosleep(&t, NULL);
}

static int
set(struct settings *s, const char *arg)
{
	struct {
		const char *key;
		uint64_t *number;
		const char **text;
	} keys[] = {
		{ "kind=", NULL, &s->kind },     { "gate=", NULL, &s->gate },
		{ "bytes=", &s->bytes, NULL },   { "count=", &s->count, NULL },
		{ "take=", &s->take, NULL },     { "hold=", &s->hold, NULL },
		{ "depth=", &s->depth, NULL },   { "pause_us=", &s->pause_us, NULL },
		{ "attach=", &s->attach, NULL }, { "timeout_ms=", &s->timeout_ms, NULL },
	};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		size_t n = strlen(keys[i].key);

		if (strncmp(arg, keys[i].key, n) != 0)
			continue;
		if (keys[i].text)
			*keys[i].text = arg + n;
		else
			*keys[i].number = strtoull(arg + n, NULL, 10);
		return 0;
	}
	return -1;
}

static struct hmq_contract
contract(const struct settings *s, int exports)
{
	struct hmq_contract c = { .max_bytes = s->bytes, .depth = (uint32_t)s->depth };

	snprintf(c.kind, sizeof c.kind, "%s", s->kind);
	c.policy = exports ? HMQ_BLOCK : HMQ_ANY;
	if (exports && !c.depth)
		c.depth = 16;
	if (exports && !c.max_bytes)
		c.max_bytes = 8;
	return c;
}

static struct hmq_endpoint *
import(const char *dir, const char *name, uint32_t role, const struct settings *s)
{
	const struct hmq_import cfg = { .size = sizeof cfg,
					.role = role,
					.dir = dir,
					.name = name,
					.contract = contract(s, 0) };
	const struct hmq_contract *c;
	struct hmq_endpoint *ep;
	struct hmq_error err;

	if (hmq_endpoint_import(&ep, &cfg, now_ns() + (int64_t)s->timeout_ms * 1000000, &err)) {
		fprintf(stderr, "peer: %s\n", err.text);
		exit(1);
	}
	c = hmq_endpoint_contract(ep);
	printf("attached kind=%s bits=%u rank=%u dim0=%u max_bytes=%llu depth=%u policy=%u "
	       "wake=%u layout=%llu\n",
	       c->kind, c->dtype.bits, c->rank, c->dim[0], (unsigned long long)c->max_bytes,
	       c->depth, c->policy, c->wake, (unsigned long long)c->layout);
	return ep;
}

/* ---- read -------------------------------------------------------------------------------- */

struct total {
	uint64_t n, first, last, gaps;
};

static void
note(struct total *t, const struct hmq_rx *rx)
{
	uint64_t number;

	memcpy(&number, rx->data, sizeof number);
	if (t->n == 0)
		t->first = number;
	else
		t->gaps += number != t->last + 1;
	t->last = number;
	t->n++;
}

static void
hold(void)
{
	char byte;

	printf("holding\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static int
run_reader(const char *dir, const char *name, const struct settings *s)
{
	struct hmq_endpoint *ep = import(dir, name, HMQ_ROLE_READER, s);
	struct hmq_reader *r = hmq_endpoint_reader(ep);
	struct total t = { 0 };
	const char *how = "closed";
	struct hmq_rx rx;
	uint32_t state;

	while (t.n < s->take) {
		if (hmq_peek(r, 0, &rx, 1) == 1) {
			note(&t, &rx);
			hmq_take(r, &rx, 1);
			if (t.n == s->hold)
				hold();
			wait_us(s->pause_us);
			continue;
		}
		state = hmq_reader_state(r);
		if (state != HMQ_OPEN) {
			how = state == HMQ_ENDED ? "end" : state == HMQ_LOST ? "lost" : "broken";
			break;
		}
		hmq_endpoint_sleep(ep, INT64_MAX);
	}
	printf("received %llu first=%llu last=%llu gaps=%llu %s\n", (unsigned long long)t.n,
	       (unsigned long long)t.first, (unsigned long long)t.last, (unsigned long long)t.gaps,
	       how);
	hmq_endpoint_close(ep);
	return 0;
}

/* ---- write ------------------------------------------------------------------------------- */

static int
publish(struct hmq_endpoint *ep, uint64_t number)
{
	struct hmq_writer *w = hmq_endpoint_writer(ep);
	struct hmq_tx tx;

	if (hmq_room(w) == 0 || hmq_loan(w, &tx, 1) == 0)
		return -1;
	memcpy(tx.data, &number, sizeof number);
	tx.head->bytes = sizeof number;
	tx.head->frame = number;
	tx.head->born_ns = tx.head->last_ns = now_ns();
	return hmq_publish(w, &tx, 1) == 1 ? 0 : -1;
}

static struct hmq_endpoint *export(const char *dir, const char *name, const struct settings *s)
{
	const struct hmq_export cfg = { .size = sizeof cfg,
					.role = HMQ_ROLE_WRITER,
					.flags = HMQ_ENDPOINT_THREAD,
					.dir = dir,
					.name = name,
					.contract = contract(s, 1) };
	struct hmq_endpoint *ep;
	struct hmq_error err;

	if (hmq_endpoint_export(&ep, &cfg, &err)) {
		fprintf(stderr, "peer: %s\n", err.text);
		exit(1);
	}
	printf("exported\n");
	if (hmq_endpoint_wait(ep, 1, now_ns() + (int64_t)s->timeout_ms * 1000000)) {
		fprintf(stderr, "peer: nobody came\n");
		exit(1);
	}
	printf("attached\n");
	return ep;
}

static int
run_writer(const char *dir, const char *name, const struct settings *s)
{
	struct hmq_endpoint *ep =
		s->attach ? import(dir, name, HMQ_ROLE_WRITER, s) : export(dir, name, s);
	uint64_t n = 0;

	while (s->gate && access(s->gate, F_OK))
		wait_us(1000);
	while (n < s->count) {
		if (publish(ep, n) == 0) {
			n++;
			wait_us(s->pause_us);
		} else {
			hmq_endpoint_sleep(ep, INT64_MAX);
		}
		hmq_endpoint_poll(ep);
	}
	hmq_endpoint_close(ep);
	printf("published %llu\n", (unsigned long long)n);
	return 0;
}

int
main(int argc, char **argv)
{
	struct settings s = {
		.kind = "", .count = UINT64_MAX, .take = UINT64_MAX, .timeout_ms = 60000
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		return 2;
	for (int i = 4; i < argc; i++)
		if (set(&s, argv[i]))
			return 2;
	if (strcmp(argv[1], "read") == 0)
		return run_reader(argv[2], argv[3], &s);
	return strcmp(argv[1], "write") == 0 ? run_writer(argv[2], argv[3], &s) : 2;
}
