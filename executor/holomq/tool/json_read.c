/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.c - reading JSON without a tree: values are views of the text.
 *
 * The text is checked once, whole; afterwards looking something up only skips over
 * values.  Linear, which is plenty for the few thousand edges of a graph.  Escapes in
 * strings are kept but for \" and \\: names have no others.
 */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define MAX_DEPTH 32

static const char *skip_value(const char *p, const char *end, int depth);

static const char *
blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* Each skips one thing and returns what follows, NULL when it is not one. */
static const char *
skip_string(const char *p, const char *end)
{
	if (p >= end || *p != '"')
		return NULL;
	for (p++; p < end && *p != '"'; p++) {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p == '\\' && ++p >= end)
			return NULL;
	}
	return p < end ? p + 1 : NULL;
}

static const char *
skip_plain(const char *p, const char *end)
{
	const char *from = p;

	while (p < end &&
	       (strchr("+-.", *p) || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		*p == 'E') &&
	       *p)
		p++;
	return p > from ? p : NULL;
}

static const char *
skip_list(const char *p, const char *end, int depth, char close, int has_keys)
{
	p = blanks(p + 1, end);
	if (p < end && *p == close)
		return p + 1;
	for (;;) {
		if (has_keys) {
			p = skip_string(blanks(p, end), end);
			p = p ? blanks(p, end) : NULL;
			if (!p || p >= end || *p++ != ':')
				return NULL;
		}
		p = skip_value(p, end, depth + 1);
		p = p ? blanks(p, end) : NULL;
		if (!p || p >= end)
			return NULL;
		if (*p == close)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static const char *
skip_value(const char *p, const char *end, int depth)
{
	p = blanks(p, end);
	if (p >= end || depth > MAX_DEPTH)
		return NULL;
	if (*p == '{')
		return skip_list(p, end, depth, '}', 1);
	if (*p == '[')
		return skip_list(p, end, depth, ']', 0);
	return *p == '"' ? skip_string(p, end) : skip_plain(p, end);
}

int
json_check(const char *text, size_t bytes)
{
	const char *p = skip_value(text, text + bytes, 0);

	return p && blanks(p, text + bytes) == text + bytes ? 0 : -1;
}

struct value
json_all(const char *text, size_t bytes)
{
	return (struct value){ blanks(text, text + bytes), text + bytes };
}

struct value
json_member(struct value object, const char *key)
{
	const struct value none = { NULL, NULL };
	size_t n = strlen(key);
	const char *p = object.begin, *name, *value;

	if (!p || p >= object.end || *p != '{')
		return none;
	for (p = blanks(p + 1, object.end); *p == '"';) {
		name = p + 1;
		p = skip_string(p, object.end);
		value = blanks(blanks(p, object.end) + 1, object.end);
		if ((size_t)(p - name) == n + 1 && memcmp(name, key, n) == 0)
			return (struct value){ value, skip_value(value, object.end, 1) };
		p = blanks(skip_value(value, object.end, 1), object.end);
		if (*p == ',')
			p = blanks(p + 1, object.end);
	}
	return none;
}

struct value
json_item(struct value array, uint32_t index)
{
	const struct value none = { NULL, NULL };
	const char *p = array.begin;

	if (!p || p >= array.end || *p != '[')
		return none;
	p = blanks(p + 1, array.end);
	for (uint32_t i = 0; p < array.end && *p != ']'; i++) {
		const char *after = skip_value(p, array.end, 1);

		if (i == index)
			return (struct value){ p, after };
		p = blanks(after, array.end);
		if (*p == ',')
			p = blanks(p + 1, array.end);
	}
	return none;
}

double
json_number(struct value v, double otherwise)
{
	char text[40] = "";
	size_t n = v.begin ? (size_t)(v.end - v.begin) : 0;
	char *end;
	double d;

	if (n == 0 || n >= sizeof(text) || *v.begin == '"')
		return otherwise;
	memcpy(text, v.begin, n);
	d = strtod(text, &end);
	return *end ? otherwise : d;
}

int64_t
json_int(struct value v, int64_t otherwise)
{
	char text[40] = "";
	size_t n = v.begin ? (size_t)(v.end - v.begin) : 0;
	char *end;
	long long i;

	if (n == 0 || n >= sizeof(text))
		return otherwise;
	memcpy(text, v.begin, n);
	i = strtoll(text, &end, 10);
	return *end || end == text ? otherwise : i;
}

void
json_string(struct value v, char *out, size_t size)
{
	size_t n = 0;

	for (const char *p = v.begin ? v.begin + 1 : v.end;
	     v.begin && *v.begin == '"' && p < v.end - 1 && n + 1 < size; p++) {
		if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
			p++;
		out[n++] = *p;
	}
	out[n] = '\0';
}
