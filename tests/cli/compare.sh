#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What compare says besides its table. $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>&1
    got=$?
    if [ $got -eq "$code" ] && grep -q -e "$pattern" "$tmp/out"; then
        echo "ok $name"
    else
        echo "not ok $name: exit $got"
        sed 's/^/# /' "$tmp/out" | tail -5
    fi
}
said() { if grep -q -e "$2" "$tmp/out"; then echo "ok $1"; else echo "not ok $1"; fi; }
unsaid() { if grep -q -e "$2" "$tmp/out"; then echo "not ok $1"; else echo "ok $1"; fi; }

cluster="--nodes 2 --gpus-per-node 8"
t=traces/samples/cluster.csv
heavy=traces/samples/heavy_tail.ini

# shellcheck disable=SC2086
{
    expect "one trace: intervals over its jobs" 0 "over the jobs of this trace" "$gsim" compare --policies fifo,srtf $cluster $t
    expect "replications: intervals over them" 0 "over 5 replications (Student" "$gsim" compare --policies fifo,srtf --reps 5 $heavy
    expect "shaking: ten traces" 0 "over 10 shaken traces" "$gsim" compare --policies fifo,srtf --shake 5% $cluster $t
    expect "shaking: as many as --reps says" 0 "over 3 shaken traces" "$gsim" compare --policies fifo,srtf --shake 5% --reps 3 $cluster $t
}
expect "a spec is not shaken" 2 "drawn again" "$gsim" compare --policies fifo,srtf --shake 5% $heavy
expect "too much shaking" 2 "between 0 and 100" "$gsim" compare --policies fifo,srtf --shake 100% $t
expect "replications of a file" 2 "or --shake" "$gsim" compare --policies fifo,srtf --reps 3 $t
expect "backfilling one GPU is first come, first served" 0 "tie in mean JCT" "$gsim" compare --policies fifo,backfill --gpus-per-node 1 --nodes 1 traces/samples/heavy_tail.csv
expect "too few jobs for intervals" 0 "verdict" "$gsim" compare --policies fifo,sjf tests/golden/three.csv
unsaid "none are shown" "95 %"

# twelve jobs of one second on one GPU: four at once, the others alone
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 12; i++) print "j" i "," (i < 4 ? 0 : 10 * i) ",1" }' >"$tmp/warm.csv"
# JCTs 1, 2, 3, 4 and eight times 1: mean 18/12 = 1.5; without the first four 1, without three (4 + 8)/9
mean() { "$gsim" compare --policies fifo --device ideal --format csv "$@" "$tmp/warm.csv" | awk -F, 'END { printf "%.4f", $9 }'; }
if [ "$(mean) $(mean --warmup 34%) $(mean --warmup 1s) $(mean --warmup 25%)" = "1.5000 1.0000 1.0000 1.3333" ]; then echo "ok the warm-up is left out"; else echo "not ok the warm-up is left out"; fi
expect "and said" 0 "the first 4 jobs are warm-up" "$gsim" compare --policies fifo --device ideal --warmup 34% "$tmp/warm.csv"
expect "a wrong warm-up" 2 "neither a share" "$gsim" compare --policies fifo --warmup 100% "$tmp/warm.csv"

# Two users on one GPU at once: fifo serves a's 30 s before b's 10 s (30, 40), sjf after (40, 10): the other waits meanwhile
printf 'job_id,submit_s,duration_s,user\nx,0,30,a\ny,0,10,b\n' >"$tmp/users.csv"
expect "by user, with ratios to the first policy" 0 "^sjf,b,1,1,10.0*,10.0*,10.0*,10.0*,0.250*,0.0*,0.0*$" \
    "$gsim" compare --policies fifo,sjf --device ideal --by user --format csv "$tmp/users.csv"
said "the other user" "^sjf,a,1,1,40.0*,40.0*,40.0*,40.0*,1.3333*,10.0*,10.0*$"
expect "by user, without the warm-up" 0 "^fifo,b,1,1,40" "$gsim" compare --policies fifo,sjf --device ideal --by user --format csv --warmup 50% "$tmp/users.csv"
unsaid "its job is left out" "^fifo,a"

# 60 jobs of 2 s, one a second: load 59 arrivals of 2 s (and one more) in 59 s: 120 / 59 = 2.03
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 60; i++) print "j" i "," i ",2" }' >"$tmp/over.csv"
expect "more work than GPUs" 0 "offered load 2.03" "$gsim" compare --policies fifo,sjf --device ideal "$tmp/over.csv"
said "the backlog grows" "fifo: the backlog grows"
expect "enough GPUs" 0 "verdict" "$gsim" compare --policies fifo,sjf --device ideal --gpus-per-node 3 --nodes 1 "$tmp/over.csv"
unsaid "no warning" "offered load\|backlog"

