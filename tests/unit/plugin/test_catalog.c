/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ops list` and `ops describe`: one bad plugin hides no other, JSON parses, and
 * the example node is YAML that binds.
 */
#include "support.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "plugin/catalog.h"
#include "plugin/child.h"

static struct rig r;

static int
begin(void **state)
{
	(void)state;
	rig_init(&r);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	rig_fini(&r);
	return 0;
}

static void
has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("wanted '%s' in:\n%s", part, text);
}

static void
the_list_shows_every_plugin_with_its_state(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(hr_ops_list(r.a, &r.dirs, false, &text, &r.d), 0);
	has(text, "libtestops.so  ok: testops");
	has(text, "test/copy ");
	has(text, "libundefined.so  not loadable: it uses the symbol 'holo_no_such_function'");
	has(text, "libmissing_dep.so  not loadable: it needs the library 'libholodep_gone.so'");
	has(text, "libctor_crash.so  not loadable: loading it (ELF constructors)");
	has(text, "libcuda_fake.so  ok");
	has(text, "its cuda ops cannot run");
	assert_int_equal(r.d.n_errors, 0);
}

static void
the_list_as_json_parses(void **state)
{
	const char *text;
	const cJSON *plugins, *p;
	cJSON *all;
	int ok = 0, lost = 0;

	(void)state;
	assert_int_equal(hr_ops_list(r.a, &r.dirs, true, &text, &r.d), 0);
	all = cJSON_Parse(text);
	assert_non_null(all);
	plugins = cJSON_GetObjectItem(all, "plugins");
	cJSON_ArrayForEach(p, plugins)
	{
		const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(p, "state"));

		ok += !strcmp(s, "ok");
		lost += !strcmp(s, "not loadable") && cJSON_GetObjectItem(p, "error");
	}
	assert_true(ok >= 4);
	assert_int_equal(ok + lost, cJSON_GetArraySize(plugins));
	cJSON_Delete(all);
}

static void
a_folder_without_plugins_says_so(void **state)
{
	static const char *const dirs[] = { "/nowhere/at/all" };
	const struct hr_plugin_dirs d = { dirs, 1 };
	const char *text;

	(void)state;
	assert_int_equal(hr_ops_list(r.a, &d, false, &text, &r.d), 0);
	assert_string_equal(text, "no plugins in /nowhere/at/all\n");
}

static void
an_op_is_described_with_its_ranges(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(hr_ops_describe(r.a, &r.dirs, "test/param_all", false, &text, &r.d), 0);
	has(text, "test/param_all (cpu): ");
	has(text, "libtestops.so");
	has(text, "inputs: none");
	has(text, "default 4KiB, 1B to 1GiB");
	has(text, "one of: red green blue");
	has(text, "required");
	has(text, "op: test/param_all");
	assert_int_equal(hr_ops_describe(r.a, &r.dirs, "test/hog", false, &text, &r.d), 0);
	has(text, "memory: host");
}

static void
twins_are_both_described_and_an_at_sign_picks(void **state)
{
	const char *text;
	cJSON *all;

	(void)state;
	assert_int_equal(hr_ops_describe(r.a, &r.dirs, "test/copy2", true, &text, &r.d), 0);
	all = cJSON_Parse(text);
	assert_int_equal(cJSON_GetArraySize(all), 2);
	cJSON_Delete(all);
	assert_int_equal(hr_ops_describe(r.a, &r.dirs, "test/copy2@twin_b", true, &text, &r.d), 0);
	all = cJSON_Parse(text);
	assert_int_equal(cJSON_GetArraySize(all), 1);
	has(text, "libtwin_b.so");
	cJSON_Delete(all);
	assert_int_equal(hr_ops_describe(r.a, &r.dirs, "test/copy", false, &text, &r.d), 0);
	has(text, "test/copy (cuda)");
	has(text, "cannot run here: ");
	has(text, "device: cuda");
}

static void
an_unknown_op_proposes_the_nearest(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(hr_ops_describe(r.a, &r.dirs, "test/copi", false, &text, &r.d), -1);
	rig_says(&r, "error[E230]: no plugin has the op 'test/copi'");
	rig_says(&r, "did you mean 'test/copy'?");
	rig_says(&r, "libundefined.so");
	assert_int_equal(r.d.exit_code, 2);
}

static void
without_time_a_plugin_is_listed_as_not_tried(void **state)
{
	cJSON *all = hr_catalog(r.a, &r.dirs, 0);
	const cJSON *p;

	(void)state;
	assert_true(cJSON_GetArraySize(all) > 4);
	cJSON_ArrayForEach(p, all)
	{
		has(cJSON_GetStringValue(cJSON_GetObjectItem(p, "state")), "not loadable");
		has(cJSON_GetStringValue(cJSON_GetObjectItem(p, "error")), "time");
	}
	cJSON_Delete(all);
}

/* Every op of the test plugins: its example pasted into a graph is understood. */
static void
every_example_is_yaml_that_binds(void **state)
{
	cJSON *all = hr_catalog(r.a, &r.dirs, HR_CHILD_LIMIT_MS);
	const cJSON *p, *op;
	int n = 0;

	(void)state;
	cJSON_ArrayForEach(p, all)
	{
		const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(p, "path"));

		if (!strstr(path, "libtestops.so"))
			continue;
		cJSON_ArrayForEach(op, cJSON_GetObjectItem(p, "ops"))
		{
			const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(op, "name"));
			const char *text;
			cJSON *d;
			struct rig g;

			if (!strcmp(name, "test/f64_sink") || !strcmp(name, "test/crash"))
				continue; /* refuse the source below, by design */
			assert_int_equal(hr_ops_describe(r.a, &r.dirs,
							 hr_printf(r.a, "%s@testops", name), true,
							 &text, &r.d),
					 0);
			d = cJSON_Parse(text);
			rig_init(&g);
			rig_bind(&g, hr_printf(r.a,
					       "plugins: [{path: testops}]\nnodes:\n"
					       "  SOURCE: {op: test/seq_source}\n%s",
					       cJSON_GetStringValue(cJSON_GetObjectItem(
						       cJSON_GetArrayItem(d, 0), "example"))));
			if (g.d.n_errors)
				fail_msg("%s\n%s", name, rig_text(&g));
			n++;
			rig_fini(&g);
			cJSON_Delete(d);
		}
	}
	cJSON_Delete(all);
	assert_true(n > 10);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_list_shows_every_plugin_with_its_state),
		T(the_list_as_json_parses),
		T(a_folder_without_plugins_says_so),
		T(an_op_is_described_with_its_ranges),
		T(twins_are_both_described_and_an_at_sign_picks),
		T(an_unknown_op_proposes_the_nearest),
		T(without_time_a_plugin_is_listed_as_not_tried),
		T(every_example_is_yaml_that_binds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
