#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# replay.sh PROGRAM: every seed, and 150 changed copies of each; and for each reader 300 changed texts (replay.c).
set -eu
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
sh tests/fuzz/seeds.sh "$seeds/commands"
"${PYTHON:-python3}" tests/fuzz/texts.py "$seeds/texts"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1"
"$1" "$seeds/commands" 150
"$1" "$seeds/texts" 300 parts
