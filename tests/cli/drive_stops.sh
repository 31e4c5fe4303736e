#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive: jobs stop and go on in every way that it has, and the decisions of a run come again by its record. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/drive.sh

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
say "srtf over lengths far apart" $?
"$gsim" compare --quiet --real r.db --device ideal --format json apart.csv >beside.json 2>log
say "beside its simulation" $?
check "srtf: jobs start and stop as in a simulation with their times" "a,c,b 0" "$(beside "select group_concat(x) ||
    ' ' || sum(d) from (select v->>'job' as x, v->>'stops' <> v->>'observed_stops' as d from job order by v->>'start_s')")"
"$gsim" compare --quiet --real r.db --device ideal apart.csv >as_run 2>log
"$gsim" compare --quiet --real r.db --device ideal --set preempt=restart apart.csv >again 2>log
"$gsim" compare --quiet --real r.db --device ideal --set preempt=discard apart.csv >other 2>log
cmp as_run again && ! cmp -s as_run other
say "the simulation has the run's settings, but for those given" $?
run --speed-up 60 --gpus 0 --policy suspend --set mechanism=checkpoint --set quantum=4s --assume mem_gib=1 "$tmp/s.csv"
check "a job whose state the driver takes goes on as one process" "3 3" "$(ask 'select sum(starts), count(*) from real_job')"
# The record is given copies of 0.2 s and 0.4 s a GiB out, 0.1 s and 0.25 s a GiB back, of jobs of 1, 2 and 3 GiB.
awk -F, -v OFS=, 'NR == 1 { print $0, "mem_gib"; next } { print $0, NR - 1 }' "$tmp/s.csv" >"$tmp/sizes.csv"
run --speed-up 60 --gpus 0 --policy suspend --set mechanism=checkpoint --set quantum=4s "$tmp/sizes.csv"
sqlite3 r.db "create temp table way as select n.note, n.what, n.time_ns - (select max(b.time_ns) from real_note b where b.job = n.job and b.note < n.note
        and b.what = iif(n.what = 'stopped', 'stop', 'start')) as ns, iif(n.what = 'stopped', 200000000 + (n.job + 1) * 400000000,
        100000000 + (n.job + 1) * 250000000) as wants_ns from real_note n where n.what in ('stopped', 'running');
    update real_note set time_ns = time_ns - (select ns - wants_ns from way w where w.note = real_note.note)
        where note in (select note from way)"
"$gsim" compare --quiet --real r.db --device h200 sizes.csv >copies 2>log
expect "what the driver took to copy states, and the keys that say so" 0 "checkpoint.out_ns=200ms --set checkpoint.out_ns_per_gib=400ms takes" cat copies
expect "back as well" 0 "checkpoint.in_ns=100ms --set checkpoint.in_ns_per_gib=250ms takes" cat copies
check "but not where the device has them so" 0 "$("$gsim" compare --quiet --real r.db --device h200 --set checkpoint.out_ns=200ms \
    --set checkpoint.out_ns_per_gib=400ms --set checkpoint.in_ns=100ms --set checkpoint.in_ns_per_gib=250ms sizes.csv | grep -c checkpoint)"
run --speed-up 60 --gpus 0 --policy srtf --set preempt=discard "$tmp/s.csv"
check "a job that is discarded begins anew" 1 "$(ask "select starts > 1 and ran_ns > service_ns from real_job where job_id = 'a'")"
# A job whose memory is in no other job's way stays on its GPU, which costs nothing; a process that starts anew takes time.
run --speed-up 60 --gpus 0 --policy adaptive --set quantum=4s --assume mem_gib=1 "$tmp/s.csv"
check "the way out that costs least by what starts have taken" "1 0" "$(ask "select count(*) > 0, sum(detail <> 'kernel, resident') from (
    select job, detail, min(note) from real_note where what = 'stop' group by job)")"
expect "which a replay knows too" 0 "are those of the policy again" \
    "$gsim" drive --quiet --replay r.db --policy adaptive --set quantum=4s --assume mem_gib=1 s.csv
