#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Sweeps: the runs of a grid, killed and resumed, in shards and merged. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# Everything but wall time, in order.
dump() {
    for table in run job gpu setting sweep sweep_run request sample; do
        sqlite3 "$1" "select * from $table order by 1, 2, 3"
    done
}
same() { # name, database, database
    dump "$2" >"$tmp/one"
    dump "$3" >"$tmp/two"
    [ -s "$tmp/one" ] && cmp "$tmp/one" "$tmp/two" >"$tmp/log" 2>&1
    say "$1" $?
}
count() { # 0 also before there are tables, and while nobody can look
    rows() { sqlite3 -cmd ".timeout 5000" "$@"; }
    if [ "$(rows "$1" "select count(*) from sqlite_master")" = 0 ]; then echo 0; else rows "$1" "select count(*) from run"; fi
}

# --- grids: 2 traces x (2 + 1 x 3) policies with quantum x 2 nodes, less the skipped ones
cat >"$tmp/grid.ini" <<'G'
trace = traces/samples/heavy_tail.csv, traces/samples/heavy_tail.ini
policy = fifo, srtf,
    las     # the only one with a quantum
nodes = 1..3/2   # 1 and 3
gpus-per-node = 4
set.las.quantum = 30min, 1h, 2h
[skip the small cluster under fifo]
policy = fifo
nodes = 1
G
grid=$tmp/grid.ini
"$gsim" sweep "$grid" --list >"$tmp/list"
# a trace: fifo 1, srtf 2, las 2 x 3
[ "$(wc -l <"$tmp/list")" -eq 18 ] && [ "$(cut -f3 "$tmp/list" | sort -u | wc -l)" -eq 18 ]
say "lists, ranges, keys of one policy and skips make 18 different runs" $?
! grep -e 'policy fifo.*quantum' -e 'policy fifo --nodes 1' "$tmp/list" >"$tmp/log"
say "a key meets only the policies that know it" $?
# --- load as an axis: a trace's submissions are stretched, a spec's rate is set, by the cluster's size
cat >"$tmp/load.ini" <<'G'
trace = traces/samples/cluster.csv, traces/samples/heavy_tail.ini
policy = fifo
nodes = 2, 4
gpus-per-node = 8
load = 0.4, 0.8
spec.trace.jobs = 400
G
"$gsim" sweep "$tmp/load.ini" -o "$tmp/load.db" --quiet >"$tmp/log" 2>&1
[ "$(sqlite3 "$tmp/load.db" "select count(*), count(distinct config) from run")" = "8|8" ]
say "loads and sizes make 8 different runs" $?
# twice the load on half the GPUs is one and the same arrival process
spans() {
    sqlite3 "$tmp/load.db" "select round(max(submit_ns) / 1e9 / 10) from run join job using (run_id)
        join setting as s using (run_id) where trace like '%$1' and s.key = 'load' group by gpus, s.value order by gpus * s.value"
}
[ "$(spans cluster.csv | uniq | wc -l)" -eq 3 ] && [ "$(spans heavy_tail.ini | uniq | wc -l)" -eq 3 ]
say "twice the load on half the GPUs makes one and the same trace" $?
printf 'PriorityType=priority/multifactor\n' >"$tmp/settings.conf"
# a load of 0.8 was one of a single GPU there, and the jobs ran on as many as the widest gang needs
expect "nor is a file without nodes a cluster" 2 'say how many there are' "$gsim" --policy slurm --slurm-conf "$tmp/settings.conf" --load 0.8 traces/samples/cluster.csv
expect "but beside a number of GPUs it may stand" 0 '' "$gsim" --policy slurm --slurm-conf "$tmp/settings.conf" --gpus-per-node 8 --load 0.8 --quiet traces/samples/cluster.csv
expect "a load of no cluster is refused" 2 'say how many there are' "$gsim" --policy fifo --load 0.8 traces/samples/cluster.csv
expect "a load and a time scale are refused together" 2 'give one of them' "$gsim" --policy fifo --load 0.8 \
    --time-scale 2 --gpus-per-node 8 traces/samples/cluster.csv
