#!/bin/sh
# heddle generate and heddle import as programs: same options same bytes, JSON and msgpack agree, what is refused writes
# nothing, and what is made can be solved and verified.
# usage: generate_cli_test.sh BUILD-FOLDER
set -eu
heddle=$1/service/cli/heddle
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0
wrong() { echo "$*"; failed=$((failed + 1)); }

make() { # name, arguments of generate
    name=$1
    shift
    "$heddle" generate "$@" -o "$name.json" || wrong "generate $*: refused"
    "$heddle" generate "$@" >"$name.again" || wrong "generate $*: refused on standard output"
    cmp -s "$name.json" "$name.again" || wrong "generate $*: other bytes the second time"
    "$heddle" generate "$@" -o "$name.mp" || wrong "generate $*: refused as msgpack"
}
make clos clos --leaves 8 --spines 4 --nics 4 --rails 2 --dead-spines 1 --dead-cables 0.1 --seed 7
make tree fat-tree --k 4 --uplink-gbps=200
make sites multi-dc --sites 3 --join mesh --leaves 4 --spines 2 --nics 4 --wan-gbps 100,200

jobs() { # fabric, arguments of generate jobs: from both documents the same problem, solved and verified
    fabric=$1
    shift
    "$heddle" generate jobs "$fabric.json" "$@" -o problem.json || wrong "jobs on $fabric: $*: refused"
    "$heddle" generate jobs "$fabric.mp" "$@" >other.json || wrong "jobs on $fabric.mp: $*: refused"
    cmp -s problem.json other.json || wrong "jobs on $fabric: JSON and msgpack differ"
    "$heddle" generate jobs - "$@" <"$fabric.json" | cmp -s - problem.json || wrong "jobs on standard input differ"
    "$heddle" solve problem.json -o plan.json >/dev/null || wrong "jobs on $fabric: $*: not solved"
    "$heddle" check problem.json plan.json >/dev/null || wrong "jobs on $fabric: $*: the plan is wrong"
}
jobs clos --job hierarchical:4:2 --job pipeline:3 --place fragmented --set gap=0.05
jobs tree --job ring:4:2 --job all_to_all:4:1:1e8 --set objective=max_utilization
jobs sites --job ring:12:2:across --block 2 --job all_to_all:8/4

refuses() { # words that must be said, then the command
    words=$1
    shift
    status=0
    "$heddle" "$@" >out 2>said || status=$?
    [ "$status" -eq 2 ] || wrong "$*: exit status $status, not 2"
    grep -qF -e "$words" said || wrong "$*: says $(cat said)"
    [ ! -s out ] || wrong "$*: wrote something"
    [ ! -e refused.json ] || wrong "$*: left a file"
}
refuses 'leaves: "x" is no number' generate clos --leaves x -o refused.json
refuses '--leaves needs a value' generate clos -o refused.json --leaves
refuses 'unknown option "blades"' generate clos --blades 3 -o refused.json
refuses 'option "pods" does not belong' generate clos --pods 3 -o refused.json
refuses 'unexpected argument "extra"' generate clos extra -o refused.json
refuses '"torus" can not be generated' generate torus -o refused.json
refuses 'no FABRIC given' generate jobs --job ring:2 -o refused.json
refuses 'absent.json' generate jobs absent.json --job ring:2 -o refused.json
refuses 'needs 99 NICs' generate jobs clos.json --job ring:99 -o refused.json
refuses 'want option=value' generate jobs clos.json --job ring:2 --set gap -o refused.json
refuses 'job: "ring" is not KIND:SIZE' generate jobs clos.json --job=ring -o refused.json
refuses 'unknown format "dwg"' import dwg clos.json -o refused.json
refuses 'clos.json:' import ibnetdiscover clos.json -o refused.json
refuses 'FORMAT and FILE are needed' import ibnetdiscover -o refused.json
refuses 'absent.txt' import ibnetdiscover absent.txt -o refused.json

printf 'Switch 8 "s1"\n[1] "a"[1]\n[2] "b"[1]\n\nHca 1 "a"\n[1] "s1"[1]\n\nHca 1 "b"\n[1] "s1"[2]\n' >net
"$heddle" import ibnetdiscover net -o net.json 2>said || wrong "import: refused: $(cat said)"
grep -q '1 switches, 2 NICs' said || wrong "import says: $(cat said)"
"$heddle" import ibnetdiscover - <net 2>/dev/null | cmp -s - net.json || wrong "import from standard input differs"
"$heddle" import ibnetdiscover net -o net.mp 2>/dev/null || wrong "import as msgpack: refused"
jobs net --job ring:2
"$heddle" import --list | grep -q '^ibnetdiscover  ' || wrong "import --list does not name ibnetdiscover"
for command in generate import; do
    "$heddle" $command --help | grep -q "usage: heddle $command" || wrong "$command --help"
done

# 131,072 NICs with jobs on all of them: the time limit of this test is the bound.
"$heddle" generate fat-tree --pods 64 --leaves 64 --nics 32 --planes 8 --cores 16 --rails 8 -o large.mp
"$heddle" generate jobs large.mp --job hierarchical:64:256 -o large-problem.mp
[ "$(wc -c <large-problem.mp)" -gt 4000000 ] || wrong "the large problem is small"

echo "$failed failed"
[ "$failed" -eq 0 ]
