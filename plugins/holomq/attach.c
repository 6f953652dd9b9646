/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.c - how holomq/import finds its writer, and what becomes of its death.
 *
 * Either the other program has the name and this op asks for a seat, in slices of
 * the time the host allows, or (serve) this op has the name and the writer comes.
 * A contract that differs, another user, nonsense: these do not get better by
 * waiting and fail at once, required or not.
 */
#include <errno.h>

#include "endpoints.h"

static const int64_t again_ns = 10000000; /* before somebody with no seat left is asked again */

static void
take(struct import *s, struct hmq_endpoint *ep)
{
	s->ep = ep;
	s->reader = hmq_endpoint_reader(ep);
	s->has_seq = false;
	/* What a DROP_OLDEST reader looks at is out of the writer's reach: one at a time. */
	s->claim = hmq_endpoint_contract(ep)->policy == HMQ_DROP_OLDEST ? 1 : 32;
}

int
import_serve(struct import *s, const struct hop_ctx *ctx)
{
	const struct import_params *p = ctx->params;
	const struct hmq_export cfg = {
		.size = sizeof cfg,
		.role = HMQ_ROLE_READER,
		.flags = HMQ_ENDPOINT_POLLED | (p->any_user ? HMQ_ENDPOINT_ANY_USER : 0),
		.dir = p->dir,
		.name = p->name,
		.contract = s->want,
	};
	struct hmq_endpoint *ep;
	struct hmq_error err = { 0 };
	int rc = hmq_endpoint_export(&ep, &cfg, &err);

	if (rc)
		return HOP_FAIL(ctx, -rc, "%s", err.text);
	take(s, ep);
	return 0;
}

static void
begin_to_wait(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct import_params *p = ctx->params;

	if (s->deadline_ns == 0)
		s->deadline_ns = io->now_ns + p->attach_timeout;
}

/* Nobody yet: HOP_IDLE, or the failure of one that had to come. */
static hop_status
not_yet(const struct import *s, const struct hop_ctx *ctx, const struct hop_io *io,
	const char *text)
{
	const struct import_params *p = ctx->params;

	if (!p->required || io->now_ns < s->deadline_ns)
		return HOP_IDLE;
	return HOP_FAIL(ctx, ETIMEDOUT, "%s; it was waited for %lld ms", text,
			(long long)(p->attach_timeout / 1000000));
}

hop_status
import_attach(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct import_params *p = ctx->params;
	const struct hmq_import cfg = {
		.size = sizeof cfg,
		.role = HMQ_ROLE_READER,
		.flags = HMQ_ENDPOINT_POLLED,
		.dir = p->dir,
		.name = p->name,
		.contract = s->want,
	};
	struct hmq_endpoint *ep;
	struct hmq_error err = { 0 };
	hop_status status;
	int rc;

	if (io->stopping)
		return HOP_DONE;
	begin_to_wait(s, ctx, io);
	rc = hmq_endpoint_import(&ep, &cfg, io->deadline_ns, &err);
	if (rc == 0) {
		take(s, ep);
		s->was_attached = true;
		hop_count(ctx, IMPORT_ATTACHED, 1);
		return HOP_OK;
	}
	if (rc != -ETIMEDOUT && rc != -EUSERS)
		return HOP_FAIL(ctx, -rc, "%s", err.text);
	status = not_yet(s, ctx, io, err.text);
	if (status == HOP_IDLE && rc == -EUSERS)
		ctx->host->wake_at(ctx, io->now_ns + again_ns);
	return status;
}

int
import_look(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct import_params *p = ctx->params;
	struct hmq_endpoint_stat n;
	hop_status rc;

	if (!p->serve) {
		hmq_endpoint_poll(s->ep);
		return 0;
	}
	begin_to_wait(s, ctx, io);
	hmq_endpoint_numbers(s->ep, &n);
	holomq_count_to(ctx, IMPORT_ATTACHED, &s->attached, n.attached);
	holomq_count_to(ctx, IMPORT_REFUSED, &s->refused, n.refused);
	s->was_attached |= n.attached > 0;
	if (s->was_attached || io->stopping)
		return 0;
	rc = not_yet(s, ctx, io, "nobody came to write");
	return rc < 0 ? rc : 0;
}

hop_status
import_lost(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io)
{
	const struct import_params *p = ctx->params;
	struct hmq_error err = { 0 };
	int rc = 0;

	if (!p->required && !p->lossy_end && p->serve) {
		rc = hmq_endpoint_renew(s->ep, &err);
		if (rc == -EBUSY) { /* dead, and not yet gone */
			ctx->host->wake_at(ctx, io->now_ns + again_ns);
			return HOP_IDLE;
		}
		if (rc)
			return HOP_FAIL(ctx, -rc, "%s", err.text);
	}
	hop_count(ctx, IMPORT_DIED, 1);
	if (p->lossy_end) {
		HOP_LOG(ctx, HOP_LOG_WARN, "endpoint %s: its writer died; taken for the end",
			p->name);
		return HOP_DONE;
	}
	if (p->required)
		return HOP_FAIL(ctx, EPIPE,
				"endpoint %s: its writer died; this is not the end of its stream",
				p->name);
	HOP_LOG(ctx, HOP_LOG_WARN, "endpoint %s: its writer died; waiting for another", p->name);
	if (p->serve)
		take(s, s->ep);
	else
		import_close(s);
	return HOP_IDLE;
}

void
import_close(struct import *s)
{
	if (s->ep)
		hmq_endpoint_close(s->ep);
	s->ep = NULL;
	s->reader = NULL;
}
