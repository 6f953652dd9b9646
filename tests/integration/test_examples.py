# SPDX-License-Identifier: Apache-2.0
"""Every shipped graph runs to its end, and where it runs makes no difference to what it finds."""

import os

from base import free_port
from holotest import Skip, balanced, case, contains, equal, main, matches, true

SMALL = ["-k", "samples=512", "-k", "chirps=64", "-k", "cpis=20"]
PACED = ["-k", "rate=20Hz", "-k", "lost=500ms"]
PLACEMENTS = ("radar-one-process.yaml", "radar-process-per-node.yaml")


def cpus():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("needs 2 CPUs")


def radar(b, *args, graph="radar.yaml", rc=0, frames=20, detections="det.bin"):
    """Run a radar graph on a free port; the bytes of its detections."""
    extra = b.write("file.yaml", "holorun: 1\nnodes: {verify: {params: {file: %s}}}\n" % b.path(detections))
    port = ["-k", "port=%d" % free_port()] if graph == "radar.yaml" else []
    args = list(args)
    run = b.run(b.example(graph), *args, "-f", extra, *port, "--out", "out", rc=rc)
    if rc == 0:
        result = b.result()
        for edge in result.data["edges"]:
            balanced(edge)
            equal(edge["lost"], 0, "lost on " + edge["name"])
        equal(result.counter("verify", "frames"), frames, "frames")
        equal(result.counter("verify", "found"), 3 * frames, "targets found")
    with open(b.path(detections), "rb") as f:
        return run, f.read()


@case
def every_shipped_graph_is_accepted(b):
    file = ["-k", "file=" + b.path("scene.rec")]
    b.run(b.example("radar-record.yaml"), *SMALL, *file)
    for folder in ("examples", "bench"):
        for name in sorted(os.listdir(os.path.join(b.graphs, folder))):
            path = os.path.join(b.graphs, folder, name)
            if not name.endswith(".yaml"):
                continue  # programs that go with a graph
            text = b.read(path)
            # The head of each file says how it is run; overlays need what they are laid over.
            head = matches(text, r"^# +holorun (\S+\.yaml)( -f (\S+))?", "command in the head of " + name)
            if "\nplugins:" not in text:
                equal(head.group(3), name, "overlay in the head of " + name)
                b.run("check", os.path.join(b.graphs, folder, head.group(1)), "-f", path)
            elif name == "radar-file.yaml":  # wants to know what is in its recording
                b.run("check", path, *SMALL, *file)
            else:
                b.run("check", path)


@case
def chain_delivers_every_message(b):
    b.run(b.example("chain.yaml"), "-k", "count=20k", "--out", "out")
    equal(b.result().counter("sink", "received"), 20000, "received")


@case
def fanout_is_lossless_for_one_reader_and_exact_for_the_other(b):
    cpus()
    b.run(b.example("fanout.yaml"), "-k", "count=3000", "-k", "work=300us", "--out", "out")
    result = b.result()
    equal(result.counter("fast", "received"), 3000, "received by fast")
    slow = result.edge("src.out", "slow.in")
    balanced(slow)
    equal(slow["sent"], 3000, "sent to slow")
    equal(slow["received"], result.counter("slow", "received"), "received by slow")
    true(slow["lost"] > 0, "slow lost something")
    gaps = result.counter("slow", "gaps")
    true(gaps <= slow["lost"], "gaps seen %d, lost %d" % (gaps, slow["lost"]))


@case
def fanout_blocks_or_fails_when_told(b):
    cpus()
    few = ["-k", "count=500", "-k", "work=300us"]
    b.run(b.example("fanout.yaml"), *few, "-k", "full=block", "-k", "lossy=false", "--out", "out")
    equal(b.result().counter("slow", "received"), 500, "received by slow")
    run = b.run(b.example("fanout.yaml"), *few, "-k", "full=fail", rc=1)
    contains(run.first, "slow", "first line")


