#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of cmt-exporter --page in a real browser: it comes by itself, and loads nothing.
usage: browser_test.py DIRECTORY_OF_THE_PROGRAMS"""

import os
import sys

from fake import TOP, Exporter, check, end

sys.path.insert(0, os.path.join(TOP, "tests/report"))
from browser import Browser  # noqa: E402

LOADED = """return performance.getEntriesByType("resource").map(entry => entry.name)"""
SHOWN = """return [...document.querySelectorAll("main *, body *")].some(element =>
    element.childElementCount === 0 && element.checkVisibility() &&
    element.textContent.includes(arguments[0]))"""


def test_page():
    e = Exporter("--page", "--counters", "--root", TOP + "/tests/unit/fixtures/host",
                 CMT_FAKE="hardware")
    browser = Browser(1400, 900)
    try:
        browser.call("POST", browser.session + "/url", {"url": f"http://127.0.0.1:{e.port}/"})
        # from the short page by its header Refresh
        browser.until('return document.title.startsWith("cmt report")', "the report")
        browser.until('return document.querySelector("canvas")', "its charts")
        check(browser.run(SHOWN, "web-0"), "the name of a container is visible")
        check(browser.run("return meta.from_memory"), "no moment is kept in its address")
        loaded = browser.run(LOADED)
        check(not loaded, f"loaded: {loaded}")
        # the short page is an answer 503, and says so in the console
        bad = [entry["message"] for entry in browser.log() if " 503 " not in entry["message"]]
        check(not bad, f"console: {bad}")
    finally:
        browser.close()
    e.stop()


test_page()
end()
