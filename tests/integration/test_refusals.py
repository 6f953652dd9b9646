# SPDX-License-Identifier: Apache-2.0
"""What a graph file or a command line can get wrong: the text, the wiring, names and values.

Each test makes one mistake in the base graph, marks the guilty token with «»,
and wants exit 2, the place, the source line with a caret, a proposal, the JSON
twin, and nothing started.  Names of tests follow the list of cases (A01 ...).
"""

import os
import re

from base import B0, edit
from holotest import (
    Skip,
    case,
    check_refusal,
    contains,
    equal,
    main,
    matches,
    place,
    refused,
    sanitized,
    tool,
    true,
)

def accepted(b, text, *args, name="b0.yaml"):
    b.write(name, text)
    return b.run("check", name, *args)


@case
def the_base_graph_runs_and_delivers_every_message(b):
    b.write("b0.yaml", B0)
    run = b.run("b0.yaml")
    equal(b.read("out.txt"), "".join("%d\n" % i for i in range(1000)), "out.txt")
    equal(run.err, "", "stderr")


# ---- the text ----------------------------------------------------------------


@case
def a01_input_for_inputs_is_one_error_that_proposes_inputs(b):
    refused(
        b,
        edit("inputs: {in: src.out}", "«input»: {in: src.out}"),
        says=["did you mean 'inputs'?"],
        errors=1,
    )


@case
def a02_a_node_key_among_the_params_is_told_where_it_belongs(b):
    refused(
        b,
        edit("    op: test/copy\n", "    op: test/copy\n    params: {«device»: cpu}\n"),
        says=["'device'", "node"],
        errors=1,
    )


@case
def a02_a_partition_key_on_a_node_is_told_where_it_belongs(b):
    run = refused(b, edit("    op: test/copy\n", "    op: test/copy\n    «cpus»: 1\n"), errors=1)
    matches(run.err, r"help: .*partition", "help")


@case
def a02_a_parameter_beside_op_is_told_to_move_under_params(b):
    refused(
        b,
        edit("    params: {count: $n, size: 1024}\n", "    «count»: $n\n"),
        says=["params", "test/seq_source"],
        errors=1,
    )


@case
def a03_an_unknown_top_level_key_is_refused(b):
    refused(b, B0 + "«retention»: 72h\n", errors=1)


@case
def a03_keys_that_start_with_x_are_free(b):
    accepted(b, B0 + "x-notes: anything\nx-more: {a: [1, 2]}\n")


@case
def a04_two_nodes_of_one_name_give_both_positions(b):
    text = B0 + "  «work»:\n    op: test/copy\n    inputs: {in: src.out}\n"
    refused(b, text, says=["11:3"], errors=1)


@case
def a05_a_key_twice_in_params_gives_both_positions(b):
    refused(
        b,
        edit("{count: $n, size: 1024}", "{count: 10, size: 64, «count»: 20}"),
        says=["10:14"],
        errors=1,
    )


@case
def a05_a_key_twice_among_knobs_and_presets(b):
    knob = "  n: {type: int, default: 1000, min: 1}\n"
    refused(b, edit(knob, knob + "  «n»: {type: int, default: 3}\n"), says=["6:3"], errors=1)
    refused(
        b,
        B0 + "presets:\n  a: {knobs: {n: 1}}\n  «a»: {knobs: {n: 2}}\n",
        says=["19:3"],
        errors=1,
    )


@case
def a05_a_key_twice_in_an_overlay_is_found_there(b):
    b.write("b0.yaml", B0)
    plain, line, col, token = place("holorun: 1\nknobs:\n  n: {default: 1, «default»: 2}\n")
    b.write("over.yaml", plain)
    run = b.run("b0.yaml", "-f", "over.yaml", rc=2)
    check_refusal(run, "over.yaml", line, col, token, ["3:7"])


@case
def a06_a_tab_in_the_indentation_is_named_and_shown(b):
    b.write("b0.yaml", edit("    inputs: {in: src.out}\n", "\t    inputs: {in: src.out}\n"))
    run = b.run("b0.yaml", rc=2)
    matches(run.first, r"^b0.yaml:13:1: error\[E106\]: ", "first line")
    contains(run.first, "tab used for indentation; YAML needs spaces", "first line")
    contains(run.err.splitlines()[1], "\\t", "the tab, rendered")
    true("\t" not in run.err, "a raw tab on stderr")


