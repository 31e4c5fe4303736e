#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim plan: its answers beside those of trying every number of nodes. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
# Of a report the tables are read here, and no figure.
PATH=$PWD/tests/support/bin:$PATH

plan() { # the rest of the options; the trace comes last
    "$gsim" plan --policies fifo,easy-backfill --quiet "$@"
}
spec=traces/samples/cluster.ini

# --- a plan, and its runs in a database
plan --target 'wait_p95_s < 1h' --arrivals 1,2 --nodes 1..14 --gpus-per-node 8 --reps 3 --format json -o "$tmp/p.db" "$spec" >"$tmp/plan.json" 2>"$tmp/log"
say "a plan" $?
made=$(sqlite3 "$tmp/p.db" "select count(*) from run")
[ "$made" -lt 120 ] && echo "$made of 168 runs" >"$tmp/log"
say "and it made fewer runs ($made of 168)" $?
plan --target 'p95_wait < 1h' --arrivals 1,2 --nodes 1..14 --gpus-per-node 8 --reps 3 --format json -o "$tmp/p.db" "$spec" >"$tmp/again.json" 2>"$tmp/log"
cmp "$tmp/plan.json" "$tmp/again.json" >>"$tmp/log" && [ "$(sqlite3 "$tmp/p.db" "select count(*) from run")" = "$made" ]
say "again, under another name of the field: no new run" $?
# --- all numbers of nodes, by a sweep, and the answers from these by hand: the least from which on the
# mean of three replications is below an hour, and likewise the ends of its interval by Johnson's t of
# the logarithm (t of two degrees of freedom: 4.3027; the end towards which the three are skewed lies farther)
if ! leaves_numbers; then
cat >"$tmp/grid.ini" <<'G'
trace = traces/samples/cluster.ini
policy = fifo, easy-backfill
nodes = 1..14
gpus-per-node = 8
time-scale = 1, 0.5
reps = 3
G
"$gsim" sweep "$tmp/grid.ini" -o "$tmp/all.db" --keep summary --quiet >"$tmp/log" 2>&1
say "every number of nodes" $?
sqlite3 -csv "$tmp/all.db" "SELECT policy, (SELECT value FROM setting AS s WHERE s.run_id = run.run_id AND key = 'time-scale'), gpus / 8,
    wait_p95_s FROM run" >"$tmp/all.csv"
cat >"$tmp/check.py" <<'P'
import csv, json, math, sys
waits = {}
for policy, scale, nodes, wait in csv.reader(open(sys.argv[1])):
    waits.setdefault((policy, 1 / float(scale)), {}).setdefault(int(nodes), []).append(float(wait))
def ends(v):
    mean = sum(v) / len(v)
    if not mean:
        return 0, 0, 0
    second, third = (sum((x / mean - 1) ** k for x in v) / 3 for k in (2, 3))
    t, error = 4.302652729911275, math.sqrt(second / 2)
    skew = third / second ** 1.5 * math.sqrt(6) / (6 * math.sqrt(3)) if second else 0
    low, high = (t + max(way * skew, 0) * (2 * t * t + 1) for way in (-1, 1))
    return mean * math.exp(-low * error), mean, mean * math.exp(high * error)
def least(by_nodes, end):
    met = [n for n in by_nodes if all(ends(by_nodes[m])[end] < 3600 for m in by_nodes if m >= n)]
    return min(met) if met else None
rows = json.load(open(sys.argv[2]))
assert len(rows) == 4
for row in rows:
    by_nodes = waits[row["policy"], row["arrivals"]]
    assert len(by_nodes) == 14 and all(len(v) == 3 for v in by_nodes.values())
    assert [least(by_nodes, end) for end in (0, 1, 2)] == [row["nodes_low"], row["nodes"], row["nodes_high"]], row
    for cell in row["tried"]:
        for name, value in zip(("low", "mean", "high"), ends(by_nodes[cell["nodes"]])):
            assert abs(cell["wait_p95_s"][name] - value) <= 1e-9 * value, cell
P
python3 "$tmp/check.py" "$tmp/all.csv" "$tmp/plan.json" >"$tmp/log" 2>&1
say "its answers and intervals are those of trying all" $?
plan --target 'wait_p95_s < 1h' --arrivals 1,2 --nodes 1..14 --gpus-per-node 8 --reps 3 --format json -j 1 "$spec" 2>"$tmp/log" | cmp - "$tmp/plan.json" >>"$tmp/log"
say "without a database, on one thread" $?
fi

