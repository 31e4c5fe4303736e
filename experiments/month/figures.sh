#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A month of Philly under eight policies: results, a page, four figures.
# [TRACES=folder] figures.sh GSIM FOLDER
set -eu
gsim=$1 out=$2/month
here=$(dirname "$0")
trace=${TRACES:-../shared/traces}/philly_via_pollux/philly.csv
if [ ! -r "$trace" ]; then
    echo "# skipped: month: $trace is not there; experiments/month/README.md says where it is from"
    exit 0
fi
mkdir -p "$out"
awk -F, 'NR == 1 || $1 ~ /^2017-10-/' "$trace" >"$out/october.csv"
rm -f "$out/results.db"
sed "s|FOLDER|$out|" "$here/grid.ini" >"$out/grid.ini"
"$gsim" sweep --quiet "$out/grid.ini" --samples 256 -o "$out/results.db"
for figure in jct_cdf jct_policy slowdown_size; do
    "$gsim" plot "$out/results.db" --figure $figure -o "$out/$figure.pdf"
done
"$gsim" plot "$out/results.db" --figure utilisation --double -o "$out/utilisation.pdf" \
    --where "policy IN ('fifo', 'easy-backfill', 'tiresias')"
"$gsim" report "$out/results.db" -o "$out/report.html"
