#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmtstat on a terminal that a shell with job control shares with it.

usage: terminal_test.py DIRECTORY_OF_THE_PROGRAMS
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
import unittest

DEADLINE_S = 30
ENTER = b"\x1b[?1049h"
LEAVE = b"\x1b[?1049l"
CTRL_Z = b"\x1a"
PROMPT = b"<prompt>"
STAT = ""


class Shell:
    """bash -i on a pseudo terminal; what it prints is kept."""

    def __init__(self, columns=100, lines=30):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="vt100", PS1=PROMPT.decode(), HISTFILE="")
            os.environ.pop("CMT_FAKE", None)
            os.execvp("bash", ["bash", "--norc", "--noediting", "-i"])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", lines, columns, 0, 0))
        self.seen = b""
        self.wait(PROMPT)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def type(self, keys):
        """What was seen before does not count from here on."""
        self.seen = b""
        os.write(self.fd, keys)

    def wait(self, text, seconds=DEADLINE_S):
        """Read until @text was printed; what came before it is dropped."""
        end = time.monotonic() + seconds
        before = b""
        while text not in self.seen:
            left = end - time.monotonic()
            ready = left > 0 and select.select([self.fd], [], [], left)[0]
            if not ready:
                raise AssertionError(f"no {text!r} in {self.seen[-2000:]!r}")
            self.seen += os.read(self.fd, 65536)
        before, self.seen = self.seen.split(text, 1)
        return before

    def run(self, command):
        """The output of @command, which does not read the terminal."""
        self.type(command.encode() + b"; echo end-of''-command\n")
        text = self.wait(b"end-of-command")
        self.wait(PROMPT)
        return text.split(b"\r\n", 1)[1]


class Screen:
    """What a terminal shows, as far as cmtstat's sequences go.

    Without wrapping the cursor stays on the last column.
    """

    TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\r\n])|([^\x1b])")

    def __init__(self, columns, lines):
        self.columns = columns
        self.rows = [[" "] * columns for _ in range(lines)]
        self.row = self.column = 0

    def feed(self, text):
        for what, final, control, char in self.TOKEN.findall(text):
            if char:
                self.put(char)
            elif control:
                self.move(control)
            elif final == "H":
                self.row = self.column = 0
            elif final in "JK" and not what.startswith("?"):
                self.erase(final)

    def put(self, char):
        self.rows[self.row][self.column] = char
        self.column = min(self.column + 1, self.columns - 1)

    def move(self, control):
        if control == "\r":
            self.column = 0
        elif self.row + 1 < len(self.rows):
            self.row += 1
        else:
            self.rows = self.rows[1:] + [[" "] * self.columns]

    def erase(self, final):
        blank = [" "] * (self.columns - self.column)
        self.rows[self.row][self.column:] = blank
        if final == "J":
            for row in self.rows[self.row + 1:]:
                row[:] = [" "] * self.columns

    def text(self):
        return ["".join(row).rstrip() for row in self.rows]


class JobControl(unittest.TestCase):
    def setUp(self):
        self.shell = Shell()
        self.modes = self.shell.run("stty -g")

    def tearDown(self):
        self.shell.close()

    def start(self, options="-i 0.1"):
        self.shell.type(f"{STAT} {options}\n".encode())
        self.shell.wait(ENTER)
        self.shell.wait(b"OCCUPANCY")

    def stop(self):
        self.shell.type(CTRL_Z)
        self.shell.wait(LEAVE)
        self.shell.wait(PROMPT)
        self.assertEqual(self.shell.run("stty -g"), self.modes)

    def expect_keys(self):
        self.shell.type(b"e")
        self.shell.wait(b"1001 web")

    def expect_quit(self):
        self.shell.type(b"q")
        self.shell.wait(LEAVE)
        self.shell.wait(PROMPT)
        self.assertEqual(self.shell.run("stty -g"), self.modes)
        self.assertNotIn(b"cmtstat", self.shell.run("jobs"))

    def test_stop_and_foreground(self):
        self.start()
        for _ in range(2):
            self.stop()
            self.shell.type(b"fg\n")
            self.shell.wait(ENTER)
            self.shell.wait(b"OCCUPANCY")
        self.expect_keys()
        self.expect_quit()

    def test_stop_background_and_foreground(self):
        self.start()
        self.stop()
        self.shell.type(b"bg\n")
        self.shell.wait(PROMPT)
        self.assertIn(b"Running", self.shell.run("jobs"))
        self.shell.type(b"fg\n")
        self.shell.wait(ENTER)
        self.shell.wait(b"OCCUPANCY")
        self.expect_keys()
        self.expect_quit()

    def test_background_draws_nothing(self):
        self.start("-i 0.2 -n 10")
        self.stop()
        self.shell.type(b"bg\n")
        text = self.shell.wait(b"OCCUPANCY")
        text += self.shell.seen + self.shell.run("wait; jobs")
        self.assertNotIn(b"\x1b[?", text)
        self.assertNotIn(b"Running", text.split(b"OCCUPANCY")[-1])

    def test_started_in_the_background(self):
        self.shell.type(f"{STAT} -i 0.1 &\n".encode())
        self.shell.wait(PROMPT)
        self.shell.type(b"fg\n")
        self.shell.wait(ENTER)
        self.shell.wait(b"OCCUPANCY")
        self.expect_keys()
        self.expect_quit()

    def test_stopped_by_another_process(self):
        """SIGSTOP cannot be caught: the shell's modes are in force at fg."""
        self.start()
        self.shell.type(b"")
        os.kill(self.child(), 19)
        self.shell.wait(PROMPT)
        self.shell.type(b"fg\n")
        self.shell.wait(ENTER)
        self.expect_keys()
        self.expect_quit()

    def child(self):
        path = f"/proc/{self.shell.pid}/task/{self.shell.pid}/children"
        with open(path) as children:
            return int(children.read().split()[0])

    def test_function_keys(self):
        """F2 is ESC O Q, and no q."""
        self.start()
        self.shell.type(b"\x1bOQ\x1b[12~\x1b[[E")
        self.shell.wait(b"OCCUPANCY")
        self.shell.wait(b"OCCUPANCY")
        self.expect_keys()
        self.expect_quit()


