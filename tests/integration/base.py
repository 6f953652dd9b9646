# SPDX-License-Identifier: Apache-2.0
"""base: the graph that the small tests change: three nodes, every message numbered."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "py"))

from holotest import equal  # noqa: E402

B0 = """\
holorun: 1
name: chain
plugins:
  - path: testops
knobs:
  n: {type: int, default: 1000, min: 1}
nodes:
  src:
    op: test/seq_source
    params: {count: $n, size: 1024}
  work:
    op: test/copy
    inputs: {in: src.out}
  sink:
    op: test/seq_sink
    params: {file: out.txt}
    inputs: {in: work.out}
"""


def edit(old, new, text=B0):
    """B0 with one place changed; the place must be there once."""
    equal(text.count(old), 1, "the test's own text: occurrences of %r" % old)
    return text.replace(old, new)

# A graph that runs until it is told to stop, in three processes, and says when it runs.
LIVE = """\
holorun: 1
name: live
plugins: [{path: testops}, {path: inject}]
knobs:
  wait: {type: string, default: sleep}
nodes:
  src: {op: test/live_source, params: {rate: 2kHz}}
  work: {op: test/copy, inputs: {in: src.out}}
  sink: {op: test/seq_sink, params: {file: out.txt}, inputs: {in: work.out}}
  mark: {op: inject/take, params: {mark: MARK, mark_at: 50}, inputs: {in: work.out}}
partitions:
  pa: {process: one, wait: $wait, nodes: [src]}
  pb: {process: two, wait: $wait, nodes: [work]}
  pc: {process: three, wait: $wait, nodes: [sink, mark]}
"""


def live(b, name="live.yaml", text=LIVE):
    """Write the live graph; the run creates `mark` once it is well under way."""
    b.write(name, text.replace("MARK", '"%s"' % b.path("mark")))
    return name


def numbers(b, name="out.txt"):
    """What the sequence sink wrote down."""
    return [int(line) for line in b.read(name).split("\n") if line]


def free_port():
    """A UDP port nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
