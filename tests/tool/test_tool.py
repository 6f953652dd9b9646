# SPDX-License-Identifier: Apache-2.0
"""The program holomq on running graphs: what it shows, and that the graph does not notice."""

import json
import os
import signal
import socket
import struct
import subprocess

from holotest import Skip, case, contains, equal, main, stat_of, true, until

# Two processes; the reader is slow enough to be looked at, the source ends by itself.
GRAPH = """\
holorun: 1
name: watched
plugins: [{path: std}, {path: testops}]
knobs:
  n: {type: int, default: 100000}
nodes:
  src: {op: test/seq_source, params: {count: $n, size: 256}}
  near: {op: test/copy, inputs: {in: src.out}}
  sink: {op: test/slow, params: {work: 1ms}, inputs: {in: {from: near.out, depth: 4}}}
partitions:
  a: {process: one, wait: sleep, nodes: [src, near]}
  b: {process: two, wait: sleep, nodes: [sink]}
"""


def tool(b, *args, rc=0):
    """Run holomq to its end; what it printed."""
    environment = dict(os.environ, XDG_RUNTIME_DIR=b.dir)
    p = subprocess.run([os.path.join(b.build, "bin", "holomq")] + [str(a) for a in args],
                       cwd=b.dir, env=environment, capture_output=True, timeout=120, text=True)
    equal(p.returncode, rc, "exit code of holomq %s (stderr: %s)" % (" ".join(args[:1]), p.stderr))
    return p


def start(b, *args):
    b.write("g.yaml", GRAPH)
    run = b.go("g.yaml", *args)
    until(lambda: moving(b, run), "the graph moves")
    return run


def edges(b, run, command="list"):
    """from -> edge, of this run; others of the user may be going on."""
    runs = json.loads(tool(b, command, "--format", "json").stdout)["runs"]
    mine = [r for r in runs if r["pid"] == run.pid]
    return {e["from"]: e for e in mine[0]["edges"]} if mine else {}


def moving(b, run):
    e = edges(b, run, "stat").get("near.out")
    return e and e["received"] > 10


def stop(run):
    run.send(2)
    run.end(0)


@case
def list_shows_runs_edges_and_endpoints(b):
    run = start(b)
    found = edges(b, run)
    equal(sorted(found), ["near.out", "src.out"], "edges")
    e = found["near.out"]
    equal((e["to"], e["depth"], e["policy"], e["carriage"]), ("sink.in", 4, "block", "shared"),
          "edge")
    equal(found["src.out"]["carriage"], "thread", "carriage of an edge in one thread")
    contains(tool(b, "list").stdout, "watched", "table")
    stop(run)
    equal(edges(b, run), {}, "edges of a run that is over")


@case
def stat_counts_edges_between_and_inside_processes(b):
    run = start(b)
    until(lambda: edges(b, run, "stat")["src.out"]["received"] > 10, "the inner edge is counted")
    first = edges(b, run, "stat")["near.out"]
    until(lambda: edges(b, run, "stat")["near.out"]["received"] > first["received"], "it goes on")
    e = edges(b, run, "stat")["near.out"]
    true(e["queued"] <= 4 and e["max_queued"] <= 4, "never more than its depth")
    contains(tool(b, "stat").stdout, "near.out", "table")
    stop(run)


@case
def top_repeats(b):
    run = start(b)
    out = tool(b, "top", "--count", "2", "--interval", "50ms").stdout
    true(out.count("near.out") >= 2, "two looks")
    stop(run)


@case
def echo_prints_messages_in_order(b):
    run = start(b)
    out = tool(b, "echo", "sink.in", "--run", run.pid, "--count", "20", "--format", "json").stdout
    seen = [json.loads(line) for line in out.splitlines()]
    equal(len(seen), 20, "messages")
    numbers = [m["seq"] for m in seen]
    equal(numbers, sorted(set(numbers)), "rising, none twice")
    equal({m["bytes"] for m in seen}, {256}, "bytes")
    contains(tool(b, "echo", "near.out", "--run", run.pid, "--count", "1").stdout, "payload",
             "table")
    stop(run)


