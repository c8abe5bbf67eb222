# SPDX-License-Identifier: GPL-2.0-or-later
"""cmt-exporter on the machine of fake_fleet.c, and how checks are counted.
The first argument of the program is the directory of the programs."""

import atexit
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

BIN = os.path.join(sys.argv[1], "cmt-exporter_fake")
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DEADLINE = 60

checks = failures = 0


def check(ok, what):
    global checks, failures
    checks += 1
    if not ok:
        failures += 1
        print("FAIL:", what)


def until(what, ask, holds):
    """Ask until it holds; the last answer."""
    limit = time.monotonic() + DEADLINE
    while time.monotonic() < limit:
        answer = ask()
        if holds(answer):
            check(True, what)
            return answer
        time.sleep(0.02)
    check(False, f"{what}: {str(answer)[:500]}")
    return answer


class Exporter:
    """The program, from its first line to its end."""

    def __init__(self, *args, host="127.0.0.1", **env):
        self.dir, self.host = tempfile.TemporaryDirectory(), host
        address = f"[{host}]" if ":" in host else host
        self.process = subprocess.Popen(
            [BIN, "--listen", f"{address}:0", *args], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "CMT_FLEET_DIR": self.dir.name, **env})
        # a test that ends by an exception leaves no exporter that holds its output
        atexit.register(self.process.kill)
        line = self.process.stderr.readline()
        found = re.search(rf"listening on {re.escape(address)}:(\d+), seccomp filter (on|off)$",
                          line)
        if not found:
            sys.exit(f"it does not listen: {line}")
        self.port = int(found[1])
        self.filter = found[2]

    def tell(self, name, there=True):
        path = os.path.join(self.dir.name, name)
        if there:
            open(path, "w").close()
        else:
            os.unlink(path)

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=DEADLINE)

    def raw(self, request):
        """All that comes back; "" when the connection was just closed."""
        with self.connect() as s:
            try:
                s.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            data = b""
            try:
                while chunk := s.recv(65536):
                    data += chunk
            except ConnectionResetError:
                pass
            return data.decode()

    def get(self, path="/metrics", method="GET", **headers):
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{k}: {v}" for k, v in {"Host": "localhost", **headers}.items()]
        head, _, body = self.raw(("\r\n".join(lines) + "\r\n\r\n").encode()).partition("\r\n\r\n")
        return int(head.split()[1]), head, body

    def complete(self):
        """The page, all of it: on a busy machine a client may be ended before."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            _, head, body = self.get()
            if len(body.encode()) == int(re.search(r"Content-Length: (\d+)", head)[1]):
                return body
        raise RuntimeError(f"no complete page: {len(body)} bytes, {head}")

    def values(self):
        """Each sample of the page, by its name and labels."""
        body = self.complete()
        samples = [line.rpartition(" ") for line in body.splitlines() if line[:1] != "#"]
        return {name: float(value) for name, _, value in samples}

    def wait_for(self, what, holds):
        return until(what, self.values, holds)

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        try:
            status = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "it does not end"
        self.said = self.process.stderr.read()
        self.dir.cleanup()
        check(status == 0, f"exit status {status}: {self.said}")


def of(values, name, **labels):
    """The one sample that has these labels."""
    found = [v for k, v in values.items() if k.split("{")[0] == name and
             all(f'{a}="{b}"' in k for a, b in labels.items())]
    return found[0] if len(found) == 1 else None


def status_of(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def forbidden(e):
    """How the calls of forbidden.h end, by name."""
    e.tell("forbidden")
    e.wait_for("intervals", lambda v: v["cmt_intervals_total"] >= 3)
    e.stop()
    return dict(re.findall(r"^forbidden (.*): (.*)$", e.said, re.M))


def end():
    """Print the counts, and exit."""
    print(f"{checks} checks, {failures} failures")
    sys.exit(failures > 0)
