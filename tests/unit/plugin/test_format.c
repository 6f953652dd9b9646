/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats: how they are spelled, measured, checked and gathered.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "plugin/format.h"

static const struct hop_dtype c32 = { 5, 64, 1 }, i16x2 = { 0, 16, 2 };

static struct hop_format
format(struct hop_dtype t, uint32_t rank, uint32_t d0, uint32_t d1, uint64_t max_bytes)
{
	return (struct hop_format){ .size = sizeof(struct hop_format),
				    .dtype = t,
				    .rank = rank,
				    .dim = { d0, d1 },
				    .max_bytes = max_bytes };
}

static void
formats_are_spelled_as_people_write_them(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hop_format f = format(c32, 1, 1024, 0, 8192);

	(void)state;
	assert_string_equal(hr_format_text(a, &f), "c32[1024]");
	f = format(i16x2, 2, 4, 512, 8192);
	assert_string_equal(hr_format_text(a, &f), "i16x2[4,512]");
	f = format((struct hop_dtype){ 0 }, 0, 0, 0, 1024);
	assert_string_equal(hr_format_text(a, &f), "bytes, at most 1 KiB");
	f.max_bytes = 0;
	assert_string_equal(hr_format_text(a, &f), "bytes");
	f = format((struct hop_dtype){ 9, 3, 1 }, 1, 2, 0, 1);
	assert_string_equal(hr_format_text(a, &f), "type(9,3)[2]");
	hr_arena_free(a);
}

static void
elements_are_measured_and_do_not_overflow(void **state)
{
	struct hop_format f = format(c32, 2, 3, 5, 0);

	(void)state;
	assert_int_equal(hr_format_bytes(&f), 120);
	f = format((struct hop_dtype){ 6, 1, 1 }, 1, 9, 0, 0);
	assert_int_equal(hr_format_bytes(&f), 2);
	f = format(c32, 3, UINT32_MAX, UINT32_MAX, 0);
	f.dim[2] = UINT32_MAX;
	assert_true(hr_format_bytes(&f) == UINT64_MAX);
}

static void
what_an_op_filled_in_is_checked(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hop_format f = format(c32, 1, 4, 0, 32);

	(void)state;
	assert_null(hr_format_check(a, &f));
	f.max_bytes = 31;
	assert_non_null(strstr(hr_format_check(a, &f), "more than its max_bytes of 31"));
	f.max_bytes = 0;
	assert_non_null(strstr(hr_format_check(a, &f), "says no size"));
	f = format(c32, 9, 1, 1, 32);
	assert_non_null(strstr(hr_format_check(a, &f), "rank 9"));
	f = format((struct hop_dtype){ 3, 8, 1 }, 1, 1, 1, 32);
	assert_non_null(strstr(hr_format_check(a, &f), "which is none"));
	f = format(c32, 1, 4, 0, 32);
	f.rate_hz = -1;
	assert_non_null(strstr(hr_format_check(a, &f), "rate"));
	f.rate_hz = (double)NAN;
	assert_non_null(strstr(hr_format_check(a, &f), "rate"));
	hr_arena_free(a);
}

static void
a_gather_adds_an_outermost_axis(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hop_format piece = format(c32, 1, 1024, 0, 8192), whole;

	(void)state;
	piece.rate_hz = 1280;
	assert_null(hr_format_gather(a, &piece, 128, &whole));
	assert_string_equal(hr_format_text(a, &whole), "c32[128,1024]");
	assert_int_equal(whole.max_bytes, 1 << 20);
	assert_true(whole.rate_hz > 9.99 && whole.rate_hz < 10.01);
	piece = format((struct hop_dtype){ 0 }, 0, 0, 0, 100);
	assert_null(hr_format_gather(a, &piece, 3, &whole));
	assert_string_equal(hr_format_text(a, &whole), "u8[3,100]");
	hr_arena_free(a);
}

static void
a_gather_that_cannot_be_says_why(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hop_format piece = format(c32, HOP_MAX_RANK, 1, 1, 8), whole;

	(void)state;
	for (int i = 0; i < HOP_MAX_RANK; i++)
		piece.dim[i] = 1;
	assert_non_null(strstr(hr_format_gather(a, &piece, 2, &whole), "8 axes already"));
	piece = format(c32, 1, 4, 0, 64);
	assert_non_null(strstr(hr_format_gather(a, &piece, 2, &whole), "must have one size"));
	piece = format(c32, 1, 1 << 20, 0, 8 << 20);
	assert_non_null(strstr(hr_format_gather(a, &piece, 129, &whole), "129 pieces"));
	assert_non_null(hr_format_gather(a, &piece, 0, &whole));
	hr_arena_free(a);
}

static void
formats_are_compared_by_what_flows(void **state)
{
	struct hop_format x = format(c32, 1, 4, 0, 32), y = x;

	(void)state;
	y.size = 99;
	assert_true(hr_format_same(&x, &y));
	y.dim[0] = 5;
	assert_false(hr_format_same(&x, &y));
	y = x;
	y.rate_hz = 1;
	assert_false(hr_format_same(&x, &y));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_spelled_as_people_write_them),
		cmocka_unit_test(elements_are_measured_and_do_not_overflow),
		cmocka_unit_test(what_an_op_filled_in_is_checked),
		cmocka_unit_test(a_gather_adds_an_outermost_axis),
		cmocka_unit_test(a_gather_that_cannot_be_says_why),
		cmocka_unit_test(formats_are_compared_by_what_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
