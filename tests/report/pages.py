# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages in a browser, and what of colours both tests of them need."""
import os

DIRECTORY = "."
SETTLED = ("return !drawDue && loading.size === 0 && "
           "document.documentElement.dataset.busy === '0'")
# What happened, in words.
SAID = ("return [byId('headline'), ...byId('story').children].map((e) => e.textContent)"
        ".join('\\n')")


def use(directory):
    """Pages and screenshots are there."""
    global DIRECTORY
    DIRECTORY = directory


def page(name):
    """The path of a page."""
    return os.path.join(DIRECTORY, name)


def open_page(browser, name="small.html", fragment=""):
    """Open it and wait until it is complete."""
    browser.open("/dev/null")
    browser.open(page(name), fragment)
    browser.until("return document.documentElement.dataset.complete", "the page")
    browser.until(SETTLED, "drawing")


def linear(name):
    """#rrggbb as parts of light."""
    parts = [int(name[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def contrast(a, b):
    """As WCAG has it."""
    light = sorted(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] + 0.05 for c in (a, b))
    return light[1] / light[0]
