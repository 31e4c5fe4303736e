#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policy muri: the rates of interleaved jobs by hand, jobs without stages, what is refused, and Muri's
# program beside it. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

trace() { # rows
    { echo "job_id,submit_s,gpus,duration_s,iterations,iteration_ms,stage_host_ms,stage_gpu_ms,stage_net_ms"; printf '%s\n' "$@"; } >"$tmp/trace.csv"
}
ends() { # name, the ends in seconds, arguments
    name=$1 wanted=$2
    shift 2
    rm -f "$tmp/jobs.csv"
    "$gsim" run --policy muri --quiet --jobs-csv "$tmp/jobs.csv" "$@" "$tmp/trace.csv" >"$tmp/log" 2>&1
    got=$(awk -F, 'NR > 1 { printf "%s%.3f", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv")
    if [ "$got" = "$wanted" ]; then echo "ok $name"; else
        echo "not ok $name: '$got' instead of '$wanted'"
        sed 's/^/# /' "$tmp/log" | head -5
    fi
}

# --- on a device without costs --------------------------------------------------------------------
# One loads for 300 ms while the other computes for 300 ms, so that both run as if alone.
trace a,0,1,300,1000,300,300,0,0 b,0,1,300,1000,300,0,300,0
ends "a job that loads beside one that computes" "300.000 300.000" --device ideal --gpus-per-node 1
# Together an iteration of each would take 600 ms and more, as long as one after the other: b waits.
trace a,0,1,300,1000,300,0,300,0 b,0,1,600,2000,300,0,300,0
ends "jobs that need one resource are no faster together" "300.000 900.000" --device ideal --gpus-per-node 1
# With room for both there is nothing to pack.
ends "jobs that have room are not packed" "300.000 600.000" --device ideal --gpus-per-node 2
# The device's factor: 300 s at half the speed.
trace a,0,1,300,1000,300,300,0,0 b,0,1,300,1000,300,0,300,0
ends "the device's factor of two jobs" "600.000 600.000" --device ideal --gpus-per-node 1 --set interleave.pair_ppm=500000
# Gangs of one width share GPUs, others do not: c waits for a and b.
trace a,0,2,300,1000,300,300,0,0 b,0,2,300,1000,300,0,300,0 c,0,1,900,3000,300,0,0,300
ends "gangs of one width" "300.000 300.000 1200.000" --device ideal --gpus-per-node 2
trace a,0,1,300,1000,300,300,0,0 b,0,1,300,1000,,,,
ends "a job without stages has GPUs to itself" "300.000 600.000" --device ideal --gpus-per-node 1
if grep -q "1 of 2 jobs have GPUs to themselves" "$tmp/log" ||
    "$gsim" run --policy muri --device ideal --gpus-per-node 1 "$tmp/trace.csv" 2>&1 | grep -q "1 of 2 jobs have GPUs to themselves"; then
    echo "ok the result says which jobs were not packed"
else
    echo "not ok the result says which jobs were not packed"
fi

# --- what is refused ------------------------------------------------------------------------------
expect "a rule of the simulator alone" 2 "rules other than muri-s, muri-l and in-order are those of Muri's simulator" \
    "$gsim" run --policy muri --set rule=shortest --device ideal "$tmp/trace.csv"
expect "reference=muri without stages" 3 "trace.csv:3: muri: reference=muri needs iterations and iteration_ms" \
    "$gsim" run --policy muri --set reference=muri "$tmp/trace.csv"
trace a,0,1,300,1000,300,,,
expect "reference=muri without an iteration's stages" 3 "needs the stages of an iteration" \
    "$gsim" run --policy muri --set reference=muri "$tmp/trace.csv"
expect "reference=muri of another policy" 2 "policy 'fifo' has no reference=muri" \
    "$gsim" run --policy fifo --set reference=muri "$tmp/trace.csv"

# --- reference=muri by hand -----------------------------------------------------------------------
# a alone: 1000 iterations of 300 ms times 1.015; the start of b at 100 s costs a, which ran since 0,
# 10 s of its time, and nothing is charged until its own end: 304.5 + 10 s. b has its own GPU.
trace a,0,1,300,1000,300,0,300,0 b,100,1,300,1000,300,0,300,0
ends "an event costs each running job its start" "314.500 414.500" --set reference=muri --gpus-per-node 2

# A gang that nodes of several sizes can only hold in pieces does not wait for whole nodes.
printf 'job_id,submit_s,duration_s,gpus\na,0,10,1\nb,0,5,13\n' >"$tmp/wide.csv"
printf '[node wide]\ncount = 2\ngpus = 4\ndevice = ideal\n[node small]\ncount = 3\ngpus = 2\ndevice = ideal\n' >"$tmp/sizes.ini"
"$gsim" run --quiet --policy muri --cluster "$tmp/sizes.ini" --jobs-csv "$tmp/wide-jobs.csv" "$tmp/wide.csv" >"$tmp/log" 2>&1
say "a gang in pieces" $?
check "it runs beside the other job" "10 5" "$(awk -F, 'NR > 1 { printf("%s%d", NR > 2 ? " " : "", $4) }' "$tmp/wide-jobs.csv")"

expect "jobs that pause where they are" 2 "preempt=pause is none of it" \
    "$gsim" run --quiet --policy muri --set preempt=pause --cluster "$tmp/sizes.ini" "$tmp/wide.csv"

# --- what events change ---------------------------------------------------------------------------
# Where no job shares GPUs and gangs divide the nodes, or where all jobs have GPUs, an event looks at what has
# changed. One job more, which comes when all others have ended, has stages and a width that divides no node:
# with it each event decides anew, and the jobs before it run alike. On 32 GPUs a long line waits, and gangs
# have all others placed anew; on 256 most jobs fit.
cat >"$tmp/rush.ini" <<'END'
[trace]
jobs = 400
[arrival]
process = poisson
load = 3
gpus = 32
[duration]
distribution = lognormal
mu = 6
sigma = 1.5
[gpus]
choice = 1, 2, 4, 8, 16
weights = 60, 12, 12, 12, 4
END
"$gsim" generate --quiet "$tmp/rush.ini" -o "$tmp/rush.csv"
grep -v '^#' "$tmp/rush.csv" | awk -F, -v OFS=, '
    NR == 1 { print $0, "iterations,iteration_ms,stage_host_ms,stage_gpu_ms,stage_net_ms"; next }
    { print $0, ",,,," } END { print "late,100000000,300,3,1000,300,0,300,0" }' >"$tmp/whole.csv"
for nodes in 4 32; do
    for device in ideal h200; do
        for name in rush whole; do
            "$gsim" run --quiet --policy muri --nodes $nodes --gpus-per-node 8 --device $device \
                --jobs-csv "$tmp/$name-jobs.csv" "$tmp/$name.csv" >"$tmp/log" 2>&1
        done
        sed '/^late,/d' "$tmp/whole-jobs.csv" | cmp -s - "$tmp/rush-jobs.csv" && [ "$(wc -l <"$tmp/rush-jobs.csv")" -gt 400 ]
        say "events on $nodes nodes of $device change what whole decisions do" $?
        rm -f "$tmp/rush-jobs.csv" "$tmp/whole-jobs.csv"
    done
done

# --- the program itself, where its results are at hand --------------------------------------------
shared=$(dirname "$0")/../../../shared/validation/elastic
if [ ! -d "$shared" ]; then
    echo "# skipped: Muri's runs job by job: no ../shared/validation/elastic"
    exit 0
fi
one_row() { # trace, its short name, policy, jobs
    GSIM=$gsim JOBS_CSV=$tmp/own.csv sh "$(dirname "$0")/../../experiments/elastic/reference.sh" "$shared" muri \
        "muri/$1" "8 nodes x 8 GPUs, yarn" "$3" >"$tmp/log" 2>&1
    gzip -dc "$shared/visible/jobs/muri.$2.$3.csv.gz" | awk -F, -v jobs="$4" '
        NR == FNR { end[$1] = $5; next }
        FNR > 1 && ((d = $4 - end[$1]) > 1e-6 || d < -1e-6) { n++ }
        FNR > 1 && end[$1] != "" { had++ }
        END { exit n > 0 || had < jobs }' - "$tmp/own.csv" &&
        echo "ok every job of $1 under $3 ends within a microsecond" || echo "not ok the jobs of $1 under $3"
}
for policy in antman dlas-gpu multi-resource-blossom-same-gpu multi-resource-gpu-unaware shortest; do
    one_row trace3_first200.csv t3_200 $policy 200
done
for policy in multi-resource-blossom-same-gpu-unaware multi-resource-gpu-unaware shortest shortest-gpu; do
    one_row trace4_first150.csv t4_150 $policy 150
done
for policy in dlas-gpu multi-resource-gpu-unaware shortest; do
    one_row trace1_first200.csv t1_200 $policy 200
done
