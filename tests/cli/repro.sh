#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nothing stale: a run is of its program and of every file that it reads, a database says which, and
# gsim repro runs it again. $1 is gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
root=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset TMPDIR
cd "$tmp" || exit 1

say() { # name, status
    if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; sed 's/^/# /' out | head -8; fi
}
# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >out 2>&1
    got=$?
    [ $got -eq "$code" ] && grep -q -e "$pattern" out
    say "$name (exit $got)" $?
}
lacks() { # name, pattern: of the last output
    ! grep -q -e "$2" out
    say "$1" $?
}
asks() { # name, what is there, database, query
    sqlite3 "$3" "$4" >out 2>&1
    [ "$(cat out)" = "$2" ]
    say "$1" $?
}

# --- inputs: one of each kind of file that a run can read
printf '10\n20\n300\n' >d.txt
cat >e.ini <<'E'
[trace]
jobs = 200
[arrival]
process = poisson
load = 0.7
gpus = 1
[duration]
distribution = empirical
file = d.txt
[user]
choice = ann, bob
E
printf 'trace = e.ini\npolicy = fifo, las\nnodes = 1\ngpus-per-node = 1\nreps = 2\n' >g.ini
printf 'model,gpus,gpu_ms,mem_gib\nresnet,,120,20\n' >models.csv
printf 'job_id,submit_s,iterations,gpus,user,vc,model,class,limit_s\n' >t.csv
for i in 1 2 3 4 5 6; do echo "j$i,$((i * 5)),$((i * 100)),1,u$((i % 2)),v,resnet,batch,900"; done >>t.csv
printf 'job_id,memory.used [MiB]\nj1,1000\n' >used.csv
cp "$root/models/devices/h200.ini" mine.ini
printf '[node a]\ncount = 1\ngpus = 1\ndevice = mine.ini\n[node b]\ngpus = 1\ndevice = h100-sxm\n' >c.ini
cp "$root"/tests/support/history.csv h.csv
cp "$root/models/apps/$(ls "$root/models/apps" | head -1)" app.csv
printf 'job_id,submit_s,iterations,gpus,app\na,0,100,1,app.csv\nb,1,100,1,app.csv\n' >apps.csv

# --- a changed file is another run, whichever it is
changes() { # file, line to append, run...
    file=$1 line=$2
    shift 2
    rm -f f.db
    "$gsim" run "$@" --quiet --db f.db >out 2>&1 || say "a first run with $file" 1
    expect "with the same $file nothing is run" 0 "has this run already" "$gsim" run "$@" --db f.db
    cp "$file" kept
    printf '%s\n' "$line" >>"$file"
    expect "with another $file it is" 0 "are there with other contents of $file:" "$gsim" run "$@" --db f.db
    asks "both are there" "2|2" f.db "select count(*), count(distinct config) from run"
    asks "with their contents" "2" f.db "select count(*) from input where path = '$file' and length(text) = size"
    mv kept "$file"
}
changes e.ini "# more" --policy fifo e.ini
changes d.txt "3000" --policy fifo e.ini
changes t.csv "j7,40,100,1,u1,v,resnet,batch,900" --policy fifo --by-model models.csv t.csv
changes models.csv "other,,1,1" --policy fifo --by-model models.csv t.csv
changes used.csv "j2,1000" --policy fifo --by-model models.csv --gpu-mem used.csv t.csv
changes c.ini "count = 2" --policy fifo --by-model models.csv --cluster c.ini t.csv
changes mine.ini "# more" --policy fifo --by-model models.csv --cluster c.ini t.csv
changes h.csv "7" --policy tiresias --set history=h.csv --by-model models.csv t.csv
changes app.csv "# more" --policy fifo apps.csv
cp "$root/models/devices/$(grep -l '^\[mig\]' "$root"/models/devices/*.ini | head -1 | xargs basename)" cut.ini
changes cut.ini "# more" --policy fifo --by-model models.csv --device cut.ini t.csv