# --- the 95th percentile of waits, from the jobs: between the 19th and 20th of 20, at 0.05 of the way
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 20; i++) print "j" i ",0," 10 + i ",1" }' >"$tmp/queue.csv"
# fifo on one GPU: job i waits for those before it, 10 + 11 + ... + (9 + i); of 18: 333, of 19: 361
expect "wait_p95_s" 0 '"wait_p95_s":334.4,' "$gsim" --policy fifo --device ideal --nodes 1 --gpus-per-node 1 --format json --quiet "$tmp/queue.csv"
# without the first and the last two: of 1 to 17 jobs the 17th waits 306, the 16th 280; 0.95 x 15 = 14.25
expect "wait_p95_s in a window" 0 '"wait_p95_s":286.5,' "$gsim" --policy fifo --device ideal --nodes 1 --gpus-per-node 1 --format json --quiet --warmup 10% "$tmp/queue.csv"

# --- more nodes may hurt: six nodes have a mean wait below 2 s, seven have not
printf 'job_id,submit_s,duration_s,gpus\nj0,0,10,2\nj1,0,10,2\nj2,0,60,3\nj3,1,20,1\nj4,5,30,1\nj5,15,30,1\n' >"$tmp/anomaly.csv"
anomaly="$gsim plan --policies backfill --device ideal --gpus-per-node 1 --quiet --target wait_mean_s<2s"
expect "an answer from which on all meet the target" 0 '"nodes":8,"nodes_high":null,"all_tried":true' $anomaly --nodes 3..10 --format json "$tmp/anomaly.csv"
expect "and a note" 0 'more nodes did not always help' $anomaly --nodes 3..10 "$tmp/anomaly.csv"

# --- other forms
expect "a range of resampled traces" 0 'ranges over 4 shaken traces' plan --target 'wait_p95_s < 1h' --nodes 4..9 --gpus-per-node 8 --shake 5% --reps 4 traces/samples/cluster.csv
expect "a real trace alone" 0 'no intervals' plan --target 'wait_p95_s < 1h' --nodes 4..9 --gpus-per-node 8 traces/samples/cluster.csv
expect "as CSV" 0 '^fifo,1,6,48,1,.*,1$' plan --target 'wait_p95_s < 1h' --nodes 4..9 --gpus-per-node 8 --format csv traces/samples/cluster.csv
expect "parameters of one policy" 0 'tiresias' "$gsim" plan --policies fifo,tiresias --set tiresias.queues=3250,7200 --target 'wait_p95_s < 1h' --nodes 4..9 --gpus-per-node 8 --quiet traces/samples/cluster.csv
expect "a time without its unit" 2 "'4' has no unit; say 4s or 4h (wait_p95_s is in seconds)" plan --target 'wait_p95 < 4' --nodes 4..9 --gpus-per-node 8 traces/samples/cluster.csv
expect "a share of which there is no such" 2 "gpu_busy is a share, so 80 is more than there is; say 80% or 0.8" plan --target 'gpu_busy < 80' --nodes 4..9 --gpus-per-node 8 traces/samples/cluster.csv
expect "one trace has no replications" 0 '"replications":1,"over":"this trace alone"' plan --target 'wait_p95_s < 3600' --nodes 4..9 --gpus-per-node 8 --format json traces/samples/cluster.csv
expect "the widest job" 0 'does not fit on fewer than 4 nodes' plan --target 'wait_p95_s < 1h' --nodes 1..40 --gpus-per-node 2 traces/samples/cluster.csv
expect "that of a spec's draws" 0 'does not fit on fewer than 4 nodes' plan --target 'wait_p95_s < 1s' --nodes 1..5 --gpus-per-node 2 --reps 2 "$spec"

