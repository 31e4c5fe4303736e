#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of a site: what is refused, with its line, and what is listed as not modelled. $1 is gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
. tests/support/check.sh
cd "$tmp" || exit 1
cat >t.csv <<'EOT'
job_id,submit_s,duration_s,gpus,limit_s,user,vc,partition,qos
a,0,600,2,900,ann,bio,gpu,normal
b,1,600,2,900,ann,bio,gpu,normal
c,2,60,1,120,bob,bio,gpu,high
d,3,60,1,120,bob,bio,gpu,high
EOT
cat >site.conf <<'EOT'
ClusterName=lab   # a comment
SchedulerParameters=bf_interval=60,bf_resolution=1,bf_licenses,defer
PriorityWeightQOS=1000
AccountingStorageEnforce=limits
NodeName=n[1-2] Gres=gpu:a100:2(S:0-1) State=UNKNOWN
PartitionName=gpu Nodes=n[1-2] Default=YES MaxTime=1-0

Name|Priority|GraceTime|Flags|MaxJobsPU|MaxTRESPU|MinTRES
normal|10|00:00:00|||gres/gpu=2|gres/gpu=1
high|100|00:00:00||1|node=4|
EOT
# Of these nodes n has 2 whole GPUs, the MIG instances beside them and those of m are none: 6 would have been counted,
# of which a job of 3 GPUs is then refused.
cat >mig.conf <<'EOT'
NodeName=n Gres=gpu:a100:2,gpu:1g.5gb:7
NodeName=m Gres=gpu:a100_3g.20gb:4(S:0)
PartitionName=gpu Nodes=n,m Default=YES MaxTime=1-0
EOT
printf 'job_id,submit_s,duration_s,gpus\na,0,600,3\n' >three.csv
starts() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s%s %d", sep, $at["job_id"], $at["start_s"]; sep = " " }' jobs.csv
}
run() { "$gsim" --policy slurm --device ideal --slurm-conf "$@"; }
expect "a site's nodes are the cluster" 0 "^slurm on t.csv: .*site.conf" run site.conf t.csv
grep -q "bf_licenses= (assumed: the key has no effect)" "$tmp/log" && grep -q "defer= (assumed: the main scheduler runs at each event)" "$tmp/log" && grep -q "MinTRES=gres/gpu=1 (assumed: no limit)" "$tmp/log" && grep -q "MaxTRESPU=node=4 (assumed: no limit: gsim does not count it)" "$tmp/log"
say "what is not modelled is listed, with what is assumed" $?
expect "MIG instances are no GPUs, whatever their type is called" 3 "asks for 3 GPUs.* the cluster has 2" run mig.conf three.csv
run mig.conf t.csv >"$tmp/log" 2>&1
grep -q "Gres=gpu:1g.5gb:7 (assumed: only whole GPUs are counted); Gres=gpu:a100_3g.20gb:4 (assumed" "$tmp/log"
say "and are listed" $?
{ printf '%s\n' 'Licenses=matlab:2' 'JobRequeue=0' 'DefMemPerCPU=4096' 'DefMemPerNode=UNLIMITED' 'KillWait=30 sec'; cat site.conf; } >held.conf
run held.conf t.csv >"$tmp/log" 2>&1
grep -q "Licenses=matlab:2 (assumed: licenses never lack)" "$tmp/log" && grep -q "JobRequeue=0 (assumed: a job that gives way ends" "$tmp/log" && grep -q "DefMemPerCPU=4096 (assumed: a job has the CPUs" "$tmp/log" && ! grep -q "DefMemPerNode\|KillWait" "$tmp/log"
say "so are licenses, memory and what becomes of jobs that give way, and no key that changes no start" $?
run site.conf --quiet --jobs-csv jobs.csv t.csv >"$tmp/log" 2>&1
# bob's jobs start by MaxJobsPU one after the other, ann's by MaxTRESPU
check "limits bind" "a 0 b 600 c 2 d 62" "$(starts)"
# site.conf as Slurm reads it too: quotes, blanks around '=', names with two ranges (r1n1 and r1n2 are the two nodes), a
# file that another one stands in. The constraint would match no feature called "fast.
sed -e 's/^SchedulerParameters=\(.*\)/Include nodes.conf\nSchedulerParameters = "\1"/' -e 's/^NodeName=n.1-2. \(.*\)/NodeName = r[1]n[1-2] \1 Feature="fast,big" Comment="of rack 1"/' \
    -e 's/Nodes=n.1-2. \(.*\)/Nodes="r1n1,r1n2" \1 TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES\/gpu=2.0"/' site.conf >quoted.conf
