/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what every fuzz target shares: its entry and how it eats its input.
 *
 * A target is one file with LLVMFuzzerTestOneInput.  Linked with libFuzzer it
 * searches (HOLORUN_FUZZ), linked with replay.c it runs its corpus as a test.  Input
 * that has run out reads as zeros, so that every prefix of an input is an input.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

static inline uint8_t
fuzz_u8(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

static inline uint16_t
fuzz_u16(struct fuzz_input *in)
{
	uint16_t low = fuzz_u8(in);

	return (uint16_t)(low | fuzz_u8(in) << 8);
}

static inline uint32_t
fuzz_u32(struct fuzz_input *in)
{
	uint32_t low = fuzz_u16(in);

	return low | (uint32_t)fuzz_u16(in) << 16;
}

static inline uint64_t
fuzz_u64(struct fuzz_input *in)
{
	uint64_t low = fuzz_u32(in);

	return low | (uint64_t)fuzz_u32(in) << 32;
}

/* 0 to n - 1. */
static inline uint32_t
fuzz_below(struct fuzz_input *in, uint32_t n)
{
	return fuzz_u8(in) % n;
}

/* A number that means something: small, all ones, near a given one, or any. */
static inline uint64_t
fuzz_number(struct fuzz_input *in, uint64_t near)
{
	switch (fuzz_below(in, 5)) {
	case 0:
		return fuzz_u8(in);
	case 1:
		return UINT64_MAX - fuzz_u8(in);
	case 2:
		return near + fuzz_u8(in) - 128;
	case 3:
		return UINT64_C(1) << fuzz_below(in, 64);
	default:
		return fuzz_u64(in);
	}
}

#endif /* FUZZ_H */
