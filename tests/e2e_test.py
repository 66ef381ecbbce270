"""The program heddle from end to end: the same plan for any number of ranks; problems at the edges; refusals that leave
nothing behind; known optima; the quickstart. Standard library only. usage: e2e_test.py NAME, with HEDDLE_BIN = the build folder."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ.get("HEDDLE_BIN", "build/release"))
HEDDLE = BIN / "service/cli/heddle"
SHARED = pathlib.Path(os.environ.get("HEDDLE_SHARED", "../shared"))
JUDGE = SHARED / "tools/check_plan.py"
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "ASAN_OPTIONS": "detect_leaks=0"}
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "self,vader", "--mca",
          "mpi_yield_when_idle", "1", "--mca", "btl_vader_single_copy_mechanism", "none"]


def run(*words, status=0, ranks=0, data=None):
    command = [str(w) for w in ([*MPIRUN, "-n", ranks] if ranks else []) + [HEDDLE, *words]]
    done = subprocess.run(command, input=data, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
    assert done.returncode == status, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def judged(problem, plan):
    """heddle check always; the outside judge where it lies beside the checkout."""
    run("check", problem, plan)
    if JUDGE.exists():
        done = subprocess.run([sys.executable, str(JUDGE), str(problem), str(plan)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def without_times(plan):
    doc = json.loads(pathlib.Path(plan).read_text())
    for key in ("ranks", "seconds", "peak_bytes_per_rank"):
        del doc["solver"][key]
    return json.dumps(doc)


def fabrics(home):
    run("generate", "multi-dc", "--leaves", 4, "--spines", 3, "--nics", 6, "--wan-links", 3, "-o", home / "dc.json")
    run("generate", "clos", "--leaves", 12, "--spines", 5, "--nics", 6, "--dead-cables", 0.04, "-o", home / "clos.json")
    run("generate", "fat-tree", "--k", 6, "-o", home / "tree.json")
    run("generate", "jobs", home / "dc.json", "--place", "fragmented", "--job", "ring:12/4:2", "--job",
        "ring:16/4:1:1e9:across", "-o", home / "dc-jobs.json")
    run("generate", "jobs", home / "clos.json", "--place", "fragmented", "--job", "ring:20/4:2", "--job", "all_to_all:8",
        "-o", home / "clos-jobs.json")
    run("generate", "jobs", home / "tree.json", "--place", "fragmented", "--job", "all_to_all:18/6", "--job", "pipeline:12",
        "-o", home / "tree-jobs.json")


def ranks(home):
    """1 to 4 ranks, every objective, routing and policy: the same bytes but for what tells of the run itself."""
    fabrics(home)
    fair, most = ["--set", "objective=job_fair"], ["--set", "objective=max_utilization"]
    pinned, split = ["--set", "routing=pinned"], ["--set", "routing=split"]
    cases = [("dc", fair + pinned), ("dc", fair + split), ("dc", most + split), ("dc", most + pinned),
             ("clos", fair + pinned + ["--set", "pods=4"]), ("clos", fair + split + ["--set", "pods=4"]),
             ("clos", fair + pinned + ["--set", "paths_per_flow=2"]), ("clos", fair + pinned + ["--set", "paths_per_flow=4"]),
             ("clos", most + split + ["--set", "paths=shortest", "--set", "pods=3"]),
             ("clos", most + split + ["--set", "paths=disjoint:3"]), ("clos", most + pinned + ["--set", "paths=disjoint:2"]),
             ("tree", fair + pinned), ("tree", most + split), ("tree", fair + split)]
    for name, settings in cases:
        problem, plan = home / f"{name}-jobs.json", home / "plan.json"
        run("solve", problem, "-o", plan, *settings)
        alone = without_times(plan)
        assert json.loads(alone)["status"] in ("optimal", "feasible"), (name, settings, alone[:300])
        run("check", problem, plan, *settings)
        for n in (1, 2, 3, 4):
            run("solve", problem, "-o", plan, *settings, ranks=n)
            assert without_times(plan) == alone, (name, settings, n)
    print(len(cases), "cases, 1 to 4 ranks, all the same")


def problem(nodes, links, jobs, **options):
    return {"heddle": 1, "fabric": {"nodes": [{"name": n, "kind": k} for n, k in nodes], "links": links}, "jobs": jobs,
            "options": options}


NODES = [("a", "nic"), ("b", "nic"), ("c", "nic"), ("s", "switch"), ("t", "switch")]
LINKS = [{"from": "a", "to": "s", "gbps": 100}, {"from": "b", "to": "s", "gbps": 100}, {"from": "s", "to": "t", "gbps": 50},
         {"from": "c", "to": "t", "gbps": 100}]


def solve(home, doc, status=0):
    (home / "p.json").write_text(json.dumps(doc))
    plan = home / "plan.json"
    plan.unlink(missing_ok=True)
    done = run("solve", home / "p.json", "-o", plan, status=status)
    assert sorted(x.name for x in home.iterdir()) == (["p.json", "plan.json"] if status < 2 else ["p.json"]), list(home.iterdir())
    return (json.loads(plan.read_text()) if status < 2 else None), done


def flow(src, dst, amount=1e9):
    return {"src": src, "dst": dst, "bytes": amount}


def edges(home):
    """Right answers where there is little or nothing to do."""
    plan, _ = solve(home, problem(NODES, LINKS, [{"name": "j", "flows": [flow("a", "c"), flow("b", "c")]}]))
    assert abs(plan["value"] - 0.5) < 1e-9 and plan["status"] == "optimal", plan  # 50 Gb/s between the switches
    judged(home / "p.json", home / "plan.json")
    for jobs in ([], [{"name": "j"}], [{"name": "j", "flows": []}], [{"name": "j", "flows": [flow("a", "a")]}],
                 [{"name": "j", "flows": [flow("a", "b", 0)]}]):
        for objective in ("job_fair", "max_utilization"):
            for routing in ("pinned", "split"):
                plan, _ = solve(home, problem(NODES, LINKS, jobs, objective=objective, routing=routing))
                assert plan["status"] == "optimal" and plan["value"] == (1 if objective == "job_fair" else 0), plan
                run("check", home / "p.json", home / "plan.json")
    plan, _ = solve(home, problem(NODES, LINKS, [{"name": "j", "flows": [flow("a", "a"), flow("a", "b"), flow("a", "b", 0)]}]))
    # a flow to itself needs no route, but the ideal time counts its bytes among what an endpoint has to send
    assert plan["value"] == 2 and [len(f["paths"]) for f in plan["flows"]] == [0, 1, 0], plan
    judged(home / "p.json", home / "plan.json")
    # b has two cables but never forwards: the only way from a to c is dead
    through = LINKS[:2] + [{"from": "b", "to": "t", "gbps": 100}, LINKS[3]]
    plan, done = solve(home, problem(NODES, through, [{"name": "j", "flows": [flow("a", "c")]}]), status=1)
    assert plan["status"] == "infeasible" and plan["certificate"]["kind"] == "cut", plan
    run("check", home / "p.json", home / "plan.json")
    down = [dict(l, up=False) if l["gbps"] == 50 else l for l in LINKS]
    plan, _ = solve(home, problem(NODES, down, [{"name": "j", "flows": [flow("a", "b"), flow("a", "c")]}]), status=1)
    assert plan["status"] == "infeasible" and plan["certificate"]["flow"] == 1, plan
    wide = [dict(l, gbps=l["gbps"] * (1e-6 if i % 2 else 1e6)) for i, l in enumerate(LINKS)]
    plan, _ = solve(home, problem(NODES, wide, [{"name": "j", "flows": [flow("a", "c"), flow("a", "b")]}]))
    judged(home / "p.json", home / "plan.json")
    listed = [{"name": "j", "flows": [dict(flow("a", "c"), paths=[[0, 4, 7]]), flow("b", "c")]}]
    plan, _ = solve(home, problem(NODES, LINKS, listed))
    assert plan["flows"][0]["paths"][0]["arcs"] == [0, 4, 7]
    judged(home / "p.json", home / "plan.json")


def refusals(home):
    """One sentence, exit status 2, no file."""
    good = problem(NODES, LINKS, [{"name": "j", "flows": [flow("a", "c")]}])

    def change(where, value):
        doc = json.loads(json.dumps(good))
        at = doc
        for key in where[:-1]:
            at = at[key]
        at[where[-1]] = value
        return doc

    rows = [(("fabric", "links", 2, "gbps"), float("nan"), "NaN"), (("fabric", "links", 2, "gbps"), -5, "links[2]"),
            (("fabric", "links", 2, "gbps"), 0, "links[2]"), (("fabric", "links", 1, "to"), "x", 'links[1]'),
            (("fabric", "nodes", 1, "name"), "a", "nodes[1]"), (("fabric", "nodes", 1, "kind"), "router", "nodes[1]"),
            (("jobs", 0, "flows", 0, "src"), "x", 'jobs[0].flows[0]: src "x" is no node of the fabric'),
            (("jobs", 0, "flows", 0, "bytes"), -1, "jobs[0].flows[0]"), (("jobs", 0, "flows", 0, "bytes"), "many", "jobs[0].flows[0]"),
            (("jobs", 0, "flows", 0, "paths"), [[0, 7]], "jobs[0].flows[0]"), (("jobs", 0, "weight"), 0, "jobs[0]"),
            (("jobs", 0, "colour"), 3, "colour"), (("options", "objective"), "min_cost", "min_cost"),
            (("options", "gap"), 7, "gap"), (("options", "gapp"), 0.1, "gapp"), (("options", "paths_per_flow"), 0, "paths_per_flow"),
            (("heddle",), 2, "heddle"), (("fabric",), "none.json", "none.json"), (("fabric",), 7, "fabric"), (("jobs",), 7, "jobs"),
            (("jobs", 0, "collectives"), [{"op": "all_reduce", "algorithm": "ring", "bytes": 1, "ranks": ["a", "q"]}], '"q"')]
    for where, value, says in rows:
        _, done = solve(home, change(where, value), status=2)
        assert says in done.stderr and done.stderr.startswith("heddle: ") and done.stderr.count("\n") == 1, (where, done.stderr)
        assert done.stdout == "", done.stdout
    for text in ("", "{", "[]", "null", '{"heddle": 1} x', "\x00", '{"a": 1, "a": 2}', "[" * 100000):
        (home / "p.json").write_text(text)
        done = run("solve", home / "p.json", "-o", home / "plan.json", status=2)
        assert done.stderr.count("\n") == 1 and not (home / "plan.json").exists(), (text[:20], done.stderr)
    (home / "p.json").write_text(json.dumps(good))
    for words, says in ((["solve"], "no PROBLEM"), (["solve", home / "none.json"], "none.json"), (["sovle"], "no command"),
                        (["solve", home / "p.json", "--set", "gap=x"], "gap"), (["solve", home / "p.json", "--set", "gap"], "gap"),
                        (["solve", home / "p.json", "-o", home / "no/such/plan.json"], "plan.json"),
                        (["check", home / "p.json", home / "p.json"], "p.json"), (["import", "x", home / "p.json"], "x")):
        done = run(*words, status=2)
        assert says in done.stderr, (words, done.stderr)
    done = run("solve", home / "p.json", "--set", "gap=-1", ranks=2, status=2)
    assert done.stderr.count("option gap") == 1, done.stderr
    assert sorted(x.name for x in home.iterdir()) == ["p.json"], list(home.iterdir())


def limits(home):
    """A limit gives the best plan so far; --strict says so with status 3. Files that are named, columns, standard input."""
    fabrics(home)
    p = home / "clos-jobs.json"
    run("solve", p, "-o", home / "plan.json", "--set", "time_limit=0")
    plan = json.loads((home / "plan.json").read_text())
    assert plan["status"] in ("feasible", "optimal"), plan["status"]
    judged(p, home / "plan.json")
    status = 3 if plan["status"] == "feasible" else 0
    run("solve", p, "--strict", "--set", "time_limit=0", status=status)
    doc = json.loads(p.read_text())
    fabric = doc["fabric"] if isinstance(doc["fabric"], dict) else json.loads((home / doc["fabric"]).read_text())
    (home / "f.json").write_text(json.dumps(fabric.get("fabric", fabric)))
    (home / "named.json").write_text(json.dumps(dict(doc, fabric="f.json")))
    run("solve", home / "named.json", "-o", home / "named-plan.json")
    run("solve", p, "-o", home / "whole-plan.json")
    assert without_times(home / "named-plan.json") == without_times(home / "whole-plan.json")
    run("solve", home / "named.json", "-o", home / "two.json", ranks=2)
    assert without_times(home / "two.json") == without_times(home / "whole-plan.json")
    done = run("solve", "-", "-o", "-", data=p.read_text())
    assert json.loads(done.stdout)["value"] == json.loads((home / "whole-plan.json").read_text())["value"]
    for routes in ("ecmp", "spray", home / "whole-plan.json"):
        assert json.loads(run("evaluate", p, "--routes", routes, "--json").stdout)["value"] > 0
    spoiled = json.loads((home / "whole-plan.json").read_text())
    spoiled["value"] *= 1.5
    (home / "spoiled.json").write_text(json.dumps(spoiled))
    assert "value" in run("check", p, home / "spoiled.json", status=1).stdout


def known_optima(home):
    """Public instances with known optima: value and certificate within 0.1 %; the literature's cells: 1, 1 and a half."""
    if not (SHARED / "data/mmcf").exists():
        print("skipped: the sample data does not lie beside the checkout")
        sys.exit(77)
    best = {row.split(",")[0]: float(row.split(",")[1]) for row in (SHARED / "data/mmcf/mlu_optimal.csv").read_text().split("\n")[1:] if row}
    for name in ("planar30", "planar50", "planar100", "grid1", "grid2", "grid3", "grid4", "grid5"):
        source = next((SHARED / "data/mmcf").glob(f"*/{name}"))
        done = subprocess.run([sys.executable, str(SHARED / "tools/te_problem.py"), "commalab", str(source)], capture_output=True)
        (home / "p.json").write_bytes(done.stdout)
        run("solve", home / "p.json", "-o", home / "plan.json")
        judged(home / "p.json", home / "plan.json")
        plan = json.loads((home / "plan.json").read_text())
        assert plan["value"] <= best[name] * 1.001 and plan["bound"] >= best[name] * 0.999, (name, plan["value"], plan["bound"])
    te = SHARED / "data/te/ncflow_instances"
    for name, value in (("Deltacom", 0.6601022127), ("Colt", 0.7221125408)):
        done = subprocess.run([sys.executable, str(SHARED / "tools/te_problem.py"), "te", f"{te}/{name}.edges",
                               f"{te}/{name}_gravity_8_mlu.tm", f"{te}/{name}.paths4"], capture_output=True)
        (home / "p.json").write_bytes(done.stdout)
        run("solve", home / "p.json", "-o", home / "plan.json")
        judged(home / "p.json", home / "plan.json")
        plan = json.loads((home / "plan.json").read_text())
        assert plan["value"] <= value * 1.001 and plan["bound"] >= value * 0.999, (name, plan["value"], plan["bound"])
    run("import", "ibnetdiscover", SHARED / "data/fabrics/ib/dgx-ndr-ibnetdiscover.out", "-o", home / "dgx.json")
    fabric = json.loads((home / "dgx.json").read_text())
    kinds = [n["kind"] for n in fabric.get("fabric", fabric)["nodes"]]
    assert (kinds.count("switch"), kinds.count("nic")) == (40, 582 - 40)
    for jobs in (["hierarchical:all"], ["hierarchical:20:5"]):
        run("generate", "jobs", home / "dgx.json", "--place", "fragmented", "--job", *jobs, "-o", home / "p.json")
        run("solve", home / "p.json", "-o", home / "plan.json")
        judged(home / "p.json", home / "plan.json")
        assert json.loads((home / "plan.json").read_text())["gap"] <= 0.05
    for name, value in (("cell-3-8-0", 1), ("cell-5-4-0", 1), ("cell-1-4-1", 0.5)):
        source = SHARED / f"data/paper_cells/{name}.json"
        run("solve", source, "-o", home / "plan.json")
        judged(source, home / "plan.json")
        plan = json.loads((home / "plan.json").read_text())
        assert plan["status"] == "optimal" and abs(plan["value"] - value) < 1e-9, (name, plan["value"])
        assert all(job["efficiency"] > value - 1e-9 for job in plan["jobs"])


