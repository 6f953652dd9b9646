# SPDX-License-Identifier: Apache-2.0
"""holotest: what the integration tests stand on.

A test is a function with @case; it gets a Bench: a fresh folder, the build
folder, and ways to run holorun in it.  Every run is watched (a run that takes
longer than its limit is killed and fails), runs in a session of its own, and
leaves nothing behind: no process, no file, no socket, nothing in /dev/shm;
that is checked after each of them.  Wanted and found are printed for whatever
does not match.  A script ends with the line "N passed, N failed, N skipped".

Usage of each script: SCRIPT BUILD-FOLDER [PART-OF-A-CASE-NAME...]
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

LIMIT = 60.0  # seconds a run may take before it counts as hanging; not a bound on speed
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
MARK = "HOLOTEST_RUN"


class Failure(Exception):
    """Something is not as wanted."""


class Skip(Exception):
    """Cannot be tested here; says why."""


def equal(found, wanted, what):
    if found != wanted:
        raise Failure("%s: wanted %r, found %r" % (what, wanted, found))


def true(condition, what):
    if not condition:
        raise Failure(what)


def contains(text, part, what):
    if part not in text:
        raise Failure("%s: wanted %r somewhere in\n%s" % (what, part, text))


def matches(text, pattern, what):
    m = re.search(pattern, text, re.M)
    if not m:
        raise Failure("%s: wanted a match of %r in\n%s" % (what, pattern, text))
    return m


def until(condition, what, limit=LIMIT):
    """Wait for a condition; the limit is a watchdog, not an expectation."""
    end = time.monotonic() + limit
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > end:
            raise Failure("waited %g s in vain for %s" % (limit, what))
        time.sleep(0.01)


# ---- processes -------------------------------------------------------------


def read_file(path, mode="r"):
    try:
        with open(path, mode) as f:
            return f.read()
    except OSError:
        return b"" if "b" in mode else ""


def stat_of(pid):
    """(state, session) or None; the command may hold blanks and brackets."""
    text = read_file("/proc/%d/stat" % pid)
    if not text:
        return None
    rest = text[text.rindex(")") + 2 :].split()
    return rest[0], int(rest[3])


def processes_of(mark, session):
    """Live processes of a run: those in its session, or with its mark in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        pid = int(name)
        st = stat_of(pid)
        if not st or st[0] in "ZX":
            continue
        environ = read_file("/proc/%d/environ" % pid, "rb")
        if st[1] == session or ("%s=%s" % (MARK, mark)).encode() in environ.split(b"\0"):
            found.append(pid)
    return found


def threads_of(pid):
    """tid -> (name, CPUs it may use)."""
    found = {}
    try:
        tids = os.listdir("/proc/%d/task" % pid)
    except OSError:
        return found
    for tid in tids:
        status = read_file("/proc/%d/task/%s/status" % (pid, tid))
        m = re.search(r"^Name:\t(.*)$(?:.|\n)*^Cpus_allowed_list:\t(.*)$", status, re.M)
        if m:
            found[int(tid)] = (m.group(1), m.group(2))
    return found


def our_sockets():
    return set(re.findall(r"@?\S*(?:holorun|holomq|hmq)\S*", read_file("/proc/net/unix")))


def our_shm():
    try:
        return {n for n in os.listdir("/dev/shm") if re.search("holo|hmq", n)}
    except OSError:
        return set()


