// SPDX-License-Identifier: Apache-2.0
/*
 * test_value.c - text to typed values, typed values to other types, and spelling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "model/value.h"

struct reading {
	enum hr_type type;
	const char *text;
	int64_t i;
	double f;
	const char *spelled; /* NULL: refused, and the reason has `why` in it */
	const char *why;
};

static const struct reading READINGS[] = {
	{ HR_T_BOOL, "true", 1, 1, "true", NULL },
	{ HR_T_BOOL, "false", 0, 0, "false", NULL },
	{ HR_T_BOOL, "yes", 0, 0, NULL, "'yes' is not a bool: write true or false" },
	{ HR_T_BOOL, "True", 0, 0, NULL, "write true or false" },
	{ HR_T_BOOL, "", 0, 0, NULL, "write true or false" },
	{ HR_T_INT, "0", 0, 0, "0", NULL },
	{ HR_T_INT, "-12", -12, -12, "-12", NULL },
	{ HR_T_INT, "+5", 5, 5, "5", NULL },
	{ HR_T_INT, " 5 ", 5, 5, "5", NULL },
	{ HR_T_INT, "10k", 10000, 10000, "10000", NULL },
	{ HR_T_INT, "1M", 1000000, 1e6, "1000000", NULL },
	{ HR_T_INT, "2G", 2000000000, 2e9, "2000000000", NULL },
	{ HR_T_INT, "1_024", 1024, 1024, "1024", NULL },
	{ HR_T_INT, "0x400", 1024, 1024, "1024", NULL },
	{ HR_T_INT, "1e3", 1000, 1000, "1000", NULL },
	{ HR_T_INT, "5.0", 5, 5, "5", NULL },
	{ HR_T_INT, "1.5k", 1500, 1500, "1500", NULL },
	{ HR_T_INT, "9223372036854775807", INT64_MAX, 9223372036854775808.0, "9223372036854775807",
	  NULL },
	{ HR_T_INT, "9223372036854775808", 0, 0, NULL, "too large" },
	{ HR_T_INT, "010", 0, 0, NULL, "leading zero" },
	{ HR_T_INT, "1.5", 0, 0, NULL, "not a whole number" },
	{ HR_T_INT, "x", 0, 0, NULL, "'x' is not an int" },
	{ HR_T_INT, "", 0, 0, NULL, "not an int" },
	{ HR_T_INT, "12:30", 0, 0, NULL, "':30' cannot follow" },
	{ HR_T_INT, "5ms", 0, 0, NULL, "'ms' cannot follow" },
	{ HR_T_FLOAT, "1e3", 0, 1000, "1000", NULL },
	{ HR_T_FLOAT, "1.0e3", 0, 1000, "1000", NULL },
	{ HR_T_FLOAT, "1E+3", 0, 1000, "1000", NULL },
	{ HR_T_FLOAT, "1000", 0, 1000, "1000", NULL },
	{ HR_T_FLOAT, ".5", 0, 0.5, "0.5", NULL },
	{ HR_T_FLOAT, "-2.5", 0, -2.5, "-2.5", NULL },
	{ HR_T_FLOAT, "1e999", 0, 0, NULL, "too large" },
	{ HR_T_FLOAT, "nan", 0, 0, NULL, "not a number" },
	{ HR_T_FLOAT, "inf", 0, 0, NULL, "not a number" },
	{ HR_T_FLOAT, "1,5", 0, 0, NULL, "',5' cannot follow" },
	{ HR_T_STRING, "no", 0, 0, "no", NULL },
	{ HR_T_STRING, "null", 0, 0, "null", NULL },
	{ HR_T_STRING, " a ", 0, 0, " a ", NULL },
	{ HR_T_STRING, "", 0, 0, "", NULL },
	{ HR_T_SIZE, "64", 64, 64, "64 B", NULL },
	{ HR_T_SIZE, "64 B", 64, 64, "64 B", NULL },
	{ HR_T_SIZE, "64KiB", 65536, 65536, "64 KiB", NULL },
	{ HR_T_SIZE, "1.5 MiB", 1572864, 1572864, "1536 KiB", NULL },
	{ HR_T_SIZE, "2GiB", 2147483648, 2147483648, "2 GiB", NULL },
	{ HR_T_SIZE, "1kB", 1000, 1000, "1000 B", NULL },
	{ HR_T_SIZE, "1MB", 1000000, 1e6, "1000000 B", NULL },
	{ HR_T_SIZE, "0", 0, 0, "0 B", NULL },
	{ HR_T_SIZE, "64k", 0, 0, NULL, "'k' is none of its units (B kB KiB MB MiB GB GiB)" },
	{ HR_T_SIZE, "64KB", 0, 0, NULL, "'KB' is none of its units" },
	{ HR_T_SIZE, "0.5", 0, 0, NULL, "whole number of bytes" },
	{ HR_T_SIZE, "-1", 0, 0, NULL, "not a size" },
	{ HR_T_SIZE, "9999999999GiB", 0, 0, NULL, "too large" },
	{ HR_T_SIZE, "x", 0, 0, NULL, "not a size" },
	{ HR_T_DURATION, "10ms", 10000000, 1e7, "10 ms", NULL },
	{ HR_T_DURATION, "1.5 us", 1500, 1500, "1500 ns", NULL },
	{ HR_T_DURATION, "0.1s", 100000000, 1e8, "100 ms", NULL },
	{ HR_T_DURATION, "2min", 120000000000, 1.2e11, "120 s", NULL },
	{ HR_T_DURATION, "0", 0, 0, "0 ns", NULL },
	{ HR_T_DURATION, "0us", 0, 0, "0 ns", NULL },
	{ HR_T_DURATION, "5", 0, 0, NULL, "'5' has no unit: write '5 ms' (units: ns us ms s min)" },
	{ HR_T_DURATION, "5 sec", 0, 0, NULL, "'sec' is none of its units" },
	{ HR_T_DURATION, "0.1ns", 0, 0, NULL, "whole number of nanoseconds" },
	{ HR_T_DURATION, "-1s", 0, 0, NULL, "not a duration" },
	{ HR_T_RATE, "20.48MHz", 0, 20480000, "20.48 MHz", NULL },
	{ HR_T_RATE, "100 Hz", 0, 100, "100 Hz", NULL },
	{ HR_T_RATE, "0.5Hz", 0, 0.5, "0.5 Hz", NULL },
	{ HR_T_RATE, "10kHz", 0, 10000, "10 kHz", NULL },
	{ HR_T_RATE, "0", 0, 0, "0 Hz", NULL },
	{ HR_T_RATE, "5", 0, 0, NULL, "write '5 Hz'" },
	{ HR_T_RATE, "5hz", 0, 0, NULL, "'hz' is none of its units (Hz kHz MHz GHz)" },
	{ HR_T_RATE, "1e308GHz", 0, 0, NULL, "too large" },
	{ HR_T_RATE, "-1Hz", 0, 0, NULL, "not a rate" },
	{ HR_T_CPUS, "2-3,6", 0, 0, "2-3,6", NULL },
	{ HR_T_CPUS, "rel:0-1", 0, 0, "rel:0-1", NULL },
	{ HR_T_CPUS, "rel:all", 0, 0, "rel:all", NULL },
	{ HR_T_CPUS, " 1 , 2", 0, 0, "1 , 2", NULL },
	{ HR_T_CPUS, "", 0, 0, NULL, "not a CPU list" },
	{ HR_T_CPUS, "3-2", 0, 0, NULL, "counts down" },
	{ HR_T_CPUS, "1,", 0, 0, NULL, "not a CPU list" },
	{ HR_T_CPUS, "1-", 0, 0, NULL, "not a CPU list" },
	{ HR_T_CPUS, "all", 0, 0, NULL, "not a CPU list" },
	{ HR_T_CPUS, "1;2", 0, 0, NULL, "not a CPU list" },
	{ HR_T_CPUS, "99999999", 0, 0, NULL, "not a CPU list" },
};