expect "a spec's key for a trace is refused" 2 'is not' "$gsim" --policy fifo --spec trace.jobs=3 traces/samples/cluster.csv
"$gsim" generate --time-scale 0.5 traces/samples/cluster.csv -o "$tmp/half.csv" &&
    "$gsim" --policy srtf --quiet --gpus-per-node 32 "$tmp/half.csv" --format csv | cut -d, -f6-20 >"$tmp/one" &&
    "$gsim" --policy srtf --quiet --gpus-per-node 32 --time-scale 0.5 traces/samples/cluster.csv --format csv | cut -d, -f6-20 >"$tmp/two"
cmp "$tmp/one" "$tmp/two" >"$tmp/log" 2>&1 && [ -s "$tmp/one" ]
say "generate --time-scale writes what --time-scale runs" $?

cat >"$tmp/twins.ini" <<'G'
trace = tests/golden/two.csv
policy = las
set.quantum = 1h, 60min, 3600
G
expect "a value written in three ways is one run" 0 "1 of 1 runs" "$gsim" sweep "$tmp/twins.ini" -o "$tmp/twins.db"
printf 'trace = tests/golden/two.csv\npolicy = fifo\nuntil = "90min", "2,5"\n' >"$tmp/quoted.ini"
expect "quotes keep a comma in a value" 3 "'2,5' is not a time" "$gsim" sweep "$tmp/quoted.ini" --list

printf 'trace = tests/golden/two.csv\npolicy = fifo\nexact = off, on\n' >"$tmp/flag.ini"
expect "a flag is on or off" 0 "2	-	gsim run --policy fifo --exact tests" "$gsim" sweep "$tmp/flag.ini" --list

