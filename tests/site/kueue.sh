#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policy kueue: small cases whose answers follow from Kueue's documentation, and files that are refused. $1 is
# gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
. tests/support/check.sh
cd "$tmp" || exit 1

queue() { # name, cohort, quota, further lines of the quota, further lines of the spec
    cat <<EOT
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata:
  name: $1
spec:
  cohort: "$2"
  resourceGroups:
  - coveredResources: ["nvidia.com/gpu"]
    flavors:
    - name: gpu
      resources:
      - name: nvidia.com/gpu
        nominalQuota: $3
EOT
    [ -z "$4" ] || printf '        %s\n' "$4"
    [ -z "$5" ] || printf '%b\n' "$5"
}
jobs() { # rows of job, submit, duration, GPUs, queue, priority
    echo job_id,submit_s,duration_s,gpus,queue,priority >t.csv
    printf '%s\n' "$@" >>t.csv
}
starts() { # name, expected first starts and ends, options
    name=$1 expected=$2
    shift 2
    "$gsim" --policy kueue --device ideal --quiet --force --jobs-csv jobs.csv "$@" t.csv >"$tmp/log" 2>&1
    check "$name" "$expected" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s%s %d-%d", sep, $at["job_id"], $at["start_s"], $at["end_s"]; sep = " " }' jobs.csv)"
}
on() { starts "$1" "$2" --kueue-conf q.yaml --gpus-per-node "$3"; }

# --- borrowing ------------------------------------------------------------------------------------------
{ queue a lab 4 '' '' && queue b lab 4 '' ''; } >q.yaml
jobs b1,0,100,4,b,0 b2,1,100,4,b,0 a1,10,50,4,a,0
on "a queue borrows what its cohort does not use, and keeps it" "b1 0-100 b2 1-101 a1 100-150" 8
{ queue a lab 4 '' '' && queue b lab 4 'borrowingLimit: 2' ''; } >q.yaml
jobs b1,0,100,4,b,0 b2,1,100,3,b,0 b3,2,100,2,b,0
on "up to its borrowingLimit" "b1 0-100 b2 100-200 b3 2-102" 8
{ queue a lab 4 'lendingLimit: 1' '' && queue b lab 4 '' ''; } >q.yaml
jobs b1,0,100,4,b,0 b2,1,100,2,b,0 b3,2,100,1,b,0
on "and the lendingLimit of the others" "b1 0-100 b2 100-200 b3 2-102" 8
{ queue a '' 4 '' '' && queue b '' 4 '' ''; } >q.yaml
jobs b1,0,100,4,b,0 b2,1,100,4,b,0 a1,10,50,4,a,0
on "but not without a cohort" "b1 0-100 b2 100-200 a1 10-60" 8
# b2 has a1 evicted, which borrows; b1, before it in the line, would borrow too and finds no job to evict. While
# a1 leaves, b2 stays the head: otherwise b1 would be it, a1 would be admitted again, and so on without end.
{ queue a lab 4 '' '' && queue b lab 2 '' '  queueingStrategy: BestEffortFIFO\n  preemption:\n    reclaimWithinCohort: Any'; } >q.yaml
jobs a1,0,100,6,a,0 b1,1,50,4,b,0 b2,2,10,1,b,0
on "a job for which others are evicted stays the head" "a1 0-152 b1 2-52 b2 2-12" 6
# Both heads wait for b1's and b2's GPUs; a1 fits a's own quota, b3 would borrow, although it came first.
{ queue a lab 2 '' '' && queue b lab 2 '' ''; } >q.yaml
jobs b1,0,100,4,b,0 b3,1,10,3,b,0 a1,2,10,2,a,0
on "a job within its queue's quota goes before one that borrows" "b1 0-100 b3 110-120 a1 100-110" 4
# Tree: root 2 of its own, left (queue a) and right (queue b) lend each other nothing beyond it.
{
    queue a left 2 '' ''
    queue b right 2 '' ''
    printf -- '---\nkind: Cohort\nmetadata: {name: left}\nspec:\n  parentName: root\n---\nkind: Cohort\nmetadata: {name: right}\nspec:\n  parentName: root\n  resourceGroups:\n  - flavors:\n    - name: gpu\n      resources:\n      - {name: nvidia.com/gpu, nominalQuota: 0, lendingLimit: 0}\n'
    printf -- '---\nkind: Cohort\nmetadata: {name: root}\nspec:\n  resourceGroups:\n  - flavors:\n    - name: gpu\n      resources:\n      - {name: nvidia.com/gpu, nominalQuota: 1}\n'
} >q.yaml
jobs a1,0,100,3,a,0 a2,1,100,1,a,0 b1,2,100,2,b,0 b2,3,100,1,b,0
on "cohorts in a tree: their own quota is lent, a lendingLimit kept" "a1 0-100 a2 100-200 b1 2-102 b2 100-200" 8

