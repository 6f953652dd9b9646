# SPDX-License-Identifier: Apache-2.0
"""Runs that go wrong: deaths, crashes, failures, hangs, stalls.  The first line says why."""

import os
import random
import signal
import time

from base import B0, LIVE, edit, live, numbers
from holotest import (
    Failure,
    Skip,
    balanced,
    case,
    contains,
    equal,
    main,
    matches,
    true,
    until,
)

THREE = (
    "partitions:\n  pa: {process: one, wait: sleep, nodes: [src]}\n"
    "  pb: {process: two, wait: sleep, nodes: [work]}\n"
    "  pc: {process: three, wait: sleep, nodes: [sink]}\n"
)
NO_SEGV = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:allow_user_segv_handler=1"}


def started(b, text=LIVE, *args):
    run = b.go(live(b, text=text), *args)
    until(lambda: os.path.exists(b.path("mark")), "the graph to run")
    return run


@case
def a_killed_child_is_named_and_takes_the_graph_down(b):
    for process in ("one", "two", "three"):
        run = started(b)
        pid = run.process_named(process)
        true(pid, "a child called %s among %s" % (process, run.children()))
        os.kill(pid, signal.SIGKILL)
        run.end(1)
        contains(run.first, process, "first line")
        contains(run.first, "SIGKILL", "first line")
        os.unlink(b.path("mark"))


@case
def a_killed_child_of_a_spinning_graph(b):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("needs 2 CPUs")
    text = LIVE.replace("  pb: {process: two, wait: $wait, nodes: [work]}\n", "").replace(
        "pc: {process: three, wait: $wait, nodes: [sink, mark]}",
        'pc: {process: three, wait: $wait, cpus: "rel:1", nodes: [work, sink, mark]}',
    ).replace("process: one, wait", 'process: one, cpus: "rel:0", wait').replace(
        "default: sleep", "default: spin"
    )
    for process in ("one", "three"):
        run = started(b, text)
        os.kill(run.process_named(process), signal.SIGKILL)
        run.end(1)
        contains(run.first, process, "first line")
        os.unlink(b.path("mark"))


@case
def closed_standard_streams_do_not_lend_their_numbers(b):
    # What is printed must not land in the memory of the run: descriptors 0 to 2 stay taken.
    run = b.run(live(b, text=B0), rc=None, prefix=["sh", "-c", 'exec "$@" <&- 2>&-', "sh"])
    true(run.rc in (0, 1), "exit code 0 or 1, found %s" % run.rc)


@case
def a_recording_replaces_files_only(b):
    os.symlink("elsewhere", b.path("link"))
    for path in ("link", ".", "dir/"):
        text = (
            "holorun: 1\nplugins: [{path: std}]\nnodes:\n"
            "  src: {op: std/sequence, params: {count: 10}}\n"
            "  rec: {op: std/file_sink, params: {path: '%s'}, inputs: {in: src}}\n" % path
        )
        b.write("rec.yaml", text)
        os.makedirs(b.path("dir"), exist_ok=True)
        run = b.run("rec.yaml", rc=1)
        contains(run.first, "path", "first line for %s" % path)
    true(os.path.islink(b.path("link")), "the link is still a link")


@case
def a_folder_whose_name_is_no_text_is_refused_not_mistaken(b):
    odd = os.path.join(os.fsencode(b.dir), b"d\xff")
    os.mkdir(odd)
    with open(os.path.join(odd, b"g.yaml"), "w") as f:
        f.write(B0.replace("./libtestops.so", os.path.join(b.test_plugins, "libtestops.so")))
    run = b.run(os.fsdecode(os.path.join(odd, b"g.yaml")), rc=3)
    contains(run.err, "not UTF-8", "stderr")
    equal(sorted(os.listdir(odd)), [b"g.yaml"], "files in the folder")


@case
def a_duration_beyond_all_measure_is_refused(b):
    run = b.run(live(b), "--duration", "9223372036s", rc=2)
    contains(run.err, "too large for a duration", "stderr")


