#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes with policies of their own in one run: policy, settings and classes in a cluster file. $1 is
# gsim.
set -u
gsim=$1
. tests/support/check.sh
ends() { # POLICY FILE.ini FILE.csv: when each job ended, in trace order
    "$gsim" --quiet --policy "$1" --cluster "$2" --force --jobs-csv "$tmp/jobs.csv" "$3" >"$tmp/out" 2>&1 || cat "$tmp/out"
    awk -F, 'NR > 1 { printf "%s%g", (NR > 2 ? " " : ""), $4 }' "$tmp/jobs.csv"
    rm -f "$tmp/jobs.csv"
}

# Two GPUs for gangs, one under MIG for notebooks, one under mps for jobs of partition debug. A job of one
# GPU that has no column but its duration is as fast in an instance as its part of the GPU.
cat >"$tmp/lab.ini" <<X
[node notebooks]
gpus = 1
device = h200
policy = mig
mig.layout = 3g+2g+2g
[node big]
gpus = 2
device = h200
[node small]
gpus = 1
device = h200
partitions = debug
[partition debug]
policy = mps
mps.queue = backfill
X
cat >"$tmp/lab.csv" <<X
job_id,submit_s,iterations,gpu_ms,gpus,partition,mem_gib,sm_fraction
a,0,100,100,1,notebooks,8,0.2
b,0,100,100,1,notebooks,8,0.2
c,0,100,100,1,debug,8,0.4
d,0,100,100,1,debug,8,0.4
e,0,100,100,2,,8,1
f,0,100,100,2,,8,1
X
# c and d fit beside each other; f waits for e; a and b have 3 and 2 of 7 parts, and need less.
check "each part by its own policy" "10 10 20" "$(ends fifo "$tmp/lab.ini" "$tmp/lab.csv" | awk '{ print $3, $4, $6 }')"
check "exclusive debug: one after the other" "10 20" "$(grep -v '^policy = mps\|^mps\|^.partition' "$tmp/lab.ini" >"$tmp/no.ini"
    ends fifo "$tmp/no.ini" "$tmp/lab.csv" | awk '{ print $3, $4 }')"
check "the run is named by its policies" 1 "$("$gsim" --quiet --policy las --cluster "$tmp/lab.ini" "$tmp/lab.csv" | grep -c '^las+mig+mps on .*(notebooks: mig, debug: mps)')"

# a section's name is a partition beside a policy alone, which the error says where a job names it
printf '[node gpu]\ngpus = 8\n[node big]\ngpus = 8\npartitions = long\n' >"$tmp/names.ini"
printf 'job_id,submit_s,duration_s,gpus,partition\na,0,10,1,gpu\n' >"$tmp/names.csv"
expect "the name of a section without a policy" 3 "the cluster has 0 such GPUs: no node is in that partition (a cluster file says so by the key partitions of a node, and by the name of its section only beside a policy)" "$gsim" --policy fifo --cluster "$tmp/names.ini" "$tmp/names.csv"

# compare, database, report, sweep and check know of it
"$gsim" compare --policies fifo,srtf --cluster "$tmp/lab.ini" --db "$tmp/lab.db" --quiet "$tmp/lab.csv" >"$tmp/out" 2>&1
check "compare varies the policy of the other nodes" "fifo+mig+mps srtf+mig+mps" "$(awk '/mig.mps/ { printf "%s%s", n++ ? " " : "", $1 }' "$tmp/out")"
check "a database says which part had which policy" "mig mps backfill" "$(sqlite3 "$tmp/lab.db" "select distinct value from parameter_list
    where owner like 'part %' and key in ('policy', 'queue') and (value != 'fifo') order by owner desc, key" | tr '\n' ' ' | sed 's/ $//')"
check "a run repeats" 1 "$("$gsim" repro "$tmp/lab.db" 1 --quiet | grep -c '^run 1 is reproduced')"
"$gsim" report "$tmp/lab.db" -o "$tmp/lab.html" --quiet >"$tmp/out" 2>&1
check "a report names them" 1 "$(grep -c 'fifo+mig+mps' "$tmp/lab.html" | awk '{ print ($1 > 0) }')"
sed 's/mps.queue = backfill/mps.queue = fifo/' "$tmp/lab.ini" >"$tmp/lab2.ini"
printf 'trace = %s\npolicy = fifo\ncluster = %s, %s\n' "$tmp/lab.csv" "$tmp/lab.ini" "$tmp/lab2.ini" >"$tmp/grid.ini"
"$gsim" sweep "$tmp/grid.ini" -o "$tmp/grid.db" --quiet >"$tmp/out" 2>&1
check "a setting of a part makes another run" 2 "$(sqlite3 "$tmp/grid.db" 'select count(distinct config) from run')"
check "a sweep knows the runs that it has" 2 "$("$gsim" sweep "$tmp/grid.ini" -o "$tmp/grid.db" --list 2>/dev/null | grep -c '	done	')"

