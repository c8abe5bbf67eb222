#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmtstat's full screen in a terminal, tmux, that a shell with job control shares.

usage: screen_test.py DIRECTORY_OF_THE_PROGRAMS [TEST]...
CMT_KEEP_SCREENS=1 writes the screens that are kept, in screens/, anew: look at them.
"""
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DEADLINE_S = int(os.environ.get("DEADLINE_S", "120"))
HERE = os.path.dirname(os.path.abspath(__file__))
PROMPT = "prompt>"
STAT = ""
MADE = ""
# At its end LeakSanitizer stops the process, which a hang-up wakes: it may spin for ever.
# Leaks are looked for where cmtstat ends by itself, in fake_test.sh.
NO_LEAKS = "ASAN_OPTIONS=" + os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
SERVERS = itertools.count()


def tmux(server, *args, check=True):
    socket = f"cmt-screen-{os.getpid()}-{server}"
    return subprocess.run(["tmux", "-L", socket, "-f", "/dev/null", "-u", *args],
                          check=check, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def wait_for(what, condition):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {DEADLINE_S} s: {what}")


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))


def is_running(pid):
    return state_of(pid) != "Z"


class Pane:
    """bash -i in a pane of a tmux of its own."""

    def __init__(self, columns=100, lines=30, locale="C.UTF-8", fake="hardware", home=None):
        environment = ["env", "-u", "NO_COLOR", "-u", "XDG_CONFIG_HOME",
                       f"HOME={home}" if home else "-uHOME", f"LC_ALL={locale}", f"CMT_FAKE={fake}",
                       f"PS1={PROMPT}", "HISTFILE=", NO_LEAKS, "bash", "--norc", "--noediting", "-i"]
        self.server = next(SERVERS)
        self.ran = 0
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), *environment)
        self.pid = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        self.expect(PROMPT)

    def tmux(self, *args):
        return tmux(self.server, *args)

    def close(self):
        tmux(self.server, "kill-server", check=False)

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def lines(self):
        return self.text().split("\n")[:-1]

    def expect(self, pattern):
        try:
            wait_for(pattern, lambda: re.search(pattern, self.text(), re.M))
        except AssertionError as error:
            raise AssertionError(f"{error} in:\n{self.text()}") from None

    def expect_none(self, pattern):
        try:
            wait_for(pattern, lambda: not re.search(pattern, self.text(), re.M))
        except AssertionError as error:
            raise AssertionError(f"{error} still in:\n{self.text()}") from None

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def key(self, *names):
        self.tmux("send-keys", *names)

    def mouse(self, button, column, line):
        """A button is pressed there, or the wheel is turned, in what the program asked for."""
        codes = [(button, "M")] + ([(0, "m")] if button < 64 else [])
        for code, end in codes:
            if self.flag("mouse_sgr_flag") == "1":
                self.type(f"\033[<{code};{column + 1};{line + 1}{end}")
            else:
                self.type("\033[M" + chr(32 + (3 if end == "m" else code)) +
                          chr(33 + column) + chr(33 + line))

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def flag(self, name):
        return self.tmux("display-message", "-p", f"#{{{name}}}").strip()

    def run(self, command):
        """What @command prints, alone on the screen."""
        self.ran += 1
        end = f"end-of-{self.ran}"
        self.type(f"clear; {command}; echo end''-of-{self.ran}\n")
        self.expect(f"^{end}$")
        self.expect(PROMPT + "$")
        return self.text().split(end)[0].strip()

    def start(self, options="-i 0.1"):
        self.type(f"clear; {STAT} {options}\n")
        self.expect("OCC")
        self.expect("q quit")

    def child(self):
        path = f"/proc/{self.pid}/task/{self.pid}/children"
        with open(path) as children:
            return int(children.read().split()[0])


class PaneTest(unittest.TestCase):
    def open(self, *args, **kwargs):
        self.pane = Pane(*args, **kwargs)
        self.addCleanup(self.pane.close)
        return self.pane

    def expect_as_before(self, modes):
        wait_for("the screen is left", lambda: self.pane.flag("alternate_on") == "0")
        self.assertEqual(self.pane.flag("cursor_flag"), "1")
        self.assertEqual(self.pane.flag("mouse_any_flag"), "0")
        self.assertEqual(self.pane.flag("keypad_flag"), "0")
        self.assertEqual(self.pane.run("stty -g"), modes)


class JobControl(PaneTest):
    def setUp(self):
        self.open()
        self.modes = self.pane.run("stty -g")

    def stop(self):
        self.pane.key("C-z")
        self.pane.expect("Stopped")
        self.expect_as_before(self.modes)

    def foreground(self):
        self.pane.type("fg\n")
        self.pane.expect("q quit")

    def expect_keys(self):
        self.pane.type("e")
        self.pane.expect("1001 web")
        self.pane.key("Down")
        self.pane.expect("^>")

    def expect_quit(self):
        self.pane.type("q")
        self.pane.expect(PROMPT + "$")
        self.expect_as_before(self.modes)
        self.assertEqual(self.pane.run("jobs"), "")

    def test_stop_and_foreground(self):
        self.pane.start()
        for _ in range(2):
            self.stop()
            self.foreground()
        self.expect_keys()
        self.expect_quit()

    def test_stop_background_and_foreground(self):
        self.pane.start()
        self.stop()
        self.pane.type("bg\n")
        self.assertIn("Running", self.pane.run("jobs"))
        self.foreground()
        self.expect_keys()
        self.expect_quit()

    def test_background_is_not_drawn_on(self):
        """Of short intervals, one waits to be drawn when the key comes."""
        with tempfile.NamedTemporaryFile(suffix=".cmt") as file:
            subprocess.run([MADE, "recording", "containers=2", "ms=60000"], stdout=file, check=True)
            for _ in range(5):
                self.pane.start(f"replay -i 0.01 {file.name}")
                child = self.pane.child()
                self.stop()
                self.pane.type("bg\n")
                wait_for("it goes on", lambda: state_of(child) != "T")
                self.assertIn("Running", self.pane.run("jobs"))
                ticks = cpu_ticks(child)
                self.assertEqual(self.pane.run("sleep 0.5; echo slept"), "slept")
                self.assertLess(cpu_ticks(child) - ticks, 40)
                self.expect_as_before(self.modes)
                self.pane.run("kill %1; wait")
                self.expect_as_before(self.modes)

    def test_stop_and_foreground_without_a_screen(self):
        """A kind of terminal that terminfo does not know: the tables go on."""
        for term in ("dumb", "no-such-terminal"):
            with self.subTest(term=term):
                self.pane.type(f"clear; TERM={term} {STAT} -i 0.1\n")
                self.pane.expect("OCCUPANCY")
                self.stop()
                self.pane.type("clear; fg\n")
                self.pane.expect("OCCUPANCY")
                self.pane.key("C-c")
                self.pane.expect(PROMPT + "$")
                self.expect_as_before(self.modes)

    def test_started_in_the_background(self):
        self.pane.type(f"{STAT} -i 0.1 &\n")
        self.pane.expect(PROMPT + "$")
        self.foreground()
        self.expect_keys()
        self.expect_quit()

    def test_stopped_by_another_process(self):
        """SIGSTOP cannot be caught: the shell's modes are in force at fg."""
        self.pane.start()
        child = self.pane.child()
        os.kill(child, signal.SIGSTOP)
        wait_for("it stops", lambda: state_of(child) == "T")
        self.pane.expect(PROMPT)
        self.foreground()
        self.expect_keys()
        self.expect_quit()

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP,
                       signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGUSR1,
                       signal.SIGUSR2, signal.SIGXCPU, signal.SIGVTALRM, signal.SIGPWR):
            with self.subTest(signal=number):
                self.pane.start()
                child = self.pane.child()
                os.kill(child, number)
                wait_for("it ends", lambda: not is_running(child))
                self.expect_as_before(self.modes)

    def test_ignored_signals_stay_ignored(self):
        self.pane.type("trap '' USR1\n")
        self.pane.start()
        os.kill(self.pane.child(), signal.SIGUSR1)
        self.expect_keys()
        self.expect_quit()

    def test_hint_stays(self):
        """The alternate screen hides what was printed before it."""
        self.pane.type(f"CMT_FAKE=slow {STAT} -i 0.001\n")
        self.pane.expect("q quit")
        self.pane.type("q")
        self.pane.expect("the sampling interval is longer")

    def test_last_table_stays(self):
        self.pane.type(f"clear; {STAT} -i 0.1 -n 3\n")
        self.pane.expect("OCC")     # until then it may be the prompt of before
        self.pane.expect(PROMPT + "$")
        self.pane.expect("OCC")
        self.assertEqual(self.pane.flag("alternate_on"), "0")

    def test_last_table_is_that_of_the_screen(self):
        """Its order, its search and its width."""
        self.pane.resize(60, 24)
        self.pane.start("-i 0.1 -n 1000000 --by process --sort name")
        self.pane.type("/r")
        self.pane.key("Enter")
        self.pane.expect_none("1001 web")
        self.pane.type("r")
        self.pane.expect("sort: name reversed")
        self.pane.type("q")
        self.pane.expect(PROMPT + "$")
        self.assertEqual(self.pane.flag("alternate_on"), "0")
        lines = self.pane.lines()
        titles = max(i for i, line in enumerate(lines) if "COMM" in line)
        shown = [line.split()[0] for line in lines[titles + 1:] if line]
        self.assertEqual(shown, ["1003", "1002", "-", PROMPT])


