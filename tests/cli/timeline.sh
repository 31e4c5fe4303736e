#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Timelines as a viewer meets them: valid JSON, rows in which nothing overlaps, and the same time as
# in the results; SQLite reads the JSON. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# The events of a timeline, in a database beside it: the JSON is read once, and asked often.
events() { # file
    rm -f "$1.db"
    sqlite3 "$1.db" "PRAGMA journal_mode = off;
        PRAGMA synchronous = off;
        CREATE TABLE event AS SELECT value AS e FROM
            json_each(CAST(readfile('$1') AS TEXT), '\$.traceEvents');
        CREATE TABLE span AS SELECT json_extract(e, '\$.pid') AS pid, json_extract(e, '\$.tid') AS tid,
            json_extract(e, '\$.cat') AS cat, json_extract(e, '\$.name') AS name,
            json_extract(e, '\$.args.job') AS job,
            CAST(round(1000 * json_extract(e, '\$.ts')) AS INTEGER) AS begin_ns,
            CAST(round(1000 * (json_extract(e, '\$.ts') + json_extract(e, '\$.dur'))) AS INTEGER) AS end_ns
            FROM event WHERE json_extract(e, '\$.ph') = 'X'" >"$tmp/log" 2>&1
    say "$(basename "$1"): its events can be read" $?
}
ask() { # SQL over `event`, `span` (X), both with times in ns, and over the database as `r`
    sqlite3 ${2:+-cmd "ATTACH '$2' AS r"} "$1.db" "$3"
}

# NAME, OPTIONS...: a run that keeps everything
timeline() {
    name=$1
    shift
    "$gsim" --quiet --force --timeline "$tmp/$name.json" --db "$tmp/$name.db" "$@" >"$tmp/out" 2>&1 ||
        { echo "not ok $name runs"; sed 's/^/# /' "$tmp/out"; }
    check "$name: valid JSON" 1 "$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('$tmp/$name.json') AS TEXT))")"
    events "$tmp/$name.json"
    check "$name: nothing overlaps in a row" 0 "$(ask "$tmp/$name.json" '' 'SELECT count(*) FROM (SELECT
        end_ns > lead(begin_ns) OVER (PARTITION BY pid, tid ORDER BY begin_ns, end_ns) AS bad FROM span) WHERE bad')"
    check "$name: each row has a name" 0 "$(ask "$tmp/$name.json" '' "SELECT count(*) FROM (SELECT DISTINCT pid, tid FROM span
        EXCEPT SELECT json_extract(e, '\$.pid'), json_extract(e, '\$.tid') FROM event WHERE
        json_extract(e, '\$.name') = 'thread_name')")"
    check "$name: a job's row covers it" 0 "$(ask "$tmp/$name.json" "$tmp/$name.db" 'SELECT count(*) FROM (SELECT job,
        sum(end_ns - begin_ns) AS shown FROM span WHERE pid = 1 GROUP BY job) s JOIN r.job j ON j.job_id = s.job
        WHERE shown <> j.end_ns - j.submit_ns')"
}

t=traces/samples/cluster.csv
timeline fifo --policy fifo --nodes 2 --gpus-per-node 8 $t
timeline suspended --policy srtf --set preempt=suspend --nodes 2 --gpus-per-node 8 --assume mem_gib=20GiB $t
timeline shared --policy las --gpus-per-node 2 --device ideal traces/samples/heavy_tail.csv
timeline fractions --policy fifo --gpus-per-node 4 traces/samples/fractions.csv
# The longest of them: its ways into a timeline are those of the others, and sanitizers look at these.
leaves_numbers || timeline gangs --policy gang-rr --nodes 2 --gpus-per-node 8 $t
# Rotations: slices are walked one by one while somebody watches, and nothing else changes.
pages="--device rtx5080 --set hbm_bytes=6GiB tests/golden/pages.csv"
for policy in timeslice uvm nvshare msched; do
    sets=$([ $policy = nvshare ] && echo --set nvshare.quantum=2s)
    own=$([ $policy = timeslice ] && echo "--device h200 tests/golden/two.csv" || echo "$pages")
    # shellcheck disable=SC2086
    timeline $policy --policy $policy $sets $own
    # shellcheck disable=SC2086
    "$gsim" --quiet --policy $policy $sets --db "$tmp/$policy-alone.db" $own >/dev/null 2>&1
    # memory on a GPU is that of jobs that are on it: a job that is done has none there
    check "$policy: no memory is shown on a GPU in the end" 0 "$(grep '"name":"resident: ' "$tmp/$policy.json" |
        sed 's/.*"name":"\([^"]*\)".*"bytes":\([0-9]*\).*/\1 \2/' |
        awk '{ bytes[$2] = $3 } END { for (job in bytes) sum += bytes[job]; print sum + 0 }')"
    check "$policy: the same run when watched" "$(sqlite3 "$tmp/$policy-alone.db" 'SELECT job_id, end_ns, stall_ns, bytes_in, bytes_out FROM job')" \
        "$(sqlite3 "$tmp/$policy.db" 'SELECT job_id, end_ns, stall_ns, bytes_in, bytes_out FROM job')"
    check "$policy: slices are the jobs' work" 0 "$(ask "$tmp/$policy.json" "$tmp/$policy.db" "SELECT count(*) FROM (SELECT name,
        sum(end_ns - begin_ns) AS shown FROM span WHERE cat = 'slice' GROUP BY name) s JOIN r.job j ON j.job_id = s.name
        WHERE abs(shown - j.service_ns) > 0.001 * j.service_ns")"
