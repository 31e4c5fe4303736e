#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Figures and reports: drawn, the same bytes each time, as in tests/golden/figures/, and safe whatever
# names are in the database. $1 is gsim; `update` as $2 rewrites the golden figures.
set -u
gsim=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset DISPLAY

ok() { # name, status of what was tried
    if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; sed 's/^/# /' "$tmp/out" | head -5; fi
}
fails() { # name, code, pattern, command
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/out" 2>&1
    got=$?
    grep -q -e "$pattern" "$tmp/out" && [ $got -eq "$code" ]
    ok "$name" $?
}

fine() { # name, command
    name=$1
    shift
    "$@" >"$tmp/out" 2>&1
    ok "$name" $?
}

# --- what needs no gnuplot ---------------------------------------------------------------------
fails "list figures" 0 "^jct_cdf " "$gsim" list figures
fails "list a figure" 0 "needs" "$gsim" list figures gantt
for policy in fifo srtf las; do
    "$gsim" --quiet --policy $policy --gpus-per-node 2 --assume mem_gib=8GiB --db "$tmp/a.db" tests/golden/three.csv >/dev/null 2>&1
done
fails "no figure" 2 "which figure" "$gsim" plot "$tmp/a.db" -o "$tmp/x.svg"
fails "no output" 2 "where does" "$gsim" plot "$tmp/a.db" --figure jct_cdf
fails "an unknown figure" 2 "did you mean 'jct_cdf'" "$gsim" plot "$tmp/a.db" --figure jct_cfd -o "$tmp/x.svg"
fails "an unknown ending" 2 "does not end in" "$gsim" plot "$tmp/a.db" --figure jct_cdf -o "$tmp/x.gif"
fails "no database" 3 "cannot be opened" "$gsim" plot "$tmp/no.db" --figure jct_cdf -o "$tmp/x.svg"
fails "a wrong condition" 2 "is no condition" "$gsim" plot "$tmp/a.db" --figure jct_cdf --where "polic = 'fifo'" -o "$tmp/x.svg"
fails "two statements" 2 "no condition" "$gsim" plot "$tmp/a.db" --figure jct_cdf --where "1); DELETE FROM run; --" -o "$tmp/x.svg"
fails "no run is chosen" 2 "no run is chosen" "$gsim" plot "$tmp/a.db" --figure jct_cdf --where "gpus = 17" -o "$tmp/x.svg"
fails "an unknown key" 2 "did you mean 'policy'" "$gsim" plot "$tmp/a.db" --figure heatmap --x polcy -o "$tmp/x.svg"
fails "several runs for one" 2 "of one run" "$gsim" plot "$tmp/a.db" --figure gantt -o "$tmp/x.svg"
fails "a report is a page" 2 "does not end in .html" "$gsim" report "$tmp/a.db" -o "$tmp/r.tex"
fails "nothing to show" 3 "needs" "$gsim" plot "$tmp/a.db" --figure oversubscription -o "$tmp/x.svg"
fails "without gnuplot" 1 "apt-get install" env PATH=/nowhere "$gsim" plot "$tmp/a.db" --figure jct_cdf --keep -o "$tmp/kept.svg"
[ -s "$tmp/kept.gp" ]
ok "the script is kept without gnuplot" $?
fails "a report without gnuplot" 0 "without figures" env PATH=/nowhere "$gsim" report "$tmp/a.db" -o "$tmp/bare.html"
for left in "$tmp"/.gsim-*; do [ ! -e "$left" ]; ok "nothing is left behind" $?; done

version=$(gnuplot --version 2>/dev/null) || {
    echo "# skipped: gnuplot is not installed: no figures were drawn"
    exit 0
}

# Some checks are of what gsim does around a picture, and need none: from stand_in to real, gnuplot is a shell. The program
# with sanitizers has its reports so, but for those whose pictures are read, since gnuplot has no sanitizers.
path=$PATH
stand_in() { PATH=$PWD/tests/support/bin:$path; }
real() { PATH=$path; }

