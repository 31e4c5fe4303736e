#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive in dry runs: real processes on GPUs that are not there. No check rests on how fast the machine
# is, but for bounds that only a stuck process passes. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/check.sh
export PYTHONDONTWRITEBYTECODE=1
cd "$tmp" || exit 1 # and $OLDPWD is the tree

ask() { sqlite3 -separator ' ' "$tmp/r.db" "$1" 2>/dev/null; }
# Every process of a run has the folder's name in its command line, but for what commands start.
left() { pgrep -f "$tmp/[a-z]" | wc -l; }
gone() { # seconds: waits until no process is left
    tries=$(($1 * 20))
    while [ "$(left)" -gt 0 ] && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    left
}
drive() { # arguments: a dry run into a new database and a new folder of logs
    rm -rf "$tmp/logs" "$tmp/r.db"
    timeout -k 5 600 "$gsim" drive --dry-run --db "$tmp/r.db" --logs "$tmp/logs" "$@"
}
run() { drive --quiet "$@" >"$tmp/out" 2>"$tmp/log"; }
starts() { # trace, arguments: jobs by their first start, in a simulation
    "$gsim" --quiet --device ideal --jobs-csv sim.csv --force "$@" >/dev/null 2>&1
    tail -n +2 sim.csv | sort -t, -k3,3n -k1,1 | cut -d, -f1 | tr '\n' ' '
}

printf 'job_id,submit_s,duration_s,gpus\na,0,20,1\nb,1,10,1\nc,2,5,2\nd,3,8,1\ne,3,3,1\n' >"$tmp/t.csv"
printf 'job_id,submit_s,duration_s,gpus\na,0,30,1\nb,2,30,1\nc,4,4,1\n' >"$tmp/s.csv"

# --- the whole way of a run
run --policy fifo --speed-up 40 --gpus 3,5 "$tmp/t.csv"
say "a run of processes" $?
check "every job has ended well" "5 0 0" "$(ask 'select count(*), sum(exit_code), sum(is_cut) from real_job')"
check "in the order of a simulation" "$(starts --policy fifo --gpus-per-node 2 "$tmp/t.csv")" \
    "$(ask 'select job_id from real_job order by begin_ns, job_id' | tr '\n' ' ')"
check "each job was started once" "5 5" "$(ask "select count(*), count(distinct job) from real_note where what = 'start'")"
# from its start on: what drive hears late of a begin is in stall_ns
check "no job took less than its duration" 5 "$(ask 'select count(*) from real_job where ran_ns + stall_ns > service_ns - 1e9')"
check "the run has a row as a simulated one has it, with its jobs" "fifo 5 5 1" \
    "$(ask 'select policy, completed, (select count(*) from job j where j.run_id = r.run_id), (select run_id = r.run_id from real_run) from run r')"
expect "the laws of runs hold of it" 0 "1 file, 1 run: nothing that cannot be" "$gsim" check r.db
cp r.db broken.db
sqlite3 broken.db "update real_job set ran_ns = ran_ns + 1000 where job_id = 'c'"
expect "and break where its record says something else" 1 "job 'c' had its GPUs for another time" "$gsim" check broken.db
"$gsim" run --quiet --policy fifo --device ideal --gpus-per-node 2 --db r.db "$tmp/t.csv" >/dev/null 2>&1
check "a simulated run has its place beside it" "2 1" "$(ask 'select count(*), count(distinct jobs) from run')"
"$gsim" report --quiet --force -o page.html r.db >/dev/null 2>&1
check "a page shows both, with the device of each" "1 1" "$(grep -c ">dry run<" page.html | sed "s/[1-9][0-9]*/1/") $(grep -c ">ideal<" page.html | sed "s/[1-9][0-9]*/1/")"
expect "it is not repeated" 2 "gsim drive --replay r.db" "$gsim" repro r.db 1
check "the run is marked as done" "done 3,5 1 40" "$(ask 'select status, gpus, is_dry, speed_up from real_run')"
check "nothing is left of it" 0 "$(gone 60)"

# --- beside the simulation
beside() { # SQL over the object j of gsim compare --real, of which one row is a job
    sqlite3 :memory: "with o(j) as (select readfile('$tmp/beside.json')), job as (select value as v from o, json_each(j, '\$.by_job')) $1"
}
same_decisions() { # name, trace: with the times that the jobs took, the simulation decides as the run did
    "$gsim" compare --quiet --real r.db --device ideal --format json "$2" >beside.json 2>log
    say "$1 beside its simulation" $?
    check "$1: jobs start in one order" "$(beside "select group_concat(x) from (select v->>'job' as x from job order by v->>'start_s', x)")" \
        "$(beside "select group_concat(x) from (select v->>'job' as x from job order by v->>'observed_start_s', x)")"
    check "$1: and stop as often" 0 "$(beside "select count(*) from job where v->>'stops' <> v->>'observed_stops'")"
    check "$1: the parts add up to the error" 0 "$(beside "select count(*) from job where abs((v->>'real_s') - (v->>'simulated_s') -
        (v->>'starts_s') - coalesce(v->>'durations_s', 0) - coalesce(v->>'sharing_s', 0) - (v->>'overhead_s') - (v->>'queueing_s')) > 1e-6")"
}
same_decisions fifo t.csv
check "a strict queue explains all but durations" 1 "$(beside "select abs(j->>'\$.mean.queueing_s') < 20 and abs(j->>'\$.mean.overhead_s') < 20 from o")"
check "what a start takes is told" 5 "$(beside "select j->>'\$.starts.jobs' from o")"
took=$(beside "select round(1e3 * (j->>'\$.starts.real_s')) from o")
check "but not where the simulation has it so" 0 "$("$gsim" compare --quiet --real r.db --device ideal --set "start.first_ns=${took%.0}ms" t.csv | grep -c 'takes that over')"
expect "with the key that takes it over" 0 "simulation 0.000 s: --set start.first_ns=[0-9]*ms" "$gsim" compare --quiet --real r.db --device ideal t.csv
# Of t.csv on one GPU less: fifo keeps its order whatever lengths are, so that no job hangs on 1 % of them.
expect "no place of a strict queue hangs on lengths" 0 "up to 1 % (--shake, --reps), 0 of 5 jobs end elsewhere\." \
    "$gsim" compare --quiet --real r.db --device ideal t.csv
# Under srtf on one GPU two jobs of 20.1 and 20 s that come at once stand in the order of their lengths, which 1 % turns over.
printf 'job_id,submit_s,duration_s,gpus\nfirst,0,20.1,1\nsecond,0,20,1\n' >"$tmp/tie.csv"
rm -rf logs tie.db
timeout 600 "$gsim" drive --quiet --dry-run --speed-up 40 --gpus 0 --policy srtf --db tie.db --logs "$tmp/logs" tie.csv >log 2>&1
expect "a near tie is told" 0 "2 of 2 jobs end elsewhere:" "$gsim" compare --quiet --real tie.db --device ideal tie.csv
"$gsim" compare --quiet --real tie.db --device ideal --format json tie.csv >beside.json 2>log
check "with the change that turns it over: more than the half of 0.5 %" "2" \
    "$(beside "select count(*) from job where (v->>'hangs_on_percent') between 0.25 and 1")"
check "and the range over both orders" "1" \
    "$(beside "select count(*) from job where v->>'job' = 'second' and (v->>'least_s') < 20.2 and (v->>'most_s') > 39.7")"