sed -e '1s/$/,features/' -e '2,$s/$/,fast/' t.csv >fast.csv
run quoted.conf --jobs-csv quoted.csv fast.csv >"$tmp/log" 2>&1
check "so they do in a file with quotes, blanks and names with two ranges" "$(cat jobs.csv)" "$(cat quoted.csv)"
grep -q "Include=nodes.conf (assumed: the lines of that file stand in this one too" "$tmp/log" && grep -q "bf_licenses= (assumed" "$tmp/log"
say "and a file that is not followed is listed" $?
expect "a weight that is none" 3 "TRESBillingWeights: 'Mem=G' is not a list such as" sh -c "sed '/^PartitionName/s/\$/ TRESBillingWeights=Mem=G/' site.conf >weight.conf; '$gsim' --policy slurm --slurm-conf weight.conf t.csv"
sed 's/AccountingStorageEnforce=limits/AccountingStorageEnforce=associations/' site.conf >off.conf
expect "limits that are not enforced are said" 0 "not enforced, since the key does not" run off.conf t.csv
expect "the cluster can be another" 0 "^slurm on t.csv: 1 node x 4 GPUs" sh -c "sed /NodeName/d site.conf >no.conf; sed -i 's/Nodes=n.1-2. /Nodes=ALL /' no.conf; '$gsim' --policy slurm --slurm-conf no.conf --gpus-per-node 4 t.csv"
expect "but not one that contradicts the file" 3 "leave out --gpus-per-node and --cluster" run site.conf --nodes 3 --gpus-per-node 4 t.csv
# Two nodes of one GPU, one in each partition; p1..p4 and q1..q4 take 100 s each, all at once. On as many nodes
# like them, of each kind in proportion, a partition serves its four jobs one, two and four at a time: mean
# waits (0 + 100 + 200 + 300) / 4 = 150 s, 50 s and 0 s.
printf 'PriorityType=priority/basic\nNodeName=p Gres=gpu:1\nNodeName=q Gres=gpu:1\nPartitionName=p Nodes=p Default=YES MaxTime=1:00:00\nPartitionName=q Nodes=q MaxTime=1:00:00\n' >two.conf
{ echo job_id,submit_s,duration_s,gpus,partition; for i in 1 2 3 4; do printf 'p%d,0,100,1,p\nq%d,0,100,1,q\n' $i $i; done; } >two.csv
for at in 2:150 4:50 8:0; do
    for policy in slurm fifo; do
        "$gsim" --policy $policy --device ideal --slurm-conf two.conf --nodes ${at%:*} --quiet --format json two.csv >two.json 2>"$tmp/log"
        check "$policy on ${at%:*} nodes like the site's" "${at#*:}" "$(python3 -c 'import json, sys; d = json.load(open("two.json")); d = d[0] if isinstance(d, list) else d; print(round(d.get("summary", d)["wait_mean_s"]))')"
    done
done
expect "a plan of more such nodes" 0 "^slurm  *1  *4  *4  *50 s  *2.5 min" "$gsim" plan --policies slurm --device ideal --slurm-conf two.conf --nodes 2,4,8 --target 'wait_mean_s < 60s' --quiet two.csv
expect "another policy has the site's cluster" 0 "^fifo on t.csv: .*site.conf" "$gsim" --policy fifo --slurm-conf site.conf t.csv
expect "--cluster takes it as well" 0 "^fifo on t.csv: .*site.conf" "$gsim" --policy fifo --cluster site.conf t.csv

