#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads: the GPUs of a run advance on several, and results have the bytes of one thread; a race
# detector (valgrind's drd) watches a run, a comparison and a sweep. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

cat >"$tmp/shared.ini" <<'END'
[trace]
jobs = 24
kinds = training, service
kind_weights = 3, 1
[arrival]
process = poisson
rate = 1
[training/iterations]
distribution = uniform
lo = 200
hi = 900
[training/gpu_ms]
distribution = uniform
lo = 20
hi = 90
[training/host_ms]
distribution = uniform
lo = 1
hi = 9
[service/requests]
distribution = uniform
lo = 200
hi = 400
[service/period_ms]
distribution = uniform
lo = 60
hi = 90
[service/gpu_ms]
distribution = uniform
lo = 4
hi = 30
[service/arrival]
choice = poisson
[mem_gib]
distribution = uniform
lo = 30
hi = 69
END
"$gsim" generate --quiet "$tmp/shared.ini" -o "$tmp/shared.csv" || exit 1

printf '[node]\ncount = 2\ngpus = 4\npcie_root_gpus = 4\npcie_root_bytes_per_s = 63 GB/s\n' >"$tmp/roots.ini"
outputs() { # threads, policy and options
    threads=$1
    shift
    case "$*" in *--cluster*) ;; *) set -- "$@" --nodes 2 --gpus-per-node 4 ;; esac
    "$gsim" --quiet -j "$threads" --policy "$@" --format json --force \
        --jobs-csv "$tmp/jobs.csv" "$tmp/shared.csv" 2>&1 | sed 's/"wall_s":[^,]*//'
    cat "$tmp/jobs.csv"
}
compare_threads() { # policy and options, numbers of threads
    policy=$1
    shift
    # shellcheck disable=SC2086 # a policy and its options
    outputs 1 $policy >"$tmp/one"
    expect "$policy gives a result" 0 '"jct_mean_s":[0-9]' cat "$tmp/one"
    one=$(cksum <"$tmp/one")
    for threads in "$@"; do
        check "$policy on $threads threads" "$one" "$(outputs $threads $policy | cksum)"
    done
}
# with sanitizers, which take ten times as long: one kind of lane, and one with memory that moves
case $gsim in *-san-*)
    compare_threads timeslice 3
    compare_threads msched 3
    exit 0
    ;;
esac
# Where memory pages, 21 of the 24 jobs have ended after 300 s; the other three page on one GPU for 75 minutes, which is
# nearly all of the run's time and shows one thread at work.
paged='--until 300'
[ "${CASES-}" != all ] || paged=
for policy in timeslice mps mig "vgpu --set per_gpu=2" xsched tgs antman salus gandiva suspend nvshare msched "uvm $paged" \
    "timeslice --slice-budget 2000" "uvm $paged --slice-budget 2000" "uvm $paged --cluster $tmp/roots.ini" "timeslice --exact"; do
    # shellcheck disable=SC2046
    compare_threads "$policy" $([ "${CASES-}" = all ] && echo 2 5 || echo 3)
done
for threads in 1 4; do
    "$gsim" --quiet -j $threads --policy timeslice --gpus-per-node 4 --timeline "$tmp/t$threads.json" \
        --timeline-window 0:20 "$tmp/shared.csv" >/dev/null 2>&1
done
cmp "$tmp/t1.json" "$tmp/t4.json" >"$tmp/log" 2>&1
say "a timeline on four threads" $?
expect "no threads" 2 "jobs" "$gsim" --policy timeslice -j 0 "$tmp/shared.csv"

if ! command -v valgrind >/dev/null; then
    echo "ok races # SKIP valgrind is needed"
    exit 0
fi
watched() { valgrind --tool=drd --error-exitcode=9 -q "$gsim" "$@"; }
printf 'trace = %s\npolicy = timeslice, srtf\nnodes = 1\ngpus-per-node = 4\nuntil = 30\n' "$tmp/shared.csv" >"$tmp/grid.ini"
expect "no race in a run" 0 "jobs" watched --quiet -j 3 --policy timeslice --gpus-per-node 4 --until 60 "$tmp/shared.csv"
expect "no race where memory pages" 0 "jobs" watched --quiet -j 3 --policy uvm --gpus-per-node 4 --until 30 "$tmp/shared.csv"
expect "no race in a comparison" 0 "fifo" watched compare --quiet -j 3 --policies fifo,las --gpus-per-node 4 --until 30 "$tmp/shared.csv"
expect "no race in a sweep" 0 "" watched sweep --quiet -j 3 "$tmp/grid.ini" -o "$tmp/runs.db"
