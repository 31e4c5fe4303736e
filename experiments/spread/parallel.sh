#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A grid in shards under GNU parallel: parallel.sh GSIM GRID OUT.db [SHARDS]. With a file of hosts,
# `parallel --sshloginfile HOSTS --workdir .` in place of `parallel` spreads them over machines that
# share this folder. Killed and started again it goes on where it was.
set -eu
gsim=$1 grid=$2 out=$3 n=${4:-4}
seq "$n" | parallel --halt soon,fail=1 "'$gsim' sweep '$grid' -o '${out%.db}'-{}.shard --shard {}/$n -j 1 --quiet"
"$gsim" merge -o "$out" "${out%.db}"-*.shard
