#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Adaptive preemption against each fixed way, on seeded traces of the specs in this folder: mean JCT
# of each, and adaptive's ratio to the best fixed way, on average and at worst.
# results.txt is what 50 seeds gave: at most 1.02 times the best fixed way on average, at most 1.10 on
# one trace, and better than each fixed way where jobs are mixed.
# [GPUS=n] run.sh GSIM [SEEDS]
set -u
gsim=${1:-./gsim}
seeds=${2:-50}
here=$(dirname "$0")
choices="auto resident host checkpoint finish"
jct() { # spec, seed, choice
    "$gsim" --policy adaptive --set adaptive.choice="$3" --device h200 \
        --gpus-per-node "${GPUS:-1}" --seed "$2" --quiet --format json "$1" |
        sed -n 's/.*"jct_mean_s": *\([0-9.]*\).*/\1/p'
}
for spec in "$here"/*.ini; do
    for seed in $(seq 1 "$seeds"); do
        line=$seed
        for choice in $choices; do line="$line $(jct "$spec" "$seed" "$choice")"; done
        echo "$line"
    done | awk -v spec="$(basename "$spec" .ini)" -v names="$choices" '
        BEGIN { n = split(names, name, " ") }
        {
            best = $3
            for (c = 2; c <= n; c++) { sum[c] += $(c + 1); if ($(c + 1) < best) best = $(c + 1) }
            sum[1] += $2; ratio += $2 / best; if ($2 / best > worst) worst = $2 / best
        }
        END {
            printf "%-8s", spec
            for (c = 1; c <= n; c++) printf " %s %.1f s", name[c], sum[c] / NR
            printf "; auto / best fixed: %.3f on average, %.3f at worst\n", ratio / NR, worst
        }'
done
