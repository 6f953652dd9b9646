# SPDX-License-Identifier: Apache-2.0
"""kill.py: kill -9 at random instants, again and again, and look at what is left.

First graphs whose processes restart: a killer takes any of them at any instant,
while it starts as well, and in the end nothing that was published to a reader
that lived is lost or torn, the books balance, nobody hangs, and the survivors
and the supervisor hold no more descriptors and mappings than before.  Then
graphs that stop at a failure: any process, the supervisor too, is killed at any
instant, and nothing is left behind.

Usage: kill.py BUILD-FOLDER [--kills N] [--runs N] [--seed N] [--graph NAME]
"""

import argparse
import os
import random
import re
import signal
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support", "py"))

from holotest import Bench, Failure, balanced, equal, read_file, true, until  # noqa: E402

HEAD = "holorun: 1\nplugins: [{path: std}, {path: testops}, {path: inject}]\nnodes:\n"
PART = "  p%d: {process: %s, wait: WAIT, nodes: [%s]}\n"
AGAIN = "on_failure: {restart: {max: 0, backoff: 1ms}}"


def graph(nodes, processes):
    """A text; processes is a list of (name, nodes); those called safe* are left alone."""
    text = HEAD
    nodes = nodes + [("mark", 'op: inject/take, params: {mark: "MARK"}, inputs: {in: %s.out}'
                      % nodes[0][0])]
    processes = processes + [("safe0", "mark")]
    mortal = {n for name, ns in processes if not name.startswith("safe") for n in ns.split(", ")}
    for name, body in nodes:
        text += "  %s: {%s%s}\n" % (name, body, ", " + AGAIN if name in mortal else "")
    text += "partitions:\n"
    for i, (name, ns) in enumerate(processes):
        text += PART % (i, name, ns)
    return text


CHECK = "op: std/check, params: {lossy: true, fill: true}, "
SRC = "op: std/sequence, params: {rate: %s, fill: true, size: %s}"
FAST = "op: std/sequence, params: {fill: true, size: 64B}"

# name -> (text, readers that live and read what a mortal or a safe writer publishes)
GRAPHS = {
    "chain": (
        graph(
            [
                ("src", SRC % ("5kHz", "256B")),
                ("work", "op: std/copy, inputs: {in: src.out}"),
                ("sink", CHECK + "inputs: {in: work.out}"),
                ("near", CHECK + "inputs: {in: src.out}"),
                ("far", CHECK + "inputs: {in: work.out}"),
            ],
            [("k1", "src"), ("k2", "work"), ("k3", "sink"), ("safe1", "near"), ("safe2", "far")],
        ),
        ["src.out near.in", "work.out far.in"],
    ),
    "full": (  # queues full all the time
        graph(
            [
                ("src", FAST),
                ("work", "op: std/copy, inputs: {in: {from: src.out, depth: 2}}"),
                ("far", "op: std/check, params: {lossy: true, fill: true, work: 20us}, "
                        "inputs: {in: {from: work.out, depth: 3}}"),
                ("keep", "op: inject/keep, inputs: {in: work.out}"),
            ],
            [("k1", "src"), ("k2", "work"), ("safe1", "far"), ("safe2", "keep")],
        ),
        ["work.out far.in", "work.out keep.in"],
    ),
    "join": (
        graph(
            [
                ("s1", SRC % ("2kHz", "128B")),
                ("s2", SRC % ("2kHz", "128B")),
                ("join", "op: test/join2, inputs: {a: s1.out, b: s2.out}"),
                ("r1", CHECK + "inputs: {in: join.out}"),
                ("r2", CHECK + "inputs: {in: join.out}"),
                ("t1", CHECK + "inputs: {in: s1.out}"),
            ],
            [("k1", "s1"), ("k2", "s2"), ("k3", "join"), ("k4", "r1"), ("safe1", "r2"),
             ("safe2", "t1")],
        ),
        ["join.out r2.in", "s1.out t1.in"],
    ),
    "oldest": (
        graph(
            [
                ("src", SRC % ("20kHz", "128B")),
                ("old", "op: std/check, params: {lossy: true, fill: true, work: 300us}, "
                        "inputs: {in: {from: src.out, depth: 4, when_full: drop_oldest}}"),
                ("new", "op: std/check, params: {lossy: true, fill: true, work: 300us}, "
                        "inputs: {in: {from: src.out, depth: 4, when_full: drop_newest}}"),
                ("slow", "op: std/check, params: {lossy: true, fill: true, work: 400us}, "
                         "inputs: {in: {from: src.out, depth: 3, when_full: drop_oldest}}"),
                ("all", CHECK + "inputs: {in: src.out}"),
            ],
            [("k1", "src"), ("k2", "old"), ("k3", "new"), ("safe1", "slow"), ("safe2", "all")],
        ),
        ["src.out all.in"],
    ),
    "gather": (
        graph(
            [
                ("src", "op: std/sequence, params: {rate: 16kHz, frame_every: 4, size: 64B}"),
                ("sink", "op: test/head_sink, params: {file: h1.txt}, inputs: {in: {from: src.out,"
                         " gather: {count: 4, window: 3, missing: zero}}}"),
                ("live", "op: test/head_sink, params: {file: h2.txt}, inputs: {in: {from: src.out,"
                         " gather: {count: 4, window: 3, missing: drop}}}"),
            ],
            [("k1", "src"), ("k2", "sink"), ("safe1", "live")],
        ),
        ["src.out live.in"],
    ),
}

