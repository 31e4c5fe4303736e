#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tables.sh GSIM: prints docs/sweeps.md with the tables of a database between its two markers.
set -eu
tables=$(mktemp) && trap 'rm -f "$tables"' EXIT
"$1" list tables >"$tables"
[ -s "$tables" ]
awk -v tables="$tables" '
    /^<!-- tables: end/ { is_inside = 0 }
    !is_inside { print }
    /^<!-- tables: made/ {
        is_inside = 1
        print ""
        while ((getline line <tables) > 0) print line
        print ""
    }' docs/sweeps.md
