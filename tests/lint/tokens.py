#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that must not stand where they stand.

usage: tokens.py ROOT

Rules are rows: a pattern, the files it is for, those it is not for, and what to
say.  Comments and strings are blanked before code rules look at a line.
"""
import os
import re
import subprocess
import sys

CODE = ("executor/", "kernels/", "plugins/")
EVERY = ("",)
ARENA = ("executor/src/base/arena.c", "executor/holomq/src/segment.c")

# pattern, where, except, text, sees comments
RULES = [
    (r"\b(v?f?printf|v?dprintf|puts|fputs|putchar|fputc|putc|perror)\s*\(", CODE,
     ("executor/src/cli/", "executor/holomq/tool/", "executor/src/base/arena.c"),
     "libraries do not print", False),
    (r"\b(secure_)?getenv\s*\(", CODE,
     ("executor/src/cli/", "executor/holomq/tool/"),
     "only the command line reads the environment", False),
    (r"(?<![\w>.])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|"
     r"aligned_alloc|posix_memalign)\s*\(", CODE, ARENA, "memory comes from the arena", False),
    (r"\b(exit|_exit|abort)\s*\(", CODE,
     ("executor/src/cli/", "executor/src/base/arena.c", "executor/src/run/",
      "executor/src/plugin/"), "libraries do not end the process", False),
    (r"(?<!asm )(?<!__asm__ )(?<!__asm )\bvolatile\b", CODE, (),
     "volatile orders nothing; use atomic.h", False),
    (r"\b__sync_", CODE + ("tests/", "bench/"), (), "use atomic.h", False),
    (r"\b__atomic_|\bstdatomic\.h", CODE,
     ("executor/src/base/atomic.h", "executor/holomq/src/atomic.h", "executor/abi/holorun/op.h"),
     "use atomic.h", False),
    (r"\b(__ATOMIC_SEQ_CST|__atomic_thread_fence|atomic_thread_fence)\b", CODE,
     ("executor/holomq/src/atomic.h",), "no fences, no seq_cst", False),
    (r"\bu?sleep\s*\(", ("tests/",), ("tests/support/plugins/", "tests/integration/plugins/"),
     "a sleep is no order; wait for a condition", False),
    (r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", EVERY, ("tests/lint/",),
     "needs an issue number: TODO(#12)", True),
    (r"/wo" r"rk/", EVERY, ("tests/lint/",), "a path of one machine", True),
]

C_FILES = (".c", ".h", ".cu")
SPDX_FILES = C_FILES + (".py", ".sh", ".cmake", ".c.in", "CMakeLists.txt")
SPDX_NAMES = ("run", ".ci/run")
SPDX = "SPDX-License-Identifier: Apache-2.0"

BLANK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    """The same text with comments and literals made of spaces; lines stay where they are."""
    return BLANK.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def check_text(path, text):
    problems = []
    is_c = path.endswith(C_FILES)
    code = blank(text) if is_c else text
    for pattern, where, excepted, say, sees_comments in RULES:
        if not path.startswith(where) or path.startswith(excepted or ("\0",)):
            continue
        if not sees_comments and not is_c:
            continue
        for match in re.finditer(pattern, text if sees_comments else code):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: '{match.group().strip()}': {say}")
    if path.endswith(SPDX_FILES) or path in SPDX_NAMES:
        if SPDX not in "\n".join(text.split("\n")[:3]):
            problems.append(f"{path}:1: the first lines have no '{SPDX}'")
    return problems


def tracked(root):
    git = ["git", "-c", "safe.directory=*", "-C", root]
    out = subprocess.run(git + ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if out.returncode == 0:
        return [f for f in out.stdout.decode().split("\0") if f]
    found = []
    for base, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", ".git")]
        found += [os.path.relpath(os.path.join(base, n), root) for n in names]
    return found


def main():
    root = sys.argv[1]
    problems = []
    files = 0
    for path in sorted(tracked(root)):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as f:
                text = f.read()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue  # binary test data; deleted and not yet committed
        files += 1
        problems += check_text(path, text)
    for problem in problems:
        print(problem)
    print(f"{files} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