# --- a sweep: changed values are other runs, and figures take the latest
expect "a sweep" 0 "4 of 4 runs are in r.db, 4 of them new" "$gsim" sweep g.ini -o r.db
expect "again" 0 "0 of them new" "$gsim" sweep g.ini -o r.db
before=$(sqlite3 r.db "select group_concat(jct_mean_s) from run")
printf '10\n20\n3000\n' >d.txt
expect "they are listed" 0 "changed	gsim run" "$gsim" sweep g.ini -o r.db --list
expect "a sweep with other values" 0 "4 of 4 runs are in r.db, 4 of them new" "$gsim" sweep g.ini -o r.db
asks "each is there twice" "8|4" r.db "select count(*), count(distinct argv) from run"
expect "a report takes the latest" 0 "4 runs are left out" env PATH=/nowhere "$gsim" report r.db -o r.html
asks "old results stay" 1 r.db "select '$before' = group_concat(jct_mean_s) from (select * from run order by run_id limit 4)"
expect "unless they are replaced" 0 "4 of them new" "$gsim" sweep g.ini -o r.db --force
expect "which --replace-old need not" 0 " 0 of them new" "$gsim" sweep g.ini -o r.db --replace-old
asks "then each is there once" "4|4|1" r.db "select count(*), count(distinct argv), (select count(*) from input_list where path = 'd.txt') from run"
expect "and nothing is left out" 0 "" env PATH=/nowhere "$gsim" report r.db -o r2.html
lacks "no warning" "left out"

# --- another build: the sums in the database are made other ones
other_build() { # part
    sqlite3 r.db "update build set sha256 = '0000' where part = '$1';
        update run set build = 'x' || substr(build, 2) where build in (select build from build where part = '$1' and sha256 = '0000');
        update build set build = 'x' || substr(build, 2) where build in (select build from build where part = '$1' and sha256 = '0000')"
}
other_build policies/las.c
expect "what another build made is refused" 2 "r.db: 2 of 4 runs were made by another build of gsim, which differs in policies/las.c: --replace-old .* --force .* --keep-old" \
    "$gsim" sweep g.ini -o r.db
asks "and stays" "4|2" r.db "select count(*), sum(build like 'x%') from run"
expect "it is listed" 0 "old	gsim run --policy las" "$gsim" sweep g.ini -o r.db --list
lacks "fifo is not of it" "old	gsim run --policy fifo"
expect "kept" 0 "2 of 4 runs stay as another build of gsim made them.*las.c" "$gsim" sweep g.ini -o r.db --keep-old
asks "as it was" "2" r.db "select sum(build like 'x%') from run"
run="run --policy las --nodes 1 --gpus-per-node 1 --db r.db e.ini"
# shellcheck disable=SC2086
expect "by hand it is refused" 2 "1 of 1 runs were made by another build" "$gsim" $run
# shellcheck disable=SC2086
expect "or kept, or replaced, but not both" 2 "say one of them" "$gsim" $run --keep-old --replace-old
# shellcheck disable=SC2086
expect "kept" 0 "has this run already" "$gsim" $run --keep-old
expect "by compare as well, before anything runs" 2 "1 of 2 runs were made by another build" \
    "$gsim" compare --policies fifo,las --nodes 1 --gpus-per-node 1 --db r.db e.ini