# --- what is refused --------------------------------------------------------------------------------------
refused() { # MESSAGE TEXT-OF-THE-FILE: the line of the file is in the message
    printf '%b' "$2" >"$tmp/bad.ini"
    "$gsim" --policy fifo --cluster "$tmp/bad.ini" "$tmp/lab.csv" >"$tmp/out" 2>&1
    [ $? -ne 0 ] && grep -q -F -- "$1" "$tmp/out" || cat "$tmp/out"
}
node='[node a]\ngpus = 4\n[node notebooks]\ngpus = 1\n'
check "an unknown policy" "" "$(refused "bad.ini:5: policy: no policy is called 'msp'; did you mean 'mps'?" "${node}policy = msp\n")"
check "an unknown setting" "" "$(refused "bad.ini:6: no parameter is called 'quee'; did you mean 'queue'?" "${node}policy = mps\nmps.quee = fifo\n")"
check "a setting with a wrong value" "" "$(refused "bad.ini:6: mps.queue: 'lifo' is not one of" "${node}policy = mps\nmps.queue = lifo\n")"
check "a setting of another policy" "" "$(refused "bad.ini:6: mig.queue: the policy of these nodes is mps" "${node}policy = mps\nmig.queue = fifo\n")"
check "a setting without a policy" "" "$(refused "bad.ini:5: mps.queue: the section says no policy" "${node}mps.queue = fifo\n")"
check "an unknown class" "" "$(refused "bad.ini:6: classes: 'urgent' is not one of production" "${node}policy = mps\nclasses = urgent\n")"
check "two policies of one section" "" "$(refused "bad.ini:6: key 'policy' stands twice in section" "${node}policy = mps\npolicy = mig\n")"
check "a partition on nodes of two policies" "" "$(refused "bad.ini:6: partition 'notebooks' is on nodes under mps and on other nodes, [node a]" \
    '[node a]\ngpus = 4\npartitions = notebooks\n[node notebooks]\ngpus = 1\npolicy = mps\n')"
check "a partition without nodes" "" "$(refused "bad.ini:6: [partition x]: no node is in that partition" "${node}[partition x]\npolicy = mps\n")"
check "a node with two policies" "" "$(refused "the nodes of [node notebooks] have a policy already, mps of 'notebooks'" \
    "${node}policy = mps\npartitions = x\n[partition x]\npolicy = mig\n")"
check "a partition with nodes' keys" "" "$(refused "bad.ini:7: gpus: a partition has the keys policy, classes" \
    "${node}[partition x]\npolicy = mps\ngpus = 3\n")"
check "a job that no part takes" "" "$(refused "lab.csv:4: job 'c' asks for 1 GPUs of partition debug; the nodes under fifo, where it goes, have 0" \
    "${node}policy = mps\n")"
check "no nodes for the other jobs" "" "$(refused "goes to no node: every node has a policy of its own" \
    '[node notebooks]\ngpus = 2\npolicy = mps\n[node debug]\ngpus = 2\npolicy = mps\n')"
check "a part that no job goes to" 1 "$(printf '%bpolicy = mps\n[node x]\ngpus = 4\npolicy = mig\nclasses = realtime\n[node debug]\ngpus = 1\npolicy = fifo\n' "$node" >"$tmp/idle.ini"
    "$gsim" --policy fifo --cluster "$tmp/idle.ini" "$tmp/lab.csv" 2>&1 | grep -c "no job goes to the 4 GPUs of nodes 'x' under mig")"
check "reference= has one policy" 1 "$("$gsim" --policy tiresias --set reference=tiresias --cluster "$tmp/lab.ini" "$tmp/lab.csv" 2>&1 | grep -c 'copies a simulator that has one policy')"

# Policies that choose GPUs themselves refuse partitions, and work inside of one each: of three jobs on two
# GPUs the third waits for the first, until a turn of gang-rr ends (60 s), a round of gavel (360 s) or of
# synergy (300 s), or a slot of elasticflow (60 s); adaptdl and sia place at multiples of their interval of 60 s.
printf 'job_id,submit_s,duration_s,gpus,partition\na,1,10,1,debug\nb,1,10,1,debug\nc,1,10,1,debug\nd,1,10,2,\n' >"$tmp/three.csv"
for policy in gang-rr gavel synergy elasticflow adaptdl sia; do
    printf '[node big]\ngpus = 2\n[node debug]\ngpus = 2\npolicy = %s\n' $policy >"$tmp/own.ini"
    sed 's/,debug$/,/; /^d/d' "$tmp/three.csv" >"$tmp/alone.csv"
    "$gsim" --quiet --policy $policy --gpus-per-node 2 --force --jobs-csv "$tmp/jobs.csv" "$tmp/alone.csv" >"$tmp/out" 2>&1
    alone=$(awk -F, 'NR > 1 { printf "%g ", $4 }' "$tmp/jobs.csv")
    check "$policy inside its partition as alone" "${alone}11" "$(ends fifo "$tmp/own.ini" "$tmp/three.csv")"
