# SPDX-License-Identifier: GPL-2.0-or-later
"""A real browser without a screen, driven through chromedriver."""
import base64
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request

# What WebDriver calls keys.
KEYS = {"Left": "\ue012", "Right": "\ue014", "Home": "\ue011", "End": "\ue010",
        "Tab": "\ue004", "Enter": "\ue007"}
TIMEOUT_S = 300


class Browser:
    """One window.  @dark: what the page asks for with prefers-color-scheme."""

    def __init__(self, width=1280, height=900, dark=False):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.session = ""
        try:
            self._begin(width, height, dark)
        except BaseException:
            self.close()
            raise

    def _begin(self, width, height, dark):
        port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = found.group(1)
                break
        if not port:
            raise RuntimeError("chromedriver does not start")
        self.base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", f"--window-size={width},{height}",
                     "--force-device-scale-factor=1", "--hide-scrollbars",
                     "--disable-gpu", "--disable-background-networking"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        options = {"args": arguments}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "timeouts": {"script": TIMEOUT_S * 1000},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        self.media(dark)

    def call(self, method, path, body=None):
        """A command of WebDriver; its value."""
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:600]) from error

    def cdp(self, command, **params):
        """A command of the browser's own protocol."""
        return self.call("POST", self.session + "/goog/cdp/execute",
                         {"cmd": command, "params": params})

    def media(self, dark):
        """Light or dark, as the machine of who reads it is set."""
        self.cdp("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, fragment=""):
        """Open a file of this machine."""
        url = "file://" + os.path.abspath(path) + fragment
        self.call("POST", self.session + "/url", {"url": url})

    def run(self, script, *args):
        """Run the body of a function in the page; its value."""
        return self.call("POST", self.session + "/execute/sync",
                         {"script": script, "args": list(args)})

    def until(self, script, what, seconds=60):
        """Wait until the script's value is true, and return it."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s")
            time.sleep(0.02)

    def keys(self, *names):
        """Press keys, one after the other."""
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": actions}]})

    def wheel(self, x, y, by):
        """Turn the wheel there."""
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "wheel", "id": "wheel", "actions": [
                {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": by,
                 "duration": 0, "origin": "viewport"}]}]})

    def move(self, x, y):
        """Move the pointer, with no button."""
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": x, "y": y, "duration": 0}]}]})

    def drag(self, begin, end, shift=False):
        """Drag with the first button."""
        move = [{"type": "pointerMove", "x": begin[0], "y": begin[1], "duration": 0},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerMove", "x": end[0], "y": end[1], "duration": 200},
                {"type": "pointerUp", "button": 0}]
        shifted = [{"type": "keyDown", "value": "\ue008"}, {"type": "pause"},
                   {"type": "pause"}, {"type": "keyUp", "value": "\ue008"}]
        pause = {"type": "pause", "duration": 0}
        actions = [{"type": "pointer", "id": "mouse",
                    "actions": ([pause] if shift else []) + move}]
        if shift:
            actions.append({"type": "key", "id": "keys", "actions":
                            shifted[:1] + [pause] * 4 + shifted[3:]})
        self.call("POST", self.session + "/actions", {"actions": actions})

    def log(self):
        """What the page wrote to the console since the last call, violations among it."""
        return self.call("POST", self.session + "/se/log", {"type": "browser"})

    def screenshot(self, path, whole=False):
        """A picture of the window, or of the whole page."""
        data = self.cdp("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self, path):
        """Print."""
        data = self.call("POST", self.session + "/print", {"background": True})
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        """End the window and its driver."""
        try:
            if self.session:
                self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
