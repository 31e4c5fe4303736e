#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What compare says besides its table. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/lines" 2>&1
    got=$?
    sed -e ':a' -e 'N;$!ba' -e 's/\n    */ /g' "$tmp/lines" >"$tmp/out" # sentences that were broken into lines
    if [ $got -eq "$code" ] && grep -q -e "$pattern" "$tmp/out"; then
        echo "ok $name"
    else
        echo "not ok $name: exit $got"
        sed 's/^/# /' "$tmp/out" | tail -5
    fi
}
said() { if grep -q -e "$2" "$tmp/out"; then echo "ok $1"; else echo "not ok $1"; fi; }
unsaid() { if grep -q -e "$2" "$tmp/out"; then echo "not ok $1"; else echo "ok $1"; fi; }

cluster="--nodes 2 --gpus-per-node 8"
t=traces/samples/cluster.csv
heavy=traces/samples/heavy_tail.ini

# shellcheck disable=SC2086
{
    expect "one overloaded trace: no intervals" 0 "no intervals: more work arrives" "$gsim" compare --policies fifo,srtf $cluster $t
    expect "one trace of a full cluster is short" 0 "no intervals: at a load of 0.85, 300 jobs leave open" "$gsim" compare --policies fifo,srtf --nodes 4 --gpus-per-node 8 $t
    said "and the verdict says so" "cannot tell whether that is chance: --shake 5% or --resample user"
    expect "one trace of a wide cluster" 0 "95 % intervals over 5 batches" "$gsim" compare --policies fifo,srtf --nodes 30 --gpus-per-node 8 $t
    expect "replications: intervals over them" 0 "over 5 replications (Johnson" "$gsim" compare --policies fifo,srtf --reps 5 $heavy
    said "which are short for their load" "^note: runs of 300 jobs are short at a load of [0-9.]*: their means are skewed, and intervals over 5 of them may miss more often"
    expect "shaking: ten traces" 0 "verdict: srtf (oracle) has the lowest mean JCT over changed traces, .*(.* over 10 shaken traces, below in 10 of them)" "$gsim" compare --policies fifo,srtf --shake 5% $cluster $t
    unsaid "which have no p" "p by\|p [<=]"
    # what is drawn in a run is drawn anew in each replication, as gsim run draws it
    failing="--gpus-per-node 8 --nodes 4 --mtbf 2d --format csv --quiet traces/samples/cluster.ini"
    "$gsim" compare --policies fifo,srtf --reps 2 --no-what-if $failing 2>/dev/null | awk -F, '$1 == "fifo" {print $9}' >"$tmp/compared"
    for r in 0 1; do "$gsim" run --policy fifo --replication $r $failing 2>/dev/null | awk -F, 'NR == 2 {print $9}'; done >"$tmp/ran"
    if [ -s "$tmp/ran" ] && cmp -s "$tmp/ran" "$tmp/compared"; then
        echo "ok failures of nodes in each replication are those of gsim run"
    else
        echo "not ok failures of nodes in each replication: $(cat "$tmp/compared") and $(cat "$tmp/ran")"
    fi
    expect "shaking: as many as --reps says" 0 "over 3 shaken traces" "$gsim" compare --policies fifo,srtf --shake 5% --reps 3 $cluster $t
}
expect "a spec is not shaken" 2 "from which --reps draws again" "$gsim" compare --policies fifo,srtf --shake 5% $heavy
expect "too much shaking" 2 "between 0 and 100" "$gsim" compare --policies fifo,srtf --shake 100% $t
expect "replications of a file" 2 "or --shake" "$gsim" compare --policies fifo,srtf --reps 3 $t
expect "backfilling one GPU is first come, first served" 0 "tie in mean JCT" "$gsim" compare --policies fifo,backfill --gpus-per-node 1 --nodes 1 traces/samples/heavy_tail.csv
expect "too few jobs for intervals" 0 "no intervals: 4 jobs are too few" "$gsim" compare --policies fifo,sjf tests/golden/three.csv
unsaid "none are shown" "95 %"