done

# Nodes for a class take its jobs whatever their partition is, also that of nodes which others have: c goes
# to 'urgent' as b does, and both run at once under mps; a and d are one after the other.
printf '[node big]\ngpus = 1\npartitions = gpu\n[node urgent]\ngpus = 1\npolicy = mps\nclasses = realtime\n' >"$tmp/urgent.ini"
printf 'job_id,submit_s,duration_s,partition,class,mem_gib,sm_fraction\na,0,10,gpu,batch,1,0.5\nb,0,10,,realtime,1,0.5\nc,0,10,gpu,realtime,1,0.5\nd,0,10,,,1,0.5\n' >"$tmp/urgent.csv"
check "nodes for a class, of any partition" "10 10 10 20" "$(ends fifo "$tmp/urgent.ini" "$tmp/urgent.csv")"

# A part for which the trace has no job was never opened. Its nodes fail like others, and its policy is not asked.
printf '[node all]\ngpus = 2\ndevice = ideal\n[node side]\ngpus = 2\ndevice = ideal\npolicy = timeslice\n' >"$tmp/side.ini"
printf 'job_id,submit_s,duration_s\na,0,400000\nb,5,300000\n' >"$tmp/two.csv"
expect "nodes of a part without jobs fail" 0 "2 completed" "$gsim" run --quiet --policy backfill --cluster "$tmp/side.ini" \
    --mtbf 1d --mttr 1h --checkpoint 30min "$tmp/two.csv"

# --- columns and names that only jobs of other nodes have are none here
awk -v all="$tmp/all.csv" -v mine="$tmp/mine.csv" 'BEGIN {
    print "job_id,submit_s,duration_s,gpus,user,partition,limit_s,sm_fraction" >all
    print "job_id,submit_s,duration_s,gpus,user" >mine
    for (i = 0; i < 80; i++) {
        row = "j" i "," int(i / 2) * 7 "," 5 + i * 37 % 180 "," 1 + i % 3 % 2 ",u" i * i % 11 % 3
        if (i % 4 == 3) print "o" i "," i * 4 ",50,1,other" i ",notebooks,100,0.25" >all
        else { print row ",,," >all; print row >mine }
    }
}'
printf '[node notebooks]\ngpus = 4\ndevice = ideal\npolicy = fifo\n[node]\ngpus = 4\ndevice = ideal\n' >"$tmp/two.ini"
as_alone() { # POLICY [OPTION ...]: its jobs end as in a run of them alone
    "$gsim" --quiet --policy "$@" --cluster "$tmp/two.ini" --force --jobs-csv "$tmp/jobs.csv" "$tmp/all.csv" >"$tmp/log" 2>&1 &&
        grep '^j[0-9]' "$tmp/jobs.csv" | cut -d, -f1-4 >"$tmp/beside" &&
        "$gsim" --quiet --policy "$@" --device ideal --gpus-per-node 4 --force --jobs-csv "$tmp/jobs.csv" "$tmp/mine.csv" >"$tmp/log" 2>&1 &&
        grep '^j[0-9]' "$tmp/jobs.csv" | cut -d, -f1-4 | cmp -s - "$tmp/beside"
    say "jobs under $1 beside others with more columns" $?
}
as_alone fairshare --set max_age=100s --set weight_age=30000
as_alone slurm
as_alone gandiva
# One GPU, and no gangs there: las shares it, as its quantum=auto has it, also beside gangs elsewhere.
printf '[node big]\ngpus = 2\ndevice = ideal\n[node one]\ngpus = 1\ndevice = ideal\npolicy = las\n' >"$tmp/one.ini"
printf 'job_id,submit_s,duration_s,gpus,partition\na,0,10,1,one\nb,0,10,1,one\nc,0,10,2,\n' >"$tmp/one.csv"
check "las shares a GPU that is all its part has" "20 20 10" "$(ends fifo "$tmp/one.ini" "$tmp/one.csv")"

