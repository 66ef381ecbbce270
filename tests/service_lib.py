"""heddled under test: started in a folder of its own on a free port, spoken to over the wire as any client would, and
stopped by its own pid. Exit status 77 where pyzmq or msgpack are missing."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

try:
    import msgpack
    import zmq
except ImportError as missing:
    print("skipped:", missing, "(Debian: python3-zmq, python3-msgpack)")
    sys.exit(77)

os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1:detect_leaks=" + os.environ.get("HEDDLE_LEAKS", "0")
BIN = pathlib.Path(os.environ.get("HEDDLE_BIN", "build/release"))
HEDDLED = BIN / "service/daemon/heddled"
FAKE = BIN / "tests/fake_world"
HEDDLE = BIN / "service/cli/heddle"


class Client:
    """One DEALER. rpc returns (header, body) of the answer to this very request."""

    def __init__(self, address, timeout=20):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.connect(address)
        self.timeout = timeout
        self.last = 0

    def send(self, t, body=None, **head):
        self.last += 1
        self.socket.send_multipart([msgpack.packb({"v": 1, "t": t, "id": self.last, **head}), msgpack.packb(body or {})])
        return self.last

    def hear(self, timeout=None):
        if not self.socket.poll((self.timeout if timeout is None else timeout) * 1000):
            return None, None
        head, *body = self.socket.recv_multipart()
        return msgpack.unpackb(head), msgpack.unpackb(body[0])

    def rpc(self, t, body=None, timeout=None, **head):
        number = self.send(t, body, **head)
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        while time.monotonic() < end:
            got, answer = self.hear(max(0, end - time.monotonic()))
            if got and got["id"] == number:
                return got, answer
        return None, None

    def patient(self, t, body=None, limit=60, **head):
        """Asks again until there is an answer: the server may be down just now."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            got, answer = self.rpc(t, body, timeout=1, **head)
            if got:
                return got, answer
        raise AssertionError(f"no answer to {t} within {limit} s")

    def submit(self, problem, key=None, **body):
        problem = json.dumps(problem).encode() if isinstance(problem, dict) else problem
        return self.patient("submit", {"problem": problem, **body}, k=key or uuid.uuid4().bytes)

    def wait(self, job, limit=60):
        """The job's last state, however often the server goes away meanwhile."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            got, answer = self.rpc("wait", {"timeout_ms": 1000}, timeout=2, job=job)
            if got and got["t"] == "status":
                return answer
            assert not got or answer["code"] == "timeout", answer
        raise AssertionError(f"job {job} has not ended within {limit} s")

    def close(self):
        self.socket.close()


class Daemon:
    def __init__(self, solver=FAKE, ranks=1, launcher="", **options):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="heddle-test-"))
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="heddle-run-", dir="/tmp"))
        self.options = {"state": self.home / "state", "scratch": self.scratch, "solver": solver, "ranks": ranks, **options}
        if launcher is not None:
            self.options["launcher"] = launcher
        self.port = None
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *why):
        try:
            if self.process and self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(15)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            if why[0]:
                print(self.log()[-6000:], file=sys.stderr)
                for world in self.home.glob("state/world-*.log"):
                    print(world, world.read_text()[-2000:], file=sys.stderr)
        finally:
            shutil.rmtree(self.home, ignore_errors=True)
            shutil.rmtree(self.scratch, ignore_errors=True)

    def start(self):
        listen = f"tcp://127.0.0.1:{self.port or '*'}"
        words = [str(HEDDLED), "--listen", listen]
        for name, value in self.options.items():
            words += ["--" + name, str(value)]
        before = len(self.events("listening"))
        with open(self.home / "log", "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 20
        while len(self.events("listening")) == before:
            assert self.process.poll() is None and time.monotonic() < end, "heddled did not start:\n" + self.log()
            time.sleep(0.01)
        self.address = self.events("listening")[-1]["address"]
        self.port = int(self.address.rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(15)

    def log(self):
        path = self.home / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def events(self, name):
        """Lines of the log of that name: every line must be one JSON object."""
        lines = self.log().split("\n")[:-1]
        return [one for one in (json.loads(line) for line in lines if line.startswith("{")) if one["event"] == name]

    def client(self, **options):
        return Client(self.address, **options)

    def ready(self, limit=20):
        """Waits until a world can take a job."""
        client, end = self.client(), time.monotonic() + limit
        while time.monotonic() < end:
            got, stats = client.rpc("stats", timeout=1)
            if got and any(w["state"] in ("ready", "busy") for w in stats["worlds"]):
                client.close()
                return stats
            time.sleep(0.02)
        raise AssertionError("no world is ready")

    def ranks_alive(self):
        """Pids of this daemon's worlds: they carry their folder in the environment."""
        mark = f"HEDDLE_WORLD_FOLDER={os.path.realpath(self.scratch)}/".encode()
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    environment = pathlib.Path("/proc", entry, "environ").read_bytes()
                    command = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if mark in environment and b"world" in command and not command[0].endswith(b"mpirun"):
                    found.append(int(entry))
        return found

    def rows(self, query):
        """Reads the store as an outsider; only while no daemon runs (it holds the lock)."""
        db = sqlite3.connect(self.home / "state/jobs.db")
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = db.execute(query).fetchall()
        db.close()
        return rows
