# SPDX-License-Identifier: Apache-2.0
"""What happens when a queue is full, when streams end at different times, when ports stay open."""

from base import B0, edit, numbers
from holotest import balanced, case, contains, equal, main, matches, true

SLOW = """\
holorun: 1
name: slow
plugins: [{path: testops}]
knobs:
  full: {type: string, default: block, choices: [block, drop_newest, fail]}
nodes:
  src: {op: test/seq_source, params: {count: 300}}
  sink:
    op: test/slow
    params: {work: 500us}
    inputs: {in: {from: src.out, depth: 8, when_full: $full}}
  other:
    op: test/seq_sink
    params: {file: out.txt}
    inputs: {in: src.out}
partitions:
  a: {process: one, wait: sleep, nodes: [src, other]}
  b: {process: two, wait: sleep, nodes: [sink]}
"""


@case
def a60_block_loses_nothing_and_slows_the_source(b):
    b.write("slow.yaml", SLOW)
    b.run("slow.yaml", "--out", "out")
    edge = b.result().edge("src.out", "sink.in")
    balanced(edge)
    equal((edge["sent"], edge["received"], edge["lost"]), (300, 300, 0), "sent, received, lost")
    equal(b.result().counter("sink", "received"), 300, "received by the op")


@case
def a60_drop_newest_counts_every_loss_and_the_other_reader_has_all(b):
    b.write("slow.yaml", SLOW)
    run = b.run("slow.yaml", "-k", "full=drop_newest", "--out", "out")
    result = b.result()
    edge = result.edge("src.out", "sink.in")
    balanced(edge)
    equal(edge["sent"], 300, "sent")
    equal(edge["received"], result.counter("sink", "received"), "received, by edge and by op")
    true(edge["lost"] > 0, "a slow reader of 8 places lost something")
    equal(edge["lost"], 300 - edge["received"], "lost")
    equal(numbers(b), list(range(300)), "what the lossless reader has")
    matches(run.out, r"\b%d\b.*lost|lost.*\b%d\b" % (edge["lost"], edge["lost"]), "loss in the summary")
    run = b.run("slow.yaml", "-k", "full=drop_newest", "--deny", "drops", rc=4)


@case
def a60_fail_names_the_edge_and_the_message(b):
    b.write("slow.yaml", SLOW)
    run = b.run("slow.yaml", "-k", "full=fail", rc=1)
    contains(run.first, "sink", "first line")
    contains(run.first, "src", "first line")
    matches(run.first, r"\b\d+\b", "message number")


@case
def a61_a_queue_holds_what_was_asked_and_memory_stays_flat(b):
    peaks = []
    for count in ("2000", "200k"):
        b.write(
            "flat.yaml",
            "holorun: 1\nplugins: [{path: std}]\nnodes:\n"
            "  src: {op: std/sequence, params: {size: 4KiB, count: %s}}\n"
            "  sink: {op: std/null, inputs: {in: {from: src, depth: 10}}}\n" % count,
        )
        b.run("flat.yaml", "--out", "out")
        peaks.append(max(p["max_rss_bytes"] for p in b.result().data["processes"]))
    true(peaks[1] < peaks[0] + (2 << 20), "peak memory grew with the messages: %s" % peaks)


JOIN = """\
holorun: 1
plugins: [{path: testops}]
nodes:
  long: {op: test/seq_source, params: {count: 100}}
  short: {op: test/seq_source, params: {count: 70}}
  join:
    op: test/join2
    end: %s
    inputs: {a: {from: long.out, depth: 8}, b: {from: short.out, depth: 8}}
  sink: {op: test/slow, params: {work: 0}, inputs: {in: join.out}}
"""


@case
def a62_end_all_delivers_both_streams(b):
    b.write("join.yaml", JOIN.replace("    end: %s\n", ""))
    b.run("join.yaml", "--out", "out")
    result = b.result()
    for edge in result.data["edges"]:
        balanced(edge)
        equal(edge["received"], edge["sent"], "received of " + edge["name"])
    equal(result.edge("long.out", "join.a")["received"], 100, "a")
    equal(result.edge("short.out", "join.b")["received"], 70, "b")


