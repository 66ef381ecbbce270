#!/bin/sh
# The house rules that a compiler does not see: who may include whom, each foreign header in exactly one file, and no
# printing, exiting, clock or environment inside the solver. The rules are first tried on a small tree that breaks each
# of them once, so that a rule that catches nothing fails the test.
# usage: house_test.sh SOURCE-FOLDER
set -eu

sources() { find solver partition service -name '*.[ch]' | LC_ALL=C sort; }

# What a file may include, as a pattern over the project's paths; the first line that fits the file counts.
# base < options, fabric, collective < problem, pods < routes < kernel, engine < solve and check < service.
allowed() {
    case $1 in
    solver/model/base.*) echo 'solver/model/base\.h' ;;
    solver/model/options.* | solver/model/fabric.* | solver/model/collective.*)
        echo 'solver/model/(base|options|fabric|collective)\.h' ;;
    solver/model/problem.* | solver/model/pods.*)
        echo 'solver/model/(base|options|fabric|collective|problem|pods)\.h' ;;
    solver/model/*) echo 'solver/model/.*' ;;
    solver/comm/*) echo 'solver/(model/base|comm/comm)\.h' ;;
    solver/kernel/*) echo 'solver/kernel/.*' ;;
    solver/engine/*) echo 'solver/(model|kernel|engine)/.*|solver/comm/comm\.h' ;;
    solver/check*) echo 'solver/model/.*|solver/check[a-z_]*\.h' ;;
    solver/*) echo 'solver/.*' ;;
    partition/*) echo 'solver/model/.*|solver/comm/comm\.h|partition/.*' ;;
    service/wire/bus.* | service/daemon/queue.* | service/daemon/store.*)
        echo 'solver/model/base\.h|service/(wire|daemon)/.*' ;;
    service/wire/*) echo 'solver/model/.*|service/wire/.*' ;;
    service/formats/*) echo 'solver/model/.*|service/(wire|formats)/.*' ;;
    service/daemon/*) echo 'solver/model/(base|options)\.h|service/(wire|daemon)/.*' ;;
    service/cli/*) echo 'solver/.*|partition/.*|service/(wire|formats|cli)/.*' ;;
    esac
}

# Foreign header, and the one file that sees it.
foreign='mpi.h solver/comm/comm_mpi.c
metis.h partition/part_metis.c
msgpack.h service/wire/wire.c
jansson.h service/wire/json.c
uthash.h service/wire/names.c
zmq.h service/wire/bus.c
sodium.h service/wire/digest.c
sqlite3.h service/daemon/store.c
ini.h service/daemon/config.c'

system='assert|ctype|errno|fcntl|float|getopt|inttypes|limits|math|poll|pthread|sched|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|time|unistd|dirent|ftw|sys/[a-z_]+|linux/[a-z_]+'

check_includes() {
    sources | while read -r file; do
        pattern=$(allowed "$file")
        sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file" | while read -r header; do
            printf '%s\n' "$header" | grep -Eqx "$pattern" || echo "$file: may not include \"$header\""
        done
        sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\([^>]*\)>.*/\1/p' "$file" | while read -r header; do
            owner=$(printf '%s\n' "$foreign" | sed -n "s|^$header ||p")
            if [ -n "$owner" ]; then
                [ "$owner" = "$file" ] || echo "$file: <$header> belongs to $owner alone"
            elif ! printf '%s\n' "$header" | grep -Eqx "($system)\.h"; then
                echo "$file: <$header> is neither of the C library nor a known foreign header"
            fi
        done
    done
}

# name: what is found, files (a find pattern), the calls, and files that may.
check_calls() {
    find $2 -name '*.c' | LC_ALL=C sort | while read -r file; do
        case " $4 " in *" $file "*) continue ;; esac
        grep -nE "(^|[^_a-zA-Z0-9.>])($3)[[:space:]]*\(" "$file" | grep -vE '^[0-9]+:[[:space:]]*(\*|/\*)' |
            sed "s|^|$file:|; s|\$|   <- $1|"
    done
}

check_tree() {
    check_includes
    check_calls 'printing' 'solver partition' 'printf|vprintf|fprintf|vfprintf|puts|fputs|putchar|perror|fwrite' ''
    check_calls 'exiting' 'solver partition' 'exit|_exit|_Exit|quick_exit|abort' ''
    check_calls 'a clock' 'solver partition' 'time|clock|gettimeofday|clock_gettime|timespec_get' \
        'solver/comm/comm_self.c solver/comm/comm_mpi.c'
    check_calls 'the environment' 'solver partition' 'getenv|setenv|putenv|system|popen|fork|vfork' \
        'solver/comm/comm.c solver/comm/comm_mpi.c'
    check_calls 'signals' 'solver' 'signal|sigaction|raise|kill|pthread_create' ''
    check_calls 'unseeded numbers' 'solver partition service' 'rand|srand|random|srandom|drand48' ''
    check_calls 'the library'"'"'s rounding' 'solver/kernel solver/engine' 'exp|expf|exp2|expm1|log|logf|log2|log10|log1p|pow|powf' ''
    sources | grep '^solver/' | while read -r file; do
        grep -nE '^[[:space:]]*#[[:space:]]*(if|ifdef|elif)\b' "$file" | sed "s|^|$file:|; s|\$|   <- conditional code|"
    done
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
p->time(1);   <- the library's rounding
solver/comm/other.c:2:char *h = getenv("X");   <- the environment
solver/comm/other.c:1:#ifdef FAST   <- conditional code
WANT
    [ "$(wc -l <found)" -eq 17 ] || { echo "the rules see more than is there:"; cat found; return 1; }
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && try_the_rules)
cd "$1"
check_tree >"$scratch/found"
printf '%s\n' "$foreign" | while read -r header file; do # every listed owner must still own it
    [ ! -d "$(dirname "$file")" ] || grep -q "include <$header>" "$file" || echo "$file: does not include <$header>"
done >>"$scratch/found"
if [ -s "$scratch/found" ]; then
    cat "$scratch/found"
    echo "$(wc -l <"$scratch/found") breaches of the house rules"
    exit 1
fi
echo "1 passed, 0 failed"
