#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verify a Promela model with spin, then show that each of its mutants is caught.

usage: verify.py MODEL.pml

The model names its mutants in a line `/* mutants: A B */`; each is a macro that takes one
step away.  The model itself must have no error and explore every state; each mutant must
have one: an assertion that fails, or an acceptance cycle.  Safety and liveness in one go,
under weak fairness.  Exits with 77 where spin is missing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=100).stdout.decode(errors="replace")


def verify(model, macro):
    """(what was found or "", states, whether every state was seen)"""
    with tempfile.TemporaryDirectory() as folder:
        flags = [f"-D{macro}"] if macro else []
        out = run(["spin"] + flags + ["-a", model], folder)
        if not os.path.exists(os.path.join(folder, "pan.c")):
            sys.exit(f"{model}: spin refuses it:\n{out}")
        out = run(["cc", "-O1", "-w", "-DNFAIR=4", "-o", "pan", "pan.c"], folder)
        if not os.path.exists(os.path.join(folder, "pan")):
            sys.exit(f"{model}: its verifier does not build:\n{out}")
        out = run(["./pan", "-a", "-f", "-n", "-m200000"], folder)
    found = re.search(r"pan:\d+: (.*?)(?: \(at depth \d+\))?$", out, re.M)
    errors = re.search(r"errors: (\d+)", out)
    states = re.search(r"([\d.e+]+) states, stored", out)
    if not errors or not states:
        sys.exit(f"{model} {macro}: no verdict:\n{out}")
    whole = "Search not completed" not in out and "max search depth too small" not in out
    return (found[1] if found else "error") if errors[1] != "0" else "", states[1], whole


def main():
    if not shutil.which("spin") or not shutil.which("cc"):
        print("spin or cc is missing")
        return 77
    model = os.path.abspath(sys.argv[1])
    with open(model, encoding="utf-8") as f:
        mutants = re.search(r"/\* mutants: (.*?) \*/", f.read())[1].split()
    bad = 0
    for macro in [""] + mutants:
        found, states, whole = verify(model, macro)
        good = bool(found) if macro else not found and whole
        bad += not good
        print(f"{'' if good else 'BAD':4} {macro or 'the model itself':24} {states:>8} states: "
              f"{found or 'no error'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
