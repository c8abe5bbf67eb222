#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmt-ship and Debian's ClickHouse: however often, in whatever order and in how many pieces
recordings arrive, the tables have what is in the recordings.
usage: ship_test.py DIRECTORY_OF_THE_BUILD
The last line is "N passed, M failed"."""

import collections
import csv
import io
import math
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from cut import write_part
from queries import sql
from server import PASSWORD, Server

BUILD = os.path.abspath(sys.argv[1])
SHIP = os.path.join(BUILD, "tools/ship/cmt-ship")
STAT = os.path.join(BUILD, "tools/cmtstat")
MADE = os.path.join(BUILD, "tests/fleet/cmt-made")
SUMS = ("total_bytes", "local_bytes", "cycles", "instructions", "llc_misses", "length_ns",
        "lost")
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'not ok'} - {name}" + ("" if ok else f": {detail}"), flush=True)


class Node:
    """A directory of recordings, and what cmt-ship knows of them."""

    def __init__(self, top, name, server):
        self.saved, self.state = os.path.join(top, name, "saved"), os.path.join(top, name, "state")
        os.makedirs(self.saved)
        self.password = os.path.join(top, name, "password")
        self.set_password(PASSWORD)
        self.url, self.nr = f"http://127.0.0.1:{server.http}", 0

    def set_password(self, text):
        with open(self.password, "w", encoding="ascii") as file:
            file.write(text + "\n")

    def path(self, number):
        return os.path.join(self.saved, f"cmt-20260601T{number:06d}.000Z.cmt")

    def save(self, **options):
        """As the recorder: the name comes last.  Returns the path."""
        self.nr += 1
        part = os.path.join(self.saved, ".cmt-part")
        with open(part, "wb") as file:
            subprocess.run([MADE, "recording"] + [f"{k}={v}" for k, v in options.items()],
                           stdout=file, check=True)
        os.rename(part, self.path(self.nr))
        return self.path(self.nr)

    def command(self, *args):
        return [SHIP, "--directory", self.saved, "--state", self.state, *args]

    def environment(self):
        return {"CMT_SHIP_URL": self.url, "CMT_SHIP_USER": "ship",
                "CMT_SHIP_PASSWORD": self.password,
                "CMT_SHIP_PATH": os.path.dirname(STAT) + ":" + os.environ["PATH"]}

    def ship(self, *args, **settings):
        return subprocess.run(self.command(*args), env={**self.environment(), **settings},
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)

    def end_pause(self):
        if os.path.exists(os.path.join(self.state, "pause")):
            os.remove(os.path.join(self.state, "pause"))


def export(path, *options):
    done = subprocess.run([STAT, "export", "--csv", *options, path], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"), newline="")))


def sums_of_csv(paths, grain):
    """What was measured, by container: from another format, each recording once."""
    sums = collections.defaultdict(lambda: dict.fromkeys(SUMS, 0))
    for path in paths:
        for row in export(path, "--grain", grain):
            to = sums[row["node"], row["path"], row["kind"]]
            for name in SUMS:
                to[name] += int(row[name] or 0)
    return {key: [row[name] for name in SUMS] for key, row in sums.items()}


def hexed(key):
    return tuple(text.encode().hex() for text in key[:2]) + key[2:]


def sums_of_table(server, grain_ns=1000000000):
    columns = ", ".join(f"sum(ifNull({name}, 0))" for name in SUMS)
    rows = server.query(f"SELECT lower(hex(node)), lower(hex(path)), toString(kind), {columns} "
                        f"FROM cmt.usage FINAL WHERE grain_ns = {grain_ns} "
                        "GROUP BY node, path, kind")
    return {tuple(row[:3]): [int(cell) for cell in row[3:]] for row in rows}


def view_sums(server, view):
    rows = server.query(f"SELECT lower(hex(node)), sum(total_bytes), sum(cycles), "
                        f"sum(intervals), sum(lost) FROM cmt.{view} GROUP BY node")
    return {row[0]: [int(cell) for cell in row[1:]] for row in rows}


def wanted_views(paths):
    sums = collections.defaultdict(lambda: [0] * 4)
    for path in paths:
        for row in export(path, "--grain", "1"):
            to = sums[row["node"].encode().hex()]
            for i, value in enumerate((row["total_bytes"], row["cycles"], 1, row["lost"])):
                to[i] += int(value or 0)
    return dict(sums)


def compare(server, what, paths):
    wanted = {hexed(key): row for key, row in sums_of_csv(paths, "1").items()}
    found = sums_of_table(server)
    check(f"{what}: sums of {len(wanted)} rows as in the recordings", wanted and found == wanted,
          next(((k, found.get(k), w) for k, w in wanted.items() if found.get(k) != w),
               set(found) - set(wanted)))
    views = wanted_views(paths)
    for view in ("seconds", "minutes"):
        check(f"{what}: cmt.{view}", view_sums(server, view) == views,
              (view_sums(server, view), views))


def lost_seconds(server):
    return server.query("SELECT count(), sum(ifNull(lost_ns, 0)) FROM cmt.incidents FINAL")[0]


def wanted_incidents(paths):
    rows = [row for path in paths for row in export(path, "--by", "incident")]
    return [str(len(rows)), str(sum(int(row["lost_ns"] or 0) for row in rows))]


def schema(server):
    server.query("DROP DATABASE IF EXISTS cmt; " + sql("schema.sql"))


def twice(server, node):
    paths = [node.save(containers=14, ms=4300, waits=400000, seed=1),
             node.save(containers=14, ms=3500, seed=2)]
    done = node.ship()
    check("two recordings are sent", done.returncode == 0 and done.stdout.count("sent: ") == 2,
          done)
    compare(server, "once", paths)
    check("once: incidents", lost_seconds(server) == wanted_incidents(paths) and
          int(lost_seconds(server)[0]) >= 3, lost_seconds(server))
    fine = server.query("SELECT count(), uniqExact(cell) FROM cmt.usage FINAL "
                        "WHERE grain_ns = 1000000")[0]
    check("1 ms around incidents", 1000 < int(fine[1]) <= 4300, fine)
    done = node.ship()
    check("what was sent is not sent again", done.returncode == 0 and not done.stdout, done)
    raw = server.query("SELECT count() FROM cmt.usage")[0][0]
    done = node.ship(*paths, *reversed(paths))
    check("by hand it is", done.returncode == 0 and
          int(server.query("SELECT count() FROM cmt.usage")[0][0]) > int(raw), (raw, done))
    compare(server, "three times, backwards", paths)
    check("three times: incidents", lost_seconds(server) == wanted_incidents(paths))
    check("three times: 1 ms", fine == server.query(
        "SELECT count(), uniqExact(cell) FROM cmt.usage FINAL WHERE grain_ns = 1000000")[0])
    server.query("OPTIMIZE TABLE cmt.usage FINAL")
    compare(server, "merged", paths)


def overlapping(server, node):
    """Two recordings of the same time, the later one first."""
    whole = node.save(containers=20, ms=9000, seed=3)
    early = write_part(whole, node.path(2), 0, 2 / 3)
    late = write_part(whole, node.path(3), 1 / 3, 1)
    rows = [len({row["monotonic_ns"] for row in export(p, "--grain", "1")})
            for p in (whole, early, late)]
    check("made: each has a part, and both overlap", rows[1] + rows[2] > rows[0] + 1 and
          max(rows[1:]) < rows[0], rows)
    for order in ((late, early), (early, late)):
        schema(server)
        done = node.ship(*order)
        check("overlapping recordings are sent", done.returncode == 0, done)
        compare(server, "overlapping", [whole])


def who_cost(server, node, paths):
    """The answer of who-cost.sql, once @paths are loaded."""
    schema(server)
    done = node.ship(*paths, CMT_SHIP_FINE="0")
    check(f"{len(paths)} recordings of incidents are sent", done.returncode == 0, done)
    return {tuple(row[:3]): row[3:] for row in server.query(sql("who-cost.sql"))}


def phase(path):
    """Of its begin, in what lies between two estimates"""
    return min(int(row["monotonic_ns"]) for row in export(path, "--grain", "1")) % 250000000


def overlapping_incidents(server, node):
    """Incidents of overlapping recordings cost what those of the whole cost: of two that begin
    and end within several of them, and of one that goes on all the time."""
    for options in ({"containers": 12, "ms": 30000, "story": 1},
                    {"containers": 14, "ms": 12000, "waits": 400000}):
        whole = node.save(**options)
        wanted = who_cost(server, node, [whole])
        parts = [write_part(whole, node.path(100 + i), i / 50, 0.6 + i / 25) for i in range(11)]
        check("made: they begin at several phases", len({phase(path) for path in parts}) > 1)
        found = who_cost(server, node, parts)
        check(f"who-cost.sql of {len(parts)} overlapping recordings", len(wanted) >= 3 and all(
            key in found and found[key][1] == row[1] and
            math.isclose(float(found[key][2]), float(row[2]), rel_tol=0.02)
            for key, row in wanted.items()) and len(found) == len(wanted), (found, wanted))


def nameless_incidents(server, node):
    """A recording that began before a container's name was known has the same rows."""
    node.save(containers=14, ms=4300, waits=400000, seed=1)
    node.ship(CMT_SHIP_FINE="0")
    count = "SELECT count() FROM cmt.incidents FINAL"
    before = server.query(count)
    columns = [row[0] for row in server.query(
        "SELECT name FROM system.columns WHERE database = 'cmt' AND table = 'incidents' "
        "AND default_kind = ''")]
    values = ["''" if name in ("victim", "suspect") else name for name in columns]
    server.query(f"INSERT INTO cmt.incidents ({', '.join(columns)}) "
                 f"SELECT {', '.join(values)} FROM cmt.incidents")
    check("incidents without names are the same ones", int(before[0][0]) >= 3 and
          server.query(count) == before, (before, server.query(count)))


