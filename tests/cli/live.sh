#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The live view (--live): on terminals of several sizes, in a log, and that it changes no result.
# $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
live=$(dirname "$0")/live.py

check() { # name, what is wanted, what is there
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: '$3', not '$2'"; fi
}
value() { # name in the last view
    sed -n "s/^$1 //p" "$tmp/view"
}
# A run may have ended before the view is drawn, where the machine has nothing else to do: how many runs the fullest
# view has is up to the machine, and where it has none the command is run again.
view_of_runs() { # columns, rows, pattern of a run's line, command...
    columns=$1 rows=$2 pattern=$3
    shift 3
    for _ in 1 2 3 4 5 6 7 8; do
        python3 "$live" "$columns" "$rows" "$tmp/out" "$@" >"$tmp/view" 2>&1
        grep -q "$pattern" "$tmp/view" && return
    done
}
few() { # limit, name, number: one at least, and no more than the limit
    check "$2" yes "$([ "$3" -ge 1 ] && [ "$3" -le "$1" ] && echo yes || echo "$3 of $1")"
}
at_most() { # name, limit, number
    check "$1" yes "$([ "$3" -le "$2" ] && echo yes || echo "$3 is above $2")"
}

# Each job begins when the one before it has ended: the policies have equal work, and a run takes some
# tenths of a second, in which the view is drawn several times.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"
    for (i = 0; i < 80000; i++) print i "," i * 10 "," 5 + i * 7 % 90 "," 1 + i % 3 }' >"$tmp/long.csv"
set -- compare --no-what-if --policies fifo,backfill,srtf,easy-backfill --nodes 3 --gpus-per-node 4 \
    -j 4 "$tmp/long.csv"
"$gsim" "$@" >"$tmp/plain" 2>"$tmp/plain.err"

for size in '80 24' '60 8' '30 5'; do
    columns=${size% *} rows=${size#* }
    python3 "$live" "$columns" "$rows" "$tmp/out" "$gsim" "$@" --live >"$tmp/view" 2>&1
    check "$columns x $rows: exit" 0 "$(value exit)"
    check "$columns x $rows: results as without it" yes "$(cmp -s "$tmp/plain" "$tmp/out" && echo yes || echo no)"
    at_most "$columns x $rows: columns" "$columns" "$(value columns)"
    at_most "$columns x $rows: rows" "$rows" "$(value rows)"
    # the view is wiped, and only the warnings are left, each in a row of its own
    check "$columns x $rows: what is left" "$(wc -l <"$tmp/plain.err" | tr -d ' ')" "$(value left)"
done
view_of_runs 80 24 '^|.* of 80000 jobs done' "$gsim" "$@" --live
n=$(grep -c '^|.* of 80000 jobs done, .* simulated' "$tmp/view")
few 4 "80 x 24: a paragraph a run" "$n"
check "80 x 24: charts" $((2 * n)) "$(grep -c '^|  [Gw][PUsaiting hld]* .*|[^|]*|$' "$tmp/view")"
view_of_runs 60 8 '/80000 ' "$gsim" "$@" --live
few 4 "60 x 8: a line a run" "$(grep -c '/80000 ' "$tmp/view")"

# Two jobs of 10 s on one GPU: the second waits 10 s for its start, so 5 s in the mean, and the run
# ends at 20 s. In a log that is one line, without control characters.
printf 'job_id,submit_s,duration_s\na,0,10\nb,0,10\n' >"$tmp/two.csv"
"$gsim" --live --policy fifo --gpus-per-node 1 "$tmp/two.csv" >/dev/null 2>"$tmp/err"
check "in a log" "gsim: fifo on two.csv: 2 of 2 jobs done, 20 s simulated, 0 waiting, 0.0 of 1 GPUs held, wait 5 s in the mean" \
    "$(grep 'jobs done' "$tmp/err")"
check "in a log: no control characters" 0 "$(LC_ALL=C tr -d '\n -~' <"$tmp/err" | wc -c | tr -d ' ')"
"$gsim" --live --quiet --policy fifo --gpus-per-node 1 "$tmp/two.csv" >/dev/null 2>"$tmp/err"
check "--quiet: nothing" 0 "$(wc -c <"$tmp/err" | tr -d ' ')"

# Samples, the timeline and the view see a run together; what is kept of it stays.
for view in '' --live; do
    "$gsim" $view --force --policy srtf --gpus-per-node 1 --timeline "$tmp/t$view.json" --db "$tmp/r$view.db" \
        --format json "$tmp/two.csv" 2>/dev/null | sed 's/"wall_s":[^,}]*//' >"$tmp/json$view"
    sqlite3 "$tmp/r$view.db" 'SELECT config FROM run; SELECT * FROM sample; SELECT * FROM job' >"$tmp/rows$view"
done
for file in json rows t; do
    [ $file = t ] && end=.json || end=
    check "with samples and timeline: $file" yes \
        "$(cmp -s "$tmp/$file$end" "$tmp/$file--live$end" && [ -s "$tmp/$file$end" ] && echo yes || echo no)"
done

printf 'trace = %s\npolicy = fifo, srtf\nnodes = 3, 4\ngpus-per-node = 4\n' "$tmp/long.csv" >"$tmp/grid.ini"
python3 "$live" 80 24 "$tmp/out" "$gsim" sweep --live -j 2 "$tmp/grid.ini" -o "$tmp/sweep.db" >"$tmp/view" 2>&1
check "a sweep" 0 "$(value exit)"
few 2 "a sweep: two runs at a time" "$(grep -c '^|.* of 80000 jobs done' "$tmp/view")"
check "a sweep: all runs" 4 "$(sqlite3 "$tmp/sweep.db" 'SELECT count(*) FROM run')"
