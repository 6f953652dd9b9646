# SPDX-License-Identifier: Apache-2.0
"""UDP: packets of the wrong size or content are counted by kind and never become messages."""

import os
import re
import signal
import socket
import struct

from base import free_port
from holotest import case, contains, equal, main, matches, true, until


RECEIVER = """\
holorun: 1
plugins: [{path: net}, {path: inject}]
nodes:
  rx:
    op: net/udp_source
    params:
      listen: "127.0.0.1:PORT"
      header: "frame=u32@0 index=u32@4 stream=u32@8 fixed=u32@12:77 due=i64@16 data@64"
      format: "i16x2[8]"
      linger: 50ms
  sink: {op: inject/dump, params: {file: out.txt, piece: 32B}, inputs: {in: rx}}
  mark: {op: inject/take, params: {mark: "MARK", mark_at: LAST}, inputs: {in: rx}}
partitions: {main: {wait: WAIT, nodes: [rx, sink, mark]}}
"""


def packet(frame, index, fixed=77, payload=32, due=0):
    head = struct.pack("<IIIIq", frame, index, 5, fixed, due)
    return head + bytes(64 - len(head)) + struct.pack("<Q", frame * 1000 + index) + bytes(payload - 8)


def receive(b, packets, good, wait="sleep"):
    """Start the receiver, send, stop it when the last good packet arrived; result.json."""
    port = free_port()
    text = RECEIVER.replace("PORT", str(port)).replace("MARK", b.path("mark"))
    b.write("rx.yaml", text.replace("LAST", str(good)).replace("WAIT", wait))
    run = b.go("rx.yaml", "--out", "out")
    # Bound is ready: what comes before the graph runs waits in the socket.
    until(
        lambda: re.search(r":%04X " % port, open("/proc/net/udp").read()) or run.proc.poll() is not None,
        "the socket",
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for p in packets:
            s.sendto(p, ("127.0.0.1", port))
    until(lambda: os.path.exists(b.path("mark")) or run.proc.poll() is not None, "the last packet")
    run.send(signal.SIGINT)
    run.end(0)
    return run, b.result()


@case
def good_packets_become_messages_with_their_heads(b):
    for wait in ("sleep", "adaptive"):
        _, result = receive(b, [packet(f, f + 10) for f in range(20)], 20, wait)
        equal(result.counter("rx", "packets"), 20, "packets")
        rows = [line.split() for line in b.read("out.txt").splitlines()]
        equal(
            [(int(r[1]), int(r[2]), int(r[3]), int(r[5]), int(r[7])) for r in rows],
            [(f, f + 10, 5, 32, f * 1000 + f + 10) for f in range(20)],
            "frame, index, stream, bytes, first word",
        )
        os.unlink(b.path("mark"))


@case
def bad_packets_are_counted_by_kind_and_never_placed(b):
    packets = []
    for f in range(12):
        packets.append(packet(f, 1))
        packets.append(packet(100 + f, 1, payload=40))  # longer than declared
        if f % 2:
            packets.append(packet(200 + f, 1)[:70])  # shorter
        if f % 3 == 0:
            packets.append(packet(300 + f, 1, fixed=78))  # a wrong constant
        if f == 5:
            packets.append(b"")
            packets.append(b"x")
    run, result = receive(b, packets, 12)
    want = {"packets": 12, "truncated": 12, "short": 8, "malformed": 4, "kernel_drops": 0}
    equal({k: result.counter("rx", k) for k in want}, want, "counters")
    rows = [line.split() for line in b.read("out.txt").splitlines()]
    equal([int(r[1]) for r in rows], list(range(12)), "frames that became messages")
    equal([int(r[7]) for r in rows], [f * 1000 + 1 for f in range(12)], "payloads")
    for word in ("truncated", "short", "malformed"):
        matches(run.out, word, "the summary mentions what was refused")


@case
def a_port_in_use_is_a_failure_of_that_node(b):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        text = RECEIVER.replace("PORT", str(port)).replace("MARK", b.path("mark"))
        b.write("rx.yaml", text.replace("LAST", "1").replace("WAIT", "sleep"))
        run = b.run("rx.yaml", rc=None)
        true(run.rc in (1, 3), "exit code %s" % run.rc)
        contains(run.first, "rx", "first line")
        contains(run.first, str(port), "first line")


@case
def sender_and_receiver_agree_over_loopback(b):
    port = free_port()
    b.write(
        "loop.yaml",
        "holorun: 1\nplugins: [{path: std}, {path: net}]\nnodes:\n"
        "  src: {op: std/sequence, params: {size: 512B, count: 400, frame_every: 8, fill: true}}\n"
        '  tx: {op: net/udp_sink, params: {to: "127.0.0.1:%d", every: 2ms, interval: 100us}, inputs: {in: src}}\n'
        '  rx: {op: net/udp_source, params: {listen: "127.0.0.1:%d", packet: 576B}}\n'
        "  sink: {op: std/check, params: {count: 400, fill: true}, inputs: {in: rx}}\n"
        "partitions: {a: {process: tx, wait: sleep, nodes: [src, tx]}, b: {process: rx, wait: sleep, nodes: [rx, sink]}}\n"
        % (port, port),
    )
    b.run("loop.yaml", "--out", "out")
    result = b.result()
    equal(result.counter("tx", "sent"), 400, "sent")
    equal(result.counter("rx", "packets"), 400, "packets")
    equal(result.counter("sink", "received"), 400, "received")


if __name__ == "__main__":
    main()