expect "a figure of no form" 2 "does not end in .pdf, .svg or .png" "$gsim" compare --quiet --real tie.db --device ideal tie.csv -o tie.gif
expect "a figure of no driven run" 2 "are of compare --real" "$gsim" compare --quiet --policies fifo,sjf tie.csv -o tie.svg
if gnuplot --version >/dev/null 2>&1; then
    "$gsim" compare --quiet --real tie.db --device ideal tie.csv -o tie.svg >as_table 2>log && [ -s tie.svg ]
    say "a figure of it is drawn" $?
    check "with both jobs, their mean and the parts" "durations first first mean mean overhead queueing second second starts" \
        "$(grep -o '>\(first\|second\|mean\|durations\|overhead\|queueing\|starts\|sharing\)<' tie.svg | tr -d '<>' | sort | tr '\n' ' ' | sed 's/ $//')"
    "$gsim" compare --quiet --real tie.db --device ideal tie.csv --double -o wide.png >wide_table 2>>log && [ -s wide.png ] && cmp as_table wide_table
    say "and two columns wide, beside the table" $?
    echo mine >mine.svg
    expect "a file of something else stays" 2 'force' "$gsim" compare --quiet --real tie.db --device ideal tie.csv -o mine.svg
    awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 60; i++) printf "a job \\ with the \"longest\" of names %d,%d,1\n", i, i }' | sed 's/^\(a.*[0-9]\),\([0-9]*,1\)$/"\1",\2/; s/"longest"/""longest""/' >long_names.csv
    rm -rf logs many.db
    timeout 600 "$gsim" drive --quiet --dry-run --speed-up 60 --gpus 0 --policy fifo --db many.db --logs "$tmp/logs" long_names.csv >log 2>&1
    "$gsim" compare --quiet --real many.db --device ideal --reps 2 long_names.csv -o many.svg >out 2>log
    check "of many jobs those that are furthest off" 1 "$(grep -c 'JCT (s): the 40 of 60 jobs that are furthest off' many.svg)"
fi
# With a start in the simulation, starts are varied by as much as those of this run were off from it; what
# processes take to end is no part of them.
"$gsim" compare --quiet --real tie.db --device ideal --set start.first_ns=1s --set end.process_ns=5s --format json tie.csv >beside.json 2>log
check "starts are varied by what they were off" "1" "$(beside "select (j->>'$.lengths.starts_off_percent') > 0 and
    (j->>'$.lengths.starts_off_percent') <= 100 from o")"
check "a simulated start is its key alone" "1.0" "$(beside "select round(j->>'$.starts.simulated_s', 3) from o")"
expect "which is said" 0 "and starts by up to [0-9.]* %" "$gsim" compare --quiet --real tie.db --device ideal --set start.first_ns=1s tie.csv
expect "smaller errors leave it" 0 "up to 0.2 % (--shake, --reps), 0 of 2 jobs end elsewhere" \
    "$gsim" compare --quiet --real tie.db --device ideal --shake 0.2% tie.csv
printf 'job_id,submit_s,duration_s,gpus,after,think_s\na,0,4,1,,\nb,0,3,1,a,2\n' >"$tmp/loop.csv"
rm -rf logs loop.db
timeout 600 "$gsim" drive --quiet --dry-run --speed-up 20 --gpus 0 --policy fifo --db loop.db --logs "$tmp/logs" loop.csv >log 2>&1
check "a job of a closed loop arrives when the other has really ended" 1 "$(sqlite3 loop.db "select b.submit_ns - a.end_ns
    between 2e9 and 2.1e9 from real_job a, real_job b where a.job_id = 'a' and b.job_id = 'b'")"
expect "and is compared" 0 "^  mean" "$gsim" compare --quiet --real loop.db --device ideal loop.csv
expect "another trace" 3 "is not that of run 1" "$gsim" compare --real r.db s.csv
expect "a policy that was not driven" 3 "no run of gsim drive that came to its end under las" \
    "$gsim" compare --real r.db --policies las t.csv
"$gsim" --quiet --policy fifo --db sim.db t.csv >/dev/null
expect "a database of simulations" 3 "no run of gsim drive" "$gsim" compare --real sim.db t.csv

# --- commands: their place, their output, their end
printf '%s\n' 'job_id,submit_s,duration_s,gpus,command' \
    'where,0,1,2,"echo $CUDA_VISIBLE_DEVICES $GSIM_JOB_ID"' 'fails,0,1,1,"echo oops >&2; exit 3"' \
    "dies,0,1,1,kill -9 \$\$" >"$tmp/c.csv"
drive --policy fifo --gpus 3,5 "$tmp/c.csv" >out 2>log
check "a job that dies does not end the run" 0 $?
check "a job sees its GPUs and its name" "3,5 where" "$(cat logs/0-where.log)"
check "errors are in its log" oops "$(cat logs/1-fails.log)"
check "exit codes" "dies 137,fails 3,where 0" "$(ask "select group_concat(x) from (select job_id || ' ' || exit_code as x from real_job order by job_id)")"
check "and are told" 1 "$(grep -c "job 'fails' ended with exit code 3" log)"
check "as is that the means have them in it" 1 "$(grep -c '2 of 3 jobs died, and count in the means' log)"
check "their work counts as undone" 2 "$(drive --quiet --policy fifo --format json --gpus 0,1 "$tmp/c.csv" | grep -o '"killed": *[0-9]*' | grep -o '[0-9]*$')"

# --- stops
for policy in "gang-rr --set slice=4s --set preempt=pause" "gang-rr --set slice=4s --set preempt=pause-iteration" "srtf --set preempt=pause" "srtf --set preempt=restart" \
    "las --set quantum=4s --set preempt=restart" "suspend --set mechanism=restart --set quantum=4s" \
    "suspend --set mechanism=checkpoint --set quantum=4s --assume mem_gib=1" "srtf --set preempt=checkpoint --assume mem_gib=1"; do
    # shellcheck disable=SC2086
    run --speed-up 60 --gpus 0 --policy $policy "$tmp/s.csv"
    say "$policy" $?
    check "all jobs end, some after stops" "3 0 1" "$(ask 'select count(*), sum(exit_code), sum(stops) > 0 from real_job')"
    # By the record alone, whatever the machine's load: a process that sleeps for its work has at least that time from
    # its start on (what drive hears late of a begin is in stall_ns), but for a nap in each stop.
    check "no work is lost" 3 "$(ask 'select count(*) from real_job where ran_ns + stall_ns > service_ns - 2e9')"
    check "and none is done twice" "3 0" "$(ask "select (select count(distinct job) from real_note where what = 'told end'),
        (select count(*) from (select value - lag(value) over (partition by job order by note) as more from real_note
            where what = 'told') where more < 0)")"
done
# Durations lie far apart, so that no delay of the machine makes another job the shortest.
printf 'job_id,submit_s,duration_s,gpus\na,0,20,1\nb,2,60,1\nc,4,3,1\n' >"$tmp/apart.csv"
run --speed-up 30 --gpus 0 --policy srtf --set preempt=restart "$tmp/apart.csv"
"$gsim" compare --quiet --real r.db --device ideal --format json apart.csv >beside.json 2>log
check "srtf: jobs start and stop as in a simulation with their times" "a,c,b 0" "$(beside "select group_concat(x) ||
    ' ' || sum(d) from (select v->>'job' as x, v->>'stops' <> v->>'observed_stops' as d from job order by v->>'start_s')")"
