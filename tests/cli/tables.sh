#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim table: means, intervals and tests against those of gsim compare and of SQL. $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh

cat >"$tmp/spec.ini" <<'G'
[trace]
jobs = 150
[arrival]
process = poisson
load = 0.8
gpus = 8
[duration]
distribution = lognormal
mu = 6
sigma = 1
[user]
choice = ann, bob
G
cat >"$tmp/grid.ini" <<G
trace = $tmp/spec.ini
policy = fifo, srtf, las
gpus-per-node = 8
load = 0.6, 0.9
reps = 4
G
"$gsim" sweep "$tmp/grid.ini" -o "$tmp/r.db" --quiet >"$tmp/log" 2>&1
say "a grid of policies, loads and replications" $?
sql() { sqlite3 "$tmp/r.db" "$1"; }
number() { awk -F, "NR > 1 && \$1 ~ /$1/ && \$2 ~ /$2/ {print \$($3)}" "$tmp/csv" | tr -d '"'; }

# --- seeds of a trace change nothing under policies without chance: the runs are one, which has no interval and no p (it was
# an interval without a width, and p < 0.001); random places are chance, and so is the difference from them
printf 'trace = traces/samples/cluster.csv\npolicy = fifo, las, srtf\nset.srtf.placement = random\nnodes = 4\ngpus-per-node = 8\nseed = 1..3\n' >"$tmp/seeds.ini"
"$gsim" sweep "$tmp/seeds.ini" -o "$tmp/seeds.db" --quiet >"$tmp/log" 2>&1 && "$gsim" table "$tmp/seeds.db" --value jct_mean_s --format csv >"$tmp/csv" 2>>"$tmp/log"
check "equal runs have no interval" "fifo,3,no,no las,3,no,no srtf,3,yes,yes" "$(python3 -c 'import csv, sys
print(" ".join(",".join([row["row"].split()[0], row["runs"], "yes" if row["low"] else "no", "yes" if row["p"] else "no"]) for row in csv.DictReader(open(sys.argv[1]))))' "$tmp/csv")"
expect "which is said" 0 "runs that are all equal have no interval: their seeds change nothing" "$gsim" table "$tmp/seeds.db"
env PATH="$PWD/tests/support/bin:$PATH" "$gsim" report "$tmp/seeds.db" -o "$tmp/seeds.html" --quiet >"$tmp/log" 2>&1
check "nor in a report" "- -" "$(sed 's/<tr>/\n/g; s/<\/t[dh]>/|/g; s/<[^>]*>//g' "$tmp/seeds.html" | awk -F'|' '($1 == "fifo" || $1 == "las") && $2 == 3 && $3 > 99 {printf "%s%s", sep, $6; sep = " "}')"

# --- a share is 1 at most, and so is the end of its interval: of logarithms it would be above in some of these cells
"$gsim" table "$tmp/r.db" --value gpu_busy,jain,slowdown_mean --format csv >"$tmp/csv" 2>"$tmp/log"
"$gsim" table "$tmp/r.db" --value gpu_busy --x load --format csv >>"$tmp/csv" 2>>"$tmp/log"
check "ends of intervals of shares" "yes 0" "$(python3 -c 'import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["high"] not in ("", "high")]
shares = [float(row["high"]) for row in rows if "slowdown" not in row["column"]]
print("yes" if 1 in shares else "no", sum(high > 1 for high in shares))' "$tmp/csv")"

# Under fifo a GPU does no more than it is held, so that useful time ends at 1; under timeslice, where jobs are beside
# each other, it may pass that. Of two short runs the end is above 1 in both.
"$gsim" compare --quiet --db "$tmp/useful.db" --policies fifo,timeslice --reps 2 --nodes 1 --gpus-per-node 2 --spec trace.jobs=12 traces/samples/memory.ini >"$tmp/log" 2>&1
"$gsim" table "$tmp/useful.db" --value gpu_useful --format csv >"$tmp/csv" 2>>"$tmp/log"
check "an interval of useful GPU time, of whole GPUs and of shared ones" "1 above" "$(python3 -c 'import csv, sys
high = {row["row"]: float(row["high"]) for row in csv.DictReader(open(sys.argv[1]))}
print("%g" % high["fifo"], "above" if high["timeslice"] > 1 else "below")' "$tmp/csv")"

