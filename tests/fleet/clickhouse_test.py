#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of several nodes in Debian's ClickHouse: what its answers are, and what it
costs.  usage: clickhouse_test.py DIRECTORY_OF_THE_BUILD
CMT_FLEET_ROWS: how many rows, 10 million unless it is set.
The last line is "N passed, M failed"."""

import collections
import csv
import io
import math
import os
import subprocess
import sys
import tempfile
import time

from queries import WORDS, sql
from server import Server, Spent

BUILD = os.path.abspath(sys.argv[1])
STAT = os.path.join(BUILD, "tools/cmtstat")
MADE = os.path.join(BUILD, "tests/fleet/cmt-made")
ROWS = int(os.environ.get("CMT_FLEET_ROWS", "10000000"))
CONTAINERS, MS = 200, 10000     # each node has 2 million rows
NODES = max(1, ROWS // CONTAINERS // MS)
# What a row may take on the disk by its length, and how many are loaded at least for a second
# of processor time.
ROW_BYTES_MAX = {0.001: 40, 0.01: 80, 0.1: 85, 1: 95}
LOAD_RATE_MIN = 20000
RESOURCES = ("cpu", "cache", "memory")
QUERIES = ("top.sql", "who-took.sql", "who-waits.sql", "who-cost.sql", "history.sql")
ZONE = "Asia/Kolkata"           # of the server: 2026-06-01 in UTC begins at 05:30
BEGIN_NS = 1780272000 * 1000000000      # 2026-06-01T00:00:00Z
INSERT = "INSERT INTO {}.{} FORMAT RowBinary"
WAITS_NS = 400000               # of docker:web in each ms, in the recordings of incidents

passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'not ok'} - {name}" + ("" if ok else f": {detail}"), flush=True)


def record(directory, name, **options):
    path = os.path.join(directory, name)
    with open(path, "wb") as file:
        subprocess.run([MADE, "recording"] + [f"{k}={v}" for k, v in options.items()],
                       stdout=file, check=True)
    return path


def export(path, form, *options):
    return subprocess.Popen([STAT, "export", form, *options, path],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def load(server, path, grain, database="cmt"):
    return load_from(server, export(path, "--clickhouse", "--grain", str(grain)), database, "usage")


def load_from(server, source, database, table):
    done = subprocess.run(server.client("--query", INSERT.format(database, table)),
                          stdin=source.stdout, check=False)
    source.stdout.close()
    return source.wait() or done.returncode


class Second:
    """One container on one node in one second, of its intervals."""
    __slots__ = ("last", "most", "held", "slots", "total", "known", "complete", "rows", "cycles",
                 "instructions", "waited", "waits", "ran", "quota")

    def __init__(self):
        self.last = self.most = None
        self.held = self.slots = self.total = self.known = self.complete = self.rows = 0
        self.cycles = self.instructions = self.waited = self.waits = self.ran = self.quota = 0


def number(text):
    return int(text) if text else None


def add_line(seconds, columns, line):
    cells = line.split(b",")
    (name, occupancy, most, mean, slots, occupancy_partial, total, total_partial, cycles,
     instructions, waited, bounds, ran, quota, node, time_ns) = (cells[i] for i in columns)
    key = (node, name, int(time_ns) // 1000000000)
    second = seconds[key]
    second.rows += 1
    second.last = None if occupancy_partial == b"1" else number(occupancy)
    if most and (second.most is None or int(most) > second.most):
        second.most = int(most)
    if int(slots):
        second.held += int(mean) * int(slots)
        second.slots += int(slots)
    if total:
        second.total += int(total)
        second.known += 1
        second.complete += b"1" not in (occupancy_partial, total_partial)
    second.cycles += int(cycles or 0)
    second.instructions += int(instructions or 0)
    if waited:
        second.waited += int(waited)
        second.waits += b"waited" not in bounds
        second.ran += int(ran or 0)
    second.quota |= quota == b"1"


COLUMNS = ("name", "occupancy_bytes", "occupancy_most_bytes", "occupancy_mean_bytes",
           "occupancy_slots", "occupancy_partial", "total_bytes", "total_partial", "cycles",
           "instructions", "waited_ns", "counters_bounds", "ran_ns", "wait_quota", "node", "time_ns")


def read_csv(paths, grain):
    """The same from CSV: another format, read by what knows nothing of ClickHouse."""
    seconds = collections.defaultdict(Second)
    for path in paths:
        source = export(path, "--csv", "--grain", str(grain))
        header = source.stdout.readline().decode().rstrip().split(",")
        columns = [header.index(name) for name in COLUMNS]
        for line in source.stdout:
            add_line(seconds, columns, line)
        if source.wait():
            sys.exit("no CSV")
    return seconds


def who_took(seconds):
    """As who-took.sql says."""
    changes = collections.defaultdict(list)
    for (node, name, at), second in seconds.items():
        before = seconds.get((node, name, at - 1))
        if before and None not in (before.last, second.last):
            changes[node, at].append((name, second.last - before.last))
    took = collections.defaultdict(float)
    nodes, count = collections.defaultdict(set), collections.Counter()
    for (node, at), change in changes.items():
        lost = -sum(c for n, c in change if n == b"docker:web")
        gains = [(n, c) for n, c in change if n != b"docker:web" and c > 0]
        gained = sum(c for _, c in gains)
        if lost <= 0 or not gained:
            continue
        for name, gain in gains:
            took[name] += min(lost, gained) * gain / gained
            nodes[name].add(node)
            count[name] += 1
    rows = [[n.decode(), len(nodes[n]), count[n], took[n]] for n in took]
    return sorted(rows, key=lambda row: (-row[3], row[0]))[:20]


def top(seconds):
    """As top.sql says."""
    sums, nodes = collections.defaultdict(Second), collections.defaultdict(set)
    for (node, name, _), second in seconds.items():
        to = sums[name]
        nodes[name].add(node)
        for key in ("held", "slots", "total", "known", "complete", "rows", "cycles",
                    "instructions"):
            setattr(to, key, getattr(to, key) + getattr(second, key))
        if second.most is not None:
            to.most = max(to.most or 0, second.most)
    rows = [[n.decode(), len(nodes[n]), s.total if s.known else None,
             s.held / s.slots if s.slots else None, s.most,
             s.cycles / s.instructions if s.instructions else None, s.complete / s.rows]
            for n, s in sums.items()]
    return sorted(rows, key=lambda row: (row[2] is None, -(row[2] or 0), row[0]))[:20]


def who_waits(seconds):
    """As who-waits.sql says."""
    sums, nodes = collections.defaultdict(Second), collections.defaultdict(set)
    for (node, name, _), second in seconds.items():
        to = sums[name]
        nodes[name].add(node)
        for key in ("waited", "waits", "ran", "rows"):
            setattr(to, key, getattr(to, key) + getattr(second, key))
        to.quota |= second.quota
    rows = [[n.decode(), len(nodes[n]), s.waited / 1e9, s.waited / (s.waited + s.ran), s.quota,
             s.waits / s.rows] for n, s in sums.items() if s.waited]
    return sorted(rows, key=lambda row: (-row[2], row[0]))[:20]


def who_cost(paths):
    """As who-cost.sql says."""
    rows = []
    for path in paths:
        source = export(path, "--csv", "--by", "incident")
        rows += csv.DictReader(io.TextIOWrapper(source.stdout, "utf-8", newline=""))
        if source.wait():
            sys.exit("no CSV of incidents")
    sums = collections.defaultdict(list)
    for row in rows:
        sums[row["suspect"], row["victim"], row["resource"]].append(row)
    answer = [[*key, len({r["node"] for r in all_of}),
               len({(r["node"], r["boot"], r["number"]) for r in all_of}),
               sum(int(r["lost_ns"] or 0) for r in all_of) / 1e9,
               max(float(r["worst"]) for r in all_of),
               sum(r["lost_ns"] != "" for r in all_of) / len(all_of),
               max(r["clipped"] for r in all_of)]
              for key, all_of in sums.items()]
    return sorted(answer, key=lambda row: (-row[5], row[:2], RESOURCES.index(row[2])))[:20]


def same_cell(cell, want, tolerance):
    if want is None:
        return cell == "\\N"
    if isinstance(want, str):
        return cell == want
    return math.isclose(float(cell), want, rel_tol=tolerance)


def same(answer, wanted, tolerance=1e-9):
    return len(answer) == len(wanted) and all(
        len(row) == len(want) and all(same_cell(a, w, tolerance) for a, w in zip(row, want))
        for row, want in zip(answer, wanted))


def compare(name, answer, wanted, tolerance=1e-9):
    check(f"{name}: {len(wanted)} rows as from the recordings",
          wanted and same(answer, wanted, tolerance),
          f"{answer[:3]} and not {wanted[:3]}")


def table_bytes(server, database):
    size, rows = server.query(
        f"SELECT sum(bytes), sum(rows) FROM system.parts WHERE active AND "
        f"database = '{database}' AND table = 'usage'")[0]
    return int(size), int(rows)


def settle(server, database):
    """What merges would do some time."""
    server.query(f"OPTIMIZE TABLE {database}.usage FINAL")


def load_all(server, paths):
    server.query(sql("schema.sql"))
    spent = Spent(server)
    bad = [path for path in paths if load(server, path, 0.001)]
    wall_s, server_s, children_s = spent.get()
    rows = int(server.query("SELECT count() FROM cmt.usage")[0][0])
    rate = rows / (server_s + children_s)
    check(f"{rows} rows of {NODES} nodes loaded", not bad and rows >= NODES * CONTAINERS * MS * 0.99, bad)
    check(f"{rate:,.0f} rows for a second of processor time, of the export and the server (at "
          f"least {LOAD_RATE_MIN:,})", rate >= LOAD_RATE_MIN)
    print(f"figure fleet_load_rows_per_s {rows / wall_s:.0f}", flush=True)


def load_seconds(server, paths):
    """What the views read, beside the rows of 1 ms."""
    bad = [path for path in paths if load(server, path, 1)]
    check("the same at 1 s is loaded", not bad, bad)


def time_export(path):
    begin = time.monotonic()
    size = rows = 0
    source = export(path, "--clickhouse", "--grain", "0.001")
    while chunk := source.stdout.read(1 << 20):
        size += len(chunk)
    rows = CONTAINERS * MS
    print(f"figure fleet_export_rows_per_s {rows / (time.monotonic() - begin):.0f}\n"
          f"figure fleet_row_binary_bytes {size / rows:.0f}", flush=True)
    source.wait()


def report_sizes(server, database, grain):
    settle(server, database)
    size, rows = table_bytes(server, database)
    each = size / rows
    check(f"grain {grain} s: {each:.1f} bytes a row on disk, {rows} rows (at most "
          f"{ROW_BYTES_MAX[grain]})", each <= ROW_BYTES_MAX[grain])
    print(f"figure fleet_row_bytes_{grain} {each:.2f}", flush=True)


def coarser(server, directory):
    """A row's bytes depend on how long it is: a longer recording at coarser grains."""
    path = record(directory, "long", containers=CONTAINERS, ms=120000, idle=1, seed=9)
    for grain in (0.01, 0.1, 1):
        database = f"cmt_{str(grain).replace('.', '_')}"
        server.query(sql("schema.sql", database))
        check(f"grain {grain} s is loaded", not load(server, path, grain, database))
        report_sizes(server, database, grain)


