// SPDX-License-Identifier: Apache-2.0
/*
 * test_refusals.c - texts that are refused: code, place, and how many faults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "yaml/doc.h"

struct refusal {
	const char *text;
	size_t n; /* 0: a string */
	uint32_t code, line, col;
	const char *says; /* part of the message or its help */
};

static const struct refusal REFUSALS[] = {
	{ "", 0, 112, 1, 1, "empty" },
	{ " \n\n", 0, 112, 1, 1, "empty" },
	{ "# a\n# b\n", 0, 112, 1, 1, "only comments" },
	{ "---\n...\n", 0, 112, 1, 1, NULL },
	{ "a: 1\n---\nb: 2\n", 0, 111, 2, 1, "second document" },
	{ "a: 1\0b: 2\n", 10, 104, 1, 5, "byte 4" },
	{ "a: \xff\n", 0, 103, 1, 4, "byte 3 (0xff)" },
	{ "ab: \xc3\xa4\xc3", 0, 103, 1, 6, "byte 6" },
	{ "\xff\xfe"
	  "a\0",
	  4, 105, 1, 1, "UTF-16" },
	{ "\xfe\xff\0a", 4, 105, 1, 1, "UTF-16" },
	{ "a\0:\0 \0"
	  "1\0",
	  8, 105, 1, 1, "UTF-16" },
	{ "\0\0\xfe\xff\0\0\0a", 8, 105, 1, 1, "UTF-32" },
	{ "\xff\xfe\0\0a\0\0\0", 8, 105, 1, 1, "UTF-32" },
	{ "a: \x01\n", 0, 118, 1, 4, "U+0001" },
	{ "a: \xc2\x85\n", 0, 118, 1, 4, "U+0085" },
	{ "a: \xe2\x80\xa8\n", 0, 118, 1, 4, "U+2028" },
	{ "a: \xef\xbb\xbf\n", 0, 118, 1, 4, "U+FEFF" },
	{ "a: 1\rb: 2\n", 0, 118, 1, 5, "carriage return" },
	{ "a:\n\tb: 1\n", 0, 106, 2, 1, "tab used for indentation; YAML needs spaces" },
	{ "a:\n  \tb: 1\n", 0, 106, 2, 3, "tab used" },
	{ "a:\n  b: 1\n\tc: 1\n", 0, 106, 3, 1, "tab used" },
	{ "a: x\n\ty\n", 0, 106, 2, 1, "tab used" },
	{ "a:\n\xc2\xa0 b: 1\n", 0, 107, 2, 1, "no-break space (U+00A0)" },
	{ "a:\n \xe3\x80\x80"
	  "b: 1\n",
	  0, 107, 2, 2, "U+3000" },
	{ "a: b: c\n", 0, 108, 1, 5, "write: a: \"b: c\"" },
	{ "  a: it's \\b: c # d\n", 0, 108, 1, 13, "write: a: 'it''s \\b: c' # d" },
	{ "a: {b: c: d, e: 1}\n", 0, 108, 1, 9, "write: a: {b: \"c: d\", e: 1}" },
	{ "a: x\n  b: 1\n", 0, 109, 2, 4, "a key cannot start here" },
	{ "a: [1, 2\nb: 3\n", 0, 109, 2, 2, "',' or the closing ']'" },
	{ "a: [1, 2", 0, 109, 1, 8, "',' or the closing ']'" },
	{ "a: {in: fft[*].out}\n", 0, 109, 1, 12, "names are dotted" },
	{ "a: {in: ${x}}\n", 0, 109, 1, 10, "must be quoted" },
	{ "a:\n  - 1\n  b: 2\n", 0, 109, 3, 3, "a list item was expected" },
	{ "a: 1\n b: 2\n", 0, 109, 2, 3, "check the indentation" },
	{ "a: 1\nbcd\ne: 2\n", 0, 109, 2, 1, "no ':'" },
	{ "a: \"x\nb: 1\n", 0, 109, 1, 4, "never closed" },
	{ "a: \"\\q\"\n", 0, 109, 1, 5, "unknown escape" },
	{ "a: \"\\xzz\"\n", 0, 109, 1, 7, "hexadecimal" },
	{ "a: - b\n", 0, 109, 1, 4, "list item cannot start here" },
	{ "a: * b\n", 0, 109, 1, 4, "'*' and '&'" },
	{ "a: @b\n", 0, 109, 1, 4, "cannot start with this character" },
	{ "{a: !remove}\n", 0, 109, 1, 12, "leave a space" },
	{ "a: *b\n", 0, 115, 1, 4, "no anchor '&b'" },
	{ "a: &b [*b]\n", 0, 115, 1, 8, "inside its own anchor" },
	{ "a: !!int 5\n", 0, 117, 1, 4, "no meaning" },
	{ "a: !remov\n", 0, 117, 1, 4, "did you mean '!remove'?" },
	{ "a: 1\nb: 2\na: 3\n", 0, 110, 3, 1, "first defined at 1:1" },
	{ "{a: 1}: 2\n", 0, 116, 1, 1, "a key must be text" },
	{ "? [a]\n: 2\n", 0, 116, 1, 3, "a key must be text" },
	{ ": 2\n", 0, 109, 1, 1, "a key was expected here" },
	{ "{: 2}\n", 0, 109, 1, 2, "a value was expected here" },
	{ "?\n: 2\n", 0, 116, 1, 2, "key before ':' is missing" },
	{ "\"a\\0b\": 2\n", 0, 116, 1, 1, "NUL" },
	{ "a: &x {b: 1}\nc:\n  <<: *x\n", 0, 290, 3, 3, "merge keys" },
	{ "a: 1\n  ---\n", 0, 0, 0, 0, NULL },
};

