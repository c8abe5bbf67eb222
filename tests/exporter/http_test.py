#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmt-exporter on the machine of fake_fleet.c: what it says, and who asks badly.
usage: http_test.py DIRECTORY_OF_THE_PROGRAMS"""

import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from fake import BIN, DEADLINE, TOP, Exporter, check, end, forbidden, of, status_of, until

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_values():
    e = Exporter("--root", TOP + "/tests/unit/fixtures/host", "--interval", "0.2",
                 "--window", "2", "--counters")
    v = e.wait_for("ten intervals", lambda v: v["cmt_intervals_total"] >= 10)
    check(of(v, "cmt_l3_occupancy_bytes", pod="web-0", namespace="shop",
             container="nginx", runtime="containerd") is not None, "a pod's labels")
    check(of(v, "cmt_l3_occupancy_most_bytes", pod="web-0") == 65536 + (8 << 20),
          "5 ms of a second show")
    check(of(v, "cmt_l3_occupancy_least_bytes", pod="web-0") == 65536, "the least")
    check(of(v, "cmt_l3_occupancy_bytes", container="(overflow)") == 4 * 65536,
          "the overflow RMID")
    check(v["cmt_pending_owners"] == 2, "pending owners")
    check(sum(n for k, n in v.items() if k.startswith("cmt_container_pending_owners")) == 2,
          "whose pending owners")
    check(of(v, "cmt_backend_info", backend="emulated") == 1, "values of a model are")
    bad = [k for k in v if re.match(r"cmt_(l3_occ|memory_|cycles|container)", k) and
           'emulated="true"' not in k]
    check(not bad, f"not marked as a model's: {bad}")
    again = e.values()
    down = [k for k in again if k.split("{")[0].endswith("_total") and
            again[k] < v.get(k, 0)]
    check(not down, f"counters decrease: {down}")
    e.stop()
    check(e.said == "", "it says nothing when it ends")


def test_seccomp():
    e = Exporter("--interval", "0.2", *ALL, "--counters", CMT_FAKE="channels")
    status = status_of(e.process.pid)
    check(e.filter == "on" and status["Seccomp"] == "2", f"a filter: {status['Seccomp']}")
    check(status["NoNewPrivs"] == "1", "no new privileges")
    sets = {name: int(bits, 16) for name, bits in status.items() if name.startswith("Cap")}
    kept = [name for name, bits in sets.items() if bits and (name != "CapBnd" or not os.geteuid())]
    check(len(sets) == 5 and not kept, f"capabilities that are kept: {kept}")
    ends = forbidden(e)
    check(len(ends) == 7 and set(ends.values()) == {"Operation not permitted"},
          f"forbidden calls: {ends}")
    e = Exporter("--interval", "0.2", "--no-seccomp")
    check(e.filter == "off" and status_of(e.process.pid)["Seccomp"] == "0", "no filter")
    ends = forbidden(e)
    check(len(ends) == 7 and "Operation not permitted" not in
          (ends["execve"], ends["open to write"], ends["socket"]), f"without a filter: {ends}")


def test_hardware():
    e = Exporter("--interval", "0.2", CMT_FAKE="hardware")
    v = e.wait_for("values", lambda v: any("occupancy_bytes{" in k for k in v))
    bad = [k for k in v if "emulated=" in k]
    check(not bad, f"measured, and marked as a model's: {bad}")
    e.stop()


ASKED = r"cmt_(cpu_wait_pair|l3_domain_occ|memory_(domain|channel|bandwidth)|l3_occupancy_ratio|fine|culprit|slowdown)"
ALL = ("--channels", "--culprit", "--domains", "--histograms")


def test_not_asked():
    e = Exporter("--interval", "0.2", CMT_FLEET_DOMAINS="2", CMT_FAKE="channels")
    v = e.wait_for("values", lambda v: any("occupancy_bytes{" in k for k in v))
    bad = [k for k in v if re.match(ASKED, k)]
    check(not bad, f"no unrequested metrics: {bad}")
    e.stop()


def test_histograms():
    e = Exporter("--interval", "0.2", "--histograms", "--root", TOP + "/tests/unit/fixtures/host",
                 CMT_FLEET_DOMAINS="2")
    pod = {"pod": "web-0", "emulated": "true"}
    count = lambda v: of(v, "cmt_l3_occupancy_ratio_count", **pod) or 0
    v = e.wait_for("two seconds", lambda v: count(v) >= 4000)
    # 8.06 of 32 MiB for 5 ms of each second; a part of a second may have them, or not
    spikes = count(v) - of(v, "cmt_l3_occupancy_ratio_bucket", le="0.2", **pod)
    check(abs(spikes - count(v) * 5 / 1000) <= 10, f"{spikes} of {count(v)} ms")
    check(of(v, "cmt_l3_occupancy_ratio_bucket", le="0.3", **pod) == count(v), "no share above")
    check(of(v, "cmt_memory_bandwidth_bytes_per_second_bucket", le="1e+06", **pod) ==
          of(v, "cmt_memory_bandwidth_bytes_per_second_count", **pod), "1 MB/s in each ms")
    # all are read in both domains
    check(count(v) <= 2 * v["cmt_fine_slots_total"] and v["cmt_fine_records_lost_total"] == 0,
          "readings are of milliseconds")
    # it has the CPU once in 32 ms
    other = of(v, "cmt_l3_occupancy_ratio_count", container="000000001b5b")
    check(other and other < count(v) / 16, f"what is not read does not count: {other}")
    e.stop()


def test_domains():
    e = Exporter("--interval", "0.2", "--domains", CMT_FLEET_DOMAINS="2")
    whole = 'cmt_l3_occupancy_bytes{container="(overflow)",emulated="true"}'
    v = e.wait_for("values", lambda v: v.get(whole, 0) == 8 * 65536)
    parts = [of(v, "cmt_l3_domain_occupancy_bytes", container="(overflow)", domain=d)
             for d in ("0", "1")]
    check(parts == [4 * 65536, 4 * 65536], f"parts of {v[whole]}: {parts}")
    v = e.wait_for("traffic", lambda v: (of(v, "cmt_memory_bytes_total", container="(overflow)",
                                            kind="total") or 0) > 0)
    sums = {kind: sum(of(v, "cmt_memory_domain_bytes_total", container="(overflow)", kind=kind,
                         domain=d) for d in ("0", "1")) ==
            of(v, "cmt_memory_bytes_total", container="(overflow)", kind=kind)
            for kind in ("total", "local")}
    check(all(sums.values()), f"traffic of the domains is the container's: {sums}")
    e.stop()


def test_channels():
    e = Exporter("--interval", "0.2", "--channels", CMT_FAKE="channels")
    one = {"socket": "0", "channel": "3"}
    read = lambda v: of(v, "cmt_memory_channel_bytes_total", direction="read", **one) or 0
    a = e.wait_for("a channel", lambda v: read(v) > 0)
    b = e.wait_for("more", lambda v: v["cmt_intervals_total"] >= a["cmt_intervals_total"] + 5)
    rate = (read(b) - read(a)) / (b["cmt_intervals_total"] - a["cmt_intervals_total"]) / 0.2
    check(1.8e6 < rate < 2.2e6, f"2 MB/s are {rate}")
    check(of(b, "cmt_memory_channel_bytes_total", direction="written", socket="1") == 0,
          "what is 0 is known")
    check(of(b, "cmt_value_available", value="memory_channels") == 1, "there are channels")
    check(not any("memory_channel" in k and "emulated=" in k for k in b), "channels are no model")
    e.stop()
    e = Exporter("--interval", "0.2", "--channels")
    v = e.wait_for("an interval", lambda v: v["cmt_intervals_total"] >= 1)
    check(of(v, "cmt_value_available", value="memory_channels") == 0, "there is no channel")
    check(any(k.startswith('cmt_memory_channels_info{reason="made ') for k in v), "and why")
    e.stop()


def test_culprit():
    e = Exporter("--interval", "0.2", "--culprit", "--root", TOP + "/tests/unit/fixtures/host",
                 CMT_FAKE="stream")
    pair = {"kind": "cache", "victim": "nginx", "victim_pod": "web-0", "victim_namespace": "shop",
            "suspect_id": r"/system.slice/\"quo\\te\"\n\\x1b[31m\\xff.service"}
    v = e.wait_for("a verdict", lambda v: (of(v, "cmt_culprit_pair_verdicts_total", **pair)
                                           or 0) >= 1)
    check(of(v, "cmt_culprit_verdicts_total", kind="cache") >= 1, "verdicts of the kind")
    check(of(v, "cmt_culprit_verdicts_total", kind="bandwidth") == 0, "a kind that was not")
    check(of(v, "cmt_value_available", value="culprit") == 1, "it can judge")
    accused = [k for k in v if re.match("cmt_culprit_pair.*suspect=", k) and "quo" not in k]
    check(not accused, f"the innocent: {accused}")
    # its own tasks are no neighbour, and of the cache nothing is known without counters
    bad = [k for k in v if k.startswith("cmt_slowdown")]
    check(not bad and of(v, "cmt_value_available", value="slowdown") == 0, f"slower: {bad}")
    # the parts of a wait add up to it
    parts = {k: n for k, n in v.items() if re.match("cmt_cpu_wait_pair_seconds_total", k) and
             'victim="nginx"' in k}
    waited = of(v, "cmt_cpu_wait_seconds_total", container="nginx")
    check(any('runner="nginx"' in k for k in parts), f"parts: {parts}")
    check(waited > 0 and abs(sum(parts.values()) - waited) < 1e-6, f"{parts} of {waited}")
    e.stop()
    e = Exporter("--interval", "0.2", "--culprit", "--counters", CMT_FAKE="stream")
    v = e.wait_for("a slowdown", lambda v: any("cmt_slowdown_ratio{" in k for k in v))
    slower = {k: n for k, n in v.items() if k.startswith("cmt_slowdown")}
    check(all(0.01 <= n <= 1 for n in slower.values()), f"shares: {slower}")
    check(any("cmt_slowdown_victim_ratio{" in k for k in slower), f"by victim: {slower}")
    check(of(v, "cmt_value_available", value="slowdown") == 1, "it is known")
    check(of(v, "cmt_value_available", value="slowdown_cache") == 1, "of cache, too")
    e.stop()
    e = Exporter("--interval", "0.2", "--culprit", CMT_FAKE="software")
    e.wait_for("it cannot judge", lambda v: v["cmt_intervals_total"] >= 1 and
               of(v, "cmt_value_available", value="culprit") == 0)
    e.stop()


def test_all_gone():
    """The device goes away with all that is asked for, and comes back."""
    e = Exporter("--interval", "0.2", "--window", "0.6", *ALL, CMT_FAKE="channels",
                 CMT_FLEET_DOMAINS="2")
    e.wait_for("it is there", lambda v: any("ratio_count{" in k for k in v))
    e.tell("gone")
    v = e.wait_for("it is gone", lambda v: v["cmt_up"] == 0)
    bad = [k for k in v if re.match("cmt_(l3_domain|memory_channel|culprit_learning|slowdown)", k)]
    check(not bad, f"values without a device: {bad}")
    e.wait_for("histograms end with the window", lambda v: not any("_count{" in k for k in v))
    e.tell("gone", False)
    e.wait_for("it is back", lambda v: v["cmt_up"] == 1 and any("ratio_count{" in k for k in v))
    e.stop()


def test_traffic():
    """What a counter rises by is what was moved."""
    e = Exporter("--interval", "0.2")
    name = 'cmt_memory_bytes_total{container="(overflow)",emulated="true",kind="total"}'
    one = e.wait_for("traffic", lambda v: v.get(name, 0) > 0)
    two = e.wait_for("more", lambda v: v["cmt_intervals_total"] >= one["cmt_intervals_total"] + 5)
    n = two["cmt_intervals_total"] - one["cmt_intervals_total"]
    # 4 MB/s for 0.2 s each, by readings that are 1 in 32 ms
    moved = (two[name] - one[name]) / n / 0.2
    check(3.2e6 < moved < 4.8e6, f"4 MB/s are {moved}")
    e.stop()


def test_unknown():
    e = Exporter("--interval", "0.2", CMT_FAKE="software")
    v = e.wait_for("an interval", lambda v: v["cmt_intervals_total"] >= 2)
    check(of(v, "cmt_value_available", value="occupancy") == 0, "no occupancy")
    bad = [k for k in v if re.match(r"cmt_(l3_occ|memory_bytes|cycles)", k) or
           (re.match("cmt_incomplete", k) and 'value="cpu_wait"' not in k)]
    check(not bad, f"values that are not known: {bad}")
    # what takes neither RDT nor a counter of the processor: 262,144 ns in each millisecond
    one = {"container": "5d0a7b6c4f3e"}
    n = of(v, "cmt_intervals_total")
    waited = of(v, "cmt_cpu_wait_seconds_total", **one)
    check(of(v, "cmt_value_available", value="cpu_wait") == 1, "waiting is known")
    check(0.04 * n < waited < 0.06 * n, f"{waited} s of waiting in {n} intervals")
    check(of(v, "cmt_incomplete_intervals_total", value="cpu_wait", **one) == 0,
          "waiting is complete")
    e.stop()
    e = Exporter("--interval", "0.2", CMT_FAKE="lost")
    e.wait_for("lost records", lambda v: v["cmt_records_lost_total"] > 0)
    e.stop()


def test_ended():
    e = Exporter("--interval", "0.2", "--window", "0.6")
    lives = lambda v: any("cri-containerd" in k for k in v if "occupancy_bytes" in k)
    counted = lambda v: any("cri-containerd" in k for k in v)
    e.wait_for("the container", lives)
    e.tell("ended")
    e.wait_for("it has no gauge", lambda v: not lives(v))
    check(counted(e.values()), "its counters stay for a window")
    e.wait_for("nor a counter", lambda v: not counted(v))
    e.stop()


def test_gone():
    e = Exporter("--interval", "0.2", "--window", "0.6")
    e.wait_for("it is there", lambda v: any("occupancy_bytes{" in k for k in v))
    e.tell("gone")
    v = e.wait_for("it is gone", lambda v: v["cmt_up"] == 0)
    bad = [k for k in v if re.match(r"cmt_(l3_|rmids|value_|pending|backend)", k)]
    check(not bad, f"values without a device: {bad}")
    # which takes some attempts to open it
    e.wait_for("counters end with the window", lambda v: "cmt_memory_bytes_total" not in str(v))
    e.tell("gone", False)
    e.wait_for("it is back", lambda v: v["cmt_up"] == 1 and v["cmt_device_opens_total"] == 2)
    e.wait_for("with values", lambda v: any("occupancy_bytes{" in k for k in v))
    e.stop()
    check("the device is back" in e.said, e.said)
    check(len(e.said.splitlines()) <= 4, f"it says that too often: {e.said}")


def test_cardinality():
    e = Exporter("--interval", "0.5", "--max-containers", "10", CMT_FLEET="500",
                 CMT_FAKE="steady")
    v = e.wait_for("others", lambda v: v["cmt_exporter_containers_hidden"] > 0)
    check(v["cmt_exporter_containers"] == 10, "ten of them are shown")
    shown = [n for k, n in v.items() if k.startswith("cmt_l3_occupancy_bytes{id=")]
    check(len(shown) == 10 and min(shown) == 491 * 65536, f"the largest: {shown}")
    whole = sum(n for k, n in v.items() if k.startswith("cmt_l3_occupancy_bytes{"))
    check(whole == 65536 * sum(range(502)), "nothing is left out of the sum")
    e.stop()


def test_http():
    e = Exporter("--interval", "60")
    status, head, body = e.get()
    check(status == 200 and "text/plain; version=0.0.4" in head, head)
    check("Connection: close" in head, head)
    status, head, body = e.get(Accept="application/openmetrics-text;version=1.0.0,*/*;q=0.1")
    check("application/openmetrics-text; version=1.0.0" in head, head)
    check(body.endswith("# EOF\n"), "the end of OpenMetrics")
    check(e.get("/")[0] == 200 and "/metrics" in e.get("/")[2], "the page /")
    status, head, body = e.get(method="HEAD")
    check(status == 200 and not body and "Content-Length:" in head, "HEAD")
    for path in ("/metrics/", "/nothing", "/%2e%2e/etc/passwd", "/metrics%2f", "//"):
        check(e.get(path)[0] == 404, f"{path}: {e.get(path)[0]}")
    check(e.get("/metrics?name=x")[0] == 200, "a query is no other page")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
        status, head, _ = e.get(method=method)
        check(status == 405 and "Allow: GET, HEAD" in head, f"{method}: {head}")
    # one page a version, however many ask for it
    before = e.values()["cmt_exporter_pages_total"]
    for _ in range(20):
        e.get()
    check(e.values()["cmt_exporter_pages_total"] == before, "a page is shared")
    e.stop()


def test_host():
    """A page whose name an attacker gave the loopback address reads nothing."""
    refused = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example",
               "127.0.0.1:80.evil", "127.0.0.1:80:80", "[::1", "[::1]x", "[127.0.0.1]", "::1",
               "2130706433", "x", ":80", "[]", "1" * 100)
    for address in ("127.0.0.1", "::1", "::ffff:127.0.0.1")[:3 if has_ipv6() else 1]:
        e = Exporter("--page", host=address)
        port = str(e.port)
        for host in refused:
            for path in ("/metrics", "/", "/nothing"):
                status, _, body = e.get(path, Host=host)
                check(status == 403 and "cmt_" not in body, f"{address} {path} Host: {host}: {status}")
        for host in ("127.0.0.1", "127.0.0.1:" + port, "localhost", "LocalHost:" + port, "localhost:",
                     "[::1]:" + port, "[::1]", "192.0.2.1", "[2001:db8::1]:443"):
            check(e.get(Host=host)[0] == 200, f"{address} Host: {host}")
        check(" 200 " in e.raw(b"GET /metrics HTTP/1.0\r\n\r\n").split("\r\n")[0], "no Host")
        e.stop()
    # where others reach it, it may have a name
    e = Exporter(host="0.0.0.0")
    check(e.get(Host="node1.example")[0] == 200, "a name where it listens on all addresses")
    e.stop()


def test_bad_requests():
    e = Exporter()
    big = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n"
    check(re.match(r"HTTP/1.1 4\d\d |$", e.raw(big)), "a head of 1 MiB")
    long = b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    check(re.match(r"HTTP/1.1 4\d\d |$", e.raw(long)), "a URL of 1 MiB")
    body = b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n" + b"b" * (1 << 20)
    check(re.match(r"HTTP/1.1 405 |$", e.raw(body)), "a body of 1 MiB")
    for junk in (b"\0" * 100 + b"\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n",
                 b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000,
                 b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
        with e.connect() as s:
            try:
                s.sendall(junk)
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
        check(e.get()[0] == 200, f"it serves after {junk[:20]}")
    e.stop()


class SilentClients:
    """Connections that send nothing: each one that ends is replaced at once."""

    def __init__(self, exporter, number):
        self.exporter = exporter
        self.over = threading.Event()
        self.selector = selectors.DefaultSelector()
        self.ended = 0
        for _ in range(number):
            self.connect()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def connect(self):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", self.exporter.port))
        self.selector.register(s, selectors.EVENT_READ)

    def close(self, s):
        self.selector.unregister(s)
        s.close()

    def run(self):
        while not self.over.is_set():
            for key, _ in self.selector.select(0.1):
                self.close(key.fileobj)
                self.connect()
                self.ended += 1

    def stop(self):
        self.over.set()
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            self.close(key.fileobj)


def check_served(e, what):
    start = time.monotonic()
    try:
        status = e.get()[0]
    except OSError as error:
        status = error
    took = time.monotonic() - start
    check(status == 200 and took < 3, f"{what}: {status} after {took} s")


def test_slow_clients():
    """More clients than there is room for, that send nothing, or a byte at a time, or do
    not read: none of them delays a client that asks."""
    e = Exporter()
    silent = [e.connect() for _ in range(40)]
    drip = [e.connect() for _ in range(80)]
    going = threading.Event()

    def dripping():
        while not going.wait(0.5):
            for s in drip:
                try:
                    s.sendall(b"G")
                except OSError:
                    pass

    thread = threading.Thread(target=dripping)
    thread.start()
    check_served(e, "120 slow clients")
    going.set()
    thread.join()
    for s in silent + drip:
        s.close()
    flood = SilentClients(e, 300)
    for _ in range(5):
        check_served(e, "300 silent clients")
    flood.stop()
    check(flood.ended > 300, "silent clients are replaced")
    # clients that ask and do not read, or vanish
    for _ in range(30):
        s = e.connect()
        s.sendall(REQUEST)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    check(e.get()[0] == 200, "it serves after clients that vanished")
    until("few descriptors are open", lambda: len(os.listdir(f"/proc/{e.process.pid}/fd")),
          lambda fds: fds < 30)
    e.stop()


def test_unread_pages():
    """Clients that ask, each for another version of a large page, and do not read: the
    memory of their pages is bounded, and they do not delay a client that reads."""
    with tempfile.NamedTemporaryFile() as names:
        names.write(b"".join(b"/%03d/" % i + b"x" * 230 + b".service\0" for i in range(500)))
        names.flush()
        e = Exporter("--interval", "0.3", "--window", "1", "--histograms", CMT_FLEET="500",
                     CMT_FLEET_NAMES=names.name, ASAN_OPTIONS="quarantine_size_mb=0")
    e.wait_for("intervals", lambda v: v["cmt_intervals_total"] >= 3)
    page = len(e.complete())
    check(page > 8 << 20, f"a page of {page} bytes")
    before = status_of(e.process.pid)
    unread = []
    last = 0
    end = time.monotonic() + 5 * DEADLINE
    while len(unread) < 24 and time.monotonic() < end:
        now = re.search(r"^cmt_intervals_total (\d+)$", e.complete(), re.M)[1]
        if now == last:
            time.sleep(0.05)
            continue
        last = now
        # the answer begins when the page is made
        s = e.connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(REQUEST)
        s.recv(1)
        unread.append(s)
    check(len(unread) == 24, f"{len(unread)} clients that do not read")
    after = status_of(e.process.pid)
    pages = (int(after["VmRSS"].split()[0]) - int(before["VmRSS"].split()[0])) * 1024 / page
    check(pages < 6, f"{pages} pages are in memory")
    check_served(e, "clients that do not read")
    for s in unread:
        s.close()
    unread = []
    for _ in range(64):
        unread.append(e.connect())
        unread[-1].sendall(REQUEST)
    check_served(e, "64 clients that do not read")
    for s in unread:
        s.close()
    e.stop()


def test_storm():
    e = Exporter("--interval", "0.5", CMT_FLEET="200")
    e.wait_for("an interval", lambda v: v["cmt_intervals_total"] >= 1)
    before = e.values()
    good = []

    def ask():
        for _ in range(50):
            status, _, body = e.get()
            good.append(status == 200 and len(body) > 100000)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(len(good) == 400 and all(good), f"{good.count(True)} of {len(good)} are served")
    after = e.values()
    pages = after["cmt_exporter_pages_total"] - before["cmt_exporter_pages_total"]
    intervals = after["cmt_intervals_total"] - before["cmt_intervals_total"]
    check(pages <= intervals + 1, f"{pages} pages in {intervals} intervals")
    check(after["cmt_records_lost_total"] == 0, "nothing is lost")
    e.stop()


def run(*args, **env):
    done = subprocess.run([BIN, *args], env={**os.environ, **env}, text=True,
                          capture_output=True, timeout=DEADLINE)
    return done.returncode, done.stdout, done.stderr


def test_errors():
    with tempfile.TemporaryDirectory() as d:
        open(d + "/gone", "w").close()
        status, _, err = run("-l", "127.0.0.1:0", CMT_FLEET_DIR=d)
    check(status == 1 and len(err.splitlines()) == 2, err)
    for word in ("denied", "newer"):
        status, _, err = run("-l", "127.0.0.1:0", CMT_FAKE=word)
        check(status == 1 and len(err.splitlines()) == 2, err)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, _, err = run("--listen", "127.0.0.1:%d" % taken.getsockname()[1])
    check(status == 1 and "another program listens" in err and "--listen" in err, err)
    status, _, err = run("--root", "/nonexistent", "-l", "127.0.0.1:0")
    check(status == 1 and "/nonexistent" in err, err)
    for listen in ("", ":1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "localhost:80",
                   "::1:80", "[::1]", "[]:80", "[::1:80", "1.2.3.4:-1", "0x7f.1:80x"):
        check(run("--listen", listen)[0] == 2, f"--listen '{listen}'")
    for bad in (("-i", "0"), ("-i", "61"), ("-w", "0.5"), ("-m", "0"), ("-m", "10001"),
                ("x",), ("--nothing",), ("-r", ""), ("-d", "")):
        status, _, err = run(*bad)
        check(status == 2 and "usage: cmt-exporter" in err, f"{bad}: {status} {err}")
    # the window is neither cut, nor shorter than the interval where only that is given
    for bad in (("-i", "0.1", "-w", "360.1"), ("-i", "0.1", "-w", "3600")):
        status, _, err = run(*bad)
        check(status == 2 and "--window: at most 3600 times --interval" in err,
              f"{bad}: {status} {err}")
    for good in (("-i", "0.1", "-w", "360"), ("-w", "3600"), ("-i", "16"), ("-i", "60")):
        Exporter(*good).stop()
    check(run("--version")[1].startswith("cmt-exporter "), "--version")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


def test_ipv6():
    """A machine without IPv6 is told so."""
    if not has_ipv6():
        status, _, err = run("--listen", "[::1]:0")
        check(status == 1 and "cannot listen" in err, f"without IPv6: {status} {err}")
        return
    for host, others in (("::1", ()), ("::", ("127.0.0.1", "::1"))):
        e = Exporter(host=host)
        check_served(e, f"on {host}")
        for e.host in others:   # the clients' way to it
            check_served(e, f"on {host}, by {e.host}")
        e.stop()


def test_signals():
    for sig in (signal.SIGINT, signal.SIGHUP):
        Exporter().stop(sig)


for test in (test_values, test_seccomp, test_hardware, test_not_asked, test_histograms, test_domains,
             test_channels, test_culprit, test_all_gone, test_traffic, test_unknown,
             test_ended, test_gone, test_cardinality, test_http, test_host, test_bad_requests, test_slow_clients,
             test_unread_pages, test_storm, test_errors, test_ipv6, test_signals):
    test()
end()