# LocalQueues of one name in two namespaces: a name alone does not say whose quota counts.
{
    queue a '' 2 '' '' && queue b '' 2 '' ''
    for team in a b; do printf -- '---\nkind: LocalQueue\nmetadata: {name: work, namespace: %s}\nspec: {clusterQueue: %s}\n' $team $team; done
} >q.yaml
jobs a1,0,100,2,a/work,0 b1,0,100,2,b/work,0
on "a LocalQueue is of its namespace" "a1 0-100 b1 0-100" 4
jobs a1,0,100,2,a/work,0 b1,0,100,2,work,0
expect "whose name has to be there where several have one" 3 "t.csv:3: queue 'work': several namespaces of q.yaml have a LocalQueue of that name" "$gsim" --policy kueue --device ideal --kueue-conf q.yaml --gpus-per-node 4 t.csv
sed 's/clusterQueue: b/clusterQueue: a/' q.yaml >one.yaml
expect "and need not be where all are of one ClusterQueue" 0 '^kueue on' "$gsim" --policy kueue --device ideal --kueue-conf one.yaml --gpus-per-node 4 t.csv

# --- order ----------------------------------------------------------------------------------------------
queue a '' 4 '' '' >q.yaml
jobs j1,0,100,3,a,0 j2,1,10,2,a,0 j3,2,10,1,a,0
on "BestEffortFIFO passes a job that does not fit" "j1 0-100 j2 100-110 j3 2-12" 4
queue a '' 4 '' '  queueingStrategy: StrictFIFO' >q.yaml
on "StrictFIFO does not" "j1 0-100 j2 100-110 j3 100-110" 4
jobs j1,0,100,4,a,0 j2,1,10,4,a,0 j3,2,10,4,a,7
on "priority goes before arrival" "j1 0-100 j2 110-120 j3 100-110" 4
# Quota for eight GPUs, nodes with four: j2 is admitted at 1, and has GPUs at 100.
queue a '' 8 '' '' >q.yaml
jobs j1,0,100,4,a,0 j2,1,10,3,a,0
on "a job with quota waits for nodes, whole" "j1 0-100 j2 100-110" 4

