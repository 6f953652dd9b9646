/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h - canonical JSON and SHA-256, for the catalog and the tool.
 *
 * Canonical here: keys in the order of their bytes, no blanks, integers only,
 * strings escaped no more than JSON demands.  The writer puts text into a buffer of
 * the caller's and counts on beyond its end; the caller keeps the order of keys.
 */
#ifndef HMQ_CATALOG_H
#define HMQ_CATALOG_H

#include <stddef.h>
#include <stdint.h>

#include "holomq/holomq.h"

struct hmq_sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64];
};

void hmq_sha256_begin(struct hmq_sha256 *s);
void hmq_sha256_add(struct hmq_sha256 *s, const void *data, size_t bytes);
void hmq_sha256_end(struct hmq_sha256 *s, uint8_t out[32]);
/* Of one text, as 64 hexadecimal digits and a zero. */
void hmq_sha256_hex(const void *data, size_t bytes, char out[65]);

struct hmq_json {
	char *text; /* size bytes; may be NULL when size is 0 */
	size_t size;
	size_t used;   /* may be larger than size: what it would take */
	int has_items; /* the next value needs a comma */
};

void hmq_json_init(struct hmq_json *j, char *text, size_t size);
/* Terminate; the whole length without the zero. */
size_t hmq_json_end(struct hmq_json *j);
void hmq_json_open(struct hmq_json *j, char bracket);
void hmq_json_close(struct hmq_json *j, char bracket);
void hmq_json_key(struct hmq_json *j, const char *key);
void hmq_json_text(struct hmq_json *j, const char *s);
void hmq_json_uint(struct hmq_json *j, uint64_t v);
void hmq_json_int(struct hmq_json *j, int64_t v);

/* Words of the API's numbers: "float32", "block", "sleep". */
const char *hmq_policy_word(uint32_t policy);
const char *hmq_wake_word(uint32_t wake);
/* At most 24 bytes into out. */
void hmq_dtype_word(struct hmq_dtype t, char out[24]);
/* The members of one contract, keys in order, into an open object. */
void hmq_contract_json(struct hmq_json *j, const struct hmq_contract *c);

#endif /* HMQ_CATALOG_H */
