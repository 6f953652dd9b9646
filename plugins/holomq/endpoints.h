/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints.h - what the files of the holomq plugin share.
 *
 * An endpoint handle lives and dies with the thread that made it, so ops make it
 * in start() or process() and close it in stop(), all of which the same worker
 * calls.  A message is copied once, between a slot of the graph and a slot of the
 * endpoint: neither side can then hold what is the other's.
 */
#ifndef HR_PLUGIN_ENDPOINTS_H
#define HR_PLUGIN_ENDPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <holomq/holomq.h>
#include <holorun/op.h>

extern const struct hop_op holomq_export;
extern const struct hop_op holomq_import;

#define ENDPOINT_PARAM(type, strct, member, def, min, max, choices, doc)                           \
	{                                                                                          \
#member, doc, HOP_P_##type, 0, (uint32_t)offsetof(strct, member),                  \
			(uint32_t)sizeof(((strct *)0)->member), NULL, def, min, max, choices       \
	}

/* ---- common.c --------------------------------------------------------------------------- */

/* A choice's index is the policy's number. */
extern const char *const holomq_policies[];

/* The format of a port as a contract says it; plain bytes have neither dtype nor rank. */
void holomq_contract_format(struct hmq_contract *c, const struct hop_format *f);
/* The kind, or a failure if it is too long. */
int holomq_contract_kind(const struct hop_ctx *ctx, struct hmq_contract *c, const char *kind);
/* What is wrong with the names and numbers of an endpoint, before there is one. */
int holomq_check(const struct hop_ctx *ctx, const struct hmq_export *cfg);

/* Count up to a total that only grows; *seen is what was counted so far. */
static inline void
holomq_count_to(const struct hop_ctx *ctx, uint32_t counter, uint64_t *seen, uint64_t total)
{
	if (total <= *seen)
		return;
	hop_count(ctx, counter, total - *seen);
	*seen = total;
}

/* ---- import: attach.c finds the writer, import.c carries messages ------------------------ */

struct import_params {
	const char *name;
	const char *dir;
	const char *kind;
	int64_t layout;
	const char *format;
	uint64_t max_bytes;
	int64_t depth;
	int32_t when_full;
	int64_t required;
	int64_t attach_timeout;
	uint8_t serve;
	uint8_t lossy_end;
	uint8_t any_user;
};

enum { IMPORT_ATTACHED, IMPORT_REFUSED, IMPORT_DIED, IMPORT_LOST };

struct import {
	struct hmq_endpoint *ep;   /* NULL: nobody is there yet */
	struct hmq_reader *reader; /* of ep */
	struct hmq_contract want;
	int64_t deadline_ns; /* for a required peer; 0: not begun to wait */
	uint64_t next_seq;
	uint64_t attached; /* counted so far */
	uint64_t refused;
	bool has_seq;
	bool was_attached;
	uint32_t claim; /* messages to look at in one go */
};

/* What the graph wants of the messages. */
int import_contract(const struct hop_ctx *ctx, struct hmq_contract *c, struct hop_format *out);
/* Make the name, if this side has it; [worker] start. */
int import_serve(struct import *s, const struct hop_ctx *ctx);
/* Look for the writer until io->deadline_ns: HOP_OK attached, HOP_IDLE not yet, or a failure. */
hop_status import_attach(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io);
/* The side that has the name: let the writer in, and wait for it no longer than it may take. */
int import_look(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io);
/* The writer died: HOP_DONE, HOP_IDLE if another may come, or a failure. */
hop_status import_lost(struct import *s, const struct hop_ctx *ctx, const struct hop_io *io);
void import_close(struct import *s);

#endif /* HR_PLUGIN_ENDPOINTS_H */