class Vanishing(PaneTest):
    """The terminal goes away, with and without the signal that says so."""

    def vanish(self, before):
        pane = self.open()
        pane.type(f"{before}\n")
        pane.start()
        child = pane.child()
        pane.close()
        wait_for("it ends", lambda: not is_running(child))

    def test_hang_up(self):
        self.vanish("true")

    def test_without_a_signal(self):
        self.vanish("trap '' HUP")


class Keys(PaneTest):
    def test_search_sort_freeze_and_views(self):
        pane = self.open(132, 24, fake="hardware,container,perf,channels")
        pane.start()
        pane.expect("sort: occupancy")
        pane.type("/overf")
        pane.expect("/overf_")
        pane.expect_none("unattributed\\)")
        pane.key("Enter", "Escape")
        pane.expect("unattributed\\)")
        pane.type("s")
        pane.expect("sort: total")
        pane.type("?")
        pane.expect("freeze, and go on")
        pane.key("Escape")
        pane.expect("OCC")
        pane.type(" ")
        pane.expect("FROZEN")
        frozen = pane.text()
        pane.key("Down")
        pane.expect("^>")
        self.assertEqual(pane.lines()[0], frozen.split("\n", 1)[0])
        pane.type(" ")
        pane.expect_none("FROZEN")
        wait_for("it goes on", lambda: pane.lines()[0] != frozen.split("\n", 1)[0])
        pane.key("Enter")
        pane.expect("^bandwidth")
        pane.key("Escape")
        for key, title in (("2", "COMM"), ("3", "BUSY %"), ("4", "DOMAIN"), ("5", "SHARE %"),
                           ("1", "PROCS")):
            pane.type(key)
            pane.expect(title)
        pane.type("+")
        pane.expect("every 200 ms")
        pane.expect("over 0.2")
        pane.type("q")
        pane.expect(PROMPT + "$")

    def test_mouse(self):
        """A click selects a row, or sorts by a column; the wheel selects what is below."""
        pane = self.open(112, 24, fake="hardware,container")
        pane.start()
        pane.expect("^ .*cgroup:1152921504606846980(.*\n)+.*\\(unattributed\\)")
        self.assertEqual(pane.flag("mouse_any_flag"), "1")
        lines = pane.lines()
        titles = next(i for i, line in enumerate(lines) if "OCC" in line)
        rows = [re.search(r"cgroup:[0-9]+", line)[0] for line in lines[titles + 1:titles + 5]]

        def expect_selected(row):
            pane.expect("^>.*" + re.escape(rows[row]))
            self.assertEqual(len(re.findall("^>", pane.text(), re.M)), 1)

        for row in (1, 0, 3):
            pane.mouse(0, 5, titles + 1 + row)
            expect_selected(row)
        pane.mouse(64, 5, titles + 1)
        expect_selected(0)
        pane.mouse(65, 5, titles + 1)
        expect_selected(3)
        for title, sort in (("NAME", "name"), ("OCC", "occupancy"), ("OCC", "occupancy reversed")):
            pane.mouse(0, pane.lines()[titles].index(title) + 1, titles)
            pane.expect(f"sort: {sort}  by")
        pane.mouse(0, 5, 0)
        pane.mouse(0, 5, titles + 12)
        pane.mouse(2, 5, titles + 2)
        pane.type("q")
        pane.expect(PROMPT + "$")
        self.assertEqual(pane.flag("mouse_any_flag"), "0")

    def test_no_mouse_without_keys(self):
        """Where none reads what it reports, as after a terminal of the input is gone."""
        pane = self.open()
        pane.start("-i 0.1 </dev/null")
        self.assertEqual(pane.flag("mouse_any_flag"), "0")
        pane.key("C-c")
        pane.expect(PROMPT + "$")
        ours, theirs = os.openpty()
        pane.start(f"-i 3600 <{os.ttyname(theirs)}")
        self.assertEqual(pane.flag("mouse_any_flag"), "1")
        os.close(theirs)
        os.close(ours)
        wait_for("the mouse is off", lambda: pane.flag("mouse_any_flag") == "0")
        pane.key("C-c")
        pane.expect(PROMPT + "$")

    def test_marks(self):
        """Who takes cache: above the rows, in their notes, and closely in the pane."""
        pane = self.open(120, 40, fake="hardware,container,stream")
        pane.start("-i 0.2")
        pane.expect("^cgroup:1152921504606846977 lost cache to cgroup:1152921504606846978, "
                    "[0-9]+ s ago .*confidence")
        pane.expect("took cache of cgroup:")
        pane.type("/6978")
        pane.key("Enter")
        pane.expect("^/6978  q quit")
        pane.key("Down")
        pane.expect("^>.*took cache of")
        pane.key("Enter")
        pane.expect("last 120 ms, occupancy; the highest is 3.1 MiB")
        pane.expect("last 120 ms, bandwidth; the highest is 2.6 GB/s")
        pane.expect("limits|residue")
        pane.type("q")
        pane.expect(PROMPT + "$")

    def test_slower(self):
        """How much slower owners are: in the table, sorted, and in the pane."""
        pane = self.open(200, 40, fake="hardware,container,stream,perf")
        pane.start("-i 0.2 --sort slower")
        pane.expect("MPKI SLOWER")
        pane.expect("6977 .*>[0-9]+% cgroup:1152921504606846978 cache")
        pane.expect("sort: slower")
        pane.expect("^cgroup:[0-9]+6977 is [0-9]+ % slower, [0-9]+ % by cgroup:[0-9]+6978 "
                    r"\(cache, an estimate\), for (at least )?[0-9]+ s, at most [0-9]+ %$")
        pane.type("/6977")
        pane.key("Enter", "Enter")
        pane.expect("slower +[^ ]+ +[0-9]+ % because of cgroup:1152921504606846978: cache "
                    r"\(an estimate\)")
        pane.type("q")
        pane.expect(PROMPT + "$")

    def test_views_change_before_a_table_comes(self):
        """Verdicts that come then are for the next table: the rows of the last one are gone."""
        pane = self.open(100, 24, fake="hardware,container,waits")
        pane.start("-i 5")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            for key in "21":
                pane.type(key)
                pane.expect("q quit|Sanitizer")
        pane.expect("OCC")
        pane.type("q")
        pane.expect(PROMPT + "$")
        self.assertNotIn("Sanitizer", pane.text())

    def made_recording(self, *options):
        file = tempfile.NamedTemporaryFile(suffix=".cmt")
        self.addCleanup(file.close)
        subprocess.run([MADE, "recording", *options], stdout=file, check=True)
        return file.name

    def test_replay_without_a_screen(self):
        """As fast as it goes: the recording is longer than anything is waited for."""
        name = self.made_recording("containers=1", "ms=300000")
        pane = self.open()
        pane.type(f"clear; TERM=dumb {STAT} replay -i 30 {name} >/dev/tty; echo it''-ended\n")
        pane.expect("^it-ended$")

    def test_replay_jumps_between_from_and_to(self):
        """Neither end of the part that is shown is left behind."""
        name = self.made_recording("containers=2", "ms=9000")
        pane = self.open()
        pane.type(f"clear; {STAT} replay --from +3s --to +6s {name}\n")
        pane.expect("OCC")
        pane.key("Space")
        pane.expect("FROZEN")
        for key, second in ((">", 5), ("Right", 5), ("<", 3), ("Left", 3), ("Right", 5)):
            pane.key(key)
            pane.expect(f"00:00:0{second}Z")
        pane.key("Space")
        pane.expect("the end")
        pane.type("q")
        pane.expect(PROMPT + "$")

    def test_replay_counts_losses_once(self):
        """A part that is read again after a jump loses nothing more."""
        name = self.made_recording("containers=8", "ms=6000", "hostile=1")
        pane = self.open()
        pane.type(f"clear; {STAT} replay {name}\n")
        pane.expect("OCC")
        pane.key("Space")
        pane.expect("FROZEN")
        for _ in range(3):
            pane.key("<")
            pane.expect("00:00:01Z")
            pane.key(".")
            pane.expect("LOST at least 7 records")
        pane.type("q")
        pane.expect("something is missing: 7 records lost")

    def test_replay_counts_losses_of_other_intervals_once(self):
        """With another length they begin in what was read: no loss counts twice, or not at all."""
        name = self.made_recording("containers=8", "ms=12000", "hostile=1")
        first, second, third = ("<", "00:00:01Z"), (".", "00:00:02Z"), (".", "00:00:03Z")
        longer, longest = ("+", r"^over (1\.9|2\.0)"), ("+", r"^over (4\.9|5\.0)")
        for steps in ((first, second, third, longer, longest), (first, second, longer)):
            pane = self.open()
            pane.type(f"clear; {STAT} replay {name}\n")
            pane.expect("OCC")
            pane.key("Space")
            pane.expect("FROZEN")
            for key, shown in (*steps, (".", "FROZEN")):
                pane.type(key)
                pane.expect(shown)
            pane.expect("7 since the start|LOST at least 7 ")
            pane.type("q")
            pane.expect("something is missing: (at least )?7 records lost")

    def replay_of_pending(self, options, meanwhile=lambda child: None):
        """More owners than have names, and later fewer; each second there is a verdict."""
        with tempfile.NamedTemporaryFile(suffix=".cmt") as file:
            subprocess.run([MADE, "recording", "containers=8", "ms=7000", "pending=5000"],
                           stdout=file, check=True)
            pane = self.open(100, 24)
            pane.type(f"clear; {STAT} replay {options} {file.name}\n")
            pane.expect("q quit")
            meanwhile(pane.child())
            pane.expect("is throttled|Sanitizer")
            pane.expect("the end|Sanitizer")
            self.assertNotIn("Sanitizer", pane.text())
            pane.type("q")
            pane.expect(PROMPT + "$")

    def test_verdicts_come_as_owners_go(self):
        """In a recording they are for the table that comes: owners of the last one are gone."""
        self.replay_of_pending("--speed 4")

    def test_replay_is_redrawn_as_owners_go(self):
        """An interval that waits for its verdicts is read: owners of the shown one are gone."""
        def resize(child):
            while not re.search("the end|Sanitizer", self.pane.text()):
                for _ in range(10):
                    os.kill(child, signal.SIGWINCH)
                    time.sleep(0.02)

        self.replay_of_pending("--speed 4", resize)

    def test_replay_ends_before_owners_go(self):
        """The last table stays: the interval after it is not read."""
        self.replay_of_pending("--speed 4 --to +3s")

    def test_function_keys(self):
        """F9 has no meaning; F1 to F6 and F10 are as elsewhere."""
        pane = self.open()
        pane.start()
        pane.key("F9", "F12", "IC", "M-x", "F5")
        pane.expect("1001 web")
        pane.key("F6")
        pane.expect("sort: total")
        pane.key("F2")
        pane.expect("^> by ")
        pane.key("F2")
        pane.expect("OCC")
        pane.key("F4")
        pane.expect("^/_ ")
        pane.key("Escape")
        pane.expect_none("^/_ ")
        pane.key("F1")
        pane.expect("freeze, and go on")
        pane.key("F3")
        pane.expect("^/_ ")
        pane.key("F1", "F10")
        pane.type("web")
        pane.expect("^/web_ ")
        pane.key("Enter", "F10")
        pane.expect(PROMPT + "$")

    def test_linux_console(self):
        """Its terminfo entry has no size."""
        pane = self.open()
        pane.type(f"env LINES=3 TERM=linux {STAT} -i 0.1\n")
        pane.expect("sort: occupancy")
        self.assertEqual(len(pane.lines()), 30)
        pane.type("q")
        pane.expect(PROMPT + "$")

    def test_first_screen_comes_at_once(self):
        """And says how much of the interval it has seen."""
        pane = self.open()
        pane.start("-i 3600")
        pane.expect(r"over 0\.[0-9]+ s so far of 3600\.000 s")
        pane.expect(r"over [1-9]\.[0-9]+ s so far of 3600\.000 s")


