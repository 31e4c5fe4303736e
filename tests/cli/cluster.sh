#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Clusters of different devices, and networks that slow gangs down. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
ends() { # arguments of gsim: when each job ended, in trace order
    "$gsim" --quiet --policy "${policy:-fifo}" --force --jobs-csv "$tmp/jobs.csv" "$@" >"$tmp/out" 2>&1 || cat "$tmp/out"
    awk -F, 'NR > 1 { printf "%s%g", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv"
    rm -f "$tmp/jobs.csv"
}

printf '[node fast]\ngpus = 2\ndevice = ideal\n[node slow]\ngpus = 2\ndevice = v100\n' >"$tmp/two.ini"
sed 's/gpus = 2/gpus = 1/' "$tmp/two.ini" >"$tmp/two1.ini"
printf 'job_id,submit_s,duration_s,gpus\na,0,10,2\nb,0,10,2\n' >"$tmp/pairs.csv"
printf 'job_id,submit_s,duration_s,gpus,model\na,0,10,4,vgg16\nb,100,10,4,resnet50\n' >"$tmp/wide.csv"

check "nodes alone have a GPU each, and the heading says that it is a default" 1 "$("$gsim" --quiet --policy fifo --nodes 4 "$tmp/pairs.csv" |
    grep -c "4 nodes x 1 GPU (default: 1), ")"
device() { # arguments of gsim: the device that a result names
    "$gsim" --quiet --policy fifo --format json "$@" | grep -o '"device":"[^"]*"'
}
check "a result names the devices of the file's nodes" '"device":"ideal+v100"' "$(device --cluster "$tmp/two.ini" "$tmp/pairs.csv")"
printf '[node a]\ngpus = 2\n[node b]\ngpus = 2\ndevice = v100\n[node c]\ngpus = 2\n' >"$tmp/again.ini"
check "each once, those without one by --device" '"device":"t4+v100"' "$(device --cluster "$tmp/again.ini" --device t4 "$tmp/pairs.csv")"
check "and the heading does" 1 "$("$gsim" compare --quiet --no-what-if --policies fifo,sjf --cluster "$tmp/two.ini" "$tmp/pairs.csv" |
    grep -c "two.ini, device ideal+v100$")"

# The second section would have set the first one's GPUs anew: 2 GPUs in place of 4.
printf '[node a]\ngpus = 2\n[node a]\ngpus = 2\n' >"$tmp/same.ini"
expect "a node's name that stands twice" 3 "same.ini:4: key 'gpus' stands twice in section \[node a\], first in line 2" \
    "$gsim" --policy fifo --cluster "$tmp/same.ini" "$tmp/pairs.csv"
for section in 'nodes a' 'partitions a' ''; do
    printf '%s\npolicy = mps\n[node a]\ngpus = 2\n' "${section:+[$section]}" >"$tmp/section.ini"
    expect "section [$section]" 3 "section.ini:2: \(section \[$section\]\|'policy' stands above all sections\): a cluster has sections" \
        "$gsim" --policy fifo --cluster "$tmp/section.ini" "$tmp/pairs.csv"
done
printf 'sms = 132\n[device]\n' >"$tmp/above.ini"
expect "a device's key above its sections" 3 "above.ini:1: 'sms' stands above all sections; .* \[device\]" \
    "$gsim" --policy fifo --device "$tmp/above.ini" "$tmp/pairs.csv"

# a takes the first node, b the second
check "devices of unknown speed are alike" "10 10" "$(ends --cluster "$tmp/two.ini" "$tmp/pairs.csv")"
check "half as fast: twice as long" "10 20" \
    "$(ends --cluster "$tmp/two.ini" --set speed.v100=0.5 "$tmp/pairs.csv")"
