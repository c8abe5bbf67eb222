#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""layout_test.py DIRECTORY AXE: how pages look at several widths, light and dark, and on paper.

DIRECTORY: small, quiet and recorded.html, as browser_test.py has them; screenshots go there.
AXE: axe.min.js of the npm package axe-core, which finds what a screen reader or a keyboard
cannot use.  Layout is compared, pixels are not.
"""
import itertools
import re
import sys
import unittest

import pages
from browser import Browser
from pages import SETTLED, contrast, linear, open_page, page

SIZES = ((360, 740), (800, 900), (1400, 900), (2560, 1300))
TEXT_LEAST = 11         # pixels of CSS
CONTRAST = 4.5
PAPER = 718             # pixels of CSS between the margins of A4
PAGES = ("small.html", "quiet.html", "recorded.html")
TABS_MOST = 400
AXE = None

# All elements with text of their own that can be seen: [what, size, colour, paper, box].
TEXTS = """
function rgb(text) { return text.match(/[\\d.]+/g).map(Number); }
function over(colour, paper) {
	const alpha = colour[3] ?? 1;

	return paper.map((part, i) => part + (colour[i] - part) * alpha);
}
function paperOf(element) {
	const background = rgb(getComputedStyle(element).backgroundColor);

	if ((background[3] ?? 1) === 1)
		return background.slice(0, 3);
	return over(background, paperOf(element.parentNode));
}
const hex = (parts) => '#' + parts.map((p) => Math.round(p).toString(16).padStart(2, '0')).join('');
return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() &&
	![ 'SCRIPT', 'NOSCRIPT' ].includes(e.tagName) && !e.closest('.hidden') &&
	[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
	const style = getComputedStyle(e), paper = paperOf(e), box = e.getBoundingClientRect();

	return [e.outerHTML.slice(0, 120), parseFloat(style.fontSize),
		hex(over(rgb(style.color), paper)), hex(paper),
		[box.left, box.right], e.closest('.wide, .lanes, .legend') !== null];
});
"""
BOXES = """
return arguments[0].map((selector) => {
	const e = [...document.querySelectorAll(selector)].find((e) => e.checkVisibility());
	const b = e && e.getBoundingClientRect();

	return e ? [b.left, b.top, b.right, b.bottom] : null;
});
"""
# All that takes the focus by Tab, but for those that another of a group stands for.
REACHED = """
window.reached = new Set();
addEventListener('focusin', (event) => reached.add(event.target), true);
window.unringed = [];
addEventListener('focusin', (event) => {
	const style = getComputedStyle(event.target);

	if (style.outlineStyle === 'none' || !parseFloat(style.outlineWidth))
		unringed.push(event.target.outerHTML.slice(0, 100));
}, true);
"""
UNREACHED = """
return [...document.querySelectorAll('button, input, summary, [tabindex]')].filter((e) =>
	e.checkVisibility({ contentVisibilityAuto: false }) && !e.disabled && e.tabIndex >= 0 &&
	!reached.has(e)).map((e) => e.outerHTML.slice(0, 100));