def incidents(server, directory):
    """Of two nodes; on each docker:web waits for its CPU."""
    paths = [record(directory, f"waits{i}", containers=14, ms=6000, waits=WAITS_NS, seed=i)
             for i in range(2)]
    bad = [path for path in paths
           if load_from(server, export(path, "--clickhouse", "--by", "incident"), "cmt",
                        "incidents")]
    check("incidents are loaded", not bad, bad)
    # worst has seven digits in ClickHouse
    answer, wanted = server.query(sql("who-cost.sql")), who_cost(paths)
    compare("who-cost.sql", answer, wanted, 1e-6)
    check("who-cost.sql: docker:web waits for those on its CPU",
          {tuple(row[:4]) for row in answer[:3]} ==
          {(f"docker:c{n}", "docker:web", "cpu", "2") for n in (5, 9, 13)}, answer[:3])


def bounds(server, directory):
    """A partial value makes a sum a lower bound; without any there is no mean."""
    path = record(directory, "bounds", containers=14, ms=3000, beside=1)
    server.query(sql("schema.sql", "bounds"))
    check("partial values are loaded", not load(server, path, 1, "bounds"))
    seconds = read_csv([path], 1)
    answer = {name: server.query(sql(name, "bounds")) for name in ("top.sql", "who-waits.sql")}
    compare("top.sql of partial values", answer["top.sql"], top(seconds))
    compare("who-waits.sql of partial values", answer["who-waits.sql"], who_waits(seconds))
    rows = {row[0]: row for row in answer["top.sql"]}
    check("top.sql: complete is 0 of partial values, and 1 of others",
          [rows["docker:" + name][6] for name in ("batch", "web", "c14")] == ["0", "0", "1"], rows)
    check("top.sql: a mean of nothing is NULL", rows["docker:web"][2:5] == ["\\N"] * 3, rows)
    check("who-waits.sql: complete is 0 of lower bounds",
          [(row[0], row[5]) for row in answer["who-waits.sql"]] == [("docker:web", "0")],
          answer["who-waits.sql"])


