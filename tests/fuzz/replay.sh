#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# replay.sh PROGRAM: every seed, and 150 changed copies of each (replay.c).
set -eu
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
sh tests/fuzz/seeds.sh "$seeds"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1 "$1" "$seeds" 150