# --- the interval of a mean is one of logarithms; a share, or Jain's index, ends at 1 (0.31 had [0.00016, 623])
for field in gpu_busy jain; do
    plan --target "$field > 50%" --nodes 1..3 --gpus-per-node 8 --reps 2 --format csv "$spec" >"$tmp/share.csv" 2>"$tmp/log"
    awk -F, 'NR > 1 { n++; bad += $8 > 1 || $7 > $6 || $6 > $8; ends += $8 == 1 } END { exit !(n >= 4 && !bad && ends) }' "$tmp/share.csv"
    say "the interval of $field does not pass 1" $?
done

# --- energy and cost: two jobs of 100 hours on three A100s of 400 W, which draw 51 W idle. Two thirds of the
# time is computed: 51 + 349 x 2 / 3 = 283.667 W, times three GPUs and 24 hours
printf 'job_id,submit_s,duration_s,gpus,user\na,0,360000,1,x\nb,0,360000,1,y\n' >"$tmp/three.csv"
costs="$gsim plan --policies fifo --gpus-per-node 1 --nodes 3,4 --target wait_mean_s<1s --quiet --format csv"
expect "energy and cost of a day" 0 '^fifo,1,3,3,1,0,,,0,0.6666666666666666,20.42[0-9]*,180,60[.0-9]*,1$' $costs --device a100-40 --price 2.5 "$tmp/three.csv"
expect "no price" 0 '^fifo,1,3,3,1,0,,,0,0.6666666666666666,20.42[0-9]*,,,1$' $costs --device a100-40 "$tmp/three.csv"
expect "no watts" 0 '^fifo,1,3,3,1,0,,,0,0.6666666666666666,,,,1$' $costs --device ideal "$tmp/three.csv"
expect "other watts" 0 '^fifo,1,3,3,1,0,,,0,0.6666666666666666,7.2,,,1$' $costs --device a100-40 --set energy.busy_w=100 --set energy.idle_w=100 "$tmp/three.csv"
watts="$gsim plan --policies fifo --gpus-per-node 1 --nodes 3,4 --target wait_mean_s<1s $tmp/three.csv"
# 15 % of the datasheet's 700 W stand for the idle watts of an H200, of which none were published
expect "idle watts that are assumed" 0 "gsim: the energy of idle GPUs rests on watts that are assumed, not known: energy.idle_w=105 (h200)" $watts --device h200
expect "in JSON as well" 0 '"watts_assumed":"energy.idle_w=105 (h200)"' $watts --device h200 --format json
expect "published watts" 0 '"watts_assumed":""' $watts --device a100-40 --format json
expect "and given ones" 0 '"watts_assumed":""' $watts --device h200 --set energy.idle_w=90 --format json
"$gsim" --policy fifo --device h200 --nodes 3 --gpus-per-node 1 --db "$tmp/watts.db" --quiet "$tmp/three.csv" >"$tmp/log" 2>&1
"$gsim" report "$tmp/watts.db" -o "$tmp/watts.html" --quiet >>"$tmp/log" 2>&1 && grep -q 'h200 (idle watts assumed)' "$tmp/watts.html"
say "a report says it beside the energy" $?
tables() { # FILE: the cells of a report, a line each
    sed 's/<tr>/\n/g; s/<\/t[dh]>/|/g; s/<[^>]*>//g' "$1"
}
"$gsim" --policy fifo --device a100-40 --nodes 3 --gpus-per-node 1 --db "$tmp/bill.db" --quiet "$tmp/three.csv" >"$tmp/log" 2>&1 &&
    "$gsim" report "$tmp/bill.db" --price 2.5 -o "$tmp/bill.html" --quiet >>"$tmp/log" 2>&1 && tables "$tmp/bill.html" >"$tmp/log" &&
    grep -q '^fifo|300.0|200.0|100.0|85.1|5.1|a100-40|750.00|250.00|' "$tmp/log" && grep -q '^x|fifo|1|100.0|250.00|' "$tmp/log"