# --- every figure, every format ------------------------------------------------------------------
# Formats are gnuplot's: without CASES=all each figure is drawn as a page shows it, and in one other format in turn; and of
# the reports those of the fewest and of the most runs are made. A build with sanitizers draws each figure once: gnuplot
# is not built with them.
endings="svg pdf png tex" others= hostile="svg tex png" reports="2 4 8 12 24" san=
case ${CASES-}$gsim in
all*) ;;
*-san-*) san=1 endings=svg hostile="svg tex" reports=24 ;;
*) endings=svg others="pdf png tex" reports="2 24" ;;
esac
printf 'trace = tests/golden/three.csv\npolicy = fifo, srtf\ngpus-per-node = 2, 3\nset.preempt = suspend, restart\nassume.mem_gib = 8GiB\n' >"$tmp/g.ini"
"$gsim" sweep --quiet "$tmp/g.ini" -o "$tmp/g.db" >"$tmp/out" 2>&1
ok "a sweep" $?
# one long batch job, and requests every 50 ms beside it
printf 'job_id,submit_s,iterations,gpu_ms,kernels,requests,period_ms,arrival\nbatch,0,20000,1,1,,,\nasks,0,,0.5,2,200,50,poisson\n' >"$tmp/open.csv"
for quantum in short long; do
    "$gsim" --quiet --policy timeslice --set timeslice.quantum=$quantum --db "$tmp/o.db" "$tmp/open.csv" >"$tmp/out" 2>&1
    ok "open-loop jobs, $quantum slices" $?
done
[ "$(sqlite3 "$tmp/o.db" "SELECT count(*) = 2 AND max(abs(latency_mean_s - (SELECT avg(latency_ns) / 1e9 FROM request r
    WHERE r.run_id = run.run_id))) < 1e-9 FROM run WHERE latency_mean_s > 0")" = 1 ]
ok "their requests are in the database" $?
# two jobs after each other, of which the log began the second 900 s later
printf 'job_id,submit_s,duration_s,gpus,logged_start_s\na,0,3600,2,0\nb,10,3600,2,4500\nc,20,60,1,8100\n' >"$tmp/logged.csv"
"$gsim" compare --quiet --policies fifo,sjf --gpus-per-node 2 --nodes 1 --no-what-if --db "$tmp/l.db" "$tmp/logged.csv" >"$tmp/out" 2>&1
ok "a trace with the log's starts" $?
for figure in $("$gsim" list figures | cut -d' ' -f1); do
    db=$tmp/a.db where=1
    case $figure in
    gantt) where="policy = 'srtf'" ;;
    heatmap | oversubscription | capacity) db=$tmp/g.db ;;
    latency_cdf) db=$tmp/o.db ;;
    as_logged) db=$tmp/l.db ;;
    esac
    for ending in $endings ${others%% *}; do
        rm -f "$tmp/$figure.$ending"
        "$gsim" plot "$db" --figure "$figure" --where "$where" --force -o "$tmp/$figure.$ending" >"$tmp/out" 2>&1 && [ -s "$tmp/$figure.$ending" ]
        ok "$figure as $ending" $?
    done
    others="${others#* } ${others%% *}" # the next one's turn
    [ -z "$san" ] || continue
    cp "$tmp/$figure.svg" "$tmp/first.svg"
    "$gsim" plot "$db" --figure "$figure" --where "$where" --keep -o "$tmp/$figure.svg" >"$tmp/out" 2>&1
    cmp -s "$tmp/first.svg" "$tmp/$figure.svg"
    ok "$figure is the same again" $?
    rm "$tmp/$figure.svg"
    (cd "$tmp" && gnuplot "$figure.gp") >"$tmp/out" 2>&1
    sed '/^<!-- Made by gsim -->$/d' "$tmp/first.svg" | cmp -s - "$tmp/$figure.svg"
    ok "$figure from the script that was kept" $?
    # gnuplot leaves out the name of an axis that has no room, without a word
    named=0
    grep "^set [xy]label '" "$tmp/$figure.gp" | sed "s/^set .label '//; s/'.*//" >"$tmp/names"
    while read -r name; do
        grep -qF -e "$name" "$tmp/$figure.svg" || named=1
    done <"$tmp/names"
    cp "$tmp/names" "$tmp/out"
    ok "axes of $figure have their names" $named
    golden=tests/golden/figures/$figure.svg
    if [ "${2:-}" = update ]; then
        mkdir -p tests/golden/figures
        cp "$tmp/$figure.svg" "$golden"
    elif grep -q "Produced by GNUPLOT $(echo "$version" | cut -d' ' -f2) patchlevel $(echo "$version" | cut -d' ' -f4)" "$golden"; then
        cmp "$tmp/$figure.svg" "$golden" >"$tmp/out" 2>&1
        ok "$figure as it was ($golden)" $?
    else
        echo "# skipped: the golden figures are of another gnuplot than $version"
    fi