# a and c share the fast device, b and d the slow one: 8 ms of 10 ms an iteration on the GPU, alone or at half
# the rate beside each other, so that an iteration takes 10 or 18 ms, twice that where all is half as fast
printf 'job_id,submit_s,iterations,gpu_ms,host_gap_ms\na,0,1000,8,2\nb,0,1000,8,2\n' >"$tmp/turns2.csv"
(cat "$tmp/turns2.csv"; printf 'c,0,1000,8,2\nd,0,1000,8,2\n') >"$tmp/turns4.csv"
for policy in timeslice mps vgpu xsched; do
    check "$policy: alone at the pace of its own device" "10 20" "$(ends \
        --cluster "$tmp/two1.ini" --set speed.v100=0.5 "$tmp/turns2.csv")"
done
unset policy
check "beside each other at the pace of their device" "18 36 18 36" "$(policy=mps ends \
    --cluster "$tmp/two1.ini" --set speed.v100=0.5 "$tmp/turns4.csv")"
check "a gang goes at its slowest member" "20 120" \
    "$(ends --cluster "$tmp/two.ini" --set speed.v100=0.5 "$tmp/wide.csv")"
check "the speed of a device that is not there" 1 \
    "$(ends --cluster "$tmp/two.ini" --set speed.t4=0.5 "$tmp/pairs.csv" 2>&1 | grep -c "no node of the cluster has a device 't4'")"

# --- partitions and types of GPU ----------------------------------------------------------------------
# Node 1 (2 GPUs) is in both partitions, node 2 in long alone: b waits for a, c and d do not.
printf '[node one]\ngpus = 2\ndevice = ideal\npartitions = short, long\ngpu_type = A100\n[node two]\ngpus = 2\ndevice = ideal\npartitions = long\ngpu_type = V100\n' >"$tmp/parts.ini"
printf 'job_id,submit_s,duration_s,gpus,partition,gpu_type\na,0,10,2,short,\nb,0,10,2,"short,none",\nc,0,10,1,long,v100\nd,0,10,1,,\ne,0,10,2,,a100|H100\n' >"$tmp/parts.csv"
check "jobs run in their partitions, on their types" "10 20 10 10 30" "$(policy=backfill ends --cluster "$tmp/parts.ini" "$tmp/parts.csv")"
check "a cluster that has none says so" 1 "$("$gsim" --policy backfill --nodes 2 --gpus-per-node 2 --device ideal "$tmp/parts.csv" 2>&1 | grep -c 'the trace names several partitions, the cluster none')"
check "a job that no node can run" 1 "$(sed 's/^c,.*/c,0,10,1,short,v100/' "$tmp/parts.csv" >"$tmp/none.csv"; "$gsim" --policy fifo --cluster "$tmp/parts.ini" "$tmp/none.csv" 2>&1 | grep -c "none.csv:4: job 'c' asks for 1 GPUs of partition short of type v100; the cluster has 0 such")"
check "policies that share GPUs refuse it" 1 "$("$gsim" --policy mps --cluster "$tmp/parts.ini" "$tmp/parts.csv" 2>&1 | grep -c "policy 'mps' shares GPUs, of any partition and type")"

# On the slow device b takes 100, not 40, and its stand-in for a limit is that: c, which needs all GPUs, is
# reserved for 100 (both have their 40 from then on, at the pace of the slow one), and from 40 on d and e pass
# it on the fast device.
printf '[node fast]\ngpus = 4\ndevice = ideal\n[node slow]\ngpus = 4\ndevice = v100\n' >"$tmp/four.ini"
printf 'job_id,submit_s,duration_s,gpus\na,0,40,4\nb,0,40,4\nc,1,40,8\nd,2,36,1\ne,52,4,1\n' >"$tmp/over.csv"
check "true durations stand in for limits by device" "40 100 200 76 56" \
    "$(policy=easy-backfill ends --cluster "$tmp/four.ini" --set speed.v100=0.4 "$tmp/over.csv")"
check "kill=on needs limits" 1 "$("$gsim" --policy easy-backfill --set kill=on "$tmp/over.csv" 2>&1 |
    grep -c "column 'limit_s': kill=on ends jobs at their limit")"
