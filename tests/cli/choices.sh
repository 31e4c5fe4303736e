#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which job a policy takes where its rule names one: adaptive by what a way out costs, synergy by equal GPU times. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# Of two jobs that come at 1000 s the large one has the idle GPU. The small one has room beside the memory of the job that has
# to give way, whose copy to the host would take 5 s: no job is kept out if that one stays, so it does. Of the 15 jobs seen two
# are large, so that 2/15 of the 0.3 that come within 20 s would be, for 30 s: 1.2 s.
{
    echo job_id,submit_s,duration_s,gpus,mem_gib
    echo v,0,3000,1,5
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "s$i,$i,1,1,0.125"; done
    echo a,1000,30,1,5
    echo b,1000,30,1,1
} >"$tmp/blocked.csv"
"$gsim" --quiet --policy adaptive --gpus-per-node 2 --device ideal --set context.bytes=0B --set hbm_bytes=8GiB \
    --set pcie.d2h_bytes_per_s=1GiB/s --set pcie.h2d_bytes_per_s=1GiB/s --set pcie.h2d_reused_bytes_per_s=1GiB/s \
    --set restart.stop_ns=20s --set restart.resume_ns=20s --set checkpoint.out_ns=20s --jobs-csv "$tmp/jobs.csv" \
    "$tmp/blocked.csv" >/dev/null 2>"$tmp/err" || cat "$tmp/err"
start=$(awk -F, '$1 == "b" { print $3 }' "$tmp/jobs.csv")
check "adaptive: a job that has been placed is kept out by no memory" 1000.000000000 "$start"

# At 0.4 s the gang of 3 GPUs has had them for 0.1 s and the other job one for 0.3 s, which is as much: the gang came first.
printf 'job_id,submit_s,duration_s,gpus\ngang,0,0.2,3\nlone,0.000000001,1,1\n' >"$tmp/equal.csv"
"$gsim" --quiet --policy synergy --gpus-per-node 3 --device ideal --set order=las --set mode=fair --set synergy.round=0.1s \
    --jobs-csv "$tmp/jobs.csv" "$tmp/equal.csv" >/dev/null 2>"$tmp/err" || cat "$tmp/err"
check "synergy: of jobs with equal GPU time the first to come goes first" 0.500000000 \
    "$(awk -F, '$1 == "gang" { print $4 }' "$tmp/jobs.csv")"

# A search in vain for room for a gang says until when no node has enough, and is not made again before. Shares of GPUs, of one
# job that comes when all others have ended, have each search made: nothing else changes.
awk 'BEGIN {
    x = 11; print "job_id,submit_s,duration_s,gpus"
    for (i = 0; i < 800; i++) {
        x = x * 16807 % 2147483647; t += x % 20; x = x * 16807 % 2147483647; d = 60 + x % 900
        x = x * 16807 % 2147483647; r = x % 100
        print i "," t "," d "," (r < 40 ? 1 : r < 55 ? 2 : r < 70 ? 4 : r < 85 ? 6 : 8)
    }
}' >"$tmp/gangs.csv"
for policy in suspend adaptive; do
    for last in 1 0.5; do
        { cat "$tmp/gangs.csv" && echo "last,9000000,1,$last"; } >"$tmp/with.csv"
        "$gsim" --quiet --policy "$policy" --nodes 16 --gpus-per-node 8 --device ideal --force --jobs-csv "$tmp/jobs.csv" "$tmp/with.csv" \
            >"$tmp/out" 2>"$tmp/err" || cat "$tmp/err"
        grep -v '^last,' "$tmp/jobs.csv" >"$tmp/with$last"
    done
    check "$policy: jobs give way" 1 "$(awk '$1 == "preemptions" { print($2 > 100) }' "$tmp/out")"
    check "$policy: a search that is not made again would find nothing" "$(cksum <"$tmp/with0.5")" "$(cksum <"$tmp/with1")"
done