class Run:
    """A holorun that is running or has ended: rc, out, err."""

    def __init__(self, bench, args, env=None, limit=LIMIT, stdin=None, stdout=None, prefix=()):
        self.bench = bench
        self.mark = uuid.uuid4().hex
        self.args = list(prefix) + [bench.holorun] + [str(a) for a in args]
        self.limit = limit
        self.sockets = our_sockets()
        self.shm = our_shm()
        environment = dict(os.environ)
        environment.pop("HOLORUN_PLUGIN_PATH", None)
        environment[MARK] = self.mark
        environment.update(env or {})
        self.out_file = tempfile.TemporaryFile() if stdout is None else None
        self.err_file = tempfile.TemporaryFile()
        self.began = time.monotonic()
        self.proc = subprocess.Popen(
            self.args,
            cwd=bench.dir,
            env=environment,
            stdin=stdin or subprocess.DEVNULL,
            stdout=stdout if stdout is not None else self.out_file,
            stderr=self.err_file,
            start_new_session=True,
        )
        self.pid = self.proc.pid
        self.rc = None
        self.hung = False
        bench.runs.append(self)

    @staticmethod
    def _text(file):
        if file is None:
            return ""
        file.seek(0)
        return file.read().decode("utf-8", "replace")

    @property
    def out(self):
        return self._text(self.out_file)

    @property
    def err(self):
        return self._text(self.err_file)

    @property
    def first(self):
        """First line of stderr, behind what ops logged while the graph ran."""
        for line in self.err.splitlines():
            if not re.match(r"(info|warning|debug): ", line):
                return line
        return ""

    def children(self):
        return [p for p in processes_of(self.mark, self.pid) if p != self.pid]

    def process_named(self, name):
        """pid of the child that carries a process of the graph, by thread or command name."""
        for pid in self.children():
            names = [n for n, _ in threads_of(pid).values()]
            command = read_file("/proc/%d/cmdline" % pid)
            if any(name in n for n in names) or name in command.split("\0"):
                return pid
        return None

    def send(self, sig):
        os.kill(self.pid, sig)

    def _kill_all(self):
        for pid in processes_of(self.mark, self.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def end(self, rc=None):
        """Wait for the end; check the exit code, unless None, and that nothing is left."""
        try:
            self.rc = self.proc.wait(self.limit - (time.monotonic() - self.began))
        except subprocess.TimeoutExpired:
            stacks = self.stacks()
            self._kill_all()
            self.rc = self.proc.wait()
            self.hung = True
            raise Failure("the run did not end within %g s\n%s" % (self.limit, stacks))
        self.seconds = time.monotonic() - self.began
        self.check_clean()
        if rc is not None:
            equal(self.rc, rc, "exit code")
        return self

    def stacks(self):
        lines = []
        for pid in processes_of(self.mark, self.pid):
            for tid, (name, _) in threads_of(pid).items():
                where = read_file("/proc/%d/task/%d/wchan" % (pid, tid))
                lines.append("  process %d thread %d %s in %s" % (pid, tid, name, where))
        return "\n".join(lines)

    def check_clean(self, patience=0.0):
        left = processes_of(self.mark, self.pid)
        end = time.monotonic() + patience
        while left and time.monotonic() < end:
            time.sleep(0.02)
            left = processes_of(self.mark, self.pid)
        if left:
            names = ["%d %s" % (p, read_file("/proc/%d/comm" % p).strip()) for p in left]
            self._kill_all()
            raise Failure("processes left behind: %s" % ", ".join(names))
        # Other runs may be going on; only what came with this one and is not theirs is ours.
        mine = [s for s in our_sockets() - self.sockets if str(self.pid) in s]
        equal(mine, [], "sockets left behind")
        mine = [s for s in our_shm() - self.shm if str(self.pid) in s]
        equal(mine, [], "files left in /dev/shm")

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as e:
            raise Failure("stdout is no JSON (%s):\n%s" % (e, self.out))


class Bench:
    """A fresh folder and what a test does in it."""

    def __init__(self, build):
        self.build = build
        self.holorun = os.path.join(build, "bin", "holorun")
        if not os.path.exists(self.holorun):
            self.holorun = next(
                (
                    os.path.join(d, "holorun")
                    for d, _, files in os.walk(os.path.join(build, "executor"))
                    if "holorun" in files
                ),
                os.path.join(build, "holorun"),
            )
        self.plugins = os.path.join(build, "plugins")
        self.test_plugins = os.path.join(build, "tests", "plugins")
        self.graphs = os.path.join(ROOT, "graphs")
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="holotest-"))
        self.runs = []

    def close(self):
        for run in self.runs:
            if run.rc is None:
                run._kill_all()
                run.proc.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def read(self, name):
        return read_file(self.path(name))

    def files(self):
        return sorted(os.listdir(self.dir))

    def example(self, name):
        return os.path.join(self.graphs, "examples", name)

    def start(self, *args, **kw):
        """Start holorun; plugin folders of the build are found."""
        return Run(self, list(args), **kw)

    def run(self, *args, rc=0, paths=True, **kw):
        if paths:
            args = list(args) + ["--plugin-path", self.plugins, "--plugin-path", self.test_plugins]
        return Run(self, args, **kw).end(rc)

    def go(self, *args, **kw):
        """Like run(), but does not wait."""
        args = list(args) + ["--plugin-path", self.plugins, "--plugin-path", self.test_plugins]
        return Run(self, args, **kw)

    def result(self, where="out"):
        text = self.read(os.path.join(where, "result.json"))
        true(text, "no result.json was written")
        return Result(json.loads(text))


