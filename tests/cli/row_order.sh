#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The order of a trace's rows plays no part: every policy runs the jobs of a file and of its reverse alike.
# No two jobs are submitted at one time, since then the order of rows decides.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# 120 jobs of 1, 2 and 4 GPUs on 8, more work than they can do at once; a fixed walk, no random numbers.
awk 'BEGIN {
    for (i = 0; i < 120; i++) {
        x = (x * 29 + 17) % 101
        at += 0.2 + x % 37 / 7
        printf "j%d,%.6f,%.6f,%d,%d,%d,%s,%d\n", i, at, (x % 3 == 0 ? 20 : x % 3 + 1) * (0.5 + x / 101),
            (x % 5 == 0 ? 4 : x % 7 == 0 ? 2 : 1), 10 + x % 90, 1 + x % 9, substr("abc", x % 3 + 1, 1), x % 4
    }
}' >"$tmp/rows"
head=job_id,submit_s,duration_s,gpus,gpu_ms,mem_gib,user,priority
{ echo $head; cat "$tmp/rows"; } >"$tmp/forth.csv"
{ echo $head; awk '{ row[NR] = $0 } END { for (i = NR; i > 0; i--) print row[i] }' "$tmp/rows"; } >"$tmp/back.csv"

run() { # policy, trace
    "$gsim" run --policy "$1" --quiet --nodes 2 --gpus-per-node 4 --device ideal --jobs-csv "$tmp/$2.jobs" \
        "$tmp/$2.csv" >"$tmp/log" 2>&1 && sort "$tmp/$2.jobs" >"$tmp/$2.sorted"
}
n=0
for policy in $("$gsim" list policies | awk 'NF { print $1 }'); do
    run "$policy" forth && run "$policy" back && cmp "$tmp/forth.sorted" "$tmp/back.sorted" >>"$tmp/log" 2>&1
    say "$policy: the order of rows plays no part" $?
    rm -f "$tmp"/*.jobs "$tmp"/*.sorted
    n=$((n + 1))
done
check "policies are listed" yes "$([ $n -gt 40 ] && echo yes)"

# b and c wait for memory until a has ended, start for a second each, and are ready at one instant: b, which was
# submitted first, has the first turn on the GPU in either file.
printf 'a,0,10,1,100\nb,1,5,1,60\nc,2,5,1,60\n' >"$tmp/rows"
head=job_id,submit_s,duration_s,gpus,mem_gib
{ echo $head; cat "$tmp/rows"; } >"$tmp/forth.csv"
{ echo $head; sort -r "$tmp/rows"; } >"$tmp/back.csv"
for file in forth back; do
    "$gsim" run --policy timeslice --quiet --gpus-per-node 1 --device h200 --set start.first_ns=1s \
        --jobs-csv "$tmp/$file.jobs" "$tmp/$file.csv" >"$tmp/log" 2>&1
    sort "$tmp/$file.jobs" >"$tmp/$file.sorted"
done
check "what happens at one instant goes by submission" "$(cat "$tmp/forth.sorted")" "$(cat "$tmp/back.sorted")"

# Jobs of three models by a table of speeds alone and beside each other, on two types of GPU. With packing gavel's
# pairs are of the job that came first and the one that came later, wherever their rows stand.
awk 'BEGIN {
    for (i = 0; i < 40; i++) {
        x = (x * 29 + 17) % 101
        at += 20 + x % 37
        printf "j%d,%d,%d,m%d,%d\n", i, at, x % 5 == 0 ? 2 : 1, x % 3, 3000 + 90 * x
    }
}' >"$tmp/rows"
head=job_id,submit_s,gpus,model,iterations
{ echo $head; cat "$tmp/rows"; } >"$tmp/forth.csv"
{ echo $head; sort -r "$tmp/rows"; } >"$tmp/back.csv"
awk 'BEGIN {
    print "device,model,gpus,beside,iterations_per_s"
    for (m = 0; m < 3; m++)
        for (gpus = 1; gpus <= 2; gpus++)
            for (type = 1; type <= 2; type++) {
                alone = (10 + m) * gpus * (type == 1 ? 1 : m + 0.5)
                printf "t%d,m%d,%d,,%g\n", type, m, gpus, alone
                for (o = 0; o < 3; o++)
                    printf "t%d,m%d,%d,m%d,%g\n", type, m, gpus, o, alone * (0.95 - (m + o) / 20)
            }
}' >"$tmp/pairs.csv"
printf '[node a]\ngpus = 4\ndevice = ideal\nrates_as = t1\n[node b]\ngpus = 2\ndevice = ideal\nrates_as = t2\n' >"$tmp/types.ini"
for objective in fifo gandiva max-min finish-time; do
    for file in forth back; do
        "$gsim" run --policy gavel --set objective=$objective --set packing=on --set round=60s --set min_between=60s \
            --quiet --rates "$tmp/pairs.csv" --cluster "$tmp/types.ini" --jobs-csv "$tmp/$file.jobs" "$tmp/$file.csv" >"$tmp/log" 2>&1
        sort "$tmp/$file.jobs" >"$tmp/$file.sorted"
    done
    check "gavel with pairs, $objective: the order of rows plays no part" "$(cat "$tmp/forth.sorted")" \
        "$(cat "$tmp/back.sorted")"
    rm -f "$tmp"/*.jobs "$tmp"/*.sorted
done
