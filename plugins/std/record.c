/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - the checks of record.h. */
#include "record.h"

const char *
record_file_check(const struct record_file *f)
{
	if (memcmp(f->magic, RECORD_MAGIC, sizeof f->magic) != 0)
		return "not a recording: it does not begin with \"holorec\"";
	if (f->version != RECORD_VERSION)
		return "a recording of another version; this plugin reads version 1";
	if (f->state != RECORD_CUT && f->state != RECORD_WHOLE)
		return "bad header: its state is neither whole nor cut";
	if (f->rank > HOP_MAX_RANK)
		return "bad header: more than 8 dimensions";
	if (f->max_bytes == 0 || f->max_bytes > (uint64_t)1 << 40)
		return "bad header: payload size not within 1 byte and 1 TiB";
	if (f->rate_hz < 0 || !(f->rate_hz < 1e12))
		return "bad header: rate not within 0 and 1 THz";
	return NULL;
}

/* Sums of a few such times cannot overflow. */
static bool
is_far(int64_t ns)
{
	return ns > (int64_t)1 << 60 || ns < -((int64_t)1 << 60);
}

const char *
record_check(const struct record_file *f, const void *file, uint64_t length, uint64_t at)
{
	struct record r;

	if (length - at < sizeof r)
		return "the file ends inside a record's head";
	memcpy(&r, (const char *)file + at, sizeof r);
	if (r.mark != RECORD_MARK)
		return "no record begins here";
	if (r.bytes > f->max_bytes)
		return "the payload is larger than the header allows";
	if (r.rank > HOP_MAX_RANK)
		return "more than 8 dimensions";
	if (is_far(r.born_ns) || is_far(r.last_ns))
		return "its times are more than 36 years from the first record's";
	if (length - at < record_stride(r.bytes))
		return "the file ends inside a record's payload";
	return NULL;
}
