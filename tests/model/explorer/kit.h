/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.h - a channel in the explorer's arena and what the scenarios do with it.
 *
 * Payloads carry a number and its complement, written and read plainly: torn or
 * reused slots show as races or as wrong values.  Everything below is instrumented
 * like the sources.
 */
#ifndef XP_KIT_H
#define XP_KIT_H

#include "explorer.h"
#include "holomq/holomq.h"

enum { KIT_READERS = 2, KIT_MAX = 8 };

enum kit_flags {
	KIT_WRITER_SLEEPS = 1,
	KIT_READERS_SLEEP = 2,
	KIT_WRITER_DIES = 4,  /* thread 0 */
	KIT_READER_DIES = 8,  /* thread 1, reader 0 */
	KIT_EVENT_FD = 16,    /* reader 0 sleeps on an eventfd */
	KIT_DIES_UNSEEN = 32, /* like KIT_READER_DIES, but the writer cannot see that life */
};

enum { KIT_FD = 1000 };

struct kit {
	struct hmq_segment seg;
	struct hmq_writer *w;
	struct hmq_reader *r[KIT_READERS];
	struct hmq_waiter *writer_waiter;
	struct hmq_waiter *reader_waiter[KIT_READERS];
	uint32_t n_readers;
	uint64_t sent;               /* messages published */
	uint64_t taken[KIT_READERS]; /* by each reader */
};

extern struct kit kit;

/* readers: {depth, policy} each. */
void kit_open(uint32_t slots, const struct hmq_reader_config *readers, uint32_t n, int flags);
void kit_begin(void);

/* Loan n and write their numbers, from kit.sent on; false: no slots. */
bool kit_fill(struct hmq_tx *tx, uint32_t n);
/* Publish n that must be accepted by all. */
void kit_publish(const struct hmq_tx *tx, uint32_t n);
/* Wait for room and slots, then publish n at once. */
void kit_send(uint32_t n);
/* Look for at most n messages, check that the numbers go on at kit.taken; how many. */
uint32_t kit_look(int reader, struct hmq_rx *rx, uint32_t n);
/* Check a message: its number. */
uint64_t kit_number(const struct hmq_rx *rx);
/* Take n one by one; a spin is an assumption. */
void kit_take(int reader, uint32_t n);

/* Every slot must be free or counted: nothing is held by anybody. */
void kit_check_idle(void);
/* sent == received + lost + left + abandoned; both ends have stopped. */
void kit_check_account(uint32_t reader);

#endif /* XP_KIT_H */
