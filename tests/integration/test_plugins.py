# SPDX-License-Identifier: Apache-2.0
"""Plugins that cannot be loaded, are there twice, crash, or want a device that is not here."""

import os

from base import B0, edit
from holotest import case, contains, equal, main, matches, refused, true


@case
def a36_a_missing_library_is_named_with_plugin_and_node(b):
    text = edit("op: test/copy", "op: test/missing_dep").replace(
        "  - path: testops\n", "  - path: testops\n  - path: missing_dep\n"
    )
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=3)
    matches(run.first, r"^b0.yaml:\d+:\d+: error\[E3\d\d\]: ", "first line")
    for part in ("libmissing_dep.so", "libholodep_gone.so", "work", "ldd "):
        contains(run.err, part, "message")
    contains(run.err, os.path.join(b.test_plugins, "libmissing_dep.so"), "the ldd line")
    equal(b.files(), ["b0.yaml"], "files")


@case
def a37_an_undefined_symbol_is_found_at_load(b):
    text = edit("op: test/copy", "op: test/undefined").replace(
        "  - path: testops\n", "  - path: testops\n  - path: undefined\n"
    )
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=3)
    contains(run.err, "holo_no_such_function", "the symbol")
    listing = b.run("ops", "list", rc=None)
    contains(listing.out, "test/copy", "ops of the other plugins")
    contains(listing.out, "holo_no_such_function", "why it is not loadable")


@case
def a38_another_abi_is_refused_with_both_versions(b):
    for name, mine, theirs in (("bad_major", "1", "2"), ("bad_draft", "1", "2")):
        text = edit("op: test/copy", "op: test/bad").replace(
            "  - path: testops\n", "  - path: testops\n  - path: %s\n" % name
        )
        b.write("b0.yaml", text)
        run = b.run("b0.yaml", rc=3)
        contains(run.err, "lib%s.so" % name, "plugin")
        matches(run.err, r"\b%s\b.*\b%s\b|\b%s\b.*\b%s\b" % (mine, theirs, theirs, mine), "versions")


@case
def a39_one_op_in_two_plugins_lists_both_and_can_be_picked(b):
    base = B0.replace("  - path: testops\n", "  - path: testops\n  - path: twin_a\n  - path: twin_b\n")
    b.write("b0.yaml", base.replace("op: test/copy", "op: test/copy2"))
    run = b.run("b0.yaml", rc=2)
    contains(run.err, "libtwin_a.so", "first path")
    contains(run.err, "libtwin_b.so", "second path")
    b.write("b0.yaml", base.replace("op: test/copy", "op: test/copy2@twin_b"))
    b.run("b0.yaml")


@case
def a39_one_file_given_twice_or_by_a_link_is_one_plugin(b):
    os.symlink(os.path.join(b.test_plugins, "libtestops.so"), b.path("libtestops.so"))
    for more in ("  - path: testops\n", "  - path: ./libtestops.so\n"):
        b.write("b0.yaml", B0.replace("  - path: testops\n", "  - path: testops\n" + more))
        b.run("b0.yaml")


@case
def a_plugin_that_is_not_there_is_told_where_it_was_sought(b):
    b.write("b0.yaml", B0.replace("path: testops", "path: testopz"))
    run = b.run("b0.yaml", rc=None)
    true(run.rc in (2, 3), "exit code %s" % run.rc)
    contains(run.err, b.test_plugins, "search path")


@case
def an_op_that_is_not_there_proposes_the_nearest(b):
    refused(b, edit("op: test/copy", "op: «test/copi»"), says=["did you mean 'test/copy'?"])


@case
def a_plugin_that_crashes_in_its_constructor_is_caught(b):
    b.write("b0.yaml", B0.replace("  - path: testops\n", "  - path: testops\n  - path: ctor_crash\n"))
    run = b.run("b0.yaml", rc=3)
    contains(run.err, "ctor_crash", "plugin")
    matches(run.err, r"SIGSEGV", "signal")


@case
def a_shape_that_crashes_names_plugin_op_and_callback(b):
    b.write(
        "b0.yaml",
        edit("    op: test/copy\n", "    op: test/crash\n    params: {where: shape}\n"),
    )
    run = b.run("b0.yaml", rc=3)
    for part in ("testops", "test/crash", "shape", "SIGSEGV"):
        contains(run.err, part, "message")


@case
def a40_a_failing_open_in_process_two_of_three_stops_everything(b):
    b.write(
        "b0.yaml",
        B0.replace(
            "    op: test/copy\n",
            "    op: test/fail_open\n    params: {text: the valve is shut}\n",
        )
        + "partitions:\n  a: {process: one, nodes: [src]}\n  b: {process: two, nodes: [work]}\n"
        "  c: {process: three, nodes: [sink]}\n",
    )
    run = b.run("b0.yaml", "--out", "out", rc=1)
    contains(run.first, "the valve is shut", "first line")
    contains(run.first, "work", "first line")
    matches(run.err, r"b0.yaml:\d+:\d+", "position of the node")
    result = b.result()
    for node in ("src", "work", "sink"):
        equal(result.node(node)["calls"], 0, "calls of process() of " + node)
    true("0\n" not in b.read("out.txt"), "a message arrived")


CUDA = B0.replace("  - path: testops\n", "  - path: testops\n  - {path: cuda_fake, optional: true}\n")


@case
def a41_cpu_is_asked_for_and_cuda_is_not_needed(b):
    b.write("b0.yaml", CUDA.replace("    op: test/copy\n", "    op: test/copy\n    device: cpu\n"))
    b.run("b0.yaml")
    b.write(
        "b1.yaml",
        B0.replace("  - path: testops\n", "  - path: testops\n  - {path: nowhere, optional: true}\n"),
    )
    b.run("b1.yaml")


@case
def a41_cuda_asked_for_and_missing_names_the_driver(b):
    text = CUDA.replace("    op: test/copy\n", "    op: test/copy\n    device: «cuda»\n")
    run = refused(b, text, rc=3)
    contains(run.err, "libcuda.so.1", "missing library")


@case
def a41_auto_falls_back_and_says_so(b):
    b.write("b0.yaml", CUDA.replace("    op: test/copy\n", "    op: test/copy\n    device: auto\n"))
    run = b.run("b0.yaml", "--out", "out")
    matches(run.err, r"warning\[W\d+\]: .*", "warning")
    contains(b.result().device("work"), "fallback", "device in result.json")
    run = b.run("b0.yaml", "--deny", "fallback", rc=3)
    matches(run.err, "fallback|CPU", "what is denied")


if __name__ == "__main__":
    main()