# --- nodes of the file: one's own Gres in place of the default, none that is not there yet, each once; what scontrol
# prints on the lines after the first counts as well (n2 has the lower Weight, and a GPU there has two shards, so that
# b, with half a GPU, and c share one, and d has both of n1).
gpus() { # file
    "$gsim" --policy fifo --cluster "$1" --device ideal --quiet --format json one.csv | grep -o '"gpus":[0-9]*'
}
printf 'job_id,submit_s,duration_s,gpus\na,0,60,1\n' >one.csv
printf 'NodeName=DEFAULT Gres=gpu:a100:4 CPUs=8\nNodeName=n1\nNodeName=n2 Gres=gpu:8\nNodeName=n3 Gres=(null)\nNodeName=n4 State=FUTURE\nPartitionName=gpu Nodes=ALL Default=YES\n' >default.conf
check "a node's own Gres takes the place of the default's" '"gpus":12' "$(gpus default.conf)"
run default.conf one.csv >"$tmp/log" 2>&1
grep -q 'State=FUTURE (assumed: the node is not there)' "$tmp/log"
say "a node that is not there yet is named" $?
record() { # name, weight
    printf 'NodeName=%s Arch=x86_64 CoresPerSocket=4\n   CPUTot=8 CPULoad=0.5\n   ActiveFeatures=a100,%s\n   Gres=gpu:a100:2,shard:4\n   State=IDLE ThreadsPerCore=2 TmpDisk=0 Weight=%d Owner=N/A\n\n' "$1" "$1" "$2"
}
printf 'NodeSet=both Nodes=n1 Feature=n2\nPartitionName=gpu Nodes=both Default=YES MaxTime=1-0\n' >sets.conf
{ record n1 10; record n2 1; cat sets.conf; } >show.conf
printf 'job_id,submit_s,duration_s,gpus,limit_s,features\na,0,60,1,60,\nb,0,60,0.5,60,\nc,0,60,0.5,60,\nd,0,60,2,60,n1\ne,1,60,1,60,\n' >shards.csv
run show.conf --quiet --jobs-csv jobs.csv --force shards.csv >"$tmp/log" 2>&1
check "weights and shards of what scontrol prints, and a NodeSet" "a 0 b 0 c 0 d 0 e 60" "$(starts)"
printf 'ReservationName=course StartTime=2024-05-01T00:00:00 EndTime=2024-05-02T00:00:00\n   Nodes=n1 CoreCnt=4\n   TRES=cpu=4,gres/gpu=1\n   Users=(null) Groups=students Accounts=(null)\n' >>show.conf
run show.conf --set slurm.start=2025-05-01T00:00:00 one.csv >"$tmp/log" 2>&1
grep -q 'TRES=cpu=4,gres/gpu=1 (assumed: the reservation has its nodes as a whole); Groups=students (assumed' "$tmp/log"
say "reservations of parts of nodes, and of groups, are named" $?
{ cat show.conf; echo 'NodeName=n[1-2] Gres=gpu:2'; } >twice.conf
expect "a node stands once, and the line of the second is named" 3 "twice.conf:$(($(wc -l <show.conf) + 1)): NodeName: 'n1' is not a new name: it stands twice" run twice.conf --set slurm.start=2025-05-01T00:00:00 one.csv
# Of the associations of two clusters those of ClusterName count: MaxJobs of a holds back none of b.
cat >clusters.conf <<'EOT'
ClusterName=b
AccountingStorageEnforce=limits
PriorityWeightJobSize=10
NodeName=n[1-2] CPUs=8 Gres=gpu:2
PartitionName=gpu Nodes=n[1-2] Default=YES MaxTime=1-0
Cluster|Account|User|Share|ParentName|MaxJobs
a|root||1||
a|bio||1|root|
a|bio|ann|1||1
b|root||1||
b|bio||1|root|
b|bio|ann|1||
Name|Priority|Flags
normal|0|NoReserve,OverPartQOS
high|0|Relative
EOT
head -2 t.csv >two.csv && sed -n 3p t.csv >>two.csv
run clusters.conf --jobs-csv jobs.csv --force two.csv >"$tmp/log" 2>&1
check "limits are of the file's cluster" "a 0 b 1" "$(starts)"
grep -q 'Cluster=a (assumed: its associations are of another cluster than ClusterName)' "$tmp/log"
say "others are named" $?
grep -q 'Flags=Relative (assumed' "$tmp/log"
say "so are flags of QOS that change starts" $?
check "and a size of which all is known is not" 0 "$(grep -c JobSize "$tmp/log")"
sed -e /ClusterName/d -e 's/ CPUs=8//' clusters.conf >first.conf
run first.conf --jobs-csv jobs.csv --force two.csv >"$tmp/log" 2>&1
check "without ClusterName those of the first row are" "a 0 b 600" "$(starts)"
grep -q "JobSize= (assumed: a job's size is its part of the nodes" "$tmp/log"
say "a size that lacks CPUs is named" $?