check "so it does under slurm, where partitions have none either" 1 "$("$gsim" --policy slurm --set kill=on "$tmp/over.csv" 2>&1 |
    grep -c "column 'limit_s': kill=on ends jobs at their limit")"
# Four requests of 5 s, of which at most two are served in the 10 s until the limit.
printf 'job_id,submit_s,gpu_ms,limit_s,requests,period_ms\na,0,5000,10,4,6000\n' >"$tmp/served.csv"
check "a job that is ended early has not served all its requests" 1 "$("$gsim" --quiet --policy easy-backfill --set kill=on \
    --device ideal --gpus-per-node 1 --format json "$tmp/served.csv" | sed 's/.*"gpu_work":\([0-9.]*\).*/\1/' | awk '{ print ($1 <= 1) }')"
check "assumed limits, and those that reach them" 4 "$("$gsim" --quiet --policy easy-backfill --set kill=on \
    --assume limit_s=30 --device ideal --gpus-per-node 8 --format json "$tmp/over.csv" | sed 's/.*"killed":\([0-9]*\).*/\1/')"

# A V100 has 16 GiB or 32: a gang of three with 40 GiB on each has two GPUs that could hold it, and would
# wait for ever.
printf '[node large]\ngpus = 2\ndevice = h100-sxm\n[node small]\ngpus = 2\ndevice = v100\n' >"$tmp/sizes.ini"
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,10,2,40\nb,0,10,3,40\n' >"$tmp/sizes.csv"
check "a gang with more memory than enough GPUs have" "3 1" "$("$gsim" --policy srsf --cluster "$tmp/sizes.ini" \
    "$tmp/sizes.csv" >"$tmp/out" 2>&1; echo $? "$(grep -c "'b' needs 40GiB of memory on each of 3 GPUs; only 2" "$tmp/out")")"

# vgg16 is skewed: 10 / 0.25, then 10 / 0.8
check "over nodes, by skew" "40 112.5" \
    "$(ends --device ideal --nodes 2 --gpus-per-node 2 --set gang.nodes_ppm=800000 \
        --set gang.nodes_skewed_ppm=250000 "$tmp/wide.csv")"
check "on one node nothing is slower" "10 110" \
    "$(ends --device ideal --gpus-per-node 4 --set gang.nodes_ppm=800000 "$tmp/wide.csv")"

# Four nodes of one GPU, two below a switch. x has one GPU for long; y needs two: it is placed below
# the other switch, where it has both; z gets what is left, below both.
printf '[node n]\ncount = 6\ngpus = 1\nswitch_nodes = 2\ndevice = ideal\n' >"$tmp/tree.ini"
printf 'job_id,submit_s,duration_s,gpus\nx,0,100,1\ny,1,10,2\nz,2,10,3\n' >"$tmp/xyz.csv"
check "below one switch, then over switches" "100 13.5 22" \
    "$(ends --cluster "$tmp/tree.ini" --set gang.nodes_ppm=800000 --set gang.switches_ppm=500000 "$tmp/xyz.csv")"

# Failures: said in the table, the same whatever the policy, and refused where they make no sense.
printf 'job_id,submit_s,duration_s\nj,0,1000\n' >"$tmp/long.csv"
check "failures are counted" 1 "$("$gsim" --quiet --device ideal --policy fifo --mtbf 300 --mttr 1min \
    --checkpoint 30s "$tmp/long.csv" | grep -c 'node failures *[1-9]')"
