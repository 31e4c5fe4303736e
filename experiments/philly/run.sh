#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The reduced Philly trace (82 247 jobs) under every cluster policy on 512, 1 024 and, as the real
# cluster was built, 2 490 GPUs; what preemptions cost is left out (device ideal). Writes results.md
# and the CDFs of completion times beside itself. Some minutes on two cores.
# run.sh GSIM philly.csv FOLDER_OF_DERIVED_TRACES
set -eu
gsim=${1:-./gsim}
trace=${2:-../shared/traces/philly_via_pollux/philly.csv}
derived=${3:-../shared/traces/derived}
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
policies=fifo,backfill,easy-backfill,fairshare,sjf,srtf,srsf,las,tiresias,gang-rr,suspend,gandiva,adaptive
fixed="--quiet --device ideal --format csv"

columns() { # NAME:FORMAT...: a row of a Markdown table for each row of the CSV on standard input
    awk -F, -v columns="$*" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(columns, column, " "); next }
        {
            row = "| " $at["policy"] " |"
            for (c = 1; c <= n; c++) {
                split(column[c], part, ":")
                row = row sprintf(" " part[2] " |", $at[part[1]])
            }
            print row
        }'
}
head_of() { # names of columns
    printf '| policy |'; printf ' %s |' "$@"; printf '\n|---|'
    for _ in "$@"; do printf -- '---:|'; done; printf '\n'
}
rows() {
    columns jct_mean_s:%.0f jct_p50_s:%.0f jct_p95_s:%.0f jct_p99_s:%.0f wait_mean_s:%.0f \
        slowdown_mean:%.2f rho_mean:%.3f idle_wanted:%.4f preemptions:%d approximate:%d
}
table() { # title, arguments of the cluster
    printf '\n## %s\n\n' "$1"; shift
    head_of 'JCT mean (s)' median p95 p99 'wait mean (s)' 'slowdown mean' 'rho mean' 'idle, wanted' preemptions approximate
    # shellcheck disable=SC2086
    "$gsim" compare $fixed --policies "$policies" "$@" "$trace" | rows
    # shellcheck disable=SC2086
    "$gsim" $fixed --policy tiresias --set tiresias.index=gittins "$@" "$trace" |
        sed 's/^tiresias,/tiresias (Gittins),/' | rows
}
# What jobs of 100 GiB a GPU (assumed: the trace gives none) do on H200s: resident, so that a
# preemption copies them to the host, or with a manager below, which a preemption leaves them to.
paging() {
    head_of memory 'JCT mean (s)' median p99 preemptions migrations 'in (PB)' 'out (PB)' 'waited for it (h)'
    for policy in srtf las tiresias; do
        for memory in resident uvm proactive; do
            manager="--set memory=$memory"
            [ "$memory" = resident ] && manager="--set preempt=suspend"
            # shellcheck disable=SC2086
            "$gsim" --quiet --device h200 --assume mem_gib=100GiB --nodes 64 --gpus-per-node 8 \
                --format csv --policy $policy $manager "$trace" |
                awk -F, -v OFS=, -v memory=$memory '
                    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "memory", "in", "out", "waited", $0; next }
                    { print memory, $at["bytes_in"] / 1e15, $at["bytes_out"] / 1e15, $at["stall_s"] / 3600, $0 }' |
                columns memory:%s jct_mean_s:%.0f jct_p50_s:%.0f jct_p99_s:%.0f preemptions:%d \
                    migrations:%d in:%.2f out:%.2f waited:%.0f
        done
    done
}
# Tiresias against Gandiva on the 60 GPUs of Tiresias' testbed, where a switch of either costs the same,
# and where it costs what each of them published. Gandiva as its paper has it, as Tiresias' authors
# describe their simulation of it, and as its paper has it but holding others back for gangs that have
# waited two slices.
against() {
    printf '| a switch costs |'
    for name in fifo tiresias gandiva variant=tiresias patience=2 gandiva/tiresias variant/tiresias \
        patience/tiresias; do printf ' %s |' "$name"; done
    printf '\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n'
    for cost in 0s 2s 6s 10s 18s 62s published; do
        testbed="--quiet --device p100 --nodes 15 --gpus-per-node 4 --format csv"
        way="--set restart.resume_ns=$cost --set preempt=restart"
        [ $cost = published ] && way=
        for policy in fifo tiresias gandiva 'gandiva --set variant=tiresias' 'gandiva --set patience=2'; do
            how=$way
            [ "$policy" = fifo ] && how=
            # shellcheck disable=SC2086
            "$gsim" $testbed --policy $policy $how "$derived/phillyee480_job.csv" |
                awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["jct_mean_s"] }'
        done | awk -v cost=$cost '
            { jct[NR] = $1 }
            END { printf "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f | %.2f | %.2f |\n", cost, jct[1],
                  jct[2], jct[3], jct[4], jct[5], jct[3] / jct[2], jct[4] / jct[2], jct[5] / jct[2] }'
    done
}

{
    cat "$here/preface.md"
    table '512 GPUs: 64 nodes of 8' --nodes 64 --gpus-per-node 8
    table '1 024 GPUs: 128 nodes of 8' --nodes 128 --gpus-per-node 8
    table '2 490 GPUs: as the cluster was' --cluster "$here/cluster.ini"
    cat "$here/paging.md"
    paging
    cat "$here/against.md"
    against
} >"$tmp/results.md"
for policy in fifo backfill srtf las tiresias gandiva; do
    "$gsim" --quiet --device ideal --policy $policy --nodes 64 --gpus-per-node 8 \
        --db "$tmp/512.db" --samples 0 "$trace" >/dev/null
done
"$gsim" plot "$tmp/512.db" --figure jct_cdf --double -o "$here/jct_cdf_512.svg"
mv "$tmp/results.md" "$here/results.md"
