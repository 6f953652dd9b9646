// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_refusals.c - graphs that are refused: code, place, sentence, and no second fault.
 *
 * Each case is a few lines behind a good head; line numbers count from its own first line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "load_text.h"

struct refusal {
	const char *text;
	uint32_t code, line, col;
	const char *says; /* part of what is printed */
};

#define V "holorun: 1\n"
#define AB "nodes: {a: {op: x}, b: {op: x, inputs: {in: a}}}\n"

/* Text begins behind "holorun: 1\n": line 1 here is line 2 of the file. */
static const struct refusal WITH_VERSION[] = {
	/* keys */
	{ "retention: 72h\n" AB, 203, 1, 1, "unknown top-level key 'retention'" },
	{ "node: {}\n", 203, 1, 1, "did you mean 'nodes'?" },
	{ "nodes: {a: {op: x, input: {in: y}}}\n", 203, 1, 20, "did you mean 'inputs'?" },
	{ "nodes: {a: {op: x, count: 1}}\n", 203, 1, 20, "unknown node key 'count'" },
	{ "nodes: {a: {opp: x}}\n", 203, 1, 13, "did you mean 'op'?" },
	{ "nodes: {a: {op: x, cpus: 1}}\n", 204, 1, 20,
	  "'cpus' is a partition key, not a node key" },
	{ "nodes: {a: {op: x, depth: 1}}\n", 204, 1, 20,
	  "'depth' is an input key, not a node key" },
	{ "inputs: {}\n" AB, 204, 1, 1, "move it into a node, beside `op`" },
	{ AB "partitions: {p: {nodes: [a, b], op: x}}\n", 204, 2, 33, "is a node key" },
	{ AB "partitions: {p: {nodes: [a, b], policy: fifo}}\n", 204, 2, 33, "under `sched`" },
	{ "nodes: {a: {op: x}, b: {op: x, inputs: {in: {from: a, window: 2}}}}\n", 204, 1, 55,
	  "'window' is a gather key, not an input key" },
	{ AB "defaults: {depth: 4}\n", 204, 2, 12, "under `defaults: channel:`" },
	{ AB "knobs: {n: {type: int, default: 1, step: 2}}\n", 203, 2, 36,
	  "unknown knob key 'step'" },
	{ AB "presets: {p: {knob: {}}}\n", 203, 2, 15, "did you mean 'knobs'?" },
	{ AB "plugins: [{path: x, version: 1}]\n", 203, 2, 21, "unknown plugin key" },
	{ AB "processes: {p: {cwd: /}}\n", 203, 2, 17, "unknown process key" },
	/* not in this version */
	{ AB "include: []\n", 290, 2, 1, "'include' is not in this version" },
	{ AB "require: []\n", 290, 2, 1, "'require'" },
	{ AB "latency: {}\n", 290, 2, 1, "'latency'" },
	{ AB "memory: {}\n", 290, 2, 1, "'memory'" },
	{ AB "env: {}\n", 290, 2, 1, "'env'" },
	{ AB "processes: {p: {env: {}}}\n", 290, 2, 17, "'env'" },
	{ "nodes: {a: {op: x, replicas: 2}}\n", 290, 1, 20, "'replicas'" },
	{ "nodes: {a: {op: x, overrides: {}}}\n", 290, 1, 20, "'overrides'" },
	{ "nodes: {a: {op: x, enabled: true}}\n", 290, 1, 20, "'enabled'" },
	{ "nodes: {a: {op: x, sync: {}}}\n", 290, 1, 20, "'sync'" },
	{ "nodes: {a: {op: x, tile: {}}}\n", 290, 1, 20, "'tile'" },
	{ "nodes: {a: {op: x, after: []}}\n", 290, 1, 20, "'after'" },
	{ "nodes: {a: {op: x, workers: 2}}\n", 290, 1, 20, "'workers'" },
	{ "nodes: {a: {op: x, order: any}}\n", 290, 1, 20, "'order'" },
	{ "nodes: {a: {op: x}, b: {op: x, inputs: {in: {from: a, fresh: false}}}}\n", 290, 1, 55,
	  "'fresh'" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: {count: 1, format: x}}}}}\n", 290, 1,
	  63, "'format'" },
	{ AB "partitions: {p: {nodes: [a, b], numa: 0}}\n", 290, 2, 33, "'numa'" },
	{ "nodes: {a: {op: x}, b: {op: x, inputs: {in: a.*}}}\n", 291, 1, 45, "patterns" },
	{ AB "partitions: {p: {nodes: [\"a.*\"]}}\n", 291, 2, 26, "patterns" },
	/* forms */
	{ "nodes: []\n", 205, 1, 8, "nodes: expected a map, got a list" },
	{ "nodes: {a: {op: x}, b: {op: x, inputs: a.out}}\n", 205, 1, 40,
	  "expected a map port: source, got text; write `inputs: {in: a.out}`" },
	{ "nodes: {a: x}\n", 205, 1, 12, "write `a: {op: plugin/op}`" },
	{ "nodes: {a: {op: [x]}}\n", 205, 1, 17, "op: expected text, got a list" },
	{ "nodes: {a: {op: x, params: 5}}\n", 205, 1, 28, "params: expected a map, got text" },
	{ "nodes: {a: {op: x, params: {p: {q: 1}}}}\n", 205, 1, 32, "a value or a list of values" },
	{ "nodes: {a: {op: x, params: {p: [[1]]}}}\n", 205, 1, 33, "expected text, got a list" },
	{ "plugins: ./x.so\n" AB, 205, 1, 10, "write `plugins: [{path: ./libname.so}]`" },
	{ "plugins: [./x.so]\n" AB, 205, 1, 11, "write `- path: ./libname.so`" },
	{ AB "knobs: {n: 5}\n", 205, 2, 12, "write `n: {type: int, default: 1}`" },
	{ AB "knobs: 5\n", 205, 2, 8, "knobs: expected a map" },
	{ AB "knobs: {n: {type: int, default: [1]}}\n", 205, 2, 33, "expected text, got a list" },
	{ AB "partitions: [a]\n", 205, 2, 13, "partitions: expected a map" },
	{ AB "partitions: {p: [a]}\n", 205, 2, 17, "partition p: expected a map" },
	{ AB "partitions: {p: {nodes: a}}\n", 205, 2, 25, "write `nodes: [src, work]`" },
	{ AB "partitions: {p: {nodes: [a], sched: fifo}}\n", 205, 2, 37,
	  "{policy: fifo, priority: 10}" },
	{ AB "defaults: 4\n", 205, 2, 11, "defaults: expected a map" },
	{ AB "defaults: {channel: 4}\n", 205, 2, 21, "channel: expected a map" },
	{ AB "presets: [a]\n", 205, 2, 10, "presets: expected a map" },
	{ AB "presets: {p: 1}\n", 205, 2, 14, "preset p: expected a map" },
	{ AB "presets: {p: {knobs: 1}}\n", 205, 2, 22, "knobs of a preset" },
	{ AB "processes: [p]\n", 205, 2, 12, "processes: expected a map" },
	{ AB "name: [x]\n", 205, 2, 7, "name: expected text" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, gather: 4, initial: 1}}}}\n", 205, 1, 51,
	  "gather: {count: 8, by: frame}" },
	/* missing */
	{ "nodes: {}\n", 226, 1, 1, "the graph has no nodes" },
	{ "nodes:\n", 226, 1, 1, "the graph has no nodes" },
	{ "nodes: {a: {params: {}}}\n", 206, 1, 9, "node 'a' has no `op`" },
	{ "nodes: {a: }\n", 206, 1, 9, "node 'a' has no `op`" },
	{ "nodes: {a: {op: }}\n", 206, 1, 9, "node 'a' has no `op`" },
	{ "nodes: {a: {op: x, inputs: {in: }}}\n", 206, 1, 29,
	  "input 'in' of node 'a' names no source" },
	{ "nodes: {a: {op: x, inputs: {in: {depth: 3}}}}\n", 206, 1, 29, "names no source" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: {}}}}}\n", 206, 1, 52, "no `count`" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {by: frame}}}}}\n", 206, 1,
	  63, "gather has no `count`" },
	{ "plugins: [{optional: true}]\n" AB, 206, 1, 11, "a plugin needs a `path`" },
	{ "plugins: [{path: }]\n" AB, 206, 1, 18, "a plugin needs a `path`" },
	{ AB "knobs: {n: {default: 1}}\n", 206, 2, 9, "knob n has no `type`" },
	{ AB "knobs: {n: {type: int}}\n", 206, 2, 9, "knob n has no value" },
	{ AB "knobs: {n: {type: int, defualt: 1}}\n", 203, 2, 24, "did you mean 'default'?" },
	{ AB "knobs: {n: {tpye: int, default: 1}}\n", 203, 2, 13, "did you mean 'type'?" },
	{ AB "partitions: {p: {cpus: 0}}\n", 206, 2, 14, "partition 'p' has no nodes" },
	{ AB "partitions: {p: {nodes: []}}\n", 206, 2, 14, "partition 'p' has no nodes" },
	{ AB "partitions: {p: {node: [a]}}\n", 203, 2, 18, "did you mean 'nodes'?" },
	{ AB "partitions: {p: {nodes: [a], sched: {priority: 3}}}\n", 206, 2, 37, "no `policy`" },
	{ AB "partitions: {p: {nodes: [a], sched: {policy: rr}}}\n", 206, 2, 37,
	  "needs a `priority`" },
	/* values */
	{ AB "defaults: {stall_timeout: 5}\n", 207, 2, 27, "'5' has no unit" },
	{ AB "defaults: {stop_grace: 0}\n", 209, 2, 24, "longer than 0" },
	{ AB "defaults: {channel: {depth: 0}}\n", 209, 2, 29, "0 is below the minimum 1" },
	{ AB "defaults: {channel: {depth: 2G}}\n", 209, 2, 29, "above the maximum" },
	{ AB "defaults: {channel: {depth: x}}\n", 207, 2, 29, "'x' is not an int" },
	{ AB "defaults: {channel: {when_full: bock}}\n", 208, 2, 33, "did you mean 'block'?" },
	{ AB "plugins: [{path: x, optional: yes}]\n", 207, 2, 31, "write true or false" },
	{ "nodes: {a: {op: x, device: gpu}}\n", 208, 1, 28, "valid here: cpu, cuda, auto" },
	{ "nodes: {a: {op: x, end: some}}\n", 208, 1, 25, "valid here: all, any" },
	{ "nodes: {a: {op: x, on_failure: stop}}\n", 208, 1, 32,
	  "valid here: stop_graph, detach, restart" },
	{ "nodes: {a: {op: x, on_failure: {restart: {max: -1}}}}\n", 209, 1, 48,
	  "below the minimum" },
	{ "nodes: {a: {op: x, on_failure: {restart: {backoff: 5}}}}\n", 207, 1, 52, "5" },
	{ "nodes: {a: {op: x, on_failure: {restart: {mx: 5}}}}\n", 203, 1, 43,
	  "did you mean 'max'?" },
	{ "nodes: {a: {op: x, on_failure: [detach]}}\n", 205, 1, 32, "on_failure" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {count: 0}}}}}\n", 209, 1,
	  71, "count: 0 is below" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {count: 4, window: "
	  "0}}}}}\n",
	  209, 1, 82, "window: 0" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {count: 4, min_valid: "
	  "5}}}}}\n",
	  209, 1, 85, "min_valid: 5 is above the maximum 4" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {count: 4, by: "
	  "stream}}}}}\n",
	  208, 1, 78, "[frame, stream]" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {count: 4, by: "
	  "frames}}}}}\n",
	  208, 1, 78, "did you mean 'frame'?" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 1, gather: {count: 4, missing: "
	  "nan0}}}}}\n",
	  208, 1, 83, "did you mean 'nan'?" },
	{ AB "knobs: {t: {type: duration, default: \"${0 - 1ms}\"}}\n", 207, 2, 38,
	  "-1 ms is negative, and a duration cannot be" },
	{ AB "knobs: {t: {type: size, default: \"${1B - 2B}\"}}\n", 207, 2, 34, "is negative" },
	{ "nodes: {a: {op: x, inputs: {in: {from: a, initial: 0}}}}\n", 209, 1, 52, "initial: 0" },
	{ AB "partitions: {p: {nodes: [a], cpus: x}}\n", 207, 2, 36, "not a CPU list" },
	{ AB "partitions: {p: {nodes: [a], cpus: []}}\n", 207, 2, 36, "the list is empty" },
	{ AB "partitions: {p: {nodes: [a], cpus: [1, x]}}\n", 207, 2, 40, "not a CPU list" },
	{ AB "partitions: {p: {nodes: [a], cpus: [1, \"rel:2\"]}}\n", 207, 2, 36,
	  "not a CPU list" },
	{ AB "partitions: {p: {nodes: [a], wait: spinn}}\n", 208, 2, 36, "did you mean 'spin'?" },
	{ AB "partitions: {p: {nodes: [a], exclusive: 1}}\n", 207, 2, 41, "write true or false" },
	{ AB "partitions: {p: {nodes: [a], sched: {policy: ff}}}\n", 208, 2, 46,
	  "other, fifo, rr" },
	{ AB "partitions: {p: {nodes: [a], sched: {policy: fifo, priority: 0}}}\n", 209, 2, 62,
	  "minimum 1" },
	{ AB "partitions: {p: {nodes: [a], sched: {policy: rr, priority: 100}}}\n", 209, 2, 60,
	  "maximum 99" },
	{ AB "partitions: {p: {nodes: [a], sched: {policy: other, priority: 5}}}\n", 208, 2, 53,
	  "goes with policy fifo or rr" },
	{ AB "partitions: {p: {nodes: [a], sched: {policy: rr, priority: 5, required: no}}}\n", 207,
	  2, 73, "write true or false" },
	/* knobs */
	{ AB "knobs: {n: {type: integer, default: 1}}\n", 208, 2, 19,
	  "there is no type 'integer'" },
	{ AB "knobs: {n: {type: int, default: x}}\n", 207, 2, 33, "knob n: 'x' is not an int" },
	{ AB "knobs: {n: {type: bool, default: yes}}\n", 207, 2, 34, "write true or false" },
	{ AB "knobs: {n: {type: int, default: 0, min: 1}}\n", 209, 2, 33,
	  "knob n: 0 is below the minimum 1 (declared at g.yaml:3:9)" },
	{ AB "knobs: {n: {type: size, default: 2KiB, max: 1KiB}}\n", 209, 2, 34,
	  "above the maximum 1 KiB" },
	{ AB "knobs: {n: {type: int, default: 1, choices: [2, 3]}}\n", 208, 2, 33,
	  "valid here: 2, 3" },
	{ AB "knobs: {n: {type: int, default: 1, choices: 2}}\n", 205, 2, 45,
	  "write `choices: [1, 2]`" },
	{ AB "knobs: {n: {type: int, default: 1, choices: [1, x]}}\n", 207, 2, 49,
	  "'x' is not an int" },
	{ AB "knobs: {n: {type: int, default: 1, min: x}}\n", 207, 2, 41, "min of knob n" },
	{ AB "knobs: {n: {type: int, default: 1, min: 3, max: 2}}\n", 227, 2, 49,
	  "below the minimum 3" },
	{ AB "knobs: {n: {type: string, default: a, min: 3}}\n", 227, 2, 39,
	  "a string has no min" },
	{ AB "knobs: {a-b: {type: int, default: 1}}\n", 218, 2, 9,
	  "'a-b' cannot be the name of a knob" },
	{ AB "knobs: {1a: {type: int, default: 1}}\n", 218, 2, 9, "do not start with a digit" },
	{ AB "knobs: {n: {type: int, default: $m}}\n", 210, 2, 33, "no knob is called 'm'" },
	{ AB "knobs: {n: {type: int, default: $n}}\n", 213, 2, 33, "in a circle: n -> n" },
	{ AB "knobs:\n  a: {type: int, default: $b}\n  b: {type: int, default: \"${c + 1}\"}\n"
	     "  c: {type: int, default: $a}\n",
	  213, 5, 27, "in a circle: a -> b -> c -> a" },
	{ AB "knobs:\n  a: {type: int, default: x}\n  b: {type: int, default: $a}\n", 207, 3, 27,
	  "'x' is not an int" },
	{ AB "knobs: {t: {type: duration, default: \"${5 * 2}\"}}\n", 207, 2, 38,
	  "'10' has no unit" },
	{ "knobs: {n: {type: int, default: 0}}\n" AB "defaults: {channel: {depth: $n}}\n", 209, 3,
	  29, "2:33: note: the value comes from here" },
	/* presets */
	{ "knobs: {n: {type: int, default: 1}}\n" AB "presets: {p: {knobs: {m: 1}}}\n", 220, 3, 23,
	  "valid here: n" },
	{ "knobs: {n: {type: int, default: 1}}\n" AB "presets: {p: {knobs: {n: x}}}\n", 207, 3, 26,
	  "'x' is not an int" },
	{ "knobs: {n: {type: int, default: 1, max: 5}}\n" AB "presets: {p: {knobs: {n: 6}}}\n", 209,
	  3, 26, "above the maximum 5" },
	/* names and wiring */
	{ "nodes: {a.b: {op: x}}\n", 218, 1, 9, "cannot be the name of a node" },
	{ "nodes: {7: {op: x}}\n", 218, 1, 9, "not only digits" },
	{ "nodes: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: {op: "
	  "x}}\n",
	  218, 1, 9, "at most 63" },
	{ AB "partitions: {a b: {nodes: [a]}}\n", 218, 2, 14, "name of a partition" },
	{ AB "partitions: {p: {nodes: [a], process: a/b}}\n", 218, 2, 39, "name of a process" },
	{ AB "processes: {a/b: {}}\n", 218, 2, 13, "name of a process" },
	{ AB "presets: {\"a b\": {}}\n", 218, 2, 11, "name of a preset" },
	{ "nodes: {a: {op: x, inputs: {in: srk.out}}, src: {op: x}}\n", 214, 1, 33,
	  "node 'a': input 'in': no node is called 'srk'" },
	{ "nodes: {a: {op: x, inputs: {in: a.b.c}}}\n", 225, 1, 33, "'a.b.c' is not a source" },
	{ "nodes: {a: {op: x, inputs: {in: a.}}}\n", 225, 1, 33, "'a.' is not a source" },
	{ "nodes: {a: {op: x, inputs: {in: .a}}}\n", 225, 1, 33, "'.a' is not a source" },
	{ "nodes: {a: {op: x, inputs: {in: \"\"}}}\n", 225, 1, 33, "'' is not a source" },
	{ "nodes: {a: {op: x, inputs: {in: \"a[0]\"}}}\n", 225, 1, 33, "without brackets" },
	{ "nodes: {a: {op: x, inputs: {in: []}}}\n", 225, 1, 33, "the list of sources is empty" },
	{ "nodes: {a: {op: x, inputs: {in: a.out}}}\n", 215, 1, 33,
	  "a feeds itself: a.out -> a.in" },
	{ "nodes:\n  a: {op: x, inputs: {in: c.o}}\n  b: {op: x, inputs: {in: a.o}}\n"
	  "  c: {op: x, inputs: {in: b.o}}\n",
	  215, 2, 27, "in a circle: a -> b -> c -> a" },
	{ AB "partitions: {p: {nodes: [c]}}\n", 217, 2, 26,
	  "partition 'p': no node is called 'c'" },
	{ AB "partitions: {p: {nodes: [a]}, q: {nodes: [b, a]}}\n", 216, 2, 46,
	  "node 'a' is in two partitions: 'p' and 'q'" },
	{ AB "partitions: {p: {nodes: [a, a]}}\n", 228, 2, 29, "listed twice" },
};

static const struct refusal WHOLE[] = {
	{ AB, 201, 1, 1, "add the line `holorun: 1`" },
	{ "holorum: 1\n" AB, 203, 1, 1, "did you mean 'holorun'?" },
	{ "holorun: 2\n" AB, 202, 1, 10, "needs language version 2; this holorun understands 1" },
	{ "holorun: x\n" AB, 202, 1, 10, "'x' is no language version" },
	{ "holorun: [1]\n" AB, 205, 1, 10, "holorun: expected text" },
	{ "- a\n", 205, 1, 1, "the file holds a list" },
	{ "hello\n", 205, 1, 1, "only a text" },
	{ "holorun: 1\n", 226, 1, 1, "write `nodes: {src: {op: plugin/op}}`" },
	{ "holorun: 1\nx-b: &b {op: x}\nnodes:\n  a:\n    <<: *b\n", 290, 5, 5, "merge keys" },
};

static bool
check(const struct refusal *r, const char *text, uint32_t line)
{
	struct loaded l = { 0 };

	load_texts(&l, &text, 1);
	const char *out = faults(&l);
	const struct hr_diag *d = l.diags.first;
	bool ok = l.diags.n_errors == 1 && d->code == r->code && d->at.line == line &&
		  d->at.col == r->col && strstr(out, r->says) && l.diags.exit_code == 2;

	if (!ok)
		print_message("%s\nwanted E%u at %u:%u, '%s', found:\n%s", text, r->code, line,
			      r->col, r->says, out);
	unload(&l);
	return ok;
}

static void
every_kind_of_bad_graph_has_its_sentence_and_place(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(WITH_VERSION) / sizeof(WITH_VERSION[0]); i++) {
		size_t n = strlen(V) + strlen(WITH_VERSION[i].text) + 1;
		char *text = malloc(n);

		snprintf(text, n, "%s%s", V, WITH_VERSION[i].text);
		n_wrong += !check(&WITH_VERSION[i], text, WITH_VERSION[i].line + 1);
		free(text);
	}
	for (size_t i = 0; i < sizeof(WHOLE) / sizeof(WHOLE[0]); i++)
		n_wrong += !check(&WHOLE[i], WHOLE[i].text, WHOLE[i].line);
	assert_int_equal(n_wrong, 0);
}

static void
all_faults_of_a_graph_are_said_at_once(void **state)
{
	const char *text =
		V "knobs: {n: {type: int, default: x}}\n"
		  "nodes:\n  a: {op: x, input: {in: b}}\n  b: {op: x, inputs: {in: c, z: $nn}}\n"
		  "partitions: {p: {nodes: [d], wait: hot}}\n";
	struct loaded l = { 0 };

	(void)state;
	load_texts(&l, &text, 1);
	hr_diags_sort(&l.diags);
	const uint32_t want[] = { 207, 203, 214, 210, 217, 208 };
	const struct hr_diag *d = l.diags.first;

	for (size_t i = 0; i < 6; i++, d = d->next)
		assert_int_equal(d->code, want[i]);
	assert_null(d);
	assert_non_null(l.g);
	assert_true(l.g->node[0].inputs_broken);
	assert_true(l.g->node[1].inputs_broken);
	unload(&l);
}

static void
unknown_node_keys_are_handed_on(void **state)
{
	const char *text = V "nodes: {a: {op: x}, b: {op: x, count: 1}}\n";
	struct loaded l = { 0 };

	(void)state;
	load_texts(&l, &text, 1);
	assert_int_equal(l.g->n_unknown_keys, 1);
	assert_int_equal(l.g->unknown_key[0].node, 1);
	assert_string_equal(l.g->unknown_key[0].key.text, "count");
	assert_ptr_equal(l.g->unknown_key[0].diag, l.diags.first);
	unload(&l);
}

static void
settings_and_presets_are_checked(void **state)
{
	static const struct {
		const char *name, *value, *preset, *says;
	} CASES[] = {
		{ "nn", "5", NULL,
		  "command line:1:4: error[E220]: no knob is called 'nn'\n"
		  "    1 | -k nn=5\n      |    ^~\nhelp: did you mean 'n'?\n"
		  "help: knobs: n (int, min 1, max 9), w (string, a|b)\n" },
		{ "n", "0", NULL,
		  "command line:1:6: error[E209]: knob n: 0 is below the minimum 1 "
		  "(declared at g.yaml:2:9)\n" },
		{ "n", "1,2", NULL,
		  "command line:1:6: error[E221]: n takes one value; to try several: holorun sweep "
		  "... -s n=1,2\n" },
		{ "n", "x", NULL, "command line:1:6: error[E221]: knob n: 'x' is not an int\n" },
		{ "n", "", NULL, "command line:1:6: error[E221]: knob n: '' is not an int\n" },
		{ "w", "c", NULL, "help: valid here: a, b\n" },
		{ "n", "$q", NULL, "command line:1:6: error[E210]: no knob is called 'q'\n" },
		{ NULL, NULL, "smal",
		  "command line:1:10: error[E222]: no preset is called 'smal'\n"
		  "    1 | --preset smal\n      |          ^~~~\nhelp: did you mean 'small'?\n" },
		{ NULL, NULL, "swept", "E293]: preset 'swept': `sweep` is not in this version" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *text =
			V "knobs: {n: {type: int, default: 5, min: 1, max: 9}, "
			  "w: {type: string, default: a, choices: [a, b]}}\n" AB
			  "presets: {small: {knobs: {n: 1}}, swept: {sweep: {n: [1, 2]}}}\n";
		struct hr_setting set = { CASES[i].name, CASES[i].value };
		struct loaded l = { .opt = { .preset = CASES[i].preset,
					     .setting = &set,
					     .n_settings = CASES[i].name != NULL } };

		load_texts(&l, &text, 1);
		if (l.diags.n_errors != 1 || !strstr(faults(&l), CASES[i].says)) {
			print_message("wanted %s\nfound %s", CASES[i].says, faults(&l));
			fail();
		}
		unload(&l);
	}
	const char *bare = V AB;
	struct hr_setting set = { "n", "1" };
	struct loaded l = { .opt = { .preset = "p", .setting = &set, .n_settings = 1 } };

	load_texts(&l, &bare, 1);
	assert_non_null(strstr(faults(&l), "this graph declares no knobs"));
	assert_non_null(strstr(faults(&l), "this graph has no presets"));
	unload(&l);
}

static void
long_chains_of_knobs_end_in_a_fault(void **state)
{
	struct loaded l = { 0 };
	char *text = calloc(1, 400000);
	size_t n = 0;

	(void)state;
	n += (size_t)sprintf(text + n, V AB "knobs:\n");
	for (int i = 0; i < 5000; i++)
		n += (size_t)sprintf(text + n, "  k%d: {type: int, default: $k%d}\n", i, i + 1);
	sprintf(text + n, "  k5000: {type: int, default: 1}\n");
	const char *t = text;

	load_texts(&l, &t, 1);
	assert_true(l.diags.n_errors > 0);
	assert_int_equal(l.diags.first->code, 213);
	unload(&l);
	free(text);
}

static void
too_many_nodes_are_refused(void **state)
{
	struct loaded l = { 0 };
	char *text = malloc(4 << 20);
	size_t n = 0;

	(void)state;
	n += (size_t)sprintf(text, V "nodes:\n");
	for (int i = 0; i <= 100000; i++)
		n += (size_t)sprintf(text + n, "  n%d: {op: x}\n", i);
	const char *t = text;

	load_texts(&l, &t, 1);
	assert_int_equal(l.diags.n_errors, 1);
	assert_int_equal(l.diags.first->code, 200);
	unload(&l);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_bad_graph_has_its_sentence_and_place),
		cmocka_unit_test(all_faults_of_a_graph_are_said_at_once),
		cmocka_unit_test(unknown_node_keys_are_handed_on),
		cmocka_unit_test(settings_and_presets_are_checked),
		cmocka_unit_test(long_chains_of_knobs_end_in_a_fault),
		cmocka_unit_test(too_many_nodes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
