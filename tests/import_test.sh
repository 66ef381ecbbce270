#!/bin/sh
# heddle import and heddle diff as programs: what they print, where, and their exit status.
# usage: import_test.sh HEDDLE
set -eu
heddle=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
passed=0
# check STATUS PATTERN COMMAND...: the exit status, and a line that matches in what it prints
check() {
    want=$1 pattern=$2
    shift 2
    status=0
    "$@" >out 2>&1 || status=$?
    if [ "$status" -ne "$want" ] || ! grep -q -- "$pattern" out; then
        echo "$*: exit status $status, not $want, or no \"$pattern\" in:"
        cat out
        exit 1
    fi
    passed=$((passed + 1))
}
printf 'SwitchName=s1 Nodes=a,b\nSwitchName=s2 Nodes=c\nSwitchName=top Switches=s[1-2]\n' >topology.conf
check 2 'topology.conf:1: nothing says what the cable "a" - "s1" can carry; give it with --gbps tier1=NUMBER' \
    "$heddle" import slurm topology.conf -o none.json
[ ! -e none.json ] || { echo "a refused import wrote a file"; exit 1; }
check 0 '3 switches, 3 NICs (3 of them on 3 hosts), 5 cables' \
    "$heddle" import slurm topology.conf --gbps tier1=100,tier2=400 -o fabric.json
check 0 '"gbps": 400' cat fabric.json
check 2 'tier7=1 fits no cable' "$heddle" import slurm topology.conf --gbps 100,tier7=1 -o none.json
check 2 'slurm takes one file, not 2' "$heddle" import slurm topology.conf topology.conf --gbps 100 -o none.json
check 2 'unknown format "dwg"' "$heddle" import dwg topology.conf
check 2 'FORMAT and FILE are needed' "$heddle" import slurm
check 2 '--gbps nine: want a positive number' "$heddle" import slurm topology.conf --gbps nine
check 0 '^ufm-ndt  *UFM: cabling plan (NDT, CSV) (several files make one fabric)$' "$heddle" import --list
check 0 'several files make one fabric' "$heddle" import --help
"$heddle" import slurm - --gbps 100 <topology.conf >piped.json 2>/dev/null
check 0 '"name": "top"' cat piped.json

printf '#StartDevice,StartPort,EndDevice,EndPort,LinkType\nleaf1,Port 1,spine1,Port 1,Data\nleaf1,Port 2,spine1,Port 2,Data\nleaf2,Port 1,spine1,Port 3,Data\n' >plan.ndt
sed 's/Port 1,spine1,Port 3/Port 9,spine1,Port 9/; s/spine1,Port 2/spine2,Port 2/' plan.ndt >found.ndt
check 0 '3 as planned, 0 missing, 0 extra, 0 miswired' "$heddle" diff plan.ndt plan.ndt --format ufm-ndt
check 1 '^miswired  leaf1 port 2 - spine1 port 2, found leaf1 port 2 - spine2 port 2$' \
    "$heddle" diff plan.ndt found.ndt --format ufm-ndt
check 1 '1 as planned, 1 missing, 1 extra, 1 miswired' "$heddle" diff plan.ndt found.ndt --format ufm-ndt
check 1 '"missing": 1' "$heddle" diff plan.ndt found.ndt --format ufm-ndt --json
"$heddle" import ufm-ndt plan.ndt --gbps 1 -o plan.json 2>/dev/null
check 0 '3 as planned' "$heddle" diff plan.ndt plan.json
check 2 'PLAN and DISCOVERED are needed' "$heddle" diff plan.ndt
check 2 'plan.json:1: this line stands before a header' "$heddle" diff plan.json plan.json
echo "$passed passed, 0 failed"
