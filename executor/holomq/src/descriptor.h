/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - the layout of a buffer that descriptors describe.
 *
 *   hmq_buffer_head      written once, by the writer
 *   generation[places]   even: written, odd: being written; the writer writes
 *   page boundary
 *   places               page-aligned, equal size; readers map all of it read-only
 *
 * Offsets follow from the numbers in the head, which are copied and checked once.
 */
#ifndef HMQ_DESCRIPTOR_H
#define HMQ_DESCRIPTOR_H

#include "atomic.h"
#include "layout.h"

#define HMQ_BUFFER_MAGIC UINT64_C(0x314655424d51484d) /* "MHQMBUF1" */
#define HMQ_BUFFER_VERSION 1u
#define HMQ_CACHE_BUFFERS 64u

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct hmq_buffer_head {
	uint64_t magic;
	uint32_t version;
	uint32_t places;
	uint64_t place_bytes;
	uint64_t number;
	uint64_t first_at;
	uint64_t bytes;
	uint8_t fill[80];
};

#pragma GCC diagnostic pop

_Static_assert(sizeof(struct hmq_buffer_head) == HMQ_BLOCK_BYTES, "one block");

struct hmq_buffer {
	uint8_t *base;
	uint64_t mapped; /* at least head.bytes: huge pages round up */
	struct hmq_buffer_head head;
	int32_t fd;
	uint32_t reserved;
};

struct hmq_import_view {
	const uint8_t *base;
	uint64_t mapped;
	struct hmq_buffer_head head; /* the checked copy */
};

struct hmq_cache {
	uint32_t n;
	uint32_t reserved;
	struct hmq_import_view view[HMQ_CACHE_BUFFERS];
};

#endif /* HMQ_DESCRIPTOR_H */
