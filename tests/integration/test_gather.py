# SPDX-License-Identifier: Apache-2.0
"""The gather under loss, repetition, exchange and delay: every piece and frame in one counter.

A small model of the rules in the documentation says what must come out; it is
run beside holorun on hand-written and on pseudo-random scripts of pieces.
"""

import random
from collections import OrderedDict

import base  # noqa: F401  (finds holotest)
from holotest import balanced, case, equal, main, true

PIECES = ("received", "placed", "duplicate", "late", "shed", "invalid")
FRAMES = ("opened", "complete", "partial", "dropped", "shed_frames", "published")
GAP = 1


class Model:
    """The rules, without time: what a gather makes of (frame, index, stream) in this order."""

    def __init__(self, count, window=2, missing="drop", min_valid=0, any_order=False, by_stream=False):
        self.count, self.window, self.missing = count, window, missing
        self.min_valid, self.any_order, self.by_stream = min_valid, any_order, by_stream
        self.n = dict.fromkeys(PIECES + FRAMES, 0)
        self.open = OrderedDict()  # key -> [set of indices, done, gap]
        self.closed = set()
        self.newest = None
        self.out = []  # (frame, stream, indices, gap)

    def close(self, key):
        frame = self.open[key]
        if self.missing == "drop" or len(frame[0]) < self.min_valid:
            self.n["dropped"] += 1
            self.forget(key)
        else:
            frame[1] = frame[2] = True

    def forget(self, key):
        del self.open[key]
        self.closed.add(key)

    def publish(self):
        for key in list(self.open):
            have, done, gap = self.open[key]
            if not done:
                if self.any_order:
                    continue
                return
            self.out.append((key[0], key[1], sorted(have), gap))
            self.n["published"] += 1
            self.n["partial" if gap else "complete"] += 1
            self.forget(key)

    def piece(self, frame, index, stream=0):
        key = (frame, stream if self.by_stream else 0)
        self.n["received"] += 1
        far = self.newest is not None and abs(frame - self.newest) > 1024
        if index >= self.count or far:
            self.n["invalid"] += 1
            return
        if key in self.closed:
            self.n["late"] += 1
            return
        if key not in self.open:
            if len(self.open) == self.window:
                self.close(next(k for k, f in self.open.items() if not f[1]))
                self.publish()
            self.open[key] = [set(), False, False]
            self.n["opened"] += 1
        self.newest = frame if self.newest is None else max(self.newest, frame)
        entry = self.open[key]
        if index in entry[0]:
            self.n["duplicate"] += 1
        else:
            entry[0].add(index)
            self.n["placed"] += 1
            entry[1] = len(entry[0]) == self.count
            self.publish()

    def end(self):
        for key in list(self.open):
            if not self.open[key][1]:
                self.close(key)
        self.publish()
        return self


def graph(script, size, gather, file="out.txt", extra=""):
    return (
        "holorun: 1\nplugins: [{path: testops}, {path: inject}]\nnodes:\n"
        '  src: {op: test/pieces, params: {size: %dB, script: "%s"}}\n'
        "  sink:\n    op: inject/dump\n    params: {file: %s, piece: %dB, bitmap: true}\n"
        "    inputs: {in: {from: src.out, depth: 64, gather: {%s}}}\n%s"
        % (size, script, file, size, gather, extra)
    )


def rows(b, name="out.txt"):
    """(frame, stream, flags, bytes, bitmap, pieces) of each message the dump got."""
    got = []
    for line in b.read(name).splitlines():
        word = line.split()
        got.append(
            (int(word[1]), int(word[3]), int(word[4]), int(word[5]), int(word[6], 16), [int(w) for w in word[7:]])
        )
    return got


def counters(b, reader="sink.in"):
    edges = [e for e in b.result().data["edges"] if e["name"].endswith("-> " + reader)]
    equal(len(edges), 1, "edges into " + reader)
    balanced(edges[0])
    return edges[0]["gather"]


