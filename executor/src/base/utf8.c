// SPDX-License-Identifier: Apache-2.0
/*
 * utf8.c - a strict decoder by table of lead bytes.
 *
 * Reads never more than the n bytes it was given.
 */
#include "base/utf8.h"

struct lead {
	unsigned char mask, value; /* of the lead byte */
	unsigned char len;
	uint32_t least; /* smaller numbers are overlong here */
};

static const struct lead leads[] = {
	{ 0x80, 0x00, 1, 0 },
	{ 0xe0, 0xc0, 2, 0x80 },
	{ 0xf0, 0xe0, 3, 0x800 },
	{ 0xf8, 0xf0, 4, 0x10000 },
};

size_t
hr_utf8_next(const char *s, size_t n, uint32_t *code)
{
	unsigned char first = n ? (unsigned char)s[0] : 0xff;

	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		const struct lead *l = &leads[i];

		if ((first & l->mask) != l->value)
			continue;
		if (n < l->len)
			return 0;
		uint32_t c = (uint32_t)(first & (unsigned char)~l->mask);

		for (size_t k = 1; k < l->len; k++) {
			unsigned char b = (unsigned char)s[k];

			if ((b & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (b & 0x3f);
		}
		if (c < l->least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*code = c;
		return l->len;
	}
	return 0;
}

size_t
hr_utf8_count(const char *s, size_t n)
{
	size_t chars = 0;

	for (size_t i = 0; i < n; chars++) {
		uint32_t code;
		size_t k = hr_utf8_next(s + i, n - i, &code);

		i += k ? k : 1;
	}
	return chars;
}
