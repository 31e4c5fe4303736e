#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Inputs that are almost surely not what was meant: units left out, columns nearly of a known name,
# profiles of another device. $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

expect() { # name, code, pattern, command
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>&1
    got=$?
    if [ $got -eq "$code" ] && grep -q -e "$pattern" "$tmp/out"; then
        echo "ok $name"
    else
        echo "not ok $name (exit $got, expected $code and '$pattern')"
        sed 's/^/# /' "$tmp/out" | head -5
    fi
}

# --- profiles -----------------------------------------------------------------------------------
sqlite3 "$tmp/run.sqlite" "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end)"
expect "an export of Nsight Systems" 3 "nsys stats .*--report cuda_gpu_kern_sum --format csv $tmp/run.sqlite" \
    "$gsim" import nsys "$tmp/run.sqlite" --device h200 --iterations 1
printf 'x\0y' >"$tmp/run.nsys-rep"
expect "a report of Nsight Systems" 3 "nsys stats .*--report cuda_gpu_kern_sum --format csv $tmp/run.nsys-rep" \
    "$gsim" import nsys "$tmp/run.nsys-rep" --device h200 --iterations 1
profile() { # a GPU's name
    printf '{"deviceProperties": [{"id": 0, "name": "%s"}], "traceEvents": [{"cat": "kernel", "name": "k", "ts": 0, "dur": 100, "args": {"device": 0}}]}\n' "$1" >"$tmp/profile.json"
}
profile "NVIDIA A100-SXM4-80GB"
expect "a profile of another device" 2 "measured on 'NVIDIA A100-SXM4-80GB', and --device says h200; did you mean a100-80" \
    "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device h200
expect "a profile of another memory" 2 "did you mean a100-80" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device a100-40
expect "a profile of its device" 0 "^kernel,k,1,100,a100-80" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device a100-80
profile "NVIDIA H100 80GB HBM3"
expect "a chip whose name says no more" 0 "^kernel,k,1,100,h100-sxm" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device h100-sxm
profile "NVIDIA A10"
expect "a chip that begins like another" 2 "and --device says a100-80; did you mean a10;" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device a100-80
profile "NVIDIA GeForce RTX 4090"
expect "a chip of two words" 0 "^kernel,k,1,100,rtx4090" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device rtx4090
profile "Some GPU"
expect "a GPU that is not listed" 2 "'Some GPU', and --device says t4" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device t4
cp models/devices/t4.ini "$tmp/mine.ini"
expect "a device file of one's own" 0 "^kernel,k,1,100,$tmp/mine.ini" "$gsim" import kineto "$tmp/profile.json" --iterations 1 --device "$tmp/mine.ini"
printf 'kind,name,time_us,device\ntitle,t,,\nkernel,a,0,h200\nkernel,b,0,h200\n' >"$tmp/zero.csv"
printf 'job_id,submit_s,app,iterations\na,0,%s,10\n' "$tmp/zero.csv" >"$tmp/zero_trace.csv"
expect "an application that takes no time" 3 "zero.csv:3: kernel 'a' and all others last 0" "$gsim" --policy fifo "$tmp/zero_trace.csv"