done
check "waits for pages are those of the results" 0 "$(ask "$tmp/uvm.json" "$tmp/uvm.db" "SELECT (SELECT sum(end_ns - begin_ns) FROM
    span WHERE cat = 'fault') - (SELECT sum(stall_ns) FROM r.job)")"
check "no more is resident than there is room for" 1 "$(ask "$tmp/msched.json" '' "SELECT max(bytes) = 4294967296 FROM (SELECT
    json_extract(e, '\$.args.bytes') AS bytes FROM event WHERE json_extract(e, '\$.name') LIKE 'resident: %')")"
busy='SELECT (SELECT sum(end_ns - begin_ns) FROM span WHERE pid >= 10 AND tid < 1000000) - (SELECT sum(busy_ns) FROM r.gpu)'
check "rows of GPUs are as long as the GPUs are busy" 0 "$(ask "$tmp/fifo.json" "$tmp/fifo.db" "$busy")"
check "also where jobs are saved and restored" 0 "$(ask "$tmp/suspended.json" "$tmp/suspended.db" "$busy")"
check "queued, running, preempted, moving" "moving,preempted,queued,resuming,running,saving,starting,stopping" \
    "$(ask "$tmp/suspended.json" '' 'SELECT group_concat(cat) FROM (SELECT DISTINCT cat FROM span WHERE pid = 1 ORDER BY 1)')"
copies() { # direction: bytes that the results count, less those of the timeline
    ask "$tmp/suspended.json" "$tmp/suspended.db" "SELECT (SELECT sum(bytes_$1) FROM r.run) - (SELECT
        sum(json_extract(e, '\$.args.bytes')) FROM event WHERE json_extract(e, '\$.cat') = 'copy $1')"
}
check "copies out are on their GPUs' rows" 0 "$(copies out)"
check "copies in are on their GPUs' rows" 0 "$(copies in)"
for name in fifo suspended shared fractions; do
    check "$name: utilisation over time adds up" 1 "$(sqlite3 "$tmp/$name.db" "SELECT abs(1 - sum(value * (next - time_ns)) / 1e9
        / (SELECT gpu_busy * makespan_s * gpus FROM run)) < 1e-9 FROM (SELECT value, time_ns, lead(time_ns)
        OVER (ORDER BY time_ns) AS next FROM sample WHERE name = 'busy_gpus')")"
    check "$name: the queue over time adds up to the waiting" 1 "$(sqlite3 "$tmp/$name.db" "SELECT abs(1 - (1 + sum(value *
        (next - time_ns))) / (1 + (SELECT sum(wait_ns) FROM job))) < 1e-9 FROM (SELECT value, time_ns, lead(time_ns)
        OVER (ORDER BY time_ns) AS next FROM sample WHERE name = 'queue')")"
done
check "at most so many steps" 1 "$(sqlite3 "$tmp/fifo.db" "SELECT count(*) BETWEEN 128 AND 257 FROM sample WHERE name = 'queue'")"

"$gsim" --quiet --policy fifo --nodes 2 --gpus-per-node 8 --force --timeline "$tmp/again.json.gz" $t >/dev/null 2>&1
gzip -dc "$tmp/again.json.gz" >"$tmp/again.json"
if cmp -s "$tmp/again.json" "$tmp/fifo.json"; then echo "ok compressed, and the same again"; else echo "not ok compressed, and the same again"; fi
"$gsim" --quiet --policy fifo --nodes 2 --gpus-per-node 8 --timeline "$tmp/window.json" --timeline-window 1h:90min $t >/dev/null 2>&1
events "$tmp/window.json"
check "a window" "3600000000000 5400000000000" "$(ask "$tmp/window.json" '' "SELECT min(begin_ns) || ' ' || max(end_ns) FROM span")"
check "counters in a window" 3600000000000 "$(ask "$tmp/window.json" '' "SELECT CAST(1000 * min(json_extract(e, '\$.ts')) AS INTEGER) FROM event WHERE json_extract(e, '\$.ph') = 'C'")"
for window in 2h:1h 5 a:b : -1:5; do
    "$gsim" --quiet --policy fifo --force --timeline "$tmp/x.json" --timeline-window "$window" $t >"$tmp/out" 2>&1
    got=$?
    [ "$window" = : ] && want=0 || want=2
    check "window $window" $want $got