say "GPU hours, energy and cost in a report" $?
# A V100 makes 4 iterations a second where an H200 makes 10: jobs of 36000 compute for an hour of the one and two and a half
# of the other, but for 8 us of each iteration. Of 2.5 hours: (105 x 9000 + 595 x 3599.712 + 53 x 9000 + 247 x 8999.28) J
printf 'device,model,gpus,iterations_per_s\nh200,m,1,10\nv100,m,1,4\n' >"$tmp/rates.csv"
printf '[node a]\ngpus = 1\ndevice = h200\n[node b]\ngpus = 1\ndevice = v100\n' >"$tmp/unlike.ini"
printf 'job_id,submit_s,gpus,model,iterations\na,0,1,m,36000\nb,0,1,m,36000\n' >"$tmp/unlike.csv"
"$gsim" --policy fifo --cluster "$tmp/unlike.ini" --rates "$tmp/rates.csv" --db "$tmp/unlike.db" --quiet "$tmp/unlike.csv" >"$tmp/log" 2>&1 &&
    "$gsim" report "$tmp/unlike.db" -o "$tmp/unlike.html" --quiet >>"$tmp/log" 2>&1 && tables "$tmp/unlike.html" >"$tmp/log" &&
    grep -q '^fifo|5.0|3.5|1.5|1.6|0.2|h200+v100' "$tmp/log" &&
    [ "$(sqlite3 "$tmp/unlike.db" 'SELECT round(sum(gpus * 9000 * idle_w + (busy_w - idle_w) * computing_s) / 3.6e6, 4) FROM power')" = 1.6074 ]
say "energy of devices by the time that each computed" $?
# An A100 cut into 4, 2 and 1 of its 8 parts of memory: d comes when c has left its half, and is there beside 2 and 1: it has
# 4 of 7 parts of each instant
printf 'job_id,submit_s,duration_s,gpus,mem_gib,user\na,0,100,1,2,x\nb,10,50,1,2,y\nc,20,50,1,2,x\nd,30,10,1,2,z\n' >"$tmp/parts.csv"
"$gsim" --policy mig --device a100-40 --set mig.layout=3g.20gb+2g.10gb+1g.5gb --nodes 1 --gpus-per-node 1 --db "$tmp/parts.db" --quiet "$tmp/parts.csv" >"$tmp/log" 2>&1
[ "$(sqlite3 "$tmp/parts.db" "SELECT abs(held_ns - (end_ns - start_ns) * 4 / 7) < 2, (SELECT abs(sum(held_ns) - (SELECT sum(busy_ns) FROM gpu)) < 5 FROM job) FROM job WHERE job_id = 'd'")" = "1|1" ]
say "instances divide what their GPU is held for by their parts" $?
# 8 GPUs by fifo, one by mig, two by timeslice, each with one job of an hour or more to itself: all jobs have what they held
printf '[node a]\ngpus = 8\n[node b]\ngpus = 1\npolicy = mig\nclasses = production\n[node c]\ngpus = 2\npolicy = timeslice\nclasses = opportunistic\n' >"$tmp/parts.ini"
printf 'job_id,submit_s,duration_s,gpus,class,mem_gib\na,0,18000,8,batch,2\nb,0,3600,1,production,2\nc,0,3600,1,opportunistic,2\nd,0,3600,1,opportunistic,2\n' >"$tmp/mixed.csv"
"$gsim" --policy fifo --cluster "$tmp/parts.ini" --device a100-40 --db "$tmp/mixed.db" --quiet "$tmp/mixed.csv" >"$tmp/log" 2>&1
[ "$(sqlite3 "$tmp/mixed.db" "SELECT round(held_ns / 3.6e12, 3) FROM job WHERE job_id = 'a'")" = 40.0 ] && "$gsim" check "$tmp/mixed.db" >>"$tmp/log" 2>&1
say "jobs beside ones that share GPUs have all that they held" $?
# fifo: a first, b waits two hours; sjf: b first, a waits one
printf 'job_id,submit_s,duration_s,gpus,user\na,0,7200,1,x\nb,0,3600,1,y\n' >"$tmp/users.csv"
"$gsim" compare --policies fifo,sjf --nodes 1 --gpus-per-node 1 --db "$tmp/users.db" --no-what-if --quiet "$tmp/users.csv" >"$tmp/log" 2>&1 &&
    "$gsim" report "$tmp/users.db" -o "$tmp/users.html" --quiet >>"$tmp/log" 2>&1 && tables "$tmp/users.html" >"$tmp/log" &&
    grep -q '^x|sjf|1|2.0|-|-|1 h|1 h|loses 1 h|' "$tmp/log" && grep -q '^y|sjf|1|1.0|-|-|0 us|0 us|gains 2 h|' "$tmp/log"
say "and which users gain and lose" $?