class Options(PaneTest):
    """What is changed in their pane holds the next time, for the screen and for nothing else."""

    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.kept = f"{self.home}/.config/cmt/cmtstat"

    def keep(self, text):
        os.makedirs(os.path.dirname(self.kept), exist_ok=True)
        with open(self.kept, "w", encoding="utf-8") as kept:
            kept.write(text)

    def quit(self, pane):
        pane.type("q")
        pane.expect(PROMPT + "$")

    def test_kept(self):
        pane = self.open(100, 24, home=self.home)
        pane.type("export TERM=xterm-256color\n")
        pane.start()
        self.quit(pane)
        self.assertFalse(os.path.exists(self.kept))
        pane.start()
        pane.key("F2")
        pane.expect("^> by +container")
        pane.key("Down", "Right")
        pane.expect("^> sort +total")
        pane.key("Up", "Up", "Right")
        pane.expect("^> color +no")
        wait_for("no colour", lambda: "\033[7m" not in pane.text("-e"))
        pane.key("Escape")
        pane.expect(f"^kept in {self.kept}")
        pane.key("Down")
        pane.expect("sort: total")
        self.quit(pane)
        with open(self.kept, encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "sort = total\ncolor = no\n")
        pane.start()
        pane.expect("sort: total")
        self.assertNotIn("\033[7m", pane.text("-e"))
        pane.type("c")
        wait_for("colour", lambda: "\033[7m" in pane.text("-e"))
        self.quit(pane)
        pane.start("-i 0.1 --sort name")
        pane.expect("sort: name")

    def test_only_the_screen_reads_it(self):
        self.keep("by = process\nsort = name\n")
        pane = self.open(100, 24, home=self.home)
        pane.start()
        pane.expect("by process")
        self.quit(pane)
        for options in ("--plain -n 1", "-n 1 -i 0.1 | cat"):
            text = pane.run(f"{STAT} -i 0.1 {options}")
            self.assertIn("PROCS", text)
            self.assertNotIn("COMM", text)
        self.assertIn('"by":"container"', pane.run(f"{STAT} -j -i 0.1 -n 1 | head -n 1"))
        self.assertIn("PROCS", pane.run(f"TERM=dumb {STAT} -i 0.1 -n 1"))

    def test_mistakes_are_told(self):
        self.keep("by = process\nfont = large\n\033[31m\n")
        pane = self.open(100, 24, home=self.home)
        pane.start()
        pane.expect("by process")
        self.quit(pane)
        pane.expect(r"cmtstat:2: font: there is no such option: ignored$")
        pane.expect(r'cmtstat:3: \\x1b\[31m: not "name = value": ignored$')

    def test_not_kept(self):
        os.symlink("/etc/passwd", f"{self.home}/.config")
        pane = self.open(100, 24, home=self.home)
        pane.start()
        pane.type("or")
        pane.expect("^  reverse +yes")
        pane.type("o")
        pane.expect("^not kept: Not a directory: ")
        pane.type("or")
        pane.expect("^  reverse +no")
        self.quit(pane)
        pane.expect("^cmtstat: not kept: Not a directory: ")


