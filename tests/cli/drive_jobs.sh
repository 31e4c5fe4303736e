#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive: programs that cooperate, and commands that save those that do not. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/drive.sh

# --- programs that cooperate, in C and in Python: each iteration is done once, by two processes
counting_programs
say "a program with the library" $?
long_and_short() { # command: a long job, which is not done before the short one has run
    rm -f gate
    printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,%s %s/gate\nshort,0.3,1,1,touch %s/gate\n' "$1" "$tmp" "$tmp" >"$tmp/w.csv"
}
for command in "$counts_in_c" "$counts_in_python"; do
    long_and_short "$command"
    run --cooperative --gpus 0 --policy srtf --set preempt=restart "$tmp/w.csv"
    say "${command##*/} under srtf" $?
    check "it was stopped, and went on" "2 1 0 40" "$(ask "select starts, stops, exit_code, iterations from real_job where job_id = 'long'")"
    check "each of its iterations was done once" "$(seq 40)" "$(cat logs/0-long.log)"
    $command >alone 2>&1
    check "alone it runs all the same" "$(seq 40)" "$(cat alone)"
done

# A job that cooperates pauses at the end of an iteration, and stands still until its turn comes again.
for command in "$counts_in_c" "$counts_in_python"; do
    long_and_short "$command"
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

# The row says 40 s of a job that takes one. When c takes its GPU, 30 of its 40 iterations are done, so that less than
# the 25 s of b are left; by the time that it ran, it would be 37 s.
rm -f gate
printf 'job_id,submit_s,duration_s,gpus,command\na,0,40,1,%s %s/gate\nc,3,1,1,touch %s/gate\nb,3.2,25,1,sleep 0.1\n' "$counts_in_c" "$tmp" "$tmp" >"$tmp/left.csv"
run --cooperative --gpus 0 --policy srtf --set preempt=restart "$tmp/left.csv"
check "srtf sees what is left of a job by the iterations that it tells of" "1 40" "$(ask "select stops, iterations from real_job where job_id = 'a'")"

# What a start costs its host is the work of the program, and not of the shell that began it.
cat >works.py <<'END'
import sys, time
sys.path.insert(0, sys.argv[1])
import gsim_job
while time.process_time() < 0.2:
    pass
gsim_job.begin(1)
time.sleep(1)
gsim_job.iteration(1)
gsim_job.end()
END
printf 'job_id,submit_s,duration_s,gpus,command\na,0,1,1,python3 works.py %s/sim/job; true\n' "$here" >works.csv
run --cooperative --gpus 0 --policy fifo works.csv
check "the CPU time of a start is that of all of the job's processes" 1 \
    "$(ask "select value >= 200000000 from real_note where what = 'cpu' order by note limit 1")"

# Two jobs beside each other take 310 ms for an iteration that alone takes 20 ms. Gandiva sees that
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
    time.sleep(0.3 if n > 1 else 0.01)
    gsim_job.iteration(i + 1)
os.remove(mark)
gsim_job.end()
END
{
    echo 'job_id,submit_s,duration_s,gpus,mem_gib,command'
    for id in a b c; do echo "$id,0,1.2,1,1,python3 beside.py $here/sim/job"; done
} >"$tmp/pairs.csv"
run --cooperative --gpus 0 --policy gandiva --set slice=1s --set preempt=pause --set packing=on pairs.csv
say "jobs in pairs" $?
check "a pair that gets less done than a job alone is not packed again" 3 \
    "$(ask "with pair as (select (select group_concat(job) from (select job from real_note s where s.what = 'start' and
            s.time_ns = a.time_ns order by job)) as jobs from real_note a where what = 'arrange' and detail like '%lanes 0,0' limit 3)
        select count(distinct jobs) from pair")"
expect "its decisions are those of the policy again" 0 "are those of the policy again" "$gsim" drive --quiet --cooperative \
    --replay r.db --policy gandiva --set slice=1s --set preempt=pause --set packing=on pairs.csv

# What a job still does after its `end` is its own matter, however long that takes.
cat >late.py <<'END'
import sys, time
sys.path.insert(0, sys.argv[1])
import gsim_job
gsim_job.begin(1)
gsim_job.iteration(1)
gsim_job.end()
time.sleep(4)
print("written")
END
printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,%s\nshort,3,1,1,sleep 0.1\n' "python3 $tmp/late.py $here/sim/job" >"$tmp/late.csv"
for way in pause restart; do
    run --cooperative --gpus 0 --grace 200ms --policy srtf --set preempt=$way "$tmp/late.csv"
    check "a job that has told its end is not killed (preempt=$way)" "0 written" "$(ask "select exit_code from real_job where job_id = 'long'") $(cat logs/0-long.log)"
done

# A job that is killed while it is paused, by the job that took its GPU: it has died, and its row says so when its turn
# comes again.
printf 'job_id,submit_s,duration_s,gpus,command\npaused,0,30,1,echo $$ >%s/pid; sleep 30\nkiller,2,1,1,kill -9 $(cat %s/pid)\nlast,2,2,1,true\n' "$tmp" "$tmp" >"$tmp/paused.csv"
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
# on from the last number in its log; it stands at 30 until that command has begun.
cat >counter.sh <<'END'
i=0
[ -z "${GSIM_JOB_RESUME:-}" ] || i=$(cat "$GSIM_JOB_STATE")
trap 'is_over=1' USR1
while [ $i -lt 40 ]; do
    sleep 0.02
    [ -z "${is_over:-}" ] || exit 0
    [ $i -ne 30 ] || [ -e gate ] || continue
    i=$((i + 1))
    echo $i
done
END
told() { # name, pattern
    grep -q -e "$2" log
    say "$1" $?
}
saves() { # name, save_command, grace: a long job that is stopped for a short one
    rm -f gate
    printf 'job_id,submit_s,duration_s,gpus,command,save_command\nlong,0,40,1,sh counter.sh,touch gate; %s\nshort,0.3,1,1,sleep 0.1,\n' "$2" >h.csv
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
rm -f gate
printf 'job_id,submit_s,duration_s,gpus,command\nlong,0,40,1,sh counter.sh\nshort,0.3,1,1,sleep 0.1\n' >h.csv
drive --gpus 0 --save-command 'exit 9' --policy srtf --set preempt=restart h.csv >out 2>log
told "the run's own command saves what has none" "ended with exit code 9"
