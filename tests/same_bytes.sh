#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The same trace file gives the same bytes of --jobs-csv from every compiler, optimisation level and
# number of threads, and twice in a row.
set -u
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
for policy in fifo backfill easy-backfill fairshare sjf srtf srsf las; do
    sums=
    for build in "$@" "$1"; do
        "$build/gsim" --policy $policy --nodes 2 --gpus-per-node 8 --quiet \
            --force --jobs-csv "$tmp/jobs.csv" traces/samples/cluster.csv >"$tmp/out" 2>&1 || sums="$sums bad"
        sums="$sums $(cksum <"$tmp/jobs.csv" | tr ' ' :)"
    done
    n=$(printf '%s\n' $sums | sort -u | wc -l)
    if [ "$n" -eq 1 ]; then echo "ok $policy is the same in every build"; else echo "not ok $policy differs: $sums"; fi
done
for threads in 1 2; do
    "$1/gsim" compare --policies fifo,srtf,las,sjf -j $threads --nodes 2 --gpus-per-node 8 --quiet \
        --format json traces/samples/cluster.csv | sed 's/"wall_s":[^}]*//' | cksum
done >"$tmp/threads"
if [ "$(sort -u "$tmp/threads" | wc -l)" -eq 1 ]; then echo "ok one thread and two"; else echo "not ok one thread and two"; fi
