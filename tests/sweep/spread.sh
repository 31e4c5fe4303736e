#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The ways to spread a sweep that experiments/spread shows end in the rows of one process: a Slurm of
# one node (slurm-wlm and munge, as root), GNU parallel, Snakemake. What is not installed is skipped
# with a message. $1 is the folder of a build.
set -u
gsim=$(cd "$1" && pwd)/gsim
tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
pids=
stop() {
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null
    wait
    rm -rf "$tmp"
}
trap stop EXIT
grid=experiments/spread/grid.ini

dump() {
    for table in run job gpu setting sweep sweep_run; do
        sqlite3 "$1" "select * from $table order by 1, 2, 3"
    done
}
"$gsim" sweep $grid -o "$tmp/one.db" >"$tmp/log" 2>&1 || echo "not ok one process: $(cat "$tmp/log")"
dump "$tmp/one.db" >"$tmp/wanted"
n=$(sqlite3 "$tmp/one.db" "select count(*) from run")
# 2 traces x 3 replications x (fifo 2, srtf 2, las 2 x 2)
if [ "$n" -eq 48 ]; then echo "ok the grid has 48 runs"; else echo "not ok the grid has $n runs"; fi
same() { # name, database
    if dump "$2" 2>"$tmp/err" | cmp -s - "$tmp/wanted"; then
        echo "ok $1: row for row one process"
    else
        echo "not ok $1"
        sed 's/^/# /' "$tmp/log" "$tmp/err"
    fi
}
skip() { echo "# $1: skipped: $2"; }
has() { command -v "$1" >/dev/null 2>&1; }

# --- GNU parallel
if has parallel && parallel --version 2>/dev/null | grep -q GNU; then
    sh experiments/spread/parallel.sh "$gsim" $grid "$tmp/by parallel.db" 3 >"$tmp/log" 2>&1
    same "GNU parallel" "$tmp/by parallel.db"
else
    skip "GNU parallel" "it is not installed (apt-get install parallel)"
fi

# --- Snakemake
if has snakemake; then
    # it keeps notes where it runs: not in the repository
    ln -s "$PWD/traces" "$PWD/experiments" "$tmp/"
    snakemake -s experiments/spread/Snakefile --directory "$tmp" -j 2 --quiet --nolock \
        --config gsim="$gsim" grid=$grid out="$tmp/by snakemake.db" shards=3 >"$tmp/log" 2>&1
    same "Snakemake" "$tmp/by snakemake.db"
else
    skip "Snakemake" "it is not installed (apt-get install snakemake)"
fi

# --- Slurm: a controller, a node and a munge of our own, on ports and sockets of our own
start_slurm() {
    host=$(hostname -s)
    port=$((20000 + $$ % 20000))
    dd if=/dev/urandom of="$tmp/key" bs=1024 count=1 2>/dev/null
    chmod 400 "$tmp/key"
    mkdir "$tmp/spool" "$tmp/state"
    cat >"$tmp/slurm.conf" <<C
ClusterName=gsim
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$tmp/munge.sock
CredType=cred/munge
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
C
    export SLURM_CONF="$tmp/slurm.conf"
    munged -F --force --key-file="$tmp/key" --socket="$tmp/munge.sock" --pid-file="$tmp/munged.pid" \
        --log-file="$tmp/munged.log" --seed-file="$tmp/seed" >>"$tmp/log" 2>&1 &
    pids="$pids $!"
    sleep 1
    slurmctld -D >>"$tmp/log" 2>&1 &
    pids="$pids $!"
    slurmd -D >>"$tmp/log" 2>&1 &
    pids="$pids $!"
    i=0
    while [ $i -lt 30 ]; do
        sinfo -h 2>/dev/null | grep -q idle && return 0
        i=$((i + 1))
        sleep 1
    done
    return 1
}
# Submitted again, an array makes only what is missing: here the second shard.
run_array() {
    "$gsim" sweep $grid --emit slurm --shards 3 -o "$tmp/by slurm.db" >"$tmp/job.sh" || return 1
    timeout 120 sbatch --wait --output="$tmp/task-%a.log" "$tmp/job.sh" >>"$tmp/log" 2>&1 || return 1
    rm -f "$tmp/by slurm-2.shard"
    timeout 120 sbatch --wait --output="$tmp/task-%a.log" "$tmp/job.sh" >>"$tmp/log" 2>&1 || return 1
    eval "$(sed -n 's/^#   //p' "$tmp/job.sh")" >>"$tmp/log" 2>&1
}
if ! has slurmctld || ! has slurmd || ! has munged; then
    skip "Slurm" "it is not installed (apt-get install slurm-wlm munge)"
elif [ "$(id -u)" -ne 0 ]; then
    skip "Slurm" "a Slurm of one's own needs root"
elif ! start_slurm; then
    skip "Slurm" "it does not start here: $(tail -n 1 "$tmp/log")"
else
    run_array
    cat "$tmp"/task-*.log >>"$tmp/log" 2>&1
    same "Slurm" "$tmp/by slurm.db"
fi
