#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""values_test.py CMTSTAT CMT-MADE [unittest's]: a page says what export and replay say.

Recordings are made, and each is read three times: by cmtstat report, whose page is decoded
here, by cmtstat export --ndjson, and by cmtstat replay --json.  Means, least and most of each
container are compared, for the whole time, at 1 ms, and at coarser levels, within the
rounding that the page states.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

from page import Page, mean

CMTSTAT, MADE = sys.argv.pop(1), sys.argv.pop(1)
MS = 1000000
BEGIN = 1024 * 1000 * MS         # of the recording, and of its page: MADE_BEGIN_NS
OCCUPANCY = 1 / 1024            # what the page states: 0.1 %,
RATE = 1 / 128                  # 0.8 %,
LOCAL = 1 / 64 / 2              # and half of a 64-th of the bandwidth
KB = 1000
# A reading is some time after the begin of its ms, and of one that does not run up to 32 ms
# late: traffic of an interval's ends may be in the next one.
LATE = 32


class Recording:
    """A recording, its page, and what others say of it."""

    def __init__(self, directory, name, part=(), **options):
        self.part = part
        self.path = os.path.join(directory, name + '.cmt')
        words = [f'{key}={value}' for key, value in options.items()]
        with open(self.path, 'wb') as out:
            subprocess.run([MADE, 'recording', *words], stdout=out, check=True)
        page = os.path.join(directory, name + '.html')
        subprocess.run([CMTSTAT, 'report', self.path, '-o', page, '--size', '1G', *part],
                       check=True, stderr=subprocess.DEVNULL)
        self.page = Page(page)

    def lines(self, *words):
        """Lines of JSON of a sub-command."""
        done = subprocess.run([CMTSTAT, *words, *self.part, self.path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def export(self, grain_ms, by='container'):
        """{name: rows} of the intervals."""
        found = collections.defaultdict(list)
        for row in self.lines('export', '--ndjson', '--grain', f'{grain_ms / 1000:.3f}',
                              '--by', by):
            found[row['name']].append(row)
        return found


def weighed(rows, value, weight):
    """Mean over rows in which both are known."""
    rows = [row for row in rows if row[value] is not None and row[weight]]
    total = sum(row[weight] for row in rows)
    return sum(row[value] * row[weight] for row in rows) / total if total else None


class Values(unittest.TestCase):
    """One page each."""

    options = {'containers': 14, 'ms': 5000, 'idle': 1}

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.recording = Recording(cls.directory.name, 'made', **cls.options)
        cls.page = cls.recording.page

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def near(self, seen, should, part, what, least=0.0):
        """Both are known, or none; and they are equal but for so much."""
        self.assertEqual(seen is None, should is None, (what, seen, should))
        if seen is not None:
            self.assertLessEqual(abs(seen - should), abs(should) * part + least,
                                 (what, seen, should))

    def containers(self):
        """(number, member) of those that have values."""
        found = [(n, self.page.members[n]) for n in self.page.numbers('container')]
        self.assertGreater(len(found), 5)
        return found

    def test_table(self):
        """Mean, least and most of the table, over the whole time."""
        exported = self.recording.export(1000)
        length = self.options['ms']
        # a name that is escaped in another way has no rows
        named = [m for _, m in self.containers() if m['label'] in exported]
        self.assertGreater(len(named), 5)
        for member in named:
            rows = exported[member['label']]
            what = member['label']
            self.near(member['mean'],
                      weighed(rows, 'occupancy_mean_bytes', 'occupancy_slots'), 0.001, what)
            if member['mean'] is not None:
                most = max(row['occupancy_most_bytes'] for row in rows)
                self.assertEqual(member['most'], most, what)
            if any('ended' in row['occupancy_why'] for row in rows):
                continue        # export has the rate of all of the last interval
            late = 2 * LATE / length
            self.near(member['rate'], weighed(rows, 'total_rate', 'length_ns'), late, what)
            self.near(member['local'], weighed(rows, 'local_rate', 'length_ns'), late, what)

    def test_replay(self):
        """The last occupancy of each second, and what was moved in it, as replay prints it."""
        rows = self.recording.lines('replay', '--json')
        names = {m['label']: n for n, m in self.containers()}
        compared = 0
        for row in rows:
            if row['record'] != 'row' or row['container'] not in names:
                continue
            number = names[row['container']]
            last = (row['end_ns'] - BEGIN) // MS
            points = self.page.points(0, number)
            if last not in points or row['occupancy_bytes'] is None:
                continue
            self.near(points[last].mean, row['occupancy_bytes'], OCCUPANCY, row['container'])
            inside = [points[i].rate for i in range(last - 999, last + 1) if i in points]
            if len(inside) == 1000 and None not in inside:
                self.near(mean(inside), row['mbm_total_bytes_per_s'],
                          RATE + 2 * LATE / 1000, row['container'], KB)
            compared += 1
        self.assertGreater(compared, 2 * len(names))

    def test_milliseconds(self):
        """Level 0 has the occupancy that was read in each ms."""
        exported = self.recording.export(1)
        compared = 0
        for number, member in self.containers():
            points = self.page.points(0, number)
            rows = exported[member['label']]
            for row in rows:
                index = (row['monotonic_ns'] - BEGIN) // MS
                if row['occupancy_bytes'] is None or row['gaps'] or row['occupancy_age_ns']:
                    continue
                self.near(points[index].mean, row['occupancy_bytes'], OCCUPANCY,
                          (member['label'], index))
                compared += 1
        self.assertGreater(compared, 0)

    def test_levels(self):
        """Each level has least and most of its milliseconds, and their means."""
        for level in (1, 2, 4, 6):
            for number, member in self.containers():
                fine = self.page.points(0, number)
                for index, point in self.page.points(level, number).items():
                    inside = [fine.get(i) for i in
                              range(index * 4 ** level, (index + 1) * 4 ** level)]
                    inside = [p for p in inside if p]
                    self.level_point(point, inside, (level, member['label'], index))

    def level_point(self, point, inside, what):
        """A point, and those of 1 ms that are in it."""
        known = [p.mean for p in inside if p.mean is not None]
        rates = [p.rate for p in inside if p.rate is not None]
        self.near(point.mean, mean(known), 2 * OCCUPANCY, what, self.page.meta['unit'] / 2)
        self.near(point.rate, mean(rates), 2 * RATE, what, KB)
        if known:
            self.assertEqual((point.least, point.most), (min(known), max(known)), what)
        if rates:
            self.assertEqual(point.rate_most, max(rates), what)
        # of a part of the bandwidths the local one may be known
        if rates and all(p.local is not None for p in inside if p.rate is not None):
            local = mean(p.local for p in inside if p.rate is not None)
            self.near(point.local, local, 0, what,
                      point.rate * (2 * LOCAL + 2 * RATE) + KB)

    def test_grains(self):
        """A level's points are what export says of intervals of its length."""
        for level in (3, 5):
            exported = self.recording.export(4 ** level)
            compared = 0
            for number, member in self.containers():
                points = self.page.points(level, number)
                for row in exported[member['label']]:
                    index = (row['monotonic_ns'] - BEGIN) // (4 ** level * MS)
                    point = points.get(index)
                    if not point or not point.is_whole() or row['gaps'] or \
                            row['length_ns'] != 4 ** level * MS or \
                            row['occupancy_slots'] != 4 ** level:
                        continue
                    what = (level, member['label'], index)
                    self.near(point.mean, row['occupancy_mean_bytes'], OCCUPANCY, what,
                              self.page.meta['unit'] / 2)
                    self.near(point.least, row['occupancy_least_bytes'], OCCUPANCY, what)
                    self.near(point.most, row['occupancy_most_bytes'], OCCUPANCY, what)
                    compared += 1
            self.assertGreater(compared, 0, level)


class AllRun(Values):
    """Each container runs all the time: what a level moved is the export's to its rounding."""

    options = {'containers': 14, 'ms': 5000, 'channels': 4}

    def test_rates(self):
        exported = self.recording.export(256)
        for number, member in self.containers():
            points = self.page.points(4, number)
            for row in exported[member['label']][1:-1]:
                point = points[(row['monotonic_ns'] - BEGIN) // (256 * MS)]
                self.near(point.rate, row['total_rate'], RATE, member['label'], KB)
                self.near(point.local, row['local_rate'], RATE, member['label'],
                          point.rate * LOCAL + KB)

    def test_channels(self):
        """Each channel, their sum, and what no RMID accounts for, as replay prints them."""
        rows = self.recording.lines('replay', '--json', '--by', 'channel', '-i', '1.024')
        frames = [row for row in rows if row['record'] == 'interval'][1:-1]
        self.assertGreater(len(frames), 2)
        everything = self.page.points(5, self.page.numbers('channels')[0])
        rmids = self.page.points(5, self.page.numbers('rmids')[0])
        channels = {self.page.members[n]['label']: self.page.points(5, n)
                    for n in self.page.numbers('channel')}
        self.assertEqual(len(channels), 4)
        for i, frame in enumerate(frames, 1):
            self.near(everything[i].rate, frame['memory_bytes_per_s'], RATE, i)
            self.near(everything[i].local, frame['memory_read_bytes_per_s'], RATE, i,
                      everything[i].rate * LOCAL)
            self.near(rmids[i].rate, frame['memory_rmids_bytes_per_s'], RATE, i)
            self.near(everything[i].rate - rmids[i].rate,
                      frame['memory_unattributed_bytes_per_s'], 0, i,
                      2 * RATE * everything[i].rate)
            for row in rows:
                if row['record'] == 'row' and row['end_ns'] == frame['end_ns']:
                    label = f"socket {row['socket']}, channel {row['channel']}"
                    self.near(channels[label][i].rate, row['total_bytes_per_s'], RATE, label)


class Processes(Values):
    """RMIDs of processes: a row has more than one, and not all are read at once."""

    options = {'containers': 15, 'ms': 5000, 'idle': 1, 'processes': 1}

    def test_processes(self):
        exported = self.recording.export(1000, 'process')
        for _, member in self.containers():
            rows = exported[member['label']]
            pids = {(row['comm'], row['pid']) for row in rows}
            self.assertEqual(pids, {(p['comm'], p['pid']) for p in member['processes']})
            for process in member['processes']:
                own = [row for row in rows if row['pid'] == process['pid']]
                self.near(process['mean'],
                          weighed(own, 'occupancy_mean_bytes', 'occupancy_slots'), 1e-6,
                          process['comm'], 1)
                for name, value in (('rate', 'total_rate'), ('local', 'local_rate')):
                    # the page's seconds begin and end at another ms
                    self.near(process[name], weighed(own, value, 'length_ns'),
                              5 / self.options['ms'], process['comm'], 1)


class Hostile(Values):
    """Losses, errors, one that ends, and names that nobody wants."""

    options = {'containers': 14, 'ms': 5000, 'hostile': 1}

    def test_unknown(self):
        """What has no value has none in the page."""
        faulty = next(m for m in self.page.members if m['label'] == 'docker:c5')
        for name in ('mean', 'least', 'most', 'rate', 'local'):
            self.assertIsNone(faulty[name], name)


class Part(unittest.TestCase):
    """A page that begins in the middle of a recording."""

    def test_idle(self):
        """Members that do not run are there from the begin, with the occupancy that they hold."""
        with tempfile.TemporaryDirectory() as directory:
            recording = Recording(directory, 'made', ('--from', '+2.1s', '--to', '+2.110s'),
                                  containers=14, ms=5000, idle=1)
            exported = recording.export(10)
        members = {m['label']: m for m in recording.page.members}
        self.assertEqual(members.keys(), exported.keys())
        for label, (row,) in exported.items():
            member = members[label]
            self.assertEqual((member['first'], member['slots'], member['known']),
                             (0, 10, row['occupancy_slots']), label)
            self.assertEqual(int(member['mean']), row['occupancy_mean_bytes'], label)


class Judged(unittest.TestCase):
    """Who ran too little for a slowdown by cache and memory."""

    def test_too_little(self):
        for options, judged in (({'containers': 14, 'ms': 8000, 'idle': 1, 'waits': 1000}, 0),
                                ({'containers': 12, 'ms': 8000, 'story': 1}, 12)):
            with tempfile.TemporaryDirectory() as directory:
                recording = Recording(directory, 'made', **options)
                told = {row['container'] for row in recording.lines('replay', '--why', '--json')
                        if row.get('too_little')}
            members = [m for m in recording.page.members if m['kind'] == 'container']
            self.assertEqual(len([m for m in members if m['judged']]), judged)
            self.assertEqual({m['label'] for m in members if not m['judged']}, told)


class Verdicts(unittest.TestCase):
    """What is said of who waits for a CPU."""

    def test_waits(self):
        """Values of cache and memory are unknown, and not 0."""
        with tempfile.TemporaryDirectory() as directory:
            recording = Recording(directory, 'made', containers=14, ms=4000, waits=400000)
            told = [row for row in recording.lines('replay', '--why', '--json')
                    if row['record'] == 'verdict']
        verdicts = [v for v in recording.page.meta['verdicts'] if v['kind'] == 'wait']
        self.assertTrue([v for v in verdicts if v['suspects']])
        for verdict in verdicts + [v for v in told if v['kind'] == 'wait']:
            for name in ('domain', 'lost', 'lost_bytes', 'occupancy', 'occupancy_before',
                         'refetched'):
                self.assertIsNone(verdict.get(name), name)
            for suspect in verdict['suspects']:
                self.assertEqual([name for name, value in suspect.items()
                                  if value == 0 and name not in ('id', 'member')], [])
        costs = [c for i in recording.page.meta['incidents'] for c in i['costs']]
        self.assertTrue(costs)
        for cost in costs:
            self.assertEqual(cost['domain'] is None, cost['resource'] == 'CPU', cost)


if __name__ == '__main__':
    unittest.main()
