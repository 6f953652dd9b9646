// SPDX-License-Identifier: Apache-2.0
/*
 * test_expr.c - `$name`, `${expr}`, units, environment: results, faults and their places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "model/expr.h"

static const struct {
	const char *name;
	enum hr_type type;
	const char *text;
} KNOBS[] = {
	{ "n", HR_T_INT, "10" },
	{ "x", HR_T_FLOAT, "2.5" },
	{ "size", HR_T_SIZE, "64KiB" },
	{ "t", HR_T_DURATION, "10ms" },
	{ "rate", HR_T_RATE, "100Hz" },
	{ "fs", HR_T_RATE, "20.48MHz" },
	{ "on", HR_T_BOOL, "true" },
	{ "word", HR_T_STRING, "hann" },
	{ "big", HR_T_INT, "9223372036854775807" },
	{ "zero", HR_T_INT, "0" },
	{ "cpus", HR_T_CPUS, "rel:0" },
};
enum { N_KNOBS = sizeof(KNOBS) / sizeof(KNOBS[0]) };
static const char *NAMES[N_KNOBS];

static int
find(void *self, const char *name, struct hr_span used_at, struct hr_value *out)
{
	struct hr_arena *a = self;
	const char *why;

	(void)used_at;
	if (!strcmp(name, "faulty"))
		return -1;
	for (size_t i = 0; i < N_KNOBS; i++) {
		struct hr_value v = { .type = HR_T_TEXT, .text = KNOBS[i].text };

		if (strcmp(KNOBS[i].name, name) != 0)
			continue;
		assert_int_equal(hr_value_convert(a, &v, KNOBS[i].type, out, &why), 0);
		return 1;
	}
	return 0;
}

static const char *
env(const char *name)
{
	if (!strcmp(name, "HOME"))
		return "/home/me";
	return strcmp(name, "EMPTY") ? NULL : "";
}

static bool
resolve(struct hr_arena *a, struct hr_diags *d, const char *text, struct hr_value *out)
{
	struct hr_file *f = hr_file_new(a, "t", "/", text, strlen(text));
	struct hr_yaml y = {
		.kind = HR_YAML_SCALAR,
		.plain = true,
		.exact = 1,
		.at = { .file = f, .line = 1, .col = 1, .len = (uint32_t)strlen(text) },
		.text = f->text,
		.len = f->len
	};

	for (size_t i = 0; i < N_KNOBS; i++)
		NAMES[i] = KNOBS[i].name;
	struct hr_scope scope = { a, find, NAMES, N_KNOBS, env };

	hr_diags_init(d, a);
	return hr_subst(a, &y, &scope, d, out);
}

static const struct {
	const char *text;
	enum hr_type type;
	const char *spelled;
} RESULTS[] = {
	/* text */
	{ "plain", HR_T_TEXT, "plain" },
	{ "", HR_T_TEXT, "" },
	{ "a$$b", HR_T_TEXT, "a$b" },
	{ "$$", HR_T_TEXT, "$" },
	{ "x$n", HR_T_TEXT, "x10" },
	{ "$n.$n", HR_T_TEXT, "10.10" },
	{ "127.0.0.1:$n", HR_T_TEXT, "127.0.0.1:10" },
	{ "i16x2[${n}]", HR_T_TEXT, "i16x2[10]" },
	{ "$size/$t/$fs/$x", HR_T_TEXT, "64 KiB/10 ms/20.48 MHz/2.5" },
	/* one reference keeps its type */
	{ "$n", HR_T_INT, "10" },
	{ "${n}", HR_T_INT, "10" },
	{ "${ n }", HR_T_INT, "10" },
	{ "$word", HR_T_STRING, "hann" },
	{ "$cpus", HR_T_CPUS, "rel:0" },
	{ "$on", HR_T_BOOL, "true" },
	/* arithmetic */
	{ "${1 + 2 * 3}", HR_T_INT, "7" },
	{ "${(1 + 2) * 3}", HR_T_INT, "9" },
	{ "${64 + 4 * n}", HR_T_INT, "104" },
	{ "${10 - 2 - 3}", HR_T_INT, "5" },
	{ "${8 / 2}", HR_T_INT, "4" },
	{ "${7 / 2}", HR_T_FLOAT, "3.5" },
	{ "${7 % 3}", HR_T_INT, "1" },
	{ "${-7 % 3}", HR_T_INT, "2" },
	{ "${7 % -3}", HR_T_INT, "-2" },
	{ "${7.5 % 2}", HR_T_FLOAT, "1.5" },
	{ "${-7.5 % 2}", HR_T_FLOAT, "0.5" },
	{ "${2 ** 10}", HR_T_INT, "1024" },
	{ "${2 ** 3 ** 2}", HR_T_INT, "512" },
	{ "${-2 ** 2}", HR_T_INT, "-4" },
	{ "${2 ** -1}", HR_T_FLOAT, "0.5" },
	{ "${0 ** 0}", HR_T_INT, "1" },
	{ "${--n}", HR_T_INT, "10" },
	{ "${1.5 + 1}", HR_T_FLOAT, "2.5" },
	{ "${0x10 + 1_000 + 10k}", HR_T_INT, "11016" },
	{ "${.5 * 2}", HR_T_FLOAT, "1" },
	{ "${1e3}", HR_T_FLOAT, "1000" },
	/* functions */
	{ "${min(3, 1, 2)}", HR_T_INT, "1" },
	{ "${max(n, 2.5)}", HR_T_INT, "10" },
	{ "${max(t, 0)}", HR_T_DURATION, "10 ms" },
	{ "${min(0, t)}", HR_T_DURATION, "0 ns" },
	{ "${ceil(7 / 2)}", HR_T_INT, "4" },
	{ "${floor(7 / 2)}", HR_T_INT, "3" },
	{ "${floor(n)}", HR_T_INT, "10" },
	{ "${log2(1024)}", HR_T_INT, "10" },
	{ "${log2(10) > 3.3 and log2(10) < 3.4}", HR_T_BOOL, "true" },
	{ "${max((1), 2 ** 2)}", HR_T_INT, "4" },
	/* units */
	{ "${1 / rate}", HR_T_DURATION, "10 ms" },
	{ "${n / fs}", HR_T_DURATION, "488 ns" },
	{ "${1 / t}", HR_T_RATE, "100 Hz" },
	{ "${3 * t}", HR_T_DURATION, "30 ms" },
	{ "${t * 2.5}", HR_T_DURATION, "25 ms" },
	{ "${t / 4}", HR_T_DURATION, "2500 us" },
	{ "${t / 3}", HR_T_DURATION, "3333333 ns" },
	{ "${t / 5ms}", HR_T_FLOAT, "2" },
	{ "${t + 5ms}", HR_T_DURATION, "15 ms" },
	{ "${t - 1us}", HR_T_DURATION, "9999 us" },
	{ "${-t}", HR_T_DURATION, "-10 ms" },
	{ "${rate * t}", HR_T_FLOAT, "1" },
	{ "${t * rate}", HR_T_FLOAT, "1" },
	{ "${rate * 2}", HR_T_RATE, "200 Hz" },
	{ "${rate + 1kHz}", HR_T_RATE, "1.1 kHz" },
	{ "${fs / rate}", HR_T_FLOAT, "204800" },
	{ "${size + 64B}", HR_T_SIZE, "65600 B" },
	{ "${size * 2}", HR_T_SIZE, "128 KiB" },
	{ "${size / 4}", HR_T_SIZE, "16 KiB" },
	{ "${size / 1KiB}", HR_T_INT, "64" },
	{ "${size % 1000B}", HR_T_SIZE, "536 B" },
	{ "${0 + t}", HR_T_DURATION, "10 ms" },
	/* comparison and logic */
	{ "${n > 5}", HR_T_BOOL, "true" },
	{ "${n <= 9}", HR_T_BOOL, "false" },
	{ "${n >= 10 and n != 11}", HR_T_BOOL, "true" },
	{ "${n < 5 or on}", HR_T_BOOL, "true" },
	{ "${not on}", HR_T_BOOL, "false" },
	{ "${not n == 3}", HR_T_BOOL, "true" },
	{ "${not not true}", HR_T_BOOL, "true" },
	{ "${word == 'hann'}", HR_T_BOOL, "true" },
	{ "${word != \"hamming\"}", HR_T_BOOL, "true" },
	{ "${on == false}", HR_T_BOOL, "false" },
	{ "${t > 0}", HR_T_BOOL, "true" },
	{ "${rate < 1kHz}", HR_T_BOOL, "true" },
	{ "${word == '}'}", HR_T_BOOL, "false" },
	/* environment */
	{ "${env:HOME}", HR_T_TEXT, "/home/me" },
	{ "${env:HOME}/x", HR_T_TEXT, "/home/me/x" },
	{ "${env:EMPTY}", HR_T_TEXT, "" },
	{ "${env:UNSET:-}", HR_T_TEXT, "" },
	{ "${env:UNSET:-5}", HR_T_TEXT, "5" },
	{ "${env:EMPTY:-5}", HR_T_TEXT, "" },
	{ "${env:UNSET:-${env:HOME}}", HR_T_TEXT, "/home/me" },
	{ "${env:UNSET:-${env:B:-x}}", HR_T_TEXT, "x" },
	{ "${env:UNSET:-$n}", HR_T_INT, "10" },
	{ "${env:UNSET:-a b's}", HR_T_TEXT, "a b's" },
};

