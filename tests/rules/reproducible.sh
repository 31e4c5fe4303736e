#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Equal sources give equal bytes in whatever folder: objects of each kind of flags, compiled in two
# folders, one made across two files, and a program that does not name the folder in which it was built.
# `make deb-check` builds and compares whole packages.
set -u
. tests/support/check.sh
build=$1
objects='traces/csv.o sim/app/tables/room.o hot.o'
hot='build/gcc-O2/policies/mig.o build/gcc-O2/sim/base/index.o'
for folder in a a-folder-with-a-longer-name; do
    mkdir -p "$tmp/$folder"
    git ls-files '*.c' '*.h' '*.def' Makefile tools/room.sh | tar cf - -T - | tar xf - -C "$tmp/$folder"
    # shellcheck disable=SC2046 # a word for each object
    (cd "$tmp/$folder" && CCACHE_DISABLE=1 make -s TIMES= CC=gcc OPT=-O2 HOT_OBJ="$hot" $(printf 'build/gcc-O2/%s ' $objects)) >"$tmp/log" 2>&1
    say "objects in $folder" $?
done
for object in $objects; do
    cmp "$tmp/a/build/gcc-O2/$object" "$tmp/a-folder-with-a-longer-name/build/gcc-O2/$object" >"$tmp/log" 2>&1
    say "$object has equal bytes in two folders" $?
done
grep -lF "$PWD" "$build/gsim" >"$tmp/log"
[ ! -s "$tmp/log" ] && [ -s "$build/gsim" ]
say "gsim does not name the folder in which it was built" $?
