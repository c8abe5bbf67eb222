#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus scrapes cmt-exporter, on the machine of fake_fleet.c, each second.
usage: prometheus_test.py DIRECTORY_OF_THE_PROGRAMS
The last line is "N passed, M failed"."""

import atexit
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error

from prometheus import DEADLINE, Prometheus, fetch

BIN = os.path.abspath(os.path.join(sys.argv[1], "cmt-exporter_fake"))
TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
MEMORY_MAX = 16 << 20
CPU_MAX = 0.02          # of one CPU; the figure is printed
LOAD_SECONDS = 20
SCRAPES = 8             # before the queries: what a rate is made of
COUNTERS = ("cmt_memory_bytes_total", "cmt_cpu_seconds_total", "cmt_cycles_total",
            "cmt_llc_misses_total", "cmt_incomplete_intervals_total", "cmt_intervals_total",
            "cmt_slots_total", "process_cpu_seconds_total")

passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'not ok'} - {name}" + ("" if ok else f": {detail}"), flush=True)


class Exporter:
    def __init__(self, *args, **env):
        self.process = subprocess.Popen(
            [BIN, "--listen", "127.0.0.1:0", *args], stderr=subprocess.PIPE, text=True,
            env={**os.environ, **env})
        # a test that ends by an exception leaves no exporter that holds its output
        atexit.register(self.process.kill)
        line = self.process.stderr.readline()
        self.address = re.search(r"listening on ([^,]*),", line)[1]

    def page(self, **headers):
        return fetch(f"http://{self.address}/metrics", **headers)

    def wait_for_values(self, family="cmt_l3_occupancy_bytes"):
        end = time.monotonic() + DEADLINE
        while family + "{" not in self.page():
            if time.monotonic() > end:
                sys.exit(f"it has no {family}")
            time.sleep(0.1)

    def cpu_ns(self):
        with open(f"/proc/{self.process.pid}/schedstat") as f:
            return int(f.read().split()[0])

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmHWM:\s+(\d+) kB", f.read())[1]) << 10

    def stop(self):
        self.process.terminate()
        return self.process.wait(DEADLINE)


# What discovery and its relabelling give a target in Kubernetes.
TARGET = {"namespace": "monitoring", "pod": "cmt-exporter-x7k2p", "container": "exporter"}


def documented_config():
    """What each scrape of docs/exporter.md has, but for its targets and times."""
    with open(TOP + "/docs/exporter.md") as f:
        jobs = re.findall(r"- job_name: cmt$.*?- targets:", f.read(), re.M | re.S)
    honors = all("honor_labels: true" in job for job in jobs)
    check("docs/exporter.md: the scrapes keep the exporter's labels", len(jobs) == 3 and honors, jobs)
    return {"job_name": "cmt", "honor_labels": honors}


def watch(directory, exporters):
    """A Prometheus that scrapes them each second, and evaluates the alert rules."""
    return Prometheus(directory, {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [TOP + "/docs/exporter/alerts.yml"],
        "scrape_configs": [{**documented_config(), "static_configs": [
            {"targets": [e.address for e in exporters], "labels": TARGET}]}],
    })


def wait_for(prometheus, what, holds):
    found = prometheus.wait_for(holds)
    if not found:
        check(what, False, "too late")
    return found


def check_promtool(exporter, name):
    done = subprocess.run(["promtool", "check", "metrics"], input=exporter.page(), text=True,
                          capture_output=True)
    said = done.stdout + done.stderr
    check(f"promtool check metrics: {name}", done.returncode == 0 and not said, said)


def families(page):
    return {line.split()[2]: line.split()[3] for line in page.splitlines()
            if line.startswith("# TYPE")}


def check_formats(exporter):
    """Both formats have the same samples, but for those of the exporter itself."""
    def samples(page):
        return sorted(line.rpartition(" ")[0] for line in page.splitlines() if line[0] != "#")
    text = exporter.page(Accept="text/plain")
    openmetrics = exporter.page(Accept="application/openmetrics-text")
    check("both formats have the same samples", samples(text) == samples(openmetrics),
          set(samples(text)) ^ set(samples(openmetrics)))
    check("no sample is there twice", len(samples(text)) == len(set(samples(text))))
    with open(TOP + "/docs/exporter.md") as f:
        documented = set(re.findall(r"^\| `((?:cmt|process)_[a-z0-9_]+)", f.read(), re.M))
    served = set(families(text))
    check("docs/exporter.md has each metric, and no other", documented == served,
          documented ^ served)


def expressions():
    with open(TOP + "/docs/exporter/dashboard.json") as f:
        board = json.load(f)
    for panel in board["panels"]:
        for target in panel["targets"]:
            text = target["expr"].replace("$__rate_interval", "5s")
            for variable in ("instance", "container"):
                text = text.replace("$" + variable, ".*")
            yield panel["title"], text


def check_documented(prometheus):
    """The queries of the page, each of which asks for something that is there."""
    with open(TOP + "/docs/exporter.md") as f:
        page = f.read().partition("Queries that are often wanted:")[2].partition("\n## ")[0]
    queries = [line.strip() for line in page.splitlines()
               if line.startswith("    ") and line.strip()[0] != "#"]
    for text in queries:
        try:
            result = prometheus.query(text)
        except urllib.error.HTTPError as e:
            result = None
            text = f"{text}: {e.read().decode()}"
        check("docs/exporter.md: a query", result or (result == [] and " < " in text), text)
    check("docs/exporter.md has queries", len(queries) >= 4, queries)


def check_queries(prometheus):
    """A panel that shows nothing on a machine that has all values is wrong."""
    n = 0
    for title, text in expressions():
        n += 1
        result = prometheus.query(text)
        good = [r for r in result if r["value"][1] not in ("NaN", "+Inf", "-Inf")]
        check(f"dashboard: {title}", good and len(good) == len(result), f"{text}: {result}")
        check(f"dashboard: {title}: no variable is left", "$" not in text, text)
    check("the dashboard has queries", n >= 15, n)


def asker(prometheus, exporter):
    """A function that asks for the one value of one exporter; NaN, which equals and exceeds
    nothing, where there is none or more than one."""
    def one(text):
        result = [r for r in prometheus.query(text)
                  if r["metric"].get("instance") == exporter.address]
        if len(result) == 1:
            return float(result[0]["value"][1])
        print(f"# not one value: {text}: {result}")
        return math.nan
    return one


def check_values(prometheus, exporter):
    one = asker(prometheus, exporter)
    check("the name of a pod", one('cmt_l3_occupancy_bytes{pod="web-0",namespace="shop",container="nginx"}') == 65536)
    renamed = prometheus.query('{exported_container=~".+"} or {exported_pod=~".+"} or {exported_namespace=~".+"}')
    check("no label is renamed", not renamed, renamed[:1])
    check("the 5 ms of each second", one('cmt_l3_occupancy_most_bytes{pod="web-0"}') == 65536 + (8 << 20))
    hostile = r'''cmt_l3_occupancy_bytes{id="/system.slice/\"quo\\te\"\n\\x1b[31m\\xff.service"}'''
    check("a name that would break the page", one(hostile) == 131072, one(hostile))
    rate = one('rate(cmt_memory_bytes_total{pod="web-0",kind="total"}[5s])')
    check("1 MB/s is 1 MB/s", 0.9e6 < rate < 1.1e6, rate)
    check("IPC of 0.5", one('increase(cmt_instructions_total{pod="web-0"}[5s]) / '
                            'increase(cmt_cycles_total{pod="web-0"}[5s])') == 0.5)
    anew = [name for name in COUNTERS if prometheus.query(f"resets({name}[1m]) > 0")]
    check("no counter begins anew", not anew, anew)
    check("the 5 ms of each second, by their share",
          0.25 < one('histogram_quantile(0.999, rate(cmt_l3_occupancy_ratio_bucket{pod="web-0"}[6s]))')
          <= 0.3)
    slow = one('rate(cmt_memory_bandwidth_bytes_per_second_count{pod="web-0"}[5s]) - ignoring (le) '
               'rate(cmt_memory_bandwidth_bytes_per_second_bucket{pod="web-0",le="1e+06"}[5s])')
    check("no millisecond above 1 MB/s", slow == 0, slow)
    check("values of a model are found out", not prometheus.query('cmt_l3_occupancy_bytes{emulated=""}'))
    meta = prometheus.api("targets/metadata", metric="cmt_memory_bytes")
    check("OpenMetrics: type and unit", meta and meta[0]["type"] == "counter" and
          meta[0]["unit"] == "bytes", meta)
    rules = [r for g in prometheus.api("rules")["groups"] for r in g["rules"]]
    bad = [r for r in rules if r["health"] == "err" or r.get("lastError")]
    check("the alert rules are evaluated", len(rules) >= 10 and not bad, bad)


def check_asked(prometheus, exporter):
    """What is there only with an option, on a machine that has two of all."""
    one = asker(prometheus, exporter)
    domains = 'cmt_l3_occupancy_bytes{pod="web-0"} - on (instance) sum by (instance) (cmt_l3_domain_occupancy_bytes{pod="web-0"})'
    check("a container is the sum of its domains", one(domains) == 0, one(domains))
    traffic = ('sum by (instance) (cmt_memory_domain_bytes_total{pod="web-0",kind="total"}) - on (instance) '
               'cmt_memory_bytes_total{pod="web-0",kind="total"}')
    check("and so is its traffic", one(traffic) == 0, one(traffic))
    read = one('rate(cmt_memory_channel_bytes_total{socket="0",direction="read"}[5s])')
    check("2 MB/s of a channel", 1.8e6 < read < 2.2e6, read)
    pair = 'cmt_culprit_pair_verdicts_total{kind="cache",victim="nginx",suspect=~".*quo.*"}'
    check("who took the cache from whom", one(pair) == 1, one(pair))
    join = ('sum by (instance, id) (cmt_l3_occupancy_bytes) and on (instance, id) '
            'label_replace(%s, "id", "$1", "suspect_id", "(?s)(.*)")' % pair)
    check("a verdict joins with what the suspect holds", one(join) > 6 << 20, one(join))


def scrape(directory):
    fixtures = ("--root", TOP + "/tests/unit/fixtures/host")
    exporter = Exporter("--counters", "--histograms", *fixtures, CMT_FLEET="2")
    asked = Exporter("--channels", "--counters", "--culprit", "--domains", "--histograms",
                     *fixtures, CMT_FAKE="stream,channels", CMT_FLEET_DOMAINS="2")
    for e in (exporter, asked):
        e.wait_for_values()
    check_promtool(exporter, "all values")
    check_promtool(asked, "all options")
    check_formats(exporter)
    prometheus = watch(directory, [exporter, asked])
    scraped = wait_for(prometheus, "Prometheus scrapes", lambda: prometheus.query(
        f'count_over_time(cmt_memory_bytes_total{{pod="web-0",kind="total"}}[1m]) >= {SCRAPES}'))
    if scraped:
        wait_for(prometheus, "a verdict", lambda: prometheus.query(
            "cmt_culprit_pair_verdicts_total > 0"))
        targets = prometheus.api("targets")["activeTargets"]
        check("no scrape failed", len(targets) == 2 and
              all(t["health"] == "up" and not t["lastError"] for t in targets) and
              not prometheus.query('up == 0 or min_over_time(up[1m]) == 0'), targets)
        check_queries(prometheus)
        check_documented(prometheus)
        check_values(prometheus, exporter)
        check_asked(prometheus, asked)
    prometheus.stop()
    check("the exporters end", exporter.stop() == 0 and asked.stop() == 0)


def few_values():
    exporter = Exporter(CMT_FAKE="software")
    check_promtool(exporter, "before the first interval")
    exporter.wait_for_values("cmt_container_rmids")
    check_promtool(exporter, "a machine without values")
    exporter.stop()


def load(directory):
    """200 containers on 8 CPUs, and a scrape a second.  The device that is made up is in
    the figure, as the module would not be."""
    exporter = Exporter("--counters", CMT_FLEET="200", CMT_FLEET_CPUS="8")
    exporter.wait_for_values()
    prometheus = watch(directory, [exporter])
    count = 'count_over_time(up[1m]) >= '
    if wait_for(prometheus, "Prometheus scrapes", lambda: prometheus.query(count + "2")):
        begin, cpu = time.monotonic(), exporter.cpu_ns()
        wait_for(prometheus, "it goes on", lambda: prometheus.query(
            count + str(2 + LOAD_SECONDS)))
        share = (exporter.cpu_ns() - cpu) / 1e9 / (time.monotonic() - begin)
        samples = prometheus.query("scrape_samples_scraped")[0]["value"][1]
        lost = prometheus.query("cmt_records_lost_total > 0")
        print(f"figure exporter_200 samples {samples} resident_peak_KiB {exporter.peak() >> 10} "
              f"cpu_percent {100 * share:.2f}")
        check("200 containers: memory", exporter.peak() <= MEMORY_MAX, exporter.peak())
        check("200 containers: CPU", share <= CPU_MAX, share)
        check("200 containers: nothing is lost", not lost, lost)
    prometheus.stop()
    exporter.stop()


for test in (scrape, load):
    with tempfile.TemporaryDirectory() as directory:
        test(directory)
few_values()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or not passed)