NUMBER = re.compile(r"(?<![^ >])[0-9][0-9.]*\S*")
WHOLE = {"0", "1", "2", "3", "3.0Mi", "18.8", "4.0Mi", "1.0Mi", "1.0M", "500k", "25.0", "6.2", "0.0",
         "100.0", "1001", "1002", "1003", "4.0", "1.0", "500.0"}


class Sizes(PaneTest):
    """Numbers are whole, and rows are shown or counted, on any screen."""

    rows = 4

    def check(self, text):
        titles = [i for i, line in enumerate(text) if " OCC " in line]
        self.assertEqual(len(titles), 1, text)
        rows = [line for line in text[titles[0] + 1:-1] if line]
        for line in rows:
            if not line.startswith("+"):
                self.assertLessEqual(set(NUMBER.findall(line)), WHOLE, line)
        more = sum(int(line[1:].split()[0]) for line in rows if line.startswith("+"))
        self.assertEqual(len([r for r in rows if r[0] != "+"]) + more, self.rows, text)
        self.assertIn("q quit", text[-1])

    def wait_and_check(self, pane, lines):
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                text = pane.lines()
                self.assertEqual(len(text), lines)
                self.check(text)
                return
            except AssertionError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def test_sizes(self):
        for options in ("", "--by process"):
            pane = self.open(80, 24, fake="hardware" if options else "hardware,container")
            # in container scope, two more are pending
            self.rows = 4 if options else 6
            pane.start(f"-i 0.1 {options}")
            for columns in (80, 60, 40):
                for lines in (24, 10, 8, 6):
                    with self.subTest(columns=columns, lines=lines, options=options):
                        pane.resize(columns, lines)
                        self.wait_and_check(pane, lines)

    def test_small_and_large(self):
        pane = self.open()
        pane.start()
        pane.resize(9, 2)
        pane.expect("^too small$")
        pane.resize(10, 3)
        pane.expect_none("too small")
        pane.resize(250, 60)
        pane.expect("OCCUPANCY .* LAST MINUTE .* MBM TOTAL")
        for i in range(40):
            pane.resize(9 + 7 * i, 2 + i)
        pane.resize(132, 30)
        pane.expect("OCC .* LAST MINUTE")
        pane.type("q")
        pane.expect(PROMPT + "$")


