/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - what the files of the inject plugin share.
 *
 * The plugin makes, on purpose and to a schedule, what a network, a slow
 * machine or a careless op does by chance, and shows what arrived.  Nothing in
 * it is random, so a test can say to the message what must be counted.
 */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <holorun/op.h>

extern const struct hop_op inject_order;
extern const struct hop_op inject_dump;
extern const struct hop_op inject_take;
extern const struct hop_op inject_sin;
extern const struct hop_op inject_late;
extern const struct hop_op inject_keep;
extern const struct hop_op inject_second_life;

#define INJECT_PARAM(type, strct, member, def, min, max, doc)                                      \
	HOP_PARAM(type, 0, strct, member, def, min, max, doc)
#define INJECT_PORT(name, dir, flags, batch)                                                       \
	{                                                                                          \
		name, "any message", dir, flags, HOP_MEM_HOST, 1, batch, 0, 0, 0                   \
	}

/* Copies one message with everything a head carries; the caller checked the room. */
static inline void
inject_copy(const struct hop_tx *tx, const struct hop_rx *rx)
{
	hop_derive(tx, rx);
	tx->head->bytes = rx->bytes;
	memcpy(tx->head->user, rx->head->user, sizeof tx->head->user);
	memcpy(tx->data, rx->data, rx->bytes);
}

/* shape() of an op whose outputs carry what its first input carries. */
int inject_shape_same(const struct hop_ctx *ctx, struct hop_shape *shape);

#endif
