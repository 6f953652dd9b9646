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
		       (int)HR_FULL_FAIL == HMQ_FAIL && (int)HR_FULL_DROP_OLDEST == HMQ_DROP_OLDEST,
	       "a when_full is a policy");
_Static_assert(HOP_MAX_RANK == HMQ_MAX_RANK, "a format fits a head");

/*
 * A gather drops before it copies.  Where the oldest is to go, the queue of assembled messages does
 * that; its pieces are kept as long as they fit, so that the writer never waits.  Otherwise
 * assembled messages wait for room, whatever the edge drops.
 */
static uint32_t
policy_of(const struct hr_plan *p, const struct hr_plan_chan *c, uint32_t reader)
{
	enum hr_when_full full = p->edge[c->edge[reader]].when_full;

	if (c->gathers != HR_NONE)
		return full == HR_FULL_DROP_OLDEST ? HMQ_DROP_OLDEST : HMQ_BLOCK;
	if (full == HR_FULL_DROP_OLDEST && p->graph->edge[c->edge[reader]].gather)
		return HMQ_DROP_NEWEST;
	return (uint32_t)full;
}

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
		reader[i].policy = policy_of(p, c, i);
	}
}
