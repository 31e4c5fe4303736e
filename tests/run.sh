#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh: runs every suite in the builds named and counts. Ends with "N passed, N failed".
# Variables: BUILDS, the build folders whose programs are run.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

count() { # name: reads TAP from $log
    p=$(grep -c '^ok ' "$log")
    skipped=$(grep -c '^not ok .*# SKIP' "$log") # cmocka's way of saying it
    f=$(($(grep -c '^not ok ' "$log") - skipped))
    passed=$((passed + p))
    failed=$((failed + f))
    if [ "$f" -gt 0 ]; then
        echo "FAILED in $1:"
        cat "$log"
    else
        echo "  $1: $p passed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped (no ../shared)")"
    fi
}

program() { # build, program: one that ends badly without a 'not ok' counts as a failure
    CMOCKA_MESSAGE_OUTPUT=tap "$2" >"$log" 2>&1
    code=$?
    if [ $code -ne 0 ] && ! grep -q '^not ok ' "$log"; then
        echo "not ok - $2 ended with $code" >>"$log"
    fi
    count "$2"
}

script() { # name, command...
    name=$1
    shift
    "$@" >"$log" 2>&1
    code=$?
    if [ $code -ne 0 ] && ! grep -q '^not ok ' "$log"; then
        echo "not ok - $name ended with $code" >>"$log"
    fi
    count "$name"
}

for build in $BUILDS; do
    echo "== $build"
    for dir in unit property analytic reference; do
        # theory takes millions of jobs: not in the slow build, which has the same code
        case $dir-$build in analytic-*-san) continue ;; esac
        for source in tests/$dir/*.c; do
            [ -f "$source" ] || continue
            program "$build" "$build/${source%.c}"
        done
    done
    script "$build golden" sh tests/golden/run.sh "$build/gsim"
    for cli in tests/cli/*.sh; do
        [ -f "$cli" ] && script "$build $cli" sh "$cli" "$build/gsim"
    done
done
echo "== rules"
for rule in tests/rules/*.sh; do
    script "$rule" sh "$rule" "${BUILDS%% *}"
done
# shellcheck disable=SC2086
script "same bytes from every build" sh tests/same_bytes.sh $BUILDS
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