done
# One gnuplot draws all figures of a report: each has the bytes that a gnuplot of its own gave it.
if [ -z "$san" ] && command -v python3 >/dev/null; then
    for db in a g; do
        "$gsim" report "$tmp/$db.db" -o "$tmp/all_$db.html" >"$tmp/out" 2>&1
        python3 - "$tmp/all_$db.html" "$tmp" $([ $db = g ] && echo heatmap oversubscription capacity) >"$tmp/out" 2>&1 <<'P'
import re, sys
page, folder, *only = sys.argv[1:]
found = re.findall(r"<figure>\n((?:(?!<figure>).)*)\n<figcaption>(\w+): [^\n]*</figcaption>", open(page).read(), re.S)
compared = [name for _, name in found if not only or name in only]
for svg, name in found:
    own = open(f"{folder}/{name}.svg").read()
    same = re.sub(r"""(id=['"]|href=['"]#|url\(#)f[0-9]+_""", r"\1", svg).strip() == own[own.index("<svg"):].strip()
    assert same or name not in compared, name
assert len(compared) >= (len(only) or 7), compared
P
        ok "figures of the report of $db.db as plot draws them" $?
    done
fi

# --- labels, and many jobs -----------------------------------------------------------------------
cp tests/golden/two.csv "$tmp/three.csv"
for trace in tests/golden/three.csv "$tmp/three.csv"; do
    "$gsim" --quiet --policy fifo --gpus-per-node 2 --db "$tmp/twins.db" $trace >"$tmp/out" 2>&1
done
"$gsim" plot "$tmp/twins.db" --figure jct_policy --keep -o "$tmp/twins.svg" >"$tmp/out" 2>&1
[ "$(grep -c 'fifo trace=.*three.csv' "$tmp/twins.gp")" -eq 2 ]
ok "traces of one name in two folders are two series, by their full names" $?
cp "$tmp/a.db" "$tmp/huge.db"
sqlite3 "$tmp/huge.db" "INSERT INTO job WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
    SELECT run_id, 10 + i, 'j' || i, i, i, i + 1000000 * (1 + i * 7919 % 100003), 0, 1000000, 1000000, 0, 0, 0, 0, 0, 0, 0, 0
    FROM n, run WHERE run_id <= 2" || echo "not ok 80000 jobs are in the database"
for figure in jct_cdf fairness slowdown_size; do
    "$gsim" plot "$tmp/huge.db" --figure $figure -o "$tmp/huge.svg" >"$tmp/out" 2>&1 && [ "$(wc -c <"$tmp/huge.svg")" -lt 300000 ]
    ok "$figure of 80000 jobs is a small file" $?
done

# Jobs from a millisecond to 1000 h of GPU time, and latencies from 10 ms to a day: labels of neighbours
# would lie on each other.
cp "$tmp/a.db" "$tmp/wide.db"
sqlite3 "$tmp/wide.db" "INSERT INTO job WITH RECURSIVE n (i, ns) AS (SELECT 1, 500000 UNION ALL SELECT i + 1, ns * 10 FROM n WHERE i < 11)
    SELECT run_id, 10 + i, 'j' || i, 0, 0, ns, 0, ns, 1000000, 0, 0, 0, 0, 0, 0, 0, 0 FROM n, run;
    UPDATE run SET latency_p99_s = CASE run_id WHEN 1 THEN 0.01 ELSE 86400 END"
"$gsim" plot "$tmp/wide.db" --figure slowdown_size -o "$tmp/wide.svg" >"$tmp/out" 2>&1 && [ "$(grep -c 'rotate(-30' "$tmp/wide.svg")" -ge 7 ]
ok "labels of many sizes are slanted" $?
"$gsim" plot "$tmp/wide.db" --figure overview --force -o "$tmp/wide.svg" >"$tmp/out" 2>&1 && grep -q '>10k<' "$tmp/wide.svg" &&
    [ "$(grep -c '>1k<\|>100k<' "$tmp/wide.svg")" -eq 0 ]
ok "of many decades every other one is labelled" $?

