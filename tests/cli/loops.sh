#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Closed loops: jobs that are submitted after the end of others. $1 is gsim.
set -u
gsim=$(realpath "$1")
. tests/support/check.sh
cat >"$tmp/five.csv" <<'T'
job_id,submit_s,duration_s,gpus,after,think_s
a,0,10,1,,
b,0,10,1,a,5
c,3,10,1,b,
d,100,1,1,a,
e,1,2,1,,
T
run() { "$gsim" run "$tmp/five.csv" --device ideal --gpus-per-node 1 --quiet --force --jobs-csv "$tmp/out" "$@" >"$tmp/log" 2>&1; }
submitted() { awk -F, 'NR > 1 {printf "%s%s %g %g", (NR > 2 ? ", " : ""), $1, $2, $4}' "$tmp/out"; }
run --policy fifo
check "a think time after the end; without one at the end, and not before submit_s" \
    "a 0 10, b 15 25, c 25 35, d 100 101, e 1 12" "$(submitted)"
run --policy las --set las.quantum=share
check "another policy ends jobs at other times, and so they come at other times" "b 17" "$(awk -F, '$1 == "b" {printf "b %g", $2}' "$tmp/out")"
run --policy fifo --until 18
check "jobs that did not come have no submission" "c|||, d|||" "$(awk -F, '$1 == "c" || $1 == "d" {printf "%s%s|%s|%s|%s", (n++ ? ", " : ""), $1, $2, $3, $4}' "$tmp/out")"

# One at a time by memory. After a's end both jobs of bo wait, late comes then and soon has come at 1 s: soon goes first.
cat >"$tmp/fair.csv" <<'T'
job_id,submit_s,duration_s,gpus,after,think_s,user,mem_gib
a,0,10,1,,,ana,8
late,0,5,1,a,0,bo,8
soon,1,5,1,,,bo,8
T
"$gsim" run "$tmp/fair.csv" --policy timeslice --set queue=fairshare --set hbm_bytes=8GiB --device ideal --gpus-per-node 1 --quiet \
    --jobs-csv "$tmp/fair.out" >"$tmp/log" 2>&1
check "equal users are served in order of arrival where jobs share GPUs" "late 15, soon 10" \
    "$(awk -F, '$1 != "a" && NR > 1 {printf "%s%s %g", (n++ ? ", " : ""), $1, $3}' "$tmp/fair.out")"

# After a begin. One GPU, fifo: a 0 to 10, b (at once) 10 to 20. c 5 s after b's begin, d at a's begin but not before
# its submit_s, e after b's end: c comes at 15, d at 3, e at 20. d runs 20 to 21, so c from 21, e from 22.
mv "$tmp/five.csv" "$tmp/ends.csv"
cat >"$tmp/five.csv" <<'T'
job_id,submit_s,duration_s,gpus,after,think_s,after_begin
a,0,10,1,,,
b,0,10,1,,,
c,99,1,1,b,5,yes
d,3,1,1,a,,yes
e,0,1,1,b,,no
T
run --policy fifo
check "after another job's begin, and some time" "a 0 10, b 0 20, c 15 22, d 3 21, e 20 23" "$(submitted)"
# las with a share of a second: a begins once, however often it is stopped
run --policy las --set las.quantum=1s
check "a job begins once" "d 3" "$(awk -F, '$1 == "d" {printf "d %g", $2}' "$tmp/out")"
# The case of tests/unit/test_ranked.c: job 4 is placed at 10 and pushed out in that instant, and begins at 15.
cat >"$tmp/over.csv" <<'T'
job_id,submit_s,duration_s,gpus,after,think_s,after_begin
0,0,100,2,,,
1,1,9,2,,,
2,2,20,2,,,
3,3,7,2,,,
4,4,1000,2,,,
5,10,5,3,,,
6,0,1,1,4,1,yes
7,0,1,1,4,0,yes
T
"$gsim" --policy srtf --device ideal --nodes 2 --gpus-per-node 4 --quiet --jobs-csv "$tmp/over.out" "$tmp/over.csv" >"$tmp/log" 2>&1
check "a begin that is over at once submits no job later" "4 15 1015, 6 16 17" \
    "$(awk -F, '$1 == 4 || $1 == 6 { printf "%s%s %g %g", (n++ ? ", " : ""), $1, $3, $4 }' "$tmp/over.out")"
check "and each job once" "8 1015" "$(awk -F, 'NR > 1 { n++; if ($4 > last) last = $4 } END { print n, last + 0 }' "$tmp/over.out")"
mv "$tmp/ends.csv" "$tmp/five.csv"

