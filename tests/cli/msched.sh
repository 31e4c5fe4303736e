#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policy msched on two jobs of 12 GiB on a GPU of 16, with turns of 50 ms. Each iteration has two kernels of
# 500 ms, and the programs differ in what these touch. Numbers follow by hand. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

run() { # PROGRAM ITERATIONS [SETTING]: jobs.csv is written
    printf 'job_id,submit_s,iterations,mem_gib,app\na,0,%s,12,%s\nb,0,%s,12,%s\n' "$2" "$tmp/$1.csv" "$2" "$tmp/$1.csv" >"$tmp/pair.csv"
    "$gsim" run --quiet --gpus-per-node 1 --device h200 --set hbm_bytes=16GiB --policy msched --set msched.slice=50ms \
        --set msched.missed=0% --set "${3:-msched.eviction=belady}" --jobs-csv "$tmp/jobs.csv" --force "$tmp/pair.csv" >"$tmp/out" 2>"$tmp/log" ||
        sed 's/^/# /' "$tmp/log"
}
column() { # NAME: its sum over jobs
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { sum += $at[name] } END { printf("%.0f", sum) }' "$tmp/jobs.csv"
}
moved() { # PROGRAM [SETTING]: GiB that come in during 15 iterations of both, whatever came at their begin
    run "$1" 5 "${2:-}"
    before=$(column bytes_in)
    run "$1" 20 "${2:-}"
    echo $((($(column bytes_in) - before) / 1073741824))
}

cat >"$tmp/parts.csv" <<'END'
kind,name,time_us,device,host_us,bytes,touches
buffer,front,,,,6GiB,
buffer,back,,,,6GiB,
kernel,f,500000,h200,,,front@rw
kernel,b,500000,h200,,,back@rw
launch,f,,,20,,
launch,b,,,20,,
wait,device,,,5,,
END
sed '/^kernel/s/[a-z]*@rw/front@rw back@rw/' "$tmp/parts.csv" >"$tmp/all.csv"
sed '/^kernel/s/[a-z]*@rw//' "$tmp/parts.csv" >"$tmp/none.csv"

# A turn ends with the kernel in which its time is up. So kernels that touch 6 GiB alternate: the fronts and
# backs of both are four parts in a ring. Before a turn, 6 of 16 GiB belong to the turn before, which is used
# again last, and 10 to the other three parts: 8 GiB of these 18 are missing, and come in within three turns.
# 15 iterations of both are 60 turns.
check "a turn moves what its kernels touch" 160 "$(moved parts)"
# The least recently used of four parts is the next one, so that a turn finds nothing of its 6 GiB.
check "and all of it, where the least recently used goes" 360 "$(moved parts msched.eviction=lru)"
# By allocations, what a turn does not touch moves for it too: as where each kernel touches all.
check "and what it does not touch, by allocations" 480 "$(moved parts msched.predictor=allocation)"
# Where each kernel touches 12 GiB, two parts in a ring have room for 16: a turn misses 8 GiB.
check "a turn moves all that its kernels touch" 480 "$(moved all)"
# Without touches a turn ends with its iteration, and has all memory moved: 30 turns.
check "a job without touches has its turns by iterations" 240 "$(moved none)"

# The first turn on a GPU is planned for 40 ms and 10 for each of two tasks, and is of the task that it was planned
# for: a is done after 60 + 1000 ms. c, which comes meanwhile, has the third turn: of b and c b goes first, and is
# done 60 + 1000 ms later. No turn is planned for c, which is alone then.
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,1,1000,1\nb,0,1,1000,1\nc,0.01,1,1000,1\n' >"$tmp/planned.csv"
"$gsim" run --quiet --gpus-per-node 1 --device ideal --policy msched --set msched.slice=1s --set migrate.plan_ns=40ms \
    --set migrate.task_plan_ns=10ms --jobs-csv "$tmp/jobs.csv" --force "$tmp/planned.csv" >"$tmp/out" 2>"$tmp/log"
check "a task that comes while the first turn is planned does not take it" \
    "1.060000000,2.120000000,3.120000000" "$(tail -n +2 "$tmp/jobs.csv" | cut -d, -f4 | paste -sd,)"

# States recur, so that 400 000 turns are exact: 8 GiB come in during three, 1066 thousand GiB and some.
run parts 100000
check "turns inside iterations recur" 1066 "$(($(column bytes_in) / 1073741824 / 1000))"
check "and are not extrapolated" 0 "$(cat "$tmp/out" "$tmp/log" | grep -c approximate)"

# Turns of two iterations: 8 of 12 GiB are missing at each, the upper 2 of the front and all of the back, and
# the front comes first. Its kernel runs for 500 ms, in which the back comes (186 ms for all 8 GiB, beside 8 that
# go out). So a turn waits for 2 of 8 GiB where it starts early, a quarter of what it waits otherwise.
stall_ms() { # EARLY_START: of the first job
    "$gsim" run --quiet --gpus-per-node 1 --device h200 --set hbm_bytes=16GiB --policy msched --set msched.slice=2s \
        --set msched.missed=0% --set "msched.early_start=$1" --jobs-csv "$tmp/jobs.csv" --force "$tmp/pair.csv" >"$tmp/out" 2>"$tmp/log"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $1 == "a" { printf("%.0f", $at["stall_s"] * 1000) }' "$tmp/jobs.csv"
}
run parts 40
early=$(stall_ms on)
check "turns that start early wait for the first kernel's memory" "$(($(stall_ms off) / 4))" "$early"

# A GPU of 8 GiB that copies 1 GiB/s, both ways together too. a (8 GiB) runs for 1 s; 2 GiB of it go out for b
# in 2 s, and b runs for 1 s and ends. The 2 GiB come back in 2 s for the last second of a: nothing of b goes out.
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,2,1000,8\nb,0,1,1000,2\n' >"$tmp/ends.csv"
"$gsim" run --quiet --gpus-per-node 1 --device ideal --set hbm_bytes=8GiB --set migrate.in_bytes_per_s=1GiB/s \
    --set migrate.out_bytes_per_s=1GiB/s --set migrate.both_bytes_per_s=1GiB/s --policy msched --set msched.slice=1s \
    --set msched.missed=0% --jobs-csv "$tmp/jobs.csv" --force "$tmp/ends.csv" >"$tmp/out" 2>"$tmp/log"
check "memory of a job that has ended goes nowhere" "4 7" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { end[$1] = $at["end_s"] } END { print end["b"] + 0, end["a"] + 0 }' "$tmp/jobs.csv")"