# --force puts runs in the place of older ones, of which the numbers do not come again: the run that is named is there.
"$gsim" compare --policies fifo,las --nodes 2 --gpus-per-node 8 --reps 2 --quiet --no-what-if --db "$tmp/few.db" traces/samples/cluster.ini >"$tmp/out" 2>&1
"$gsim" compare --policies fifo,las --nodes 2 --gpus-per-node 8 --reps 2 --quiet --no-what-if --force --db "$tmp/few.db" traces/samples/cluster.ini >"$tmp/out" 2>&1
fails "one of several runs" 2 "such as --where run_id=5" "$gsim" plot "$tmp/few.db" --figure gantt -o "$tmp/few.svg"
"$gsim" plot "$tmp/few.db" --figure gantt --where run_id=5 -o "$tmp/few.svg" >"$tmp/out" 2>&1
ok "the run that is named can be drawn" $?
# Two runs have an interval of gpu_useful to above ten times all of the time: marks of at most 100 % are not pushed aside by it.
"$gsim" plot "$tmp/few.db" --figure overview --force -o "$tmp/few.svg" >"$tmp/out" 2>&1 && grep -q 'GPUs useful' "$tmp/few.svg" &&
    ! grep -q '>500<\|>1000<' "$tmp/few.svg"
ok "an interval of useful GPU time does not stretch its axis" $?

# --- pages ------------------------------------------------------------------------------------------
# A parameter of one policy, which the others have not, is no axis: marks of it would be "mig.queue -" for them.
"$gsim" compare --policies fifo,mig --set mig.queue=backfill --gpus-per-node 4 --quiet --no-what-if --db "$tmp/own.db" traces/samples/small_lab.csv >"$tmp/out" 2>&1
"$gsim" plot "$tmp/own.db" --figure overview --keep -o "$tmp/own.svg" >>"$tmp/out" 2>&1
grep -q 'GPUs useful' "$tmp/own.gp" && ! grep -q 'queue' "$tmp/own.gp"
ok "the setting of one policy alone is no axis" $?

# As many traces, and policies, as there may be: each figure is drawn on pages, or says why not.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cp tests/golden/three.csv "$tmp/t$i.csv"; done
for sweep in 'trace = t1.csv, t2.csv, t3.csv, t4.csv, t5.csv, t6.csv, t7.csv, t8.csv, t9.csv, t10.csv, t11.csv, t12.csv\npolicy = fifo, srtf\ngpus-per-node = 2' \
    'trace = t1.csv\npolicy = fifo, exclusive, backfill, easy-backfill, fairshare, sjf, srtf, srsf, las, tiresias, gandiva, gang-rr\ngpus-per-node = 2' \
    'trace = t1.csv\npolicy = fifo, srtf\nnodes = 1, 2, 3, 4, 5, 6\ngpus-per-node = 2'; do
    case $san$sweep in 1*nodes*) ;; 1*) continue ;; esac # pages of the last one are looked at below
    rm -f "$tmp/p.db"
    # shellcheck disable=SC2059
    printf "$sweep\n" >"$tmp/p.ini"
    (cd "$tmp" && "$gsim" sweep --quiet --samples 8 p.ini -o p.db) >"$tmp/out" 2>&1
    ok "a sweep for pages" $?
    [ -z "$san" ] || stand_in
    for n in $reports; do
        fine "a report of $n runs" "$gsim" report "$tmp/p.db" --where "run_id <= $n" -o "$tmp/p.html"
        [ "$(grep -c 'without figure' "$tmp/out")" -eq 0 ] && [ "$(grep -c '<figcaption>overview' "$tmp/p.html")" -ge 1 ]
        ok "all figures of $n runs" $?
    done
    real
done
# six values: two pages of three, and all series of other figures on two pages
for n in 1 2; do
    grep -q "<figcaption>overview: .* ($n of 2)" "$tmp/p.html" && grep -q "<figcaption>jct_cdf: .* ($n of 2)" "$tmp/p.html"
    ok "page $n in the report" $?
