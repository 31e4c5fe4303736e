#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --estimate and the column estimate_s: what policies are told of durations. $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh
cat >"$tmp/jobs.ini" <<'S'
[trace]
jobs = 120
[arrival]
process = poisson
rate = 0.02
[duration]
distribution = lognormal
mu = 5
sigma = 1.5
[gpus]
choice = 1, 2, 4
weights = 4, 2, 1
S
"$gsim" generate "$tmp/jobs.ini" -o "$tmp/jobs.csv"
run() { # policy, jobs csv, options...
    policy=$1 jobs=$2
    shift 2
    # shellcheck disable=SC2046
    "$gsim" run --policy "$policy" $(quick "$policy") "$tmp/jobs.csv" --device ideal --quiet --force --jobs-csv "$jobs" "$@" >"$tmp/log" 2>&1
}

# --- each built-in policy: estimates that are exact change no byte, and only those that look at
# durations see wrong ones
changed= unchanged=
for policy in $("$gsim" list policies | awk '{print $1}'); do
    run "$policy" "$tmp/truth" || continue # it needs a column that this trace lacks
    run "$policy" "$tmp/exact" --estimate 'duration x lognormal(0, 0)' && cmp "$tmp/truth" "$tmp/exact" >>"$tmp/log" 2>&1 || {
        say "$policy with exact estimates" 1
        continue
    }
    run "$policy" "$tmp/wrong" --estimate 'duration x lognormal(0, 2)'
    if cmp -s "$tmp/truth" "$tmp/wrong"; then unchanged="$unchanged $policy"; else changed="$changed $policy"; fi
done
: >"$tmp/log"
for policy in srtf srsf sjf easy-backfill; do
    case " $changed " in *" $policy "*) ;; *) echo "$policy sees the truth" >>"$tmp/log" ;; esac
done
for policy in fifo las fairshare gandiva; do
    case " $changed " in *" $policy "*) [ $policy = fairshare ] || echo "$policy sees durations" >>"$tmp/log" ;; esac
done
[ ! -s "$tmp/log" ]
say "policies that look at durations see estimates, others see none:$changed" $?

# --- an oracle that saw the truth would do otherwise: when all estimates are equal, shortest first is first come
run fifo "$tmp/fifo"
run sjf "$tmp/blind" --estimate 'deterministic(60)'
awk -F, 'NR > 1 {print $1, $2, $3}' "$tmp/blind" | sort -n -k3,3 -s >"$tmp/starts"
run srtf "$tmp/one" --estimate 'exponential(60)'
run srtf "$tmp/two" --estimate 'exponential(60)' --seed 2
! cmp -s "$tmp/one" "$tmp/two"
say "another seed draws other estimates" $?
cat >"$tmp/three.csv" <<'T'
job_id,submit_s,duration_s,gpus,estimate_s
long,0,100,1,1
short,1,10,1,1000
late,2,50,1,500
T
"$gsim" run --policy sjf "$tmp/three.csv" --device ideal --gpus-per-node 1 --quiet --jobs-csv "$tmp/out" >"$tmp/log" 2>&1
check "the column estimate_s: the job that is thought to be shorter goes first" "long 0 late 100 short 150" \
    "$(awk -F, 'NR > 1 {print $3, $1}' "$tmp/out" | sort -n | awk '{printf "%s%s %d", (NR > 1 ? " " : ""), $2, $1}')"
# a job that has outlived its estimate has the least left, and is not pushed out
"$gsim" run --policy srtf "$tmp/three.csv" --device ideal --gpus-per-node 1 --quiet --jobs-csv "$tmp/out" >"$tmp/log" 2>&1
check "a job past its estimate goes on" "100.000000000" "$(awk -F, '$1 == "long" {print $4}' "$tmp/out")"

# --- no policy sees the truth: two traces that differ only in how long jobs really take give equal
# decisions for as long as no job has ended, with limits and without
cat >"$tmp/truths.py" <<'P'
import random, sys
rng, rows = random.Random(3), []
for i in range(60):
    rows.append([f"j{i}", i * 15 + rng.random(), rng.uniform(1000, 40000), rng.choice([1, 1, 2, 4]),
                 rng.choice([60, 300, 2000, 9000]), rng.choice(["", "", 100000])])
other = [r[2] for r in rows]
rng.shuffle(other)
for name, limits in ("limits", True), ("none", False):
    for which in "ab":
        with open(f"{sys.argv[1]}/{name}.{which}.csv", "w") as out:
            print("job_id,submit_s,duration_s,gpus,estimate_s" + ",limit_s" * limits, file=out)
            for r, d in zip(rows, other):
                print(f"{r[0]},{r[1]:.3f},{d if which == 'b' else r[2]:.3f},{r[3]},{r[4]}" + f",{max(50000, r[4])}" * limits, file=out)
P
python3 "$tmp/truths.py" "$tmp"
for which in a b; do # without the column they would not be equal
    cut -d, -f1-4 "$tmp/none.$which.csv" >"$tmp/known.$which.csv"
    "$gsim" run --policy srtf "$tmp/known.$which.csv" --device ideal --nodes 2 --gpus-per-node 4 --until 950 --quiet --force --jobs-csv "$tmp/$which" >"$tmp/log" 2>&1
    awk -F, '{print $1, $3, $10}' "$tmp/$which" >"$tmp/$which.seen"
