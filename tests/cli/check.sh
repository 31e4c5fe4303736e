#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim check: what runs write passes, and each law finds the file that was changed so that it breaks it.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

run() { # name, options: everything that a run writes
    name=$1
    shift
    "$gsim" --quiet --force --format json --db "$tmp/$name.db" --jobs-csv "$tmp/$name.csv" \
        --timeline "$tmp/$name-timeline.json" "$@" >"$tmp/$name.json" 2>"$tmp/log"
    say "$name runs" $?
}
run srtf --policy srtf --nodes 2 --gpus-per-node 8 --assume mem_gib=20GiB traces/samples/cluster.csv
run pages --policy uvm --device rtx5080 --set hbm_bytes=6GiB tests/golden/pages.csv
# 39 jobs: a timeline of all 300 has 117 MB
head -41 traces/samples/cluster.csv >"$tmp/few.trace"
run gandiva --policy gandiva --nodes 2 --gpus-per-node 8 "$tmp/few.trace"
run fractions --policy fifo --gpus-per-node 4 traces/samples/fractions.csv
for of in srtf pages gandiva fractions; do
    expect "$of passes" 0 "^4 files, 1 run, [0-9]* events: nothing that cannot be" "$gsim" check \
        "$tmp/$of.db" "$tmp/$of.json" "$tmp/$of.csv" "$tmp/$of-timeline.json"
    for file in "$of.json" "$of.csv" "$of-timeline.json"; do
        expect "$file alone" 0 "^1 file" "$gsim" check "$tmp/$file"
    done
    expect "$of, summary and jobs" 0 "^2 files" "$gsim" check "$tmp/$of.json" "$tmp/$of.csv"
done

# Work that is thrown away is done again, and only a database says that it is.
printf 'job_id,submit_s,duration_s,gpus\na,0,10000,1\nb,5,2000,1\n' >"$tmp/two.trace"
run lost --policy srtf --set srtf.preempt=discard --gpus-per-node 1 "$tmp/two.trace"
expect "lost work, without the database" 0 "^2 files" "$gsim" check "$tmp/lost.json" "$tmp/lost.csv"
run half --policy fifo --set speed_milli=500 --gpus-per-node 1 "$tmp/two.trace"
expect "half the speed, without the database" 0 "^2 files" "$gsim" check "$tmp/half.json" "$tmp/half.csv"
# --- a database with one change breaks one law
changed() { # name, SQL, what is found
    cp "$tmp/srtf.db" "$tmp/bad.db"
    sqlite3 "$tmp/bad.db" "$2"
    expect "$1" 1 "bad.db: run 1 (srtf): $3" "$gsim" check "$tmp/bad.db"
}
changed "a job before its submission" "UPDATE job SET start_ns = submit_ns - 1 WHERE job = 3" "job '.*' started before it was submitted"
changed "a job that ends before it starts" "UPDATE job SET end_ns = start_ns - 1 WHERE job = 3" "job '.*' ended before it started"
changed "a wait that is too short" "UPDATE job SET wait_ns = 0 WHERE job = (SELECT job FROM job WHERE start_ns > submit_ns LIMIT 1)" "job '.*' waited for less"
changed "a job that took longer than it says" "UPDATE job SET stall_ns = stall_ns + 1 WHERE preemptions = 0 AND job = (SELECT max(job) FROM job WHERE preemptions = 0)" "job '.*' .* than its waiting, stalls and work\|waited and stalled for longer"
changed "a lost job" "DELETE FROM job WHERE job = 3" "[a-z_]*=[0-9.]*, and its jobs have"
changed "a declined job with an end" "UPDATE job SET declined = 1 WHERE job = 3" "job '.*' was declined, and has an end"
changed "a job that nothing declined" "UPDATE run SET declined = 1, unfinished = 1, completed = completed - 1" "declined=1, and its jobs have 0\|[a-z_]*=[0-9.]*, and its jobs have"
changed "a sum" "UPDATE run SET preemptions = preemptions + 1" "preemptions=[0-9]*, and its jobs have"
changed "a mean" "UPDATE run SET jct_mean_s = jct_mean_s * 0.999" "jct_mean_s=.*, and its jobs have"
changed "a share above one" "UPDATE run SET gpu_down = 1.7" "gpu_down=1.7 is not in \[0,1\]"
changed "a number that is not finite" "UPDATE run SET rho_max = 9e999" "rho_max is not finite"
changed "quantiles out of order" "UPDATE run SET jct_p50_s = jct_p99_s + 1" "jct_p50_s=.* is above jct_p95_s"
changed "a GPU held for longer than the run" "UPDATE gpu SET busy_ns = busy_ns * 100 WHERE gpu = 2" "GPU 2 was held for longer than the run"
changed "a node that was down for none of the GPU time" "UPDATE gpu SET down_ns = 1000000000 WHERE gpu = 2" "gpu_down=0, and its GPUs have\|GPU 2 was held and down"
changed "hours that a job did not hold" "UPDATE job SET held_ns = held_ns + 1 WHERE job = 3" "job '.*' held another GPU time than its time on GPUs"
changed "hours of a job that never started" "UPDATE job SET end_ns = NULL, start_ns = NULL WHERE job = 3; UPDATE run SET completed = completed - 1, unfinished = 1" "job '.*' held GPUs, and never started"
changed "GPU time that no job had" "UPDATE gpu SET busy_ns = busy_ns - 1000000000 WHERE gpu = 2" "gpu_busy=.*, and its GPUs have"