# Nodes of 2 GPUs. Beside each GPU of a, b and c 4 CPUs of 8 - 2 set aside (1 core of 2 threads), d takes 2: a and c
# each fill 4 of 6 CPUs of a node, so b, the third, waits 100 s with GPUs idle. By memory (100 GiB less 4): 60 of 96.
cat >host.csv <<'EOT'
job_id,submit_s,duration_s,gpus,limit_s,partition,cpus,host_mem_gib
a,0,100,1,100,gpu,4,10
c,0,100,1,100,gpu,4,60
b,0,100,1,100,gpu,4,60
d,0,100,1,100,gpu,2,10
EOT
host() { # SelectTypeParameters, expected starts
    printf 'SchedulerType=sched/backfill\nSchedulerParameters=bf_interval=10\nSelectTypeParameters=%s\nNodeName=n[1-2] Gres=gpu:a100:2 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 CoreSpecCount=1 RealMemory=102400 MemSpecLimit=4096\nPartitionName=gpu Nodes=n[1-2] Default=YES MaxTime=1-0\n' "$1" >host.conf
    run host.conf --quiet --jobs-csv jobs.csv host.csv >"$tmp/log" 2>&1
    check "CPUs and memory with $1" "$2" "$(starts)"
}
host CR_Core "a 0 c 0 b 100 d 0"
host CR_Memory "a 0 c 0 b 0 d 0"
host CR_Core_Memory "a 0 c 0 b 100 d 0"
sed -i 's/,4,10/,1,60/; s/,4,60/,1,60/' host.csv
host CR_Core "a 0 c 0 b 0 d 0"
host CR_Core_Memory "a 0 c 0 b 100 d 0"
# The account may have one A100 at a time: b, which names the type, waits for a; d, which names none, does not.
printf 'job_id,submit_s,duration_s,gpus,limit_s,user,vc,gpu_type\na,0,100,1,100,ann,bio,a100\nb,0,100,1,100,bob,bio,a100\nd,0,100,1,100,bob,bio,\n' >typed.csv
typed() { # name, GrpTRES, expected starts
    printf 'AccountingStorageEnforce=limits\nNodeName=n Gres=gpu:a100:4\nPartitionName=gpu Nodes=n Default=YES MaxTime=1-0\n\nCluster|Account|User|Share|GrpTRES\nlab|bio||1|%s\nlab|bio|ann|1|\nlab|bio|bob|1|\n' "$2" >typed.conf
    run typed.conf --quiet --jobs-csv jobs.csv typed.csv >"$tmp/log" 2>&1
    check "$1" "$3" "$(starts)"
}
typed "a limit of a type" "gres/gpu:a100=1" "a 0 b 100 d 0"
typed "a limit of another type" "gres/gpu:v100=1" "a 0 b 0 d 0"
typed "a limit taken back" "gres/gpu=-1" "a 0 b 0 d 0"

