# SPDX-License-Identifier: Apache-2.0
"""Runs that go well: how they end, what they say, where their threads are, what they leave."""

import json
import os
import re
import signal
import subprocess
import time

from base import B0, LIVE, edit, live, numbers
from holotest import (
    MARK,
    Failure,
    Skip,
    balanced,
    case,
    contains,
    equal,
    main,
    matches,
    processes_of,
    read_file,
    threads_of,
    true,
    until,
)


def running(b, *args, **kw):
    run = b.go(live(b), *args, **kw)
    until(lambda: os.path.exists(b.path("mark")) or run.proc.poll() is not None, "the graph to run")
    if run.proc.poll() is not None:
        run.end()
        raise Failure("the graph ended by itself")
    return run


def all_delivered(b):
    """Every number the source made reached the sink, and every edge adds up."""
    got = numbers(b)
    equal(got, list(range(len(got))), "numbers in the sink's file")
    result = b.result()
    for edge in result.data["edges"]:
        balanced(edge)
        equal(edge["received"], edge["sent"], "received of " + edge["name"])
    equal(result.edge("work.out", "sink.in")["received"], len(got), "received by the sink")
    return len(got)


@case
def a_finite_graph_ends_by_itself(b):
    b.write("b0.yaml", B0)
    run = b.run("b0.yaml", "--out", "out")
    result = b.result()
    equal(result.data["exit"]["code"], 0, "exit.code")
    equal(result.data["exit"]["reason"], "ended", "exit.reason")
    for ends in (("src.out", "work.in"), ("work.out", "sink.in")):
        edge = result.edge(*ends)
        balanced(edge)
        equal((edge["sent"], edge["received"], edge["lost"]), (1000, 1000, 0), "counts")
    true(1 <= len(run.out.splitlines()) <= 25, "summary of at most 25 lines")


@case
def the_same_graph_in_three_processes(b):
    b.write(
        "b0.yaml",
        B0 + "partitions:\n  a: {process: one, nodes: [src]}\n  b: {process: two, nodes: [work]}\n"
        "  c: {process: three, nodes: [sink]}\n",
    )
    b.run("b0.yaml")
    equal(numbers(b), list(range(1000)), "out.txt")


@case
def in_process_gives_the_same(b):
    b.write("b0.yaml", B0)
    b.run("b0.yaml", "--in-process")
    equal(numbers(b), list(range(1000)), "out.txt")


@case
def duration_ends_a_live_graph(b):
    b.run(live(b), "--duration", "400ms", "--out", "out")
    true(all_delivered(b) > 0, "something was delivered")
    equal(b.result().data["exit"]["reason"], "duration", "exit.reason")


@case
def count_ends_a_live_graph_at_exactly_so_many(b):
    b.run(live(b), "--count", "100", "--out", "out")
    equal(all_delivered(b), 100, "delivered")
    equal(b.result().data["exit"]["reason"], "count", "exit.reason")


@case
def a_first_signal_stops_cleanly_and_delivers_what_is_under_way(b):
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = running(b, "--out", "out")
        run.send(sig)
        run.end(0)
        true(all_delivered(b) >= 50, "what was there before the signal was delivered")
        equal(b.result().data["exit"]["reason"], "signal", "exit.reason")
        os.unlink(b.path("mark"))


@case
def an_interrupt_from_the_terminal_counts_once(b):
    run = running(b, "--out", "out")
    os.killpg(run.pid, signal.SIGINT)  # what the terminal does: every process of the group
    run.end(0)
    true(all_delivered(b) >= 50, "what was there before the interrupt was delivered")


@case
def a_second_signal_ends_at_once(b):
    b.write(
        "hang.yaml",
        edit("    op: test/copy\n", "    op: test/hang\n    params: {at: 10}\n")
        .replace("path: testops\n", "path: testops\n  - path: inject\n")
        .replace("  sink:", "  mark:\n    op: inject/take\n    params: {mark: \"%s\", mark_at: 5}\n"
                 "    inputs: {in: work.out}\n  sink:" % b.path("mark"))
        + "partitions: {a: {process: one, nodes: [src, work]}, b: {process: two, nodes: [sink, mark]}}\n",
    )
    for sig, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        run = b.go("hang.yaml", "--stop-grace", "50s")
        until(lambda: os.path.exists(b.path("mark")), "the graph to run")
        run.send(sig)
        time.sleep(0.1)  # two signals at one moment are one signal
        run.send(sig)
        run.end(code)
        os.unlink(b.path("mark"))


