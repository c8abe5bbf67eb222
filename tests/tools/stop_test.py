#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A signal ends what reads a recording soon, also in the middle of a long interval.
usage: stop_test.py DIRECTORY_OF_THE_BUILD [unittest's]"""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STAT = os.path.join(BUILD, 'tools/cmtstat')
MADE = os.path.join(BUILD, 'tests/fleet/cmt-made')
LESS = 4    # the processor time of all by that until the signal


def can_be_asked(pid, number):
    """The signal has a handler, or the process has ended."""
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        status = dict(line.split(':', 1) for line in file)
    return 'Z' in status['State'] or int(status['SigCgt'], 16) >> (number - 1) & 1


class Stop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = tempfile.NamedTemporaryFile()
        cls.addClassCleanup(cls.file.close)
        subprocess.run([MADE, 'recording', 'containers=100', 'ms=20000', 'waits=200000'],
                       check=True, stdout=cls.file)

    def processor_s(self, args, stop):
        """Of the process; @stop: as soon as it can be asked to end, it is."""
        with subprocess.Popen([STAT, *args, self.file.name], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while stop and not can_be_asked(process.pid, signal.SIGTERM):
                pass
            if stop:
                process.terminate()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, stop if args[0] == 'export' else 0)
        return usage.ru_utime + usage.ru_stime

    def check(self, *args):
        whole, stopped = (self.processor_s(args, stop) for stop in (False, True))
        print(f'{" ".join(args)}: {whole:.3f} s, stopped after {stopped:.3f} s', flush=True)
        self.assertLess(stopped * LESS, whole)

    def test_replay(self):
        self.check('replay', '--json', '--interval', '60')

    def test_replay_slower(self):
        self.check('replay', '--json', '--interval', '60', '--slower')

    def test_export(self):
        self.check('export', '--csv', '--grain', '3600')


if __name__ == '__main__':
    unittest.main()