printf 'job_id,submit_s,duration_s,gpus,user\na,0,36000,1,x\nb,0,36000,1,y\n' >"$tmp/users.csv"
# mps: both run for 20 hours beside each other, which is 20 GPU hours held, ten of each user
# elasticflow, eight GPUs: each has four in place of two, for 5 hours
printf 'job_id,submit_s,duration_s,gpus,user\na,0,36000,2,x\nb,0,36000,2,y\n' >"$tmp/wide.csv"
expect "the widest job, on nodes of one GPU" 0 'does not fit on fewer than 2 nodes' "$gsim" plan --policies fifo --target 'wait_p95_s < 1h' --nodes 1..4 "$tmp/wide.csv"
"$gsim" --policy mps --nodes 1 --gpus-per-node 1 --db "$tmp/shared.db" --quiet "$tmp/users.csv" >"$tmp/log" 2>&1 &&
    "$gsim" --policy elasticflow --nodes 1 --gpus-per-node 8 --db "$tmp/shared.db" --quiet "$tmp/wide.csv" >>"$tmp/log" 2>&1 &&
    for policy in mps elasticflow; do
        "$gsim" report "$tmp/shared.db" --where "policy = '$policy'" --price 2 -o "$tmp/shared.html" --force --quiet >>"$tmp/log" 2>&1
        tables "$tmp/shared.html" >"$tmp/$policy.cells"
    done
grep -q '^mps|20.0|20.0|' "$tmp/mps.cells" && grep -q '^x|mps|1|10.0|20.00|' "$tmp/mps.cells" &&
    grep -q '^y|mps|1|10.0|20.00|' "$tmp/mps.cells"
say "users of a shared GPU have its hours together, not each all of them" $?
grep -q '^elasticflow|40.0|40.0|' "$tmp/elasticflow.cells" && grep -q '^x|elasticflow|1|20.0|40.00|' "$tmp/elasticflow.cells"
say "users have the GPUs that their jobs had, not those that they asked for" $?
# Three A100s of 400 W, 51 W idle: what a job computed before its node failed was computed
failing="--policy fifo --device a100-40 --nodes 3 --gpus-per-node 1 --mtbf 2d --mttr 1h --quiet"
"$gsim" $failing --db "$tmp/failing.db" --format json "$tmp/three.csv" >"$tmp/failing.json" 2>"$tmp/log" &&
    "$gsim" report "$tmp/failing.db" -o "$tmp/failing.html" --quiet >>"$tmp/log" 2>&1 && tables "$tmp/failing.html" >>"$tmp/log" &&
    python3 - "$tmp/failing.json" "$tmp/log" <<'EOF' >>"$tmp/log"
import json, re, sys
run = json.load(open(sys.argv[1]))
hours = 3 * run["makespan_s"] / 3600
computed = hours * run["gpu_useful"] + run["lost_s"] / 3600
kwh = (51 * hours * (1 - run["gpu_down"]) + 349 * computed) / 1000
bill = open(sys.argv[2]).read().split("GPU hours, energy")[1]
told = float(re.search(r"^fifo\|[^|]*\|[^|]*\|[^|]*\|([^|]*)\|", bill, re.M).group(1))
print(run["lost_s"], kwh, told)
sys.exit(run["lost_s"] < 3600 or abs(kwh - told) > 0.051)
EOF
say "work that a failure takes draws the watts of work" $?
# a plan of these runs: nodes that are down draw nothing, and are no idle GPUs; no job arrives after the first ones
"$gsim" plan --policies fifo --device a100-40 --nodes 3,4 --gpus-per-node 1 --mtbf 2d --mttr 10h --target 'wait_mean_s < 1s' --price 2.5 --quiet --format csv -o "$tmp/down.db" "$tmp/three.csv" >"$tmp/down.csv" 2>"$tmp/log" &&
    "$gsim" report "$tmp/down.db" --where 'gpus = 3' --price 2.5 -o "$tmp/down.html" --quiet >>"$tmp/log" 2>&1 && tables "$tmp/down.html" >>"$tmp/log" &&
    python3 - "$tmp/down.csv" "$tmp/down.db" "$tmp/log" <<'EOF' >>"$tmp/log"