@case
def a62_end_any_ends_with_the_shorter_and_counts_the_rest(b):
    b.write("join.yaml", JOIN % "any")
    b.run("join.yaml", "--out", "out")
    result = b.result()
    for edge in result.data["edges"]:
        balanced(edge)
    equal(result.edge("short.out", "join.b")["received"], 70, "b")
    a = result.edge("long.out", "join.a")
    true(a["received"] >= 70, "a had all its pairs")
    equal(a["received"] + a["left"], a["sent"], "a: the rest is left, not lost")
    out = result.edge("join.out", "sink.in")
    equal(out["received"], out["sent"], "what was made was delivered")


@case
def a62_a_sink_that_is_done_ends_the_graph(b):
    for placement in (
        "",
        "partitions: {a: {process: one, wait: sleep, nodes: [src]},"
        " b: {process: two, wait: sleep, nodes: [work, sink]}}\n",
    ):
        b.write(
            "b0.yaml",
            edit(
                "    op: test/seq_sink\n    params: {file: out.txt}\n",
                "    op: test/done_after\n    params: {n: 10}\n",
            ).replace("count: $n", "count: 0")
            + placement,
        )
        b.run("b0.yaml", "--out", "out")
        result = b.result()
        equal(result.counter("sink", "received"), 10, "received")
        for edge in result.data["edges"]:
            balanced(edge)


@case
def one_done_sink_does_not_stop_the_other(b):
    b.write(
        "two.yaml",
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  src: {op: test/seq_source, params: {count: 500}}\n"
        "  a: {op: test/done_after, params: {n: 10}, inputs: {in: src.out}}\n"
        "  b: {op: test/seq_sink, params: {file: out.txt}, inputs: {in: src.out}}\n",
    )
    b.run("two.yaml", "--out", "out")
    equal(numbers(b), list(range(500)), "what the other sink has")
    for edge in b.result().data["edges"]:
        balanced(edge)


@case
def an_optional_input_may_stay_open(b):
    b.write("b0.yaml", edit("op: test/copy", "op: test/opt_in"))
    b.run("b0.yaml")
    equal(numbers(b), list(range(1000)), "out.txt")


@case
def a77_an_output_nobody_reads_blocks_nobody_and_is_counted(b):
    b.write(
        "b0.yaml",
        edit("    op: test/copy\n", "    op: test/two_out\n").replace("work.out", "work.hit").replace(
            "    op: test/seq_sink\n    params: {file: out.txt}\n", "    op: test/slow\n    params: {work: 0}\n"
        ),
    )
    run = b.run("b0.yaml", "--out", "out")
    matches(run.err, r"warning\[W\d+\]: .*miss", "warning")
    equal(b.result().edge("work.hit", "sink.in")["received"], 500, "received")
    matches(run.out, r"unread", "unread messages in the summary")
    matches(run.out, r"\b500\b", "how many")


@case
def a_message_stays_whole_at_every_depth_and_size(b):
    b.write(
        "sizes.yaml",
        "holorun: 1\nplugins: [{path: std}]\n"
        "knobs: {depth: {type: int, default: 1}, size: {type: size, default: 64B}, reader: {type: string, default: main}}\n"
        "nodes:\n  src: {op: std/sequence, params: {size: $size, count: 300, fill: true}}\n"
        "  sink: {op: std/check, params: {count: 300, fill: true}, inputs: {in: {from: src, depth: $depth}}}\n"
        "partitions: {a: {wait: sleep, nodes: [src]}, b: {process: $reader, wait: sleep, nodes: [sink]}}\n",
    )
    for depth, size, reader in (
        (1, "16B", "other"),
        (1, "70000B", "main"),
        (2, "4099B", "other"),
        (3, "64B", "main"),
        (64, "1000B", "other"),
        (1000, "8B", "other"),
    ):
        run = b.run(
            "sizes.yaml", "-k", "depth=%d" % depth, "-k", "size=" + size, "-k", "reader=" + reader
        )


@case
def the_plan_states_the_depth_that_was_asked(b):
    b.write("b0.yaml", edit("{in: src.out}", "{in: {from: src.out, depth: 7}}"))
    plan = b.run("plan", "b0.yaml", "--format", "json").json()
    depths = [e["depth"] for e in plan["edges"] if e["to"].startswith("work")]
    equal(depths, [7], "depth in the plan")