static void
references_are_replaced_and_computed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(RESULTS) / sizeof(RESULTS[0]); i++) {
		struct hr_arena *a = hr_arena_new();
		struct hr_diags d;
		struct hr_value v;

		if (!resolve(a, &d, RESULTS[i].text, &v) || v.type != RESULTS[i].type ||
		    strcmp(hr_value_text(a, &v), RESULTS[i].spelled) != 0 ||
		    strcmp(v.text, RESULTS[i].spelled) != 0) {
			print_message("%s: wanted %s (%s), found %s (%s)\n%s", RESULTS[i].text,
				      RESULTS[i].spelled, hr_type_name[RESULTS[i].type],
				      hr_value_text(a, &v), hr_type_name[v.type],
				      hr_diags_text(&d, a, false));
			fail();
		}
		hr_arena_free(a);
	}
}

static const struct {
	const char *text;
	uint32_t code, col, len;
	const char *says;
} FAULTS[] = {
	{ "x$nope", 210, 2, 5, "no knob is called 'nope'" },
	{ "${rat * 2}", 210, 3, 3, "no knob is called 'rat'" },
	{ "${1 + wrod}", 210, 7, 4, "'wrod'" },
	{ "$1", 211, 1, 2, "'$$'" },
	{ "a$", 211, 2, 1, "'$$'" },
	{ "$ 5", 211, 1, 1, "'$$'" },
	{ "${n", 211, 1, 2, "never closed" },
	{ "${}", 211, 3, 1, "a value is missing" },
	{ "${1 +}", 211, 6, 1, "a value is missing" },
	{ "${(1}", 211, 5, 1, "')' is missing" },
	{ "${1 2}", 211, 5, 1, "an operator was expected, not '2'" },
	{ "${n &}", 211, 5, 1, "not '&'" },
	{ "${$n}", 211, 3, 1, "without '$'" },
	{ "${5q}", 211, 3, 2, "number" },
	{ "${'x}", 211, 1, 2, "never closed" },
	{ "${sin(1)}", 211, 3, 3, "no such function" },
	{ "${min(1, )}", 211, 10, 1, "a value was expected" },
	{ "${min(1}", 211, 8, 1, "',' or ')' is missing" },
	{ "${ceil(1, 2)}", 211, 9, 1, "')' was expected" },
	{ "${t + n}", 212, 3, 5, "duration and int do not go together" },
	{ "${1 + (t + size)}", 212, 8, 8, "duration and size" },
	{ "${t * t}", 212, 3, 5, "duration and duration" },
	{ "${size * rate}", 212, 3, 11, "size and rate" },
	{ "${size / t}", 212, 3, 8, "quotient" },
	{ "${t % n}", 212, 3, 5, "remainder" },
	{ "${t ** 2}", 212, 3, 6, "power" },
	{ "${t < n}", 212, 3, 5, "comparison" },
	{ "${word < 'x'}", 212, 3, 10, "comparison" },
	{ "${word + 1}", 212, 3, 8, "sum" },
	{ "${min(t, n)}", 212, 3, 8, "min()" },
	{ "${max(t, n)}", 212, 3, 8, "max()" },
	{ "${n and on}", 212, 3, 8, "'and'" },
	{ "${on or n}", 212, 3, 7, "'or'" },
	{ "${not n}", 212, 3, 5, "'not' takes a bool" },
	{ "${-word}", 212, 3, 5, "'-' takes a number" },
	{ "${ceil(t)}", 212, 3, 6, "ceil takes a number" },
	{ "${floor(t)}", 212, 3, 7, "floor takes a number" },
	{ "${log2(t)}", 212, 3, 6, "log2 takes a number" },
	{ "${log2(0)}", 212, 3, 6, "above zero" },
	{ "${1 / zero}", 212, 3, 8, "division by zero" },
	{ "${1 % 0}", 212, 3, 5, "division by zero" },
	{ "${0 ** -1}", 212, 3, 7, "division by zero" },
	{ "${big + 1}", 212, 3, 7, "too large" },
	{ "${big * 2}", 212, 3, 7, "too large" },
	{ "${-big - 2}", 212, 3, 8, "too large" },
	{ "${2 ** 63}", 212, 3, 7, "too large" },
	{ "${10 ** 30.5 ** 9}", 212, 3, 15, "too large" },
	{ "${t * 1e30}", 212, 3, 8, "too large" },
	{ "${99999999999999999999}", 212, 3, 20, "too large" },
	{ "${0.1ns}", 212, 3, 5, "whole number" },
	{ "${env:}", 211, 7, 1, "write ${env:NAME}" },
	{ "${env:A B}", 211, 7, 3, "write ${env:NAME}" },
	{ "${env:UNSET}", 219, 7, 5, "UNSET is not set" },
	{ "${env:A:-${env:B}}", 219, 16, 1, "B is not set" },
	{ "${env:A:-$nope}", 210, 10, 5, "'nope'" },
};