def alike(server, directory):
    """Neighbours of one name in one incident, which has a row for each of them."""
    names = os.path.join(directory, "names")
    with open(names, "wb") as file:
        file.write(b"web\0" + 7 * b"b\0")
    path = record(directory, "alike", names=names, ms=6000, waits=WAITS_NS)
    server.query(sql("schema.sql", "alike"))
    check("incidents of neighbours of one name are loaded", not load_from(
        server, export(path, "--clickhouse", "--by", "incident"), "alike", "incidents"))
    answer = server.query(sql("who-cost.sql", "alike"))
    compare("who-cost.sql of one name", answer, who_cost([path]), 1e-6)
    check("who-cost.sql: a row for each neighbour is one incident",
          [row[4] for row in answer if row[:3] == ["docker:b", "b", "cache"]] == ["1"] and
          server.query("SELECT count() FROM alike.incidents WHERE suspect = 'docker:b'")
          == [["6"]], answer[:3])


def clipped(server, directory):
    """More neighbours than an incident has room for: what each cost is a lower bound."""
    path = record(directory, "clipped", containers=80, ms=4000, waits=WAITS_NS)
    server.query(sql("schema.sql", "clipped"))
    check("incidents of many neighbours are loaded", not load_from(
        server, export(path, "--clickhouse", "--by", "incident"), "clipped", "incidents"))
    answer = server.query(sql("who-cost.sql", "clipped"))
    compare("who-cost.sql of many neighbours", answer, who_cost([path]), 1e-6)
    check("who-cost.sql: there were more suspects",
          len(answer) >= 10 and all(row[7:] == ["1", "1"] for row in answer), answer[:3])


