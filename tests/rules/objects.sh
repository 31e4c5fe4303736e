#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The object files of libgsim.a, and of libapp.a, which is the program without main, have no mutable
# globals; their sources do not exit, and print to no standard streams. $1 is a build.
set -u
build=$1
# The library of cooperative jobs (gsim_job.o) is of a process that is one job: its connection is a
# global.
check_globals() { # archive
    size -A "$1" | awk '
        /:$/ || / :/ || /ex / { object = $1 }
        object ~ /^gsim_job\.o/ { next }
        $1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print object, $1, $2 }'
}
# Children that these files have forked end there; the built-in job complains into its own log.
check_calls() { # names of sources
    grep -vE '^sim/app/(apart/apart|calibrate/processes|drive/(guard|image|mps|process|rows|work_gpu))\.o: U _exit|^sim/app/drive/work\.o: U perror|^sim/app/drive/work_gpu\.o: U stderr|^sim/app/main\.o: ' "$1" |
        grep -E ' U (exit|_exit|_Exit|quick_exit|abort|v?printf|puts|putchar|perror|err|errx|warn|warnx|stdout|stderr|stdin)$'
}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
python3 tests/support/names.py >"$tmp/names"
breaches=$(check_globals "$build/libgsim.a"; check_globals "$build/libapp.a")
if [ -z "$breaches" ]; then echo "ok no mutable globals"; else printf 'not ok no mutable globals\n%s\n' "$breaches"; fi
breaches=$(check_calls "$tmp/names")
if [ "$(wc -l <"$tmp/names")" -le 5000 ]; then breaches="few names: $breaches"; fi
if [ -z "$breaches" ]; then echo "ok the library never exits or prints"; else printf 'not ok the library never exits or prints\n%s\n' "$breaches"; fi
# A header declares what another file uses: the program, or tests and the module of Python, if its own file
# does so as well. What is installed is for other programs.
# Prints the functions and tables of files that no other file uses.
unused() { # names of sources
    awk '
        $2 == "U" { used[$3] = 1 }
        $2 == "T" && $3 ~ /^gsim_/ { at[$3] = 1 }
        END { for (name in at) if (!(name in used)) print name }' "$1" | sort
}
installed=$(cat include/gsim/*.h policies/lib/*.h | grep -o 'gsim_[a-z0-9_]*' | sort -u)
elsewhere=$(cat tests/*/*.c tests/*/*.h python/src/*.c examples/*/*.c | grep -o 'gsim_[a-z0-9_]*' | sort -u)
within=$(cat sim/*/*.c sim/*/*/*.c models/*/*.c policies/*.c policies/*/*.c traces/*.c | grep -o 'gsim_[a-z0-9_]*' | sort | uniq -d)
# The skeleton is what a new policy starts from; the value of a plan is what a test finds no better plan by.
breaches=$(unused "$tmp/names" | grep -vxE 'gsim_policy_skeleton|gsim_future_value' | while read -r name; do
    printf '%s\n' "$installed" | grep -qx "$name" && continue
    printf '%s\n' "$elsewhere" | grep -qx "$name" && printf '%s\n' "$within" | grep -qx "$name" && continue
    echo "$name"
done)
if [ -z "$breaches" ]; then echo "ok headers declare what other files use"; else printf 'not ok headers declare what other files use\n%s\n' "$breaches"; fi
# the rules can fail
mkdir "$tmp/sim"
cat >"$tmp/sim/bad.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int counter = 3;
void bad(void) { counter++; printf("%d\n", counter); exit(1); }
void gsim_bad_alone(void) { bad(); }
C
gcc -c -o "$tmp/bad.o" "$tmp/sim/bad.c" && ar rcs "$tmp/bad.a" "$tmp/bad.o"
python3 tests/support/names.py "$tmp" >"$tmp/bad"
if [ -n "$(check_globals "$tmp/bad.a")" ] && [ "$(check_calls "$tmp/bad" | wc -l)" = 2 ] &&
    [ "$(unused "$tmp/bad")" = gsim_bad_alone ]; then
    echo "ok the object rules find breaches"
else
    echo "not ok the object rules find breaches"
fi
