#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Past the slice budget, where GPUs page: every end is within half a per cent of what it is without a
# budget (docs/limits.md), and a run that does not end as that one does says that it is approximate. $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh
# Jobs that are all there from the beginning, on a GPU of 16 GiB, some GiB to 11 each, of 100 to 300 iterations of 60 to 190 ms; drawn by
# x <- (16807 x) mod (2^31 - 1). Three or four of 3 GiB and more find part of their memory there in each iteration; eight to twelve of
# 5 GiB and more find nothing, until most of them have ended.
draw() { # seed, fewest jobs, numbers of jobs, least GiB
    awk -v x="$1" -v fewest="$2" -v numbers="$3" -v least="$4" 'function next_of(n) { x = (x * 16807) % 2147483647; return x % n }
        BEGIN {
            print "job_id,submit_s,iterations,gpu_ms,mem_gib"
            for (i = 0; i < 5; i++) next_of(2)
            n = fewest + next_of(numbers)
            for (i = 0; i < n; i++)
                printf "j%d,%d,%d,%d,%.2f\n", i, 0, 100 + next_of(200), 60 + next_of(130), least + next_of((11 - least) * 100) / 100
        }'
}
ends() { # jobs.csv, policy and options...
    jobs=$1
    shift
    "$gsim" run --quiet --device p100 --nodes 1 --gpus-per-node 1 --format json --jobs-csv "$tmp/$jobs" "$@" "$tmp/drawn.csv" 2>>"$tmp/log" |
        grep -o '"approximate":[a-z]*'
}
worst=0 untold=0 extrapolated=0 compared=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
    if [ $seed -le 8 ]; then draw $seed 3 2 3; else draw $seed 8 5 5; fi >"$tmp/drawn.csv"
    case $((seed % 3)) in 0) by="timeslice --set memory=lru" ;; 1) by=uvm ;; 2) by="timeslice --set memory=uvm" ;; esac
    ends exact --policy $by --exact >/dev/null
    says=$(ends short --policy $by --slice-budget 10)
    off=$(paste -d, "$tmp/exact" "$tmp/short" | awk -F, 'NR > 1 {d = $(4 + NF / 2) / $4 - 1; d = d < 0 ? -d : d; m = d > m ? d : m} END {print int(NR < 4 ? 1e6 : m * 1e6)}')
    compared=$((compared + 1))
    case $says in *true) extrapolated=$((extrapolated + 1)) ;; *) [ "$off" -eq 0 ] || untold=$((untold + 1)) ;; esac
    [ "$off" -le "$worst" ] || worst=$off
done
echo "# worst end: $worst ppm, $extrapolated of $compared extrapolated"
check "past the budget no end is off by more than half a per cent" yes "$([ "$worst" -le 5000 ] && echo yes || echo "$worst ppm")"
check "some of the runs are extrapolated" yes "$([ "$extrapolated" -gt 0 ] && echo yes)"
check "what is not exact says so" 0 "$untold"
