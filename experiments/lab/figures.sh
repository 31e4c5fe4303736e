#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A lab of 12 GPUs, as it is and under six alternatives: the table, and three figures.
# figures.sh GSIM FOLDER
set -eu
gsim=$1 out=$2/lab
here=$(dirname "$0")
mkdir -p "$out"
rm -f "$out/results.db"
"$gsim" compare --quiet --policies fifo,fairshare,timeslice,tiresias,gandiva,suspend,adaptive \
    --gpus-per-node 12 --reps "${REPS:-20}" --by class --db "$out/results.db" "$here/lab.ini" >"$out/table.txt"
for figure in jct_cdf jct_policy fairness; do
    "$gsim" plot "$out/results.db" --figure $figure -o "$out/$figure.pdf"
done
