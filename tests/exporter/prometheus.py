# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus, on a free port of this machine."""
import atexit
import json
import os
import socket
import subprocess
import time
import urllib.parse
import urllib.request

DEADLINE = 90


def fetch(url, **headers):
    """What is served there."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as page:
        return page.read().decode()


class Prometheus:
    """A server with its files in @directory; its time series are in data/ there."""

    def __init__(self, directory, config):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.url = "http://127.0.0.1:%d" % s.getsockname()[1]
        path = os.path.join(directory, "prometheus.yml")
        with open(path, "w") as f:
            json.dump(config, f)  # which is YAML
        self.log = open(os.path.join(directory, "log"), "w+")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file", path, "--storage.tsdb.path", directory + "/data",
             "--web.listen-address", self.url[7:]], stdout=self.log, stderr=self.log)
        atexit.register(self.process.kill)  # after an exception, too

    def api(self, path, **args):
        query = "?" + urllib.parse.urlencode(args) if args else ""
        return json.loads(fetch(f"{self.url}/api/v1/{path}{query}"))["data"]

    def query(self, text, **args):
        return self.api("query", query=text, **args)["result"]

    def is_ready(self):
        return "Ready" in fetch(self.url + "/-/ready")

    def wait_for(self, holds):
        """What holds() returns, when that is something; None: it took too long."""
        end = time.monotonic() + DEADLINE
        error = None
        while time.monotonic() < end:
            try:
                found = holds()
                if found:
                    return found
            except OSError as e:
                error = e
            time.sleep(0.2)
        self.log.seek(0)
        print(self.log.read()[-2000:], error)
        return None

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE)
        self.log.close()
