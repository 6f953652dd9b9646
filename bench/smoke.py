#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""See that every benchmark works: one short repetition, no figure is judged.

    smoke.py BENCH

Checks that the list, the table and the JSON hold the same rows, that each row has
a figure or says why it has none, and that wrong options are refused.  Exit 77
where there are fewer than two CPUs: most rows need them.
"""
import json
import os
import subprocess
import sys
import tempfile

REFUSED = [["--reps", "0"], ["--reps", "x"], ["--patience", "-1"], ["--only", "no.such.row"], ["--nonsense"], ["word"]]


def run(bench, *args):
    done = subprocess.run([bench, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_row(row, measured):
    reasons = [key for key in ("median_ns", "skipped") if row.get(key) not in (None, "")]
    assert len(reasons) == 1, f"a row has a figure or a reason: {row}"
    if "median_ns" in row:
        assert len(row["ns"]) == 1, f"one repetition: {row}"
    if "floor" in row and "median_ns" in row and row["ns"][0] > 0 and row["floor"] in measured:
        assert row["ratio"] > 0, f"a row with a floor has a ratio: {row}"


def check_figures(bench, folder):
    keys = [line.split()[0] for line in run(bench, "--list")[1].splitlines()]
    assert "graph.spin.2p" in keys, f"the list of rows: {keys}"
    path = os.path.join(folder, "bench.json")
    code, table, err = run(bench, "--brief", "--reps", "1", "--json", path)
    print(table)
    assert code == 0, f"exit {code}: {err}"
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    assert result["repetitions"] == 1
    assert [row["key"] for row in result["rows"]] == keys, "JSON has the rows of the list"
    measured = {row["key"] for row in result["rows"] if "median_ns" in row}
    for row in result["rows"]:
        check_row(row, measured)
        assert row["what"] in table, f"the table lacks {row['what']}"


def check_selection(bench, folder):
    path = os.path.join(folder, "some.json")
    code, _, err = run(bench, "--brief", "--reps", "1", "--only", "bare.*", "--json", path)
    assert code == 0, f"exit {code}: {err}"
    with open(path, encoding="utf-8") as f:
        keys = [row["key"] for row in json.load(f)["rows"]]
    assert keys == ["floor.call", "bare.copy.1", "bare.copy.32"], f"rows and their floor: {keys}"


def check_refusals(bench, folder):
    for args in REFUSED:
        code, out, err = run(bench, *args)
        assert code == 2 and err and not out, f"{args}: exit {code}, {err!r}"
    code, _, err = run(bench, "--brief", "--only", "floor.call", "--reps", "1", "--json",
                       os.path.join(folder, "no", "such", "folder"))
    assert code == 1 and err, f"unwritable JSON: exit {code}, {err!r}"
    code, out, _ = run(bench, "--brief", "--reps", "1", "--only", "graph.chain", "--holorun",
                       "/nonexistent")
    assert code == 0 and "skipped: /nonexistent" in out, f"no executable: exit {code}, {out}"
    code, out, _ = run(bench, "--brief", "--reps", "1", "--only", "graph.chain", "--graphs",
                       folder)
    assert code == 1 and "FAILED" in out, f"a graph that is not there: exit {code}, {out}"


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: needs two CPUs")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check_figures(sys.argv[1], folder)
        check_selection(sys.argv[1], folder)
        check_refusals(sys.argv[1], folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
