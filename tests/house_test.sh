#!/bin/sh
# The house rules that a compiler does not see: who may include whom, each foreign header in exactly one file, and no
# printing, exiting, clock or environment inside the solver. The rules are first tried on a small tree that breaks each
# of them once, so that a rule that catches nothing fails the test.
# usage: house_test.sh SOURCE-FOLDER
set -eu

# Foreign header, and the one file that sees it.
foreign='mpi.h solver/comm/comm_mpi.c
metis.h partition/part_metis.c
msgpack.h service/wire/wire.c
jansson.h service/wire/json.c
uthash.h service/wire/names.c
zmq.h service/wire/bus.c
sodium.h service/wire/digest.c
sqlite3.h service/daemon/store.c
ini.h service/daemon/config.c
expat.h service/formats/xml.c
yaml.h service/formats/yaml.c'

check_tree() {
    find solver partition service -name '*.[ch]' | LC_ALL=C sort >"$scratch/files"
    xargs awk -v foreign="$foreign" '
    # What a file may include, as a pattern over the paths of the project. base < options, fabric, collective <
    # problem, pods < routes < kernel, engine < solve and check < service.
    function allowed(f) {
        if (f ~ /^solver\/model\/base\./) return "solver/model/base\\.h"
        if (f ~ /^solver\/model\/(options|fabric|collective)\./)
            return "solver/model/(base|options|fabric|collective)\\.h"
        if (f ~ /^solver\/model\/(problem|pods)\./)
            return "solver/model/(base|options|fabric|collective|problem|pods)\\.h"
        if (f ~ /^solver\/model\//) return "solver/model/.*"
        if (f ~ /^solver\/comm\//) return "solver/(model/base|comm/comm)\\.h"
        if (f ~ /^solver\/kernel\//) return "solver/kernel/.*"
        if (f ~ /^solver\/engine\//) return "(solver/(model|kernel|engine)/.*|solver/comm/comm\\.h)"
        if (f ~ /^solver\/check/) return "(solver/model/.*|solver/check[a-z_]*\\.h)"
        if (f ~ /^solver\//) return "solver/.*"
        if (f ~ /^partition\//) return "(solver/model/.*|solver/comm/comm\\.h|partition/.*)"
        if (f ~ /^service\/(wire\/bus|daemon\/queue|daemon\/store)\./)
            return "(solver/model/base\\.h|service/(wire|daemon)/.*)"
        if (f ~ /^service\/wire\//) return "(solver/model/.*|service/wire/.*)"
        if (f ~ /^service\/formats\//) return "(solver/model/.*|service/(wire|formats)/.*)"
        if (f ~ /^service\/daemon\//) return "(solver/model/(base|options)\\.h|service/(wire|daemon)/.*)"
        return "(solver/.*|partition/.*|service/(wire|formats|cli)/.*)"
    }
    function rule(name, files, calls, may) {
        nrule++; what[nrule] = name; where[nrule] = files; who[nrule] = may
        pattern[nrule] = "(^|[^_a-zA-Z0-9.>])(" calls ")[ \t]*[(]"
    }
    BEGIN {
        n = split(foreign, line, "\n")
        for (i = 1; i <= n; i++) { split(line[i], word, " "); owner[word[1]] = word[2] }
        system_header = "^(assert|ctype|errno|fcntl|float|fnmatch|ftw|getopt|inttypes|limits|math|poll|pthread|sched|signal" \
            "|spawn|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|time|unistd|dirent|sys/[a-z_]+" \
            "|linux/[a-z_]+)\\.h$"
        clocks = "^solver/comm/comm_(self|mpi)\\.c$"
        rule("printing", "^(solver|partition)/", "v?f?printf|f?puts|putchar|perror|fwrite", "^$")
        rule("exiting", "^(solver|partition)/", "_?exit|_Exit|quick_exit|abort", "^$")
        rule("a clock", "^(solver|partition)/", "time|clock|gettimeofday|clock_gettime|timespec_get", clocks)
        rule("the environment", "^(solver|partition)/", "getenv|setenv|putenv|system|popen|v?fork",
             "^solver/comm/comm(_mpi)?\\.c$")
        rule("signals", "^solver/", "signal|sigaction|raise|kill|pthread_create", "^$")
        rule("unseeded numbers", ".", "s?rand|s?random|drand48", "^$")
        rule("the rounding of libm", "^solver/(kernel|engine)/", "expf?|exp2|expm1|log[f2]?|log10|log1p|powf?", "^$")
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, word, "\"")
        if (word[2] !~ "^" allowed(FILENAME) "$") print FILENAME ": may not include \"" word[2] "\""
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        split($0, word, "[<>]"); h = word[2]
        if (h in owner) {
            seen[h] = 1
            if (owner[h] != FILENAME) print FILENAME ": <" h "> belongs to " owner[h] " alone"
        } else if (h !~ system_header)
            print FILENAME ": <" h "> is neither of the C library nor a known foreign header"
    }
    /^[ \t]*#[ \t]*(if|ifdef|elif)[ \t]/ && FILENAME ~ /^solver\// { print FILENAME ":" FNR ":" $0 "   <- conditional code" }
    /^[ \t]*(\*|\/\*)/ { next }
    { for (i = 1; i <= nrule; i++)
          if ($0 ~ pattern[i] && FILENAME ~ where[i] && FILENAME !~ who[i] && FILENAME ~ /\.c$/)
              print FILENAME ":" FNR ":" $0 "   <- " what[i] }
    ' <"$scratch/files"
}

# A tree with one breach of each rule; every line of want must be found.
try_the_rules() {
    mkdir -p solver/model solver/kernel solver/engine solver/comm partition service/wire service/daemon service/formats \
        service/cli
    echo '#include "solver/model/routes.h"' >solver/model/fabric.c
    echo '#include "solver/model/fabric.h"' >solver/model/base.h
    echo '#include "solver/model/base.h"' >solver/kernel/paths.c
    echo '#include "solver/solve.h"' >solver/engine/pin.c
    echo '#include "solver/engine/pin.h"' >solver/check_part.c
    echo '#include "solver/engine/pin.h"' >partition/partition.c
    echo '#include "partition/partition.h"' >service/daemon/front.c
    echo '#include "service/cli/cli.h"' >service/formats/formats.c
    echo '#include <zmq.h>' >service/wire/json.c
    echo '#  include <openssl/sha.h>' >service/wire/value.c
    printf 'int f(void)\n{\n    printf("x");\n    exit (1);\n    return snprintf(0, 0, "y") + rand();\n}\n' >solver/solve.c
    printf 'double g(void)\n{\n    return exp(1) + my_exp(1) + time(NULL) + p->time(1);\n}\n' >solver/engine/split.c
    printf '#ifdef FAST\nchar *h = getenv("X");\n#endif\n' >solver/comm/other.c
    check_tree >found
    while read -r want; do
        grep -qF "$want" found || { echo "the rules do not catch: $want"; return 1; }
    done <<'WANT'
solver/model/fabric.c: may not include "solver/model/routes.h"
solver/model/base.h: may not include "solver/model/fabric.h"
solver/kernel/paths.c: may not include "solver/model/base.h"
solver/engine/pin.c: may not include "solver/solve.h"
solver/check_part.c: may not include "solver/engine/pin.h"
partition/partition.c: may not include "solver/engine/pin.h"
service/daemon/front.c: may not include "partition/partition.h"
service/formats/formats.c: may not include "service/cli/cli.h"
service/wire/json.c: <zmq.h> belongs to service/wire/bus.c alone
service/wire/value.c: <openssl/sha.h> is neither
solver/solve.c:3:    printf("x");   <- printing
solver/solve.c:4:    exit (1);   <- exiting
rand();   <- unseeded numbers
p->time(1);   <- a clock
p->time(1);   <- the rounding of libm
solver/comm/other.c:2:char *h = getenv("X");   <- the environment
solver/comm/other.c:1:#ifdef FAST   <- conditional code
WANT
    [ "$(wc -l <found)" -eq 17 ] || { echo "the rules see more than is there:"; cat found; return 1; }
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tree"
(cd "$scratch/tree" && try_the_rules)
cd "$1"
check_tree >"$scratch/found"
printf '%s\n' "$foreign" | while read -r header file; do # every listed owner must still own it
    grep -q "include <$header>" "$file" || echo "$file: does not include <$header>"
done >>"$scratch/found"
if [ -s "$scratch/found" ]; then
    cat "$scratch/found"
    echo "$(wc -l <"$scratch/found") breaches of the house rules"
    exit 1
fi
echo "1 passed, 0 failed"