done
fails "a figure of two pages" 0 "has 2 pages" "$gsim" plot "$tmp/p.db" --figure overview --keep -o "$tmp/pages.svg"
[ -s "$tmp/pages.svg" ] && [ -s "$tmp/pages-2.svg" ] && grep -q '"*nodes 1' "$tmp/pages.gp" && grep -q 'nodes 6' "$tmp/pages-2.gp"
ok "each page is a file" $?
if grep -q 'nodes 4' "$tmp/pages.gp"; then echo "not ok a value is on one page"; else echo "ok a value is on one page"; fi
# Pages of an earlier, longer figure would pass for pages of this one.
echo mine >"$tmp/pages-3.svg"
fails "a shorter figure removes the pages of the longer one" 0 "1 page of an earlier, longer .*pages.svg removed" "$gsim" plot "$tmp/p.db" --figure overview --where "gpus <= 6" -o "$tmp/pages.svg"
[ -s "$tmp/pages.svg" ] && [ ! -e "$tmp/pages-2.svg" ] && [ ! -e "$tmp/pages-2.gp" ] && [ "$(cat "$tmp/pages-3.svg")" = mine ]
ok "and nothing that is not its own" $?
# What gsim made it makes again; what it did not make stays, in each format and of a report as well.
for ending in svg pdf png tex html; do
    echo mine >"$tmp/own.$ending"
    command=plot
    set -- --figure jct_cdf -o "$tmp/own.$ending"
    [ $ending = html ] && command=report && set -- -o "$tmp/own.$ending" && stand_in
    fails "a $ending of the user's" 2 "own.$ending: the file exists, and gsim did not make it; --force" "$gsim" $command "$tmp/a.db" "$@"
    [ "$(cat "$tmp/own.$ending")" = mine ]
    ok "is as it was" $?
    [ $ending = tex ] && rm -f "$tmp/own.pdf"
    fine "with --force it is not" "$gsim" $command "$tmp/a.db" --force "$@"
    fine "its own is drawn again" "$gsim" $command "$tmp/a.db" "$@"
    real
done
if command -v python3 >/dev/null; then
    python3 -c 'import sys, zlib, struct
b = open(sys.argv[1], "rb").read()
at, names = 8, []
while at < len(b):
    n, name = struct.unpack(">I4s", b[at:at + 8])
    assert zlib.crc32(b[at + 4:at + 8 + n]) == struct.unpack(">I", b[at + 8 + n:at + 12 + n])[0], name
    names, at = names + [name], at + 12 + n
assert names[-2:] == [b"tEXt", b"IEND"], names' "$tmp/own.png" >"$tmp/out" 2>&1
    ok "a marked PNG is one, chunk by chunk" $?
fi
set --
# What a figure writes beside the file that was named is not taken from somebody.
echo mine >"$tmp/mine.pdf"
fails "a .tex does not replace a .pdf" 2 "mine.pdf: the file exists" "$gsim" plot "$tmp/a.db" --figure jct_cdf -o "$tmp/mine.tex"
[ "$(cat "$tmp/mine.pdf")" = mine ] && [ ! -e "$tmp/mine.tex" ]
ok "the .pdf is as it was" $?
fine "a .tex replaces a .pdf with --force" "$gsim" plot "$tmp/a.db" --figure jct_cdf --force -o "$tmp/mine.tex"
fine "a .tex is drawn again" "$gsim" plot "$tmp/a.db" --figure jct_cdf -o "$tmp/mine.tex"
# A gnuplot that fails at one figure: the report names it and has the others.
mkdir "$tmp/bin"
printf '#!/bin/sh\nshift\nif grep -q "^# overview:" "$@"; then echo "it is a bad day"; exit 1; fi\nexec %s "$@"\n' "$PWD/tests/support/bin/gnuplot" >"$tmp/bin/gnuplot"
chmod +x "$tmp/bin/gnuplot"
fails "a report where a figure fails" 0 "without figure 'overview': gnuplot failed: it is a bad day" env PATH="$tmp/bin:$PATH" "$gsim" report "$tmp/g.db" -o "$tmp/day.html"
grep -q 'absent">overview: gnuplot failed: it is a bad day' "$tmp/day.html" && [ "$(grep -c '<figure>' "$tmp/day.html")" -ge 6 ] &&
    grep -q '<figcaption>slowdown_size' "$tmp/day.html"
ok "the page names it and has the others" $?
# A signal to gsim alone ends the figure that is under way.
printf '#!/bin/sh\necho $PPID >%s\nexec sleep 60\n' "$tmp/ppid" >"$tmp/bin/gnuplot"
for command in plot report; do
    rm -f "$tmp/ppid"
    ending=svg
    [ $command = report ] && ending=html
    set -- -o "$tmp/stopped.$ending"
    [ $command = plot ] && set -- --figure jct_cdf "$@"
    PATH="$tmp/bin:$PATH" "$gsim" $command "$tmp/g.db" "$@" >"$tmp/out" 2>&1 &
    job=$!
    tries=0
    while [ ! -s "$tmp/ppid" ] && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -TERM "$(cat "$tmp/ppid")"
    wait $job
    got=$?
    [ $got -eq 4 ] && [ ! -e "$tmp/stopped.$ending" ] && grep -q interrupted "$tmp/out"
    ok "$command stops when asked to ($got)" $?