"$gsim" compare --quiet --real r.db --device ideal apart.csv >as_run 2>log
"$gsim" compare --quiet --real r.db --device ideal --set preempt=restart apart.csv >again 2>log
"$gsim" compare --quiet --real r.db --device ideal --set preempt=discard apart.csv >other 2>log
cmp as_run again && ! cmp -s as_run other
say "the simulation has the run's settings, but for those given" $?
run --speed-up 60 --gpus 0 --policy suspend --set mechanism=checkpoint --set quantum=4s --assume mem_gib=1 "$tmp/s.csv"
check "a job whose state the driver takes goes on as one process" "3 3" "$(ask 'select sum(starts), count(*) from real_job')"
run --speed-up 60 --gpus 0 --policy srtf --set preempt=discard "$tmp/s.csv"
check "a job that is discarded begins anew" 1 "$(ask "select starts > 1 and ran_ns > service_ns from real_job where job_id = 'a'")"
check "after all that nothing is left" 0 "$(gone 60)"

# --- the decisions of a run, again by its record
# Such runs wait nearly all the time: eight are under way at once, each with a database of its own.
begun=0
driven() { # trace, GPUs, speed-up, policy with its settings
    begun=$((begun + 1))
    echo "$1" >trace$begun
    echo "$4" >policy$begun
    # shellcheck disable=SC2086
    timeout -k 5 600 "$gsim" drive --quiet --dry-run --db r$begun.db --logs "$tmp/logs$begun" --gpus "$2" --speed-up "$3" \
        --policy $4 "$1" >out$begun 2>log$begun &
    [ $((begun % 8)) -ne 0 ] || wait
}
seed=0
for policy in fifo sjf backfill "srtf --set preempt=pause" "srtf --set preempt=restart" "srtf --set preempt=discard" \
    "srtf --set preempt=checkpoint" "las --set quantum=4s --set preempt=restart" "gang-rr --set slice=4s --set preempt=pause" \
    "suspend --set mechanism=restart --set quantum=4s" timeslice mps adaptdl adaptive easy-backfill elasticflow exclusive \
    fairshare gavel kueue lucid shockwave sia slurm srsf synergy themis tiresias vgpu; do
    seed=$((seed + 1))
    awk -v seed=$seed 'BEGIN { srand(seed); print "job_id,submit_s,duration_s,gpus,mem_gib"
        for (i = 0; i < 8; i++) { printf "j%d,%.2f,%.2f,1,1\n", i, at, 2 + 30 * rand(); at += 6 * rand() } }' >random$seed.csv
    driven random$seed.csv 0 60 "$policy"
done
# Gangs; and gangs with a job that fails and one that dies among them. These have commands that save nothing, so
# that no way of stopping asks them to: whether they still run when they are to give way depends on the machine.
printf 'job_id,submit_s,duration_s,gpus\na,0,20,2\nb,1,9,1\nc,2,12,2\nd,3,8,1\ne,4,6,1\n' >gangs.csv
printf 'job_id,submit_s,duration_s,gpus,command\na,0,20,2,\nb,1,9,1,\nc,2,12,2,\nd,3,8,1,exit 3\ne,4,6,1,\nf,4.5,4,1,kill -9 $$\n' >dying.csv
for policy in "las --set quantum=4s --set preempt=restart" "srtf --set preempt=restart"; do
    driven gangs.csv 3,5 40 "$policy"
done
for policy in backfill "las --set quantum=4s --set preempt=pause" "gang-rr --set slice=4s --set preempt=pause" \
    "srtf --set preempt=discard" "srsf --set preempt=discard" elasticflow gavel shockwave sia synergy themis; do
    driven dying.csv 3,5 40 "$policy"
done
wait
for n in $(seq $begun); do
    policy=$(cat policy$n)
    # shellcheck disable=SC2086
    expect "$policy decides by its record of $(cat trace$n) as it did" 0 "decisions of run 1 are those of the policy again" \
        "$gsim" drive --quiet --replay r$n.db --policy $policy "$(cat trace$n)"
done
check "after all that no process is left" 0 "$(gone 60)"
printf 'job_id,submit_s,duration_s,command\na,0,20,true\nb,0,20,true\n' >short.csv
rm -rf logs
timeout 300 "$gsim" drive --quiet --dry-run --gpus 0 --policy las --set quantum=1000s --logs logs short.csv >out 2>log
check "no timer of a policy keeps a run whose jobs have ended" 0 $?
run --speed-up 40 --gpus 3,5 --policy backfill gangs.csv
sqlite3 r.db "update real_note set detail = 'queued, on 7' where what = 'start' and job = 1"
expect "another decision is told" 1 "the policy decides otherwise: recorded is 'start 'b', queued, on 7" \
    "$gsim" drive --quiet --replay r.db gangs.csv
expect "a record of another trace" 3 "the run of the database is not one of the 3 jobs" "$gsim" drive --quiet --replay r.db s.csv
# An arrangement of forty clients is longer than a note: a sum of all of it ends the text.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,mem_gib"; for (i = 0; i < 40; i++) printf "j%d,0,20,1,0.1\n", i }' >many.csv
run --speed-up 60 --gpus 0 --policy mps many.csv
check "a long decision is noted with its sum" 1 "$(ask "select max(detail like '%~________') from real_note where what = 'arrange'")"
expect "and decided again" 0 "are those of the policy again" "$gsim" drive --quiet --replay r.db many.csv
sqlite3 r.db "update real_note set detail = substr(detail, 1, length(detail) - 8) || 'zzzzzzzz' where what = 'arrange' and detail like '%~________'"
expect "another long decision is told" 1 "the policy decides otherwise" "$gsim" drive --quiet --replay r.db many.csv

# --- programs that cooperate, in C and in Python: each iteration is done once, by two processes
cat >job.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include "gsim_job.h"
int main(void) {
    int i = 0;
    FILE *state = gsim_worker_begin(40) ? fopen(gsim_worker_state(), "r") : NULL;
    if (state && fscanf(state, "%d", &i) == 1)
        fclose(state);
    while (i < 40) {
        usleep(20000);
        printf("%d\n", ++i);
        if (!gsim_worker_iteration(i))
            continue;
        state = fopen(gsim_worker_state(), "w");
        fprintf(state, "%d", i);
        fclose(state);
        gsim_worker_saved();
        return 0;
    }
    gsim_worker_end();
    return 0;
}
END
cat >job.py <<'END'
import sys, time
sys.path.insert(0, sys.argv[1])
import gsim_job
i = int(open(gsim_job.state()).read()) if gsim_job.begin(40) else 0
while i < 40:
    time.sleep(0.02)
    i += 1
    print(i)
    if gsim_job.iteration(i):
        with open(gsim_job.state(), "w") as state:
            state.write(str(i))
        gsim_job.saved()
        sys.exit(0)
gsim_job.end()
END
here=$OLDPWD
${CC:-cc} -I "$here/sim/job" -o job job.c "$here/sim/job/gsim_job.c" >log 2>&1
say "a program with the library" $?
for command in "$tmp/job" "python3 $tmp/job.py $here/sim/job"; do
    printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,%s\nshort,0.3,1,1,sleep 0.1\n' "$command" >"$tmp/w.csv"
    run --cooperative --gpus 0 --policy srtf --set preempt=restart "$tmp/w.csv"
    say "${command##*/} under srtf" $?
    check "it was stopped, and went on" "2 1 0 40" "$(ask "select starts, stops, exit_code, iterations from real_job where job_id = 'long'")"
    check "each of its iterations was done once" "$(seq 40)" "$(cat logs/0-long.log)"
    $command >alone 2>&1
    check "alone it runs all the same" "$(seq 40)" "$(cat alone)"
done

# A job that cooperates pauses at the end of an iteration, and stands still until its turn comes again.
for command in "$tmp/job" "python3 $tmp/job.py $here/sim/job"; do
    printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,%s\nshort,0.3,1,1,sleep 0.1\n' "$command" >"$tmp/w.csv"
    run --cooperative --gpus 0 --policy srtf --set preempt=pause-iteration "$tmp/w.csv"
    say "${command##*/} pauses" $?
    check "it stays one process" "1 1 0 40" "$(ask "select starts, stops, exit_code, iterations from real_job where job_id = 'long'")"
    check "each of its iterations was done once" "$(seq 40)" "$(cat logs/0-long.log)"
    expect "its decisions are those of the policy again" 0 "are those of the policy again" \
        "$gsim" drive --quiet --cooperative --replay r.db --policy srtf --set preempt=pause-iteration w.csv
