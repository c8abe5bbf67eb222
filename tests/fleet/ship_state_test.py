#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmt-ship with a made-up server: what is sent, what is noted, and how long it waits.
usage: ship_state_test.py DIRECTORY_OF_THE_BUILD [unittest's]"""
import base64
import fcntl
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
SHIP = os.path.join(BUILD, 'tools/ship/cmt-ship')
TOOLS = os.path.join(BUILD, 'tools')
MADE = os.path.join(BUILD, 'tests/fleet/cmt-made')
SECRET = 'pass"wo\\rd: 1'
# of a rule and of a request
FIRST, SECOND = 'cmt-20260601T000001.000Z.cmt', 'cmt-20260601T000002.000Z-asked.cmt'


class Server(http.server.ThreadingHTTPServer):
    """Keeps what it is asked, and answers with status; by TLS with a certificate."""
    daemon_threads = True

    def __init__(self, address='127.0.0.1', certificate=None):
        self.status, self.seen, self.arguments = 200, [], b''
        self.elsewhere, self.room, self.body = None, None, b''
        self.over = 413         # for more than room: a status, or None to end the connection
        self.patience = None    # seconds in which something of a body comes
        super().__init__((address, 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def tables(self):
        return [path.split('cmt.')[1].split('%20')[0] for path, _, _ in self.seen]


class Handler(http.server.BaseHTTPRequestHandler):
    def setup(self):
        self.timeout = self.server.patience
        super().setup()

    def do_POST(self):
        self.server.arguments += arguments_of_curl()
        size, body = 1, b''
        while size:
            size = int(self.rfile.readline(), 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            over = self.server.room and len(body) > self.server.room
            if over and not self.server.over:
                size = 0
        self.server.seen.append((self.path, self.headers['Authorization'], body))
        if over and not self.server.over:
            self.close_connection = True
            return
        # as since ClickHouse 22: no row is an error
        status = 400 if not body else self.server.over if over else self.server.status
        self.send_response(status)
        if self.server.elsewhere:
            self.send_header('Location', self.server.elsewhere)
        self.end_headers()
        # ClickHouse says nothing where it took rows
        if over or status != 200:
            self.wfile.write(b'the server says\x1b[31m so\n')
        else:
            self.wfile.write(self.server.body)

    def log_message(self, *_):
        pass


class Hasty(socketserver.ThreadingTCPServer):
    """A proxy that says 200 and goes away, and has read only the beginning."""
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), self.answer)
        self.gone = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, request, *_):
        request.recv(2048)
        request.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
        request.shutdown(socket.SHUT_WR)
        self.gone.wait()

    def __exit__(self, *_):
        self.gone.set()
        self.shutdown()
        self.server_close()


def arguments_of_curl():
    """What everybody can see of it."""
    found = b''
    for path in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            if (path / 'comm').read_bytes() == b'curl\n':
                found += (path / 'cmdline').read_bytes() + (path / 'environ').read_bytes()
        except OSError:
            pass
    return found


class Ship(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording = subprocess.run([MADE, 'recording', 'containers=6', 'ms=1500',
                                        'waits=400000'], check=True,
                                       stdout=subprocess.PIPE).stdout
        cls.small = subprocess.run([MADE, 'recording', 'containers=2', 'ms=1100'], check=True,
                                   stdout=subprocess.PIPE).stdout

    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.top = pathlib.Path(top.name)
        self.saved, self.state = self.top / 'saved', self.top / 'state'
        self.saved.mkdir()
        (self.top / 'password').write_text(SECRET)
        self.server = self.serve()
        self.environment = {
            'CMT_SHIP_URL': f'http://127.0.0.1:{self.server.server_port}/',
            'CMT_SHIP_PASSWORD': str(self.top / 'password'), 'CMT_SHIP_USER': 'node',
            'CMT_SHIP_FINE': '2', 'CMT_SHIP_PATH': TOOLS + ':' + os.environ['PATH'],
        }

    def serve(self, *args):
        server = Server(*args)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def certificate(self, name):
        """Of 127.0.0.1, signed by itself; with its key."""
        path = self.top / name
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=127.0.0.1', '-addext',
                        'subjectAltName=IP:127.0.0.1', '-keyout', path, '-out', f'{path}.crt'],
                       check=True, stderr=subprocess.DEVNULL)
        with open(path, 'a', encoding='ascii') as both:
            both.write(pathlib.Path(f'{path}.crt').read_text(encoding='ascii'))
        return path

    def save(self, name, data=None):
        (self.saved / name).write_bytes(self.recording if data is None else data)

    def ship(self, status, *args, **environment):
        done = subprocess.run([SHIP, f'--directory={self.saved}', '-s', self.state, *args],
                              env={**self.environment, **environment}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, status, done.stdout)
        self.assertNotIn(SECRET.encode(), done.stdout)
        return done.stdout.decode('ascii')

    def replace(self, name, script):
        """A script of the shell, from now on"""
        program = self.top / 'bin' / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\n{script}\n')
        program.chmod(0o755)
        self.environment['CMT_SHIP_PATH'] = f'{program.parent}:{TOOLS}:{os.environ["PATH"]}'

    def replace_cmtstat(self, script):
        self.replace('cmtstat', script)

    def except_where(self, cases):
        """cmtstat does as ever, unless a case of the shell does something else."""
        self.replace_cmtstat(f'case "$*" in {cases} esac\nexec {TOOLS}/cmtstat "$@"')

    def pause(self):
        failures, until = (self.state / 'pause').read_text().split()
        return int(failures), int(until) - time.time()

    def end_pause(self):
        failures, _ = (self.state / 'pause').read_text().split()
        (self.state / 'pause').write_text(f'{failures} {int(time.time())}\n')

    def test_sent_once(self):
        self.save(SECOND)
        self.save(FIRST)
        self.save('.cmt-part')
        self.save('other.cmt')
        (self.saved / 'cmt-20260601T000003.000Z.cmt').symlink_to(self.saved / 'other.cmt')
        out = self.ship(0)
        self.assertEqual(out, f'cmt-ship: sent: {FIRST}\ncmt-ship: sent: {SECOND}\n')
        tables = self.server.tables()
        self.assertEqual(tables[:3], ['usage', 'incidents', 'usage'])
        self.assertEqual(tables[:len(tables) // 2], tables[len(tables) // 2:])
        rows = subprocess.run([TOOLS + '/cmtstat', 'export', '--clickhouse', self.saved / FIRST],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(self.server.seen[0][2], rows.stdout)
        self.assertEqual(self.ship(0), '')
        self.assertEqual(len(self.server.tables()), len(tables))

    def test_password(self):
        self.save(FIRST)
        self.ship(0, secret='')
        given = 'Basic ' + base64.b64encode(f'node:{SECRET}'.encode()).decode()
        self.assertEqual({seen[1] for seen in self.server.seen}, {given})
        self.assertIn(b'--config', self.server.arguments)
        self.assertNotIn(SECRET.encode(), self.server.arguments)

    def test_empty_password(self):
        """A file that has still to get the password is none; an empty line is an empty one."""
        path = self.top / 'password'
        self.save(FIRST)
        path.write_text('')
        self.assertEqual(self.ship(2), f'cmt-ship: the password file is empty: {path}\n')
        self.assertFalse((self.state / 'pause').exists())
        self.assertEqual(self.server.seen, [])
        path.write_text('\n')
        self.ship(0)
        given = 'Basic ' + base64.b64encode(b'node:').decode()
        self.assertEqual({seen[1] for seen in self.server.seen}, {given})

    def test_tls(self):
        """A server that cannot show who it is gets no password."""
        theirs, other = self.certificate('theirs'), self.certificate('other')
        server = self.serve('127.0.0.1', theirs)
        url = f'https://127.0.0.1:{server.server_port}'
        self.save(FIRST)
        for trusted in ({}, {'CMT_SHIP_CA': f'{other}.crt'}, {'CMT_SHIP_CA': '/nowhere'}):
            with self.subTest(trusted=trusted):
                self.assertIn(f'not sent: {FIRST}: {url}: ',
                              self.ship(1, CMT_SHIP_URL=url, **trusted))
                self.assertEqual(server.seen, [])
                self.end_pause()
        self.assertEqual(self.ship(0, CMT_SHIP_URL=url, CMT_SHIP_CA=f'{theirs}.crt'),
                         f'cmt-ship: sent: {FIRST}\n')
        self.assertEqual(server.tables(), ['usage', 'incidents', 'usage'])

    def test_plain(self):
        """Without TLS a server elsewhere gets nothing, unless that is wanted."""
        server = self.serve('127.0.0.2')
        url = f'http://127.0.0.2:{server.server_port}'
        self.save(FIRST)
        for plain in ({}, {'CMT_SHIP_PLAIN': 'no'}):
            self.assertIn('without TLS the password is readable',
                          self.ship(2, CMT_SHIP_URL=url, **plain))
            self.assertEqual(server.seen, [])
        self.ship(0, CMT_SHIP_URL=url, CMT_SHIP_PLAIN='yes')
        self.assertEqual(server.tables(), ['usage', 'incidents', 'usage'])

    def test_pauses_grow(self):
        self.save(FIRST)
        self.server.status = 500
        self.state.mkdir()
        for failures, minutes in ((0, 1), (1, 2), (5, 32), (6, 60), (9999, 60)):
            (self.state / 'pause').write_text(f'{failures} {int(time.time())}\n')
            out = self.ship(1)
            self.assertIn('the server says', out)
            self.assertNotIn('\x1b', out)
            self.assertIn(f'again in {minutes} min', out)
            self.assertEqual(self.pause()[0], failures + 1)
            self.assertAlmostEqual(self.pause()[1], 60 * minutes, delta=30)
        asked = len(self.server.seen)
        self.assertEqual(self.ship(0), '')
        self.assertEqual(len(self.server.seen), asked)
        self.end_pause()
        self.server.status = 200
        self.assertIn('sent:', self.ship(0))
        self.assertFalse((self.state / 'pause').exists())

    def test_no_server(self):
        self.save(FIRST)
        self.save(SECOND)
        out = self.ship(1, CMT_SHIP_URL='http://127.0.0.1:1')
        self.assertIn(f'not sent: {FIRST}', out)
        self.assertNotIn(SECOND, out)
        self.assertEqual(self.pause()[0], 1)

    def test_clock_set_back(self):
        """A pause that no failure makes is none."""
        self.save(FIRST)
        self.state.mkdir()
        for text in (f'3 {int(time.time()) + 86400}', 'rubbish $(id)', ''):
            (self.state / 'pause').write_text(text)
            self.ship(0)
            self.assertFalse((self.state / 'pause').exists())
            (self.state / 'done' / FIRST).unlink()

    def test_leading_zero(self):
        """08 is eight, in the note of a pause and in a setting."""
        self.save(FIRST)
        self.server.status = 500
        self.state.mkdir()
        (self.state / 'pause').write_text('08 0999\n')
        self.assertIn('again in 60 min', self.ship(1))
        self.assertEqual(self.pause()[0], 9)
        self.server.status = 200
        (self.state / 'pause').write_text('08 08\n')
        self.assertIn('sent:', self.ship(0, CMT_SHIP_FINE='08'))
        self.assertEqual(self.server.tables()[-1], 'usage')

    def test_lost_is_told(self):
        """Also what came during a pause."""
        self.save(FIRST)
        self.server.status = 503
        self.ship(1)
        self.save(SECOND)
        self.ship(0)
        (self.saved / FIRST).unlink()
        (self.saved / SECOND).unlink()
        out = self.ship(0)
        for name in (FIRST, SECOND):
            self.assertIn(f'lost: the recorder has removed {name}', out)
        self.assertEqual(self.ship(0), '')

    def test_removed_meanwhile(self):
        """After its rows, or after its incidents were looked up: it is not all sent."""
        for when in ('*--grain*', '*--ndjson*'):
            self.save(FIRST)
            self.replace_cmtstat(f'{TOOLS}/cmtstat "$@"\nrc=$?\n'
                                 f'case "$*" in {when}) rm -f {self.saved / FIRST} ;; esac\n'
                                 'exit $rc')
            out = self.ship(0)
            self.assertNotIn('sent:', out)
            self.assertIn(f'lost: the recorder has removed {FIRST}', out)
            self.assertEqual(list(self.state.glob('*/*')), [])

    def test_notes_go(self):
        self.save(FIRST)
        self.ship(0)
        (self.saved / FIRST).unlink()
        self.assertEqual(self.ship(0), '')
        self.assertEqual(list(self.state.glob('*/*')), [])

    def test_damaged(self):
        """One that cannot be read keeps none back."""
        self.save(FIRST, b'no recording')
        self.save(SECOND)
        out = self.ship(1)
        self.assertIn(f'not sent: {FIRST}: cmtstat export:', out)
        self.assertIn(f'sent: {SECOND}', out)
        self.assertFalse((self.state / 'pause').exists())
        self.assertNotIn(FIRST, self.ship(0))

    def test_not_exported_now(self):
        """What failed once, as where there is no memory, is tried again, and by itself."""
        self.except_where(f'*{FIRST}*) [ -e {self.top}/now ] || {{ echo no memory >&2; exit 1; }} ;;')
        self.save(FIRST)
        self.save(SECOND)
        out = self.ship(1)
        self.assertIn(f'not sent: {FIRST}: cmtstat export: no memory ; again in 1 min', out)
        self.assertIn(f'sent: {SECOND}', out)
        (self.top / 'now').touch()
        self.assertEqual(self.ship(0), '')
        (self.state / 'refused' / FIRST).write_text('1 0\n')
        self.assertEqual(self.ship(0), f'cmt-ship: sent: {FIRST}\n')
        self.assertEqual(list(self.state.glob('refused/*')), [])

    def test_killed(self):
        """One of which the export dies holds none back, whether it had begun to write or not."""
        self.save(FIRST)
        self.save(SECOND)
        self.except_where(f'*{FIRST}*) [ -e {self.top}/now ] || echo row; kill -KILL $$ ;;')
        out = self.ship(1)
        self.assertIn(f'not sent: {FIRST}: cmtstat export: ended by signal 9', out)
        self.assertIn(f'sent: {SECOND}', out)
        self.assertFalse((self.state / 'pause').exists())
        (self.top / 'now').touch()
        (self.state / 'refused' / FIRST).write_text('1 0\n')
        self.assertIn(f'not sent: {FIRST}: cmtstat export: ended by signal 9', self.ship(1))

    def not_taken(self, failures, url):
        self.assertIn(f'not sent: {FIRST}: {url}', self.ship(1, CMT_SHIP_URL=url))
        self.assertEqual(self.pause()[0], failures)
        self.assertEqual(list((self.state / 'done').iterdir()), [])

    def test_server_ends_early(self):
        """A server that stops to read has not taken the rows, whatever it says."""
        self.save(FIRST, subprocess.run([MADE, 'recording', 'containers=40', 'ms=3000'],
                                        check=True, stdout=subprocess.PIPE).stdout)
        # more than sockets have room for
        self.except_where('*--clickhouse*) exec '
                          f'{TOOLS}/cmtstat export --clickhouse --grain 0.001 {self.saved / FIRST} ;;')
        with Hasty() as hasty:
            self.not_taken(1, f'http://127.0.0.1:{hasty.server_address[1]}')

    def test_answer_of_200(self):
        """A server that took rows says nothing: this is its error, or a page to log in."""
        self.save(FIRST)
        for body in (b'Code: 241. DB::Exception: Memory limit exceeded\n', b'<html>Log in</html>', b'0'):
            self.server.body = body
            said = body.decode().replace('\n', ' ')
            self.assertIn(f'not sent: {FIRST}: {self.environment["CMT_SHIP_URL"]}: {said}; again',
                          self.ship(1))
            self.assertEqual(list((self.state / 'done').iterdir()), [])
            self.end_pause()
        self.server.body = b''
        self.assertEqual(self.ship(0), f'cmt-ship: sent: {FIRST}\n')

    def test_impatient_server(self):
        """Nothing is asked before there is a row, nor are rows of incidents sent one by one."""
        self.server.patience = 1
        self.save(FIRST)
        self.except_where('*--clickhouse*incident*) echo row; sleep 3; echo row; exit ;;'
                          f' *--clickhouse*) sleep 3; exec {TOOLS}/cmtstat "$@" ;;')
        self.assertEqual(self.ship(0), f'cmt-ship: sent: {FIRST}\n')
        self.assertEqual(self.server.tables(), ['usage', 'incidents', 'usage'])
        self.assertEqual(self.server.seen[1][2], b'row\nrow\n')

    def test_rest_in_the_pipe(self):
        """The export has ended, and some of its rows nobody has read."""
        self.save(FIRST)
        self.except_where('*--clickhouse*) echo row; echo row; exit ;;')
        self.replace('curl', 'read -r row')
        self.not_taken(1, self.environment['CMT_SHIP_URL'])

    def test_incidents_fail_once(self):
        """Neither a list of incidents nor a begin that cannot be read is one that is empty."""
        fail = '{ echo no memory >&2; exit 1; } ;;'
        self.except_where(f'*--ndjson*incident*) [ ! -e {self.top}/list ] || {fail}'
                  f' *--ndjson*) [ ! -e {self.top}/begin ] || {fail}')
        self.save(FIRST)
        for what, tables in (('list', ['usage']), ('begin', ['usage', 'incidents'])):
            (self.top / what).touch()
            self.server.seen.clear()
            self.assertEqual(self.ship(1), f'cmt-ship: not sent: {FIRST}: cmtstat export: '
                             'no memory ; again in 1 min\n')
            self.assertEqual(self.server.tables(), tables)
            self.assertFalse((self.state / 'done' / FIRST).exists())
            (self.top / what).unlink()
            (self.state / 'refused' / FIRST).unlink()
        self.server.seen.clear()
        self.assertEqual(self.ship(0), f'cmt-ship: sent: {FIRST}\n')
        self.assertEqual(self.server.tables(), ['usage', 'incidents', 'usage'])

    def test_without_rows(self):
        """What has nothing to send is left out, for good."""
        self.replace_cmtstat('echo nothing in it >&2')
        self.save(FIRST)
        self.assertIn(f'left out: {FIRST}: cmtstat export: nothing in it', self.ship(0))
        self.assertEqual(self.ship(0), '')
        self.assertEqual(self.server.seen, [])

    def test_not_noted(self):
        """What cannot be noted is told, and sent again."""
        self.save(FIRST)
        self.state.mkdir()
        (self.state / 'done').symlink_to('/proc')
        self.assertIn(f'not sent: {FIRST}: it cannot be noted', self.ship(1))

    def test_not_noted_as_seen(self):
        """What is not tried for want of a note is told, also during a pause."""
        self.save(FIRST)
        self.state.mkdir()
        (self.state / 'seen').symlink_to('/proc')
        told = f'cmt-ship: not sent: {FIRST}: it cannot be noted in {self.state}\n'
        self.assertIn(told, self.ship(1))
        (self.state / 'pause').write_text(f'1 {int(time.time()) + 60}\n')
        self.assertIn(told, self.ship(1))

    def test_pause_not_noted(self):
        """A pause that there is not is not promised."""
        self.save(FIRST)
        self.server.status = 503
        self.state.mkdir()
        (self.state / 'pause.new').mkdir()
        out = self.ship(1)
        self.assertIn('again at the next start, since a pause cannot be noted in '
                      f'{self.state}\n', out)
        self.assertNotIn('again in', out)
        self.assertFalse((self.state / 'pause').exists())

    def test_always_refused(self):
        """Some that the server has no room for hold none back, and are tried again."""
        self.always_refused(413)

    def test_always_cut(self):
        """The same where the server, or a proxy, ends the connection of each."""
        self.always_refused(None)

    def test_always_answered(self):
        """The same where the answer has the status 200 and a text."""
        self.always_refused(200)

    def always_refused(self, over):
        self.server.over = over
        large = [f'cmt-20260601T00000{second}.000Z.cmt' for second in (1, 2, 3)]
        small = 'cmt-20260601T000004.000Z.cmt'
        for name in large:
            self.save(name)
        self.save(small, self.small)
        rows = subprocess.run([TOOLS + '/cmtstat', 'export', '--clickhouse', self.saved / small],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        self.server.room = len(rows.stdout)
        out = self.ship(1, CMT_SHIP_FINE='0')
        self.assertEqual(out.count('not sent:'), 1)
        self.assertIn(f'not sent: {FIRST}', out)
        self.assertEqual(len(self.server.seen), 2)
        self.end_pause()
        out = self.ship(1, CMT_SHIP_FINE='0')
        self.assertNotIn('sent: ' + small, out)
        self.end_pause()
        out = self.ship(1, CMT_SHIP_FINE='0')
        self.assertIn('sent: ' + small, out)
        for name in large:
            self.assertIn(f'not sent: {name}', out)
            self.assertTrue((self.state / 'refused' / name).exists())
        self.assertFalse((self.state / 'pause').exists())
        # what comes next does not wait
        self.save('cmt-20260601T000005.000Z.cmt', self.small)
        out = self.ship(0, CMT_SHIP_FINE='0')
        self.assertEqual(out, 'cmt-ship: sent: cmt-20260601T000005.000Z.cmt\n')
        # and neither does it where one of these is tried again
        (self.state / 'refused' / FIRST).write_text('1 0\n')
        self.assertIn(f'not sent: {FIRST}', self.ship(1, CMT_SHIP_FINE='0'))
        self.assertFalse((self.state / 'pause').exists())
        self.assertEqual((self.state / 'refused' / FIRST).read_text().split()[0], '2')
        self.server.room = None
        for name in large:
            (self.state / 'refused' / name).write_text('1 0\n')
        self.assertEqual(self.ship(0, CMT_SHIP_FINE='0').count('sent: '), 3)
        self.assertEqual(list(self.state.glob('refused/*')), [])

    def end_while_sending(self, end):
        """What is told where end() ends it while the server reads nothing"""
        with socket.create_server(('127.0.0.1', 0)) as deaf:
            url = f'http://127.0.0.1:{deaf.getsockname()[1]}'
            with subprocess.Popen([SHIP, '-d', self.saved, '-s', self.state],
                                  env={**self.environment, 'CMT_SHIP_URL': url},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  start_new_session=True) as ship:
                connection, _ = deaf.accept()
                with connection:
                    end(ship.pid, signal.SIGTERM)
                    out, _ = ship.communicate(timeout=60)
                    self.assertEqual(ship.returncode, -signal.SIGTERM)
                    connection.settimeout(60)       # curl has ended, too
                    while connection.recv(1 << 20):
                        pass
        return out.decode()

    def test_ended(self):
        """One that takes longer than the service may is tried again by itself, and after others."""
        scratch = self.top / 'scratch'
        scratch.mkdir()
        self.environment['TMPDIR'] = str(scratch)
        self.save(FIRST)
        for end in (os.kill, os.killpg):
            with self.subTest(end=end.__name__):
                self.save(SECOND)
                self.assertEqual(self.end_while_sending(end),
                                 f'cmt-ship: not sent: {FIRST}: ended by SIGTERM; again in 1 min\n')
                self.assertEqual(list(scratch.iterdir()), [])
                self.assertFalse((self.state / 'pause').exists())
                self.assertEqual(self.ship(0), f'cmt-ship: sent: {SECOND}\n')
                (self.state / 'done' / SECOND).unlink()
                (self.state / 'refused' / FIRST).write_text('1 0\n')
                self.assertEqual(self.ship(0),
                                 f'cmt-ship: sent: {SECOND}\ncmt-ship: sent: {FIRST}\n')
                for name in (FIRST, SECOND):
                    (self.state / 'done' / name).unlink()

    def test_ended_after_refusal(self):
        """What was refused before has its pause as well, which is one for all."""
        self.save(FIRST)
        self.save(SECOND)
        self.replace('curl', f'[ ! -e {self.top}/refused ] || exec {shutil.which("curl")} "$@"\n'
                     f'touch {self.top}/refused\ncat >/dev/null\necho no room\nexit 22')
        out = self.end_while_sending(os.kill)
        self.assertIn(f'not sent: {SECOND}: ended by SIGTERM; again in 1 min', out)
        self.assertIn(f'not sent: {FIRST}: http', out)
        self.assertEqual([note.name for note in self.state.glob('refused/*')], [SECOND])
        self.assertEqual(self.pause()[0], 1)

    def test_given(self):
        """No state is touched, and a pause is none."""
        self.save(FIRST)
        self.ship(0, self.saved / FIRST)
        self.assertIn('usage', self.server.tables())
        self.assertFalse(self.state.exists())
        self.server.status = 500
        self.assertIn('not sent', self.ship(1, self.saved / FIRST))

    def test_given_without_rows(self):
        """As one of the directory: it is left out, and the next one is sent."""
        self.except_where(f'*{FIRST}*) echo nothing in it >&2; exit ;;')
        self.save(FIRST)
        self.save(SECOND)
        out = self.ship(0, self.saved / FIRST, self.saved / SECOND)
        self.assertEqual(out, f'cmt-ship: left out: {self.saved / FIRST}: '
                         'cmtstat export: nothing in it \n')
        self.assertIn('usage', self.server.tables())
        self.assertFalse(self.state.exists())

    def fine_parts(self, fine_s, *incidents):
        """Begins and ends of what is sent at 1 ms, for (ms of begin, ms, worst) of incidents, of a
        recording that begins at 7 s"""
        log = self.top / 'log'
        rows = [f'{{"length_ns":{ms}000000,"monotonic_ns":{begin}000000,"x":0,"worst":{worst},"y":0}}'
                for begin, ms, worst in incidents]
        self.replace_cmtstat('case "$*" in *ndjson*incident*) cat <<END\n' + '\n'.join(rows) +
                             '\nEND\n;; *ndjson*)'
                             ' echo \'{"monotonic_ns":9000000000,"since_ns":2000000000}\''
                             f' ;; *) echo "$@" >>{log}; echo row ;; esac')
        self.save(FIRST)
        self.ship(0, CMT_SHIP_FINE=str(fine_s))
        parts = re.findall(r'--from \+(\S+) --to \+(\S+)', log.read_text())
        return [(float(begin), float(end)) for begin, end in parts]

    def test_incidents_as_bad(self):
        """Each has its rows of 1 ms, once, though two are as bad, and one has two suspects."""
        parts = self.fine_parts(100, (100000, 1, 0.5), (200000, 1, 0.5), (200000, 1, 0.25),
                                (300000, 1, 0.75))
        self.assertEqual([begin for begin, _ in parts], [292, 92, 192])

    def test_incidents_overlap(self):
        """What is around several incidents is sent once, and takes none of the seconds twice."""
        parts = self.fine_parts(10, (102000, 3000, 0.5), (102100, 3000, 0.5), (102200, 3000, 0.5),
                                (202000, 3000, 0.5))
        self.assertEqual(parts, [(94, 99.2), (194, 198.8)])

    def test_incidents_between(self):
        """One that joins two, one within, one around all, and one that begins before the recording."""
        self.assertEqual(self.fine_parts(30, (110000, 1000, 0.9), (106000, 1000, 0.8),
                                         (108000, 1000, 0.7), (111000, 1, 0.6),
                                         (104000, 9000, 0.5), (6000, 2500, 0.4)),
                         [(96, 107), (0, 2.5)])

    def test_clock_is_set(self):
        """What is around an incident is found, whatever the clock says."""
        self.save(FIRST, subprocess.run([MADE, 'recording', 'containers=6', 'ms=4000', 'clock=1',
                                         'waits=400000'], check=True,
                                        stdout=subprocess.PIPE).stdout)
        self.assertEqual(self.ship(0), f'cmt-ship: sent: {FIRST}\n')
        self.assertEqual(self.server.tables(), ['usage', 'incidents', 'usage'])
        self.assertGreater(len(self.server.seen[2][2]), len(self.server.seen[0][2]) * 100)

    def test_fine(self):
        self.save(FIRST)
        self.ship(0, CMT_SHIP_FINE='0')
        self.assertEqual(self.server.tables(), ['usage', 'incidents'])

    def test_redirected(self):
        """Who sends us elsewhere has taken nothing."""
        self.save(FIRST)
        self.server.status, self.server.elsewhere = 302, '/login'
        self.assertIn(f'not sent: {FIRST}', self.ship(1))
        self.assertEqual(self.server.tables(), ['usage'])

    def test_wrong_settings(self):
        for name, value in (('URL', ''), ('URL', 'http://example.org'), ('URL', 'ftp://x'),
                            ('URL', 'https://x/?a'), ('URL', 'https://x/"\n'),
                            ('URL', 'http://127.0.0.1:x@example.org/'),
                            ('USER', 'a:b'), ('DATABASE', 'a.b'), ('FINE', 'x'),
                            ('PASSWORD', '/nowhere')):
            with self.subTest(name=name, value=value):
                self.ship(2, **{'CMT_SHIP_' + name: value})
        self.ship(2, '--wrong')
        self.ship(2, '--state')
        self.ship(2, '-d', self.top / 'nowhere')

    def test_no_cmtstat(self):
        """It is misused, not a recording that cannot be exported."""
        (self.top / 'bin').mkdir()
        (self.top / 'bin/curl').symlink_to(shutil.which('curl'))
        self.save(FIRST)
        self.assertEqual(self.ship(2, CMT_SHIP_PATH=str(self.top / 'bin')),
                         'cmt-ship: cmtstat is not installed\n')

    def test_path(self):
        """The programs that are installed with it come first."""
        lines = pathlib.Path(BUILD, 'CMakeCache.txt').read_text().splitlines()
        prefix, = (line.split('=')[1] for line in lines
                   if line.startswith('CMAKE_INSTALL_PREFIX:'))
        traced = subprocess.run(['bash', '-x', SHIP, '--version'], env={}, check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE).stderr
        self.assertIn(f'+ PATH={prefix}/bin:/usr/sbin:'.encode(), traced)

    @unittest.skipIf(os.geteuid(), 'only root can give files to another user')
    def test_notes_of_another(self):
        """Root leaves no note that the service cannot read."""
        self.save(FIRST)
        self.state.mkdir()
        os.chown(self.state, 1, -1)
        self.assertEqual(self.ship(2), f'cmt-ship: {self.state} belongs to another user, '
                         'who could not read notes of root: systemctl start cmt-ship, '
                         'or another --state\n')
        self.assertEqual(list(self.state.iterdir()), [])
        self.ship(0, self.saved / FIRST)
        self.assertEqual(list(self.state.iterdir()), [])

    def test_notes_stay(self):
        """A note that is there is not written again: it may be another user's."""
        self.save(FIRST)
        self.ship(0)
        os.utime(self.state / 'seen' / FIRST, (1, 1))
        self.ship(0)
        self.assertEqual((self.state / 'seen' / FIRST).stat().st_mtime, 1)

    def test_one_at_a_time(self):
        self.state.mkdir()
        with open(self.state / 'lock', 'wb') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn('another cmt-ship', self.ship(2))


if __name__ == '__main__':
    if not shutil.which('curl') or not shutil.which('openssl'):
        print('there is no curl, or no openssl')
        sys.exit(77)
    unittest.main()
