#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The training run of `make release` comes to its end with any build. $1 is gsim.
set -u
. tests/support/check.sh
sh tools/train.sh "$1" >"$tmp/log" 2>&1
say "the training run of make release" $?
check "says nothing" "" "$(cat "$tmp/log")"
