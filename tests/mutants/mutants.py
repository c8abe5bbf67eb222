#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Line coverage and mutants of libcmt and of the module's sources that the unit tests
compile.

usage: mutants.py [--coverage] BUILD WORK

BUILD is a build of the unit tests with --coverage and the sanitizers, and with
compile_commands.json; WORK is a directory for its own files.  Every mutant is compiled,
linked into the tests that reach its line, and runs with them until one fails.
MUTANTS=N tries N mutants, MUTANTS_SEED=N chooses others, MUTANTS_ONLY=PATH those of one
source.  Known survivors are in tests/mutants/survivors.
"""
import collections
import concurrent.futures
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import source

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURVIVORS = os.path.join(TOP, "tests/mutants/survivors")
SEED = 1
JOBS = os.cpu_count()
# A mutant is not run with a test that takes longer, in seconds.
SLOW = 60
COVERAGE_MIN = 90
KILLED_MIN = 95

passed = failed = 0


def check(name, good):
    global passed, failed
    passed += bool(good)
    failed += not good
    print("%s - %s" % ("ok" if good else "not ok", name), flush=True)


def kill_session(session):
    """Kills a command and all that it has started: Check gives each case of a test a
    process group of its own."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == session:
                os.kill(int(name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def run(command, cwd, limit, env=None):
    """The status of a command; None when it took longer than `limit` seconds."""
    child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    try:
        return child.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        kill_session(child.pid)
        child.wait()


class Test:
    """A unit test program of the build."""

    def __init__(self, build, name):
        self.name = name
        self.dir = os.path.join(build, "tests/unit")
        with open(os.path.join(self.dir, "CMakeFiles", name + ".dir/link.txt"),
                  encoding="utf-8") as f:
            self.link = shlex.split(f.read())
        self.seconds = 0.0
        self.fork = "no"
        self.reached = collections.defaultdict(dict)

    def env(self, prefix):
        return dict(os.environ, CK_FORK=self.fork, GCOV_PREFIX=prefix,
                    GCOV_ERROR_FILE="/dev/null")

    def measure(self, work):
        """Runs the test, and notes which lines it reaches.  Tests that leave state or
        memory behind need a process for each case, which takes longer."""
        prefix = os.path.join(work, "gcov", self.name)
        for self.fork in ("no", "yes"):
            shutil.rmtree(prefix, ignore_errors=True)
            start = time.monotonic()
            rc = run([os.path.join(self.dir, self.name)], self.dir, 400,
                     self.env(prefix))
            self.seconds = time.monotonic() - start
            if rc == 0:
                break
        else:
            return False
        for where, _, names in os.walk(prefix):
            for name in names:
                if name.endswith(".gcda"):
                    self.take_lines(os.path.join(where, name), prefix)
        return True

    def take_lines(self, gcda, prefix):
        notes = gcda[len(prefix):-len("gcda")] + "gcno"
        os.symlink(notes, gcda[:-len("gcda")] + "gcno")
        out = subprocess.run(["gcov", "--json-format", "--stdout", gcda], check=True,
                             cwd=prefix, capture_output=True).stdout
        for text in out.splitlines():
            if not text.strip():
                continue
            for found in json.loads(text)["files"]:
                path = os.path.relpath(os.path.realpath(
                    os.path.join(self.dir, found["file"])), TOP)
                lines = self.reached[path]
                for line in found["lines"]:
                    n = line["line_number"]
                    lines[n] = lines.get(n, 0) + line["count"]

    def link_with(self, built, mutated, program):
        """The link of the test with `mutated` for the object `built`."""
        command = list(self.link)
        command[command.index("-o") + 1] = program
        ours = os.path.relpath(built, self.dir)
        if ours in command:
            command[command.index(ours)] = mutated
        else:
            # What it defines is not taken from the library behind it.
            at = next(n for n, arg in enumerate(command) if arg.endswith("libcmt.a"))
            command.insert(at, mutated)
        return command


class Tree:
    """The build: how each source is compiled, and which tests reach its lines."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        self.commands = collections.defaultdict(list)
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            for entry in json.load(f):
                path = os.path.relpath(entry["file"], TOP)
                if path.startswith(("libcmt/", "module/")) and path.endswith(".c"):
                    args = shlex.split(entry["command"])
                    entry["built"] = os.path.join(entry["directory"],
                                                  args[args.index("-o") + 1])
                    self.commands[path].append(entry)
        names = sorted(name[:-len(".dir")] for name in
                       os.listdir(os.path.join(build, "tests/unit/CMakeFiles"))
                       if name.startswith("test_"))
        self.tests = [Test(build, name) for name in names]
        self.sources = sorted(p for p in self.commands if "/python/" not in p)

    def measure(self):
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            good = list(pool.map(lambda test: test.measure(self.work), self.tests))
        check("%d test programs pass" % len(good), good and all(good))
        for test, ok in zip(self.tests, good):
            if not ok:
                print("    %s" % test.name)
        return all(good)

    def lines(self, path):
        """Which lines of a source can be run: {line: is it}."""
        found = {}
        for test in self.tests:
            for n, count in test.reached.get(path, {}).items():
                found[n] = found.get(n, False) or count > 0
        return found

    def who_reaches(self, path, n):
        """The tests that reach a line, the fastest first.  A line in the middle of a
        statement counts as the line before it."""
        lines = self.lines(path)
        first = n
        while n not in lines and n > first - 4:
            n -= 1
        tests = [t for t in self.tests
                 if t.seconds < SLOW and t.reached.get(path, {}).get(n)]
        return sorted(tests, key=lambda t: t.seconds)

    def compile(self, entry, text, output, extra=()):
        """Compiles `text` as the source of an entry."""
        where = os.path.dirname(output)
        os.makedirs(where, exist_ok=True)
        mutated = os.path.join(where, os.path.basename(entry["file"]))
        with open(mutated, "w", encoding="utf-8") as f:
            f.write(text)
        command = [arg for arg in shlex.split(entry["command"])
                   if arg != "--coverage" and
                   not (extra and arg.startswith(("-fsanitize", "-g", "-O")))]
        command[command.index("-o") + 1] = output
        command[command.index("-c") + 1] = mutated
        command += ["-w", "-iquote", os.path.dirname(entry["file"]), *extra]
        return run(command, entry["directory"], 120) == 0


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def same_code(tree, entry, before, after, where):
    """Does the optimizer make the same of both?  Then there is nothing to notice."""
    objects = []
    for name, text in (("before", before), ("after", after)):
        output = os.path.join(where, name, "x.o")
        if not tree.compile(entry, text, output, ("-O2", "-g0")):
            return False
        with open(output, "rb") as f:
            objects.append(f.read())
    return objects[0] == objects[1]


def try_mutant(tree, mutant, tests):
    """"killed", "survived", or "none": no mutant."""
    where = os.path.join(tree.work, "mutant-%d" % threading.get_ident())
    before = read(mutant.path)
    after = mutant.apply(before)
    compiled = {}
    for test in tests:
        entry = next((e for e in tree.commands[mutant.path]
                      if "/%s.dir/" % test.name in e["built"]),
                     tree.commands[mutant.path][0])
        built = entry["built"]
        if built not in compiled:
            output = os.path.join(where, "%d" % len(compiled), "x.o")
            if not tree.compile(entry, after, output):
                return "none"
            compiled[built] = output
        program = os.path.join(where, test.name)
        if run(test.link_with(built, compiled[built], program), test.dir, 120) != 0:
            return "none"
        rc = run([program], test.dir, 10 + 5 * test.seconds,
                 test.env(os.path.join(where, "gcov")))
        os.unlink(program)
        if rc != 0:
            return "killed"
    if same_code(tree, tree.commands[mutant.path][0], before, after, where):
        return "none"
    return "survived"


def candidates(tree, seed):
    """All mutants of lines that tests reach, in the order of the seed."""
    ranked = []
    for path in tree.sources:
        seen = collections.Counter()
        for mutant in source.mutants(path, read(path)):
            seen[mutant.key] += 1
            tests = tree.who_reaches(path, mutant.line)
            if tests:
                ranked.append((mutant.rank(seed, seen[mutant.key]), mutant, tests))
    ranked.sort(key=lambda entry: entry[0])
    return [entry[1:] for entry in ranked]


def known_survivors():
    """{(path, old, new): why}, of paragraphs of "path: old", "-> new" and a reason."""
    known = {}
    text = "\n".join(line for line in read(SURVIVORS).splitlines()
                     if not line.startswith("#"))
    for paragraph in text.split("\n\n"):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        if not lines:
            continue
        path, old = lines[0].split(": ", 1)
        known[path, old, lines[1].removeprefix("->").strip()] = " ".join(lines[2:])
    return known


def coverage(tree):
    total = hit = 0
    for path in tree.sources:
        lines = tree.lines(path)
        if not lines:
            check("%s is linked into a test" % path, False)
            continue
        total += len(lines)
        hit += sum(lines.values())
        print("%5.1f %%  %4d lines  %s; not reached: %s" % (
            100 * sum(lines.values()) / len(lines), len(lines), path,
            " ".join(str(n) for n in sorted(lines) if not lines[n]) or "none"))
    percent = 100 * hit / total
    print("# lines reached: %d of %d, %.1f %%" % (hit, total, percent))
    check("at least %d %% of the lines are reached" % COVERAGE_MIN,
          percent >= COVERAGE_MIN)


def mutate(tree):
    wanted = int(os.environ.get("MUTANTS", "320"))
    seed = int(os.environ.get("MUTANTS_SEED", SEED))
    only = os.environ.get("MUTANTS_ONLY", "")
    left = [c for c in candidates(tree, seed) if c[0].path.startswith(only)]
    print("# %d mutants can be made, seed %d" % (len(left), seed), flush=True)
    outcome = {"killed": [], "survived": [], "none": []}
    known = known_survivors()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        while left:
            missing = wanted - len(outcome["killed"]) - len(outcome["survived"])
            if not missing:
                break
            batch, left = left[:missing], left[missing:]
            results = pool.map(lambda c: try_mutant(tree, *c), batch)
            for (mutant, tests), result in zip(batch, results):
                outcome[result].append(mutant)
                if result == "survived":
                    print("survived: %s:%d: %s\n    -> %s\n    %s" % (
                        mutant.path, mutant.line, mutant.key[1], mutant.key[2],
                        known.get(mutant.key, "not known; ran with: " +
                                  " ".join(t.name for t in tests))), flush=True)
                count = len(outcome["killed"]) + len(outcome["survived"])
                if count % 20 == 0 and result != "none":
                    print("# %d mutants tried" % count, flush=True)
    killed, survived = len(outcome["killed"]), len(outcome["survived"])
    unknown = [m for m in outcome["survived"] if m.key not in known]
    percent = 100 * killed / max(killed + survived, 1)
    print("# %d mutants: %d killed, %d survived (%d not known), %.1f %% killed; "
          "%d more did not compile or changed nothing" % (
              killed + survived, killed, survived, len(unknown), percent,
              len(outcome["none"])))
    check("%d mutants were tried" % wanted, killed + survived == wanted)
    check("at least %d %% are killed" % KILLED_MIN, percent >= KILLED_MIN)
    check("every survivor is in tests/mutants/survivors", not unknown)
    stale = {m.key for m in outcome["killed"]} & set(known)
    check("no mutant in tests/mutants/survivors is killed", not stale)
    for key in sorted(stale):
        print("    %s: %s -> %s" % key)


def main():
    args = sys.argv[1:]
    measure_only = args[:1] == ["--coverage"]
    build, work = (os.path.abspath(arg) for arg in args[measure_only:])
    tree = Tree(build, work)
    if tree.measure():
        if measure_only:
            coverage(tree)
        else:
            mutate(tree)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


sys.exit(main())
