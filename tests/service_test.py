"""End-to-end tests of heddled, one function each, run by name under CTest (service.cmake)."""
import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid

from service_lib import FAKE, HEDDLE, HEDDLED, Client, Daemon, msgpack, zmq


def basic():
    """The ten-line client's way: submit, wait, result; then the other requests, and a clean stop."""
    with Daemon() as d:
        c = d.client()
        head, body = c.rpc("hello")
        assert head["t"] == "welcome" and body["protocol"] == [1, 1] and body["chunk"] == 1 << 20 and body["boot"]
        head, body = c.submit({"value": 0.25, "rounds": 3, "ms": 5}, time_limit=60, set=["gap=0.125"])
        assert head["t"] == "accepted" and body["dup"] is False, body
        job = body["job"]
        end = c.wait(job)
        assert end["state"] == "done" and end["status"] == "optimal" and end["value"] == 0.375, end
        head, body = c.rpc("result", job=job)
        assert hashlib.sha256(body["data"]).digest() == body["sha256"] and len(body["data"]) == body["total"]
        assert msgpack.unpackb(body["data"]) == {"heddle": 1, "value": 0.375}
        head, body = c.rpc("list")
        assert [j["job"] for j in body["jobs"]] == [job] and body["total"] == 1
        assert c.rpc("status", job=job)[1]["state"] == "done"
        assert c.rpc("ping")[0]["t"] == "pong"
        assert c.rpc("stats")[1]["jobs"]["done"] == 1
        head, body = c.submit({"do": "refuse"})
        end = c.wait(body["job"])
        assert end["state"] == "failed" and end["code"] == "invalid_problem" and "flows[17]" in end["msg"], end
        assert c.rpc("result", job=body["job"])[1]["code"] == "not_found"
        assert d.stop() == 0
        assert d.ranks_alive() == [] and not d.scratch.exists()
        assert d.rows("SELECT value FROM meta WHERE name='clean_stop'") == [(1,)]
        for line in d.log().splitlines():
            json.loads(line)


def refusals():
    """Every refusal has its code, and the service goes on."""
    with Daemon(max_message=65536) as d:
        c = d.client()

        def refused(code, t, body=None, **head):
            got, answer = c.rpc(t, body, timeout=5, **head)
            assert got and got["t"] == "error" and answer["code"] == code and answer["msg"], (t, body, got, answer)
            return answer

        key = uuid.uuid4().bytes
        ok = {"problem": b'{"rounds": 1}'}
        refused("unsupported", "frobnicate")
        refused("unsupported", "ping", need=["time-travel"])
        refused("not_found", "status", job="77")
        refused("not_found", "wait", job="1x")
        refused("bad_frame", "status")
        refused("bad_frame", "submit", ok)
        refused("bad_frame", "submit", ok, k=b"short")
        refused("bad_frame", "submit", ok, k=b"x" * 65)
        refused("invalid_problem", "submit", {}, k=key)
        refused("invalid_problem", "submit", {"problem": 3}, k=key)
        refused("invalid_problem", "submit", {"problem": b""}, k=key)
        refused("invalid_problem", "submit", {"problem": b"\xdd\xff\xff\xff\xff"}, k=key)
        refused("invalid_problem", "submit", {"problem": b"\xdd\x10\x00\x00\x00"}, k=key)
        refused("invalid_problem", "submit", {**ok, "set": ["nonsense=1"]}, k=key)
        refused("invalid_problem", "submit", {**ok, "set": ["gap=2"]}, k=key)
        refused("invalid_problem", "submit", {**ok, "set": "gap=1"}, k=key)
        refused("invalid_problem", "submit", {**ok, "time_limit": -1}, k=key)
        refused("bad_frame", "submit", {**ok, "time_limit": float("nan")}, k=key)
        refused("bad_frame", "submit", {**ok, "priority": 101}, k=key)
        refused("too_large", "submit", {"problem": b"{" + b" " * 65536}, k=key)
        assert c.submit(b'{"rounds": 1, "x": 1}', key=key)[0]["t"] == "accepted"
        c.send("ping", {})
        c.socket.send_multipart([msgpack.packb({"v": 2, "t": "ping", "id": 99}), msgpack.packb({})])
        answers = [c.hear(5) for _ in range(2)]
        assert any(h["id"] == 99 and b["code"] == "bad_version" for h, b in answers), answers
        assert d.process.poll() is None


