#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive with GPUs that the policy cuts into instances (MIG), by a driver that is none. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/drive.sh

no_drivers || exit 1
mig=$tmp/instances
fresh() { rm -rf "$tmp/r.db" "$tmp/logs" "$mig" "$mig.log" && touch "$mig"; }
by_mig() { # variable=value... : the jobs of the trace, into a new record
    fresh
    on_gpus FAKE_MIG="$mig" "$@" "$gsim" drive --quiet --policy mig --gpus $first --db r.db --logs "$tmp/logs" "$trace" >out 2>log
}
seen() { cat logs/*-"$1".log; }
left_over() { # seconds: waits until no instance is left
    tries=$(($1 * 20))
    while [ -s "$mig" ] && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    wc -l <"$mig"
}

# On a GPU of 80 GB: instances of 40, 20, 10 and 10 GB, of which three have jobs; then one of all, and then a job that
# has the GPU whole, since no instance holds it: on a GPU in MIG mode that is one of all as well.
printf '%s\n' 'job_id,submit_s,duration_s,gpus,mem_gib,command' \
    'large,0,2,1,30,"echo $CUDA_VISIBLE_DEVICES; while [ ! -e gate ]; do sleep 0.05; done"' \
    'middle,0,1,1,15,"echo $CUDA_VISIBLE_DEVICES; touch gate"' 'small,0,1,1,5,echo $CUDA_VISIBLE_DEVICES' \
    'all,0,0.3,1,70,echo $CUDA_VISIBLE_DEVICES' 'whole,0,0.3,1,79.15,echo $CUDA_VISIBLE_DEVICES' >"$tmp/m.csv"
trace=$tmp/m.csv
by_mig a=a
say "a policy cuts a GPU into instances" $?
check "jobs beside each other see one each, and one sees all of the GPU" "MIG-$first-0 MIG-$first-1 MIG-$first-2 MIG-$first-0 MIG-$first-0" \
    "$(seen large) $(seen middle) $(seen small) $(seen all) $(seen whole)"
check "the instances are those of the layout, each with all that computes in it" \
    "$(for one in "9 at 0" "15 at 6" "19 at 4" "19 at 5" "0 at 0" "0 at 0"; do printf 'made %d %s,computes %d %s,' $first "$one" $first "$one"; done)" \
    "$(grep -v -e destroyed -e longer instances.log | tr '\n' ',')"
check "and all that was made is destroyed, when the GPU is cut anew or the run ends" "6 6 0" "$(grep -c made instances.log) $(grep -c destroyed instances.log) $(left_over 0)"
check "all jobs end well" "5 0" "$(ask 'select count(*), sum(exit_code) from real_job')"
check "where each job was stands in the record" "$first" "$(ask 'select gpus from real_run')"
check "as do the cuts" "0, 3g.40gb+1g.20gb+1g.10gb+1g.10gb;0, 7g.80gb;0, whole" \
    "$(ask "select group_concat(detail, ';') from (select detail from real_note where what = 'partition' order by note)")"
"$gsim" drive --quiet --replay r.db --policy mig m.csv >out 2>log
say "whose decisions can be had again" $?
run --speed-up 1 --gpus 3 --device h100-sxm --policy mig m.csv
check "a dry run tells the instances" "MIG-3/1 MIG-3/2 MIG-3/1 3" "$(seen large) $(seen middle) $(seen all) $(seen whole)"

# Kernels of rows without a command: an instance has fewer SMs than the GPU, and takes longer for the work of these.
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\nin_part,0,1,1,0.001\n' >"$tmp/work.csv"
trace=$tmp/work.csv
by_mig FAKE_TOUCHES="$tmp/touches"
check "a job without a command does the work of 132 SMs on the 4 that it sees" "4 33000 plain 0 1" \
    "$(awk -v per="$(ask "select value from real_note where what = 'speed'")" '{ $2 = $2 / per * 1000; print }' touches)"

# What is refused, before a job starts.
trace=$tmp/m.csv
fresh
expect "a GPU that is not in MIG mode" 1 "an administrator enables it by 'nvidia-smi -i $first -mig 1'" \
    on_gpus "$gsim" drive --policy mig --gpus $first --logs "$tmp/logs" m.csv
expect "no rights" 1 "making a MIG instance needs the rights of an administrator: run gsim drive as root" \
    on_gpus FAKE_MIG="$mig" FAKE_MIG_ERROR=4 "$gsim" drive --policy mig --gpus $first --logs "$tmp/logs" m.csv
expect "another error of the driver" 1 "nvmlDeviceCreateGpuInstanceWithPlacement gives error 23" \
    on_gpus FAKE_MIG="$mig" FAKE_MIG_ERROR=23 "$gsim" drive --policy mig --gpus $first --logs "$tmp/logs" m.csv
echo "$first 0 19 0 1" >"$mig"
expect "instances of others" 1 "GPU $first has 1 MIG instance that this run did not make" \
    on_gpus FAKE_MIG="$mig" "$gsim" drive --policy mig --gpus $first --logs "$tmp/logs" m.csv
check "which stay" 1 "$(left_over 0)"
fresh
expect "a policy that cuts nothing, on a GPU in MIG mode" 1 "GPU $first is in MIG mode: programs see instances of it alone" \
    on_gpus FAKE_MIG="$mig" "$gsim" drive --policy fifo --gpus $first --logs "$tmp/logs" m.csv
sed 's/^all,0,0.3,1,70/gang,0,0.3,2,5/' m.csv >gang.csv
expect "a gang" 1 "gang.csv:5: policy 'mig' cuts GPUs into instances (MIG), of which a process sees one alone: job 'gang' asks for 2 GPUs" \
    on_gpus FAKE_MIG="$mig" "$gsim" drive --policy mig --gpus $first,$second --logs "$tmp/logs" gang.csv
check "no job was started" 0 "$(find logs -name '[0-9]*' 2>/dev/null | wc -l)"
check "nothing was made" 0 "$(cat "$mig.log" 2>/dev/null | grep -c made)"

# Ends before their time.
sed 's/while.*done"/sleep 60"/' m.csv >long.csv
begin() { # variable=value... : a run that lasts, with its number in $pid
    fresh
    tries=1200
    pid=
    # The guard of a run that was killed holds the GPU until its end; a run that begins before that is refused.
    while [ ! -s logs/0-large.log ] && [ $tries -gt 0 ]; do
        kill -0 $pid 2>/dev/null || {
            env LD_LIBRARY_PATH="$tmp/lib" FAKE_GPUS=65000 FAKE_MIG="$mig" "$@" "$gsim" drive --quiet --policy mig --gpus $first \
                --db r.db --force --logs "$tmp/logs" long.csv >/dev/null 2>"$tmp/begin.log" &
            pid=$!
        }
        sleep 0.05
        tries=$((tries - 1))
    done
    [ $tries -gt 0 ] || { say "a run that lasts begins" 1 && cat "$tmp/begin.log"; }
}
begin a=a
check "while jobs run their instances are there" 1 "$(grep -c " 9 0 1$" "$mig")"
kill -INT $pid
wait $pid
check "Ctrl-C destroys them" "4 0" "$? $(left_over 0)"
begin a=a
kill -9 $pid
wait $pid 2>/dev/null
check "kill -9 too, by the guard" 0 "$(left_over 60)"
begin FAKE_MIG_BUSY="$tmp/busy"
touch busy
kill -9 $pid
wait $pid 2>/dev/null
sleep 0.5
expect "a GPU of which instances are still in use" 1 "GPU $first is in use by another gsim drive" \
    on_gpus FAKE_MIG="$mig" "$gsim" drive --policy mig --gpus $first --logs "$tmp/logs2" m.csv
check "they stay until they are free" 1 "$([ -s "$mig" ] && echo 1)"
rm busy
check "and go then" 0 "$(left_over 60)"
check "no process is left" 0 "$(gone 60)"
rm -f /tmp/gsim-drive-gpu$first.lock /tmp/gsim-drive-gpu$second.lock