def records(path):
    """The sequence numbers in a recording, with its header checked."""
    with open(path, "rb") as f:
        data = f.read()
    equal(data[:8], b"holorec\n", "magic")
    state, count, length = struct.unpack_from("<IQQ", data, 12)
    equal(length, len(data), "length in the header")
    at, frames = 128, []
    while at < len(data):
        size, frame = struct.unpack_from("<QQ", data, at + 8)
        frames.append(frame)
        at += 128 + (size + 63) // 64 * 64
    equal(len(frames), count, "records in the header")
    return state, frames


@case
def record_is_whole_or_says_what_it_misses(b):
    run = start(b)
    p = tool(b, "record", "sink.in", b.path("r"), "--run", run.pid, "--count", "50",
             "--format", "json")
    told = json.loads(p.stdout)
    equal(told["records"], 50, "records")
    path = b.path("r" if told["missed"] == 0 else "r.INCOMPLETE")
    state, frames = records(path)
    equal(len(frames), 50, "records in the file")
    equal(state, 1 if told["missed"] == 0 else 0, "state")
    if told["missed"]:
        contains(p.stderr, "INCOMPLETE", "stderr")
    stop(run)


@case
def recording_changes_nothing_of_the_edge(b):
    run = start(b, "-k", "n=3000")
    tool(b, "record", "sink.in", b.path("r"), "--run", run.pid, "--spin")
    run.end(0)
    contains(run.out, "3000", "all were delivered")


@case
def an_edge_inside_a_process_cannot_be_looked_into(b):
    run = start(b)
    p = tool(b, "echo", "src.out", "--run", run.pid, rc=3)
    contains(p.stderr, "lies inside one process", "stderr")
    contains(tool(b, "echo", "nothing", "--run", run.pid, rc=2).stderr, "has no edge", "stderr")
    stop(run)


@case
def a_run_that_is_killed_ends_the_looking(b):
    run = start(b)
    p = subprocess.Popen([os.path.join(b.build, "bin", "holomq"), "record", "sink.in",
                          b.path("r"), "--run", str(run.pid)], cwd=b.dir,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: os.path.exists(b.path("r.tmp")), "it records")
    stop_hard(run)
    err = p.communicate(timeout=60)[1]
    true(os.path.exists(b.path("r.INCOMPLETE")) or os.path.exists(b.path("r")), "a file: " + err)


def stop_hard(run):
    run.send(9)
    run.proc.wait()
    run.rc = -9
    run.check_clean(patience=10)


def call(run):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(60)
    s.connect("\0holorun/%d/%d" % (os.geteuid(), run.pid))
    return s


def hung_up(s):
    try:
        return s.recv(16) == b""
    except ConnectionResetError:
        return True


@case
def callers_cannot_disturb_a_run(b):
    run = start(b)
    for words in (b"nonsense", b"", b"x" * 60000, b"channels" * 3):
        s = call(run)
        s.send(words)
        true(hung_up(s), "nonsense is hung up on")
        s.close()
    silent = [call(run) for _ in range(20)]  # more than are heard at a time
    greedy = [call(run) for _ in range(3)]
    for s in greedy:  # asks and never reads
        s.setblocking(False)
        try:
            for _ in range(1000):
                s.send(b"channels")
        except OSError:
            pass
    true(edges(b, run), "others are answered")
    before = edges(b, run, "stat")["near.out"]["received"]
    until(lambda: edges(b, run, "stat")["near.out"]["received"] > before, "the run goes on")
    for s in silent + greedy:
        s.close()
    stop(run)


@case
def a_stopped_run_is_left_out_and_hangs_nobody(b):
    run = start(b)
    run.send(signal.SIGSTOP)
    until(lambda: stat_of(run.pid)[0] == "T", "it is stopped")
    equal(edges(b, run), {}, "edges of a run that does not answer")
    run.send(signal.SIGCONT)
    true(edges(b, run), "it answers again")
    stop(run)


