#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes go down only: L0 sim/base, L1 sim/api, L2 sim/core, L3 policies traces models, L4 sim/app.
# Some headers of libraries have one room each. `check ROOT` prints each breach.
set -u
check() {
    (cd "$1" && find sim policies traces models -name '*.[ch]' -o -name '*.def' | sort | while read -r f; do
        grep -n '^ *# *include' "$f" | sed 's/^\([0-9]*\):.*include *//' >/dev/null
        case $f in
        sim/base/*) may='sim/base/' ;;
        sim/api/*) may='sim/base/ sim/api/' ;;
        sim/core/*) may='sim/base/ sim/api/ sim/core/' ;;
        policies/*) may='sim/base/ sim/api/ policies/common.h' ;;
        traces/*) may='sim/base/ sim/api/ traces/' ;;
        models/*) may='sim/base/ sim/api/ models/' ;;
        *) may='sim/ policies/list.def traces/ models/' ;;
        esac
        sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$f" | while read -r included; do
            fine=0
            for prefix in $may; do
                case $included in "$prefix"*) fine=1 ;; esac
            done
            [ $fine = 1 ] || echo "$f includes $included"
        done
        sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' "$f" | while read -r included; do
            case $included in
            sqlite3.h) [ "$f" = sim/app/db.c ] || echo "$f includes sqlite3.h" ;;
            csv.h) [ "$f" = traces/csv.c ] || echo "$f includes csv.h" ;;
            ini.h) [ "$f" = sim/base/ini.c ] || echo "$f includes ini.h" ;;
            gsl/*)
                case $f in
                sim/base/rng.* | sim/core/stats.* | sim/app/command_compare.c) ;;
                traces/generate.* | traces/distribution.* | traces/spec.* | traces/values.*) ;;
                *) echo "$f includes $included" ;;
                esac ;;
            math.h)
                case $f in policies/* | models/* | sim/base/* | sim/core/engine.c | sim/core/plan.c) echo "$f includes math.h" ;; esac ;;
            esac
        done
    done)
}
breaches=$(check .)
if [ -z "$breaches" ]; then echo "ok includes go down only"; else printf 'not ok includes go down only\n%s\n' "$breaches"; fi
# the rule can fail
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/sim/base" "$tmp/policies" "$tmp/traces" "$tmp/models"
echo '#include "sim/core/run.h"' >"$tmp/policies/bad.c"
echo '#include <sqlite3.h>' >"$tmp/traces/bad.c"
if [ "$(check "$tmp" | wc -l)" -eq 2 ]; then echo "ok the include rule finds breaches"; else echo "not ok the include rule finds breaches"; fi
