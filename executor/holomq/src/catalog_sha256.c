/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_sha256.c - SHA-256 (FIPS 180-4), plain and small.
 *
 * For digests of catalogs of a few kilobytes, so written to be read, not to be fast.
 * The constants are the fractional parts of square and cube roots of primes, as the
 * standard lists them.
 */
#include <string.h>

#include "catalog.h"

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t
turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t
load_big(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void
store_big(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void
compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64];
	uint32_t s[8];

	for (int i = 0; i < 16; i++)
		w[i] = load_big(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t t1 = s[7] + e + choice + k[i] + w[i];
		uint32_t a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
		uint32_t t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

void
hmq_sha256_begin(struct hmq_sha256 *s)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->state, start, sizeof(start));
	s->bytes = 0;
}

void
hmq_sha256_add(struct hmq_sha256 *s, const void *data, size_t bytes)
{
	const uint8_t *p = data;
	size_t at = s->bytes % 64;

	s->bytes += bytes;
	while (bytes > 0) {
		size_t n = 64 - at < bytes ? 64 - at : bytes;

		memcpy(s->block + at, p, n);
		p += n;
		bytes -= n;
		at += n;
		if (at == 64) {
			compress(s->state, s->block);
			at = 0;
		}
	}
}

void
hmq_sha256_end(struct hmq_sha256 *s, uint8_t out[32])
{
	static const uint8_t pad[64] = { 0x80 };
	uint64_t bits = s->bytes * 8;
	uint8_t length[8];

	store_big(length, (uint32_t)(bits >> 32));
	store_big(length + 4, (uint32_t)bits);
	hmq_sha256_add(s, pad, 1 + (119 - s->bytes % 64) % 64);
	hmq_sha256_add(s, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		store_big(out + 4 * i, s->state[i]);
}

void
hmq_sha256_hex(const void *data, size_t bytes, char out[65])
{
	static const char digit[] = "0123456789abcdef";
	struct hmq_sha256 s;
	uint8_t sum[32];

	hmq_sha256_begin(&s);
	hmq_sha256_add(&s, data, bytes);
	hmq_sha256_end(&s, sum);
	for (int i = 0; i < 32; i++) {
		out[2 * i] = digit[sum[i] >> 4];
		out[2 * i + 1] = digit[sum[i] & 15];
	}
	out[64] = '\0';
}