# --- what is wrong in a grid is said with its line, and nothing is run
wrong() { # name, pattern, line of the grid
    printf 'trace = tests/golden/two.csv\npolicy = fifo, las\n%s\n' "$3" >"$tmp/wrong.ini"
    rm -f "$tmp/wrong.db"
    expect "$1" 3 "$2" "$gsim" sweep "$tmp/wrong.ini" -o "$tmp/wrong.db"
    [ ! -e "$tmp/wrong.db" ] || echo "not ok $1: something was written"
}
wrong "a key without its part" "wrong.ini:3: .*'assume'; there are trace, the long options of a run, set.KEY, assume.COLUMN" 'assume = mem_gib=20GiB'
wrong "an unknown key" "wrong.ini:3: .*did you mean 'nodes'" 'nodse = 3'
wrong "an unknown parameter" "did you mean 'quantum'" 'set.las.quantm = 3s'
wrong "a parameter of a policy that is not there" "wrong.ini:3: no policy of this grid knows 'fairshare" 'set.fairshare.half_life = 1h'
wrong "a wrong value of a parameter" "is not a time" 'set.las.quantum = 1h, soon'
wrong "a range downwards" "wrong.ini:3: '9..1' is not a range" 'nodes = 9..1'
wrong "a flag that is neither" "wrong.ini:3: exact: 'maybe' is not one of" 'exact = maybe'
wrong "an empty value" "wrong.ini:3: .*empty" 'nodes = 1,,2'
wrong "an open quote" "wrong.ini:3: .*not closed" 'nodes = "1'
wrong "a skip of a value that is not there" "did you mean 'fifo'" '[skip x]
policy = fifoo'
wrong "a skip of a key that is not there" "wrong.ini:4: .*no key 'node'; it has trace, policy$" '[skip x]
node = 1'
wrong "everything skipped" "every run is skipped" '[skip x]
policy = fifo, las'
wrong "replications of a file" "drawn again" 'reps = 3'
wrong "keys below a section" "wrong.ini:4: no section .runs. in a grid: its keys stand above" '[runs]
nodes = 3'
wrong "another section" "no section" '[grid]
nodes = 3'
printf 'trace = tests/golden/two.csv\npolicy = fifo, lsa\n' >"$tmp/wrong.ini"
expect "an unknown policy" 3 "wrong.ini:2: .*did you mean 'las'" "$gsim" sweep "$tmp/wrong.ini" --list
printf 'trace = nowhere.csv, tests/golden/two.csv\npolicy = fifo\n' >"$tmp/wrong.ini"
expect "a trace that is not there" 3 "nowhere.csv" "$gsim" sweep "$tmp/wrong.ini" -o "$tmp/wrong.db"
printf 'policy = fifo\n' >"$tmp/wrong.ini"
expect "no trace" 3 "no trace" "$gsim" sweep "$tmp/wrong.ini" --list
expect "no database" 2 "where do the results go" "$gsim" sweep "$grid"
expect "two grids" 2 "one grid at a time" "$gsim" sweep "$grid" "$tmp/twins.ini" -o "$tmp/x.db"
expect "a key of the grid as an option" 2 "a key of the grid, a line 'nodes = ...'" "$gsim" sweep "$grid" -o "$tmp/x.db" --nodes 3
expect "a database in a folder that is not there" 1 "the database cannot be opened: No such file" "$gsim" sweep "$grid" -o "$tmp/no/where.db"
expect "a folder for a database" 1 "the database cannot be opened: Is a directory" "$gsim" sweep "$grid" -o "$tmp"
expect "the grid for a database" 3 "not a database, and was left as it is" "$gsim" sweep "$grid" -o "$grid"
expect "no grid" 2 "which grid" "$gsim" sweep -o "$tmp/x.db"
printf 'trace = traces/samples/heavy_tail.csv, traces/samples/cluster.csv\npolicy = fifo\ngpus-per-node = 1\n' >"$tmp/wide.ini"
expect "a run that fails does not stop the others" 3 "1 of 2 runs are in .*1 failed" "$gsim" sweep "$tmp/wide.ini" -o "$tmp/wide.db"

