#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/exporter/dashboard.json: its form, and each query on a made-up hour in Debian's Prometheus.
In the hour, batch makes web 18 % slower from minute 20 to minute 40, on each of two machines.
The last line is "N passed, M failed"."""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

from prometheus import Prometheus

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BEGIN, STEP, LENGTH = 1700000000, 15, 3600
TROUBLE = range(1200, 2400)     # seconds
QUIET_AT, TROUBLE_AT = 1140, 2340
WINDOW = "1m"                   # four scrapes, as Grafana's $__rate_interval is
NEAR = 0.02                     # of a value: a rate is extrapolated
COLUMNS = 24
MIB = 1 << 20
WEB = {"id": "/kubepods/web", "container": "web", "pod": "web-0", "namespace": "shop"}
BATCH = {"id": "/kubepods/batch", "container": "batch", "pod": "batch-7", "namespace": "jobs"}
NOBODY = {"container": "(unattributed)"}
PLAIN = {"id": "/kubepods/plain", "container": "plain", "pod": "plain-0", "namespace": "shop"}
RATIOS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
RATES = (1e6, 1e7, 3e7, 1e8, 3e8, 1e9, 3e9, 1e10, 3e10, 1e11, 3e11)

# What a panel shows of web, or of the machine: without trouble, and in it.  None: nothing.
# Sums are of both machines.
EXPECTED = {
    "Slowdown: how much slower, because of all neighbours": (None, 0.18),
    "Slowdown: because of whom, by which resource": (None, 0.16),
    "Machines that are read": (2, 2),
    "Machines that are not read": (0, 1),
    "L3 cache": (128 * MIB, 128 * MIB),
    "Pending owners": (4, 4),
    "Records lost in 1 h": (0, 80),
    "Backend": (2, 2),
    "L3 occupancy": (24 * MIB, 8 * MIB),
    "Most of any millisecond of the window": (28 * MIB, 12 * MIB),
    "Least of any millisecond of the window": (20 * MIB, 2 * MIB),
    "Memory traffic": (1e9, 3e9),
    # in trouble local traffic is not counted
    "Traffic to memory of other nodes": (0.25e9, None),
    "Instructions per cycle": (2, 1.5),
    "LLC misses per 1,000 instructions": (1, 4),
    "RMIDs": (6, 6),
    "Incomplete intervals": (0, 2 * (0.01 + 0.02 + 0.04)),
    "Cost of cmt, CPUs": (0.01, 0.01),
    # almost the end of a bucket
    "Share of the L3 cache that 99.9 % of the milliseconds stay below": (0.4, 0.15),
    "Memory traffic that 99.9 % of the milliseconds stay below": (3e9, 1e10),
    "Verdicts": (0, 2 * 0.1 * 60),
    "Who takes cache or bandwidth from whom, verdicts so far": (0, 0.1 * (TROUBLE_AT - 1200)),
    "L3 occupancy by domain": (36 * MIB, 72 * MIB),
    "Memory channels": (2e9, 6e9),
    "Waiting for a CPU, of the time in which tasks could run": (0.2, 0.2),
    "CPU: who waits, because of whom": (0.5, 0.5),
}
# The series of a panel that is looked at, where it has others.
LOOKED_AT = {
    "Slowdown: because of whom, by which resource": {"resource": "cache", "domain": "0"},
    "RMIDs": {"state": "active"},
    "Cost of cmt, CPUs": {"__name__": None},
    "L3 occupancy by domain": {"domain": "0"},
    "Memory channels": {"channel": "0", "direction": "read"},
}
PANEL = {"id": int, "type": str, "title": str, "datasource": dict, "gridPos": dict,
         "targets": list, "fieldConfig": dict, "options": dict}
TARGET = {"datasource": dict, "expr": str, "legendFormat": str, "refId": str}
BOARD = {"title": str, "uid": str, "schemaVersion": int, "time": dict, "refresh": str,
         "templating": dict, "panels": list}

passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'not ok'} - {name}" + ("" if ok else f": {detail}"), flush=True)


def gauge(name, quiet, trouble, **labels):
    """A series; None: it is not there meanwhile."""
    def value(second):
        return trouble if second in TROUBLE else quiet
    return name, labels, value


def counter(name, quiet, trouble, **labels):
    """A series that grows by so much a second."""
    def value(second):
        late = min(max(second - TROUBLE.start, 0), len(TROUBLE))
        return 1000 + quiet * (second - late) + trouble * late
    return name, labels, value


def histogram(name, bounds, quiet, trouble, **labels):
    """1,000 milliseconds a second, all of them in the bucket up to @quiet, or to @trouble."""
    for bound in bounds + (float("inf"),):
        le = "+Inf" if bound == float("inf") else str(bound)
        yield counter(name + "_bucket", 1000 * (quiet <= bound), 1000 * (trouble <= bound),
                      le=le, **labels)


def container_series(who, factor):
    """What each container has; the values of web, times the factor."""
    yield gauge("cmt_l3_occupancy_bytes", 24 * MIB * factor, 8 * MIB * factor, **who)
    yield gauge("cmt_l3_occupancy_most_bytes", 28 * MIB * factor, 12 * MIB * factor, **who)
    yield gauge("cmt_l3_occupancy_least_bytes", 20 * MIB * factor, 2 * MIB * factor, **who)
    for kind, quiet, trouble in (("total", 1e9, 3e9), ("local", 0.75e9, 0)):
        yield counter("cmt_memory_bytes_total", quiet * factor, trouble * factor, kind=kind, **who)
    if who != NOBODY:
        yield counter("cmt_cpu_seconds_total", 2 * factor, 2 * factor, **who)
    yield counter("cmt_cpu_wait_seconds_total", 0.5 * factor, 0.5 * factor, **who)
    yield counter("cmt_cycles_total", 4e9, 4e9, **who)
    yield counter("cmt_instructions_total", 8e9, 6e9, **who)
    yield counter("cmt_llc_misses_total", 8e6, 24e6, **who)
    yield counter("cmt_incomplete_intervals_total", 0, 0.01 / factor, value="memory_local", **who)
    yield from histogram("cmt_l3_occupancy_ratio", RATIOS, 0.4, 0.15, **who)
    yield from histogram("cmt_memory_bandwidth_bytes_per_second", RATES, 3e9, 1e10, **who)
    yield gauge("cmt_container_rmids", 1, 1, **who)
    for domain in "01":
        yield gauge("cmt_l3_domain_occupancy_bytes", 12 * MIB, 24 * MIB, domain=domain, **who)


def plain_series(who):
    """What a container has where the processor has no RDT."""
    yield gauge("cmt_container_rmids", 1, 1, **who)
    yield counter("cmt_cpu_wait_seconds_total", 0.1, 0.1, **who)


def machine_series():
    """What a machine has beside its containers."""
    yield gauge("up", 1, 1)
    yield gauge("cmt_up", 1, 1)
    yield gauge("cmt_l3_domain_size_bytes", 32 * MIB, 32 * MIB)
    yield gauge("cmt_l3_domains", 2, 2)
    yield gauge("cmt_pending_owners", 2, 2)
    yield gauge("cmt_rmids_usable", 64, 64)
    for state, nr in (("active", 3), ("limbo", 1), ("free", 28), ("foreign", 0)):
        yield gauge("cmt_rmids", nr, nr, state=state)
    yield gauge("cmt_backend_info", 1, 1, backend="hardware", vendor="intel")
    yield "cmt_records_lost_total", {}, lambda second: 5 + 40 * (second >= 1800)
    yield counter("cmt_sampling_busy_seconds_total", 0.01, 0.01)
    yield counter("process_cpu_seconds_total", 0.01, 0.01)
    for channel, direction in itertools.product("01", ("read", "written")):
        yield counter("cmt_memory_channel_bytes_total", 2e9, 6e9, socket="0",
                      channel=channel, direction=direction)


def parties(**who):
    """Labels of the two or three that something is about."""
    return {(role if key == "container" else role + "_" + key): value
            for role, labels in who.items() for key, value in labels.items()}


def culprit_series():
    """Who is slower, because of whom."""
    yield gauge("cmt_slowdown_victim_ratio", None, 0.18, **parties(victim=WEB))
    pair = parties(victim=WEB, suspect=BATCH)
    for resource, domain, share in (("cache", "0", 0.16), ("cache", "1", 0.03),
                                    ("memory", "0", 0.02)):
        yield gauge("cmt_slowdown_ratio", None, share, resource=resource, domain=domain, **pair)
    yield gauge("cmt_slowdown_ratio", None, 0.01, resource="cpu", **pair)
    yield counter("cmt_culprit_verdicts_total", 0, 0.1, kind="cache")
    name, labels, value = counter("cmt_culprit_pair_verdicts_total", 0, 0.1, kind="cache", **pair)
    yield name, labels, lambda second: value(second) - 1000
    yield counter(name, 0, 0.1, **{**labels, "kind": "wait"})
    yield counter("cmt_cpu_wait_pair_seconds_total", 0.5, 0.5, **parties(victim=WEB, runner=BATCH))


def hour():
    """The samples, as OpenMetrics."""
    series = [*machine_series(), *culprit_series(), *container_series(WEB, 1),
              *container_series(BATCH, 0.5), *container_series(NOBODY, 0.25), *plain_series(PLAIN)]
    # in trouble the exporter of db3 does not start: its module is not loaded
    for (name, labels, value), instance in (
            *itertools.product(series, ("db1:9750", "db2:9750")), (gauge("up", 1, 0), "db3:9750")):
        text = ",".join(f'{key}="{label}"' for key, label in
                        {"job": "cmt", "instance": instance, **labels}.items())
        for second in range(0, LENGTH + 1, STEP):
            now = value(second)
            if now is not None:
                yield f"{name}{{{text}}} {now} {BEGIN + second}\n"
    yield "# EOF\n"


def store(directory):
    """The hour becomes time series of Prometheus."""
    path = os.path.join(directory, "hour")
    with open(path, "w") as f:
        f.writelines(hour())
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", path,
                    os.path.join(directory, "data")], check=True, stdout=subprocess.DEVNULL)


def has_form(thing, form):
    """Keys that are missing, or of another type."""
    return [key for key, kind in form.items() if not isinstance(thing.get(key), kind)]


def overlaps(a, b):
    """Two panels have a place in common."""
    return a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and \
        a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]


def check_panel(panel):
    """What Grafana needs of a panel, and what a reader does."""
    title, place = panel.get("title"), panel.get("gridPos", {})
    check(f"form: {title}", not has_form(panel, PANEL), has_form(panel, PANEL))
    check(f"place: {title}", all(isinstance(place.get(key), int) for key in "xywh") and
          0 <= place["x"] and 0 < place["w"] and place["x"] + place["w"] <= COLUMNS and
          place["y"] >= 0 and place["h"] > 0, place)
    check(f"type and unit: {title}", panel["type"] in ("timeseries", "stat") and
          panel["fieldConfig"]["defaults"].get("unit"), panel["type"])
    stacked = "stacking" in panel["fieldConfig"]["defaults"].get("custom", {})
    check(f"only parts of a sum are stacked: {title}", not stacked or not any(
        re.search(r"histogram_quantile|topk|/", target["expr"]) for target in panel["targets"]))
    bad = [target for target in panel["targets"] if has_form(target, TARGET) or
           not target["expr"].strip() or target["datasource"]["uid"] != "${datasource}"]
    check(f"queries: {title}", panel["targets"] and not bad, bad)
    names = [target["refId"] for target in panel["targets"]]
    check(f"names of queries: {title}", len(names) == len(set(names)), names)


def check_form(board):
    """The dashboard without its values."""
    panels = board["panels"]
    check("form of the dashboard", not has_form(board, BOARD), has_form(board, BOARD))
    for panel in panels:
        check_panel(panel)
    ids = [panel["id"] for panel in panels]
    check("ids are unique", len(ids) == len(set(ids)), ids)
    over = [(a["title"], b["title"]) for a, b in itertools.combinations(panels, 2)
            if overlaps(a["gridPos"], b["gridPos"])]
    check("no panel is over another", not over, over)
    first = [panel for panel in panels if panel["gridPos"]["y"] == 0]
    check("slowdown comes first, by victim and by suspect",
          ["cmt_slowdown_victim_ratio" in first[0]["targets"][0]["expr"],
           "cmt_slowdown_ratio" in first[-1]["targets"][0]["expr"], len(first)] ==
          [True, True, 2], [panel["title"] for panel in first])
    check("each panel has expected values", {panel["title"] for panel in panels} ==
          set(EXPECTED), {panel["title"] for panel in panels} ^ set(EXPECTED))


def substituted(text):
    """All machines, all containers."""
    return text.replace("$__rate_interval", WINDOW).replace("$instance", ".*") \
        .replace("$container", ".*")


def check_variables(prometheus, board):
    """The lists of machines and containers have theirs."""
    wanted = {"instance": {"db1:9750", "db2:9750"},
              "container": {"web", "batch", "plain", "(unattributed)"}}
    for variable in board["templating"]["list"]:
        if variable["type"] != "query":
            continue
        name = variable["name"]
        found = re.fullmatch(r"label_values\((.*), (\w+)\)",
                             substituted(variable["query"]["query"]))
        values = found and set(prometheus.api(
            f"label/{found[2]}/values", start=BEGIN, end=BEGIN + LENGTH,
            **{"match[]": found[1]}))
        check(f"variable {name}", values == wanted.pop(name, None), values)
    check("no variable is missing", not wanted, wanted)


def legend(form, labels):
    """As Grafana writes it."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), form).strip()