def idempotency():
    """One key, one job: ten clients at once, across a restart, and never for another problem."""
    with Daemon() as d:
        key = uuid.uuid4().bytes
        clients = [d.client() for _ in range(10)]
        problem = json.dumps({"rounds": 2, "ms": 1}).encode()
        for c in clients:
            c.send("submit", {"problem": problem}, k=key)
        answers = [c.hear()[1] for c in clients]
        assert len({a["job"] for a in answers}) == 1 and sum(a["dup"] is False for a in answers) == 1, answers
        job = answers[0]["job"]
        head, body = clients[0].submit(problem + b" ", key=key)
        assert head["t"] == "error" and body["code"] == "conflict"
        head, body = clients[0].submit(problem, key=key, set=["gap=0.5"])
        assert head["t"] == "error" and body["code"] == "conflict"
        clients[0].wait(job)
        d.kill()
        d.start()
        c = d.client()
        head, body = c.submit(problem, key=key)
        assert body == {"job": job, "dup": True}, body
        assert c.rpc("list")[1]["total"] == 1


def watching():
    """Events in order, from any number on, at most about five a second, the end last; also for a late watcher."""
    with Daemon() as d:
        c = d.client()
        job = c.submit({"rounds": 60, "ms": 20})[1]["job"]
        c.send("watch", job=job)
        seen, begin = [], time.monotonic()
        while not seen or seen[-1][1].get("state") != "done":
            head, body = c.hear(10)
            assert head and head["t"] == "event" and head["job"] == job, (head, body)
            seen.append((head["seq"], body))
        seconds = time.monotonic() - begin
        numbers = [s for s, _ in seen]
        assert numbers == sorted(set(numbers)) and numbers[0] == 1
        states = [b["state"] for _, b in seen if b["kind"] == "state"]
        assert states[0] == "queued" and states[-1] == "done" and states.index("running") > 0, states
        progress = [b for _, b in seen if b["kind"] == "progress"]
        assert 2 <= len(progress) <= seconds * 5 + 2, (len(progress), seconds)
        assert all(b["phase"] == "fake" and 0 < b["value"] <= b["bound"] == 0.5 and "gap" not in b for b in progress)
        late = d.client()
        late.send("watch", job=job, seq=numbers[-2])
        assert [late.hear(5)[0]["seq"] for _ in range(2)] == numbers[-2:]
        late.send("watch", job=job, seq=10**6)
        assert late.hear(5)[1]["state"] == "done"
        long = c.submit({"rounds": 1000, "ms": 20})[1]["job"]
        c.send("watch", job=long)
        assert c.hear(5)[1]["kind"] == "state"
        number = c.send("unwatch", job=long)
        while c.hear(5)[0]["id"] != number:
            pass
        assert c.hear(0.5) == (None, None)
        assert c.rpc("stats")[1]["listeners"] == 0


def cancelling():
    """A waiting job at once; a running one with its best plan; a deaf one by force, and the next job runs."""
    with Daemon(cancel_grace=0.5, kill_grace=0.2) as d:
        c = d.client()
        job = c.submit({"rounds": 10**6, "ms": 5})[1]["job"]
        waiting = c.submit({"rounds": 1})[1]["job"]
        while c.rpc("status", job=job)[1]["state"] != "running":
            pass
        assert c.rpc("cancel", job=waiting)[1]["state"] == "cancelled"
        begin = time.monotonic()
        c.rpc("cancel", job=job)
        end = c.wait(job)
        assert end["state"] == "cancelled" and end["status"] == "cancelled" and end["plan_bytes"] > 0, end
        assert time.monotonic() - begin < 5
        starts = c.rpc("stats")[1]["worlds"][0]["starts"]
        for what in ("deaf", "hang"):
            job = c.submit({"rounds": 10**6, "ms": 5, "do": what, "at": 1})[1]["job"]
            while c.rpc("status", job=job)[1]["state"] != "running":
                pass
            begin = time.monotonic()
            c.rpc("cancel", job=job)
            end = c.wait(job)
            assert end["state"] == "cancelled" and end["plan_bytes"] == 0, end
            assert 0.4 < time.monotonic() - begin < 10
        assert c.wait(c.submit({"rounds": 1})[1]["job"])["state"] == "done"
        assert c.rpc("stats")[1]["worlds"][0]["starts"] == starts + 2
        assert c.rpc("cancel", job=job)[1]["state"] == "cancelled"