# One GPU; 100 s at 0, 10 s at 10. fifo: 100 and 100. srtf: 10, and 110 + R when it resumes after R:
# a mean of 60 + R / 2, less than fifo's 100 below R = 80.
printf 'job_id,submit_s,duration_s,iterations\nlong,0,100,10\nshort,10,10,1\n' >"$tmp/two.csv"
device() { # resume_ns, tag: an H200 otherwise
    cp models/devices/h200.ini "$tmp/d.ini"
    printf '\n[restart]\nstop_ns = 0 | published | test\nresume_ns = %s | %s | test\n' "$1" "$2" >>"$tmp/d.ini"
}
compare_two() { expect "$1" 0 "$2" "$gsim" compare --policies fifo,srtf --set preempt=restart --device "$tmp/d.ini" "$tmp/two.csv"; }
device 90e9 assumed
compare_two "R = 90 s: fifo wins, but at 72 s it does not" "verdict: fifo has.*does not survive.*srtf wins with restart.resume_ns -20 %"
device 60e9 assumed
compare_two "R = 60 s: srtf wins, at 72 s too" "verdict: srtf has the lowest mean JCT, 10.0 % below fifo.*survives +-20 % on each of 1 assumed"
device 90e9 published
compare_two "R is known" "verdict: fifo has"
unsaid "nothing is varied" "survive"

# the same text whatever the number of threads, and again
for threads in 1 2 2; do
    "$gsim" compare --policies fifo,srtf,las --reps 4 -j $threads $heavy 2>&1 | cksum
done >"$tmp/sums"
if [ "$(sort -u "$tmp/sums" | wc -l)" -eq 1 ]; then echo "ok one thread and two say the same"; else echo "not ok one thread and two say the same"; fi

# The p of three pairs from the rows: with 2 degrees of freedom it is 1 - t / sqrt(t^2 + 2).
by_hand=$("$gsim" compare --quiet --policies fifo,srtf --reps 3 --format csv $heavy | awk -F, 'NR > 1 { jct[$1, ++n[$1]] = $9 }
    END { for (i = 1; i <= 3; i++) { d[i] = jct["srtf", i] - jct["fifo", i]; mean += d[i] / 3 }
          for (i = 1; i <= 3; i++) squares += (d[i] - mean) ^ 2
          t = mean / sqrt(squares / 6); t = t < 0 ? -t : t; printf "%.2g", 1 - t / sqrt(t * t + 2) }')
printed=$("$gsim" compare --quiet --policies fifo,srtf --reps 3 $heavy | awk '/over 3 replications/ { on = 1 } on && $1 == "srtf" { print $NF; exit }')
if [ "$by_hand" = "$printed" ]; then echo "ok p of paired differences ($printed)"; else echo "not ok p of paired differences: '$printed', by hand '$by_hand'"; fi

# --by is over the jobs of all replications, by name: user z of one is not the first user of another
printf '[trace]\njobs = 40\n[arrival]\nprocess = poisson\nrate = 0.001\n[duration]\ndistribution = exponential\nmean = 600\n[user]\nchoice = x, y, z\n' >"$tmp/by.ini"
"$gsim" compare --policies fifo,las --reps 5 --by user --format csv "$tmp/by.ini" >"$tmp/by.csv" 2>"$tmp/out"
[ "$(awk -F, '/^las,[xyz],/ { jobs += $3; sum += $3 * $5; rows++ } END { printf "%d %d %.6f", rows, jobs, sum / jobs }' "$tmp/by.csv")" = \
    "3 200 $(awk -F, '$1 == "las" && $2 ~ /by.ini/ { sum += $9; n++ } END { printf "%.6f", sum / n }' "$tmp/by.csv")" ]
if [ $? -eq 0 ]; then echo "ok a breakdown of 5 replications has their 200 jobs"; else echo "not ok a breakdown of 5 replications has their 200 jobs"; fi

# --reps with --db; each run is repeated by its command line
expect "replications in a database" 0 "Student" "$gsim" compare --policies fifo,las --reps 3 --db "$tmp/r.db" $heavy
expect "six runs" 0 "^6|0|2$" sqlite3 "$tmp/r.db" "select count(*), min(replication), max(replication) from run"
expect "shaken ones too" 0 "shaken" "$gsim" compare --policies fifo,las --shake 2% --reps 2 --db "$tmp/s.db" --nodes 2 --gpus-per-node 8 $t
for db in r s; do
    line=$(sqlite3 "$tmp/$db.db" "select argv from run where replication = 2 and policy = 'las'")
    # shellcheck disable=SC2086
    expect "$line" 0 "has this run already" "$gsim" ${line#gsim} --db "$tmp/$db.db"
    # shellcheck disable=SC2086
    mean=$("$gsim" ${line#gsim} --format csv 2>/dev/null | tail -1 | cut -d, -f9)
    expect "is that run" 0 "^1$" sqlite3 "$tmp/$db.db" "select count(*) from run where jct_mean_s = $mean and replication = 2 and policy = 'las'"
done
