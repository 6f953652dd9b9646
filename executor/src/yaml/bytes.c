// SPDX-License-Identifier: Apache-2.0
/*
 * bytes.c - is this a text at all?  Looked at before the parser sees it.
 *
 * NUL, UTF-16, invalid UTF-8, control characters and line breaks that only some
 * editors know get their own sentence with line, column and byte offset.
 */
#include <string.h>

#include "base/utf8.h"
#include "yaml/internal.h"

struct place {
	size_t off;
	uint32_t line, col;
};

static struct hr_span
span_of(const struct hr_file *f, const struct place *p)
{
	return (struct hr_span){ .file = f, .line = p->line, .col = p->col, .len = 1 };
}

/* The first bytes of UTF-16 and UTF-32, with or without a byte order mark. */
static const char *
foreign_encoding(const struct hr_file *f)
{
	const unsigned char *s = (const unsigned char *)f->text;

	if (f->len >= 4 && !memcmp(s, "\0\0\xfe\xff", 4))
		return "UTF-32";
	if (f->len >= 4 && !memcmp(s, "\xff\xfe\0\0", 4))
		return "UTF-32";
	if (f->len >= 2 && (!memcmp(s, "\xff\xfe", 2) || !memcmp(s, "\xfe\xff", 2)))
		return "UTF-16";
	/* Latin text in UTF-16: every second byte is zero. */
	if (f->len >= 4 && ((!s[0] && s[1] && !s[2] && s[3]) || (s[0] && !s[1] && s[2] && !s[3])))
		return "UTF-16";
	return NULL;
}

static bool
is_break(uint32_t c)
{
	return c == 0x85 || c == 0x2028 || c == 0x2029;
}

static bool
is_control(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7f && c < 0xa0) ||
	       c == 0xfeff || c == 0xfffe || c == 0xffff;
}

/* What is wrong with the character at p, if anything: reported, false. */
static bool
check_char(const struct hr_file *f, const struct place *p, uint32_t c, struct hr_diags *d)
{
	if (!c)
		hr_error(d, span_of(f, p), 104,
			 "a NUL byte at byte %zu: this is no text file, or a damaged one", p->off);
	else if (c == '\r' && (p->off + 1 >= f->len || f->text[p->off + 1] != '\n'))
		hr_error(d, span_of(f, p), 118,
			 "a carriage return without a line feed at byte %zu; lines end with LF or "
			 "CR LF",
			 p->off);
	else if (is_break(c))
		hr_error(d, span_of(f, p), 118,
			 "the line break U+%04X at byte %zu; lines end with LF or CR LF", c,
			 p->off);
	else if (is_control(c))
		hr_error(d, span_of(f, p), 118,
			 "the control character U+%04X at byte %zu; in double quotes write \\x%02X",
			 c, p->off, c);
	else
		return true;
	return false;
}

bool
hr_yaml_check_bytes(const struct hr_file *f, struct hr_diags *d)
{
	struct place p = { 0, 1, 1 };
	const char *foreign = foreign_encoding(f);

	if (foreign) {
		hr_error(d, span_of(f, &p), 105, "the file is %s from byte 0 on; save it as UTF-8",
			 foreign);
		return false;
	}
	if (f->len >= 3 && !memcmp(f->text, "\xef\xbb\xbf", 3))
		p.off = 3;
	while (p.off < f->len) {
		uint32_t c;
		size_t n = hr_utf8_next(f->text + p.off, f->len - p.off, &c);

		if (!n) {
			hr_error(d, span_of(f, &p), 103,
				 "byte %zu (0x%02x) is not UTF-8; save the file as UTF-8", p.off,
				 (unsigned char)f->text[p.off]);
			return false;
		}
		if (!check_char(f, &p, c, d))
			return false;
		p.off += n;
		p.col++;
		if (c == '\n') {
			p.line++;
			p.col = 1;
		}
	}
	return true;
}

/* Looks like a space, is none. */
static const char *
odd_space(uint32_t c)
{
	if (c == 0xa0)
		return "a no-break space (U+00A0)";
	if (c == 0x202f)
		return "a narrow no-break space (U+202F)";
	if (c == 0x3000)
		return "an ideographic space (U+3000)";
	if ((c >= 0x2000 && c <= 0x200b) || c == 0x205f || c == 0x1680)
		return "a special space (no U+0020)";
	return NULL;
}

bool
hr_yaml_check_indent(const struct hr_file *f, uint32_t line, struct hr_diags *d)
{
	size_t len;
	const char *s = hr_file_line(f, line, &len);
	uint32_t col = 1;

	for (size_t i = 0; i < len; col++) {
		uint32_t c;
		size_t n = hr_utf8_next(s + i, len - i, &c);
		struct hr_span at = { .file = f, .line = line, .col = col, .len = 1 };

		if (!n)
			return false;
		if (c == '\t') {
			hr_error(d, at, 106, "tab used for indentation; YAML needs spaces");
			return true;
		}
		if (odd_space(c)) {
			hr_error(d, at, 107, "%s used for indentation; YAML needs spaces",
				 odd_space(c));
			return true;
		}
		if (c != ' ')
			return false;
		i += n;
	}
	return false;
}
