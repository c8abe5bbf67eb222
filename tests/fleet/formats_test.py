#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What cmtstat export writes, read again: usage:
formats_test.py DIRECTORY_OF_THE_BUILD [unittest's]"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import rows
from cut import write_part

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(os.path.dirname(__file__), '../../docs/fleet/schema.sql')
BUILD = os.path.abspath(sys.argv.pop(1))
STAT = os.path.join(BUILD, 'tools/cmtstat')
MADE = os.path.join(BUILD, 'tests/fleet/cmt-made')
MS = 1000000
BEGIN_NS = 1024 * 1000 * MS
# CLOCK_REALTIME less CLOCK_MONOTONIC, once the clock of cmt-made is set back an hour
SET_BACK_NS = (1780272000 - 3600) * 1000 * MS - BEGIN_NS


def made(form, **options):
    words = [f'{name}={value}' for name, value in options.items()]
    return subprocess.run([MADE, form, *words], stdout=subprocess.PIPE, check=True).stdout


def hostile(form, **options):
    return made(form, containers=14, ms=1200, hostile=1, **{'grain': 100, **options})


class Clocks(unittest.TestCase):
    """A saved recording begins long after its recorder, whose clock was set back since."""

    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.top.cleanup)
        whole, cls.part = (os.path.join(cls.top.name, name) for name in ('whole', 'part'))
        with open(whole, 'wb') as file:
            file.write(made('recording', containers=5, ms=8000, clock=1))
        # from 4 s on, when the clock is set, and the next state is at 5 s
        write_part(whole, cls.part, 0.53, 1)

    def export(self, *options):
        out = subprocess.run([STAT, 'export', '--ndjson', '--grain', '0.1', *options, self.part],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        return [json.loads(line) for line in out.splitlines()]

    def test_rows(self):
        """From the first row on, the clock is that of the states."""
        found = self.export()
        self.assertGreaterEqual(found[0]['monotonic_ns'], BEGIN_NS + 4000 * MS)
        self.assertEqual({row['time_ns'] - row['monotonic_ns'] for row in found}, {SET_BACK_NS})

    def test_from(self):
        """A time of day is one of that clock."""
        at_ns = self.export()[-1]['time_ns'] - 1000 * MS
        day_s = at_ns / 1e9 % 86400
        text = f'{int(day_s / 3600):02}:{int(day_s / 60 % 60):02}:{int(day_s % 60):02}'
        first = self.export('--from', text)[0]['time_ns']
        self.assertLess(abs(first - at_ns), 1100 * MS)

    def test_page(self):
        page = os.path.join(self.top.name, 'page')
        subprocess.run([STAT, 'report', '-o', page, self.part], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(page, encoding='utf-8') as file:
            real_ms = float(re.search(r'"real_ms": ?([0-9.e+]+)', file.read()).group(1))
        begin_ns = self.export()[0]['monotonic_ns'] + SET_BACK_NS
        self.assertLess(abs(real_ms - begin_ns / MS), 256)


class Ndjson(unittest.TestCase):
    def test_lines(self):
        data = hostile('ndjson')
        data.decode('utf-8')
        lines = data.split(b'\n')
        self.assertEqual(lines.pop(), b'')
        for line in lines:
            row = json.loads(line)
            self.assertLessEqual(row['length_ns'], 100 * MS)
            # nothing acts on a terminal
            self.assertFalse([c for c in line.decode() if ord(c) < 32 or 0x7f <= ord(c) < 0xa0
                              or c in '\u202e\u2028'])

    def test_unknown_is_null(self):
        faulty = [json.loads(l) for l in hostile('ndjson').splitlines()]
        faulty = [row for row in faulty if row['name'] == 'docker:c5']
        self.assertTrue(faulty)
        for row in faulty:
            for name in ('occupancy_bytes', 'occupancy_most_bytes', 'total_bytes', 'total_rate',
                         'total_hi', 'local_rate'):
                self.assertIsNone(row[name], name)
            self.assertEqual(row['occupancy_why'], ['error'])

    def test_unknown_residue_is_null(self):
        """The samples have an occupancy, and no residue."""
        rows = [json.loads(l) for l in hostile('ndjson').splitlines()]
        rows = [row for row in rows if row['name'] == 'docker:web']
        self.assertTrue(rows)
        for row in rows:
            self.assertGreater(row['occupancy_bytes'], 0)
            self.assertIsNone(row['residual_bytes'])

    def test_waits(self):
        lines = [json.loads(l) for l in hostile('ndjson').splitlines()]
        web, batch = ([row for row in lines if row['name'] == name]
                      for name in ('docker:web', 'docker:batch'))
        # the first and the last one are cut: intervals begin at multiples of their length
        self.assertEqual([row['length_ns'] // MS for row in web], [99] + 11 * [100] + [1])
        self.assertTrue(all(row['monotonic_ns'] % (100 * MS) == 0 for row in web[1:]))
        for row in web[1:-1]:
            # 4,096 ns in each of 100 ms
            self.assertAlmostEqual(row['waited_ns'], 409600, delta=8192)
            self.assertAlmostEqual(row['wait_share'], 0.004096, delta=0.0001)
            self.assertFalse(row['wait_quota'])
        self.assertTrue(batch and all(row['wait_quota'] and row['waited_ns'] == 0
                                      for row in batch))

    def test_ended(self):
        ended = [json.loads(l) for l in hostile('ndjson').splitlines()]
        ended = [row for row in ended if row['name'] == 'docker:c6']
        self.assertEqual(ended[-1]['occupancy_why'], ['ended'])
        self.assertIsNone(ended[-1]['occupancy_bytes'])
        self.assertLess(ended[-1]['monotonic_ns'], BEGIN_NS + 700 * MS)

    def test_bytes_that_are_no_text(self):
        found = [json.loads(l) for l in hostile('ndjson').splitlines()]
        found = next(row for row in found if 'path_hex' in row)
        self.assertTrue(bytes.fromhex(found['path_hex']).endswith(b'\xff\xfe\x80 not utf-8 \xc3'))
        self.assertIn('\ufffd', found['path'])

    def test_losses(self):
        found = [json.loads(l) for l in hostile('ndjson').splitlines()]
        self.assertEqual({row['lost'] for row in found}, {0, 7})

    def test_bounds(self):
        for line in hostile('ndjson').splitlines():
            row = json.loads(line)
            if row['total_rate'] is not None and row['total_hi'] is not None:
                self.assertLessEqual(row['total_lo'], row['total_rate'])
                self.assertLessEqual(row['total_rate'], row['total_hi'])


class Csv(unittest.TestCase):
    def rows(self, **options):
        text = hostile('csv', **options).decode('utf-8')
        self.assertEqual(text.count('\n'), len(text.splitlines()))
        return list(csv.DictReader(io.StringIO(text, newline='')))

    def test_pqos(self):
        header = hostile('csv').decode().splitlines()[0]
        self.assertTrue(header.startswith(
            'Time,PID,Core,IPC,LLC Misses,LLC References,LLC[KB],'
            'MBL[MB/s],MBR[MB/s],MBT[MB/s],'))

    def test_same_as_ndjson(self):
        rows, others = self.rows(), [json.loads(l) for l in hostile('ndjson').splitlines()]
        self.assertGreater(len(rows), 14)
        self.assertEqual(len(rows), len(others))
        for row, other in zip(rows, others):
            self.assertNotIn(None, row)
            for name in ('monotonic_ns', 'occupancy_bytes', 'total_rate', 'total_lo', 'cycles'):
                want = '' if other[name] is None else other[name]
                self.assertEqual(row[name] if want == '' else float(row[name]), want, name)
            if other['occupancy_bytes'] is None or other['occupancy_partial']:
                self.assertEqual(row['LLC[KB]'], '')
            else:
                self.assertAlmostEqual(float(row['LLC[KB]']), other['occupancy_bytes'] / 1024)
            if other['total_rate'] is None or other['total_partial']:
                self.assertEqual((row['MBT[MB/s]'], row['MBR[MB/s]']), ('', ''))
            else:
                self.assertAlmostEqual(float(row['MBT[MB/s]']), other['total_rate'] / 2 ** 20,
                                       delta=0.051)

    def test_bounds(self):
        """A lower bound of 0 is nowhere a number, and pqos's columns have no mark for others."""
        found = {r['name']: r for r in self.rows(beside=1)}
        web, batch, other = found['docker:web'], found['docker:batch'], found['docker:c14']
        pqos = ('IPC', 'LLC Misses', 'LLC References', 'LLC[KB]', 'MBL[MB/s]', 'MBR[MB/s]',
                'MBT[MB/s]')
        for name in pqos:
            self.assertEqual((web[name], batch[name]), ('', ''), name)
            self.assertNotEqual(other[name], '', name)
        for name in ('occupancy_bytes', 'total_bytes', 'total_rate', 'local_bytes'):
            self.assertEqual(web[name], '', name)
            self.assertGreater(float(batch[name]), 0, name)
        for name in ('occupancy', 'total', 'local', 'counters'):
            self.assertEqual(batch[name + '_partial'], '1', name)
            self.assertEqual(other[name + '_partial'], '0', name)

    def test_no_formula(self):
        """Not in a spreadsheet either."""
        found = self.rows()
        for row in found:
            for name, value in row.items():
                self.assertNotIn(value[:1], ('=', '+', '-', '@', '\t', '\r'), (name, value))
        self.assertTrue([r for r in found if r['name'].startswith("'=cmd")])

    def test_time(self):
        found = self.rows()
        self.assertRegex(found[0]['Time'], r'^2026-06-01 00:00:00\.001000$')
        self.assertRegex(self.rows(grain=1000)[0]['Time'], r'^2026-06-01 00:00:00$')

    def test_views(self):
        for by, column in ((2, 'cpu'), (3, 'domain')):
            found = self.rows(by=by)
            self.assertTrue([r for r in found if r[column] != ''])
        self.assertEqual({r['Core'] for r in self.rows(by=2)} - {''}, {'0', '1', '2', '3'})


class ClickHouse(unittest.TestCase):
    def test_same_as_ndjson(self):
        columns = rows.schema(SCHEMA)
        found = rows.rowbinary(hostile('clickhouse'), columns)
        others = [json.loads(l) for l in hostile('ndjson').splitlines()]
        self.assertEqual(len(found), len(others))
        bits = {'error': 1, 'unavailable': 2, 'gap': 4, 'first-reading': 8, 'ended': 16}
        for row, other in zip(found, others):
            self.assertEqual(list(row), [k for k in other if k in row])
            for name, value in row.items():
                want = other[name]
                if isinstance(want, list) and name.endswith('_why'):
                    self.assertEqual(value & 31, sum(bits.get(w, 0) for w in want), name)
                elif isinstance(value, bytes):
                    hexed = other.get(name + '_hex')
                    self.assertEqual(value, bytes.fromhex(hexed) if hexed else want.encode())
                elif isinstance(value, float):
                    self.assertAlmostEqual(value, want, delta=abs(want) * 2e-7, msg=name)
                    if name.endswith('_lo'):
                        self.assertLessEqual(value, want)
                    if name.endswith('_hi'):
                        self.assertGreaterEqual(value, want)
                elif not isinstance(want, list):
                    self.assertEqual(value, want, name)

    def test_not_nullable(self):
        """Whether tasks ran out of a quota has no NULL in its table, whose columns stay."""
        options = {'containers': 5, 'ms': 400, 'grain': 100, 'unaccounted': 1}
        found = rows.rowbinary(made('clickhouse', **options), rows.schema(SCHEMA))
        others = [json.loads(l) for l in made('ndjson', **options).splitlines()]
        self.assertEqual(len(found), len(others))
        self.assertEqual({(row['waited_ns'], row['wait_quota']) for row in found}, {(None, 0)})
        self.assertEqual({(row['waited_ns'], row['wait_quota']) for row in others}, {(None, None)})

    def test_all_columns(self):
        other = json.loads(hostile('ndjson').splitlines()[0])
        names = [k for k in other if k != 'time' and not k.endswith('_hex')]
        self.assertEqual(names, [name for name, _ in rows.schema(SCHEMA)])


class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = rows.Trace(hostile('perfetto', grain=1))

    def test_counters(self):
        web = self.trace.counter('docker:web', 'L3 occupancy')
        self.assertEqual({value for _, value in web}, {128 * 65536})
        # where it does not change there is no point, but for the last one
        self.assertLess(len(web), 10)
        self.assertGreater(len(self.trace.counter('docker:c14', 'memory bandwidth')), 500)
        cpu = self.trace.counter('docker:web', 'CPUs used')
        self.assertTrue(all(0 < value < 1 for _, value in cpu))
        waits = self.trace.counter('docker:web', 'waiting for a CPU')
        # of the first millisecond a part is counted
        values = [value for _, value in waits[1:]]
        self.assertTrue(values and all(0.002 < value < 0.02 for value in values), values[:9])

    def test_unknown_has_a_slice_and_no_point(self):
        self.assertFalse(self.trace.counter('docker:c5', 'L3 occupancy'))
        slices = self.trace.slices[self.trace.track('docker:c5')]
        self.assertIn('not known: L3 occupancy, memory bandwidth', slices[0][2])

    def test_ended(self):
        track = self.trace.track('docker:c6')
        end = self.trace.slices[track][-1]
        self.assertEqual(end[2], 'ended, or not measured')
        last = self.trace.counter('docker:c6', 'L3 occupancy')[-1][0]
        self.assertLessEqual(last, end[0])

    def test_gap(self):
        """Where there are no readings a slice on each track says so, and values begin anew."""
        data = made('recording', containers=14, ms=12000)
        with tempfile.NamedTemporaryFile() as file:
            file.write(data[:len(data) // 4] + bytes(len(data) // 4) + data[len(data) // 2:])
            file.flush()
            lines, trace = (subprocess.run(
                [STAT, 'export', form, '--grain', '0.1', file.name], check=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
                            for form in ('--ndjson', '--perfetto'))
        lines, trace = [json.loads(l) for l in lines.splitlines()], rows.Trace(trace)
        spans = sorted({(row['monotonic_ns'], row['length_ns']) for row in lines})
        gaps = [(begin + length, after) for (begin, length), (after, _) in zip(spans, spans[1:])
                if begin + length < after]
        self.assertEqual(len(gaps), 1)
        self.assertGreater(gaps[0][1] - gaps[0][0], 1000 * MS)
        tracks = [u for u in trace.names if not trace.parents[u]]
        self.assertGreater(len(tracks), 14)
        for track in tracks:
            found = [s[:2] for s in trace.slices.get(track, []) if s[2] == 'not measured']
            self.assertEqual(found, gaps, trace.names[track])
        again = [ns for ns, _ in trace.counter('docker:web', 'L3 occupancy')]
        self.assertIn(gaps[0][1], again)

    def test_losses(self):
        recording = self.trace.track('recording of node-1')
        self.assertIn('records lost: 7', ' '.join(s[2] for s in self.trace.slices[recording]))

    def test_names_are_text(self):
        self.assertTrue([n for n in self.trace.names.values() if n.startswith('=cmd')])

    def test_protobuf(self):
        """protoc, which is not ours, reads all of it, and finds the same values."""
        data = hostile('perfetto', grain=10)
        text = subprocess.run(
            ['protoc', '--decode=perfetto.protos.Trace', '-I', HERE, 'perfetto.proto'],
            input=data, stdout=subprocess.PIPE, check=True).stdout.decode('utf-8')
        # a field without a name is none that the schema has
        self.assertIsNone(re.search(r'^\s*\d+[:\s]', text, re.M))
        trace = rows.Trace(data)
        points = sum(len(points) for points in trace.points.values())
        slices = sum(len(slices) for slices in trace.slices.values())
        self.assertEqual(text.count('type: TYPE_COUNTER'), points)
        self.assertEqual(text.count('type: TYPE_SLICE_BEGIN'), slices)
        self.assertEqual(text.count('type: TYPE_SLICE_END'), slices)
        found = [float(v) for v in re.findall(r'counter_value: (\S+)', text)]
        ours = [v for all_of in trace.points.values() for _, v in all_of]
        self.assertEqual(sorted(found), sorted(float(v) for v in ours))

    def test_clock(self):
        self.assertEqual(self.trace.clocks[1] - self.trace.clocks[6],
                         1780272000 * 1000 * MS - BEGIN_NS)


class Sed(unittest.TestCase):
    """The commands that put a name into a query."""
    def test_name_with_a_slash(self):
        for path in ('../fleet.md', 'who-took.sql'):
            with open(os.path.join(os.path.dirname(SCHEMA), path), encoding='utf-8') as file:
                command = re.search(r"sed '([^']*@NAME@[^']*)'", file.read()).group(1)
            done = subprocess.run(['sed', command.replace('docker:web', 'resctrl:web/a')],
                                  input=b'@NAME@, @FROM@', stdout=subprocess.PIPE, check=False)
            self.assertEqual(done.stdout, b'resctrl:web/a, 2026-06-01 00:00:00', path)


if __name__ == '__main__':
    unittest.main()
