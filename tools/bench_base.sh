#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bench_base.sh BENCH GSIM COMMIT JOBS: builds gsim of that commit in a folder of its own, and runs the rows
# of `make bench` by both programs in turn, those of at most so many jobs. The folder is removed whatever
# happens, and nothing of it is known to git.
set -eu
bench=$1 gsim=$2 commit=$3 jobs=$4
hash=$(git rev-parse --verify --quiet "$commit^{commit}") || {
    echo "bench: BASE=$commit is no commit of this repository" >&2
    exit 1
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$tmp/base"
git archive "$hash" | tar xf - -C "$tmp/base"
echo "bench: building $(git log -1 --format='%h (%s)' "$hash")"
# The build is that of a user: variables of this make are none of its business.
(cd "$tmp/base" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -j"$(nproc)" gsim) >"$tmp/log" 2>&1 || {
    echo "bench: $commit does not build; the end of what make said:" >&2
    tail -n 20 "$tmp/log" >&2
    exit 1
}
"$bench" "$gsim" "$tmp/base/gsim" "$tmp" "$jobs" $(command -v valgrind || true)
