#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh GSIM: the comparison that `make demo` shows and the README begins with. Twenty draws of a
# trace at a load below 1, on the cluster that it is meant for. A preempted job is suspended to its
# host, a mechanism that was measured on an H200, while a restart rests on one published time.
set -eu
gsim=$1
set -- compare --policies fifo,backfill,easy-backfill,sjf,srtf,las --nodes 4 --gpus-per-node 8 \
    --set preempt=suspend --reps 20 traces/samples/cluster.ini
echo "./gsim $*" | sed 's/ --nodes/ \\\n    &/'
"$gsim" "$@"