done
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 1\nb,1,1,1,sleep 1\n' >"$tmp/plain.csv"
expect "a command that does not cooperate cannot pause so" 1 "has to pause at the end of an iteration" \
    drive --policy srtf --set preempt=pause-iteration --gpus 0 "$tmp/plain.csv"

# The row says 40 s of a job that takes one. When it comes back from its stop for c, more than half of its
# iterations are done, so that less than the 25 s of b are left; by the time that it ran, it would be 39 s.
printf 'job_id,submit_s,duration_s,gpus,command\na,0,40,1,%s\nc,0.6,1,1,true\nb,0.8,25,1,sleep 0.1\n' "$tmp/job" >"$tmp/left.csv"
run --cooperative --gpus 0 --policy srtf --set preempt=restart "$tmp/left.csv"
check "srtf sees what is left of a job by the iterations that it tells of" "1 40" "$(ask "select stops, iterations from real_job where job_id = 'a'")"

# Two jobs beside each other take 110 ms for an iteration that alone takes 20 ms. Gandiva sees that
# the first pair gets less done than one job alone, and tries the other two; by time on the GPU, of which a job
# beside another has as much as alone, it would pack the first pair for good.
cat >beside.py <<'END'
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gsim_job
def is_going(pid):
    return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "T"
mark = f"mark.{os.getpid()}"
open(mark, "w").close()
gsim_job.begin(60)
for i in range(60):
    time.sleep(0.01)
    n = len([name for name in os.listdir(".") if name.startswith("mark.") and is_going(name[5:])])
    time.sleep(0.1 if n > 1 else 0.01)
    gsim_job.iteration(i + 1)
os.remove(mark)
gsim_job.end()
END
{
    echo 'job_id,submit_s,duration_s,gpus,mem_gib,command'
    for id in a b c; do echo "$id,0,1.2,1,1,python3 beside.py $here/sim/job"; done
} >"$tmp/pairs.csv"
run --cooperative --gpus 0 --policy gandiva --set slice=300ms --set preempt=pause --set packing=on pairs.csv
say "jobs in pairs" $?
check "a pair that gets less done than a job alone is not packed again" 3 \
    "$(ask "with pair as (select (select group_concat(job) from (select job from real_note s where s.what = 'start' and
            s.time_ns = a.time_ns order by job)) as jobs from real_note a where what = 'arrange' and detail like '%lanes 0,0' limit 3)
        select count(distinct jobs) from pair")"
expect "its decisions are those of the policy again" 0 "are those of the policy again" "$gsim" drive --quiet --cooperative \
    --replay r.db --policy gandiva --set slice=300ms --set preempt=pause --set packing=on pairs.csv

# What a job still does after its `end` is its own matter, however long that takes.
cat >late.py <<'END'
import sys, time
sys.path.insert(0, sys.argv[1])
import gsim_job
gsim_job.begin(1)
gsim_job.iteration(1)
gsim_job.end()
time.sleep(1.5)
print("written")
END
printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,%s\nshort,0.7,1,1,sleep 0.1\n' "python3 $tmp/late.py $here/sim/job" >"$tmp/late.csv"
for way in pause restart; do
    run --cooperative --gpus 0 --grace 200ms --policy srtf --set preempt=$way "$tmp/late.csv"
    check "a job that has told its end is not killed (preempt=$way)" "0 written" "$(ask "select exit_code from real_job where job_id = 'long'") $(cat logs/0-long.log)"
done

# A job that is killed while it is paused, by the job that took its GPU: it has died, and its row says so when its turn
# comes again.
printf 'job_id,submit_s,duration_s,gpus,command\npaused,0,30,1,echo $$ >%s/pid; sleep 30\nkiller,0.5,1,1,kill -9 $(cat %s/pid)\nlast,0.5,2,1,true\n' "$tmp" "$tmp" >"$tmp/paused.csv"
for way in pause checkpoint; do
    run --gpus 0 --policy srtf --set preempt=$way --assume mem_gib=1 "$tmp/paused.csv"
    check "a job that dies while it is paused does not end the run (preempt=$way)" "0 done" "$? $(ask 'select status from real_run')"
    check "its row has its end, behind those before it" "killer 0,last 0,paused 137" \
        "$(ask "select group_concat(x) from (select job_id || ' ' || exit_code as x from real_job order by end_ns)")"
    expect "its decisions are those of the policy again" 0 "are those of the policy again" \
        "$gsim" drive --quiet --replay r.db --policy srtf --set preempt=$way --assume mem_gib=1 paused.csv
    expect "and the laws of runs hold" 0 "nothing that cannot be" "$gsim" check r.db
done

# A program that knows nothing of gsim, whose state another command saves. It counts to 40, and goes
# on from the last number in its log.
cat >counter.sh <<'END'
i=0
[ -z "${GSIM_JOB_RESUME:-}" ] || i=$(cat "$GSIM_JOB_STATE")
trap 'is_over=1' USR1
while [ $i -lt 40 ]; do
    sleep 0.02
    [ -z "${is_over:-}" ] || exit 0
    i=$((i + 1))
    echo $i
done
END
told() { # name, pattern
    grep -q -e "$2" log
    say "$1" $?
}
saves() { # name, save_command, grace: a long job that is stopped for a short one
    printf 'job_id,submit_s,duration_s,gpus,command,save_command\nlong,0,40,1,sh counter.sh,%s\nshort,0.3,1,1,sleep 0.1,\n' "$2" >h.csv
    drive --gpus 0 --grace "${3:-5s}" --save-command false --policy srtf --set preempt=restart h.csv >out 2>log
    say "$1" $?
}
went_on() { # name
    check "$1: it was stopped, and went on" "2 1 0" "$(ask "select starts, stops, exit_code from real_job where job_id = 'long'")"
    check "$1: each count was made once" "$(seq 40)" "$(grep '^[0-9]*$' logs/0-long.log)"
    check "$1: nothing is left" 0 "$(gone 60)"
}
saves "a command that saves a job" 'kill -STOP -$GSIM_JOB_PID; tail -n 1 ${GSIM_JOB_STATE%.state} >$GSIM_JOB_STATE; echo saved $GSIM_JOB_ID'
went_on "a job that runs on"
check "the command's output is in the job's log" "saved long" "$(grep '^saved' logs/0-long.log)"
saves "a command after which the job ends by itself" 'kill -USR1 $GSIM_JOB_PID; while kill -0 $GSIM_JOB_PID 2>/dev/null; do sleep 0.01; done; tail -n 1 ${GSIM_JOB_STATE%.state} >$GSIM_JOB_STATE'
went_on "a job that ends by itself"
saves "a command that fails" 'exit 7'
told "it is told, with its exit code" "ended with exit code 7"
check "and the job has died" "1 137" "$(ask "select starts, exit_code from real_job where job_id = 'long'")"
expect "the time in which its state was to be saved is none on its GPUs" 0 "nothing that cannot be" "$gsim" check r.db
saves "a command that fails after the job's end" 'while kill -0 $GSIM_JOB_PID 2>/dev/null; do sleep 0.01; done; exit 1'
check "the job has done its work" "1 0" "$(ask "select starts, exit_code from real_job where job_id = 'long'")"
saves "a command that hangs" 'sleep 100' 200ms
told "it is killed with its job" "did not save its state"
check "so the job has died" "1 137" "$(ask "select starts, exit_code from real_job where job_id = 'long'")"
check "nothing is left of a command that hangs" 0 "$(gone 60)"
printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,sh counter.sh\nshort,0.3,1,1,sleep 0.1\n' >h.csv
drive --gpus 0 --save-command 'exit 9' --policy srtf --set preempt=restart h.csv >out 2>log
told "the run's own command saves what has none" "ended with exit code 9"