class FirstScreen(unittest.TestCase):
    def setUp(self):
        self.shell = Shell()

    def tearDown(self):
        self.shell.close()

    def test_first_screen_comes_at_once(self):
        """And says how much of the interval it has seen."""
        self.shell.type(f"{STAT} -i 3600\n".encode())
        self.shell.wait(ENTER)
        text = self.shell.wait(b"4.0 MiB") + self.shell.seen
        self.assertRegex(text, rb"over 0\.[0-9]+ s so far of 3600\.000 s")
        first = float(re.search(rb"over ([0-9.]+) s", text)[1])
        text = b""
        while b"over" not in text or first >= float(
                re.findall(rb"over ([0-9.]+) s so", text)[-1]):
            text += self.shell.wait(b"sampled every")
        self.shell.type(b"q")
        self.shell.wait(PROMPT)

    def test_hint_stays(self):
        """The alternate screen hides what was printed before it."""
        self.shell.type(f"CMT_FAKE=slow {STAT} -i 0.001\n".encode())
        self.shell.wait(ENTER)
        self.shell.type(b"q")
        self.shell.wait(LEAVE)
        self.shell.wait(b"the sampling interval is longer")
        self.shell.wait(PROMPT)


NUMBER = re.compile(r"(?<![^ >])[0-9][0-9.]*\S*")
WHOLE = {"0", "1", "2", "3", "3.0Mi", "18.8", "4.0Mi", "1.0Mi", "1.0M", "500k", "25.0", "6.2", "0.0",
         "100.0", "1001", "1002", "1003", "4.0", "1.0", "500.0"}


class Sizes(unittest.TestCase):
    """Numbers are whole, and rows are shown or counted, on any screen."""

    def show(self, columns, lines, options):
        shell = Shell(columns, lines)
        fake = "hardware" if options else "hardware,container"
        shell.type(f"CMT_FAKE={fake} {STAT} -i 0.1 {options}\n".encode())
        shell.wait(ENTER)
        screen = Screen(columns, lines)
        # the second table takes the place of the first
        for _ in range(3):
            screen.feed("\x1b[H" + shell.wait(b"\x1b[H").decode())
        shell.type(b"q")
        shell.wait(PROMPT)
        shell.close()
        return screen.text()

    def check(self, columns, lines, options):
        text = self.show(columns, lines, options)
        titles = [i for i, line in enumerate(text) if "OCC" in line]
        self.assertEqual(len(titles), 1, text)
        self.assertRegex(text[titles[0]], r" (TOT/s|NOTE)$")
        rows = [line for line in text[titles[0] + 1:] if line]
        for line in rows:
            if not line.startswith("+"):
                self.assertLessEqual(set(NUMBER.findall(line)), WHOLE, line)
        more = sum(int(line[1:].split()[0]) for line in rows
                   if line.startswith("+"))
        self.assertEqual(len([r for r in rows if r[0] != "+"]) + more, 4, text)
        self.assertIn("(unattributed)", rows[-1])

    def test_sizes(self):
        for columns in (80, 60, 40):
            for lines in (24, 9, 7, 5):
                for options in ("", "--by process"):
                    with self.subTest(columns=columns, lines=lines,
                                      options=options):
                        self.check(columns, lines, options)


def has_terminals():
    try:
        for fd in os.openpty():
            os.close(fd)
    except OSError as error:
        print(f"skipped: no pseudo terminal: {error}")
        return False
    return True


if __name__ == "__main__":
    if not has_terminals():
        sys.exit(77)
    STAT = sys.argv.pop(1) + "/cmtstat_fake"
    unittest.main()