@case
def a78_a_loop_with_initial_messages_runs(b):
    b.write(
        "loop.yaml",
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  src: {op: test/seq_source, params: {count: 200}}\n"
        "  mix: {op: test/join2, end: any, inputs: {a: src.out, b: {from: back.out, initial: 1}}}\n"
        "  back: {op: test/copy, inputs: {in: mix.out}}\n"
        "  sink: {op: test/slow, params: {work: 0}, inputs: {in: mix.out}}\n",
    )
    b.run("loop.yaml", "--out", "out", "--stall-timeout", "2s")
    result = b.result()
    for edge in result.data["edges"]:
        balanced(edge)
    true(result.edge("src.out", "mix.a")["received"] >= 199, "messages went round")


@case
def a_port_array_takes_from_all_its_writers(b):
    b.write(
        "many.yaml",
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  x: {op: test/seq_source, params: {count: 100}}\n"
        "  y: {op: test/seq_source, params: {count: 70}}\n"
        "  z: {op: test/seq_source, params: {count: 1}}\n"
        "  sink: {op: test/many_in, inputs: {in: [x.out, y.out, z.out]}}\n"
        "partitions: {a: {wait: sleep, nodes: [x, z]}, b: {process: p, wait: sleep, nodes: [y, sink]}}\n",
    )
    b.run("many.yaml", "--out", "out")
    equal(b.result().counter("sink", "received"), 171, "received")


@case
def an_op_that_blocks_has_a_thread_of_its_own(b):
    b.write(
        "nap.yaml",
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  src: {op: test/seq_source, params: {count: 100}}\n"
        "  nap: {op: test/nap, params: {work: 1ms}, inputs: {in: src.out}}\n"
        "  far: {op: test/seq_sink, params: {file: far.txt}, inputs: {in: nap.out}}\n"
        "  near: {op: test/seq_sink, params: {file: near.txt}, inputs: {in: src.out}}\n",
    )
    b.run("nap.yaml", "--out", "out")
    equal(numbers(b, "far.txt"), list(range(100)), "behind the napping op")
    equal(numbers(b, "near.txt"), list(range(100)), "beside it")
    equal(len(b.result().data["workers"]), 2, "threads")


@case
def a_live_source_ends_when_the_finite_ones_have(b):
    b.write(
        "both.yaml",
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  live: {op: test/live_source, params: {rate: 1kHz}}\n"
        "  src: {op: test/seq_source, params: {count: 50, rate: 500Hz}}\n"
        "  a: {op: test/seq_sink, params: {file: a.txt}, inputs: {in: live.out}}\n"
        "  b: {op: test/seq_sink, params: {file: b.txt}, inputs: {in: src.out}}\n"
        "partitions: {p: {process: one, wait: sleep, nodes: [live, a]}, q: {process: two, wait: sleep, nodes: [src, b]}}\n",
    )
    b.run("both.yaml", "--out", "out")
    equal(numbers(b, "b.txt"), list(range(50)), "the finite stream")
    equal(b.result().data["exit"]["reason"], "ended", "exit.reason")


@case
def shares_of_a_node_sum_up(b):
    b.write("slow.yaml", SLOW)
    b.run("slow.yaml", "--out", "out")
    for node in b.result().data["nodes"]:
        total = node["working_percent"] + node["waiting_in_percent"] + node["waiting_out_percent"]
        true(abs(total - 100) <= 1, "working + waiting of %s: %s" % (node["name"], total))


@case
def numbered_messages_keep_their_ages_positive(b):
    b.write("slow.yaml", SLOW)
    b.run("slow.yaml", "--out", "out")
    for edge in b.result().data["edges"]:
        for key in ("age_ns", "e2e_ns", "tail_ns"):
            hist = edge.get(key)
            if hist and hist["count"]:
                equal(hist["negative"], 0, "negative %s of %s" % (key, edge["name"]))
                true(hist["min"] <= hist["p50"] <= hist["p99"] <= hist["max"], "order of quantiles %s" % hist)


if __name__ == "__main__":
    main()
