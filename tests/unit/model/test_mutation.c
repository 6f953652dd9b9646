// SPDX-License-Identifier: Apache-2.0
/*
 * test_mutation.c - a good graph cut at every byte, and with single bytes changed, never crashes.
 *
 * Whatever comes out, there is a graph without errors or at least one error with
 * a text; under the sanitizers this is the front end's memory test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "load_text.h"

static const char GRAPH[] =
	"#!/usr/bin/env -S holorun run\n"
	"holorun: 1\nname: \"t\\u00e4st\"\n"
	"plugins: [{path: ./x.so}, {path: std, optional: true}]\n"
	"knobs:\n  n: {type: int, default: 1k, min: 1, max: 10M, choices: [1k, 2k]}\n"
	"  fs: {type: rate, default: 20.48MHz}\n"
	"  t: {type: duration, default: \"${n / fs}\"}\n"
	"  s: {type: size, default: '64 KiB'}\n"
	"  w: {type: string, default: $v}\n  v: {type: string, default: sp$$in}\n"
	"  c: {type: cpus, default: rel:0-1}\n"
	"defaults: {channel: {depth: 4, when_full: block}, stall_timeout: 2s}\n"
	"x-a: &a {op: a/b}\n"
	"nodes:\n  src: *a\n"
	"  work:\n    op: c/d\n    params: {p: \"x${env:SET:-${n + 1}}y\", q: [1, $n, 'a''b']}\n"
	"    inputs:\n      in: {from: src.out, gather: {count: 4, by: [frame, stream], timeout: "
	"$t}}\n"
	"      two: [src, work.x]\n"
	"  snk: {op: e, inputs: {in: {from: work.y, depth: 8, initial: {count: 1}}}, end: any}\n"
	"partitions:\n  p: {nodes: [src, work], cpus: $c, sched: {policy: fifo, priority: 5}}\n"
	"presets: {a: {knobs: {n: 2k}}, b: {sweep: {n: [1]}}}\n"
	"about: |\n  some\n  text\n";

static const char OVERLAY[] =
	"partitions: !replace\n  q: {nodes: [src, work, snk]}\n"
	"nodes: {work: {inputs: {in: {depth: 5}, two: !remove }}, new: {op: x}}\n";

static void
load_one(const char *graph, size_t len, const char *overlay, size_t overlay_len)
{
	const char *text[] = { graph, overlay };
	const size_t n[] = { len, overlay_len };
	struct hr_setting set = { "n", "2k" };
	struct loaded l = { .opt = { .preset = "a", .setting = &set, .n_settings = 1 } };

	load_n(&l, text, n, 2);
	assert_true((l.g && !l.diags.n_errors) || l.diags.n_errors);
	if (l.diags.n_errors) {
		assert_non_null(strstr(faults(&l), "nothing was started\n"));
		assert_non_null(hr_diags_json(&l.diags, l.arena));
	}
	unload(&l);
}

static void
every_beginning_of_a_graph_is_survived(void **state)
{
	(void)state;
	for (size_t n = 0; n <= strlen(GRAPH); n++) {
		/* A copy of exactly n bytes: a read beyond it is seen by the sanitizer. */
		char *copy = malloc(n + 1);

		memcpy(copy, GRAPH, n);
		copy[n] = '\0';
		load_one(copy, n, OVERLAY, strlen(OVERLAY));
		free(copy);
	}
	for (size_t n = 0; n <= strlen(OVERLAY); n++)
		load_one(GRAPH, strlen(GRAPH), OVERLAY, n);
}

static void
every_changed_byte_is_survived(void **state)
{
	static const char BYTES[] = "\0\t\n :{}[]$*&!#'\"|-%\x80\xff.,a0";
	char *copy = strdup(GRAPH);

	(void)state;
	for (size_t i = 0; i < strlen(GRAPH); i++) {
		/* Each place gets some of the bytes; all bytes meet all kinds of places. */
		for (size_t k = i % 11; k < sizeof(BYTES) - 1; k += 11) {
			copy[i] = BYTES[k];
			load_one(copy, strlen(GRAPH), OVERLAY, strlen(OVERLAY));
		}
		copy[i] = GRAPH[i];
	}
	free(copy);
}

static void
every_dropped_byte_is_survived(void **state)
{
	char *copy = malloc(sizeof(GRAPH));

	(void)state;
	for (size_t i = 0; i < strlen(GRAPH); i++) {
		memcpy(copy, GRAPH, i);
		memcpy(copy + i, GRAPH + i + 1, sizeof(GRAPH) - i - 1);
		load_one(copy, strlen(copy), OVERLAY, strlen(OVERLAY));
	}
	free(copy);
}

static void
the_unchanged_graph_is_good(void **state)
{
	const char *text[] = { GRAPH, OVERLAY };
	struct loaded l = { 0 };

	(void)state;
	load_texts(&l, text, 2);
	if (l.diags.n_errors)
		print_message("%s", faults(&l));
	assert_int_equal(l.diags.n_errors, 0);
	unload(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_unchanged_graph_is_good),
		cmocka_unit_test(every_beginning_of_a_graph_is_survived),
		cmocka_unit_test(every_changed_byte_is_survived),
		cmocka_unit_test(every_dropped_byte_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