# --- as logged ----------------------------------------------------------------------------------------
# One GPU that the log's scheduler gave to whoever came first: waits 0, 90 and 180 s, mean 90 s. sjf lets c
# (10 s) pass b (100 s): its waits are 0, 100 and 80 s, so that u's mean wait (a, b) is off by 5 s for two jobs
# and v's (c) by 100 s for one.
printf 'job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s\na,0,100,1,u,0,100\nb,10,100,1,u,100,200\nc,20,10,1,v,200,210\n' >"$tmp/logged.csv"
one="--device ideal --nodes 1 --gpus-per-node 1 --no-what-if"
# shellcheck disable=SC2086
{
    expect "the row as logged" 0 "^as logged  *1.5 min$" "$gsim" compare --policies fifo,sjf $one "$tmp/logged.csv"
    said "a policy that did what the log did" "^fifo  *1.5 min  *+0.0 %  *0 s  *0 s  *100.0 %"
    said "one that did not" "^sjf  *1 min  *-33.3 %  *36.7 s  *36.7 s  *66.7 %"
    said "the verdict names the nearest" "fifo is nearest to the log: users' mean waits are off by 0 s"
    # b waited 50 s, where fifo has it wait for a alone, 20 s: the user's mean is off by 15 s, of 25 s
    printf 'job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s\na,0,20,1,u,0,20\nb,0,20,1,u,50,70\n' >"$tmp/soon.csv"
    expect "why most of a short wait is near" 0 "equally near to the log: users' mean waits are off by 15 s on average, of 25 s, which is near because it is within a minute" sh -c "'$gsim' compare --policies fifo,easy-backfill $one '$tmp/soon.csv' | tr -s '\n ' ' '"
    expect "by user" 0 "^u  *2  *45 s  *45 s  *50 s$" "$gsim" compare --policies fifo,sjf $one --by user "$tmp/logged.csv"
    expect "as data" 0 '"as_logged":{"jobs":3,"wait_mean_s":90,"policy_wait_mean_s":60,"off_by_user_s":36.6666.*"is_near":true}' "$gsim" compare --policies fifo,sjf $one --format json "$tmp/logged.csv"
    sed 's/200,210$/2000,2010/' "$tmp/logged.csv" >"$tmp/held.csv"
    expect "no policy comes near a log that held a job back" 0 "no policy comes near the log: under fifo" "$gsim" compare --policies fifo,sjf $one "$tmp/held.csv"
    expect "a single policy is held against the log too" 0 "no policy comes near the log" "$gsim" compare --policies fifo $one "$tmp/held.csv"
    expect "a shaken trace is of other jobs, the first row is not" 0 "^as logged  *1.5 min$" "$gsim" compare --policies fifo,sjf $one --shake 5% --reps 2 "$tmp/logged.csv"
    expect "a scaled one has no log" 0 "JCT mean" "$gsim" compare --policies fifo,sjf $one --time-scale 0.5 "$tmp/logged.csv"
    unsaid "and no such row" "as logged"
}

# twelve jobs of one second on one GPU: four at once, the others alone
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 12; i++) print "j" i "," (i < 4 ? 0 : 10 * i) ",1" }' >"$tmp/warm.csv"
# JCTs 1, 2, 3, 4 and eight times 1: mean 18/12 = 1.5; without the first four 1, without three (4 + 8)/9,
# without the first three and the last three (4 + 5)/6
mean() { "$gsim" compare --policies fifo --device ideal --format csv "$@" "$tmp/warm.csv" | awk -F, 'END { printf "%.4f", $9 }'; }
if [ "$(mean) $(mean --warmup 34%) $(mean --warmup 1s) $(mean --warmup 25% --cooldown 0) $(mean --warmup 25%) $(mean --cooldown 1s)" = "1.5000 1.0000 1.0000 1.3333 1.5000 1.5455" ]; then echo "ok the warm-up is left out"; else echo "not ok the warm-up is left out"; fi
expect "and said" 0 "without the first 4 and the last 4 jobs" "$gsim" compare --policies fifo --device ideal --warmup 34% "$tmp/warm.csv"
expect "a wrong warm-up" 2 "neither a share" "$gsim" compare --policies fifo --warmup 100% "$tmp/warm.csv"
expect "a warm-up that leaves nothing" 2 "leave no job; --cooldown is as long" "$gsim" compare --policies fifo --warmup 50% "$tmp/warm.csv"
expect "one in hours" 3 "leave none of its 12 jobs" "$gsim" compare --policies fifo --device ideal --warmup 200s "$tmp/warm.csv"
expect "of a run too" 0 "without the first 3 and the last 3 in JCT" "$gsim" --policy fifo --device ideal --warmup 25% "$tmp/warm.csv"
said "its mean" "JCT mean  *1.500 s"
expect "of a sweep, and another run than without" 0 "2 of 2 runs.* 2 of them new" sh -c "printf 'trace = %s\npolicy = fifo\ndevice = ideal\nwarmup = 0, 34%%\n' '$tmp/warm.csv' >'$tmp/w.ini' && '$gsim' sweep '$tmp/w.ini' -o '$tmp/w.db'"
expect "with its means" 0 "^1.5|0|0,1.0|4|4$" sqlite3 "$tmp/w.db" "select group_concat(jct_mean_s || '|' || warmup_jobs || '|' || cooldown_jobs) from (select * from run order by jct_mean_s desc)"