def limits():
    """Wall limit, queue limit, order by priority, worlds replaced after their share of jobs."""
    with Daemon(job_limit=2, max_waiting=6, jobs_per_world=3) as d:
        c = d.client()
        job = c.submit({"rounds": 10**6, "ms": 5})[1]["job"]
        while c.rpc("status", job=job)[1]["state"] != "running":
            pass
        low = [c.submit({"rounds": 1, "n": i})[1]["job"] for i in range(2)]
        high = [c.submit({"rounds": 1, "n": i}, priority=5)[1]["job"] for i in range(2)]
        last = c.submit({"rounds": 1, "n": 9}, priority=-5)[1]["job"]
        head, body = c.submit({"rounds": 1})
        assert body["code"] == "queue_full" and body["retry_after_ms"] > 0, body
        end = c.wait(job)
        assert end["state"] == "timeout" and end["status"] == "cancelled" and end["plan_bytes"] > 0, end
        started = {j: c.wait(j)["started"] for j in low + high + [last]}
        assert sorted(started, key=started.get) == high + low + [last], started
        assert c.rpc("stats")[1]["worlds"][0]["starts"] >= 2
        assert [c.rpc("status", job=j)[1]["attempt"] for j in started] == [1] * 5


def poison():
    """A job that kills its world fails after three of them; jobs beside it do not notice."""
    with Daemon(worlds=2, dead_after=2) as d:
        c = d.client()
        bad = c.submit({"rounds": 9, "ms": 1, "do": "abort", "at": 2})[1]["job"]
        good = [c.submit({"rounds": 3, "ms": 1, "n": i})[1]["job"] for i in range(20)]
        end = c.wait(bad)
        assert end["state"] == "failed" and end["code"] == "worker_lost" and end["attempt"] == 3, end
        assert all(c.wait(j)["state"] == "done" for j in good)
        hung = c.submit({"rounds": 9, "ms": 1, "do": "hang", "at": 2})[1]["job"]
        begin = time.monotonic()
        end = c.wait(hung)
        assert end["code"] == "worker_lost" and "heartbeat" in end["msg"], end
        assert 6 <= time.monotonic() - begin < 40
        assert d.process.poll() is None


def large():
    """A plan of many chunks, fetched in any order, and a problem of some megabytes."""
    with Daemon() as d:
        c = d.client()
        problem = json.dumps({"bytes": 5_000_000, "x": "y" * 9_000_000}).encode()
        job = c.submit(problem)[1]["job"]
        end = c.wait(job)
        total, at, data = end["plan_bytes"], 0, b""
        assert end["state"] == "done" and total > 5_000_000
        while at < total:
            body = c.rpc("result", {"offset": at}, job=job)[1]
            assert body["offset"] == at and 0 < len(body["data"]) <= 1 << 20
            data += body["data"]
            at += len(body["data"])
        assert hashlib.sha256(data).digest() == body["sha256"]
        assert c.rpc("result", {"offset": 7, "length": 9}, job=job)[1]["data"] == data[7:16]
        assert c.rpc("result", {"offset": total}, job=job)[1]["data"] == b""
        assert c.rpc("result", {"offset": total + 1}, job=job)[1]["code"] == "bad_frame"
        assert c.rpc("result", {"offset": -1}, job=job)[1]["code"] == "bad_frame"