class Result:
    """result.json by name."""

    def __init__(self, data):
        self.data = data

    @staticmethod
    def _pick(items, what, test):
        found = [i for i in items if test(i)]
        if len(found) != 1:
            raise Failure("result.json has %d of %s in %s" % (len(found), what, json.dumps(items)))
        return found[0]

    def node(self, name):
        return self._pick(self.data["nodes"], "node " + name, lambda n: n["name"] == name)

    def counter(self, node, name):
        return self.node(node)["counters"][name]

    def device(self, name):
        nodes = self.data["graph"]["nodes"]
        return self._pick(nodes, "node " + name, lambda n: n["name"] == name)["device"]

    def edge(self, source, reader):
        """by "src.out" and "sink.in" """
        name = "%s -> %s" % (source, reader)
        return self._pick(self.data["edges"], "edge " + name, lambda e: e["name"] == name)


def balanced(edge):
    """The identity every queue must satisfy: pieces before a gather, and what it assembled."""
    for queue in filter(None, (edge, edge.get("assembled"))):
        equal(
            queue["received"] + queue["lost"] + queue["left"] + queue["abandoned"],
            queue["sent"],
            "received + lost + left + abandoned of " + edge["name"],
        )


# ---- refusals ----------------------------------------------------------------

MARKED = re.compile("«([^»]*)»")


def place(text):
    """Text with the token an error must point at in «»: (plain text, line, column, token)."""
    m = MARKED.search(text)
    true(m, "the test marks no token")
    plain = text[: m.start()] + m.group(1) + text[m.end() :]
    line = text.count("\n", 0, m.start()) + 1
    col = m.start() - (text.rfind("\n", 0, m.start()) + 1) + 1
    return plain, line, col, m.group(1)


def check_refusal(run, name, line, col, token, says=(), code=None):
    """The first line on stderr, the source line, the caret, the last line."""
    lines = run.err.splitlines()
    true(lines, "nothing on stderr")
    m = re.match(r"(.*?):(\d+):(\d+): error\[(E\d{3})\]: (.+)$", lines[0])
    true(m, "first line is no file:line:col: error[Exxx]: text\n" + run.err)
    where = (os.path.basename(m.group(1)), int(m.group(2)), int(m.group(3)))
    if where != (os.path.basename(name), line, col):
        raise Failure("place: wanted %s:%d:%d, found %s:%d:%d\n%s" % ((name, line, col) + where + (run.err,)))
    if code:
        equal(m.group(4), code, "code")
    # "   12 |  source" and "      |     ^~~~": the caret stands under the token.
    true(len(lines) > 2 and "|" in lines[1] and "|" in lines[2], "no source line\n" + run.err)
    shown, under = lines[1].split("|", 1), lines[2].split("|", 1)
    equal(len(shown[0]), len(under[0]), "width of the margin")
    equal(shown[0].strip(), str(line), "number beside the source line")
    marks = under[1].strip()
    true(re.match(r"\^~*$", marks), "caret line\n" + run.err)
    at = under[1].index("^")
    if token:
        equal(shown[1][at : at + len(token)], token, "text over the caret")
        equal(len(marks), len(token), "underlined characters")
    for part in says:
        contains(run.err, part, "message")
    matches(lines[-1], r"^(1 error|\d+ errors); nothing was started$", "last line")
    equal(run.out, "", "stdout")