# A process takes 35 mean times between failures to start: the clock ends before a million attempts have been in
# vain. With failures at the clock's end, each followed by its repair there, the run had no end (its limit here is
# processor time, in seconds).
check "what keeps a job from an end until the clock's" 3 "$( (
    ulimit -t 60
    "$gsim" --quiet --policy fifo --set start.first_ns=1000000s --mtbf 8h --mttr 1d --nodes 1 "$tmp/long.csv" 2>"$tmp/log" >/dev/null
    echo $?
))"
check "is said" 1 "$(grep -c "job 'j' has begun [0-9]* times and will not finish: it got done 0.000 s at most of the 1000.000 s of work" "$tmp/log")"
check "repairs without failures" 2 "$("$gsim" --policy fifo --mttr 60 "$tmp/long.csv" >/dev/null 2>&1; echo $?)"
check "failures in a reference simulator" 2 "$("$gsim" --policy fifo --mtbf 60 --set reference=tiresias \
    "$tmp/long.csv" >/dev/null 2>&1; echo $?)"

# An application takes as long on the second device of a cluster as alone on such a device.
printf 'job_id,submit_s,app,iterations\na,0,resnet50-train,1000\n' >"$tmp/app.csv"
printf 'job_id,submit_s,app,iterations\na,0,resnet50-train,100000\nb,0,resnet50-train,1000\n' >"$tmp/apps.csv"
printf '[node a]\ngpus = 1\ndevice = h200\n[node b]\ngpus = 1\ndevice = v100\n' >"$tmp/apps.ini"
alone=$(ends --device v100 "$tmp/app.csv")
check "an application by its roofline" "$alone" "$(ends --cluster "$tmp/apps.ini" "$tmp/apps.csv" | cut -d' ' -f2)"
other=$(ends --device h200 "$tmp/app.csv")
check "which is another time than on the first device" 1 \
    "$(awk -v a="$alone" -v b="$other" 'BEGIN { print (a > 1.5 * b) }')"

# --- what a cluster can never give is said before the run, with the job and what it lacks
printf '[node big]\ncount=2\ngpus=1\ndevice=h200\n[node small]\ncount=2\ngpus=1\ndevice=rtx3080\n' >"$tmp/contexts.ini"
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,1,2,9.5\nb,0,1,4,9.5\n' >"$tmp/contexts.csv"
expect "contexts beside a gang's memory" 3 "contexts.csv:3: column 'mem_gib': job 'b' needs 10.013GiB of memory with its context (context.bytes) on each of 4 GPUs; only 2 GPUs" \
    "$gsim" --policy xsched --cluster "$tmp/contexts.ini" "$tmp/contexts.csv"
expect "a policy without contexts runs it" 0 "JCT mean" "$gsim" --policy fifo --cluster "$tmp/contexts.ini" "$tmp/contexts.csv"
printf 'job_id,submit_s,duration_s,gpus,cpus\na,0,1,2,8\nb,0,1,2,10\n' >"$tmp/cpus.csv"
expect "CPUs that no node has" 3 "cpus.csv:3: column 'cpus': job 'b' needs 5.000 CPUs beside each of 2 GPUs; only 0 GPUs" \
    "$gsim" --policy gandiva --nodes 2 --gpus-per-node 1 --cpus-per-node 4 "$tmp/cpus.csv"
expect "CPUs that two nodes have" 0 "JCT mean" "$gsim" --policy gandiva --nodes 2 --gpus-per-node 1 --cpus-per-node 5 "$tmp/cpus.csv"
# Nodes of partition q have 2 GPUs, and p has a wider one that no job here may use. a and b run 1000 s on q. c comes at
# 10 s, takes 100 s on 4 GPUs of q, and goes first by what is left (100 of 990 s) and by that times GPUs (400 of 1980):
# it pushes out both, runs from 10 to 110 s, and they end at 1100 s.
printf '[node p]\ncount = 1\ngpus = 4\npartitions = p\n[node q]\ncount = 2\ngpus = 2\npartitions = q\n' >"$tmp/narrow.ini"
printf 'job_id,submit_s,duration_s,gpus,partition\na,0,1000,2,q\nb,0,1000,2,q\nc,10,100,4,q\n' >"$tmp/narrow.csv"
for policy in srtf srsf; do
    "$gsim" --policy "$policy" --cluster "$tmp/narrow.ini" --device ideal --quiet --jobs-csv "$tmp/jobs.csv" --force "$tmp/narrow.csv" >"$tmp/log" 2>&1
    check "a gang wider than the nodes that it may use pushes out jobs on several ($policy)" "a 0-1100 b 0-1100 c 10-110 " "$(awk -F, 'NR > 1 { printf "%s %d-%d ", $1, $3, $4 }' "$tmp/jobs.csv")"