# Two users on one GPU at once: fifo serves a's 30 s before b's 10 s (30, 40), sjf after (40, 10): the other waits meanwhile
printf 'job_id,submit_s,duration_s,user\nx,0,30,a\ny,0,10,b\n' >"$tmp/users.csv"
expect "by user, with ratios to the first policy" 0 "^sjf,b,1,1,10.0*,10.0*,10.0*,10.0*,0.250*,0.0*,0.0*$" \
    "$gsim" compare --policies fifo,sjf --device ideal --by user --format csv "$tmp/users.csv"
said "the other user" "^sjf,a,1,1,40.0*,40.0*,40.0*,40.0*,1.3333*,10.0*,10.0*$"
expect "by user, without the warm-up" 0 "^fifo,b,1,1,40" "$gsim" compare --policies fifo,sjf --device ideal --by user --format csv --warmup 50% --cooldown 0 "$tmp/users.csv"
unsaid "its job is left out" "^fifo,a"

# 60 jobs of 2 s, one a second: load 59 arrivals of 2 s (and one more) in 59 s: 120 / 59 = 2.03
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 60; i++) print "j" i "," i ",2" }' >"$tmp/over.csv"
expect "more work than GPUs" 0 "offered load 2.03" "$gsim" compare --policies fifo,sjf --device ideal "$tmp/over.csv"
said "the backlog grows" "fifo: the backlog grows"
expect "enough GPUs" 0 "verdict" "$gsim" compare --policies fifo,sjf --device ideal --gpus-per-node 3 --nodes 1 "$tmp/over.csv"
unsaid "no warning" "offered load\|backlog"

# One GPU; 100 s at 0, 10 s at 10. fifo: 100 and 100. srtf: 10, and 110 + R when it resumes after R:
# a mean of 60 + R / 2, less than fifo's 100 below R = 80.
printf 'job_id,submit_s,duration_s,iterations\nlong,0,100,10\nshort,10,10,1\n' >"$tmp/two.csv"
device() { # resume_ns, tag: an H200 otherwise
    cp models/devices/h200.ini "$tmp/d.ini"
    printf '\n[restart]\nstop_ns = 0 | published | test\nresume_ns = %s | %s | test\n' "$1" "$2" >>"$tmp/d.ini"
}
compare_two() { expect "$1" 0 "$2" "$gsim" compare --policies fifo,srtf --set preempt=restart --device "$tmp/d.ini" "$tmp/two.csv"; }
device 90e9 assumed
compare_two "R = 90 s: fifo wins, but at 72 s it does not" "the verdict does not survive.*srtf wins with restart.resume_ns -20 %"
device 60e9 assumed
compare_two "R = 60 s: srtf wins, at 72 s too" "survives +-20 % on each of 1 assumed constant$"
said "by how much" "verdict: srtf (oracle) has the lowest mean JCT in this run, 10.0 % below fifo$"
device 90e9 published
compare_two "R is known" "verdict: fifo has"
unsaid "nothing is varied" "survive"
device 90e9 assumed
expect "unless it is not to be" 0 "tried with no other value of assumed constants; 1 was left out (--no-what-if)" \
    "$gsim" compare --policies fifo,srtf --set preempt=restart --device "$tmp/d.ini" --no-what-if "$tmp/two.csv"

# Five notebooks whose kernels run 6 s of each minute, an hour each. One after the other the GPU works a
# tenth of the time; at once at most five tenths. Their own time is five hours, of which all is held or more.
awk 'BEGIN { print "job_id,submit_s,iterations,gpu_ms,host_gap_ms,gpus,mem_gib"; for (i = 0; i < 5; i++) print "n" i ",0,60,6000,54000,1,5" }' >"$tmp/nb.csv"
share() { # policy, field: in per mille
    "$gsim" --policy "$1" --quiet --format json "$tmp/nb.csv" >"$tmp/nb.json"
    sqlite3 :memory: "select printf('%.0f', 1000 * (readfile('$tmp/nb.json') ->> '\$.$2'))"
}
if [ "$(share fifo gpu_useful) $(share fifo gpu_work) $(share fifo gpu_busy)" = "100 1000 1000" ]; then echo "ok one after the other a tenth is useful"; else echo "not ok one after the other a tenth is useful"; fi
for policy in timeslice mps; do
    useful=$(share $policy gpu_useful) work=$(share $policy gpu_work)
    if [ "$useful" -gt 300 ] && [ "$useful" -lt 500 ] && [ "$work" -ge $((useful * 10 - 5)) ] && [ "$work" -le $((useful * 10 + 5)) ]; then
        echo "ok $policy: $useful per mille useful"
    else
        echo "not ok $policy: $useful per mille useful, $work of work"
    fi
