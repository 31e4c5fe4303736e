#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Results do not depend on where and how the program is started: language, time zone, folder, the
# place of its memory and what was in it, the size of its environment, threads. Each output has the
# bytes of the first start. Compilers and levels of optimisation are compared by the golden files,
# which run in all builds. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
case $gsim in /*) ;; *) gsim=$PWD/$gsim ;; esac
root=$PWD
ini=$root/traces/samples/training.ini
trace=$root/traces/samples/memory.csv
cluster=$root/traces/samples/cluster.csv

# All kinds of output; times by the clock are left out.
outputs() {
    for policy in tiresias gang-rr gandiva timeslice mig gavel; do
        "$gsim" --quiet --policy $policy --device h200 --nodes 2 --gpus-per-node 4 --jobs-csv "$tmp/jobs.csv" --force "$trace"
        cat "$tmp/jobs.csv"
    done
    for format in json csv; do
        "$gsim" --quiet --policy las --nodes 4 --gpus-per-node 8 --format $format "$cluster" | sed 's/"wall_s":[^,]*//'
    done
    "$gsim" --quiet --policy mps --gpus-per-node 4 --timeline "$tmp/t.json" --force "$trace"
    cat "$tmp/t.json"
    "$gsim" generate --quiet "$ini"
    "$gsim" describe "$cluster"
    "$gsim" compare --quiet -j "${threads:-1}" --policies fifo,srtf --reps 3 --nodes 2 --gpus-per-node 8 "$ini"
    printf 'trace = %s\npolicy = srtf, las\nnodes = 4\ngpus-per-node = 8\n' "$cluster" >"$tmp/grid.ini"
    rm -f "$tmp/runs.db"
    "$gsim" sweep --quiet -j "${threads:-1}" "$tmp/grid.ini" -o "$tmp/runs.db"
    sqlite3 "$tmp/runs.db" "select * from job order by run_id, job; select jct_mean_s, wait_mean_s, events from run order by run_id"
    "$gsim" table --format csv "$tmp/runs.db"
}
# CSV of a run has its time in a column, which its header names
first=$(outputs 2>&1 | sed '/wall_s/,+1d' | cksum)
compare() { # name, command that starts a shell
    name=$1
    shift
    check "$name" "$first" "$("$@" 2>&1 | sed '/wall_s/,+1d' | cksum)"
}
# outputs in a shell of its own, under a command
under() {
    "$@" sh -c "gsim='$gsim' trace='$trace' cluster='$cluster' ini='$ini' tmp='$tmp' threads='${threads:-1}'
$functions
outputs"
}
functions=$(sed -n '/^outputs() {$/,/^}$/p' "$root/tests/cli/surroundings.sh")
compare "once more" under env
for language in C de_DE.UTF-8 tr_TR.UTF-8; do
    compare "language $language" under env LC_ALL=$language
done
for zone in UTC Asia/Kolkata America/St_Johns; do
    compare "time zone $zone" under env TZ=$zone
done
cd / || exit 1
compare "another folder" under env
cd "$root" || exit 1
compare "a bare environment" under env -i PATH="$PATH"
compare "a large environment" under env LARGE="$(head -c 100000 /dev/zero | tr '\0' x)"
compare "memory that is not empty" under env MALLOC_PERTURB_=165
if setarch -R true 2>/dev/null; then
    compare "memory at one place" under setarch -R
else
    echo "ok memory at one place # SKIP setarch -R is not allowed here"
fi
threads=3
compare "three threads" under env