done

# Jobs of two partitions under las: a0 runs on the GPU of a from 0 s on, b0 on that of b from 50 s on. b1 comes at 60 s,
# and b0 is a quantum of 100 s ahead of it at 150 s; a0, which is so at 100 s, has no GPU that b1 may use. b1 runs from
# 150 to 160 s, and b0 goes on for its other 900 s until 1060 s.
printf '[node a]\ngpus = 1\npartitions = a\n[node b]\ngpus = 1\npartitions = b\n' >"$tmp/turns.ini"
printf 'job_id,submit_s,duration_s,gpus,partition\na0,0,1000,1,a\nb0,50,1000,1,b\nb1,60,10,1,b\n' >"$tmp/turns.csv"
check "a job overtakes the one whose GPUs it may use" "1000 1060 160" "$(policy=las ends --device ideal --set las.quantum=100s --cluster "$tmp/turns.ini" "$tmp/turns.csv")"

# A gang that the network slows to half its speed has had its GPUs for 30 s after 30 s, by queue=las as by
# policy las, and gives way to a job that came at 1 s.
printf 'job_id,submit_s,duration_s,gpus,mem_gib\nwide,0,100,2,1\none,1,10,1,1\n' >"$tmp/served.csv"
slow="--device ideal --nodes 2 --gpus-per-node 1 --set gang.nodes_ppm=500000"
check "service of a slow gang is time: policy las" "210 40" "$(policy=las ends $slow --set las.quantum=30s "$tmp/served.csv")"
check "and queue=las" "210 40" "$(policy=timeslice ends $slow --set queue=las --set queue_quantum=30s "$tmp/served.csv")"

# On nodes of 8, 2 and 2 GPUs a gang of 12 is 8 + 2 + 2. Jobs that fill a GPU's memory have all of them, the
# last until 21 s, and others would follow each: the gang has its reservation for 21 s under queue=easy as under
# easy-backfill.
printf '[node a]\ngpus = 8\ndevice = ideal\n[node b]\ncount = 2\ngpus = 2\ndevice = ideal\n' >"$tmp/unlike.ini"
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,mem_gib,limit_s"
    for (i = 0; i < 12; i++) printf "s%d,0,%d,1,8,%d\n", i, 10 + i, 10 + i
    print "wide,1,10,12,1,10"
    for (i = 0; i < 40; i++) printf "t%d,2,20,1,8,20\n", i }' >"$tmp/unlike.csv"
wide() { # arguments of gsim: when the gang, the 13th job, ended
    ends --cluster "$tmp/unlike.ini" --set hbm_bytes=8GiB "$@" "$tmp/unlike.csv" | cut -d' ' -f13
}
check "a gang over unlike nodes: easy-backfill" 31 "$(policy=easy-backfill wide)"
check "and queue=easy" "31 31 31" "$(echo $(policy=timeslice wide --set queue=easy) $(policy=mps wide --set queue=easy) $(policy=salus wide --set queue=easy))"

# On nodes of 8, 8, 2 and 2 GPUs a gang of 15 is 8 + 2 + 2 and a rest of 3, for which the second wide node has
# to be left by the narrow parts. All GPUs are free at 29 s.
printf '[node a]\ncount = 2\ngpus = 8\ndevice = ideal\n[node b]\ncount = 2\ngpus = 2\ndevice = ideal\n' >"$tmp/unlike.ini"
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,mem_gib,limit_s"
    for (i = 0; i < 20; i++) printf "s%d,0,%d,1,8,%d\n", i, 10 + i, 10 + i
    print "wide,1,10,15,1,10"
    for (i = 0; i < 60; i++) printf "t%d,2,20,1,8,20\n", i }' >"$tmp/unlike.csv"