import csv, re, sqlite3, sys
plan = next(row for row in csv.DictReader(open(sys.argv[1])) if row["gpus"] == "3")
span, busy, useful, down, lost = sqlite3.connect(sys.argv[2]).execute(
    "select makespan_s, gpu_busy, gpu_useful, gpu_down, lost_s from run where gpus = 3").fetchone()
computed = useful + lost / (3 * span)
kwh, idle = 72 * (51 * (1 - down) + 349 * computed) / 1000, 72 * 2.5 * (1 - busy - down)
bill = re.search(r"^fifo\|([^|]*)\|[^|]*\|([^|]*)\|.*\|([^|]*)\|$", open(sys.argv[3]).read().split("GPU hours, energy")[1], re.M)
hours, idle_hours, cost = map(float, bill.groups())
print(plan, kwh, idle, bill.groups())
sys.exit(down < 0.05 or abs(float(plan["energy_kwh_day"]) - kwh) > 1e-6 or abs(float(plan["idle_cost_day"]) - idle) > 1e-6
         or abs(cost - 2.5 * idle_hours) > 0.13 or abs(hours - 3 * span / 3600) > 0.051)
EOF
say "GPUs that are down draw nothing, and cost nothing as idle ones" $?
# five draws of which few have jobs of cid: hours, jobs and cost are means over all of them
printf '[trace]\njobs = 30\n[arrival]\nprocess = poisson\nload = 0.8\ngpus = 4\n[duration]\ndistribution = lognormal\nmu = 8\nsigma = 1\n[user]\nchoice = ann, bob, cid\nweights = 95, 4, 1\n' >"$tmp/few.ini"
"$gsim" compare --policies fifo,srtf --gpus-per-node 4 --device ideal --reps 5 --no-what-if --quiet --db "$tmp/few.db" "$tmp/few.ini" >"$tmp/log" 2>&1 &&
    "$gsim" report "$tmp/few.db" --price 2.5 -o "$tmp/few.html" --quiet >>"$tmp/log" 2>&1 && tables "$tmp/few.html" >>"$tmp/log" &&
    python3 - "$tmp/few.db" "$tmp/log" <<'EOF' >>"$tmp/log"
import re, sqlite3, sys
users = sqlite3.connect(sys.argv[1]).execute(
    "select user, policy, count(*) / 5.0, sum(end_ns - start_ns) / 5 / 3.6e12, count(distinct run_id) from run join job using (run_id) "
    "join trace_job using (trace_jobs, job) where policy = 'fifo' group by user, policy").fetchall()
told = open(sys.argv[2]).read().split("Users: which")[1]
for user, policy, jobs, hours, runs in users:
    row = re.search(rf"^{user}\|{policy}\|([^|]*)\|([^|]*)\|([^|]*)\|", told, re.M).groups()
    print(user, jobs, hours, runs, row)
    assert abs(float(row[0]) - jobs) < 0.051 and abs(float(row[1]) - hours) < 0.051 and abs(float(row[2]) - 2.5 * hours) < 0.006
assert min(runs for *_, runs in users) < 5
EOF
say "users' hours are means over all runs, those without a job of theirs too" $?

# --- bad input
nodes="--nodes 1..9 --gpus-per-node 8"
trace=traces/samples/cluster.csv
expect "no target" 2 'no target; accepted' plan $nodes $trace
expect "no nodes" 2 'which nodes' plan --target 'wait_p95_s < 1h' $trace
expect "no policies" 2 'which policies' "$gsim" plan --target 'wait_p95_s < 1h' $nodes $trace
expect "an unknown field" 2 "did you mean 'wait_p95_s'" plan --target 'wait_p59_s < 1h' $nodes $trace
expect "a field that is no number" 2 "no number of a result is called 'policy'" plan --target 'policy < 1' $nodes $trace
expect "no comparison" 2 'a target is a field of a result' plan --target 'wait_p95_s 1h' $nodes $trace
expect "a negative time" 2 "'-1h' is no time" plan --target 'wait_p95_s < -1h' $nodes $trace
expect "a target out of reach" 0 '> 4 .*> 32 ' plan --target 'wait_p95_s < 1s' --nodes 1..4 --gpus-per-node 8 $trace
# Ten tasks of an hour, one at a time: the last waits for nine hours, on any number of nodes.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,array,array_limit"; for (i = 0; i < 10; i++) printf "%d,0,3600,1,7,1\n", i }' >"$tmp/tasks.csv"
printf 'GresTypes=gpu\nNodeName=n[1-2] Gres=gpu:4 CPUs=32 RealMemory=100000\nPartitionName=gpu Nodes=n[1-2] Default=YES MaxTime=7-0\n' >"$tmp/tasks.conf"
expect "an array's limit, which no node lifts" 0 '16 nodes do not meet the target, and 15 are as near: more change nothing where array limits, dependencies' \
    "$gsim" plan --quiet --target 'wait_p95_s < 1h' --policies slurm --slurm-conf "$tmp/tasks.conf" --nodes 1..16 "$tmp/tasks.csv"
