# SPDX-License-Identifier: Apache-2.0
"""when_full: drop_oldest.  Exact counts, the newest always arrives, nobody is slowed."""

import os
import signal
import time

from base import numbers
from holotest import balanced, case, equal, main, read_file, true, until

SLOW = """\
holorun: 1
plugins: [{path: std}, {path: testops}, {path: inject}]
nodes:
  src: {op: test/seq_source, params: {count: COUNT, rate: RATE}}
  slow: {op: inject/late, inputs: {in: {from: src.out, depth: DEPTH, when_full: drop_oldest}}}
  busy: {op: inject/take, params: {work: WORK}, inputs: {in: slow.out}}
  sink: {op: test/seq_sink, params: {file: out.txt, lossy: true}, inputs: {in: slow.out}}
"""
# One reader that takes its time, and one that writes down what passed the edge.
SINK = """\
holorun: 1
plugins: [{path: std}, {path: testops}, {path: inject}]
nodes:
  src: {op: std/sequence, params: {count: COUNT, rate: RATE, fill: true, size: 512B}}
  sink:
    op: std/check
    params: {lossy: true, fill: true, work: WORK, count: COUNT}
    inputs: {in: {from: src.out, depth: DEPTH, when_full: drop_oldest}}
"""
PLACES = {
    "a worker": "",
    "two threads": (
        "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
        "  pb: {process: one, wait: sleep, nodes: [sink]}\n"
    ),
    "two processes": (
        "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
        "  pb: {process: two, wait: sleep, nodes: [sink]}\n"
    ),
}


def write(b, text=SINK, place="", **values):
    for key, value in values.items():
        text = text.replace(key, str(value))
    b.write("g.yaml", text + place)


def child(run, name):
    def look():
        for pid in run.children():
            if read_file("/proc/%d/comm" % pid).strip() == name:
                return pid
        return None

    return until(look, "process %s" % name)


def pause(seconds):
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, "a while")


@case
def counts_are_exact_and_the_newest_arrives_everywhere(b):
    for where, place in PLACES.items():
        for depth in (1, 2, 5, 64):
            write(b, place=place, COUNT=5000, RATE=0, WORK="20us", DEPTH=depth)
            b.run("g.yaml", "--out", "out", rc=0)
            result = b.result()
            edge = result.edge("src.out", "sink.in")
            what = "%s, depth %d" % (where, depth)
            balanced(edge)
            equal(edge["sent"], 5000, "sent, " + what)
            equal(edge["left"] + edge["abandoned"], 0, "left or abandoned, " + what)
            equal(edge["received"], result.counter("sink", "received"), "received, " + what)
            equal(result.counter("sink", "gaps"), edge["lost"], "gaps, " + what)
            equal(result.counter("sink", "reordered"), 0, "reordered, " + what)
            equal(result.counter("sink", "bad"), 0, "torn, " + what)
            true(edge["max_queued"] <= depth, "queued at most %s" % edge["max_queued"])


@case
def the_last_message_is_the_last_one_sent(b):
    # With `count` std/check counts what is missing at the end as a gap: so look at numbers here.
    for place in PLACES.values():
        for depth in (1, 3):
            text = SINK.replace("std/sequence", "test/seq_source").replace(
                ", fill: true, size: 512B", "").replace("std/check", "test/seq_sink")
            text = text.replace("lossy: true, fill: true, work: WORK, count: COUNT",
                                "file: out.txt, lossy: true")
            write(b, text, place=place, COUNT=20000, RATE=0, DEPTH=depth)
            b.run("g.yaml", "--out", "out", rc=0)
            got = numbers(b)
            equal(got[-1], 19999, "the last number")
            equal(got, sorted(set(got)), "in order, none twice")
            edge = b.result().edge("src.out", "sink.in")
            equal((edge["received"], edge["lost"]), (len(got), 20000 - len(got)), "received, lost")