@case
def another_user_is_not_answered(b):
    if os.geteuid() != 0:
        raise Skip("only root can be another user")
    run = start(b)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect("\0holorun/0/%d" % run.pid)
        try:
            s.send(b"channels")
            answer = s.recv(16)
        except OSError:
            answer = b""
        os.write(write, b"answered" if answer else b"refused")
        os._exit(0)
    os.waitpid(pid, 0)
    equal(os.read(read, 16), b"refused", "what another user gets")
    os.close(read)
    os.close(write)
    stop(run)


@case
def descriptors_are_read_only(b):
    run = start(b)
    s = call(run)
    s.send(b"channels")
    words, fds, _, _ = socket.recv_fds(s, 64, 4)
    equal(words[:4], b"fds ", "answer")
    found = [fd for _ in range(1) for fd in socket.recv_fds(s, 64, 128)[1]]
    equal(len(found), int(words[4:]), "descriptors")
    for fd in found:
        try:
            os.pwrite(fd, b"x", 0)
            true(False, "a run's memory could be written")
        except OSError:
            pass
    for fd in fds + found:
        os.close(fd)
    s.close()
    stop(run)


@case
def replay_plays_into_an_endpoint_and_a_graph(b):
    run = start(b)
    tool(b, "record", "sink.in", b.path("r"), "--run", run.pid, "--count", "20")
    stop(run)
    path = "r" if os.path.exists(b.path("r")) else "r.INCOMPLETE"
    p = tool(b, "replay", path, "tape", "--wait", "10ms", rc=1)
    contains(p.stderr, "nobody imported tape", "stderr")
    taker = subprocess.Popen([os.path.join(b.build, "tests", "tool", "test_taker"),
                              b.path("holomq"), "tape"], stdout=subprocess.PIPE, text=True)
    told = json.loads(tool(b, "replay", path, "tape", "--speed", "full", "--wait", "60s",
                           "--format", "json").stdout)
    equal(told, {"replayed": 20}, "replay's result")
    equal(taker.communicate(timeout=60)[0], "20 messages, 5120 bytes\n", "what was imported")
    b.write("p.yaml", "holorun: 1\nname: p\nplugins: [{path: std}]\nnodes:\n"
                      "  src: {op: std/file_source, params: {path: %s, incomplete: true}}\n"
                      "  sink: {op: std/null, inputs: {in: src.out}}\n" % path)
    contains(b.run("p.yaml").out, "20 delivered", "messages played in a graph")


@case
def clean_removes_dead_sockets_only(b):
    os.mkdir(b.path("holomq"))
    for name, live in (("dead", False), ("live", True)):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(b.path("holomq/%s.hmq" % name))
        if live:
            s.listen()
            keep = s
        else:
            s.close()
    listed = json.loads(tool(b, "list", "--format", "json").stdout)["endpoints"]
    equal({e["name"]: e["state"] for e in listed}, {"dead": "dead", "live": "live"}, "endpoints")
    out = json.loads(tool(b, "clean", "--format", "json").stdout)
    equal(out["removed"], ["dead.hmq"], "removed")
    equal(os.listdir(b.path("holomq")), ["live.hmq"], "left")
    keep.close()
    contains(tool(b, "clean").stdout, "1 dead socket removed", "text")


@case
def wrong_requests_are_said_and_exit_2(b):
    for args in (["nothing"], [], ["echo"], ["list", "--nothing", "1"], ["list", "--format"],
                 ["list", "--format", "xml"], ["top", "--interval", "5"], ["top", "--count", "-1"],
                 ["record", "a"], ["list", "extra"]):
        p = tool(b, *args, rc=2)
        true(p.stderr and not p.stdout, "stderr only, for %r" % (args,))
    contains(tool(b, "help").stdout, "usage: holomq", "help")
    contains(tool(b, "echo", "x", "--run", "no-such-graph", rc=3).stderr, "no run", "stderr")


if __name__ == "__main__":
    main()
