#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fifteen ways to share two GPUs, side by side on two mixes: one grid, one figure.
# figures.sh GSIM FOLDER
set -eu
gsim=$1 out=$2/sharing
here=$(dirname "$0")
mkdir -p "$out"
rm -f "$out/results.db"
sed "s|HERE|$here|g" "$here/grid.ini" >"$out/grid.ini"
"$gsim" sweep --quiet "$out/grid.ini" -o "$out/results.db"
"$gsim" plot "$out/results.db" --figure overview --x set.hbm_bytes --double -o "$out/overview.pdf"
