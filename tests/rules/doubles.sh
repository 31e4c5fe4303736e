#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `double` and `float` stay in the files named here. What decides when or in which order something
# happens computes with integers, but for the numeric rooms: programmes of policies, of which only
# + - * / and comparisons are asked. `check ROOT` prints each breach.
set -u
# What is counted and drawn after the fact, or before the run; what a policy asks for an optimum.
measures='include/gsim/result.h sim/base/decimal sim/base/pick sim/base/rng sim/base/sort sim/base/units.h sim/core/core.h sim/core/distributions sim/core/fairness sim/core/jobs.c sim/core/latency sim/core/metrics sim/core/stats'
generators='traces/build traces/csv.c traces/distribution traces/estimate traces/fit traces/goodput traces/generate traces/overlap traces/rates traces/shake traces/spec traces/timeline_growth traces/values'
numeric='policies/lib/lp policies/lib/conic policies/lib/skyline policies/lib/shares policies/lib/assignment policies/lib/rounds policies/lib/real policies/lib/line_search policies/lib/descent policies/adaptdl/fit policies/adaptdl/goodput sim/api/goodput sim/api/interleave models/jobs/interleaving policies/lib/matching'
# Policies that weigh what these give: their calls have names that the check of operations knows.
weighing='policies/gavel/state policies/gavel/gavel policies/gavel/loop policies/gavel/shares policies/gavel/allox policies/gavel/optimum policies/gavel/packing policies/gavel/users policies/gavel/queue policies/shockwave/state policies/shockwave/shockwave policies/shockwave/plan policies/shockwave/future policies/shockwave/one_job policies/shockwave/estimate policies/themis/auction policies/themis/themis policies/synergy/state policies/synergy/synergy policies/synergy/round policies/synergy/order policies/elasticflow/state policies/elasticflow/elasticflow policies/elasticflow/share policies/elasticflow/patient policies/elasticflow/promise policies/elasticflow/late policies/elasticflow/spare policies/elasticflow/edf policies/elasticflow/reference policies/elasticflow/turns policies/adaptdl/state policies/adaptdl/optimus policies/adaptdl/pollux policies/adaptdl/learn policies/adaptdl/search policies/adaptdl/vary policies/adaptdl/front policies/adaptdl/sia policies/muri/state policies/muri/muri policies/muri/order policies/muri/pack policies/muri/overhead policies/muri/reference policies/muri/own policies/muri/line policies/muri/antman policies/muri/themis'
without_comments() {
    awk '{
        line = $0
        out = ""
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                if (!at) break
                line = substr(line, at + 2)
                inside = 0
            } else {
                at = index(line, "/*")
                out = out (at ? substr(line, 1, at - 1) : line)
                line = at ? substr(line, at + 2) : ""
                inside = at > 0
            }
        }
        gsub(/"[^"]*"/, "\"\"", out)
        if (out ~ /^#include/) out = ""
        print out
    }' "$1"
}
check() {
    (cd "$1" && find include sim/base sim/api sim/core policies traces models -name '*.[ch]' -o -name '*.def' | sort |
        xargs grep -lE 'double|float|fma|sqrt|pow|exp|log|fabs' | while read -r f; do
        fine=0
        for room in $measures $generators $numeric $weighing; do
            case $f in "$room" | "$room".[ch] | "$room"_*) fine=1 ;; esac
        done
        [ $fine = 1 ] || ! without_comments "$f" | grep -qwE 'double|float' || echo "$f has floating point"
        for room in $numeric; do
            case $f in "$room".[ch] | "$room"_*) without_comments "$f" | grep -nE '(^|[^a-z_])(float|long double)([^a-z_]|$)|(^|[^a-z_])(fma|sqrt|pow|exp|log|fabs)[fl]? *\(' | sed "s|^|$f has more than + - * /: |" ;; esac
        done
    done)
}
breaches=$(check .)
if [ -z "$breaches" ]; then echo "ok floating point stays where it decides nothing, or one thing everywhere"; else printf 'not ok floating point stays where it decides nothing, or one thing everywhere\n%s\n' "$breaches"; fi
flags=$(sed -n 's/^CODEGEN *= *//p' Makefile)
case $flags in
*-ffp-contract=off*) echo "ok products and sums are rounded one by one" ;;
*) echo "not ok products and sums are rounded one by one" ;;
esac
if grep -nE -e '-ffast-math|-Ofast|-funsafe|-mfpmath=387' Makefile; then echo "not ok no flag reorders sums"; else echo "ok no flag reorders sums"; fi
# Languages of a program that embeds the library have no say in numbers: text is read and written by sim/base/decimal.c.
points() { # ROOT: statements that read or write a real number by the C library
    (cd "$1" && find include sim/base sim/api sim/core sim/site policies traces models -name '*.[ch]' ! -path sim/base/decimal.c 2>/dev/null | sort |
        while read -r f; do
            awk -v f="$f" '/^ *(\*|\/\*|#)/ { next } { all = all " " $0 }
                /[;{}] *$/ { said(all); all = "" }
                function said(text) {
                    if (text ~ /(^|[^a-z_])(strto(d|f|ld)|atof|v[a-z]*printf) *\(/ ||
                        text ~ /(^|[^a-z_])[a-z]*printf *\(.*"[^"]*%[-+ #0-9.*]*L?[aefgAEFG]/ || text ~ /[^a-z_][a-z]*scanf *\(.*"[^"]*%[0-9]*l?[aefg]/)
                        print f ":" text
                }' "$f"
        done)
}
breaches=$(points . | grep -v '^sim/site/kueue_node.c:')  # it spells words alone
if [ -z "$breaches" ]; then echo "ok no language has a say in numbers"; else printf 'not ok no language has a say in numbers\n%s\n' "$breaches"; fi
# the rules can fail
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/include" "$tmp/sim/base" "$tmp/sim/api" "$tmp/sim/core" "$tmp/policies/lib" "$tmp/traces" "$tmp/models"
echo 'int a; /* no double' >"$tmp/policies/fine.c"
echo 'static double b;' >"$tmp/models/bad.c"
echo 'double c = sqrt(2);' >"$tmp/policies/lib/lp.c"
if [ "$(check "$tmp")" = "models/bad.c has floating point
policies/lib/lp.c has more than + - * /: 1:double c = sqrt(2);" ]; then
    echo "ok the rule of floating point finds breaches"
else
    echo "not ok the rule of floating point finds breaches"
fi
rm "$tmp/policies/lib/lp.c" "$tmp/models/bad.c"
printf 'a = gsim_arena_printf(arena, "%%.3f", b);\nc = snprintf(to, 8, "%%d",\n  e);\n' >"$tmp/traces/fine.c"
printf 'f = strtod(a, &b);\n(void)snprintf(to, 8, "x",\n "%%.3g s", c);\n' >"$tmp/traces/bad.c"
if [ "$(points "$tmp" | cut -d: -f1 | tr '\n' ' ')" = "traces/bad.c traces/bad.c " ]; then echo "ok the rule of numbers finds breaches"; else echo "not ok the rule of numbers finds breaches"; fi
