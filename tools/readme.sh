#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# readme.sh GSIM BLOCK [FILE]: prints FILE (README.md unless given) with gsim's output between the
# two markers of that block. BLOCK: demo, the output of `make demo`; validate, the summary of `gsim
# validate` without suites that have rows that this version cannot run; VALIDATED is a file with the
# output of that command, when it has been run.
set -eu
gsim=$1 block=$2 file=${3:-README.md}
text=$(mktemp) && trap 'rm -f "$text"' EXIT
case $block in
demo)
    echo '$ make demo' >"$text"
    sh tools/demo.sh "$gsim" >>"$text" 2>&1
    ;;
validate)
    if [ -z "${VALIDATED-}" ]; then "$gsim" validate; else cat "$VALIDATED"; fi | awk '/^suite / { is_summary = 1; print; next } is_summary && $8 == 0' >"$text"
    ;;
esac
[ -s "$text" ]
awk -v text="$text" -v block="$block" '
    index($0, "<!-- " block ": end") == 1 { is_inside = 0 }
    !is_inside { print }
    index($0, "<!-- " block ": begin") == 1 {
        is_inside = 1
        print ""
        while ((getline line <text) > 0) print line == "" ? "" : "    " line
        print ""
    }' "$file"