done
for left in "$tmp"/.gsim-*; do [ ! -e "$left" ]; ok "nothing is left behind after that" $?; done

# --- names that would like to be code -------------------------------------------------------------
sqlite3 "$tmp/a.db" "
    CREATE TEMP TABLE bad (run_id, text);
    INSERT INTO bad VALUES (1, '''; system(\"touch pwned\"); # \$(touch pwned) \`touch pwned\`'),
        (2, '\\input{/etc/hostname} \\' || char(10) || 'END_OF_DATA' || char(10) || 'system \"touch pwned\"' || char(10, 10, 10) || '|touch pwned'),
        (3, '<script>document.title = \"pwned\"</script> %s %d {_^} &amp; @x ~ ' || char(0xE4) || CAST(x'FF' AS TEXT));
    UPDATE run SET policy = (SELECT text FROM bad WHERE run_id = run.run_id);
    UPDATE run SET trace = policy, device = policy, assumed = policy;
    UPDATE job SET job_id = (SELECT text FROM bad WHERE run_id = 1 + job.job % 3);
    UPDATE setting SET value = (SELECT text FROM bad WHERE run_id = setting.run_id) WHERE key = 'trace';"
mkdir "$tmp/in"
for figure in jct_cdf jct_policy fairness utilisation slowdown_size paging_migration gantt heatmap overview; do
    for ending in $hostile; do
        (cd "$tmp/in" && "$gsim" plot ../a.db --force --figure $figure --x policy --y policy \
            --where "$([ $figure = gantt ] && echo 'run_id = 2' || echo 1)" -o "f.$ending") >"$tmp/out" 2>&1
        ok "$figure of hostile names as $ending" $?
    done
done
for name in "|touch pwned.svg" "'; system 'touch pwned'; '.svg" '`touch pwned`.svg' '-e.svg' '$(touch pwned).svg'; do
    (cd "$tmp/in" && "$gsim" plot ../a.db --figure jct_cdf -o "./$name" && [ -s "./$name" ]) >"$tmp/out" 2>&1
    ok "a file called $name" $?
done
(cd "$tmp/in" && "$gsim" report ../a.db -o r.html) >"$tmp/out" 2>&1
ok "a report of hostile names" $?
[ "$(find "$tmp" . -name 'pwned*' | wc -l)" -eq 0 ]
ok "nothing was run" $?
if grep -q '\\input{' "$tmp/in/f.tex"; then echo "not ok TeX is escaped"; else echo "ok TeX is escaped"; fi
if [ "$(grep -ci '<script' "$tmp/in/r.html")" -ne 1 ] || grep -qi '<script' "$tmp/in/f.svg"; then echo "not ok HTML and SVG are escaped"; else echo "ok HTML and SVG are escaped"; fi
if command -v xmllint >/dev/null; then
    xmllint --noout "$tmp/in/f.svg" >"$tmp/out" 2>&1
    ok "SVG of hostile names is XML" $?
fi

# --- the report --------------------------------------------------------------------------------
[ -z "$san" ] || stand_in
"$gsim" report "$tmp/g.db" -o "$tmp/g.html" >"$tmp/out" 2>&1
ok "a report of a sweep" $?
cp "$tmp/g.html" "$tmp/again.html"
"$gsim" report "$tmp/g.db" -o "$tmp/g.html" >"$tmp/out" 2>&1
cmp -s "$tmp/again.html" "$tmp/g.html"
ok "the same report again" $?
real
[ "$(grep -c '<figure>' "$tmp/g.html")" -ge 6 ]
ok "figures in the report" $?
# A run's identity is 12 digits of base 16, of which any may come first: names begin at the left.
[ "$(grep -cE '<td>[0-9a-f]{12}</td>' "$tmp/g.html") $(grep -cE '<td class="n">[0-9a-f]{12}</td>' "$tmp/g.html")" = "$(sqlite3 "$tmp/g.db" 'SELECT count(*) FROM run') 0" ]
ok "identities of runs stand below each other" $?
if grep -qE 'src=|<link|url\(http|javascript:' "$tmp/g.html"; then echo "not ok a page that needs nothing else"; else echo "ok a page that needs nothing else"; fi
# One script, which holds no text of the database: it is plots/report.js, and the page's policy lets no other
# run. The page of hostile names has it too, and no attribute that is code.
script() { sed -n '/<script>/,/<\/script>/p' "$1" | sed 's/^.*<script>//; s/<\/script>$//' | sed '$d'; }
script "$tmp/g.html" | cmp - plots/report.js >"$tmp/out" 2>&1 && script "$tmp/in/r.html" | cmp - plots/report.js >>"$tmp/out" 2>&1
ok "the script is the program's own" $?
sum=$(printf '%s' "$(cat plots/report.js)" | python3 -c 'import base64, hashlib, sys; print(base64.b64encode(hashlib.sha256(sys.stdin.read().encode() + b"\n").digest()).decode())')
grep -q "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-$sum'" "$tmp/g.html"
ok "and the only one that may run" $?
if sed '/<script>/,/<\/script>/d' "$tmp/in/r.html" | grep -qiE '<script|<[^>]* on[a-z]+ *='; then echo "not ok no text becomes code"; else echo "ok no text becomes code"; fi
[ "$(grep -o "id='f[^']*'" "$tmp/g.html" | sort | uniq -d | wc -l)" -eq 0 ]
ok "no name twice in the page" $?
# A browser has no sanitizers: what it makes of a page is held by the first build.
[ -z "$san" ] || exit 0
if command -v node >/dev/null; then
    # times in units, sorted by their length; at the third click the order of the page comes back
    printf 'job_id,submit_s,duration_s,gpus,user\na,0,7200,1,x\nb,0,60,1,y\nc,0,90000,1,z\n' >"$tmp/three.csv"
    "$gsim" compare --policies fifo,sjf,timeslice --nodes 1 --gpus-per-node 1 --db "$tmp/three.db" --no-what-if --quiet "$tmp/three.csv" >"$tmp/out" 2>&1
    "$gsim" report --quiet "$tmp/three.db" -o "$tmp/three.html" >>"$tmp/out" 2>&1
    # the users' rows: z has 25 h, x 2 h, y a minute; under fifo a waits 0, b 2 h, c 2.02 h, under sjf b 0, a 1 min,
    # c 2.02 h; timeslice lets all begin at once
    node tests/support/page.js "$tmp/three.html" Users "wait mean" FIFO >"$tmp/out" 2>&1
    printf '%s\n' "scripts 1 allowed by the policy true" "as it is: z z z x x x y y y" "ascending: z x x y y x y z z" \
        "descending: z z y x z x x y y" "none: z z z x x x y y y" "filtered: z x y" >"$tmp/expected"
    head -6 "$tmp/out" | diff "$tmp/expected" - >"$tmp/diff" 2>&1
    ok "a click sorts, the next one turns it round, a text filters" $?
    grep -q '^faint: \([0-9]*\) of [0-9]*$' "$tmp/out" && [ "$(tail -1 "$tmp/out")" = "left: 0" ]
    ok "a figure shows the series under the pointer" $?
else
    echo "# skipped: no node: the page's script was not run"
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "# skipped: no chromium: the report was not opened in a browser"
    exit 0
}
dom() { timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --virtual-time-budget=2000 "$@" 2>/dev/null; }
dom --dump-dom "file://$tmp/in/r.html" >"$tmp/dom"
if [ ! -s "$tmp/dom" ]; then
    echo '<p>starts' >"$tmp/starts.html"
    dom --dump-dom "file://$tmp/starts.html" | grep -q starts || {
        echo "# skipped: $browser does not start here: the report was not opened in a browser"
        exit 0
    }
fi
[ "$(grep -c '<title>gsim: ' "$tmp/dom")" -eq 1 ] && [ "$(grep -c '</svg>' "$tmp/dom")" -ge 5 ]
ok "a browser reads the page and runs nothing of it" $?
# On a phone nothing is wider than the screen: a frame of 360 px tells the page's width in its title.
cat >"$tmp/phone.html" <<H
<iframe id="f" width="360" height="800" src="g.html"></iframe>
<script>f.onload = () => { document.title = "width " + f.contentDocument.documentElement.scrollWidth }</script>
H
width=$(dom --allow-file-access-from-files --dump-dom "file://$tmp/phone.html" | sed -n 's/.*<title>width \([0-9]*\).*/\1/p')
[ "${width:-999}" -le 360 ]
ok "it fits a phone (${width:-no} px)" $?