# --- what a jobs.csv says of hours, alone and beside others; files of older programs do not say it
held() { # by how many seconds more: the last column of the fourth job
    awk -F, -v OFS=, -v more="$1" 'NR == 5 { $NF = sprintf("%.9f", $NF + more) } 1' "$tmp/srtf.csv" >"$tmp/held.csv"
}
held 1
expect "hours of which the database has fewer" 1 "held.csv: run 1 (srtf): line 5: held_s of job '.*' is [0-9]*, and [0-9]* in the file" "$gsim" check "$tmp/srtf.db" "$tmp/held.csv"
expect "hours that GPUs were not held for" 1 "jobs held GPUs for .* s, and GPUs were held for" "$gsim" check "$tmp/srtf.json" "$tmp/held.csv"
held 1e8
expect "more hours than all GPUs have" 1 "job '.*' held more than all GPUs for the time" "$gsim" check "$tmp/srtf.json" "$tmp/held.csv"
sed 's/,[^,]*$//' "$tmp/srtf.csv" >"$tmp/older.csv"
expect "jobs without that column" 0 "^3 files" "$gsim" check "$tmp/srtf.db" "$tmp/srtf.json" "$tmp/older.csv"
expect "before files that have it" 0 "^2 files" "$gsim" check "$tmp/older.csv" "$tmp/srtf.csv"

# --- files of different runs, and timelines
expect "another run's jobs" 1 "srtf.csv: .*in the file before it" "$gsim" check "$tmp/gandiva.db" "$tmp/srtf.csv"
expect "another run's summary" 1 "srtf.json: .*in the file before it" "$gsim" check "$tmp/gandiva.db" "$tmp/srtf.json"
grep -v '"pid":12,"tid":1,' "$tmp/srtf-timeline.json" >"$tmp/fewer.json"
expect "a gang without one of its GPUs" 1 "job '.*' was running on [0-9]* GPUs at .* s and asks for" "$gsim" check "$tmp/srtf.db" "$tmp/fewer.json"
sed 's/"pid":12,"tid":1,/"pid":11,"tid":99,/' "$tmp/fractions-timeline.json" >"$tmp/crowded.json"
expect "two jobs on one GPU" 1 "jobs held more than all of GPU 1" "$gsim" check "$tmp/fractions.db" "$tmp/crowded.json"
sed '/"cat":"slice"/{p;s/"tid":1000001/"tid":1000009/;}' "$tmp/pages-timeline.json" >"$tmp/twice.json"
expect "a slice that is there twice" 1 "job '.*' has a second slice of GPU 0 at" "$gsim" check "$tmp/pages.db" "$tmp/twice.json"
# Jobs in turns on two GPUs: one ends while the other GPU's job would go on to what comes next for it.
printf 'job_id,submit_s,gpus,mem_gib,duration_s\na,1,1,4,10\nb,2,1,4,3\nc,9,1,4,1\n' >"$tmp/turns.trace"
run turns --policy msched --gpus-per-node 2 --device ideal "$tmp/turns.trace"
expect "slices of two GPUs are there once" 0 "^4 files" "$gsim" check "$tmp/turns.db" "$tmp/turns.json" "$tmp/turns.csv" "$tmp/turns-timeline.json"
sed 's/"pid":12,"tid":1,/"pid":11,"tid":1,/' "$tmp/srtf-timeline.json" >"$tmp/overlaps.json"
expect "spans of a row that overlap" 1 "GPU 1, row 1: the span of '.*' begins .* ns before the one before it ends" "$gsim" check "$tmp/overlaps.json"
sed 's/"name":"resident: \([^"]*\)","ts":\([0-9.]*\),"args":{"bytes":0}/"name":"resident: \1","ts":\2,"args":{"bytes":1}/' "$tmp/pages-timeline.json" >"$tmp/stays.json"
sed 's/"args":{"bytes":[1-9][0-9]*}/"args":{"bytes":6442450943}/' "$tmp/stays.json" >"$tmp/over.json"
expect "more memory than a GPU has" 1 "GPU 0 holds [0-9]* bytes at .* s and has 6442450944" "$gsim" check "$tmp/pages.db" "$tmp/over.json"
sed '3s/,$//' "$tmp/srtf-timeline.json" >"$tmp/comma.json"
expect "JSON without a comma" 3 "comma.json:4" "$gsim" check "$tmp/comma.json"
expect "a file of another kind" 3 "none of a database" "$gsim" check README.md
expect "no file" 2 "which files? gsim check results.db" "$gsim" check
expect "a file that is not there" 3 "nowhere.db" "$gsim" check nowhere.db

