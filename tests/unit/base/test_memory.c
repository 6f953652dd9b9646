// SPDX-License-Identifier: Apache-2.0
/*
 * test_memory.c - arenas, name tables, growing lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/names.h"
#include "base/text.h"

/* The address sanitizer would end the process itself when asked for too much. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void
arena_gives_zeroed_and_aligned_memory(void **state)
{
	struct hr_arena *a = hr_arena_new();

	(void)state;
	for (size_t n = 1; n < 70000; n = n * 3 + 1) {
		unsigned char *p = hr_alloc(a, n);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	for (size_t align = 1; align <= 4096; align *= 2)
		assert_int_equal((uintptr_t)hr_alloc_aligned(a, 3, align) % align, 0);
	assert_true(hr_arena_bytes(a) > 0);
	hr_arena_free(a);
	hr_arena_free(NULL);
}

static void
arena_pieces_do_not_overlap(void **state)
{
	struct hr_arena *a = hr_arena_new();
	unsigned char *p[500];

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		p[i] = hr_alloc(a, i + 1);
		memset(p[i], (int)i & 0xff, i + 1);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t k = 0; k <= i; k++)
			assert_int_equal(p[i][k], i & 0xff);
	hr_arena_free(a);
}

static void
leave(size_t bytes)
{
	(void)bytes;
	_exit(42);
}

static int
exit_status_of(void (*handler)(size_t), size_t n, size_t size)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		fclose(stderr);
		close(STDERR_FILENO);
		hr_arena_on_full(handler);
		hr_alloc_array(hr_arena_new(), n, size);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void
end_of_memory_ends_the_process_with_3_or_through_the_handler(void **state)
{
	(void)state;
	assert_int_equal(exit_status_of(NULL, 1, SIZE_MAX / 4), 3);
	assert_int_equal(exit_status_of(NULL, SIZE_MAX / 2, 3), 3);
	assert_int_equal(exit_status_of(leave, SIZE_MAX / 2, 3), 42);
	assert_int_equal(exit_status_of(leave, 10, 10), 0);
}

static void
strings_are_copied_and_formatted(void **state)
{
	struct hr_arena *a = hr_arena_new();
	char text[] = "abc";
	char *copy = hr_strdup(a, text);

	(void)state;
	text[0] = 'x';
	assert_string_equal(copy, "abc");
	assert_string_equal(hr_strndup(a, "abcdef", 2), "ab");
	assert_string_equal(hr_printf(a, "%d-%s", 7, "x"), "7-x");
	hr_arena_free(a);
}

static void
text_grows_over_any_length(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_text t;

	(void)state;
	hr_text_init(&t, a);
	assert_string_equal(t.s, "");
	for (int i = 0; i < 1000; i++)
		hr_text_add(&t, "%04d", i);
	assert_int_equal(t.len, 4000);
	assert_int_equal(strlen(t.s), 4000);
	assert_memory_equal(t.s + 4 * 123, "0123", 4);
	hr_text_fill(&t, '.', 10);
	hr_text_add(&t, "%0500d", 1);
	assert_int_equal(t.len, 4510);
	assert_int_equal(t.s[4509], '1');
	hr_arena_free(a);
}

static void
string_lists_keep_order(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_strings l = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		hr_strings_add(a, &l, hr_printf(a, "%d", i));
	assert_int_equal(l.n, 100);
	assert_string_equal(l.item[57], "57");
	assert_true(hr_strings_has(&l, "99"));
	assert_false(hr_strings_has(&l, "100"));
	hr_arena_free(a);
}

static void
names_are_found_after_growth(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_names t = { 0 };

	(void)state;
	assert_int_equal(hr_names_find(&t, "x"), UINT32_MAX);
	for (uint32_t i = 0; i < 5000; i++)
		hr_names_put(a, &t, hr_printf(a, "n%u", i), i);
	hr_names_put(a, &t, "n7", 70);
	assert_int_equal(t.n, 5000);
	assert_int_equal(hr_names_find(&t, "n7"), 70);
	assert_int_equal(hr_names_find(&t, "n4999"), 4999);
	assert_int_equal(hr_names_find(&t, "n5000"), UINT32_MAX);
	hr_arena_free(a);
}

static void
clock_never_goes_back(void **state)
{
	uint64_t before = hr_mono_ns();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t now = hr_mono_ns();

		assert_true(now >= before);
		before = now;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_gives_zeroed_and_aligned_memory),
		cmocka_unit_test(arena_pieces_do_not_overlap),
		cmocka_unit_test(end_of_memory_ends_the_process_with_3_or_through_the_handler),
		cmocka_unit_test(strings_are_copied_and_formatted),
		cmocka_unit_test(text_grows_over_any_length),
		cmocka_unit_test(string_lists_keep_order),
		cmocka_unit_test(names_are_found_after_growth),
		cmocka_unit_test(clock_never_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