def is_looked_at(title, labels):
    """Of web, or of the machine, and what else is looked at in this panel."""
    if any(labels.get(role, "web") != "web" for role in ("container", "victim")):
        return False
    return all(labels.get(key) == value for key, value in LOOKED_AT.get(title, {}).items())


def check_value(title, at, result, expected):
    """Those that are looked at have the value; None: there is none."""
    values = [float(r["value"][1]) for r in result if is_looked_at(title, r["metric"])]
    if expected is None:
        check(f"{at}: {title}", not values, values)
        return
    check(f"{at}: {title}", values and all(abs(value - expected) <= NEAR * expected
                                           for value in values), (values, expected))


def check_target(prometheus, panel, target):
    """A query in quiet and in trouble: numbers, and lines that are told apart."""
    title, text = panel["title"], substituted(target["expr"])
    check(f"no variable is left: {title}", "$" not in text, text)
    for at, second, expected in zip(("quiet", "trouble"), (QUIET_AT, TROUBLE_AT),
                                    EXPECTED[title]):
        result = prometheus.query(text, time=BEGIN + second)
        bad = [r for r in result if r["value"][1] in ("NaN", "+Inf", "-Inf")]
        check(f"{at}, numbers: {title}", not bad, bad)
        names = [legend(target["legendFormat"], r["metric"]) for r in result]
        check(f"{at}, legend: {title}", len(names) == len(set(names)), names)
        if target is panel["targets"][0]:
            check_value(title, at, result, expected)
        else:
            check(f"{at}, second query: {title}", result, text)


def main():
    with open(TOP + "/docs/exporter/dashboard.json") as f:
        board = json.load(f)
    check_form(board)
    with tempfile.TemporaryDirectory() as directory:
        store(directory)
        prometheus = Prometheus(directory, {})
        try:
            if prometheus.wait_for(prometheus.is_ready):
                check_variables(prometheus, board)
                for panel in board["panels"]:
                    for target in panel["targets"]:
                        check_target(prometheus, panel, target)
            else:
                check("Prometheus is ready", False)
        finally:
            prometheus.stop()
    print(f"{passed} passed, {failed} failed")
    return failed > 0 or not passed


sys.exit(main())
