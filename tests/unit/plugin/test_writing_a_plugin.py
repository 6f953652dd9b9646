# SPDX-License-Identifier: Apache-2.0
"""The files in docs/writing-a-plugin.md are built and run as they stand.

Usage: test_writing_a_plugin.py SOURCE-DIR BUILD-DIR C-COMPILER [CMAKE-OPTION...]
"""

import os
import re
import subprocess
import sys
import tempfile


def files_of(text):
    """Sections "## name.ext" followed by one fenced block."""
    return dict(re.findall(r"^## (\S+\.\S+)\n+```\w+\n(.*?)^```$", text, re.M | re.S))


def run(*args, cwd, rc=0):
    done = subprocess.run(args, cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode != rc:
        sys.exit("%s\nexit %d, wanted %d\n%s%s"
                 % (" ".join(args), done.returncode, rc, done.stdout, done.stderr))
    return done.stdout + done.stderr


def want(text, part):
    if part not in text:
        sys.exit("wanted %r in:\n%s" % (part, text))


def main():
    source, build, compiler = sys.argv[1:4]
    holorun = os.path.join(build, "bin", "holorun")
    with open(os.path.join(source, "docs", "writing-a-plugin.md"), encoding="utf-8") as f:
        files = files_of(f.read())
    if sorted(files) != ["CMakeLists.txt", "graph.yaml", "xor.c"]:
        sys.exit("files in the page: %s" % sorted(files))
    with tempfile.TemporaryDirectory(prefix="holorun-plugin-") as d:
        for name, text in files.items():
            with open(os.path.join(d, name), "w", encoding="utf-8") as f:
                f.write(text)
        run("cmake", "-S", ".", "-B", "build", "-DCMAKE_C_COMPILER=" + compiler,
            "-DHOLORUN_ABI=" + os.path.join(source, "executor", "abi"), *sys.argv[4:], cwd=d)
        run("cmake", "--build", "build", cwd=d)
        if not os.path.exists(holorun):
            print("holorun is not built: the plugin was built, and not run")
            sys.exit(77)
        paths = ["--plugin-path", os.path.join(build, "plugins")]
        want(run(holorun, "ops", "describe", "demo/xor", "--plugin-path", "build", cwd=d),
             "what each byte is combined with")
        run(holorun, "graph.yaml", *paths, cwd=d)
        graph = files["graph.yaml"]
        with open(os.path.join(d, "other.yaml"), "w", encoding="utf-8") as f:
            f.write(graph.replace("key: 17", "key: 18", 1))
        run(holorun, "other.yaml", *paths, cwd=d, rc=1)
        with open(os.path.join(d, "other.yaml"), "w", encoding="utf-8") as f:
            f.write(graph.replace("key: 17", "key: 300", 1))
        want(run(holorun, "other.yaml", *paths, cwd=d, rc=2),
             "key: 300 is above the maximum 255 of demo/xor")


main()