# --- preemption -----------------------------------------------------------------------------------------
take='  preemption:\n    reclaimWithinCohort: Any\n    withinClusterQueue: LowerPriority'
{ queue a lab 4 '' "$take" && queue b lab 4 '' ''; } >q.yaml
jobs b1,0,100,4,b,0 b2,1,100,4,b,0 a1,10,50,4,a,0 a2,20,50,2,a,5
# b2, admitted last, gives way to a1 and begins anew when b1 has ended; a2 takes the place of a1.
on "a queue reclaims its quota; within it the priority decides" "b1 0-100 b2 1-200 a1 10-120 a2 20-70" 8
# Two branches of 4: left has the queues a and c of 2, right b and d. a reclaims; each case on 8 GPUs.
{
    queue a left 2 '' '  preemption:\n    reclaimWithinCohort: Any'
    for name in c:left b:right d:right; do queue "${name%:*}" "${name#*:}" 2 '' ''; done
    for name in left right; do printf -- '---\nkind: Cohort\nmetadata: {name: %s}\nspec: {parentName: root}\n' $name; done
} >q.yaml
# right uses 6 of 4, c no more than its own 2: b2, admitted last of b's, gives way, and begins anew when a1 has ended.
jobs b1,0,100,4,b,0 b2,1,100,2,b,0 c1,2,100,2,c,0 a1,10,50,2,a,0
on "a queue reclaims from another branch that uses more than its own" "b1 0-100 b2 1-160 c1 2-102 a1 10-60" 8
# b uses 4 of 2, but right no more than its own 4: c1, which has a's 2, gives way, though b1 was admitted later.
jobs c1,0,100,4,c,0 b1,1,100,4,b,0 a1,10,50,2,a,0
on "but not from one that borrows within its branch alone" "c1 0-160 b1 1-101 a1 10-60" 8
# a1 borrows the 2 of c, but left has these 4 before b, which borrows all of them: b2 gives way to it.
jobs b1,0,100,4,b,0 b2,1,100,4,b,0 a1,10,50,4,a,0
on "a branch's quota is nearer to its own queues, which borrow it" "b1 0-100 b2 1-160 a1 10-60" 8
{ queue a lab 4 '' '  preemption:\n    reclaimWithinCohort: LowerPriority' && queue b lab 4 '' ''; } >q.yaml
jobs b1,0,100,4,b,3 b2,1,100,4,b,0 a1,10,50,4,a,0 a2,11,50,4,a,1
on "reclaimWithinCohort: LowerPriority spares equals" "b1 0-100 b2 1-200 a1 61-111 a2 11-61" 8
queue a '' 4 '' '  preemption:\n    withinClusterQueue: LowerOrNewerEqualPriority' >q.yaml
jobs j1,0,100,4,a,1 j2,1,100,4,a,0 j3,2,30,4,a,1
on "an equal that is newer gives way, an older one does not" "j1 0-100 j2 130-230 j3 100-130" 4
# Of one second, which is what Kubernetes tells apart, no job is newer (its pull request 1875).
jobs j1,0,10,2,a,0 j2,1.2,50,3,a,0 j3,1.4,100,2,a,0
on "and neither does one of the same second" "j1 0-10 j2 101-151 j3 1-101" 4
# j2 (3 GPUs) waits, j3 passes it and runs when j1 ends: j2, older, takes its GPU back at once.
jobs j1,0,10,2,a,0 j2,1,50,3,a,0 j3,2,100,2,a,0
on "a job that passed an older one gives way to it" "j1 0-10 j2 10-60 j3 2-160" 4
# a would borrow two GPUs; only below the threshold may it take them from b.
borrow='  preemption:\n    reclaimWithinCohort: LowerPriority\n    borrowWithinCohort:\n      policy: LowerPriority\n      maxPriorityThreshold: 4'
{ queue a lab 2 '' "$borrow" && queue b lab 2 '' '' && queue c lab 4 '' ''; } >q.yaml
jobs b1,0,100,4,b,3 b2,1,100,4,b,5 a1,10,50,4,a,9
on "borrowWithinCohort takes jobs up to its threshold" "b1 0-160 b2 1-101 a1 10-60" 8
{ queue a lab 2 '' "$borrow" && queue b lab 2 '' '' && queue c lab 4 '' ''; } | sed 's/Threshold: 4/Threshold: 2/' >q.yaml
on "and none above it" "b1 0-100 b2 1-101 a1 100-150" 8
# Of two jobs that would do, the one of the lowest priority leaves; the other, taken first, is spared.
queue a '' 4 '' "$take" >q.yaml
jobs l1,0,100,1,a,0 l2,1,100,3,a,1 h,2,10,3,a,9
on "a target that is not needed stays" "l1 0-100 l2 1-112 h 2-12" 4
# At 30 both heads find a GPU too few. j25 uses its queue's own quota once j3 has left, j22, which came first, borrows.
{ queue a lab 4 '' "$take" && queue c lab 0 '' ''; } >q.yaml
jobs j1,0,100,2,a,1 j3,0,100,1,a,0 j7,0,30,1,a,5 j22,20,10,1,c,1 j25,28,10,2,a,1
on "what a job borrows counts without those that leave for it" "j1 0-100 j3 0-140 j7 0-30 j22 40-50 j25 30-40" 4
# j8 has j19 evicted, which is newer, and would borrow what j2 gave up; j2, before it, takes that. j8 finds none to
# evict then, and j19 reclaims from j2 again: Kueue goes round until j3 ends, and cycles take no time here.
{ queue a lab 4 '' '  preemption:\n    withinClusterQueue: LowerOrNewerEqualPriority\n    reclaimWithinCohort: Any' && queue b lab 2 'borrowingLimit: 3' '  queueingStrategy: StrictFIFO'; } >q.yaml
jobs j2,0,10,4,b,0 j3,0,10,2,a,0 j8,0,10,4,a,0 j19,0,10,1,a,0
# At 63 j8 ends, and j2, before j28, borrows what it had. j28 has j2 and j33, which is newer and runs, evicted, and
# takes a's own quota; j33 borrows what is left, j2 comes back at 73. j2 was admitted again before j33 had left.
jobs j2,0,57,4,b,0 j3,0,53,2,a,0 j8,0,10,4,a,0 j28,0,10,4,a,0 j33,53,22,1,a,0
on "jobs that leave for one head leave together" "j2 0-130 j3 0-53 j8 53-63 j28 63-73 j33 53-85" 6
jobs j2,0,10,4,b,0 j3,0,10,2,a,0 j8,0,10,4,a,0 j19,1,10,1,a,0
expect "a circle of evictions at one instant is an error" 1 "t.csv:2: policy 'kueue': queue 'b' admits job 'j2' and evicts it again" \
    timeout -s KILL 200 "$gsim" --policy kueue --device ideal --kueue-conf q.yaml --gpus-per-node 6 t.csv

