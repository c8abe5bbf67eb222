#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of the module's sources that only a kernel can run: those that no unit test
compiles.

usage: guest.py KERNEL PROGRAMS LAB WORK

KERNEL is a directory of tests/vm/kernel, PROGRAMS one of tests/vm/programs, LAB the lab's
QEMU, WORK is for files of this program.  Each mutant is built into a module, which a guest
loads for the tests of tests/vm/suite that are fast without a mutant, until one of the tests
fails; some sources have tests on the lab's processor before.  A guest whose kernel reports
something, or that does not end, kills the mutant, too.  What one test kills is tried again
with this test alone: on a busy machine a test may fail by itself.

MUTANTS=N tries N mutants, MUTANTS_SEED=N chooses others, MUTANTS_ONLY=PATH those of one
source.  Known survivors are in tests/mutants/survivors-guest."""

import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

import counts
import source
from counts import check

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURVIVORS = os.path.join(TOP, "tests/mutants/survivors-guest")
KERNEL, PROGRAMS, LAB_QEMU, WORK = (os.path.abspath(path) for path in sys.argv[1:5])
TREE = os.path.join(WORK, "module")
SEED = int(os.environ.get("MUTANTS_SEED", "1"))
WANTED = int(os.environ.get("MUTANTS", "24"))
ONLY = os.environ.get("MUTANTS_ONLY", "")
# Tests that take longer without a mutant, in ms, are left out.
QUICK_MS = 3500
BOOTS = 5
# Sources of other processors, whose guests are slow
LEFT_OUT = {"sample/abmc.c", "cpu/plza.c", "hw/erdt.c"}
# Sources that the lab's processor reaches: its tests, CMT_LAB and QEMU's machine
Q35 = ("--qemu-arg", "-machine", "--qemu-arg", "q35")
CHANNELS = ("uncore_channels", "pmon=1,pmon_width=18,signature=0x806f8", Q35)
COUNTERS = ("perf", "pmu=1", ())
IN_LAB = {"uncore/channel.c": CHANNELS, "uncore/pmon.c": CHANNELS, "cpu/perf.c": COUNTERS,
          "cpu/perf_events.c": COUNTERS, "cpu/perf_want.c": COUNTERS,
          "cpu/resctrl.c": ("resctrl", "closids=4", ())}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def sources():
    """The module's sources that no unit test compiles."""
    cmake = read(os.path.join(TOP, "tests/unit/module.cmake"))
    tested = set(re.findall(r"\$\{CMT_MODULE_DIR\}/([\w/]+\.c)", cmake))
    names = re.findall(r"([\w/]+)\.o", re.sub(r".*obj-m.*", "", read(
        os.path.join(TOP, "module/Kbuild"))))
    return sorted({name + ".c" for name in names} - tested - LEFT_OUT)


