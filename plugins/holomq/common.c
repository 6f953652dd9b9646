/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - contracts from formats and texts, the same for both directions.
 *
 * What may be asked of an endpoint is the library's to say: it is asked for the
 * catalog entry of the endpoint, which refuses what could not be exported.
 */
#include <errno.h>
#include <string.h>

#include "endpoints.h"

const char *const holomq_policies[] = { "block", "drop_newest", "fail", "drop_oldest", NULL };

_Static_assert(HMQ_BLOCK == 0 && HMQ_DROP_NEWEST == 1 && HMQ_FAIL == 2 && HMQ_DROP_OLDEST == 3,
	       "choices are in the order of the policies");
_Static_assert(HOP_MAX_RANK == HMQ_MAX_RANK, "dimensions are copied");

void
holomq_contract_format(struct hmq_contract *c, const struct hop_format *f)
{
	c->max_bytes = f->max_bytes;
	if (f->rank == 0)
		return;
	c->dtype = (struct hmq_dtype){ f->dtype.code, f->dtype.bits, f->dtype.lanes };
	c->rank = f->rank;
	memcpy(c->dim, f->dim, sizeof c->dim);
}

int
holomq_contract_kind(const struct hop_ctx *ctx, struct hmq_contract *c, const char *kind)
{
	size_t len = strlen(kind);

	if (len >= sizeof c->kind)
		return HOP_FAIL(ctx, EINVAL, "kind: %zu bytes, it may have %zu", len,
				sizeof c->kind - 1);
	memcpy(c->kind, kind, len + 1);
	return 0;
}

int
holomq_check(const struct hop_ctx *ctx, const struct hmq_export *cfg)
{
	struct hmq_error err = { 0 };
	int64_t rc = hmq_catalog_text(cfg, 1, NULL, 0, &err);

	return rc < 0 ? HOP_FAIL(ctx, EINVAL, "name: %s", err.text) : 0;
}
