# SPDX-License-Identifier: Apache-2.0
"""Endpoints: programs outside a graph read from it and write to it, come late, differ, and die."""

import json
import os
import signal
import subprocess
import tempfile
import time

from holotest import Failure, LIMIT, balanced, case, contains, equal, main, matches, refused, true, until

# Numbers of 8 bytes to whoever asks.
OUT = """\
holorun: 1
name: out
plugins: [{path: std}]
knobs:
  count: {type: int, default: 500}
  rate: {type: rate, default: 2kHz}
  required: {type: int, default: 0}
  timeout: {type: duration, default: 60s}
  full: {type: string, default: block}
nodes:
  src: {op: std/sequence, params: {size: 8B, count: $count, rate: $rate}}
endpoints:
  frames:
    export: src.out
    kind: demo/number
    depth: 8
    when_full: $full
    required: $required
    attach_timeout: $timeout
"""

# And from whoever writes.
IN = """\
holorun: 1
name: in
plugins: [{path: std}]
nodes:
  sink: {op: std/check, inputs: {in: numbers}}
endpoints:
  numbers: {import: n, kind: demo/number, max_bytes: 8, attach_timeout: 60s}
"""


class Peer:
    """A program outside: what it printed, how it ended."""

    def __init__(self, b, *args, program="outside_peer"):
        self.err_file = tempfile.TemporaryFile()
        self.out_file = tempfile.TemporaryFile()
        self.proc = subprocess.Popen(
            [os.path.join(b.build, "tests", "outside", program), *args],
            stdin=subprocess.PIPE,
            stdout=self.out_file,
            stderr=self.err_file,
            cwd=b.dir,
        )

    def text(self, file):
        return os.pread(file.fileno(), 1 << 20, 0).decode()

    @property
    def out(self):
        return self.text(self.out_file)

    @property
    def err(self):
        return self.text(self.err_file)

    def says(self, what):
        until(lambda: what in self.out or self.proc.poll() is not None, "a program to say " + what)
        contains(self.out, what, "what the program outside says; on stderr: %r" % self.err)
        return self

    def end(self, rc=0):
        try:
            self.proc.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            self.proc.wait()
            raise Failure("a program outside did not end; it said %r" % self.out)
        equal(self.proc.returncode, rc, "exit code of the program outside (%s)" % self.err)
        return self

    def kill(self):
        self.proc.kill()
        return self.end(-signal.SIGKILL)

    @property
    def received(self):
        """(messages, first, last, gaps, how it ended)"""
        m = matches(self.out, r"^received (\d+) first=(\d+) last=(\d+) gaps=(\d+) (\w+)$", "its result")
        return tuple(int(m.group(i)) for i in range(1, 5)) + (m.group(5),)


class Outside:
    """A folder for endpoints, holorun in it, and the programs around."""

    def __init__(self, b):
        self.b = b
        self.rt = b.path("rt")
        os.mkdir(self.rt, 0o700)
        self.dir = os.path.join(self.rt, "holomq")
        self.peers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.peers:
            if p.proc.poll() is None:
                p.proc.kill()
                p.proc.wait()

    def peer(self, *args, **kw):
        p = Peer(self.b, *args, **kw)
        self.peers.append(p)
        return p

    def reader(self, *args, name="frames"):
        return self.peer("read", self.dir, name, *args)

    def writer(self, *args, name="n"):
        return self.peer("write", self.dir, name, "kind=demo/number", *args)

    def go(self, text, *args):
        self.b.write("g.yaml", text)
        return self.b.go("g.yaml", *args, env={"XDG_RUNTIME_DIR": self.rt})

    def run(self, text, *args, rc=0):
        return self.go(text, *args).end(rc)

    def socket(self, name):
        return os.path.join(self.dir, name + ".hmq")

    def exported(self, run, name="frames"):
        until(lambda: os.path.exists(self.socket(name)) or run.proc.poll() is not None, "the endpoint")


def knobs(**values):
    return [a for k, v in values.items() for a in ("-k", "%s=%s" % (k, v))]


# ---- out of the graph ------------------------------------------------------------------------


