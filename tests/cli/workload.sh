#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim describe, gsim resample and gsim explain-pair: the facts of a trace, traces that it might have been,
# and where the time of two programs goes. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh

# --- facts against a second implementation: six weeks of three users with days and nights
cat >"$tmp/make.py" <<'P'
import random
rng, rows, t = random.Random(5), [], 0.0
while t < 42 * 86400:
    hour = t / 3600 % 24
    t += rng.expovariate((3 if 8 <= hour < 20 else 0.5) / 1800)
    user = rng.choice("abc")
    for i in range(rng.choice([1, 1, 1, 6])):  # a batch of like jobs
        rows.append((t + i, round(rng.lognormvariate(6, 1), 3), rng.choice([1, 1, 2, 8]), user))
rows.sort()
print("job_id,submit_s,duration_s,gpus,user")
for i, r in enumerate(rows):
    print("j%d,%.3f,%.3f,%d,%s" % (i, *r))
P
python3 "$tmp/make.py" >"$tmp/month.csv"
"$gsim" describe --format json "$tmp/month.csv" >"$tmp/facts.json" 2>"$tmp/log"
cat >"$tmp/facts.py" <<'P'
import csv, json, math, statistics as st, sys
facts = json.load(open(sys.argv[1]))[0]
rows = [(float(r["submit_s"]), float(r["duration_s"]), int(r["gpus"]), r["user"]) for r in csv.DictReader(open(sys.argv[2]))]
rows.sort()
t, d, g = [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]
gaps = [b - a for a, b in zip(t, t[1:])]
hours = [0] * int((t[-1] - t[0]) // 3600)
for x in t:
    if x - t[0] < 3600 * len(hours):
        hours[int((x - t[0]) // 3600)] += 1
def rates(part_s, parts):
    """Arrivals in each part of a cycle for the time that the trace has it; its last arrival ends the trace."""
    came, there = [0] * parts, [0] * parts
    for x in t[:-1]:
        came[int((x - t[0]) // part_s) % parts] += 1
    whole, rest = divmod(t[-1] - t[0], part_s)
    for i in range(int(whole) + 1):
        there[i % parts] += 1 if i < whole else rest / part_s
    return [a / b for a, b in zip(came, there)]
day, week = rates(3600, 24), rates(86400, 7)
logs = [math.log(1 + x) for x in d]
m = sum(logs) / len(logs)
want = {
    "jobs": len(rows), "users": 3, "span": (t[-1] - t[0]) / 86400,
    "GPU hours": sum(a * b for a, b in zip(d, g)) / 3600,
    "gaps, variation": st.pstdev(gaps) / st.fmean(gaps),
    "hourly arrivals, variance over mean": st.pvariance(hours) / st.fmean(hours),
    "busiest hour of day over quietest": max(day) / min(day),
    "busiest day of week over quietest": max(week) / min(week),
    "log duration, lag-1 autocorrelation":
        sum((a - m) * (b - m) for a, b in zip(logs, logs[1:])) / sum((a - m) ** 2 for a in logs),
    "next job of this user and width": 100 * sum(a[2:] == b[2:] for a, b in zip(rows, rows[1:])) / (len(rows) - 1),
    "duration median": st.median(d),
}
for name, value in want.items():
    assert abs(facts[name] - value) <= 1e-6 * abs(value), (name, facts[name], value)
P
python3 "$tmp/facts.py" "$tmp/facts.json" "$tmp/month.csv" >"$tmp/log" 2>&1
say "facts are those of a second implementation" $?

# Jobs come every 100 s for a day and a half, and for 4000 s: no hour is busier than another, and hours are no burst.
even() { awk -v n="$1" 'BEGIN { print "job_id,submit_s,duration_s"; for (i = 0; i <= n; i++) print i "," 100 * i ",60" }'; }
even 1296 >"$tmp/even.csv"
even 40 >"$tmp/hour.csv"
expect "half a day more makes none of its hours busier" 0 '"busiest hour of day over quietest":1,' \
    "$gsim" describe --format json "$tmp/even.csv"
expect "a part of an hour is no quiet hour" 0 '"hourly arrivals, variance over mean":null' \
    "$gsim" describe --format json "$tmp/hour.csv"
even 904 >"$tmp/day.csv" # 25.1 hours
expect "and a fitted spec has no such hours" 0 '^hours = \(36, *\)* *$' "$gsim" fit spec "$tmp/day.csv"
even 0 >"$tmp/one.csv"
expect "a job alone has its facts" 0 '"span":0,.*"GPU hours":0.016.*"duration median":60,' \
    "$gsim" describe --format json "$tmp/one.csv"
expect "traces and specs side by side" 0 'cluster.csv .*bursty.ini' "$gsim" describe traces/samples/cluster.csv traces/samples/bursty.ini
mkdir "$tmp/may" "$tmp/june"
for month in may june; do head -50 "$tmp/month.csv" >"$tmp/$month/log.csv"; done
expect "files of one name are told apart" 0 'may/log.csv .*june/log.csv' "$gsim" describe "$tmp/may/log.csv" "$tmp/june/log.csv"
"$gsim" describe --format json "$tmp/month.csv" "$tmp/month.csv" | python3 -c '
import csv, io, json, subprocess, sys
table = subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout
units = {r["fact"]: r["unit"] for r in csv.DictReader(io.StringIO(table)) if r["unit"]}
assert units["span"] == "d" and all(t["units"] == units for t in json.load(sys.stdin))' "$gsim" describe --format csv "$tmp/month.csv" >"$tmp/log" 2>&1
say "units of facts stand in JSON as in CSV" $?
# Rows that cannot be read: these commands count them, as those that run the log do.
{ cat docs/first-hour/jobs.txt; printf '%s\n' '9001|9001|ben|vision|COMPLETED|2026-03-03T08:13:22|2026-03-03T08:13:22|2026-03-03T09:13:22|-5|446|cpu=8,gres/gpu=2,mem=64G,node=1|8|gpu01'; } >"$tmp/dirty.txt"
for command in "describe" "fit spec" "fit lognormal" "resample --by user" "generate --shake 5%"; do
    # shellcheck disable=SC2086
    expect "$command leaves out a row that cannot be read" 0 "left out 1 row (the first is line 413): the column 'ElapsedRaw' has no time" \
        "$gsim" $command "$tmp/dirty.txt"
    # shellcheck disable=SC2086
    expect "$command --strict refuses it" 3 "dirty.txt:413: column 'ElapsedRaw': '-5' is not a time" "$gsim" $command --strict "$tmp/dirty.txt"
done
"$gsim" describe --format csv docs/first-hour/jobs.txt 2>"$tmp/log" | sed 's|docs/first-hour/jobs|dirty|' >"$tmp/clean.facts"
"$gsim" describe --format csv "$tmp/dirty.txt" 2>"$tmp/log" | sed "s|$tmp/||" | cmp - "$tmp/clean.facts" >"$tmp/log" 2>&1
say "and the facts are those of the other rows" $?
# 60 jobs of an hour: nothing varies, so nothing is correlated
python3 -c 'print("job_id,submit_s,duration_s"); [print(f"{i},{600 * i},3600") for i in range(60)]' >"$tmp/equal.csv"
expect "jobs that are all equal are correlated with none" 0 'lag-1 autocorrelation  *-$' "$gsim" describe "$tmp/equal.csv"
! command -v gnuplot >"$tmp/log" 2>&1 || expect "their picture is drawn" 0 "^jobs  *60$" "$gsim" describe "$tmp/equal.csv" -o "$tmp/equal.svg"
expect "no trace" 2 'which trace' "$gsim" describe
expect "a form that is none" 2 'table, csv, json' "$gsim" describe --format latex traces/samples/cluster.csv

# --- the picture
if command -v gnuplot >/dev/null 2>&1; then
    for ending in pdf svg png; do
        "$gsim" describe "$tmp/month.csv" traces/samples/bursty.ini -o "$tmp/p.$ending" >"$tmp/log" 2>&1 &&
            [ "$(wc -c <"$tmp/p.$ending")" -gt 4000 ]
        say "a picture of traces as $ending" $?
    done
    grep -q 'bursty.ini' "$tmp/p.svg" && grep -q 'Made by gsim' "$tmp/p.svg"
    say "which names the traces, and its maker" $?
    # A trace of four jobs at once has no hours and no days.
    printf 'job_id,submit_s,duration_s\na,5,60\nb,5,60\nc,5,6\nd,5,7\n' >"$tmp/once.csv"
    expect "a picture of jobs at one time" 0 'duration median' "$gsim" describe "$tmp/once.csv" -o "$tmp/once.svg"
    echo mine >"$tmp/p.svg"
    expect "a file of something else stays" 2 'force' "$gsim" describe "$tmp/month.csv" -o "$tmp/p.svg"
    head -2 "$tmp/month.csv" >"$tmp/one.csv"
    expect "a trace of one job is not drawn" 3 "1 job is too few" "$gsim" describe "$tmp/one.csv" -o "$tmp/p1.svg"
else
    echo "# skipped: gnuplot is not installed"
fi
expect "a picture of no form" 2 'does not end in' "$gsim" describe "$tmp/month.csv" -o "$tmp/p.gif"

# --- resampling
but_time() { jobs "$1" | awk -F, '{print $1, $3 + 0, $4, $5}' | sort; }
jobs() { grep -v '^#' "$1" | tail -n +2; }
"$gsim" resample "$tmp/month.csv" --near 0 -o "$tmp/same.csv" 2>"$tmp/log"
but_time "$tmp/month.csv" >"$tmp/one"
but_time "$tmp/same.csv" >"$tmp/two"
cmp "$tmp/one" "$tmp/two" >"$tmp/log" 2>&1 && [ "$(jobs "$tmp/same.csv" | awk -F, '{s += $2} END {printf "%.0f", s}')" = \
    "$(jobs "$tmp/month.csv" | awk -F, '{s += $2} END {printf "%.0f", s}')" ]
say "blocks that may not move stay" $?
for seed in 1 2; do "$gsim" resample "$tmp/month.csv" --seed $seed -o "$tmp/s$seed.csv" 2>"$tmp/log"; done
"$gsim" resample "$tmp/month.csv" --seed 1 -o "$tmp/again.csv"
cmp "$tmp/s1.csv" "$tmp/again.csv" >"$tmp/log" 2>&1 && ! cmp -s "$tmp/s1.csv" "$tmp/s2.csv"
say "a seed gives one trace, another seed another" $?
but_time "$tmp/s1.csv" >"$tmp/two"
cmp "$tmp/one" "$tmp/two" >"$tmp/log" 2>&1
say "each job is there once" $?
cat >"$tmp/moved.py" <<'P'
import csv, sys
def read(path):
    return {r["job_id"]: (float(r["submit_s"]), r["user"]) for r in csv.DictReader(l for l in open(path) if l[0] != "#")}
a, b, week = read(sys.argv[1]), read(sys.argv[2]), 7 * 86400
by, t0 = {}, min(t for t, _ in a.values())
for job, (t, user) in a.items():
    by.setdefault((user, int((t - t0) // week)), set()).add(round(b[job][0] - t, 3))
assert all(len(m) == 1 for m in by.values()), "a user's week was torn apart"
assert all(abs(next(iter(m))) in (0, week) for m in by.values()), "a week moved by more than one place, or by part of one"
assert any(next(iter(m)) for m in by.values()), "no week moved"
P
python3 "$tmp/moved.py" "$tmp/month.csv" "$tmp/s1.csv" >"$tmp/log" 2>&1
say "each user's weeks move whole, to a neighbour's place" $?
"$gsim" resample "$tmp/month.csv" --load 1.5 -o "$tmp/more.csv" && "$gsim" resample "$tmp/month.csv" --load 0.5 -o "$tmp/less.csv"
n=$(jobs "$tmp/month.csv" | wc -l)
echo "$n, $(jobs "$tmp/more.csv" | wc -l), $(jobs "$tmp/less.csv" | wc -l)" >"$tmp/log"
[ "$(jobs "$tmp/more.csv" | wc -l)" -gt $((n * 13 / 10)) ] && [ "$(jobs "$tmp/more.csv" | wc -l)" -lt $((n * 17 / 10)) ] &&
    [ "$(jobs "$tmp/less.csv" | wc -l)" -lt $((n * 7 / 10)) ] && "$gsim" describe "$tmp/more.csv" >/dev/null
say "more load, less load, and names that stay different" $?
# jobs of a day and a half are one block of a week, which has no other to change places with
expect "few blocks are told" 0 'within 1.5 days, which are 1 block of 7 days: none changes places, and intervals over resampled traces are too narrow' \
    "$gsim" resample "$tmp/even.csv" --force -o "$tmp/same.csv"
check "and as many as four are not" 0 "$("$gsim" resample "$tmp/month.csv" --force -o "$tmp/same.csv" 2>&1 | grep -c "too narrow")"
expect "compare over resampled traces" 0 'over 3 resampled traces' "$gsim" compare --quiet --no-what-if --policies fifo,srtf \
    --gpus-per-node 8 --nodes 2 --resample user --reps 3 "$tmp/month.csv"
"$gsim" resample "$tmp/month.csv" --seed 1 --replication 2 -o "$tmp/r2.csv"
"$gsim" --policy srtf --quiet --gpus-per-node 8 --nodes 2 "$tmp/r2.csv" --format csv | cut -d, -f6-20 >"$tmp/one"
"$gsim" --policy srtf --quiet --gpus-per-node 8 --nodes 2 --resample user --replication 2 "$tmp/month.csv" --format csv | cut -d, -f6-20 >"$tmp/two"
cmp "$tmp/one" "$tmp/two" >"$tmp/log" 2>&1 && [ -s "$tmp/one" ]
say "resample writes what --resample runs" $?
expect "a column that is not there" 3 "no column 'vc'" "$gsim" resample "$tmp/month.csv" --by vc
expect "a block of no time" 2 'week, day or a time' "$gsim" resample "$tmp/month.csv" --block 0s
expect "a block that loses the hour of the day is told" 0 'hour of the day is not kept' sh -c "'$gsim' resample '$tmp/month.csv' --block 12h >/dev/null"
expect "shaken and resampled" 2 'give one of them' "$gsim" --policy fifo --shake 5% --resample user "$tmp/month.csv"
expect "how, but not that" 2 'give that as well' "$gsim" --policy fifo --near 2 "$tmp/month.csv"
expect "a spec is drawn again" 2 'is a spec' "$gsim" --policy fifo --resample user traces/samples/bursty.ini

# --- fit spec: what is drawn from the spec is like the trace
"$gsim" fit spec "$tmp/month.csv" -o "$tmp/fitted.ini" >"$tmp/log" 2>&1
say "a spec is fitted" $?
for seed in 1 2 3; do "$gsim" generate "$tmp/fitted.ini" --seed $seed -o "$tmp/f$seed.csv"; done
"$gsim" describe --format json "$tmp/month.csv" "$tmp/f1.csv" "$tmp/f2.csv" "$tmp/f3.csv" >"$tmp/facts.json"
cat >"$tmp/alike.py" <<'P'
import collections, csv, json, statistics as st, sys
was, *drawn = json.load(open(sys.argv[1]))
mean = lambda name: st.fmean(d[name] for d in drawn)
for name, share in {"jobs": 0, "span": 0.1, "GPU hours": 0.1, "jobs on one GPU or less": 0.05,
                    "duration p10": 0.1, "duration median": 0.1, "duration p90": 0.1, "duration mean": 0.1,
                    "duration, variation": 0.15, "gaps, variation": 0.2, "hourly arrivals, variance over mean": 0.3,
                    "busiest hour of day over quietest": 0.35, "next job of this user and width": 0.15}.items():
    assert abs(mean(name) / was[name] - 1) <= share, (name, mean(name), was[name])
for name, off in {"width and duration, rank correlation": 0.08, "log duration, lag-1 autocorrelation": 0.08}.items():
    assert abs(mean(name) - was[name]) <= off, (name, mean(name), was[name])
def shares(path):
    users = collections.Counter(r["user"] for r in csv.DictReader(l for l in open(path) if l[0] != "#"))
    return {u: n / sum(users.values()) for u, n in users.items()}
a, b = shares(sys.argv[2]), shares(sys.argv[3])
assert all(abs(a[u] - b[u]) < 0.06 for u in a), (a, b)
P
python3 "$tmp/alike.py" "$tmp/facts.json" "$tmp/month.csv" "$tmp/f1.csv" >"$tmp/log" 2>&1
say "marginals, widths, users, hours, batches and correlations are the trace's" $?
"$gsim" fit spec "$tmp/month.csv" -o "$tmp/fitted2.ini" && cmp "$tmp/fitted.ini" "$tmp/fitted2.ini" >"$tmp/log" 2>&1
say "a fit has one result" $?
cat >"$tmp/tied.csv" <<'T'
job_id,submit_s,duration_s,gpus
a,0,1,1
b,1,1,1
T
"$gsim" fit spec "$tmp/tied.csv" 2>"$tmp/log" >"$tmp/tied.ini" && "$gsim" generate "$tmp/tied.ini" >>"$tmp/log" 2>&1
say "two equal jobs are enough" $?
expect "one job is not" 3 "no times between arrivals" sh -c "head -2 '$tmp/tied.csv' >'$tmp/one.csv'; '$gsim' fit spec '$tmp/one.csv'"
expect "what is left out is told" 0 "leaves out: class" sh -c "sed '1s/\$/,class/; 2,\$s/\$/,batch/' '$tmp/tied.csv' >'$tmp/class.csv'; '$gsim' fit spec '$tmp/class.csv'"

# --- the language that the fit speaks
cat >"$tmp/batches.ini" <<'S'
[trace]
jobs = 20000
kinds = small, large
kind_repeat = 1
[arrival]
process = poisson
rate = 0.01
hours = 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0
weekdays = 2, 2, 2, 2, 2, 1, 1
[batch_jobs]
choice = 1, 5
[batch_gap_s]
quantiles = 1, 2
[small/duration]
quantiles = 10, 20, 400
repeat = 1
[large/duration]
quantiles = 1000, 8000
[small/gpus]
choice = 1
[large/gpus]
choice = 4
[user]
choice = ada, ben, cyd
repeat = 1
S
"$gsim" generate "$tmp/batches.ini" -o "$tmp/batches.csv" 2>"$tmp/log"
python3 - "$tmp/batches.csv" >>"$tmp/log" 2>&1 <<'P'
import csv, math, sys
rows = [(float(r["submit_s"]), float(r["duration_s"]), int(r["gpus"]), r["user"])
        for r in csv.DictReader(l for l in open(sys.argv[1]) if l[0] != "#")]
near = [(a, b) for a, b in zip(rows, rows[1:]) if 0 < b[0] - a[0] <= 10]  # mostly of a batch: rows are in its order
share = lambda test, pairs: sum(map(test, pairs)) / len(pairs)
assert 0.5 < len(near) / len(rows) < 0.75, len(near)  # four of each five jobs of the large half follow one
assert share(lambda p: p[0][3] == p[1][3], near) > 0.95, "users change within a batch"
assert share(lambda p: p[0][2] == p[1][2], near) > 0.95, "kinds change within a batch"
assert share(lambda p: p[0][1] == p[1][1], [p for p in near if p[0][2] == p[1][2] == 1]) > 0.95, "no repetition"
assert share(lambda p: p[0][1] == p[1][1], [p for p in near if p[0][2] == p[1][2] == 4]) == 0, "repetition"
hours, days = [0] * 24, [0] * 7
for r in rows:
    hours[int(r[0] // 3600) % 24] += 1
    days[int(r[0] // 86400) % 7] += 1
assert sum(hours[18:]) == 0, hours
assert 4.5 < sum(hours[6:18]) / sum(hours[:6]) < 8, hours
assert 3.5 < sum(days[:5]) / sum(days[5:]) < 7, days
n = len(rows)
assert abs((rows[-1][0] - rows[0][0]) / n / 100 - 1) < 0.1, "a rate of jobs, not of batches"
small = sorted(r[1] for r in rows if r[2] == 1)
assert 10 <= small[0] and small[-1] <= 400 and 17 < small[len(small) // 2] < 24, small[len(small) // 2]
large = [math.log(r[1]) for r in rows if r[2] == 4]
assert abs(sum(large) / len(large) - math.log(math.sqrt(1000 * 8000))) < 0.08
P
say "batches, hours, weekdays, repetition and quantiles" $?
# --- surges: a rate for each week, in a ring, and fitted from a trace that has them
sed 's/^weekdays = .*/weeks = 4, 0, 1/; s/^hours = .*//; s/^rate = .*/rate = 0.004/' "$tmp/batches.ini" >"$tmp/weeks.ini"
"$gsim" generate "$tmp/weeks.ini" -o "$tmp/weeks.csv" 2>"$tmp/log" && "$gsim" fit spec "$tmp/weeks.csv" -o "$tmp/weeks2.ini" 2>>"$tmp/log" &&
    "$gsim" generate "$tmp/weeks2.ini" --seed 4 -o "$tmp/weeks2.csv" 2>>"$tmp/log"
cat >"$tmp/weeks.py" <<'P'
import csv, sys
def weeks(path):
    n = [0] * 12
    for r in csv.DictReader(l for l in open(path) if l[0] != "#"):
        week = int(float(r["submit_s"]) // (7 * 86400))
        n[week] += 1 if week < 12 else 0
    return n
was, drawn = weeks(sys.argv[1]), weeks(sys.argv[2])
print(was, drawn)
for n in was, drawn:
    assert sum(n[w] for w in (1, 4)) <= 0.002 * sum(n), n  # the weight of these weeks is 0
    assert all(2.8 < n[w] / n[w + 2] < 5.6 for w in (0, 3)), n  # 4
P
python3 "$tmp/weeks.py" "$tmp/weeks.csv" "$tmp/weeks2.csv" >>"$tmp/log" 2>&1
say "weeks with surges, drawn, and drawn again from a fit" $?
! grep -q '^weeks' "$tmp/tied.ini"
say "a trace of seconds has no weeks" $?
bad() { # name, pattern, sed script
    sed "$3" "$tmp/batches.ini" >"$tmp/bad.ini"
    expect "$1" 3 "$2" "$gsim" generate "$tmp/bad.ini"
}
bad "gaps of no batches" "which is not there" '/^\[batch_jobs\]/,+1d'
bad "no week" "a number above 0" 's/^weekdays = .*/weeks = 0, 0/'
bad "a week that is none" "0 or more" 's/^weekdays = .*/weeks = 1, -2/'
bad "23 hours" "one weight for each" 's/^hours = 1, /hours = /'
bad "quantiles that fall" "none below the last" 's/^quantiles = 1, 2/quantiles = 2, 1/'
bad "sessions without users" "parts of a closed loop" 's/^\[batch_jobs\]/[session]/'

# --- Philly: bursts, cycles and likeness of neighbours within 25 %, the mean wait under EASY within a factor of 2
philly=../shared/traces/philly_via_pollux/philly.csv
case $gsim in *-san-*) philly= ;; esac # minutes there
if [ -n "$philly" ] && [ -r "$philly" ]; then
    "$gsim" import philly "$philly" -o "$tmp/philly.csv" --quiet
    for seed in 1 2 3; do "$gsim" resample "$tmp/philly.csv" --seed $seed -o "$tmp/p$seed.csv"; done
    "$gsim" describe --format json "$tmp/philly.csv" "$tmp/p1.csv" "$tmp/p2.csv" "$tmp/p3.csv" >"$tmp/facts.json"
    python3 - "$tmp/facts.json" >"$tmp/log" 2>&1 <<'P'
import json, sys
was, *drawn = json.load(open(sys.argv[1]))
for name in ("hourly arrivals, variance over mean", "busiest hour of day over quietest", "log duration, lag-1 autocorrelation"):
    for one in drawn:
        assert abs(one[name] / was[name] - 1) < 0.25, (name, one[name], was[name])
P
    say "Philly resampled keeps its bursts, days and batches" $?
    wait_of() {
        "$gsim" --policy easy-backfill --quiet --nodes 64 --gpus-per-node 8 --format json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["wait_mean_s"])'
    }
    echo "$(wait_of "$tmp/philly.csv") $(wait_of "$tmp/p1.csv") $(wait_of "$tmp/p2.csv") $(wait_of "$tmp/p3.csv")" >"$tmp/log"
    awk '{mean = ($2 + $3 + $4) / 3; exit !(mean > $1 / 2 && mean < 2 * $1)}' "$tmp/log"
    say "and its mean wait under EASY, within a factor of two" $?
    "$gsim" fit spec "$tmp/philly.csv" -o "$tmp/philly.ini" 2>"$tmp/log"
    for seed in 1 2 3 4 5; do
        "$gsim" generate "$tmp/philly.ini" --seed $seed --force -o "$tmp/like.csv"
        wait_of "$tmp/like.csv"
    done >"$tmp/waits" 2>>"$tmp/log"
    wait_of "$tmp/philly.csv" >>"$tmp/waits"
    tr '\n' ' ' <"$tmp/waits" >>"$tmp/log"
    awk 'NR < 6 {sum += $1; few += $1 < 86400} NR == 6 {exit !(sum / 5 > $1 / 2 && sum / 5 < 2 * $1 && !few)}' "$tmp/waits"
    say "Philly drawn from its fitted spec waits as long, within a factor of two over five seeds" $?
else
    echo "# skipped: no ../shared, or a slow build: Philly was not resampled"
fi

# --- which of two programs takes what from the other: the parts sum up to each iteration's time
for pair in "h200-resnet50-train@58.9 h200-gemm-chain@102" "h200-vit-train h200-llama-decode@336"; do
    # Programs of more kernels, which go through the code of the first pair.
    case $pair in *llama*) ! leaves_numbers || continue ;; esac
    # shellcheck disable=SC2086
    "$gsim" explain-pair --format json $pair >"$tmp/pair.json" 2>"$tmp/log"
    expect "parts of $pair" 0 "^ok$" python3 -c "
import json, sys
for side in json.load(open(sys.argv[1])):
    for run in 'alone', 'beside':
        one = dict(side[run])
        rate = one.pop('iterations_per_s')
        assert abs(sum(one.values()) * rate / 1000 - 1) < 1e-6, (side, run)
        assert run == 'beside' or one['waits_for_sms_ms'] == one['fewer_sms_ms'] == one['bandwidth_ms'] == 0
print('ok')" "$tmp/pair.json"
done
# kernels of which a block fills an SM, one wave each: the other waits for all of it, or all but its uneven end
printf 'kind,name,time_us,device,host_us,blocks,threads,shared_kib\nkernel,k,1000,h200,,132,1024,227\nlaunch,k,,,0,,,\n' >"$tmp/wave.csv"
expect "a wave behind a wave" 0 "it waits behind the other's blocks  *+[01][.][09][0-9]*  *+[01][.][09]" "$gsim" explain-pair "$tmp/wave.csv" "$tmp/wave.csv"
# 500 a second alone, twice the time of its kernels: that is the program's own pace, and none of what the other takes
expect "a pace of its own is no clock that the other lowers" 0 "its clock is lower  *+0.000  *+0.000" "$gsim" explain-pair "$tmp/wave.csv@500" "$tmp/wave.csv"
expect "and no cause" 0 "of the speed of .*wave.csv; most of it: it waits behind" "$gsim" explain-pair "$tmp/wave.csv@500" "$tmp/wave.csv"
expect "the heads of columns are names of files" 0 "^  *wave.csv  *wave.csv$" "$gsim" explain-pair "$tmp/wave.csv" "$tmp/wave.csv"
# and no more than the GPU has is given out: of kernels without bytes both take 20 s alone, one after the
# other, less half of the 7 % (job.spread_ppm) over which blocks of a kernel end: 19.3 s at least
printf 'kind,name,time_us,device,host_us,blocks,threads,shared_kib,dram_bytes\nkernel,k,1000,h200,,132,1024,227,0\nlaunch,k,,,0,,,,\n' >"$tmp/pure.csv"
printf 'job_id,submit_s,iterations,app\na,0,10000,%s\nb,0.0003,10000,%s\n' "$tmp/pure.csv" "$tmp/pure.csv" >"$tmp/waves.csv"
expect "SM time is given out once" 0 "makespan  *19.[3-9]" "$gsim" --policy mps --gpus-per-node 1 "$tmp/waves.csv"
# kernels of one block each have room beside each other
sed 's/132,1024,227/1,32,1/' "$tmp/wave.csv" >"$tmp/small.csv"
expect "blocks beside each other" 0 "it waits behind the other's blocks  *+0.000  *+0.000" "$gsim" explain-pair "$tmp/small.csv" "$tmp/small.csv"
# a walk that takes long ends with the signal: a kernel of 1 ns after another, ten seconds of them
printf 'kind,name,time_us,device,host_us,blocks,threads\nkernel,k,0.001,h200,,1,32\nkernel,l,0.0013,h200,,1,32\n' >"$tmp/short.csv"
for i in 1 2 3 4 5 6 7 8 9; do printf 'launch,k,,,0.00%s,,\nlaunch,l,,,0,,\n' $i; done >>"$tmp/short.csv"
"$gsim" explain-pair "$tmp/short.csv" h200-vit-train >"$tmp/out" 2>"$tmp/log" &
pid=$!
sleep 0.3
kill -TERM $pid 2>/dev/null
wait $pid
got=$?
[ $got -eq 143 ] && [ ! -s "$tmp/out" ]
say "explain-pair ends by SIGTERM (exit $got)" $?
expect "no programs" 2 "which two programs" "$gsim" explain-pair
expect "an app that launches nothing" 3 "resnet50-train.csv: the application has no launches" "$gsim" explain-pair resnet50-train h200-gemm-chain
expect "a rate that is none" 2 "'fast' is not a rate alone" "$gsim" explain-pair h200-gemm-chain@fast h200-gemm-chain
# Its six products of 1653 us leave no more than 101 iterations a second; rates of up to 1.5 % more are taken for noise.
expect "a rate that the kernels do not leave" 2 "125 a second leave an iteration of h200-gemm-chain 8000 us, and its kernels take 99" "$gsim" explain-pair h200-gemm-chain@125 h200-gemm-chain
expect "a rate without any time" 2 "leave an iteration of h200-gemm-chain 0 us" "$gsim" explain-pair h200-gemm-chain@1e9 h200-gemm-chain
expect "an app that is none" 2 "did you mean .h200-gemm-chain" "$gsim" explain-pair h200-gem h200-gemm-chain
expect "a program of another device" 3 "for a100-80 it needs flops or bytes" "$gsim" explain-pair --device a100-80 h200-gemm-chain h200-gemm-chain
expect "no such form" 2 "is not one of table, json" "$gsim" explain-pair --format csv h200-gemm-chain h200-gemm-chain
