#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that hostile users choose, through every output, each read back by a parser that
shares nothing with what writes it.  usage: hostile_test.py DIRECTORY_OF_THE_BUILD [unittest's]

The rule of each output is in docs/security.md; this test holds the outputs to it."""
import csv
import fcntl
import html.parser
import io
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
sys.path.insert(0, os.path.join(TOP, 'tests/fleet'))
import rows  # noqa: E402

BUILD = sys.argv.pop(1)
STAT = os.path.join(BUILD, 'tools/cmtstat')
FAKE_STAT = os.path.join(BUILD, 'tools/cmtstat_fake')
FAKE_CTL = os.path.join(BUILD, 'tools/cmtctl_fake')
FAKE_EXPORTER = os.path.join(BUILD, 'tools/cmt-exporter_fake')
MADE = os.path.join(BUILD, 'tests/fleet/cmt-made')
SCHEMA = os.path.join(TOP, 'docs/fleet/schema.sql')
DEADLINE_S = 60

# No name has a zero byte or more than 255 bytes: the kernel takes none as a cgroup.
NAMES = [name if isinstance(name, bytes) else name.encode() for name in (
    # escapes of terminals
    b'\x1b[31;5;7mred', b'\x1b]0;title\x07', b'\x1b]52;c;cm0gLXJm\x1b\\', b'\x1bP$q"p\x1b\\',
    b'\x1b[2J\x1b[H', b'\x1bc', b'\x1b[?1049h', b'\x1b[6n',
    # C0, DEL and C1, as a byte and as UTF-8
    bytes(range(1, 32)), b'safe\b\b\b\bevil', b'evil\rgood', b'a\nb', b'\r\n.', b'a\tb', b'\x7f',
    b'\x9b31mraw', b'\x9d0;raw\x9c', b'\xc2\x9b31mutf', b'\xc2\x85next', b'\xc2\x90q\xc2\x9c',
    # no UTF-8: cut, overlong, a surrogate, beyond the last one, Latin-1
    b'\x80', b'\xe2\x82', b'x\xc3', b'\xc0\xaf', b'\xc0\x80', b'\xe0\x80\xaf', b'\xf0\x80\x80\xaf',
    b'\xed\xa0\x80\xed\xb0\x80', b'\xf4\x90\x80\x80', b'\xf8\x88\x80\x80\x80', b'caf\xe9',
    b'\xff\xfe<\x00'[:3],
    # text that is turned round, is invisible, or ends a line
    '\u202egnp.exe', '\u202dfdp\u202c', '\u2066a\u2069', '\u200e\u200f', '\u061c', 'we\u200bb',
    'we\u200d\u200cb', '\ufeffweb', 'w\u2060eb', 'we\u00adb', 'web\ufe0f', 'we\u034fb',
    '\u3164', '\u115f\u1160', '\uffa0', '\u180e', '\ufff9a\ufffab\ufffb', 'web\U000e0041\U000e007f',
    '\U0001d173web', 'a\u2028b', 'a\u2029b', 'e' + '\u0301' * 40,
    # markup
    '</script><script>alert(1)</script>', '<!--<script>', '--><img src=x onerror=alert(1)>',
    ']]><![CDATA[', '&lt;b&gt;&amp;&#0;', '" onmouseover="alert(1)', "'`${alert(1)}{{7*7}}",
    '<\u0131mg>', '\\u003cscript\\u003e',
    # quotes, backslashes, and what looks like an escape
    '"', "'", '""', '\\', 'a\\', '\\"', '\\\\n', '\\n', '\\x1b[31m', '\\x5cx1b', '\ufffd',
    '","kind":"overflow","x":"', '{"a":[1]}', 'null', 'true', '-1',
    # formulas of spreadsheets, rows of tables
    "=cmd|' /C calc'!A0", '+1+1', '-1+1', '@SUM(A1)', '=HYPERLINK("http://x")', "'=1", '\t=1',
    '\r=1', 'a,b', 'a;b', 'a"b,c"', ' lead', 'trail ', '#x',
    # TabSeparated, SQL, RowBinary
    '\\N', '\\t\\n', "'); DROP TABLE cmt.usage; --", "\\'; --", '\x01\x01\x01', '`', '\\0',
    # Prometheus
    'a"} 1\ncmt_up 0 #', '{x="y"}', 'a\\"} 2', '# TYPE cmt_up counter', '# EOF',
    # formats, shells, lookups
    '%s%n%p', '$(reboot)`reboot`', '${jndi:ldap://x}', '../../etc/passwd', '..', '-rf', '*',
    # what cmt itself calls rows
    '(overflow)', '(overflow: 3 containers)', '(unattributed)', '(unknown)', '(others)',
    'docker:web', 'cgroup:1', 'cpu:0', 'resctrl:web', 'systemd:ssh',
    # long
    b'A' * 255, b'\x1b' * 255, '\u5bb9' * 85, b'\\' * 255, b'"' * 255, b'<' * 255, b'\x9b' * 255,
    # nothing wrong with these
    '\u5bb9\u5668', '\U0001f433', 'caf\u00e9',
)]


def printable(raw, size=256):
    """What libcmt makes of all texts but the path and the command name."""
    return ''.join(chr(c) if 0x20 <= c < 0x7f else '?' for c in raw[:size - 1])


def path_of(name):
    return b'/user.slice/user-1000.slice/' + name


def name_of_path(name):
    """A cgroup of no runtime: its last component, which keeps its slash where it could be
    taken for a row of cmt's own or of a runtime."""
    last = path_of(name).rstrip(b'/').rsplit(b'/', 1)[1]
    return printable(b'/' + last if last.startswith(b'(') or b':' in last else last)


def comm_of(name):
    return name[:15]


def is_shown(char):
    """Is this character safe to be shown: no control, no turn, not invisible?"""
    code = ord(char)
    if unicodedata.category(char) in ('Cc', 'Cf', 'Cs', 'Co', 'Cn', 'Zl', 'Zp'):
        return False
    # Default_Ignorable_Code_Point that are no format characters
    return not (code in (0x34f, 0x115f, 0x1160, 0x3164, 0xffa0) or 0x17b4 <= code <= 0x17b5 or
                0x180b <= code <= 0x180f or 0xfe00 <= code <= 0xfe0f or 0xe0000 <= code <= 0xe0fff)


def is_text(raw):
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def escaped(raw, ascii_only=False):
    """escape_text() of tools/common/format.h: backslashes twice, other bytes as \\xNN."""
    out, at = '', 0
    while at < len(raw):
        for size in (1, 2, 3, 4):
            try:
                char = raw[at:at + size].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            size, char = 1, None
        if char == '\\':
            out += '\\\\'
        elif char and is_shown(char) and not (ascii_only and size > 1):
            out += char
        else:
            out += ''.join(f'\\x{c:02x}' for c in raw[at:at + size])
        at += size
    return out


def unescaped(text):
    """The bytes that were given to escaped()."""
    out = re.sub(rb'\\(\\|x([0-9a-f]{2}))',
                 lambda m: b'\\' if m[1] == b'\\' else bytes([int(m[2], 16)]), text.encode())
    return out


def replaced(raw):
    """Each byte that is not UTF-8 as U+FFFD."""
    out, at = '', 0
    while at < len(raw):
        for size in (1, 2, 3, 4):
            try:
                out += raw[at:at + size].decode()
                break
            except UnicodeDecodeError:
                pass
        else:
            out, size = out + '\ufffd', 1
        at += size
    return out


def is_utf8(raw):
    try:
        raw.decode()
        return True
    except UnicodeDecodeError:
        return False


def run(*command, status=0, **env):
    """Standard output; it and standard error act on no terminal."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=DEADLINE_S, check=False,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', **env})
    if done.returncode != status:
        raise AssertionError(f'{command}: status {done.returncode}: {done.stderr.decode()}')
    return done.stdout


class Case(unittest.TestCase):
    maxDiff = 2000

    def assert_quiet(self, data, also='\n'):
        """Nothing acts on a terminal."""
        bad = {f'U+{ord(c):04X}' for c in data.decode() if not is_shown(c) and c not in also}
        self.assertFalse(bad)

    def assert_ascii(self, data):
        self.assert_quiet(data)
        self.assertTrue(data.isascii())

    def assert_names(self, found, wanted):
        """Each of @wanted is in @found."""
        missing = set(wanted) - set(found)
        self.assertFalse(missing)

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.dir = scratch.name
        cls.names = os.path.join(cls.dir, 'names')
        with open(cls.names, 'wb') as file:
            file.write(b''.join(name + b'\0' for name in NAMES))


PATHS = {path_of(name) for name in NAMES}
COMMS = {comm_of(name) for name in NAMES}
PLAIN_NAMES = {name_of_path(name) for name in NAMES}
DOCKER_NAMES = {'docker:' + printable(name) for name in NAMES}
LABELS = PLAIN_NAMES | DOCKER_NAMES
IMAGES = {printable(name) for name in NAMES}


class Recording(Case):
    """A recording of cgroups, containers, images and processes of these names."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = os.path.join(cls.dir, 'a.cmt')
        with open(cls.file, 'wb') as file:
            file.write(run(MADE, 'recording', f'names={cls.names}', 'ms=1300'))

    def export(self, form, by):
        return run(STAT, 'export', f'--{form}', '-g', '1', '-b', by, self.file)

    def by_both(self, form):
        return self.export(form, 'container'), self.export(form, 'process')

    def replay(self, *options):
        return run(STAT, 'replay', '-i', '0.5', *options, self.file)

    # machine formats

    def test_ndjson(self):
        names, images, paths, comms = set(), set(), set(), set()
        for data in self.by_both('ndjson'):
            self.assert_quiet(data)
            for line in data.splitlines():
                row = json.loads(line)
                for key, into in (('path', paths), ('comm', comms)):
                    text, bits = row[key], row.get(key + '_hex')
                    if text is None:
                        continue
                    raw = bytes.fromhex(bits) if bits else text.encode()
                    self.assertEqual(text, replaced(raw))
                    self.assertEqual(bits is None, is_utf8(raw))
                    into.add(raw)
                names.add(row['name'])
                images.add(row['image'])
                self.assertEqual(row['kind'] == 'owner', row['cgroup_id'] is not None)
        self.assert_names(names, LABELS)
        self.assert_names(images, IMAGES)
        self.assert_names(paths, PATHS)
        self.assert_names(comms, COMMS)

    def csv_cell(self, text):
        self.assertNotIn(text[:1], ('=', '+', '-', '@', '\t', '\r'), text)
        return unescaped(text.removeprefix("'"))

    def csv_rows(self, data):
        self.assert_quiet(data)
        reader = csv.DictReader(io.StringIO(data.decode(), newline=''), strict=True)
        found = list(reader)
        self.assertEqual(len(found), data.count(b'\n') - 1)
        for row in found:
            self.assertNotIn(None, row)
            self.assertNotIn(None, row.values())
        return found

    def assert_csv(self, found, name, path):
        cells = {key: {self.csv_cell(row[key]) for row in found} for key in (name, path, 'comm')}
        self.assert_names(cells[name], {label.encode() for label in LABELS})
        self.assert_names(cells[path], PATHS)
        self.assert_names(cells['comm'], COMMS)

    def test_csv(self):
        found = [row for data in self.by_both('csv') for row in self.csv_rows(data)]
        self.assert_csv(found, 'name', 'path')
        images = {self.csv_cell(row['image']).decode() for row in found}
        self.assert_names(images, IMAGES)

    def test_replay_csv(self):
        self.csv_rows(self.replay('--csv', '--by', 'container'))
        self.assert_csv(self.csv_rows(self.replay('--csv', '--by', 'process')),
                        'container', 'cgroup')

    def test_clickhouse(self):
        columns = rows.schema(SCHEMA)
        found = [row for data in self.by_both('clickhouse')
                 for row in rows.rowbinary(data, columns)]
        self.assert_names({row['name'] for row in found}, {label.encode() for label in LABELS})
        self.assert_names({row['path'] for row in found}, PATHS)
        self.assert_names({row['comm'] for row in found}, COMMS)
        self.assert_names({row['image'] for row in found}, {i.encode() for i in IMAGES})

    def test_perfetto(self):
        shown = set()
        for data in self.by_both('perfetto'):
            shown |= set(rows.Trace(data).names.values())
        self.assert_names(shown, LABELS)
        for comm in COMMS:
            self.assertTrue([n for n in shown if n.startswith(replaced(comm))], comm)

    def test_replay_json(self):
        names, paths, comms = set(), set(), set()
        for by in ('container', 'process'):
            data = self.replay('--json', '--by', by)
            self.assert_quiet(data)
            for row in map(json.loads, data.splitlines()):
                if row['record'] != 'row':
                    continue
                names.add(row['container'])
                comms.add(row.get('comm'))
                if row.get('cgroup') is not None:
                    raw = bytes.fromhex(row['cgroup_hex']) if row['cgroup_hex'] else \
                        row['cgroup'].encode()
                    self.assertEqual(row['cgroup'], replaced(raw))
                    paths.add(raw)
        self.assert_names(names, LABELS)
        self.assert_names(paths, PATHS)
        self.assert_names(comms, {replaced(comm) for comm in COMMS})

    def test_diff_json(self):
        data = run(STAT, 'diff', '--json', '-t', '1000', self.file, self.file)
        self.assert_quiet(data)
        found = {json.loads(line).get('name') for line in data.splitlines()}
        self.assert_names(found, LABELS)

    # tables

    def test_replay_plain(self):
        for by in ('container', 'process'):
            data = self.replay('--plain', '--by', by)
            self.assert_ascii(data)
            shown = data.decode()
            for name in NAMES if by == 'process' else ():
                comm = escaped(comm_of(name), ascii_only=True)
                self.assertIn(comm[:12].rstrip(), shown)
        self.assertRegex(data.decode(), r'(?m) /\(overflow\)')

    def test_diff(self):
        data = run(STAT, 'diff', '-t', '1000', self.file, self.file)
        self.assert_ascii(data)
        for label in LABELS:
            self.assertIn(escaped(label.encode()), data.decode())

    def test_why(self):
        data = self.replay('--why', '--json')
        self.assert_quiet(data)
        found = [row for row in map(json.loads, data.splitlines()) if row['record'] in ('slower', 'incident')]
        found += [part for row in found for part in row['because_of']]
        self.assertTrue(found)
        self.assertFalse({row['container'] for row in found} - LABELS)
        self.assert_ascii(self.replay('--why', '--plain'))

    def test_screen(self):
        """On a terminal of its own: no name comes out as it is, only as it is escaped."""
        for by in ('container', 'process'):
            data = screen(STAT, 'replay', '-i', '0.5', '--by', by, self.file)
            # ncurses resets the colours by the terminal's own string (oc in terminfo)
            data = data.replace(b'\x1b]104\x07', b'')
            self.assertIn(b'\x1b[', data)
            self.assertNotRegex(data, rb'\x1b[\]PX^_c]|\x1b\[31;5;7m|\x1b\[6n')
            self.assertNotRegex(data, rb'[\x01-\x06\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]')
            text = data.decode()
            self.assertFalse({c for c in text if ord(c) >= 0x80 and not is_shown(c)})
            self.assertIn('\\x1b[31;5' if by == 'process' else '?[31;5;7mred', text)

    # the page

    def test_report(self):
        page = self.report(self.names)
        benign = os.path.join(self.dir, 'benign')
        with open(benign, 'wb') as file:
            file.write(b''.join(b'name%d\0' % i for i in range(len(NAMES))))
        plain = self.report(benign)
        self.assertEqual(page.tags, plain.tags)
        self.assert_quiet(page.meta.encode())
        self.assertNotRegex(page.meta, r"[<>&']")
        members = json.loads(page.meta)['members']
        self.assert_names({unescaped(m['label']).decode() for m in members}, LABELS)
        self.assert_names({unescaped(m['path']) for m in members if m['path']}, PATHS)
        self.assert_names({unescaped(m['image']).decode() for m in members if m['image']}, IMAGES)
        comms = {unescaped(p['comm']) for m in members for p in m.get('processes', [])}
        self.assert_names(comms, COMMS)

    def report(self, names):
        recording = os.path.join(self.dir, 'page.cmt')
        page = os.path.join(self.dir, 'page.html')
        with open(recording, 'wb') as file:
            file.write(run(MADE, 'recording', f'names={names}', 'ms=1300'))
        run(STAT, 'report', '-o', page, recording)
        with open(page, encoding='utf-8') as file:
            text = file.read()
        os.unlink(page)
        return Page(text)


class Page(html.parser.HTMLParser):
    """The markup of a page, and what is in its script "meta"."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.meta, self.last = [], '', None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.last = dict(attrs).get('id')
        if not (self.last or '').startswith('b'):	# blobs: as many as there are values
            self.tags.append((tag, [name for name, _ in attrs]))

    def handle_data(self, data):
        if self.last == 'meta':
            self.meta += data

    def handle_comment(self, data):
        self.tags.append('comment')


def screen(*command):
    """What a program writes on a terminal before it is asked to end."""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM='xterm-256color', LC_ALL='C.UTF-8', XDG_CONFIG_HOME='/none',
                          ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0')
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 400, 150, 0, 0))
        os.execv(command[0], command)
    data, end = b'', time.monotonic() + DEADLINE_S
    asked = False
    while time.monotonic() < end:
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        data += part
        if not asked and b'(others)' in data:
            os.write(fd, b'q')
            asked = True
    os.close(fd)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if not asked:
        raise AssertionError(f'no screen: {data[-2000:]}')
    return data


class Device(Case):
    """cmtstat and cmtctl on a device whose owners have these names."""

    def tool(self, *command):
        return run(*command, CMT_FAKE_NAMES=self.names)

    def test_lists_json(self):
        """The owners, as cmtctl lists them."""
        for command, name in (('rmids', 'comm'), ('show', 'name')):
            data = self.tool(FAKE_CTL, command, '--json')
            self.assert_quiet(data)
            found = list(map(json.loads, data.splitlines()))
            self.assertEqual([row[name] for row in found], [replaced(comm_of(n)) for n in NAMES])
            self.assertEqual([row['container'] for row in found], [name_of_path(n) for n in NAMES])
            for row, owner in zip(found, NAMES):
                raw = bytes.fromhex(row['cgroup_hex']) if row['cgroup_hex'] else \
                    row['cgroup'].encode()
                self.assertEqual(raw, path_of(owner))
                self.assertEqual(row['cgroup'], replaced(raw))

    def test_lists(self):
        for command in ('rmids', 'show'):
            data = self.tool(FAKE_CTL, command)
            self.assert_ascii(data)
            lines = data.decode().splitlines()[-len(NAMES):]
            for line, owner in zip(lines, NAMES):
                self.assertIn(escaped(comm_of(owner), ascii_only=True), line)
                self.assertTrue(line.endswith(' ' + escaped(name_of_path(owner).encode())), line)

    def test_arguments(self):
        """Words of the command line come back in messages."""
        for name in NAMES[:20]:
            for command in ((FAKE_CTL, 'attach', 'cgroup', name), (FAKE_STAT, '--filter', name, '-n'),
                            (FAKE_CTL, name), (STAT, 'replay', name), (STAT, 'export', '--csv', name),
                            (STAT, '--device', name), (STAT, 'record', '--save-to', name),
                            (STAT, '--source', 'resctrl', '--device', name),
                            (STAT, 'report', name, '-o', '/nonexistent'), (STAT, 'diff', name, name)):
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=DEADLINE_S, check=False,
                                      env={**os.environ, 'LC_ALL': 'C.UTF-8'})
                self.assertIn(done.returncode, (0, 1, 2), command)
                self.assert_quiet(done.stdout, also='\n\t')


class Metrics(Case):
    """The page for Prometheus, of cgroups and of containers whose state has these names."""

    SAMPLE = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)')
    LABEL = re.compile(r'([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.told = [name + b'\0nul' for name in NAMES[:2]] + NAMES[2:]
        cls.write_state()
        cls.classic = cls.scrape('text/plain')
        cls.openmetrics = cls.scrape('application/openmetrics-text;version=1.0.0')

    @staticmethod
    def json_of(raw):
        """A string of JSON, whatever its bytes are."""
        return b'"' + b''.join(b'\\u%04x' % c if c < 0x20 or c in b'"\\' else bytes([c])
                               for c in raw) + b'"'

    @classmethod
    def write_state(cls):
        entries = []
        for at, name in enumerate(cls.told):
            cgroup = 7000 + len(NAMES) + 1 + at
            number, text = b'%012x%052d' % (cgroup, 0), cls.json_of(name)
            if cgroup % 2:
                cls.write('var/lib/docker/containers/' + number.decode() + '/config.v2.json',
                          b'{"Name":%s,"Config":{"Image":%s}}' % (text, text))
            else:
                entries.append(b'{"id":"%s","names":[%s],"image":%s}' % (number, text, text))
        cls.write('var/lib/containers/storage/overlay-containers/containers.json',
                  b'[' + b','.join(entries) + b']')

    @classmethod
    def write(cls, path, data):
        path = os.path.join(cls.dir, 'root', path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(data)

    @classmethod
    def scrape(cls, accept):
        process = subprocess.Popen(
            [FAKE_EXPORTER, '--listen', '127.0.0.1:0', '--interval', '0.2', '--max-containers',
             '1000', '--root', os.path.join(cls.dir, 'root')], stderr=subprocess.PIPE, text=True,
            env={**os.environ, 'CMT_FLEET': str(2 * len(NAMES)), 'CMT_FLEET_NAMES': cls.names})
        try:
            port = int(re.search(r'127\.0\.0\.1:(\d+)', process.stderr.readline())[1])
            end = time.monotonic() + DEADLINE_S
            while time.monotonic() < end:
                page = cls.get(port, accept)
                # one whose state is not read yet has 12 digits of its id for a name
                if page.count(b'\ncmt_l3_occupancy_bytes{') > 2 * len(NAMES) and \
                        not re.search(rb'container="[0-9a-f]{12}"', page):
                    return page
            raise AssertionError('not all containers come, or not all names')
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(DEADLINE_S)
            process.stderr.close()

    @staticmethod
    def get(port, accept):
        with socket.create_connection(('127.0.0.1', port), timeout=DEADLINE_S) as s:
            s.sendall(f'GET /metrics HTTP/1.0\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n'.encode())
            data = b''
            while part := s.recv(65536):
                data += part
        return data.partition(b'\r\n\r\n')[2]

    def samples(self, page):
        """(name, labels) of each line, read as Prometheus reads it."""
        self.assert_quiet(page)
        found = []
        for line in page.decode().split('\n')[:-1]:
            if line[:1] == '#':
                self.assertRegex(line, r'^# (HELP|TYPE|UNIT) (cmt|process)_|^# EOF$')
                continue
            name, labels, value = self.SAMPLE.fullmatch(line).groups()
            float(value)
            pairs = self.LABEL.findall(labels or '')
            self.assertEqual(''.join(m[0] for m in self.LABEL.finditer(labels or '')), labels or '')
            self.assertEqual(len(dict(pairs)), len(pairs))
            found.append((name, {key: re.sub(r'\\(.)', lambda m: '\n' if m[1] == 'n' else m[1], v)
                                 for key, v in pairs}))
        return found

    @staticmethod
    def label(raw):
        """labels.h: what acts on a terminal and is no newline as \\xNN; cut after 480 bytes as
        written, with FNV-1a of the whole at the end."""
        out, written, at = '', 0, 0
        while at < len(raw) and written < 480:
            size = next((n for n in (1, 2, 3, 4) if is_text(raw[at:at + n])), 1)
            char = raw[at:at + size].replace(b'\n', b'\0')
            char = re.sub(r'\\\\', lambda m: '\\', escaped(char)).replace('\\x00', '\n')
            written += len(re.sub(r'[\\"\n]', '__', char).encode())
            out, at = out + char, at + size
        if at == len(raw):
            return out
        fnv = 14695981039346656037
        for byte in raw:
            fnv = (fnv ^ byte) * 1099511628211 % (1 << 64)
        return out + f'~{fnv:016x}'

    def test_pages(self):
        for page in (self.classic, self.openmetrics):
            found = self.samples(page)
            self.assertEqual([dict(l) for n, l in found if n == 'cmt_up'], [{}])
            owners = [l for n, l in found if n == 'cmt_l3_occupancy_bytes']
            self.assert_names({l.get('id') for l in owners}, {self.label(p) for p in PATHS})
            names = {l['container'] for l in owners}
            told = {printable(n).removeprefix('/') for n in self.told}
            self.assert_names(names, {self.label(n.encode()) for n in PLAIN_NAMES | told})
            # cmt's own rows are the ones without an id
            own = [l['container'] for l in owners if 'id' not in l]
            self.assertEqual(sorted(own), ['(overflow)', '(unattributed)'])
            taken = [l for l in owners if l['container'] in own and 'id' in l]
            self.assertEqual([l['runtime'] for l in taken if 'runtime' not in l], [])

    def test_end(self):
        self.assertEqual(self.openmetrics.count(b'\n# EOF'), 1)
        self.assertTrue(self.openmetrics.endswith(b'\n# EOF\n'))

    def test_nothing_merged(self):
        """No name takes another container's series."""
        seen = [tuple(sorted(l.items())) for n, l in self.samples(self.classic)
                if n == 'cmt_l3_occupancy_bytes']
        self.assertEqual(len(seen), len(set(seen)))


if __name__ == '__main__':
    unittest.main()
