#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every #include of every layer against the table executor/src/LAYERS.

usage: layers.py ROOT

A layer may include itself, libc and what its row names.  Anything else is
printed with file and line, and the exit status is 1.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Headers of libraries, by how they are written.
LIBRARIES = [
    ("cjson", re.compile(r"cjson/")),
    ("libyaml", re.compile(r"yaml\.h$")),
    ("hwloc", re.compile(r"hwloc(\.h$|/)")),
    ("fftw", re.compile(r"fftw3\.h$")),
    ("abi", re.compile(r"holorun/op\.h$")),
    ("embed", re.compile(r"holorun/holorun\.h$")),
    ("holomq", re.compile(r"holomq/holomq\.h$")),
    ("kernels", re.compile(r"hk/")),
]

# The operator ABI promises to need these two only.
ABI_MAY = {"stddef.h", "stdint.h"}

LIBC = set("""
alloca assert complex ctype dirent dlfcn elf errno fcntl features fenv float fnmatch ftw getopt glob
inttypes libgen limits link locale malloc math netdb poll pthread pwd regex sched semaphore setjmp
signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings
sysexits tgmath threads time ucontext unistd utime wait wchar wctype immintrin x86intrin cpuid
""".split())
LIBC_FOLDERS = ("sys/", "linux/", "arpa/", "netinet/", "net/", "bits/", "asm/")


def read_table(path):
    table = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            if ":" not in line:
                sys.exit(f"{path}:{number}: wanted 'folder: layers'")
            name, rest = line.split(":", 1)
            table[name.strip()] = {w for w in rest.split() if w != "-"}
    return table


def folder_of(root, layer):
    for path in (f"executor/src/{layer}", f"executor/{layer}", layer):
        if os.path.isdir(os.path.join(root, path)):
            return os.path.join(root, path)
    return None


def sources(folder):
    for base, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cu", ".c.in")):
                yield os.path.join(base, name)


def is_libc(name):
    return name[:-2] in LIBC or name.startswith(LIBC_FOLDERS)


def owner(table, path, name):
    """The layer or library a header belongs to; None: unknown; "": libc or the same folder."""
    for library, pattern in LIBRARIES:
        if pattern.match(name):
            return library
    first = name.split("/")[0]
    if "/" in name and first in table:
        return first
    # Its own folder, or the sources beside it: a layer's program is part of the layer.
    for near in (".", "../src"):
        if "/" not in name and os.path.exists(os.path.join(os.path.dirname(path), near, name)):
            return ""
    return "" if is_libc(name) else None


def check_file(table, layer, path, shown):
    problems = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(2)
            place = f"{shown}:{number}"
            if layer == "abi" and name not in ABI_MAY:
                problems.append(f"{place}: abi may include stddef.h and stdint.h only, not {name}")
                continue
            if ".." in name.split("/"):
                problems.append(f"{place}: '{name}': includes start at a layer, not at '..'")
                continue
            what = owner(table, path, name)
            if what is None:
                problems.append(f"{place}: '{name}' is of no layer or library of the table")
            elif what and what != layer and what not in table[layer]:
                problems.append(f"{place}: {layer} may not include {what} ('{name}')")
    return problems


def check(root):
    table_path = os.path.join(root, "executor/src/LAYERS")
    table = read_table(table_path)
    problems = []
    files = 0
    for layer in table:
        folder = folder_of(root, layer)
        if not folder:
            problems.append(f"{table_path}: there is no folder for '{layer}'")
            continue
        for path in sources(folder):
            files += 1
            problems += check_file(table, layer, path, os.path.relpath(path, root))
    for name in sorted(os.listdir(os.path.join(root, "executor/src"))):
        if os.path.isdir(os.path.join(root, "executor/src", name)) and name not in table:
            problems.append(f"executor/src/{name}: this folder is not in LAYERS")
    return files, problems


def main():
    files, problems = check(sys.argv[1])
    for problem in problems:
        print(problem)
    print(f"{files} files, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
