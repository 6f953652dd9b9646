// SPDX-License-Identifier: Apache-2.0
/*
 * cpus_test.c - the CPU list language, and where its errors point.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kit.h"
#include "plan/cpus.h"

/* `shown` stands in a file, `text` is its value.  The CPUs as "0 1 2", or "E260:<offset>:<len>"
 * when refused. */
static const char *
parse(struct kit *k, const char *shown, const char *text)
{
	enum { LINE = 7, COL = 13 };
	struct hr_name name = {
		text, { .file = &k->file, .line = LINE, .col = COL, .len = (uint32_t)strlen(shown) }
	};
	struct hr_cpu_list list;
	struct hr_text t;

	k->file.text = hr_printf(k->arena, "\n\n\n\n\n\n  h\xc3\xa9re: {x: %s}\n", shown);
	hr_diags_init(&k->diags, k->arena);
	hr_text_init(&t, k->arena);
	if (hr_cpus_parse(k->arena, &k->machine, "here", &name, &list, &k->diags) < 0) {
		assert_int_equal(k->diags.n_errors, 1);
		hr_text_add(&t, "E%u:%u:%u", k->diags.first->code, k->diags.first->at.col - COL,
			    k->diags.first->at.len);
		return t.s;
	}
	assert_int_equal(k->diags.n_errors, 0);
	for (uint32_t i = 0; i < list.n; i++)
		hr_text_add(&t, i ? " %u" : "%u", list.os[i]);
	return t.s;
}

static void
want(struct kit *k, const char *text, const char *result)
{
	assert_string_equal(parse(k, text, text), result);
}

static void
numbers_ranges_and_lists_are_read_in_order(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	kit_machine(k, 8, 0xff);
	want(k, "3", "3");
	want(k, "2-3,6", "2 3 6");
	want(k, "6,0-1", "6 0 1");
	want(k, " 2 , 4 ", "2 4");
	want(k, "[0, 1]", "0 1");
	kit_free(k);
}

static void
relative_numbers_count_inside_the_allowed_ones(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	kit_machine(k, 8, 0xb2); /* 1 4 5 7 */
	want(k, "rel:0", "1");
	want(k, "rel:0-1,3", "1 4 7");
	want(k, "rel:all", "1 4 5 7");
	want(k, "rel:4", "E310:4:1");
	kit_free(k);
}

static void
errors_underline_the_part_that_is_wrong(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	want(k, "0,x", "E260:2:1");
	want(k, "0,", "E260:2:1");
	assert_string_equal(parse(k, "''", ""), "E260:1:1");
	want(k, "1-", "E260:0:2");
	want(k, "0,3-1", "E260:2:3");
	want(k, "0 1", "E260:2:1");
	want(k, "-1", "E260:0:1");
	want(k, "1,0-2", "E261:2:3");
	want(k, "0,17", "E310:2:2");
	want(k, "rel:al", "E260:4:1");
	want(k, "rel:allx", "E260:7:1");
	kit_free(k);
}

static void
quoted_text_is_underlined_inside_the_quotes(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	assert_string_equal(parse(k, "'0,17'", "0,17"), "E310:3:2");
	kit_free(k);
}

static void
text_from_elsewhere_is_underlined_whole(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	assert_string_equal(parse(k, "$cpu", "0,17"), "E310:0:4");
	assert_string_equal(parse(k, "[0, 17]", "0,17"), "E310:0:7");
	kit_free(k);
}

static void
huge_numbers_end_the_scan_at_once(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	want(k, "0-4294967295", "E310:0:12");
	want(k, "99999999999999999999", "E310:0:20");
	kit_free(k);
}

static void
allowed_cpus_are_spelled_as_ranges(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	kit_machine(k, 8, 0xb7);
	assert_string_equal(hr_cpus_allowed(k->arena, &k->machine), "0-2,4-5,7");
	kit_machine(k, 8, 0x01);
	assert_string_equal(hr_cpus_allowed(k->arena, &k->machine), "0");
	kit_free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_ranges_and_lists_are_read_in_order),
		cmocka_unit_test(relative_numbers_count_inside_the_allowed_ones),
		cmocka_unit_test(errors_underline_the_part_that_is_wrong),
		cmocka_unit_test(quoted_text_is_underlined_inside_the_quotes),
		cmocka_unit_test(text_from_elsewhere_is_underlined_whole),
		cmocka_unit_test(huge_numbers_end_the_scan_at_once),
		cmocka_unit_test(allowed_cpus_are_spelled_as_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