static void
text_is_read_as_its_declared_type(void **state)
{
	struct hr_arena *a = hr_arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(READINGS) / sizeof(READINGS[0]); i++) {
		const struct reading *r = &READINGS[i];
		struct hr_value in = { .type = HR_T_TEXT, .text = r->text }, out = { 0 };
		const char *why = NULL;
		int rc = hr_value_convert(a, &in, r->type, &out, &why);
		bool ok = r->spelled ? !rc && out.type == r->type && out.i == r->i &&
					       out.f == r->f && !strcmp(out.text, r->spelled) &&
					       !strcmp(hr_value_text(a, &out), r->spelled)
				     : rc == -EINVAL && strstr(why, r->why);

		if (!ok) {
			print_message("'%s' as %s: rc %d, %s\n", r->text, hr_type_name[r->type], rc,
				      rc ? why : out.text);
			fail();
		}
	}
	hr_arena_free(a);
}

static struct hr_value
make(struct hr_arena *a, enum hr_type type, const char *text)
{
	struct hr_value in = { .type = HR_T_TEXT, .text = text }, out = { 0 };
	const char *why = NULL;

	assert_int_equal(hr_value_convert(a, &in, type, &out, &why), 0);
	return out;
}

static void
what_is_spelled_reads_back(void **state)
{
	struct hr_arena *a = hr_arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(READINGS) / sizeof(READINGS[0]); i++) {
		const struct reading *r = &READINGS[i];

		if (!r->spelled)
			continue;
		struct hr_value back = make(a, r->type, r->spelled);

		assert_int_equal(back.i, r->i);
		assert_true(back.f == r->f);
	}
	hr_arena_free(a);
}