static void
faults_are_reported_at_the_characters_that_cause_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(FAULTS) / sizeof(FAULTS[0]); i++) {
		struct hr_arena *a = hr_arena_new();
		struct hr_diags d;
		struct hr_value v;
		bool ok = resolve(a, &d, FAULTS[i].text, &v);

		if (ok || d.n_errors != 1 || d.first->code != FAULTS[i].code ||
		    d.first->at.col != FAULTS[i].col || d.first->at.len != FAULTS[i].len ||
		    !strstr(d.first->text, FAULTS[i].says)) {
			print_message("%s: wanted E%u at %u+%u, found %s\n%s", FAULTS[i].text,
				      FAULTS[i].code, FAULTS[i].col, FAULTS[i].len, ok ? "ok" : "",
				      hr_diags_text(&d, a, false));
			fail();
		}
		hr_arena_free(a);
	}
}

static void
a_faulty_knob_is_not_reported_again(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct hr_diags d;
	struct hr_value v;

	(void)state;
	assert_false(resolve(a, &d, "${1 + faulty}", &v));
	assert_int_equal(d.n_errors, 0);
	hr_arena_free(a);
}

static void
deep_nesting_ends_in_a_fault_and_not_in_a_crash(void **state)
{
	static const char *const OPEN[] = { "(", "-", "not ", "2**", "max(1," };
	struct hr_arena *a = hr_arena_new();
	struct hr_diags d;
	struct hr_value v;

	(void)state;
	for (size_t k = 0; k < sizeof(OPEN) / sizeof(OPEN[0]); k++) {
		char text[60100] = "${";

		for (size_t i = 0; i < 10000; i++)
			memcpy(text + 2 + i * strlen(OPEN[k]), OPEN[k], strlen(OPEN[k]));
		strcat(text, "1}");
		assert_false(resolve(a, &d, text, &v));
		assert_int_equal(d.first->code, 211);
	}
	char text[2000] = "";

	for (int i = 0; i < 100; i++)
		strcat(text, "${env:A:-");
	for (int i = 0; i < 100; i++)
		strcat(text, "}");
	assert_false(resolve(a, &d, text, &v));
	assert_int_equal(d.first->code, 211);
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_replaced_and_computed),
		cmocka_unit_test(faults_are_reported_at_the_characters_that_cause_them),
		cmocka_unit_test(a_faulty_knob_is_not_reported_again),
		cmocka_unit_test(deep_nesting_ends_in_a_fault_and_not_in_a_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