# --- what cannot be done is refused before a job starts
expect "a policy that copies memory to the host" 1 "gsim drive pauses jobs" drive --policy suspend --set quantum=4s --gpus 0 "$tmp/s.csv"
check "no job was started for it" 0 "$(ls "$tmp/logs" 2>/dev/null | wc -l)"
expect "a partition" 1 "does not partition GPUs (MIG)" drive --policy mig --gpus 0 --device h200 "$tmp/s.csv"
expect "managed memory" 1 "leaves memory to the jobs" drive --policy uvm --assume mem_gib=9 --gpus 0 "$tmp/s.csv"
expect "sharing that no hardware has" 1 "shares a GPU as the driver does" drive --policy las --gpus 0 "$tmp/s.csv"
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 1\nb,1,1,1,sleep 1\n' >"$tmp/plain.csv"
expect "a command that cannot save" 1 "say --cooperative" drive --policy srtf --set preempt=restart --gpus 0 "$tmp/plain.csv"
expect "failures of nodes" 2 "no option '--mtbf'" drive --policy fifo --mtbf 1d "$tmp/t.csv"
expect "arithmetic in a dry run" 2 "in a dry run jobs without a command sleep" drive --policy fifo --steps-per-ms 5 --gpus 0 "$tmp/t.csv"
expect "a faster clock on real GPUs" 2 "of dry runs" "$gsim" drive --policy fifo --speed-up 2 "$tmp/t.csv"
expect "GPUs that are no numbers" 2 "is not a list" drive --policy fifo --gpus 0,x "$tmp/t.csv"
expect "a GPU twice" 2 "is not a list" drive --policy fifo --gpus 1,1 "$tmp/t.csv"
printf 'job_id,submit_s,duration_s,gpus,command\na,0,1,1,no-such-program --fast\n' >"$tmp/n.csv"
expect "a command that is not there" 3 "n.csv:2: job 'a' has a command that is not there: no-such-program" \
    drive --policy fifo --gpus 0 "$tmp/n.csv"
if ! ldconfig -p 2>/dev/null | grep -q libnvidia-ml; then
    expect "a machine without a driver" 1 "no NVIDIA driver" "$gsim" drive --policy fifo --logs "$tmp/logs" "$tmp/c.csv"
fi

# --- what drive itself takes: nothing here rests on time. Each of 60 jobs is two events, its start and its end.
${CC:-cc} -shared -fPIC -o "$tmp/count.so" "$here/tests/cli/count_calls.c" -ldl || exit 1
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,command"; for (i = 0; i < 60; i++) print i ",0,1,1,sleep 0.0" i % 9 }' >"$tmp/calls.csv"
rm -rf logs r.db
env LD_PRELOAD="$tmp/count.so" COUNT_CALLS="$tmp/calls" "$gsim" drive --quiet --dry-run --gpus 0,1,2 --policy fifo --db r.db --logs "$tmp/logs" calls.csv >out 2>log
check "all jobs of the counted run have ended" "60 0" "$(ask 'select count(*), sum(exit_code) from real_job')"
# a job wakes it by its end, and perhaps once before, when its end of the socket is closed
check "drive wakes up for what happens" yes "$(awk '{ print($1 > 0 && $1 <= 2 * 60 ? "yes" : $0) }' calls)"
check "and seldom in vain, but to look about" yes "$(awk '{ print($2 <= 60 ? "yes" : $0) }' calls)"
# before it waits it looks whether something is there already
check "it looks no more often than it waits" yes "$(awk '{ print($5 <= $3 ? "yes" : $0) }' calls)"
# whatever the number of jobs that wait: two processes and two sockets of each of three jobs, at each wait
check "it asks after the jobs that run, once a time" yes "$(awk '{ print($4 > 60 && $4 <= 3 * 4 * $3 ? "yes" : $0) }' calls)"

# Lines of jobs that compute are read when drive looks about, ten times a second at least: four jobs that tell of a hundred
# iterations a second for two seconds do not wake it for each.
awk 'BEGIN { print "job_id,submit_s,duration_s,iterations,gpu_ms"; for (i = 0; i < 4; i++) print i ",0,2,200,10" }' >"$tmp/lines.csv"
rm -rf logs r.db
env LD_PRELOAD="$tmp/count.so" COUNT_CALLS="$tmp/calls" "$gsim" drive --quiet --dry-run --gpus 0,1,2,3 --policy fifo --db r.db --logs "$tmp/logs" lines.csv >out 2>log
check "nearly all iterations are told" "4 1" "$(ask 'select count(*), min(iterations) > 190 from real_job')"
# its begin, its end, and the closing of its end of the socket
check "but drive wakes up for begins and ends alone" yes "$(awk '{ print($1 > 0 && $1 <= 3 * 4 ? "yes" : $0) }' calls)"

# --- GPUs, by drivers that are none; numbers of this process, since a lock is the machine's
mkdir "$tmp/lib"
${CC:-cc} -shared -fPIC -o "$tmp/lib/libcuda.so.1" "$here/tests/cli/fake_cuda.c" &&
    ${CC:-cc} -shared -fPIC -o "$tmp/lib/libnvidia-ml.so.1" "$here/tests/cli/fake_nvml.c" || exit 1
# two numbers apart from those of a script that was begun at once with this one
first=$(($$ % 15000 * 4))
second=$((first + 1))
on_gpus() { # variable=value... arguments
    env LD_LIBRARY_PATH="$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" FAKE_GPUS=65000 "$@"
}
rm -rf r.db logs
on_gpus "$gsim" drive --quiet --policy fifo --gpus $first,$second --db r.db --logs "$tmp/logs" "$tmp/t.csv" >out 2>log
say "jobs without a command run kernels" $?
check "on the GPUs that are named" "5 0 NVIDIA H100 80GB HBM3 $first,$second" \
    "$(ask 'select count(*), sum(exit_code), device, gpus from real_job join real_run using (real_run)')"