def identities(n):
    equal(
        n["placed"] + n["duplicate"] + n["late"] + n["shed"] + n["invalid"],
        n["received"],
        "placed + duplicate + late + shed + invalid",
    )
    equal(
        n["complete"] + n["partial"] + n["dropped"] + n["shed_frames"],
        n["opened"],
        "complete + partial + dropped + shed_frames",
    )
    equal(n["complete"] + n["partial"], n["published"], "complete + partial")


def compare(b, pieces, gather, size=16, placement="", **rules):
    """Run the pieces through holorun and through the model."""
    model = Model(**rules)
    for p in pieces:
        model.piece(*p)
    model.end()
    script = " ".join("/".join(str(x) for x in p) for p in pieces)
    b.write("g.yaml", graph(script, size, gather, extra=placement))
    b.run("g.yaml", "--out", "out")
    n = counters(b)
    identities(n)
    equal({k: n[k] for k in model.n}, model.n, "counters for %s with {%s}" % (script[:200], gather))
    found = rows(b)
    wanted = []
    for frame, stream, have, gap in model.out:
        data = [frame << 32 | i if i in have else 0 for i in range(rules["count"])]
        bitmap = sum(1 << i for i in have)
        wanted.append((frame, stream, GAP if gap else 0, size * rules["count"], bitmap, data))
    if rules.get("missing") == "nan":  # what stands in missing places is looked at elsewhere
        found = [f[:5] for f in found]
        wanted = [w[:5] for w in wanted]
    equal(found, wanted, "frames for %s with {%s}" % (script[:200], gather))
    return n


def frames(n, count):
    return [(f, i) for f in range(n) for i in range(count)]


@case
def whole_frames_in_order(b):
    compare(b, frames(10, 4), "count: 4", count=4)


@case
def pieces_out_of_order_are_put_in_their_place(b):
    pieces = [(f, i) for f in range(5) for i in (3, 1, 0, 2)]
    n = compare(b, pieces, "count: 4", count=4)
    equal(n["complete"], 5, "complete")


@case
def frames_that_overlap_within_the_window(b):
    compare(b, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (3, 1), (2, 1)], "count: 2", count=2)


@case
def a_lost_piece_drops_the_frame(b):
    pieces = [p for p in frames(6, 4) if p not in ((2, 1), (5, 3))]
    n = compare(b, pieces, "count: 4", count=4)
    equal((n["complete"], n["dropped"]), (4, 2), "complete, dropped")


@case
def a_repeated_piece_is_counted_and_the_first_wins(b):
    pieces = frames(4, 4)
    pieces.insert(6, (1, 0))
    pieces.insert(3, (0, 1))
    n = compare(b, pieces, "count: 4", count=4)
    equal((n["duplicate"], n["complete"]), (2, 4), "duplicate, complete")


@case
def a_piece_of_a_closed_frame_is_late(b):
    pieces = frames(4, 2) + [(0, 0), (3, 1)]
    n = compare(b, pieces, "count: 2", count=2)
    equal(n["late"], 2, "late")


@case
def an_index_out_of_range_is_invalid(b):
    n = compare(b, [(0, 0), (0, 4), (0, 1), (0, 99), (1, 0), (1, 1)], "count: 2", count=2)
    equal((n["invalid"], n["complete"]), (2, 2), "invalid, complete")


@case
def a_key_far_from_the_newest_is_not_believed(b):
    n = compare(b, frames(2, 2) + [(5000, 0)] + [(2, 0), (2, 1)], "count: 2", count=2)
    equal((n["invalid"], n["complete"]), (1, 3), "invalid, complete")


@case
def a_new_key_closes_the_oldest_when_the_window_is_full(b):
    pieces = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    compare(b, pieces, "count: 2, window: 1", count=2, window=1)
    compare(b, pieces, "count: 2, window: 2", count=2, window=2)
    n = compare(b, pieces, "count: 2, window: 3", count=2, window=3)
    equal(n["complete"], 3, "complete with a window of 3")


