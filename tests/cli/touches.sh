#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Demand paging of a program of kernels that touch 6 GiB each, on a GPU of 8 GiB. What goes out first is what came
# in first, so a kernel finds its 6 GiB where the kernel before it touched them, and nothing of them where another
# 6 GiB came in between: the first chunk that it misses pushes out what is left of its own. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

access=rw
run() { # KERNELS ITERATIONS POLICY: jobs.csv is written
    {
        echo kind,name,time_us,device,host_us,bytes,touches
        for buffer in a b; do echo "buffer,$buffer,,,,6GiB,"; done
        for buffer in a b; do echo "kernel,$buffer,100000,h200,,,$buffer@$access"; done
        for kernel in $1; do echo "launch,$kernel,,,10,,"; done
        echo wait,device,,,5,,
    } >"$tmp/program.csv"
    printf 'job_id,submit_s,iterations,app\na,0,%s,%s\n' "$2" "$tmp/program.csv" >"$tmp/job.csv"
    "$gsim" run --quiet --gpus-per-node 1 --device h200 --set hbm_bytes=8GiB --policy uvm --set "$3" \
        --jobs-csv "$tmp/jobs.csv" --force "$tmp/job.csv" >"$tmp/out" 2>"$tmp/log" || sed 's/^/# /' "$tmp/log"
}
gib() { awk -F, -v column="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf("%.0f", $at[column] / 2 ^ 30) }' "$tmp/jobs.csv"; }
moved() { # KERNELS POLICY [COLUMN]: GiB that come in during 15 iterations, whatever came at their begin
    run "$1" 5 "$2"
    before=$(gib "${3-bytes_in}")
    run "$1" 20 "$2"
    echo $(($(gib "${3-bytes_in}") - before))
}

for memory in uvm lru; do
    check "memory=$memory: two kernels, each of which touches memory of its own" 180 "$(moved 'a b' uvm.memory=$memory)"
    check "memory=$memory: each of them twice, in turns" 360 "$(moved 'a b a b' uvm.memory=$memory)"
    check "memory=$memory: one twice, at once" 180 "$(moved 'a a b' uvm.memory=$memory)"
done

# Of memory that comes and goes 15 times, 12 GiB each time, what is only read goes out without a copy where the driver
# knows it.
for access in r w; do
    for known in on off; do
        gib=$([ $access$known = roff ] && echo 0 || echo 180)
        check "@$access, clean_copy=$known: what goes out" "$gib" "$(moved 'a b' uvm.clean_copy=$known bytes_out)"
    done
done

# A newcomer in the middle of a sweep, in turns of 1 s that cost nothing, on a GPU of 8 GiB. a (4 GiB) and c (1 GiB) sweep
# their memory in 4 s. Of its second sweep a has done a quarter by second 9 and c by second 10, when b has its turn and
# touches 8 GiB: all else goes out. So three quarters of each come back, the chunk that is due as the turn ends as well.
{
    echo job_id,submit_s,iterations,gpu_ms,mem_gib,sync
    printf 'a,0,2,4000,4,none\nc,0,2,4000,1,none\nb,8.5,1,1000,8,none\n'
} >"$tmp/newcomer.csv"
"$gsim" run --quiet --gpus-per-node 1 --device ideal --set hbm_bytes=8GiB --set slice.quantum_ns=1s --policy uvm \
    --jobs-csv "$tmp/newcomer-jobs.csv" "$tmp/newcomer.csv" >"$tmp/out" 2>"$tmp/log" || sed 's/^/# /' "$tmp/log"
came() { awk -F, -v job="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == job { print $at["bytes_in"] / 2 ^ 20 }' "$tmp/newcomer-jobs.csv"; }
check "the rest of a sweep comes back after a newcomer, in MiB" 3072 "$(came a)"
check "so does that of a small job" 768 "$(came c)"

# So it is where a was alone when its sweep began, the fifth of those that all take 4 s: a quarter is done when b comes.
{
    echo job_id,submit_s,iterations,gpu_ms,mem_gib
    printf 'a,0,5,4000,4\nb,17,1,1000,8\n'
} >"$tmp/newcomer.csv"
"$gsim" run --quiet --gpus-per-node 1 --device ideal --set hbm_bytes=8GiB --set slice.quantum_ns=1s --policy uvm \
    --jobs-csv "$tmp/newcomer-jobs.csv" "$tmp/newcomer.csv" >"$tmp/out" 2>"$tmp/log" || sed 's/^/# /' "$tmp/log"
check "and that of a job that was alone, in MiB" 3072 "$(came a)"

# Two jobs whose kernels touch 5 GiB each, in turns on a GPU of 8 GiB. Where the buffers of two phases have 5 GiB each, an
# iteration has 5 GiB, and what moves is what moves where both phases touch one buffer.
phased() { # BUFFERS: of the kernels of the phases one and two
    {
        echo kind,name,count,time_us,device,host_us,bytes,touches,phase
        if [ "$1" = one ]; then
            echo buffer,first,,,,,5GiB,,
            second=first
        else
            printf 'buffer,first,,,,,5GiB,,one\nbuffer,second,,,,,5GiB,,two\n'
            second=second
        fi
        echo kernel,k,,100000,h200,,,first@rw,
        echo "kernel,l,,100000,h200,,,$second@rw,"
        printf 'phase,one,4,,,,,,\nlaunch,k,,,,10,,,\nphase,two,4,,,,,,\nlaunch,l,,,,10,,,\n'
    } >"$tmp/program.csv"
}
parts() { # PART of two buffers of 4 GiB that two kernels touch in turn
    {
        printf 'kind,name,time_us,device,host_us,bytes,touches\nbuffer,a,,,,4GiB,\nbuffer,b,,,,4GiB,\n'
        printf "kernel,a,100000,h200,,,a:$1@rw\nkernel,b,100000,h200,,,b:$1@rw\n"
        for _ in 1 2 3 4; do printf 'launch,a,,,10,,\nlaunch,b,,,10,,\n'; done
    } >"$tmp/program.csv"
}
two() { # COLUMN [ARGUMENTS]: of the second of two jobs of the program
    column=$1
    shift
    printf 'job_id,submit_s,iterations,app\na,0,5,%s\nb,0,5,%s\n' "$tmp/program.csv" "$tmp/program.csv" >"$tmp/job.csv"
    "$gsim" run --quiet --gpus-per-node 1 --device h200 --jobs-csv "$tmp/jobs.csv" --force "$@" "$tmp/job.csv" >"$tmp/out" 2>"$tmp/log" || sed 's/^/# /' "$tmp/log"
    awk -F, -v column="$column" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 3 { print $at[column] }' "$tmp/jobs.csv"
}
for policy in uvm msched; do
    phased one
    wanted=$(two end_s --policy "$policy" --set hbm_bytes=8GiB)
    phased two
    check "$policy: buffers of two phases lie in one place" "$wanted" "$(two end_s --policy "$policy" --set hbm_bytes=8GiB)"
done

# Half of each buffer is touched, from a chunk's begin or within one, where each kernel has a chunk more: the two jobs
# have 8 GiB beside 5 GiB, and each sweep over 2 GiB comes in anew.
gib_in() { two bytes_in --policy uvm --set hbm_bytes=5GiB | awk '{ printf("%.0f", $1 / 2 ^ 30) }'; }
parts 25%%-75%%
wanted=$(gib_in)
parts 10%%-60%%
check "a part that begins within a byte is touched kernel by kernel" "$wanted" "$(gib_in)"
