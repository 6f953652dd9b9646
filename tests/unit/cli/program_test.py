#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as a user meets it: exit codes, and what goes through which door.

usage: program_test.py HOLORUN ROOT
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HOLORUN, ROOT = sys.argv[1], sys.argv[2]

GRAPH = """\
holorun: 1
name: chain
plugins:
  - path: std
knobs:
  n: {type: int, default: 1000, min: 1}
nodes:
  src:
    op: std/sequence
    params: {count: $n, size: 1KiB}
  work:
    op: std/copy
    inputs: {in: src.out}
  sink:
    op: std/check
    params: {count: $n}
    inputs: {in: work.out}
"""
UNREAD = "holorun: 1\nplugins: [{path: std}]\nnodes:\n  src: {op: std/sequence, params: {count: 10}}\n"


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.graph = self.write("g.yaml", GRAPH)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def call(self, *words, code=0, **more):
        run = subprocess.run([HOLORUN, *words], cwd=self.folder.name, capture_output=True,
                             text=True, check=False, **more)
        self.assertEqual(run.returncode, code, f"{words}\n{run.stdout}\n{run.stderr}")
        return run

    def refused(self, *words, code=2):
        run = self.call(*words, code=code)
        self.assertEqual(run.stdout, "")
        self.assertRegex(run.stderr, r"\d+ errors?; nothing was started\n\Z")
        return run.stderr

    def test_run_prints_the_summary_and_nothing_else(self):
        run = self.call(self.graph)
        lines = run.stdout.splitlines()
        self.assertRegex(lines[0], r"^chain: ended after .*, 1000 delivered, 0 lost, exit 0$")
        self.assertLessEqual(len(lines), 25)
        self.assertEqual(run.stderr, "")

    def test_run_as_json_is_json(self):
        run = self.call("run", self.graph, "--format", "json", "--name", "night")
        result = json.loads(run.stdout)
        self.assertEqual(result["exit"]["code"], 0)
        self.assertEqual(result["name"], "night")
        self.assertEqual(result["command"][1:3], ["run", self.graph])
        self.assertTrue(result["plugins"][0]["path"].endswith("/libstd.so"))
        self.assertEqual([e["received"] for e in result["edges"]], [1000, 1000])
        self.assertEqual(run.stderr, "")

    def test_run_as_csv_has_a_row_per_edge_and_node(self):
        rows = self.call(self.graph, "--format=csv").stdout.splitlines()
        self.assertEqual(len(rows), 1 + 2 + 3)
        self.assertEqual({row.count(",") for row in rows}, {rows[0].count(",")})

    def test_out_writes_both_files(self):
        self.call(self.graph, "--out", "results")
        folder = os.path.join(self.folder.name, "results")
        self.assertEqual(sorted(os.listdir(folder)), ["result.json", "results.csv"])
        with open(os.path.join(folder, "result.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["delivered"], 1000)

    def test_out_that_cannot_be_made_is_refused_before_the_start(self):
        self.assertIn("E284", self.refused(self.graph, "--out", "/nowhere/at/all"))
        self.write("file", "")
        self.assertIn("Not a directory", self.refused(self.graph, "--out", "file"))

    def test_the_unknown_option_is_the_last_thing_printed(self):
        text = self.refused(self.graph, "--durration", "2s")
        self.assertIn("did you mean '--duration'?", text)

    def test_knobs_are_declared_or_refused(self):
        self.assertIn("did you mean 'n'?", self.refused(self.graph, "-k", "nn=5"))
        self.assertIn("minimum", self.refused(self.graph, "-k", "n=0"))
        self.refused(self.graph, "-k", "n=1,2")
        self.assertIn("7 delivered", self.call(self.graph, "-k", "n=7").stdout)

    def test_diagnostics_as_json_have_stdout_to_themselves(self):
        bad = self.write("bad.yaml", GRAPH.replace("op: std/copy", "op: std/cpy"))
        for verb in ("run", "plan", "check"):
            run = self.call(verb, bad, "--format", "json", code=2)
            d = json.loads(run.stdout)
            self.assertEqual(d["errors"], 1)
            self.assertEqual(d["diagnostics"][0]["line"], 12)
            self.assertEqual(run.stderr, "")

    def test_usage_errors_as_json(self):
        for words in (["nope"], ["run"], [self.graph, "--nope"], ["explain", "E000"]):
            run = self.call(*words, "--format", "json", code=2)
            self.assertGreaterEqual(json.loads(run.stdout)["errors"], 1)

    def test_errors_of_text_and_of_binding_come_together(self):
        bad = self.write("bad.yaml", GRAPH.replace("op: std/copy", "op: std/cpy")
                         .replace("in: work.out", "in: wrk.out"))
        text = self.refused(bad)
        self.assertIn("bad.yaml:12:", text)
        self.assertIn("bad.yaml:17:", text)
        self.assertIn("2 errors; nothing was started", text)

    def test_a_node_that_is_wrong_already_is_not_complained_about_twice(self):
        bad = self.write("bad.yaml", GRAPH.replace("    inputs: {in: src.out}", "    input: {in: src.out}"))
        text = self.refused(bad)
        self.assertIn("1 error; nothing was started", text)
        self.assertIn("did you mean 'inputs'?", text)

    def test_an_edge_that_cannot_be_is_told_once_and_not_as_a_circle(self):
        bad = self.write("bad.yaml", GRAPH.replace("in: src.out", "in: sink.out"))
        text = self.refused(bad)
        self.assertIn("std/check has no outputs", text)
        self.assertNotIn("E215", text)
        self.assertNotIn("warning", text)
        loop = self.write("loop.yaml", GRAPH.replace("in: src.out", "in: work.out"))
        self.assertIn("E215", self.refused(loop))

    def test_check_is_silent_when_there_is_nothing_to_say(self):
        run = self.call("check", self.graph, self.graph)
        self.assertEqual((run.stdout, run.stderr), ("", ""))

    def test_check_of_several_files_reports_each(self):
        a = self.write("a.yaml", GRAPH.replace("name: chain", "nme: chain"))
        b = self.write("b.yaml", GRAPH.replace("op: std/copy", "op: std/cpy"))
        run = self.call("check", a, self.graph, b, code=2)
        self.assertIn("a.yaml:2:1: error", run.stderr)
        self.assertIn("b.yaml:12:", run.stderr)
        run = self.call("check", a, b, "--format", "json", code=2)
        self.assertEqual(json.loads(run.stdout)["errors"], 2)

    def test_check_without_plugins_says_what_it_could_not_check(self):
        g = self.write("np.yaml", GRAPH.replace("path: std", "path: ./not_there.so"))
        self.assertIn("not checked", self.call("check", "--no-plugins", g).stderr)
        d = json.loads(self.call("check", "--no-plugins", g, "--format", "json").stdout)
        self.assertIn("parameters", d["not_checked"])
        self.refused("check", g, code=3)

    def test_plan_prints_text_json_and_dot(self):
        self.assertIn("src", self.call("plan", self.graph).stdout)
        json.loads(self.call("plan", self.graph, "--format", "json").stdout)
        self.assertTrue(self.call("plan", self.graph, "--format", "dot").stdout.startswith("digraph"))

    def test_plan_for_another_machine(self):
        g = self.write("p.yaml", GRAPH + "partitions:\n  far: {nodes: [src], cpus: 13}\n")
        self.call("plan", g, "--topology", "pack:2 core:8 pu:1")
        self.assertIn("E3", self.refused("plan", g, "--topology", "pack:1 core:2 pu:1", code=3))
        self.assertIn("pack:x", self.refused("plan", g, "--topology", "pack:x"))

    def test_knobs_shows_where_they_are_used(self):
        self.assertRegex(self.call("knobs", self.graph).stdout, r"n +int +1000 +1 \.\. +default")
        k = json.loads(self.call("knobs", self.graph, "-k", "n=5", "--format", "json").stdout)["knobs"]
        self.assertEqual((k[0]["value"], k[0]["set_by"], k[0]["uses"], k[0]["min"]), (5, "-k", 2, 1))
        none = self.write("none.yaml", UNREAD)
        self.assertIn("no knobs", self.call("knobs", none).stdout)

    def test_ops_list_and_describe(self):
        self.assertIn("std/copy", self.call("ops", "list").stdout)
        self.assertIn("count", self.call("ops", "describe", "std/sequence").stdout)
        json.loads(self.call("ops", "list", "--format", "json").stdout)
        json.loads(self.call("ops", "describe", "std/sequence", "--format", "json").stdout)
        self.refused("ops")
        self.refused("ops", "show")
        self.assertIn("std/copy", self.refused("ops", "describe", "std/coppy"))

    def test_explain_every_code(self):
        lines = self.call("explain").stdout.splitlines()
        self.assertGreater(len(lines), 30)
        for line in lines:
            self.assertIn("cure:", self.call("explain", line.split()[0]).stdout)
        self.assertEqual(self.call("explain", "e214").stdout, self.call("explain", "214").stdout)
        self.assertEqual(len(json.loads(self.call("explain", "--format", "json").stdout)["codes"]), len(lines))
        self.refused("explain", "E000")
        self.refused("explain", "E214x")
        self.refused("explain", "E214", "E215")

    def test_version_and_help(self):
        self.assertTrue(self.call("version").stdout.startswith("holorun "))
        self.assertEqual(self.call("--version").stdout, self.call("version").stdout)
        self.assertIn("abi_draft", json.loads(self.call("version", "--format", "json").stdout))
        self.assertIn("--duration", self.call("help").stdout)
        self.assertEqual(self.call("--help").stdout, self.call("help").stdout)
        self.assertIn("--no-plugins", self.call("help", "check").stdout)
        self.assertEqual(self.call("check", "--help").stdout, self.call("help", "check").stdout)
        self.refused("help", "nope")

    def test_warnings_go_to_stderr_and_can_be_denied(self):
        g = self.write("unread.yaml", UNREAD)
        run = self.call(g)
        self.assertIn("warning[W", run.stderr)
        self.assertIn("unread: src.out (10 messages)", run.stdout)
        self.assertIn("E283", self.refused(g, "--deny", "warnings"))
        self.assertEqual(json.loads(self.call("check", g, "--format", "json").stdout)["warnings"], 1)

    def test_losses_can_be_denied(self):
        # One thread: the source fills a batch before the sink sees its queue of one.
        g = self.write("drop.yaml", """\
holorun: 1
plugins: [{path: std}]
nodes:
  src: {op: std/sequence, params: {count: 1000}}
  sink: {op: std/null, inputs: {in: {from: src, depth: 1, when_full: drop_newest}}}
""")
        run = self.call(g)
        self.assertNotIn(" 0 lost", run.stdout.splitlines()[0])
        run = self.call(g, "--deny", "drops", code=4)
        self.assertIn("--deny drops", run.stderr)
        self.assertIn("exit 4", run.stdout.splitlines()[0])

    def test_a_reader_that_goes_away_is_no_error(self):
        for words in (["ops", "list"], ["explain"], [self.graph]):
            read, write = os.pipe()
            os.close(read)
            run = subprocess.run([HOLORUN, *words], stdout=write, stderr=subprocess.PIPE, check=False)
            os.close(write)
            self.assertEqual((run.returncode, run.stderr), (0, b""))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run([HOLORUN, "version"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 3)
        self.assertIn(b"No space left", run.stderr)

    def test_color_only_when_asked_for(self):
        bad = self.write("bad.yaml", GRAPH.replace("op: std/copy", "op: std/cpy"))
        self.assertNotIn("\033", self.refused("check", bad))
        self.assertIn("\033[", self.call("check", bad, "--color", "always", code=2).stderr)

    def test_a_graph_file_can_be_a_script(self):
        env = dict(os.environ, PATH=os.path.dirname(HOLORUN) + ":" + os.environ["PATH"])
        script = self.write("script.yaml", "#!/usr/bin/env -S holorun run\n" + GRAPH)
        os.chmod(script, 0o755)
        run = subprocess.run([script, "-k", "n=5"], capture_output=True, text=True, env=env, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("5 delivered", run.stdout)

    def test_it_runs_from_anywhere(self):
        link = os.path.join(self.folder.name, "link.yaml")
        os.symlink(self.graph, link)
        here = self.call("plan", "g.yaml", "--format", "json").stdout
        for cwd, path in (("/", self.graph), (self.folder.name, "link.yaml")):
            run = subprocess.run([HOLORUN, "plan", path, "--format", "json"], cwd=cwd,
                                 capture_output=True, text=True, check=True)
            self.assertEqual(run.stdout.count("\n"), here.count("\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