@case
def a06_a_tab_before_a_comment_is_fine(b):
    accepted(b, edit("name: chain\n", "name: chain\t# with a tab before it\n"))


@case
def a08_words_that_yaml_guesses_reach_the_op_as_they_are(b):
    for word in ("no", "NO", "yes", "on", "off", "y", "~", "null", "true", "010", "12:30", "1e3"):
        b.write(
            "p.yaml",
            "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
            "  p: {op: test/param_all, params: {file: got.txt, reals: [1], text: %s}}\n"
            "  s: {op: test/slow, inputs: {in: p}}\n" % word,
        )
        b.run("p.yaml")
        contains(b.read("got.txt"), "text=%s\n" % word, "what the op got")


@case
def a08_a_bool_wants_true_or_false(b):
    text = (
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  p: {op: test/param_all, params: {file: got.txt, reals: [1], flag: «yes»}}\n"
        "  s: {op: test/slow, inputs: {in: p}}\n"
    )
    refused(b, text, says=["true or false"], errors=1)


@case
def a09_all_spellings_of_a_float_are_the_same_number(b):
    for word in ("1e3", "1.0e3", "1E+3", "1000"):
        b.write(
            "p.yaml",
            "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
            "  p: {op: test/param_all, params: {file: got.txt, reals: [1], real: %s}}\n"
            "  s: {op: test/slow, inputs: {in: p}}\n" % word,
        )
        plan = b.run("plan", "p.yaml", "--format", "json").json()
        node = [n for n in plan["nodes"] if n["name"] == "p"][0]
        equal(float(node["params"]["real"]), 1000.0, "params.real of %s in plan" % word)
        b.run("p.yaml")
        contains(b.read("got.txt"), "real=1000\n", "what the op got for %s" % word)


@case
def a12_a_value_with_a_colon_must_be_quoted(b):
    text = edit("name: chain\n", "name: chain\nabout: window«:» hann\n")
    run = refused(b, text, says=["quoted"])
    contains(run.err, 'about: "window: hann"', "the corrected line")


@case
def a13_a_text_where_a_map_is_needed(b):
    refused(
        b,
        edit("inputs: {in: src.out}", "inputs: «src.out»"),
        says=["inputs: {in: src.out}"],
        errors=1,
    )


@case
def a13_wrong_shapes_each_have_their_sentence(b):
    seen = set()
    for text in (
        edit("plugins:\n  - path: testops\n", "plugins: «testops»\n"),
        re.sub(r"nodes:\n(.|\n)*", "nodes: «[]»\n", B0),
        "- «holorun: 1»\n",
    ):
        plain, line, col, _ = place(text)
        b.write("b0.yaml", plain)
        run = b.run("b0.yaml", rc=2)
        m = matches(run.first, r"b0.yaml:(\d+):(\d+): error\[E\d+\]: (.*)", "first line")
        equal(int(m.group(1)), line, "line of the first error")
        seen.add(m.group(3))
    for text in ("", "# nothing\n# at all\n", B0 + "---\n" + B0):
        b.write("b0.yaml", text)
        run = b.run("b0.yaml", rc=2)
        m = matches(run.first, r"b0.yaml:\d+:\d+: error\[E\d+\]: (.*)", "first line")
        seen.add(m.group(1))
    true(len(seen) >= 5, "different sentences: %s" % seen)


@case
def a14_another_language_version(b):
    refused(
        b,
        edit("holorun: 1", "holorun: «2»"),
        says=["this file needs language version 2; this holorun understands 1"],
    )


@case
def a14_a_missing_version_shows_the_line_to_add(b):
    b.write("b0.yaml", edit("holorun: 1\n", ""))
    run = b.run("b0.yaml", rc=2)
    matches(run.first, r"^b0.yaml:1:1: error\[E201\]", "first line")
    contains(run.err, "holorun: 1", "the line to add")


@case
def a14_one_in_quotes_and_one_point_zero_are_version_one(b):
    for word in ('"1"', "1.0"):
        accepted(b, edit("holorun: 1", "holorun: " + word))


# ---- wiring -------------------------------------------------------------------


