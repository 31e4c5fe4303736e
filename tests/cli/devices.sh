#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a result says about the device that it was computed for: which mechanisms lie outside what was
# validated, and which constants it rests on. $1 is gsim.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

check() { # name, expected, what came
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        echo "# expected: $2"
        echo "# got: $3"
    fi
}
outside() { # arguments of gsim: the field
    "$gsim" --quiet --format json "$@" 2>&1 | sed -n 's/.*"outside_validated": *"\([^"]*\)".*/\1/p'
}

printf 'job_id,submit_s,iterations,gpu_ms,mem_gib\na,0,1000,10,4\nb,0,1000,10,4\n' >"$tmp/two.csv"
sed 's/,4$/,100/' "$tmp/two.csv" >"$tmp/large.csv"
cp models/devices/h200.ini "$tmp/mine.ini"

# what was validated follows from constants, not from names
for run in "timeslice two" "mps two" "vgpu two" "xsched two" "suspend two" "uvm large" "msched large"; do
    policy=${run% *} trace=$tmp/${run#* }.csv
    check "$policy: a copy says what the device says" \
        "$(outside --policy "$policy" "$trace" | sed 's/h200: /X: /g')" \
        "$(outside --policy "$policy" --device "$tmp/mine.ini" "$trace" | sed "s|$tmp/mine.ini: |X: |g")"
done
check "two time slices on an h200" "" "$(outside --policy timeslice "$tmp/two.csv")"
check "a constant given by hand" \
    "time slices and switches: validated with switch.preempt_ns=165000 (h200), not 50ms (given)" \
    "$(outside --policy timeslice --set switch.preempt_ns=50ms "$tmp/two.csv")"
check "given, but what it was" "" \
    "$(outside --policy timeslice --set switch.preempt_ns=165us "$tmp/two.csv")"
check "all reasons, not the first" 2 \
    "$(outside --policy msched --device t4 "$tmp/two.csv" | tr ';' '\n' | grep -c 'migration')"
check "an h200's eviction was never measured" 1 \
    "$(outside --policy uvm "$tmp/large.csv" | grep -c '^eviction under faults: never measured')"
check "the keys of a mechanism are listed" 1 \
    "$("$gsim" list devices h200 | grep -A1 '^validated.suspension = h200 on h200' | grep -c 'pcie.h2d_reused_bytes_per_s')"
