#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Names of jobs, users, models and files that are code to a shell, SQL, HTML, TeX, gnuplot or a terminal go
# through every output as names. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/check.sh
cd "$tmp" || exit 1
python=${PYTHON:-python3}
"$python" - <<'END'
import csv
names = ["<script>hit(1)</script>", "$(touch hit2)", "`touch hit3`", "'; DROP TABLE job; --", '"; system("touch hit4"); "',
         "\\input{hit}_%&#~^$", "@a^b_{c}", "\x1b[31mred", "a\"b'c", "{/Bold x}", "=cmd()", "-rf", "a,b", "%s%n", "&lt;"]
with open("t.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["job_id", "submit_s", "duration_s", "gpus", "user", "vc", "model", "class"])
    for i in range(60):
        out.writerow([names[i % 15] + str(i), 40 * i, 100 + i * 7 % 91, 1 + i % 3]
                     + [names[(i + k) % 15] for k in (0, 1, 2)] + ["batch"])
END
trace='a$(touch hit5) `touch hit6`;"'"'"'<b>.csv'
cp t.csv "$trace"
no_escape() { # file: whether no control character of the names reaches a terminal
    ! LC_ALL=C grep -q "$(printf '\033')" "$1"
}

"$gsim" compare --policies fifo,srtf --gpus-per-node 4 --by user --db d.db "$trace" >out 2>log
say "a comparison" $?
no_escape out && no_escape log
say "its table and warnings are plain text" $?
# U+009B is ESC [ in one character, and a name with an end of line would begin a row of the table
printf 'job_id,submit_s,duration_s,gpus,user\na,0,1,1,"\302\23331mred"\nb,0,1,1,"two\nlines"\n' >u.csv
"$gsim" run --policy fifo --gpus-per-node 2 --by user u.csv >out 2>log
LC_ALL=C grep -q '^fifo *?31mred ' out && grep -q '^fifo *two?lines ' out
say "so are control characters of two bytes, and ends of lines" $?
"$gsim" run --policy fifo --gpus-per-node 4 --jobs-csv j.csv --timeline t.json --format json "$trace" >r.json 2>log
say "a run" $?
"$python" - <<'END'
import csv, json, sqlite3
rows = list(csv.DictReader(open("t.csv", newline="")))
jobs = list(csv.DictReader(open("j.csv", newline="")))
ids = [row["job_id"] for row in rows]
assert [job["job_id"] for job in jobs] == ids and [job["user"] for job in jobs] == [row["user"] for row in rows]
json.load(open("r.json"))
told = json.dumps(json.load(open("t.json")), ensure_ascii=False)
assert all(json.dumps(name, ensure_ascii=False)[1:-1] in told for name in ids)
db = sqlite3.connect("d.db")
assert [id for (id,) in db.execute("SELECT job_id FROM job WHERE run_id = 1 ORDER BY job")] == ids
END
say "CSV, JSON, timeline and database have the names as they are" $?
"$gsim" report d.db -o r.html >out 2>&1
say "a report" $?
! grep -q '<script>hit\|<b>\.csv' r.html
say "in which a name is no element" $?
"$gsim" table d.db --by user --format latex >t.tex 2>log
say "a table for TeX" $?
! grep -q '\\input\|[^\\]\$(touch\|[^\\]#' t.tex
say "in which a name is no command" $?
for figure in gantt overview jct_cdf; do
    command -v gnuplot >/dev/null 2>&1 || break
    "$gsim" plot d.db --figure $figure --where run_id=1 -o $figure.svg >out 2>&1
    say "the figure $figure" $?
done
printf 'policy = fifo\ntrace = %s\ngpus-per-node = 4\nseed = 1,2\n' "$trace" >g.ini
"$gsim" sweep g.ini --emit slurm -o 'x$(touch hit7)".db' >job.sh 2>log
say "a script of a sweep" $?
mkdir task
(cd task && cp "../$trace" ../g.ini . && SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=2 SLURM_CPUS_PER_TASK=1 sh ../job.sh >out 2>&1)
say "runs with its names" $?
printf 'job_id,submit_s,duration_s,gpus,command\n"$(touch hit8)<b>",0,1,1,"echo ""$GSIM_JOB_ID"""\n' >c.csv
"$gsim" drive --quiet --dry-run --policy fifo --gpus 0 --logs logs c.csv >out 2>&1
check "a job that is driven has its name, and a log that is a file" '$(touch hit8)<b>' "$(cat logs/0-*.log)"
"$gsim" check d.db j.csv r.json t.json >out 2>&1
"$gsim" run --policy "\$(touch hit9)" t.csv >out 2>log
check "an error has the name in it" 1 "$(grep -c "touch hit9" log)"
check "no name was run" "" "$(find . -name 'hit*')"