@case
def the_order_in_which_processes_come_up_does_not_matter(b):
    for delays in ((0, 0, 300), (300, 0, 0), (0, 300, 0), (150, 300, 0)):
        text = (
            "holorun: 1\nplugins: [{path: testops}, {path: inject}]\nnodes:\n"
            "  src: {op: test/seq_source, params: {count: 200}}\n"
            "  w0: {op: inject/late, params: {open: %dms}, inputs: {in: src.out}}\n"
            "  w1: {op: inject/late, params: {start: %dms}, inputs: {in: src.out}}\n"
            "  w2: {op: inject/late, params: {open: %dms}, inputs: {in: w0.out}}\n"
            "  s1: {op: test/seq_sink, params: {file: s1.txt}, inputs: {in: w1.out}}\n"
            "  s2: {op: test/seq_sink, params: {file: s2.txt}, inputs: {in: w2.out}}\n"
            "partitions:\n  a: {process: a, wait: sleep, nodes: [src, w0]}\n"
            "  b: {process: b, wait: sleep, nodes: [w1, s1]}\n"
            "  c: {process: c, wait: sleep, nodes: [w2, s2]}\n" % delays
        )
        b.write("late.yaml", text)
        b.run("late.yaml")
        equal(numbers(b, "s1.txt"), list(range(200)), "s1 with delays %s" % (delays,))
        equal(numbers(b, "s2.txt"), list(range(200)), "s2 with delays %s" % (delays,))


@case
def a46_only_the_worker_is_pinned_and_its_name_says_who_it_is(b):
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise Skip("needs 2 CPUs")
    cpu = allowed[1]
    text = LIVE.replace("pb: {process: two,", "pb: {process: two, cpus: %d," % cpu)
    run = b.go(live(b, text=text), "--out", "out")
    until(lambda: os.path.exists(b.path("mark")), "the graph to run")
    pid = run.process_named("two")
    true(pid, "a child process called two; children: %s" % run.children())
    threads = threads_of(pid)
    pinned = [n for n, cpus in threads.values() if cpus == str(cpu)]
    equal(len(pinned), 1, "threads on CPU %d alone among %s" % (cpu, threads))
    matches(pinned[0], "pb|work", "name of the pinned thread: partition or node")
    for name, cpus in threads.values():
        if name != pinned[0] and len(allowed) > 1:
            true(cpus != str(cpu), "helper thread %s may run on %s" % (name, cpus))
    run.send(signal.SIGINT)
    run.end(0)
    text = json.dumps(b.result().data)
    contains(text, '"cpu": %d' % cpu if '"cpu": ' in text else '"cpu":%d' % cpu, "achieved CPU")


@case
def results_go_to_stdout_and_nothing_else_does(b):
    b.write("b0.yaml", B0)
    run = b.run("b0.yaml", "--format", "json")
    data = run.json()
    equal(run.err, "", "stderr")
    equal(data["exit"]["code"], 0, "exit.code on stdout")


@case
def result_json_holds_what_is_needed_to_understand_the_run(b):
    b.write("b0.yaml", B0)
    b.run("b0.yaml", "-k", "n=77", "--out", "out", "--name", "trial")
    equal(sorted(os.listdir(b.path("out"))), ["result.json", "results.csv"], "files")
    data = b.result().data
    text = json.dumps(data)
    for part in ("n=77", "testops", "trial"):
        contains(text, part, "result.json")
    for key in ("exit", "nodes", "edges", "command", "holorun", "plugins", "machine", "graph"):
        true(key in data, "result.json lacks %r: %s" % (key, sorted(data)))
    equal(b.result().counter("sink", "received"), 77, "op counter")
    rows = b.read("out/results.csv").splitlines()
    true(len(rows) >= 2 and re.search(r"_(ns|us|ms|s|bytes)\b", rows[0]), "units in the header: %s" % rows[:1])


@case
def a_reader_that_goes_away_ends_it_quietly(b):
    b.write("b0.yaml", B0)
    for args in (["ops", "list"], ["b0.yaml"], ["plan", "b0.yaml", "--format", "json"]):
        read_end, write_end = os.pipe()
        run = b.go(*args, stdout=write_end)
        os.close(write_end)
        os.read(read_end, 1)
        os.close(read_end)
        run.end()
        equal(run.err, "", "stderr of %s" % args)
        true(run.rc == 0, "exit code of %s: %s" % (args, run.rc))


