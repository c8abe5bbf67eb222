#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server of ClickHouse needs for machines with 768 CPUs, 48 L3 domains and 1,000
containers: bytes a row, rows a second, and the queries of docs/fleet.
usage: size_test.py DIRECTORY_OF_THE_BUILD
CMT_FLEET_SIZE_ROWS: how many rows of 1 s, 10,010,000 unless it is set, 1,001,000 at least.

The rows of some seconds are those of a recording that cmtstat record made of such a machine;
what it read is made up (tests/benches/made.h).  ClickHouse multiplies them for NODES machines
and DAYS days: each copy has other ids, and noise in each value.  Counters of the processor,
which that machine has not, and incidents are made up by ClickHouse.
The last line is "N passed, M failed"."""

import math
import os
import subprocess
import sys
import tempfile
import time

from server import PASSWORD, Server, Spent

BUILD = os.path.abspath(sys.argv[1])
TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
STAT = os.path.join(BUILD, "tools/cmtstat")
SHIP = os.path.join(BUILD, "tools/ship/cmt-ship")
BENCH = os.path.join(BUILD, "tests/benches/cmt-bench-stat")
ROWS = int(os.environ.get("CMT_FLEET_SIZE_ROWS", "10010000"))
NODES, DAYS, CONTAINERS = 10, 10, 1000
MACHINE = f"768/48/{CONTAINERS}"
SLICE_MS, SLICE_S = 11500, 10   # whole seconds of a recording of so many milliseconds
INCIDENT_ROWS = ROWS // 100
UNIT = 65536                    # of the made-up machine's counters
BEGIN = 1780272000              # 2026-06-01T00:00:00Z
DAY_S = 86400
NAME = "docker:svc-17"
QUERIES = ("not-known.sql", "who-cost.sql", "who-took.sql", "top.sql", "who-waits.sql",
           "history.sql")
READS_ALL = ("who-cost.sql",)   # its table has months, and is small
# Bytes of a row on the disk at most, by table and grain.
ROW_BYTES_MAX = {"1 s": 130, "1 ms": 50, "incidents": 220}
SERVER_RATE_MIN = 50000         # rows for a second of the server's processor time
MEMORY_MAX = 2 << 30            # of a query over all rows
# A day is a tenth of the rows.
READ_SHARE_MAX = 0.2
GROWTH_MAX = 20

passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'not ok'} - {name}" + ("" if ok else f": {detail}"), flush=True)


def sql(name, first_day=0, days=DAYS):
    with open(os.path.join(TOP, "docs/fleet", name), encoding="ascii") as file:
        text = file.read()
    times = [time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(BEGIN + day * DAY_S))
             for day in (first_day, first_day + days)]
    for word, value in zip(("@NAME@", "@FROM@", "@TO@"), (NAME, *times)):
        text = text.replace(word, value)
    return text


def schema(database):
    return sql("schema.sql").replace("cmt.", database + ".").replace(
        "EXISTS cmt;", f"EXISTS {database};")


def record(directory):
    """A recording of the made-up machine by the recorder itself."""
    path = os.path.join(directory, "machine.cmt")
    env = {**os.environ, "CMT_BENCH_MACHINE": MACHINE, "CMT_BENCH_MS": str(SLICE_MS)}
    subprocess.run([BENCH, "record", "-q", "-f", "-o", path], env=env, check=True,
                   stdin=subprocess.DEVNULL)
    return path


def export(server, path, name, grain, *options):
    out = os.path.join(os.path.dirname(path), name)
    spent = Spent(server)
    with open(out, "wb") as file:
        subprocess.run([STAT, "export", "--clickhouse", "--grain", grain, *options, path],
                       stdout=file, stderr=subprocess.DEVNULL, check=True)
    return out, spent.get()[2]


def ship(server, directory, rows, database):
    """cmt-ship and what it sends, without the export: its cmtstat prints what was exported."""
    tools = os.path.join(directory, "tools")
    os.makedirs(tools, exist_ok=True)
    with open(os.path.join(tools, "cmtstat"), "w", encoding="ascii") as file:
        file.write('#!/bin/sh\n[ "$2" != --ndjson ] || exit 0\nfor last; do :; done\n'
                   'exec cat -- "$last"\n')
    os.chmod(file.name, 0o755)
    password = os.path.join(directory, "password")
    with open(password, "w", encoding="ascii") as file:
        file.write(PASSWORD + "\n")
    env = {"CMT_SHIP_URL": f"http://127.0.0.1:{server.http}", "CMT_SHIP_USER": "ship",
           "CMT_SHIP_PASSWORD": password, "CMT_SHIP_DATABASE": database,
           "CMT_SHIP_PATH": tools + ":" + os.environ["PATH"]}
    spent = Spent(server)
    subprocess.run([SHIP, rows], env=env, check=True)
    return spent.get()


def count(server, what):
    return int(server.query(f"SELECT count() FROM {what}")[0][0])


def slice_rows(server, directory):
    """Rows of one machine: some seconds in slice.usage, a second of 1 ms in fine.usage."""
    path = record(directory)
    seconds, cpu_s = export(server, path, "seconds", "1")
    fine, fine_cpu_s = export(server, path, "fine", "0.001", "--from", "+2s", "--to", "+3s")
    for database, rows in (("slice", seconds), ("fine", fine)):
        server.query(schema(database))
        spent = ship(server, directory, rows, database)
        nr, size = count(server, database + ".usage"), os.path.getsize(rows)
        print(f"{nr} rows by cmt-ship: {size / nr:.0f} bytes a row on the way, "
              f"{nr / spent[0]:,.0f} rows a second, {nr / spent[1]:,.0f} rows for a second of "
              f"the server's processor time, {nr / spent[2]:,.0f} of the sender's", flush=True)
    check(f"cmt-ship: the server takes {nr / spent[1]:,.0f} rows of 1 ms for a second of its "
          f"processor time (at least {SERVER_RATE_MIN:,})", nr / spent[1] >= SERVER_RATE_MIN)
    print(f"export of {SLICE_MS / 1000:.0f} s of the machine: {cpu_s:.1f} s of a processor at "
          f"1 s; {fine_cpu_s:.1f} s for its third second at 1 ms", flush=True)
    nr = count(server, "slice.usage WHERE length_ns = 1000000000")
    check(f"{nr} rows of {SLICE_S} whole seconds", nr == SLICE_S * (CONTAINERS + 1))


def noisy(value, seed, share=8):
    return f"toUInt64({value} * (1 + (rand({seed}) / 4294967296 - 0.5) / {share}))"


def copies(node, day, times):
    """Rows of "times" slices of a node, from the begin of a day on."""
    moved = f"at * {SLICE_S * 1000000000}"
    hexed = ", ".join(f"hex(cityHash64(cgroup_id, {node}, {i}))" for i in range(4))
    first = "(SELECT min(cell) FROM slice.usage WHERE length_ns = 1000000000)"
    new = {
        "node": f"'node-{node}.example.org'",
        "boot": f"concat('0f3c{node}9b1-5d2e-4c61-9a7b-', "
                f"substring(hex(cityHash64({node})), 1, 12))",
        "time_ns": f"toUInt64({BEGIN + day * DAY_S}) * 1000000000 + {moved} + "
                   f"(cell - {first}) * 1000000000 + {node} * 37123456",
        "monotonic_ns": f"monotonic_ns + {moved} + toUInt64({day * DAY_S}) * 1000000000",
        "name": "if(kind = 'owner', concat('docker:svc-', toString(cgroup_id - 7000)), name)",
        "path": f"if(kind = 'owner', concat('/system.slice/docker-', lower(concat({hexed})), "
                "'.scope'), path)",
        "image": "if(kind = 'owner', concat('registry.example.org/svc-', "
                 "toString(cgroup_id - 7000), ':1.4.2'), '')",
        "ran_ns": noisy("ran_ns", 4),
        "waited_ns": noisy("waited_ns", 5),
        "cycles": noisy("ran_ns * 3", 6),
        "instructions": noisy("ran_ns * 4", 7),
        "llc_misses": noisy("total_bytes / 64", 8),
        "llc_references": noisy("total_bytes / 16", 9),
        "ipc": f"toFloat32({noisy('1000000', 10)} / 750000)",
        "mpki": f"toFloat32({noisy('1000000', 11)} / 250000)",
        "cpu_share": f"toFloat32({noisy('ran_ns', 12)} / 1e9)",
        "wait_share": f"toFloat32({noisy('waited_ns', 13)} / 1e9)",
        "counters_why": "toUInt32(0)",
    }
    for i, name in enumerate(("occupancy_bytes", "occupancy_least_bytes",
                              "occupancy_most_bytes", "total_bytes", "local_bytes")):
        new[name] = f"intDiv({noisy(name, 20 + i)}, {UNIT}) * {UNIT}"
    new["occupancy_mean_bytes"] = noisy("occupancy_mean_bytes", 25)
    for kind, seed in (("total", 30), ("local", 40)):
        for i, end in enumerate(("rate", "lo", "hi")):
            new[f"{kind}_{end}"] = f"toFloat32({kind}_{end} * (1 + rand({seed}) / 4294967296 / 8)" \
                                   f" + rand({seed + i + 1}) % 32768)"
    # a subquery: else all copies of a row have the same noise
    return new, (f"(SELECT *, at FROM slice.rows ARRAY JOIN range({times}) AS at "
                 "WHERE length_ns = 1000000000)")


def columns(server):
    return [row[0] for row in server.query(
        "SELECT name FROM system.columns WHERE database = 'cmt' AND table = 'usage' "
        "AND default_kind = '' ")]


def fill(server):
    server.query(schema("cmt"))
    names = columns(server)
    times = max(1, ROWS // (NODES * DAYS * SLICE_S * (CONTAINERS + 1)))
    server.query("CREATE TABLE slice.rows ENGINE = Memory AS SELECT "
                 f"{', '.join(names)}, cell FROM slice.usage")
    spent = Spent(server)
    for day in range(DAYS):
        for node in range(NODES):
            new, rest = copies(node, day, times)
            values = ", ".join(new.get(name, name) for name in names)
            server.query(f"INSERT INTO cmt.usage ({', '.join(names)}) SELECT {values} "
                         f"FROM {rest}")
    wall_s, server_s, _ = spent.get()
    rows = times * NODES * DAYS * SLICE_S * (CONTAINERS + 1)
    found = count(server, "cmt.usage")
    check(f"{found} rows of {NODES} machines, {times * SLICE_S} s on each of {DAYS} days",
          found == rows, rows)
    print(f"ClickHouse alone makes, inserts and merges {rows / wall_s:,.0f} rows a second, "
          f"{rows / server_s:,.0f} for a second of its processor time", flush=True)
    return rows


def fill_incidents(server):
    """Ten neighbours of a victim in an incident of 20 s, in all days and on all nodes."""
    server.query(
        "INSERT INTO cmt.incidents (node, boot, time_ns, length_ns, monotonic_ns, number, victim, "
        "victim_path, suspect, suspect_path, resource, domain, lost_ns, lost_by_all_ns, worst, "
        "began_before, goes_on, clipped, emulated) SELECT "
        f"concat('node-', toString(i % {NODES}), '.example.org') AS node, node, "
        f"toUInt64({BEGIN}) * 1000000000 + i * {DAY_S * DAYS * 1000000000 // INCIDENT_ROWS * 10} "
        "+ rand(1) % 1000000000, 20000000000 + rand(2), "
        f"i * {DAY_S * DAYS * 1000000000 // INCIDENT_ROWS * 10} + rand(1) % 1000000000, i, "
        f"concat('docker:svc-', toString(rand(3) % {CONTAINERS})) AS victim, "
        "concat('/system.slice/docker-', lower(concat(hex(cityHash64(victim, node, 1)), "
        "hex(cityHash64(victim, node, 2)), hex(cityHash64(victim, node, 3)), "
        "hex(cityHash64(victim, node, 4)))), '.scope'), "
        f"concat('docker:svc-', toString(rand(4) % {CONTAINERS})) AS suspect, "
        "concat('/system.slice/docker-', lower(concat(hex(cityHash64(suspect, node, 1)), "
        "hex(cityHash64(suspect, node, 2)), hex(cityHash64(suspect, node, 3)), "
        "hex(cityHash64(suspect, node, 4)))), '.scope'), "
        "cast(rand(5) % 3 AS Enum8('cpu' = 0, 'cache' = 1, 'memory' = 2)), rand(6) % 48, rand(7), "
        "rand(7) * 3, toFloat32(rand(8) / 4294967296), 0, 0, 0, 0 FROM "
        f"(SELECT intDiv(number, 10) AS i FROM system.numbers LIMIT {INCIDENT_ROWS})")


def report_sizes(server):
    """When all is merged, which merges would do some time."""
    for what, database, table in (("1 s", "cmt", "usage"), ("1 ms", "fine", "usage"),
                                  ("incidents", "cmt", "incidents")):
        partitions = server.query(
            "SELECT DISTINCT partition FROM system.parts WHERE active AND "
            f"database = '{database}' AND table = '{table}'")
        for partition, in partitions:
            text = partition if partition.isdigit() else f"'{partition}'"
            server.query(f"OPTIMIZE TABLE {database}.{table} PARTITION {text} FINAL")
        size, rows = server.query(
            "SELECT sum(bytes), sum(rows) FROM system.parts WHERE active AND "
            f"database = '{database}' AND table = '{table}'")[0]
        each = int(size) / int(rows)
        check(f"{what}: {each:.1f} bytes a row on disk, {rows} rows (at most "
              f"{ROW_BYTES_MAX[what]})", each <= ROW_BYTES_MAX[what])


def ask(server, text):
    """The answer, the time, the server's processor time, bytes of memory and rows read; or
    why there is none."""
    spent = Spent(server)
    try:
        rows = server.query("SET log_queries = 1; " + text)
    except RuntimeError as error:
        return None, str(error)[:300]
    wall_s, server_s, _ = spent.get()
    server.query("SYSTEM FLUSH LOGS")
    read, memory = server.query(
        "SELECT read_rows, memory_usage FROM system.query_log WHERE type = 2 "
        "ORDER BY event_time DESC, query_start_time DESC LIMIT 1")[0]
    return (rows, wall_s, server_s, int(memory), int(read)), ""


def ask_and_tell(server, name, what, text):
    answer, why = ask(server, text)
    if not answer:
        print(f"{name:15} {what:14} {why}", flush=True)
        return None
    rows, wall_s, server_s, memory, read = answer
    print(f"{name:15} {what:14} {len(rows):5} {wall_s:9.1f} {server_s:7.1f} {memory >> 20:7} "
          f"{read / 1e6:10.2f}", flush=True)
    return answer


def same(rows, others):
    """Sums of other orders differ in their last digits."""
    def near(cell, other):
        return cell == other or math.isclose(float(cell), float(other), rel_tol=1e-9)
    return len(rows) == len(others) and all(
        len(row) == len(other) and all(map(near, row, other))
        for row, other in zip(rows, others))


def ask_all(server):
    print("query           of             rows  clock s   CPU s     MiB  10^6 read", flush=True)
    for name in QUERIES:
        part = ask_and_tell(server, name, "a day", sql(name, 4, 1))
        whole = ask_and_tell(server, name, f"{DAYS} days", sql(name))
        merged = ask_and_tell(server, name, "without FINAL", sql(name).replace(" FINAL", ""))
        check(f"{name}: an answer, in {MEMORY_MAX >> 20} MiB",
              whole and whole[0] and whole[3] <= MEMORY_MAX)
        if name not in READS_ALL:
            check(f"{name}: a day is read, and no other one",
                  part and whole and part[4] <= READ_SHARE_MAX * whole[4])
        check(f"{name}: ten times the rows take {GROWTH_MAX} times the time at most",
              part and whole and whole[2] <= GROWTH_MAX * max(part[2], 0.2))
        check(f"{name}: days that were merged have the same answer without FINAL",
              merged and whole and same(merged[0], whole[0]))


def keep_minutes(server):
    """Of one day."""
    create, insert = sql("keep-minutes.sql").split(";\n", 1)
    server.query(create)
    day = server.query("SELECT partition FROM system.parts WHERE active AND database = 'cmt' "
                       "AND table = 'usage' ORDER BY partition LIMIT 1")[0][0]
    kept = ask_and_tell(server, "keep-minutes", "a day", insert.replace("@DAY@", day))
    check("keep-minutes.sql: a day is read, and no other one",
          kept and kept[4] <= READ_SHARE_MAX * count(server, "cmt.usage"))
    server.query("OPTIMIZE TABLE cmt.kept_minutes FINAL")
    size, rows = server.query("SELECT sum(bytes), sum(rows) FROM system.parts WHERE active AND "
                              "database = 'cmt' AND table = 'kept_minutes'")[0]
    print(f"minutes: {int(size) / int(rows):.1f} bytes a row on disk, {rows} rows", flush=True)


def main():
    with tempfile.TemporaryDirectory() as directory, Server() as server:
        print(f"clickhouse-server {server.version()}, {os.cpu_count()} CPUs, load "
              f"{os.getloadavg()[1]:.1f} in the 5 minutes before", flush=True)
        slice_rows(server, directory)
        fill(server)
        fill_incidents(server)
        report_sizes(server)
        ask_all(server)
        keep_minutes(server)
        print(f"load {os.getloadavg()[2]:.1f} in the last 15 minutes")
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
