#!/bin/sh
# Installs the Debian packages that Heddle is built from, where any is missing. `packages.sh test` adds what only the tests
# need. Needs root only when there is something to install.
set -eu
build="build-essential cmake ninja-build pkg-config libopenmpi-dev openmpi-bin libmetis-dev libzmq3-dev libmsgpack-dev
       libsqlite3-dev libjansson-dev uthash-dev libinih-dev libsodium-dev libexpat1-dev libyaml-dev
       libcmocka-dev"
tests="opensm ibsim-utils infiniband-diags clang libclang-rt-14-dev python3 python3-zmq python3-msgpack coinor-libclp-dev curl procps git"
want=$build
[ "${1:-}" = test ] && want="$build $tests"
missing=
for package in $want; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "packages.sh: as root, run: apt-get install$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "packages.sh: installing$missing" >&2
log=$(mktemp)
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"
