#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Line coverage of libcmt and of the module's sources that the unit tests compile, and
mutants of these and of the tools' sources that the unit tests link.

usage: mutants.py [--coverage] BUILD FAST WORK

BUILD is a build of the unit tests with --coverage and the sanitizers: the build says
which tests reach a line.  FAST is a build with the sanitizers alone and with
compile_commands.json: mutants are compiled and linked as FAST is.  WORK is a directory
for files of this program.  Every mutant is compiled once, linked into the tests that
reach the line, and runs with the tests, the fastest first, until one fails.
MUTANTS=N tries N mutants, MUTANTS_SEED=N chooses others, MUTANTS_ONLY=PATH those of one
source or directory.  MUTANTS_AGAIN=1 tries the survivors of the last run alone, and the
last run is then the one before without the mutants killed since.  Known survivors are in
tests/mutants/survivors.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import counts
import source
from counts import check

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURVIVORS = os.path.join(TOP, "tests/mutants/survivors")
SEED = 1
JOBS = os.cpu_count()
# Which sources can be changed, and those whose tests are the unit tests: scripts test the
# tools, and MUTANTS_ONLY=tools/ says what the unit tests alone find of them.
ROOTS = ("libcmt", "module", "tools")
COVERED = ("libcmt/", "module/")
# Where the build has test programs.
WHERE = ("tests/unit", "tests/culprit")
# Tests make and remove many files.
SCRATCH = "/dev/shm" if os.path.isdir("/dev/shm") else None
# A mutant is not run with a test that takes longer, in seconds of a processor.
SLOW = 60
# Before tests that take longer, in seconds: does the mutant change the code at all?
QUICK = 0.4
COVERAGE_MIN = 90
KILLED_MIN = 95


def kill_session(session):
    """Kills a command and all that it has started: Check gives each case of a test a
    process group of its own."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == session:
                os.kill(int(name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def run(command, cwd, limit, env=None, cpu_limit=resource.RLIM_INFINITY):
    """The status of a command, None when the command took longer than `limit` seconds,
    and the seconds of a processor that the command took.  A process that takes
    `cpu_limit` of them is killed: other work on the machine makes a test slow, but does
    not make a test take more of a processor."""
    child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    resource.prlimit(child.pid, resource.RLIMIT_CPU, (cpu_limit, cpu_limit))
    ended = os.pidfd_open(child.pid)
    in_time, _, _ = select.select([ended], [], [], limit)
    os.close(ended)
    if not in_time:
        kill_session(child.pid)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    kill_session(child.pid)
    return child.returncode if in_time else None, used.ru_utime + used.ru_stime


class Test:
    """A unit test program of the two builds."""

    def __init__(self, build, fast, where, name):
        self.name = name
        self.dir = os.path.join(fast, where)
        self.counting = os.path.join(build, where, name)
        with open(os.path.join(self.dir, "CMakeFiles", name + ".dir/link.txt"),
                  encoding="utf-8") as f:
            self.link = shlex.split(f.read())
        self.seconds = 0.0
        self.fork = "no"
        self.reached = collections.defaultdict(dict)

    def env(self):
        """Check's own limit is for an idle machine; fewer rounds of slow tests."""
        return dict(os.environ, CK_FORK=self.fork, CK_DEFAULT_TIMEOUT="300",
                    CMT_UNIT_ROUNDS="150",
                    GCOV_ERROR_FILE="/dev/null")

    def measure(self, work):
        """Which lines does the test reach, and how fast is the test?  The answer is
        kept as long as the programs stay as they are."""
        digest = hashlib.sha256()
        for program in (self.counting, os.path.join(self.dir, self.name)):
            with open(program, "rb") as f:
                digest.update(f.read())
        kept = os.path.join(work, "kept", self.name + ".json")
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as f:
                found = json.load(f)
            if found["digest"] == digest.hexdigest():
                self.seconds, self.fork = found["seconds"], found["fork"]
                self.reached = {path: {int(n): count for n, count in lines.items()}
                                for path, lines in found["reached"].items()}
                return True
        if not self.find_fork() or not self.count_lines(work):
            return False
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        with open(kept, "w", encoding="utf-8") as f:
            json.dump({"digest": digest.hexdigest(), "seconds": self.seconds,
                       "fork": self.fork, "reached": self.reached}, f)
        return True

    @staticmethod
    def run(program, *limits):
        with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
            return run([program], scratch, *limits)

    def find_fork(self):
        """Runs the test.  Tests that leave state or memory behind need a process for
        each case, which takes longer."""
        for self.fork in ("no", "yes"):
            rc, self.seconds = self.run(os.path.join(self.dir, self.name), 600, self.env())
            if rc == 0:
                return True
        return False

    def count_lines(self, work):
        prefix = os.path.join(work, "gcov", self.name)
        shutil.rmtree(prefix, ignore_errors=True)
        rc, _ = self.run(self.counting, 600, dict(self.env(), GCOV_PREFIX=prefix))
        if rc != 0:
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
            report = json.loads(text)
            for found in report["files"]:
                path = os.path.relpath(os.path.realpath(os.path.join(
                    report["current_working_directory"], found["file"])), TOP)
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
            # What it defines is not taken from the libraries behind it.
            at = next(n for n, arg in enumerate(command) if arg.endswith(".a"))
            command.insert(at, mutated)
        return command


