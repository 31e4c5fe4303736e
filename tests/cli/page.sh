#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a page of gsim report says of its runs beside their results: when they were made, on which nodes, from which
# files, and what gsim compare or gsim advise said of them. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/check.sh
# Of a page the words and tables are read here, and no figure.
PATH=$PWD/tests/support/bin:$PATH
cd "$tmp" || exit 1
cells() { sed 's/<tr>/\n/g; s/<\/t[dh]>/|/g; s/<[^>]*>//g; s/&#39;/'\''/g; s/&lt;/</g' "$1"; } # of tables, a row a line
points() { sed -n 's/^<li>\(.*\)<\/li>$/\1/p' "$1" | sed 's/&#39;/'\''/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'; }
both() { python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$@"; }

# Two partitions, of which a line of jobs fills the small one now and then: intervals are over batches of the run's jobs.
printf '[node big]\ncount = 3\ngpus = 8\npartitions = a\ncpus = 64\n[node small]\ngpus = 4\ndevice = a100-80\npartitions = b\n' >c.ini
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,user,partition"
    for (i = 0; i < 200; i++) printf "%d,%d,%d,%d,u%d,%s\n", i, i * 400, 100 + i * 7919 % 1000 * (i % 7 ? 1 : 3), 1 + i % 3, i % 5, i % 2 ? "a" : "b" }' >t.csv
"$gsim" compare --policies fifo,sjf,las --cluster c.ini --db r.db --quiet t.csv >out 2>log
"$gsim" report r.db -o r.html --quiet >log 2>&1
cells r.html >r.txt
check "the date is that of the runs" "$(both r.db "SELECT '3 runs of ' || replace(substr(min(started_at), 1, 16), 'T', ' ') FROM run_perf")" \
    "$(sed -n 's/^\(3 runs of [-0-9]* [0-9:]*\).* UTC, by gsim .*\.$/\1/p' r.txt)"
"$gsim" report r.db -o again.html --quiet >log 2>&1
cmp r.html again.html >log 2>&1
say "so that a database has one page" $?
check "the nodes, with partitions" "3|3|8|24|h200|-|a|-|64|-| 3|1|4|4|a100-80|-|b|-|-|-|" "$(grep '^3|[31]|[84]|' r.txt | tr '\n' ' ' | sed 's/ $//')"
check "the files, with their sums" "cluster|c.ini|$(wc -c <c.ini)|3|$(sha256sum <c.ini | cut -c1-64)| trace|t.csv|$(wc -c <t.csv)|3|$(sha256sum <t.csv | cut -c1-64)|" \
    "$(grep -E '^(cluster|trace)\|' r.txt | tr '\n' ' ' | sed 's/ $//')"
check "and devices that are built in" 3 "$(grep -c '^built in|models/devices/' r.txt)"
# The verdict is the terminal's, sentence by sentence, and its intervals are the terminal's.
sed -n '/^verdict:/,$p' out | sed -e ':a' -e 'N;$!ba' -e 's/\n    */ /g' -e 's/^verdict: //' -e 's/\n  /\n/g' >terminal
grep '^95 %' out | sed 's/:$//' >>terminal
points r.html | diff terminal - >log 2>&1
say "the verdict is that of the terminal" $?
"$gsim" compare --policies fifo,sjf,las --cluster c.ini --quiet --format json t.csv | python3 -c 'import json, sys
for row in json.load(sys.stdin):
    c = row["comparison"]
    print(row["policy"], *("%.6f" % x for x in (c["jct_mean_s"]["low"], c["jct_mean_s"]["high"], c["ratio"]["mean"], c["ratio"]["low"], c["ratio"]["high"])), sep="|")' >expected
both r.db "SELECT policy, printf('%.6f', mean_low_s), printf('%.6f', mean_high_s), printf('%.6f', ratio), printf('%.6f', ratio_low), printf('%.6f', ratio_high) FROM compared JOIN run USING (run_id) ORDER BY run_id" >got
diff expected got >log 2>&1
say "and so are the intervals" $?
check "which stand beside the results of a single run" 3 "$(grep -cE '^(fifo|sjf|las)\|1\|200\|0\|[^|]*\|[0-9.]+ [a-z]+ to [0-9.]+ [a-z]+\|' r.txt)"
# Runs that a page has not all of have no verdict there, nor have runs of which one was replaced since.
"$gsim" report r.db -o part.html --where "policy <> 'las'" --quiet >log 2>&1
check "no verdict of other runs" "none: gsim compare and gsim advise judge runs, and no such comparison is of these runs alone" "$(points part.html)"
check "nor its intervals" 2 "$(cells part.html | grep -cE '^(fifo|sjf)\|1\|200\|0\|[^|]*\|-\|')"
"$gsim" run --policy sjf --cluster c.ini --db r.db --force --quiet t.csv >log 2>&1
"$gsim" report r.db -o stale.html --quiet >log 2>&1
check "nor of a run that was replaced" "none:" "$(points stale.html | cut -c1-5)"
# The policy nearest to the log goes first in gsim advise: intervals over changed traces stay those of their policy.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,user,logged_start_s,logged_end_s"
    for (i = 0; i < 120; i++) { long = i % 6 == 0; at = i * 9000; began = long || at > ends ? at : ends; ends = began + (long ? 9000 : 3000)
        printf "%d,%d,%d,1,u%d,%d,%d\n", i, at, long ? 9000 : 3000, i % 3, began, ends } }' >near.csv
"$gsim" advise --quiet --policies srtf,fifo --device ideal --nodes 1 --gpus-per-node 1 --resample user near.csv -o near.html >out 2>&1
python3 -c 'import sqlite3
db = sqlite3.connect("near.db")
first, = db.execute("SELECT first FROM comparison").fetchone()
for policy, of in (("fifo", first == "fifo"), ("srtf", first != "srtf")):
    means = [m for m, in db.execute("SELECT jct_mean_s FROM run WHERE policy = ? ORDER BY run_id", (policy,))][1:11]
    told = {m for m, in db.execute("SELECT mean_s FROM compared JOIN run USING (run_id) WHERE policy = ?", (policy,))}
    print(policy, of, len(told), abs(sum(means) / len(means) - told.pop()) < 1e-6)' >told 2>&1
check "intervals of gsim advise are those of their policy" "fifo True 1 True srtf True 1 True" "$(tr '\n' ' ' <told | sed 's/ $//')"
check "and have no p over changed traces" 1 "$(cells near.html | grep -cE '^srtf\|.*\|-\|[0-9]+\|$')"
# A merged database has the verdicts of both.
"$gsim" compare --policies fifo,srtf --nodes 2 --gpus-per-node 4 --db one.db --no-what-if --quiet t.csv >log 2>&1
"$gsim" compare --policies fifo,las --nodes 2 --gpus-per-node 4 --db two.db --no-what-if --quiet t.csv >log 2>&1
"$gsim" merge one.db two.db -o both.db >log 2>&1
"$gsim" report both.db -o both.html --quiet >log 2>&1
check "merged databases keep verdicts" 2 "$(grep -c '^<p class="of"><code>.*compare --policies' both.html)"
# A cluster that no option gives is a guess; its date has a beginning and an end where runs have two.
"$gsim" run --policy fifo --db guess.db --quiet t.csv >log 2>&1
python3 -c 'import sqlite3
db = sqlite3.connect("guess.db")
db.execute("UPDATE run_perf SET started_at = \"2026-02-28T23:59:58Z\", program = \"0.1.0 (build a)\"")
db.commit()'
"$gsim" run --policy sjf --db guess.db --quiet t.csv >log 2>&1
"$gsim" report guess.db -o guess.html --quiet >log 2>&1
cells guess.html >guess.txt
check "a cluster that is a guess" 1 "$(grep -c '^2|[0-9]*|[0-9]* (guessed)|' guess.txt)"
check "dates of several days" 1 "$(grep -c '^2 runs of 2026-02-28 23:59 to 20[-0-9]* [0-9:]* UTC, by gsim 0.1.0 (build a) and ' guess.txt)"
# A job that comes after another one is submitted when that ends, in the log as in the run: b waited 50 s in the log,
# and waits for nothing where a, which the log held back for 1000 s, ends after 100 s. On average 525 s, and 0.
printf 'job_id,submit_s,duration_s,gpus,user,after,think_s,logged_start_s,logged_end_s\na,0,100,1,u,,,1000,1100\nb,1100,10,1,u,a,0,1150,1160\n' >after.csv
"$gsim" compare --policies fifo --gpus-per-node 1 --device ideal --quiet --db after.db after.csv >out 2>log
check "waits as logged of a job after another one" "8.75 min 0 s -100.0 %" "$(awk '/^as logged  / { printf "%s %s ", $3, $4 } /^fifo .*-100/ { print $2, $3, $4, $5 }' out)"
"$gsim" report after.db -o after.html --quiet >log 2>&1
check "and on the page, of its user too" "fifo|2|8.75 min|0 us|-100.0 %| u|fifo|2|0.0|-|8.75 min|0 us|" \
    "$(cells after.html | grep -oE '^(fifo\|2\|8.*-100.0 %\||u\|fifo\|2\|0.0\|-\|[^|]*\|0 us\|)' | tr '\n' ' ' | sed 's/ $//')"