done

# Requests: a service beside a training, the policies apart in latency and alike in mean JCT
printf 'job_id,submit_s,gpus,requests,period_ms,arrival,gpu_ms,priority,duration_s,iterations,class\nserve,0,1,2000,50,poisson,10,9,,,realtime\ntrain,10,1,,,,,0,100,,batch\n' >"$tmp/serve.csv"
expect "latencies have a table" 0 "^mps .* ms .* ms .* ms .* ms *1.000$" "$gsim" compare --policies mps,chimera "$tmp/serve.csv"
said "and a verdict" "chimera has the lowest p99 latency in this run, [0-9.]* % below mps"
said "what is outside validation is said of it" "outside what was validated: chimera (preemption of kernels"
expect "of a run too" 0 "latency p99 .* ms" "$gsim" --policy mps "$tmp/serve.csv"

# Assumed constants are counted; --verbose names them and says what they are
expect "assumed values are counted" 0 "assumed, not known: .*[0-9] values of chimera (--verbose names them)" "$gsim" compare --no-what-if --policies mps,chimera "$tmp/serve.csv"
unsaid "and not named" "assumed, not known: .*preempt.save_ns"
expect "unless all are asked for" 0 "chimera: assumed, not known: preempt.save_ns=[0-9]* (h200): [a-z]" "$gsim" --verbose --policy chimera "$tmp/serve.csv"

# The table before the runs with other constants, which are interrupted
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$gsim' compare --policies fifo,srtf --set preempt=restart --device '$tmp/d.ini' '$tmp/two.csv'" /dev/null </dev/null >"$tmp/out" 2>&1
    said "a bar of runs on a terminal" "\[-*\] 0/2"
    said "that names those under way" "\[-*\] 0/2 \(fifo\|srtf\|fifo, srtf\|srtf, fifo\) "
    said "and one of the what-if, of the policy that used the constant" "what if \[#*-*\] [0-9]*/2"
    script -qec "'$gsim' --policy fifo --device ideal '$tmp/over.csv'" /dev/null </dev/null >"$tmp/out" 2>&1
    said "and one of jobs where there is one run" "\[#*-*\] [0-9]*/60"
fi

# The what-if has to last until the signal comes; a run with sanitizers takes five times as long.
many=150
case $gsim in *-san-*) many=60 ;; esac
mkfifo "$tmp/pipe"
until_table() { # hears process $pid, and sends it a signal once it has said its table
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in *"over $many replications"*) kill -INT $pid ;; esac
    done <"$tmp/pipe" >"$tmp/many"
}
"$gsim" compare --policies fifo,srtf --set preempt=restart --nodes 4 --gpus-per-node 8 --reps $many --what-if traces/samples/cluster.ini >"$tmp/pipe" 2>"$tmp/err" &
pid=$!
until_table
wait $pid
got=$?
sed -e ':a' -e 'N;$!ba' -e 's/\n    */ /g' "$tmp/many" "$tmp/err" >"$tmp/out"
if [ $got -eq 4 ] && grep -q "^verdict: srtf (oracle) has the lowest" "$tmp/out" && grep -q "no other value of assumed constants.* left out (interrupted)" "$tmp/out" && grep -q "interrupted: the table is whole" "$tmp/out"; then
    echo "ok an interrupted what-if leaves table and verdict"
else
    echo "not ok an interrupted what-if leaves table and verdict: exit $got"
    sed 's/^/# /' "$tmp/out" | tail -5
fi

"$gsim" advise --policies fifo,srtf --set preempt=restart --nodes 4 --gpus-per-node 8 --reps $many --what-if traces/samples/cluster.ini >"$tmp/pipe" 2>"$tmp/err" &
pid=$!
until_table
wait $pid
got=$?
cat "$tmp/many" "$tmp/err" >"$tmp/out"
check "an interrupted advice says what it lacks, and is no success" "4 2 1" \
    "$got $(grep -c 'GPUs in place of 32 were not tried: interrupted' "$tmp/out") $(grep -c '^gsim: interrupted: the advice says what was not tried' "$tmp/out")"

rm -f "$tmp/none.db"
"$gsim" compare --policies fifo,srtf --nodes 4 --gpus-per-node 8 --reps $many --db "$tmp/none.db" traces/samples/cluster.ini >"$tmp/many" 2>"$tmp/out" &
pid=$!
tries=0
while [ $tries -lt 3000 ] && ! [ -e "$tmp/none.db" ]; do
    sleep 0.02
    tries=$((tries + 1))