def kill_world(jobs=4, ranks=1, launcher="", ms=20):
    """SIGKILL to a rank in mid-solve, at most once per job: every job ends once, with the value it would have had."""
    rng = random.Random(1)
    with Daemon(ranks=ranks, launcher=launcher) as d:
        c = d.client()
        d.ready()
        for i in range(jobs):
            job = c.submit({"value": 1 + i / 1024, "rounds": 15, "ms": ms, "n": i})[1]["job"]
            while c.rpc("status", job=job)[1]["state"] != "running":
                pass
            time.sleep(rng.random() * 0.1)
            alive = d.ranks_alive()
            assert len(alive) == ranks, alive
            os.kill(rng.choice(alive), signal.SIGKILL)
            end = c.wait(job)
            assert end["state"] == "done" and end["value"] == 1 + i / 1024 and end["attempt"] == 2, end
        assert d.stop() == 0
        assert d.rows("SELECT COUNT(*), SUM(attempt), SUM(lost) FROM job WHERE state='done'") == [(jobs, 2 * jobs, jobs)]
        ends = d.rows("SELECT job, COUNT(*) FROM event WHERE instr(body, CAST('done' AS BLOB)) GROUP BY job")
        assert len(ends) == jobs and all(n == 1 for _, n in ends), ends
        assert d.ranks_alive() == []


def kill_daemon(kills=4, ranks=1, launcher=""):
    """SIGKILL to heddled at random moments under clients that submit: nothing acknowledged is lost, doubled or changed."""
    rng = random.Random(2)
    accepted = {}
    with Daemon(ranks=ranks, launcher=launcher, worlds=2) as d:
        c = d.client(timeout=1)
        for k in range(kills):
            for i in range(4):
                key, n = uuid.uuid4().bytes, len(accepted)
                problem = {"value": 1 + n / 1024, "rounds": 8, "ms": 20, "n": n}
                if i == 3:  # killed while the answer is under way: the same key is asked again afterwards
                    c.send("submit", {"problem": json.dumps(problem).encode()}, k=key)
                    time.sleep(rng.random() * 0.004)
                    d.kill()
                    d.start()
                body = c.submit(problem, key=key)[1]
                assert body["job"] not in accepted.values(), body
                accepted[key] = body["job"]
            time.sleep(rng.random() * 0.2)
            d.kill()
            d.start()
        c = d.client()
        for n, (key, job) in enumerate(accepted.items()):
            end = c.wait(job)
            assert end["state"] == "done" and end["value"] == 1 + n / 1024, (n, end)
            plan = c.rpc("result", job=job)[1]
            assert msgpack.unpackb(plan["data"])["value"] == 1 + n / 1024
        total = c.rpc("list")[1]["total"]
        assert total == len(accepted), (total, len(accepted))
        assert d.stop() == 0
        ends = d.rows("SELECT job, COUNT(*) FROM event WHERE instr(body, CAST('done' AS BLOB)) GROUP BY job")
        assert len(ends) == len(accepted) and all(n == 1 for _, n in ends), ends
        plans = list(d.home.glob("state/spool/*.plan"))
        assert len(plans) == len(accepted) and not list(d.home.glob("state/spool/*.tmp"))
        assert d.ranks_alive() == []


def mpi():
    """Two ranks under mpirun with the default launcher: idle cost, a job, a killed rank, a stopped rank, a killed mpirun."""
    with Daemon(ranks=2, launcher=None, dead_after=4) as d:
        c = d.client()
        pid = d.ready()["worlds"][0]["pid"]
        job = c.submit({"rounds": 5, "ms": 2})[1]["job"]
        assert c.wait(job)["state"] == "done"

        def spent():
            pids = d.ranks_alive() + [pid, d.process.pid]
            return sum(sum(map(int, open(f"/proc/{p}/stat").read().rsplit(") ", 1)[1].split()[11:13])) for p in pids)

        before, begin = spent(), time.monotonic()
        time.sleep(10)
        cost = (spent() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - begin)
        assert cost < 0.01, f"an idle service takes {100 * cost:.1f} % of a core"
        for what in ("rank 0", "rank 1", "stop", "launcher"):
            job = c.submit({"rounds": 30, "ms": 10, "what": what})[1]["job"]
            while c.rpc("status", job=job)[1]["state"] != "running":
                pass
            ranks = sorted(d.ranks_alive())
            assert len(ranks) == 2, ranks
            if what == "launcher":
                os.kill(c.rpc("stats")[1]["worlds"][0]["pid"], signal.SIGKILL)
            else:
                os.kill(ranks[what == "rank 1"], signal.SIGSTOP if what == "stop" else signal.SIGKILL)
            end = c.wait(job)
            assert end["state"] == "done" and end["attempt"] == 2, (what, end)
            assert set(d.ranks_alive()).isdisjoint(ranks), what
        assert d.stop() == 0 and d.ranks_alive() == []