@case
def bench_chain_and_one_to_one_run(b):
    cpus()
    bench = os.path.join(b.graphs, "bench")
    b.run(os.path.join(bench, "chain.yaml"), "--preset", "small")
    for more in ([], ["-k", "reader=other"], ["-k", "wait=sleep"], ["--preset", "sleep"]):
        b.run(os.path.join(bench, "one-to-one.yaml"), "--preset", "small", *more, "-k", "count=1000")


@case
def radar_over_udp_finds_every_target(b):
    cpus()
    run, _ = radar(b, *SMALL, *PACED)
    matches(run.out, "found", "the summary tells of the targets")


@case
def radar_gives_the_same_detections_everywhere(b):
    cpus()
    _, base = radar(b, "-f", b.example("radar-no-network.yaml"), *SMALL)
    true(len(base) > 0, "detections were written")
    everywhere = [(["-k", "wait=sleep"], "UDP, sleeping receiver")]
    for placement in PLACEMENTS:
        everywhere.append((["-f", b.example(placement)], placement))
    everywhere.append((["-k", "depth=64"], "depth 64"))
    for args, what in everywhere:
        # A placement is laid over the file first, so that it comes before the test's own overlay.
        _, found = radar(b, *args, *SMALL, *PACED)
        true(found == base, "detections differ with %s" % what)
    for args in (["-k", "wait=sleep"], ["-k", "depth=32"]):
        _, found = radar(b, "-f", b.example("radar-no-network.yaml"), *SMALL, *args)
        true(found == base, "detections differ without network and %s" % args)


@case
def radar_from_a_recording_gives_the_same(b):
    cpus()
    _, base = radar(b, "-f", b.example("radar-no-network.yaml"), *SMALL)
    file = ["-k", "file=" + b.path("scene.rec")]
    b.run(b.example("radar-record.yaml"), *SMALL, *file, "--out", "out")
    equal(b.result().counter("write", "records"), 20 * 64, "records")
    _, found = radar(b, *SMALL, *file, graph="radar-file.yaml")
    true(found == base, "detections differ when played from a file")


MUTANT = """\
holorun: 1
plugins: [{path: std}, {path: net}, {path: radar}, {path: inject}]
nodes:
  fault: {op: inject/order, params: {order: %s, edit: "%s"}, inputs: {in: {from: scene, depth: 64}}}
  range: {inputs: {in: {from: fault}}}
partitions: !replace
  main: {wait: sleep, nodes: [scene, fault, range, doppler, cfar, cluster, verify]}
"""


def mutant(b, order, edits=""):
    over = b.write("mutant.yaml", MUTANT % (list(order), edits))
    return radar(b, "-f", b.example("radar-no-network.yaml"), "-f", over, *SMALL, rc=None)[0]


@case
def the_verifier_passes_what_is_right(b):
    equal(mutant(b, range(20 * 64)).rc, 0, "exit code without a fault")


@case
def the_verifier_catches_a_dropped_chirp(b):
    run = mutant(b, [i for i in range(20 * 64) if i != 5 * 64 + 7])
    equal(run.rc, 1, "exit code")
    matches(run.first, r"verify.*\b5\b|\b5\b.*verify", "first line names verifier and frame")


@case
def the_verifier_catches_a_repeated_frame(b):
    # Frame 7 carries the samples of frame 6, under its own number.
    order = list(range(20 * 64))
    order[7 * 64 : 8 * 64] = range(6 * 64, 7 * 64)
    n = 7 * 64
    edits = " ".join("%d:frame=7" % (n + i) for i in range(64))
    run = mutant(b, order, edits)
    equal(run.rc, 1, "exit code")
    matches(run.first, r"verify", "first line")


@case
def the_verifier_catches_a_broken_gather(b):
    # Chirps of two halves exchanged: what a gather does that forgets head.index.
    order = list(range(20 * 64))
    edits = []
    for i in range(64):
        edits.append("%d:index=%d" % (3 * 64 + i, (i * 5) % 64 if i else 0))
    run = mutant(b, order, " ".join(edits))
    equal(run.rc, 1, "exit code")
    matches(run.first, r"verify", "first line")


if __name__ == "__main__":
    main()
