#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim drive on GPUs, by drivers that are none: kernels, use, images, moves and MPS. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/drive.sh

no_drivers && counting_programs || exit 1
rm -rf r.db logs
on_gpus "$gsim" drive --quiet --policy fifo --gpus $first,$second --db r.db --logs "$tmp/logs" "$tmp/t.csv" >out 2>log
say "jobs without a command run kernels" $?
check "on the GPUs that are named" "5 0 NVIDIA H100 80GB HBM3 $first,$second" \
    "$(ask 'select count(*), sum(exit_code), device, gpus from real_job join real_run using (real_run)')"
rm -rf r.db logs
on_gpus "$gsim" drive --quiet --policy fifo --gpus $first,$second --steps-per-ms 4321 --db r.db --logs "$tmp/logs" "$tmp/t.csv" >out 2>log
check "with the arithmetic of an earlier run" 4321 "$(ask "select value from real_note where what = 'speed'")"
# What kernels do: of two jobs of 9 MiB, of which one touches 5, in iterations of three and two kernels of a ms.
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib,working_set_gib,gpus\n%s\n%s\n' a,0,2,3,0.0087890625,0.0048828125,1 b,0,1,2,0.0087890625,,0.5 >"$tmp/touch.csv"
touch_by() { # policy, variable=value...: what its kernels did
    by=$1
    shift
    rm -rf r.db logs touches
    # shellcheck disable=SC2086
    on_gpus FAKE_TOUCHES="$tmp/touches" "$@" "$gsim" drive --quiet --policy $by --gpus $first --steps-per-ms 1000 --db r.db --logs "$tmp/logs" touch.csv >out 2>log
    sort touches | uniq -c | awk '{ $1 = $1; print }' | tr '\n' ','
}
check "each page of plain memory is touched once in an iteration, in order" \
    "1 2 1000 plain 0 2,1 2 1000 plain 2 3,2 4 1000 plain 0 1,2 4 1000 plain 1 1,2 4 1000 plain 2 1," "$(touch_by timeslice)"
check "where the driver pages on demand, each of its small pages, of managed memory" \
    "1 2 1000 managed 0 1151,1 2 1000 managed 1151 1152,2 4 1000 managed 0 426,2 4 1000 managed 426 427,2 4 1000 managed 853 427," \
    "$(touch_by uvm FAKE_MANAGED=1)"
expect "managed memory that the driver does not page" 1 "has no managed memory on GPU $first" \
    on_gpus "$gsim" drive --policy uvm --gpus $first --steps-per-ms 1000 --logs "$tmp/logs" touch.csv
printf 'job_id,submit_s,duration_s,gpus,mem_gib,command\nown,0,1,1,1,true\n' >"$tmp/own.csv"
expect "a command, of which the memory is its own matter" 1 "own.csv:2: policy 'uvm' has the driver page the memory of jobs on demand" \
    on_gpus FAKE_MANAGED=1 "$gsim" drive --policy uvm --gpus $first --logs "$tmp/logs" own.csv
printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,20,50,0.01\nb,0.2,2,50,0.01\n' >"$tmp/taken.csv"
expect "managed memory, of which the driver takes no image" 1 "the driver takes no state with managed memory (memory=uvm)" \
    on_gpus FAKE_MANAGED=1 "$gsim" drive --policy srtf --set memory=uvm --set preempt=checkpoint --gpus $first --logs "$tmp/logs" taken.csv
expect "no arithmetic" 2 "is not a whole number from 1" on_gpus "$gsim" drive --policy fifo --gpus $first --steps-per-ms 0 --logs "$tmp/logs" "$tmp/t.csv"
# What processes use of GPUs, as the driver counts it: of jobs that do not tell how far they are.
printf 'job_id,submit_s,duration_s,gpus,command\nused,0,3,1,sleep 4\nnext,2.2,1,1,true\n' >"$tmp/use.csv"
use() { # variable=value...
    rm -rf r.db logs
    on_gpus "$@" "$gsim" drive --policy fifo --gpus $first --db r.db --logs "$tmp/logs" use.csv >out 2>log
}
use FAKE_USE=40
# all samples but one that is not over when the job ends, and one that the clock cut; and what a loaded machine delays
check "GPU time is what the driver counts" 1 "$(ask 'select gpu_ns between 0.4 * (ran_ns - 2e9) and 0.4 * ran_ns from real_job where job = 0')"
check "and stands in the record" 1 "$(ask "select count(*) > 0 from real_note where what = 'used'")"
check "nothing is said of it" 0 "$(grep -c 'GPU time of jobs' log)"
# Two that take turns: each has its own time, whatever fifth of a second it stops in.
printf 'job_id,submit_s,duration_s,gpus,command\none,0,3,1,sleep 4\nother,0,3,1,sleep 4\n' >"$tmp/turns.csv"
rm -rf r.db logs
on_gpus FAKE_USE=40 "$gsim" drive --policy gang-rr --set slice=500ms --set preempt=pause --assume mem_gib=1 --gpus $first --db r.db --logs "$tmp/logs" turns.csv >out 2>log
check "jobs that take turns have theirs" "2 1" "$(ask 'select count(*), min(gpu_ns between 0.4 * (ran_ns - 1.2e9) and 0.4 * ran_ns + 1e6) from real_job')"
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
expect "a policy that asks what the driver does not tell" 1 "both.csv:3: the policy asks how far job 'other' comes while it shares a GPU" \
    on_gpus "$gsim" drive $by_pairs --set packing=on --logs "$tmp/logs" both.csv