@case
def a_killed_supervisor_takes_its_children_along(b):
    run = started(b)
    children = run.children()
    true(len(children) >= 3, "children: %s" % children)
    run.send(signal.SIGKILL)
    run.proc.wait()
    run.rc = -9
    run.check_clean(patience=20)


@case
def a_crashing_op_is_named_with_signal_and_message(b):
    b.write(
        "b0.yaml",
        edit(
            "    op: test/copy\n    inputs: {in: src.out}\n",
            # One message a call, so that the number is exact.
            "    op: test/crash\n    params: {at: 500}\n    inputs: {in: {from: src.out, depth: 1}}\n",
        )
        + THREE,
    )
    run = b.run("b0.yaml", rc=1, env=NO_SEGV)
    contains(run.first, "work", "first line")
    contains(run.first, "SIGSEGV", "first line")
    matches(run.first, r"\b(499|500)\b", "message number in the first line")


@case
def a_crash_outside_process_names_the_call(b):
    for where in ("open", "start", "stop", "close"):
        b.write(
            "b0.yaml",
            edit("    op: test/copy\n", "    op: test/crash\n    params: {where: %s}\n" % where)
            + THREE,
        )
        run = b.run("b0.yaml", rc=1, env=NO_SEGV)
        for part in ("work", "SIGSEGV", where):
            contains(run.first, part, "first line")


@case
def a_crash_in_a_shared_process_is_told_the_same_way(b):
    b.write("b0.yaml", edit("    op: test/copy\n", "    op: test/crash\n    params: {at: 3}\n"))
    run = b.run("b0.yaml", rc=1, env=NO_SEGV)
    contains(run.first, "work", "first line")
    contains(run.first, "SIGSEGV", "first line")


@case
def a_failing_op_speaks_for_itself(b):
    text = edit(
        "    op: test/copy\n    inputs: {in: src.out}\n",
        "    op: test/fail_at\n    params: {n: 42, text: the oven is cold}\n"
        "    inputs: {in: {from: src.out, depth: 1}}\n",
    )
    for placement in ("", THREE):
        b.write("b0.yaml", text + placement)
        run = b.run("b0.yaml", "--out", "out", rc=1)
        contains(run.first, "the oven is cold", "first line")
        contains(run.first, "work", "first line")
        matches(run.err, r"b0.yaml:\d+:\d+", "position in the graph")
        result = b.result()
        equal(result.data["exit"]["code"], 1, "exit.code")
        equal(result.data["exit"]["node"], "work", "exit.node")
        equal(numbers(b), list(range(41)), "what came before the failure was delivered")


@case
def a_failing_check_says_wanted_and_found(b):
    b.write(
        "b0.yaml",
        "holorun: 1\nplugins: [{path: std}, {path: inject}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 20}}\n"
        "  bad: {op: inject/order, params: {order: [0, 1, 3, 2]}, inputs: {in: src.out}}\n"
        "  sink: {op: std/check, inputs: {in: bad.out}}\n",
    )
    run = b.run("b0.yaml", rc=1)
    contains(run.first, "wanted message 2, found 3", "first line")
    contains(run.first, "sink", "first line")


HANG = edit("    op: test/copy\n", "    op: test/hang\n    params: {at: 10, spin: SPIN}\n")


@case
def an_op_that_never_returns_is_named_and_ended_by_the_ladder(b):
    for spin in ("false", "true"):
        b.write("b0.yaml", HANG.replace("SPIN", spin) + THREE)
        run = b.go("b0.yaml", "--stall-timeout", "400ms", "--stop-grace", "500ms")
        until(lambda: "work" in run.err, "the hanging node to be named")
        true(run.proc.poll() is None, "it goes on while the op is busy")
        matches(run.err, r"work.*process", "what hangs")
        run.send(signal.SIGTERM)
        run.end(6)
        for part in ("work", "process", "two"):
            contains(run.err, part, "message")
        matches(run.err, r"thread \d+|tid \d+", "thread")