expect "so no number is an answer" 0 '^slurm  *1  *none  *none ' "$gsim" plan --quiet --target 'wait_p95_s < 1h' --policies slurm --slurm-conf "$tmp/tasks.conf" --nodes 1..16 "$tmp/tasks.csv"
expect "and what to do" 0 '4 nodes do not meet the target; give --nodes more' plan --target 'wait_p95_s < 1s' --nodes 1..4 --gpus-per-node 8 $trace
expect "a target that the least number meets" 0 '<= 9  .*<= 72 ' plan --target 'wait_p95_s < 1h' --nodes 9..12 --gpus-per-node 8 $trace
expect "and that fewer may" 0 'fewer may, too' plan --target 'wait_p95_s < 1h' --nodes 9..12 --gpus-per-node 8 $trace
expect "a target that more nodes move away" 0 'more do not reach it' plan --target 'gpu_busy > 99%' $nodes $trace
expect "no number of nodes is beyond those" 0 '^fifo  *1  *none  *none ' plan --target 'gpu_busy > 99%' $nodes $trace
expect "one that the least number meets" 0 'with 1 it is met: more nodes move away from it' plan --target 'gpu_busy > 60%' $nodes $trace
# the least restart that policy las asks for is assumed of an H200; fifo stops no job and needs none
expect "assumed constants by their names" 0 'runs rest on constants that are assumed, not known: restart.resume_ns=62e9 (h200), restart.stop_ns=0 (h200)' \
    "$gsim" plan --policies fifo,las --device h200 --target 'wait_p95_s < 1h' --nodes 4..9 --gpus-per-node 8 $trace
expect "in JSON as well" 0 '"assumed":"restart.resume_ns=62e9 (h200), restart.stop_ns=0 (h200)' \
    "$gsim" plan --policies las --quiet --device h200 --target 'wait_p95_s < 1h' --nodes 4..9 --gpus-per-node 8 --format json $trace
expect "a field that no run has" 0 'no run has that number' plan --target 'latency_p99_s < 1s' $nodes $trace
expect "jobs that do not end" 0 'leave jobs that do not end' plan --target 'wait_p95_s < 1h' --until 1h $nodes $trace
expect "numbers that go down" 2 "'2' does not go on with ascending" plan --target 'wait_p95_s < 1h' --nodes 4,2 --gpus-per-node 8 $trace
expect "no nodes wide enough" 2 'does not fit on 2 nodes' plan --target 'wait_p95_s < 1h' --nodes 1,2 --gpus-per-node 2 $trace
expect "a policy twice" 2 'named twice' "$gsim" plan --policies fifo,fifo --target 'wait_p95_s < 1h' $nodes $trace
expect "an unknown policy" 3 "did you mean 'fifo'" "$gsim" plan --policies fofi --target 'wait_p95_s < 1h' $nodes $trace
expect "a factor of 0" 2 "'0' is not a factor" plan --arrivals 0 --target 'wait_p95_s < 1h' $nodes $trace
expect "replications of a file" 2 'a trace that can be drawn again' plan --reps 3 --target 'wait_p95_s < 1h' $nodes $trace
expect "a negative price" 2 "'-1' is no price" plan --price -1 --target 'wait_p95_s < 1h' $nodes $trace
expect "a price in words" 2 "'cheap' is no price" "$gsim" report "$tmp/users.db" -o "$tmp/no.html" --price cheap
expect "another file" 3 'not a database' plan --target 'wait_p95_s < 1h' -o tests/cli/plan.sh $nodes $trace
