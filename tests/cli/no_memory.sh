#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What happens where there is no memory: short commands under an allocator that fails once, at any
# moment. A command then ends with 1, says so, and leaves nothing that is half written; or it did not
# need that memory, and its output is the output of an undisturbed run. $1 is gsim. MOMENTS: how many
# moments of each command are tried, spread over its allocations.
set -u
case $1 in
*-san-*)
    echo "ok no memory # SKIP a sanitizer has an allocator of its own"
    exit 0
    ;;
esac
gsim=$1
. tests/support/check.sh
if ! ${CC:-cc} -std=c11 -shared -fPIC -o "$tmp/failing.so" tests/support/failing_malloc.c 2>"$tmp/log"; then
    echo "ok no memory # SKIP the allocator is for glibc"
    exit 0
fi
moments=${MOMENTS:-$([ "${CASES-}" = all ] && echo 12 || echo 8)}

# Which commands there are is said here; tests/support/moments.py runs them at the end, and judges.
at_any_moment() { # name, command: words as of a shell
    printf '%s\t%s\t%s\n' "$1" "$moments" "$2" >>"$tmp/cases"
}

case $gsim in /*) ;; *) gsim=$PWD/$gsim ;; esac
in=$PWD
lab=$in/traces/samples/small_lab.csv
memory=$in/traces/samples/memory.csv
at_any_moment "a run" "'$gsim' --policy las --format json --jobs-csv jobs.csv --db run.db '$lab'"
# Most of what a run allocates is the engine's, and each run has moments of it; a policy's own are tried more often with
# CASES=all.
of_policies=$moments
[ -n "${MOMENTS-}" ] || [ "${CASES-}" = all ] || of_policies=4
for policy in $("$gsim" list policies | awk '{ print $1 }'); do
    case $policy in
    pollux | elasticflow) continue ;; # minutes
    vgpu) trace=$in/traces/samples/users.csv ;; # its jobs need no more than a vGPU has
    *) trace=$memory ;;
    esac
    (moments=$of_policies && at_any_moment "$policy" "'$gsim' --quiet --policy $policy --device h200 --nodes 2 --gpus-per-node 4 --format json '$trace'")
done
at_any_moment "a timeline" "'$gsim' --quiet --policy timeslice --timeline t.json --gpus-per-node 4 '$memory'"
at_any_moment "a comparison" "'$gsim' compare --quiet --no-what-if -j 1 --policies fifo,srtf '$lab'"
printf 'trace = %s\npolicy = fifo, las\nnodes = 1..2\ngpus-per-node = 4\n' "$lab" >"$tmp/grid.ini"
at_any_moment "a sweep" "'$gsim' sweep --quiet -j 1 '$tmp/grid.ini' -o runs.db"
for i in 1 2; do "$gsim" sweep --quiet "$tmp/grid.ini" --shard $i/2 -o "$tmp/s$i.db" >"$tmp/log" 2>&1 || say "shard $i" 1; done
at_any_moment "a merge" "'$gsim' merge --quiet '$tmp/s1.db' '$tmp/s2.db' -o all.db"
"$gsim" sweep --quiet "$tmp/grid.ini" -o "$tmp/runs.db" >"$tmp/log" 2>&1
at_any_moment "a table" "'$gsim' table '$tmp/runs.db'"
at_any_moment "a report" "'$gsim' report '$tmp/runs.db' -o report.html"
at_any_moment "a specification drawn" "'$gsim' generate '$in/traces/samples/training.ini' -o t.csv"
at_any_moment "facts of a trace" "'$gsim' describe '$lab'"
# commands that read what others wrote, or simulate many times
"$gsim" --quiet --policy las --db "$tmp/one.db" --jobs-csv "$tmp/one.csv" --timeline "$tmp/one.json" "$memory" --device h200 >"$tmp/log" 2>&1
at_any_moment "a check" "'$gsim' check '$tmp/one.db' '$tmp/one.csv' '$tmp/one.json'"
# every one of its few moments, among them those in which the doubts of the result are put together
(moments=120 && at_any_moment "a live view" "'$gsim' --live --quiet --policy las --format json '$lab'")
printf 'job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s\na,0,1000,1,u,0,1000\nb,10,1000,1,u,1000,2000\nc,20,10,1,v,2000,2010\n' >"$tmp/logged.csv"
# and its alternatives are tried one after the other
(moments=400 && at_any_moment "an advice" "'$gsim' advise --quiet -j 1 --device ideal --nodes 1 --gpus-per-node 1 '$tmp/logged.csv'")
at_any_moment "a plan" "'$gsim' plan --quiet -j 1 --policies fifo --device ideal --nodes 1..4 --gpus-per-node 1 --target 'jct_mean_s < 1h' '$tmp/logged.csv'"
printf 'job_id,submit_s,duration_s,gpus,command\na,0,1,1,true\nb,0,1,1,true\n' >"$tmp/driven.csv"
"$gsim" drive --quiet --dry-run --speed-up 60 --gpus 0 --policy fifo --db "$tmp/real.db" --logs "$tmp/logs" "$tmp/driven.csv" >"$tmp/log" 2>&1
at_any_moment "a comparison with what was driven" "'$gsim' compare --quiet -j 1 --device ideal --real '$tmp/real.db' '$tmp/driven.csv'"
sed '1,/^=== rows.csv/d; /^===/,$d' tests/fuzz/corpus/timeline >"$tmp/rows.csv"
at_any_moment "an imported timeline" "'$gsim' import timeline '$tmp/rows.csv' --device h200 --sync-every 4 -o app.csv"
# A report's allocations are those of gsim; gnuplot, which has all the memory that there is, was a fifth of this script's time.
PATH=$PWD/tests/support/bin:$PATH
export PATH
"${PYTHON:-python3}" tests/support/moments.py "$tmp/failing.so" "$tmp" <"$tmp/cases"
