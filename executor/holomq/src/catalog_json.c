/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_json.c - canonical JSON into a buffer of the caller's.
 *
 * Never writes beyond the buffer and never stops counting, so that one pass tells
 * the size and the next one writes.  Bytes that are no UTF-8 are passed on: names
 * and kinds are checked where they enter.
 */
#include <stdio.h>
#include <string.h>

#include "catalog.h"

static void
put(struct hmq_json *j, char c)
{
	if (j->used < j->size)
		j->text[j->used] = c;
	j->used++;
}

static void
put_all(struct hmq_json *j, const char *s)
{
	while (*s)
		put(j, *s++);
}

static void
separate(struct hmq_json *j)
{
	if (j->has_items)
		put(j, ',');
	j->has_items = 1;
}

void
hmq_json_init(struct hmq_json *j, char *text, size_t size)
{
	*j = (struct hmq_json){ .text = text, .size = size };
}

size_t
hmq_json_end(struct hmq_json *j)
{
	if (j->size > 0)
		j->text[j->used < j->size ? j->used : j->size - 1] = '\0';
	return j->used;
}

void
hmq_json_open(struct hmq_json *j, char bracket)
{
	separate(j);
	put(j, bracket);
	j->has_items = 0;
}

void
hmq_json_close(struct hmq_json *j, char bracket)
{
	put(j, bracket);
	j->has_items = 1;
}

static void
quote(struct hmq_json *j, const char *s)
{
	static const char escape[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char code[8];

	put(j, '"');
	for (; *s; s++) {
		const char *e = escape;

		while (*e && *e != *s)
			e += 2;
		if (*e) {
			put(j, '\\');
			put(j, e[1]);
		} else if ((unsigned char)*s < 0x20) {
			(void)snprintf(code, sizeof(code), "\\u%04x", (unsigned)*s);
			put_all(j, code);
		} else {
			put(j, *s);
		}
	}
	put(j, '"');
}

void
hmq_json_key(struct hmq_json *j, const char *key)
{
	separate(j);
	quote(j, key);
	put(j, ':');
	j->has_items = 0;
}

void
hmq_json_text(struct hmq_json *j, const char *s)
{
	separate(j);
	quote(j, s);
}

void
hmq_json_uint(struct hmq_json *j, uint64_t v)
{
	char digits[24];

	separate(j);
	(void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	put_all(j, digits);
}

void
hmq_json_int(struct hmq_json *j, int64_t v)
{
	char digits[24];

	separate(j);
	(void)snprintf(digits, sizeof(digits), "%lld", (long long)v);
	put_all(j, digits);
}