# --- flavors --------------------------------------------------------------------------------------------
cat >q.yaml <<'EOT'
kind: ResourceFlavor
metadata: {name: small}
spec:
  nodeLabels:
    nvidia.com/gpu.product: NVIDIA-A10
---
kind: ResourceFlavor
metadata: {name: h200}
---
kind: ClusterQueue
metadata: {name: a}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: small
      resources: [{name: cpu, nominalQuota: 64}, {name: nvidia.com/gpu, nominalQuota: 2}]
    - name: h200
      resources: [{name: cpu, nominalQuota: 64}, {name: nvidia.com/gpu, nominalQuota: 1}]
---
kind: LocalQueue
metadata: {name: users, namespace: team}
spec: {clusterQueue: a}
EOT
printf '[node x]\ndevice = a10\ngpus = 2\n[node y]\ndevice = h200\ngpus = 2\n' >two.ini
jobs j1,0,100,1,team/users,0 j2,1,100,1,users,0 j3,2,100,1,a,0 j4,3,100,1,a,0
"$gsim" --policy kueue --kueue-conf q.yaml --cluster two.ini --jobs-csv jobs.csv --force t.csv >"$tmp/log" 2>&1
check "flavors are filled in order, each on its nodes and to its quota" "0 1 2 late" \
    "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%s%s", sep, $at["start_s"] < 100 ? $at["start_s"] + 0 : "late"; sep = " " }' jobs.csv)"
grep -q "not modelled: quotas of CPUs, memory and other resources (assumed: quotas of GPUs alone bind)" "$tmp/log"
say "what is not modelled is listed, with what is assumed" $?

