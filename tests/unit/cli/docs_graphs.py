#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every graph shown in README and docs really runs.

usage: docs_graphs.py HOLORUN ROOT

A block fenced as yaml that starts with `holorun: 1` is a graph.  Pages whose
graphs need more than themselves have a test of their own.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```yaml\n(holorun: 1\n.*?)^```$", re.M | re.S)

ELSEWHERE = {"graph-format.md", "writing-a-plugin.md"}


def main():
    holorun, root = sys.argv[1:3]
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: the graphs ask for 2 CPUs")
        return 77
    count = failed = 0
    pages = [os.path.join(root, "README.md")] + sorted(glob.glob(root + "/docs/**/*.md", recursive=True))
    for page in pages:
        if os.path.basename(page) in ELSEWHERE:
            continue
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for match in BLOCK.finditer(text):
            count += 1
            line = text.count("\n", 0, match.start()) + 1
            with tempfile.TemporaryDirectory() as folder:
                graph = os.path.join(folder, "graph.yaml")
                with open(graph, "w", encoding="utf-8") as f:
                    f.write(match.group(1))
                run = subprocess.run([holorun, graph], cwd=folder, capture_output=True, text=True, check=False)
            if run.returncode:
                failed += 1
                print(f"{page}:{line}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    print(f"{count} graphs, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