class Story(PaneTest):
    """Whose cache it is, who is slower because of whom, and the rows: on any screen."""

    sizes = ((80, 24), (120, 36), (250, 60))

    def expect_in_order(self, pane, *patterns):
        pane.expect("(?s)" + ".*".join(patterns))

    def test_incident(self):
        for columns, lines in self.sizes:
            with self.subTest(columns=columns, lines=lines):
                pane = self.open(columns, lines, fake="hardware,container,stream,perf")
                pane.start("-i 0.2")
                self.expect_in_order(
                    pane, r"\A.* RMIDs: .*\nL3 \[[a-z]", r"\] [0-9.]+ % held +[^ ]+\n"
                    r"cgroup:[0-9]+6977 is [0-9]+ % slower,\s[0-9]+ % by cgroup:[0-9]+6978",
                    r"at most [0-9]+ %\n", r"\n [a-z] .*cgroup:[0-9]+",
                    r"\(unattributed\)", r"q quit")
                pane.type("/6977")
                pane.key("Enter", "Enter")
                pane.expect("^slower +[^ ]+ +[0-9]+ % because of cgroup:[0-9]+6978: cache")

    def test_domains(self):
        """One bar on a small screen: of all caches, or of that of the selected row."""
        for columns, lines in self.sizes:
            with self.subTest(columns=columns, lines=lines):
                pane = self.open(columns, lines, fake="hardware,container,sockets")
                pane.start("-i 0.2 -m")
                if lines > 24:
                    self.expect_in_order(pane, r"\nL3 0 \[a", "b cgro", r" 50.0 % held +[^ ]+",
                                         r"\nL3 1 \[a cgro", r" 50.0 % held +[^ ]+", "OCC")
                    pane.expect_none("^L3 all")
                    continue
                pane.expect(r"^L3 all \[a cgro.* 50.0 % held +[^ ]+")
                pane.key("Down")
                pane.expect(r"^>a .*6978")
                pane.expect(r"^L3 1 \[a cgro.* 50.0 % held +[^ ]+")
                pane.key("Escape")
                pane.expect("^L3 all")

    def test_domains_give_way_to_processes(self):
        """The library has processes, or parts by domain."""
        pane = self.open(120, 36, fake="hardware,sockets")
        pane.start("-i 0.2 -m")
        pane.expect(r"^L3 1 \[")
        pane.type("e")
        pane.expect("1001 web")
        pane.expect(r"^L3 all \[")
        pane.type("e")
        pane.expect(r"^L3 1 \[")
        pane.type("2")
        pane.expect("COMM")
        pane.expect(r"^L3 1 \[.*web")


