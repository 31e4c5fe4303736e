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
awk -F, -v OFS=, '{ print $0, NR == 1 ? "startup_s" : NR == 2 ? "0.25" : "" }' "$tmp/two.csv" >"$tmp/own.csv"
check "startup_s: a row's own, in place of the key" "10.250000000 20.750000000" \
    "$(ends --policy fifo --set start.first_ns=500ms "$tmp/own.csv")"
check "which has its waits for the driver in it" "10.250000000 10.500000000" \
    "$(ends --policy fifo --gpus-per-node 2 --set start.first_ns=500ms --set start.serial_ns=400ms "$tmp/own.csv")"
at_once=$(ends --policy timeslice "$tmp/two.csv") later=$(ends --policy timeslice --set start.first_ns=500ms "$tmp/two.csv")
check "on a shared GPU two jobs start side by side" "0.50" \
    "$(echo "$at_once $later" | awk '{ printf("%.2f", $4 - $2) }')"
expect "a start that takes time is named in the result" 0 "start.first_ns" \
    "$gsim" run --policy fifo --device h100-sxm --set start.first_ns=500ms "$tmp/two.csv"

# Processes that start at once wait for the driver of their host: 100 ms of each start are its work.
serial() { # trace, options: the ends
    trace=$1
    shift
    ends --policy fifo --set start.first_ns=300ms --set start.serial_ns=100ms "$@" "$trace"
}
check "two starts at once: the driver has done both after 200 ms, the rest goes on side by side" \
    "10.400000000 10.400000000" "$(serial "$tmp/two.csv" --nodes 1 --gpus-per-node 2)"
check "a start on another node does not wait" "10.300000000 10.300000000" \
    "$(serial "$tmp/two.csv" --nodes 2 --gpus-per-node 1)"
sed 's/^b,0,/b,0.05,/' "$tmp/two.csv" >"$tmp/late.csv"
# the first has 50 ms of the driver alone and 50 at half speed, the second 50 at half speed and 50 alone
check "the driver works for all at equal rates" "10.350000000 10.400000000" "$(serial "$tmp/late.csv" --nodes 1 --gpus-per-node 2)"
printf 'job_id,submit_s,duration_s,gpus\na,0,10,2\n' >"$tmp/gang.csv"
check "a gang's process makes its contexts one after the other" "10.400000000" "$(serial "$tmp/gang.csv" --nodes 1 --gpus-per-node 2)"
check "a start alone takes what it took" "10.300000000 20.600000000" "$(serial "$tmp/two.csv" --nodes 1 --gpus-per-node 1)"
stalls() { # options: the time on its GPUs in which each job did not compute
    ends "$@" >/dev/null
    awk -F, 'NR > 1 { printf("%s%s", (NR > 2 ? " " : ""), $15) }' "$tmp/jobs.csv"
}
sed 's/^b,0,/b,1,/' "$tmp/two.csv" >"$tmp/beside.csv"
check "the first process on a GPU brings it up, and one beside it need not" "0.300000000 0.220000000" \
    "$(stalls --policy timeslice --set start.first_ns=300ms --set start.wake_ns=80ms "$tmp/beside.csv")"
check "once the GPU is without processes, the next one brings it up again" "0.300000000 0.300000000" \
    "$(stalls --policy fifo --set start.first_ns=300ms --set start.wake_ns=80ms "$tmp/beside.csv")"

# The end of a process keeps its GPUs, and the driver busy.
printf 'job_id,submit_s,duration_s\na,0,10\nb,0,10\n' >"$tmp/plain.csv"
check "end.process_ns: its GPUs are free when its process is gone" "10.120000000 20.240000000" \
    "$(ends --policy fifo --set end.process_ns=120ms "$tmp/plain.csv")"
check "two ends at once" "10.170000000 10.170000000" \
    "$(ends --policy fifo --nodes 1 --gpus-per-node 2 --set end.process_ns=120ms --set end.serial_ns=50ms "$tmp/plain.csv")"
check "in which a job does not compute" "0.170000000 0.170000000" \
    "$(stalls --policy fifo --nodes 1 --gpus-per-node 2 --set end.process_ns=120ms --set end.serial_ns=50ms "$tmp/plain.csv")"
check "the last process of a GPU lets it rest" "0.080000000 0.120000000" \
    "$(stalls --policy timeslice --set end.process_ns=120ms --set end.sleep_ns=40ms "$tmp/beside.csv")"
# A job that is restarted: 10 ms of its end are the driver's, and no other process is there.
printf 'job_id,submit_s,duration_s,iterations,gpu_ms\na,0,10,100,100\nb,2,1,10,100\n' >"$tmp/restart.csv"
check "restarts have both parts" "12.100000000 3.420000000" \
    "$(ends --policy srtf --set preempt=restart --set restart.stop_ns=120ms --set restart.resume_ns=380ms --set start.first_ns=300ms --set start.serial_ns=100ms --set end.serial_ns=10ms "$tmp/restart.csv")"
"$gsim" run --quiet --device h100-sxm --policy srtf --set preempt=restart --set restart.stop_ns=120ms --set end.process_ns=90ms \
    --set end.serial_ns=50ms --set start.first_ns=300ms --set start.serial_ns=100ms --db "$tmp/r.db" "$tmp/restart.csv" >/dev/null 2>&1
