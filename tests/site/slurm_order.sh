#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which job Slurm looks at first, and which one gives way: starts and ends that follow by hand from
# priority_multifactor.html and slurm.conf(5). $1 is gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
. tests/support/check.sh
cd "$tmp" || exit 1
of() { # column
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s%s %d", sep, $at["job_id"], $at[name]; sep = " " }' jobs.csv
}
run() { "$gsim" --policy slurm --device ideal --slurm-conf site.conf --quiet --jobs-csv jobs.csv --force "$@" jobs.in.csv >"$tmp/log" 2>&1; }
site() { # keys, nodes, QOS, GPUs of a node (2)
    printf "$1"'\nAccountingStorageEnforce=limits\nNodeName=n[1-%d] CPUs=8 Gres=gpu:%d\nPartitionName=gpu Nodes=n[1-%d] Default=YES MaxTime=1-0\n\n'"$3" "$2" "${4:-2}" "$2" >site.conf
}
jobs() {
    echo job_id,submit_s,duration_s,gpus,limit_s,qos,cpus,num_nodes >jobs.in.csv
    printf '%s\n' "$@" >>jobs.in.csv
}

# "Jobs that can preempt" are looked at first: h begins at 100 s before l, which has the higher priority by far, and
# was submitted before. Where nothing is preempted priority alone counts.
lists='Name|Priority|Preempt\nhigh|0|low\nlow|100|\nother|0|\n'
jobs r,0,100,2,100,other,2, l,1,50,2,100,low,2, h,2,50,2,100,high,2,
site 'PriorityWeightQOS=1000\nPreemptType=preempt/qos\nPreemptMode=REQUEUE' 1 "$lists"
run
check "a job that can preempt comes before those of higher priority" "r 0 l 150 h 100" "$(of start_s)"
site 'PriorityWeightQOS=1000\nPreemptType=preempt/none' 1 "$lists"
run
check "and does not where there is no preemption" "r 0 l 100 h 150" "$(of start_s)"

# Of two jobs of one QOS the one on fewer nodes gives way: a on two nodes runs on to 100 s, b begins anew at 60 s, when h
# has run on its node. The youngest is a.
lists='Name|Priority|Preempt\nhigh|10|low\nlow|0|\n'
jobs b,0,100,2,200,low,2, a,1,100,4,200,low,4,2 h,10,50,2,100,high,2,
site 'PreemptType=preempt/qos\nPreemptMode=REQUEUE' 3 "$lists"
run
check "the job on fewer nodes gives way" "b 160 a 101 h 60" "$(of end_s)"
for key in PreemptParameters=youngest_first SchedulerParameters=preempt_youngest_first; do
    site "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n$key" 3 "$lists"
    run
    check "or the youngest: $key" "b 100 a 160 h 60" "$(of end_s)"
done
# Of four GPUs h needs two. b, the first on the list, frees one, and d behind it two: d is then looked at first, and
# suffices.
jobs b,0,100,1,200,low,1, d,1,100,2,200,low,1, e,2,100,1,200,high,1, h,10,50,2,100,high,1,
site 'PreemptType=preempt/qos\nPreemptMode=REQUEUE' 1 "$lists" 4
run
check "jobs that made no difference stay" "b 100 d 160 e 102 h 60" "$(of end_s)"

# low may be preempted once it has run for a minute; its QOS says when, if it does.
jobs l,0,100,2,200,low,2, h,10,50,2,100,high,2,
for exempt in ':60' '00:00:30:30' '00:00:00:10' '-1:60'; do
    site 'PreemptType=preempt/qos\nPreemptMode=REQUEUE\nPreemptExemptTime=00:01:00' 1 "Name|Priority|Preempt|PreemptExemptTime\nhigh|10|low|\nlow|0||${exempt%:*}\n"
    run
    check "PreemptExemptTime, of the QOS '${exempt%:*}'" "l 0 h ${exempt##*:}" "$(of start_s)"
done

# One job of the QOS at a time. The size of x is (1/4 of the nodes + 8/32 of the CPUs) / 2 = 0.25, that of y, which asks
# for two nodes, (2/4 + 2/32) / 2 = 0.28; both have two GPUs.
jobs z,0,100,2,100,one,2, x,1,50,2,100,one,8, y,2,50,2,100,one,2,2
site 'PriorityWeightJobSize=1000' 4 'Name|GrpJobs\none|1\n'
run
check "the size of a job is its part of nodes and of CPUs" "z 0 x 150 y 100" "$(of start_s)"
site 'PriorityWeightJobSize=1000\nPriorityFavorSmall=YES' 4 'Name|GrpJobs\none|1\n'
run
check "and the small one comes first with PriorityFavorSmall" "z 0 x 100 y 150" "$(of start_s)"

# PriorityWeightTRES is relative to the GPUs of the partition ("in a given partition",
# priority_multifactor.html): x asks for 2 of the 2 of partition narrow, y for 7 of the 8 of wide. At 100 s x comes
# first, and y has room at 150 s; of the cluster's GPUs x would have the smaller part.
printf 'PriorityWeightTRES=GRES/gpu=1000\nNodeName=n[1-4] CPUs=8 Gres=gpu:2\nPartitionName=wide Nodes=n[1-4] Default=YES MaxTime=1-0\nPartitionName=narrow Nodes=n1 MaxTime=1-0\n' >site.conf
printf 'job_id,submit_s,duration_s,gpus,limit_s,partition\nr,0,100,8,100,wide\ny,1,50,7,50,wide\nx,2,50,2,50,narrow\n' >jobs.in.csv
run
check "GPUs count by their part of the partition" "r 0 y 150 x 100" "$(of start_s)"