static bool
mentions(const struct hr_diag *d, const char *what)
{
	if (!what || strstr(d->text, what))
		return true;
	for (const struct hr_note *n = d->helps; n; n = n->next)
		if (strstr(n->text, what))
			return true;
	return false;
}

static void
every_kind_of_bad_text_has_its_sentence_and_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(REFUSALS) / sizeof(REFUSALS[0]); i++) {
		const struct refusal *r = &REFUSALS[i];
		struct hr_arena *a = hr_arena_new();
		struct hr_diags d;

		hr_diags_init(&d, a);
		struct hr_file *f =
			hr_file_new(a, "t", "/", r->text, r->n ? r->n : strlen(r->text));

		hr_yaml_parse(a, f, &d);
		bool as_wanted = d.n_errors == (r->code != 0);

		if (as_wanted && r->code)
			as_wanted = d.first->code == r->code && d.first->at.line == r->line &&
				    d.first->at.col == r->col && mentions(d.first, r->says);
		if (!as_wanted) {
			print_message("case %zu (%s), wanted E%u at %u:%u, found:\n%s", i, r->text,
				      r->code, r->line, r->col, hr_diags_text(&d, a, false));
			fail();
		}
		hr_arena_free(a);
	}
}

static struct hr_diags
parse(struct hr_arena *a, const char *text, size_t n)
{
	struct hr_diags d;

	hr_diags_init(&d, a);
	hr_yaml_parse(a, hr_file_new(a, "t", "/", text, n), &d);
	return d;
}

static void
limits_hold(void **state)
{
	struct hr_arena *a = hr_arena_new();
	size_t n = HR_YAML_MAX_BYTES + 1;
	char *big = malloc(n + 1);

	(void)state;
	memset(big, '#', n);
	big[n] = 0;
	assert_int_equal(parse(a, big, n).first->code, 102);
	assert_int_equal(parse(a, big, n - 1).first->code, 112);
	memset(big, '[', n);
	assert_int_equal(parse(a, big, 10000).first->code, 113);
	for (size_t i = 0; i < n; i += 2)
		memcpy(big + i, "- ", i + 1 < n ? 2 : 1);
	assert_int_equal(parse(a, big, 10000).first->code, 113);
	for (size_t i = 1; i + 1 < n; i += 2)
		memcpy(big + i, "x,", 2);
	big[0] = '[';
	assert_int_equal(parse(a, big, n - 1).first->code, 114);
	free(big);
	hr_arena_free(a);
}

static void
an_alias_bomb_is_found_by_arithmetic(void **state)
{
	struct hr_arena *a = hr_arena_new();
	char text[2000] = "x-a:\n- &a0 [x,x,x,x,x,x,x,x,x]\n", line[128];

	(void)state;
	for (char i = '1'; i <= '9'; i++) {
		strcpy(line, "- &a1 [*a0,*a0,*a0,*a0,*a0,*a0,*a0,*a0,*a0]\n");
		line[4] = i;
		for (char *s = strchr(line, '*'); s; s = strchr(s + 1, '*'))
			s[2] = (char)(i - 1);
		strcat(text, line);
	}
	struct hr_diags d = parse(a, text, strlen(text));

	assert_int_equal(d.n_errors, 1);
	assert_int_equal(d.first->code, 114);
	assert_true(hr_arena_bytes(a) < 1 << 20);
	hr_arena_free(a);
}

static void
depth_is_counted_through_aliases(void **state)
{
	struct hr_arena *a = hr_arena_new();
	char text[400] = "a: &a ";

	(void)state;
	for (int i = 0; i < 40; i++)
		strcat(text, "[");
	for (int i = 0; i < 40; i++)
		strcat(text, "]");
	strcat(text, "\nb: ");
	for (int i = 0; i < 30; i++)
		strcat(text, "[");
	strcat(text, "*a");
	for (int i = 0; i < 30; i++)
		strcat(text, "]");
	struct hr_diags d = parse(a, text, strlen(text));

	assert_int_equal(d.n_errors, 1);
	assert_int_equal(d.first->code, 113);
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_bad_text_has_its_sentence_and_place),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(an_alias_bomb_is_found_by_arithmetic),
		cmocka_unit_test(depth_is_counted_through_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