@case
def what_arrives_is_as_young_as_the_depth_allows(b):
    # Both readers take 3 ms for what comes each millisecond.  One is late by a whole queue, the
    # other by what is queued at depth 1: two periods and its own work.
    write(
        b,
        "holorun: 1\nplugins: [{path: std}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 1500, rate: 1kHz}}\n"
        "  old: {op: std/check, params: {lossy: true, work: 3ms},\n"
        "    inputs: {in: {from: src.out, depth: 1, when_full: drop_oldest}}}\n"
        "  new: {op: std/check, params: {lossy: true, work: 3ms},\n"
        "    inputs: {in: {from: src.out, depth: 64, when_full: drop_newest}}}\n",
        "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
        "  pb: {process: two, wait: sleep, nodes: [old]}\n"
        "  pc: {process: three, wait: sleep, nodes: [new]}\n",
    )
    b.run("g.yaml", "--out", "out", rc=0)
    old, new = (b.result().edge("src.out", n + ".in") for n in ("old", "new"))
    for edge in (old, new):
        balanced(edge)
        true(edge["lost"] > 300, "it dropped: %d" % edge["lost"])
    ages = old["e2e_ns"]["p50"], new["e2e_ns"]["p50"]
    true(ages[0] * 4 < ages[1], "ages at p50, drop_oldest and drop_newest: %d, %d ns" % ages)


@case
def a_writer_is_not_slowed_and_another_reader_gets_everything(b):
    write(
        b,
        "holorun: 1\nplugins: [{path: std}, {path: testops}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 3000, rate: 3kHz, fill: true}}\n"
        "  slow: {op: std/check, params: {lossy: true, fill: true, work: 20ms},\n"
        "    inputs: {in: {from: src.out, depth: 4, when_full: drop_oldest}}}\n"
        "  all: {op: std/check, params: {count: 3000, fill: true}, inputs: {in: src.out}}\n"
        "  new: {op: std/check, params: {lossy: true, fill: true, work: 10ms},\n"
        "    inputs: {in: {from: src.out, depth: 4, when_full: drop_newest}}}\n",
        "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
        "  pb: {process: two, wait: sleep, nodes: [slow]}\n"
        "  pc: {process: three, wait: sleep, nodes: [all]}\n"
        "  pd: {process: three, wait: sleep, nodes: [new]}\n",
    )
    b.run("g.yaml", "--out", "out", rc=0)
    result = b.result()
    for edge in result.data["edges"]:
        balanced(edge)
        equal(edge["sent"], 3000, "sent over " + edge["name"])
    equal(result.counter("all", "received"), 3000, "the blocking reader got everything")
    for name in ("slow", "new"):
        edge = result.edge("src.out", name + ".in")
        true(edge["lost"] > 1000, "%s lost %d" % (name, edge["lost"]))
        equal(edge["received"], result.counter(name, "received"), "received by " + name)


@case
def a_stopped_reader_gets_the_newest_when_it_goes_on(b):
    write(
        b,
        "holorun: 1\nplugins: [{path: std}, {path: testops}]\nnodes:\n"
        "  src: {op: test/live_source, params: {rate: 2kHz, count: 0}}\n"
        "  sink: {op: test/seq_sink, params: {file: out.txt, lossy: true},\n"
        "    inputs: {in: {from: src.out, depth: 8, when_full: drop_oldest}}}\n"
        "  all: {op: test/seq_sink, params: {file: all.txt}, inputs: {in: src.out}}\n",
        "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
        "  pb: {process: two, wait: sleep, nodes: [sink]}\n"
        "  pc: {process: three, wait: sleep, nodes: [all]}\n",
    )
    run = b.go("g.yaml", "--out", "out", "--stall-timeout", "300ms")
    two = child(run, "two")
    child(run, "three")
    pause(0.3)
    os.kill(two, signal.SIGSTOP)
    pause(1.0)
    true(run.proc.poll() is None, "it goes on")
    os.kill(two, signal.SIGCONT)
    pause(0.3)
    run.send(signal.SIGINT)
    run.end(0)
    result = b.result()
    got, everything = numbers(b), numbers(b, "all.txt")
    equal(everything, list(range(len(everything))), "the other reader got everything")
    true(len(everything) > 2000, "the writer was not slowed: %d" % len(everything))
    equal(got[-1], everything[-1], "the last number")
    edge = result.edge("src.out", "sink.in")
    balanced(edge)
    equal(edge["received"], len(got), "received")
    gap = max(y - x for x, y in zip(got, got[1:]))
    true(gap > 1000, "one gap while it was stopped: %d" % gap)
    true(edge["lost"] >= gap - 1, "lost %d, the gap is %d" % (edge["lost"], gap))


