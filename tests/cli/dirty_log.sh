#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A dirty sacct log to a report in one command; each number of the report about jobs, GPU hours, cost and waits is
# recomputed from what was drawn. $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh

python3 tests/support/dirty_log.py write "$tmp" || exit 1
# as many GPUs as no job waits for: 40 nodes of 8
"$gsim" compare --policies fifo --nodes 40 --gpus-per-node 8 --device ideal --no-what-if --db "$tmp/r.db" "$tmp/log.txt" >"$tmp/out" 2>&1
grep -q 'left out [0-9]* rows (the first is line [0-9]*): they have fewer fields than the 19 of the header' "$tmp/out"
say "bad rows are left out and counted" $?
grep -q 'left out [0-9]* rows .*: they have NUL bytes' "$tmp/out" && grep -q 'left out [0-9]* rows .*: they repeat the header' "$tmp/out"
say "so are NUL bytes and headers in the middle" $?
"$gsim" report "$tmp/r.db" --price 2.5 -o "$tmp/report.html" >"$tmp/log" 2>&1
python3 tests/support/dirty_log.py check "$tmp" >"$tmp/log" 2>&1
say "users, GPU hours, cost and waits of the report are those of the log" $?
expect "with --strict they are errors" 3 'log.txt:[0-9]*: a NUL byte; a trace is text' "$gsim" run --policy fifo --gpus-per-node 8 --strict "$tmp/log.txt"
# 13 of 16 GPU seconds are held, 81.25 %, which C rounds to an even digit: 81.2.
printf 'job_id,submit_s,duration_s,gpus\na,0,2,6\nb,0,1,1\n' >"$tmp/half.csv"
"$gsim" --policy fifo --device ideal --nodes 1 --gpus-per-node 8 --quiet --db "$tmp/half.db" "$tmp/half.csv" >"$tmp/log" 2>&1
"$gsim" report "$tmp/half.db" -o "$tmp/half.html" >"$tmp/log" 2>&1
check "a report rounds as other commands do" "81.2 %" "$(grep -o '81\.[0-9] %' "$tmp/half.html" | head -1)"
