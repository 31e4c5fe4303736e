#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policy lithos on one H200: quotas, SMs that are idle, and a server beside a training. Numbers follow by
# hand: a kernel has a block for each of the 132 SMs, so on the 64 SMs of a quota it has three waves. $1 is
# gsim.
set -u
gsim=$1
. tests/support/check.sh

run() { # OPTIONS...: jobs.csv is written, and the result in out
    "$gsim" run --quiet --gpus-per-node 1 --device h200 --format csv --jobs-csv "$tmp/jobs.csv" --force "$@" >"$tmp/out" 2>"$tmp/log" ||
        sed 's/^/# /' "$tmp/log"
}
end() { # JOB: when it ended, in ms
    awk -F, -v job="$1" '$1 == job { printf("%d", $4 * 1e3 + 0.5) }' "$tmp/jobs.csv"
}
p99() { # of the latency, in us; the number follows a run
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { printf("%d", $at["latency_p99_s"] * 1e6 + 0.5) }' "$tmp/out"
}
within() { # LEAST VALUE MOST
    [ "$1" -le "${2:-0}" ] && [ "${2:-0}" -le "$3" ] && echo yes || echo "$1 $2 $3"
}

cat >"$tmp/owners.csv" <<'END'
job_id,submit_s,iterations,gpu_ms,kernels,sm_fraction,mem_gib,class
a,0,100,10,10,1,1,realtime
b,0,10,10,10,1,1,realtime
c,0,10,10,10,1,1,realtime
END
plain="--policy lithos --set job.memory_ppm=0"
run $plain --set steal=off "$tmp/owners.csv"
apart=$(end a)
check "an owner keeps to its quota: a second of work in three waves for one" yes "$(within 3000 "$apart" 3030)"
check "and so does another beside it: 0.1 s of work" yes "$(within 300 "$(end b)" 303)"
check "a job that finds no room for its quota waits for it" yes "$(within 600 "$(end c)" 606)"
run $plain "$tmp/owners.csv"
check "with stealing no owner ends later than on its quota" yes "$(within 100 "$(end b)" 303)"
check "idle SMs go to the owner that is left: its work of a second ends sooner, not sooner than alone" yes \
    "$(within 1000 "$(end a)" $((apart / 2)))"

# A best-effort job owns nothing; it may be the first on the GPU.
sed -e '/^c/d' -e 's/^b\(.*\)realtime/b\1/' "$tmp/owners.csv" >"$tmp/best_effort.csv"
{
    head -1 "$tmp/best_effort.csv"
    grep ^b "$tmp/best_effort.csv"
    grep ^a "$tmp/best_effort.csv"
} >"$tmp/other_order.csv"
run $plain --set steal=off "$tmp/best_effort.csv"
check "a best-effort job runs on the SMs of no quota, 68 of 132: two waves" yes "$(within 198 "$(end b)" 202)"
run $plain --set steal=off "$tmp/other_order.csv"
check "and so it does as the first job of the GPU" yes "$(within 198 "$(end b)" 202)"
check "beside an owner that keeps its quota" yes "$(within 3000 "$(end a)" 3030)"

# A server beside products whose blocks last 1.65 ms each: it waits for no more than one of them, and has half of
# the SMs at least, as under green.
cat >"$tmp/pair.csv" <<'END'
job_id,submit_s,requests,period_ms,iterations,app,mem_gib,class
a,0,200,3,,h200-dlrm-infer,10,realtime
b,0,,,100000,h200-gemm-chain,10,
END
grep -v ^b "$tmp/pair.csv" >"$tmp/server.csv"
run --policy lithos --until 1s "$tmp/server.csv"
alone=$(p99)
run --policy green --until 1s "$tmp/pair.csv"
half=$(p99)
run --policy mps --until 1s "$tmp/pair.csv"
mps=$(p99)
run --policy lithos --until 1s "$tmp/pair.csv"
check "a server's latency is above that on half of the SMs by at most a block of the training" yes "$(within "$alone" "$(p99)" $((half + 1650)))"
check "and far below that under mps" yes "$(within "$alone" "$(p99)" $((mps / 4)))"
expect "an atom of no time" 2 "atom" "$gsim" run --policy lithos --set atom=0 "$tmp/pair.csv"

# Two kernels of 100 s that fill the GPU, b 10 s after a: a's blocks are on all SMs when b comes, though a was
# alone until then and nothing was shared. They end together at 100 s; then b has the GPU.
printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\nb,10,100,1\n' >"$tmp/late.csv"
for policy in orion tally lithos; do
    "$gsim" run --quiet --policy $policy --device ideal --gpus-per-node 1 --jobs-csv "$tmp/jobs.csv" --force "$tmp/late.csv" >"$tmp/log" 2>&1
    check "$policy: a kernel that comes later waits for blocks that began alone" "100000 200000" "$(end a) $(end b)"
done
# So does a kernel of a higher priority: neither orion nor tally takes blocks that run off their SMs, and a block
# is as long as its kernel here. They let b begin at 10 s, and a lose its SMs and go on afterwards.
printf 'job_id,submit_s,duration_s,gpus,priority\na,0,100,1,0\nb,10,100,1,1\n' >"$tmp/late.csv"
for policy in orion tally; do
    "$gsim" run --quiet --policy $policy --device ideal --gpus-per-node 1 --jobs-csv "$tmp/jobs.csv" --force "$tmp/late.csv" >"$tmp/log" 2>&1
    check "$policy: a kernel of high priority waits for blocks that began alone" "100000 200000" "$(end a) $(end b)"
done
# With blocks of 10 ms tally stops a within one of them, and b has all SMs: from 10.01 s at the latest to 110.01 s.
printf 'job_id,submit_s,duration_s,gpus,priority,kernel_ms\na,0,100,1,0,10\nb,10,100,1,1,10\n' >"$tmp/late.csv"
"$gsim" run --quiet --policy tally --device ideal --gpus-per-node 1 --jobs-csv "$tmp/jobs.csv" --force "$tmp/late.csv" >"$tmp/log" 2>&1
check "tally: blocks that are short leave within one" yes "$(within 110000 "$(end b)" 110010)"

# With a slip of a tenth no program takes more than a tenth longer alone, in whole waves of its atoms.
for app in h200-gemm-chain h200-llama-prefill; do
    printf 'job_id,submit_s,iterations,app\na,0,5,%s\n' $app >"$tmp/slip.csv"
    run --policy lithos --set slip=0 "$tmp/slip.csv"
    alone=$(end a)
    run --policy lithos --set slip=10% "$tmp/slip.csv"
    check "$app keeps to its slip" yes "$(within "$alone" "$(end a)" $((alone * 11 / 10)))"
done