@case
def a15_an_unknown_node_proposes_the_nearest(b):
    refused(
        b,
        edit("in: src.out", "in: «srk».out"),
        says=["no node is called 'srk'", "did you mean 'src'?"],
        errors=1,
        code="E214",
    )


TWO = edit(
    "    op: test/copy\n    inputs: {in: src.out}\n",
    "    op: test/copy\n    inputs: {in: filt.hit}\n"
    "  filt:\n    op: test/two_out\n    inputs: {in: src.out}\n",
)


@case
def a16_a_node_of_two_outputs_must_say_which(b):
    refused(b, edit("in: filt.hit", "in: «filt»", TWO), says=["2 outputs", "hit", "miss"])


@case
def a16_a_wrong_output_proposes_the_nearest(b):
    refused(b, edit("in: filt.hit", "in: filt.«hits»", TWO), says=["did you mean 'hit'?"])


@case
def a16_names_are_near_when_case_and_dashes_differ(b):
    refused(b, edit("in: filt.hit", "in: filt.«HIT»", TWO), says=["did you mean 'hit'?"])
    text = B0.replace("  src:", "  my_src:").replace("in: src.out", "in: «My-Src».out")
    refused(b, text, says=["did you mean 'my_src'?"])


@case
def a16_a_wrong_input_port_proposes_the_nearest(b):
    refused(b, edit("{in: src.out}", "{«inn»: src.out}"), says=["did you mean 'in'?"])


@case
def a17_a_node_that_feeds_itself(b):
    b.write("b0.yaml", edit("{in: src.out}", "{in: work.out}"))
    run = b.run("b0.yaml", rc=2)
    contains(run.err, "work feeds itself", "message")
    contains(run.err, "work.out -> work.in", "message")
    matches(run.first, r"^b0.yaml:13:\d+: error\[E215\]", "first line")


@case
def a17_a_loop_shows_its_whole_path(b):
    text = edit(
        "    op: test/copy\n    inputs: {in: src.out}\n",
        "    op: test/join2\n    inputs: {a: src.out, b: two.out}\n"
        "  one: {op: test/copy, inputs: {in: work.out}}\n"
        "  two: {op: test/copy, inputs: {in: one.out}}\n",
    )
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=2)
    for part in ("work", "one", "two", "initial: 1"):
        contains(run.err, part, "the path and its cure")
    for line in (13, 14, 15):
        matches(run.err, r"b0.yaml:%d:\d+" % line, "a position per edge")


@case
def a18_a_sink_has_no_outputs(b):
    text = B0 + "  spy:\n    op: test/slow\n    inputs: {in: sink.«out»}\n"
    refused(b, text, says=["test/seq_sink has no outputs"], errors=1)


@case
def a18_a_sink_as_an_input_within_a_loop_is_one_error(b):
    b.write("b0.yaml", edit("in: src.out", "in: sink.out"))
    run = b.run("b0.yaml", rc=2)
    contains(run.err, "test/seq_sink has no outputs", "message")
    equal(len(re.findall(r"error\[E215\]", run.err)) <= 1, True, "the loop is told once")


@case
def a19_a_required_input_missing(b):
    text = edit("    op: test/copy\n    inputs: {in: src.out}\n", "    op: test/copy\n")
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=2)
    matches(run.first, r"^b0.yaml:11:3: error\[E\d+\]: .*\bin\b", "first line")


@case
def a19_an_optional_input_missing_is_fine(b):
    accepted(b, edit("op: test/copy", "op: test/opt_in"))


@case
def a19_an_unread_output_warns_and_deny_warnings_refuses(b):
    b.write("b0.yaml", TWO)
    run = b.run("check", "b0.yaml")
    matches(run.err, r"b0.yaml:\d+:\d+: warning\[W\d+\]: .*miss", "warning")
    run = b.run("b0.yaml", "--deny", "warnings", rc=2)
    matches(run.err, r"miss", "what is denied")
    equal(b.files(), ["b0.yaml"], "files")