@case
def readers_attach_before_and_after_the_start(b):
    with Outside(b) as o:
        os.mkdir(o.dir)
        early = o.reader()
        run = o.go(OUT, *knobs(required=2), "--out", "out")
        late = o.reader("kind=demo/number", "bytes=8")
        run.end(0)
        for p in early, late:
            equal(p.end().received, (500, 0, 499, 0, "end"), "what a reader got")
        equal(os.listdir(o.dir), [], "sockets")
        result = b.result()
        balanced(result.edge("src.out", "endpoint.frames.in"))
        found = {n: result.counter("endpoint.frames", n) for n in ("attached", "refused", "unheard", "lost")}
        equal(found, {"attached": 2, "refused": 0, "unheard": 0, "lost": 0}, "counters")


@case
def a_reader_may_join_a_running_graph_and_leave_it(b):
    with Outside(b) as o:
        run = o.go(OUT, *knobs(count=0), "--out", "out")
        for _ in range(2):
            n, first, last, gaps, how = o.reader("take=20").end().received
            equal((n, last - first, gaps, how), (20, 19, 0, "closed"), "what it took")
        run.send(signal.SIGINT)
        run.end(0)
        equal(b.result().counter("endpoint.frames", "attached"), 2, "attached")
        true(b.result().counter("endpoint.frames", "unheard") > 0, "nobody listened in between")


@case
def a_quiet_graph_answers_all_the_same(b):
    with Outside(b) as o:
        # The next message comes in 100 s: who asks is not to wait for it.
        for wait in "sleep", "spin":
            text = OUT + "partitions: {p: {nodes: [src], wait: %s}}\n" % wait
            run = o.go(text, *knobs(count=0, rate="0.01Hz"))
            p = o.reader().says("attached")
            run.send(signal.SIGINT)
            run.end(0)
            equal(p.end().received[4], "end", "how it ended")


@case
def one_process_or_several_is_the_same_outside(b):
    with Outside(b) as o:
        for more, args in (
            ("", ["--in-process"]),
            ("partitions: {p: {nodes: [src], process: far, wait: sleep}}\n", []),
            ("partitions: {p: {nodes: [src], wait: spin}}\n", []),
        ):
            run = o.go(OUT + more, *knobs(required=1, rate=0), *args)
            equal(o.reader().end().received, (500, 0, 499, 0, "end"), "what the reader got")
            run.end(0)


@case
def nobody_is_needed_unless_it_is_said(b):
    with Outside(b) as o:
        o.run(OUT, *knobs(count=50), "--out", "out")
        equal(b.result().counter("endpoint.frames", "unheard"), 50, "unheard")
        run = o.run(OUT, *knobs(required=1, timeout="50ms"), rc=1)
        contains(run.err, "endpoint frames: 1 readers are required, 0 came within 50 ms", "stderr")
        contains(run.err, "endpoint.frames", "the node")


@case
def a_reader_with_another_contract_is_told_field_and_values(b):
    with Outside(b) as o:
        run = o.go(OUT, *knobs(required=1), "--out", "out")
        o.exported(run)
        for ask, says in (
            ("kind=other", "endpoint frames, kind: the exporter has demo/number, the importer wants other"),
            ("bytes=16", "endpoint frames, max_bytes: the exporter has 8, the importer wants 16"),
            ("depth=9", "endpoint frames, depth: the exporter has 8, the importer wants 9"),
        ):
            contains(o.reader(ask).end(1).err, says, "what it is told")
        equal(o.reader().end().received[0], 500, "the right one is let in")
        run.end(0)
        equal(b.result().counter("endpoint.frames", "refused"), 3, "refused")


@case
def all_seats_taken_is_a_refusal(b):
    with Outside(b) as o:
        run = o.go(OUT + "    seats: 1\n", *knobs(count=0))
        first = o.reader().says("attached")
        contains(o.reader("timeout_ms=1000").end(1).err, "seats are taken", "what it is told")
        run.send(signal.SIGINT)
        run.end(0)
        equal(first.end().received[4], "end", "the first one")