"""


def each_look(sizes=SIZES, themes=("light", "dark")):
    """A browser with each page, at each size, light and dark."""
    for size in sizes:
        browser = Browser(*size)
        try:
            for theme, name in itertools.product(themes, PAGES):
                browser.media(theme == "dark")
                open_page(browser, name)
                yield browser, name, size, theme
        finally:
            browser.close()


class LayoutTest(unittest.TestCase):
    """What a reader sees at each width."""

    def check_texts(self, browser, width):
        """Each text can be read, and none is cut off at the side of the window."""
        for what, size, colour, paper, (left, right), scrolls in browser.run(TEXTS):
            self.assertGreaterEqual(size, TEXT_LEAST, what)
            self.assertGreaterEqual(contrast(linear(colour), linear(paper)), CONTRAST,
                                    (what, colour, paper))
            if not scrolls:
                self.assertGreaterEqual(left, 0, what)
                self.assertLessEqual(right, width + 1, what)
        for font in browser.run("return [...charts.map(({ plot }) => plot.axes[1].font[0]),"
                                "byId('axis').getContext('2d').font]"):
            self.assertGreaterEqual(float(re.search(r"([\d.]+)px", font).group(1)), TEXT_LEAST)

    def check_first_look(self, browser, name, size):
        """What happened, because of whom and what it cost is seen without scrolling."""
        first = "#no-story" if name == "quiet.html" else "#story li button"
        box, = browser.run(BOXES, [first])
        if name == "recorded.html" and box is None:
            box, = browser.run(BOXES, ["#no-story"])
        self.assertIsNotNone(box)
        self.assertGreaterEqual(box[1], 0)
        self.assertLessEqual(box[3], size[1])
        self.assertLess(box[0], size[0] / 4)
        if name == "small.html":
            told = browser.run("return byId('story').firstChild.textContent")
            self.assertRegex(told, r"slower because of .*service-030 .*CPU time lost$")

    def check_order(self, browser):
        """From the top: what happened, overview, axis, lanes, charts, tables."""
        boxes = [box for box in browser.run(BOXES, [
            "#headline", "#overview", "#axis", "#lanes", "#chart-mean .u-over",
            "#chart-rate .u-over", "#verdicts-title", "#members"]) if box]
        self.assertGreaterEqual(len(boxes), 8)
        tops = [box[1] for box in boxes]
        self.assertEqual(tops, sorted(tops))

    def test_looks(self):
        """At each width: no scrolling sideways, all texts readable, what happened first."""
        for browser, name, size, theme in each_look():
            browser.screenshot(page(f"{name[:-5]}-{size[0]}-{theme}.png"))
            with self.subTest(page=name, width=size[0], theme=theme):
                self.assertEqual(browser.run(
                    "scrollTo(9999, 0); const x = scrollX; scrollTo(0, 0);"
                    "return [x, document.documentElement.scrollWidth]"), [0, size[0]])
                self.check_texts(browser, size[0])
                self.check_first_look(browser, name, size)
                self.check_order(browser)
                self.assertEqual(browser.log(), [])

    def test_wide(self):
        """On a wide screen, lanes are seen without scrolling, and charts use the width."""
        for size in SIZES[2:]:
            browser = Browser(*size)
            try:
                open_page(browser, "small.html")
                lanes, chart = browser.run(BOXES, ["#lanes", "#chart-mean .u-over"])
                self.assertLess(lanes[1] + 18, size[1])
                self.assertGreater(chart[2] - chart[0], 0.6 * min(size[0], 1600))
            finally:
                browser.close()


class PaperTest(unittest.TestCase):
    """A print, also of a dark page."""

    def test_paper(self):
        """Light, no wider than the paper, with all lanes and no button."""
        browser = Browser(PAPER, 1000)
        try:
            for name in PAGES:
                open_page(browser, name)
                browser.cdp("Emulation.setEmulatedMedia", media="print", features=[
                    {"name": "prefers-color-scheme", "value": "dark"}])
                browser.run("dispatchEvent(new Event('beforeprint'))")
                browser.until(SETTLED, "drawing")
                browser.screenshot(page(f"{name[:-5]}-paper.png"), True)
                self.assertEqual(browser.run(
                    "return document.documentElement.scrollWidth"), PAPER)
                self.assertEqual(browser.run(
                    "return getComputedStyle(document.documentElement).backgroundColor"),
                    "rgb(255, 255, 255)")
                self.assertEqual(browser.run(
                    "return [...document.querySelectorAll('.bar button, input')]"
                    ".filter((e) => e.checkVisibility()).length"), 0)
                host, rows = browser.run(
                    "return [byId('lanes-host').clientHeight, laneOrder.length]")
                self.assertGreaterEqual(host, 18 * rows)
                browser.cdp("Emulation.setEmulatedMedia", media="")
        finally:
            browser.close()


class AccessTest(unittest.TestCase):
    """With a keyboard, or a screen reader."""

    def test_keyboard(self):
        """Tab reaches all that can be pressed or typed into, and shows where it is."""
        browser = Browser(1400, 900)
        try:
            for name in PAGES:
                open_page(browser, name)
                browser.run(REACHED)
                browser.keys(*["Tab"] * TABS_MOST)
                self.assertEqual(browser.run(UNREACHED), [], name)
                self.assertEqual(browser.run("return unringed"), [], name)
        finally:
            browser.close()

    def test_landmarks(self):
        """One of each landmark, all content in one of them, each section with its name."""
        browser = Browser(1400, 900)
        try:
            open_page(browser)
            run = browser.run
            self.assertEqual(run("return document.documentElement.lang"), "en")
            self.assertEqual(run(
                "return [...document.body.children].filter((e) => e.checkVisibility())"
                ".map((e) => e.tagName)"), ["HEADER", "MAIN", "FOOTER"])
            self.assertEqual(run(
                "return [...document.querySelectorAll('section')].filter((e) => "
                "!byId(e.getAttribute('aria-labelledby'))?.textContent).length"), 0)
        finally:
            browser.close()

    def test_axe(self):
        """axe-core finds nothing serious."""
        with open(AXE, encoding="utf-8") as file:
            axe = file.read()
        for browser, name, size, theme in itertools.chain(
                each_look(SIZES[:1], ("light",)), each_look(SIZES[2:3], ("dark",))):
            browser.run(axe)
            found = browser.run(
                "return axe.run(document, { resultTypes: ['violations'] })"
                ".then((result) => result.violations.map((v) => [v.impact, v.id, v.help,"
                "v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))]))")
            with self.subTest(page=name, width=size[0], theme=theme):
                self.assertEqual(found, [])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    pages.use(sys.argv.pop(1))
    AXE = sys.argv.pop(1)
    unittest.main(verbosity=2)
