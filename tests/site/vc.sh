#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Virtual clusters: nodes or quotas of their own, from a table of them and the column vc. And traces
# with rows in any order: jobs go by when they were submitted. $1 is gsim.
set -u
gsim=$(realpath "$1")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

check() { # name, what is wanted, what is there
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: '$3', not '$2'"; fi
}
starts() { # OPTIONS...: "job start" in the order of names
    "$gsim" --quiet --device ideal --force --jobs-csv jobs.csv "$@" >out 2>&1 || cat out
    tail -n +2 jobs.csv | awk -F, '{ printf "%s %d\n", $1, $3 }' | sort
}

# a has one GPU, b has one. With nodes of their own the second job of a waits for the first, 10 s,
# though the GPU of b is idle from 5 s on; without virtual clusters the third in line, that of b,
# waits 10 s for one of the two GPUs; with quotas that may be borrowed the second of a starts when
# b's own job, which has the first claim on b's quota, has ended.
cat >helios.csv <<'EOF'
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,u,a,1,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:10,10,0
2,u,a,1,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:10,2020-04-01 00:00:20,10,10
3,v,b,1,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:05,5,0
EOF
cat >table.csv <<'EOF'
vc,node num
a,1
b,1
EOF
awk -F, 'NR > 1 { printf "[node %s]\ncount = %d\ngpus = 1\npolicy = fifo\n\n", $1, $2 }' table.csv >vc.ini
quotas() { # a line of the specs: the queues of Kueue
    echo 'apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: gpu}'
    awk -F, -v line="$1" 'NR > 1 { print "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: " $1 \
        "}\nspec:\n  " line "\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n    - name: gpu\n" \
        "      resources:\n      - {name: nvidia.com/gpu, nominalQuota: " $2 "}" }' table.csv
}
quotas '' >own.yaml
quotas 'cohort: all' >lent.yaml
check "one pool" "1 0
2 0
3 10" "$(starts --policy fifo --nodes 2 --gpus-per-node 1 helios.csv)"
check "nodes of their own" "1 0
2 10
3 0" "$(starts --policy fifo --cluster vc.ini --assume 'partition={vc}' helios.csv)"
check "quotas of their own" "1 0
2 10
3 0" "$(starts --policy kueue --kueue-conf own.yaml --nodes 2 --gpus-per-node 1 --assume 'queue={vc}' helios.csv)"
check "quotas that are lent" "1 0
2 5
3 0" "$(starts --policy kueue --kueue-conf lent.yaml --nodes 2 --gpus-per-node 1 --assume 'queue={vc}' helios.csv)"
check "the result says it" 1 "$("$gsim" --quiet --policy kueue --kueue-conf own.yaml --nodes 2 --gpus-per-node 1 \
    --assume 'queue={vc}' --format json helios.csv | grep -c 'queue={vc}')"
refused() { # name, exit code, text, --assume
    "$gsim" --quiet --policy fifo --assume "$4" helios.csv >out 2>&1
    code=$?
    check "$1" "$2 1" "$code $(grep -c -e "$3" out)"
}
refused "a column that the trace has not" 3 "helios.csv: --assume qos={model}: no job has a model" 'qos={model}'
refused "no column" 2 "'{vcc}' is not another column of names" 'queue={vcc}'
refused "a column of numbers" 2 "'{gpus}' is not another column of names" 'queue={gpus}'
refused "into a column of numbers" 2 "'{vc}' is not another column of names" 'cpus={vc}'
refused "from itself" 2 "'{queue}' is not another column of names" 'queue={queue}'
refused "open braces" 2 "'{vc' is not" 'queue={vc'

# 80 jobs at 80 times, on eight GPUs with a long queue: in the order of time, backwards, and as the
# rows fall by the last digits of their numbers.
awk 'BEGIN { for (i = 0; i < 80; i++) print "j" i "," i * 20 + i * 7 % 11 "," 30 + i * 53 % 291 "," 1 + i % 3 ",u" i % 4 }' >rows
head='job_id,submit_s,duration_s,gpus,user'
{ echo "$head"; cat rows; } >sorted.csv
{ echo "$head"; sed '1!G;h;$!d' rows; } >back.csv
{ echo "$head"; rev rows | sort | rev; } >mixed.csv
for policy in slurm kueue fifo backfill easy-backfill fairshare; do
    starts --policy $policy --nodes 2 --gpus-per-node 4 sorted.csv >sorted.txt
    for order in back mixed; do
        starts --policy $policy --nodes 2 --gpus-per-node 4 $order.csv >$order.txt
        check "$policy: rows $order" 80 "$(grep -cFxf sorted.txt $order.txt)"
    done
done
# A queue with all GPUs, without priorities and preemption, is a backfill that passes what does not fit.
starts --policy backfill --set placement=any --nodes 1 --gpus-per-node 8 back.csv >sorted.txt
starts --policy kueue --nodes 1 --gpus-per-node 8 back.csv >back.txt
check "kueue with one queue is backfill" 80 "$(grep -cFxf sorted.txt back.txt)"
