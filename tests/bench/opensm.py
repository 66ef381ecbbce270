"""Our forwarding tables beside those of OpenSM's own engines: ten fabrics, four job mixes (opensm_cells.py).

Each fabric runs under ibsim; each engine sweeps it once; its tables are read back and evaluated on the same jobs by
`heddle evaluate --routes lfts:`. An engine that gave up and fell back to another is named with what it fell back to,
and does not count as itself. updn is given the top switches as roots, which it does not find by itself everywhere.
usage: opensm.py [--seed N] [--only FABRIC,...]; needs OpenSM, ibsim, infiniband-diags; HEDDLE_BIN as for the tests."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import opensm_cells as cells  # noqa: E402
import subnet_lib as lib  # noqa: E402

HEDDLE = str(pathlib.Path(os.environ.get("HEDDLE_BIN", "build/release")).resolve() / "service/cli/heddle")
SHARED = pathlib.Path(os.environ.get("HEDDLE_SHARED", "../shared"))
DGX = SHARED / "data/fabrics/ib/dgx-ndr-ibnetdiscover.out"
ENGINES = ["minhop", "updn", "ftree", "dfsssp"]


def heddle(*arguments):
    done = subprocess.run([HEDDLE] + [str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"heddle {arguments}: {done.stderr}")
    return done.stdout


def figures(doc):
    e = [j["efficiency"] for j in doc["jobs"]]
    return min(e), sum(e) / len(e)


def write_roots(doc, path):
    top = max(n.get("tier", 0) for n in doc["nodes"] if n["kind"] == "switch")
    path.write_text("".join(f"{n['guid']}\n" for n in doc["nodes"] if n["kind"] == "switch" and n.get("tier") == top))


def tables_of_engines(folder, net):
    """{engine: (engine that made them, seconds, file)} and the fabric as discovered."""
    found = {}
    with lib.Subnet(folder, net) as subnet:
        subnet.sweep("minhop")
        heddle("import", "ibnetdiscover", subnet.discover(), "-o", folder / "found.json")
        doc = json.loads((folder / "found.json").read_text())
        write_roots(doc, folder / "roots")
        for engine in ENGINES:
            more = ["-a", str(folder / "roots")] if engine == "updn" else []
            try:
                used, seconds = subnet.sweep(engine, *more)
            except RuntimeError as why:
                print(f"  {engine}: {why}", file=sys.stderr)
                continue
            path = folder / f"{engine}.lfts"
            path.write_text(subnet.dump.read_text(errors="replace"))
            found[engine] = (used, seconds, path)
    return doc, found


def cell(folder, doc, mix, seed, engines):
    """Ours (smallest, mean, bound, seconds) and theirs by engine; minhop's again where an engine fell back to it."""
    problem, plan = folder / "problem.json", folder / "plan.json"
    problem.write_text(json.dumps(cells.problem(doc, mix, seed)))
    begin = time.monotonic()
    heddle("solve", problem, "-o", plan)
    whole = time.monotonic() - begin
    heddle("check", problem, plan)
    stated = json.loads(plan.read_text())
    theirs = {}
    for engine, (used, _, path) in engines.items():
        if used == engine:
            theirs[engine] = figures(json.loads(heddle("evaluate", problem, "--routes", f"lfts:{path}", "--json")))
    return figures(stated) + (stated["bound"], stated["solver"]["seconds"]["solve"], whole), theirs


def fabric_net(name, seed, folder):
    path = folder / "fabric.json"
    if name == "dgx":
        heddle("import", "ibnetdiscover", DGX, "-o", path)
    else:
        path.write_text(json.dumps(cells.fabric(HEDDLE, name, seed)))
    heddle("export", "ibsim", path, "-o", folder / "net")
    return folder / "net"


def mean(x):
    return math.exp(sum(math.log(v) for v in x) / len(x)) if x else math.nan


def show(x):
    return f"{x[0]:.3f}/{x[1]:.3f}" if x else "-"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if lib.missing():
        sys.exit("skipped: " + lib.missing())
    names = [n for n in list(cells.FABRICS) + ["dgx"] if not arguments.only or n in arguments.only.split(",")]
    if "dgx" in names and not DGX.exists():
        print(f"dgx left out: {DGX} is not there")
        names.remove("dgx")
    least, middle, below, bound_met = [], [], 0, []
    print("smallest / mean efficiency; ours: bound, seconds of the solve, of the whole run; ratio to the best engine")
    print("| fabric | jobs | " + " | ".join(ENGINES) + " | ours | bound | s | whole s | ratio |")
    print("|---" * (len(ENGINES) + 7) + "|")
    for name in names:
        with tempfile.TemporaryDirectory(prefix="heddle-bench-") as folder:
            folder = pathlib.Path(folder)
            doc, engines = tables_of_engines(folder, fabric_net(name, arguments.seed, folder))
            times = ", ".join(f"{e} {s:.1f} s" + (f" (fell back to {u})" if u != e else "")
                              for e, (u, s, _) in engines.items())
            for mix in cells.MIXES:
                ours, theirs = cell(folder, doc, mix, arguments.seed, engines)
                best = [max(t[i] for t in theirs.values()) for i in (0, 1)]
                ratio = [ours[i] / best[i] for i in (0, 1)]
                least.append(ratio[0])
                middle.append(ratio[1])
                below += ratio[0] < 1 - 1e-9 or ratio[1] < 1 - 1e-9
                bound_met.append((mix, ours[0] >= ours[2] * (1 - 1e-6)))
                print(f"| {name} | {mix} | " + " | ".join(show(theirs.get(e)) for e in ENGINES) +
                      f" | {show(ours)} | {ours[2]:.3f} | {ours[3]:.3f} | {ours[4]:.2f} | {ratio[0]:.2f}/{ratio[1]:.2f} |",
                      flush=True)
            print(f"<!-- {name}: {times} -->", flush=True)
    plain = [met for mix, met in bound_met if mix != "mix"]
    print(f"\n{len(least)} cells: geometric mean of ours / best engine {mean(least):.2f} (smallest), {mean(middle):.2f} "
          f"(mean); below an engine in {below}; smallest efficiency at the bound in {sum(plain)} of {len(plain)} ring, "
          f"rail and all-to-all cells, {sum(m for _, m in bound_met)} of {len(bound_met)} in all")
    return 0 if below == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