# --- every policy, with the core counting again, in the database and apart
cat >"$tmp/users.ini" <<'S'
[trace]
jobs = 200
[arrival]
process = closed
users = 8
[think_s]
distribution = exponential
mean = 300
[session]
distribution = uniform
lo = 2
hi = 6
[break_s]
distribution = exponential
mean = 20000
[duration]
distribution = lognormal
mu = 5
sigma = 1
[gpus]
choice = 1, 2
S
"$gsim" generate "$tmp/users.ini" -o "$tmp/users.csv" 2>"$tmp/log"
cat >"$tmp/loops.py" <<'P'
import csv, sys
trace = {r["job_id"]: r for r in csv.DictReader(l for l in open(sys.argv[1]) if l[0] != "#")}
jobs = {r["job_id"]: r for r in csv.DictReader(open(sys.argv[2]))}
ns = lambda text: round(float(text) * 1e9)
for name, t in trace.items():
    if t["after"]:
        got, due = ns(jobs[name]["submit_s"]), ns(jobs[t["after"]]["end_s"]) + ns(t["think_s"])
        assert abs(got - due) < 1000, (name, got, due)  # doubles in this script
        assert t["user"] == trace[t["after"]]["user"]
assert sum(1 for t in trace.values() if not t["after"]) == 8
assert all(j["end_s"] for j in jobs.values())
P
failed= n=0
for policy in $("$gsim" list policies | awk '{print $1}'); do
    # shellcheck disable=SC2046
    "$gsim" run --policy "$policy" $(quick "$policy") "$tmp/users.csv" --nodes 2 --gpus-per-node 2 --quiet --force --jobs-csv "$tmp/out" >"$tmp/log" 2>&1 || continue
    n=$((n + 1))
    python3 "$tmp/loops.py" "$tmp/users.csv" "$tmp/out" >"$tmp/why" 2>&1 || failed="$failed $policy"
done
check "each policy that can run it meets the loop" "" "$failed"
[ $n -ge 12 ]
say "which are most of them ($n)" $?
"$gsim" compare "$tmp/users.ini" --policies fifo,srtf --nodes 2 --gpus-per-node 2 --reps 3 --no-what-if --db "$tmp/r.db" --quiet >"$tmp/log" 2>&1
check "the database has the submissions of each run" 1 "$(sqlite3 "$tmp/r.db" "
    select count(*) > 100 from job a join job b on a.run_id = 1 and b.run_id = 2 and a.job = b.job and a.submit_ns <> b.submit_ns")"
check "no job is submitted before the one it waits for ended" 0 "$(sqlite3 "$tmp/r.db" "
    select count(*) from run r join trace_job t on t.trace_jobs = r.trace_jobs and t.after is not null
    join job x on x.run_id = r.run_id and x.job = t.job join job y on y.run_id = r.run_id and y.job_id = t.after
    where x.submit_ns < y.end_ns")"
cmp_twice() { "$gsim" generate "$tmp/users.ini" | cmp - "$tmp/users.csv"; }
cmp_twice >"$tmp/log" 2>&1
say "a seed gives one trace" $?
if command -v "${CC:-cc}" >/dev/null && [ -r policies/skeleton.c ]; then
    "${CC:-cc}" -shared -fPIC -Iinclude -I. -o "$tmp/mine.so" -x c - >"$tmp/log" 2>&1 <<'C'
#include "gsim/policy.h"
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++) {
        gsim_slot slot = ctx->view->jobs.active[i];
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, 0);
        if (ctx->view->jobs.state[slot] == GSIM_QUEUED)
            (void)gsim_plan_place(plan, slot, &shape);
    }
}
static const struct gsim_policy mine = {.name = "mine", .summary = "a test", .paper = "none", .deviations = "none known", .decide = decide};
GSIM_POLICY_EXPORT(mine)
C
    "$gsim" run --policy "$tmp/mine.so" "$tmp/users.csv" --nodes 2 --gpus-per-node 2 --quiet --force --jobs-csv "$tmp/out" >>"$tmp/log" 2>&1 &&
        python3 "$tmp/loops.py" "$tmp/users.csv" "$tmp/out" >>"$tmp/log" 2>&1
    say "a policy in a process of its own" $?
fi

# --- archives
printf '; SWF\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n2 5 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 1 30\n3 6 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 99 30\n' >"$tmp/a.swf"
"$gsim" run --policy fifo "$tmp/a.swf" --device ideal --gpus-per-node 4 --jobs-csv "$tmp/out" >"$tmp/log" 2>&1
check "swf: preceding job and think time" "1 0 10, 2 40 50, 3 6 16" "$(submitted)"
grep -q "1 job comes after a job that is not there" "$tmp/log"
say "swf: a preceding job that the archive lacks is told" $?

