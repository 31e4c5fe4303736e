#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The days that were recorded on H200s and an H100 (experiments/validate/drive: turns.csv, two_h200_again.csv,
# turns_h100.csv, two_h200_third.csv, real.csv, longer.csv, blind.csv, paging.csv, ahead_two.csv): with the events of then at the times
# of then, engine and policy decide as they did. tests/records has what happened, as the tables real_run and real_note of gsim drive had it.
# $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/check.sh
days=experiments/validate/drive

# The tables are those of a run of one job, which leaves.
printf 'job_id,submit_s,duration_s\na,0,0.001\n' >"$tmp/one.csv"
"$gsim" drive --quiet --dry-run --gpus 0 --policy fifo --db "$tmp/empty.db" --logs "$tmp/logs" "$tmp/one.csv" >/dev/null 2>&1
sqlite3 "$tmp/empty.db" <<END
UPDATE real_run SET run_id = NULL, is_dry = 0, speed_up = 1;
DELETE FROM real_note;
CREATE TEMP TABLE line (run, note, time_ns, job, what, detail, value);
.mode csv
.import --skip 1 tests/records/notes.csv line
CREATE TABLE noted AS SELECT * FROM line;
END
check "the record is there" "47 11646" "$(sqlite3 -separator ' ' "$tmp/empty.db" 'select count(distinct run), count(*) from noted')"

record() { # run, policy, device, GPUs: a database of that run alone
    cp "$tmp/empty.db" "$tmp/r.db"
    sqlite3 "$tmp/r.db" "UPDATE real_run SET policy = '$2', device = '$3', gpus = '$4';
        INSERT INTO real_note SELECT (SELECT real_run FROM real_run), note, time_ns, nullif(job, ''), what, detail, value
        FROM noted WHERE run = '$1'"
}
again() { # policy, settings, trace
    policy=$1 trace=$3
    # shellcheck disable=SC2046
    set -- $(for setting in $2; do echo "--set $setting"; done)
    "$gsim" drive --quiet --cooperative --replay "$tmp/r.db" --policy "$policy" "$@" "$days/$trace"
}
tail -n +2 tests/records/runs.csv | sed 's/"\([^",]*\),\([^",]*\)"/\1+\2/g' >"$tmp/runs"
while IFS=, read -r run policy settings gpus device trace; do
    settings=$(echo "$settings" | tr + ,)
    record "$run" "$policy" "$device" "$(echo "$gpus" | tr + ,)"
    n=$(sqlite3 "$tmp/r.db" "SELECT count(*) FROM real_note WHERE what IN ('start', 'stop', 'drop', 'arrange', 'partition', 'watch')")
    expect "$policy $settings on GPUs $gpus" 0 "the $n decisions of run 1 are those of the policy again" \
        again "$policy" "$settings" "$trace" </dev/null
done <"$tmp/runs"
# A record in which a stop of gang-rr came 1 ms earlier is another run's: the slice was not over.
record 2 gang-rr "NVIDIA H200" 0
sqlite3 "$tmp/r.db" "UPDATE real_note SET time_ns = time_ns - 1000000 WHERE what = 'stop' AND note = (SELECT min(note) FROM real_note WHERE what = 'stop')"
expect "a stop at another time is told" 1 "the policy decides otherwise" again gang-rr "preempt=pause slice=1700ms" fourteen_jobs.csv
expect "as is another slice" 1 "the policy decides otherwise" again gang-rr "preempt=pause slice=1600ms" fourteen_jobs.csv
