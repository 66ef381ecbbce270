#!/bin/sh
# The README's option table is what the program prints; heddled.conf has every option of the service at its default.
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
for folder in solver partition service service/wire service/cli service/daemon service/formats configs tests tests/bench; do
    [ -s "$folder/README.md" ] || { echo "$folder has no README.md"; exit 1; }
done
echo "1 passed, 0 failed"
