#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What all GPUs of a node share: its host's memory and what that carries, PCIe roots, storage, the network.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
last() { # name: one field of the result of the last run
    grep -oE "\"$1\": *(\"[^\"]*\"|[^,}]*)" "$tmp/out" | head -n 1 | sed 's/^[^:]*: *//; s/"//g'
}
field() { # name, arguments of gsim
    name=$1
    shift
    "$gsim" --quiet --format json "$@" >"$tmp/out" 2>&1 || cat "$tmp/out"
    last "$name"
}
says() { # word, arguments: whether `assumed` has it
    word=$1
    shift
    field assumed "$@" | grep -c "$word"
}
holds() { # condition of awk
    awk "BEGIN { print ($1) ? \"yes\" : \"no\" }"
}

demo="--nodes 2 --gpus-per-node 8 traces/samples/cluster.csv"

# Nothing moved between nodes for nothing, and nothing was held on hosts of any size, without a word.
check "memory that crosses nodes rests on an assumed network" 1 \
    "$(says 'network.bytes_per_s=12.5e9' --policy las --set preempt=suspend $demo)"
check "not where the user says what it is" 0 \
    "$(says network --policy las --set preempt=suspend --set network.bytes_per_s=5GB/s $demo)"
default=$(field switch_s --policy las --set preempt=suspend $demo)
check "a faster network costs less" yes \
    "$(holds "$(field switch_s --policy las --set preempt=suspend --set network.bytes_per_s=100GB/s $demo) < $default")"
printf '[node a]\ncount = 2\ngpus = 8\nnetwork_bytes_per_s = 12.5 GB/s\nhost_mem = 64TiB\n' >"$tmp/net.ini"
check "the cluster's network is the same network" "$default" \
    "$(field switch_s --policy las --set preempt=suspend --cluster "$tmp/net.ini" traces/samples/cluster.csv)"
check "and is not assumed" 0 \
    "$(says 'network\|host memory' --policy las --set preempt=suspend --cluster "$tmp/net.ini" traces/samples/cluster.csv)"

peak=$(field host_peak_bytes --policy tiresias --set preempt=suspend $demo)
check "hosts without a limit are said to be that" 1 \
    "$(says 'host memory=unlimited (a node held up to' --policy tiresias --set preempt=suspend $demo)"
check "what they would have to hold is in the result" yes "$(holds "$peak > 4e12")"
for policy in suspend tiresias las gandiva; do
    case $policy in tiresias | las) set -- --set preempt=suspend ;; *) set -- ;; esac # restarts are theirs
    check "$policy: a host holds what it has" yes \
        "$(holds "$(field host_peak_bytes --policy $policy "$@" --host-mem 1TiB $demo) <= 1099511627776")"
    check "$policy: the rest goes to storage" yes \
        "$(holds "$(field bytes_stored --policy $policy "$@" --host-mem 1TiB $demo) > 0")"
    check "$policy: at what storage costs" yes "$(holds "$(field jct_mean_s --policy $policy "$@" \
        --host-mem 64GiB $demo) > $(field jct_mean_s --policy $policy "$@" $demo)")"
done
# One of 10 GiB leaves once: its process's context on the GPU does not go to storage (policies of which processes share GPUs).
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,100,1,10\nb,1,10,1,10\n' >"$tmp/once.csv"
check "a job's memory goes to storage, and no context" 10737418240 "$(field bytes_stored --policy gandiva \
    --set packing=off --set preempt=suspend --gpus-per-node 1 --host-mem 1GiB "$tmp/once.csv")"
check "a limit and unknown memory" 3 "$("$gsim" --quiet --policy suspend --host-mem 64GiB \
    tests/golden/two.csv >"$tmp/out" 2>&1; echo $?)"

# What the GPUs of a gang page goes to one host: eight times 5.3 GB is more than 30 GiB.
printf 'job_id,submit_s,gpus,duration_s,mem_gib\na,0,1,100,40\nb,5,2,100,20\n' >"$tmp/two.csv"
printf 'job_id,submit_s,gpus,duration_s,mem_gib\nb,5,8,100,20\n' >"$tmp/wide.csv"
for policy in msched uvm fifo gang-rr; do
    check "$policy: a gang waits for its host" 2 "$(field completed --policy $policy --set memory=uvm \
        --gpus-per-node 2 --device v100 --host-mem 30GiB "$tmp/two.csv")"
done
check "a gang that no host can page" 3 "$("$gsim" --quiet --policy uvm --gpus-per-node 8 \
    --device v100 --host-mem 30GiB "$tmp/wide.csv" >"$tmp/out" 2>&1; echo $?)"
check "storage that nobody knows" 1 "$(says storage.bytes_per_s --policy suspend --host-mem 64GiB $demo)"
check "the driver's images need room as well" yes "$(holds "$(field bytes_stored --policy suspend \
    --set mechanism=checkpoint --host-mem 64GiB $demo) > 0")"