class Tree:
    """The build: how each source is compiled, and which tests reach its lines."""

    def __init__(self, build, fast, work):
        self.work = work
        self.found = {}
        self.commands = collections.defaultdict(list)
        with open(os.path.join(fast, "compile_commands.json"), encoding="utf-8") as f:
            for entry in json.load(f):
                path = os.path.relpath(entry["file"], TOP)
                if path.split("/")[0] in ROOTS and path.endswith(".c"):
                    args = shlex.split(entry["command"])
                    entry["built"] = os.path.join(entry["directory"],
                                                  args[args.index("-o") + 1])
                    self.commands[path].append(entry)
        self.tests = [Test(build, fast, where, name[:-len(".dir")]) for where in WHERE
                      for name in sorted(os.listdir(os.path.join(fast, where, "CMakeFiles")))
                      if name.startswith("test_")]
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
        if path in self.found:
            return self.found[path]
        found = self.found[path] = {}
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
                   if not (extra and arg.startswith(("-fsanitize", "-g", "-O")))]
        command[command.index("-o") + 1] = output
        command[command.index("-c") + 1] = mutated
        command += ["-w", "-iquote", os.path.dirname(entry["file"]), *extra]
        return run(command, entry["directory"], 300)[0] == 0


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


class Trial:
    """A mutant and the tests that it runs with."""

    def __init__(self, tree, mutant):
        self.tree, self.mutant = tree, mutant
        self.where = os.path.join(tree.work, "mutant-%d" % threading.get_ident())
        self.before = read(mutant.path)
        self.after = mutant.apply(self.before)
        self.compiled = {}

    def entry_of(self, test):
        entries = self.tree.commands[self.mutant.path]
        return next((e for e in entries if "/%s.dir/" % test.name in e["built"]),
                    entries[0])

    def object_for(self, test):
        """The mutant's object for a test, compiled once for all tests that have the
        source from the library; None when it does not compile."""
        entry = self.entry_of(test)
        built = entry["built"]
        if built not in self.compiled:
            output = os.path.join(self.where, "%d" % len(self.compiled), "x.o")
            good = self.tree.compile(entry, self.after, output)
            self.compiled[built] = output if good else None
        return built, self.compiled[built]

    def run_with(self, test):
        """The status of a test, None after a time limit, "none": no program."""
        built, mutated = self.object_for(test)
        program = os.path.join(self.where, test.name)
        if not mutated or run(test.link_with(built, mutated, program), test.dir,
                              300)[0] != 0:
            return "none"
        rc, _ = test.run(program, 60 + 20 * test.seconds, test.env(),
                         int(10 + 3 * test.seconds))
        os.unlink(program)
        return rc

    def changes_nothing(self):
        return same_code(self.tree, self.tree.commands[self.mutant.path][0],
                         self.before, self.after, self.where)

    def outcome(self, tests):
        """"killed", "survived", or "none": no mutant."""
        compared = False
        for test in tests:
            if test.seconds > QUICK and not compared:
                compared = True
                if self.changes_nothing():
                    return "none", None
            rc = self.run_with(test)
            if rc == "none":
                return "none", None
            if rc != 0:
                return "killed", test
        if not compared and self.changes_nothing():
            return "none", None
        return "survived", None


def candidates(tree, seed):
    """All mutants of lines that tests reach, in the order of the seed."""
    ranked = []
    for path in tree.sources:
        for mutant in source.mutants(path, read(path)):
            tests = tree.who_reaches(path, mutant.line)
            if tests:
                ranked.append((mutant.rank(seed), mutant, tests))
    ranked.sort(key=lambda entry: entry[0])
    return [entry[1:] for entry in ranked]


def coverage(tree):
    total = hit = 0
    for path in (p for p in tree.sources if p.startswith(COVERED)):
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