lacks "nothing was printed" "JCT"
expect "compare keeps it" 0 "verdict" "$gsim" compare --policies fifo,las --nodes 1 --gpus-per-node 1 --db r.db --keep-old e.ini
asks "still as it was" "2" r.db "select sum(build like 'x%') from run"
expect "both cannot be" 2 "say one of them" "$gsim" sweep g.ini -o r.db --force --keep-old
expect "a shard looks at its own runs" 0 "2 of 2 runs" "$gsim" sweep g.ini -o r.db --shard 1/2 --keep-old
expect "replaced, those alone" 0 "4 of 4 runs are in r.db, 2 of them new" "$gsim" sweep g.ini -o r.db --replace-old
asks "by this build" "0|4" r.db "select sum(build like 'x%'), count(*) from run"
# another default, another key of a device: the inputs are the same, so it is the build
sqlite3 r.db "update run set config = 'x' || substr(config, 2)"
other_build sim/core
expect "another default is another build" 2 "4 of 4 runs were made by another build.*differs in sim/core:" "$gsim" sweep g.ini -o r.db
"$gsim" sweep g.ini -o r.db --force >out 2>&1
asks "which --force replaces too" "4" r.db "select count(*) from run"
expect "the program says its build" 0 "^gsim [0-9.]* (build [0-9a-f]\{12\})$" "$gsim" --version
asks "which the database notes" 1 r.db "select count(distinct program) = 1 and min('gsim ' || program = '$("$gsim" --version)') from run_perf"

cp r.db spare.db
printf '10\n20\n400\n' >d.txt
expect "changed files can be replaced at once" 0 "4 of them new" "$gsim" sweep g.ini -o r.db --replace-old
asks "in their place" "4|4" r.db "select count(*), count(distinct argv) from run"
other_build sim/base
expect "by hand too" 0 "JCT" "$gsim" run --policy las --nodes 1 --gpus-per-node 1 --db r.db --replace-old e.ini
asks "one is of this build" "3|4" r.db "select sum(build like 'x%'), count(*) from run"
expect "and the others with compare" 0 "verdict" "$gsim" compare --policies fifo,las --nodes 1 --gpus-per-node 1 --reps 2 --db r.db --replace-old e.ini
asks "all are" "0|4" r.db "select sum(build like 'x%'), count(*) from run"
mv spare.db r.db
printf '10\n20\n3000\n' >d.txt

# --- what is built in is of the program, not of what was asked for
for device in h200 h100-sxm; do
    "$gsim" run --policy fifo --by-model models.csv --device $device --quiet --db devices.db t.csv >out 2>&1
done
asks "two built-in devices, one list of files" "2|1|2" devices.db "select count(*), count(distinct inputs), count(distinct build) from run"
asks "whose texts are kept" "models/devices/h100-sxm.ini|1" devices.db "select path, length(text) = size from input where run_id = 2 and path like '%sxm%'"

# --- shards of two builds
for i in 1 2 3; do "$gsim" sweep g.ini -o s$i.db --shard $i/3 --quiet >out 2>&1; done
expect "shards of one build merge without a word" 0 " 4 new runs" "$gsim" merge -o m1.db s1.db s2.db s3.db
lacks "none" "builds of gsim"
mv r.db spare.db && mv s2.db r.db && other_build sim/core && mv r.db s2.db && mv spare.db r.db
expect "shards of two builds are refused" 2 "s2.db: the runs of the database were made by another build of gsim than those of m2.db, which differs in sim/core: .*--keep-old" "$gsim" merge -o m2.db s1.db s2.db s3.db
asks "and nothing of the other is taken over" "2" m2.db "select count(*) from run"
expect "kept, they merge with a word" 0 "m2.db: runs of las were made by several builds of gsim, which differ in sim/core," "$gsim" merge --keep-old -o m2.db s1.db s2.db s3.db
expect "and are there" 0 " 0 new runs" "$gsim" merge -o m2.db s1.db s2.db s3.db
cp e.ini e.kept && echo '; another' >>e.ini
"$gsim" sweep g.ini -o other.db --shard 2/3 --quiet >out 2>&1
mv e.kept e.ini
expect "shards of other contents are refused" 2 "other.db: the runs of the database were made with other contents of e.ini than those of m3.db: .*--keep-old" "$gsim" merge -o m3.db s1.db other.db

# --- an older schema
cp r.db old.db
sqlite3 old.db "pragma user_version = 5"
expect "an older schema is refused" 3 "with schema 5, by an older gsim, .* name another file" "$gsim" sweep g.ini -o old.db