static void
typed_values_change_type_only_where_no_unit_is_lost(void **state)
{
	static const struct {
		enum hr_type from;
		const char *text;
		enum hr_type to;
		const char *spelled; /* NULL: refused */
	} CASES[] = {
		{ HR_T_INT, "5", HR_T_FLOAT, "5" },
		{ HR_T_INT, "5", HR_T_SIZE, "5 B" },
		{ HR_T_INT, "-5", HR_T_SIZE, NULL },
		{ HR_T_INT, "5", HR_T_STRING, "5" },
		{ HR_T_INT, "5", HR_T_DURATION, NULL },
		{ HR_T_INT, "0", HR_T_DURATION, "0 ns" },
		{ HR_T_INT, "0", HR_T_RATE, "0 Hz" },
		{ HR_T_INT, "5", HR_T_RATE, NULL },
		{ HR_T_INT, "1", HR_T_BOOL, NULL },
		{ HR_T_INT, "3", HR_T_CPUS, "3" },
		{ HR_T_FLOAT, "5.0", HR_T_INT, "5" },
		{ HR_T_FLOAT, "5.5", HR_T_INT, NULL },
		{ HR_T_FLOAT, "1e30", HR_T_INT, NULL },
		{ HR_T_FLOAT, "4.0", HR_T_SIZE, "4 B" },
		{ HR_T_SIZE, "4KiB", HR_T_INT, NULL },
		{ HR_T_DURATION, "1s", HR_T_INT, NULL },
		{ HR_T_DURATION, "1s", HR_T_STRING, "1 s" },
		{ HR_T_RATE, "1Hz", HR_T_FLOAT, NULL },
		{ HR_T_BOOL, "true", HR_T_INT, NULL },
		{ HR_T_BOOL, "true", HR_T_STRING, "true" },
		{ HR_T_STRING, "5", HR_T_INT, NULL },
		{ HR_T_STRING, "rel:0", HR_T_CPUS, "rel:0" },
		{ HR_T_STRING, "x", HR_T_CPUS, NULL },
		{ HR_T_CPUS, "1-2", HR_T_STRING, "1-2" },
		{ HR_T_INT, "7", HR_T_TEXT, "7" },
	};
	struct hr_arena *a = hr_arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct hr_value in = make(a, CASES[i].from, CASES[i].text), out = { 0 };
		const char *why = NULL;
		int rc = hr_value_convert(a, &in, CASES[i].to, &out, &why);

		if (!CASES[i].spelled) {
			assert_int_equal(rc, -EINVAL);
			assert_non_null(why);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(out.type, CASES[i].to);
		assert_string_equal(hr_value_text(a, &out), CASES[i].spelled);
	}
	hr_arena_free(a);
}

static void
values_are_ordered(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_value big = make(a, HR_T_INT, "9223372036854775807");
	struct hr_value almost = make(a, HR_T_INT, "9223372036854775806");
	struct hr_value slow = make(a, HR_T_RATE, "1Hz"), fast = make(a, HR_T_RATE, "1kHz");
	struct hr_value x = make(a, HR_T_STRING, "x"), y = make(a, HR_T_STRING, "y");

	(void)state;
	assert_int_equal(hr_value_compare(&big, &almost), 1);
	assert_int_equal(hr_value_compare(&almost, &big), -1);
	assert_int_equal(hr_value_compare(&big, &big), 0);
	assert_int_equal(hr_value_compare(&slow, &fast), -1);
	assert_int_equal(hr_value_compare(&y, &x), 1);
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_read_as_its_declared_type),
		cmocka_unit_test(what_is_spelled_reads_back),
		cmocka_unit_test(typed_values_change_type_only_where_no_unit_is_lost),
		cmocka_unit_test(values_are_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