# --- no more work than GPUs can do
# Two kernels of 100 s that fill the GPU, the second 10 s later, take 200 s. A build let go of SMs too early: it
# said 171.877777796 s, and that the GPU was useful for 200 / 171.877777796 = 1.1636 of the time.
printf 'job_id,submit_s,duration_s,gpus\na,0,100,1\nb,10,100,1\n' >"$tmp/late.trace"
# Two kernels that fill 0.4 of the SMs each run beside each other and take 100 s, of twice the work.
printf 'job_id,submit_s,duration_s,gpus,sm_fraction\na,0,100,1,0.4\nb,0,100,1,0.4\n' >"$tmp/parts.trace"
# The host of the first works for 40 s behind its kernel, while the second has the GPU: both end at 160 s, of 200 s of
# which nothing else is known than that they are the jobs' own.
printf 'job_id,submit_s,duration_s,gpus,host_tail_s,mem_gib\na,0,100,1,40,1\nb,0,100,1,,1\n' >"$tmp/tail.trace"
run tail --policy msched --device ideal --gpus-per-node 1 "$tmp/tail.trace"
# An iteration that the run cuts short counts as far as its kernels are, before the pause behind them.
printf 'job_id,submit_s,duration_s,gpus,mem_gib\na,0,0.906560270,1,4\n' >"$tmp/short.trace"
run short --policy easy-backfill --device p100 --gpus-per-node 1 --set memory=uvm --until 0.766s "$tmp/short.trace"
run late --policy orion --device ideal --gpus-per-node 1 "$tmp/late.trace"
run parts --policy mps --device ideal --gpus-per-node 1 "$tmp/parts.trace"
run fast --policy timeslice --device ideal --set speed.ideal=2 --gpus-per-node 1 "$tmp/late.trace"
for of in late parts fast tail short; do
    expect "$of passes" 0 "^1 file, 1 run: nothing" "$gsim" check "$tmp/$of.db"
done
check "kernels that fill parts of a GPU are useful for more than the time" 2.0 \
    "$(sqlite3 "$tmp/parts.db" "SELECT round(gpu_useful, 9) FROM run")"
worked() { # of which run, name, SQL, what is found
    cp "$tmp/$1.db" "$tmp/bad.db"
    sqlite3 "$tmp/bad.db" "$3"
    expect "$2" 1 "bad.db: run 1 ([a-z]*): $4" "$gsim" check "$tmp/bad.db"
}
useful="GPUs did useful work for [0-9.]* of the time, of jobs that fill [0-9.]* of them or more, and were held for"
worked late "more useful work than a GPU can do" "UPDATE run SET gpu_work = 1.1636, gpu_useful = 1.1636" "$useful 1 of it"
worked late "jobs that end too early" "UPDATE job SET end_ns = 171877777796, held_ns = held_ns - 28122222204 WHERE job_id = 'b';
    UPDATE gpu SET busy_ns = 171877777796; UPDATE run SET makespan_s = 171.877777796, gpu_busy = 1, gpu_work = 1,
    gpu_useful = 1, jct_mean_s = 130.938888898, jct_p50_s = 100, jct_p95_s = 161, jct_p99_s = 161, jct_max_s = 161.877777796" \
    "jobs that began at 0.000000000 s (job 'a') or later and ended by 171.877777796 s (job 'b') did work of 199.99998"
worked late "a job with more work than time" "UPDATE job SET service_ns = 1000000000000 WHERE job_id = 'a'" "job 'a' had its GPUs for less time than its work takes"
worked parts "kernels that fill the GPU beside each other" "UPDATE trace_job SET sm_ppm = NULL" "$useful 1 of it"
worked fast "GPUs that are no faster" "UPDATE parameter_list SET value = '1000' WHERE key = 'speed_milli'" "$useful [0-9.]* of it"
