#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a log of sacct says of a job's wishes in SubmitLine, JobID and Constraints. $1 is gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
. tests/support/check.sh
cd "$tmp" || exit 1
head='JobIDRaw|JobID|User|State|Submit|Eligible|Start|End|ElapsedRaw|AllocTRES|Partition|SubmitLine'
row() { # raw, shown, submit, eligible, start, end (minutes of an hour), GPUs, partition, SubmitLine
    printf '%s|%s|ann|COMPLETED|2024-05-01T10:%s:00|2024-05-01T10:%s:00|2024-05-01T10:%s:00|2024-05-01T10:%s:00|%d|cpu=4,mem=8G,gres/gpu=%s|%s|%s\n' "$1" "$2" "$3" "$4" "$5" "$6" $(((${6#0} - ${5#0}) * 60)) "$7" "$8" "$9"
}
import() {
    "$gsim" import sacct log.txt -o log.csv --force >"$tmp/log" 2>&1
}
cells() { # column: its cells, by job
    python3 -c 'import csv, sys
rows = csv.DictReader(line for line in open("log.csv") if not line.startswith("#"))
print(*(row["job_id"] + "=" + row[sys.argv[1]] for row in rows))' "$1"
}
{
    echo "$head"
    row 1 1 00 00 00 10 1 gpu 'sbatch --constraint=ib|roce -Jone --gres gpu:1 run.sh -C other'
    row 2 2 01 11 12 20 1 gpu 'sbatch -d afterok:1 -C (ib|roce)&fast run.sh'
    row 3 3 02 21 22 30 1 gpu 'sbatch --dependency afterany:1:2 --wrap x'
    row 4 4 03 11 12 20 1 gpu 'sbatch --dependency=afterok:2?afterany:1 --hold-not run.sh'
    row 5 5 04 40 41 45 1 gpu 'sbatch --dependency=after:1 run.sh'
    row 6 6 05 40 41 45 1 gpu 'sbatch --dependency=afterok:99 run.sh'
    row 7 7 25 25 26 30 1 gpu 'sbatch --dependency=afterok:1 run.sh'
} >log.txt
import
check "constraints of command lines, with the log's separator in them" "1=ib|roce 2=(ib|roce)&fast 3= 4= 5= 6= 7=" "$(cells features)"
# 3 waits for 1 and 2, of which 2 ended last; 4 for one of them, of which 1 ended first
check "dependencies: the job that let this one go" "1= 2=1 3=2 4=1 5= 6= 7=1" "$(cells after)"
check "and the time after its end" "1= 2=60 3=60 4=60 5= 6= 7=" "$(cells think_s)"
check "others arrive when they were eligible" "1=0 2=660 3=1260 4=660 5=2400 6=2400 7=1500" "$(cells submit_s)"
grep -q "2 rows (the first is line 6): they became eligible after they were submitted" "$tmp/log"
say "which is counted" $?
{
    echo "$head"
    row 10 10 00 00 00 10 1 gpu 'sbatch -J x --dependency=singleton run.sh'
    row 11 11 01 10 10 20 1 gpu 'sbatch --job-name=x -d singleton run.sh'
    row 12 12 02 02 03 05 1 gpu 'sbatch -d singleton /home/ann/other.sh'
    row 13 13 03 20 20 25 1 gpu 'sbatch -Jx -dsingleton run.sh'
    row 14 14 03 05 06 25 1 gpu 'sbatch -d singleton other.sh'
    row 15 15_1 04 04 05 06 1 gpu 'sbatch -p gpu,long --array=1-2%1 run.sh'
    row 16 15_2 04 06 06 07 1 long 'sbatch -p gpu,long --array=1-2%1 run.sh'
    row 17 17 04 04 05 06 1 debug 'sbatch -p gpu,long run.sh'
} >log.txt
import
check "singletons follow each other by name" "10= 11=10 12= 13=11 14=12 15= 16= 17=" "$(cells after)"
check "tasks are of their array" "10= 11= 12= 13= 14= 15=15 16=15 17=" "$(cells array)"
check "of which so many run at once" "10= 11= 12= 13= 14= 15=1 16=1 17=" "$(cells array_limit)"
check "and which were there when they were submitted" "10=0 11=600 12=120 13=1200 14=300 15=240 16=240 17=240" "$(cells submit_s)"
grep -q '^15,.*"gpu,long"' log.csv && grep -q '^16,.*"gpu,long"' log.csv && grep -q '^17,.*,debug,' log.csv
say "partitions of the command line count where the job ran in one" $?
{
    echo "$head"
    row 40 40_1 00 00 00 10 1 gpu 'sbatch --array=1-2 a.sh'
    row 41 41_2 00 00 00 12 1 gpu 'sbatch --array=1-2 a.sh' | sed 's,41_2,40_2,'
    row 42 42_1 01 10 11 20 1 gpu 'sbatch --array=1-3 -d aftercorr:40 b.sh'
    row 43 42_2 01 13 14 20 1 gpu 'sbatch --array=1-3 -d aftercorr:40 b.sh'
    row 44 42_3 01 15 16 20 1 gpu 'sbatch --array=1-3 -d aftercorr:40 b.sh'
    row 45 45 02 10 11 20 1 gpu 'sbatch -d afterok:40_1 c.sh'
    row 46 46 02 12 12 20 1 gpu 'sbatch -d afterany:40 c.sh'
    row 47 47 02 20 21 25 1 gpu 'sbatch -d aftercorr:40 c.sh'
} >log.txt
import
# 42_1 and 42_2 wait for the tasks of their numbers, 42_3 and 47 have none; 40 is its last task to end
check "tasks of arrays are found by array and number" "40= 41= 42=40 43=41 44= 45=40 46=41 47=" "$(cells after)"
# 42_1 at the minute at which 40_1 ended, 42_2 a minute after 40_2
check "with the time after their ends" "40= 41= 42=0 43=60 44= 45=0 46=0 47=" "$(cells think_s)"
# after: the begin of another job, plus minutes (sbatch(1)). 51 is eligible at 01:15, five minutes after 50 began;
# 52, asked for at 01:14, at once, since 50 had begun; 53 has to wait for the end of 51, which is later than the begin
# of 50; of 54 one of both is enough, and the begin of 50 was first
{
    echo "$head"
    row 50 50 00 00 10 20 1 gpu 'sbatch a.sh'
    row 51 51 02 15 16 25 1 gpu 'sbatch -d after:50+5 b.sh'
    row 52 52 14 14 20 30 1 gpu 'sbatch -d after:50 b.sh'
    row 53 53 02 25 30 35 1 gpu 'sbatch -d after:50,afterok:51 b.sh'
    row 54 54 02 10 35 40 1 gpu 'sbatch -d after:50?afterok:51 b.sh'
} >log.txt
import
check "the begin of another job" "50= 51=50 52=50 53=51 54=50" "$(cells after)"
check "is told from its end" "50= 51=1 52=1 53= 54=1" "$(cells after_begin)"
check "with the minutes after it" "50= 51=300 52= 53=0 54=0" "$(cells think_s)"
{
    echo "$head"
    row 20 20+0 00 00 00 10 2 gpu 'sbatch het.sh'
    row 21 20+1 00 00 00 10 4 gpu 'sbatch het.sh'
    row 22 22+0 01 01 01 10 2 gpu 'sbatch het.sh'
    row 23 22+1 01 01 01 10 4 big 'sbatch het.sh'
} >log.txt
import
check "parts of a heterogeneous job on nodes of one kind are one job" "20=6 22=2 23=4" "$(cells gpus)"
check "with their memory" "20=16 22=8 23=8" "$(cells host_mem_gib)"
grep -q "left out 1 row (the first is line 3): they are parts of heterogeneous jobs" "$tmp/log" && grep -q "1 row (the first is line 5): they are parts of heterogeneous jobs (7+0, 7+1) on nodes of other kinds" "$tmp/log"
say "both are counted" $?
{
    echo "$head"
    row 25 25 00 00 00 10 1 gpu 'sbatch run.sh'
    row 26 26 00 00 00 10 1 gpu 'sbatch run.sh' | sed 's,gres/gpu=1,gres/shard=2,'
} >log.txt
import
grep -q "left out 1 row (the first is line 3): they had shards of GPUs (gres/shard)" "$tmp/log"
say "jobs with shards are counted as such" $?
printf '%s|Constraints\n' "$head" >log.txt
row 30 30 00 00 00 10 1 gpu 'sbatch run.sh' | sed 's/$/|[ib*2\&fast*1]/' >>log.txt
row 31 31 00 00 00 10 1 gpu 'sbatch run.sh' | sed 's/$/|(ib/' >>log.txt
import
check "Constraints, and one in a form that is none" "30=[ib*2&fast*1] 31=" "$(cells features)"
grep -q "1 row (the first is line 3): they asked for features in a form that is not known" "$tmp/log"
say "which is counted too" $?

# --- shards: two GPUs of four shards each; a has a quarter of a GPU, b half of one, c a whole one by its shards, d a
# whole one, e more than one has. First GPU with room: a and b on the first, c on the second, d (at 0, an hour) waits for
# the first of them to be free, which is c at 1800: GPU hours 0.5 x 0.25 + 1 x 0.5 + 0.5 + 1.
printf 'NodeName=n1 Gres=gpu:2,shard:8 CPUs=8\nPartitionName=gpu Nodes=n1 Default=YES MaxTime=UNLIMITED\n' >"$tmp/shards.conf"
cat >"$tmp/shards.txt" <<'L'
JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES
1|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:00:00|2024-05-01T00:30:00|1800|cpu=1,gres/shard=1,mem=1G
2|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:00:00|2024-05-01T01:00:00|3600|cpu=1,gres/shard=2,mem=1G
3|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:00:00|2024-05-01T00:30:00|1800|cpu=1,gres/shard=4,mem=1G
4|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:30:00|2024-05-01T01:30:00|3600|cpu=1,gres/gpu=1,mem=1G
5|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:30:00|2024-05-01T01:30:00|3600|cpu=1,gres/shard=5,mem=1G
L
expect "shards are shares of a GPU" 0 '^2,0,3600,0.5,' "$gsim" import sacct --slurm-conf "$tmp/shards.conf" "$tmp/shards.txt"
expect "more than a GPU has are counted" 0 'left out 1 row (the first is line 6): they had more shards (gres/shard) than a GPU has' "$gsim" import sacct --slurm-conf "$tmp/shards.conf" "$tmp/shards.txt"
expect "without the file all are" 0 'left out 4 rows .*how many a GPU has is in slurm.conf' "$gsim" import sacct "$tmp/shards.txt"
for select in "" SelectTypeParameters=LL_SHARED_GRES; do
    # With the least loaded first, a and b are on GPUs of their own: c waits for a (1800 s), d for b and c (3600 s).
    { cat "$tmp/shards.conf"; echo "$select"; } >"$tmp/one.conf"
    "$gsim" --policy slurm --slurm-conf "$tmp/one.conf" --device ideal --quiet --jobs-csv "$tmp/jobs.csv" --force "$tmp/shards.txt" >"$tmp/log" 2>&1
    check "starts of jobs with shards ($select)" "$([ -n "$select" ] && echo '0 0 1800 3600' || echo '0 0 0 1800')" \
        "$(awk -F, 'NR > 1 { printf "%s%d", sep, $3; sep = " " }' "$tmp/jobs.csv")"
done

# --- usage: ann had the a100 for an hour, bob the v100; both then wait for the v100, ann first. Weights of types: ann is
# billed 16 for each second, bob 1, so that bob is first, as he is by the billing of a log alone; where all are billed
# alike ann is, who came first.
cat >"$tmp/bill.conf" <<'L'
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
SelectTypeParameters=CR_Core
NodeName=a Gres=gpu:a100:1 CPUs=8
NodeName=v Gres=gpu:v100:1 CPUs=8
PartitionName=gpu Nodes=a,v Default=YES MaxTime=UNLIMITED
Cluster|Account|User|Share
lab|root||1
lab|bio||1
lab|bio|ann|1
lab|bio|bob|1
L
bill() { # billing of ann's first job, and of bob's; what follows is the line of the partition, an option
    cat >"$tmp/bill.txt" <<L
JobID|User|Account|State|Submit|Start|End|ElapsedRaw|ReqTRES|AllocTRES|AllocCPUS|TimelimitRaw
1|ann|bio|COMPLETED|1000|1000|4600|3600|cpu=1,gres/gpu:a100=1|${1}cpu=1,gres/gpu:a100=1,gres/gpu=1|1|100
2|bob|bio|COMPLETED|1000|1000|4600|3600|cpu=1,gres/gpu:v100=1|${2}cpu=1,gres/gpu:v100=1,gres/gpu=1|1|100
3|ann|bio|COMPLETED|2000|4600|8200|3600|cpu=1,gres/gpu:v100=1|cpu=1,gres/gpu:v100=1,gres/gpu=1|1|100
4|bob|bio|COMPLETED|2001|4600|8200|3600|cpu=1,gres/gpu:v100=1|cpu=1,gres/gpu:v100=1,gres/gpu=1|1|100
L
    sed "s|Default=YES|& $3|" "$tmp/bill.conf" >"$tmp/billed.conf"
    shift 3
    "$gsim" --policy slurm --slurm-conf "$tmp/billed.conf" --device ideal --jobs-csv "$tmp/jobs.csv" --force "$@" "$tmp/bill.txt" >"$tmp/log" 2>&1
    awk -F, 'NR > 3 { printf "%s%d", sep, $3; sep = " " }' "$tmp/jobs.csv"
}
check "all are billed alike" "3600 7200" "$(bill '' '' TRESBillingWeights=GRES/gpu=1)"
check "weights of types of GPU" "7200 3600" "$(bill '' '' TRESBillingWeights=GRES/gpu:a100=16,GRES/gpu:v100=1)"
check "what the log billed" "7200 3600" "$(bill billing=16, billing=1, '')"
check "it goes before weights" "7200 3600" "$(bill billing=16, billing=1, TRESBillingWeights=GRES/gpu=1)"
grep -q "job '1' is billed 1 by TRESBillingWeights, and was 16 in the log, which counts" "$tmp/log"
say "which is said" $?
check "unless weights are to count" "3600 7200" "$(bill billing=16, billing=1, TRESBillingWeights=GRES/gpu=1 --set slurm.billing=weights)"
# 1.75 for ann and 1.25 for bob, of which the log has 1 alone: weights that agree with it give the rest.
check "a fraction comes from weights" "7200 3600" "$(bill billing=1, billing=1, TRESBillingWeights=GRES/gpu:a100=1.75,GRES/gpu:v100=1.25)"
! grep -q "is billed" "$tmp/log"
say "and nothing is said of it" $?
expect "billing that is no number" 0 "left out 1 row .*AllocTRES" sh -c "sed '2s/billing=1/billing=x/' '$tmp/bill.txt' >'$tmp/no.txt'; '$gsim' import sacct '$tmp/no.txt'"

# --- nodes: a job asks for a number by --nodes, for GPUs or tasks by node, or by what ReqTRES has; it keeps the number
# that it had (AllocTRES). One that asked for neither takes the fewest nodes, however it ran; so does one with more nodes
# than GPUs, and a heterogeneous job with 4 GPUs on a node of one part and 2 of the other (31), but not 4 and 4 (33).
cat >log.txt <<'L'
JobIDRaw|JobID|User|State|Submit|Start|End|ElapsedRaw|ReqTRES|AllocTRES|Partition|SubmitLine
1|1|ann|COMPLETED|100|100|200|100|billing=8,cpu=8,gres/gpu=8,node=2|cpu=8,gres/gpu=8,node=2|gpu|sbatch -N 2 --gres=gpu:4 run.sh
2|2|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=16,node=1|cpu=8,gres/gpu=16,node=2|gpu|sbatch --gpus=16 run.sh
3|3|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=4,node=1|cpu=8,gres/gpu=4,node=1|gpu|sbatch --gres gpu:4 run.sh
4|4|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=8,node=2|cpu=8,gres/gpu=8,node=4|gpu|sbatch --nodes=2-4 --gpus-per-node=2 run.sh
5|5|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=2,node=4|cpu=8,gres/gpu=2,node=4|gpu|sbatch --nodes=4 --gpus=2 run.sh
6|6|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=8,node=2|cpu=8,gres/gpu=8,node=2|gpu|
7|7|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=8,node=1|cpu=8,gres/gpu=8|gpu|salloc -N2 --gpus=8
8|8|ann|COMPLETED|100|100|200|100|cpu=1,gres/gpu=1,node=1|cpu=1,gres/gpu=1,node=1|gpu|sbatch -N 1 run.sh
31|31+0|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=8,node=2|cpu=8,gres/gpu=8,node=2|gpu|sbatch -N 2 run.sh
32|31+1|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=2,node=1|cpu=8,gres/gpu=2,node=1|gpu|sbatch -N 1 run.sh
33|33+0|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=8,node=2|cpu=8,gres/gpu=8,node=2|gpu|sbatch -N 2 run.sh
34|33+1|ann|COMPLETED|100|100|200|100|cpu=8,gres/gpu=4,node=1|cpu=8,gres/gpu=4,node=1|gpu|sbatch -N 1 run.sh
L
import
check "nodes that jobs asked for" "1=2 2= 3=1 4=4 5= 6=2 7=2 8= 31= 33=3" "$(cells num_nodes)"
grep -q "1 row (the first is line 6): they had more nodes than GPUs" "$tmp/log" &&
    grep -q "left out 2 rows (the first is line 11): they are parts of heterogeneous jobs" "$tmp/log"
say "which is counted" $?
printf 'job_id,submit_s,duration_s,gpus,num_nodes\na,0,10,2,3\n' >bad.csv
expect "no job has more nodes than GPUs" 3 "bad.csv:2: column 'num_nodes': a job lies on one node at least, and on no more nodes than it has GPUs" "$gsim" --policy fifo --gpus-per-node 4 bad.csv

# --- two nodes of four: a has two GPUs on each, b as well, so that c (four on one node) waits for both, until 100;
# without the column b and c have a node each at once. On nodes of one GPU c can lie on no node, and takes four.
printf 'job_id,submit_s,duration_s,gpus,num_nodes\na,0,100,4,2\nc,1,100,4,1\n' >two.csv
starts() { # policy, option...
    "$gsim" --policy "$@" --device ideal --quiet --jobs-csv "$tmp/jobs.csv" --force two.csv >"$tmp/log" 2>&1
    awk -F, 'NR > 1 { printf "%s%d", sep, $3; sep = " " }' "$tmp/jobs.csv"
}
for policy in fifo backfill easy-backfill srtf tiresias fairshare slurm kueue; do
    check "$policy: a gang lies on as many nodes as it asked for" "0 100" "$(starts $policy --nodes 2 --gpus-per-node 4)"
done
check "a policy that names GPUs itself does not keep to it" "0 1" "$(starts mps --nodes 2 --gpus-per-node 4)"
expect "and says so" 0 "column 'num_nodes': policy 'mps' chooses GPUs without regard to it; 2 jobs asked" "$gsim" --policy mps --nodes 2 --gpus-per-node 4 --device ideal two.csv
expect "in the result as well" 0 "assumed: .*num_nodes=any number (2 jobs asked for one)" "$gsim" --policy mps --nodes 2 --gpus-per-node 4 --device ideal --verbose two.csv
expect "nor does a cluster without such nodes" 0 "two.csv:3: column 'num_nodes': the cluster has no nodes for 4 GPUs on 1 of them, as job 'c' asked; 1 job that it cannot hold so takes the fewest nodes" "$gsim" --policy fifo --nodes 8 --gpus-per-node 2 --device ideal two.csv

# --- the last row first: job 7 ran from 100 to 150 and, requeued, from 300 to 400.
cat >log.txt <<'L'
JobIDRaw|JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES
9|9|COMPLETED|500|500|600|100|gres/gpu=1
7|7|COMPLETED|200|300|400|100|gres/gpu=1
7|7|NODE_FAIL|100|100|150|50|gres/gpu=1
5|5|COMPLETED|0|0|10|10|gres/gpu=1
L
import
check "runs of a log in descending order" "9=600 7#2=400 7=150 5=10" "$(cells logged_end_s)"

# --- sacct --truncate from 1000 on: jobs that had begun at 100, 200, 300 and 400 begin at 1000
{ echo "JobIDRaw|JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES"
for at in 100 200 300 400; do echo "$at|$at|COMPLETED|$at|1000|1500|500|gres/gpu=1"; done
echo "9|9|COMPLETED|1000|1200|1500|300|gres/gpu=1"; } >log.txt
import
grep -q "4 jobs, submitted at several times, all began in the log's first instant: sacct --truncate" "$tmp/log"
say "a truncated log is told" $?
sed -i 's/|400|1000|/|400|1001|/' log.txt
import
! grep -q "truncate" "$tmp/log"
say "three jobs that begin at once are not" $?

# --- a log of one type of GPU, run on another: what depends on the device is said to be the latter's
printf 'job_id,submit_s,duration_s,gpus,gpu_type\na,0,100,1,a100\n' >type.csv
expect "a trace's type that is not the cluster's" 0 "type.csv: the trace's jobs ask for GPUs of type 'a100', the cluster's are 'h200'" "$gsim" --policy fifo --gpus-per-node 1 type.csv
"$gsim" --policy fifo --gpus-per-node 1 --device a100-80 type.csv >"$tmp/log" 2>&1
check "and one that is" 0 "$(grep -c 'ask for GPUs of type' "$tmp/log")"