wide() { ends --cluster "$tmp/unlike.ini" --set hbm_bytes=8GiB "$@" "$tmp/unlike.csv" | cut -d' ' -f21; }
check "a rest that a wide node has: easy-backfill" "$(policy=easy-backfill wide)" "$(policy=timeslice wide --set queue=easy)"

# Nodes fail before the first job comes: the GPUs of the others are cut by the layout then, and those of a node
# once it is repaired. Two jobs with a fifth of a GPU's memory are beside each other, and begin when they come.
printf 'job_id,submit_s,duration_s,mem_gib,sm_fraction\na,5000,100,4,0.2\nb,5000,100,4,0.2\n' >"$tmp/late.csv"
check "instances where a node fails before the first job comes" "5100 5100" "$(policy=mig ends --device a100-40 --nodes 3 --gpus-per-node 2 \
    --set layout=3g+2g+2g --mtbf 1h --mttr 1h --checkpoint 10s --seed 1 "$tmp/late.csv")"

# b and c have grown on a node each. At 24 s both go back to one GPU, d comes beside c, and e stands in the line of b: slices of
# one GPU began at 24 s, so that b gives way at 29 s. It has done 52 s by then, and has two GPUs again from 31 s on.
printf 'job_id,submit_s,duration_s,gpus\na,0,1,2\nb,0,100,1\nc,2,100,1\nd,24,100,1\ne,24,1,2\n' >"$tmp/shrunk.csv"
check "gandiva, the slice of a job that has given GPUs back" "1 54.5 81 102.5 30" \
    "$(policy=gandiva ends --device ideal --nodes 2 --gpus-per-node 2 --set slice=5s --set grow=on --set grow_after=1s "$tmp/shrunk.csv")"

# g and h take turns of 10 s on GPUs of two nodes, with their memory on all of them. g had the second GPU of the second node first,
# since a was on the first one: it comes back there, and copies nothing. Of 20 turns of 10 s g has the last but one, and a pause takes 0.3 ms.
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,15,1,1\ng,0,100,3,10\nh,1,100,3,10\n' >"$tmp/home.csv"
printf '[node n]\ncount = 2\ngpus = 2\ndevice = h200\n' >"$tmp/home.ini"
check "gandiva, a gang of two nodes comes back to its memory" "25.0004 190.003 200.002" \
    "$(policy=gandiva ends --cluster "$tmp/home.ini" --set packing=off --set migration=off --set slice=10s --set preempt=pause --set placement=any "$tmp/home.csv")"

# Jobs of 20 GiB fit on the l40s, and not on the rtx3080. Each policy gives all of them GPUs that have the memory, or
# refuses the cluster before it runs; none leaves a job waiting.
printf '[node a]\ncount=1\ngpus=2\ndevice=rtx3080\n[node b]\ncount=1\ngpus=2\ndevice=l40s\n' >"$tmp/two_kinds.ini"
{
    echo job_id,submit_s,duration_s,mem_gib
    for i in 1 2 3 4 5 6; do echo "j$i,$i,100,$((i % 2 * 18 + 2))"; done
} >"$tmp/some_large.csv"
for policy in $("$gsim" list policies | awk '{ print $1 }'); do
    ended=$("$gsim" run --policy "$policy" --cluster "$tmp/two_kinds.ini" --until 20000s --quiet --format csv "$tmp/some_large.csv" 2>"$tmp/log" | awk -F, 'NR == 2 { print $7 }')
    case $policy in
    synergy | adaptdl | pollux | muri | vgpu) check "$policy: refused where GPUs differ in memory" 1 "$(grep -c memory "$tmp/log")" ;;
    *) check "$policy: jobs go where they have the memory" 6 "$ended" ;;
    esac
done
