#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers test must fail when a wrong #include is planted.

usage: selftest.py ROOT

Works in a temporary copy of the sources; the copy as it is must pass.
"""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layers  # noqa: E402

PLANTS = [
    ("executor/src/base/text.c", '#include "cli/cli.h"', "base may not include cli"),
    ("executor/src/plan/plan.h", "#include <yaml.h>", "plan may not include libyaml"),
    ("executor/src/model/graph.h", '#include "run/run.h"', "model may not include run"),
    ("executor/src/cli/main.c", "#include <holomq/holomq.h>", "cli may not include holomq"),
    ("executor/src/run/run.h", "#include <hk/net.h>", "run may not include kernels"),
    ("executor/abi/holorun/op.h", "#include <stdio.h>", "abi may include"),
    ("executor/holomq/include/holomq/holomq.h", "#include <cjson/cJSON.h>", "holomq may not include cjson"),
    ("kernels/include/hk/net.h", "#include <holorun/op.h>", "kernels may not include abi"),
    ("plugins/std/std.h", '#include "base/text.h"', "plugins may not include base"),
    ("executor/src/stat/hist.h", "#include <zmq.h>", "of no layer or library"),
    ("executor/src/stat/hist.h", '#include "../base/text.h"', "includes start at a layer"),
]


def copy(root, to):
    for folder in ("executor", "kernels", "plugins"):
        shutil.copytree(os.path.join(root, folder), os.path.join(to, folder))


def plant(to, path, line):
    path = os.path.join(to, path)
    with open(path, encoding="utf-8") as f:
        old = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(line + "\n" + old)
    return lambda: open(path, "w", encoding="utf-8").write(old)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as to:
        copy(sys.argv[1], to)
        before = set(layers.check(to)[1])
        for path, line, wanted in PLANTS:
            undo = plant(to, path, line)
            # Line numbers below the plant move by one: compare what was planted only.
            found = [p for p in layers.check(to)[1] if p.startswith(f"{path}:1: ")]
            if not any(wanted in p for p in found):
                print(f"{path}: '{line}' was not caught; wanted '{wanted}', found {found}")
                failed += 1
            undo()
        if set(layers.check(to)[1]) != before:
            print("planting left something behind")
            failed += 1
        os.mkdir(os.path.join(to, "executor/src/stray"))
        if not any("stray" in p for p in layers.check(to)[1]):
            print("a folder that is not in the table was not caught")
            failed += 1
    print(f"{len(PLANTS) + 2} plants, {failed} not caught")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