done
[ -s "$tmp/a.seen" ] && ! cmp -s "$tmp/a.seen" "$tmp/b.seen"
say "srtf decides by durations where nothing is estimated" $?
saw= n=0
for name in limits none; do
    for policy in $("$gsim" list policies | awk '{print $1}'); do
        for which in a b; do
            # shellcheck disable=SC2046
            "$gsim" run --policy "$policy" $(quick "$policy") "$tmp/$name.$which.csv" --device ideal --nodes 2 --gpus-per-node 4 --until 950 --quiet --force --jobs-csv "$tmp/$which" >"$tmp/log" 2>&1 || continue 2
            # duration and what is derived from it may differ; when jobs began, stopped and moved may not
            awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { print $at["job_id"], $at["submit_s"], $at["start_s"], $at["end_s"], $at["wait_s"], $at["preemptions"], $at["migrations"] }' \
                "$tmp/$which" >"$tmp/$which.seen"
        done
        n=$((n + 1))
        cmp "$tmp/a.seen" "$tmp/b.seen" >>"$tmp/log" 2>&1 || saw="$saw $policy($name)"
    done
done
check "no policy knows more than estimates and limits" "" "$saw"
[ $n -ge 30 ]
say "in $n runs, of most policies" $?
# estimates do not replace limits: a planner with limit_s keeps to those, and kill=on to the job's own run time
cat >"$tmp/killed.csv" <<'T'
job_id,submit_s,duration_s,gpus,estimate_s,limit_s
a,0,100,1,10,60
b,1,50,1,500,60
T
for policy in easy-backfill fairshare; do
    "$gsim" run --policy $policy "$tmp/killed.csv" --device ideal --gpus-per-node 1 --quiet --force --jobs-csv "$tmp/out" --set kill=on >"$tmp/log" 2>&1
    check "$policy: a job is killed at its limit, whatever was estimated" "a 60, b 110" \
        "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "end_s") e = i} NR > 1 {printf "%s%s %g", (NR > 2 ? ", " : ""), $1, $e}' "$tmp/out")"
done

# --- it is told
run srtf "$tmp/out" --estimate 'duration*lognormal( 0,0.5 )'
grep -q 'assumed: estimate_s=duration x lognormal(0, 0.5)' "$tmp/log"
say "the result says what was assumed" $?
for sigma in 0.5 0.5 1; do
    "$gsim" run --policy srtf "$tmp/jobs.csv" --db "$tmp/r.db" --estimate "duration x lognormal(0, $sigma)" --quiet >"$tmp/log" 2>&1
done
check "estimates are part of what a run is" 2 "$(sqlite3 "$tmp/r.db" 'select count(*) from run')"
cat >"$tmp/grid.ini" <<'S'
trace = jobs.ini
policy = sjf, fifo
gpus-per-node = 4
estimate = "duration x lognormal(0, 0)", "duration x lognormal(0, 1)"
reps = 2
S
(cd "$tmp" && "$gsim" sweep grid.ini -o grid.db --quiet) >"$tmp/log" 2>&1 &&
    "$gsim" compare "$tmp/jobs.ini" --policies sjf,fifo --gpus-per-node 4 --reps 2 --no-what-if --estimate 'duration x lognormal(0, 1)' --format csv --quiet >"$tmp/compared" 2>>"$tmp/log" &&
    "$gsim" run --policy sjf "$tmp/jobs.ini" --gpus-per-node 4 --replication 1 --estimate 'duration x lognormal(0, 1)' --format csv --quiet >"$tmp/ran" 2>>"$tmp/log"
check "a grid varies them, and compare, sweep and run draw one and the same" \
    "$(sed -n 2p "$tmp/ran" | cut -d, -f9) 0" \
    "$(awk -F, '$1 == "sjf"' "$tmp/compared" | sed -n 2p | cut -d, -f9) $(sqlite3 "$tmp/grid.db" "select count(*) from run where policy = 'sjf' and replication = 1 and jct_mean_s <> $(sed -n 2p "$tmp/ran" | cut -d, -f9) and assumed like '%(0, 1)%'")"
expect "no such formula" 2 "is not of the form" "$gsim" run --policy srtf "$tmp/jobs.csv" --estimate 'twice'
expect "a distribution that is none" 2 "needs sigma >= 0" "$gsim" run --policy srtf "$tmp/jobs.csv" --estimate 'duration x lognormal(0, -1)'
printf 'job_id,submit_s,duration_s,gpus,estimate_s\na,0,1,1,\nb,0,1,1,2\n' >"$tmp/gap.csv"
expect "an oracle does not fall back to the truth" 3 "job 'a' has none" "$gsim" run --policy srtf "$tmp/gap.csv"
expect "others do not mind" 0 "jobs" "$gsim" run --policy fifo "$tmp/gap.csv"
expect "a copied simulator knows durations" 3 "knows durations exactly" "$gsim" run --policy srtf "$tmp/jobs.csv" --set reference=tiresias --estimate 'duration x 2'
