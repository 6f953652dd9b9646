// SPDX-License-Identifier: Apache-2.0
/*
 * test_text.c - characters, numbers, JSON texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "base/utf8.h"

static void
utf8_accepts_every_character_and_nothing_else(void **state)
{
	static const struct {
		const char *bytes;
		size_t n, len;
		uint32_t code;
	} CASES[] = {
		{ "a", 1, 1, 'a' },
		{ "\xc3\xa4", 2, 2, 0xe4 },
		{ "\xe2\x82\xac", 3, 3, 0x20ac },
		{ "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "\xc3", 1, 0, 0 },             /* cut */
		{ "\xc0\xaf", 2, 0, 0 },         /* overlong */
		{ "\xe0\x80\xaf", 3, 0, 0 },     /* overlong */
		{ "\xed\xa0\x80", 3, 0, 0 },     /* surrogate */
		{ "\xf4\x90\x80\x80", 4, 0, 0 }, /* above U+10FFFF */
		{ "\x80", 1, 0, 0 },             /* continuation alone */
		{ "\xff", 1, 0, 0 },
		{ "\xc3\x28", 2, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint32_t code = 0;

		assert_int_equal(hr_utf8_next(CASES[i].bytes, CASES[i].n, &code), CASES[i].len);
		assert_int_equal(code, CASES[i].code);
	}
	assert_int_equal(hr_utf8_count("a\xc3\xa4\xff\x62", 5), 4);
	assert_int_equal(hr_utf8_next("", 0, &(uint32_t){ 0 }), 0);
}

static void
decimals_stay_exact(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		int64_t factor, value;
		enum hr_fit fit;
	} CASES[] = {
		{ "2.3", 3, 1000, 2300, HR_FIT_OK },
		{ "0.1", 3, 1000000000, 100000000, HR_FIT_OK },
		{ "1_024", 5, 1, 1024, HR_FIT_OK },
		{ "0x400", 5, 1, 1024, HR_FIT_OK },
		{ "0xff_ff", 7, 1, 65535, HR_FIT_OK },
		{ "1e3", 3, 1, 1000, HR_FIT_OK },
		{ "1.5e-1", 6, 100, 15, HR_FIT_OK },
		{ "-7", 2, 2, -14, HR_FIT_OK },
		{ "9223372036854775807", 19, 1, INT64_MAX, HR_FIT_OK },
		{ "9223372036854775808", 19, 1, 0, HR_FIT_TOO_LARGE },
		{ "1e19", 4, 1, 0, HR_FIT_TOO_LARGE },
		{ "1e99999999999", 13, 1, 0, HR_FIT_TOO_LARGE },
		{ "0e99999999999", 13, 1, 0, HR_FIT_OK },
		{ "1.5", 3, 1, 0, HR_FIT_NOT_WHOLE },
		{ "1e-3", 4, 1, 0, HR_FIT_NOT_WHOLE },
		{ "1e-99999999999", 14, 1, 0, HR_FIT_NOT_WHOLE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct hr_decimal d;
		int64_t v = 0;

		assert_int_equal(hr_decimal_read(CASES[i].text, &d), CASES[i].len);
		assert_int_equal(hr_decimal_scale(&d, CASES[i].factor, &v), CASES[i].fit);
		assert_int_equal(v, CASES[i].value);
	}
}

static void
what_is_no_number_is_not_read(void **state)
{
	static const char *const BAD[] = {
		"", "-", "+", ".", "x", "0x", "0xg", "_1", "e5", "-.e1"
	};
	struct hr_decimal d;

	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		assert_int_equal(hr_decimal_read(BAD[i], &d), 0);
	/* The rest of the text is somebody else's. */
	assert_int_equal(hr_decimal_read("5ms", &d), 1);
	assert_int_equal(hr_decimal_read("1_", &d), 1);
	assert_int_equal(hr_decimal_read("1__0", &d), 1);
	assert_int_equal(hr_decimal_read("1e", &d), 1);
	assert_int_equal(hr_decimal_read("2e+", &d), 1);
	char endless[500];

	memset(endless, '1', sizeof(endless));
	endless[499] = 0;
	assert_int_equal(hr_decimal_read(endless, &d), 0);
	endless[300] = 0;
	assert_int_equal(hr_decimal_read(endless, &d), 300);
	assert_true(d.too_long && d.value > 1e299);
	hr_decimal_read("010", &d);
	assert_true(d.leading_zero);
	hr_decimal_read("0.5", &d);
	assert_false(d.leading_zero);
}

static void
numbers_are_spelled_so_that_they_read_back(void **state)
{
	static const struct {
		double value;
		const char *text;
	} CASES[] = {
		{ 1000, "1000" },   { 1e6, "1000000" },  { 0.001, "0.001" },
		{ 20.48, "20.48" }, { 1e-7, "1e-07" },   { -0.5, "-0.5" },
		{ 0, "0" },         { 1e300, "1e+300" }, { 1.0 / 3, "0.3333333333333333" },
	};
	struct hr_arena *a = hr_arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_string_equal(hr_number_text(a, CASES[i].value), CASES[i].text);
	double hard[] = { DBL_MIN, DBL_MAX, 5e-324, 0.1 + 0.2, 123456789.123456789 };

	for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++) {
		struct hr_decimal d;

		assert_true(hr_decimal_read(hr_number_text(a, hard[i]), &d) > 0);
		assert_true(d.value == hard[i]);
	}
	hr_arena_free(a);
}

static void
the_locale_changes_nothing(void **state)
{
	static const char *const COMMA[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE" };
	struct hr_arena *a = hr_arena_new();
	struct hr_decimal d;
	const char *set = NULL;

	(void)state;
	for (size_t i = 0; i < 3 && !set; i++)
		set = setlocale(LC_ALL, COMMA[i]);
	hr_decimal_read("1.5", &d);
	assert_true(d.value == 1.5);
	assert_string_equal(hr_number_text(a, 1.5), "1.5");
	setlocale(LC_ALL, "C");
	hr_arena_free(a);
	if (!set)
		print_message("no locale with a decimal comma is installed\n");
}

static void
json_keeps_integers_and_repairs_text(void **state)
{
	struct hr_arena *a = hr_arena_new();
	cJSON *o = cJSON_CreateObject();

	(void)state;
	hr_json_add_int(o, "i", INT64_MAX);
	hr_json_add_int(o, "j", INT64_MIN);
	hr_json_add_text(o, "t", "a\xff\"b");
	assert_string_equal(hr_json_text(a, o, false),
			    "{\"i\":9223372036854775807,\"j\":-9223372036854775808,"
			    "\"t\":\"a\xef\xbf\xbd\\\"b\"}");
	assert_string_equal(hr_json_text(a, cJSON_CreateTrue(), true), "true\n");
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_accepts_every_character_and_nothing_else),
		cmocka_unit_test(decimals_stay_exact),
		cmocka_unit_test(what_is_no_number_is_not_read),
		cmocka_unit_test(numbers_are_spelled_so_that_they_read_back),
		cmocka_unit_test(the_locale_changes_nothing),
		cmocka_unit_test(json_keeps_integers_and_repairs_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
