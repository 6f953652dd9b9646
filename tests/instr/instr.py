#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions per message must not rise by more than 2 %.

    instr.py PROGRAM GOLDEN [update]

Counted by callgrind, as the difference between a run of many messages and one of
fewer, so that start and end cancel out: the same number on every run, however busy
the machine.  A figure that fell by more than 2 % is told, so that the golden file can
be brought up to date.  Exit 77 without valgrind.
"""
import json
import re
import shutil
import subprocess
import sys

FEW, MANY, MARGIN = 3200, 9600, 0.02


def instructions(program, shape, n):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           program, shape, str(n)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stdout)
    assert done.returncode == 0 and found, f"{shape}: exit {done.returncode}\n{done.stdout}"
    return int(found[1])


def per_message(program, shape):
    return round((instructions(program, shape, MANY) - instructions(program, shape, FEW))
                 / (MANY - FEW), 2)


def main():
    program, golden = sys.argv[1:3]
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return 77
    with open(golden, encoding="utf-8") as f:
        wanted = json.load(f)
    found = {shape: per_message(program, shape) for shape in wanted}
    if sys.argv[3:] == ["update"]:
        with open(golden, "w", encoding="utf-8") as f:
            f.write(json.dumps(found, indent=1, sort_keys=True) + "\n")
    bad = 0
    for shape, count in found.items():
        was = wanted[shape]
        word = "ok"
        if count > was * (1 + MARGIN):
            bad, word = bad + 1, "MORE"
        elif count < was * (1 - MARGIN):
            word = "less: update the golden file"
        print(f"{shape:8} {count:8.2f} instructions a message, {was:.2f} wanted: {word}")
    return 1 if bad and sys.argv[3:] != ["update"] else 0


if __name__ == "__main__":
    sys.exit(main())