rm -rf r.db logs
on_gpus "$gsim" drive --quiet --policy fifo --gpus $first,$second --steps-per-ms 4321 --db r.db --logs "$tmp/logs" "$tmp/t.csv" >out 2>log
check "with the arithmetic of an earlier run" 4321 "$(ask "select value from real_note where what = 'speed'")"
expect "no arithmetic" 2 "is not a whole number from 1" on_gpus "$gsim" drive --policy fifo --gpus $first --steps-per-ms 0 --logs "$tmp/logs" "$tmp/t.csv"
# What processes use of GPUs, as the driver counts it: of jobs that do not tell how far they are.
printf 'job_id,submit_s,duration_s,gpus,command\nused,0,3,1,sleep 2.5\nnext,2.2,1,1,true\n' >"$tmp/use.csv"
use() { # variable=value...
    rm -rf r.db logs
    on_gpus "$@" "$gsim" drive --policy fifo --gpus $first --db r.db --logs "$tmp/logs" use.csv >out 2>log
}
use FAKE_USE=40
# all samples but one that is not over when the job ends, and one that the clock cut
check "GPU time is what the driver counts" 1 "$(ask 'select gpu_ns between 0.4 * (ran_ns - 0.5e9) and 0.4 * ran_ns from real_job where job = 0')"
check "and stands in the record" 1 "$(ask "select count(*) > 0 from real_note where what = 'used'")"
check "nothing is said of it" 0 "$(grep -c 'GPU time of jobs' log)"
# Two that take turns: each has its own time, whatever fifth of a second it stops in.
printf 'job_id,submit_s,duration_s,gpus,command\none,0,3,1,sleep 1.5\nother,0,3,1,sleep 1.5\n' >"$tmp/turns.csv"
rm -rf r.db logs
on_gpus FAKE_USE=40 "$gsim" drive --policy gang-rr --set slice=500ms --set preempt=pause --assume mem_gib=1 --gpus $first --db r.db --logs "$tmp/logs" turns.csv >out 2>log
check "jobs that take turns have theirs" "2 1" "$(ask 'select count(*), min(gpu_ns between 0.4 * (ran_ns - 0.5e9) and 0.4 * ran_ns + 1e6) from real_job')"
# Two that share the GPU: of a fifth of a second the driver does not tell what was whose. The second one shares for
# a part of its time alone.
printf 'job_id,submit_s,duration_s,gpus,command\none,0,3,1,sleep 0.8\nother,0,3,1,sleep 1.6\n' >"$tmp/both.csv"
rm -rf r.db logs
on_gpus FAKE_USE=40 "$gsim" drive --policy timeslice --assume mem_gib=1 --gpus $first --db r.db --logs "$tmp/logs" both.csv >out 2>log
check "of jobs that share a GPU the GPU time is not known" "2 0" "$(ask 'select count(*), count(gpu_ns) from real_job')"
check "which is said" 1 "$(grep -c 'GPU time of 2 jobs is not known: the driver does not tell apart jobs that share' log)"
# A policy that asks how far jobs come while they share a GPU: of a job that does not tell, nothing is known.
by_pairs="--policy gandiva --set slice=300ms --set preempt=pause --assume mem_gib=1 --gpus $first"
rm -rf r.db logs
# shellcheck disable=SC2086
expect "a policy that asks what the driver does not tell" 1 "both.csv:2: the policy asks how far job 'one' comes while it shares a GPU" \
    on_gpus "$gsim" drive $by_pairs --set packing=on --logs "$tmp/logs" both.csv
check "no job was started for it" 0 "$(ls "$tmp/logs" 2>/dev/null | wc -l)"
# shellcheck disable=SC2086
on_gpus FAKE_USE=40 "$gsim" drive --quiet $by_pairs --set packing=off --db r.db --logs "$tmp/logs" both.csv >out 2>log
check "where its jobs do not share, they run" "2 2" "$(ask 'select count(*), count(gpu_ns) from real_job')"
sed "s|sleep 0.8|$tmp/job|; s|sleep 1.6|$tmp/job|" "$tmp/both.csv" >"$tmp/telling.csv"
rm -rf r.db logs
# shellcheck disable=SC2086
on_gpus FAKE_USE=40 "$gsim" drive --quiet --cooperative $by_pairs --set packing=on --db r.db --logs "$tmp/logs" telling.csv >out 2>log
check "the GPU time of jobs that cooperate is asked for too, where the policy looks at it" 1 \
    "$(ask "select count(*) > 0 from real_note where what = 'used'")"
use FAKE_NO_USE=4
check "where the driver does not tell, there is none" 1 "$(ask 'select gpu_ns is null from real_job where job = 0')"
check "and that is said, with the driver's error" 1 "$(grep -c 'does not tell the GPU time of jobs (nvmlDeviceGetSamples: error 4' log)"
# On a GPU of 80 GB two jobs of 50 GiB run one after the other, on one of 141 GB together.
printf 'job_id,submit_s,duration_s,gpus,mem_gib,command\na,0,2,1,50,sleep 0.2\nb,0,2,1,50,sleep 0.2\n' >"$tmp/mem.csv"
rm -rf r.db logs
on_gpus "$gsim" drive --quiet --policy timeslice --gpus $first --db r.db --logs "$tmp/logs" mem.csv >out 2>log
for device in "" "--device h100-sxm" "--device h200"; do
    # shellcheck disable=SC2086
    "$gsim" compare --quiet --real r.db --reps 1 $device --format json mem.csv >"beside${device##* }.json" 2>log
done
cmp beside.json besideh100-sxm.json && ! cmp -s beside.json besideh200.json
say "a run is compared on the product that it ran on" $?
expect "a GPU that others use" 1 "GPU $second is in use by other processes (4711)" \
    on_gpus FAKE_BUSY=$second "$gsim" drive --policy fifo --gpus $first,$second --logs "$tmp/logs" t.csv
expect "two products" 2 "--gpus names GPUs of one product" \
    on_gpus FAKE_OTHER=$second "$gsim" drive --policy fifo --gpus $first,$second --logs "$tmp/logs" t.csv
expect "a GPU that is not there" 2 "this machine has no GPU 65001; it has 65000" \
    on_gpus "$gsim" drive --policy fifo --gpus 65001 --logs "$tmp/logs" t.csv
expect "a GPU on which no kernel runs" 1 "no kernel runs on GPU $first" \
    on_gpus FAKE_FAIL=cuCtxCreate_v2 "$gsim" drive --policy fifo --gpus $first,$second --logs "$tmp/logs" t.csv
# Images by the driver's checkpoint calls: of a driver that is none, for jobs that need no GPU.
images() { # variable=value... : two jobs, of which the second takes the GPU from the first
    rm -rf r.db logs
    printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 0.6\nb,0.2,1,1,true\n' >"$tmp/i.csv"
    on_gpus "$@" "$gsim" drive --policy srtf --set preempt=checkpoint --assume mem_gib=1 --gpus $first --db r.db --logs "$tmp/logs" "$tmp/i.csv" >out 2>log
}
images
check "the driver takes a job's state, and brings it back" "a 1 1 0,b 1 0 0" "$(ask "select group_concat(x) from (select job_id || ' ' || starts || ' ' || stops || ' ' || exit_code as x from real_job order by job_id)")"
for call in cuCheckpointProcessLock cuCheckpointProcessCheckpoint cuCheckpointProcessRestore; do
    images FAKE_FAIL=$call
    check "a job whose state is lost at $call is killed" "a 137,b 0" "$(ask "select group_concat(x) from (select job_id || ' ' || exit_code as x from real_job order by job_id)")"
    check "and that is told" 1 "$(grep -c "job 'a' was killed: the driver could not" log)"
    check "with the call" 1 "$(grep -c "$call: error 2 of the driver" log)"
done
check "nothing of that is left" 0 "$(gone 60)"
# A job goes on on another GPU: its own has a shorter job when another one becomes free. The driver that is
# none checks that the move is a permutation of all 65000 GPUs.
third=$((second + 1))
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 2.5\nb,0,3,1,sleep 0.8\nc,0.2,5,1,sleep 2\n' >"$tmp/v.csv"
sed 's/^a,0,30,1/a,0,30,2/' "$tmp/v.csv" >"$tmp/w.csv"
moves() { # GPUs, trace, variable=value...
    by="srtf --set preempt=checkpoint --assume mem_gib=1 --gpus $1 --db r.db --logs $tmp/logs $2"
    shift 2
    rm -rf r.db logs moved
    # shellcheck disable=SC2086
    on_gpus FAKE_MOVES="$tmp/moved" "$@" "$gsim" drive --policy $by
}
moves $first,$second v.csv FAKE_CUDA=13000 >out 2>log
check "a job whose state the driver has goes on on another GPU" "a 1 1 0,b 1 0 0,c 1 0 0" "$(ask "select group_concat(x) from (select job_id || ' ' || starts || ' ' || stops || ' ' || exit_code as x from real_job order by job_id)")"
check "which takes the place of its own" "$first>$second $second>$first " "$(sort -u moved | tr '\n' ' ')"
moves $first,$second,$third w.csv FAKE_CUDA=13000 >out 2>log
check "a gang that moves by one GPU goes on" "a 1 1 0" "$(ask "select job_id || ' ' || starts || ' ' || stops || ' ' || exit_code from real_job where job_id = 'a'")"
check "and the GPU that it keeps stays what it is" "$first>$second $second>$first " "$(sort -u moved | tr '\n' ' ')"
expect "a driver that brings state back only where it was" 1 "others came with driver 580 (CUDA 13.0); say preempt=restart" \
    moves $first,$second v.csv FAKE_CUDA=12080