STOP = graph(
    [
        ("src", SRC % ("5kHz", "256B")),
        ("work", "op: std/copy, inputs: {in: src.out}"),
        ("sink", CHECK + "inputs: {in: work.out}"),
    ],
    [("safe1", "src"), ("safe2", "work"), ("safe3", "sink")],
)


RESTART = STOP.replace("}\n", ", " + AGAIN + "}\n", 4).replace("safe", "k")


def children(pid):
    """pid -> command name"""
    text = read_file("/proc/%d/task/%d/children" % (pid, pid))
    return {int(p): read_file("/proc/%s/comm" % p).strip() for p in text.split()}


def footprint(pid):
    fds = len(os.listdir("/proc/%d/fd" % pid))
    maps = read_file("/proc/%d/maps" % pid)
    status = read_file("/proc/%d/status" % pid)
    size, rss = (int(re.search(r"%s:\s*(\d+)" % k, status).group(1)) for k in ("VmSize", "VmRSS"))
    if size >= 1 << 30:
        rss = 0  # a sanitizer's heap grows for a long time and says nothing
    return {"fds": fds, "maps": maps.count("\n"), "memfds": maps.count("memfd:"), "rss": rss}


def pause(seconds):
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, "a while")


def settled(run, names):
    """All processes of the graph are there under their own names."""

    def look():
        true(run.proc.poll() is None, "the run ended\n%s" % run.err)
        return names <= set(children(run.pid).values())

    until(look, "processes %s" % sorted(names))


def kill_some(run, rng, kills):
    done = 0
    while done < kills:
        pause(rng.choice((0.0, 0.002, 0.01, 0.03, 0.1)) * rng.random())
        mortal = [p for p, name in children(run.pid).items() if not name.startswith("safe")]
        if not mortal:
            true(run.proc.poll() is None, "the run ended\n%s" % run.err)
            continue
        try:
            os.kill(rng.choice(mortal), signal.SIGKILL)
            done += 1
        except ProcessLookupError:
            pass


def compare(before, after):
    for who in before:
        for what, slack in (("fds", 12), ("maps", 40), ("memfds", 24), ("rss", 4096)):
            x, y = before[who][what], after[who][what]
            true(y <= x + slack, "%s of %s: %d, then %d" % (what, who, x, y))


