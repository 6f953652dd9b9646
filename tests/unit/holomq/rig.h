/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - a channel with its ends, as the tests of HoloMQ need it.
 *
 * Payloads carry a number: rig_send and rig_take write and check it.  Everything
 * asserts; a rig that was opened is complete, one that was closed leaves nothing.
 */
#ifndef RIG_H
#define RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "holomq/holomq.h"

struct rig {
	struct hmq_segment seg;
	struct hmq_writer *w;
	struct hmq_reader *r[HMQ_MAX_READERS];
	uint32_t n_readers;
	uint64_t next; /* number of the next message to send */
	uint64_t want[HMQ_MAX_READERS];
};

/* A payload of 8 bytes holds the number. */
#define RIG_BYTES 64u

extern const struct hmq_peer rig_no_peer;

/* readers: n_readers pairs of depth, policy. */
void rig_open(struct rig *rig, uint32_t flags, uint32_t slots,
	      const struct hmq_reader_config *readers, uint32_t n_readers);
/* One blocking reader. */
void rig_open_one(struct rig *rig, uint32_t flags, uint32_t slots, uint32_t depth);
void rig_close(struct rig *rig);

/* Loan n, number them, publish; what hmq_publish returned.  On refusal the loans are cancelled. */
int32_t rig_send(struct rig *rig, uint32_t n);
/* Take up to n and check that the numbers go on without a gap; how many. */
uint32_t rig_take(struct rig *rig, uint32_t reader, uint32_t n);
/* Both ends must have ended: sent == received + lost + left + abandoned. */
void rig_check_identity(const struct rig *rig, uint32_t reader);

uint64_t rig_number(const struct hmq_rx *rx);
int rig_count_fds(void);

#endif /* RIG_H */
