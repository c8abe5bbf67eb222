# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's ClickHouse as a process of its own, in a directory that is left again."""
import os
import resource
import shutil
import socket
import subprocess
import tempfile
import time

DEADLINE = 60
PASSWORD = 'a "quoted" \\ word'    # of the user ship
CONFIG = """<yandex>
<logger><level>warning</level><log>{dir}/log</log><errorlog>{dir}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<listen_host>127.0.0.1</listen_host>
<path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path>
<user_files_path>{dir}/files/</user_files_path>
<format_schema_path>{dir}/schemas/</format_schema_path>
<users_config>users.xml</users_config>
<timezone>{zone}</timezone>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>268435456</mark_cache_size>
<query_log><database>system</database><table>query_log</table>
<flush_interval_milliseconds>1000</flush_interval_milliseconds></query_log>
</yandex>
"""
USERS = """<yandex>
<profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default>
<ship><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></ship></users>
<quotas><default></default></quotas>
</yandex>
"""


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Server:
    """To be used with "with"."""

    def __init__(self, zone="UTC"):
        self.zone = zone

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="cmt-fleet.")
        self.port, self.http = free_port(), free_port()
        for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
            with open(os.path.join(self.dir, name), "w", encoding="ascii") as file:
                file.write(text.format(dir=self.dir, tcp=self.port, http=self.http,
                                       password=PASSWORD, zone=self.zone))
        self.start()
        return self

    def start(self):
        with open(os.path.join(self.dir, "output"), "wb") as output:
            self.process = subprocess.Popen(
                ["clickhouse-server", f"--config-file={self.dir}/config.xml"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.dir,
                env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
        self._wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def _wait(self):
        end = time.monotonic() + DEADLINE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    with open(os.path.join(self.dir, "output"), "rb") as output:
                        raise SystemExit(f"no server: {output.read()[-2000:]!r}") from None
                time.sleep(0.1)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def client(self, *args):
        return ["clickhouse-client", "--host", "127.0.0.1", "--port", str(self.port), *args]

    def query(self, text):
        """The rows of the answer: lists of texts."""
        done = subprocess.run(self.client("--multiquery"), input=text.encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return [line.split("\t") for line in done.stdout.decode().splitlines()]

    def version(self):
        return self.query("SELECT version()")[0][0]


class Spent:
    """Time of the clock, of the server's processor and of all child processes."""

    def __init__(self, server):
        self.server, self.begin = server, self.now(server)

    @staticmethod
    def now(server):
        with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
            cells = file.read().rsplit(")", 1)[1].split()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (time.monotonic(), (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK"),
                children.ru_utime + children.ru_stime)

    def get(self):
        return [max(after - before, 1e-3)
                for before, after in zip(self.begin, self.now(self.server))]
