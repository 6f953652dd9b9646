// SPDX-License-Identifier: Apache-2.0
/*
 * test_tree.c - texts that are good: values, places, sharing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "yaml/doc.h"

struct bench {
	struct hr_arena *arena;
	struct hr_diags diags;
	const struct hr_file *file;
};

static int
setup(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct bench *b = HR_NEW(a, struct bench);

	b->arena = a;
	hr_diags_init(&b->diags, a);
	*state = b;
	return 0;
}

static int
teardown(void **state)
{
	hr_arena_free(((struct bench *)*state)->arena);
	return 0;
}

static const struct hr_yaml *
parse_n(struct bench *b, const char *text, size_t n)
{
	struct hr_file *f = hr_file_new(b->arena, "t.yaml", "/", text, n);

	b->file = f;
	const struct hr_yaml *y = hr_yaml_parse(b->arena, f, &b->diags);

	if (!y)
		print_message("%s", hr_diags_text(&b->diags, b->arena, false));
	assert_non_null(y);
	assert_int_equal(b->diags.n_errors, 0);
	return y;
}

static const struct hr_yaml *
parse(struct bench *b, const char *text)
{
	return parse_n(b, text, strlen(text));
}

static const struct hr_yaml *
get(const struct hr_yaml *map, const char *key)
{
	const struct hr_yaml_pair *p = hr_yaml_get(map, key);

	assert_non_null(p);
	return p->value;
}

static void
assert_at(struct hr_span s, uint32_t line, uint32_t col, uint32_t len)
{
	assert_int_equal(s.line, line);
	assert_int_equal(s.col, col);
	assert_int_equal(s.len, len);
}

static void
scalars_stay_text_and_know_their_place(void **state)
{
	const struct hr_yaml *y =
		parse(*state, "a: no\nbb:  '010'\nc: \"x\\ty\"\nd: |\n  l1\n  l2\n"
			      "e: [ ä, b ]\nf:\ng: ~\n");

	assert_int_equal(y->n, 7);
	assert_string_equal(get(y, "a")->text, "no");
	assert_true(get(y, "a")->plain);
	assert_at(get(y, "a")->at, 1, 4, 2);
	assert_string_equal(get(y, "bb")->text, "010");
	assert_false(get(y, "bb")->plain);
	assert_at(get(y, "bb")->at, 2, 6, 5);
	assert_string_equal(get(y, "c")->text, "x\ty");
	assert_string_equal(get(y, "d")->text, "l1\nl2\n");
	assert_at(hr_yaml_get(y, "e")->key_at, 7, 1, 1);
	assert_at(get(y, "e")->item[0]->at, 7, 6, 1);
	assert_at(get(y, "e")->item[1]->at, 7, 9, 1); /* in characters, not bytes */
	assert_true(hr_yaml_is_empty(get(y, "f")));
	assert_string_equal(hr_yaml_kind_name(get(y, "f")), "nothing");
	assert_string_equal(get(y, "g")->text, "~");
	assert_string_equal(hr_yaml_kind_name(get(y, "e")), "a list");
	assert_string_equal(hr_yaml_kind_name(y), "a map");
	assert_null(hr_yaml_get(y, "zz"));
	assert_null(hr_yaml_get(get(y, "a"), "a"));
	assert_null(hr_yaml_get(NULL, "a"));
}

static void
parts_of_scalars_have_places_where_source_and_text_agree(void **state)
{
	const struct hr_yaml *y =
		parse(*state, "a: src.out\nb: 'äx.y'\nc: \"x\\n.y\"\nd: one\n  two\n"
			      "e: 'it''s.x'\n");

	assert_at(hr_yaml_part(get(y, "a"), 4, 3), 1, 8, 3);
	assert_at(hr_yaml_part(get(y, "b"), 2, 1), 2, 6, 1);
	assert_at(hr_yaml_part(get(y, "a"), 7, 1), 1, 11, 1); /* one behind the end */
	assert_at(hr_yaml_part(get(y, "c"), 2, 1), 3, 4, 7);
	assert_at(hr_yaml_part(get(y, "d"), 2, 1), 4, 4, 9);
	assert_at(hr_yaml_part(get(y, "e"), 2, 1), 6, 4, 9);
	assert_at(hr_yaml_part(get(y, "a"), 99, 1), 1, 4, 7);
}

static void
bom_and_crlf_change_no_place(void **state)
{
	const struct hr_yaml *plain = parse(*state, "a: 1\nb: {c: 2}\n");
	const struct hr_yaml *y = parse(*state, "\xef\xbb\xbf"
						"a: 1\r\nb: {c: 2}\r\n");

	assert_at(hr_yaml_get(y, "a")->key_at, 1, 1, 1);
	assert_at(get(get(y, "b"), "c")->at, 2, 8, 1);
	assert_at(get(get(plain, "b"), "c")->at, 2, 8, 1);
	assert_string_equal(get(y, "a")->text, "1");
}