# --- the database says all
asks "defaults are there" "default" r.db "select tag from parameter where run_id = 1 and key = 'slice-budget'"
asks "the policy's too" "las|default" r.db "select owner, tag from parameter join run using (run_id) where policy = 'las' and replication = 0 and key = 'quantum'"
asks "keys of the device" 1 r.db "select count(*) > 50 from parameter where run_id = 1 and owner = 'h200'"
asks "who the jobs are of, once a trace" "2|200" r.db "select count(distinct trace_jobs), count(*) / 2 from trace_job where user in ('ann', 'bob')"
asks "joined with what came of them" "200" r.db "select count(*) from job join run using (run_id) join trace_job using (trace_jobs, job) where run_id = 1"
asks "the grid's text" "$(cat g.ini)" r.db "select text from sweep join input_text using (sha256)"
asks "every run has its inputs" "0" r.db "select count(*) from run where inputs not in (select inputs from input_list)"
asks "and parameters" "0" r.db "select count(*) from run where parameters not in (select list from parameter_list) or devices not in (select list from parameter_list)"
"$gsim" list tables | sed -n 's/^\*\*`\([a-z_]*\)`.*/\1/p' | sort >tables
sqlite3 r.db "select name from sqlite_master where type = 'table' order by 1" | sort >out
cmp -s tables out
say "gsim list tables names each table" $?
(cd "$root" && sh tools/tables.sh "$gsim" | cmp - docs/sweeps.md) >out 2>&1
say "docs/sweeps.md has them (make man)" $?
"$gsim" --policy fifo --by-model models.csv --quiet --keep-inputs 100 --db small.db t.csv >out 2>&1
asks "larger files are hashed only" "trace|1
by-model|0" small.db "select kind, text is null from input where kind in ('trace', 'by-model')"
expect "a size that is none" 2 "keep-inputs: 'lots' is not a size" "$gsim" --policy fifo --by-model models.csv --keep-inputs lots --db small.db t.csv

# --- summaries
expect "a sweep of summaries" 0 "4 of them new" "$gsim" sweep g.ini -o sum.db --keep summary --samples 8
asks "has no jobs" "0|0|0|4|4" sum.db "select (select count(*) from job), (select count(*) from sample), (select count(*) from trace_job), count(*), sum(kept = 'summary') from run"
asks "and its results" "0" sum.db "attach 'r.db' as r; select count(*) from main.run a left join r.run b using (config) where a.jct_mean_s is not b.jct_mean_s or a.events is not b.events"
expect "jobs are not there later" 0 "4 of 4 runs it keeps the summary only" "$gsim" sweep g.ini -o sum.db
expect "what is kept is one of two" 2 "is not one of summary, jobs" "$gsim" sweep g.ini -o sum.db --keep all
expect "a summary is reproduced" 0 "its jobs were not kept" "$gsim" repro sum.db 1
cp r.db both.db
expect "summaries merge with jobs" 0 " 0 new runs" "$gsim" merge -o both.db sum.db
"$gsim" merge -o fresh.db r.db >out 2>&1
for table in build input_list input_text parameter_list trace_job run sweep; do
    sqlite3 r.db "select * from $table order by 1, 2" >one
    sqlite3 fresh.db "select * from $table order by 1, 2" >two
    [ -s one ] && cmp one two
done >out 2>&1
[ ! -s out ]
say "a merge takes over what runs refer to" $?