def restarting(build, name, kills, rng):
    text, alive = GRAPHS[name]
    names = set(re.findall(r"process: (\w+)", text))
    b = Bench(build)
    try:
        mark = b.path("mark")
        wait = rng.choice(("sleep", "adaptive"))
        b.write("g.yaml", text.replace("MARK", mark).replace("WAIT", wait))
        run = b.go("g.yaml", "--out", "out", limit=600)
        # What dies before messages flow is a failed start.
        until(lambda: os.path.exists(mark) or run.proc.poll() is not None, "the graph to run")
        settled(run, names)
        watched = {"supervisor": run.pid}
        watched.update({n: p for p, n in children(run.pid).items() if n.startswith("safe")})
        kill_some(run, rng, kills // 4)
        settled(run, names)
        before = {who: footprint(pid) for who, pid in watched.items()}
        kill_some(run, rng, kills - kills // 4)
        settled(run, names)
        pause(0.2)
        after = {who: footprint(pid) for who, pid in watched.items()}
        run.send(signal.SIGINT)
        run.end(0)
        result = b.result()
        for edge in result.data["edges"]:
            balanced(edge)
        for node in result.data["nodes"]:
            equal(node["counters"].get("bad", 0), 0, "torn messages at " + node["name"])
        for edge in alive:
            source, reader = edge.split()
            e = result.edge(source, reader)
            equal((e["lost"], e["abandoned"]), (0, 0), "lost, abandoned of " + edge)
            equal(e["received"] + e["left"], e["sent"], "received by a live reader, " + edge)
            node = result.node(reader.split(".")[0])["counters"]
            if "gaps" in node and source.startswith("s"):
                equal(node["gaps"], 0, "gaps at a live reader of a source, " + edge)
        compare(before, after)
        return len(re.findall("was started again", run.err))
    except Exception:
        for run in b.runs:
            sys.stderr.write(run.err[-4000:] + run.out[-3000:])
        raise
    finally:
        b.close()


def lives_on(run):
    """The victim may have been a probe that had already done its work, and was not reaped yet."""
    end = time.monotonic() + 3
    until(lambda: time.monotonic() > end or run.proc.poll() is not None, "a while")
    return run.proc.poll() is None


def losing_head(build, rng):
    """The supervisor dies, perhaps while it starts somebody again."""
    b = Bench(build)
    try:
        b.write("g.yaml", RESTART.replace("WAIT", "sleep"))
        run = b.go("g.yaml", "--out", "out")
        pause(0.03 + rng.random() * 0.1)
        for victim in list(children(run.pid))[: rng.randrange(3)]:
            os.kill(victim, signal.SIGKILL)
        pause(rng.random() * 0.02)
        if run.proc.poll() is None:
            run.send(signal.SIGKILL)
        run.proc.wait()
        run.rc = -9
        run.check_clean(patience=20)
    finally:
        b.close()


def stopping(build, rng):
    b = Bench(build)
    try:
        b.write("g.yaml", STOP.replace("WAIT", "sleep"))
        run = b.go("g.yaml", "--out", "out")
        pause(rng.random() * 0.12)
        names = children(run.pid)
        victim = rng.choice([run.pid] + list(names))
        os.kill(victim, signal.SIGKILL)
        if victim == run.pid:
            run.proc.wait()
            run.rc = -9
            run.check_clean(patience=20)
        elif names[victim] == "holorun" and lives_on(run):
            run.send(signal.SIGINT)
            run.end(0)
        else:
            run.end(None)
            # Before the start a probe may have been hit: that is a refusal.
            true(run.rc in (1, 3), "exit code %d\n%s" % (run.rc, run.err))
    except Exception:
        for run in b.runs:
            sys.stderr.write(run.err[-4000:])
        raise
    finally:
        b.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--kills", type=int, default=500)
    p.add_argument("--runs", type=int, default=100)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--graph", default=None)
    args = p.parse_args()
    build = os.path.realpath(args.build)
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4), "little")
    print("seed %d" % seed)
    rng = random.Random(seed)
    names = [args.graph] if args.graph else list(GRAPHS)
    failed = 0
    for i, name in enumerate(names):
        kills = args.kills // len(names) + (i < args.kills % len(names))
        began = time.monotonic()
        try:
            n = restarting(build, name, kills, rng)
            print("ok   %s: %d kills, %d restarts (%.1f s)" % (name, kills, n, time.monotonic() - began))
        except Failure as e:
            failed += 1
            print("FAIL %s: %s" % (name, e))
        except Exception:
            failed += 1
            print("FAIL %s: %s" % (name, traceback.format_exc()))
        sys.stdout.flush()
    for k in range(args.runs):
        try:
            (losing_head if k % 4 == 3 else stopping)(build, rng)
        except Exception as e:
            failed += 1
            print("FAIL stop %d: %s" % (k, e if isinstance(e, Failure) else traceback.format_exc()))
    print("%d graphs, %d runs, %d failed" % (len(names), args.runs, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
