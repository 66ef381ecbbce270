#!/bin/sh
# Installs what is missing, builds twice (gcc; clang with ASan and UBSan) and runs every test through CTest.
# usage: sh tests/run.sh [CTEST-ARGUMENT ...]    e.g. -R partition, -L quick
set -eu
cd "$(dirname "$0")/.."
sh configs/packages.sh test
status=0
for preset in release asan; do
    cmake --preset "$preset" -DHEDDLE_TESTS=ON >/dev/null
    cmake --build --preset "$preset"
    ctest --preset "$preset" --output-on-failure "$@" || status=1
done
exit $status
