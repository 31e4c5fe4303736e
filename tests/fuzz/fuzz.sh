#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh, for `make fuzz`: whole commands (target.h) with sanitizers, or each reader of $PARTS alone (parts.h),
# with sanitizers if SAN=1.
# Inputs that reached something new are kept in build/fuzz, those that broke something too.
set -eu
mkdir -p build/fuzz
if [ -z "$PARTS" ]; then
    fuzzer=build/clang-O1-san-fuzz-werror/tests/fuzz/fuzz
    "$MAKE" -s -j"$JOBS" WERROR=1 CC=clang OPT=-O1 SAN=1 FUZZ=1 $fuzzer
    sh tests/fuzz/seeds.sh build/fuzz/seeds
    mkdir -p build/fuzz/reached
    ASAN_OPTIONS=allocator_may_return_null=1 exec $fuzzer -max_total_time="$FUZZ_S" -timeout=20 -rss_limit_mb=6000 -max_len=8000 \
        -seed="$FUZZ_SEED" -artifact_prefix="$PWD/build/fuzz/" "$PWD/build/fuzz/reached" "$PWD/build/fuzz/seeds"
fi
rest=build/gcc-O2-werror-plain
level=-O2 kind= limits="-timeout=10 -rss_limit_mb=2000"
[ -z "$SAN" ] || level=-O1 kind=-san limits="-timeout=20 -rss_limit_mb=4000"
fuzzer=build/clang$level$kind-fuzz-werror/tests/fuzz/parts
"$MAKE" -s -j"$JOBS" WERROR=1 CC=gcc OPT=-O2 LTO= SAN= $rest/libapp.a $rest/libgsim.a
"$MAKE" -s -j"$JOBS" WERROR=1 CC=clang OPT=$level SAN="$SAN" FUZZ=1 $fuzzer
python3 tests/fuzz/texts.py build/fuzz/texts
[ "$PARTS" != all ] || PARTS=$($fuzzer 2>/dev/null || :)
wrong=0
for part in $PARTS; do
    said=build/fuzz/$part-$FUZZ_SEED-said
    mkdir -p "build/fuzz/$part"
    # shellcheck disable=SC2086 # several words
    if FUZZ_PART=$part ASAN_OPTIONS=allocator_may_return_null=1 $fuzzer -max_total_time="$FUZZ_S" $limits -max_len=1024 -seed="$FUZZ_SEED" \
        -print_final_stats=1 -artifact_prefix="build/fuzz/$part-" "build/fuzz/$part" build/fuzz/texts >"$said" 2>&1; then
        echo "ok $part: $(sed -n 's/^stat::number_of_executed_units: *//p' "$said") inputs"
    else
        echo "not ok $part: $(sed -n '/^fuzz:\|ERROR/p' "$said" | head -n 2)"
        wrong=1
    fi
done
exit $wrong
