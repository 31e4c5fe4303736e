#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive: runs that end early, by signals, kill -9, limits and a full disk. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/drive.sh

# --- ends that come early
printf 'job_id,submit_s,duration_s,gpus,command\nquick,0,1,1,true\nlong,0,60,1,sleep 60\nstubborn,0,60,1,"trap """" TERM; touch %s/ready; while :; do sleep 0.1; done"\n' "$tmp" >"$tmp/e.csv"
wait_for_rows() { # at least one row, and a job that ignores SIGTERM by now: at most two minutes
    tries=2400
    while { [ "$(ask 'select count(*) from real_job')" != 1 ] || [ ! -e ready ]; } && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
}
begin() { # drives the trace in the background
    rm -rf logs r.db ready
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

rm -rf logs r.db ready
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
    for (i = 0; i < 13; i++) printf "j%d,0,1,1,echo up; while [ ! -e %s%s ]; do sleep 0.05; done\n", i, gate, i == 12 ? "2" : "" }' >"$tmp/together.csv"
rm -rf logs r.db gate gate2
"$gsim" drive --dry-run --gpus 0,1,2,3,4,5,6,7,8,9,10,11,12 --policy fifo --db r.db --logs "$tmp/logs" "$tmp/together.csv" >out 2>log &
pid=$!
while [ ! -s logs/12-j12.log ]; do sleep 0.01; done # the last of them runs
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
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,"if [ -e %s/once ]; then exit 0; fi; touch %s/once; trap """" TERM; while :; do sleep 0.1; done"\nb,2,1,1,true\n' "$tmp" "$tmp" >"$tmp/k.csv"
drive --gpus 0 --grace 200ms --policy srtf --set preempt=discard "$tmp/k.csv" >out 2>log
check "a job that ignores SIGTERM is killed, and begins anew" "2 0" "$(ask "select starts, exit_code from real_job where job_id = 'a'")"
check "and that is told" 1 "$(grep -c "job 'a' was killed" log)"

# The disk is full: the limit on files' sizes stands for it.
printf 'job_id,submit_s,duration_s,gpus\n' >"$tmp/f.csv"
awk 'BEGIN { for (i = 0; i < 400; i++) print "a-job-with-a-long-name-" i ",0,0.01,1" }' >>"$tmp/f.csv"
rm -rf logs r.db
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
