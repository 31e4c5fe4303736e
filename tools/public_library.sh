#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# public_library.sh IN.a OUT.a NAMES: the library as it is installed: one object, with only the names
# of that list visible. Code for link-time optimisation is left out, since it belongs to one compiler.
set -eu
in=$(realpath "$1")
out=$2
names=$(realpath "$3")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && ld -r --whole-archive -o all.o "$in")
objcopy --remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*' \
    --keep-global-symbols="$names" "$tmp/all.o" "$tmp/gsim.o"
rm -f "$tmp/public.a"
ar rcs "$tmp/public.a" "$tmp/gsim.o"
cp "$tmp/public.a" "$out"