check "no job was started on it" 0 "$(ls "$tmp/logs" 2>/dev/null | wc -l)"
moves $first,$second v.csv FAKE_CUDA=13000 FAKE_FAIL=cuCheckpointProcessRestore >out 2>log
check "a job that the driver cannot move is killed" 137 "$(ask "select exit_code from real_job where job_id = 'a'")"
run --speed-up 1 --gpus 3,5 --policy srtf --set preempt=checkpoint --assume mem_gib=1 v.csv
check "in a dry run a job goes on as one process" "3 3 0" "$(ask 'select sum(starts), count(*), sum(exit_code) from real_job')"
check "after moves nothing is left" 0 "$(gone 60)"

# MPS: a control process that is none, which keeps to what drive says to it.
mkdir -p "$tmp/bin"
cat >"$tmp/bin/nvidia-cuda-mps-control" <<'END'
#!/bin/sh
# ends on `quit`, as the real one does; FAKE_MPS=dies: at once
if [ "${1-}" = -f ]; then
    [ "${FAKE_MPS-}" = dies ] && exit 1
    echo "serves $CUDA_VISIBLE_DEVICES"
    touch "$CUDA_MPS_PIPE_DIRECTORY/control"
    while [ ! -e "$CUDA_MPS_PIPE_DIRECTORY/log" ]; do sleep 0.05; done
else
    read -r word && [ "$word" = quit ] && touch "$CUDA_MPS_PIPE_DIRECTORY/log"
fi
END
chmod +x "$tmp/bin/nvidia-cuda-mps-control"
printf '%s\n' 'job_id,submit_s,duration_s,gpus,command' \
    'half,0,1,0.5,"echo $CUDA_VISIBLE_DEVICES $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; ls $CUDA_MPS_PIPE_DIRECTORY; sleep 0.3"' \
    'all,0,1,1,"echo $CUDA_VISIBLE_DEVICES ${CUDA_MPS_ACTIVE_THREAD_PERCENTAGE-none}"' >"$tmp/m.csv"
by_mps() { # variable=value... : the jobs as clients
    rm -rf r.db logs
    on_gpus PATH="$tmp/bin:$PATH" "$@" "$gsim" drive --quiet --policy mps --gpus $second --db r.db --logs "$tmp/logs" "$tmp/m.csv" >out 2>log
}
folders() { # of servers' pipes that this test's runs have left
    find /tmp -maxdepth 1 -name 'gsim-mps-*' -newer m.csv -user "$(id -un)" 2>/dev/null | wc -l
}
by_mps a=a
say "jobs are clients of MPS" $?
check "a client has its cap, and its place among the server's GPUs" "0 50 control" "$(tr '\n' ' ' <logs/0-half.log | sed 's/ $//')"
check "or none" "0 none" "$(cat logs/1-all.log)"
check "the server has the run's GPUs" "serves $second" "$(cat logs/mps.log)"
check "and is gone, with its folder" "0 0" "$(pgrep -f "$tmp/bin/nvidia-cuda-mps" | wc -l) $(folders)"
by_mps FAKE_MPS=dies
check "a server that does not start" "1 1 0" "$? $(grep -c 'did not start; the words of the service are in this file' log) $(find logs -name '0-*.log' | wc -l)"
expect "a machine without MPS" 1 "nvidia-cuda-mps-control, which comes with NVIDIA's driver, is not in PATH" \
    on_gpus "$gsim" drive --policy mps --gpus $second --logs "$tmp/logs" m.csv
sed 's/sleep 0.3/sleep 30/' m.csv >long.csv
env LD_LIBRARY_PATH="$tmp/lib" FAKE_GPUS=65000 PATH="$tmp/bin:$PATH" "$gsim" drive --quiet --policy mps --gpus $second --logs "$tmp/logs3" long.csv >/dev/null 2>&1 &
pid=$!
while [ ! -e logs3/0-half.log ]; do sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
check "kill -9 leaves no server" 0 "$(gone 60)"
for _ in $(seq 100); do # the guard outlives its groups by a moment
    [ "$(folders)" -eq 0 ] || sleep 0.2
done
check "nor its folder" 0 "$(folders)"

rm -rf logs
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 30\n' >"$tmp/sleep.csv"
env LD_LIBRARY_PATH="$tmp/lib" FAKE_GPUS=65000 "$gsim" drive --quiet --policy fifo --gpus $first --logs "$tmp/logs" "$tmp/sleep.csv" >/dev/null 2>&1 &
pid=$!
while [ ! -e logs/0-a.log ]; do sleep 0.05; done
expect "a GPU of another run" 1 "GPU $first is in use by another gsim drive" \
    on_gpus "$gsim" drive --policy fifo --gpus $first --logs "$tmp/logs2" t.csv
kill -TERM $pid
wait $pid
check "which ends when it is asked to" 4 $?
rm -f /tmp/gsim-drive-gpu$first.lock /tmp/gsim-drive-gpu$second.lock

# --- ends that come early
printf 'job_id,submit_s,duration_s,gpus,command\nquick,0,1,1,true\nlong,0,60,1,sleep 60\nstubborn,0,60,1,"trap """" TERM; while :; do sleep 0.1; done"\n' >"$tmp/e.csv"
wait_for_rows() { # at least one row, at most two minutes
    tries=2400
    while [ "$(ask 'select count(*) from real_job')" != 1 ] && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
}
begin() { # drives the trace in the background
    rm -rf logs r.db
    $under "$gsim" drive --dry-run --gpus 0,1,2 --grace 300ms --policy fifo --db r.db --logs "$tmp/logs" "$tmp/e.csv" >out 2>log &
    pid=$!
    wait_for_rows
}
under=
begin
"$gsim" drive --dry-run --policy fifo --logs "$tmp/logs" "$tmp/t.csv" >again 2>&1
check "two runs in one folder" 1 $?
check "are told apart" 1 "$(grep -c 'in use by another gsim drive' again)"
kill -INT $pid
wait $pid
check "Ctrl-C ends a run" 4 $?
check "with all of its jobs, also one that ignores SIGTERM" 0 "$(gone 60)"
check "the job that had ended is kept" "quick 0" "$(ask 'select job_id, exit_code from real_job where not is_cut')"
check "the others are told apart" "long 143,stubborn 137" "$(ask "select group_concat(x) from (select job_id || ' ' || exit_code as x from real_job where is_cut order by job)")"
check "as is the run" interrupted "$(ask 'select status from real_run')"

rm -rf logs r.db
"$gsim" drive --dry-run --gpus 0,1,2 --grace 100s --policy fifo --db r.db --logs "$tmp/logs" "$tmp/e.csv" >out 2>log &
pid=$!
wait_for_rows
kill -INT $pid
sleep 0.5
kill -INT $pid
wait $pid
check "a second Ctrl-C waits for no grace" "4 0" "$? $(gone 60)"
check "and loses neither rows nor record" "3 interrupted 1" "$(ask "select (select count(*) from real_job), status,
    (select count(*) from real_note where what = 'start') = 3 from real_run")"