# Eight H200s with three jobs of 60 GiB each below one root: what they move takes as long as the root needs.
# Under uvm jobs page from their first second on, and 4 iterations show it.
awk 'BEGIN { print "job_id,submit_s,iterations,gpu_ms,mem_gib"
             for (i = 0; i < 24; i++) print i ",0,200,50,60" }' >"$tmp/n.csv"
sed 's/,200,/,4,/' "$tmp/n.csv" >"$tmp/uvm.csv"
cp "$tmp/n.csv" "$tmp/msched.csv"
printf '[node a]\ngpus = 8\nhost_mem = 2TiB\n' >"$tmp/own.ini"
(cat "$tmp/own.ini"; printf 'pcie_root_gpus = 8\npcie_root_bytes_per_s = 8e9\n') >"$tmp/root.ini"
for policy in msched uvm; do
    span=$(field makespan_s --policy $policy --cluster "$tmp/root.ini" "$tmp/$policy.csv")
    for way in in out; do
        bytes=$(last bytes_$way)
        check "$policy: no more $way than the root carries, nor much less" yes \
            "$(holds "$bytes / $span <= 8e9 && $bytes / $span >= 0.8 * 8e9")"
    done
done
# Four at a time draw more from a domain than it has when they migrate, and not when they fault.
printf 'numa_gpus = 8\nhost_in_bytes_per_s = 1e12\nhost_out_bytes_per_s = 1e12\nhost_both_bytes_per_s = 1e12\n' |
    cat "$tmp/own.ini" - >"$tmp/wide.ini"
check "migrating GPUs share their host" yes "$(holds "$(field makespan_s --policy msched \
    --cluster "$tmp/own.ini" "$tmp/n.csv") > 1.3 * $(field makespan_s --policy msched \
    --cluster "$tmp/wide.ini" "$tmp/n.csv")")"
span=$(field makespan_s --policy msched --cluster "$tmp/own.ini" "$tmp/n.csv")
bytes=$(last bytes_in)
out=$(last bytes_out)
check "and get no more than it has" yes "$(holds "($bytes + $out) / $span <= 2 * 163.8e9")"
check "faults do not ask for more than there is" \
    "$(field makespan_s --policy uvm --cluster "$tmp/wide.ini" "$tmp/uvm.csv")" \
    "$(field makespan_s --policy uvm --cluster "$tmp/own.ini" "$tmp/uvm.csv")"
check "how many GPUs a domain has is assumed" 1 \
    "$(says host.numa_gpus=4 --policy msched --cluster "$tmp/own.ini" "$tmp/n.csv")"

check "a rate that is none" 1 "$(sed 's/1e12/0/' "$tmp/wide.ini" >"$tmp/bad.ini"
    field jct_mean_s --policy fifo --cluster "$tmp/bad.ini" "$tmp/n.csv" | grep -c 'is not a rate above 0')"
check "a domain of no GPU" 1 "$(sed 's/= 8$/= 0/' "$tmp/wide.ini" | sed 's/^gpus = 0/gpus = 8/' >"$tmp/bad.ini"
    field jct_mean_s --policy fifo --cluster "$tmp/bad.ini" "$tmp/n.csv" | grep -c "numa_gpus: '0' is not")"

# --- constants of ways back that no stop has marked, and links that two mechanisms share unseen
sc=traces/samples/cluster.csv
check "a restart after a failure rests on an assumed time" 1 \
    "$(says restart.resume_ns= --policy fifo --nodes 4 --gpus-per-node 8 --mtbf 1d --checkpoint 10min --seed 2 $sc)"
check "so is that writing them takes no time" 1 \
    "$(says 'failure.notice=0 s.*checkpoint.write=0 s' --policy fifo --nodes 4 --gpus-per-node 8 --mtbf 1d --checkpoint 10min --seed 2 $sc)"
check "without them nothing comes back, and is noticed at once" 1 \
    "$(says failure.notice=0 --policy fifo --nodes 4 --gpus-per-node 8 --mtbf 1d --seed 2 $sc)"
check "and none are written" 0 "$(last assumed | grep -c 'checkpoint.write\|restart')"
check "where no node fails nothing is assumed of that" 0 \
    "$(says 'failure\|checkpoint' --policy fifo --nodes 4 --gpus-per-node 8 --mtbf 9999d $sc)"
check "nor on the ideal device" 0 \
    "$(says 'failure\|checkpoint' --policy fifo --device ideal --nodes 4 --gpus-per-node 8 --mtbf 1d --checkpoint 10min --seed 2 $sc)"
check "a run without failures does not" 0 \
    "$(says restart.resume_ns= --policy fifo --nodes 4 --gpus-per-node 8 $sc)"
check "a paused job that moves is copied out" 1 \
    "$(says pcie.d2h_bytes_per_s= --policy srtf --set memory=uvm --device a100-80 --nodes 2 --gpus-per-node 8 $sc)"
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib,gpus,load_gib\np0,0,40,1000,130,1,\np1,0,40,1000,20,1,\nl,20,3,1000,5,1,100\n' >"$tmp/load.csv"
check "where a load and paging are on other GPUs, they do not meet" 0 \
    "$(field outside_validated --policy uvm --device h200 --gpus-per-node 2 "$tmp/load.csv" | grep -c 'beside paging')"