@case
def head_of_pipe_sees_no_noise(b):
    b.write("b0.yaml", B0)
    shell = "%s ops list --plugin-path %s | head -1" % (b.holorun, b.test_plugins)
    done = subprocess.run(["sh", "-c", shell], capture_output=True, cwd=b.dir, check=False)
    equal(done.stderr, b"", "stderr")
    equal(len(done.stdout.splitlines()), 1, "lines")


@case
def thirty_runs_leave_nothing(b):
    b.write(
        "b0.yaml",
        B0 + "partitions: {a: {process: one, nodes: [src, work]}, b: {process: two, nodes: [sink]}}\n",
    )

    def around():
        shm = sorted(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else []
        return b.files(), [n for n in shm if re.search("holo|hmq", n)]

    b.run("b0.yaml", "-k", "n=50")
    before = around()
    for _ in range(30):
        run = b.run("b0.yaml", "-k", "n=50")
        true(not processes_of(run.mark, run.pid), "processes left")
    equal(around(), before, "files, /dev/shm")
    holders = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if MARK.encode() in read_file("/proc/%s/environ" % pid, "rb") and int(pid) != os.getpid():
            comm = read_file("/proc/%s/comm" % pid)
            if comm.startswith("holorun") and os.path.realpath("/proc/%s/cwd" % pid) == b.dir:
                holders.append(pid)
    equal(holders, [], "processes that still hold segments")


@case
def the_same_file_twice_at_once(b):
    b.write("b0.yaml", B0.replace("out.txt", '"${env:OUT}"'))
    runs = [b.go("b0.yaml", env={"OUT": "out%d.txt" % i}) for i in range(2)]
    for i, run in enumerate(runs):
        run.end(0)
        equal(numbers(b, "out%d.txt" % i), list(range(1000)), "out%d.txt" % i)


@case
def an_idle_source_is_no_stall(b):
    text = LIVE.replace("2kHz", "2Hz").replace("mark_at: 50", "mark_at: 1")
    b.run(live(b, text=text), "--duration", "1200ms", "--stall-timeout", "200ms")
    true(len(numbers(b)) >= 2, "messages")


@case
def a_stopped_child_is_slow_and_not_dead(b):
    run = running(b, "--out", "out", "--stall-timeout", "30s")
    pid = run.process_named("two")
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.3)  # how long it is stopped; nothing is expected to happen meanwhile
    true(run.proc.poll() is None, "the graph goes on")
    os.kill(pid, signal.SIGCONT)
    before = os.path.getsize(b.path("mark"))
    run.send(signal.SIGINT)
    run.end(0)
    true(all_delivered(b) >= 50 and before == 0, "delivered")


@case
def a_result_folder_that_cannot_be_made_is_refused_before_the_start(b):
    b.write("b0.yaml", B0)
    b.write("file", "")
    for out in ("file", "no/such/place"):
        run = b.run("b0.yaml", "--out", out, rc=None)
        true(run.rc in (2, 3), "exit code %s" % run.rc)
        contains(run.err, out, "message")
        equal(b.files(), ["b0.yaml", "file"], "files")


@case
def overlays_and_presets_change_placement_and_knobs(b):
    b.write("b0.yaml", B0 + "presets: {few: {knobs: {n: 7}}}\npartitions: {a: {nodes: [src, work, sink]}}\n")
    b.write(
        "split.yaml",
        "holorun: 1\npartitions: !replace\n  x: {process: one, nodes: [src]}\n"
        "  y: {process: two, nodes: [work, sink]}\n",
    )
    b.run("b0.yaml", "-f", "split.yaml", "--preset", "few", "--out", "out")
    equal(numbers(b), list(range(7)), "out.txt")
    equal(len(b.result().data["processes"]), 2, "processes")
    b.run("b0.yaml", "--preset", "few", "-k", "n=9")
    equal(numbers(b), list(range(9)), "-k wins over the preset")


@case
def paths_start_at_the_graph_from_wherever_it_is_run(b):
    os.mkdir(b.path("deep"))
    b.write("deep/b0.yaml", B0)
    os.symlink(b.path("deep"), b.path("link"))
    for name in ("deep/b0.yaml", "link/b0.yaml", b.path("deep/b0.yaml")):
        b.run(name)
        true(os.path.exists(b.path("deep/out.txt")), "out.txt beside the graph for " + name)
        os.unlink(b.path("deep/out.txt"))


if __name__ == "__main__":
    main()
