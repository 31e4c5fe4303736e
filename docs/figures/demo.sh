#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh GSIM FOLDER: the figure of the README, from the experiment that it begins with (tools/demo.sh).
# gnuplot draws it, so its bytes depend on gnuplot's version; twice as large, on white.
set -eu
gsim=$1 out=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Paths in the database do not matter: the figure shows results.
"$gsim" compare --quiet --no-what-if --policies fifo,backfill,easy-backfill,sjf,srtf,las --nodes 4 \
    --gpus-per-node 8 --set preempt=suspend --reps 20 --db "$tmp/demo.db" traces/samples/cluster.ini >"$tmp/table"
"$gsim" plot "$tmp/demo.db" --figure jct_policy -o "$tmp/demo.svg"
awk '/^ width="/ { sub(/ width="[0-9]+" height="[0-9]+"/, " width=\"640\" height=\"336\"") }
    !is_white && /<rect .*fill="none"/ { sub(/fill="none"/, "fill=\"#ffffff\""); is_white = 1 }
    { print }' "$tmp/demo.svg" >"$out/demo.svg"
