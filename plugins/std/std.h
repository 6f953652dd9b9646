/* SPDX-License-Identifier: Apache-2.0 */
/*
 * std.h - what the files of the std plugin share: the ops by name, the table
 * macro with a unit, inline helpers for heads and clocks.
 * Nothing here allocates or enters the kernel: clock_gettime is the vdso's.
 */
#ifndef HR_PLUGIN_STD_H
#define HR_PLUGIN_STD_H

#include <stdint.h>
#include <string.h>
#include <time.h>

#include <holorun/op.h>

extern const struct hop_op std_sequence;
extern const struct hop_op std_copy;
extern const struct hop_op std_null;
extern const struct hop_op std_check;
extern const struct hop_op std_busy;
extern const struct hop_op std_file_sink;
extern const struct hop_op std_file_source;

/* HOP_PARAM with a unit. */
#define STD_PARAM(type, strct, member, unit, def, min, max, doc)                                   \
	{                                                                                          \
#member, doc, HOP_P_##type, 0, (uint32_t)offsetof(strct, member),                  \
			(uint32_t)sizeof(((strct *)0)->member), unit, def, min, max, NULL          \
	}

static inline int64_t
std_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* t0 + after, or as late as can be said. */
static inline int64_t
std_due(int64_t t0_ns, double after_ns)
{
	return after_ns < 4e18 - (double)t0_ns ? t0_ns + (int64_t)after_ns : INT64_MAX;
}

/* Occupies the CPU for `work_ns` of wall time: what a preemption takes counts as work done. */
static inline void
std_busy_for(int64_t work_ns)
{
	int64_t end = std_now_ns() + work_ns;

	while (std_now_ns() < end)
		;
}

/* Copies one message with its lineage, shape and user bytes; the caller checked the room. */
static inline void
std_copy_message(const struct hop_tx *tx, const struct hop_rx *rx)
{
	hop_derive(tx, rx);
	tx->head->bytes = rx->bytes;
	tx->head->dtype = rx->head->dtype;
	tx->head->rank = rx->head->rank;
	memcpy(tx->head->dim, rx->head->dim, sizeof tx->head->dim);
	memcpy(tx->head->user, rx->head->user, sizeof tx->head->user);
	memcpy(tx->data, rx->data, rx->bytes);
}

#endif /* HR_PLUGIN_STD_H */
