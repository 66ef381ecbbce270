"""Our forwarding tables in a real subnet manager: OpenSM loads them, every entry it programs is ours, and ibtracert
sees packets go the planned way. Usage: subnet_test.py CASE PAIRS; exit status 77 where OpenSM, ibsim, infiniband-diags
or a sample file are missing."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "bench"))
import opensm_cells as cells  # noqa: E402
import subnet_lib as lib  # noqa: E402

HEDDLE = str(pathlib.Path(os.environ.get("HEDDLE_BIN", "build/release")) / "service/cli/heddle")
SHARED = pathlib.Path(os.environ.get("HEDDLE_SHARED", "../shared")) / "data/fabrics/ib"


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def heddle(*arguments):
    done = subprocess.run([HEDDLE] + [str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"heddle {arguments}: {done.returncode} {done.stderr}"
    return done.stdout


def net_of(case, folder):
    """The net file of a case: a sample of ibsim's own, or a fabric written by export."""
    if case.startswith("sample-"):
        path = SHARED / case[len("sample-"):]
        return path if path.exists() else skip(f"{path} is not there")
    fabric = folder / "fabric.json"
    if case == "dgx":
        dump = SHARED / "dgx-ndr-ibnetdiscover.out"
        if not dump.exists():
            skip(f"{dump} is not there")
        heddle("import", "ibnetdiscover", dump, "-o", fabric)
    else:
        fabric.write_text(json.dumps(cells.fabric(HEDDLE, case, 7)))
    heddle("export", "ibsim", fabric, "-o", folder / "net")
    return folder / "net"


def jobs_on(doc):
    nics = [n["name"] for n in doc["nodes"] if n["kind"] == "nic"]
    if len(nics) >= 64:
        return cells.problem(doc, "mix", 7)
    ring = {"op": "all_reduce", "algorithm": "ring", "bytes": 1e9, "ranks": nics}
    return {"heddle": 1, "fabric": doc, "jobs": [{"name": "ring", "collectives": [ring]}],
            "options": {"routing": "destination"}}


def planned(doc, plan):
    """{(source port guid, destination port guid): [(switch guid, port out)]} of all flows of the plan."""
    node = {n["name"]: n for n in doc["nodes"]}
    guid = {name: int(n["guid"], 16) for name, n in node.items()}
    ways = {}
    for flow in plan["flows"]:
        way = []
        for arc in (a for path in flow["paths"] for a in path["arcs"]):
            link = doc["links"][arc // 2]
            tail, port = (link["to"], link["to_port"]) if arc % 2 else (link["from"], link["from_port"])
            if node[tail]["kind"] == "switch":
                way.append((guid[tail], port))
        if flow["paths"]:
            ways[guid[flow["src"]], guid[flow["dst"]]] = way
    return ways


def walk(doc, tables, source, target):
    """The same from the tables alone, for any pair of NICs."""
    ports, owner = {}, {}
    for link in doc["links"]:
        ports[link["from"], link["from_port"]] = link["to"]
        ports[link["to"], link["to_port"]] = link["from"]
    guid = {n["name"]: int(n["guid"], 16) for n in doc["nodes"]}
    owner = {g: name for name, g in guid.items()}
    at = next(peer for (name, _), peer in ports.items() if name == owner[source])
    way = []
    while guid[at] != target:
        port = tables[guid[at]][target]
        way.append((guid[at], port))
        at = ports[at, port]
        assert len(way) < 64, "the tables go round"
    return way


def run(case, pairs, folder):
    with lib.Subnet(folder, net_of(case, folder)) as subnet:
        subnet.sweep("minhop")
        heddle("import", "ibnetdiscover", subnet.discover(), "-o", folder / "found.json")
        doc = json.loads((folder / "found.json").read_text())
        (folder / "problem.json").write_text(json.dumps(jobs_on(doc)))
        heddle("solve", folder / "problem.json", "-o", folder / "plan.json")
        heddle("check", folder / "problem.json", folder / "plan.json")
        heddle("export", "ib-lft", folder / "problem.json", folder / "plan.json", "-o", folder / "ours")
        used, seconds = subnet.sweep("file", "-U", str(folder / "ours"))
        assert used == "file", f"OpenSM fell back to {used}"

        ours, _ = lib.read_tables(folder / "ours")
        theirs, lids = lib.read_tables(subnet.dump)
        switches = sum(n["kind"] == "switch" for n in doc["nodes"])
        assert len(theirs) == switches, f"{len(theirs)} tables dumped, {switches} switches"
        entries = 0
        for switch, table in theirs.items():
            assert len(table) == len(doc["nodes"]), f"switch {switch:x}: {len(table)} entries"
            for target, port in table.items():
                assert ours[switch][target] == port, f"switch {switch:x} towards {target:x}: {port}, ours {ours[switch][target]}"
                entries += 1

        plan = json.loads((folder / "plan.json").read_text())
        again = json.loads(heddle("evaluate", folder / "problem.json", "--routes", f"lfts:{subnet.dump}", "--json"))
        assert abs(again["value"] - plan["value"]) < 1e-6, f"tables read back give {again['value']}, plan {plan['value']}"

        rng = random.Random(case)
        ways = planned(doc, plan)
        nics = [int(n["guid"], 16) for n in doc["nodes"] if n["kind"] == "nic"]
        flows = rng.sample(sorted(ways), min(len(ways), pairs // 2))
        some = [tuple(rng.sample(nics, 2)) for _ in range(pairs - len(flows))]
        for source, target in flows + some:
            want = ways.get((source, target)) or walk(doc, ours, source, target)
            got = subnet.trace(lids[source], lids[target])
            assert got == want, f"{source:x} to {target:x}: planned {want}, traced {got}"
        print(f"{case}: {switches} switches, {len(nics)} NICs, {entries} entries equal, {len(flows)} flows and "
              f"{len(some)} other pairs traced; value {plan['value']:.3f}, bound {plan['bound']:.3f}; "
              f"OpenSM took {seconds:.2f} s")


def main():
    why = lib.missing()
    if why:
        skip(why)
    with tempfile.TemporaryDirectory(prefix="heddle-subnet-") as folder:
        run(sys.argv[1], int(sys.argv[2]), pathlib.Path(folder))


if __name__ == "__main__":
    main()