under='env --default-signal=HUP' # these tests themselves may run under nohup
begin
under=
kill -HUP $pid
wait $pid
check "a closed terminal ends a run likewise" "4 interrupted 0" "$? $(ask 'select status from real_run') $(gone 60)"
(
    trap '' HUP
    begin
    kill -HUP $pid
    sleep 0.3
    check "but not under nohup" running "$(ask 'select status from real_run')"
    kill -TERM $pid
    wait $pid
    check "which ends when it is asked to all the same" "4 interrupted" "$? $(ask 'select status from real_run')"
)

for moment in 0 0.02 0.07 0.2; do
    begin
    sleep $moment
    kill -9 $pid
    wait $pid 2>/dev/null
    check "kill -9 after $moment s leaves no process" 0 "$(gone 60)"
    "$gsim" check r.db >as_left 2>&1
    check "its database opens" 0 $?
    check "and has the job that had ended" "quick running" "$(ask 'select job_id, status from real_job join real_run using (real_run)')"
done
for moment in 0 0.01 0.03; do # jobs begin and end all the time
    rm -rf logs r.db
    awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 60; i++) print i ",0,1,1" }' >"$tmp/many.csv"
    "$gsim" drive --dry-run --speed-up 50 --gpus 0,1,2 --policy fifo --logs "$tmp/logs" "$tmp/many.csv" >out 2>log &
    pid=$!
    while [ ! -e logs/3-3.log ]; do sleep 0.01; done
    sleep $moment
    kill -9 $pid
    wait $pid 2>/dev/null
    check "nor does it among starts and ends" 0 "$(gone 60)"
done

# Twelve jobs end while drive is stopped, so that it sees all ends at once: their rows are one transaction. A
# transaction ends in the write-ahead log with a frame (24 bytes before each page) whose bytes 4 to 7, the pages of
# the database then, are not 0; a sync does not take frames out of the log.
changes() {
    python3 -c '
import struct, sys
log = open(sys.argv[1], "rb").read()
size = struct.unpack(">I", log[8:12])[0] + 24
print(sum(log[at + 4:at + 8] != bytes(4) for at in range(32, len(log), size)))' r.db-wal
}
ended() { ps -o stat= --ppid $pid | grep -c Z; }
awk -v gate="$tmp/gate" 'BEGIN { print "job_id,submit_s,duration_s,gpus,command"
    for (i = 0; i < 13; i++) printf "j%d,0,1,1,while [ ! -e %s%s ]; do sleep 0.05; done\n", i, gate, i == 12 ? "2" : "" }' >"$tmp/together.csv"
rm -rf logs r.db gate gate2
"$gsim" drive --dry-run --gpus 0,1,2,3,4,5,6,7,8,9,10,11,12 --policy fifo --db r.db --logs "$tmp/logs" "$tmp/together.csv" >out 2>log &
pid=$!
while [ ! -e logs/12-j12.log ]; do sleep 0.01; done
kill -STOP $pid
before=$(changes)
touch gate
while [ "$(ended)" -lt 12 ]; do sleep 0.05; done
kill -CONT $pid
tries=2400
while [ "$(ask 'select count(*) from real_job')" -lt 12 ] && [ $tries -gt 0 ]; do
    sleep 0.05
    tries=$((tries - 1))
done
check "jobs that end together are one transaction" "12 1" "$(ask 'select count(*) from real_job where exit_code = 0') $(($(changes) - before))"
touch gate2
wait $pid
check "and the database is one file when the run is over" "0 13 delete r.db" \
    "$? $(ask 'select count(*) from real_job') $(ask 'pragma journal_mode') $(echo r.db*)"

# poll(2) refuses more descriptors than a process may have: 4 by job would be 80, where 20 jobs have 40.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 20; i++) print i ",0,20,1" }' >"$tmp/wide.csv"
rm -rf logs
(
    ulimit -n 64
    exec timeout 600 "$gsim" drive --dry-run --speed-up 10 --gpus-per-node 20 --policy fifo --logs "$tmp/logs" "$tmp/wide.csv"
) >out 2>log
check "few descriptors are enough" 0 $?
check "and drive waits with them: it takes no core" 1 "$(sed -n 's/.*drive took \([0-9]*\)\..* of a core.*/\1/p' log | awk '$1 < 25' | wc -l)"

# Policies that share GPUs start as many jobs as there are: drive takes as many descriptors as it may, and jobs have
# the limit that it found.
awk 'BEGIN { print "job_id,submit_s,duration_s,command"; for (i = 0; i < 40; i++) print i ",0,1,ulimit -Sn; sleep 2" }' >"$tmp/shared.csv"
(
    ulimit -Sn 64
    drive --quiet --gpus 0 --policy timeslice "$tmp/shared.csv"
) >out 2>log
check "a low limit on descriptors is raised" "0 40 0" "$? $(ask 'select count(*), sum(exit_code) from real_job')"
check "but not for jobs" 64 "$(cat logs/39-39.log)"
printf 'job_id,submit_s,duration_s,command\nquick,0,1,true\n' >"$tmp/limit.csv"
awk 'BEGIN { for (i = 0; i < 40; i++) print i ",2,1,sleep 60" }' >>"$tmp/limit.csv"
(
    ulimit -n 48
    drive --quiet --gpus 0 --grace 1s --policy timeslice "$tmp/limit.csv"
) >out 2>log
check "a process that cannot start ends the run" 1 $?
check "which says so once" 1 "$(grep -c 'cannot start a process for a job: Too many open files' log)"
check "and keeps the job that had ended, and those that were cut off" "failed 1 1" "$(ask "select status, (select count(*) from
    real_job where exit_code = 0 and not is_cut), (select count(*) from real_job where is_cut) > 10 from real_run")"
check "with nothing left of them" 0 "$(gone 60)"

# A job that ignores SIGTERM is killed where its policy takes its GPU away.
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,"if [ -e %s/once ]; then exit 0; fi; touch %s/once; trap """" TERM; while :; do sleep 0.1; done"\nb,1,1,1,true\n' "$tmp" "$tmp" >"$tmp/k.csv"
drive --gpus 0 --grace 200ms --policy srtf --set preempt=discard "$tmp/k.csv" >out 2>log
check "a job that ignores SIGTERM is killed, and begins anew" "2 0" "$(ask "select starts, exit_code from real_job where job_id = 'a'")"
check "and that is told" 1 "$(grep -c "job 'a' was killed" log)"

# The disk is full: the limit on files' sizes stands for it.
printf 'job_id,submit_s,duration_s,gpus\n' >"$tmp/f.csv"
awk 'BEGIN { for (i = 0; i < 400; i++) print "a-job-with-a-long-name-" i ",0,0.01,1" }' >>"$tmp/f.csv"
drive --quiet --policy fifo --gpus 0 "$tmp/n.csv" >/dev/null 2>&1
"$gsim" drive --dry-run --quiet --policy fifo --db r.db --logs logs "$tmp/c.csv" >/dev/null 2>&1
(
    trap '' XFSZ
    ulimit -f $(($(stat -c %s r.db) / 512 + 8))
    exec timeout 600 "$gsim" drive --dry-run --gpus 0,1,2,3 --policy fifo --db r.db --logs "$tmp/logs" "$tmp/f.csv"
) >out 2>log
check "a full disk under the database ends the run" 1 $?
check "says so" 1 "$(grep -c 'r.db: .*jobs that ended before are kept' log)"
check "leaves no process" 0 "$(gone 60)"
check "and keeps what it had" ok "$(ask 'pragma integrity_check')"
