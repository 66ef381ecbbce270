"""A simulated InfiniBand subnet on this machine: ibsim under a socket name of its own, OpenSM sweeping it once, the
diagnostic tools reading back what was programmed. Everything stands in the given folder, every program has a time
limit, and the simulator ends by itself when nobody ends it."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

PRELOAD = next((p for d in ("x86_64-linux-gnu", "aarch64-linux-gnu", "") for p in
                [pathlib.Path("/usr/lib", d, "umad2sim/libumad2sim.so")] if p.exists()), None)
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
LIFE = 900  # seconds that a simulator may live


def missing():
    """What is not installed, or None."""
    for tool in ("ibsim", "opensm", "ibnetdiscover", "ibtracert"):
        if not shutil.which(tool, path=PATH):
            return f"{tool} is not installed (Debian: opensm, ibsim-utils, infiniband-diags)"
    return None if PRELOAD else "libumad2sim.so is not installed (Debian: ibsim-utils)"


class Subnet:
    def __init__(self, folder, net):
        self.folder = pathlib.Path(folder)
        self.net = net
        self.sim = None

    def __enter__(self):
        name = f"heddle-{os.getpid()}-{self.folder.name}"
        self.env = dict(os.environ, PATH=PATH, IBSIM_SOCKNAME=name, OSM_TMP_DIR=str(self.folder),
                        OSM_CACHE_DIR=str(self.folder))
        self.env.pop("LD_PRELOAD", None)
        command = ["timeout", "-k", "1", str(LIFE), "ibsim", "-S", "2000", "-P", "80000", "-N", "8000", "-s",
                   str(self.net)]
        self.log = open(self.folder / "ibsim.log", "w")
        # its standard input is a pipe that stays open: at the end of file it would spin
        self.sim = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.log, stderr=subprocess.STDOUT,
                                    env=self.env, start_new_session=True)
        end = time.monotonic() + 20
        while "simulator ready" not in (self.folder / "ibsim.log").read_text(errors="replace"):
            if self.sim.poll() is not None or time.monotonic() > end:
                text = (self.folder / "ibsim.log").read_text(errors="replace")
                self.__exit__()
                raise RuntimeError("ibsim did not start: " + text[-400:])
            time.sleep(0.05)
        return self

    def __exit__(self, *why):
        if self.sim.poll() is None:
            os.killpg(self.sim.pid, signal.SIGKILL)
        self.sim.wait()
        self.sim.stdin.close()
        self.log.close()

    def run(self, command, limit=60):
        """Standard output of a tool that talks to the subnet."""
        done = subprocess.run(["timeout", "-k", "1", str(limit), "env", f"LD_PRELOAD={PRELOAD}"] + command,
                              env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", cwd=self.folder)
        return done

    def sweep(self, engine, *more, limit=120):
        """One sweep of OpenSM. Returns (the engine that configured the tables, seconds): a fallback is told by the
        log alone, the exit status is 0 all the same."""
        for old in ("osm.log", "opensm-lfts.dump"):
            (self.folder / old).unlink(missing_ok=True)
        begin = time.monotonic()
        done = self.run(["opensm", "-o", "-D", "0x43", "-f", str(self.folder / "osm.log"), "-R", engine] + list(more),
                        limit)
        seconds = time.monotonic() - begin
        log = self.log_text()
        used = re.findall(r"osm_ucast_mgr_process: (\S+) tables configured", log)
        if not used or not (self.folder / "opensm-lfts.dump").exists():
            raise RuntimeError(f"opensm -R {engine}: no tables (exit {done.returncode}): {log[-400:]}")
        return used[-1], seconds

    def log_text(self):
        path = self.folder / "osm.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def dump(self):
        return self.folder / "opensm-lfts.dump"

    def discover(self):
        path = self.folder / "discovered"
        path.write_text(self.run(["ibnetdiscover"]).stdout)
        return path

    def trace(self, source, target):
        """The switches between two addresses as (guid, port out), from ibtracert; None when it does not arrive."""
        done = self.run(["ibtracert", str(source), str(target)], 20)
        hops, at = [], None
        for line in done.stdout.splitlines():
            begin = re.match(r"From (\S+) \{0x([0-9a-f]+)\}", line)
            hop = re.match(r"\[(\d+)\] -> (\S+).*\{0x([0-9a-f]+)\}", line)
            if begin:
                at = ("switch" if begin[1] == "switch" else "ca", int(begin[2], 16))
            elif hop and at:
                if at[0] == "switch":
                    hops.append((at[1], int(hop[1])))
                at = (hop[2], int(hop[3], 16))
        return hops if done.returncode == 0 and re.search(r"^To ", done.stdout, re.M) else None


def read_tables(path):
    """{switch guid: {port guid of the destination: port}} of a dump or a file for the engine "file"; lid lines too."""
    tables, lids, now = {}, {}, None
    for line in open(path, errors="replace"):
        head = re.match(r"Unicast lids .* guid 0x([0-9a-f]+)", line)
        entry = re.match(r"0x([0-9a-f]+) (\d+) .*?portguid 0x([0-9a-f]+)", line)
        if head:
            now = tables.setdefault(int(head[1], 16), {})
        elif entry and now is not None:
            now[int(entry[3], 16)] = int(entry[2])
            lids[int(entry[3], 16)] = int(entry[1], 16)
    return tables, lids


if __name__ == "__main__":
    print(missing() or "all there")
    sys.exit(77 if missing() else 0)
