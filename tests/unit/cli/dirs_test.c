// SPDX-License-Identifier: Apache-2.0
/*
 * dirs_test.c - plugins are searched where the user says, then where the
 * environment says, then where this program belongs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

static int
setup(void **state)
{
	unsetenv("HOLORUN_PLUGIN_PATH");
	*state = hr_arena_new();
	return 0;
}

static int
teardown(void **state)
{
	hr_arena_free(*state);
	return 0;
}

static void
given_folders_come_first_then_the_environment(void **state)
{
	struct hr_strings given = { 0 };
	struct hr_plugin_dirs dirs;

	setenv("HOLORUN_PLUGIN_PATH", "/env/a::/env/b:", 1);
	hr_strings_add(*state, &given, "/one:/two");
	hr_strings_add(*state, &given, "/three");
	dirs = hr_cli_plugin_dirs(*state, &given);
	assert_true(dirs.n >= 5);
	assert_string_equal(dirs.dir[0], "/one");
	assert_string_equal(dirs.dir[1], "/two");
	assert_string_equal(dirs.dir[2], "/three");
	assert_string_equal(dirs.dir[3], "/env/a");
	assert_string_equal(dirs.dir[4], "/env/b");
	for (uint32_t i = 0; i < dirs.n; i++)
		assert_true(*dirs.dir[i] != '\0');
}

static void
an_empty_environment_adds_nothing(void **state)
{
	struct hr_strings given = { 0 };
	uint32_t without = hr_cli_plugin_dirs(*state, &given).n;

	setenv("HOLORUN_PLUGIN_PATH", "", 1);
	assert_int_equal(hr_cli_plugin_dirs(*state, &given).n, without);
}

static void
endpoints_lie_where_the_session_says(void **state)
{
	setenv("XDG_RUNTIME_DIR", "/run/mine", 1);
	assert_string_equal(hr_cli_endpoint_dir(*state), "/run/mine/holomq");
}

static void
without_a_session_endpoints_lie_in_a_folder_of_the_user(void **state)
{
	static const char *const UNUSABLE[] = { "", "relative" };

	for (int i = 0; i < 3; i++) {
		const char *dir, *id = hr_printf(*state, "%u", (unsigned)geteuid());

		if (i < 2)
			setenv("XDG_RUNTIME_DIR", UNUSABLE[i], 1);
		else
			unsetenv("XDG_RUNTIME_DIR");
		dir = hr_cli_endpoint_dir(*state);
		if (access(hr_printf(*state, "/run/user/%s", id), W_OK | X_OK) == 0)
			assert_string_equal(dir, hr_printf(*state, "/run/user/%s/holomq", id));
		else
			assert_string_equal(dir, hr_printf(*state, "/tmp/holomq-%s", id));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(given_folders_come_first_then_the_environment,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_environment_adds_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(endpoints_lie_where_the_session_says, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			without_a_session_endpoints_lie_in_a_folder_of_the_user, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