done
rm -f "$tmp/x.json"
"$gsim" --quiet --policy fifo --gpus-per-node 1 --force --timeline "$tmp/x.json" $t >/dev/null 2>&1
check "a run that fails leaves no timeline" 0 "$(find "$tmp" -name 'x.json*' | wc -l)"
"$gsim" --quiet --policy fifo --timeline /dev/full $t >"$tmp/out" 2>&1
check "a full disk" 1 $?

# --- kernels of programs -----------------------------------------------------------------------
cat >"$tmp/wide.csv" <<'EOF'
kind,name,time_us,device,host_us,blocks,threads,registers,stream
kernel,wide,400,h200,,1056,256,64,
kernel,narrow,100,h200,,66,256,64,
launch,wide,,,5,,,,0
launch,narrow,,,5,,,,1
sync,iteration,,,,,,,
EOF
printf 'job_id,submit_s,iterations,app\na,0,20000,%s\nb,1,20000,%s\n' "$tmp/wide.csv" "$tmp/wide.csv" >"$tmp/two.csv"
for policy in timeslice mps; do
    of="--policy $policy --device h200 --gpus-per-node 1 $tmp/two.csv"
    # shellcheck disable=SC2086
    "$gsim" --quiet --jobs-csv "$tmp/$policy-unseen.csv" $of >"$tmp/unseen" 2>&1
    # shellcheck disable=SC2086
    timeline "$policy-kernels" --jobs-csv "$tmp/$policy-seen.csv" --timeline-window 2s:2.1s $of |
        grep -v "a job's row covers it" # the row is cut to the window
    check "$policy: jobs are as without the kernels" "" "$(cmp "$tmp/$policy-unseen.csv" "$tmp/$policy-seen.csv" 2>&1)"
    check "$policy: a row for each stream of each job" 4 "$(ask "$tmp/$policy-kernels.json" '' \
        "SELECT count(DISTINCT tid) FROM span WHERE cat = 'kernel'")"
    check "$policy: no kernel is shorter than alone, in whole ones" 0 "$(ask "$tmp/$policy-kernels.json" '' "SELECT count(*) FROM span
        JOIN event ON json_extract(e, '\$.tid') = tid AND round(1000 * json_extract(e, '\$.ts')) = begin_ns
        WHERE cat = 'kernel' AND json_extract(e, '\$.args.cut') IS NULL AND begin_ns > 2000000000
        AND end_ns < 2100000000 AND end_ns - begin_ns < CASE name WHEN 'wide' THEN 400000 ELSE 100000 END")"
    check "$policy: as many SMs as there are" 132 "$(ask "$tmp/$policy-kernels.json" '' "SELECT max(n) FROM (SELECT
        json_extract(e, '\$.args.SMs') AS n FROM event)")"
    "$gsim" check "$tmp/$policy-kernels.json" >"$tmp/out" 2>&1
    check "$policy: nothing that cannot be" 0 $?
    sed 's/"tid":500000[1-4],/"tid":5000001,/' "$tmp/$policy-kernels.json" >"$tmp/one_row.json"
    "$gsim" check "$tmp/one_row.json" >"$tmp/out" 2>&1
    check "$policy: kernels of a row that overlap are found" "$([ $policy = mps ] && echo 1 || echo 0)" $?
done
check "in turns one kernel at a time" 0 "$(ask "$tmp/timeslice-kernels.json" '' "SELECT count(*) FROM (SELECT end_ns >
    lead(begin_ns) OVER (ORDER BY begin_ns) AS bad FROM span WHERE cat = 'kernel') WHERE bad")"
check "in turns a kernel is as long as alone" "100000 400000" "$(ask "$tmp/timeslice-kernels.json" '' "SELECT group_concat(n, ' ') FROM
    (SELECT DISTINCT end_ns - begin_ns AS n FROM span WHERE cat = 'kernel' AND begin_ns > 2000000000 AND end_ns < 2100000000 ORDER BY 1)")"
check "66 blocks are on SMs at one time" 66 "$(ask "$tmp/timeslice-kernels.json" '' "SELECT
    max(json_extract(e, '\$.args.resident')) FROM event WHERE json_extract(e, '\$.name') = 'narrow'")"
"$gsim" --quiet --force --policy mps --device h200 --gpus-per-node 1 --timeline "$tmp/whole.json" "$tmp/two.csv" >/dev/null 2>&1
check "no kernels without a window" 0 "$(grep -c '"cat":"kernel"' "$tmp/whole.json")"