# --- resampled: a chain that moves as a whole stays one, the others are cut and counted
sed 's/jobs = 200/jobs = 2000/; s/mean = 20000/mean = 90000/' "$tmp/users.ini" >"$tmp/weeks.ini"
"$gsim" generate "$tmp/weeks.ini" -o "$tmp/weeks.csv" 2>"$tmp/log"
cat >"$tmp/chains.py" <<'P'
import csv, re, sys
def read(path):
    return {r["job_id"]: r for r in csv.DictReader(l for l in open(path) if l[0] != "#")}
was, now = read(sys.argv[1]), read(sys.argv[2])
told = re.search(r"(\d+) of (\d+) jobs that come after others lost that", open(sys.argv[3]).read())
by = {i: round(float(r["submit_s"]) - float(was[i.split("~")[0]]["submit_s"]), 6) for i, r in now.items()}
kept = cut = 0
for i, r in now.items():
    origin, copy = (i.split("~") + [""])[:2]
    before = was[origin]["after"]
    if not before:
        assert not r["after"] and not r["think_s"]
    elif r["after"]:
        assert r["after"].split("~")[0] == before and r["think_s"] == was[origin]["think_s"], i
        assert by[i] == by[r["after"]], i
        kept += 1
    else:
        assert not r["think_s"], i
        assert "~" in "".join(now) or by.get(before) != by[i], i  # no chain is cut without need
        cut += 1
assert (kept, cut) == ((int(told[2]) - int(told[1]), int(told[1])) if told else (kept, 0)), (kept, cut, told)
print(len(now), kept, cut)
P
for how in "" "--load 1.7" "--load 0.6" "--near all --block day"; do
    # shellcheck disable=SC2086
    "$gsim" resample "$tmp/weeks.csv" --by user $how --force -o "$tmp/other.csv" 2>"$tmp/told" &&
        python3 "$tmp/chains.py" "$tmp/weeks.csv" "$tmp/other.csv" "$tmp/told" >"$tmp/log" 2>&1 &&
        awk '{exit !($2 > 0 && $3 > 0)}' "$tmp/log" &&
        "$gsim" run --policy srtf "$tmp/other.csv" --nodes 2 --gpus-per-node 2 >>"$tmp/log" 2>&1
    say "chains survive resampling where they can${how:+, }$how" $?
done
"$gsim" resample "$tmp/weeks.csv" --by user --near 0 --force -o "$tmp/other.csv" 2>"$tmp/told"
python3 "$tmp/chains.py" "$tmp/weeks.csv" "$tmp/other.csv" "$tmp/told" >"$tmp/log" 2>&1
check "weeks that stay cut none" "2000 1992 0" "$(cat "$tmp/log")"
expect "compare over resampled loops" 0 "over 3 resampled traces" "$gsim" compare --quiet --no-what-if --policies fifo,srtf --nodes 2 --gpus-per-node 2 --resample user --reps 3 "$tmp/weeks.csv"

# --- what is wrong
put() { printf 'job_id,submit_s,duration_s,gpus,after\n%s\n' "$1" >"$tmp/bad.csv"; }
put "a,0,1,1,b
b,0,1,1,a"
expect "a circle" 3 "would wait for its own end" "$gsim" run --policy fifo "$tmp/bad.csv"
put "a,0,1,1,x"
expect "a job that is not there" 3 "no job 'x'" "$gsim" run --policy fifo "$tmp/bad.csv"
expect "no offered load" 3 "as much load as the cluster lets them" "$gsim" run --policy fifo "$tmp/five.csv" --gpus-per-node 1 --load 0.5
expect "a copied simulator has none" 3 "no job waits for another" "$gsim" run --policy fifo "$tmp/five.csv" --set reference=tiresias
"$gsim" run --policy fifo "$tmp/five.csv" --device ideal --gpus-per-node 1 --time-scale 2 --quiet --force --jobs-csv "$tmp/out" >"$tmp/log" 2>&1
check "--time-scale scales think times" "b 20" "$(awk -F, '$1 == "b" {printf "b %g", $2}' "$tmp/out")"
sed 's/users = 8//' "$tmp/users.ini" >"$tmp/none.ini"
expect "users are needed" 3 "needs users" "$gsim" generate "$tmp/none.ini"
sed '/think_s/,+2d' "$tmp/users.ini" >"$tmp/none.ini"
expect "think times are needed" 3 "think_s" "$gsim" generate "$tmp/none.ini"
