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

count() { # name: adds up the TAP in $log; cmocka writes a skipped test as 'not ok N # SKIP'
    p=$(grep -c '^ok ' "$log")
    skipped=$(grep -c '^not ok .*# SKIP' "$log")
    f=$(($(grep -c '^not ok ' "$log") - skipped))
    passed=$((passed + p))
    failed=$((failed + f))
    if [ "$f" -gt 0 ]; then
        echo "FAILED in $1:"
        cat "$log"
        return
    fi
    echo "  $1: $p passed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
    sed -n '/^not ok /d; /skipped/s/^#* */    /p' "$log" | sort -u
}

# One failure more when the command ended badly and no test says so: it crashed, say, or a sanitizer
# stopped it. A program that leaves before its plan "1..N" is done has failed too, whatever it returns.
ended() { # name, exit code
    said=$(grep '^not ok ' "$log" | grep -vc '# SKIP')
    plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    ran=$(grep -cE '^(not )?ok ' "$log")
    if [ "$2" -ne 0 ] && [ "$said" -eq 0 ]; then
        echo "not ok - $1 ended with $2" >>"$log"
    elif [ "$ran" -eq 0 ] || [ "$ran" -lt "$plan" ]; then
        echo "not ok - $1 ran $ran of its $plan tests" >>"$log"
    fi
    count "$1"
}

suite() { # name, command...
    name=$1
    shift
    CMOCKA_MESSAGE_OUTPUT=tap "$@" >"$log" 2>&1
    ended "$name" $?
}

for build in $BUILDS; do
    echo "== $build"
    for dir in unit property analytic reference; do
        for source in tests/$dir/*.c; do
            [ -f "$source" ] || continue
            suite "$build/${source%.c}" "$build/${source%.c}"
        done
    done
    suite "$build golden" sh tests/golden/run.sh "$build/gsim"
    for cli in tests/cli/*.sh; do
        [ -f "$cli" ] && suite "$build $cli" sh "$cli" "$build/gsim"
    done
done
suite "sweeps spread over tasks" sh tests/sweep/spread.sh "${BUILDS%% *}"
echo "== rules"
for rule in tests/rules/*.sh; do
    suite "$rule" sh "$rule" "${BUILDS%% *}"
done
# shellcheck disable=SC2086
suite "same bytes from every build" sh tests/same_bytes.sh $BUILDS
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
