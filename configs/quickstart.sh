#!/bin/sh
# The main job, once: install, build, start heddled on loopback with a world of two ranks, submit an example (two data
# centers, three training jobs, one across both), watch it, fetch and check the plan, print what it achieves, stop.
# usage: sh configs/quickstart.sh        RANKS=4 PORT=5570 FOLDER=run/quickstart are its knobs; PROGRAMS=BUILD-FOLDER takes
# programs that are built already
set -eu
cd "$(dirname "$0")/.."
ranks=${RANKS:-2}
folder=${FOLDER:-run/quickstart}
say() { printf '\n== %s\n' "$*"; }

say "packages and build"
if [ -z "${PROGRAMS:-}" ]; then
    PROGRAMS=build/release
    sh configs/packages.sh
    cmake --preset release -DHEDDLE_TESTS=OFF >/dev/null
    cmake --build --preset release --target heddle heddled | tail -n 1
fi
heddle=$PROGRAMS/service/cli/heddle
heddled=$PROGRAMS/service/daemon/heddled

say "the example: two data centers of 512 NICs, thin links between them, three jobs"
rm -rf "$folder"
mkdir -p "$folder"
. configs/examples/two-dc.sh
two_dc "$heddle" "$folder"

say "heddled on loopback, one world of $ranks ranks"
port=${PORT:-$((20000 + $$ % 20000))}
server=tcp://127.0.0.1:$port
"$heddled" --config configs/heddled.conf --listen "$server" --state "$folder/state" --ranks "$ranks" \
    2>"$folder/heddled.log" &
daemon=$!
stop() {
    kill -TERM "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM
tries=0
until "$heddle" list --server "$server" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -ge 100 ] || ! kill -0 "$daemon" 2>/dev/null; then
        echo "quickstart: heddled does not answer; its log ends so:" >&2
        tail -n 5 "$folder/heddled.log" >&2
        exit 1
    fi
    sleep 0.1
done

say "submit and watch"
job=$("$heddle" submit "$folder/problem.json" --server "$server")
echo "job $job"
"$heddle" watch "$job" --server "$server"

say "the plan"
"$heddle" result "$job" -o "$folder/plan.json" --problem "$folder/problem.json" --server "$server"
"$heddle" check "$folder/problem.json" "$folder/plan.json"
stop
trap - EXIT
echo
echo "plan: $folder/plan.json    problem: $folder/problem.json    log: $folder/heddled.log"
