"""The ten fabrics and four job mixes of the comparison with OpenSM, as problem documents.

Every NIC is busy, placement is random: eight jobs (of eight NICs at the least) share the fabric. ring1: one ring per job over scattered NICs;
rail: a job has whole hosts and one ring per rail; a2a1: all-to-all in scattered groups of eight; mix: ring, rail and
all-to-all jobs in turn.
"""
import json
import os
import random
import subprocess
import sys

JOBS = 8
GROUP = 8
RAILS = 4
BYTES = 1e9
FABRICS = {
    "clos8": ["clos", "--leaves", "8", "--spines", "4", "--nics", "4"],
    "clos16": ["clos", "--leaves", "16", "--spines", "8", "--nics", "8"],
    "clos32": ["clos", "--leaves", "32", "--spines", "16", "--nics", "16"],
    "clos32d": ["clos", "--leaves", "32", "--spines", "16", "--nics", "16", "--dead-cables", ".03"],
    "par16": ["clos", "--leaves", "16", "--spines", "4", "--nics", "8", "--cables", "2"],
    "par16d": ["clos", "--leaves", "16", "--spines", "4", "--nics", "8", "--cables", "2",
               "--dead-cables", ".03"],
    "ft8": ["fat-tree", "--k", "8"],
    "ft12": ["fat-tree", "--k", "12"],
    "ft12d": ["fat-tree", "--k", "12", "--dead-cables", ".03"],
}
MIXES = ["ring1", "rail", "a2a1", "mix"]


def fabric(heddle, name, seed):
    out = subprocess.run([heddle, "generate"] + FABRICS[name] + ["--seed", str(seed)], check=True,
                         stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def hosts_of(doc):
    """Whole hosts as lists of NIC names by rail, and the other NICs. Where the fabric tells no hosts of several NICs,
    a host is up to RAILS NICs of one leaf."""
    hosts, leaf, alone = {}, {}, []
    for link in doc["links"]:
        leaf[link["from"]], leaf[link["to"]] = link["to"], link["from"]
    nics = [n for n in doc["nodes"] if n["kind"] == "nic"]
    told = len({n.get("host", n["name"]) for n in nics}) < len(nics)
    for n in nics:
        host = n.get("host") if told else leaf[n["name"]]
        if host is None:
            alone.append(n["name"])
            continue
        mine = hosts.setdefault(host, {})
        mine[n["rail"] if told and "rail" in n else len(mine)] = n["name"]
    rows = []
    for h in hosts.values():
        names = [h[r] for r in sorted(h)]
        rows += [names] if told else [names[i:i + RAILS] for i in range(0, len(names), RAILS)]
    full = max((len(r) for r in rows), default=1)
    return [r for r in rows if len(r) == full], alone + [n for r in rows if len(r) < full for n in r]


def ring(name, ranks):
    return {"op": "all_reduce", "algorithm": "ring", "bytes": BYTES, "ranks": ranks}


def job_of(kind, name, hosts, nics, rng):
    """hosts: whole hosts for rail jobs; nics: single NICs for the others."""
    if kind == "rail":
        collectives = [ring(name, [h[r] for h in hosts]) for r in range(len(hosts[0]))]
    elif kind == "ring1":
        collectives = [ring(name, nics)]
    else:
        collectives = [{"op": "all_to_all", "algorithm": "direct", "bytes": BYTES, "ranks": nics[i:i + GROUP]}
                       for i in range(0, len(nics) - len(nics) % GROUP, GROUP)]
    return {"name": name, "collectives": collectives}


def problem(doc, mix, seed):
    rng = random.Random(f"{mix}/{seed}")
    hosts, alone = hosts_of(doc)
    rng.shuffle(hosts)
    njob = min(JOBS, sum(map(len, hosts), len(alone)) // GROUP)
    kinds = [["ring1", "rail", "a2a1"][j % 3] if mix == "mix" else mix for j in range(njob)]
    share = [hosts[len(hosts) * j // njob:len(hosts) * (j + 1) // njob] for j in range(njob)]
    loose = [n for j in range(njob) if kinds[j] != "rail" for h in share[j] for n in h] + alone
    rng.shuffle(loose)
    plain = [j for j in range(njob) if kinds[j] != "rail"]
    jobs = []
    for j in range(njob):
        mine = []
        if j in plain:
            i = plain.index(j)
            mine = loose[len(loose) * i // len(plain):len(loose) * (i + 1) // len(plain)]
        jobs.append(job_of(kinds[j], f"{kinds[j]}-{j}", share[j], mine, rng))
    return {"heddle": 1, "fabric": doc, "jobs": jobs, "options": {"routing": "destination", "gap": 0.0}}


def main():
    heddle, folder, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for name in FABRICS:
        doc = fabric(heddle, name, seed)
        for mix in MIXES:
            with open(f"{folder}/{name}-{mix}.json", "w") as f:
                json.dump(problem(doc, mix, seed), f)


if __name__ == "__main__":
    main()