@case
def a_stop_or_close_that_never_returns_is_killed(b):
    for where in ("stop", "close"):
        b.write(
            "b0.yaml",
            edit("    op: test/copy\n", "    op: test/hang_stop\n    params: {where: %s}\n" % where)
            + THREE,
        )
        run = b.run("b0.yaml", "--stop-grace", "300ms", rc=6)
        contains(run.first, "work", "first line")
        contains(run.first, where, "first line")
        equal(numbers(b), list(range(1000)), "other outputs are complete")


@case
def a_stall_is_reported_with_the_full_edge(b):
    text = edit("    op: test/seq_sink\n    params: {file: out.txt}\n", "    op: test/stall\n")
    text = text.replace("{in: work.out}", "{in: {from: work.out, depth: 6}}")
    for placement in ("", THREE):
        b.write("b0.yaml", text + placement)
        run = b.run("b0.yaml", "--stall-timeout", "400ms", "--out", "out", rc=5)
        contains(run.err, "6/6", "fill of the full edge")
        contains(run.err, "sink", "who does not take")
        contains(run.err, "work", "who waits")
        result = b.result()
        equal(result.data["exit"]["code"], 5, "exit.code")
        equal(result.data["exit"]["reason"], "stalled", "exit.reason")


@case
def a_consumer_that_keeps_everything_stalls_by_name(b):
    b.write(
        "b0.yaml",
        edit("    op: test/seq_sink\n    params: {file: out.txt}\n", "    op: test/hog\n"),
    )
    run = b.run("b0.yaml", "--stall-timeout", "400ms", rc=5)
    contains(run.err, "sink", "who keeps them")


@case
def a_deadlock_of_two_branches_is_refused_or_reported(b):
    # `join` pairs every message with every fifth; the queue in front of it holds too few.
    b.write(
        "ring.yaml",
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  src: {op: test/seq_source, params: {count: 1000}}\n"
        "  five: {op: test/need5, inputs: {in: {from: src.out, depth: 8}}}\n"
        "  join: {op: test/join2, inputs: {a: {from: src.out, depth: 2}, b: {from: five.out, depth: 2}}}\n"
        "  sink: {op: test/slow, params: {work: 0}, inputs: {in: join.out}}\n",
    )
    run = b.run("ring.yaml", "--stall-timeout", "400ms", rc=None)
    true(run.rc in (2, 5), "refused (2) or reported (5), found %s" % run.rc)
    matches(run.err, r"depth", "the depth that would suffice")
    contains(run.err, "src.out", "the edge")


@case
def every_edge_adds_up_after_a_failure(b):
    b.write(
        "b0.yaml",
        edit("    op: test/copy\n", "    op: test/fail_at\n    params: {n: 400}\n") + THREE,
    )
    b.run("b0.yaml", "--out", "out", rc=1)
    for edge in b.result().data["edges"]:
        balanced(edge)


@case
def any_child_may_die_at_any_instant(b):
    seed = 7
    print("     seed %d" % seed)
    rng = random.Random(seed)
    for _ in range(12):
        run = b.go(live(b))
        wanted = until(lambda: len(run.children()) >= 3 and run.children(), "three children")
        end = time.monotonic() + rng.random() * 0.12
        until(lambda: time.monotonic() >= end, "the instant")
        victim = rng.choice(wanted)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            raise Failure("child %d was gone already\n%s" % (victim, run.err))
        run.end(1)
        contains(run.first, "SIGKILL", "first line")
        contains(run.first, str(victim), "first line")


@case
def a_supervisor_killed_while_an_op_hangs_leaves_nobody(b):
    for spin in ("false", "true"):
        b.write("b0.yaml", HANG.replace("SPIN", spin) + THREE)
        run = b.go("b0.yaml", "--stall-timeout", "200ms")
        until(lambda: "work" in run.err, "the hanging node to be named")
        run.send(signal.SIGKILL)
        run.proc.wait()
        run.rc = -9
        run.check_clean(patience=20)


