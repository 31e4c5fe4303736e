#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Leases and auctions of themis, by hand. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

ends() { # name, the ends in seconds, arguments
    name=$1 wanted=$2
    shift 2
    rm -f "$tmp/jobs.csv"
    "$gsim" run --policy themis --quiet --device ideal --jobs-csv "$tmp/jobs.csv" "$@" "$tmp/trace.csv" >"$tmp/log" 2>&1
    got=$(awk -F, 'NR > 1 { printf "%s%s", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv" 2>/dev/null)
    if [ "$got" = "$wanted" ]; then echo "ok $name"; else
        echo "not ok $name: '$got' instead of '$wanted'"
        sed 's/^/# /' "$tmp/log" | head -5
    fi
}

# Two jobs of 100 s on one GPU would end at 200 with half of it each. With f=0.8 one of the two bids, and has
# no rival to pay for. Leases of 40 s, and (age + left) / 200 at their ends: at 40 a has 100/200 and b 140/200,
# so that b gets the GPU; at 80 both have 140/200, and a came first; at 120 a has 140/200 and b 180/200; at
# 160 both have 180/200; a ends at 180.
printf 'job_id,submit_s,duration_s\na,0,100\nb,0,100\n' >"$tmp/trace.csv"
ends "the job that is worst off bids" "180.000000000 200.000000000" --gpus-per-node 1 --set lease=40s
ends "a lease is kept" "100.000000000 200.000000000" --gpus-per-node 1 --set lease=20min
ends "what bidders leave goes to others" "100.000000000 100.000000000" --gpus-per-node 2
# Alone, a has both GPUs, 10 s: the newcomer waits for the end of the lease.
printf 'job_id,submit_s,duration_s,gpus\na,0,100,2\nb,1,50,1\n' >"$tmp/trace.csv"
ends "newcomers wait for a lease to end" "100.000000000 150.000000000" --gpus-per-node 2
# At 20 s, b is worst off: (19 + 50) / 50 against 100 / 195 of a, which has two jobs for 19 of 20 s, so that its
# part is 1.95 * 2 / 2. b takes one GPU, and a the other, on which it is half as fast: 80 s of work, of which
# 25 s are done when b ends at 70. From then on a has a lease of one GPU until 80, and two after that: at 80
# another 5 s are done, and 50 s are left.
ends "a job runs on fewer GPUs than it asks for" "130.000000000 70.000000000" --gpus-per-node 2 --set lease=20s
# At 200, b is worst off, (150 + 300) / 600 against 1000 / 1750 of a, and wins. The memory of a, which is paused,
# leaves b no room before the end of a, so that a goes on.
printf 'job_id,submit_s,duration_s,mem_gib\na,0,1000,50\nb,50,300,50\n' >"$tmp/trace.csv"
ends "a winner that finds no room keeps no GPU idle" "1000.000000000 1300.000000000" --gpus-per-node 1 \
    --set lease=100s --set preempt=pause --set hbm_bytes=80e9B
# a asks for 2 of 4 GPUs and is the worst off all along: at 0 by 45 / 45 against 300 / 600 of b, at 10 by
# (10 + 35) / 45 against (10 + 295) / 600, at 20 by (20 + 15) / 45 against (20 + 287.5) / 600. Its 10 iterations
# of "half" take 5 s, and its 40 of "fall" 40 s on two GPUs, 20 s on one. At 10, 35 are left, and it bids for one
# GPU, on which it ends at 27.5. b has two GPUs until 10, which is 5 s of its work, three until 30, another 15 s,
# and all four for the 280 s from then on.
printf 'device,model,gpus,iterations_per_s\nideal,half,1,1\nideal,half,2,2\nideal,fall,1,2\nideal,fall,2,1\n' >"$tmp/rates.csv"
printf 'job_id,submit_s,duration_s,gpus,phases\na,0,,2,10 half;40 fall\nb,0,300,4,\n' >"$tmp/trace.csv"
ends "a job in another phase bids by its speed there" "27.500000000 310.000000000" --gpus-per-node 4 \
    --set lease=10s --rates "$tmp/rates.csv"
for bad in f=1 lease=0s f=1.5; do
    expect "themis refuses $bad" 2 "themis.${bad%=*}: '${bad#*=}' is not a .*, .* to " \
        "$gsim" run --policy themis --set $bad --device ideal "$tmp/trace.csv"
done
