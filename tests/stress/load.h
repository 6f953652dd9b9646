/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - what the stress programs send and how they wait.
 *
 * A payload is a number, repeated to a length that depends on the number: a torn,
 * old or foreign payload does not add up.  Waiting either spins (and yields) or
 * sleeps in the event count, never on a timer.
 */
#ifndef LOAD_H
#define LOAD_H

#include <sched.h>
#include <string.h>
#include <time.h>

#include "nest.h"

enum { LOAD_WINDOW = 16 };

static inline uint64_t
load_bytes(uint64_t number)
{
	return 8 + number % 8 * 8;
}

static inline void
load_fill(struct hmq_tx *tx, uint64_t number)
{
	uint64_t value = number * UINT64_C(0x9e3779b97f4a7c15);

	for (uint64_t at = 0; at < load_bytes(number); at += 8)
		memcpy((uint8_t *)tx->data + at, &value, 8);
	tx->head->bytes = load_bytes(number);
	tx->head->frame = number;
}

static inline int
load_is_good(const struct hmq_rx *rx, uint64_t number)
{
	uint64_t value = number * UINT64_C(0x9e3779b97f4a7c15);

	if (rx->bytes != load_bytes(number) || rx->head->frame != number)
		return 0;
	for (uint64_t at = 0; at < rx->bytes; at += 8)
		if (memcmp((const uint8_t *)rx->data + at, &value, 8) != 0)
			return 0;
	return 1;
}

/* xorshift: each end has its own, the seed is printed. */
static inline uint32_t
load_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static inline int64_t
load_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void
load_give_back(struct hmq_reader *r, const struct hmq_rx *rx, uint32_t n, uint32_t *random)
{
	if (load_random(random) % 2) {
		hmq_take(r, rx, n);
		return;
	}
	hmq_advance(r, n);
	for (uint32_t i = n; i > 0; i--)
		hmq_release(r, &rx[i - 1], 1);
}

/* Take one window of a reader that may miss messages, in two parts, give back from the front, at
 * times not all of it; *want becomes the number after the last.  How many, or -1. */
static inline int32_t
load_take_newer(struct hmq_reader *r, uint64_t *want, uint32_t *random)
{
	struct hmq_rx rx[LOAD_WINDOW];
	uint32_t first = load_random(random) % LOAD_WINDOW;
	int32_t n = hmq_peek(r, 0, rx, first);
	int32_t more = n < 0 ? n : hmq_peek(r, (uint32_t)n, rx + n, LOAD_WINDOW - (uint32_t)n);

	if (more < 0)
		return -1;
	n += more;
	if (n > 1 && load_random(random) % 4 == 0)
		n--;
	for (int32_t i = 0; i < n; i++) {
		if (rx[i].head->frame < *want || !load_is_good(&rx[i], rx[i].head->frame))
			return -1;
		*want = rx[i].head->frame + 1;
	}
	if (n > 0)
		load_give_back(r, rx, (uint32_t)n, random);
	return n;
}

/* Take one window and check it; how many, or -1 at the first fault. */
static inline int32_t
load_take(struct hmq_reader *r, uint64_t *want, uint32_t *random)
{
	struct hmq_rx rx[LOAD_WINDOW];
	int32_t n = hmq_peek(r, 0, rx, 1 + load_random(random) % LOAD_WINDOW);

	for (int32_t i = 0; i < n; i++)
		if (!load_is_good(&rx[i], (*want)++))
			return -1;
	if (n <= 0)
		return n;
	load_give_back(r, rx, (uint32_t)n, random);
	return n;
}

/* Loan and publish up to a random number; how many. */
static inline uint32_t
load_send(struct hmq_writer *w, uint64_t *next, uint32_t *random)
{
	struct hmq_tx tx[LOAD_WINDOW];
	uint32_t n = 1 + load_random(random) % LOAD_WINDOW;
	uint32_t room = hmq_room(w);

	n = hmq_loan(w, tx, n < room ? n : room);
	for (uint32_t i = 0; i < n; i++)
		load_fill(&tx[i], *next + i);
	if (n > 0)
		assert_int_equal(hmq_publish(w, tx, n), n);
	*next += n;
	return n;
}

#endif /* LOAD_H */