@case
def the_end_is_not_the_death_of_a_graph(b):
    with Outside(b) as o:
        for process in "main", "far":
            text = OUT + "partitions: {p: {nodes: [src], process: %s}}\n" % process
            run = o.go(text, *knobs(count=0))
            p = o.reader("hold=5").says("holding")
            run.send(signal.SIGKILL)
            run.proc.wait()
            n, first, last, gaps, how = p.end().received
            equal((last - first + 1, gaps, how), (n, 0, "lost"), "what the reader got")
            true(n >= 5, "what was published before stays readable")
            run.check_clean(patience=5)
            run.rc = run.proc.returncode
            # Its socket is still there, dead; the next run takes the name.
            true(os.path.exists(o.socket("frames")), "the socket of the dead run is gone")
            run = o.go(OUT, *knobs(required=1))
            equal(o.reader().end().received, (500, 0, 499, 0, "end"), "from the next run")
            run.end(0)


@case
def a_live_name_belongs_to_the_first_run(b):
    with Outside(b) as o:
        first = o.go(OUT, *knobs(count=0))
        p = o.reader().says("attached")
        second = o.run(OUT, rc=1)
        contains(second.err, "frames.hmq: a live endpoint has this name", "stderr of the second")
        n = len(p.out)
        first.send(signal.SIGINT)
        first.end(0)
        equal(p.end().received[3:], (0, "end"), "the reader of the first")
        true(n > 0, "the reader was attached")


@case
def a_killed_reader_changes_nothing_for_the_others(b):
    with Outside(b) as o:
        run = o.go(OUT, *knobs(required=2, count=2000), "--out", "out")
        good, bad = o.reader(), o.reader("hold=5").says("holding")
        bad.kill()
        run.end(0)
        equal(good.end().received, (2000, 0, 1999, 0, "end"), "what the other one got")
        result = b.result()
        equal(result.edge("src.out", "endpoint.frames.in")["received"], 2000, "messages out of the graph")
        equal(result.counter("endpoint.frames", "lost"), 0, "lost")


@case
def a_slow_reader_meets_the_policy(b):
    with Outside(b) as o:
        for full in "block", "drop_newest", "drop_oldest":
            run = o.go(OUT, *knobs(required=1, count=300, rate="10kHz", full=full), "--out", "out")
            p = o.reader("pause_us=500").end()
            run.end(0)
            n, first, last, gaps, how = p.received
            lost = b.result().counter("endpoint.frames", "lost")
            equal((n + lost, how), (300, "end"), "received and lost, %s" % full)
            if full == "block":
                equal((first, lost, gaps), (0, 0, 0), "first and losses")
            else:
                true(lost > 0, "%s loses something here" % full)
            if full == "drop_newest":
                equal(first, 0, "the first arrives")
            if full == "drop_oldest":
                equal(last, 299, "the newest arrives")


@case
def a_slow_reader_may_be_a_failure(b):
    with Outside(b) as o:
        run = o.go(OUT, *knobs(required=1, count=0, rate=0, full="fail"))
        p = o.reader("hold=1").says("holding")
        run.end(1)
        contains(run.err, "endpoint frames: reader 0 has no room for message", "stderr")
        contains(run.err, "(depth 8) and when_full says fail", "stderr")
        p.proc.stdin.close()
        p.proc.stdin = None
        p.end()


@case
def a_reader_that_holds_on_is_no_stall_and_can_be_stopped(b):
    with Outside(b) as o:
        run = o.go(OUT, *knobs(required=1, count=0, rate=0), "--stall-timeout", "200ms", "--stop-grace", "500ms")
        p = o.reader("hold=1").says("holding")
        # Twice the time after which a graph would be given up in which only its own nodes wait.
        began = time.monotonic()
        until(lambda: time.monotonic() - began > 0.4, "twice the stall timeout")
        true(run.proc.poll() is None, "the graph goes on")
        p.kill()
        second = o.reader("take=100").end()
        equal(second.received[3:], (0, "closed"), "the next reader")
        run.send(signal.SIGINT)
        run.end(0)


# ---- into the graph --------------------------------------------------------------------------


