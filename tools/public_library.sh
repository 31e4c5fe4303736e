#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# public_library.sh IN.a OUT.a NAMES: the library as it is installed: one object, with only the names
# of that list visible.
set -eu
in=$(realpath "$1")
out=$2
names=$(realpath "$3")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && ld -r --whole-archive -o all.o "$in")
objcopy --keep-global-symbols="$names" "$tmp/all.o" "$tmp/gsim.o"
rm -f "$tmp/public.a"
ar rcs "$tmp/public.a" "$tmp/gsim.o"
cp "$tmp/public.a" "$out"