# --- without a file, and what is refused ----------------------------------------------------------------
jobs j1,0,100,3,a,0 j2,1,10,2,a,0 j3,2,10,1,a,0
starts "without a file there is a queue with all GPUs" "j1 0-100 j2 100-110 j3 2-12" --gpus-per-node 4
run() { "$gsim" --policy kueue --device ideal --gpus-per-node 4 --kueue-conf "$@"; }
queue a '' 2 '' '' >q.yaml
expect "a job above all quota is declined, with its line" 0 "t.csv:2: ClusterQueue 'a' can never admit a job of 3 GPUs" run q.yaml t.csv
jobs j1,0,1,1,b,0
expect "a queue that is not there" 3 "t.csv:2: queue 'b' is not there; q.yaml has 1 ClusterQueues, such as 'a'" run q.yaml t.csv
{ queue a lab 4 '' '' && queue b lab 4 '' ''; } >q.yaml
printf 'job_id,submit_s,duration_s\nj,0,1\n' >t.csv
expect "no column queue, and several queues" 3 "t.csv:2: the job names no queue.*--assume queue=NAME" run q.yaml t.csv
expect "a queue for all jobs" 0 "^kueue on t.csv" run q.yaml --assume queue=b t.csv
wrong() { # name, pattern, sed command
    queue a lab 4 'borrowingLimit: 2' '  queueingStrategy: StrictFIFO' | sed "$3" >bad.yaml
    expect "$1" 3 "bad.yaml:$2" run bad.yaml t.csv
}
wrong "a quota that is none" "14: column 23: nominalQuota: 'four' is not a whole number" 's/nominalQuota: 4/nominalQuota: four/'
wrong "a quota below 0" "15: column 25: borrowingLimit: '-2' is not" 's/borrowingLimit: 2/borrowingLimit: -2/'
wrong "a key that is misspelt" "15: column 24: 'borowingLimit' is no key of this object; did you mean 'borrowingLimit'" 's/borrowingLimit/borowingLimit/'
wrong "a strategy that is none" "16: column 21: queueingStrategy: 'FIFO' is not one of BestEffortFIFO|StrictFIFO" 's/StrictFIFO/FIFO/'
wrong "a kind that is misspelt" "2: column 1: kind: 'ClusterQeue' is not one of .*; did you mean 'ClusterQueue'" 's/ClusterQueue/ClusterQeue/'
wrong "no queue" ".*the file has no ClusterQueue; kubectl get" 's/kind: ClusterQueue/kind: Cohort/'
wrong "a key twice" "8: column 3: a key stands twice" '7s/.*/  cohort: x\n  cohort: y/'
wrong "a tab" "8: column 1: a tab indents" '8s/ /\t/'
wrong "a quote that is not closed" "17: column 1: a quote is not closed" 's/kind: ClusterQueue/kind: "ClusterQueue/; s/\["nvidia.com.gpu"\]/[gpu]/; s/"lab"/lab/'
wrong "a flow that is not closed" "9: column .*a flow collection ends on its line" 's/gpu"\]/gpu"/'
printf '{\n    "kind": "List"\n}\n' >q.json
expect "JSON over several lines" 3 "1: column 2: .*of JSON over several lines .* -o yaml writes the form that is read" run q.json t.csv
wrong "an anchor" "4: column 11: anchors, aliases" 's/metadata:/metadata: \&m/'
expect "cohorts in a circle" 3 "'x' is an ancestor of itself" sh -c "printf -- '---\nkind: Cohort\nmetadata: {name: x}\nspec: {parent: y}\n---\nkind: Cohort\nmetadata: {name: y}\nspec: {parent: x}\n' | cat q.yaml - >c.yaml; '$gsim' --policy kueue --kueue-conf c.yaml --assume queue=a t.csv"
expect "a file that is not there" 3 "none.yaml: the file cannot be read" run none.yaml t.csv

