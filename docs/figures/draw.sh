#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# draw.sh GSIM FOLDER: the timelines that the pages of docs show, drawn from runs of gsim. Each is a
# trace of a few lines, so that the picture shows the run that the page describes.
set -eu
LC_ALL=C
export LC_ALL
gsim=$1 out=$2
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"

# Runs gsim on a trace of this folder, and draws a part of what happened.
draw() { # figure, trace, jobs, from (ms), to (ms), title, rows, options of gsim...
    figure=$1 trace=$2 jobs=$3 from=$4 to=$5 title=$6 rows=$7
    shift 7
    "$gsim" run --quiet "$@" --timeline "$tmp/run.json" "$here/$trace.csv" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
    awk -v jobs="$jobs" -v from="$from" -v to="$to" -v title="$title" -v rows="$rows" \
        -f tools/timeline.awk "$tmp/run.json" >"$out/$figure.svg"
    rm "$tmp/run.json"
}

draw time-slices time-slices 'a;b;server' 0 24 'timeslice: two trainings, and a server whose requests take 0.2 ms' \
    'a=*/slice/a;b=*/slice/b;server=*/slice/server' --policy timeslice --gpus-per-node 1
draw sm-sharing sm-sharing 'a;b' 0 42 'mps: b comes at 10 ms; together they ask for more than the SMs and the bandwidth' \
    'a=*/slice/a;b=*/slice/b' --policy mps --gpus-per-node 1
draw paging paging 'a;b' 0 6000 'uvm: two jobs of 12 GiB on a GPU of 16 GiB' \
    'a computes=*/slice/a;a faults=*/fault/a;b computes=*/slice/b;b faults=*/fault/b' \
    --policy uvm --gpus-per-node 1 --set hbm_bytes=16GiB
draw migration paging 'a;b' 0 2600 'msched: the two jobs of the page on paging' \
    'a computes=*/slice/a;b computes=*/slice/b;in=*/copy in/*;out=*/copy out/*;faults=*/fault/*' \
    --policy msched --gpus-per-node 1 --set hbm_bytes=16GiB
draw links links 'a;b;c;d' 0 6000 'srtf, preempt=suspend: c and d push out a and b, which have 40 GiB each' \
    'GPU 0=10/running/*;GPU 0 out=10/copy out/*;GPU 0 in=10/copy in/*;GPU 1=11/running/*;GPU 1 out=11/copy out/*;GPU 1 in=11/copy in/*' \
    --policy srtf --set preempt=suspend --gpus-per-node 2 --set host.out_bytes_per_s=60e9
for policy in timeslice xsched reef; do
    draw preemption-$policy preemption 'training;server' 0 30 "$policy: a training with kernels of 1 ms, and a server every 6 ms" \
        'training=*/slice/training;server=*/slice/server' --policy $policy --gpus-per-node 1
done
for policy in timeslice mps; do
    draw programs-$policy programs 'vit;llama' 10000 10004 "$policy: kernels of two programs, 10 s after the first began" \
        'vit, its slices=*/slice/vit;vit, kernels=*/kernel/vit;llama, its slices=*/slice/llama;llama, kernels=*/kernel/llama' \
        --policy $policy --device h200 --gpus-per-node 1 --timeline-window 10s:10.004s
done
# Of the sample requests to language models.
"$gsim" serve --quiet --device h100-sxm --models traces/serving/models.ini --timeline "$tmp/run.json" traces/serving/requests.csv >"$tmp/log" 2>&1 ||
    { cat "$tmp/log" >&2; exit 1; }
awk -v jobs='prefill;decode;wakes;falls asleep' -v from=10000 -v to=30000 -v rows='llama=1/*/*;qwen=2/*/*;mistral=3/*/*' \
    -v title='three models, of which two fit: steps, waking (green) and falling asleep (pink)' \
    -f tools/timeline.awk "$tmp/run.json" >"$out/serving.svg"
