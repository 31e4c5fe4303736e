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
            [ "$memory" = resident ] && manager=
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
# Tiresias against Gandiva on the 60 GPUs of Tiresias' testbed, by what a switch costs. Gandiva as its
# paper has it, and as Tiresias' authors simulated it.
against() {
    head_of_ratios='fifo tiresias gandiva variant=tiresias gandiva/tiresias variant/tiresias'
    printf '| a switch costs |'
    for name in $head_of_ratios; do printf ' %s |' "$name"; done
    printf '\n|---:|---:|---:|---:|---:|---:|---:|\n'
    for cost in 0s 2s 6s 10s 18s 62s; do
        testbed="--quiet --device p100 --nodes 15 --gpus-per-node 4 --set restart.resume_ns=$cost --format csv"
        {
            # shellcheck disable=SC2086
            "$gsim" compare $testbed --policies fifo,tiresias,gandiva "$derived/phillyee480_job.csv"
            # shellcheck disable=SC2086
            "$gsim" $testbed --policy gandiva --set variant=tiresias "$derived/phillyee480_job.csv" |
                sed 's/^gandiva,/variant,/'
        } | awk -F, -v cost=$cost '
                NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { jct[$at["policy"]] = $at["jct_mean_s"] }
                END { printf "| %s | %.0f | %.0f | %.0f | %.0f | %.2f | %.2f |\n", cost, jct["fifo"],
                      jct["tiresias"], jct["gandiva"], jct["variant"],
                      jct["gandiva"] / jct["tiresias"], jct["variant"] / jct["tiresias"] }'
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
