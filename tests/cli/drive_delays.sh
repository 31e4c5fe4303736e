#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How late gsim drive acts, as it says at the end of a run: a wait that a signal cuts short ends with
# the signal. It counted as ending when it was planned to, up to 0.1 s later, so that two of three
# runs that Ctrl-C ended had acted before the event. $1 is gsim.
set -u
case $1 in /*) gsim=$1 ;; *) gsim=$PWD/$1 ;; esac
. tests/support/check.sh
cd "$tmp" || exit 1

printf 'job_id,submit_s,duration_s,command\none,0,30,sleep 30\n' >one.csv
for after in 0.3 0.42 0.54 0.66 0.78; do
    rm -rf logs
    "$gsim" drive --dry-run --policy fifo --logs logs one.csv >out 2>log &
    pid=$!
    while [ ! -e logs/0-one.log ]; do sleep 0.01; done
    sleep $after
    kill -INT $pid
    wait $pid
    grep -o 'core, and .* from an event to its action' log
done >delays
check "each run says how late it acted" 5 "$(grep -c ms delays)"
check "none acted before the event" 0 "$(grep -c -e 'and -' delays)"