@case
def a20_formats_that_do_not_fit_name_both_ends(b):
    text = (
        "holorun: 1\nplugins: [{path: testops}]\nnodes:\n"
        "  src: {op: test/c32_source}\n"
        "  sink: {op: test/f64_sink, inputs: {in: src.out}}\n"
    )
    b.write("b0.yaml", text)
    for verb in ([], ["check"]):
        run = b.run(*verb, "b0.yaml", rc=2)
        matches(run.first, r"^b0.yaml:[45]:\d+: error\[E\d+\]: ", "first line")
        contains(run.err, "float64", "wanted type")
        matches(run.err, r"c32|complex", "given type")


@case
def a21_a_need_larger_than_the_depth(b):
    text = edit("op: test/copy", "op: test/need5").replace(
        "nodes:", "defaults:\n  channel:\n    depth: 4\nnodes:"
    )
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=2)
    matches(run.first, r"^b0.yaml:\d+:\d+: error\[E\d+\]: ", "first line")
    for part in ("depth", "5", "4"):
        contains(run.err, part, "message")
    matches(run.err, r"\b9:\d+\b", "where the 4 comes from")


# ---- values -------------------------------------------------------------------


@case
def a25_dollars_are_doubled_or_names(b):
    text = (
        "holorun: 1\nplugins: [{path: testops}]\nknobs: {pattern: {type: string, default: x}}\n"
        "nodes:\n  p: {op: test/param_all, params: {file: got.txt, reals: [1], text: %s}}\n"
        "  s: {op: test/slow, inputs: {in: p}}\n"
    )
    b.write("p.yaml", text % '"a$$b"')
    b.run("p.yaml")
    contains(b.read("got.txt"), "text=a$b\n", "what the op got")
    os.unlink(b.path("got.txt"))
    refused(b, text % '"x«$patern»"', says=["did you mean 'pattern'?"], errors=1)


@case
def a25_an_unset_environment_variable_is_never_empty(b):
    refused(
        b,
        edit("size: 1024", 'size: "${env:«HOLOTEST_UNSET»}"'),
        says=["HOLOTEST_UNSET"],
        errors=1,
    )
    b.write("b0.yaml", edit("size: 1024", 'size: "${env:HOLOTEST_SET}"'))
    b.run("b0.yaml", env={"HOLOTEST_SET": "64"})


@case
def a27_a_knob_that_is_not_declared(b):
    b.write("b0.yaml", B0)
    run = b.run("b0.yaml", "-k", "nn=5", rc=2)
    contains(run.err, "did you mean 'n'?", "proposal")
    matches(run.err, r"\bn\b.*int", "list of knobs")
    matches(run.err.splitlines()[-1], "nothing was started", "last line")
    equal(b.files(), ["b0.yaml"], "files")
    found = b.run("b0.yaml", "-k", "nn=5", "--format", "json", rc=2).json()
    equal(len(found["diagnostics"]), 1, "errors in the JSON twin")


@case
def a28_a_knob_out_of_range_names_the_declaration(b):
    b.write("b0.yaml", B0)
    run = b.run("b0.yaml", "-k", "n=0", rc=2)
    contains(run.err, "below the minimum 1", "message")
    matches(run.err, r"b0.yaml:6:\d+", "where it is declared")


@case
def unknown_options_and_verbs_are_refused(b):
    b.write("b0.yaml", B0)
    for args in (["b0.yaml", "--durration", "1s"], ["rum", "b0.yaml"], ["b0.yaml", "--count", "x"]):
        run = b.run(*args, rc=2)
        matches(run.err, "error", "message")
        equal(b.files(), ["b0.yaml"], "files")


@case
def all_errors_of_a_file_are_shown_in_order(b):
    text = B0.replace("in: src.out", "in: srk.out").replace("file: out.txt", "fil: out.txt")
    text = text.replace("count: $n", "count: $m")
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=2)
    lines = [int(m) for m in re.findall(r"^b0.yaml:(\d+):\d+: error", run.err, re.M)]
    equal(lines, sorted(lines), "order of the errors")
    true({10, 13, 16} <= set(lines), "errors at lines 10, 13 and 16, found %s" % lines)
    equal(run.err.splitlines()[-1], "%d errors; nothing was started" % len(lines), "last line")


@case
def an_overlay_cannot_touch_a_node_that_does_not_exist(b):
    b.write("b0.yaml", B0)
    plain, line, col, token = place("holorun: 1\nnodes:\n  «wrok»: {params: {a: 1}}\n")
    b.write("over.yaml", plain)
    run = b.run("b0.yaml", "-f", "over.yaml", rc=2)
    check_refusal(run, "over.yaml", line, col, token, ["did you mean 'work'?"])


