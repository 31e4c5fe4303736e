#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive in dry runs: the whole way of a run, beside its simulation, commands, and what is refused. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/drive.sh

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
env PATH="$here/tests/support/bin:$PATH" "$gsim" report --quiet --force -o page.html r.db >/dev/null 2>&1
check "a page shows both, with the device of each" "1 1" "$(grep -c ">dry run<" page.html | sed "s/[1-9][0-9]*/1/") $(grep -c ">ideal<" page.html | sed "s/[1-9][0-9]*/1/")"
expect "it is not repeated" 2 "gsim drive --replay r.db" "$gsim" repro r.db 1
check "the run is marked as done" "done 3,5 1 40" "$(ask 'select status, gpus, is_dry, speed_up from real_run')"
check "nothing is left of it" 0 "$(gone 60)"
printf 'job_id,submit_s,duration_s,gpus\na,0,1,0.5\nb,0,1,0.5\n' >parts.csv
expect "parts of a GPU without an arrangement are time slices, which is said" 0 "puts job 'b' on a part of a GPU beside another job" \
    "$gsim" drive --dry-run --speed-up 40 --gpus 3 --policy fifo --logs "$tmp/parts" parts.csv
"$gsim" drive --dry-run --speed-up 40 --gpus 3 --policy mps --logs "$tmp/parts2" parts.csv >out 2>&1
check "and under mps they are what they are said to be" 0 "$(grep -c 'on a part of a GPU' out)"

# --- beside the simulation
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
check "but not where the simulation has it so" 0 "$("$gsim" compare --quiet --real r.db --device ideal --set "start.first_ns=${took%.0}ms" t.csv | grep -c 'start.first_ns')"
expect "with the key that takes it over" 0 "simulation 0.000 s: --set start.first_ns=[0-9]*ms" "$gsim" compare --quiet --real r.db --device ideal t.csv
# from when each job told its end by its own clock until its process was seen to have ended
took=$(ask "select round(1e3 * avg(e.time_ns - t.value) / 1e9) from real_note e join real_note t on t.job = e.job and t.what = 'told end'
    where e.what = 'ended'")
check "what an end takes is told, and its key" "5 1" "$(beside "select j->>'\$.ends.jobs' from o") $("$gsim" compare --quiet --real r.db \
    --device ideal t.csv | grep -c -- "simulation 0.000 s: --set end.process_ns=${took%.0}ms")"
check "but not where the simulation has it so" 0 "$("$gsim" compare --quiet --real r.db --device ideal --set "end.process_ns=${took%.0}ms" \
    t.csv | grep -c 'end.process_ns')"
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
printf 'job_id,submit_s,duration_s,gpus\na,0,2,0.5\nb,0.2,2,0.5\n' >"$tmp/halves.csv"
for policy in fifo mps; do
    "$gsim" drive --quiet --dry-run --speed-up 4 --gpus 0 --policy $policy --db halves_$policy.db --logs "$tmp/halves_$policy" halves.csv >log 2>&1
done
expect "parts of a GPU that nothing arranges are said" 0 "halves.csv:3: job 'b' was on a part of a GPU beside another job" \
    "$gsim" compare --real halves_fifo.db --device h200 halves.csv
check "and not those of clients of MPS" 0 "$("$gsim" compare --real halves_mps.db --device h200 halves.csv 2>&1 | grep -c 'part of a GPU')"
expect "another trace" 3 "is not that of run 1" "$gsim" compare --real r.db s.csv
expect "a policy that was not driven" 3 "no run of gsim drive that came to its end under las" \
    "$gsim" compare --real r.db --policies las t.csv
"$gsim" --quiet --policy fifo --db sim.db t.csv >/dev/null
expect "a database of simulations" 3 "no run of gsim drive" "$gsim" compare --real sim.db t.csv

# --- commands: their place, their output, their end
drive --policy fifo --gpus 3,5 "$tmp/c.csv" >out 2>log
check "a job that dies does not end the run" 0 $?
check "a job sees its GPUs and its name" "3,5 where" "$(cat logs/0-where.log)"
check "errors are in its log" oops "$(cat logs/1-fails.log)"
check "exit codes" "dies 137,fails 3,where 0" "$(ask "select group_concat(x) from (select job_id || ' ' || exit_code as x from real_job order by job_id)")"
check "and are told" 1 "$(grep -c "job 'fails' ended with exit code 3" log)"
check "with the signal" 1 "$(grep -c "job 'dies' ended with exit code 137 (SIGKILL)" log)"
check "as is that the means have them in it" 1 "$(grep -c '2 of 3 jobs died, and count in the means' log)"
check "their work counts as undone" 2 "$(drive --quiet --policy fifo --format json --gpus 0,1 "$tmp/c.csv" | grep -o '"killed": *[0-9]*' | grep -o '[0-9]*$')"

# --- what cannot be done is refused before a job starts
expect "a policy that copies memory to the host" 1 "gsim drive pauses jobs" drive --policy suspend --set quantum=4s --gpus 0 "$tmp/s.csv"
check "no job was started for it" 0 "$(ls "$tmp/logs" 2>/dev/null | wc -l)"
expect "a gang of instances" 1 "t.csv:4: policy 'mig' cuts GPUs into instances (MIG), of which a process sees one alone" \
    drive --policy mig --gpus 0,1 --device h200 --assume mem_gib=9 "$tmp/t.csv"
expect "memory that the policy moves" 1 "leaves memory to the jobs" drive --policy msched --assume mem_gib=9 --gpus 0 "$tmp/s.csv"
expect "sharing that no hardware has" 1 "arranging units: gsim drive shares a GPU as the driver does" drive --policy las --gpus 0 "$tmp/s.csv"
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
