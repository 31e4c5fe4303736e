#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# train.sh GSIM: what `make release` counts the ways of: long traces under policies of clusters, GPUs
# that jobs share, programs of kernels, paging, a sweep into a database. GSIM leaves its counts beside
# its objects.
set -eu
gsim=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/long.ini" <<END
[trace]
jobs = 50000
[arrival]
process = poisson
load = 0.9
gpus = 512
[duration]
distribution = lognormal
mu = 7.0636
sigma = 1.5
[gpus]
choice = 1, 2, 4, 8
weights = 50, 20, 15, 15
[user]
choice = u1, u2, u3, u4, u5, u6, u7
END
"$gsim" generate --quiet "$tmp/long.ini" -o "$tmp/long.csv"
for policy in fifo backfill easy-backfill fairshare srtf las tiresias; do
    "$gsim" run --quiet --nodes 64 --gpus-per-node 8 --policy $policy --jobs-csv "$tmp/jobs.csv" --force "$tmp/long.csv"
done >/dev/null
shared() { # trace, policies: on eight H200s
    trace=$1
    shift
    for policy; do
        "$gsim" run --quiet --gpus-per-node 8 --device h200 --policy "$policy" "$trace"
    done >/dev/null
}
shared traces/samples/training.csv timeslice mps gandiva tgs salus suspend
shared traces/samples/memory.csv uvm msched nvshare
printf 'job_id,submit_s,iterations,gpus,app\na,0,40,1,h200-vit-train\nb,0,400,1,h200-llama-decode\n' >"$tmp/apps.csv"
shared "$tmp/apps.csv" timeslice mps
printf 'trace = %s\npolicy = fifo, srtf, las\nnodes = 1, 2\ngpus-per-node = 4\nreps = 40\n' "$PWD/traces/samples/heavy_tail.ini" >"$tmp/grid.ini"
"$gsim" sweep --quiet -j 1 "$tmp/grid.ini" -o "$tmp/r.db" >/dev/null