def insert_seconds(server, database, rows):
    """Rows of 1 s of containers of one node: dictionaries of their values; "at": the second."""
    for row in rows:
        ns = BEGIN_NS + row.pop("at") * 1000000000
        row = {"node": "n", "boot": "b", "time_ns": ns, "monotonic_ns": ns,
               "length_ns": 1000000000, "grain_ns": 1000000000, "path": "/" + row["name"], **row}
        server.query(f"INSERT INTO {database}.usage ({', '.join(row)}) VALUES "
                     f"({', '.join(map(repr, row.values()))})")


def large_sums(server, _):
    """Sums of a large fleet pass 2^64."""
    server.query(sql("schema.sql", "large"))
    insert_seconds(server, "large", [
        {"at": at, "name": "x", "occupancy_mean_bytes": 1 << 54, "occupancy_slots": 1000,
         "total_bytes": 1 << 62, "cycles": 1 << 62, "instructions": 1 << 61, "ran_ns": 1 << 62,
         "waited_ns": 1 << 62} for at in range(6)])
    compare("top.sql of large sums", server.query(sql("top.sql", "large")),
            [["x", 1, 6.0 * 2**62, 2.0**54, None, 2.0, 1.0]])
    compare("who-waits.sql of large sums", server.query(sql("who-waits.sql", "large")),
            [["x", 1, 6 * 2**62 / 1e9, 0.5, 0, 1.0]])


def unattributed_waits(server, _):
    """The time of RMID 0 has that of idle CPUs: no share of it says anything."""
    server.query(sql("schema.sql", "waits"))
    insert_seconds(server, "waits", [
        {"at": 0, "name": "(unattributed)", "kind": "unattributed", "ran_ns": 64 * 10**9,
         "waited_ns": 2 * 10**9},
        {"at": 0, "name": "docker:web", "ran_ns": 10**9, "waited_ns": 10**9}])
    compare("who-waits.sql of unattributed tasks", server.query(sql("who-waits.sql", "waits")),
            [["(unattributed)", 1, 2.0, None, 0, 1.0], ["docker:web", 1, 1.0, 0.5, 0, 1.0]])


def took_partial(server, _):
    """A lower bound is no loss: an agent's RMID counts a part of docker:web in one second."""
    server.query(sql("schema.sql", "took"))
    held = ((30, 0, 1), (5, 1, 26), (30, 0, 1), (20, 0, 9))
    insert_seconds(server, "took", [
        row for at, (mb, partial, other) in enumerate(held)
        for row in ({"at": at, "name": "docker:web", "occupancy_bytes": mb << 20,
                     "occupancy_partial": partial},
                    {"at": at, "name": "resctrl:web", "occupancy_bytes": other << 20})])
    compare("who-took.sql of a lower bound", server.query(sql("who-took.sql", "took")),
            [["resctrl:web", 1, 1, 8.0 * 2**20]])


