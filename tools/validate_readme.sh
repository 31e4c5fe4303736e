#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# validate_readme.sh GSIM [FILE]: FILE (README.md unless given) with the summary of `gsim validate`
# between its two markers, on standard output. Suites with rows that this version cannot run are left
# out.
set -eu
gsim=$1 file=${2:-README.md}
summary=$(mktemp) && trap 'rm -f "$summary"' EXIT
"$gsim" validate | awk '/^suite / { is_summary = 1; print "    " $0; next }
    is_summary && $8 == 0 { print "    " $0 }' >"$summary"
[ -s "$summary" ]
awk -v summary="$summary" '
    /^<!-- validate: end/ { is_inside = 0 }
    !is_inside { print }
    /^<!-- validate: begin/ {
        is_inside = 1
        print ""
        while ((getline line <summary) > 0) print line
        print ""
    }' "$file"