# --- one process
expect "a sweep" 0 "18 of 18 runs are in .* 18 of them new" "$gsim" sweep "$grid" -o "$tmp/all.db"
expect "again: nothing to do" 0 "18 of 18 runs are in .* 0 of them new" "$gsim" sweep "$grid" -o "$tmp/all.db"
"$gsim" sweep "$grid" -o "$tmp/one.db" -j 1 >"$tmp/log" 2>&1
same "one thread and all" "$tmp/one.db" "$tmp/all.db"
line=$(sed -n 5p "$tmp/list" | cut -f3)
# shellcheck disable=SC2086
expect "a listed command is the same run" 0 "has this run already" $gsim ${line#gsim} --db "$tmp/all.db"
$gsim ${line#gsim} --db "$tmp/single.db" >"$tmp/log" 2>&1
[ "$(sqlite3 "$tmp/all.db" "attach '$tmp/single.db' as single; select count(*) from main.run a join single.run b
    using (config) where a.argv = b.argv and a.jct_mean_s = b.jct_mean_s and a.events = b.events")" = 1 ]
say "and has its result" $?

# --- shards
for i in 1 2 3; do "$gsim" sweep "$grid" -o "$tmp/s$i.db" --shard $i/3 >"$tmp/log" 2>&1 || say "shard $i" 1; done
expect "a merge without the last shard" 4 "6 of the 18 runs of .* are missing: 3, 6, 9, 12, 15, 18;" \
    "$gsim" merge -o "$tmp/merged.db" "$tmp/s1.db" "$tmp/s2.db"
expect "shards that overlap" 4 "6 of the 18 runs of .* are missing: 3, 5, 9, 11, 15, 17;" sh -c \
    "'$gsim' sweep '$grid' -o '$tmp/half.db' --shard 2/2 && '$gsim' merge -o '$tmp/overlap.db' '$tmp/half.db' '$tmp/s1.db'"
"$gsim" sweep "$tmp/wide.ini" -o "$tmp/bare.db" --shard 1/2 >"$tmp/log" 2>&1 # a shard without a run
before=$(cat "$tmp/bare.db" "$tmp/s1.db" | cksum)
"$gsim" merge -o "$tmp/bare_too.db" "$tmp/bare.db" "$tmp/s1.db" >"$tmp/log" 2>&1
[ "$before" = "$(cat "$tmp/bare.db" "$tmp/s1.db" | cksum)" ]
say "a merge leaves the shards as they are" $?
expect "a merge of a database that is not there" 3 "no.db: the database cannot be opened: No such file" "$gsim" merge -o "$tmp/none.db" "$tmp/s1.db" "$tmp/no.db"
sqlite3 "$tmp/others.db" "create table t (a)"
: >"$tmp/nothing_in.db"
expect "one with a file that is no database" 3 "$grid: the file is not a database" "$gsim" merge -o "$tmp/none.db" "$tmp/s1.db" "$grid"
expect "one with a database of another program" 3 "others.db: .*not one of gsim's" "$gsim" merge -o "$tmp/none.db" "$tmp/s1.db" "$tmp/others.db"
expect "one with an empty file" 3 "nothing_in.db: the file is empty" "$gsim" merge -o "$tmp/none.db" "$tmp/s1.db" "$tmp/nothing_in.db"
check "leaves none behind" "" "$(ls "$tmp" | grep '^none')"
check "nor makes a database of an empty file" 0 "$(wc -c <"$tmp/nothing_in.db")"
expect "a sweep does, which writes it" 0 "" "$gsim" sweep "$grid" -o "$tmp/nothing_in.db" --shard 1/3
expect "a merge of all" 0 "6 new runs" "$gsim" merge -o "$tmp/merged.db" "$tmp/s3.db" "$tmp/s1.db" "$tmp/s2.db"
same "shards merged are one process, row for row" "$tmp/merged.db" "$tmp/all.db"
expect "merging again changes nothing" 0 " 0 new runs" "$gsim" merge -o "$tmp/merged.db" "$tmp/s1.db" "$tmp/s2.db" "$tmp/s3.db"
expect "nor does merging the result into itself" 0 " 0 new runs" "$gsim" merge -o "$tmp/merged.db" "$tmp/merged.db" "$tmp/s1.db"
same "nothing at all" "$tmp/merged.db" "$tmp/all.db"
sqlite3 "$tmp/s2.db" "update job set end_ns = end_ns + 1 where job = 7 and run_id = 5"
expect "a job with another result is a conflict" 1 "other results" "$gsim" merge -o "$tmp/merged.db" "$tmp/s1.db" "$tmp/s2.db"
sqlite3 "$tmp/s3.db" "update run set preemptions = preemptions + 1 where run_id = 9"
expect "a run with another result is a conflict" 1 "other results" "$gsim" merge -o "$tmp/merged.db" "$tmp/s3.db"
same "a conflict changes nothing" "$tmp/merged.db" "$tmp/all.db"
expect "merging what is not there" 3 "cannot be opened" "$gsim" merge -o "$tmp/merged.db" "$tmp/nothing.db"
expect "merging nothing" 2 "which databases" "$gsim" merge -o "$tmp/merged.db"
expect "a shard that is none" 2 "I from 1 to N" "$gsim" sweep "$grid" -o "$tmp/x.db" --shard 4/3
expect "no array" 2 "no task of a Slurm array" "$gsim" sweep "$grid" -o "$tmp/x.db" --shard auto
array() { # id, min, max, step, count, command...
    SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=$2 SLURM_ARRAY_TASK_MAX=$3 SLURM_ARRAY_TASK_STEP=$4 \
        SLURM_ARRAY_TASK_COUNT=$5 "$gsim" sweep "$grid" --shard auto --list
}
for id in 10 12 14; do array $id 10 14 2 3; done | sort -n >"$tmp/log" 2>&1
cmp -s "$tmp/log" "$tmp/list"
say "the tasks of an array 10-14:2 share the runs" $?
expect "an array with holes" 2 "holes" array 7 1 8 1 3
"$gsim" sweep "$grid" --emit slurm --shards 3 -o "$tmp/by slurm.db" >"$tmp/job.sh"
sh -n "$tmp/job.sh" && grep -q '^#SBATCH --array=1-3$' "$tmp/job.sh"
say "the script for Slurm is one" $?
for id in 1 2 3; do
    SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_STEP=1 \
        SLURM_ARRAY_TASK_COUNT=3 sh "$tmp/job.sh" >"$tmp/log" 2>&1 || say "task $id of the script" 1
done
eval "$(sed -n 's/^#   //p' "$tmp/job.sh")" >"$tmp/log" 2>&1
same "its tasks, merged as it says" "$tmp/by slurm.db" "$tmp/all.db"

# --- reports, and databases that are none
expect "a report on a full disk" 1 "cannot be written" \
    sh -c "ulimit -f 8; trap '' XFSZ; '$gsim' report '$tmp/all.db' -o '$tmp/full.html'"
[ ! -e "$tmp/full.html" ] && [ ! -e "$tmp/full.html.part" ]
say "leaves no half of it" $?
expect "a report of two databases" 2 "one database at a time; '$tmp/s2.db' is too many" "$gsim" report "$tmp/s1.db" "$tmp/s2.db" -o "$tmp/x.html"
expect "a report to nowhere" 2 "where does the page go" "$gsim" report "$tmp/s1.db"
expect "a figure that is no option" 2 "one database at a time; 'jct_cdf' is too many: gsim plot results.db --figure" "$gsim" plot "$tmp/s1.db" jct_cdf -o "$tmp/x.svg"
expect "a report of what is no database" 3 "not a database" "$gsim" report "$grid" -o "$tmp/x.html"
sqlite3 "$tmp/s1.db" "pragma user_version = 4"
expect "an older database" 3 "an older gsim" "$gsim" sweep "$grid" -o "$tmp/s1.db"

# --- tables that fill gaps are a dimension: each is a trace of its own (10 iterations of 1 s, of 2 s)
printf '0,m,0,10,1\n' >"$tmp/gaps.txt"
printf 'model,gpu_ms\nm,1000\n' >"$tmp/slow.csv"
printf 'model,gpu_ms\nm,2000\n' >"$tmp/slower.csv"
printf 'trace = %s/gaps.txt\npolicy = fifo\nby-model = %s/slow.csv, %s/slower.csv\n' "$tmp" "$tmp" "$tmp" >"$tmp/gaps.ini"
expect "a grid over tables of models" 0 "2 of 2" "$gsim" sweep "$tmp/gaps.ini" -o "$tmp/gaps.db"
expect "each table has its own runs" 0 "^10.0,20.0$" sqlite3 "$tmp/gaps.db" "select group_concat(jct_mean_s) from (select jct_mean_s from run order by 1)"

# --- durations say nothing about how fast devices are
printf 'job_id,submit_s,duration_s,gpus\na,0,10,1\n' >"$tmp/plain.csv"
printf 'trace = %s/plain.csv\npolicy = fifo\ndevice = t4, h200\n' "$tmp" >"$tmp/devices.ini"
expect "a grid over devices of unknown speed" 0 "durations of a trace are taken as they are on each device" \
    "$gsim" sweep "$tmp/devices.ini" -o "$tmp/devices.db"
printf 'trace = %s/plain.csv\npolicy = fifo\ndevice = t4\n' "$tmp" >"$tmp/device.ini"
"$gsim" sweep "$tmp/device.ini" -o "$tmp/device.db" >"$tmp/log" 2>&1
! grep -q "taken as they are" "$tmp/log"
say "one device is no comparison" $?

# Kills, signals, full disks and terminals of hundreds of runs: what SQLite and the kernel make of them. A build
# with sanitizers has had all that it can see of a sweep.
case $gsim in
*-san-*) [ "${CASES-}" = all ] || exit 0 ;;
esac

# --- killed and resumed: many short runs, so that a kill falls anywhere
cat >"$tmp/many.ini" <<'G'
trace = traces/samples/users.csv
policy = fifo, srtf, las
nodes = 1..2
gpus-per-node = 8
seed = 1..120
G
"$gsim" sweep "$tmp/many.ini" -o "$tmp/whole.db" >"$tmp/log" 2>&1
n=$(count "$tmp/whole.db")
[ "$n" -eq 720 ]
say "720 runs" $?
lost=0 repeated=0 kills=0 within=0
while [ $kills -lt "${KILLS:-10}" ]; do # KILLS=50: 50 moments
    kills=$((kills + 1))
    before=0
    [ "${now:-0}" -lt "$n" ] || rm -f "$tmp/killed.db" "$tmp/killed.db-journal" # it was whole
    [ -e "$tmp/killed.db" ] && before=$(count "$tmp/killed.db")
    "$gsim" sweep "$tmp/many.ini" -o "$tmp/killed.db" >"$tmp/killed.out" 2>&1 &
    pid=$!
    sleep 0.$((kills % 4))$((kills * 7 % 10))
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -e "$tmp/killed.db" ] || continue
    now=$(count "$tmp/killed.db")
    [ "$now" -eq 0 ] || [ "$now" -eq "$n" ] || within=$((within + 1))
    broken=0
    [ "$now" -eq 0 ] || broken=$(sqlite3 "$tmp/killed.db" \
        "select count(*) from run where (select count(*) from job where job.run_id = run.run_id) <> jobs")
    whole=$(sqlite3 "$tmp/killed.db" "pragma integrity_check")
    [ "$whole" = ok ] && [ "$broken" -eq 0 ] && [ "$now" -ge "$before" ] && continue
    lost=1
    echo "kill $kills: $before runs before, $now after, $broken of them broken, $whole"