expect "the laws hold" 0 "nothing that cannot be" "$gsim" check "$tmp/r.db"

# Processes are counted right wherever jobs go: to their hosts and back to other GPUs, and off nodes that fail.
for policy in "las --set preempt=suspend --set quantum=1s" "suspend --set quantum=1s" "gang-rr --set slice=1s --set preempt=pause"; do
    # shellcheck disable=SC2086
    "$gsim" run --quiet --policy $policy --device h100-sxm --nodes 2 --gpus-per-node 2 --assume mem_gib=8 --mtbf 60s \
        --mttr 5s --checkpoint 1s --set start.first_ns=3s --set start.wake_ns=1s --set start.serial_ns=1s \
        --set end.process_ns=2s --set end.sleep_ns=1s --db "$tmp/moved.db" experiments/validate/drive/fourteen_jobs_two_gpus.csv >/dev/null 2>&1
    say "$policy" $?
done
expect "the laws hold of them" 0 "1 file, 3 runs: nothing that cannot be" "$gsim" check "$tmp/moved.db"

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
check "nor where they pause at the end of an iteration" "one after the other" "$(pauses --set preempt=pause-iteration)"
check "without a context there is room" "turns" "$(pauses --set preempt=pause --set context.bytes=0)"
check "memory that leaves the GPU takes its context's room along" "turns" "$(pauses --set preempt=suspend)"

# 2.0085 s in 167 iterations are 12.0269461... ms each: whole ns of them end 18 ns before the work does. A stop in
# the last one, asked for at 2 s, waits for the end of the work, and leaves no job with 18 ns for another turn.
cat >"$tmp/pause.csv" <<'END'
job_id,submit_s,duration_s,iterations,gpu_ms,mem_gib
a,0,2.0085,167,4,3
b,0.1,20,500,40,3
END
for way in pause-iteration restart; do
    pauses --set preempt=$way >/dev/null
    check "the last iteration ends with the work (preempt=$way)" 2.008500000 "$(awk -F, '$1 == "a" { print $4 }' "$tmp/jobs.csv")"
done

# Least service first, where b starts up from 2 to 7. a has had 3 s when c comes, and c 2 s when d comes; d ends at 6, c
# has 3 s at 7. Then b runs alone, up to 3 s at 10. From there a, b and c share the GPU, with 7, 7 and 1 s left: c ends
# at 13, the others have 6 s left then.
printf 'job_id,submit_s,duration_s,startup_s\na,0,10,0\nb,2,10,5\nc,3,4,0\nd,5,1,0\n' >"$tmp/las.csv"
ends --policy las --nodes 1 --gpus-per-node 1 "$tmp/las.csv" >/dev/null
check "las: a job that starts up shares nothing until it computes" "25.00 25.00 13.00 6.00" \
    "$(awk -F, 'NR > 1 { printf("%s%.2f", (NR > 2 ? " " : ""), $4) }' "$tmp/jobs.csv")"
printf 'job_id,submit_s,duration_s\na,0,900\nb,0,900\nc,100,900\nd,300,900\ne,500,900\n' >"$tmp/fail.csv"
for seed in 1 2 3 4 5; do
    expect "las: jobs come while others come back from a failure, seed $seed" 0 "" "$gsim" run --policy las --nodes 1 \
        --gpus-per-node 1 --device h100-sxm --mtbf 300s --mttr 1s --checkpoint 1s --seed "$seed" --quiet "$tmp/fail.csv"
done

# The memory of a, which is paused after its first rounds, leaves b no room before a ends.
printf 'job_id,submit_s,duration_s,mem_gib\na,0,3000,50\nb,50,3000,50\n' >"$tmp/full.csv"
check "shockwave: where a chosen job finds no room, another one runs" "3000.000000000 6000.000000000" \
    "$(ends --policy shockwave --set preempt=pause --nodes 1 --gpus-per-node 1 "$tmp/full.csv")"

# a is paused for b, which needs the memory of a: no job of the round finds room, and a goes on. Both waited until one had
# waited for 1000 hours, from which on it goes first: three times.
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,1000,1,70\nb,10,1000,2,70\n' >"$tmp/shut.csv"
check "synergy: where no job of the round finds room, a paused one goes on" "1900 2900" \
    "$(ends --policy synergy --set order=las --set preempt=pause --nodes 1 --gpus-per-node 2 "$tmp/shut.csv" | awk '{ printf "%.0f %.0f", $1, $2 }')"

# c finds no room beside a, and b comes in the middle of a round: the plan, which does not know b, is not asked for others then.
printf 'job_id,submit_s,duration_s,gpus\na,0,1000,3\nb,500,400,7\nc,200,600,4\n' >"$tmp/amid.csv"
printf '[node n0]\ngpus=1\nswitch_nodes=3\n[node n1]\ncount=3\ngpus=2\n' >"$tmp/amid.ini"
check "shockwave: a job comes while a chosen one has no room" "1000 1900 2000" \
    "$(ends --policy shockwave --set round=60s --set preempt=pause --cluster "$tmp/amid.ini" "$tmp/amid.csv" | awk '{ printf "%.0f %.0f %.0f", $1, $2, $3 }')"
