/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - what the two example programs agree on: a structure and its contract. */
#ifndef READING_H
#define READING_H

#include <stdint.h>
#include <string.h>

#include <holomq/holomq.h>

struct reading {
	uint64_t number;
	double value;
};

/* Change it whenever the structure changes: two builds that differ then refuse each other. */
#define READING_LAYOUT UINT64_C(0x72656164696e6701)

static inline struct hmq_contract
reading_contract(void)
{
	struct hmq_contract c;

	memset(&c, 0, sizeof(c));
	strcpy(c.kind, "reading");
	c.max_bytes = sizeof(struct reading);
	c.layout = READING_LAYOUT;
	c.depth = 64;
	c.policy = HMQ_BLOCK;
	return c;
}

#endif /* READING_H */
