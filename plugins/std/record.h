/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the file of std/file_sink and std/file_source, little endian.
 *
 * A header of 128 bytes, then records: 128 bytes of message head, the payload,
 * zeros up to the next multiple of 64.  While a recording is written the
 * header says RECORD_CUT and 0 records; a recording that saw the end of its
 * stream says RECORD_WHOLE, with its number of records and the file's length.
 * What a file says is checked before it is used: it may be anybody's.
 */
#ifndef HR_PLUGIN_STD_RECORD_H
#define HR_PLUGIN_STD_RECORD_H

#include <stdbool.h>

#include "std.h"

#define RECORD_MAGIC "holorec\n"

enum { RECORD_VERSION = 1, RECORD_CUT = 0, RECORD_WHOLE = 1, RECORD_ALIGN = 64 };
enum { RECORD_MARK = 0x64726372 }; /* "rcrd": a lost position shows at the next record */

struct record_file {
	char magic[8];
	uint32_t version;
	uint32_t state;
	uint64_t records;
	uint64_t length; /* of the file, header included */
	struct hop_dtype dtype;
	uint32_t rank; /* 0: plain bytes */
	uint32_t dim[HOP_MAX_RANK];
	uint64_t max_bytes; /* of one payload */
	double rate_hz;
	uint64_t reserved[5];
};

struct record {
	uint32_t mark;
	uint32_t flags;
	uint64_t bytes;
	uint64_t frame;
	int64_t born_ns; /* since the first record's */
	int64_t last_ns; /* the same origin */
	int64_t stamp_ns;
	uint32_t index;
	uint32_t stream;
	struct hop_dtype dtype;
	uint32_t rank;
	uint32_t dim[HOP_MAX_RANK];
	uint8_t user[24];
	uint64_t reserved;
};

_Static_assert(sizeof(struct record_file) == 128, "the file's layout");
_Static_assert(sizeof(struct record) == 128, "the file's layout");
_Static_assert(sizeof(struct record) % RECORD_ALIGN == 0, "payloads stay aligned");

/* Bytes of a record with its payload and padding. */
static inline uint64_t
record_stride(uint64_t bytes)
{
	return sizeof(struct record) + (bytes + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
}

/* A sentence (static) that says why this is no header of a recording; NULL: it is one. */
const char *record_file_check(const struct record_file *f);
/*
 * The same for the record at `at`, which is before f->length: its head lies in
 * the file, its payload too, and its size and rank are within the format.
 */
const char *record_check(const struct record_file *f, const void *file, uint64_t length,
			 uint64_t at);

#endif /* HR_PLUGIN_STD_RECORD_H */