@case
def it_does_not_matter_when_a_reader_is_stopped(b):
    for k in range(6):
        write(b, SINK, place=PLACES["two processes"], COUNT=40000, RATE="40kHz", WORK="0", DEPTH=2)
        run = b.go("g.yaml", "--out", "out")
        two = child(run, "two")
        for _ in range(5):
            os.kill(two, signal.SIGSTOP)
            pause(0.01 * k)
            os.kill(two, signal.SIGCONT)
            pause(0.02)
        run.end(0)
        result = b.result()
        edge = result.edge("src.out", "sink.in")
        balanced(edge)
        equal(edge["sent"], 40000, "sent")
        equal(result.counter("sink", "gaps"), edge["lost"], "gaps")
        equal(result.counter("sink", "bad"), 0, "torn")


@case
def a_gather_sheds_frames_and_its_books_balance(b):
    for policy in ("drop_oldest", "drop_newest"):
        write(
            b,
            "holorun: 1\nplugins: [{path: std}, {path: testops}, {path: inject}]\nnodes:\n"
            "  src: {op: std/sequence, params: {count: 8000, rate: 16kHz, frame_every: 4}}\n"
            "  sink: {op: inject/take, params: {work: 3ms}, inputs: {in: {from: src.out, depth: 2,\n"
            "    when_full: %s, gather: {count: 4, window: 2, missing: drop}}}}\n" % policy,
            "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
            "  pb: {process: two, wait: sleep, nodes: [sink]}\n",
        )
        b.run("g.yaml", "--out", "out", rc=0)
        result = b.result()
        edge = result.edge("src.out", "sink.in")
        balanced(edge)
        g = edge["gather"]
        equal(g["received"], g["placed"] + g["duplicate"] + g["late"] + g["shed"] + g["invalid"],
              "pieces, " + policy)
        equal(g["opened"], g["complete"] + g["partial"] + g["dropped"] + g["shed_frames"],
              "frames, " + policy)
        equal(edge["assembled"]["received"], result.counter("sink", "received"), "assembled")
        equal(edge["sent"], 8000, "the writer was not held up")


@case
def it_drops_at_full_speed_between_spinning_workers(b):
    if len(os.sched_getaffinity(0)) < 2:
        return
    write(
        b, SINK, COUNT=400000, RATE=0, WORK="0", DEPTH=4,
        place='partitions:\n  pa: {process: one, wait: spin, cpus: "rel:0", nodes: [src]}\n'
        '  pb: {process: two, wait: spin, cpus: "rel:1", nodes: [sink]}\n',
    )
    b.run("g.yaml", "--out", "out", rc=0)
    result = b.result()
    edge = result.edge("src.out", "sink.in")
    balanced(edge)
    equal(edge["sent"], 400000, "sent")
    equal(result.counter("sink", "gaps"), edge["lost"], "gaps")
    equal(result.counter("sink", "bad"), 0, "torn")


@case
def a_window_claims_no_more_than_the_op_wants(b):
    run = b.run("plan", b.write("g.yaml", SINK.replace("COUNT", "10").replace("RATE", "0").replace(
        "WORK", "0").replace("DEPTH", "16")), "--format", "json")
    edge = run.json()["edges"][0]
    true("drop_oldest" in str(edge), "the policy: %s" % edge)
    shown = [v for k, v in edge.items() if k in ("max_in", "window", "in_max", "count_max")]
    true(not shown or shown == [1], "shown at once: %s" % edge)


if __name__ == "__main__":
    main()
