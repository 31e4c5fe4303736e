#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The sums of the sources (tools/sources.sh) cover the files that can change a run, and no others: a
# policy has every file that the linker takes for it, and a change of one policy leaves the others'
# sums alone.
set -u
LC_ALL=C
export LC_ALL
. tests/support/check.sh
files=$(ls include/gsim/*.h include/gsim/*.def sim/*/*.[ch] sim/study/*.def sim/app/*/*.[ch] sim/app/*/*.def models/*/*.[ch] models/*/*.def models/devices/*.ini traces/*.[ch] traces/*.def policies/*.[ch] policies/*/*.[ch] policies/*.def)
# --- files that the linker takes: each that defines a name which a file taken before lacks
linked() { # "OWNER FILE.c"
    python3 tests/support/names.py | awk '
        !sub(/^policies\//, "") { next }
        { file = $0; sub(/\.o:.*/, "", file) }
        $2 == "U" { needs[file] = needs[file] " " $3 }
        $2 == "T" { owner[$3] = file }
        function reach(from, policy,    i, n, list) {
            if ((policy, from) in seen) return
            seen[policy, from] = 1
            print policy, "policies/" from ".c"
            n = split(needs[from], list, " ")
            for (i = 1; i <= n; i++) if (list[i] in owner) reach(owner[list[i]], policy)
        }
        END { for (name in owner) if (name ~ /^gsim_policy_/) reach(owner[name], substr(name, 13)) }' | sort -u
}
# shellcheck disable=SC2086
sh tools/sources.sh - $files >"$tmp/parts"
linked >"$tmp/linked"
awk '$1 != "all" { print $1, $3 }' "$tmp/parts" | sort -u >"$tmp/listed"
comm -13 "$tmp/listed" "$tmp/linked" >"$tmp/log"
[ -s "$tmp/linked" ] && [ ! -s "$tmp/log" ]
say "each policy's sums have every file that is linked for it" $?
grep -v "^las policies/lib/service.c$" "$tmp/listed" >"$tmp/short"
[ -n "$(comm -13 "$tmp/short" "$tmp/linked")" ]
say "and a file that is left out is found" $?
for file in sim/core/engine.c sim/base/rng.c models/jobs/shared_gpus.c traces/generate.c $(ls sim/app/setup/*.c | grep -v /command_) sim/study/samples.c include/gsim/policy.h; do
    grep -q " $file\$" "$tmp/parts" || echo "$file"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "the rooms that make a run are summed" $?

# --- the edit-run loop, on a copy
mkdir "$tmp/tree"
# shellcheck disable=SC2086
cp --parents -r tools $files "$tmp/tree"
cd "$tmp/tree" || exit 1
sums() {
    # shellcheck disable=SC2086
    sh tools/sources.sh "$tmp/$1" $files
    sed -n 's/^    {"\([a-z_0-9]*\)", "\([^"]*\)", "\([0-9a-f]*\)".*/\1 \2 \3/p' "$tmp/$1" >"$tmp/$1.sums"
}
changed() { grep -vxFf "$tmp/before.sums" "$tmp/after.sums" | cut -d' ' -f1,2 | sort -u | tr '\n' ';'; }
sums after
edit() { # name, file, what changes
    mv "$tmp/after" "$tmp/before"
    mv "$tmp/after.sums" "$tmp/before.sums"
    echo '/* edited */' >>"$2"
    sums after
    got=$(changed)
    [ "$got" = "$3" ]
    status=$?
    echo "changed: $got" >"$tmp/log"
    say "$1" $status
}
edit "a policy of its own" policies/gang_rr/gang_rr.c "gang_rr policies/gang_rr/gang_rr.c;"
edit "a file that one policy uses" policies/tgs/throttle.c "tgs policies/tgs/throttle.c;"
edit "a file that some share" policies/lib/easy.c "easy_backfill policies/lib/easy.c;fairshare policies/lib/easy.c;"
edit "the core" sim/core/plan.c "all sim/core;"
edit "what makes no run" sim/app/figures/figure.c ""
[ "$(grep -c 'gsim_sources_sum\[\] = "[0-9a-f]\{64\}"' "$tmp/after")" = 1 ] &&
    ! [ "$(tail -1 "$tmp/before")" = "$(tail -1 "$tmp/after")" ]
say "though gsim --version says that it is another build" $?
cp "$tmp/after" "$tmp/again"
touch -d 2001-01-01 "$tmp/again"
touch $files
# shellcheck disable=SC2086
sh tools/sources.sh "$tmp/again" $(printf '%s\n' $files | sort -r)
[ "$(date -r "$tmp/again" +%Y)" = 2001 ]
say "times and order of files change nothing, and nothing is written then" $?