class Characters(PaneTest):
    def test_without_utf8(self):
        pane = self.open(132, 24, locale="C")
        pane.start()
        pane.expect("#")
        self.assertTrue(pane.text().isascii(), pane.text())

    def test_hostile_names_do_nothing(self):
        pane = self.open(132, 24)
        pane.start("-i 0.1 --by process")
        pane.expect(re.escape("\\x1b[31mred"))

    def styles(self, pane, pattern):
        """The attributes before the first match of @pattern, as SGR numbers."""
        found = re.search(r"((?:\033\[[0-9;]*m)*)[^\033]*" + pattern, pane.text("-e"))
        self.assertIsNotNone(found, pane.text("-e"))
        return ";".join(re.findall(r"\033\[([0-9;]*)m", found[1])).split(";")

    def start_coloured(self, term, options="", columns=132, lines=36):
        pane = self.open(columns, lines, fake="hardware,container,stream")
        pane.type(f"export TERM={term}\n")
        pane.start(f"-i 0.2 {options}")
        pane.expect("lost cache to")
        return pane

    def test_colours(self):
        """Heat, notes and titles; at other sizes, and with 8 colours, as well."""
        for term, columns, lines, title, note in (
                ("xterm", 80, 24, ["36"], ["35"]),
                ("xterm", 120, 36, ["36"], ["35"]),
                ("xterm-256color", 120, 36, ["38", "5", "32"], ["38", "5", "133"]),
                ("xterm-256color", 250, 60, ["38", "5", "32"], ["38", "5", "133"])):
            with self.subTest(term=term, columns=columns):
                pane = self.start_coloured(term, columns=columns, lines=lines)
                self.assertEqual(self.styles(pane, "NAME")[-len(title):], title)
                self.assertEqual(self.styles(pane, "cgroup:[0-9]+ lost cache")[-len(note):], note)

    def test_heat(self):
        """A share is said in numbers and in colour; a selected row is reverse only."""
        for term, warm in (("xterm", ["33"]), ("xterm-256color", ["38", "5", "178"])):
            with self.subTest(term=term):
                pane = self.open(132, 24, fake="hardware,container")
                pane.type(f"export TERM={term}\n")
                pane.start("-m")
                pane.expect("25.0")
                self.assertEqual(self.styles(pane, "4.0Mi")[-len(warm):], warm)
                self.assertEqual(self.styles(pane, "25.0")[-len(warm):], warm)
                self.assertNotEqual(self.styles(pane, "1.0Mi")[-len(warm):], warm)
                pane.key("Down")
                pane.expect("^>")
                self.assertIn("7", self.styles(pane, "4.0Mi"))

    def test_bar(self):
        """The parts of the cache, in the colours of the rows that hold them."""
        for term, columns, lines in (("xterm", 80, 24), ("xterm-256color", 250, 60)):
            with self.subTest(term=term):
                pane = self.open(columns, lines, fake="hardware,container")
                pane.type(f"export TERM={term}\n")
                pane.start("-m")
                pane.expect(r"^L3 \[a .*\] >?[0-9.]+ % held( +[^ ]+)?$")
                first = "38;5;32" if columns > 80 else "34"
                for part in ("a cgroup", "a\033"):
                    self.assertIn(f"{first}m{part}", pane.text("-e"))
                self.assertNotIn(f"{first}mb", pane.text("-e"))

    def test_colours_are_off(self):
        """Less than 8 colours: bold and reverse; --no-color: nothing of all; dumb: tables."""
        pane = self.start_coloured("vt100")
        self.assertIn("\033[1m", pane.text("-e"))
        self.assertNotRegex(pane.text("-e"), r"\033\[[0-9;]*(3[0-7]|38;5;[0-9]+)m")
        pane.close()
        pane = self.start_coloured("xterm-256color", "--no-color")
        self.assertNotIn("\033", pane.text("-e").replace("\033[39;49m", ""))
        pane.close()
        pane = self.open(132, 36)
        pane.type(f"clear; TERM=dumb {STAT} -n 1 -i 0.1\n")
        pane.expect(PROMPT + "$")
        self.assertEqual(pane.flag("alternate_on"), "0")
        self.assertNotIn("\033", pane.text("-e").replace("\033[39;49m", ""))

    def test_no_color(self):
        pane = self.open(100, 24)
        pane.start()
        self.assertIn("\033[7m", pane.text("-e"))
        pane.type("q")
        pane.expect(PROMPT + "$")
        pane.type("export NO_COLOR=1\n")
        pane.start()
        self.assertNotIn("\033", pane.text("-e").replace("\033[39;49m", ""))


