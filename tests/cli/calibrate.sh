#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim calibrate, by a driver that is none (fake_cuda.c). $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
expect() { # NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>&1
    got=$?
    if [ $got -eq "$code" ] && grep -q -e "$pattern" "$tmp/out"; then echo "ok $name"; else
        echo "not ok $name (exit $got)"
        sed 's/^/# /' "$tmp/out" | head -8
    fi
}
has() { # NAME PATTERN: a line of the profile
    if grep -q -e "$2" "$tmp/my.ini"; then echo "ok $1"; else
        echo "not ok $1"
        sed 's/^/# /' "$tmp/my.ini"
    fi
}
if [ -e /dev/nvidiactl ]; then echo "# skipped: there is a GPU here"; else
    expect "no driver" 1 "no NVIDIA driver on this machine" "$gsim" calibrate
fi
${CC:-cc} -shared -fPIC -o "$tmp/libcuda.so.1" tests/cli/fake_cuda.c || exit 1
LD_LIBRARY_PATH=$tmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

expect "a profile" 0 "NVIDIA A100-SXM4-40GB: [0-9]* keys measured, the others are those of a100-40" \
    "$gsim" calibrate -o "$tmp/my.ini"
has "what the driver says" "^sms = 4 | measured | said by the driver$"
has "what the driver says of blocks" "^block_threads = 1024 | measured | said by the driver$"
has "a time slice by two processes" \
    "^quantum_ns = 2080000 | measured | two processes .*; median of 240 turns, middle half within 0.0 %$"
has "a switch" "^preempt_ns = 165000 | measured | "
has "rounds and their spread" "^kernel_ns = .* | measured | .*; median of [5-9] rounds, middle half within [0-9.]* %$"
has "of a curve too" "^hbm_curve_bytes_per_s = 1:.* | measured | .*; medians of [5-9] rounds, middle half within "
has "by the GPU's clock" "^between_ns = 1300 | measured | "
has "what a context takes" "^bytes = 524288000 | measured | memory that is not free once"
has "what is not measured says where it is from" "^fp16_flops_per_s = .* | published | a100-40: "
if grep -q "256 reads" "$tmp/my.ini"; then echo "not ok faults without managed memory"; else
    echo "ok no faults without managed memory"
fi
expect "a run on it" 0 "device $tmp/my.ini" \
    "$gsim" --policy timeslice --device "$tmp/my.ini" --quiet traces/samples/fractions.csv
expect "it is not overwritten" 2 "--force" "$gsim" calibrate -o "$tmp/my.ini"
expect "nor when something fails" 1 "cannot be measured: CUDA_ERROR_OUT_OF_MEMORY" \
    env FAKE_FAIL=cuMemAlloc_v2 "$gsim" calibrate --force -o "$tmp/my.ini"
has "the old one is still there" "^quantum_ns = 2080000"
expect "no GPU" 1 "the driver shows no GPU: CUDA_ERROR_OUT_OF_MEMORY" env FAKE_FAIL=cuInit "$gsim" calibrate
expect "a GPU that is not listed" 2 "'NVIDIA H20' is no listed device; say --device" \
    env FAKE_GPU='NVIDIA H20' "$gsim" calibrate
expect "on the base of another" 0 "| h200: " env FAKE_GPU='NVIDIA H20' "$gsim" calibrate --device h200
expect "a listed one by its name" 0 "those of rtx4090" \
    env FAKE_GPU='NVIDIA GeForce RTX 4090' "$gsim" calibrate
expect "an H100 by what its driver calls it" 0 "those of h100-sxm$" \
    env FAKE_GPU='NVIDIA H100 80GB HBM3' "$gsim" calibrate
expect "and an A100 on a card" 0 "those of a100-80$" \
    env FAKE_GPU='NVIDIA A100 80GB PCIe' "$gsim" calibrate
expect "old drivers leave the maker out" 0 "those of a100-40$" \
    env FAKE_GPU='A100-SXM4-40GB' "$gsim" calibrate
expect "a laptop's chip is another one" 2 "'NVIDIA GeForce RTX 4090 Laptop GPU' is no listed device" \
    env FAKE_GPU='NVIDIA GeForce RTX 4090 Laptop GPU' "$gsim" calibrate
expect "A100 is not A10" 0 "those of a10$" env FAKE_GPU='NVIDIA A10' "$gsim" calibrate
expect "nothing to read" 2 "takes no file" "$gsim" calibrate something.csv
# What processes cost on this machine: settings that a run takes.
if [ ! -e /dev/nvidiactl ]; then
    expect "processes without a driver" 1 "a process that was to open the GPU did not" \
        env LD_LIBRARY_PATH= "$gsim" calibrate processes
fi
expect "processes are measured" 0 "^--set checkpoint.in_ns_per_gib=[0-9]*ns$" "$gsim" calibrate processes
cp "$tmp/out" "$tmp/processes"
printf 'job_id,submit_s,duration_s\na,0,1\n' >"$tmp/one.csv"
first=$(sed -n 's/^--set start.first_ns=\([0-9]*\)ns$/\1/p' "$tmp/processes")
# shellcheck disable=SC2046
"$gsim" run --quiet --policy fifo --device a100-40 $(cat "$tmp/processes") --jobs-csv "$tmp/jobs.csv" "$tmp/one.csv" >"$tmp/out" 2>&1
jct=$(awk -F, 'NR == 2 { print $5 }' "$tmp/jobs.csv")
if [ -n "$first" ] && awk -v jct="$jct" -v first="$first" 'BEGIN { exit !(jct >= 1 + first / 1e9) }'; then echo "ok a run has their starts"; else
    echo "not ok a run has their starts ($first, $jct)"
    sed 's/^/# /' "$tmp/out" | head -4
fi
expect "states that the driver does not take" 0 "states of processes were not measured: cuCheckpointProcessCheckpoint: error" \
    env FAKE_FAIL=cuCheckpointProcessCheckpoint "$gsim" calibrate processes
expect "nor memory" 1 "room for 5 GiB" env FAKE_FAIL=cuMemAlloc_v2 "$gsim" calibrate processes
expect "another word" 2 "no word but 'processes'" "$gsim" calibrate process
