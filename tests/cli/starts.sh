#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a process takes to start, and the memory of processes that are paused. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

ends() { # options
    "$gsim" run --quiet --device h100-sxm --format csv --jobs-csv "$tmp/jobs.csv" --force "$@" >"$tmp/out" 2>"$tmp/log"
    awk -F, 'NR > 1 { printf("%s%s", (NR > 2 ? " " : ""), $4) }' "$tmp/jobs.csv"
}
cat >"$tmp/two.csv" <<'END'
job_id,submit_s,duration_s,iterations,gpu_ms
a,0,10,100,100
b,0,10,100,100
END
check "a job computes as soon as it is placed" "10.000000000 20.000000000" "$(ends --policy fifo "$tmp/two.csv")"
check "start.first_ns: not before its process has started" "10.500000000 21.000000000" \
    "$(ends --policy fifo --set start.first_ns=500ms "$tmp/two.csv")"
at_once=$(ends --policy timeslice "$tmp/two.csv") later=$(ends --policy timeslice --set start.first_ns=500ms "$tmp/two.csv")
check "on a shared GPU two jobs start side by side" "0.50" \
    "$(echo "$at_once $later" | awk '{ printf("%.2f", $4 - $2) }')"
expect "a start that takes time is named in the result" 0 "start.first_ns" \
    "$gsim" run --policy fifo --device h100-sxm --set start.first_ns=500ms "$tmp/two.csv"

# 2 x 39.4 GiB fit the 79.6 GiB of an H100 without their contexts, and not with them.
cat >"$tmp/pause.csv" <<'END'
job_id,submit_s,duration_s,iterations,gpu_ms,mem_gib
a,0,10,100,100,39.4
b,1,10,100,100,39.4
END
pauses() {
    "$gsim" run --quiet --device h100-sxm --format csv --policy gang-rr --set slice=2s "$@" "$tmp/pause.csv" \
        --jobs-csv "$tmp/jobs.csv" --force >/dev/null 2>"$tmp/log"
    awk -F, 'NR == 3 { print($3 < 10 ? "turns" : "one after the other") }' "$tmp/jobs.csv"
}
check "paused jobs leave no room for another context" "one after the other" "$(pauses --set preempt=pause)"
check "without a context there is room" "turns" "$(pauses --set preempt=pause --set context.bytes=0)"
check "memory that leaves the GPU takes its context's room along" "turns" "$(pauses --set preempt=suspend)"
