#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes go down only: include/gsim (the installed headers), L0 sim/base, L1 sim/api sim/site, L2 sim/core,
# L3 policies traces models, L4 sim/study sim/exec sim/calibrate, L5 sim/app. Some headers of libraries may be included in one folder
# only. `check ROOT` prints each breach.
set -u
library() { # file, what it includes and >
    included=${2%>}
    case $included in
    sqlite3.h) case $1 in sim/app/results/db* | sim/study/nsight.*) ;; *) echo "$1 includes sqlite3.h" ;; esac ;;
    csv.h) [ "$1" = traces/csv.c ] || echo "$1 includes csv.h" ;;
    ini.h) [ "$1" = sim/base/ini.c ] || echo "$1 includes ini.h" ;;
    gsl/*)
        case $1 in
        sim/base/rng.* | sim/core/stats.* | sim/study/stats.c) ;;
        traces/generate.* | traces/distribution.* | traces/fit.* | traces/spec.* | traces/values.*) ;;
        *) echo "$1 includes $included" ;;
        esac ;;
    math.h)
        case $1 in policies/* | models/* | sim/base/* | sim/core/engine.c | sim/core/plan.c) echo "$1 includes math.h" ;; esac ;;
    esac
}
# One grep reads all files, here and in the other rules: a process for each of 900 files was most of a rule's time.
check() {
    (cd "$1" && find include sim policies traces models -name '*.[ch]' -o -name '*.def' | sort |
        xargs grep -HE '^ *# *include *["<]' | sed 's/^\([^:]*\):[^"<]*\("[^"]*"\|<[^>]*>\).*/\1 \2/' | while read -r f included; do
        case $included in '<'*)
            library "$f" "${included#<}"
            continue
            ;;
        esac
        included=${included#?}
        case $f in
        include/*) may='gsim/' ;;
        sim/base/*) may='gsim/arena.h gsim/params.h gsim/status.h gsim/units.h sim/base/' ;;
        sim/api/*) may='gsim/ sim/base/ sim/api/' ;;
        sim/site/*) may='gsim/ sim/base/ sim/site/' ;;
        sim/core/*) may='gsim/ sim/base/ sim/api/ sim/core/' ;;
        sim/study/*) may='gsim/ sim/base/ sim/api/ sim/core/stats.h traces/ sim/study/' ;;
        sim/exec/*) may='gsim/ sim/base/ sim/api/ sim/core/core.h traces/cells.h sim/study/ sim/exec/' ;;
        sim/calibrate/*) may='gsim/ sim/base/ sim/api/ models/hardware/ sim/calibrate/' ;;
        policies/lib/*) may='gsim/ sim/base/ sim/api/ policies/lib/' ;;
        policies/slurm/* | policies/kueue/*) may="gsim/ sim/base/ sim/api/ sim/site/ policies/lib/ ${f%/*}/" ;;
        policies/*/*) may="gsim/ sim/base/ sim/api/ policies/lib/ ${f%/*}/" ;;
        policies/registry.* | policies/load.c) may='gsim/ sim/base/ policies/' ;;
        policies/*) may='gsim/ sim/base/ sim/api/ policies/lib/' ;;
        traces/*) may='gsim/ sim/base/ sim/api/ traces/' ;;
        models/hardware/*) may='gsim/ sim/base/ sim/api/ models/hardware/' ;;
        models/links/*) may='gsim/ sim/base/ sim/api/ models/hardware/ models/links/' ;;
        models/memory/*) may='gsim/ sim/base/ sim/api/ models/hardware/ models/links/ models/memory/ models/roles.h' ;;
        models/gpu/*) may='gsim/ sim/base/ sim/api/ models/hardware/ models/links/ models/memory/ models/gpu/ models/roles.h' ;;
        models/*) may='gsim/ sim/base/ sim/api/ models/' ;;
        sim/job/*) may='gsim_job.h' ;; # a file for other programs
        *) may='gsim/ sim/ policies/list.def policies/registry.h traces/ models/' ;;
        esac
        fine=0
        for prefix in $may; do
            case $included in "$prefix"*) fine=1 ;; esac
        done
        [ $fine = 1 ] || echo "$f includes ${included%?}"
    done)
}
breaches=$(check .)
if [ -z "$breaches" ]; then echo "ok includes go down only"; else printf 'not ok includes go down only\n%s\n' "$breaches"; fi
# A room of several files is compiled as one, and the compiler does not miss what the second forgot to include.
breaches=$(python3 tests/support/included.py 2>&1)
if [ -z "$breaches" ]; then echo "ok files include what they name"; else printf 'not ok files include what they name\n%s\n' "$breaches"; fi
# The names of the simulators that reference= copies stand in sim/api/compat.c, beside what each changes:
# the core and the models ask for properties. Comments may say where a property comes from.
simulators=$(sed -n 's/.*\.name = "\([a-z]*\)".*/\1/p' sim/api/compat.c | grep -v '^none$' | paste -sd '|')
named() { # folder...
    find "$@" -name '*.[ch]' | sort | xargs grep -liwE "$simulators" | while read -r f; do
        sed 's|/\*.*\*/||; /^ *\/\*/,/\*\//d' "$f" | grep -niwE "$simulators" | sed "s|^|$f:|"
    done
}
if [ -z "$(named sim/core models)" ] && [ -n "$(named sim/api)" ]; then
    echo "ok the core and the models know no simulator by its name"