def scale(home):
    """Demands ten times as large give the same routes, ten times the load: no unit hides in a tolerance."""
    fabrics(home)
    for settings in (["objective=max_utilization"], ["objective=max_utilization", "routing=split"]):
        words = [w for s in settings for w in ("--set", s)]
        run("solve", home / "clos-jobs.json", "-o", home / "one.json", *words)
        doc = json.loads((home / "clos-jobs.json").read_text())
        for job in doc["jobs"]:
            flows = job["flows"]
            if isinstance(flows, dict):
                flows["bytes"] = [16 * x for x in flows["bytes"]]
            else:
                job["flows"] = [dict(f, bytes=16 * f["bytes"]) for f in flows]
        (home / "many.json").write_text(json.dumps(doc))
        run("solve", home / "many.json", "-o", home / "sixteen.json", *words)
        one, many = (json.loads((home / f"{x}.json").read_text()) for x in ("one", "sixteen"))
        for key in ("value", "bound"):
            assert abs(many[key] / one[key] / 16 - 1) < 1e-6, (settings, key, one[key], many[key])
        assert one["solver"]["rounds"] == many["solver"]["rounds"] > 0


def quickstart(home):
    """The README's first command, on the programs that are built: its plan keeps what the README promises."""
    done = subprocess.run(["sh", str(pathlib.Path(__file__).parent.parent / "configs/quickstart.sh")], capture_output=True, text=True,
                          timeout=300, env={**ENVIRONMENT, "PROGRAMS": str(BIN.resolve()), "FOLDER": str(home / "run")})
    assert done.returncode == 0, (done.stdout, done.stderr)
    plan = json.loads((home / "run/plan.json").read_text())
    judged(home / "run/problem.json", home / "run/plan.json")
    jobs = plan["jobs"]
    assert plan["status"] == "optimal" and plan["value"] == plan["bound"] and plan["solver"]["ranks"] == 2, plan["solver"]
    assert plan["value"] >= 1.5 * min(j["ecmp_efficiency"] for j in jobs) and len(jobs) == 3
    assert all(j["efficiency"] >= j["ecmp_efficiency"] for j in jobs) and plan["solver"]["rounds"] > 0
    for word in ("under ECMP", "hottest arcs", "0 faults", "pods 2", *(j["name"] for j in jobs)):
        assert word in done.stdout, (word, done.stdout)


def main(name):
    home = pathlib.Path(tempfile.mkdtemp(prefix="heddle-e2e-"))
    try:
        globals()[name](home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(name, "ok")


if __name__ == "__main__":
    main(sys.argv[1])