done >"$tmp/log"
say "a database that was killed $kills times ($within times with some runs) opens, and has whole runs only" $lost
if [ "${now:-0}" -eq "$n" ]; then # the last kill came too late
    rm -f "$tmp/killed.db" "$tmp/killed.db-journal"
    "$gsim" sweep "$tmp/many.ini" -o "$tmp/killed.db" --shard 1/3 >"$tmp/log" 2>&1
fi
there=$(count "$tmp/killed.db")
"$gsim" sweep "$tmp/many.ini" -o "$tmp/killed.db" >"$tmp/log" 2>&1
grep -q "720 of 720 runs are in .*, $((n - there)) of them new" "$tmp/log" || repeated=1
say "what was there ($there runs) is not repeated" $repeated
same "killed and resumed is uninterrupted" "$tmp/killed.db" "$tmp/whole.db"

# --- a merge that is killed, at moments of a seed (KILL_SEED): it adds all of a shard's runs or none
for i in 1 2 3; do "$gsim" sweep "$tmp/many.ini" -o "$tmp/many$i.db" --shard $i/3 >"$tmp/log" 2>&1 || say "shard $i" 1; done
shards="$tmp/many1.db $tmp/many2.db $tmp/many3.db"
# shellcheck disable=SC2086
before=$(cat $shards | cksum)
seed=${KILL_SEED:-7} kills=0 within=0 now=0
while [ $kills -lt "${KILLS:-10}" ]; do
    kills=$((kills + 1))
    [ "$now" -lt "$n" ] || rm -f "$tmp/killed.db" "$tmp/killed.db-journal"
    # shellcheck disable=SC2086
    "$gsim" merge -o "$tmp/killed.db" $shards >"$tmp/killed.out" 2>&1 &
    pid=$!
    sleep "$(awk -v seed="$seed$kills" 'BEGIN { srand(seed); printf("%.3f", 0.3 * rand()) }')"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    now=0
    [ -e "$tmp/killed.db" ] || continue
    now=$(count "$tmp/killed.db")
    [ "$now" -eq 0 ] || [ "$now" -eq "$n" ] || within=$((within + 1))
    broken=0
    [ "$now" -eq 0 ] || broken=$(sqlite3 "$tmp/killed.db" \
        "select count(*) from run where (select count(*) from job where job.run_id = run.run_id) <> jobs")
    whole=$(sqlite3 "$tmp/killed.db" "pragma integrity_check")
    [ "$whole" = ok ] && [ "$broken" -eq 0 ] || echo "kill $kills: $now runs, $broken of them broken, $whole"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "a merge that was killed $kills times ($within times with some runs, seed $seed) leaves whole runs" $?