static void
tabs_are_fine_where_they_indent_nothing(void **state)
{
	const struct hr_yaml *y = parse(*state, "a:\t1\t# c\nb: {x:\t1,\n\ty: 2}\n");

	assert_string_equal(get(y, "a")->text, "1");
	assert_string_equal(get(get(y, "b"), "y")->text, "2");
}

static void
aliases_share_the_anchored_tree(void **state)
{
	const struct hr_yaml *y = parse(*state, "a: &x {k: 1}\nb: *x\nc: &x 2\nd: [*x, *x]\n");

	assert_ptr_equal(get(y, "a"), get(y, "b"));
	assert_string_equal(get(y, "d")->item[1]->text, "2"); /* the latest anchor of a name */
	assert_at(get(get(y, "b"), "k")->at, 1, 11, 1);
}

static void
an_alias_may_be_a_key(void **state)
{
	const struct hr_yaml *y = parse(*state, "a: &x name\n*x : 1\n");

	assert_string_equal(get(y, "name")->text, "1");
}

static void
three_anchors_and_two_hundred_aliases_are_fine(void **state)
{
	struct bench *b = *state;
	char text[4000] = "a: &a [1,2,3]\nb: &b {x: *a}\nc: &c [*b, *b]\nd:\n";

	for (int i = 0; i < 200; i++)
		strcat(text, i % 2 ? "- *c\n" : "- *b\n");
	assert_int_equal(get(parse(b, text), "d")->n, 200);
}

static void
tags_of_overlays_are_kept(void **state)
{
	const struct hr_yaml *y = parse(*state, "a: !remove\nb: !replace {c: 1}\n");

	assert_string_equal(get(y, "a")->tag, "!remove");
	assert_string_equal(get(y, "b")->tag, "!replace");
	assert_null(get(get(y, "b"), "c")->tag);
}

static void
a_shebang_line_is_a_comment(void **state)
{
	const struct hr_yaml *y = parse(*state, "#!/usr/bin/env -S holorun run\na: 1\n");

	assert_at(get(y, "a")->at, 2, 4, 1);
}

static void
every_place_has_its_path(void **state)
{
	struct bench *b = *state;

	parse(b, "nodes:\n  src: {op: x, l: [1, {k: v}]}\nlast: 1\n");
	const struct {
		uint32_t line, col;
		const char *path;
	} CASES[] = {
		{ 1, 1, "nodes" },         { 2, 3, "nodes.src" },      { 2, 9, "nodes.src.op" },
		{ 2, 13, "nodes.src.op" }, { 2, 20, "nodes.src.l.0" }, { 2, 24, "nodes.src.l.1.k" },
		{ 3, 7, "last" },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct hr_span at = { .file = b->file, .line = CASES[i].line, .col = CASES[i].col };

		assert_string_equal(hr_span_path(b->arena, at), CASES[i].path);
	}
}

static void
files_are_read_with_their_folder(void **state)
{
	struct bench *b = *state;
	char name[] = "/tmp/hr-yaml-XXXXXX";
	int fd = mkstemp(name);

	assert_int_equal(write(fd, "a: 1\n", 5), 5);
	close(fd);
	struct hr_file *f = hr_file_read(b->arena, name, HR_NOWHERE, &b->diags);

	unlink(name);
	assert_non_null(f);
	assert_string_equal(f->name, name);
	assert_string_equal(f->dir, "/tmp");
	assert_string_equal(f->text, "a: 1\n");
	assert_null(hr_file_read(b->arena, name, HR_NOWHERE, &b->diags));
	assert_int_equal(b->diags.first->code, 101);
	assert_null(hr_file_read(b->arena, "/dev/zero", HR_NOWHERE, &b->diags));
	assert_int_equal(b->diags.last->code, 102);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(scalars_stay_text_and_know_their_place),
		TEST(parts_of_scalars_have_places_where_source_and_text_agree),
		TEST(bom_and_crlf_change_no_place),
		TEST(tabs_are_fine_where_they_indent_nothing),
		TEST(aliases_share_the_anchored_tree),
		TEST(an_alias_may_be_a_key),
		TEST(three_anchors_and_two_hundred_aliases_are_fine),
		TEST(tags_of_overlays_are_kept),
		TEST(a_shebang_line_is_a_comment),
		TEST(every_place_has_its_path),
		TEST(files_are_read_with_their_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
