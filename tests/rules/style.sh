#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# SPDX line in every source, functions of at most 70 lines, files of at most 800, a policy of at most
# 300, and every policy and trace format listed.
set -u
sources=$(git ls-files '*.c' '*.h' '*.def' '*.sh' Makefile 2>/dev/null)
[ -n "$sources" ] || sources=$(find sim policies traces models tests tools -name '*.[ch]' -o -name '*.def' -o -name '*.sh')
missing=$(for f in $sources; do [ "$f" = Makefile ] || head -3 "$f" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$f"; done)
if [ -z "$missing" ]; then echo "ok SPDX lines"; else echo "not ok SPDX lines:" $missing; fi
long_functions() {
    awk 'FNR == 1 { start = 0 }
        /^[a-z].*\{$/ && !/^(struct|enum|union|static const|extern|typedef)/ { start = FNR; name = $0 }
        /^\}/ && start { if (FNR - start - 1 > 70) print FILENAME ": " name; start = 0 }' "$@"
}
# shellcheck disable=SC2046
long=$(long_functions $(printf '%s\n' $sources | grep '\.c$'))
if [ -z "$long" ]; then echo "ok functions of at most 70 lines"; else printf 'not ok functions of at most 70 lines\n%s\n' "$long"; fi
big=$(for f in $sources; do
    most=800
    case $f in policies/common*) ;; policies/*.c) most=300 ;; esac
    n=$(wc -l <"$f")
    [ "$n" -le $most ] || echo "$f: $n"
done)
if [ -z "$big" ]; then echo "ok files of bearable length"; else printf 'not ok files of bearable length\n%s\n' "$big"; fi
unlisted=$(for f in policies/*.c; do
    sed -n 's/^const struct gsim_policy gsim_policy_\([a-z_0-9]*\) = .*/\1/p' "$f" | while read -r p; do
        [ "$p" = skeleton ] || grep -q "^GSIM_POLICY($p)" policies/list.def || echo "$p"
    done
done)
if [ -z "$unlisted" ]; then echo "ok every policy is listed"; else echo "not ok policies not listed:" $unlisted; fi
tmp=$(mktemp) && trap 'rm -f "$tmp"' EXIT
{ echo 'void f(void) {'; seq 1 80; echo '}'; } >"$tmp"
if [ -n "$(long_functions "$tmp")" ]; then echo "ok the length rule finds breaches"; else echo "not ok the length rule finds breaches"; fi
shown=$(sed -n 's/^    //p' README.md | sed -n '/^traces\/samples\/cluster.csv:/,/^verdict/p' | sed '/^$/d')
if [ "$shown" = "$(sed '/^$/d' tests/golden/demo.out)" ]; then echo "ok the README shows what make demo prints"; else echo "not ok the README shows what make demo prints"; fi