done
kill -INT $pid
wait $pid
check "an interrupted comparison says that its database has no run" "4 1 0" \
    "$? $(grep -c 'nothing is compared, and no run is kept; gsim sweep keeps' "$tmp/out") $(sqlite3 "$tmp/none.db" 'select count(*) from run')"

# the same text whatever the number of threads, and again
for threads in 1 2 2; do
    "$gsim" compare --policies fifo,srtf,las --reps 4 -j $threads $heavy 2>&1 | cksum
done >"$tmp/sums"
if [ "$(sort -u "$tmp/sums" | wc -l)" -eq 1 ]; then echo "ok one thread and two say the same"; else echo "not ok one thread and two say the same"; fi

# The p of three pairs from the rows: with 2 degrees of freedom it is 1 - t / sqrt(t^2 + 2). Where the pairs are skewed
# towards 1 a t lies (2 t^2 + 1) c errors from the ratio, c being their cubes over six times their squares' power 3/2.
"$gsim" compare --quiet --policies fifo,srtf --reps 3 --format csv $heavy >"$tmp/rows.csv"
by_hand=$(awk -F, 'NR > 1 { jct[$1, ++n[$1]] = $9 }
    END { for (i = 1; i <= 3; i++) { x += jct["srtf", i] / 3; y += jct["fifo", i] / 3 }
          for (i = 1; i <= 3; i++) { d = jct["srtf", i] / x - jct["fifo", i] / y; squares += d ^ 2; cubes += d ^ 3 }
          t = log(x / y) / sqrt(squares / 6); c = cubes / 3 / (squares / 3) ^ 1.5 * sqrt(2) / 6; if (t > 0) c = -c; else t = -t
          if (c > 0) t = (sqrt(1 + 8 * c * (t - c)) - 1) / (4 * c)
          printf "%.2g", 1 - t / sqrt(t * t + 2) }' "$tmp/rows.csv")
printed=$("$gsim" compare --quiet --policies fifo,srtf --reps 3 $heavy | awk '/over 3 replications/ { on = 1 } on && $1 == "srtf" { print $NF; exit }')
if [ "$by_hand" = "$printed" ]; then echo "ok p of a ratio ($printed)"; else echo "not ok p of a ratio: '$printed', by hand '$by_hand'"; fi
rows=$(sqlite3 :memory: -cmd '.mode csv' -cmd ".import '$tmp/rows.csv' rows" "select printf('%s %.2g %d', over, p, units) from rows where policy = 'srtf' and replication = 2" | tr -d '"\r')
if [ "$rows" = "replications $by_hand 3" ]; then echo "ok rows carry it"; else echo "not ok rows carry it: $rows"; fi
"$gsim" compare --quiet --policies fifo,srtf --reps 3 --format json $heavy >"$tmp/rows.json"
json() { sqlite3 :memory: "select $1 from json_each(readfile('$tmp/rows.json'))"; }
expect "an array of results, as ever" 0 "^6|gsim-result-1$" json "count(*), max(value ->> '\$.schema')"
expect "with p, intervals and the verdict" 0 "^$by_hand|3|1|fifo and srtf (oracle) cannot be told apart in mean JCT" \
    json "printf('%.2g', max(value ->> '\$.comparison.p')), max(value ->> '\$.comparison.units'), min(value ->> '\$.comparison.ratio.low' < value ->> '\$.comparison.ratio.mean' or value ->> '\$.policy' = 'fifo'), min(value ->> '\$.comparison.verdict[0]')"


# On one GPU backfill is fifo, and over exponential work a policy that shares it has its mean as well (M/M/1).
printf '[trace]\njobs = 200\n[arrival]\nprocess = poisson\nload = 0.7\ngpus = 1\n[duration]\ndistribution = exponential\nmean = 600\n' >"$tmp/mm1.ini"
expect "those above a tie may be there by chance" 0 "^verdict: fifo and backfill tie in mean JCT, within 0.1 %, [0-9.]* % below timeslice, which may be chance (95 % interval -[0-9.]* to [0-9.]* %, p = 0[.][1-9][0-9]*)$" "$gsim" compare --quiet --no-what-if --device ideal --policies fifo,las,timeslice,backfill --set las.quantum=share --reps 10 "$tmp/mm1.ini"

# For itself the interval of tiresias leaves out 1; of six policies it does not, since p by Holm is above 0.05.
within() { # policies: rows whose interval has 1 in it, of tiresias; rows where interval and p disagree
    "$gsim" compare --quiet --no-what-if --policies "$1" --reps 5 --format csv $heavy >"$tmp/family.csv"
    sqlite3 :memory: -cmd '.mode csv' -cmd ".import '$tmp/family.csv' rows" -cmd '.mode list' "select sum(policy = 'tiresias' and ratio_low + 0 <= 1 and ratio_high + 0 >= 1) > 0, sum((ratio_low + 0 <= 1 and ratio_high + 0 >= 1) <> (p + 0 > 0.05)) from rows where policy <> 'fifo'"
}
if [ "$(within fifo,tiresias)" = "0|0" ]; then echo "ok an interval for itself"; else echo "not ok an interval for itself: $(within fifo,tiresias)"; fi
if [ "$(within fifo,las,tiresias,gandiva,backfill,srtf)" = "1|0" ]; then echo "ok intervals of a family say what its p says"; else echo "not ok intervals of a family say what its p says: $(within fifo,las,tiresias,gandiva,backfill,srtf)"; fi

# --by is over the jobs of all replications, by name: user z of one is not the first user of another
printf '[trace]\njobs = 40\n[arrival]\nprocess = poisson\nrate = 0.001\n[duration]\ndistribution = exponential\nmean = 600\n[user]\nchoice = x, y, z\n' >"$tmp/by.ini"
"$gsim" compare --policies fifo,las --reps 5 --by user --format csv "$tmp/by.ini" >"$tmp/by.csv" 2>"$tmp/out"
if [ "$(awk -F, '{ print NF }' "$tmp/by.csv" | sort -u)" = 11 ]; then echo "ok a breakdown as CSV is one table"; else echo "not ok a breakdown as CSV is one table"; fi
"$gsim" compare --policies fifo,las --reps 5 --format csv "$tmp/by.ini" >"$tmp/all.csv" 2>"$tmp/out"
[ "$(awk -F, '/^las,[xyz],/ { jobs += $3; sum += $3 * $5; rows++ } END { printf "%d %d %.6f", rows, jobs, sum / jobs }' "$tmp/by.csv")" = \
    "3 200 $(awk -F, '$1 == "las" && $2 ~ /by.ini/ { sum += $9; n++ } END { printf "%.6f", sum / n }' "$tmp/all.csv")" ]
if [ $? -eq 0 ]; then echo "ok a breakdown of 5 replications has their 200 jobs"; else echo "not ok a breakdown of 5 replications has their 200 jobs"; fi

for command in "compare --policies fifo,las" "--policy las"; do
    # shellcheck disable=SC2086
    "$gsim" $command --quiet --by user --format json "$tmp/users.csv" --device ideal >"$tmp/by.json"
    sed -i -e '1s/^{/[{/' -e '$s/^\(.*[^]]\)$/\1]/' "$tmp/by.json"
    by=$(sqlite3 :memory: "select group_concat(value -> '$.by.groups[1].value' || (value ->> '$.by.groups[1].jobs')) from json_each(readfile('$tmp/by.json'))")
    case $by in '"b"1' | '"b"1,"b"1') echo "ok a breakdown as JSON ($by)" ;; *) echo "not ok a breakdown as JSON: $by" ;; esac
