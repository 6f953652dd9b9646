// SPDX-License-Identifier: Apache-2.0
/*
 * options_test.c - what a command line means, and what is wrong with it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

enum { MAX_WORDS = 16 };

struct parsed {
	struct hr_arena *arena;
	struct hr_diags d;
	struct hr_cli c;
	const char *argv[MAX_WORDS + 1];
};

/* The words after the program's name, ended by NULL. */
static struct parsed *
parse(const char *first, ...)
{
	struct hr_arena *a = hr_arena_new();
	struct parsed *p = HR_NEW(a, struct parsed);
	va_list ap;
	int n = 0;

	p->arena = a;
	p->argv[n++] = "/usr/bin/holorun";
	va_start(ap, first);
	for (const char *w = first; w; w = va_arg(ap, const char *))
		p->argv[n++] = w;
	va_end(ap);
	hr_diags_init(&p->d, a);
	p->c = (struct hr_cli){ .arena = a, .diags = &p->d, .argc = n, .argv = p->argv };
	hr_cli_parse(&p->c);
	return p;
}

static void
finish(struct parsed *p)
{
	hr_arena_free(p->arena);
}

static void
assert_refused(struct parsed *p, uint32_t code, const char *part)
{
	assert_true(p->d.n_errors >= 1);
	assert_int_equal(p->d.exit_code, 2);
	if (p->d.first->code != code || !strstr(hr_diags_text(&p->d, p->arena, false), part))
		fail_msg("wanted E%u with '%s', found\n%s", code, part,
			 hr_diags_text(&p->d, p->arena, false));
}

static void
a_file_alone_means_run(void **state)
{
	struct parsed *p = parse("g.yaml", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 0);
	assert_string_equal(p->c.command->name, "run");
	assert_string_equal(hr_cli_one_file(&p->c), "g.yaml");
	finish(p);
}

static void
options_may_stand_anywhere(void **state)
{
	struct parsed *p = parse("-k", "n=5", "plan", "--format=json", "g.yaml", "-kx=a=b", "-f",
				 "o.yaml", "--preset", "smoke", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 0);
	assert_string_equal(p->c.command->name, "plan");
	assert_int_equal(p->c.format, HR_AS_JSON);
	assert_int_equal(p->c.load.n_settings, 2);
	assert_string_equal(p->c.load.setting[0].name, "n");
	assert_string_equal(p->c.load.setting[0].value, "5");
	assert_string_equal(p->c.load.setting[1].name, "x");
	assert_string_equal(p->c.load.setting[1].value, "a=b");
	assert_int_equal(p->c.load.n_overlays, 1);
	assert_string_equal(p->c.load.overlay[0], "o.yaml");
	assert_string_equal(p->c.load.preset, "smoke");
	finish(p);
}

static void
times_and_counts_have_units(void **state)
{
	struct parsed *p = parse("g.yaml", "--duration", "2s", "--count", "10k",
				 "--stop-grace=500 ms", "--stall-timeout", "1min", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 0);
	assert_int_equal(p->c.duration_ns, INT64_C(2000000000));
	assert_int_equal(p->c.count, 10000);
	assert_int_equal(p->c.stop_grace_ns, 500000000);
	assert_int_equal(p->c.stall_timeout_ns, INT64_C(60000000000));
	finish(p);
}

static void
deny_takes_a_list_and_repeats(void **state)
{
	struct parsed *p = parse("g.yaml", "--deny", "warnings,drops", "--deny=fallback", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 0);
	assert_int_equal(p->c.deny, HR_DENY_WARNINGS | HR_DENY_DROPS | HR_DENY_FALLBACK);
	finish(p);
}

static void
progress_alone_means_always(void **state)
{
	struct parsed *p =
		parse("--progress", "g.yaml", "--color=never", "--log-level", "debug", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 0);
	assert_int_equal(p->c.progress, HR_ALWAYS);
	assert_int_equal(p->c.color, HR_NEVER);
	assert_int_equal(p->c.log_level, HOP_LOG_DEBUG);
	assert_string_equal(hr_cli_one_file(&p->c), "g.yaml");
	finish(p);
}

static void
after_two_dashes_nothing_is_an_option(void **state)
{
	struct parsed *p = parse("check", "--", "-k", "--format", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 0);
	assert_int_equal(p->c.args.n, 2);
	finish(p);
}

static void
unknown_options_are_refused_with_the_nearest(void **state)
{
	struct parsed *p = parse("g.yaml", "--durration", "2s", NULL);

	(void)state;
	assert_refused(p, 280, "did you mean '--duration'?");
	assert_int_equal(p->d.first->at.col, 16);
	assert_int_equal(p->d.first->at.len, 11);
	finish(p);
	p = parse("--durration", "2s", "g.yaml", NULL);
	assert_int_equal(p->d.n_errors, 1);
	finish(p);
	p = parse("g.yaml", "-q", NULL);
	assert_refused(p, 280, "unknown option '-q'");
	finish(p);
}

static void
all_errors_of_a_line_are_reported(void **state)
{
	struct parsed *p =
		parse("g.yaml", "--nope", "-k", "x", "--count", "0", "--color", "red", NULL);

	(void)state;
	assert_int_equal(p->d.n_errors, 4);
	finish(p);
}