class Cut:
    """A way to the server that ends after some bytes."""

    def __init__(self, port, limit):
        self.port, self.limit, self.passed_on = port, limit, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = self.socket.getsockname()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                ours = self.socket.accept()[0]
            except OSError:
                return
            with ours, socket.create_connection(("127.0.0.1", self.port)) as theirs:
                while self.passed_on < self.limit and (data := ours.recv(4096)):
                    theirs.sendall(data)
                    self.passed_on += len(data)
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half(server, node):
    path = node.save(containers=100, ms=5000, seed=4)
    for limit in (30000, 90000):
        cut = Cut(server.http, limit)
        node.url = f"http://127.0.0.1:{cut.address[1]}"
        node.end_pause()
        done = node.ship()
        cut.socket.close()
        check(f"cut after {limit} bytes: not sent", done.returncode == 1 and
              "not sent: cmt-" in done.stdout and "again in" in done.stdout, done)
    with subprocess.Popen([STAT, "export", "--clickhouse", path], stdout=subprocess.PIPE) as rows:
        data = rows.stdout.read()
    subprocess.run(["curl", "-s", "-o", "/dev/null", "--data-binary", "@-",
                    f"http://127.0.0.1:{server.http}/?query=INSERT%20INTO%20cmt.usage%20FORMAT"
                    "%20RowBinary"], input=data[:len(data) // 2 + 5], check=True)
    node.url = f"http://127.0.0.1:{server.http}"
    node.end_pause()
    done = node.ship()
    check("then it is sent", done.returncode == 0 and "sent: " in done.stdout, done)
    compare(server, "half, and then all", [path])


def killed(server, node):
    """The server is killed while it takes rows, several times."""
    paths = [node.save(containers=200, ms=6000, idle=1, waits=400000, seed=5)]
    outcomes = []
    for delay in (0.15, 0.6, 1.2):
        node.end_pause()
        with subprocess.Popen(node.command(), env=node.environment(), stderr=subprocess.PIPE,
                              text=True) as process:
            time.sleep(delay)   # no state is waited for: any moment will do
            server.kill()
            outcomes.append((process.communicate()[1], process.returncode))
        server.start()
    check("killed: it is told, and not given up",
          all("not sent" in text for text, code in outcomes if code), outcomes)
    node.end_pause()
    done = node.ship()
    check("killed: sent at last", done.returncode == 0, done)
    check("killed: something was cut", any(code for _, code in outcomes), outcomes)
    compare(server, "killed", paths)
    check("killed: incidents", lost_seconds(server) == wanted_incidents(paths))


def refused(server, node):
    path = node.save(containers=14, ms=2000, hostile=1, seed=6)
    node.set_password("wrong")
    done = node.ship()
    check("a wrong password is told, and nothing of it", done.returncode == 1 and
          "not sent" in done.stdout and PASSWORD not in done.stdout, done)
    check("nothing came", server.query("SELECT count() FROM cmt.usage") == [["0"]])
    done = node.ship()
    check("there is a pause", done.returncode == 0 and not done.stdout, done)
    node.set_password(PASSWORD)
    node.end_pause()
    done = node.ship()
    check("the right one: sent", done.returncode == 0 and "sent:" in done.stdout, done)
    # names in CSV are of UTF-8 only, in the table they are bytes
    totals = server.query("SELECT sum(total_bytes), sum(cycles), count(), uniqExact(node) "
                          "FROM cmt.usage FINAL WHERE grain_ns = 1000000000")[0]
    rows = export(path, "--grain", "1")
    check("hostile names: sums", [int(n) for n in totals] ==
          [sum(int(r["total_bytes"] or 0) for r in rows),
           sum(int(r["cycles"] or 0) for r in rows), len(rows), 1], totals)


def hostile_node(server, node):
    """The name of a node is text, too: in a recording whose HEAD says so."""
    os.environ["CMT_MADE_HOST"] = "n'); DROP TABLE cmt.usage; --\t\"$(id)`id`\\"
    node.save(containers=5, ms=1500, seed=7)
    name = os.environ.pop("CMT_MADE_HOST")
    done = node.ship()
    check("a hostile node name: sent", done.returncode == 0 and "sent:" in done.stdout, done)
    found = server.query("SELECT DISTINCT hex(node) FROM cmt.usage")
    # no control characters are in a host name of a recording
    check("a hostile node name is text",
          found == [[name.replace("\t", "?").encode().hex().upper()]], found)


def kept(server, node):
    """Minutes outlive rows."""
    node.save(containers=14, ms=4000, seed=8)
    node.ship()
    rows = "SELECT * FROM cmt.{} ORDER BY node, path, name, time"
    minutes = server.query(rows.format("minutes"))
    server.query(sql("keep-minutes.sql"))
    server.query(sql("keep-minutes.sql"))
    found = server.query(rows.format("kept_minutes FINAL"))
    check("keep-minutes.sql, twice", found == minutes and len(minutes) >= 14, (found, minutes))
    # rows that come late, once the others were dropped
    server.query("DROP TABLE cmt.usage; " + sql("schema.sql"))
    node.save(containers=14, ms=1000, seed=8)
    node.ship()
    late = server.query("SELECT count() FROM cmt.minutes")
    server.query(sql("keep-minutes.sql"))
    found = server.query(rows.format("kept_minutes FINAL"))
    check("keep-minutes.sql of a dropped day: whole minutes stay", late != [["0"]] and
          found == minutes, (found[:2], minutes[:2]))


def main():
    with tempfile.TemporaryDirectory() as top, Server() as server:
        print(f"clickhouse-server {server.version()}")
        for test in (twice, overlapping, overlapping_incidents, nameless_incidents, half, killed,
                     refused, hostile_node, kept):
            schema(server)
            test(server, Node(top, test.__name__, server))
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
