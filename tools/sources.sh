#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# sources.sh OUT.c FILE...: writes SHA-256 sums of the program's sources as a C table, so that a
# result can name the program that made it (sim/app/identity/program.h). FILE... are all sources of
# the program. OUT.c is written only if a sum has changed. With - for OUT.c the parts go to standard
# output, unhashed ("OWNER PART FILE"): tests/rules/sources.sh compares them with the linker's
# choice of files.
#
# A part is a folder of the program's sources, or a file of a policy. A policy has its own file, the
# headers of policies/ that it includes, and each file of policies/ that defines a name that one of
# its files mentions. The names are read from the sources, so that every compiler gives the same
# sums.
set -eu
out=$1
shift
LC_ALL=C
export LC_ALL
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf '%s\n' "$@" | sort -u >"$tmp/files"
# Whatever times files have, equal contents make an equal table: it is as it was, and so is the rest of this script's work.
if [ "$out" != - ]; then
    # Names hold no spaces: they are paths in this tree.
    # shellcheck disable=SC2046
    sha256sum $(cat "$tmp/files") >"$tmp/sums"
    { sha256sum tools/sources.sh && cat "$tmp/sums"; } >"$tmp/made_of"
    if [ -e "$out" ] && cmp -s "$tmp/made_of" "${out%.c}.made_of"; then exit 0; fi
fi
# Of sim/app only the files that make a run from its options, and of sim/study those that fill rows of a
# run: commands, figures and databases change no result.
awk '/^(include\/gsim|sim\/base|sim\/api|sim\/site|sim\/core|traces|models\/[a-z]*)\/[^\/]*\.(c|h|def)$/ {
        room = $0
        sub(/\/[^\/]*$/, "", room)
        print "all", room, $0
    }
    /^sim\/app\/(setup\/(apps|cluster|cluster_file|cluster_parts|devices|foreign|one_run|resampling|set|setup|trace|window)|apart\/(port|watched))\.[ch]$/ { print "all", "sim/app", $0 }
    /^sim\/exec\/[a-z_]*\.[ch]$/ { print "all", "sim/exec", $0 }
    /^sim\/study\/(samples|occupancy)\.[ch]$/ { print "all", "sim/study", $0 }' \
    "$tmp/files" >"$tmp/parts"
# Names hold no spaces: they are paths in this tree.
# shellcheck disable=SC2046
awk '
    FNR == 1 { file[++n] = FILENAME }
    # A definition that other files see begins at the start of a line, or behind a hint (sim/base/hints.h) there.
    FILENAME ~ /\.c$/ && /^(GSIM_[A-Z]+ )?[a-z]/ && !/^(GSIM_[A-Z]+ )?(static|extern|typedef)/ && /[(=]/ {
        head = $0
        sub(/ = .*/, "", head)
        sub(/\(.*/, "", head)
        sub(/\[.*/, "", head)
        if (match(head, /[a-z][a-z0-9_]+$/)) defined_in[substr(head, RSTART)] = FILENAME
    }
    /^#include "policies\// { split($0, part, "\""); uses[FILENAME, part[2]] = 1 }
    {
        k = FILENAME ~ /\.c$/ ? split($0, part, /[^a-z0-9_]+/) : 0
        for (i = 1; i <= k; i++) {
            word = part[i]
            if (word ~ /_/ && !((FILENAME, word) in mentions)) {
                mentions[FILENAME, word] = 1
                words[FILENAME] = words[FILENAME] " " word
            }
        }
    }
    function reach(from, owner,    i, k, list, name) {
        if ((owner, from) in seen) return
        seen[owner, from] = 1
        print owner, from, from
        k = split(words[from], list, " ")
        for (i = 1; i <= k; i++) if (list[i] in defined_in) reach(defined_in[list[i]], owner)
        for (i = 1; i <= n; i++) if ((from, file[i]) in uses) reach(file[i], owner)
    }
    END {
        for (name in defined_in)
            if (name ~ /^gsim_policy_/) reach(defined_in[name], substr(name, 13))
    }' $(grep '^policies/.*\.[ch]$' "$tmp/files") /dev/null | sort >>"$tmp/parts"
if [ "$out" = - ]; then
    cat "$tmp/parts"
    exit 0
fi
{
    echo '/* Made by tools/sources.sh; do not edit. */'
    echo '#include "sim/app/identity/program.h"'
    echo 'const struct gsim_source gsim_sources[] = {'
    awk '$1 == "all" { print $2 }' "$tmp/parts" | uniq | while read -r room; do
        sum=$(awk -v room="$room" '
            NR == FNR { sum[$2] = $1; next }
            $2 == room { print sum[$3], $3 }' "$tmp/sums" "$tmp/parts" | sha256sum)
        echo "    {\"all\", \"$room\", \"${sum%% *}\"},"
    done
    awk 'NR == FNR { sum[$2] = $1; next }
        $1 != "all" { printf "    {\"%s\", \"%s\", \"%s\"},\n", $1, $2, sum[$3] }' "$tmp/sums" "$tmp/parts"
    echo '    {"", "", ""},'
    echo '};'
    sum=$(sha256sum <"$tmp/sums")
    echo "const char gsim_sources_sum[] = \"${sum%% *}\";"
} >"$tmp/made.c"
cmp -s "$tmp/made.c" "$out" || { cp "$tmp/made.c" "$out.$$" && mv "$out.$$" "$out"; }
cp "$tmp/made_of" "${out%.c}.made_of.$$" && mv "${out%.c}.made_of.$$" "${out%.c}.made_of"