# Nodes of 2 GPUs: n1 has ib and fast, n2 roce. a wants ib, b roce or fast as a whole: fast is on n1, which a has, so the
# main scheduler takes the second choice, n2. c wants ib&fast and waits for a; d wants neither, but c holds up its
# partition and all nodes of it.
printf 'SchedulerType=sched/builtin\nNodeName=n1 Gres=gpu:2 Feature=ib,fast\nNodeName=n2 Gres=gpu:2 Features=roce\nPartitionName=gpu Nodes=n[1-2] Default=YES MaxTime=1-0\nPartitionName=long Nodes=n2 MaxTime=2-0\n' >feat.conf
printf 'job_id,submit_s,duration_s,gpus,limit_s,features,partition\na,0,100,2,100,ib,gpu\nb,1,100,1,100,[fast|roce],gpu\nc,2,10,2,100,ib&fast,gpu\nd,3,10,1,100,,gpu\n' >feat.csv
feat() { # name, expected starts
    run feat.conf --quiet --jobs-csv jobs.csv --force feat.csv >"$tmp/log" 2>&1
    check "$1" "$2" "$(starts)"
}
feat "features, and choices of them" "a 0 b 1 c 100 d 100"
# in a second partition d starts at once: n2 is closed by c in gpu only while c is looked at first, so long has a tier of its own
sed -i 's/MaxTime=2-0/MaxTime=2-0 PriorityTier=2/' feat.conf
sed -i 's/^d,.*/d,3,10,1,100,,gpu|long/' feat.csv
feat "a job of two partitions starts in the first that lets it" "a 0 b 1 c 100 d 3"
"$gsim" --policy fifo --device ideal --slurm-conf feat.conf --quiet --jobs-csv jobs.csv --force feat.csv >"$tmp/log" 2>&1
check "other policies keep to features as well" "a 0 b 1 c 100 d 100" "$(starts)"
printf '[node a]\ngpus = 2\nfeatures = ib, fast\n[node b]\ngpus = 2\nfeatures = roce\n' >feat.ini
"$gsim" --policy fifo --device ideal --cluster feat.ini --quiet --jobs-csv jobs.csv --force feat.csv >"$tmp/log" 2>&1
check "and a cluster file has them" "a 0 b 1 c 100 d 100" "$(starts)"
for bad in 'ib&' '(ib' 'ib)' '[ib|fast' '[ib|fast]&[roce]' 'ib*' '|ib'; do
    expect "features '$bad' are refused" 3 "column 'features': '.*' is none; it is of features" sh -c "printf 'job_id,submit_s,duration_s,gpus,features\na,0,1,1,$bad\n' >bad.csv; '$gsim' --policy slurm --slurm-conf feat.conf bad.csv"