# --- pods as a trace ------------------------------------------------------------------------------
pod() { # name, owner, its kind, created, scheduled, ended (minutes of 10 o'clock), GPUs, phase, restarts
    owner=$(printf ',"ownerReferences":[{"kind":"%s","name":"%s"}]' "$3" "$2")
    [ -n "$2" ] || owner=
    printf '{"kind":"Pod","metadata":{"name":"%s","namespace":"ml","creationTimestamp":"2024-05-01T10:%s:00Z"%s},' "$1" "$4" "$owner"
    printf '"spec":{"nodeName":"n-%s","priority":5,"containers":[{"resources":{"requests":{"cpu":"500m","memory":"2Gi","nvidia.com/gpu":"%s"},"limits":{"nvidia.com/gpu":"%s"}}}]},' "$1" "$7" "$7"
    printf '"status":{"phase":"%s","conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2024-05-01T10:59:00Z"},' "$8"
    printf '{"type":"PodScheduled","status":"True","lastTransitionTime":"2024-05-01T10:%s:00Z"}],' "$5"
    printf '"containerStatuses":[{"restartCount":%d,"state":{"terminated":{"finishedAt":"2024-05-01T10:%s:00Z"}}}]}}' "$9" "$6"
}
{
    echo '{"apiVersion":"v1","items":['
    pod a-0 a Job 05 05 30 4 Succeeded 0; echo ,
    pod a-1 a Job 05 06 31 4 Failed 0; echo ,
    pod a-2 a Job 40 41 50 4 Succeeded 0; echo ,
    pod web-1 web ReplicaSet 01 02 20 1 Succeeded 2; echo ,
    pod web-2 web ReplicaSet 01 03 20 1 Succeeded 0; echo ,
    pod cpu '' '' 01 02 03 0 Succeeded 0; echo ,
    pod now '' '' 01 02 03 1 Running 0; echo ,
    pod late '' '' 01 02 03 1 Pending 0; echo ,
    pod bad '' '' 01 02 xx 1 Succeeded 0; echo ,
    pod event '' '' 01 02 09 1 Succeeded 0 | sed 's/"PodScheduled"/"Other"/'; echo ,
    pod lost '' '' 01 02 09 1 Succeeded 0 | sed 's/"PodScheduled"/"Other"/'; echo ,
    pod part '' '' 01 02 09 1 Succeeded 0 | sed 's,nvidia.com/gpu,nvidia.com/mig-1g.10gb,g'; echo ,
    echo '{"kind":"Job","metadata":{"name":"a","namespace":"ml","creationTimestamp":"2024-05-01T10:00:00Z"},"spec":{"activeDeadlineSeconds":7200}},'
    echo '{"kind":"Workload","metadata":{"name":"job-a-x","namespace":"ml","creationTimestamp":"2024-05-01T10:00:01Z","ownerReferences":[{"kind":"Job","name":"a"}]},"spec":{"queueName":"team"}},'
    echo '{"kind":"Event","reason":"Scheduled","involvedObject":{"kind":"Pod","name":"event","namespace":"ml"},"firstTimestamp":"2024-05-01T10:04:00Z"},'
    # an event of an earlier pod of that name, which was there before this one was made, and one that says nothing
    echo '{"kind":"Event","reason":"Scheduled","involvedObject":{"kind":"Pod","name":"event","namespace":"ml"},"firstTimestamp":"2024-05-01T09:50:00Z"},'
    echo '{"kind":"Event","reason":"Pulled","involvedObject":{"kind":"Pod","name":"event","namespace":"ml"},"firstTimestamp":"2024-05-01T10:05:00Z"},'
    echo '{"kind":"Service","metadata":{"name":"s"}}'
    echo '],"kind":"List"}'
} >pods.json
"$gsim" import kube pods.json -o pods.csv --left-out left.csv --force >"$tmp/log" 2>&1
# a gang from the last that was scheduled to the last that ended, submitted with its owner; then a retry. Pod now runs on,
# until the last time in the file, a condition's at 10:59.
check "pods of an owner are a job, later ones a run of their own" "ml/a 0 1500 8 360 1860
ml/a#2 2400 540 4 2460 3000
ml/event 60 300 1 240 540
ml/now 60 3420 1 120 3540
ml/web-1 60 1080 1 120 1200
ml/web-2 60 1020 1 180 1200" "$(python3 -c 'import csv
rows = csv.DictReader(line for line in open("pods.csv") if not line.startswith("#"))
for r in sorted(rows, key=lambda r: r["job_id"]): print(*(r[k] for k in ("job_id", "submit_s", "duration_s", "gpus", "logged_start_s", "logged_end_s")))')"
for why in "pods of a job with others" "ask for no GPU" "had not started" "a time is not of the form" "do not say when they were scheduled" "parts of GPUs" "say nothing of jobs" "events from which pods have the time"; do
    grep -q "left out 1 row .*$why" "$tmp/log"
    say "left out and counted: $why" $?
done
grep -q ": 1 row .*had not ended yet: here they run until the last time in the file" "$tmp/log"
say "a pod that runs on is counted" $?
grep -q 'left out 2 rows (the first is line 17): they are events that say nothing of a job' "$tmp/log"
say "and events that say nothing" $?
check "each on its line" "16 17 18 19 " "$(awk -F, 'NR > 1 && $1 >= 16 { printf "%s ", $1 }' left.csv)"
check "what became of each object can be listed" "9 not readable 1 left out ml/a 1" "$(grep -c ',left out,' left.csv) not readable $(grep -c ',ml/bad,not readable,' left.csv) left out ml/a $(grep -c ',ml/a,left out,' left.csv)"
{ echo '{"items":['; pod s-1 s Workflow 01 02 20 1 Succeeded 0; echo ,; pod s-2 s Workflow 01 03 20 2 Succeeded 0; echo '],"kind":"List"}'; } >argo.json
"$gsim" import kube argo.json -o argo.csv --force >"$tmp/log" 2>&1
check "steps of a workflow that run at once are no gang" "ml/s-1 ml/s-2" "$(grep -o '^ml/s[^,]*' argo.csv | tr '\n' ' ' | sed 's/ $//')"
expect "one object alone is read" 0 "1 job of 1" sh -c "sed -n 2p pods.json | sed 's/,\$//' >one.json; '$gsim' import kube one.json -o one.csv --force"
expect "a list of something else" 3 "no List of Kubernetes\|no jobs\|is empty" sh -c "echo 5 >five.json; '$gsim' import kube five.json -o five.csv --force"
expect "a file that is cut" 3 "pods.json\|cut.json:" sh -c "head -c 900 pods.json >cut.json; '$gsim' import kube cut.json -o cut.csv --force"
