#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tokens.py catches what it says it catches, and leaves the rest alone."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tokens  # noqa: E402

HEAD = "/* " + tokens.SPDX + " */\n"

CAUGHT = [
    ("executor/src/plan/plan.c", 'printf("x");', "do not print"),
    ("kernels/radar/fft.c", "fprintf (stderr, x);", "do not print"),
    ("executor/src/run/loop.c", 'x = getenv("A");', "environment"),
    ("executor/src/wire/wire.c", "p = malloc(3);", "arena"),
    ("plugins/std/copy.c", "\tfree(p);", "arena"),
    ("executor/src/plan/plan.c", "exit(1);", "end the process"),
    ("executor/src/run/loop.c", "volatile int x;", "volatile"),
    ("executor/src/run/loop.c", "__atomic_load_n(&x, 0);", "atomic.h"),
    ("tests/unit/x.c", "__sync_synchronize();", "atomic.h"),
    ("tests/unit/x.c", "usleep(100);", "sleep"),
    ("docs/x.md", "TO" "DO later", "issue number"),
    ("docs/x.md", "see /wo" "rk/x", "one machine"),
]
FINE = [
    ("executor/src/plan/plan.c", 'hr_printf(a, "x"); /* printf("x") */'),
    ("executor/src/plan/plan.c", 'snprintf(b, n, "malloc(3)"); // free(p)'),
    ("executor/src/cli/show.c", "fputs(x, stdout); getenv(y);"),
    ("executor/src/base/arena.c", "p = calloc(1, 2); free(p);"),
    ("plugins/std/copy.c", "ctx->host->free(ctx, p); host.free(ctx, q);"),
    ("kernels/x.c", '__asm__ volatile("pause");'),
    ("tests/unit/x.c", "p = malloc(3); free(p); nanosleep(&t, 0);"),
    ("docs/x.md", "TODO(#12): volatile malloc(3)"),
]


def main():
    failed = 0
    for path, line, wanted in CAUGHT:
        found = tokens.check_text(path, HEAD + line + "\n")
        if len(found) != 1 or wanted not in found[0] or ":2: " not in found[0]:
            print(f"{path}: '{line}': wanted '{wanted}', found {found}")
            failed += 1
    for path, line in FINE:
        found = tokens.check_text(path, HEAD + line + "\n")
        if found:
            print(f"{path}: '{line}': wanted nothing, found {found}")
            failed += 1
    if not tokens.check_text("executor/x.c", "int x;\n"):
        print("a source without SPDX was not caught")
        failed += 1
    print(f"{len(CAUGHT) + len(FINE) + 1} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