def prepare_tree():
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.copytree(os.path.join(TOP, "module"), TREE,
                    ignore=shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*", "*.symvers"))


def build():
    """Does the module build?"""
    done = subprocess.run(["make", "-C", TREE, "-j2", "KDIR=" + KERNEL + "/build"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    write(os.path.join(WORK, "build.log"), done.stdout + done.stderr)
    return done.returncode == 0


def code_of(name):
    """The object of a source without its debugging information."""
    plain = os.path.join(WORK, "plain.o")
    subprocess.run(["strip", "--strip-debug", "-o", plain,
                    os.path.join(TREE, name[:-2] + ".o")], check=True)
    with open(plain, "rb") as f:
        return f.read()


class Outcome:
    def __init__(self, status, text, seconds):
        self.good = status == 0
        self.seconds = seconds
        self.tests = re.findall(r"^ok \d+ - (\w+)", text, re.M)
        self.ms = {name: int(ms) for name, ms in re.findall(r"^# (\w+): (\d+) ms", text, re.M)}
        lost = re.findall(r"^not ok \d+ - (\w+)", text, re.M)
        why = re.findall(r"^guest: .*: failed: (.*)$", text, re.M)
        self.test = lost[0] if lost else None
        self.why = self.test or (why[0] if why else "no verdict")
        # the plan comes before the first test loads the module
        self.booted = re.search(r"^1\.\.\d+$", text, re.M)


class Guest:
    """A guest with the tests of one program, of which the fast ones are tried."""

    def __init__(self, name, program, options, files, machine, lab):
        self.name, self.program, self.options = name, program, options
        self.files, self.machine, self.lab = files, machine, lab
        self.tests, self.seconds = [], 0

    def boot(self, tests, limit):
        """Runs the tests with these prefixes, until one fails.  On a busy machine a kernel
        may not boot, which no mutant has to do with."""
        for _ in range(BOOTS):
            found = self.boot_once(tests, limit)
            if found.booted:
                return found
        sys.exit("%s: the guest does not boot: %s" % (self.name, found.why))

    def boot_once(self, tests, limit):
        plain = os.path.join(WORK, "cmt.ko")
        subprocess.run(["strip", "--strip-debug", "-o", plain, os.path.join(TREE, "cmt.ko")],
                       check=True)
        command = [os.path.join(TOP, "tests/vm/guest"), "--kernel", KERNEL, "--name",
                   "mutant-" + self.name, "--cpus", "2", "--plain", "--timeout", str(limit),
                   *self.machine, "--file", plain + ":/lib/cmt.ko", "--file",
                   os.path.join(PROGRAMS, self.program) + ":/bin/suite"]
        for name in self.files:
            command += ["--file", "%s:/bin/%s" % (os.path.join(PROGRAMS, name), name)]
        command += ["--", "/bin/suite", *self.options, "--first", "--run", ",".join(tests)]
        env = dict(os.environ)
        if self.lab is not None:
            env.update(CMT_LAB=self.lab, PATH=LAB_QEMU + "/bin:" + env["PATH"])
        begin = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", env=env)
        write(os.path.join(WORK, "guest-%s.log" % self.name), done.stdout)
        return Outcome(done.returncode, done.stdout, time.monotonic() - begin)

    def prepare(self):
        """Which tests are fast, and for how long do all of them run?  The answer is kept as
        long as the module and the program stay as they are."""
        digest = hashlib.sha256()
        for path in (os.path.join(PROGRAMS, self.program), os.path.join(TREE, "cmt.ko")):
            with open(path, "rb") as f:
                digest.update(f.read())
        kept = os.path.join(WORK, "fast-%s.json" % self.name)
        if os.path.exists(kept):
            found = json.loads(read(kept))
            if found["digest"] == digest.hexdigest():
                self.tests, self.seconds = found["tests"], found["seconds"]
                return True
        every = self.boot([""], 1800)
        check("%s: %d tests pass without a mutant" % (self.name, len(every.tests)), every.good)
        if not every.good:
            print("    %s" % every.why)
            return False
        fast = [t for t in every.tests if every.ms.get(t, 0) <= QUICK_MS]
        self.tests = fast if self.lab is None else every.tests
        again = self.boot(self.tests, 1800)
        check("%s: %d of them again, in %d s" % (self.name, len(self.tests), again.seconds),
              again.good)
        self.seconds = again.seconds
        if again.good:
            write(kept, json.dumps({"digest": digest.hexdigest(), "tests": self.tests,
                                    "seconds": self.seconds}))
        return again.good

    def kills(self):
        """What kills the mutant, None: nothing."""
        limit = int(60 + 3 * self.seconds)
        found = self.boot(self.tests, limit)
        # a test that passes by itself failed for another reason, such as a busy machine
        if found.test and self.boot([found.test], limit).good:
            found = self.boot(self.tests, limit)
        return None if found.good else found.why


def guests():
    """Those of each source, by its name; of those without an entry that of None."""
    suite = Guest("suite", "suite", ("--emulated", "--again"), ("cmtctl", "cmtstat"),
                  ("--possible", "4"), None)
    found = {None: [suite]}
    made = {}
    for name, (table, lab, machine) in IN_LAB.items():
        if table not in made:
            made[table] = Guest(table, "lab-of-" + table, (), (), machine, lab)
        found[name] = [made[table], suite]
    return found


class Campaign:
    def __init__(self, wanted):
        self.guests = guests()
        self.wanted = wanted
        self.known = source.known_survivors(read(SURVIVORS))
        self.outcome = collections.Counter()
        self.by = collections.Counter()
        self.unknown = []

    def prepare(self):
        return all(guest.prepare() for guest in
                   {id(g): g for gs in self.guests.values() for g in gs}.values())

    def judge(self, name, after):
        """"killed" and by what, "survived", or "none": no mutant."""
        before = code_of(name)
        write(os.path.join(TREE, name), after)
        if not build() or code_of(name) == before:
            return "none", None
        for guest in self.guests.get(name, self.guests[None]):
            why = guest.kills()
            if why:
                return "killed", why
        return "survived", None

    def try_one(self, mutant):
        name = mutant.path[len("module/"):]
        before = read(os.path.join(TREE, name))
        result, why = self.judge(name, mutant.apply(before))
        write(os.path.join(TREE, name), before)
        if not build():
            sys.exit("the module does not build without a mutant: see %s/build.log" % WORK)
        self.outcome[result] += 1
        if result == "none":
            return
        text = "%s: %s:%d: %s\n    -> %s" % (result, mutant.path, mutant.line,
                                             *mutant.name()[1:])
        if result == "killed":
            self.by["the kernel's log" if why.startswith("kernel log") else why] += 1
            text += "\n    %s" % why
        elif mutant.name() in self.known:
            text += "\n    %s" % self.known[mutant.name()]
        else:
            self.unknown.append(mutant)
        print(text, flush=True)

    def tried(self):
        return self.outcome["killed"] + self.outcome["survived"]

    def run(self, mutants):
        for mutant in mutants:
            if self.tried() >= self.wanted:
                break
            self.try_one(mutant)

    def report(self):
        killed, survived = self.outcome["killed"], self.outcome["survived"]
        percent = 100 * killed / max(killed + survived, 1)
        print("# killed by: %s" % ", ".join("%s %d" % pair for pair in self.by.most_common()))
        print("# %d mutants, seed %d: %d killed, %d survived (%d not known), %.1f %% killed; "
              "%d more did not compile or changed nothing" % (
                  killed + survived, SEED, killed, survived, len(self.unknown), percent,
                  self.outcome["none"]))
        check("%d mutants were tried" % self.wanted, self.tried() == self.wanted)
        check("every survivor is in tests/mutants/survivors-guest", not self.unknown)


def mutants_of(names):
    found = []
    for name in names:
        path = "module/" + name
        if path.startswith(ONLY):
            found += source.mutants(path, read(os.path.join(TOP, path)))
    return sorted(found, key=lambda mutant: mutant.rank(SEED))


def main():
    os.makedirs(WORK, exist_ok=True)
    prepare_tree()
    check("the module builds", build())
    campaign = Campaign(WANTED)
    if not counts.failed and campaign.prepare():
        mutants = mutants_of(sources())
        print("# %d mutants can be made of %d sources" % (
            len(mutants), len({m.path for m in mutants})), flush=True)
        campaign.run(mutants)
        campaign.report()
    return counts.finish()


sys.exit(main())