# Both ways together: what GPUs page in turns counts at full rates as well.
printf '[node a]\ngpus = 2\nhost_mem = 2TiB\nnuma_gpus = 2\nhost_in_bytes_per_s = 8e9\nhost_out_bytes_per_s = 8e9\n' >"$tmp/both.ini"
echo 'host_both_bytes_per_s = 6e9' >>"$tmp/both.ini"
printf '%s\n' job_id,submit_s,iterations,gpu_ms,mem_gib p0,0,5,1000,130 p1,0,5,1000,130 q0,0,5,1000,100 q1,0,5,1000,100 \
    >"$tmp/four.csv"
span=$(field makespan_s --policy uvm --cluster "$tmp/both.ini" "$tmp/four.csv")
check "GPUs that page get no more both ways than their host has" yes \
    "$(holds "$(last bytes_in) + $(last bytes_out) <= 6e9 * $span")"

# Two GPUs below one root of 8 GB/s, each with two jobs of 230 GiB together, and 100 GiB that are loaded: 13.4 s
# where no GPU pages. Paging, which goes on for 430 s, is in its way, and it is in the way of paging.
printf '[node a]\ngpus = 2\nhost_mem = 2TiB\npcie_root_gpus = 2\npcie_root_bytes_per_s = 8e9\n' >"$tmp/pair.ini"
printf '%s\n' job_id,submit_s,iterations,gpu_ms,mem_gib,gpus,load_gib p0,0,5,1000,130,1, p1,0,5,1000,130,1, \
    q0,0,5,1000,100,1, q1,0,5,1000,100,1, >"$tmp/pagers.csv"
(cat "$tmp/pagers.csv"; echo l,20,3,1000,5,1,100) >"$tmp/both.csv"
(cat "$tmp/pagers.csv"; echo l,20,3,1000,5,1,0) >"$tmp/light.csv"
(head -n 1 "$tmp/pagers.csv"; echo l,20,3,1000,5,1,100) >"$tmp/alone.csv"
pair="--policy uvm --cluster $tmp/pair.ini"
check "a load alone takes what the root needs" yes \
    "$(holds "$(field makespan_s $pair "$tmp/alone.csv") < 16.8")"
check "and rests on nothing more" 0 "$(field outside_validated $pair "$tmp/alone.csv" | grep -c 'beside paging')"
both=$(field makespan_s $pair --jobs-csv "$tmp/both.jobs" "$tmp/both.csv")
check "beside paging it says how links are shared" 1 "$(last outside_validated | grep -c 'beside paging')"
light=$(field makespan_s $pair --jobs-csv "$tmp/light.jobs" "$tmp/light.csv")
check "a load slows paging by about as long as its bytes need" yes "$(holds "$both > 4 + $light")"
jct() { # job, a run's jobs: its end
    awk -F, -v job="$1" '$1 == job { print $4 }' "$2"
}
check "paging slows a load" yes "$(holds "$(jct l "$tmp/both.jobs") > 13.4 + 6 + $(jct l "$tmp/light.jobs")")"
printf '%s\n' job_id,submit_s,iterations,gpu_ms,mem_gib,load_gib p0,0,40,100,12, p1,0,40,100,12, l,5,3,100,1,20 >"$tmp/v100.csv"
check "what the link of a GPU carries both ways decides it" 1 \
    "$(says pcie.duplex_bytes_per_s --policy uvm --device v100 --gpus-per-node 1 "$tmp/v100.csv")"

# Paged memory needs room on the host. Two jobs of 100 GiB do not fit 139.8 GiB: with 1 GiB on the host the
# second waits from its arrival at 1 s until the first ends, at 10 s and later; with 100 GiB it does not wait.
printf 'job_id,submit_s,duration_s,mem_gib\na,0,10,100\nb,1,10,100\n' >"$tmp/paged.csv"
for policy in msched uvm nvshare; do
    check "$policy: a job waits for its host's memory" 1 \
        "$(field host_waits --policy $policy --device h200 --host-mem 1GiB "$tmp/paged.csv")"
    check "$policy: until the other job ends" yes "$(holds "$(last host_wait_s) >= 9 && $(last host_wait_s) < $(last makespan_s) - 10")"
    check "$policy: for nothing where that has room" "0 0" \
        "$(field host_waits --policy $policy --device h200 --host-mem 100GiB "$tmp/paged.csv") $(last host_wait_s)"
done
check "the run says so" 1 "$("$gsim" --policy msched --device h200 --host-mem 1GiB "$tmp/paged.csv" 2>&1 |
    grep -c 'gsim: msched: jobs waited 1 times for host memory, in all during 4[0-9] % of the makespan')"
check "not where GPUs are what is scarce" "0 0" \
    "$(field host_waits --policy fifo --device h200 --host-mem 1GiB "$tmp/paged.csv") $(last host_wait_s)"
