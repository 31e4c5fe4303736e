#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A dirty sacct log to a report in one command; each number of the report about jobs, GPU hours, cost and waits is
# recomputed from what was drawn. $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh

python3 tests/support/dirty_log.py write "$tmp" || exit 1
# as many GPUs as no job waits for: 40 nodes of 8
"$gsim" compare --policies fifo --nodes 40 --gpus-per-node 8 --device ideal --no-what-if --db "$tmp/r.db" "$tmp/log.txt" >"$tmp/out" 2>&1
grep -q 'left out [0-9]* rows (the first is line [0-9]*): they have fewer fields than the 19 of the header' "$tmp/out"
say "bad rows are left out and counted" $?
grep -q 'left out [0-9]* rows .*: they have NUL bytes' "$tmp/out" && grep -q 'left out [0-9]* rows .*: they repeat the header' "$tmp/out"
say "so are NUL bytes and headers in the middle" $?
"$gsim" report "$tmp/r.db" --price 2.5 -o "$tmp/report.html" >"$tmp/log" 2>&1
python3 tests/support/dirty_log.py check "$tmp" >"$tmp/log" 2>&1
say "users, GPU hours, cost and waits of the report are those of the log" $?
expect "with --strict they are errors" 3 'log.txt:[0-9]*: a NUL byte; a trace is text' "$gsim" run --policy fifo --gpus-per-node 8 --strict "$tmp/log.txt"
# 13 of 16 GPU seconds are held, 81.25 %, which C rounds to an even digit: 81.2.
printf 'job_id,submit_s,duration_s,gpus\na,0,2,6\nb,0,1,1\n' >"$tmp/half.csv"
"$gsim" --policy fifo --device ideal --nodes 1 --gpus-per-node 8 --quiet --db "$tmp/half.db" "$tmp/half.csv" >"$tmp/log" 2>&1
"$gsim" report "$tmp/half.db" -o "$tmp/half.html" >"$tmp/log" 2>&1
check "a report rounds as other commands do" "81.2 %" "$(grep -o '81\.[0-9] %' "$tmp/half.html" | head -1)"

# Users and partitions of rows that became no job are none of the trace's: fair shares are of its own users, and the
# trace that import writes of the log has the results of the log. 20 GPUs, on which jobs wait.
fair() {
    "$gsim" run --quiet --policy fairshare --device ideal --nodes 1 --gpus-per-node 20 --time-scale 0.4 --force --jobs-csv "$1" "$2" >"$tmp/log" 2>&1 &&
        cut -d, -f1-6 "$1" | grep -v '^#'
}
"$gsim" import sacct "$tmp/log.txt" -o "$tmp/imported.csv" >"$tmp/log" 2>&1
fair "$tmp/a.csv" "$tmp/log.txt" >"$tmp/of_log" && fair "$tmp/b.csv" "$tmp/imported.csv" >"$tmp/of_import" && cmp -s "$tmp/of_log" "$tmp/of_import"
say "a log has the results of its import" $?
cat >"$tmp/cpu.txt" <<'END'
JobIDRaw|User|State|Submit|Start|End|ElapsedRaw|AllocTRES|Partition
1|c|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:00:00|2024-05-01T01:00:00|3600|cpu=8|cpu
2|u|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:00:00|2024-05-01T01:00:00|3600|gres/gpu=1|gpu
END
printf 'NodeName=n1 Gres=gpu:1\nPartitionName=gpu Nodes=n1 Default=YES\n' >"$tmp/slurm.conf"
"$gsim" run --policy slurm --slurm-conf "$tmp/slurm.conf" --device ideal "$tmp/cpu.txt" >"$tmp/log" 2>&1
check "a partition without a job is not said to be missing" "1 0" "$(grep -c 'had no GPU' "$tmp/log") $(grep -c "no partition 'cpu'" "$tmp/log")"
