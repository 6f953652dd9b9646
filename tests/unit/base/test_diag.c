// SPDX-License-Identifier: Apache-2.0
/*
 * test_diag.c - collecting, sorting, suggesting, printing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/diag.h"
#include "base/diag_codes.h"

struct bench {
	struct hr_arena *arena;
	struct hr_diags diags;
	struct hr_file file, other;
};

static int
setup(void **state)
{
	static const char TEXT[] = "\xef\xbb\xbf"
				   "one: two\n\tthree \xc3\xa4\xff: \x01\r\nlast";
	struct hr_arena *arena = hr_arena_new();
	struct bench *b = HR_NEW(arena, struct bench);

	b->arena = arena;
	hr_diags_init(&b->diags, arena);
	b->file = (struct hr_file){ .name = "a.yaml", .text = TEXT, .len = sizeof(TEXT) - 1 };
	b->other = (struct hr_file){ .name = "b.yaml", .text = "x", .len = 1, .order = 1 };
	*state = b;
	return 0;
}

static int
teardown(void **state)
{
	hr_arena_free(((struct bench *)*state)->arena);
	return 0;
}

static struct hr_span
at(const struct hr_file *f, uint32_t line, uint32_t col, uint32_t len)
{
	return (struct hr_span){ .file = f, .line = line, .col = col, .len = len };
}

static void
text_has_place_line_caret_help_and_verdict(void **state)
{
	struct bench *b = *state;
	struct hr_diag *d = hr_error(&b->diags, at(&b->file, 1, 6, 3), 214, "no %s", "node");

	hr_note(d, at(&b->file, 1, 1, 3), "here");
	hr_help(d, "did you mean 'x'?");
	assert_string_equal(hr_diags_text(&b->diags, b->arena, false),
			    "a.yaml:1:6: error[E214]: no node\n"
			    "    1 | one: two\n"
			    "      |      ^~~\n"
			    "a.yaml:1:1: note: here\n"
			    "    1 | one: two\n"
			    "      | ^~~\n"
			    "help: did you mean 'x'?\n"
			    "1 error; nothing was started\n");
}

static void
what_cannot_be_seen_is_shown_as_escapes(void **state)
{
	struct bench *b = *state;

	hr_error(&b->diags, at(&b->file, 2, 9, 1), 103, "byte");
	hr_warning(&b->diags, at(&b->file, 3, 40, 1), 420, "behind the end");
	assert_string_equal(hr_diags_text(&b->diags, b->arena, false),
			    "a.yaml:2:9: error[E103]: byte\n"
			    "    2 | \\tthree \xc3\xa4\\xff: \\x01\n"
			    "      |          ^~~~\n"
			    "a.yaml:3:40: warning[W420]: behind the end\n"
			    "    3 | last\n"
			    "      |     ^\n"
			    "1 error; nothing was started\n");
}

static void
colors_mark_severity_and_caret(void **state)
{
	struct bench *b = *state;

	hr_error(&b->diags, at(&b->file, 3, 1, 4), 103, "x");
	assert_string_equal(hr_diags_text(&b->diags, b->arena, true),
			    "a.yaml:3:1: \033[1;31merror[E103]\033[0m: x\n"
			    "    3 | last\n"
			    "      | \033[32m^~~~\033[0m\n"
			    "1 error; nothing was started\n");
}

static void
sorted_by_file_line_and_column_with_placeless_last(void **state)
{
	struct bench *b = *state;

	hr_error(&b->diags, HR_NOWHERE, 301, "5");
	hr_error(&b->diags, at(&b->other, 1, 1, 1), 203, "4");
	hr_error(&b->diags, at(&b->file, 3, 2, 1), 203, "3");
	hr_error(&b->diags, at(&b->file, 1, 9, 1), 203, "2");
	hr_error(&b->diags, at(&b->file, 1, 2, 1), 204, "1");
	hr_diags_sort(&b->diags);
	char want = '1';

	for (struct hr_diag *d = b->diags.first; d; d = d->next, want++)
		assert_int_equal(d->text[0], want);
	assert_int_equal(want, '6');
	assert_int_equal(b->diags.exit_code, 2);
	assert_non_null(strstr(hr_diags_text(&b->diags, b->arena, false),
			       "error[E301]: 5\n5 errors; nothing was started\n"));
}

static void
same_code_and_place_is_one_fault(void **state)
{
	struct bench *b = *state;

	hr_error(&b->diags, at(&b->file, 1, 1, 1), 203, "first");
	hr_help(hr_error(&b->diags, at(&b->file, 1, 1, 1), 203, "second"), "goes nowhere");
	hr_error(&b->diags, at(&b->file, 1, 1, 1), 204, "other code");
	hr_error(&b->diags, HR_NOWHERE, 301, "placeless faults");
	hr_error(&b->diags, HR_NOWHERE, 301, "are all different");
	assert_int_equal(b->diags.n_errors, 4);
	assert_null(strstr(hr_diags_text(&b->diags, b->arena, false), "nowhere"));
}

static void
exit_code_is_the_smallest(void **state)
{
	struct bench *b = *state;

	hr_warning(&b->diags, HR_NOWHERE, 420, "w");
	assert_int_equal(b->diags.exit_code, 0);
	assert_string_equal(hr_diags_text(&b->diags, b->arena, false), "warning[W420]: w\n");
	hr_error(&b->diags, HR_NOWHERE, 301, "3");
	assert_int_equal(b->diags.exit_code, 3);
	hr_error(&b->diags, HR_NOWHERE, 201, "2");
	assert_int_equal(b->diags.exit_code, 2);
}

static void
twenty_are_shown_and_all_are_counted(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 1; i <= 1000; i++) {
		hr_help(hr_error(&b->diags, at(&b->file, 1, i, 1), 203, "e"), "h");
		hr_warning(&b->diags, at(&b->file, 1, i, 1), 420, "w");
	}
	const char *text = hr_diags_text(&b->diags, b->arena, false);
	size_t shown = 0;

	for (const char *s = text; (s = strstr(s, "error[")); s++)
		shown++;
	assert_int_equal(shown, HR_DIAGS_SHOWN);
	assert_non_null(strstr(text, "and 980 more warnings\nand 980 more errors\n"
				     "1000 errors; nothing was started\n"));
	assert_int_equal(b->diags.n_kept, 2 * HR_DIAGS_KEPT);
}

static void
near_names_are_suggested_and_far_ones_are_not(void **state)
{
	static const char *const NAMES[] = { "inputs", "out_v", "src", "doppler_fft", "n" };
	static const char *const GOT[][2] = {
		{ "input", "inputs" },
		{ "out-v", "out_v" },
		{ "OutV", "out_v" },
		{ "srk", "src" },
		{ "dopler_fft", "doppler_fft" },
		{ "nn", "n" },
		{ "inptus", "inputs" },
		{ "xyz", NULL },
		{ "ab", NULL },
		{ "", NULL },
		{ "doplr_ft", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(GOT) / sizeof(GOT[0]); i++) {
		const char *near = hr_nearest(GOT[i][0], NAMES, 5);

		if (!GOT[i][1])
			assert_null(near);
		else
			assert_string_equal(near, GOT[i][1]);
	}
	char endless[300];

	memset(endless, 'a', sizeof(endless));
	endless[299] = 0;
	assert_null(hr_nearest(endless, NAMES, 5));
}

static void
names_are_listed_up_to_twelve(void **state)
{
	struct bench *b = *state;
	const char *names[13];
	struct hr_diag *d = hr_error(&b->diags, HR_NOWHERE, 203, "x");

	for (size_t i = 0; i < 13; i++)
		names[i] = "name";
	hr_suggest(d, "zzzzzzzz", names, 13);
	assert_null(d->helps);
	hr_suggest(d, "nam", names, 2);
	assert_string_equal(d->helps->text, "did you mean 'name'?");
	assert_string_equal(d->helps->next->text, "valid here: name, name");
	hr_suggest(d, "zzzzzzzz", NULL, 0);
	assert_null(d->helps->next->next);
}

static void
long_lines_are_cut_around_the_place(void **state)
{
	struct bench *b = *state;
	char *text = hr_alloc(b->arena, 1001);

	memset(text, '.', 1000);
	memcpy(text + 500, "HERE", 4);
	b->file.text = text;
	b->file.len = 1000;
	hr_error(&b->diags, at(&b->file, 1, 501, 4), 203, "x");
	const char *out = hr_diags_text(&b->diags, b->arena, false);
	const char *line = strchr(out, '\n') + 1, *caret = strchr(line, '\n') + 1;

	assert_true((size_t)(caret - line) < 130);
	assert_int_equal(strstr(line, "HERE") - line, strchr(caret, '^') - caret);
	assert_int_equal(strcspn(strchr(caret, '^'), "\n"), 4);
}

static void
json_holds_the_same_facts(void **state)
{
	struct bench *b = *state;
	struct hr_path_step steps[] = { { 1, 1, UINT32_MAX, 0, "nodes" },
					{ 1, 6, 0, 0, "src" },
					{ 2, 1, 1, 3, NULL } };
	struct hr_paths paths = { steps, 3, 3 };
	struct hr_diag *d;

	b->file.paths = &paths;
	d = hr_error(&b->diags, at(&b->file, 2, 2, 1), 203, "m");
	hr_note(d, at(&b->file, 1, 1, 1), "n");
	hr_help(d, "h");
	hr_warning(&b->diags, HR_NOWHERE, 420, "w");
	const char *json = hr_diags_json(&b->diags, b->arena);

	assert_non_null(strstr(json, "\"code\":\t\"E203\""));
	assert_non_null(strstr(json, "\"path\":\t\"nodes.src.3\""));
	assert_non_null(strstr(json, "\"line\":\t2,"));
	assert_non_null(strstr(json, "\"help\":\t[\"h\"]"));
	assert_non_null(strstr(json, "\"file\":\tnull"));
	assert_non_null(strstr(json, "\"errors\":\t1"));
	assert_non_null(strstr(json, "\"warnings\":\t1"));
	assert_string_equal(hr_span_path(b->arena, at(&b->file, 1, 5, 1)), "nodes");
	assert_string_equal(hr_span_path(b->arena, HR_NOWHERE), "");
	assert_string_equal(hr_span_text(b->arena, at(&b->file, 1, 5, 1)), "a.yaml:1:5");
	assert_string_equal(hr_span_text(b->arena, at(&b->file, 0, 0, 0)), "a.yaml");
	assert_string_equal(hr_span_text(b->arena, HR_NOWHERE), "");
}

static void
the_table_of_codes_is_whole_and_each_code_stands_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < hr_n_diag_codes; i++) {
		const struct hr_diag_code *c = &hr_diag_codes[i];

		assert_true(c->title[0] && c->cause[0] && c->cure[0]);
		uint32_t want = c->code < 300 ? 2 : c->code < 400 ? 3 : 0;

		assert_int_equal(c->exit_code, want);
		assert_ptr_equal(hr_diag_code_find(c->code), c);
	}
	assert_null(hr_diag_code_find(999));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(text_has_place_line_caret_help_and_verdict),
		TEST(what_cannot_be_seen_is_shown_as_escapes),
		TEST(colors_mark_severity_and_caret),
		TEST(sorted_by_file_line_and_column_with_placeless_last),
		TEST(same_code_and_place_is_one_fault),
		TEST(exit_code_is_the_smallest),
		TEST(twenty_are_shown_and_all_are_counted),
		TEST(near_names_are_suggested_and_far_ones_are_not),
		TEST(names_are_listed_up_to_twelve),
		TEST(long_lines_are_cut_around_the_place),
		TEST(json_holds_the_same_facts),
		TEST(the_table_of_codes_is_whole_and_each_code_stands_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
