// SPDX-License-Identifier: Apache-2.0
/*
 * write_test.c - result.json and results.csv on disk, or a diagnostic and nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files.h"
#include "base/json.h"
#include "fixture.h"

struct place {
	struct fixture *f;
	char dir[64];
	struct hr_diags d;
};

static int
setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/report-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->f = fixture_small();
	hr_diags_init(&p->d, p->f->arena);
	*state = p;
	return 0;
}

static int
teardown(void **state)
{
	struct place *p = *state;

	rmdir(p->dir);
	fixture_free(p->f);
	free(p);
	return 0;
}

static char *
read_file(struct place *p, const char *dir, const char *name)
{
	struct hr_error err;
	char *data;
	size_t len;
	const char *path = hr_printf(p->f->arena, "%s/%s", dir, name);

	if (hr_read_whole(p->f->arena, path, 1 << 20, &data, &len, &err))
		fail_msg("%s", err.text);
	unlink(path);
	return data;
}

static void
both_files_are_written_into_a_new_folder(void **state)
{
	struct place *p = *state;
	const char *dir = hr_printf(p->f->arena, "%s/new", p->dir);
	cJSON *o;

	assert_int_equal(hr_report_write(p->f->arena, &p->f->report, dir, &p->d), 0);
	o = cJSON_Parse(read_file(p, dir, "result.json"));
	assert_non_null(o);
	assert_string_equal(cJSON_GetObjectItem(o, "name")->valuestring, "small");
	cJSON_Delete(o);
	assert_int_equal(strncmp(read_file(p, dir, "results.csv"), "kind,name,", 10), 0);
	assert_int_equal(rmdir(dir), 0); /* nothing else was left */
}

static void
an_old_result_is_replaced(void **state)
{
	struct place *p = *state;

	assert_int_equal(hr_report_write(p->f->arena, &p->f->report, p->dir, &p->d), 0);
	p->f->report.name = "again";
	assert_int_equal(hr_report_write(p->f->arena, &p->f->report, p->dir, &p->d), 0);
	assert_non_null(strstr(read_file(p, p->dir, "result.json"), "\"again\""));
	read_file(p, p->dir, "results.csv");
}

static void
a_folder_that_cannot_be_made_is_a_diagnostic(void **state)
{
	struct place *p = *state;

	assert_int_equal(hr_report_write(p->f->arena, &p->f->report, "/nowhere/at/all", &p->d), -1);
	assert_int_equal(p->d.n_errors, 1);
	assert_int_equal(p->d.exit_code, 3);
}

static void
a_file_in_the_way_is_a_diagnostic(void **state)
{
	struct place *p = *state;
	const char *path = hr_printf(p->f->arena, "%s/file", p->dir);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
	assert_int_equal(hr_report_write(p->f->arena, &p->f->report, path, &p->d), -1);
	assert_int_equal(p->d.n_errors, 2);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_files_are_written_into_a_new_folder, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_old_result_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_made_is_a_diagnostic, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_in_the_way_is_a_diagnostic, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