else
    printf 'not ok the core and the models know no simulator by its name\n%s\n' "$(named sim/core models)"
fi
# the rule can fail, each way once
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
breach() { # file, what it includes
    mkdir -p "$tmp/include/gsim" "$tmp/sim/base" "$tmp/sim/core" "$tmp/sim/study" "$tmp/sim/app" "$tmp/policies/lib" "$tmp/policies/tgs" "$tmp/traces" "$tmp/models/gpu" "$tmp/models/links"
    echo "#include $2" >"$tmp/$1"
    found=$(check "$tmp")
    case $found in
    "$1 includes "*) ;;
    *) echo "not ok the include rule finds $2 in $1" ;;
    esac
    rm -r "${tmp:?}"/*
}
missed=$(
    breach policies/bad.c '"sim/core/core.h"'
    breach policies/bad.c '"policies/fifo.h"'
    breach traces/bad.c '"models/hardware/profile.h"'
    breach models/bad.c '"traces/read.h"'
    breach models/gpu/bad.c '"models/jobs/machine.h"'
    breach models/links/bad.c '"models/memory/pager.h"'
    breach sim/base/bad.c '"gsim/job.h"'
    breach include/gsim/bad.h '"sim/base/text.h"'
    breach sim/core/bad.c '"policies/lib/queue.h"'
    breach policies/lib/bad.c '"policies/tgs/throttle.h"'
    breach policies/tgs/bad.c '"policies/antman/guests.h"'
    breach sim/core/bad.h '"sim/app/cli/cli.h"'
    breach sim/core/bad.h '"sim/study/stats.h"'
    breach sim/study/bad.h '"sim/app/cli/cli.h"'
    breach traces/bad.c '<sqlite3.h>'
    breach sim/app/bad.c '<csv.h>'
    breach sim/core/bad.c '<gsl/gsl_rng.h>'
    breach policies/bad.c '<math.h>'
)
echo "${missed:-ok the include rule finds breaches}"
mkdir -p "$tmp/sim"
printf 'enum { GSIM_MOST = 3 };\nint gsim_a(int n);\n' >"$tmp/sim/a.h"
printf 'int gsim_a(int n) { return n; }\n' >"$tmp/sim/a.c"
printf 'int b(void) { return gsim_a(GSIM_MOST); }\n' >"$tmp/sim/b.c"
printf '#include "sim/a.h"\nint c(void) { return gsim_a(GSIM_MOST); }\n' >"$tmp/sim/c.c"
found=$(python3 tests/support/included.py "$tmp" | tr '\n' ';')
if [ "$found" = "sim/a.c is without its own sim/a.h;sim/b.c names GSIM_MOST without sim/a.h;sim/b.c names gsim_a without sim/a.h;" ]; then
    echo "ok the rule of what is named finds breaches"
else
    printf 'not ok the rule of what is named finds breaches\n# %s\n' "$found"
fi
