#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim advise: from a log to a decision, and what it says where none can be had. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
# Of a page the words and tables are read here, and no figure.
PATH=$PWD/tests/support/bin:$PATH
said() { # name, pattern in the last output, whose sentences are joined
    sed -e ':a' -e 'N;$!ba' -e 's/\n    */ /g' "$tmp/log" >"$tmp/joined"
    grep -q -e "$2" "$tmp/joined"
    say "$1" $?
}
cells() { sed 's/<tr>/\n/g; s/<\/t[dh]>/|/g; s/<[^>]*>//g' "$1"; } # of the tables of a page, a row a line
unsaid() { if grep -q -e "$2" "$tmp/log"; then echo "not ok $1"; else echo "ok $1"; fi; }
one="--device ideal --nodes 1 --gpus-per-node 1"

# One GPU that the log's scheduler gave to the first to come: a runs 1000 s, b 1000 s, c and d 10 s each. Their
# waits are 0, 990, 1980 and 1980 s, fifo's own. Under las c and d stop a or b at once.
printf 'job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s\na,0,1000,1,u,0,1000\nb,10,1000,1,u,1000,2000\nc,20,10,1,v,2000,2010\nd,30,10,1,v,2010,2020\n' >"$tmp/log.csv"
# shellcheck disable=SC2086
{
    expect "the nearest policy stands for today's" 0 "fifo, backfill, easy-backfill and tiresias are equally near" "$gsim" advise $one --set las.quantum=60s --set srtf.preempt=pause "$tmp/log.csv" -o "$tmp/page.html"
    said "what is missing" "Missing: mem_gib. Without it sharing GPUs is not tried"
    said "what a policy would have done, and for how many" "las in place of fifo: mean JCT [0-9]* % lower.*, p99 .* instead of .*; mean wait .* Of 2 users [12] wait less on average by more than a minute"
    said "what that rests on" "It rests on "
    said "what would overturn it" "It would be overturned by another month (no interval: all jobs come within three days, too short a time to resample)"
    said "a policy that knows durations is no advice" "To compare: srtf, which knows"
    said "more GPUs" "2 GPUs in place of 1, under fifo: mean wait"
    unsaid "no policy that needs memory" "^mps"
    # one GPU for 24 hours at 2.5 is 60; a used 1000 s = 0.28 h of the four jobs' 2020 s = 0.56 h, 1.40 in all
    expect "with a price" 0 "2 GPUs in place of 1, under fifo, 60.00 a day more: mean wait" "$gsim" advise $one --policies fifo --price 2.5 "$tmp/log.csv" -o "$tmp/price.html"
    check "on the page, too" 1 "$(cells "$tmp/price.html" | grep -c '^fifo|0.6|0.6|0.0|-|-|-|1.40|0.00|')"
    expect "a price that is none is refused before the runs" 2 "'cheap' is no price" "$gsim" advise $one --price cheap "$tmp/log.csv"
    check "the page has the advice, its database stands beside it" "1 1" "$(grep -c '<h2>Advice</h2>' "$tmp/page.html") $([ -s "$tmp/page.db" ] && echo 1)"
    "$gsim" report --quiet "$tmp/page.db" -o "$tmp/again.html" >"$tmp/log" 2>&1 && cmp "$tmp/page.html" "$tmp/again.html" >>"$tmp/log" 2>&1
    say "of which gsim report makes that page again" $?
    check "advice comes before the tables" "Advice Verdict Results" "$(grep -o '<h2>[A-Z][a-z]*' "$tmp/page.html" | sed 's/<h2>//' | head -3 | tr '\n' ' ' | sed 's/ $//')"
    # d waited a day in the log: no rule of these runs did that
    sed 's/2010,2020$/86400,86410/' "$tmp/log.csv" >"$tmp/held.csv"
    expect "a log that no policy comes near" 0 "No decision can rest on these runs yet: no policy comes near the log" "$gsim" advise $one "$tmp/held.csv"
    unsaid "no advice then" "in place of"
    # d waits while no job runs, from 2010 s, when c ended, until 86 400 s: 84 390 s are 23.4 h
    said "and that no job had a GPU while it waited" "no job had a GPU for 23.4 h on end though jobs waited, from 33.5 min after time 0 on"
    # three jobs of the log at once, on two nodes
    printf 'job_id,submit_s,duration_s,gpus,logged_start_s,logged_end_s,logged_nodes\na,0,100,1,0,100,n[1-2]\nb,0,100,1,0,100,n1\nc,0,100,1,0,100,n2\nd,0,100,1,100,200,n2\n' >"$tmp/more.csv"
    expect "a cluster that the log contradicts is not guessed" 2 "how many GPUs are there? in the log up to 3 GPUs were held at once, on 2 nodes in all, and this cluster has 1" "$gsim" advise "$tmp/more.csv"
    printf 'PriorityType=priority/multifactor\n' >"$tmp/settings.conf"
    expect "nor where a file of settings has no nodes" 2 "how many GPUs are there? in the log up to 3 GPUs were held at once" "$gsim" advise --slurm-conf "$tmp/settings.conf" "$tmp/more.csv"
    expect "and is said where it is given" 0 "of 25 s, and in the log up to 3 GPUs were held at once" "$gsim" advise $one "$tmp/more.csv"
    cut -d, -f1-5 "$tmp/log.csv" >"$tmp/plain.csv"
    expect "a trace without a log" 0 "fifo stands for today's scheduler unchecked" "$gsim" advise $one "$tmp/plain.csv"
    # The guess that no log contradicts is one on the page and in the database, too.
    expect "a cluster is guessed where it has no log" 0 "The cluster is a guess: 1 node x 1 GPU" "$gsim" advise --quiet --policies fifo \
        --slurm-conf "$tmp/settings.conf" -o "$tmp/guess.html" "$tmp/plain.csv"
    cells "$tmp/guess.html" >"$tmp/log"
    said "which its page says among what to be careful with" "^fifo|.*|1 a node|"
    tags="$(python3 -c 'import sqlite3, sys; print(*(tag for tag, in sqlite3.connect(sys.argv[1]).execute(
        "SELECT tag FROM parameter WHERE owner = \"nodes 1\" AND key IN (\"count\", \"gpus\", \"device\") ORDER BY key")))' "$tmp/guess.db")"
    check "and its database" "default default default" "$tags"
    printf 'job_id,mem_gib\na,8\nb,8\nc,8\nd,8\n' >"$tmp/mem.csv"
    expect "measured memory brings sharing" 0 "^mps " "$gsim" advise --device h200 --nodes 1 --gpus-per-node 1 --gpu-mem "$tmp/mem.csv" "$tmp/log.csv"
    said "with a queue that holds no job up" "^timeslice "
    printf '[node a]\ngpus = 1\npartitions = p\n[node b]\ngpus = 1\npartitions = q\n' >"$tmp/two.ini"
    sed '1s/$/,partition/; 2,$s/$/,p/' "$tmp/log.csv" >"$tmp/parts.csv"
    expect "policies that refuse partitions are left out" 0 "^tiresias " "$gsim" advise --cluster "$tmp/two.ini" --device h200 --gpu-mem "$tmp/mem.csv" "$tmp/parts.csv"
    unsaid "of those that share" "^mps"
    said "and why" "Sharing GPUs is not tried: jobs and nodes have partitions or types of GPU"
    # with memory sharing would not be tried either
    expect "memory is not asked for in vain" 0 "Sharing GPUs is not tried" "$gsim" advise --policies fifo --cluster "$tmp/two.ini" --device h200 "$tmp/parts.csv"
    unsaid "since it would change nothing" "Missing: mem_gib"
    # the log of a scheduler that knew durations: sjf is a bound all the same, and stands for nobody's scheduler
    printf 'job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s\na,0,1000,1,u,0,1000\nb,10,1000,1,u,1020,2020\nc,20,10,1,v,1000,1010\nd,30,10,1,v,1010,1020\n' >"$tmp/short.csv"
    expect "a bound does not stand for today's scheduler" 0 "no policy comes near the log: under fifo, the nearest" "$gsim" advise $one --policies sjf,fifo "$tmp/short.csv"
    expect "a choice of policies" 0 "^sjf " "$gsim" advise $one --policies fifo,sjf "$tmp/log.csv"
    unsaid "and no others" "^las"
}
# Two GPUs: a has one for 1000 s from 0 on, w wants both for 100 s at 10, s one for 1000 s at 20, t at 900. Under fifo w
# waits 990 s for a, s 1080 and t 200 for w: a mean JCT of 1342.5 s. Under backfill s begins at once and t as a ends, at
# 1000, and w as t ends, at 2000: 1297.5 s, 3.4 % lower, and the one wide job waits 1990 s = 33.2 min, not 990 s = 16.5.
# No user loses so much that the mean over the user's jobs shows it: u has a, s and w (690 s before, 663 s now).
printf 'job_id,submit_s,duration_s,gpus,user\na,0,1000,1,u\nw,10,100,2,u\ns,20,1000,1,u\nt,900,1000,1,v\n' >"$tmp/width.csv"
expect "those that pay for a lower mean" 0 "backfill in place of fifo: mean JCT 3.4 % lower" "$gsim" advise --policies fifo,backfill --device h200 --nodes 1 --gpus-per-node 2 "$tmp/width.csv"
said "are named by the width of their jobs" "0 longer by more than that. On average jobs of 2 GPUs (1 of 4) wait 33.2 min instead of 16.5 min."
said "and durations are no constant that trials vary" "by durations that were measured on other GPUs than these"
unsaid "which no option tries" "what-if tries them"
# Twelve weeks, a day of each: weeks change places, and give an interval.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,user,limit_s"
    for (w = 0; w < 12; w++) for (i = 0; i < 10; i++)
        printf "j%d-%d,%d,%d,1,u%d,%d\n", w, i, w * 604800 + i * 600, i % 3 ? 300 : 6000, i % 4, i % 3 ? 400 : 8000 }' >"$tmp/weeks.csv"