def raw(port, data, wait=0.2):
    """Bytes on the bare port; returns what came back before the peer closed or the time was over."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
        s.settimeout(wait)
        got = b""
        try:
            s.sendall(data)
            while chunk := s.recv(4096):
                got += chunk
        except OSError:
            pass
        return got


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + bytes(31)
READY = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER"
READY = b"\x04" + bytes([len(READY)]) + READY


def memory(pid, field):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(field):
            return int(line.split()[1]) << 10
    return 0


def bombs():
    """msgpack bombs in every place, giant frames and half-open connections: refused at once, memory as before."""
    deep = b"\x91" * 100000 + b"\x90"
    bomb = [b"\xdd\xff\xff\xff\xff", b"\xdd\x10\x00\x00\x00", b"\xdf\x0f\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
            b"\xdb\xff\xff\xff\xff", deep, b"\x81" * 5000, b"\xc7\x01\x01x", b"", b"\xc1", b"\x90\x90"]
    with Daemon() as d:
        c = d.client()
        d.ready()
        time.sleep(0.1)
        peak, files = memory(d.process.pid, "VmPeak"), len(os.listdir(f"/proc/{d.process.pid}/fd"))
        head = msgpack.packb({"v": 1, "t": "submit", "id": 5, "k": b"0123456789abcdef"})
        for b in bomb:
            for frames in ([b, msgpack.packb({})], [head, b], [head, msgpack.packb({"problem": b})],
                           [msgpack.packb({"v": 1, "t": "ping", "id": 1})[:-1] + b, msgpack.packb({})]):
                c.socket.send_multipart(frames)
                begin = time.monotonic()
                got, answer = c.hear(5)
                assert got and got["t"] == "error" and answer["code"] in ("bad_frame", "bad_version", "invalid_problem",
                                                                         "too_large"), (frames, got, answer)
                assert time.monotonic() - begin < 1
        c.socket.send_multipart([b"x"] * 30)
        c.socket.send_multipart([b"x"])
        huge = GREETING + READY + b"\x02" + struct.pack(">Q", 1 << 40) + b"x" * 1000
        eight = GREETING + READY + b"\x03" + struct.pack(">Q", 8 << 30)
        for data in (huge, eight):
            raw(d.port, data)
        assert c.rpc("ping", timeout=5)[0]["t"] == "pong"
        grown = memory(d.process.pid, "VmPeak") - peak
        assert grown < 64 << 20, f"{grown >> 20} MB"
        end = time.monotonic() + 5
        while len(os.listdir(f"/proc/{d.process.pid}/fd")) > files and time.monotonic() < end:
            time.sleep(0.05)
        now = os.listdir(f"/proc/{d.process.pid}/fd")
        assert len(now) <= files, [os.readlink(f"/proc/{d.process.pid}/fd/{n}") for n in now]


def garbage(rounds=3000, connections=100, seed=7):
    """Random frames, mutated good frames and random bytes on the bare port, while an honest client is served quickly."""
    rng = random.Random(seed)
    good = [msgpack.packb({"v": 1, "t": t, "id": 3, "job": "1", "seq": 1, "k": b"0123456789abcdef"})
            for t in ("submit", "status", "list", "wait", "watch", "cancel", "result", "stats", "hello")]
    bodies = [msgpack.packb(b) for b in ({}, {"problem": b'{"rounds":1}', "set": ["gap=0.1"]}, {"timeout_ms": 1},
                                         {"offset": 1 << 62, "length": -1}, {"limit": 5, "before": 3, "state": "done"})]

    def mutated(data):
        data = bytearray(data)
        for _ in range(rng.randrange(3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data[:rng.randrange(len(data) + 1)] if rng.random() < 0.2 else data)

    with Daemon() as d:
        honest, noisy = d.client(), d.client()
        rss = memory(d.process.pid, "VmRSS")
        slowest = 0
        for i in range(rounds):
            if rng.random() < 0.2:
                frames = [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(1, 20))]
            else:
                frames = [mutated(rng.choice(good)), mutated(rng.choice(bodies))]
            try:
                noisy.socket.send_multipart(frames, zmq.DONTWAIT)
            except zmq.Again:
                pass
            while noisy.socket.poll(0):
                noisy.socket.recv_multipart()
            if i % 50 == 0:
                begin = time.monotonic()
                assert honest.rpc("ping", timeout=5)[0], f"seed {seed}, round {i}: no answer"
                slowest = max(slowest, time.monotonic() - begin)
        for i in range(connections):
            raw(d.port, (GREETING + READY if i % 2 else b"") + rng.randbytes(rng.randrange(300)), wait=0.01)
        assert honest.rpc("ping", timeout=5)[0] and d.process.poll() is None
        print(f"slowest answer {slowest:.3f} s")
        assert slowest < 1, slowest
        assert memory(d.process.pid, "VmRSS") - rss < 64 << 20


def slow_readers(clients=20):
    """Clients that ask and never read cost the others nothing, and the daemon little memory."""
    with Daemon() as d:
        c = d.client()
        job = c.submit({"bytes": 3_000_000})[1]["job"]
        c.wait(job)
        rss = memory(d.process.pid, "VmRSS")
        slow = [d.client() for _ in range(clients)]
        for s in slow:
            s.socket.rcvhwm = 1
            for _ in range(2):
                s.send("result", job=job)
            for _ in range(100):
                s.send("list")
            s.send("watch", job=job)
        slowest = 0
        for _ in range(50):
            begin = time.monotonic()
            assert c.rpc("ping", timeout=20)[0]
            slowest = max(slowest, time.monotonic() - begin)
        print(f"slowest answer {slowest:.3f} s")
        assert slowest < 10, slowest  # seconds, with sanitizers on a busy machine; a daemon that blocks never answers
        assert c.wait(c.submit({"rounds": 2, "ms": 1})[1]["job"])["state"] == "done"
        assert memory(d.process.pid, "VmRSS") - rss < 200 << 20


def second_daemon():
    """Another daemon on the same state is refused and disturbs nothing; so are a wrong option, address and solver."""
    with Daemon() as d:
        c = d.client()
        job = c.submit({"rounds": 50, "ms": 10})[1]["job"]

        def start(**other):
            words = [str(HEDDLED)]
            for name, value in {**d.options, "listen": "tcp://127.0.0.1:*", **other}.items():
                words += ["--" + name, str(value)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=20)
            return done.returncode, done.stderr.strip().splitlines()[-1]

        status, text = start()
        assert status == 1 and "in use by another heddled" in text, text
        status, text = start(listen="tcp://0.0.0.0:5570")
        assert status == 2 and "not on loopback" in text, text
        status, text = start(listen="tcp://127.0.0.1.example.org:5570")
        assert status == 2 and "not on loopback" in text, text
        status, text = start(solver="/nonexistent")
        assert status == 2 and "/nonexistent" in text, text
        status, text = start(ranks="many")
        assert status == 2 and "ranks" in text and "many" in text, text
        status, text = start(state=d.home / "other", scratch=d.home / "log")
        assert status == 2 and "closed to others" in text, text
        end = c.wait(job)
        assert end["state"] == "done" and end["attempt"] == 1, end


def stop_and_go():
    """SIGTERM in mid-solve: the job is not lost, not blamed, and runs again after the next start."""
    with Daemon() as d:
        c = d.client()
        job = c.submit({"rounds": 100, "ms": 10})[1]["job"]
        while c.rpc("status", job=job)[1]["state"] != "running":
            pass
        begin = time.monotonic()
        assert d.stop() == 0 and time.monotonic() - begin < 15
        assert d.rows("SELECT state, lost FROM job") == [("queued", 0)] and d.ranks_alive() == []
        d.start()
        end = d.client().wait(job)
        assert end["state"] == "done" and end["attempt"] == 2, end
        assert any(e["clean"] == 1 for e in d.events("store_open")[1:])


def heddle(*words, status=0, server=None, data=None, timeout=60):
    """The heddle program; standard output when it ends as expected."""
    words = [str(HEDDLE), *map(str, words)] + (["--server", server] if server else [])
    done = subprocess.run(words, input=data, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stdout + done.stderr


def cli():
    """submit, wait, watch, status, list, result and cancel as a user types them, with their exit statuses."""
    with Daemon(cancel_grace=0.5) as d:
        s, home = d.address, d.home
        small = {"heddle": 1, "fabric": "fabric.json", "jobs": []}
        (home / "fabric.json").write_text(json.dumps({"nodes": [], "links": []}))
        (home / "problem.json").write_text(json.dumps({**small, "rounds": 12, "ms": 20, "value": 0.75}))
        job = heddle("submit", home / "problem.json", "--key", "0123456789abcdef", server=s).strip()
        assert heddle("submit", home / "problem.json", "--key", "0123456789abcdef", server=s).strip() == job
        assert "conflict" in heddle("submit", home / "problem.json", "--key", "0123456789abcdef", "--set", "gap=0.5",
                                    server=s, status=2)
        lines = heddle("watch", job, server=s).splitlines()
        assert "queued" in lines[0] and "done" in lines[-1] and any("fake round" in one for one in lines), lines
        assert "optimal" in heddle("wait", job, server=s)
        assert json.loads(heddle("status", job, "--json", server=s))["value"] == 0.75
        assert job in heddle("list", server=s) and len(json.loads(heddle("list", "--json", server=s))["jobs"]) == 1
        assert json.loads(heddle("result", job, server=s))["value"] == 0.75
        heddle("result", job, "-o", home / "plan.mp", server=s)
        assert msgpack.unpackb((home / "plan.mp").read_bytes())["value"] == 0.75
        heddle("result", job, "-o", home / "plan.json", server=s)
        assert json.loads((home / "plan.json").read_text())["value"] == 0.75
        assert "done" in heddle("submit", "-", "--wait", server=s, data='{"rounds": 1}')
        bad = heddle("submit", "-", "--wait", server=s, data='{"do": "refuse"}', status=1)
        assert "invalid_problem" in bad and "flows[17]" in bad, bad
        slow = heddle("submit", "-", server=s, data='{"rounds": 100000, "ms": 5}').strip()
        assert "job " + slow in heddle("cancel", slow, server=s)
        assert "cancelled" in heddle("wait", slow, server=s, status=1)
        assert "cancelled" in heddle("watch", slow, server=s, status=1)
        assert "not_found" in heddle("status", "99", server=s, status=2)
        assert "not known" in heddle("watch", "99", server=s, status=2)
        assert '"nonsense" is not known' in heddle("submit", "-", "--set", "nonsense=1", server=s, data="{}", status=2)
        for words in (["submit"], ["status"], ["wait", "1", "2"], ["list", "1"], ["submit", "x", "--key", "short"],
                      ["result", "1", "--wait"], ["watch", "--server"]):
            assert "usage: heddle" in heddle(*words, status=2), words
        assert "No such file" in heddle("submit", home / "absent.json", server=s, status=2)
        d.stop()
        begin = time.monotonic()
        assert "does not answer" in heddle("list", server=s, status=4) and time.monotonic() - begin < 20


def ten_lines():
    """The README's Python client, as printed there but for the port, on the real solver."""
    if not HEDDLE.exists():
        print("skipped: there is no", HEDDLE)
        sys.exit(77)
    readme = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0]
    assert program.count("\n") == 10, program
    with Daemon(solver=HEDDLE, ranks=2, launcher=None) as d:
        heddle("generate", "clos", "--leaves", 8, "-o", d.home / "fabric.json")
        heddle("generate", "jobs", d.home / "fabric.json", "--job", "all_to_all:120", "-o", d.home / "problem.json")
        program = program.replace("5570", str(d.port)) + "print(plan['status'], len(plan['flows']), len(data))"
        done = subprocess.run([sys.executable, "-c", program], cwd=d.home, capture_output=True, text=True, timeout=120)
        assert "'state': 'done'" in done.stdout, done
        status, flows, size = done.stdout.split("\n")[1].split()
        assert status == "optimal" and int(flows) == 120 * 119 and int(size) > 1 << 20, done.stdout


