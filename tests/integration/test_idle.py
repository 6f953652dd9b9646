# SPDX-License-Identifier: Apache-2.0
"""Idle: a graph to which nothing happens takes no CPU time, however it waits but by spinning."""

import os
import re
import signal
import time

from base import LIVE, free_port, live
from holotest import Skip, case, main, true, until

QUIET = """\
holorun: 1
plugins: [{path: net}, {path: testops}]
nodes:
  rx:
    op: net/udp_source
    params: {listen: "127.0.0.1:PORT", header: "frame=u32@0 data@64", format: "i16x2[8]"}
  work: {op: test/copy, inputs: {in: rx}}
  sink: {op: test/seq_sink, params: {file: out.txt}, inputs: {in: work.out}}
partitions:
  pa: {process: one, wait: WAIT, nodes: [rx]}
  pb: {process: two, wait: WAIT, nodes: [work]}
  pc: {process: two, wait: WAIT, nodes: [sink]}
"""

WATCH_S = 2.0
MOST = 0.02


def family(pid):
    pids = [pid]
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as f:
            for child in f.read().split():
                pids += family(int(child))
    return pids


def cpu_s(pids):
    """Time on a CPU of all their threads so far, in the scheduler's own nanoseconds."""
    total = 0
    for pid in pids:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
                total += int(f.read().split()[0])
    return total / 1e9


def watch(run, what):
    if not os.path.exists("/proc/self/schedstat"):
        raise Skip("this kernel does not count CPU time by thread")
    pids = family(run.proc.pid)
    before, since = cpu_s(pids), time.monotonic()
    time.sleep(WATCH_S)
    spent, took = cpu_s(pids) - before, time.monotonic() - since
    print("     %s took %.4f s of CPU time in %.3f s" % (what, spent, took))
    true(spent <= MOST * took, "%s took %.3f s of CPU time in %.3f s" % (what, spent, took))
    run.send(signal.SIGINT)
    run.end(0)


@case
def a_graph_that_waits_for_packets_takes_no_cpu_time(b):
    for wait in ("sleep", "adaptive"):
        port = free_port()
        b.write("quiet.yaml", QUIET.replace("PORT", str(port)).replace("WAIT", wait))
        run = b.go("quiet.yaml", "--out", "out")
        until(
            lambda: re.search(r":%04X " % port, open("/proc/net/udp").read())
            or run.proc.poll() is not None,
            "the socket",
        )
        time.sleep(0.2)
        watch(run, "an idle graph that waits by %s" % wait)


@case
def a_few_messages_a_second_take_next_to_none(b):
    for wait in ("sleep", "adaptive"):
        text = LIVE.replace("2kHz", "20Hz").replace("mark_at: 50", "mark_at: 10")
        mark = b.path("mark")
        if os.path.exists(mark):
            os.unlink(mark)
        run = b.go(live(b, text=text), "-k", "wait=" + wait, "--out", "out")
        until(lambda: os.path.exists(mark) or run.proc.poll() is not None, "some messages")
        watch(run, "20 messages a second, waiting by %s" % wait)


main()
