/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - the content of a numbered message: std/sequence writes it,
 * std/check compares it.
 *
 * The first 8 bytes are the sequence number (little endian, from 0).  The last
 * 8 bytes, if there are 16 or more, are a mix of it, so a payload cut, shifted
 * or left over from another message does not pass.  What lies between is
 * written, and read, only when `fill` is asked for: a message of 1 MiB then
 * costs as much as one of 64 B and measures the transport, not memcpy.
 */
#ifndef HR_PLUGIN_STD_PATTERN_H
#define HR_PLUGIN_STD_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PATTERN_WORD = 8 };

/* splitmix64's finaliser: every bit of the number reaches every bit of the word. */
static inline uint64_t
pattern_mix(uint64_t seq, uint64_t word)
{
	uint64_t z = seq * 0x9e3779b97f4a7c15u + word + 1;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Writes a message of `bytes` (8 or more) to `data`. */
static inline void
pattern_write(void *data, uint64_t bytes, uint64_t seq, bool fill)
{
	unsigned char *p = data;
	uint64_t end = pattern_mix(seq, UINT64_MAX);

	memcpy(p, &seq, PATTERN_WORD);
	if (bytes < 2 * PATTERN_WORD)
		return;
	for (uint64_t at = PATTERN_WORD; fill && at + PATTERN_WORD <= bytes; at += PATTERN_WORD) {
		uint64_t w = pattern_mix(seq, at);

		memcpy(p + at, &w, PATTERN_WORD);
	}
	memcpy(p + bytes - PATTERN_WORD, &end, PATTERN_WORD);
}

/* The sequence number a message claims; `bytes` is 8 or more. */
static inline uint64_t
pattern_seq(const void *data)
{
	uint64_t seq;

	memcpy(&seq, data, PATTERN_WORD);
	return seq;
}

/* The offset of the first word that is not what pattern_write left; `bytes` if all is well. */
static inline uint64_t
pattern_check(const void *data, uint64_t bytes, uint64_t seq, bool fill)
{
	const unsigned char *p = data;
	uint64_t last = bytes - PATTERN_WORD;
	uint64_t end = pattern_mix(seq, UINT64_MAX);

	if (bytes < 2 * PATTERN_WORD)
		return bytes;
	for (uint64_t at = PATTERN_WORD; fill && at + PATTERN_WORD <= last; at += PATTERN_WORD) {
		uint64_t w = pattern_mix(seq, at);

		if (memcmp(p + at, &w, PATTERN_WORD) != 0)
			return at;
	}
	return memcmp(p + last, &end, PATTERN_WORD) != 0 ? last : bytes;
}

#endif /* HR_PLUGIN_STD_PATTERN_H */