@case
def what_this_version_lacks_is_refused_by_name(b):
    for old, new in (
        ("name: chain\n", "name: chain\n«include»: []\n"),
        ("name: chain\n", "name: chain\n«require»: []\n"),
        ("    op: test/copy\n", "    op: test/copy\n    «replicas»: 2\n"),
        ("    op: test/copy\n", "    op: test/copy\n    «workers»: 2\n"),
        ("{in: src.out}", "{in: {from: src.out, «fresh»: false}}"),
    ):
        refused(b, edit(old, new), says=["not in this version"], errors=1)


# ---- places -------------------------------------------------------------------

PLACED = B0 + "partitions:\n  a: {cpus: %s, nodes: [src, work, sink]}\n"


@case
def a44_a_cpu_outside_the_machine(b):
    run = refused(b, PLACED % "«999»", rc=3, errors=1)
    contains(run.err, "999", "message")
    matches(run.err, r"allowed", "which CPUs there are")


@case
def a45_a_cpu_listed_twice(b):
    b.write("b0.yaml", PLACED % '"0,0"')
    run = b.run("b0.yaml", rc=None)
    true(run.rc in (2, 3), "exit code %s" % run.rc)
    contains(run.err, "twice", "message")


@case
def two_spinners_on_one_cpu_are_refused(b):
    text = B0 + (
        "partitions:\n  a: {cpus: 0, wait: spin, nodes: [src]}\n"
        "  b: {cpus: 0, wait: spin, nodes: [work, sink]}\n"
    )
    b.write("b0.yaml", text)
    run = b.run("b0.yaml", rc=None)
    true(run.rc in (2, 3), "exit code %s" % run.rc)
    matches(run.err, r"spin", "message")
    equal(b.files(), ["b0.yaml"], "files")


# ---- nothing was started --------------------------------------------------------


def system_calls(b, *args):
    """Run under strace; the lines of process, file and memory calls, without the probe child."""
    strace = tool("strace")
    if sanitized(b.build):
        raise Skip("strace and the leak checker both trace")
    log = b.path("strace.log")
    run = b.run(
        *args,
        rc=None,
        prefix=[strace, "-f", "-qq", "-o", log, "-e", "trace=process,file,memfd_create,socket,bind"]
    )
    lines = b.read("strace.log").splitlines()
    os.unlink(log)
    return run, lines


@case
def a_refused_graph_starts_nothing(b):
    for old, new in (
        ("{in: src.out}", "{in: srk.out}"),
        ("inputs: {in: src.out}", "input: {in: src.out}"),
        ("size: 1024", "sizze: 1024"),
        ("size: 1024", "size: 4"),
        ("op: test/copy", "op: test/copi"),
        ("path: testops", "path: testopps"),
    ):
        b.write("b0.yaml", edit(old, new))
        run, lines = system_calls(b, "b0.yaml")
        true(run.rc in (2, 3), "exit code %s\n%s" % (run.rc, run.err))
        execs = [l for l in lines if "execve(" in l and "= 0" in l]
        equal(len(execs), 1, "programs started (holorun itself is one)")
        for call in ("memfd_create(", "socket(", "bind("):
            equal([l for l in lines if call in l], [], "calls of " + call)
        made = [l for l in lines if "O_CREAT" in l or "O_TRUNC" in l or "mkdir(" in l]
        made = [l for l in made if "/dev/null" not in l]
        equal(made, [], "files created")
        contains(run.err, "nothing was started", "last line")


@case
def check_and_plan_start_nothing(b):
    b.write("b0.yaml", B0)
    for verb in ("check", "plan"):
        run, lines = system_calls(b, verb, "b0.yaml")
        equal(run.rc, 0, "exit code")
        execs = [l for l in lines if "execve(" in l and "= 0" in l]
        equal(len(execs), 1, "programs started")
        for call in ("memfd_create(", "socket(", "bind(", "O_CREAT"):
            equal([l for l in lines if call in l], [], "calls of " + call)
    equal(b.files(), ["b0.yaml"], "files")


if __name__ == "__main__":
    main()