def real_problem(home):
    """A fabric and jobs on which the solver has something to do for a second or two, and what it says undisturbed."""
    fabric, problem, plan = home / "fabric.json", home / "real.json", home / "real-plan.json"
    heddle("generate", "multi-dc", "--leaves", 4, "--spines", 3, "--nics", 6, "-o", fabric)
    heddle("generate", "jobs", fabric, "--place", "fragmented", "--job", "ring:20:1:1e9:across", "--job",
           "all_to_all:8:1:1e9:across", "--job", "ring:20:1:1e9:across", "-o", problem)
    settings = ["gap=0", "time_limit=100000"]
    heddle("solve", problem, "-o", plan, *[w for one in settings for w in ("--set", one)], timeout=300)
    document = json.loads(problem.read_text())
    if isinstance(document["fabric"], str):
        document["fabric"] = json.loads(fabric.read_text())
    return json.dumps(document).encode(), settings, json.loads(plan.read_text())


def same(plan, undisturbed):
    """All that the plan says, but what tells of the run itself."""
    return {k: v for k, v in plan.items() if k != "solver"} == {k: v for k, v in undisturbed.items() if k != "solver"}


def real_kills(kills, victim):
    """The real solver on two ranks: SIGKILL to a rank, or to heddled, in mid-solve; every plan is the undisturbed one."""
    rng = random.Random(5)
    if not HEDDLE.exists():
        print("skipped: there is no", HEDDLE)
        sys.exit(77)
    with Daemon(solver=HEDDLE, ranks=2, launcher=None) as d:
        problem, settings, undisturbed = real_problem(d.home)
        jobs, again = [], 0
        c = d.client(timeout=2)
        d.ready()
        for k in range(kills):
            job = c.submit(problem, set=settings)[1]["job"]
            jobs.append(job)
            while c.patient("status", job=job)[1]["state"] not in ("running", "done"):
                pass
            time.sleep(rng.random() * 0.2)
            if victim == "rank":
                os.kill(rng.choice(d.ranks_alive()), signal.SIGKILL)
            else:
                d.kill()
                d.start()
            end = c.wait(job, limit=300)
            assert end["state"] == "done", end
            again += end["attempt"] == 2
        for job in jobs:
            data, body = b"", {"total": 1}
            while len(data) < body["total"]:
                body = c.patient("result", {"offset": len(data)}, job=job)[1]
                data += body["data"]
            assert hashlib.sha256(data).digest() == body["sha256"]
            assert same(msgpack.unpackb(data), undisturbed), job
        assert again >= kills * 3 // 4, f"only {again} of {kills} were in mid-solve"
        assert d.stop() == 0
        ends = d.rows("SELECT job, COUNT(*) FROM event WHERE instr(body, CAST('plan_bytes' AS BLOB)) GROUP BY job")
        assert len(ends) == kills and all(n == 1 for _, n in ends), ends
        print(f"{kills} kills, {again} jobs run twice, all plans as undisturbed (value {undisturbed['value']})")


def long(test):
    if test == "kill_world":
        kill_world(jobs=20, ranks=2, launcher=None)
    elif test == "kill_daemon":
        kill_daemon(kills=20, ranks=2, launcher=None)
    else:
        real_kills(20, test.removeprefix("real_"))


def real_rank():
    real_kills(2, "rank")


def real_daemon():
    real_kills(2, "daemon")


if __name__ == "__main__":
    name = sys.argv[1]
    if name.startswith("long_"):
        long(name[5:])
    else:
        globals()[name]()
    print(name, "ok")
