/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_contract.c - what two ends must agree on, checked before memory is shared.
 *
 * The exporter compares, since it has both sides, and sends its sentence with the
 * refusal: both ends can name the field and both values.  A contract that came over
 * the socket is a copy and is cut to its bounds before it is used.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "endpoint.h"

#define FLAGS (HMQ_ENDPOINT_THREAD | HMQ_ENDPOINT_ANY_USER | HMQ_ENDPOINT_POLLED)

static int
check_common(const char *dir, const char *name, uint32_t role, uint32_t flags,
	     struct hmq_error *err)
{
	int rc = hmq_name_check(name, err);

	if (rc)
		return rc;
	if (!dir)
		return hmq_fail(err, EINVAL, "endpoint %s: no folder was given", name);
	if (role != HMQ_ROLE_WRITER && role != HMQ_ROLE_READER)
		return hmq_fail(err, EINVAL, "endpoint %s, role: wanted 1 or 2, found %u", name,
				role);
	if (flags & ~(uint32_t)FLAGS)
		return hmq_fail(err, EINVAL, "endpoint %s: unknown flags %#x", name, flags);
	return 0;
}

static int
check_contract(const char *name, const struct hmq_contract *c, struct hmq_error *err)
{
	if (!memchr(c->kind, 0, sizeof(c->kind)))
		return hmq_fail(err, EINVAL, "endpoint %s, kind: longer than %u bytes", name,
				HMQ_KIND_BYTES - 1);
	if (c->rank > HMQ_MAX_RANK)
		return hmq_fail(err, EINVAL, "endpoint %s, rank: wanted 0 to %u, found %u", name,
				HMQ_MAX_RANK, c->rank);
	if (c->wake > HMQ_WAKE_SPIN)
		return hmq_fail(err, EINVAL, "endpoint %s, wake: wanted 0 to 2, found %u", name,
				c->wake);
	return 0;
}

int
hmq_export_check(struct hmq_export *cfg, struct hmq_error *err)
{
	struct hmq_contract *c = &cfg->contract;
	int rc;

	if (cfg->size != sizeof(*cfg))
		return hmq_fail(err, EINVAL, "struct hmq_export, size: wanted %zu, found %u",
				sizeof(*cfg), cfg->size);
	rc = check_common(cfg->dir, cfg->name, cfg->role, cfg->flags, err);
	if (!rc)
		rc = check_contract(cfg->name, c, err);
	if (rc)
		return rc;
	cfg->seats = cfg->seats ? cfg->seats : 1;
	cfg->loans = cfg->loans ? cfg->loans : 1;
	c->wake = c->wake ? c->wake : HMQ_WAKE_SLEEP;
	if (cfg->seats > (cfg->role == HMQ_ROLE_WRITER ? HMQ_MAX_READERS : 1))
		return hmq_fail(err, EINVAL, "endpoint %s, seats: at most %u, found %u", cfg->name,
				cfg->role == HMQ_ROLE_WRITER ? HMQ_MAX_READERS : 1, cfg->seats);
	if (cfg->loans > HMQ_MAX_SLOTS || cfg->keeps > HMQ_MAX_SLOTS)
		return hmq_fail(err, EINVAL, "endpoint %s: loans %u, keeps %u: at most %u",
				cfg->name, cfg->loans, cfg->keeps, HMQ_MAX_SLOTS);
	if (c->depth < 1 || c->depth > HMQ_MAX_SLOTS)
		return hmq_fail(err, EINVAL, "endpoint %s, depth: wanted 1 to %u, found %u",
				cfg->name, HMQ_MAX_SLOTS, c->depth);
	if (c->max_bytes < 1)
		return hmq_fail(err, EINVAL, "endpoint %s, max_bytes: wanted 1 at least",
				cfg->name);
	if ((cfg->flags & HMQ_ENDPOINT_POLLED) && c->wake == HMQ_WAKE_SPIN)
		return hmq_fail(err, EINVAL, "endpoint %s: one that spins cannot be polled",
				cfg->name);
	return 0;
}

int
hmq_import_check(const struct hmq_import *cfg, struct hmq_error *err)
{
	int rc;

	if (cfg->size != sizeof(*cfg))
		return hmq_fail(err, EINVAL, "struct hmq_import, size: wanted %zu, found %u",
				sizeof(*cfg), cfg->size);
	rc = check_common(cfg->dir, cfg->name, cfg->role, cfg->flags, err);
	return rc ? rc : check_contract(cfg->name, &cfg->contract, err);
}

/* ---- comparing -------------------------------------------------------------------------- */

static int
differs(const char *name, const char *field, const char *have, const char *want,
	struct hmq_error *err)
{
	return hmq_fail(err, EPROTO, "endpoint %s, %s: the exporter has %s, the importer wants %s",
			name, field, have, want);
}

static int
differ(const char *name, const char *field, uint64_t have, uint64_t want, struct hmq_error *err)
{
	char h[24], w[24];

	if (want == 0 || want == have)
		return 0;
	(void)snprintf(h, sizeof(h), "%llu", (unsigned long long)have);
	(void)snprintf(w, sizeof(w), "%llu", (unsigned long long)want);
	return differs(name, field, h, w, err);
}

static int
match_format(const char *name, const struct hmq_contract *have, const struct hmq_contract *want,
	     struct hmq_error *err)
{
	char h[24], w[24], field[16];
	int rc = 0;

	if (want->dtype.bits == 0)
		return 0;
	if (memcmp(&have->dtype, &want->dtype, sizeof(have->dtype)) != 0) {
		hmq_dtype_word(have->dtype, h);
		hmq_dtype_word(want->dtype, w);
		return differs(name, "dtype", h, w, err);
	}
	if (have->rank != want->rank) {
		(void)snprintf(h, sizeof(h), "%u", have->rank);
		(void)snprintf(w, sizeof(w), "%u", want->rank);
		return differs(name, "rank", h, w, err);
	}
	for (uint32_t i = 0; i < have->rank && i < HMQ_MAX_RANK && !rc; i++) {
		(void)snprintf(field, sizeof(field), "dim[%u]", i);
		rc = differ(name, field, have->dim[i], want->dim[i], err);
	}
	return rc;
}

int
hmq_contract_match(const char *name, const struct hmq_contract *have,
		   const struct hmq_contract *want, struct hmq_error *err)
{
	int rc = check_contract(name, want, err);

	/* Either may have come over the socket. */
	if (!rc)
		rc = check_contract(name, have, err);
	if (rc)
		return rc;
	if (want->kind[0] && strcmp(have->kind, want->kind) != 0)
		return differs(name, "kind", have->kind[0] ? have->kind : "none", want->kind, err);
	rc = match_format(name, have, want, err);
	if (!rc)
		rc = differ(name, "max_bytes", have->max_bytes, want->max_bytes, err);
	if (!rc)
		rc = differ(name, "layout", have->layout, want->layout, err);
	if (!rc)
		rc = differ(name, "depth", have->depth, want->depth, err);
	if (rc)
		return rc;
	if (want->policy != HMQ_ANY && want->policy != have->policy)
		return differs(name, "policy", hmq_policy_word(have->policy),
			       hmq_policy_word(want->policy), err);
	if (want->wake != HMQ_WAKE_ANY && want->wake != have->wake)
		return differs(name, "wake", hmq_wake_word(have->wake), hmq_wake_word(want->wake),
			       err);
	return 0;
}
