#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cmt-exporter --page on the machine of fake_fleet.c: the page, and the child that makes it.
usage: page_test.py DIRECTORY_OF_THE_PROGRAMS"""

import os
import re
import signal
import time

from fake import DEADLINE, TOP, Exporter, check, end, forbidden, status_of, until

HEADERS = ("X-Content-Type-Options: nosniff", "Cache-Control: no-store",
           "Referrer-Policy: no-referrer")
MADE_S = 10


def page(e):
    """The page, once it is made."""
    return until("a page", lambda: e.get("/"), lambda a: a[0] == 200)


def slots(body):
    """The number of milliseconds that the page has."""
    return int(re.search(r'"slots":(\d+),"gap_slots"', body)[1])


def children(e):
    with open(f"/proc/{e.process.pid}/task/{e.process.pid}/children") as f:
        return [int(pid) for pid in f.read().split()]


def hold(e):
    """Ask for a page that is not made until the file "hold" goes away; its child."""
    e.tell("hold")
    status, head, _ = e.get("/")
    check(status == 503 and "Refresh: 1" in head, f"it is being made: {head}")
    return until("a child", lambda: children(e), lambda c: len(c) == 1)[0]


def test_without():
    e = Exporter()
    status, head, body = e.get("/")
    check(status == 200 and '<a href="/metrics">' in body, f"the short page: {body}")
    check("Content-Security-Policy" not in head and not children(e), f"no more: {head}")
    e.stop()


def test_page():
    e = Exporter("--page", "--counters", "--interval", "0.2", "--root",
                 TOP + "/tests/unit/fixtures/host", CMT_FAKE="hardware")
    check(e.filter == "on", "a filter")
    # the page has what was read until then
    e.wait_for("some readings", lambda v: v["cmt_intervals_total"] >= 5)
    status, head, body = e.get("/")
    check(status == 503 and "being made" in body and "Retry-After: 1" in head,
          f"the first answer: {head}")
    check("Content-Security-Policy: default-src 'none';" in head, f"its policy: {head}")
    status, head, body = page(e)
    policy = re.search(r"^Content-Security-Policy: (.*?)\r?$", head, re.M)
    inside = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', body)
    check(policy and inside and policy[1] == inside[1] and "sha256-" in policy[1],
          f"the policy: {policy}, {inside}")
    missing = [line for line in HEADERS if line not in head]
    check(not missing, f"headers that are missing: {missing}")
    check("<title>cmt report" in body and body.endswith("</html>\n"), "a complete report")
    check(re.search(r"<td>[^<]*web-0[^<]*</td>", body), "the name of a pod's container")
    check("\x1b" not in body and "&#34;quo" in body, "a hostile name")
    check("cmt-exporter" in body and "the file was cut" not in body, "it has its end")
    status, head, body = e.get("/", "HEAD")
    check(status == 200 and not body and int(re.search(r"Content-Length: (\d+)", head)[1]) > 1e5,
          f"HEAD: {head}")
    check(e.get("/metrics")[0] == 200 and e.get("/x")[0] == 404, "the other addresses")
    check(e.get("/", "POST")[0] == 405, "POST")
    e.stop()


def test_young():
    """A page is served for ten seconds, and is then another one."""
    e = Exporter("--page")
    one = page(e)[2]
    made = time.monotonic()
    check(e.get("/")[2] == one and not children(e), "the second request gets the same page")
    two = until("another page", lambda: e.get("/"), lambda a: a[0] == 200 and a[2] != one)
    check(time.monotonic() - made > MADE_S - 1, "not before its time")
    # not more bytes: a recording of a busy machine has holes
    check(slots(two[2]) > slots(one), "it has more")
    e.stop()


def test_made():
    """While it is made, all else goes on."""
    e = Exporter("--page", "--interval", "0.2")
    child = hold(e)
    status = status_of(child)
    check(status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", "the child has the filter")
    before = e.values()["cmt_intervals_total"]
    e.wait_for("scrapes go on", lambda v: v["cmt_intervals_total"] >= before + 5)
    check(e.get("/")[0] == 503 and children(e) == [child], "one child at a time")
    e.tell("hold", False)
    page(e)
    check(e.values()["cmt_records_lost_total"] == 0, "nothing is lost")
    e.stop()
    check(e.said == "", f"it says nothing: {e.said}")


def test_killed():
    e = Exporter("--page")
    os.kill(hold(e), signal.SIGKILL)
    e.tell("hold", False)
    status, _, body = until("it is said", lambda: e.get("/"), lambda a: a[0] != 503)
    check(status == 500 and "could not be made" in body, f"{status} {body}")
    until("it is tried again", lambda: e.get("/")[0], lambda s: s == 200)
    e.stop()
    check("no page was made: the process that made it was killed" in e.said, e.said)


def test_stop():
    """The child ends with the exporter, however that ends."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        e = Exporter("--page")
        child = hold(e)
        if sig == signal.SIGTERM:
            e.stop()
        else:
            e.process.kill()
            e.process.wait()
        until(f"the child is gone after {sig}", lambda: os.path.exists(f"/proc/{child}"),
              lambda there: not there)


def test_gone():
    """Without its device it shows what it has, and begins again with the next one."""
    e = Exporter("--page", "--interval", "0.2")
    old = page(e)[2]
    before = e.values()["cmt_intervals_total"]
    e.wait_for("more", lambda v: v["cmt_intervals_total"] >= before + 2)
    e.tell("gone")
    e.wait_for("it is gone", lambda v: v["cmt_up"] == 0)
    until("a page all the same", lambda: e.get("/"), lambda a: a[0] == 200 and len(a[2]) > len(old))
    e.tell("gone", False)
    e.wait_for("it is back", lambda v: v["cmt_up"] == 1)
    page(e)
    e.stop()
    check("no page" not in e.said, e.said)


def test_filter():
    """Nothing can be written to a disk, and nothing else is run."""
    e = Exporter("--page", "--interval", "0.2")
    ends = forbidden(e)
    check(len(ends) == 7 and set(ends.values()) == {"Operation not permitted"},
          f"forbidden calls: {ends}")


for test in (test_without, test_page, test_young, test_made, test_killed, test_stop,
             test_gone, test_filter):
    test()
end()
