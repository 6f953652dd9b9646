// SPDX-License-Identifier: Apache-2.0
/*
 * test_files.c - whole files in and out; nothing is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

struct place {
	struct hr_arena *arena;
	char dir[64];
	char file[128];
};

static int
setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	p->arena = hr_arena_new();
	strcpy(p->dir, "/tmp/hr-files-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/f.txt", p->dir);
	*state = p;
	return 0;
}

static int
teardown(void **state)
{
	struct place *p = *state;

	unlink(p->file);
	assert_int_equal(rmdir(p->dir), 0); /* no temporary is left */
	hr_arena_free(p->arena);
	free(p);
	return 0;
}

static void
what_is_written_is_read_back(void **state)
{
	struct place *p = *state;
	struct hr_error err = { 0 };
	size_t n = 300000, len = 0;
	char *data = calloc(1, n), *back;

	for (size_t i = 0; i < n; i++)
		data[i] = (char)(i * 7);
	assert_int_equal(hr_write_whole(p->file, data, n, &err), 0);
	assert_int_equal(hr_read_whole(p->arena, p->file, n, &back, &len, &err), 0);
	assert_int_equal(len, n);
	assert_memory_equal(back, data, n);
	assert_int_equal(back[n], 0);
	assert_int_equal(hr_write_whole(p->file, "new", 3, &err), 0);
	assert_int_equal(hr_read_whole(p->arena, p->file, n, &back, &len, &err), 0);
	assert_string_equal(back, "new");
	free(data);
}

static void
a_limit_is_kept(void **state)
{
	struct place *p = *state;
	struct hr_error err = { 0 };
	char *back;
	size_t len;

	assert_int_equal(hr_write_whole(p->file, "12345", 5, &err), 0);
	assert_int_equal(hr_read_whole(p->arena, p->file, 5, &back, &len, &err), 0);
	assert_int_equal(hr_read_whole(p->arena, p->file, 4, &back, &len, &err), -EFBIG);
	/* Where the size is not known in advance too. */
	assert_int_equal(hr_read_whole(p->arena, "/dev/zero", 100, &back, &len, &err), -EFBIG);
	assert_non_null(strstr(err.text, "/dev/zero"));
}

static void
failures_name_the_path_and_leave_nothing(void **state)
{
	struct place *p = *state;
	struct hr_error err = { 0 };
	char *back;
	size_t len;

	assert_int_equal(hr_read_whole(p->arena, p->file, 9, &back, &len, &err), -ENOENT);
	assert_non_null(strstr(err.text, p->file));
	assert_int_equal(hr_read_whole(p->arena, p->dir, 9, &back, &len, &err), -EISDIR);
	assert_int_equal(hr_write_whole("/nonexistent/x", "1", 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(hr_write_whole(p->dir, "1", 1, &err), -EISDIR);
	char *endless = malloc(PATH_MAX + 2);

	memset(endless, 'a', PATH_MAX + 1);
	endless[PATH_MAX + 1] = 0;
	assert_int_equal(hr_write_whole(endless, "1", 1, &err), -ENAMETOOLONG);
	assert_int_equal(err.code, -ENAMETOOLONG);
	assert_non_null(err.file);
	free(endless);
}

static void
the_folder_of_a_link_is_that_of_the_file(void **state)
{
	struct place *p = *state;
	struct hr_error err = { 0 };
	char link[160], real[PATH_MAX];

	assert_int_equal(hr_write_whole(p->file, "1", 1, &err), 0);
	snprintf(link, sizeof(link), "/tmp/hr-link-%d", (int)getpid());
	assert_int_equal(symlink(p->file, link), 0);
	assert_non_null(realpath(p->dir, real));
	assert_string_equal(hr_dir_of(p->arena, link), real);
	unlink(link);
	assert_string_equal(hr_dir_of(p->arena, "/"), "/");
	assert_string_equal(hr_dir_of(p->arena, "not-there"), ".");
}

static void
failure_is_recorded_with_place_and_cut_to_size(void **state)
{
	struct hr_error err = { 0 };
	char longer[2000];

	(void)state;
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	assert_int_equal(HR_FAIL(&err, EINVAL, "%s", longer), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_true(err.line > 0);
	assert_int_equal(HR_FAIL(NULL, EIO, "nobody listens"), -EIO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_written_is_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_limit_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_name_the_path_and_leave_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_folder_of_a_link_is_that_of_the_file, setup,
						teardown),
		cmocka_unit_test(failure_is_recorded_with_place_and_cut_to_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