# What a policy is told of a speed is that on its own nodes: not on nodes with fewer CPUs, nor on fuller ones.
cat >"$tmp/hosts.rates" <<X
device,model,gpus,iterations_per_s,cpus_per_gpu,host_gib_per_gpu
ideal,m,1,1,1,10
ideal,m,1,4,4,40
ideal,m,2,1.2,1,10
ideal,m,2,7,4,40
ideal,m,4,1.4,1,10
ideal,m,4,10,4,40
X
cat >"$tmp/learner.goodput" <<X
row,application,placement,nodes,gpus,batch,step_s,sync_s,epoch,progress,grad_sqr,grad_var,iterations,max_batch,min_local,max_local,most_gpus
limits,learner,,,,,,,,,,,,32,4,16,
step,learner,1,,,4,1,0,,,,,,,,,
step,learner,1,,,16,4,0,,,,,,,,,
step,learner,2,,,4,1.1,0.1,,,,,,,,,
step,learner,2,,,16,4.1,0.1,,,,,,,,,
step,learner,11,,,4,9,8,,,,,,,,,
step,learner,11,,,16,12,8,,,,,,,,,
epoch,learner,,,,8,,,0,100,0.5,1,100,,,,
epoch,learner,,,,32,,,0,100,0.5,1,40,,,,
X
printf 'job_id,submit_s,gpus,model,iterations,partition\na,7,2,m,379,side\nb,6,2,m,59,side\nc,10,2,m,117,side\nd,5,4,m,383,side\n' >"$tmp/hosts.csv"
printf 'job_id,submit_s,gpus,model,batch,partition\na,18,1,learner,8,side\nb,8,1,learner,8,side\n' >"$tmp/learner.csv"
told_alone() { # NAME NODES FLAG TABLE TRACE: under elasticflow jobs end beside a node with 4 GPUs and 4 CPUs as alone
    printf '[node side]\n%bdevice = ideal\n' "$2" >"$tmp/side.ini"
    "$gsim" --quiet --policy elasticflow --cluster "$tmp/side.ini" "$3" "$4" --force --jobs-csv "$tmp/alone" "$5" >"$tmp/log" 2>&1
    printf '[node few]\ngpus = 4\ncpus = 4\ndevice = ideal\n[node side]\n%bdevice = ideal\npolicy = elasticflow\n' "$2" >"$tmp/side.ini"
    "$gsim" --quiet --policy fifo --cluster "$tmp/side.ini" "$3" "$4" --force --jobs-csv "$tmp/beside" "$5" >"$tmp/log" 2>&1
    cut -d, -f1-4 "$tmp/alone" >"$tmp/due" && cut -d, -f1-4 "$tmp/beside" | cmp -s - "$tmp/due"
    say "speeds that a policy is told are of its own nodes ($1)" $?
}
told_alone hosts 'gpus = 4\n' --rates "$tmp/hosts.rates" "$tmp/hosts.csv"
told_alone "full nodes" 'count = 4\ngpus = 1\n' --goodput "$tmp/learner.goodput" "$tmp/learner.csv"

# Of 600 jobs on three of twelve nodes each node has a third: 200, with a standard deviation of 11.5.
awk 'BEGIN { print "job_id,submit_s,duration_s,partition"; for (i = 0; i < 600; i++) print "j" i "," 10 * i ",5,few" }' >"$tmp/few.csv"
printf '[node few]\ncount = 3\ngpus = 1\ndevice = ideal\npartitions = few\n[node many]\ncount = 9\ngpus = 1\ndevice = ideal\npartitions = many\n' >"$tmp/few.ini"
sed 's/^partitions = few/&\npolicy = fifo\nfifo.placement = random/' "$tmp/few.ini" >"$tmp/own.ini"
for file in few own; do
    rm -f "$tmp/few.db"
    "$gsim" --quiet --policy fifo --set placement=random --cluster "$tmp/$file.ini" --db "$tmp/few.db" "$tmp/few.csv" >"$tmp/log" 2>&1
    check "random nodes of a partition are as likely ($file)" 3 \
        "$(sqlite3 "$tmp/few.db" "SELECT count(*) FROM gpu WHERE busy_ns / 5e9 BETWEEN 154 AND 246")"
done

# A gang over nodes is below one switch where it fits there, also if other jobs have wider nodes: b takes the second
# switch's nodes, beside a on the first's, and is not slowed to half its speed.
printf '[node few]\ncount = 4\ngpus = 2\ndevice = ideal\npartitions = few\nswitch_nodes = 2\n[node wide]\ngpus = 8\ndevice = ideal\npartitions = wide\n' >"$tmp/wide.ini"
printf 'job_id,submit_s,duration_s,gpus,partition\na,0,100,2,few\nb,1,10,4,few\n' >"$tmp/wide.csv"
"$gsim" --quiet --policy fifo --cluster "$tmp/wide.ini" --set gang.switches_ppm=50% --force --jobs-csv "$tmp/jobs.csv" "$tmp/wide.csv" >"$tmp/log" 2>&1
check "a gang below one switch beside wider nodes of others" "b,11.000000000" "$(grep '^b,' "$tmp/jobs.csv" | cut -d, -f1,4)"