# --- against SQL, and against gsim compare on the same replications
"$gsim" table "$tmp/r.db" --x load --format csv >"$tmp/csv" 2>"$tmp/log"
cells=$(($(wc -l <"$tmp/csv") - 1))
[ "$cells" -eq 6 ]
say "a cell for each policy and load ($cells)" $?
# the head has a comma within its quotes, so fields count from 2
want=$(sql "select printf('%.9g', avg(jct_mean_s) / 60) from run join setting using (run_id) where key = 'load' and value = '0.9' and policy = 'srtf'")
got=$(awk -F'",' '/load = 0.9",srtf/ {split($2, f, ","); printf "%.9g", f[3]}' "$tmp/csv")
echo "$got and $want" >"$tmp/log"
[ "$got" = "$want" ]
say "a mean is SQL's mean over replications" $?
# one load and one result, since p and intervals of ratios are adjusted for all comparisons of a table
"$gsim" compare --quiet --no-what-if --policies fifo,srtf,las --gpus-per-node 8 --load 0.9 --reps 4 --format json "$tmp/spec.ini" >"$tmp/rows.json" 2>"$tmp/log"
"$gsim" table "$tmp/r.db" --value jct_mean_s --where "run_id in (select run_id from setting where key = 'load' and value = '0.9')" --format csv >"$tmp/family.csv" 2>>"$tmp/log"
python3 - "$tmp" >"$tmp/log" 2>&1 <<'P'
import csv, json, sys
folder = sys.argv[1]
cells = {r["row"]: r for r in csv.DictReader(open(folder + "/family.csv"))}
rows = {r["policy"]: r["comparison"] for r in json.load(open(folder + "/rows.json"))}
for policy in "fifo", "srtf", "las":
    mine, theirs = cells[policy], rows[policy]
    assert policy == "fifo" or abs(float(mine["p"]) - theirs["p"]) <= 1e-8, (policy, mine["p"], theirs["p"])
    for name in "mean", "low", "high":
        a, b = 60 * float(mine[name]), theirs["jct_mean_s"][name]
        assert abs(a - b) <= 1e-9 * b, (policy, name, a, b)
        of = {"mean": "ratio", "low": "ratio_low", "high": "ratio_high"}[name]
        if policy != "fifo":
            assert abs(float(mine[of]) - theirs["ratio"][name]) <= 1e-8, (policy, of) # of times in whole digits
P
say "intervals and p are those of gsim compare of as many policies" $?
# a table of many comparisons: an interval is without 1 exactly where p is below 0.05, also where Holm's procedure decides
"$gsim" table "$tmp/r.db" --by user --value wait_mean_s --format csv >"$tmp/family.csv" 2>"$tmp/log"
"$gsim" table "$tmp/r.db" --where "replication < 3" --value jct_mean_s,jct_p95_s,wait_mean_s,slowdown_mean,jct_p50_s --format csv | sed 1d >>"$tmp/family.csv" 2>>"$tmp/log"
cat "$tmp/csv" >>"$tmp/family.csv"
python3 - "$tmp" >"$tmp/log" 2>&1 <<'P'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1] + "/family.csv")) if r["p"] not in ("", "p")]
apart = [float(r["ratio_low"]) > 1 or float(r["ratio_high"]) < 1 for r in rows]
print(*[(r["ratio_low"], r["ratio_high"], r["p"]) for r in rows], sep="\n")
assert True in apart and False in apart
assert apart == [float(r["p"]) < 0.05 for r in rows]
P
say "an interval is without 1 where its p is small" $?

# --- runs of policies without the setting of the axis
for quantum in 1h 2h; do
    "$gsim" --policy las --set las.quantum=$quantum --gpus-per-node 8 --db "$tmp/x.db" --quiet "$tmp/spec.ini" >"$tmp/log" 2>&1
done
for policy in fifo srtf; do
    "$gsim" --policy $policy --gpus-per-node 8 --db "$tmp/x.db" --quiet "$tmp/spec.ini" >"$tmp/log" 2>&1
done
expect "runs without the key of --x are named" 0 "x.db: 2 runs without a value of 'set.las.quantum' are in no column: fifo, srtf" "$gsim" table "$tmp/x.db" --x set.las.quantum
"$gsim" table "$tmp/x.db" --x gpus >"$tmp/log" 2>&1 && ! grep -q 'in no column' "$tmp/log"
say "and nothing is said where each run has it" $?