# shellcheck disable=SC2086
expect "intervals" 0 "over 10 resampled traces" "$gsim" advise $one --policies fifo,las --set las.quantum=60s "$tmp/weeks.csv"
# 120 jobs, 4 of ten 6000 s and 6 of ten 300 s: 309 600 s of work in 11 weeks and 5400 s are a load of 0.05;
# an hour between jobs in place of weeks, 12 x 10 x 10 min: 309 600 / (119 x 600) = 4.34, so five GPUs
awk -F, -v OFS=, 'NR > 1 { $2 = (NR - 2) * 600 } 1' "$tmp/weeks.csv" >"$tmp/much.csv"
# shellcheck disable=SC2086
"$gsim" advise $one --policies fifo,las "$tmp/much.csv" >"$tmp/log" 2>&1
said "more work than the GPUs can do" "(offered load 4.34): while that is so, waits grow under any scheduler"
said "and how many it needs" "The work alone needs 5 GPUs in place of 1"
# shellcheck disable=SC2086
expect "no wait, no advice" 0 "Jobs wait 0 s on average under fifo: neither another scheduler" "$gsim" advise --device ideal --nodes 1 --gpus-per-node 10 --policies fifo,srtf "$tmp/weeks.csv"
said "nor a policy that knows more" "srtf, which knows .*, has the mean JCT of fifo"
# shellcheck disable=SC2086
"$gsim" advise $one --policies fifo,las --set las.quantum=60s "$tmp/weeks.csv" >"$tmp/log" 2>&1
said "of an advice" "las in place of fifo: mean JCT [0-9]* % lower (on this trace; [0-9-]* to [0-9]* %, over 10 resampled traces)"