done
expect "features that too few nodes have" 3 "asks for 2 GPUs of partition gpu of nodes with nvlink; the cluster has 0 such GPUs" sh -c "sed 's/^a,\(.*\),ib,/a,\1,nvlink,/' feat.csv >bad.csv; '$gsim' --policy slurm --slurm-conf feat.conf bad.csv"
# One job counts nodes: the run says so, and its result, from which a warning is gone.
sed 's/ib&fast/[ib*1\&fast*1]/' feat.csv >count.csv
expect "counts of nodes are said not to bind" 0 "the features of 1 job count nodes" "$gsim" --policy slurm --device ideal --slurm-conf feat.conf count.csv
expect "in the result too" 0 'features=without counts of nodes (1 job; each node has a feature that is named)' "$gsim" --quiet --policy slurm --device ideal --slurm-conf feat.conf --format json count.csv
expect "of a policy that knows no Slurm as well" 0 'features=without counts of nodes (1 job' "$gsim" --quiet --policy fifo --device ideal --cluster feat.ini --format json count.csv
"$gsim" --quiet --policy slurm --device ideal --slurm-conf feat.conf --format json feat.csv | grep -c "features=" >"$tmp/log"
check "and none where nothing is counted" 0 "$(cat "$tmp/log")"
expect "features of a cluster without are said" 0 "the trace names features, the cluster's nodes have none" run site.conf feat.csv
# Four GPUs, four tasks of 100 s, two of which may run at once; a job behind them does not wait.
printf 'job_id,submit_s,duration_s,gpus,limit_s,array,array_limit\n1,0,100,1,100,7,2\n2,0,100,1,100,7,2\n3,0,100,1,100,7,2\n4,0,100,1,100,7,2\n5,0,10,1,100,,\n' >array.csv
run feat.conf --quiet --jobs-csv jobs.csv --force array.csv >"$tmp/log" 2>&1
check "as many tasks of an array run as may" "1 0 2 0 3 100 4 100 5 0" "$(starts)"

wrong() { # name, pattern, line in place of ClusterName
    sed "s|^ClusterName=.*|$3|" site.conf >bad.conf
    expect "$1" 3 "bad.conf:[1-9].*$2" run bad.conf t.csv
}
wrong "a number that is none" "PriorityWeightAge: 'many' is not a whole number from 0 to 1000000000" "PriorityWeightAge=many"
wrong "a time that is none" "PriorityMaxAge: '7 days' is not a time" "PriorityMaxAge=7 days"
wrong "a negative interval" "bf_interval: '-3' is not" "SchedulerParameters=bf_interval=-3"
wrong "an interval of 0" "bf_interval: '0' is not a whole number from 1 to 1000000000" "SchedulerParameters=bf_interval=0"
wrong "a list of nodes that is none" "NodeName: 'n\[1-' is not" "NodeName=n[1- Gres=gpu:2"
wrong "a count of GPUs that is none" "Gres: 'gpu:99999' is not" "NodeName=m1 Gres=gpu:99999"
wrong "a partition twice" "PartitionName: 'gpu' is not a new name" "PartitionName=gpu Nodes=n1"
wrong "a line of another file" "the line: 'hello' is not one of slurm.conf" "hello"
wrong "a row that is too long" "is not as long as the table" "Name\|Priority\nlow\|1\|2"
wrong "a limit that is none" "MaxJobsPU: 'few' is not a whole number" "Name\|MaxJobsPU\nlow\|few"
wrong "an amount of memory that is none" "MaxTRESPU: 'mem=few' is not a list such as" "Name\|MaxTRESPU\nlow\|mem=few"
wrong "CPUs that are none" "CPUs: 'all' is not a whole number from 0 to 1000000000" "NodeName=m1 CPUs=all Gres=gpu:2"
wrong "a reservation without an end" "is not a reservation with a StartTime" "ReservationName=r StartTime=2024-05-01T00:00:00 Nodes=n1"
wrong "a date that is none" "StartTime: 'tomorrow' is not a date" "ReservationName=r StartTime=tomorrow Nodes=n1"
printf 'ReservationName=r StartTime=2024-05-01T00:01:00 EndTime=2024-05-01T01:00:00\n   Nodes=n[1-2] Users=(null)\n' | cat site.conf - >resv.conf
expect "reservations need a date" 2 "slurm.start=2024-05-01T00:00:00 says the date" run resv.conf t.csv
expect "which is a date" 2 "'May' is not a date" run resv.conf --set slurm.start=May t.csv
run resv.conf --quiet --set slurm.start=2024-05-01T00:00:00 --jobs-csv jobs.csv --force t.csv >"$tmp/log" 2>&1
# no job ends before the window from 60 s to an hour begins
check "jobs wait for the end of a maintenance window" "a 3600 b 4200 c 3600 d 3660" "$(starts)"
expect "a file that is not there" 3 "gone.conf: the file cannot be read" run gone.conf t.csv
expect "a folder" 3 "not a regular file" run . t.csv
expect "a pipe" 3 "/dev/stdin: the file cannot be read: a pipe, which can be read once" sh -c "cat site.conf | '$gsim' --policy slurm --slurm-conf /dev/stdin t.csv"
expect "no text" 3 "a NUL byte" sh -c "printf 'a\\0b' >nul.conf; '$gsim' --policy slurm --slurm-conf nul.conf t.csv"
expect "a job of a partition that is not there" 3 "of partition cpu; the cluster has 0" sh -c "sed 's/,gpu,/,cpu,/' t.csv >cpu.csv; '$gsim' --policy slurm --slurm-conf site.conf cpu.csv"
expect "a partition that is down is said to be up" 0 "State=DOWN (assumed: the partition is up" sh -c "sed 's/MaxTime=1-0/MaxTime=1-0 State=DOWN/' site.conf >down.conf; '$gsim' --policy slurm --slurm-conf down.conf t.csv"
for key in 'OverSubscribe=EXCLUSIVE (assumed: jobs share its nodes' 'Shared=EXCLUSIVE (assumed: jobs share its nodes' 'OverTimeLimit=5 (assumed: the key has no effect in this partition' 'SelectTypeParameters=CR_Socket (assumed: the key has no effect in this partition'; do
    expect "listed of a partition: ${key%% *}" 0 "$key" sh -c "sed 's/MaxTime=1-0/MaxTime=1-0 ${key%% *}/' site.conf >own.conf; '$gsim' --policy slurm --slurm-conf own.conf t.csv"
