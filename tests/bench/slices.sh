#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Processor time of a time slice: jobs with drawn iterations share one GPU for $2 seconds (6000) under each of the policies, by
# `sh tests/bench/slices.sh ./gsim [SECONDS [POLICY ...]]`. $1 is gsim. The start of the program is part of each row.
set -eu
gsim=$(realpath "$1")
seconds=${2:-6000}
shift "$(($# < 2 ? $# : 2))"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
draw() { # jobs; x <- (16807 x) mod (2^31 - 1)
    awk -v n="$1" -v s="$seconds" 'function next_of(m) { x = (x * 16807) % 2147483647; return x % m }
        BEGIN {
            x = 1
            print "job_id,submit_s,iterations,gpu_ms,kernels,mem_gib"
            for (i = 0; i < n; i++) {
                ms = 60 + next_of(140000000) / 1e6
                printf "j%d,0,%d,%.6f,%d,0.2\n", i, 1 + s * 1000 / n / ms * (0.5 + next_of(1000) / 1000), ms, 300 + next_of(900)
            }
        }'
}
for policy in ${*:-timeslice uvm nvshare vgpu}; do
    for jobs in 2 10 50 250; do
        draw $jobs >"$tmp/trace.csv"
        ("$gsim" run --quiet --policy "$policy" --device h200 --nodes 1 --gpus-per-node 1 --format json "$tmp/trace.csv" >"$tmp/result" && times >"$tmp/times")
        user=$(awk -F'[ ms]' 'NR == 2 {print $1 * 60 + $2}' "$tmp/times") # of the child: 0m1.23s 0m0.04s
        grep -o '"turns":[0-9]*\|"skipped":[0-9.e-]*' "$tmp/result" | tr ':\n' '  ' |
            awk -v p="$policy" -v n=$jobs -v u="$user" '{ t = $2 * (1 - $4); printf "%-10s %4d jobs %10d slices simulated %7.2f s %8.1f ns each\n", p, n, t, u, (t > 0 ? u * 1e9 / t : 0) }'
    done
done
