#!/bin/sh
# Installs what is missing, builds twice (gcc; clang with ASan and UBSan) and runs every test through CTest; of the long ones
# (label soak: the same tests with more rounds) only the short form, unless asked for.
# usage: sh tests/run.sh [CTEST-ARGUMENT ...]    e.g. -R partition, -L soak
set -eu
cd "$(dirname "$0")/.."
sh configs/packages.sh test
[ $# -gt 0 ] || set -- -LE soak
status=0
for preset in release asan; do
    cmake --preset "$preset" -DHEDDLE_TESTS=ON >/dev/null
    cmake --build --preset "$preset"
    ctest --preset "$preset" --output-on-failure -j 2 "$@" || status=1
done
exit $status
