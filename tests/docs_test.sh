#!/bin/sh
# The README's option table is what the program prints; every folder has its short README.
# usage: docs_test.sh BUILD-FOLDER SOURCE-FOLDER
set -eu
heddle=$1/service/cli/heddle
cd "$2"
printed=$("$heddle" options --markdown)
written=$(sed -n '/<!-- options:/,/<!-- end of options -->/p' README.md | sed '1d;$d')
if [ "$printed" != "$written" ]; then
    echo "README.md: the option table differs from 'heddle options --markdown'"
    exit 1
fi
files=$(git ls-files 2>/dev/null || find . -path ./build -prune -o -type f -print | sed 's|^\./||')
for folder in $(echo "$files" | sed -n 's|/[^/]*$||p' | sort -u); do
    [ -s "$folder/README.md" ] || { echo "$folder has no README.md"; exit 1; }
done
echo "1 passed, 0 failed"
