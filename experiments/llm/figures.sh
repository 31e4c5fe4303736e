#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Instances of a language model that do not fit together: a table, and two figures.
# figures.sh GSIM FOLDER
set -eu
gsim=$1 out=$2/llm
here=$(dirname "$0")
mkdir -p "$out"
rm -f "$out/results.db"
for n in 1 2 3 4 6 8; do sed "s/^jobs = .*/jobs = $n/" "$here/llm.ini" >"$out/$n.ini"; done
sed "s|FOLDER|$out|g" "$here/grid.ini" >"$out/grid.ini"
"$gsim" sweep --quiet "$out/grid.ini" -o "$out/results.db"
"$gsim" plot "$out/results.db" --figure oversubscription --x jobs --value gpu_useful -o "$out/useful.pdf"
"$gsim" plot "$out/results.db" --figure paging_migration --where "jobs = 4" -o "$out/paging_migration.pdf"
if ! command -v sqlite3 >/dev/null; then
    echo "# skipped: the table of llm: sqlite3 is not installed"
    exit 0
fi
sqlite3 -header -column "$out/results.db" "
    SELECT policy, jobs AS instances, printf('%.1f', avg(jobs * 20000 / makespan_s)) AS tokens_per_s,
           printf('%.1f', avg(jct_mean_s) / 60) AS done_after_min, printf('%.3f', avg(gpu_useful)) AS useful
    FROM run GROUP BY policy, jobs ORDER BY min(run_id)" >"$out/table.txt"
