"""The main job's cases, a row each: value, proven bound, known optimum, seconds of the solve and of the whole run (median of
RUNS), a peer's seconds in the same run, peak memory. The peer is HiGHS (Debian: python3-scipy) on the linear program of
the same path lists. Every plan is judged from outside. usage: main_job.py [RUNS]; HEDDLE_BIN, HEDDLE_SHARED as in the tests."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ.get("HEDDLE_BIN", "build/release"))
SHARED = pathlib.Path(os.environ.get("HEDDLE_SHARED", "../shared"))
HEDDLE = BIN / "service/cli/heddle"
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5


def make(path, *words):
    done = subprocess.run([sys.executable, SHARED / "tools/te_problem.py", *map(str, words)], capture_output=True, check=True)
    path.write_bytes(done.stdout)
    return path


def highs(problem):
    """Seconds and optimum of min z over the listed paths."""
    try:
        import numpy
        import scipy.optimize
        import scipy.sparse
    except ImportError:
        return None, None
    doc = json.loads(problem.read_text())
    links, flows = doc["fabric"]["links"], doc["jobs"][0]["flows"]
    row, col, value, path = [], [], [], 0
    equal_row, equal_col = [], []
    for f, lists in enumerate(flows["paths"]):
        for arcs in lists:
            equal_row.append(f)
            equal_col.append(path)
            for a in arcs:
                row.append(a // 2)
                col.append(path)
                value.append(flows["gbps"][f] / links["gbps"][a // 2])
            path += 1
    n, m = len(links["gbps"]), len(flows["paths"])
    row += range(n)
    col += [path] * n
    value += [-1.0] * n
    start = time.monotonic()
    out = scipy.optimize.linprog([0.0] * path + [1.0],
                                 A_ub=scipy.sparse.csr_matrix((value, (row, col)), (n, path + 1)), b_ub=numpy.zeros(n),
                                 A_eq=scipy.sparse.csr_matrix((numpy.ones(path), (equal_row, equal_col)), (m, path + 1)),
                                 b_eq=numpy.ones(m), method="highs")
    return time.monotonic() - start, out.fun


def case(name, problem, known=None, peer=None):
    solve, total, plan = [], [], problem.with_suffix(".plan.json")
    for _ in range(RUNS):
        subprocess.run([HEDDLE, "solve", problem, "-o", plan], check=True, capture_output=True)
        doc = json.loads(plan.read_text())
        solve.append(doc["solver"]["seconds"]["solve"])
        total.append(doc["solver"]["seconds"]["total"])
    judge = subprocess.run([sys.executable, SHARED / "tools/check_plan.py", problem, plan], capture_output=True, text=True)
    seconds, _ = peer(problem) if peer else (None, None)
    ecmp = min((j.get("ecmp_efficiency", float("nan")) for j in doc["jobs"]), default=float("nan"))
    print(f"| {name} | {doc['value']:.7g} | {doc['bound']:.7g} | {'' if known is None else f'{known:.7g}'} | "
          f"{'' if doc['objective'] != 'job_fair' else f'{ecmp:.4f}'} | {statistics.median(solve):.4f} | "
          f"{statistics.median(total):.4f} | {'' if seconds is None else f'{seconds:.3f}'} | "
          f"{doc['solver']['peak_bytes_per_rank'] / 1e6:.0f} | {'none' if judge.returncode == 0 else judge.stdout} |", flush=True)


def main():
    print("| case | value | bound | known optimum | ECMP | solve s | run s | HiGHS s | MB | faults |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    best = {r.split(",")[0]: float(r.split(",")[1]) for r in (SHARED / "data/mmcf/mlu_optimal.csv").read_text().split("\n")[1:] if r}
    with tempfile.TemporaryDirectory(prefix="heddle-bench-") as home:
        home = pathlib.Path(home)
        for name, value in (("cell-3-8-0", 1), ("cell-5-4-0", 1), ("cell-1-4-1", 0.5)):
            problem = home / f"{name}.json"
            problem.write_bytes((SHARED / f"data/paper_cells/{name}.json").read_bytes())
            case(name, problem, value)
        for name in ("planar30", "planar50", "planar100", "grid1", "grid2", "grid3", "grid4", "grid5"):
            source = next((SHARED / "data/mmcf").glob(f"*/{name}"))
            case(f"{name}, all paths", make(home / f"{name}.json", "commalab", source), best[name])
        te = SHARED / "data/te/ncflow_instances"
        for name, value in (("Deltacom", 0.6601022127121694), ("Colt", 0.7221125408126995)):
            problem = make(home / f"{name}.json", "te", te / f"{name}.edges", te / f"{name}_gravity_8_mlu.tm", te / f"{name}.paths4")
            case(f"{name} gravity x8, 4 paths", problem, value, highs)
        fabric, problem = home / "dgx-fabric.json", home / "dgx.json"
        subprocess.run([HEDDLE, "import", "ibnetdiscover", SHARED / "data/fabrics/ib/dgx-ndr-ibnetdiscover.out", "-o", fabric],
                       check=True, capture_output=True)
        for place in ("packed", "fragmented"):
            subprocess.run([HEDDLE, "generate", "jobs", fabric, "--job", "hierarchical:all", "--place", place, "-o", problem], check=True)
            case(f"DGX NDR dump, rail rings over all complete hosts, {place}", problem)
        subprocess.run([HEDDLE, "generate", "jobs", fabric, "--job", "hierarchical:20:5", "--place", "fragmented", "-o", problem], check=True)
        case("DGX NDR dump, rail rings of 5 jobs of 20 hosts, fragmented", problem)


if __name__ == "__main__":
    main()
