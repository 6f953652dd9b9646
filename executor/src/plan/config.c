// SPDX-License-Identifier: Apache-2.0
/*
 * config.c - a planned channel in HoloMQ's words.
 *
 * The one place where the two meet: what the plan counts and what wire lays out
 * cannot differ.
 */
#include <holomq/holomq.h>
#include <string.h>

#include "plan/stages.h"

_Static_assert((int)HR_FULL_BLOCK == HMQ_BLOCK && (int)HR_FULL_DROP_NEWEST == HMQ_DROP_NEWEST &&
		       (int)HR_FULL_FAIL == HMQ_FAIL,
	       "a when_full is a policy");
_Static_assert(HOP_MAX_RANK == HMQ_MAX_RANK, "a format fits a head");

void
hr_plan_chan_config(const struct hr_plan *p, uint32_t chan, struct hmq_reader_config *reader,
		    struct hmq_config *cfg)
{
	const struct hr_plan_chan *c = &p->chan[chan];

	memset(cfg, 0, sizeof(*cfg));
	cfg->slots = c->slots;
	cfg->align = c->align;
	cfg->payload_bytes = c->payload_bytes;
	cfg->n_readers = c->n_readers;
	cfg->dtype.code = c->format.dtype.code;
	cfg->dtype.bits = c->format.dtype.bits;
	cfg->dtype.lanes = c->format.dtype.lanes;
	cfg->rank = c->format.rank;
	memcpy(cfg->dim, c->format.dim, sizeof(cfg->dim));
	cfg->reader = reader;
	for (uint32_t i = 0; i < c->n_readers; i++) {
		reader[i].depth = c->depth[i];
		/* A gather looks for room before it publishes, whatever its edge drops. */
		reader[i].policy = c->gathers != HR_NONE ? (uint32_t)HMQ_BLOCK
							 : (uint32_t)p->edge[c->edge[i]].when_full;
	}
}