@case
def a_writer_outside_is_a_source_and_its_end_the_end(b):
    with Outside(b) as o:
        for first in "graph", "writer":
            run = o.go(IN, "--out", "out") if first == "graph" else None
            w = o.writer("count=500")
            if first == "writer":
                w.says("exported")
                run = o.go(IN, "--out", "out")
            run.end(0)
            w.end()
            contains(w.out, "published 500", "the writer")
            equal(b.result().counter("sink", "received"), 500, "received")
            equal(b.result().counter("numbers", "attached"), 1, "attached")


@case
def the_death_of_a_writer_is_a_failure_unless_said_otherwise(b):
    with Outside(b) as o:
        for more, rc in (("", 1), (", lossy_end: true", 0)):
            text = IN.replace("attach_timeout: 60s", "attach_timeout: 60s" + more)
            run = o.go(text, "--out", "out")
            w = o.writer("count=100000", "pause_us=1000").says("attached")
            w.kill()
            run.end(rc)
            says = "endpoint n: its writer died" + ("" if rc == 0 else "; this is not the end of its stream")
            contains(run.err, says, "stderr")
            equal(b.result().counter("numbers", "died"), 1, "died")


@case
def an_optional_writer_is_replaced_by_the_next(b):
    with Outside(b) as o:
        text = IN.replace("attach_timeout: 60s", "required: 0")
        text = text.replace("op: std/check", "op: std/check, params: {lossy: true}")
        run = o.go(text, "--out", "out")
        o.writer("count=100000", "pause_us=1000").says("attached").kill()
        o.writer("count=30").end()
        run.end(0)
        equal(b.result().counter("numbers", "attached"), 2, "attached")
        equal(b.result().counter("numbers", "died"), 1, "died")


@case
def a_graph_ends_without_an_optional_writer(b):
    with Outside(b) as o:
        text = IN.replace("attach_timeout: 60s", "required: 0").replace(
            "nodes:\n",
            "nodes:\n  src: {op: std/sequence, params: {count: 10}}\n  other: {op: std/check, inputs: {in: src}}\n",
        )
        o.run(text, "--out", "out")
        equal(b.result().counter("other", "received"), 10, "received")


@case
def a_required_writer_has_a_deadline(b):
    with Outside(b) as o:
        run = o.run(IN.replace("60s", "50ms"), rc=1)
        contains(run.err, "endpoint n.hmq: nobody exports it", "stderr")
        contains(run.err, "it was waited for 50 ms", "stderr")
        matches(run.err, r"g\.yaml:7:3", "the endpoint's place")


@case
def a_writer_with_another_contract_fails_the_graph(b):
    with Outside(b) as o:
        o.writer("count=1", "bytes=24").says("exported")
        run = o.run(IN, rc=1)
        contains(run.err, "endpoint n, max_bytes: the exporter has 24, the importer wants 8", "stderr")


@case
def with_serve_the_graph_has_the_name(b):
    with Outside(b) as o:
        text = IN.replace("attach_timeout: 60s", "serve: true, depth: 4, attach_timeout: 60s")
        run = o.go(text, "--out", "out")
        w = o.writer("attach=1", "count=200")
        run.end(0)
        w.end()
        contains(w.out, "depth=4 policy=0", "the contract")
        equal(b.result().counter("sink", "received"), 200, "received")
        run = o.go(text)
        o.writer("attach=1", "pause_us=1000").says("attached").kill()
        run.end(1)
        contains(run.err, "endpoint n: its writer died", "stderr")


@case
def one_graph_feeds_another(b):
    with Outside(b) as o:
        b.write("out.yaml", OUT)
        b.write("in.yaml", IN.replace("import: n", "import: frames"))
        env = {"XDG_RUNTIME_DIR": o.rt}
        reader = b.go("in.yaml", "--out", "out", env=env)
        writer = b.go("out.yaml", *knobs(required=1), env=env)
        writer.end(0)
        reader.end(0)
        equal(b.result().counter("sink", "received"), 500, "received")
        equal(b.result().counter("numbers", "lost"), 0, "lost")


# ---- the rest --------------------------------------------------------------------------------


