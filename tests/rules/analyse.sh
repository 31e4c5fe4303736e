#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What analysers find is mended, or stands in analysers.txt with the reason. cppcheck looks at all of gsim
# in each check; gcc's analyser takes five times as long, and looks under CASES=all (make analyse).
set -u
. tests/support/check.sh
reasons=tests/rules/analysers.txt

# Most of a file's time goes into the headers that it includes: files of one folder are looked at as one, 16 at most;
# under CASES=all each is looked at by itself.
how=joined
[ "${CASES-}" != all ] || how=alone
joined() { # folders: prints the folder of what joins their files
    rm -rf "$tmp/joined"
    mkdir "$tmp/joined"
    find "$@" -name '*.c' | LC_ALL=C sort | awk -v to="$tmp/joined/" '
        { folder = $0; sub(/\/[^\/]*$/, "", folder) }
        folder != last || ++n == 16 { n = 0; last = folder; close(out); out = to (++joined) ".c" }
        { print "#include \"" $0 "\"" >out }'
    echo "$tmp/joined"
}
by_cppcheck() { # folders
    # without CASES=all, of what a macro of a build leaves out and lets in, one way: what the sanitizers' build alone has
    # is a quarter of the time
    # is a quarter of the time; and values are followed once through a function, and not four times, which took two fifths
    # of the time and found two places more, of 25, both reasoned away
    [ $how = alone ] || set -- --max-configs=1 --valueflow-max-iterations=1 "$(joined "$@")"
    rm -rf "$tmp/cppcheck"
    mkdir "$tmp/cppcheck"
    cppcheck --std=c11 --enable=warning,portability -q -I. -Iinclude --cppcheck-build-dir="$tmp/cppcheck" \
        --template='{file} {id}' "$@" 2>&1 >/dev/null | grep '^[a-z].*/.* [a-zA-Z]*$'
}
by_gcc() { # files
    printf '%s\n' "$@" | xargs -P "$(nproc)" -n 8 sh -c 'for file; do
        gcc -std=c11 -O1 -fanalyzer -I. -Iinclude -c -o /dev/null "$file" 2>&1
    done' - | sed -n 's/^\([a-z][^:]*\):[0-9]*:[0-9]*: warning: .*\[\(CWE-[0-9]*\] \[\)*-Wanalyzer-\([a-z-]*\)\]$/\1 \3/p'
}

# Prints the findings without a reason, and the reasons without a finding. Findings come as "FILE KIND". What comes
# only where files are looked at alone, or joined, has the analyser "cppcheck alone" or "cppcheck joined".
judge() { # analyser, list of reasons
    LC_ALL=C sort -u | awk -F '\t' -v analyser="$1" -v how="$1 $how" -v list="$2" '
        BEGIN {
            while ((getline <list) > 0)
                if ($1 == analyser || $1 == how) reason[$2 " " $3] = 1
        }
        {
            split($0, part, " ")
            key = (("* " part[2]) in reason) ? "* " part[2] : $0
            if (key in reason) comes[key] = 1
            else print "no reason for: " $0
        }
        END {
            for (key in reason) if (!(key in comes)) print "comes no more: " key
        }' | LC_ALL=C sort
}
hold() { # analyser
    judge "$1" $reasons >"$tmp/log"
    [ ! -s "$tmp/log" ]
    say "what $1 finds is mended or reasoned away" $?
}

if ! command -v cppcheck >/dev/null; then
    echo "ok what cppcheck finds # SKIP there is no cppcheck"
elif ! cppcheck --version | grep -q ' 2\.10'; then
    echo "ok what cppcheck finds # SKIP the reasons are of version 2.10"
else
    by_cppcheck sim models traces policies | hold cppcheck
fi
if [ "${CASES-}" = all ] && gcc -dumpversion | grep -q '^12'; then
    # shellcheck disable=SC2046 # names without spaces
    by_gcc $(git ls-files 'sim/*.c' 'models/*.c' 'traces/*.c' 'policies/*.c') | hold gcc
fi

# --- the rule itself ---------------------------------------------------------------------------------
printf 'tool\ta.c\tkind\twhy\ntool\tb.c\tkind\twhy\ntool\t*\tother\twhy\n' >"$tmp/list"
check "a finding needs a reason, and a reason a finding" "comes no more: b.c kind
no reason for: c.c kind" "$(printf 'c.c kind\na.c kind\nz.c other\na.c kind\n' | judge tool "$tmp/list")"
mkdir -p "$tmp/sim"
printf 'static int at(const int *list) {\n    return list[1];\n}\nint first(const int *list) {\n    return at(list);\n}\n' >"$tmp/sim/a.c"
printf 'static int at(const int *list) {\n    int last;\n    return list[last];\n}\nint then(const int *list) {\n    return at(list);\n}\n' >"$tmp/sim/bad.c"
if command -v cppcheck >/dev/null; then
    check "cppcheck finds a variable that is read before it is written, beside a function of the same name" "sim/bad.c uninitvar" \
        "$(cd "$tmp" && by_cppcheck sim | sort -u)"
fi
