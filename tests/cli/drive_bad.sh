#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Dry runs of gsim drive with bad jobs, kills and full disks, as tests/fuzz/driven.py draws them. $1 is gsim.
set -u
if [ "${CASES:-}" = all ]; then draws=40; else draws=6; fi
exec python3 tests/fuzz/driven.py "$1" --draws $draws