class Campaign:
    """The mutants of a run, and what became of each."""

    def __init__(self, tree):
        self.tree = tree
        self.seed = int(os.environ.get("MUTANTS_SEED", SEED))
        self.wanted = int(os.environ.get("MUTANTS", "320"))
        self.left = candidates(tree, self.seed)
        only = os.environ.get("MUTANTS_ONLY") or COVERED
        self.left = [c for c in self.left if c[0].path.startswith(only)]
        print("# %d mutants can be made, seed %d" % (len(self.left), self.seed),
              flush=True)
        self.again = set()
        self.last = os.path.join(tree.work, "survivors.json")
        if os.environ.get("MUTANTS_AGAIN"):
            with open(self.last, encoding="utf-8") as f:
                self.again = {tuple(key) for key in json.load(f)}
            self.left = [c for c in self.left if c[0].name() in self.again]
            self.wanted = len(self.left)
        self.known = source.known_survivors(read(SURVIVORS))
        self.outcome = {"killed": [], "survived": [], "none": []}
        self.by = collections.Counter()

    def tried(self):
        return len(self.outcome["killed"]) + len(self.outcome["survived"])

    def take(self, mutant, tests, result, killer):
        self.outcome[result].append(mutant)
        if killer:
            self.by[killer.name] += 1
        if result == "none" and mutant.name() in self.again:
            self.wanted -= 1
        self.again.discard(mutant.name())
        if result == "survived":
            if mutant.name() not in self.known:
                self.again.add(mutant.name())
            print("survived: %s:%d: %s\n    -> %s\n    %s" % (
                mutant.path, mutant.line, *mutant.name()[1:],
                self.known.get(mutant.name(), "not known; ran with: " +
                               " ".join(t.name for t in tests))), flush=True)
        self.keep()
        if result != "none" and self.tried() % 10 == 0:
            print("# %d of %d mutants tried, %d killed" % (
                self.tried(), self.wanted, len(self.outcome["killed"])), flush=True)

    def keep(self):
        """What MUTANTS_AGAIN tries: survivors that are not explained."""
        with open(self.last + ".new", "w", encoding="utf-8") as f:
            json.dump(sorted(self.again), f, indent=1)
        os.rename(self.last + ".new", self.last)

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            while self.left and self.tried() < self.wanted:
                missing = self.wanted - self.tried()
                batch, self.left = self.left[:missing], self.left[missing:]
                results = pool.map(
                    lambda c: Trial(self.tree, c[0]).outcome(c[1]), batch)
                for (mutant, tests), (result, killer) in zip(batch, results):
                    self.take(mutant, tests, result, killer)

    def rooms(self):
        """{directory: [mutants killed, mutants tried]}."""
        found = collections.defaultdict(lambda: [0, 0])
        for outcome in ("killed", "survived"):
            for mutant in self.outcome[outcome]:
                pair = found[os.path.dirname(mutant.path)]
                pair[0] += outcome == "killed"
                pair[1] += 1
        return found

    def report(self):
        killed, survived = len(self.outcome["killed"]), len(self.outcome["survived"])
        unknown = [m for m in self.outcome["survived"] if m.name() not in self.known]
        percent = 100 * killed / max(killed + survived, 1)
        print("# killed of tried: %s" % ", ".join(
            "%s %d/%d" % (room, *pair) for room, pair in sorted(self.rooms().items())))
        print("# killed by: %s" % ", ".join(
            "%s %d" % pair for pair in self.by.most_common()))
        print("# %d mutants: %d killed, %d survived (%d not known), %.1f %% killed; "
              "%d more did not compile or changed nothing" % (
                  killed + survived, killed, survived, len(unknown), percent,
                  len(self.outcome["none"])))
        check("%d mutants were tried" % self.wanted, killed + survived == self.wanted)
        check("at least %d %% are killed" % KILLED_MIN, percent >= KILLED_MIN)
        check("every survivor is in tests/mutants/survivors", not unknown)
        stale = {m.name() for m in self.outcome["killed"]} & set(self.known)
        check("no mutant in tests/mutants/survivors is killed", not stale)
        for key in sorted(stale):
            print("    %s: %s -> %s" % key)


def mutate(tree):
    campaign = Campaign(tree)
    campaign.run()
    campaign.report()


def main():
    args = sys.argv[1:]
    measure_only = args[:1] == ["--coverage"]
    tree = Tree(*(os.path.abspath(arg) for arg in args[measure_only:]))
    if tree.measure():
        if measure_only:
            coverage(tree)
        else:
            mutate(tree)
    return counts.finish()


sys.exit(main())