# shellcheck disable=SC2086
"$gsim" merge -o "$tmp/killed.db" $shards >"$tmp/log" 2>&1
same "killed and merged again is uninterrupted" "$tmp/killed.db" "$tmp/whole.db"
# shellcheck disable=SC2086
check "and the shards are as they were" "$before" "$(cat $shards | cksum)"

# --- asked to stop. There are more runs than any machine makes before it is asked.
awk 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i < 6000; i++) printf "j%d,%d,%d\n", i, i, 1 + i % 7 }' >"$tmp/long.csv"
printf 'trace = %s\npolicy = fifo, las, srtf\ngpus-per-node = 8\nseed = 1..500\n' "$tmp/long.csv" >"$tmp/long.ini"
for signal in INT TERM; do
    rm -f "$tmp/stopped.db"
    "$gsim" sweep "$tmp/long.ini" -o "$tmp/stopped.db" >"$tmp/log" 2>&1 &
    pid=$!
    i=0
    while [ $i -lt 1200 ] && ! [ "$(count "$tmp/stopped.db" 2>/dev/null || echo 0)" -ge 3 ]; do
        i=$((i + 1))
        sleep 0.1
    done
    kill -$signal $pid
    wait $pid
    got=$?
    there=$(count "$tmp/stopped.db")
    [ $got -eq 4 ] && [ "$there" -ge 3 ] && grep -q "to go on: .* sweep .*long.ini -o " "$tmp/log" && grep -q "$((1500 - there)) runs are missing" "$tmp/log"
    say "SIG$signal: exit 4 and the command to go on (exit $got, $there runs kept)" $?
done

# --- a full disk: the limit of a file's size stands in for it
expect "a full disk" 1 "earlier runs are untouched" \
    sh -c "ulimit -f 1000; trap '' XFSZ; '$gsim' sweep '$tmp/many.ini' -o '$tmp/full.db'"
grep -q "to go on: " "$tmp/log"
say "and the command to go on" $?
expect "with room again" 0 "720 of 720" "$gsim" sweep "$tmp/many.ini" -o "$tmp/full.db"
same "full and resumed is uninterrupted" "$tmp/full.db" "$tmp/whole.db"

# --- on a terminal (script(1) has one) it says how far it is, ten times a second at most
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$gsim' sweep '$tmp/many.ini' -o '$tmp/seen.db'" /dev/null </dev/null >"$tmp/seen" 2>&1
    tr '\r' '\n' <"$tmp/seen" >"$tmp/log"
    grep -q '^\[-*\] 0/720' "$tmp/log" && [ "$(grep -c '/720 ' "$tmp/log")" -lt 100 ]
    say "a bar on a terminal" $?
else
    echo "ok a bar on a terminal # SKIP no script(1), or no terminal for it"
fi
