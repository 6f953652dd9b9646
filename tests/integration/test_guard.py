# SPDX-License-Identifier: Apache-2.0
"""The hot path neither allocates nor locks nor enters the kernel: by interposition and by strace."""

import os
import re

from base import free_port
from holotest import Skip, case, contains, equal, main, matches, sanitized, tool, true


def guarded(b):
    if sanitized(b.build):
        raise Skip("sanitizers interpose the same calls")
    path = os.path.join(b.build, "tests", "support", "librt_guard.so")
    if not os.path.exists(path):
        raise Skip("librt_guard.so is not built")
    return {"LD_PRELOAD": path}


def cpus():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("needs 2 CPUs")


SIN = """\
holorun: 1
plugins: [{path: std}, {path: inject}]
knobs: {deed: {type: string, default: none}, wait: {type: string, default: spin}}
nodes:
  src: {op: std/sequence, params: {count: 1000}}
  sinner: {op: inject/sin, params: {deed: $deed, at: 50}, inputs: {in: src}}
  sink: {op: std/check, params: {count: 1000}, inputs: {in: sinner}}
partitions: {all: {cpus: "rel:0", wait: $wait, nodes: [src, sinner, sink]}}
"""


@case
def an_op_that_does_what_it_must_not_is_caught_by_name(b):
    env = guarded(b)
    b.write("sin.yaml", SIN)
    b.run("sin.yaml", env=env)
    for deed, call in (
        ("malloc", "malloc"),
        ("free", "free"),
        ("mutex", "pthread_mutex_lock"),
        ("nanosleep", "nanosleep"),
        ("write", "write"),
        ("printf", r"write|malloc|fwrite"),
        ("open", "open"),
        ("mmap", "mmap"),
    ):
        run = b.run("sin.yaml", "-k", "deed=" + deed, env=env, rc=None)
        if deed == "printf" and run.rc == 0:
            continue  # libc's own write is out of reach of the interposition; strace sees it
        equal(run.rc, 1, "exit code of " + deed)
        matches(run.err, r"rt_guard: (%s)\(\)" % call, "what was called")
        contains(run.err, "sinner", "the node")


@case
def the_same_deeds_without_the_guard_pass(b):
    b.write("sin.yaml", SIN)
    for deed in ("malloc", "mutex"):
        b.run("sin.yaml", "-k", "deed=" + deed)


@case
def a_chain_in_one_partition_is_clean(b):
    env = guarded(b)
    path = os.path.join(b.graphs, "bench", "chain.yaml")
    b.run(path, "--preset", "small", "-k", "rate=0", env=env)
    b.run(path, "--preset", "small", "-k", "rate=20kHz", env=env)


@case
def two_spinning_threads_and_two_processes_are_clean(b):
    env = guarded(b)
    cpus()
    path = os.path.join(b.graphs, "bench", "one-to-one.yaml")
    for reader in ("main", "other"):
        b.run(path, "-k", "reader=" + reader, "-k", "rate=0", "-k", "count=20k", env=env)


@case
def a_fan_out_with_a_dropping_reader_is_clean(b):
    env = guarded(b)
    cpus()
    b.run(
        b.example("fanout.yaml"),
        *["-k", "wait=spin", "-k", "rate=0", "-k", "work=20us", "-k", "count=3000"],
        env=env
    )


@case
def the_radar_receiver_is_clean(b):
    env = guarded(b)
    cpus()
    small = ["-k", "samples=512", "-k", "chirps=64", "-k", "cpis=10"]
    # Waking a sleeping sender takes a system call, so here both spin.
    spin = b.write("spin.yaml", "holorun: 1\npartitions: {sender: {wait: spin}}\n")
    overlays = ["-f", b.example("radar-no-network.yaml"), "-f", spin]
    b.run(b.example("radar.yaml"), *overlays, *small, env=env)
    port = str(free_port())
    b.run(b.example("radar.yaml"), *small, "-k", "rate=20Hz", "-k", "port=" + port, env=env)


def calls_of_workers(b, count, wait="spin", reader="main"):
    """System calls of each worker thread after it started to run, by thread name."""
    strace = tool("strace")
    if sanitized(b.build):
        raise Skip("strace and the leak checker both trace")
    cpus()
    log = b.path("log")
    b.run(
        os.path.join(b.graphs, "bench", "one-to-one.yaml"),
        *["-k", "rate=0", "-k", "count=%s" % count, "-k", "wait=" + wait, "-k", "reader=" + reader],
        prefix=[strace, "-ff", "-qq", "-e", "signal=none", "-o", log]
    )
    total = {}
    for name in os.listdir(b.dir):
        if not name.startswith("log."):
            continue
        text = b.read(name)
        m = re.findall(r'prctl\(PR_SET_NAME, "([^"]*)"', text) + re.findall(
            r'/comm", O_\S+\).*\n.*write\(\d+, "([^"]*)"', text
        )
        total[(m or ["?"])[-1], name] = len(text.splitlines())
        os.unlink(b.path(name))
    return total


@case
def no_system_call_per_message_while_spinning(b):
    for reader in ("main", "other"):
        few = calls_of_workers(b, "10k", reader=reader)
        many = calls_of_workers(b, "1M", reader=reader)

        def workers(calls):
            return {k[0]: n for k, n in calls.items() if re.search("reader|writer|src|sink", k[0])}

        true(len(workers(few)) == 2, "worker threads by name among %s" % sorted(few))
        for name, n in workers(many).items():
            more = n - workers(few)[name]
            # 990,000 messages more; what may grow is by time, not by message.
            true(more < 100, "%s made %d system calls more for 990,000 messages" % (name, more))


if __name__ == "__main__":
    main()