static void
values_of_the_wrong_form_are_refused(void **state)
{
	static const struct {
		const char *option, *value, *part;
	} cases[] = {
		{ "--duration", "5", "has no unit" },
		{ "--duration", "0", "must be greater than 0" },
		{ "--duration", "-1s", "--duration: " },
		{ "--count", "1.5", "--count: " },
		{ "--count", "-3", "must be greater than 0" },
		{ "-k", "n", "NAME=VALUE" },
		{ "-k", "=5", "NAME=VALUE" },
		{ "--format", "jsn", "did you mean 'json'?" },
		{ "--color", "red", "valid here: auto, always, never" },
		{ "--deny", "drop", "did you mean 'drops'?" },
		{ "--log-level", "loud", "valid here: error, warn, info, debug" },
		{ "--out", "", "the text is empty" },
		{ "-f", "", "the text is empty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parsed *p = parse("g.yaml", cases[i].option, cases[i].value, NULL);

		assert_refused(p, 281, cases[i].part);
		finish(p);
	}
}

static void
a_missing_or_unwanted_value_is_refused(void **state)
{
	struct parsed *p = parse("g.yaml", "--duration", NULL);

	(void)state;
	assert_refused(p, 281, "--duration: TIME is missing");
	finish(p);
	p = parse("g.yaml", "--quiet=yes", NULL);
	assert_refused(p, 281, "--quiet: takes no value");
	finish(p);
}

static void
planned_words_are_told_apart_from_wrong_ones(void **state)
{
	static const char *const words[] = { "sweep", "tune", "bench",  "record", "top",
					     "ps",    "new",  "schema", "doctor", "clean" };
	struct parsed *p;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		p = parse(words[i], "g.yaml", NULL);
		assert_refused(p, 292, "is not in this version");
		assert_non_null(strstr(hr_diags_text(&p->d, p->arena, false), "run, check, plan"));
		finish(p);
	}
	p = parse("g.yaml", "-o", "nodes.x=1", NULL);
	assert_refused(p, 292, "option -o is not in this version");
	finish(p);
	p = parse("plan", "g.yaml", "--origin", NULL);
	assert_refused(p, 292, "option --origin is not in this version");
	finish(p);
	p = parse("plan", "g.yaml", "--format", "mermaid", NULL);
	assert_refused(p, 292, "--format mermaid is not in this version");
	finish(p);
	p = parse("chek", "g.yaml", NULL);
	assert_refused(p, 280, "did you mean 'check'?");
	finish(p);
}

static void
options_belong_to_commands(void **state)
{
	struct parsed *p = parse("plan", "g.yaml", "--in-process", NULL);

	(void)state;
	assert_refused(p, 280, "option --in-process does not belong to 'plan'");
	finish(p);
	p = parse("run", "g.yaml", "--no-plugins", NULL);
	assert_refused(p, 280, "does not belong to 'run'");
	finish(p);
	p = parse("run", "g.yaml", "--format", "dot", NULL);
	assert_refused(p, 281, "'run' cannot print dot");
	finish(p);
}

static void
nothing_asked_is_refused(void **state)
{
	struct parsed *p = parse(NULL);

	(void)state;
	assert_refused(p, 282, "no command and no graph");
	finish(p);
}

static void
one_file_means_one(void **state)
{
	struct parsed *p = parse("run", NULL);

	(void)state;
	assert_null(hr_cli_one_file(&p->c));
	assert_refused(p, 282, "no file was given");
	finish(p);
	p = parse("plan", "a.yaml", "b.yaml", NULL);
	assert_null(hr_cli_one_file(&p->c));
	assert_refused(p, 282, "'b.yaml' is too much");
	finish(p);
}

static void
every_option_has_a_help_line_somewhere(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_text t;

	(void)state;
	hr_text_init(&t, a);
	hr_cli_option_lines(&t, HR_FOR_RUN);
	assert_non_null(strstr(t.s, "--stop-grace TIME"));
	assert_null(strstr(t.s, "--no-plugins"));
	hr_text_init(&t, a);
	hr_cli_option_lines(&t, HR_FOR_CHECK);
	assert_non_null(strstr(t.s, "--no-plugins"));
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_alone_means_run),
		cmocka_unit_test(options_may_stand_anywhere),
		cmocka_unit_test(times_and_counts_have_units),
		cmocka_unit_test(deny_takes_a_list_and_repeats),
		cmocka_unit_test(progress_alone_means_always),
		cmocka_unit_test(after_two_dashes_nothing_is_an_option),
		cmocka_unit_test(unknown_options_are_refused_with_the_nearest),
		cmocka_unit_test(all_errors_of_a_line_are_reported),
		cmocka_unit_test(values_of_the_wrong_form_are_refused),
		cmocka_unit_test(a_missing_or_unwanted_value_is_refused),
		cmocka_unit_test(planned_words_are_told_apart_from_wrong_ones),
		cmocka_unit_test(options_belong_to_commands),
		cmocka_unit_test(nothing_asked_is_refused),
		cmocka_unit_test(one_file_means_one),
		cmocka_unit_test(every_option_has_a_help_line_somewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
