// SPDX-License-Identifier: Apache-2.0
/*
 * golden_test.c - summary, JSON and CSV of hand-made pages, letter by letter.
 *
 * With --update the files are written instead of compared.  What depends on the
 * machine is taken out of the JSON first.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/files.h"
#include "base/json.h"
#include "fixture.h"

static bool update;

static void
compare(struct fixture *f, const char *name, const char *found)
{
	const char *path = hr_printf(f->arena, "%s/%s", GOLDEN_DIR, name);
	struct hr_error err;
	char *wanted;
	size_t len;

	if (update) {
		assert_int_equal(hr_write_whole(path, found, strlen(found), &err), 0);
		return;
	}
	if (hr_read_whole(f->arena, path, 1 << 20, &wanted, &len, &err))
		fail_msg("%s", err.text);
	if (strcmp(wanted, found))
		fail_msg("%s: wanted\n%s\nfound\n%s", name, wanted, found);
}

static unsigned
count_lines(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void
small_graph_fits(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	compare(f, "small.txt", hr_report_text(f->arena, &f->report));
	compare(f, "small.csv", hr_report_csv(f->arena, &f->report));
	fixture_free(f);
}

static void
small_graph_as_json(void **state)
{
	static const char *const argv[] = { "holorun", "small.yaml", "-k", "n=800" };
	struct fixture *f = fixture_small();
	struct hr_load_options load = { .file = "small.yaml" };
	cJSON *o;

	(void)state;
	f->report.argv = argv;
	f->report.argc = 4;
	f->report.load = &load;
	o = cJSON_Parse(hr_report_json(f->arena, &f->report));
	assert_non_null(o);
	assert_true(cJSON_HasObjectItem(cJSON_GetObjectItem(o, "machine"), "cpus"));
	assert_true(cJSON_HasObjectItem(cJSON_GetObjectItem(o, "machine"), "kernel"));
	cJSON_DeleteItemFromObject(o, "machine");
	cJSON_DeleteItemFromObject(o, "holorun");
	compare(f, "small.json", hr_json_text(f->arena, o, true));
	fixture_free(f);
}

static void
losses_and_failures_show(void **state)
{
	struct fixture *f = fixture_small();
	struct hr_incident cause = { .text = "node work failed: no", .node = "work" };
	struct hr_page *page = f->outcome.page;

	(void)state;
	f->report.name = "night run";
	f->outcome.exit_code = 1;
	f->outcome.reason = HR_REASON_FAILED;
	f->outcome.first = &cause;
	hr_page_node(page, 1)->state = HR_NODE_FAILED;
	hr_page_node(page, 2)->state = HR_NODE_LOST;
	hr_page_edge(page, 1)->queue.lost = 12;
	hr_page_gather(page, 0)->dropped = 2;
	hr_page_counters(page, 0)[1] = 9;
	hr_page_counters(page, 2)[1] = 1;
	compare(f, "failed.txt", hr_report_text(f->arena, &f->report));
	fixture_free(f);
}

static void
large_graph_keeps_to_25_lines(void **state)
{
	struct fixture *f = fixture_chain(100);
	const char *text;

	(void)state;
	hr_page_edge(f->outcome.page, 40)->queue.lost = 3;
	hr_page_node(f->outcome.page, 70)->state = HR_NODE_RUNNING;
	text = hr_report_text(f->arena, &f->report);
	assert_int_equal(count_lines(text), 25);
	compare(f, "large.txt", text);
	fixture_free(f);
}

static void
every_size_keeps_to_25_lines(void **state)
{
	(void)state;
	for (uint32_t n = 2; n < 40; n++) {
		struct fixture *f = fixture_chain(n);

		assert_true(count_lines(hr_report_text(f->arena, &f->report)) <= 25);
		fixture_free(f);
	}
}

static void
signals_are_named(void **state)
{
	struct fixture *f = fixture_small();

	(void)state;
	f->outcome.reason = HR_REASON_SIGNAL;
	f->outcome.signal = 2;
	assert_non_null(strstr(hr_report_text(f->arena, &f->report),
			       "small: stopped by SIGINT after 2.01 s, 100 delivered, 0 lost, "
			       "exit 0\n"));
	fixture_free(f);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_graph_fits),
		cmocka_unit_test(small_graph_as_json),
		cmocka_unit_test(losses_and_failures_show),
		cmocka_unit_test(large_graph_keeps_to_25_lines),
		cmocka_unit_test(every_size_keeps_to_25_lines),
		cmocka_unit_test(signals_are_named),
	};

	update = argc > 1 && !strcmp(argv[1], "--update");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
