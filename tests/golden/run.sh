#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Golden tests: NAME.cmd holds the arguments of gsim, NAME.out what it prints. run.sh GSIM compares;
# run.sh GSIM update rewrites. Each case says in a comment of its .cmd how the numbers come about.
set -u
gsim=$1
for cmd in tests/golden/*.cmd; do
    out=${cmd%.cmd}.out
    got=$(grep -v '^#' "$cmd" | xargs "$gsim" 2>&1)
    if [ "${2:-}" = update ]; then
        printf '%s\n' "$got" >"$out"
    elif [ "$got" = "$(cat "$out")" ]; then
        echo "ok $(basename "$cmd" .cmd)"
    else
        echo "not ok $(basename "$cmd" .cmd)"
        printf '%s\n' "$got" | diff "$out" - | sed 's/^/# /'
    fi
done