SLOW_OPEN = """\
holorun: 1
plugins: [{path: testops}, {path: inject}]
knobs: {open: {type: duration, default: 20s}}
nodes:
  src: {op: test/live_source, params: {rate: 1kHz}}
  late: {op: inject/late, params: {open: $open}, inputs: {in: src.out}}
  sink: {op: test/slow, params: {work: 0}, inputs: {in: late.out}}
partitions:
  pa: {process: one, wait: sleep, nodes: [src]}
  pb: {process: two, wait: sleep, nodes: [late]}
  pc: {process: three, wait: sleep, nodes: [sink]}
"""


@case
def a_child_that_dies_before_the_start_is_named(b):
    b.write("slow.yaml", SLOW_OPEN)
    run = b.go("slow.yaml", "--stop-grace", "400ms")
    until(lambda: run.process_named("one") and run.process_named("three"), "children")
    os.kill(run.process_named("one"), signal.SIGKILL)
    run.end(None)
    true(run.rc in (1, 6), "exit code %s" % run.rc)
    contains(run.first, "one", "first line")
    contains(run.first, "SIGKILL", "first line")


@case
def a_signal_before_the_start_ends_it_and_names_who_does_not_come_up(b):
    b.write("slow.yaml", SLOW_OPEN)
    run = b.go("slow.yaml", "--stop-grace", "400ms")
    until(lambda: run.process_named("two"), "children")
    run.send(signal.SIGINT)
    run.end(6)
    contains(run.first, "late", "first line")
    contains(run.first, "open", "first line")
    run = b.go("slow.yaml", "-k", "open=600ms")
    until(lambda: run.process_named("two"), "children")
    run.send(signal.SIGINT)
    run.end(0)


@case
def failures_in_process_are_told_the_same_way(b):
    b.write(
        "b0.yaml",
        edit("    op: test/copy\n", "    op: test/fail_at\n    params: {n: 5, text: no steam}\n"),
    )
    run = b.run("b0.yaml", "--in-process", rc=1)
    contains(run.first, "no steam", "first line")
    b.write("b0.yaml", HANG.replace("SPIN", "false"))
    # A thread that hangs cannot be freed, nor what it uses.
    env = {"ASAN_OPTIONS": "detect_leaks=0"}
    run = b.go("b0.yaml", "--in-process", "--stall-timeout", "300ms", "--stop-grace", "300ms", env=env)
    until(lambda: "work" in run.err, "the hanging node to be named")
    run.send(signal.SIGTERM)
    run.end(6)
    b.write("b0.yaml", edit("    op: test/seq_sink\n    params: {file: out.txt}\n", "    op: test/stall\n"))
    b.run("b0.yaml", "--in-process", "--stall-timeout", "300ms", rc=5)


@case
def a_failed_run_is_json_as_well(b):
    b.write("b0.yaml", edit("    op: test/copy\n", "    op: test/fail_at\n    params: {text: no steam}\n"))
    run = b.run("b0.yaml", "--format", "json", rc=1)
    data = run.json()
    equal((data["exit"]["code"], data["exit"]["node"]), (1, "work"), "exit")
    contains(data["incidents"][0]["text"], "no steam", "first incident")
    contains(run.first, "no steam", "first line on stderr")


@case
def a_message_larger_than_its_slot_or_a_bad_start_names_the_node(b):
    b.write(
        "b0.yaml",
        edit("    op: test/copy\n", "    op: test/fail_open\n    params: {text: closed today}\n"),
    )
    run = b.run("b0.yaml", rc=1)
    contains(run.first, "closed today", "first line")
    matches(run.first, r"^b0.yaml:11:\d+: error: node 'work'", "first line")


@case
def what_a_dead_reader_got_is_still_counted(b):
    b.write(
        "b0.yaml",
        edit("    op: test/copy\n", "    op: test/crash\n    params: {at: 500}\n") + THREE,
    )
    b.run("b0.yaml", "--out", "out", rc=1, env=NO_SEGV)
    result = b.result()
    sent = result.edge("work.out", "sink.in")["received"]
    into = result.edge("src.out", "work.in")
    balanced(into)
    true(into["received"] >= sent, "received by the dead node: %s, passed on by it: %d" % (into, sent))


if __name__ == "__main__":
    main()