@case
def a_complete_frame_waits_for_an_earlier_one_unless_order_is_any(b):
    pieces = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1)]
    compare(b, pieces, "count: 2", count=2)
    equal([r[0] for r in rows(b)], [0, 1, 2], "order of first sight")
    compare(b, pieces, "count: 2, order: any", count=2, any_order=True)
    equal([r[0] for r in rows(b)], [1, 0, 2], "order of completion")


@case
def missing_zero_publishes_what_is_there_and_says_so(b):
    pieces = [p for p in frames(5, 4) if p not in ((1, 2), (3, 0), (3, 3))]
    n = compare(b, pieces, "count: 4, missing: zero", count=4, missing="zero")
    equal((n["complete"], n["partial"], n["dropped"]), (3, 2, 0), "complete, partial, dropped")


@case
def min_valid_drops_what_has_too_little(b):
    pieces = [p for p in frames(5, 4) if p not in ((1, 2), (3, 0), (3, 3), (3, 1))]
    n = compare(
        b, pieces, "count: 4, missing: zero, min_valid: 3", count=4, missing="zero", min_valid=3
    )
    equal((n["partial"], n["dropped"]), (1, 1), "partial, dropped")


@case
def by_frame_and_stream_keeps_streams_apart(b):
    pieces = [(f, i, s) for f in range(4) for i in range(2) for s in (3, 7)]
    n = compare(
        b, pieces, "count: 2, by: [frame, stream], window: 4", count=2, window=4, by_stream=True
    )
    equal(n["complete"], 8, "complete")


@case
def missing_nan_fills_floats(b):
    b.write(
        "n.yaml",
        "holorun: 1\nplugins: [{path: testops}, {path: inject}]\nnodes:\n"
        "  src: {op: test/c32_source, params: {count: 8, n: 4}}\n"
        # every message is a frame of its own: index 0 of two
        "  sink:\n    op: inject/dump\n    params: {file: out.txt, piece: 8B, bitmap: true}\n"
        "    inputs: {in: {from: src.out, depth: 64, gather: {count: 2, missing: nan}}}\n",
    )
    b.run("n.yaml", "--out", "out")
    n = counters(b)
    identities(n)
    equal((n["partial"], n["complete"]), (8, 0), "partial, complete")
    for k, row in enumerate(rows(b)):
        equal(row[:5], (k, 0, GAP, 64, 1), "head of frame %d" % k)
        for word in row[5][4:]:
            for half in (word & 0xFFFFFFFF, word >> 32):
                true(half & 0x7F800000 == 0x7F800000 and half & 0x7FFFFF, "no NaN: %x" % half)


@case
def the_place_of_the_reader_makes_no_difference(b):
    pieces = [p for p in frames(20, 4) if p not in ((2, 1), (7, 3))]
    for placement in (
        "",
        "partitions: {a: {wait: sleep, nodes: [src]}, b: {wait: sleep, nodes: [sink]}}\n",
        "partitions: {a: {process: x, wait: sleep, nodes: [src]},"
        " b: {process: y, wait: sleep, nodes: [sink]}}\n",
    ):
        compare(b, pieces, "count: 4, missing: zero", placement=placement, count=4, missing="zero")