def refused(bench, text, says=(), rc=2, args=(), name="b0.yaml", errors=None, code=None, silent=()):
    """B0 with one mistake: exit code, place, caret, words, last line, JSON twin, nothing made."""
    plain, line, col, token = place(text)
    bench.write(name, plain)
    before = bench.files()
    run = bench.run(name, *args, rc=rc)
    check_refusal(run, name, line, col, token, says, code)
    for part in silent:
        true(part not in run.err, "wanted nothing of %r in\n%s" % (part, run.err))
    if errors is not None:
        n = "1 error" if errors == 1 else "%d errors" % errors
        equal(run.err.splitlines()[-1], n + "; nothing was started", "last line")
    twin(bench, [name, *args], rc, line, col, run)
    equal(bench.files(), before, "files in the folder")
    return run


def twin(bench, args, rc, line, col, plain):
    """The same with --format json: one JSON text on stdout and nothing else."""
    run = bench.run(*args, "--format", "json", rc=rc)
    found = run.json()
    first = found["diagnostics"][0]
    for key in ("code", "file", "line", "col", "path", "message", "help"):
        true(key in first, "JSON twin lacks %r: %s" % (key, json.dumps(first)))
    equal((first["line"], first["col"]), (line, col), "place in the JSON twin")
    true(isinstance(first["help"], list), "help of the JSON twin is a list")
    contains(plain.first, first["message"].splitlines()[0], "message of the JSON twin")
    return found


# ---- the runner ----------------------------------------------------------------

CASES = []


def case(function):
    CASES.append(function)
    return function


def sanitized(build):
    """The sanitizers of this build, or ''."""
    text = read_file(os.path.join(build, "CMakeCache.txt"))
    m = re.search(r"^HOLORUN_SANITIZE:\w*=(.*)$", text, re.M)
    return m.group(1) if m else ""


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip("%s is not installed" % name)
    return path


def one(function, build):
    """('ok' | 'FAIL' | 'skip', text)"""
    bench = Bench(build)
    try:
        function(bench)
        return "ok", ""
    except Skip as e:
        return "skip", str(e)
    except Failure as e:
        text = str(e)
    except Exception:  # a bug of the test or a form nobody expected: a failure as well
        text = traceback.format_exc()
    finally:
        tail = ""
        for run in bench.runs[-1:]:
            tail = "\n--- %s\n--- exit %s, stderr:\n%s--- stdout:\n%s" % (
                " ".join(run.args),
                run.rc,
                run.err[-6000:],
                run.out[-3000:],
            )
        bench.close()
    return "FAIL", text + tail


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.realpath(sys.argv[1])
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    for function in CASES:
        name = function.__name__
        if sys.argv[2:] and not any(part in name for part in sys.argv[2:]):
            continue
        began = time.monotonic()
        verdict, text = one(function, build)
        counts[verdict] += 1
        print("%-4s %s (%.1f s)%s" % (verdict, name, time.monotonic() - began, ": " + text if text else ""))
        sys.stdout.flush()
    print("%d passed, %d failed, %d skipped" % (counts["ok"], counts["FAIL"], counts["skip"]))
    if counts["FAIL"]:
        sys.exit(1)
    sys.exit(77 if counts["skip"] and not counts["ok"] else 0)