class Kept(PaneTest):
    """Screens of an interval that goes on: no second of it is in a curve yet."""

    def show(self, name, columns, lines, keys=(), options="", fake="hardware,container"):
        pane = self.open(columns, lines, fake=fake)
        pane.start(f"-i 3600 {options}")
        pane.expect("4.0 ?Mi")
        for key in keys:
            pane.key(key)
        if os.environ.get("CMT_KEEP_SCREENS"):
            time.sleep(2)
        end = time.monotonic() + DEADLINE_S
        while not self.is_kept(name, pane.text()):
            self.assertLess(time.monotonic(), end, f"{name} is not:\n{pane.text()}")
            time.sleep(0.1)

    def is_kept(self, name, text):
        path = f"{HERE}/screens/{name}.txt"
        text = re.sub(r"[0-9-]*T?\d\d:\d\d:\d\dZ", "TIME", text)
        text = re.sub(r"over [0-9.]+ s", "over N s", text)
        text = re.sub(r"overhead: [0-9.]+", "overhead: N", text)
        if os.environ.get("CMT_KEEP_SCREENS"):
            with open(path, "w", encoding="utf-8") as kept:
                kept.write(text)
        with open(path, encoding="utf-8") as kept:
            return kept.read() == text

    def test_40(self):
        self.show("40", 40, 14)

    def test_80(self):
        self.show("80", 80, 20)

    def test_132(self):
        self.show("132", 132, 20, options="-m", fake="hardware,container,perf,channels")

    def test_250(self):
        self.show("250", 250, 16, options="-m", fake="hardware,container,perf,channels")

    def test_emulated(self):
        self.show("emulated", 80, 20, fake="")

    def test_selected(self):
        self.show("selected", 80, 20, keys=("Down",))

    def test_detail(self):
        self.show("detail", 80, 20, keys=("Down", "Enter"), options="-m", fake="hardware")


def why_not():
    if not shutil.which("tmux"):
        return "no tmux"
    try:
        for fd in os.openpty():
            os.close(fd)
    except OSError as error:
        return f"no pseudo terminal: {error}"
    return ""


if __name__ == "__main__":
    if why_not():
        print(f"skipped: {why_not()}")
        sys.exit(77)
    TOOLS = os.path.abspath(sys.argv.pop(1))
    STAT = TOOLS + "/cmtstat_fake"
    MADE = TOOLS + "/../tests/fleet/cmt-made"
    unittest.main()