# --- repro
expect "a drawn run" 0 "run 3 is reproduced: each field of its result, each job" "$gsim" repro r.db 3
config=$(sqlite3 r.db "select substr(config, 1, 12) from run where run_id = 4")
expect "by the beginning of its config" 0 "^run 4: .*--replication 1" "$gsim" repro r.db "$config"
expect "a run that is not there" 2 "the database has no run 77" "$gsim" repro r.db 77
expect "a name that is none" 2 "neither a run_id nor" "$gsim" repro r.db fifo
expect "no run" 2 "which run" "$gsim" repro r.db
expect "no database" 3 "cannot be opened" "$gsim" repro nothing.db 1
"$gsim" run --policy tiresias --set history=h.csv --by-model models.csv --gpu-mem used.csv --cluster c.ini --mtbf 1d --db t.db --quiet t.csv >out 2>&1
expect "a trace with tables, a cluster file and a history" 0 "reproduced" "$gsim" repro t.db 1
for file in t.csv models.csv used.csv c.ini mine.ini h.csv; do grep -q " $file: as it was" out || echo "$file"; done >missing
[ ! -s missing ]
say "says of each file that it is as it was" $?
echo 'other,,1,1' >>models.csv
expect "after a change it says which" 1 "by-model models.csv: has other contents" "$gsim" repro t.db 1
lacks "and only that" "t.csv: has"
grep -q "from-database runs" out
say "and what helps" $?
expect "which reproduces it" 0 "reproduced" "$gsim" repro t.db 1 --from-database
mkdir elsewhere && cp t.db r.db elsewhere
cd elsewhere || exit 1
expect "without any of its files" 0 "files come from the database" "$gsim" repro t.db 1
expect "a drawn one too" 0 "reproduced" "$gsim" repro r.db 2
ls -A | sort >../left
cd .. || exit 1
[ "$(cat left)" = "$(printf 'out\nr.db\nt.db')" ]
say "nothing is left behind" $?
"$gsim" run --policy fifo --by-model "$tmp/models.csv" --db abs.db --quiet "$tmp/t.csv" >out 2>&1
mv t.csv away.csv
expect "with full names" 0 "reproduced" "$gsim" repro abs.db 1
"$gsim" run --policy fifo --by-model models.csv --keep-inputs 0 --db bare.db --quiet away.csv >out 2>&1
mv away.csv t.csv
expect "a file that is gone and was not kept" 1 "keeps only its SHA-256: away.csv" "$gsim" repro bare.db 1
"$gsim" run --policy fifo --by-model models.csv --shake 5% --replication 3 --db shaken.db --quiet t.csv >out 2>&1
expect "a shaken run" 0 "reproduced" "$gsim" repro shaken.db 1
sqlite3 r.db "update run set preemptions = preemptions + 1, jct_mean_s = 1 where run_id = 2; update job set end_ns = end_ns + 1 where run_id = 2 and job in (3, 5)"
expect "other results are not" 1 "run 2 is not reproduced: other results in 2 fields, 2 jobs, 0 requests" "$gsim" repro r.db 2
other_build policies/fifo.c
sqlite3 r.db "update parameter_list set value = '77' where owner = 'h200' and key = 'sms'"
expect "another build is said, and its defaults" 0 "program: another build, which differs in policies/fifo.c" "$gsim" repro r.db 1
grep -q "h200.sms: 77 then" out
say "value by value" $?

# --- the trace of a replication
mean() { sed -n 's/.*"jct_mean_s":\([^,]*\).*/\1/p'; }
for rep in 0 3; do
    "$gsim" generate e.ini --replication $rep -o rep.csv --force
    one=$("$gsim" run --policy las --quiet --format json rep.csv | mean)
    two=$("$gsim" run --policy las --quiet --format json --replication $rep e.ini | mean)
    [ -n "$one" ] && [ "$one" = "$two" ]
    say "replication $rep of a spec as it is run" $?
done
"$gsim" generate e.ini --seed 9 --replication 1 >one && "$gsim" generate e.ini --seed 9 >two
[ "$(cmp one two 2>&1 | wc -l)" -gt 0 ]
say "another one is another trace" $?
"$gsim" generate t.csv --by-model models.csv --shake 5% --replication 2 --seed 4 -o rep.csv --force >out 2>&1
one=$("$gsim" run --policy las --quiet --format json rep.csv | mean)
two=$("$gsim" run --policy las --by-model models.csv --quiet --format json --shake 5% --replication 2 --seed 4 t.csv | mean)
echo "$one $two" >out
[ -n "$one" ] && [ "$one" = "$two" ]
say "a shaken one as it is run" $?
expect "a trace as it is" 2 "draws from a spec" "$gsim" generate t.csv