check "no job was started for it" 0 "$(ls "$tmp/logs" 2>/dev/null | wc -l)"
# shellcheck disable=SC2086
on_gpus FAKE_USE=40 "$gsim" drive --quiet $by_pairs --set packing=off --db r.db --logs "$tmp/logs" both.csv >out 2>log
check "where its jobs do not share, they run" "2 2" "$(ask 'select count(*), count(gpu_ns) from real_job')"
# Slices in which a job alone has some fifths of a second: the policy looks when the first one is over.
sed "s|sleep 0.8|$counts_in_c|; s|sleep 1.6|$counts_in_c|" "$tmp/both.csv" >"$tmp/telling.csv"
rm -rf r.db logs
on_gpus FAKE_USE=40 "$gsim" drive --quiet --cooperative --policy gandiva --set slice=700ms --set preempt=pause --assume mem_gib=1 --gpus $first \
    --set packing=on --db r.db --logs "$tmp/logs" telling.csv >out 2>log
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
    printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,sleep 3\nb,1,1,1,true\n' >"$tmp/i.csv"
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
printf 'job_id,submit_s,duration_s,gpus,command\na,0,30,1,while [ ! -e %s/gate2 ]; do sleep 0.05; done\nb,0,3,1,while [ ! -e %s/gate ]; do sleep 0.05; done\nc,1,5,1,touch %s/gate; sleep 5; touch %s/gate2\n' "$tmp" "$tmp" "$tmp" "$tmp" >"$tmp/v.csv"
sed 's/^a,0,30,1/a,0,30,2/' "$tmp/v.csv" >"$tmp/w.csv"
moves() { # GPUs, trace, variable=value...
    by="srtf --set preempt=checkpoint --assume mem_gib=1 --gpus $1 --db r.db --logs $tmp/logs $2"
    shift 2
    rm -rf r.db logs moved gate gate2
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
rm -f gate gate2
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
    echo "$CUDA_MPS_PIPE_DIRECTORY" >>"${0%/*}/folders"
    touch "$CUDA_MPS_PIPE_DIRECTORY/control"
    while [ ! -e "$CUDA_MPS_PIPE_DIRECTORY/log" ]; do sleep 0.05; done
else
    read -r word rest
    case $word in
    quit) touch "$CUDA_MPS_PIPE_DIRECTORY/log" ;;
    start_server) echo "$rest" >>"${0%/*}/servers" ;;
    get_server_list) echo 4711 ;;
    get_server_status) [ "$rest" = 4711 ] && echo ACTIVE ;;
    esac
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
folders() { # of the servers of this test that are still there
    sort -u bin/folders | while read -r folder; do [ ! -d "$folder" ] || echo "$folder"; done | wc -l
}
by_mps a=a
say "jobs are clients of MPS" $?
check "a client has its cap, and its place among the server's GPUs" "0 50 control" "$(tr '\n' ' ' <logs/0-half.log | sed 's/ $//')"
check "or none" "0 none" "$(cat logs/1-all.log)"
check "the server was told to start before the first job" "-uid $(id -u)" "$(cat bin/servers)"
check "the server has the run's GPUs" "serves $second" "$(cat logs/mps.log)"
check "and is gone, with its folder" "0 0" "$(pgrep -f "$tmp/bin/nvidia-cuda-mps" | wc -l) $(folders)"
# A job for which its own share is enough, and one that lacks half of the SMs that it fills.
check "a job with a cap does the work of all SMs that it fills on those that it sees" \
    "1 2 1000 plain 0 2,1 2 1000 plain 2 3,2 2 2000 plain 0 1,2 2 2000 plain 1 1,2 2 2000 plain 2 1," \
    "$(touch_by "mps --set mps.cap=50%" PATH="$tmp/bin:$PATH")"
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
expect "a GPU of another run, of which the jobs are processes there" 1 "GPU $first is in use by another gsim drive" \
    on_gpus FAKE_BUSY=$first "$gsim" drive --policy fifo --gpus $first --logs "$tmp/logs2" t.csv
kill -TERM $pid
wait $pid
check "which ends when it is asked to" 4 $?
rm -f /tmp/gsim-drive-gpu$first.lock /tmp/gsim-drive-gpu$second.lock
