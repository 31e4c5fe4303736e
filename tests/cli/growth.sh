#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How the cost of a decide grows with the line: in a rush of four times as many jobs a run costs at most
# as much more as n log n does, in instructions, which do not depend on the machine's load. Where jobs
# take turns, a run of more jobs has more turns by more than that: there a turn costs as much more as
# log n does. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

if ! command -v valgrind >/dev/null 2>&1; then
    echo "ok growth # SKIP valgrind is not here (package valgrind)"
    exit 0
fi
cat >"$tmp/rush.ini" <<'END'
[trace]
jobs = 1000
[arrival]
process = poisson
load = 8
gpus = 64
[duration]
distribution = lognormal
mu = 7
sigma = 1.5
[gpus]
choice = 1, 2, 4, 8, 16, 32
weights = 60, 12, 12, 12, 3, 1
END
# Instructions alone are counted, neither calls nor caches, and of a program without what debuggers read:
# most runs are short beside what valgrind does for these.
strip -o "$tmp/gsim" "$gsim"
instructions() { # policy, trace, nodes
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$tmp/gsim" --quiet --policy "$1" --device ideal \
        --nodes "${3:-8}" --gpus-per-node 8 "$2" 2>&1 >"$tmp/out" | sed -n 's/.*I *refs: *//p' | tr -d ,
}
for n in 1000 4000; do
    "$gsim" generate --quiet --spec "trace.jobs=$n" "$tmp/rush.ini" -o "$tmp/$n.csv"
    "$gsim" generate --quiet --spec "trace.jobs=$n" --spec mem_gib.distribution=uniform --spec mem_gib.lo=4 \
        --spec mem_gib.hi=60 --spec mem_gib.round=1 "$tmp/rush.ini" -o "$tmp/${n}mem.csv"
done
# 4 log 4000 / log 1000
most=4.8
for policy in fifo backfill easy-backfill fairshare srtf srsf las tiresias; do
    few=$(instructions "$policy" "$tmp/1000.csv") many=$(instructions "$policy" "$tmp/4000.csv")
    ratio=$(awk -v few="${few:-0}" -v many="${many:-0}" 'BEGIN { printf("%.2f", (few > 0 ? many / few : 99)) }')
    if [ "$(awk -v ratio="$ratio" -v most="$most" 'BEGIN { print(ratio <= most) }')" = 1 ]; then
        echo "ok $policy: four times the jobs cost $ratio times as much"
    else
        echo "not ok $policy: four times the jobs cost $ratio times as much, more than $most"
    fi
done
# log 4000 / log 1000
most_turn=1.2
turns() { # jobs and preemptions of the last run
    awk '$1 == "jobs" { n += $2 } $1 == "preemptions" { n += $2 } END { print(n) }' "$tmp/out"
}
for policy in gandiva suspend:mem adaptive:mem; do
    suffix=${policy#"${policy%:mem}"} policy=${policy%:mem}
    few=$(instructions "$policy" "$tmp/1000${suffix#:}.csv") few_turns=$(turns)
    many=$(instructions "$policy" "$tmp/4000${suffix#:}.csv") many_turns=$(turns)
    ratio=$(awk -v few="${few:-0}" -v many="${many:-0}" -v few_turns="$few_turns" -v many_turns="$many_turns" \
        'BEGIN { printf("%.2f", (few > 0 ? many / many_turns / (few / few_turns) : 99)) }')
    if [ "$(awk -v ratio="$ratio" -v most="$most_turn" 'BEGIN { print(ratio <= most) }')" = 1 ]; then
        echo "ok $policy: among four times the jobs a turn costs $ratio times as much"
    else
        echo "not ok $policy: among four times the jobs a turn costs $ratio times as much, more than $most_turn"
    fi
done

# How the cost of a job grows with the cluster where no job waits: 16384 GPUs against 512, by log n. What
# opening a cluster costs is counted apart, by a run of few jobs.
most_job=1.56 # log 16384 / log 512
"$gsim" generate --quiet --spec trace.jobs=20 --spec arrival.load=0.9 "$tmp/rush.ini" -o "$tmp/opening.csv"
"$gsim" generate --quiet --spec trace.jobs=600 --spec arrival.load=2 "$tmp/rush.ini" -o "$tmp/quiet.csv"
of_jobs() { # policy, nodes: instructions of the jobs
    opening=$(instructions "$1" "$tmp/opening.csv" "$2")
    all=$(instructions "$1" "$tmp/quiet.csv" "$2")
    echo $((all - opening))
}
for policy in fifo srtf timeslice mps mig tgs gang-rr gandiva; do
    few=$(of_jobs "$policy" 64) many=$(of_jobs "$policy" 2048)
    ratio=$(awk -v few="${few:-0}" -v many="${many:-0}" 'BEGIN { printf("%.2f", (few > 0 ? many / few : 99)) }')
    if [ "$(awk -v ratio="$ratio" -v most="$most_job" 'BEGIN { print(ratio <= most) }')" = 1 ]; then
        echo "ok $policy: on 32 times the GPUs a job costs $ratio times as much"
    else
        echo "not ok $policy: on 32 times the GPUs a job costs $ratio times as much, more than $most_job"
    fi
done
