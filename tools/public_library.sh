#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# public_library.sh IN.a OUT.a HEADER...: the library as it is installed: one object, with only
# those names visible that the headers mention. Code for link-time optimisation is left out, since
# it belongs to one compiler.
set -eu
in=$(realpath "$1")
out=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
grep -oh 'gsim_[a-z0-9_]*' "$@" | sort -u >"$tmp/names"
(cd "$tmp" && ld -r --whole-archive -o all.o "$in")
objcopy --remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*' \
    --keep-global-symbols="$tmp/names" "$tmp/all.o" "$tmp/gsim.o"
rm -f "$tmp/public.a"
ar rcs "$tmp/public.a" "$tmp/gsim.o"
cp "$tmp/public.a" "$out"