check "after all that nothing is left" 0 "$(gone 60)"

# Paused processes go on where their memory is. b takes 1 s in place of the 20 s of its row, so that its GPU is idle while c,
# which took the GPU from a, still has 2 s to go: a waits for c, and d, which is behind a, runs meanwhile.
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 3\nb,0,20,1,while [ ! -e %s/gate ]; do sleep 0.05; done\nc,1,5,1,while [ ! -e %s/gate2 ]; do sleep 0.05; done\nd,1.2,40,1,touch %s/gate2\n' "$tmp" "$tmp" "$tmp" >"$tmp/home.csv"
sed -i "s|^c,1,5,1,|&touch $tmp/gate; |" "$tmp/home.csv"
run --gpus 3,5 --policy srtf --set preempt=pause "$tmp/home.csv"
say "a job is paused while another GPU becomes idle" $?
check "it goes on on its own" "queued, on 1;paused, on 1" "$(ask "select group_concat(detail, ';') from real_note where what = 'start' and job = 0")"
check "and a job behind it has the idle one" 1 "$(ask "select d.begin_ns < c.end_ns from real_job c, real_job d where c.job_id = 'c' and d.job_id = 'd'")"
expect "its decisions are those of the policy again" 0 "are those of the policy again" \
    "$gsim" drive --quiet --replay r.db --policy srtf --set preempt=pause home.csv

# A process ends while drive, which is late, has a stop of it before it: the stop is decided, and answered by the end. drive
# stands still from before the end of a until after the end of a's slice.
printf 'job_id,submit_s,duration_s,gpus,command\na,0,20,1,echo up; while [ ! -e %s/over ]; do sleep 0.05; done\nb,0,20,1,sleep 0.3\n' "$tmp" >"$tmp/late.csv"
rm -rf logs r.db over
"$gsim" drive --quiet --dry-run --gpus 0 --policy gang-rr --set slice=5s --set preempt=pause --db r.db --logs "$tmp/logs" late.csv >out 2>log &
pid=$!
while [ ! -s logs/0-a.log ]; do sleep 0.05; done
kill -STOP $pid
touch over
sleep 6
kill -CONT $pid
wait $pid
check "a process that ended before its stop was decided" "0 2 0" "$? $(ask 'select count(*), sum(exit_code) from real_job')"
check "has ended, and was not stopped" "1 0" "$(ask "select starts, stops from real_job where job_id = 'a'")"
expect "its decisions are those of the policy again" 0 "are those of the policy again" \
    "$gsim" drive --quiet --replay r.db --policy gang-rr --set slice=5s --set preempt=pause late.csv
expect "and the laws of runs hold" 0 "nothing that cannot be" "$gsim" check r.db

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
# With sanitizers the ways in which a decision is carried out are what counts: the first thirteen have jobs in order,
# each way of stopping, timers, shares of a GPU, and fewer GPUs than asked for. The others are there for what policies
# decide, which the first build holds; their code runs with sanitizers in random runs.
some=13 few=4
leaves_numbers || some=99 few=99
seed=0
for policy in fifo sjf backfill "srtf --set preempt=pause" "srtf --set preempt=restart" "srtf --set preempt=discard" \
    "srtf --set preempt=checkpoint" "las --set quantum=4s --set preempt=restart" "gang-rr --set slice=4s --set preempt=pause" \
    "suspend --set mechanism=restart --set quantum=4s" timeslice mps adaptdl adaptive easy-backfill elasticflow exclusive \
    fairshare gavel kueue lucid shockwave sia slurm srsf synergy themis tiresias vgpu; do
    seed=$((seed + 1))
    [ $seed -le $some ] || continue
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
n=0
for policy in backfill "las --set quantum=4s --set preempt=pause" "gang-rr --set slice=4s --set preempt=pause" \
    "srtf --set preempt=discard" "srsf --set preempt=discard" elasticflow gavel shockwave sia synergy themis; do
    n=$((n + 1))
    [ $n -gt $few ] || driven dying.csv 3,5 40 "$policy"
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