@case
def the_catalog_says_what_readers_find_and_is_written_when_it_changes(b):
    with Outside(b) as o:
        b.write("g.yaml", OUT.replace("size: 8B", "size: 32B"))
        b.run("plan", "g.yaml", "--catalog", "c.json", env={"XDG_RUNTIME_DIR": o.rt})
        catalog = json.loads(b.read("c.json"))
        equal([e["name"] for e in catalog["endpoints"]], ["frames"], "endpoints")
        c = catalog["endpoints"][0]["contract"]
        equal(catalog["endpoints"][0]["role"], "writer", "role")
        before = os.stat(b.path("c.json"))
        run = b.go("g.yaml", *knobs(required=1), "--catalog", "c.json", env={"XDG_RUNTIME_DIR": o.rt})
        p = o.reader().end()
        run.end(0)
        m = matches(p.out, r"^attached kind=(\S*) bits=(\d+) rank=(\d+) dim0=\d+ max_bytes=(\d+) depth=(\d+) policy=(\d)", "it")
        found = (m.group(1), int(m.group(3)), int(m.group(4)), int(m.group(5)))
        equal(found, (c["kind"], len(c["dim"]), c["max_bytes"], c["depth"]), "the contract outside")
        after = os.stat(b.path("c.json"))
        equal((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns), "the file, untouched")
        b.run("plan", "g.yaml", "-k", "full=drop_oldest", "--catalog", "c.json", env={"XDG_RUNTIME_DIR": o.rt})
        changed = json.loads(b.read("c.json"))
        equal(changed["endpoints"][0]["contract"]["policy"], "drop_oldest", "the policy")
        true(changed["digest"] != catalog["digest"], "the digest changes")
        run = b.run("plan", "g.yaml", "--catalog", "no/such/c.json", rc=3)
        contains(run.err, "--catalog no/such/c.json", "stderr")


@case
def two_exports_of_one_name_are_refused_with_both_places(b):
    text = OUT + "  other: {export: src.out, name: «frames»}\n"
    run = refused(b, text, says=("two endpoints of this graph would be called 'frames'",), code="E250")
    matches(run.err, r"b0\.yaml:13:3: note: ", "the other place")


@case
def the_plan_shows_where_an_endpoint_runs(b):
    with Outside(b) as o:
        b.write("g.yaml", OUT + "partitions: {p: {nodes: [src], process: far}}\n")
        run = b.run("plan", "g.yaml", env={"XDG_RUNTIME_DIR": o.rt})
        matches(run.out, r"^ *endpoint\.frames +holomq/export +cpu +far +p ", "the node in the plan")
        true(not os.path.exists(o.dir), "planning makes no folder")


@case
def the_folder_is_the_first_that_can_be(b):
    with Outside(b) as o:
        path = b.path("elsewhere")
        run = o.go(OUT + "    dir: elsewhere\n", *knobs(required=1))
        p = o.peer("read", path, "frames")
        run.end(0)
        equal(p.end().received[0], 500, "received in a folder beside the graph")


@case
def a_restarted_writer_exports_anew(b):
    with Outside(b) as o:
        text = OUT.replace("rate: $rate}}", "rate: $rate}, on_failure: {restart: {max: 3, backoff: 1ms}}}")
        text += "partitions: {p: {nodes: [src], process: far, wait: sleep}}\n"
        run = o.go(text, *knobs(count=0))
        p = o.reader().says("attached")
        pid = until(lambda: run.process_named("far"), "the process")
        os.kill(pid, signal.SIGKILL)
        equal(p.end().received[3:], (0, "lost"), "the first reader")
        equal(o.reader("take=20").end().received[3:], (0, "closed"), "the next one")
        run.send(signal.SIGINT)
        run.end(None)


@case
def the_example_stands_between_two_programs(b):
    with Outside(b) as o:
        subscriber = o.peer(o.dir, "worked", program="outside_subscriber")
        publisher = o.peer(o.dir, "readings", "2000", program="outside_publisher")
        b.run(b.example("endpoints.yaml"), "-k", "dir=" + o.dir)
        publisher.end()
        contains(subscriber.end().out, "received 2000 from 0, sum 199900.0: end of stream", "the subscriber")
        equal(os.listdir(o.dir), [], "sockets")


main()