@case
def pseudo_random_loss_repetition_and_exchange(b):
    seed = 20240229
    print("     seed %d" % seed)
    rng = random.Random(seed)
    for _ in range(12):
        count = rng.choice((1, 2, 3, 5, 8))
        window = rng.randint(1, 4)
        missing = rng.choice(("drop", "zero"))
        any_order = rng.random() < 0.4
        min_valid = rng.choice((0, 0, count // 2)) if missing == "zero" else 0
        pieces = []
        for p in frames(rng.randint(3, 12), count):
            roll = rng.random()
            if roll < 0.1:
                continue
            pieces.append(p)
            if roll > 0.9:
                pieces.append(p)
        for _ in range(len(pieces) // 4):
            i = rng.randrange(len(pieces))
            j = min(len(pieces) - 1, i + rng.randint(1, 2 * count))
            pieces[i], pieces[j] = pieces[j], pieces[i]
        if not pieces:
            continue
        gather = "count: %d, window: %d, missing: %s, order: %s" % (
            count,
            window,
            missing,
            "any" if any_order else "keep",
        )
        gather = gather.replace(", order: keep", "")
        if min_valid:
            gather += ", min_valid: %d" % min_valid
        compare(
            b,
            pieces,
            gather,
            count=count,
            window=window,
            missing=missing,
            any_order=any_order,
            min_valid=min_valid,
        )


@case
def a_timeout_closes_a_frame_that_never_fills(b):
    # Frame 1 lacks its last piece; the source pauses before frame 2; without the timeout frame 1
    # would wait for the window.
    order = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]
    text = (
        "holorun: 1\nplugins: [{path: std}, {path: inject}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 12, frame_every: 4, size: 16B}}\n"
        "  net: {op: inject/order, params: {order: %s, pause_at: 7, pause: 600ms}, inputs: {in: src}}\n"
        "  sink:\n    op: inject/dump\n    params: {file: out.txt, piece: 16B, bitmap: true}\n"
        "    inputs: {in: {from: net, depth: 64,"
        " gather: {count: 4, window: 3, missing: zero, timeout: 50ms}}}\n"
        "partitions: {a: {wait: sleep, nodes: [src, net]}, b: {wait: sleep, nodes: [sink]}}\n" % order
    )
    b.write("t.yaml", text)
    b.run("t.yaml", "--out", "out")
    n = counters(b)
    identities(n)
    equal((n["complete"], n["partial"]), (2, 1), "complete, partial")
    equal([r[0] for r in rows(b)], [0, 1, 2], "order")
    equal(rows(b)[1][4], 0b0111, "bitmap of the partial frame")


@case
def a_piece_after_the_timeout_is_late(b):
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    text = (
        "holorun: 1\nplugins: [{path: std}, {path: inject}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 8, frame_every: 4, size: 16B}}\n"
        "  net: {op: inject/order, params: {order: %s, pause_at: 6, pause: 600ms}, inputs: {in: src}}\n"
        "  sink:\n    op: inject/dump\n    params: {file: out.txt, piece: 16B, bitmap: true}\n"
        "    inputs: {in: {from: net, depth: 64, gather: {count: 4, timeout: 50ms}}}\n"
        "partitions: {a: {wait: sleep, nodes: [src, net]}, b: {wait: sleep, nodes: [sink]}}\n" % order
    )
    b.write("t.yaml", text)
    b.run("t.yaml", "--out", "out")
    n = counters(b)
    identities(n)
    equal((n["complete"], n["dropped"], n["late"]), (1, 1, 2), "complete, dropped, late")


@case
def drop_newest_sheds_whole_frames(b):
    text = (
        "holorun: 1\nplugins: [{path: std}, {path: testops}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 400, frame_every: 4, size: 16B}}\n"
        "  sink:\n    op: test/slow\n    params: {work: 2ms}\n"
        "    inputs: {in: {from: src, depth: 2, when_full: drop_newest, gather: {count: 4}}}\n"
        "partitions: {a: {wait: sleep, nodes: [src]}, b: {wait: sleep, nodes: [sink]}}\n"
    )
    b.write("s.yaml", text)
    b.run("s.yaml", "--out", "out")
    n = counters(b)
    identities(n)
    equal(b.result().counter("sink", "received"), n["published"], "published frames all arrive")
    equal(n["partial"], 0, "partial frames")


@case
def block_takes_no_piece_and_loses_nothing(b):
    text = (
        "holorun: 1\nplugins: [{path: std}, {path: testops}]\nnodes:\n"
        "  src: {op: std/sequence, params: {count: 400, frame_every: 4, size: 16B}}\n"
        "  sink:\n    op: test/slow\n    params: {work: 300us}\n"
        "    inputs: {in: {from: src, depth: 2, gather: {count: 4}}}\n"
    )
    b.write("s.yaml", text)
    b.run("s.yaml", "--out", "out")
    n = counters(b)
    identities(n)
    equal((n["received"], n["complete"]), (400, 100), "received, complete")


if __name__ == "__main__":
    main()