# The page is of the trace as it is: resampled traces, in which jobs change places and users with them, are
# ranges beside it. Users' GPU hours are added up by awk. As logged each job began at once.
awk -F, 'NR == 1 { print $0 ",logged_start_s"; next } { print $0 "," $2 }' "$tmp/weeks.csv" >"$tmp/began.csv"
awk -F, 'NR > 1 { s[$5] += $3 } END { for (u in s) printf "%s|%.1f\n", u, s[u] / 3600 }' "$tmp/weeks.csv" | sort >"$tmp/hours"
# shellcheck disable=SC2086
"$gsim" advise --quiet --force --device ideal --nodes 1 --gpus-per-node 2 --policies fifo,sjf "$tmp/began.csv" -o "$tmp/weeks.html" >"$tmp/log" 2>&1
# shellcheck disable=SC2086
"$gsim" advise --quiet --force $one --policies sjf,fifo "$tmp/began.csv" -o "$tmp/weeks.html" >"$tmp/log" 2>&1
cells "$tmp/weeks.html" >"$tmp/log"
check "users of the page are those of the log" "$(cat "$tmp/hours")" "$(sed -n 's/^\(u[0-9]\)|fifo|[0-9]*|\([0-9.]*\)|.*/\1|\2/p' "$tmp/log" | sort)"
check "a run a policy, and ten changed traces" "fifo|1|120 fifo|10" "$(sed -n 's/^\(fifo|1|120\)|.*/\1/p; s/^\(fifo|10\)|.*/\1/p' "$tmp/log" | tr '\n' ' ' | sed 's/ $//')"
check "runs of an earlier command stay out of it" 0 "$(grep -c 'gpus-per-node=2' "$tmp/log")"
check "waits as logged" 1 "$(grep -c '^fifo|120|0 us|' "$tmp/log")"
# u0 to u3 as the trace has them in each resampled run of the database, too
check "and users of resampled jobs are theirs" "$(cat "$tmp/hours")" "$(python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("""SELECT DISTINCT user, round(sum(service_ns) / 3.6e12, 1) FROM run JOIN job USING (run_id)
    JOIN trace_job USING (trace_jobs, job) GROUP BY run_id, user ORDER BY user"""): print("%s|%.1f" % row)' "$tmp/weeks.db")"

# --- long logs --------------------------------------------------------------------------------------------

# Every 600 s a job, nine of 60 s to one of 3000 s: short jobs wait for long ones under fifo, in the first 20 000 as in
# all 25 000.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 25000; i++) printf "%d,%d,%d,1\n", i, i * 600, i % 10 ? 60 : 3000 }' >"$tmp/mixed.csv"
h200="--quiet --device h200 --nodes 1 --gpus-per-node 1 --policies fifo,las --set las.quantum=60s --set las.preempt=restart"
# shellcheck disable=SC2086
expect "other constants are tried on a part, which is said" 0 "the verdict survives" "$gsim" advise $h200 "$tmp/mixed.csv"
said "of how many jobs" "the verdict survives.*that was tried on the first 20000 of 25000 jobs alone (--what-if tries all jobs)"
said "and what they make of an advice" "It would be overturned by .*assumed constants .*(with each a fifth smaller and larger its mean JCT is .* %.*, of the first jobs alone)"
# What follows takes the code of the run before it, on more jobs and on others: it is left to the first build.
if ! leaves_numbers; then
    # shellcheck disable=SC2086
    expect "or on all, where that is asked for" 0 "the verdict survives" "$gsim" advise $h200 --what-if "$tmp/mixed.csv"
    unsaid "and nothing else is said then" "that was tried on"
    # 20 000 jobs in pairs, each as long as the other, which las can but delay; then a job of a month before 4 999 of a
    # minute, which under fifo wait for it: las is lower over all jobs, fifo on the first 20 000.
    awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 20000; i++) printf "%d,%d,3000,1\n", i, int(i / 2) * 10000 + i % 2 * 10
        for (; i < 25000; i++) printf "%d,%d,%d,1\n", i, 100000000 + (i - 20000) * 600, i == 20000 ? 2592000 : 60 }' >"$tmp/pairs.csv"
    # shellcheck disable=SC2086
    expect "a part that another policy wins says nothing of the verdict" 0 "las has the lowest mean JCT" "$gsim" advise $h200 "$tmp/pairs.csv"
    said "which is said" "was not tried: on the first 20000 jobs alone, which such trials would be of, fifo is lower"
fi

# --- what the log holds beside jobs -----------------------------------------------------------------------

# A job that still runs at the log's end holds GPUs there, and one that has not begun is none of the trace's.
{
    echo 'JobIDRaw|User|State|Submit|Start|End|ElapsedRaw|AllocTRES'
    echo '1|u|COMPLETED|2024-05-01T00:00:00|2024-05-01T00:00:00|2024-05-01T01:00:00|3600|gres/gpu=1'
    echo '2|u|RUNNING|2024-05-01T00:30:00|2024-05-01T01:00:00|Unknown|3600|gres/gpu=1'
    echo '3|u|PENDING|2024-05-01T00:40:00|Unknown|Unknown|0|'
} >"$tmp/running.txt"
# shellcheck disable=SC2086
expect "a log with a job that still runs" 0 "2 jobs on" "$gsim" advise $one --policies fifo,sjf "$tmp/running.txt"
said "and one that waits, which is named among what was left out" "2 jobs; left out: 1 row (they had not started)"

# A list of what ran from day 10 on: a job of 12 days that began ten days before, and then one of 50 minutes each hour.
# The first of these ends at 867000 s, when the long one has 1036800 - 867000 s left.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s"; print "l,0,1036800,1,u,0,1036800"
    for (i = 0; i < 240; i++) { s = 864000 + i * 3600; printf "%d,%d,3000,1,u,%d,%d\n", i, s, s, s + 3000 } }' >"$tmp/window.csv"
window="--quiet --nodes 1 --gpus-per-node 2 --policies fifo,sjf --no-what-if"
# shellcheck disable=SC2086
expect "a log begins where it has all jobs" 0 "240 jobs; left out: 1 row (they had ended when the log begins" "$gsim" advise $window "$tmp/window.csv"
said "which is said" "The log begins here 10 d after its first submission"
# shellcheck disable=SC2086
expect "or where the user says" 0 "241 jobs on" "$gsim" advise $window --log-from 0s "$tmp/window.csv"
unsaid "and then nothing is cut off" "The log begins here"
expect "a cut log is read from the file that was imported" 0 "^l,867000,169800,1,u,867000,1036800$" "$gsim" import native "$tmp/window.csv" --log-from first-end
said "and says so" "^# assumed: submit_s: the log from 867000s after its first submission on"

# Two nodes of two GPUs, from 100 s on: a and b have one GPU of each node, so that c, with both of one, waits for a's end.
# On one node beside each other they would leave it the other one at once.
cat >"$tmp/cut.csv" <<'L'
job_id,submit_s,duration_s,gpus,logged_start_s,logged_end_s,logged_nodes
a,0,1000,1,0,1000,n2
b,0,2000,1,0,2000,n1
w,0,100,1,0,100,n1
c,200,100,2,1000,1100,n2
L
for policy in fifo backfill sjf slurm; do
    [ $policy = slurm ] && nodes="--slurm-conf $tmp/cut.conf" || nodes="--nodes 2 --gpus-per-node 2"
    printf 'NodeName=n1,n2 Gres=gpu:2\nPartitionName=gpu Nodes=n1,n2 Default=YES MaxTime=UNLIMITED\n' >"$tmp/cut.conf"
    # shellcheck disable=SC2086
    "$gsim" --policy $policy $nodes --device ideal --quiet --log-from 100s --jobs-csv "$tmp/jobs.csv" --force "$tmp/cut.csv" >"$tmp/log" 2>&1
    check "$policy: jobs that ran as the log begins stay on their nodes" "100 100 1000" \
        "$(awk -F, 'NR > 1 { printf "%s%d", sep, $3; sep = " " }' "$tmp/jobs.csv")"
done
"$gsim" import native "$tmp/cut.csv" --log-from 100s -o "$tmp/cut2.csv" --force >"$tmp/log" 2>&1
"$gsim" --policy fifo --nodes 2 --gpus-per-node 2 --device ideal --quiet --jobs-csv "$tmp/jobs.csv" --force "$tmp/cut2.csv" >"$tmp/log" 2>&1
check "an imported trace keeps them" "100 100 1000" "$(awk -F, 'NR > 1 { printf "%s%d", sep, $3; sep = " " }' "$tmp/jobs.csv")"
# Three nodes of eight: g lies on parts of them all (8 of n3, 6 of n2, 2 of n1), where no two nodes are idle as a whole.
cat >"$tmp/gang.csv" <<'L'
job_id,submit_s,duration_s,gpus,logged_start_s,logged_end_s,logged_nodes
x,0,1000,4,0,1000,n1
y,0,1000,2,0,1000,n2
g,0,2000,16,0,2000,"n[1-3]"
w,0,100,1,0,100,n1
L
printf 'NodeName=n[1-3] Gres=gpu:8\nPartitionName=gpu Nodes=n[1-3] Default=YES MaxTime=UNLIMITED\n' >"$tmp/gang.conf"
for policy in fifo backfill easy-backfill slurm; do
    [ $policy = slurm ] && nodes="--slurm-conf $tmp/gang.conf" || nodes="--nodes 3 --gpus-per-node 8"
    # shellcheck disable=SC2086
    "$gsim" --policy $policy $nodes --device ideal --quiet --log-from 100s --jobs-csv "$tmp/jobs.csv" --force "$tmp/gang.csv" >"$tmp/log" 2>&1
    check "$policy: so does a gang on parts of nodes" "100 100 100" \
        "$(awk -F, 'NR > 1 { printf "%s%d", sep, $3; sep = " " }' "$tmp/jobs.csv")"
done
expect "fewer nodes than the log's have no place for some" 0 . "$gsim" --policy fifo --nodes 1 --gpus-per-node 2 --device ideal "$tmp/cut2.csv"

# --- types of GPU of a site ---------------------------------------------------------------------

# A site's file says what its GPUs are called, and no device. Two of them are no h200, and only one is the a100-80 of
# --device; a site of a100 alone is what --device says.
printf 'NodeName=a[1-2] Gres=gpu:a100:1\nNodeName=h1 Gres=gpu:h100:1\nPartitionName=p Nodes=ALL Default=YES\n' >"$tmp/types.conf"
expect "types that are no device are missing devices" 0 "GPUs of type a100, h100 run as the device h200" "$gsim" advise --policies fifo --slurm-conf "$tmp/types.conf" "$tmp/plain.csv"
said "in the advice as well" "Missing: devices. GPUs of type a100, h100 run as the device h200.* memory and energy are those of h200"
said "and of which kind there would be more GPUs" "5 GPUs in place of 3 (3 a100 in place of 2, 2 h100 in place of 1), under fifo: mean wait"
expect "of one that is given, the others" 0 "GPUs of type h100 run as the device a100-80" "$gsim" --policy fifo --device a100-80 --slurm-conf "$tmp/types.conf" "$tmp/log.csv"
"$gsim" advise --policies fifo --device a100-80 --cluster "$tmp/types.conf" "$tmp/log.csv" >"$tmp/log" 2>&1
said "also where the file is the cluster" "Missing: devices. GPUs of type h100 run"
grep -v h1 "$tmp/types.conf" >"$tmp/type.conf"
"$gsim" advise --policies fifo --device h200 --slurm-conf "$tmp/type.conf" "$tmp/log.csv" >"$tmp/log" 2>&1
unsaid "a device that is given for one type" "GPUs of type"

# --- limits of a site -------------------------------------------------------------------------------------
# Two GPUs, and a QOS that gives a user one of them: eight jobs of 1000 s, all at 0 s, run one behind the other beside an
# idle GPU. Where no limit is known fifo runs them two by two, which comes nowhere near the log: no advice. With the
# limit slurm does as logged, and what fifo gains over it comes from having none.
{
    echo 'job_id,submit_s,duration_s,gpus,user,logged_start_s'
    for i in 0 1 2 3 4 5 6 7; do echo "$i,0,1000,1,u,${i}000"; done
} >"$tmp/limited.csv"
{
    printf 'AccountingStorageEnforce=limits,qos\nGresTypes=gpu\nNodeName=n1 CPUs=8 Gres=gpu:2\nPartitionName=p Nodes=n1 Default=YES\n'
    printf 'Name|Priority|MaxTRESPU\nnormal|0|gres/gpu=1\n'
} >"$tmp/limits.conf"
expect "a log that limits held back is like no policy" 0 "no policy comes near the log" "$gsim" advise --nodes 1 --gpus-per-node 2 --policies fifo,las "$tmp/limited.csv"
said "and what may be missing is named" "what held jobs back there.*limits of users or accounts"
unsaid "with no advice" "1. fifo in place of"
expect "with its limits slurm does as logged" 0 "slurm is nearest to the log" "$gsim" advise --slurm-conf "$tmp/limits.conf" --policies slurm,fifo "$tmp/limited.csv"
said "and what a policy without them gains is said to be theirs" "1. fifo in place of slurm:.* has none of the site's limits of users, accounts and QOS, which slurm holds jobs to"

# Two nodes of a GPU, of which p has one, and a log in which two jobs of p ran at once, as the cluster of then let them.
printf 'NodeName=n[1-2] Gres=gpu:1\nPartitionName=p Nodes=n1 Default=YES\nPartitionName=q Nodes=n2\n' >"$tmp/small.conf"
printf 'job_id,submit_s,duration_s,gpus,user,partition,logged_start_s,logged_end_s\na,0,1000,1,u,p,0,1000\nb,0,1000,1,u,p,0,1000\nc,0,1000,1,u,q,1000,2000\n' >"$tmp/larger.csv"
expect "a partition that was larger in the log is named" 0 "no policy comes near the log" "$gsim" advise --slurm-conf "$tmp/small.conf" --policies slurm,fifo "$tmp/larger.csv"
said "with its GPUs then and now" "in the log jobs of partition p held up to 2 GPUs at once, and that partition has 1 here"
sed 's/^b,.*/b,0,1000,1,u,p,1000,2000/' "$tmp/larger.csv" >"$tmp/alike.csv"
"$gsim" advise --slurm-conf "$tmp/small.conf" --policies slurm,fifo "$tmp/alike.csv" >"$tmp/log" 2>&1
unsaid "one that has them is not" "in the log jobs of partition"

# --- what is refused --------------------------------------------------------------------------------------
# 500 001 jobs of a second, one at a time: two policies make a million job rows and more. With sanitizers it takes a
# fifth of the script for jobs that are alike; mixed.csv above has a part of a log there.
if ! leaves_numbers; then
    awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 500001; i++) printf "%d,%d,1,1\n", i, i * 2 }' >"$tmp/long.csv"
    # shellcheck disable=SC2086
    expect "a long log: other nodes are tried on a part, which is said" 0 "2 GPUs in place of 1, under fifo, for the first 50000 of 500001 jobs alone" "$gsim" advise $one --policies fifo,backfill "$tmp/long.csv" -o "$tmp/long.html"
    said "what the page lacks is said" "The report has no tables of users and no figures of jobs"
    check "and its database has no rows of jobs" 0 "$(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT COUNT(*) FROM job").fetchone()[0])' "$tmp/long.db")"
fi
expect "no log" 2 "which trace\|no trace\|gsim advise" "$gsim" advise
expect "a log that is not there" 3 "none.txt" "$gsim" advise "$tmp/none.txt"
expect "an unknown policy" 2 "did you mean 'fifo'" "$gsim" advise --policies fifi "$tmp/log.csv"
expect "a page that is none" 2 "a report is a page" "$gsim" advise "$tmp/log.csv" -o "$tmp/page.pdf"
echo "my notes" >"$tmp/notes.html"
expect "a page that gsim did not make" 2 "notes.html" "$gsim" advise "$tmp/log.csv" -o "$tmp/notes.html"
expect "a job that fits no GPU" 3 "job 'a' asks for 9 GPUs" sh -c "sed 's/^a,0,1000,1/a,0,1000,9/' '$tmp/log.csv' >'$tmp/wide.csv'; '$gsim' advise --nodes 1 --gpus-per-node 1 '$tmp/wide.csv'"
# Five jobs that waited for 2e9 s in the log: 1e19 ns in all, and 64 bits hold 9.2e18. fifo starts each at once.
{ echo job_id,submit_s,duration_s,gpus,logged_start_s; for i in 1 2 3 4 5; do echo "$i,0,600,1,2000000000"; done; } >"$tmp/sums.csv"
"$gsim" compare --policies fifo --device ideal --gpus-per-node 8 --no-what-if --quiet --db "$tmp/sums.db" "$tmp/sums.csv" >"$tmp/log" 2>&1
"$gsim" report "$tmp/sums.db" -o "$tmp/sums.html" >"$tmp/log" 2>&1 && cells "$tmp/sums.html" | grep -q '^fifo|5|2.31e+04 d|0 us|-100.0 %|'
say "waits whose sum passes 64 bits are in the page" $?