def copy_as_model(server, database, table):
    """The rows again, as those of another node on which a model made them."""
    columns = [row[0] for row in server.query(
        f"SELECT name FROM system.columns WHERE database = '{database}' AND table = '{table}' "
        "AND default_kind = ''")]
    values = [{"node": "'model'", "emulated": "1"}.get(name, name) for name in columns]
    server.query(f"INSERT INTO {database}.{table} ({', '.join(columns)}) "
                 f"SELECT {', '.join(values)} FROM {database}.{table}")


def model(server, directory):
    """What a model made is in no answer, but that of not-known.sql."""
    path = record(directory, "model", containers=14, ms=6000, waits=WAITS_NS)
    server.query(sql("schema.sql", "model"))
    check("what will be copied is loaded", not load(server, path, 1, "model") and not load_from(
        server, export(path, "--clickhouse", "--by", "incident"), "model", "incidents"))
    insert_seconds(server, "model", [
        {"at": at, "name": name, "occupancy_bytes": mb << 20}
        for name, held in (("docker:web", (30, 20)), ("docker:took", (1, 11)))
        for at, mb in enumerate(held)])
    queries = {name: sql(name, "model") for name in QUERIES}
    before = {name: server.query(query) for name, query in queries.items()}
    copy_as_model(server, "model", "usage")
    copy_as_model(server, "model", "incidents")
    for name, query in queries.items():
        check(f"{name}: nothing of a model", before[name] and server.query(query) == before[name],
              (before[name][:3], server.query(query)[:3]))
    check("not-known.sql: which node has a model's", [
        row[5] for row in server.query(sql("not-known.sql", "model")) if row[0] == "model"] ==
        ["1"])


def hostile(server, directory):
    """Names that would be more than text are text."""
    path = record(directory, "hostile", containers=14, ms=3000, hostile=1, seed=7)
    server.query(sql("schema.sql", "bad"))
    check("hostile names are loaded", not load(server, path, 0.1, "bad") and
          not load(server, path, 1, "bad"))
    paths = server.query("SELECT hex(path) FROM bad.usage WHERE path LIKE '/user.slice/%' "
                         "GROUP BY path")
    found = {bytes.fromhex(row[0]) for row in paths}
    check("paths come out byte by byte", any(p.endswith(b"\xff\xfe\x80 not utf-8 \xc3")
                                            for p in found) and len(found) == 6, found)
    row = server.query("SELECT count(), count(occupancy_bytes), count(total_rate), "
                       "max(occupancy_why) FROM bad.usage WHERE name = 'docker:c5'")[0]
    check("what is not known is NULL", int(row[0]) >= 30 and row[1:] == ["0", "0", "1"], row)
    row = server.query(sql("not-known.sql", "bad"))
    check("losses are told", [r[4] for r in row] == ["1"], row)


def main():
    with tempfile.TemporaryDirectory() as directory, Server(ZONE) as server:
        print(f"clickhouse-server {server.version()}")
        paths = [record(directory, f"node{i}", containers=CONTAINERS, ms=MS, idle=1, seed=i)
                 for i in range(NODES)]
        hostile(server, directory)
        time_export(paths[0])
        load_all(server, paths)
        load_seconds(server, paths)
        incidents(server, directory)
        alike(server, directory)
        clipped(server, directory)
        model(server, directory)
        large_sums(server, directory)
        took_partial(server, directory)
        unattributed_waits(server, directory)
        bounds(server, directory)
        seconds = read_csv(paths, 1)
        begin = time.monotonic()
        compare("who-took.sql", server.query(sql("who-took.sql")), who_took(seconds))
        print(f"figure fleet_who_took_s {time.monotonic() - begin:.2f}")
        compare("top.sql", server.query(sql("top.sql")), top(seconds))
        compare("who-waits.sql", server.query(sql("who-waits.sql")), who_waits(seconds))
        history = server.query(sql("history.sql"))
        check("history.sql: the first minute, in UTC",
              history and history[0][1] == WORDS["@FROM@"], history[:1])
        for view in ("seconds", "minutes"):
            check(f"cmt.{view}: the first one, in UTC", server.query(
                f"SELECT min(time) FROM cmt.{view}") == [[WORDS["@FROM@"]]])
        web = [s for (_, name, _), s in seconds.items() if name == b"docker:web"]
        check("history.sql: each node's minutes", len(history) == NODES * -(-MS // 60000) or
              len(history) == NODES * (MS // 60000 + 1), len(history))
        rows = int(server.query("SELECT count() FROM cmt.seconds WHERE name = 'docker:web'")[0][0])
        check(f"cmt.seconds has {rows} seconds of docker:web", rows == len(web), len(web))
        report_sizes(server, "cmt", 0.001)
        coarser(server, directory)
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
