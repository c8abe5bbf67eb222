#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmtstat export --by incident, read again.
usage: incidents_test.py DIRECTORY_OF_THE_BUILD [unittest's]"""
import csv
import glob
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import rows

SCHEMA = os.path.join(os.path.dirname(__file__), '../../docs/fleet/schema.sql')
BUILD = os.path.abspath(sys.argv.pop(1))
STAT = os.path.join(BUILD, 'tools/cmtstat')
MADE = os.path.join(BUILD, 'tests/fleet/cmt-made')
SECOND_NS = 1000000000
ESTIMATE_NS = 250000000
CHUNK_DATA = 2
BEGIN_NS = 1024 * SECOND_NS
MS = 6000
WAITS_NS = 400000       # of docker:web in each ms


def stat(*arguments):
    return subprocess.run([STAT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=True)


def export(path, form, *options):
    return stat('export', form, '--by', 'incident', *options, path)


def make(directory, name, *options):
    path = os.path.join(directory, name)
    with open(path, 'wb') as file:
        # of two, the first one counts
        subprocess.run([MADE, 'recording', *options, 'containers=14', f'ms={MS}',
                        f'waits={WAITS_NS}'], stdout=file, check=True)
    return path


def make_hole(directory, path, begin, end):
    """A copy without the headers of what has records of these seconds.  Returns it, and the ms
    in which the hole begins."""
    with open(path, 'rb') as file:
        chunks = bytearray(file.read())
    at, last = 0, 0
    while at < len(chunks):
        size, kind, payload = struct.unpack_from('<2I8xI', chunks, at + 12)
        first_ns, last_ns = struct.unpack_from('<2Q', chunks, at + 40)
        if kind == CHUNK_DATA and last_ns <= BEGIN_NS + begin * SECOND_NS:
            last = last_ns
        elif kind == CHUNK_DATA and first_ns < BEGIN_NS + end * SECOND_NS:
            chunks[at] ^= 1
        at += size + payload
    copy = os.path.join(directory, 'hole.cmt')
    with open(copy, 'wb') as file:
        file.write(chunks)
    return copy, (last - BEGIN_NS) // 1000000


def report_ends(directory, path, *part):
    """Begins and ends of incidents on the page, in ms from its begin on"""
    page = os.path.join(directory, 'part.html')
    stat('report', *part, '-o', page, path)
    with open(page, encoding='utf-8') as file:
        found = re.findall(r'"begin":(\d+),"end":(\d+),"worst"', file.read())
    return [(int(begin), int(end)) for begin, end in found]


def make_story(directory):
    """One incident, of docker:web, which begins and ends."""
    return make(directory, 'story.cmt', 'containers=12', 'waits=0', 'ms=20000', 'story=1')


def export_part(path, *part):
    return [json.loads(line) for line in export(path, '--ndjson', *part).stdout.splitlines()]


def replay_part(path, *part):
    """The incidents of replay --why, each as it was told last"""
    told = {}
    for line in stat('replay', '--why', '--json', *part, path).stdout.splitlines():
        row = json.loads(line)
        if row['record'] == 'incident':
            told[row['number']] = row
    return list(told.values())


class Incidents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # pylint: disable-next=consider-using-with # until all tests have run
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = make(cls.directory.name, 'waits.cmt')
        cls.lines = export_part(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_waits(self):
        """docker:web waits for those on its CPU, as long as it was made to wait."""
        waits = [row for row in self.lines if row['resource'] == 'cpu']
        self.assertEqual({row['victim'] for row in waits}, {'docker:web'})
        self.assertEqual({row['suspect'] for row in waits},
                         {'docker:c5', 'docker:c9', 'docker:c13'})
        lost_ns = sum(row['lost_ns'] for row in waits)
        # the last estimate is up to 250 ms old, and its second may be one before
        self.assertGreater(lost_ns, (MS - 1250) * WAITS_NS * 0.9)
        self.assertLess(lost_ns, MS * WAITS_NS)
        for row in waits:
            self.assertIsNone(row['domain'])
            self.assertEqual(row['time'], '2026-06-01T00:00:00.001000Z')
            self.assertTrue(row['began_before'] and row['goes_on'] and not row['emulated'])

    def test_as_replay(self):
        """They are those that replay --why has at its end."""
        wanted = [(i['number'], i['container'], i['begin_ns'], i['end_ns'] - i['begin_ns'],
                   i['worst'], i['lost_ns'], p['container'], p['resource'].lower(), p['domain'],
                   p['lost_ns'])
                  for i in replay_part(self.path) for p in i['because_of']]
        found = [(r['number'], r['victim'], r['monotonic_ns'], r['length_ns'], round(r['worst'], 3),
                  r['lost_by_all_ns'], r['suspect'], r['resource'], r['domain'], r['lost_ns'])
                 for r in self.lines]
        self.assertTrue(found)
        self.assertEqual(sorted(found, key=str), sorted(wanted, key=str))

    def test_clickhouse(self):
        columns = rows.schema(SCHEMA, 'incidents')
        found = rows.rowbinary(export(self.path, '--clickhouse').stdout, columns)
        self.assertEqual(len(found), len(self.lines))
        for row, other in zip(found, self.lines):
            self.assertEqual(list(row), [k for k in other if k != 'time'])
            for name, value in row.items():
                if isinstance(value, bytes):
                    self.assertEqual(value.decode(), other[name], name)
                elif isinstance(value, float):
                    self.assertAlmostEqual(value, other[name], delta=1e-6, msg=name)
                else:
                    self.assertEqual(value, other[name], name)

    def test_csv(self):
        text = export(self.path, '--csv').stdout.decode()
        found = list(csv.DictReader(io.StringIO(text, newline='')))
        self.assertEqual(len(found), len(self.lines))
        self.assertEqual(list(found[0])[0], 'Time')
        self.assertEqual(found[0]['Time'], '2026-06-01 00:00:00.001000')
        for row, other in zip(found, self.lines):
            for name in ('victim', 'suspect', 'resource', 'suspect_path'):
                self.assertEqual(row[name], other[name], name)
            for name in ('lost_ns', 'domain', 'monotonic_ns'):
                self.assertEqual(row[name], '' if other[name] is None else str(other[name]), name)

    def test_clock_is_set(self):
        """The time of a begin is that of the clock as it was then."""
        path = make(self.directory.name, 'set.cmt', 'clock=1')
        found = export_part(path)
        self.assertEqual([(r['time'], r['monotonic_ns']) for r in found],
                         [(r['time'], r['monotonic_ns']) for r in self.lines])

    def test_part(self):
        """What is before --from is not in what was lost; the same with replay --why."""
        def lost(*part):
            found = [row for row in export_part(self.path, *part) if row['resource'] == 'cpu']
            told = replay_part(self.path, *part)[-1]
            lost_ns = sum(row['lost_ns'] for row in found)
            self.assertEqual({row['lost_by_all_ns'] for row in found}, {told['lost_ns']})
            self.assertEqual({row['monotonic_ns'] for row in found}, {told['begin_ns']})
            length_ns = told['end_ns'] - told['begin_ns']
            # each estimate adds whole nanoseconds to each of them
            estimates = 1 + length_ns // ESTIMATE_NS
            self.assertLessEqual(abs(told['lost_ns'] - lost_ns), len(found) * estimates)
            self.assertEqual({row['length_ns'] for row in found}, {length_ns})
            return found, lost_ns

        estimate_ns = 250 * WAITS_NS
        _, in_all = lost()
        _, before = lost('--to', '5s')
        found, behind = lost('--from', '5s')
        self.assertGreater(behind, 0.5 * SECOND_NS / 1000000 * WAITS_NS)
        self.assertLessEqual(behind, in_all - before + estimate_ns)
        self.assertEqual({row['time'] for row in found}, {'2026-06-01T00:00:05.000000Z'})
        self.assertTrue(all(row['began_before'] for row in found))
        # the first estimate is of a second, of which all or some is before the part
        _, early = lost('--from', '0.5s')
        _, late = lost('--from', '0.9s')
        self.assertGreater(early - late, 0.5 * 400 * WAITS_NS)
        _, short = lost('--from', '0.9s', '--to', '1.3s')
        self.assertLess(short, 400 * WAITS_NS)
        # no estimate is made in these parts, but one goes on to their ends
        for part, length in [(('--from', '5.05s', '--to', '5.1s'), 50000000),
                             (('--from', '5.9s'), 100000000)]:
            found, _ = lost(*part)
            self.assertTrue(found)
            for row in found:
                self.assertLessEqual(abs(row['length_ns'] - length), 2000000, part)

    def test_report(self):
        """On a page that is shorter than the time between estimates, one is as long as it."""
        found = report_ends(self.directory.name, self.path, '--from', '5.9s')
        self.assertEqual({begin for begin, _ in found}, {0})
        self.assertTrue(all(end >= 99 for _, end in found), found)

    def test_hole_at_end(self):
        """The first record behind a hole is behind the part, too: no incident goes on to it."""
        path, hole_ms = make_hole(self.directory.name, self.path, 2, 5)
        part = ('--from', '1.4s', '--to', f'{hole_ms / 1000 + 0.2:.3f}s')
        lengths = {row['length_ns'] // 1000000 for row in export_part(path, *part)}
        self.assertEqual(lengths, {(incident['end_ns'] - incident['begin_ns']) // 1000000
                                   for incident in replay_part(path, *part)})
        self.assertEqual({end for _, end in report_ends(self.directory.name, path, *part)},
                         lengths)
        self.assertEqual(len(lengths), 1)
        self.assertLessEqual(abs(lengths.pop() - (hole_ms - 1400)), 2)

    def test_ended_before_part(self):
        """The engine keeps one open for a second after its end; a part behind that has none."""
        path = make_story(self.directory.name)
        first = export_part(path)[0]
        self.assertFalse(first['goes_on'])
        end = (first['monotonic_ns'] + first['length_ns'] - BEGIN_NS) / SECOND_NS
        for after in 0.1, 0.3, 0.8:
            for length in 0.1, 1.5:
                part = ('--from', f'{end + after:.3f}s', '--to', f'{end + after + length:.3f}s')
                self.assertEqual(export_part(path, *part), [], part)
                self.assertEqual(replay_part(path, *part), [], part)
        # and one that has its end has the same end however long it is
        found = [export_part(path, '--from', f'{end - 1:.3f}s', '--to', f'{to:.3f}s')
                 for to in (end + 0.3, end + 0.7, end + 2)]
        self.assertTrue(found[0])
        self.assertEqual(len({row['length_ns'] for rows in found for row in rows}), 1)

    def test_worst_of_rising(self):
        """At worst it is at least what it is now, as new as the estimate may be."""
        path = make_story(self.directory.name)
        rising = 0
        for ms in range(9000, 9260, 20):
            for told in replay_part(path, '--from', '8.9s', '--to', f'{ms / 1000}s'):
                self.assertGreaterEqual(told['worst'], told['share'], ms)
                rising += told['share'] == told['worst']
        self.assertGreater(rising, 0)

    def test_without_counters(self):
        """Waits for a CPU are all that is known then, and a message says so."""
        message = b'slowdown by cache and memory is not known'
        path = make(self.directory.name, 'uncounted.cmt', 'uncounted=1')
        done = export(path, '--csv')
        self.assertIn(message, done.stderr)
        found = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline='')))
        self.assertEqual({row['resource'] for row in found}, {'cpu'})
        self.assertNotIn(message, export(self.path, '--csv').stderr)


class Queries(unittest.TestCase):
    def test_any_join(self):
        """ANY means another thing since ClickHouse 20, and these are for older ones, too."""
        for path in glob.glob(os.path.join(os.path.dirname(SCHEMA), '*.sql')):
            with open(path, encoding='ascii') as file:
                self.assertNotRegex(file.read(), r'(?i)\bany\s+(inner|left|right)?\s*join', path)

    def test_time(self):
        """Old servers take no condition into a view: it reads all days.  So a question about a
        time asks the tables, and these are divided by time."""
        for path in glob.glob(os.path.join(os.path.dirname(SCHEMA), '*.sql')):
            with open(path, encoding='ascii') as file:
                text = file.read()
            if '@FROM@' in text:
                self.assertNotRegex(text, r'FROM cmt\.(minutes|seconds|rows_1s)\b', path)
        with open(SCHEMA, encoding='ascii') as file:
            self.assertEqual(re.findall(r'PARTITION BY (.*)', file.read()),
                             ['toDate(time)', 'toYYYYMM(time)'])


if __name__ == '__main__':
    unittest.main()
