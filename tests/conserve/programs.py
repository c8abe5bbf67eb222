#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Conservation through the programs: cmtstat record and cmt-exporter read the rings that
live.c fills, two of each.  One of each follows all of it; the other one is killed and
started again.  For each, emitted = delivered + lost, to the record.  To those that follow
all of it, a tenth is delivered.

usage: programs.py DIRECTORY BUILD RECORDS [--drop]

DIRECTORY has live, account and device.so, BUILD the programs.  RECORDS are written to each
ring.  With --drop, live does not write one of the records that it counts, and every
account must miss it."""

import atexit
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

RINGS = 8
BURSTS = 6
RATE = int(os.environ.get("CONSERVE_RATE", "800000"))
SEED = int(os.environ.get("CONSERVE_SEED", "1"))
DEADLINE = 120
SLOW_US = "60000"       # a ring holds 40 ms of its records at RATE
TOOLS, BUILD = (os.path.abspath(path) for path in sys.argv[1:3])
RECORDS = int(sys.argv[3])
LEAST = 0.1             # delivered of what is emitted
DROP = sys.argv[4:] == ["--drop"]
DROPPED = RECORDS // 2 + 7      # the index, in ring 3

passed = failed = 0


def check(ok, what):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
    print("%s - %s" % ("ok" if ok else "not ok", what), flush=True)


class Writer:
    """live.c, which writes a burst when it is told to."""

    def __init__(self, image):
        drop = [str(DROPPED)] if DROP else []
        self.process = subprocess.Popen(
            [os.path.join(TOOLS, "live"), image, str(RECORDS), str(BURSTS), str(RATE), *drop],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.emitted = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("live has ended")
        return int(line)

    def begin_burst(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end_burst(self):
        self.emitted = self.read()


def start(image, poll_us, *args, **options):
    env = {**os.environ, "LD_PRELOAD": os.path.join(TOOLS, "device.so")}
    if poll_us:
        env["CONSERVE_POLL_US"] = poll_us
    process = subprocess.Popen([os.path.join(BUILD, "tools", args[0]), *args[1:],
                                "--device", image], env=env, text=True, **options)
    # a test that ends by an exception leaves no program that holds its output
    atexit.register(process.kill)
    return process


def end(process, sig):
    process.send_signal(sig)
    try:
        return process.wait(DEADLINE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return "no end within %d s" % DEADLINE


class Recorder:
    def __init__(self, image, path, poll_us=None):
        self.path = path
        self.process = start(image, poll_us, "cmtstat", "record", "--quiet", "--exact",
                             "--output", path)
        wait_for("recording", lambda: os.path.exists(path) and os.path.getsize(path) > 0,
                 self.process)

    def account(self):
        """([first, next, delivered, lost, missing, bad] of each CPU, counts of the reader)"""
        done = subprocess.run([os.path.join(TOOLS, "account"), self.path], text=True,
                              capture_output=True, timeout=DEADLINE, check=False)
        lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
        if done.returncode or len(lines) != RINGS + 1:
            sys.exit("account %s: %s" % (self.path, done.stderr))
        return lines[:-1], lines[-1]


class Exporter:
    def __init__(self, image, poll_us=None):
        self.process = start(image, poll_us, "cmt-exporter", "--listen", "127.0.0.1:0",
                             "--interval", "0.2", "--window", "720", "--counters",
                             stderr=subprocess.PIPE)
        line = self.process.stderr.readline()
        found = re.search(r"listening on 127\.0\.0\.1:(\d+), seccomp filter on$", line)
        if not found:
            sys.exit("cmt-exporter does not listen: %s" % line)
        self.url = "http://127.0.0.1:%s/metrics" % found[1]

    def sums(self):
        """(delivered, lost, dropped): each record counts one cycle."""
        with urllib.request.urlopen(self.url, timeout=DEADLINE) as page:
            text = page.read().decode()

        def total(name):
            return sum(int(value) for value in
                       re.findall(r"^%s(?:\{.*\})? (\d+)$" % name, text, re.M))

        return (total("cmt_cycles_total"), total("cmt_records_lost_total"),
                total("cmt_records_dropped_total"))

    def at_rest(self, expected):
        """The sums when they are what is expected, or do not change any more."""
        last, since = None, time.monotonic()
        while time.monotonic() < since + 10:
            now = self.sums()
            if sum(now) == expected:
                return now
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.1)
        return last


def wait_for(what, holds, process):
    limit = time.monotonic() + DEADLINE
    while not holds():
        if process.poll() is not None or time.monotonic() > limit:
            sys.exit("no %s: status %s" % (what, process.poll()))
        time.sleep(0.01)


def judge_recording(name, recorder, writer, from_begin, ended):
    """Returns (delivered, lost)."""
    cpus, (emitted, delivered, lost, late, malformed, pending, complete) = recorder.account()
    sums = [sum(column) for column in zip(*cpus)]
    first, after, got, said, missing, bad = sums
    wanted = int(DROP and cpus[3][0] <= DROPPED < cpus[3][1])
    good = missing == wanted and not bad and got + said + wanted == after - first
    text = "%d of %d in the file, %d lost, %d missing" % (got, after - first, said, missing)
    if from_begin:
        good = good and not first and wanted == DROP
    if ended:
        # what waited in the rings when the recorder was told to end is pending
        good = (good and complete and after + pending == writer.emitted * RINGS and
                (got, said) == (delivered, lost) and not late and not malformed and
                emitted == delivered + lost + pending)
        good = good and (not from_begin or got >= LEAST * (after - first))
        text += ", %d pending; emitted %d" % (pending, writer.emitted * RINGS)
    check(good, "%s: %s" % (name, text))
    return got, said


def judge_exporter(name, exporter, writer, since, least=0):
    expected = (writer.emitted - since) * RINGS
    wanted = int(DROP and since <= DROPPED < writer.emitted)
    sums = exporter.at_rest(expected - wanted)
    check(sum(sums) + wanted == expected and not sums[2] and sums[0] >= least * expected,
          "%s: emitted %d, delivered %d, lost %d, dropped %d" % (name, expected, *sums))
    return sums


def run(directory):
    image = os.path.join(directory, "rings")
    path = lambda n: os.path.join(directory, "%d.cmt" % n)
    writer = Writer(image)
    rng = random.Random(SEED)
    steady = Recorder(image, path(0))
    mortal, files, kills = Recorder(image, path(1), SLOW_US), 1, 0
    exporter = Exporter(image)
    other, since = Exporter(image, SLOW_US), writer.emitted
    cut = [0, 0]
    for burst in range(BURSTS):
        writer.begin_burst()
        seconds = RECORDS * RINGS / BURSTS / RATE
        time.sleep(seconds * (0.2 + 0.5 * rng.random()))
        # the programs are in the middle of it, wherever that is
        end(mortal.process, signal.SIGKILL)
        got = judge_recording("killed recorder %d" % files, mortal, writer, False, False)
        cut = [a + b for a, b in zip(cut, got)]
        files += 1
        mortal = Recorder(image, path(files), SLOW_US)
        kills += 1
        if burst % 2:
            end(other.process, signal.SIGKILL)
            other = None
            kills += 1
        writer.end_burst()
        judge_exporter("exporter", exporter, writer, 0, LEAST)
        if other:
            judge_exporter("exporter since record %d" % since, other, writer, since)
            end(other.process, signal.SIGKILL)
        other, since = Exporter(image, SLOW_US), writer.emitted
    check(end(other.process, signal.SIGTERM) == 0, "the killed exporter's successor ends")
    check(end(exporter.process, signal.SIGTERM) == 0, "the exporter ends")
    check(end(steady.process, signal.SIGTERM) in (0, 1), "the recorder ends")
    check(end(mortal.process, signal.SIGTERM) in (0, 1), "the killed recorder's successor ends")
    judge_recording("recorder", steady, writer, True, True)
    got = judge_recording("last recorder", mortal, writer, False, True)
    print("# %d records a ring, %d programs killed, in the %d files of the recorders that "
          "were killed %d records, %d lost" % (writer.emitted, kills, files,
                                               cut[0] + got[0], cut[1] + got[1]))


with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
    run(scratch)
print("%d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