done
expect "a QOS that is not there" 0 "no QOS 'high'; the jobs of that QOS are of none" sh -c "sed '/^high/d' site.conf >few.conf; '$gsim' --policy slurm --slurm-conf few.conf t.csv"
expect "a user without an association" 0 "accounts or users of the trace have no association" sh -c "printf '\nAccount|User|Share\nbio||1\nbio|ann|1\n' | cat site.conf - >assoc.conf; '$gsim' --policy slurm --slurm-conf assoc.conf t.csv"

# what scontrol prints: records over several lines, keys with blanks
cat >show.conf <<'EOT'
Configuration data as of 2024-05-01T00:00:00
SchedulerParameters     = bf_interval=60,bf_resolution=1
PriorityWeightQOS       = 1000
PriorityDecayHalfLife   = 7-00:00:00

NodeName=n1 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=0 CPUEfctv=64 CPUTot=64 CPULoad=0.01
   Gres=gpu:a100:2(S:0-1)
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1

NodeName=n2 Arch=x86_64 CoresPerSocket=32
   Gres=gpu:a100:2(S:0-1)

PartitionName=gpu
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0
   Nodes=n[1-2]
   PriorityJobFactor=1 PriorityTier=1
   State=UP TotalCPUs=128 TotalNodes=2

EOT
sed -n '/^Name|/,$p' site.conf >>show.conf
run show.conf --quiet --jobs-csv shown.csv t.csv >"$tmp/log" 2>&1
sed 's/AccountingStorageEnforce=limits//' site.conf >none.conf
run none.conf --quiet --jobs-csv conf.csv t.csv >"$tmp/log" 2>&1
cmp shown.csv conf.csv >"$tmp/log" 2>&1
say "scontrol show says what slurm.conf says" $?

# the file is a part of a run's identity
run site.conf --quiet --db r.db t.csv >"$tmp/log" 2>&1
expect "a run is known again" 0 "r.db has this run already" run site.conf --db r.db t.csv
expect "and is repeated from its record" 0 "." "$gsim" repro r.db 1
printf 'trace = t.csv\npolicy = slurm, fifo\nslurm-conf = site.conf, off.conf\ndevice = ideal\n' >g.ini
expect "a sweep over settings" 0 "4 of 4 runs are in s.db\|3 of 3 runs are in s.db" "$gsim" sweep g.ini -o s.db