done

# --reps with --db; each run is repeated by its command line
expect "replications in a database" 0 "Johnson" "$gsim" compare --policies fifo,las --reps 3 --db "$tmp/r.db" $heavy
expect "six runs" 0 "^6|0|2$" sqlite3 "$tmp/r.db" "select count(*), min(replication), max(replication) from run"
expect "shaken ones too" 0 "shaken" "$gsim" compare --policies fifo,las --shake 2% --reps 2 --db "$tmp/s.db" --nodes 2 --gpus-per-node 8 $t
for db in r s; do
    line=$(sqlite3 "$tmp/$db.db" "select argv from run where replication = 2 and policy = 'las'")
    # shellcheck disable=SC2086
    expect "$line" 0 "has this run already" "$gsim" ${line#gsim} --db "$tmp/$db.db"
    # shellcheck disable=SC2086
    mean=$("$gsim" ${line#gsim} --format csv 2>/dev/null | tail -1 | cut -d, -f9)
    expect "is that run" 0 "^1$" sqlite3 "$tmp/$db.db" "select count(*) from run where jct_mean_s = $mean and replication = 2 and policy = 'las'"
done

# work at half the speed is twice the load: 60 jobs of 0.7 s, one a second, are 0.7 or 1.4 of a GPU
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 60; i++) print i "," i ",0.7" }' >"$tmp/steady.csv"
expect "the load of a slower device" 0 "offered load 1.42: more work" "$gsim" compare --policies fifo,sjf --device t4 --set speed_milli=500 "$tmp/steady.csv"
said "gives no intervals" "no intervals: more work arrives"
expect "at its own speed" 0 "95 % intervals over 5" "$gsim" compare --policies fifo,sjf --device t4 "$tmp/steady.csv"
unsaid "it is not overloaded" "offered load"
sed 's/,0.7$/,1.15/' "$tmp/steady.csv" >"$tmp/steadier.csv"
printf '[node a]\ngpus = 1\ndevice = h200\n[node b]\ngpus = 1\ndevice = t4\n' >"$tmp/two.ini"
expect "two GPUs of which one is slow" 0 "offered load 1.0[0-9]" "$gsim" compare --policies fifo,sjf --cluster "$tmp/two.ini" --set speed.t4=0.1 "$tmp/steadier.csv"

# a mean over classes hides that one pays for another
printf 'job_id,submit_s,duration_s,class\na,0,100,production\nb,0,100,opportunistic\n' >"$tmp/classes.csv"
expect "the verdict names the table by class" 0 "that mean is over jobs of several classes" "$gsim" compare --quiet --policies fifo,sjf "$tmp/classes.csv"
expect "which has each class" 0 "^fifo  *opportunistic  *1 " "$gsim" compare --quiet --policies fifo,sjf --by class "$tmp/classes.csv"
unsaid "and is not named then" "several classes"
sed 's/opportunistic/production/' "$tmp/classes.csv" >"$tmp/class.csv"
expect "nor of one class" 0 "^fifo " "$gsim" compare --quiet --policies fifo,sjf "$tmp/class.csv"
unsaid "whose mean is that of all jobs" "several classes"

# until 500 s fifo ends a at 100 s and has b on the GPU; sjf ends c at 10 s and a at 110 s: 40 % below, of other jobs
printf 'job_id,submit_s,duration_s\na,0,100\nb,0,1000\nc,0,10\n' >"$tmp/ended.csv"
expect "what came through standard input is named as it is of a run" 0 "^standard input: [0-9]* jobs on" sh -c "'$gsim' compare --quiet --policies fifo,sjf - <'$tmp/ended.csv'"
expect "a verdict over jobs that did not all end" 0 "sjf (oracle) has the lowest mean JCT in this run, 40.0 %" "$gsim" compare --quiet --policies fifo,sjf --until 500s "$tmp/ended.csv"
said "says of which jobs the means are" "the means are of jobs that ended, 1 of 3 under fifo, 2 of 3 under sjf"
expect "a verdict over all jobs" 0 "sjf (oracle) has the lowest" "$gsim" compare --quiet --policies fifo,sjf "$tmp/ended.csv"
unsaid "has no such sentence" "jobs that ended"

# One GPU: fifo ends a, b and c after 100, 1100 and 1110 s (mean 770), sjf c, a, b after 10, 110 and 1110 s (410:
# 46.8 % below). las shares the GPU: c ends after 30 s, a, with 90 s left at half speed, after 210 s, b after
# 1110 s: a mean of 450, 8.9 % above sjf and 41.6 % below fifo.
known="an oracle knows how long jobs run, as no scheduler does"
three="--device ideal --nodes 1 --gpus-per-node 1 --quiet"
# shellcheck disable=SC2086
{
    expect "an oracle is named as one" 0 "^verdict: sjf (oracle) has the lowest mean JCT in this run, 8.9 % below las$" "$gsim" compare --policies fifo,sjf,las $three "$tmp/ended.csv"
    said "with the lowest policy that is none" "$known; of the policies that do not, las has the lowest mean JCT in this run, 41.6 % below fifo$"
    said "and in the table" "^oracles, which know how long jobs run: sjf$"
    expect "the lowest of two that are none" 0 "$known; of the policies that do not, fifo and backfill tie in mean JCT, within 0.1 %$" "$gsim" compare --policies fifo,sjf,backfill $three "$tmp/ended.csv"
    expect "the only one that is none" 0 "$known; fifo alone does not$" "$gsim" compare --policies fifo,sjf $three "$tmp/ended.csv"
    expect "oracles alone" 0 "$known, and all of these policies are oracles$" "$gsim" compare --policies sjf,srtf $three "$tmp/ended.csv"
    awk -F, 'NR == 1 { print $0 ",estimate_s"; next } { print $0 "," $3 }' "$tmp/ended.csv" >"$tmp/guessed.csv"
    expect "a policy that sees estimates is no oracle" 0 "^verdict: sjf has the lowest mean JCT in this run, 8.9 % below las$" "$gsim" compare --policies fifo,sjf,las $three "$tmp/guessed.csv"
    unsaid "and none is named" "oracle"
}

# what is not known is "-" in tables, empty in CSV, null in JSON
printf 'job_id,submit_s,requests,period_ms,gpu_ms,kernels,class\na,0,20,10,2,1,realtime\nb,0,30,20,3,1,batch\n' >"$tmp/asked.csv"
printf 'job_id,submit_s,duration_s,class\na,0,100,batch\nb,5,100,production\n' >"$tmp/cut.csv"
for how in "--format table" "--format csv" "--format json" "--by class" "--by class --format csv" "--shake 5% --reps 2"; do
    # shellcheck disable=SC2086
    {
        expect "requests alone have no slowdown: $how" 0 "mps" "$gsim" compare --quiet --policies timeslice,mps $how "$tmp/asked.csv"
        unsaid "and no nan" "[^a-z]-\?nan"
        expect "no job ends: $how" 0 "sjf" "$gsim" compare --quiet --policies fifo,sjf --until 10s $how "$tmp/cut.csv"
        unsaid "and no nan either" "[^a-z]-\?nan"
    }
done
expect "no slowdown is a dash" 0 "^mps .* us  *-  .*% 1.00[0-9] 0" "$gsim" compare --quiet --policies timeslice,mps "$tmp/asked.csv"

# Latencies of requests: M/D/1 at load 0.5 with 5 ms of service has a mean of 5 + 0.5 * 5 / (2 * 0.5) = 7.5 ms
field() { sqlite3 :memory: "select json_extract(readfile('$tmp/lat.json'), '$1')"; }
printf 'job_id,submit_s,requests,period_ms,gpu_ms,kernels,arrival\na,0,20000,10,5,1,poisson\n' >"$tmp/md1.csv"
"$gsim" --policy timeslice --device ideal --quiet --format json "$tmp/md1.csv" >"$tmp/lat.json"
expect "an interval of the mean latency of one run" 0 "^1$" sqlite3 :memory: "select $(field '$.latency.latency_mean_s.low') < 0.0075 and $(field '$.latency.latency_mean_s.high') > 0.0075 and $(field '$.latency.latency_mean_s.high') < 0.008"
expect "and none of its p99" 0 "^|1$" sqlite3 :memory: "select json_extract(readfile('$tmp/lat.json'), '$.latency.latency_p99_s.low'), json_extract(readfile('$tmp/lat.json'), '$.latency.latency_p99_s.mean') > 0.015"
sed -i 's/20000/60/' "$tmp/md1.csv"
expect "too few requests, and why" 0 '"latency":{"over":"batches of requests","units":0,"no_latency_intervals_because":"latencies may remember [0-9.]* requests, and 60 are not' \
    "$gsim" --policy timeslice --device ideal --quiet --format json "$tmp/md1.csv"
sed -i 's/,5,1,/,11,1,/' "$tmp/md1.csv"
expect "more requests than a GPU serves" 0 '"no_latency_intervals_because":"more requests arrive than' \
    "$gsim" --policy timeslice --device ideal --quiet --format json "$tmp/md1.csv"
printf '[trace]\njobs = 1\nkinds = server\n[arrival]\nprocess = poisson\nrate = 1\n[server/requests]\ndistribution = deterministic\nvalue = 3000\n[server/period_ms]\ndistribution = deterministic\nvalue = 10\n[server/gpu_ms]\ndistribution = deterministic\nvalue = 5\n[server/arrival]\nchoice = poisson\n' >"$tmp/served.ini"
"$gsim" compare --policies timeslice,mps --device ideal --reps 8 --quiet --format json "$tmp/served.ini" >"$tmp/lat.json" 2>"$tmp/out"
for name in mean p50 p99; do
    expect "over replications the $name has one" 0 "^1$" sqlite3 :memory: "select $(field "\$[0].comparison.latency_${name}_s.low") <= $(field "\$[0].comparison.latency_${name}_s.mean") and $(field "\$[0].comparison.latency_${name}_s.high") >= $(field "\$[0].comparison.latency_${name}_s.mean")"
done
"$gsim" compare --policies timeslice,mps --device ideal --reps 8 --quiet --format csv "$tmp/served.ini" >"$tmp/lat.csv" 2>"$tmp/out"
if [ "$(awk -F, '{ print NF }' "$tmp/lat.csv" | sort -u | wc -l)" = 1 ] && head -1 "$tmp/lat.csv" | grep -q 'all_latency_p99_high_s,.*,p$'; then echo "ok and so has the CSV"; else echo "not ok and so has the CSV"; fi

# Does sharing help? A head that needs both GPUs keeps one idle for 50 of 101 s, whoever shares it
printf 'job_id,submit_s,duration_s,gpus\na,0,50,1\nb,1,50,2\nc,2,1,1\n' >"$tmp/head.csv"
expect "a queue that keeps shared GPUs idle" 0 "mps: 2[0-9] % of the GPU time stood idle while jobs waited that asked for no more" \
    "$gsim" compare --policies fifo,mps --device ideal --gpus-per-node 2 "$tmp/head.csv"
unsaid "what is no question of a policy that shares none" "fifo: .*stood idle"