# --- other forms
expect "a table in LaTeX has two heads" 0 'multicolumn{2}{c}{JCT mean' "$gsim" table "$tmp/r.db" --x load --format latex
expect "groups of a column" 0 '^slowdown mean, bob$' "$gsim" table "$tmp/r.db" --by user --value slowdown_mean
for value in gpu_hours jobs; do
    "$gsim" table "$tmp/r.db" --where "policy = 'fifo'" --by user --value $value --format csv >"$tmp/csv" 2>"$tmp/log"
    sum=$(awk -F'",' 'NR > 1 {split($2, f, ","); s += f[3] * f[2]} END {printf "%.6g", s}' "$tmp/csv")
    if [ $value = jobs ]; then want=1200; else
        want=$(sql "select printf('%.6g', sum(service_ns / 1e9 * gpus_ppm / 1e6) / 3600) from job join run using (run_id) where policy = 'fifo'"); fi
    echo "$sum and $want" >"$tmp/log"
    [ "$sum" = "$want" ]
    say "$value of all groups are those of all jobs" $?
done
printf 'job_id,submit_s,duration_s,gpus,user\na,0,100,1,ann\nb,0,1000,1,ann\nc,10,500,1,bob\n' >"$tmp/cut.csv"
"$gsim" --policy fifo --gpus-per-node 1 --until 800 --device ideal --quiet --db "$tmp/cut.db" "$tmp/cut.csv" >"$tmp/log" 2>&1
for value in wait_mean_s wait_p95_s; do # b has waited for 100 s, and has not ended; c waits
    "$gsim" table "$tmp/cut.db" --by user --value $value --format csv >"$tmp/csv" 2>>"$tmp/log"
    cat "$tmp/csv" >>"$tmp/log"
    [ "$(awk -F'",' 'NR > 1 {split($2, f, ","); print f[3]}' "$tmp/csv")" = 0 ]
    say "$value of groups is of jobs that ended, as in the run's own result" $?
done
"$gsim" table "$tmp/r.db" --changed srtf --format csv >"$tmp/csv" 2>"$tmp/log"
first=$(sed -n 2p "$tmp/csv" | cut -d, -f1,7)
want=$(sql "select a.job_id || ',' || printf('%.9g', (b.end_ns - a.end_ns) / 1e9) from job as a join job as b using (job)
    where a.run_id = (select min(run_id) from run where policy = 'fifo') and b.run_id = (select min(run_id) from run where policy = 'srtf')
    order by abs(a.end_ns - b.end_ns) desc, job limit 1")
echo "$first and $want" >"$tmp/log"
[ "$(echo "$first" | cut -d, -f1)" = "$(echo "$want" | cut -d, -f1)" ] && [ -n "$first" ]
say "the job that changes most" $?

# --- shaken traces have ranges, and no p
printf 'trace = traces/samples/cluster.csv\npolicy = fifo, srtf\nnodes = 2\ngpus-per-node = 8\nshake = 5%%\nreps = 3\n' >"$tmp/shaken.ini"
"$gsim" sweep "$tmp/shaken.ini" -o "$tmp/s.db" --quiet >"$tmp/log" 2>&1
expect "shaken traces give ranges" 0 'no chance of being wrong' "$gsim" table "$tmp/s.db"
"$gsim" table "$tmp/s.db" --format csv | awk -F, 'NR > 1 && $NF != "" {exit 1}'
say "shaken traces give no p" $?
# a trace as it is and its two copies: the mean of the first, the range over the others
"$gsim" table "$tmp/s.db" --value jct_mean_s --format csv >"$tmp/csv"
python3 - "$tmp" >"$tmp/log" 2>&1 <<'P'
import csv, sqlite3, sys
folder = sys.argv[1]
cells = {r["row"]: r for r in csv.DictReader(open(folder + "/csv"))}
of = {p: [y for y, in sqlite3.connect(folder + "/s.db").execute("SELECT jct_mean_s FROM run WHERE policy = ? ORDER BY replication", (p,))]
      for p in ("fifo", "srtf")}
scale = of["fifo"][0] / float(cells["fifo"]["mean"])
near = lambda cell, key, want: abs(float(cell[key]) / want - 1) < 1e-9
ratio = [s / f for s, f in zip(of["srtf"], of["fifo"])]
assert round(scale) in (1, 60, 3600) and abs(scale - round(scale)) < 1e-6, scale
for policy, cell in cells.items():
    own, *copies = of[policy]
    assert len(copies) == 2 == int(cell["runs"]), cell
    assert near(cell, "mean", own / round(scale)) and near(cell, "low", min(copies) / round(scale)), (policy, own, copies)
    assert near(cell, "high", max(copies) / round(scale)), (policy, copies)
cell = cells["srtf"]
assert near(cell, "ratio", ratio[0]) and near(cell, "ratio_low", min(ratio[1:])) and near(cell, "ratio_high", max(ratio[1:])), ratio
P
say "means are of the trace as it is, ranges over its copies" $?
expect "in LaTeX as well" 0 '^% means of the trace as it is; brackets: the range over shaken' "$gsim" table "$tmp/s.db" --format latex
expect "copies alone" 0 'means over copies, not the trace as it is' "$gsim" table "$tmp/s.db" --where "replication > 0"
# The two copies alone: the mean is theirs, the bar goes from the lower to the higher.
"$gsim" plot "$tmp/s.db" --figure jct_policy --where "replication > 0 AND policy = 'fifo'" --keep -o "$tmp/c.svg" >"$tmp/log" 2>&1
grep -q "2 runs are of shaken or resampled copies of a trace that is not among them as it is" "$tmp/log"
say "a figure of copies alone says so" $?
python3 - "$tmp" >"$tmp/log" 2>&1 <<'P'
import re, sqlite3, sys
folder = sys.argv[1]
copies = [y for y, in sqlite3.connect(folder + "/s.db").execute("SELECT jct_mean_s FROM run WHERE policy = 'fifo' AND replication > 0")]
data = open(folder + "/c.gp").read()
mean, low, high = map(float, re.search(r"fifo[^\n]*?\t([0-9.e+]+)\t([0-9.e+]+)\t([0-9.e+]+)", data).groups())
scale = sum(copies) / 2 / mean
assert len(copies) == 2 and round(scale) in (1, 60, 3600) and abs(scale / round(scale) - 1) < 1e-6, scale
assert abs(low * scale / min(copies) - 1) < 1e-6 and abs(high * scale / max(copies) - 1) < 1e-6, (low, high, copies)
assert "range over copies" in data
P
say "and has the range over them" $?
env PATH="$PWD/tests/support/bin:$PATH" "$gsim" report "$tmp/s.db" --where "replication > 0" -o "$tmp/c.html" >"$tmp/log" 2>&1
check "nor has the report an interval of copies" 0 "$(grep -c '<td>[0-9.]* [a-z]* to [0-9.]* [a-z]*</td>' "$tmp/c.html")"
expect "a figure of a shaken trace says what it leaves out" 0 'trace as it is; 4 runs of shaken or resampled' "$gsim" plot "$tmp/s.db" --figure jct_policy -o "$tmp/s.svg"
expect "the first pair of a shaken trace is that of the trace as it is" 0 '^fifo (run 1) and srtf (run ' "$gsim" table "$tmp/s.db" --changed srtf

# --- one run of each policy has a mean, and no interval
"$gsim" compare --policies fifo,srtf --device h200 --quiet --db "$tmp/one.db" traces/samples/small_lab.csv >"$tmp/log" 2>&1
for format in table latex csv; do
    check "no interval of one run in a $format" 0 "$("$gsim" table "$tmp/one.db" --format $format | grep -cE '\[|nan|inf|,0,,|scriptsize')"
done

# --- mistakes
expect "a result that is none" 2 "did you mean 'jct_mean_s'" "$gsim" table "$tmp/r.db" --value jct_men_s
expect "a policy that is not there" 2 "no chosen run is of the policy 'mps'" "$gsim" table "$tmp/r.db" --against mps
expect "quotes in a name are no SQL" 2 "no chosen run" "$gsim" table "$tmp/r.db" --against "'; drop table run; --"
expect "a group of no column" 2 'class, user, vc, model, gpus, size' "$gsim" table "$tmp/r.db" --by colour
expect "a format that is none" 2 'table, csv, latex' "$gsim" table "$tmp/r.db" --format json
expect "no database" 2 'which database' "$gsim" table
expect "runs without jobs cannot be broken down" 3 'keep summary' sh -c "'$gsim' sweep '$tmp/grid.ini' --keep summary -o '$tmp/k.db' --quiet >/dev/null && '$gsim' table '$tmp/k.db' --by user"

# --- a paper's evaluation by three commands, as in docs/sweeps.md, with fewer policies and replications
sed -n '/^    trace = jobs.ini/,/^    reps = 5/p' docs/sweeps.md | sed 's/^    //' >"$tmp/documented.ini"
check "the documented grid has 240 runs" 240 "$(cd "$tmp" && cp "$OLDPWD/traces/samples/bursty.ini" jobs.ini && "$gsim" sweep documented.ini --list 2>/dev/null | grep -c 'gsim run')"
sed 's/^policy = .*/policy = fifo, srtf/; s/^load = .*/load = 0.5, 0.9/; s/^reps = .*/reps = 2/' "$tmp/documented.ini" >"$tmp/small.ini"
(cd "$tmp" && "$gsim" sweep small.ini -o evaluation.db --quiet --keep summary) >"$tmp/log" 2>&1 &&
    "$gsim" table "$tmp/evaluation.db" --x load --where 'gpus = 32' --format latex -o "$tmp/jct.tex" >>"$tmp/log" 2>&1
say "sweep and table" $?
check "a row for each policy, a value and an interval for each load" "2 4 4" \
    "$(grep -cE '^(fifo|srtf) &' "$tmp/jct.tex") $(grep -E '^(fifo|srtf) &' "$tmp/jct.tex" | grep -o ' & ' | grep -c .) $(grep -E '^(fifo|srtf) &' "$tmp/jct.tex" | grep -o 'scriptsize' | grep -c .)"
if command -v gnuplot >/dev/null 2>&1; then
    "$gsim" plot "$tmp/evaluation.db" --figure oversubscription --x load --value jct_mean_s --where 'gpus = 32' -o "$tmp/jct.svg" >"$tmp/log" 2>&1 &&
        grep -q '>srtf<' "$tmp/jct.svg" && grep -q '>load<' "$tmp/jct.svg"
    say "and the figure, a line for each policy against the load" $?
fi
# Five jobs of 10 s, one after the other: slowdowns 1 to 5. A quarter of five jobs are two, a half three, three quarters
# four, so that quartiles are 2, 3 and 4; more than a slowdown of k is the part 1 - (k - 1) / 5 of the jobs.
{ echo job_id,submit_s,duration_s,gpus; for i in 1 2 3 4 5; do echo "$i,0,10,1"; done; } >"$tmp/five.csv"
"$gsim" --policy fifo --gpus-per-node 1 --device ideal --quiet --db "$tmp/five.db" "$tmp/five.csv" >"$tmp/log"
rows() { "$gsim" plot "$tmp/$1.db" --figure "$2" --keep -o "$tmp/$1.svg" --force >"$tmp/log" 2>&1 && sed -n '/^\$data1/,/^END/p' "$tmp/$1.gp" | awk -F'\t' 'NF > 2 { $1 = ""; print }'; }
check "quartiles of slowdowns by size" " 6 3 2 4" "$(rows five slowdown_size)"
check "the share of jobs slowed down by more" " 1 1, 2 0.8, 3 0.6, 4 0.4, 5 0.2" "$(rows five fairness | paste -sd, | sed 's/,/, /g; s/, $//; s/,  /, /g')"
# 4000 jobs of 1 to 4000 s with a GPU each. 2000 points are every second job, and the first one.
{ echo job_id,submit_s,duration_s,gpus; seq 4000 | awk '{ print $1 ",0," $1 ",1" }'; } >"$tmp/many.csv"
"$gsim" --policy fifo --nodes 500 --gpus-per-node 8 --device ideal --quiet --db "$tmp/many.db" "$tmp/many.csv" >"$tmp/log"
rows many jct_cdf >"$tmp/points"
check "points of a curve of many jobs" "2001:  1 0.00025:  2 0.0005:  1000 0.25:  4000 1" "$(wc -l <"$tmp/points"): $(sed -n 1p "$tmp/points"): $(sed -n 2p "$tmp/points"): $(sed -n 501p "$tmp/points"): $(sed -n 2001p "$tmp/points")"
