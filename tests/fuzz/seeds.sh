#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# seeds.sh FOLDER: writes one input (target.h) for every golden case, with the first lines of its
# files, and those of the corpus: inputs that once broke something, and what no golden case shows.
# There a file may be one of the project: '=== NAME PATH'.
set -eu
mkdir -p "$1"
for cmd in tests/golden/*.cmd; do
    seed=$1/golden_$(basename "$cmd" .cmd)
    files=
    words=
    for word in $(grep -v '^#' "$cmd" | sed 's/^-/run -/'); do
        case $word in
        tests/* | traces/*)
            files="$files $word"
            word=$(basename "$word")
            ;;
        /dev/stdout) word=jobs.csv ;;
        esac
        words="$words $word"
    done
    {
        echo "$words"
        for file in $files; do
            echo "=== $(basename "$file")"
            head -n 12 "$file"
        done
    } >"$seed"
done
for input in tests/fuzz/corpus/*; do
    [ -f "$input" ] || continue # the texts of parts
    while IFS= read -r line; do
        case $line in
        '=== '*' '*)
            echo "${line% *}"
            cat "${line##* }"
            ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$input" >"$1/$(basename "$input")"
done
